-- Fields of a Snowflake-SI id, making an id from fields, bounds of a span of time. Base clock and machine id width are
-- not in the id. The short forms take them from the settings and are stable. The forms with two more arguments are
-- immutable and can be used in indexes and generated columns.

CREATE FUNCTION snowflake_si_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_timestamp(id bigint, base_clock timestamptz, machine_bits integer) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_machine_id(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_machine_id' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_machine_id(id bigint, base_clock timestamptz, machine_bits integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_machine_id' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_uin(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_uin' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_uin(id bigint, base_clock timestamptz, machine_bits integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_uin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_decode(id bigint, OUT created timestamptz, OUT machine_id integer, OUT uin integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_decode' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_decode(
    id bigint, base_clock timestamptz, machine_bits integer,
    OUT created timestamptz, OUT machine_id integer, OUT uin integer
)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_snowflake_si(created timestamptz, machine_id integer, uin integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake_si' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_snowflake_si(
    created timestamptz, machine_id integer, uin integer, base_clock timestamptz, machine_bits integer
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake_si' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_lower_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_lower_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_lower_bound(
    created timestamptz, base_clock timestamptz, machine_bits integer
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_upper_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_upper_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_upper_bound(
    created timestamptz, base_clock timestamptz, machine_bits integer
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_si_timestamp(bigint) IS
    'time of a Snowflake-SI id: base clock plus up to 2^40 - 1 milliseconds; layout from the settings';
COMMENT ON FUNCTION snowflake_si_timestamp(bigint, timestamptz, integer) IS
    'time of a Snowflake-SI id: base clock plus up to 2^40 - 1 milliseconds';
COMMENT ON FUNCTION snowflake_si_machine_id(bigint) IS
    'machine id (MID) of a Snowflake-SI id: machine_bits wide, 0 to 12; layout from the settings';
COMMENT ON FUNCTION snowflake_si_machine_id(bigint, timestamptz, integer) IS
    'machine id (MID) of a Snowflake-SI id: machine_bits wide, 0 to 12';
COMMENT ON FUNCTION snowflake_si_uin(bigint) IS
    'number (UIN) of a Snowflake-SI id within its millisecond: 13 - machine_bits wide; layout from the settings';
COMMENT ON FUNCTION snowflake_si_uin(bigint, timestamptz, integer) IS
    'number (UIN) of a Snowflake-SI id within its millisecond: 13 - machine_bits wide';
COMMENT ON FUNCTION snowflake_si_decode(bigint) IS 'all fields of a Snowflake-SI id; layout from the settings';
COMMENT ON FUNCTION snowflake_si_decode(bigint, timestamptz, integer) IS 'all fields of a Snowflake-SI id';
COMMENT ON FUNCTION make_snowflake_si(timestamptz, integer, integer) IS
    'the Snowflake-SI id with these fields; time floored to milliseconds; layout from the settings';
COMMENT ON FUNCTION make_snowflake_si(timestamptz, integer, integer, timestamptz, integer) IS
    'the Snowflake-SI id with these fields; time floored to milliseconds';
COMMENT ON FUNCTION snowflake_si_lower_bound(timestamptz) IS
    'smallest Snowflake-SI id at or after the time; error after the last millisecond; layout from the settings';
COMMENT ON FUNCTION snowflake_si_lower_bound(timestamptz, timestamptz, integer) IS
    'smallest Snowflake-SI id at or after the time; error after the last millisecond';
COMMENT ON FUNCTION snowflake_si_upper_bound(timestamptz) IS
    'largest Snowflake-SI id at or before the time; error before the base clock; layout from the settings';
COMMENT ON FUNCTION snowflake_si_upper_bound(timestamptz, timestamptz, integer) IS
    'largest Snowflake-SI id at or before the time; error before the base clock';
