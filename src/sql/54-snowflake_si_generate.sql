-- Generators of Snowflake-SI ids.

CREATE FUNCTION gen_snowflake_si() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake_si() IS
    'new Snowflake-SI id, at most 2^53-1: milliseconds since 2026-01-01, snowflake_ids.machine_id, number';

CREATE FUNCTION gen_snowflake_si_series(count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_snowflake_si_series(bigint) IS
    'count new Snowflake-SI ids, streamed; 256 per millisecond';
