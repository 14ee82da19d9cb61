-- Ids of any layout by time: snowflake_created_in(id, layout, range) means snowflake_timestamp(id, layout) <@ range;
-- it is false for a bigint that is no id. If the layout's name is a constant, the planner turns it into comparisons of
-- the id, which use btree and BRIN indexes, partitions and statistics. The layout is looked up when the query runs.

CREATE FUNCTION snowflake_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_time_support(internal) IS
    'planner support: snowflake_created_in as comparisons between ids, for indexes and partitions';

-- An index is searched with id >= snowflake_first(…) AND id <= snowflake_last(…). For a layout of 64 bits it is also
-- searched for the far half, whose ids are negative. The functions return NULL only for NULL.

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
