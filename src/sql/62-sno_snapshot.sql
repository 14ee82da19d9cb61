-- The sno reference's GeneratorSnapshot.

CREATE FUNCTION snowflake_ids.sno_snapshot(partition integer DEFAULT NULL) RETURNS jsonb
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_snapshot'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.sno_snapshot(integer) IS
    'state of a sno generator as the reference''s GeneratorSnapshot, times in units of 4 ms since 2010; default: this node''s partition';

CREATE FUNCTION snowflake_ids.sno_restore(snapshot jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_restore'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.sno_restore(jsonb) IS
    'the generator of a GeneratorSnapshot never issues at or before its times again; it never moves back; to allow it: GRANT EXECUTE ON FUNCTION snowflake_ids.sno_restore TO role';
REVOKE ALL ON FUNCTION snowflake_ids.sno_restore(jsonb) FROM PUBLIC;
