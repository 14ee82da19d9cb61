-- The Snowflake-SI layout that travels with WAL; see src/pg/wal_layout.hpp. Not for use by hand.

CREATE SEQUENCE snowflake_ids_si_layout AS bigint MINVALUE 0 START 0;
COMMENT ON SEQUENCE snowflake_ids_si_layout IS 'internal: base clock and machine bits of the Snowflake-SI ids of this database; written by the generator';
