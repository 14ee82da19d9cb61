CREATE FUNCTION gen_mastic() RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_mastic() IS
    'a new Mastic id, unique on this server';

CREATE FUNCTION gen_mastic_series(count bigint) RETURNS SETOF mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_mastic_series(bigint) IS 'as many new Mastic ids as count';
