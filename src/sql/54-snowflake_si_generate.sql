CREATE FUNCTION gen_snowflake_si() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake_si() IS
    'a new Snowflake-SI id of this server, at most 2^53-1';
