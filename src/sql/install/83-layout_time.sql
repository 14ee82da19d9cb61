-- Ids of any layout by time: the meaning is snowflake_timestamp(id, layout) <@ range, and false for a bigint that is no
-- id. For a layout that the query names the planner turns it into comparisons of the id, so that it uses btree and BRIN
-- indexes, partitions and statistics. The layout is looked up when the query runs.

CREATE FUNCTION snowflake_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_time_support(internal) IS
    'planner support: snowflake_created_in as comparisons between ids, for indexes and partitions';

-- What an index is asked: id >= snowflake_first(…) AND id <= snowflake_last(…), and for a layout of 64 bits the same
-- for its far half, whose ids are negative. Never NULL but for NULL.

CREATE FUNCTION snowflake_first(layout text, created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_first' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_first(text, tstzrange) IS
    'first id of the layout, none negative, whose time is in the range; 0 if there is none';
CREATE FUNCTION snowflake_last(layout text, created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_last' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_last(text, tstzrange) IS
    'last id of the layout, none negative, whose time is in the range; -1 if there is none';
CREATE FUNCTION snowflake_far_first(layout text, created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_far_first' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_far_first(text, tstzrange) IS
    'first negative id of the layout, of the far half of 64 bits, whose time is in the range; 0 if there is none';
CREATE FUNCTION snowflake_far_last(layout text, created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_far_last' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_far_last(text, tstzrange) IS
    'last negative id of the layout, of the far half of 64 bits, whose time is in the range; -1 if there is none';

CREATE FUNCTION snowflake_created_in(id bigint, layout text, created tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_created_in' LANGUAGE C STABLE STRICT PARALLEL SAFE
    SUPPORT snowflake_time_support;
COMMENT ON FUNCTION snowflake_created_in(bigint, text, tstzrange) IS
    'the time of the id of the layout is in the range; uses an index on the id';
