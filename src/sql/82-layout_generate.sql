-- Layouts of the same epoch, tick and widths share one generator, in all databases of the server.

CREATE FUNCTION gen_snowflake(layout text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake(text) IS 'a new id of the layout and this server';

CREATE FUNCTION snowflake_observe(layout text, id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_observe(text, bigint, boolean) IS
    'for imports: later ids of gen_snowflake() have a later time than this id, if it has the machine id of this server; to allow it: GRANT EXECUTE ON FUNCTION snowflake_observe TO role';
REVOKE ALL ON FUNCTION snowflake_observe(text, bigint, boolean) FROM PUBLIC;
