-- The WAL ceiling of this database; see src/pg/ceilings/database_ceiling.hpp. Not for use by hand. It starts with the sealed
-- 0 of src/ledger/sealed.hpp, which means: no ceiling yet.
--
-- nextval() must not change the number: the increment leaves no room for a next value, so the server refuses the call.
-- Bounds that leave no value for setval() either would stop pg_upgrade, which takes the number along by setval(). With a
-- least value of 1, monitors (check_postgres --action=sequence) would see a sequence that is used up.

CREATE SEQUENCE snowflake_ids.wal_ceiling AS bigint INCREMENT 9223372036854775807
    MINVALUE -1000000000000000000 START 22320;
SELECT pg_catalog.setval('snowflake_ids.wal_ceiling', 22320);
COMMENT ON SEQUENCE snowflake_ids.wal_ceiling IS
    'internal: time up to which ids of this database may exist, in milliseconds since 1970, above 15 check bits; written by the generators';
