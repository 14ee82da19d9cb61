-- A poll reads by index what is new, in each part of the table, in one process and in the order of its steps.
SET client_min_messages = warning;
-- The scans of a plan and their conditions, without what differs between servers, and without positions.
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line !~ 'Append|Join|Nested|Hash|Sort|Gather|Index Cond| Scan (using|on)' OR line ~ 'Subquery|Merge Cond|Sort Key';
        line := regexp_replace(line, '''[^'']{20,}''::text|\$[0-9]', '$N', 'g');
        line := regexp_replace(line, '\((Init|Sub)Plan [^)]*\)(\.col1)?|("?\*SELECT\* 1"?|unnamed_subquery)\.int8|f\.id', '$N', 'g');
        RETURN NEXT ltrim(line, '-> ');
    END LOOP;
END $$;
-- How often the conditions of a plan's scans are a filter, and how often an index finds their rows.
CREATE FUNCTION scans(query text) RETURNS TABLE (scans bigint, by_index bigint, sequential bigint, parallel bigint) LANGUAGE sql AS $$
    SELECT count(*) FILTER (WHERE p ~ ' Scan (using .* )?on part'), count(*) FILTER (WHERE p ~ 'Index Cond: .*feed_from'),
        count(*) FILTER (WHERE p ~ 'Seq Scan'), count(*) FILTER (WHERE p ~ 'Parallel|Gather') FROM plan(query) AS p
$$;

CREATE TABLE headline (id bigint PRIMARY KEY, body text);
INSERT INTO headline SELECT n, 'body' FROM generate_series(1, 20000) AS n;
SELECT to_do FROM snowflake_ids.create_feed('headline');
ALTER TABLE headline SET (autovacuum_enabled = off);
ALTER TABLE headline_deleted SET (autovacuum_enabled = off);
DELETE FROM headline WHERE id <= 1000;
VACUUM ANALYZE headline, headline_deleted;
SELECT snowflake_ids.feed_position('headline') AS position \gset
UPDATE headline SET body = 'new' WHERE id > 19990;
DELETE FROM headline WHERE id = 19999;
SELECT plan(format('SELECT * FROM headline_feed(%L)', :'position'));
-- A generic plan.
PREPARE poll(text) AS SELECT step, id, "row", position FROM headline_feed($1);
SET plan_cache_mode = force_generic_plan;
SELECT plan(format('EXECUTE poll(%L)', :'position'));
-- A filter, a sort, a join and an aggregate of the caller stay outside.
SET enable_hashjoin = off;
SELECT step, id, ("row").body FROM headline_feed(:'position') f WHERE step <> 2 OR (f."row").id > 19998;
SELECT plan(format('SELECT step, id FROM headline_feed(%L) f WHERE step = 2 AND id = 19998 ORDER BY id', :'position'));
SELECT plan(format('SELECT f.step, f.id, h.body FROM headline_feed(%L) f LEFT JOIN headline h USING (id)', :'position'));
SELECT f.step, f.id, h.body FROM headline_feed(:'position') f LEFT JOIN headline h USING (id);
RESET plan_cache_mode;
RESET enable_hashjoin;
SELECT f.step, f.id, h.body FROM headline_feed(:'position') f LEFT JOIN headline h USING (id) WHERE f.step <> 2 OR f.id % 5 = 0;
BEGIN;
DECLARE c CURSOR FOR SELECT step, id FROM headline_feed(:'position');
FETCH 2 FROM c;
FETCH 2 FROM c;
FETCH ALL FROM c;
COMMIT;
SELECT step, id FROM headline_feed(:'position') LIMIT 2;
-- Called with what the planner does not know, the function is the same.
SELECT f.step, f.id FROM (VALUES (:'position')) AS p (position), headline_feed(p.position) f WHERE f.step <> 2;
SELECT step, id FROM headline_feed((SELECT :'position'::text)) WHERE step <> 2;

-- ---- brin
CREATE TABLE brin (id bigint PRIMARY KEY, body text);
SELECT to_do FROM snowflake_ids.create_feed('brin', index => 'brin', deletes => false);
ALTER TABLE brin SET (autovacuum_enabled = off);
INSERT INTO brin SELECT n, repeat('body', 50) FROM generate_series(1, 40000) AS n;
VACUUM ANALYZE brin;
SELECT snowflake_ids.feed_position('brin') AS position \gset
INSERT INTO brin SELECT n FROM generate_series(40001, 40003) AS n;
SELECT plan(format('SELECT * FROM brin_feed(%L)', :'position'));
SELECT step, id FROM brin_feed(:'position');

-- ---- a hundred partitions
CREATE TABLE parted (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE part_%s PARTITION OF parted FOR VALUES FROM (%s) TO (%s)', n, n * 1000, (n + 1) * 1000)
FROM generate_series(0, 99) AS n \gexec
SELECT to_do FROM snowflake_ids.create_feed('parted');
INSERT INTO parted SELECT n FROM generate_series(0, 99999) AS n;
ANALYZE parted;
SELECT snowflake_ids.feed_position('parted') AS position \gset
INSERT INTO parted_deleted (id) SELECT n FROM generate_series(-1000, -1) AS n;
DELETE FROM parted WHERE id IN (5, 50005);
UPDATE parted SET id = id WHERE id IN (7, 50007);
ANALYZE parted_deleted;
SELECT * FROM scans(format('SELECT * FROM parted_feed(%L)', :'position'));
PREPARE poll_parted(text) AS SELECT step, id, position FROM parted_feed($1) WHERE step <> 2 OR id < 1000;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM scans(format('EXECUTE poll_parted(%L)', :'position'));
RESET plan_cache_mode;
SELECT step, id FROM parted_feed(:'position') WHERE id >= 0;
-- No worker, whatever the settings say.
SELECT set_config(name, CASE setting WHEN 'off' THEN 'on' END, false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SELECT * FROM scans('SELECT * FROM parted_feed('''')');
SELECT * FROM scans('SELECT count(*) FROM parted_feed('''') f JOIN parted p USING (id)');
SELECT parallel > 0 AS control FROM scans('SELECT count(*) FROM parted');
RESET ALL;

DROP FUNCTION headline_feed, brin_feed, parted_feed;
DROP TABLE headline, headline_deleted, brin, parted, parted_deleted;
DROP FUNCTION plan, scans;
