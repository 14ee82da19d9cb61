-- Generators of sno. All sessions of the server share one ledger, so no two calls ever return the same id.

CREATE FUNCTION gen_sno(metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno(integer) IS 'new sno in the partition snowflake_ids.machine_id; metabyte 0-255';

CREATE FUNCTION gen_sno(metabyte integer, partition integer) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_partition'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno(integer, integer) IS
    'new sno in an explicit partition 0-65535; metabyte 0-255; at most 64 such partitions per database; to allow it: GRANT EXECUTE ON FUNCTION gen_sno(integer, integer) TO role';
-- Not for PUBLIC, because it can draw in the partition of another server.
REVOKE ALL ON FUNCTION gen_sno(integer, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_at(created timestamptz, metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_at'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno_at(timestamptz, integer) IS
    'new sno with a given time, for porting old ids; its sequence goes round after 65536 calls; may meet ids of gen_sno at the present; to allow it: GRANT EXECUTE ON FUNCTION gen_sno_at TO role';
REVOKE ALL ON FUNCTION gen_sno_at(timestamptz, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_series(count bigint, metabyte integer DEFAULT 0) RETURNS SETOF sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_sno_series(bigint, integer) IS 'count new snos, streamed; metabyte 0-255';
