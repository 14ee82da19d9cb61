-- The WAL ceiling of this database (src/pg/ceilings/ceiling_in_wal.hpp). A materialized view, because PostgreSQL then
-- refuses every change by SQL except REFRESH, publications and dumps leave it out, and pg_upgrade copies its file.

CREATE FUNCTION snowflake_ids.read_ceiling(OUT until timestamptz, OUT life_id bigint, OUT check_bits bigint,
    OUT lives bytea)
AS 'MODULE_PATHNAME', 'snowflake_ids_read_ceiling'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.read_ceiling() IS
    'internal: the present row of snowflake_ids.wal_ceiling, so that REFRESH MATERIALIZED VIEW keeps it';

CREATE MATERIALIZED VIEW snowflake_ids.wal_ceiling USING heap AS
SELECT c.until, c.life_id, c.check_bits, c.lives FROM snowflake_ids.read_ceiling() AS c;
COMMENT ON MATERIALIZED VIEW snowflake_ids.wal_ceiling IS
    'internal: time up to which ids of this database may exist, and lives of its feeds; written by generators, stamps and readers';
