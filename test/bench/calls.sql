-- Cost of one call, side by side: every candidate once per round, rounds interleaved, so
-- that a noisy machine is noisy for all. Net: minus the same scan without a call, in the
-- same round. Medians over the rounds. CPU: the time that the session had a processor, which
-- other load on the machine disturbs less, but which hides waiting. Wall: elapsed.
--
-- psql variables: rounds, rows.
\set QUIET on
\pset footer off
SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET synchronous_commit = off;

CREATE EXTENSION IF NOT EXISTS snowflake_ids;
CREATE SEQUENCE seq_1;
CREATE SEQUENCE seq_1000 CACHE 1000;
CREATE UNLOGGED TABLE row_source AS SELECT g AS n FROM generate_series(1, :rows) g;
VACUUM ANALYZE row_source;
CREATE UNLOGGED TABLE candidate (ord int, what text, kind text, query text);
CREATE UNLOGGED TABLE result (round int, what text, wall float8, cpu float8);

-- kind scan: one call per row of a table, net of the scan. kind series: a set-returning
-- function in a target list, gross. OFFSET discards the rows without sending them.
INSERT INTO candidate
SELECT ord, what, 'scan', format('SELECT %s FROM row_source OFFSET %s', expression, :rows)
FROM (VALUES
    (0, 'no-op', 'n'),
    (1, 'clock_timestamp()', 'clock_timestamp()'),
    (2, 'nextval, cache 1', 'nextval(''seq_1'')'),
    (3, 'nextval, cache 1000', 'nextval(''seq_1000'')'),
    (4, 'gen_random_uuid()', 'gen_random_uuid()'),
    (5, 'uuidv7()', 'uuidv7()'),
    (6, 'gen_sno()', 'gen_sno()'),
    (7, 'gen_mastic()', 'gen_mastic()'),
    (8, 'gen_gid(''volume'')', 'gen_gid(''volume'')')
) AS c (ord, what, expression)
WHERE expression <> 'uuidv7()' OR to_regproc('pg_catalog.uuidv7') IS NOT NULL;
INSERT INTO candidate
SELECT ord, what, 'series', format('SELECT %s OFFSET %s', what, :rows)
FROM (VALUES
    (20, format('generate_series(1, %s)', :rows)),
    (21, format('gen_sno_series(%s)', :rows)),
    (22, format('gen_mastic_series(%s)', :rows)),
    (23, format('gen_gid_series(''volume'', %s)', :rows))
) AS c (ord, what);

CREATE FUNCTION cpu_ns() RETURNS float8 LANGUAGE sql AS $$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 $$;
CREATE FUNCTION wall_ns() RETURNS float8 LANGUAGE sql AS $$ SELECT extract(epoch FROM clock_timestamp())::float8 * 1e9 $$;

CREATE FUNCTION run_round(round int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    c record;
    n bigint := (SELECT count(*) FROM row_source);
    wall float8;
    cpu float8;
BEGIN
    FOR c IN SELECT * FROM candidate ORDER BY random() LOOP
        wall := wall_ns();
        cpu := cpu_ns();
        EXECUTE c.query;
        INSERT INTO result VALUES (round, c.what, (wall_ns() - wall) / n, (cpu_ns() - cpu) / n);
    END LOOP;
END
$$;
SELECT format('SELECT run_round(%s)', g) FROM generate_series(0, :rounds) g \gexec /dev/null
-- Round 0 warms up.
DELETE FROM result WHERE round = 0;

CREATE VIEW net AS
SELECT c.ord, c.what, c.kind,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY r.cpu - CASE c.kind WHEN 'scan' THEN n.cpu ELSE 0 END) AS cpu,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY r.wall - CASE c.kind WHEN 'scan' THEN n.wall ELSE 0 END) AS wall
FROM candidate c JOIN result r USING (what) JOIN result n ON n.round = r.round AND n.what = 'no-op'
GROUP BY c.ord, c.what, c.kind;

\pset format unaligned
\pset tuples_only on
\qecho '| one call, net | CPU ns | wall ns | × clock_timestamp() | × nextval | × gen_random_uuid() |'
\qecho '|---|---|---|---|---|---|'
SELECT format('| `%s` | %s | %s | %s | %s | %s |', n.what, round(n.cpu::numeric, 1), round(n.wall::numeric, 1), round((n.cpu / c.cpu)::numeric, 2),
              round((n.cpu / s.cpu)::numeric, 3), round((n.cpu / u.cpu)::numeric, 3))
FROM net n, net c, net s, net u
WHERE n.kind = 'scan' AND n.what <> 'no-op' AND c.what = 'clock_timestamp()' AND s.what = 'nextval, cache 1' AND u.what = 'gen_random_uuid()'
ORDER BY n.ord;
\qecho
\qecho '| series in a target list | CPU ns per row | wall ns per row | CPU, × generate_series | wall, × generate_series |'
\qecho '|---|---|---|---|---|'
SELECT format('| `%s` | %s | %s | %s | %s |', n.what, round(n.cpu::numeric, 1), round(n.wall::numeric, 1), round((n.cpu / g.cpu)::numeric, 2), round((n.wall / g.wall)::numeric, 2))
FROM net n, net g
WHERE n.kind = 'series' AND g.ord = 20
ORDER BY n.ord;
