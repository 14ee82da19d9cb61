CREATE FUNCTION gen_mastic() RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_mastic() IS
    'a new Mastic id, unique on this server';
