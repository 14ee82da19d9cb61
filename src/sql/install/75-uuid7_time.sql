-- Uuids of version 7 by time: uuid7_created_in(id, range) means uuid7_timestamp(id) <@ range; it is false for a uuid
-- of another version or variant. The planner uses btree and BRIN indexes, partitions and statistics of the id for it.
-- Between two uuids of version 7 there are uuids of other versions, so the predicate stays as a filter.

CREATE FUNCTION uuid7_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_time_support(internal) IS
    'planner support: uuid7_created_in as comparisons between ids, for indexes and partitions';

-- If the range is not a constant, an index is searched with id >= uuid7_first(range) AND id <= uuid7_last(range). They
-- never raise an error, and return NULL only for NULL.

CREATE FUNCTION uuid7_first(created tstzrange) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION uuid7_last(created tstzrange) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION uuid7_first(tstzrange) IS
    'first uuid of version 7 whose time is in the range; if there is none, the last one of all';
COMMENT ON FUNCTION uuid7_last(tstzrange) IS
    'last uuid of version 7 whose time is in the range; if there is none, the first one of all';

CREATE FUNCTION uuid7_created_in(id uuid, created tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_created_in' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT uuid7_time_support;
COMMENT ON FUNCTION uuid7_created_in(uuid, tstzrange) IS
    'the uuid is of version 7 and its time is in the range; uses an index on the id';
