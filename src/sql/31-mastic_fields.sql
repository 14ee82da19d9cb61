CREATE FUNCTION mastic_timestamp(id mastic) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_timestamp(mastic) IS
    'the time of a mastic, in milliseconds, from 2026-01-01 00:00:00+00 to 10945-08-03 05:31:50.655+00';

CREATE FUNCTION mastic_sequence(id mastic) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_sequence(mastic) IS
    'the sequence of a mastic: 0 to 65535';

CREATE FUNCTION mastic_decode(id mastic, OUT created timestamptz, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_decode(mastic) IS 'the time and the sequence of a mastic';

CREATE FUNCTION make_mastic(created timestamptz, sequence integer) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_mastic' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_mastic(timestamptz, integer) IS
    'the mastic with these fields; the time is rounded down to milliseconds; the sequence is 0 to 65535';

CREATE FUNCTION mastic_lower_bound(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_lower_bound(timestamptz) IS
    'the smallest mastic of this time or a later one; error after 10945-08-03 05:31:50.655+00';

CREATE FUNCTION mastic_upper_bound(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_upper_bound(timestamptz) IS
    'the largest mastic of this time or an earlier one; error before 2026-01-01 00:00:00+00';

CREATE CAST (mastic AS timestamptz) WITH FUNCTION mastic_timestamp(mastic);
COMMENT ON CAST (mastic AS timestamptz) IS 'the time of the id: the start of its millisecond';
