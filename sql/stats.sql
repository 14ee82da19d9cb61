SET timezone = 'UTC';
LOAD 'snowflake_ids';
-- Generators of a machine id that no other test uses.
ALTER SYSTEM SET snowflake_ids.machine_id = 29;
\i sql/include/reload.psql

SELECT attname, format_type(atttypid, atttypmod) AS type, col_description(attrelid, attnum) AS comment FROM pg_attribute
WHERE attrelid = 'snowflake_ids.stats'::regclass AND attnum > 0 ORDER BY attnum;

CREATE TEMP VIEW mine AS SELECT * FROM snowflake_ids.stats WHERE machine_id = 29 AND format <> 'mastic';
SELECT snowflake_ids.stats_reset();

--
-- A row appears with the first id
--
SELECT gen_sno() IS NOT NULL AS sno, gen_sno_at(now()) IS NOT NULL AS sno_at, gen_mastic() > 0 AS mastic,
    gen_snowflake_si() > 0 AS snowflake_si;
SELECT format, machine_id, issued, overflow_waits, wait_time < 60000 AS wait_time, waiting, regressions, holds, ticktock,
    clock_lead < 10000 AS lead,
       abs(extract(epoch FROM clock_timestamp() - last_timestamp)) < 10 AS now,
           durable_until > last_timestamp AS durable, owner
FROM mine ORDER BY format;
SELECT format, machine_id, issued > 0 AS issued, ticktock,
    abs(extract(epoch FROM clock_timestamp() - last_timestamp)) < 10 AS now,
       durable_until > last_timestamp AS durable, owner
FROM snowflake_ids.stats WHERE format = 'mastic';

--
-- Counting
--
SELECT count(gen_sno()), count(gen_snowflake_si()) FROM generate_series(1, 99);
SELECT format, issued FROM mine ORDER BY format;
-- Ids of a rollback count.
BEGIN;
SELECT count(gen_sno()) FROM generate_series(1, 100);
ROLLBACK;
SELECT format, issued FROM mine WHERE format = 'sno';
-- So do those of a failed statement, and of a block rolled back to its savepoint.
BEGIN;
SAVEPOINT s;
SELECT count(gen_sno()), 1 / (count(*) - 100) FROM generate_series(1, 100);
ROLLBACK TO s;
COMMIT;
SELECT format, issued FROM mine WHERE format = 'sno';
-- A session that ends has added its counts.
SELECT count(gen_sno()) FROM generate_series(1, 1000);
SELECT issued >= 1299 AS in_session, issued AS in_session_issued FROM mine WHERE format = 'sno' \gset
\c -
LOAD 'snowflake_ids';
SET timezone = 'UTC';
CREATE TEMP VIEW mine AS SELECT * FROM snowflake_ids.stats WHERE machine_id = 29 AND format <> 'mastic';
SELECT :'in_session' AS enough, issued = :in_session_issued AS same FROM mine WHERE format = 'sno';

--
-- Waiting
--
SELECT count(gen_snowflake_si()) FROM generate_series(1, 2000);
SELECT overflow_waits > 0 AS waited, wait_time > 0 AS time, waiting FROM mine WHERE format = 'snowflake_si';
-- A failed wait is over, too. With max_wait = 0 there was none.
SELECT overflow_waits AS waits FROM mine WHERE format = 'snowflake_si' \gset
SET snowflake_ids.max_wait = 0;
SELECT count(gen_snowflake_si()) FROM generate_series(1, 1000000);
\echo :LAST_ERROR_SQLSTATE
RESET snowflake_ids.max_wait;
SELECT waiting, overflow_waits - :waits AS more FROM mine WHERE format = 'snowflake_si';

--
-- The database that created an explicit generator
--
SELECT min(n) AS unused FROM generate_series(1000, 2000) AS n
WHERE NOT EXISTS (SELECT FROM snowflake_ids.stats WHERE format = 'sno' AND machine_id = n) \gset
SELECT gen_sno(0, :unused) IS NOT NULL AS drawn;
SELECT format, issued, owner = current_database() AS owner FROM snowflake_ids.stats WHERE machine_id = :unused;

--
-- Reset: the counters, not the state
--
SELECT gen_sno() AS before_sno, gen_mastic() AS before_mastic, gen_snowflake_si() AS before_si \gset
SELECT snowflake_ids.stats_reset();
SELECT format, issued, overflow_waits, wait_time, waiting, regressions, holds, last_timestamp IS NOT NULL AS last
    FROM mine ORDER BY format;
SELECT gen_sno() > :'before_sno' AS sno, gen_mastic() > :before_mastic AS mastic,
    gen_snowflake_si() > :before_si AS snowflake_si;
SELECT format, issued FROM mine ORDER BY format;

--
-- The node
--
SELECT machine_id, machine_id_source, life > 0 AS life, life_began < now() AS began, memory,
       memory_bytes > 135168 AS large, ceiling_file, in_recovery,
       library_version = (SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids') AS version
FROM snowflake_ids.status();
SELECT system_identifier = (SELECT system_identifier FROM pg_control_system()) AS same_cluster FROM snowflake_ids.status();
SELECT column_name, data_type FROM (SELECT * FROM snowflake_ids.status()) AS s,
    LATERAL (SELECT key AS column_name, jsonb_typeof(value) AS data_type FROM jsonb_each(to_jsonb(s))) AS c
ORDER BY 1;

--
-- Everybody may look, the owner may reset
--
SET client_min_messages = warning;
CREATE ROLE regress_stats_user;
SET ROLE regress_stats_user;
SELECT count(*) > 0 AS stats FROM snowflake_ids.stats;
SELECT ceiling_file FROM snowflake_ids.status();
SELECT snowflake_ids.stats_reset();
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_ids.stats_reset() TO regress_stats_user;
SET ROLE regress_stats_user;
SELECT snowflake_ids.stats_reset();
RESET ROLE;
REVOKE EXECUTE ON FUNCTION snowflake_ids.stats_reset() FROM regress_stats_user;
DROP ROLE regress_stats_user;

ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(generators|stats_reset|node|status)$' ORDER BY signature COLLATE "C";
SELECT relname, relkind, relacl IS NULL AS owner_only, has_table_privilege('public', oid, 'SELECT') AS public_reads,
       has_table_privilege('public', oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AS public_writes
FROM pg_class WHERE relnamespace = 'snowflake_ids'::regnamespace ORDER BY relname COLLATE "C";
