-- Snowflake-SI ids by time: the meaning is snowflake_si_timestamp(id) <@ range, and false for a bigint that is no id.
-- The planner turns it into comparisons of the id, so that it uses btree and BRIN indexes, partitions and statistics.
--
-- As elsewhere the short form takes base clock and machine id width from the settings. It looks them up when the query
-- runs, also in a prepared one.

CREATE FUNCTION snowflake_si_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_time_support(internal) IS
    'planner support: snowflake_si_created_in as comparisons between ids, for indexes and partitions';

-- What an index is asked where the bounds are not known when the query is planned:
-- id >= snowflake_si_first(…) AND id <= snowflake_si_last(…). Never NULL but for NULL.

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
