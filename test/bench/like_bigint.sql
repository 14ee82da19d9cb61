-- Is mastic as fast as bigint? CPU time of this session for the same work on both, in turn, and the ratio. Size as psql
-- variables: rows, rounds.
--
--   tools/with-server -- psql -X -v rows=1000000 -v rounds=7 -f test/bench/like_bigint.sql
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS snowflake_ids;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET work_mem = '256MB';
SET maintenance_work_mem = '512MB';
SET jit = off;
-- The clock's time is no use on a machine that does other things as well.
CREATE FUNCTION pg_temp.cpu_ms() RETURNS float8 LANGUAGE sql
    AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 / 1e6 $$;
CREATE TABLE like_mastic AS SELECT gen_mastic() AS id FROM generate_series(1, :rows);
INSERT INTO like_mastic SELECT gen_mastic() FROM generate_series(1, 1000);
CREATE TABLE like_bigint AS SELECT id::bigint AS id FROM like_mastic;
CREATE TABLE mixed_mastic AS SELECT id FROM like_mastic ORDER BY md5(id::text);
CREATE TABLE mixed_bigint AS SELECT id::bigint AS id FROM mixed_mastic;
CREATE TABLE in_mastic (id mastic);
CREATE TABLE in_bigint (id bigint);
VACUUM ANALYZE like_mastic, like_bigint, mixed_mastic, mixed_bigint;
SELECT current_setting('data_directory') AS dir \gset
SELECT format('COPY mixed_bigint TO %L', dir || '/like_bigint.text'),
       format('COPY mixed_bigint TO %L (FORMAT binary)', dir || '/like_bigint.binary')
FROM current_setting('data_directory') dir \gexec
CREATE TEMP TABLE work (what text, statement text, undo text);
INSERT INTO work
SELECT what, replace(statement, 'DIR', current_setting('data_directory')), undo
FROM (VALUES
    ('sort', 'SELECT count(*) FROM (SELECT id FROM mixed_TYPE ORDER BY id OFFSET 0) x', NULL),
    ('index build', 'CREATE INDEX mixed_TYPE_id ON mixed_TYPE (id)', 'DROP INDEX mixed_TYPE_id'),
    ('text out', 'COPY mixed_TYPE TO ''/dev/null''', NULL),
    ('text in', 'COPY in_TYPE FROM ''DIR/like_bigint.text''', 'TRUNCATE in_TYPE'),
    ('binary out', 'COPY mixed_TYPE TO ''/dev/null'' (FORMAT binary)', NULL),
    ('binary in', 'COPY in_TYPE FROM ''DIR/like_bigint.binary'' (FORMAT binary)', 'TRUNCATE in_TYPE')) w (what, statement, undo);
CREATE TEMP TABLE took (what text, type text, ms float8);
SELECT set_config('bench.rounds', :'rounds', false) \g /dev/null
DO $$
DECLARE
    w record;
    type text;
    began float8;
BEGIN
    FOR round IN 1 .. current_setting('bench.rounds')::int LOOP
        FOR w IN SELECT * FROM work LOOP
            FOREACH type IN ARRAY ARRAY['mastic', 'bigint'] LOOP
                began := pg_temp.cpu_ms();
                EXECUTE replace(w.statement, 'TYPE', type);
                INSERT INTO took VALUES (w.what, type, pg_temp.cpu_ms() - began);
                IF w.undo IS NOT NULL THEN EXECUTE replace(w.undo, 'TYPE', type); END IF;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
WITH times AS (SELECT what, type, min(ms) AS least, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS median
               FROM took GROUP BY 1, 2)
SELECT what, round(m.least::numeric, 1) AS "mastic, ms", round(b.least::numeric, 1) AS "bigint, ms",
       round((m.least / b.least)::numeric, 3) AS "ratio of the least",
       round((m.median / b.median)::numeric, 3) AS "of the medians"
FROM times m JOIN times b USING (what)
WHERE m.type = 'mastic' AND b.type = 'bigint' ORDER BY 1;
SELECT relname, pg_size_pretty(pg_relation_size(oid)) AS size FROM pg_class WHERE relname IN ('mixed_mastic', 'mixed_bigint') ORDER BY 1;
