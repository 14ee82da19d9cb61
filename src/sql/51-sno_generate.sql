CREATE FUNCTION gen_sno() RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_default'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno() IS
    'a new sno of this server, with the metabyte 0';

-- No default for the metabyte, because EXPLAIN would print it in gen_sno().
CREATE FUNCTION gen_sno(metabyte integer) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno(integer) IS
    'a new sno of this server with this metabyte, 0 to 255';

CREATE FUNCTION gen_sno(metabyte integer, partition integer) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_partition'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno(integer, integer) IS
    'a new sno with this metabyte, 0 to 255, and partition, 0 to 65535; a database can use 64 partitions; to allow it: GRANT EXECUTE ON FUNCTION gen_sno(integer, integer) TO role';
-- It can generate ids of another server.
REVOKE ALL ON FUNCTION gen_sno(integer, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_at(created timestamptz, metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_at'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno_at(timestamptz, integer) IS
    'a sno of this time, for old rows; ids repeat after 65536 calls for one time, and can equal ids of gen_sno(); to allow it: GRANT EXECUTE ON FUNCTION gen_sno_at TO role';
REVOKE ALL ON FUNCTION gen_sno_at(timestamptz, integer) FROM PUBLIC;
