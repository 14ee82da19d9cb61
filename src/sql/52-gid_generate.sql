CREATE FUNCTION gen_gid(kind text) RETURNS gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_gid(text) IS
    'a new gid of the kind volume, log or segment: the present time in milliseconds, and 64 random bits';

CREATE FUNCTION gen_gid_series(kind text, count bigint) RETURNS SETOF gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_gid_series(text, bigint) IS
    'as many new gids as count says, one in each row; the kind is volume, log or segment';
