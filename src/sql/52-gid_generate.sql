-- Generators of gid: 64 random bits from the server's strong source, no shared state.

CREATE FUNCTION gen_gid(kind text) RETURNS gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_gid(text) IS 'new gid of kind volume, log or segment: current millisecond and 64 random bits';

CREATE FUNCTION gen_gid_series(kind text, count bigint) RETURNS SETOF gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_gid_series(text, bigint) IS 'count new gids of kind volume, log or segment, streamed';
