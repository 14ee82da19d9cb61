-- The WAL ceiling of this database; see src/pg/server/wal_ceiling.hpp. Not for use by hand. It starts with the sealed
-- 0 of src/ledger/sealed.hpp, which means: no ceiling yet.

CREATE SEQUENCE snowflake_ids.wal_ceiling AS bigint MINVALUE 0 START 22320;
COMMENT ON SEQUENCE snowflake_ids.wal_ceiling IS
    'internal: time up to which ids of this database may exist, in milliseconds since 1970, above 15 check bits; '
    'written by the generators';
