-- PostgreSQL 18 has uuidv7(), which generates the same kind of uuid.

CREATE FUNCTION gen_uuid7() RETURNS uuid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_uuid7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_uuid7() IS
    'a new uuid of version 7; larger than earlier ones of this session, except in parallel workers';
