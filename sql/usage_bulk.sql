SET timezone = 'UTC';
SET jit = off;

--
-- INSERT … SELECT of 200,000 rows
--
CREATE UNLOGGED TABLE bulk (id sno DEFAULT gen_sno(), mastic mastic DEFAULT gen_mastic(), g gid(log) DEFAULT gen_gid('log'), n int);
INSERT INTO bulk (n) SELECT generate_series(1, 200000);
SET work_mem = '200MB';
SELECT count(*) FROM bulk;
SELECT count(*) FROM (SELECT DISTINCT id FROM bulk) AS d;
SELECT count(*) FROM (SELECT DISTINCT mastic FROM bulk) AS d;
SELECT count(*) FROM (SELECT DISTINCT g FROM bulk) AS d;
SELECT count(*) AS inversions FROM (SELECT id, mastic, lag(id) OVER w AS id_before, lag(mastic) OVER w AS mastic_before FROM bulk WINDOW w AS (ORDER BY n)) AS m
WHERE id <= id_before OR mastic <= mastic_before;
SELECT max(id) AS max_id, max(mastic) AS max_mastic FROM bulk \gset
ANALYZE bulk;

--
-- A parallel query generates in the leader; gids need no shared memory, so workers can
--
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS off, VERBOSE) SELECT n, gen_gid('log') FROM bulk WHERE n <= 150000;
EXPLAIN (COSTS off, VERBOSE) SELECT n, gen_sno(), gen_mastic(), gen_gid('log') FROM bulk WHERE n <= 150000;
CREATE UNLOGGED TABLE drawn AS
    SELECT n, gen_sno() AS id, gen_mastic() AS mastic, gen_snowflake_si() AS si, gen_gid('log') AS g FROM bulk WHERE n <= 50000;
SELECT count(*), count(DISTINCT id), count(DISTINCT mastic), count(DISTINCT si), count(DISTINCT g) FROM drawn;
-- A function wrongly marked parallel safe fails in a worker, and generates nothing.
CREATE FUNCTION wrong_sno(n int) RETURNS sno LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN gen_sno(); END $$;
CREATE FUNCTION wrong_si(n int) RETURNS bigint LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$ BEGIN RETURN gen_snowflake_si(); END $$;
\set SHOW_CONTEXT never
SELECT max(wrong_sno(n)) FROM bulk WHERE n <= 10;
SELECT max(wrong_si(n)) FROM bulk WHERE n <= 10;
DROP FUNCTION wrong_sno, wrong_si;
-- The leader generates while workers run everything that may.
SELECT set_config(CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END, 'on', false) AS forced;
SELECT gen_sno() > :'max_id' AS sno, gen_mastic() > :max_mastic AS mastic, gen_snowflake_si() > 0 AS si, gid_kind(gen_gid('log'));
SELECT count(DISTINCT gen_sno()), count(DISTINCT gen_mastic()), count(DISTINCT gen_snowflake_si()),
    count(DISTINCT gen_gid('log')) FROM generate_series(1, 1000);
SELECT issued > 200000 AS counted FROM snowflake_ids.stats WHERE format = 'mastic';
SELECT gen_sno(256);

DROP TABLE bulk, drawn;
