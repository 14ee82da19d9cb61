CREATE FUNCTION gen_snowflake_si() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake_si() IS
    'a new Snowflake-SI id of this server, at most 2^53-1';

CREATE FUNCTION gen_snowflake_si_series(count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_snowflake_si_series(bigint) IS
    'as many new Snowflake-SI ids as count';
