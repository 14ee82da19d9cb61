-- Snowflake-SI ids by time: snowflake_si_created_in(id, range) means snowflake_si_timestamp(id) <@ range; it is false
-- for a bigint that is no id. The planner turns it into comparisons of the id, which use btree and BRIN indexes,
-- partitions and statistics.
--
-- The short form takes base clock and machine id width from the settings. It looks them up when the query runs, also
-- in a prepared query.

CREATE FUNCTION snowflake_si_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_time_support(internal) IS
    'planner support: snowflake_si_created_in as comparisons between ids, for indexes and partitions';

-- If the bounds are not known at planning time, an index is searched with id >= snowflake_si_first(…) AND id <=
-- snowflake_si_last(…). They return NULL only for NULL.

CREATE FUNCTION snowflake_si_first(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_first' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_si_first(created tstzrange, base_clock timestamptz, machine_bits integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_first' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_last(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_last' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_si_last(created tstzrange, base_clock timestamptz, machine_bits integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_last' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_si_first(tstzrange) IS
    'first Snowflake-SI id whose time is in the range, 0 if there is none; layout from the settings';
COMMENT ON FUNCTION snowflake_si_first(tstzrange, timestamptz, integer) IS
    'first Snowflake-SI id whose time is in the range, 0 if there is none';
COMMENT ON FUNCTION snowflake_si_last(tstzrange) IS
    'last Snowflake-SI id whose time is in the range, -1 if there is none; layout from the settings';
COMMENT ON FUNCTION snowflake_si_last(tstzrange, timestamptz, integer) IS
    'last Snowflake-SI id whose time is in the range, -1 if there is none';

CREATE FUNCTION snowflake_si_created_in(id bigint, created tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_created_in' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_si_time_support;
CREATE FUNCTION snowflake_si_created_in(
    id bigint, created tstzrange, base_clock timestamptz, machine_bits integer
) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_created_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT snowflake_si_time_support;

COMMENT ON FUNCTION snowflake_si_created_in(bigint, tstzrange) IS
    'the time of the Snowflake-SI id is in the range; uses an index on the id; layout from the settings';
COMMENT ON FUNCTION snowflake_si_created_in(bigint, tstzrange, timestamptz, integer) IS
    'the time of the Snowflake-SI id is in the range; uses an index on the id';
