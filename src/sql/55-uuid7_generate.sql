-- PostgreSQL 18 has uuidv7(), which generates the same kind of uuid.

CREATE FUNCTION gen_uuid7() RETURNS uuid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_uuid7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_uuid7() IS
    'a new uuid of version 7; larger than earlier ones of this session, except in parallel workers';

CREATE FUNCTION gen_uuid7_series(count bigint) RETURNS SETOF uuid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_uuid7_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_uuid7_series(bigint) IS 'as many new uuids of version 7 as count';
