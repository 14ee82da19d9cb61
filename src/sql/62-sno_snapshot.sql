-- The sno reference's GeneratorSnapshot.

CREATE FUNCTION snowflake_ids.sno_snapshot(partition integer DEFAULT NULL) RETURNS jsonb
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_snapshot'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.sno_snapshot(integer) IS
    'the state of a sno generator as a GeneratorSnapshot of the sno library, times in units of 4 ms since 2010; default: the partition of this server';

CREATE FUNCTION snowflake_ids.sno_restore(snapshot jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_restore'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.sno_restore(jsonb) IS
    'later ids of the generator of a GeneratorSnapshot have later times than the snapshot; the generator never moves back; to allow it: GRANT EXECUTE ON FUNCTION snowflake_ids.sno_restore TO role';
REVOKE ALL ON FUNCTION snowflake_ids.sno_restore(jsonb) FROM PUBLIC;
