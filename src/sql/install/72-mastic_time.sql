-- Mastic ids by time: mastic_created_in(id, range) means mastic_timestamp(id) <@ range. The planner turns it into
-- comparisons of the id, which use btree and BRIN indexes, partitions and statistics.

CREATE FUNCTION mastic_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_time_support(internal) IS
    'planner support: mastic_created_in as comparisons between ids, for indexes and partitions';

-- If the range is not a constant: id >= mastic_first(range) AND id <= mastic_last(range), and the same for the far
-- half: ids from the year 6485 on, which are negative. The functions never raise an error, and return NULL only for
-- NULL.

CREATE FUNCTION mastic_first(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_last(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_far_first(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_far_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_far_last(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_far_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION mastic_first(tstzrange) IS
    'first Mastic id before the year 6485 whose time is in the range; 0 if there is none';
COMMENT ON FUNCTION mastic_last(tstzrange) IS
    'last Mastic id before the year 6485 whose time is in the range; -1 if there is none';
COMMENT ON FUNCTION mastic_far_first(tstzrange) IS
    'first Mastic id from the year 6485 on, a negative bigint, whose time is in the range; 0 if there is none';
COMMENT ON FUNCTION mastic_far_last(tstzrange) IS
    'last Mastic id from the year 6485 on, a negative bigint, whose time is in the range; -1 if there is none';

CREATE FUNCTION mastic_created_in(id bigint, created tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_created_in' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
COMMENT ON FUNCTION mastic_created_in(bigint, tstzrange) IS
    'the time of the Mastic id is in the range; uses an index on the id';
