-- Ids as people use them: many at once, and in parallel queries.
SET timezone = 'UTC';
SET jit = off;

--
-- INSERT … SELECT of a million rows
--
CREATE UNLOGGED TABLE million (id sno DEFAULT gen_sno(), mastic mastic DEFAULT gen_mastic(), g gid(log) DEFAULT gen_gid('log'), n int);
INSERT INTO million (n) SELECT generate_series(1, 1000000);
SET work_mem = '200MB';
SELECT count(*) FROM million;
SELECT count(*) FROM (SELECT DISTINCT id FROM million) AS d;
SELECT count(*) FROM (SELECT DISTINCT mastic FROM million) AS d;
SELECT count(*) FROM (SELECT DISTINCT g FROM million) AS d;
SELECT count(*) AS inversions FROM (SELECT id, mastic, lag(id) OVER w AS id_before, lag(mastic) OVER w AS mastic_before FROM million WINDOW w AS (ORDER BY n)) AS m
WHERE id <= id_before OR mastic <= mastic_before;
-- The same through series, after all those.
SELECT max(id) AS max_id, max(mastic) AS max_mastic FROM million \gset
SELECT count(*), min(id) > :'max_id' AS above FROM gen_sno_series(1000000) AS id;
SELECT count(*), min(id) > :max_mastic AS above FROM gen_mastic_series(1000000) AS id;
ANALYZE million;

--
-- Parallel workers draw for themselves
--
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
-- How many rows of a query were made below the Gather, that is by workers, and how many workers there were.
CREATE FUNCTION pg_temp.by_workers(query text, OUT workers int, OUT made bigint) LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, FORMAT json) ' || query INTO plan;
    plan := jsonb_path_query_first(plan, '$.** ? (@."Node Type" == "Gather")');
    workers := plan ->> 'Workers Launched';
    made := (plan ->> 'Actual Rows')::numeric;
END $$;
EXPLAIN (COSTS off, VERBOSE) SELECT n, gen_sno(), gen_mastic(), gen_gid('log') FROM million WHERE n <= 200000;
SELECT workers > 0 AS workers, made FROM pg_temp.by_workers('CREATE UNLOGGED TABLE drawn AS
    SELECT n, gen_sno() AS id, gen_mastic() AS mastic, gen_snowflake_si() AS si, gen_gid(''log'') AS g FROM million WHERE n <= 50000');
SELECT count(*), count(DISTINCT id), count(DISTINCT mastic), count(DISTINCT si), count(DISTINCT g) FROM drawn;
-- Leader and workers together, and a generator in a condition.
SET parallel_leader_participation = on;
SELECT workers > 0 AS workers, made FROM pg_temp.by_workers('CREATE UNLOGGED TABLE drawn_together AS
    SELECT n, gen_sno() AS id, gen_mastic() AS mastic FROM million WHERE n <= 100000 AND gen_mastic() > 0');
SELECT count(*), count(DISTINCT id), count(DISTINCT mastic), min(id) > :'max_id' AS above
FROM (SELECT id, mastic FROM drawn UNION ALL SELECT id, mastic FROM drawn_together) AS a;
-- Everything that may run in a worker does: the same functions through one.
SELECT set_config(CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END, 'on', false) AS forced;
SELECT gen_sno() > :'max_id' AS sno, gen_mastic() > :max_mastic AS mastic, gen_snowflake_si() > 0 AS si, gid_kind(gen_gid('log'));
SELECT count(DISTINCT id) FROM gen_sno_series(10000) AS id;
SELECT count(DISTINCT id) FROM gen_snowflake_si_series(1000) AS id;
-- What workers drew is counted.
SELECT issued > 1000000 AS counted FROM snowflake_ids.stats WHERE format = 'mastic';
-- An error in a worker is the query's error.
SELECT gen_sno(256);

DROP TABLE million, drawn, drawn_together;
