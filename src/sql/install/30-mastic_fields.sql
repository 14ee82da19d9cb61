-- Fields of a Mastic id, making an id from fields, its text, bounds of a span of time. A bigint has the unsigned 64
-- bits: ids from the year 6485 on are negative.

CREATE FUNCTION mastic_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_sequence(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_decode(id bigint, OUT created timestamptz, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_mastic(created timestamptz, sequence integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_mastic' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_to_text(id bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_to_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_from_text(id text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_lower_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_upper_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION mastic_timestamp(bigint) IS
    'time of a Mastic id in milliseconds, 2026-01-01 00:00:00+00 to 10945-08-03 05:31:50.655+00';
COMMENT ON FUNCTION mastic_sequence(bigint) IS 'sequence of a Mastic id within its millisecond: 0 to 65535';
COMMENT ON FUNCTION mastic_decode(bigint) IS 'all fields of a Mastic id';
COMMENT ON FUNCTION make_mastic(timestamptz, integer) IS
    'the Mastic id with these fields; time floored to milliseconds, sequence 0 to 65535';
COMMENT ON FUNCTION mastic_to_text(bigint) IS 'a Mastic id as unsigned decimal number, 0 to 18446744073709551615';
COMMENT ON FUNCTION mastic_from_text(text) IS
    'the Mastic id written as unsigned decimal number, 0 to 18446744073709551615';
COMMENT ON FUNCTION mastic_lower_bound(timestamptz) IS
    'smallest Mastic id, as unsigned number, at or after the time; error after 10945-08-03 05:31:50.655+00';
COMMENT ON FUNCTION mastic_upper_bound(timestamptz) IS
    'largest Mastic id, as unsigned number, at or before the time; error before 2026-01-01 00:00:00+00';
