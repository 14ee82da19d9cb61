-- Generators of any layout. Layouts of the same epoch, tick and widths share one, in all databases of the server.

CREATE FUNCTION gen_snowflake(layout text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake(text) IS 'new id of the layout; node snowflake_ids.machine_id';

CREATE FUNCTION gen_snowflake_series(layout text, count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_snowflake_series(text, bigint) IS 'count new ids of the layout, streamed';

CREATE FUNCTION snowflake_observe(layout text, id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_observe(text, bigint, boolean) IS
    'after an import: gen_snowflake() never issues at or below the time of this id, if it is of this node; to allow it: GRANT EXECUTE ON FUNCTION snowflake_observe TO role';
REVOKE ALL ON FUNCTION snowflake_observe(text, bigint, boolean) FROM PUBLIC;
