-- The WAL ceiling of this database (src/pg/ceilings/database_ceiling.hpp). It starts with the sealed 0 of
-- src/ledger/sealed.hpp: no ceiling yet.
--
-- nextval() must not change the number, so the increment leaves no room for a next value. Bounds without room for
-- setval() would stop pg_upgrade, which calls it. With a least value of 1, monitors (check_postgres --action=sequence)
-- would see a sequence that is used up.

CREATE SEQUENCE snowflake_ids.wal_ceiling AS bigint INCREMENT 9223372036854775807
    MINVALUE -1000000000000000000 START 22320;
SELECT pg_catalog.setval('snowflake_ids.wal_ceiling', 22320);
COMMENT ON SEQUENCE snowflake_ids.wal_ceiling IS
    'internal: time up to which ids of this database may exist, in milliseconds since 1970, above 15 check bits; written by the generators';
