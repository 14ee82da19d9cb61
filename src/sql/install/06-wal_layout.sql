-- The Snowflake-SI layout of this database; see src/pg/server/wal_layout.hpp. Not for use by hand. It starts with the
-- sealed 0 of src/ledger/sealed.hpp, which means: no layout yet.

CREATE SEQUENCE snowflake_ids_si_layout AS bigint MINVALUE 0 START 64;
COMMENT ON SEQUENCE snowflake_ids_si_layout IS
    'internal: base clock and machine bits of the Snowflake-SI ids of this database, above 11 check bits; written by '
    'the generator';
