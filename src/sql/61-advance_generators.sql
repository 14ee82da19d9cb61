-- A misuse can harm uniqueness or other databases of the server, so PUBLIC may call only snowflake_ids.pass_now().

CREATE FUNCTION sno_observe(id sno, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_observe(sno, boolean) IS
    'for imports: later ids of gen_sno() have a later time than this id, if this server generates ids in its partition; to allow it: GRANT EXECUTE ON FUNCTION sno_observe TO role';
REVOKE ALL ON FUNCTION sno_observe(sno, boolean) FROM PUBLIC;

CREATE FUNCTION mastic_observe(id mastic, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_observe(mastic, boolean) IS
    'for imports: later ids of gen_mastic() have a later time than this id; to allow it: GRANT EXECUTE ON FUNCTION mastic_observe TO role';
REVOKE ALL ON FUNCTION mastic_observe(mastic, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_si_observe(id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_observe(bigint, boolean) IS
    'for imports: later ids of gen_snowflake_si() have a later time than this id, if it has the machine id of this server; to allow it: GRANT EXECUTE ON FUNCTION snowflake_si_observe TO role';
REVOKE ALL ON FUNCTION snowflake_si_observe(bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_ids.reset(
    floor timestamptz, format text DEFAULT NULL, machine_id integer DEFAULT NULL, force boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_reset'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.reset(timestamptz, text, integer, boolean) IS
    'later ids have a later time than floor, at most a minute ahead of the clock; superusers may pass any floor, with force below existing ids; repairs WAL ceilings; to allow it: GRANT EXECUTE ON FUNCTION snowflake_ids.reset TO role';
REVOKE ALL ON FUNCTION snowflake_ids.reset(timestamptz, text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_ids.pass_now(format text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_pass_now' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.pass_now(text) IS
    'the present time; later ids of this server''s own generator have later times, so they differ from ids that you make from this time or earlier ones';
