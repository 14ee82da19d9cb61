-- The ceiling that travels with WAL; see src/pg/wal_ceiling.hpp. Not for use by hand.

CREATE SEQUENCE snowflake_ids_ceiling AS bigint MINVALUE 0 START 0;
COMMENT ON SEQUENCE snowflake_ids_ceiling IS 'internal: time up to which ids of this database may exist, in microseconds since 1970; written by the generators';
