CREATE FUNCTION gen_gid(kind text) RETURNS gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_gid(text) IS
    'a new gid of the kind volume, log or segment';

CREATE FUNCTION gen_gid_series(kind text, count bigint) RETURNS SETOF gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_gid_series(text, bigint) IS
    'as many new gids as count';
