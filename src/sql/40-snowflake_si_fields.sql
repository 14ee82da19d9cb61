-- For the ids of gen_snowflake_si(). For another base clock or other widths, use snowflake_decode() and similar
-- functions.

CREATE FUNCTION snowflake_si_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_timestamp(bigint) IS
    'the time of a Snowflake-SI id, in milliseconds: from 2026-01-01 00:00:00+00, for 2^40 milliseconds';

CREATE FUNCTION snowflake_si_decode(id bigint, OUT created timestamptz, OUT machine_id integer, OUT uin integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_decode(bigint) IS
    'the time, the machine id (MID) and the number (UIN) of a Snowflake-SI id';

CREATE FUNCTION snowflake_si_machine_id(id bigint) RETURNS integer IMMUTABLE STRICT PARALLEL SAFE
    RETURN (snowflake_si_decode(id)).machine_id;
COMMENT ON FUNCTION snowflake_si_machine_id(bigint) IS 'the machine id (MID) of a Snowflake-SI id: 0 to 31';

CREATE FUNCTION snowflake_si_uin(id bigint) RETURNS integer IMMUTABLE STRICT PARALLEL SAFE
    RETURN (snowflake_si_decode(id)).uin;
COMMENT ON FUNCTION snowflake_si_uin(bigint) IS
    'the number (UIN) of a Snowflake-SI id: 0 to 255';

CREATE FUNCTION make_snowflake_si(created timestamptz, machine_id integer, uin integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_snowflake_si(timestamptz, integer, integer) IS
    'the Snowflake-SI id with these fields; the time is rounded down to milliseconds; machine_id is 0 to 31, uin is 0 to 255';

CREATE FUNCTION snowflake_si_lower_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_lower_bound(timestamptz) IS
    'the smallest Snowflake-SI id of this time or a later one; error after the last time of the format';

CREATE FUNCTION snowflake_si_upper_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_upper_bound(timestamptz) IS
    'the largest Snowflake-SI id of this time or an earlier one; error before 2026-01-01 00:00:00+00';
