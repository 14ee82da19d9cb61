-- Markdown of what was measured. psql variables: part (all, calls), rounds, machine, rows, sort_rows.
\set QUIET on
\pset footer off

-- Noise can make a net figure negative: 0.01 ns stands for nothing that could be measured.
CREATE TEMP VIEW net AS
SELECT section, ord, what, round, wall, cpu, wal, heap, bytes, CASE metric WHEN 'cpu' THEN cpu ELSE wall END AS judged
FROM (SELECT c.section, c.ord, c.what, s.metric, r.round, greatest(r.wall - coalesce(n.wall, 0), 0.01) AS wall,
             CASE WHEN r.cpu IS NOT NULL THEN greatest(r.cpu - coalesce(n.cpu, 0), 0.01) END AS cpu, r.wal, r.heap, r.bytes
      FROM candidate c JOIN section s ON s.name = c.section JOIN result r USING (section, what)
      LEFT JOIN result n ON n.section = r.section AND n.round = r.round AND n.what = c.net_of) r;

CREATE TEMP VIEW middle AS
SELECT section, ord, what, percentile_cont(0.5) WITHIN GROUP (ORDER BY wall) AS wall, percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu) AS cpu,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY judged) AS judged, percentile_cont(0.5) WITHIN GROUP (ORDER BY wal) AS wal, percentile_cont(0.5) WITHIN GROUP (ORDER BY heap) AS heap,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY bytes) AS bytes
FROM net GROUP BY section, ord, what;

CREATE FUNCTION pg_temp.ratio(section_ text, what_ text, versus_ text) RETURNS float8 LANGUAGE sql AS $$
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.judged / b.judged)
    FROM net a JOIN net b USING (section, round) WHERE section = section_ AND a.what = what_ AND b.what = versus_
$$;
CREATE FUNCTION pg_temp.show(v float8) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN v IS NULL THEN '' WHEN v <= 0.01 THEN '< 1' WHEN v < 1 THEN to_char(v, 'FM0.000') WHEN v < 100 THEN to_char(v, 'FM990.0') ELSE to_char(v, 'FM999,999,999,990') END
$$;

-- A table as rows of text.
CREATE FUNCTION pg_temp.table_of(section_ text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    s section := (SELECT section FROM section WHERE name = section_);
    bases text[] := ARRAY(SELECT b FROM unnest(s.bases) WITH ORDINALITY AS u (b, o) WHERE EXISTS (SELECT FROM middle m WHERE m.section = section_ AND m.what = b) ORDER BY o);
    has_cpu bool := EXISTS (SELECT FROM middle WHERE section = section_ AND cpu IS NOT NULL);
    has_size bool := EXISTS (SELECT FROM middle WHERE section = section_ AND bytes IS NOT NULL);
BEGIN
    RETURN NEXT '| ' || s.unit || CASE WHEN has_cpu THEN ' | CPU' ELSE '' END || ' | elapsed |' || coalesce((SELECT string_agg(' × ' || b || ' |', '') FROM unnest(bases) b), '')
                || CASE WHEN has_size THEN ' WAL, bytes | table, bytes | index, bytes |' ELSE '' END || CASE section_ WHEN 'backends' THEN ' million ids/s |' ELSE '' END;
    RETURN NEXT '|---|' || CASE WHEN has_cpu THEN '--:|' ELSE '' END || '--:|' || repeat('--:|', cardinality(bases) + 3 * has_size::int + (section_ = 'backends')::int);
    RETURN QUERY
    SELECT '| ' || what || CASE WHEN has_cpu THEN ' | ' || pg_temp.show(cpu) ELSE '' END || ' | ' || pg_temp.show(wall) || ' |'
           || coalesce((SELECT string_agg(' ' || to_char(pg_temp.ratio(section_, what, b), 'FM99990.000') || ' |', '' ORDER BY o) FROM unnest(bases) WITH ORDINALITY AS u (b, o)), '')
           || CASE WHEN has_size THEN ' ' || round(wal::numeric) || ' | ' || round(heap::numeric, 1) || ' | ' || round(bytes::numeric, 1) || ' |' ELSE '' END
           || CASE section_ WHEN 'backends' THEN ' ' || round((1000 / wall)::numeric, 1) || ' |' ELSE '' END
    FROM middle WHERE section = section_ AND what NOT LIKE 'scan of%' AND (what NOT LIKE 'no-op%' OR section_ = 'backends')
    ORDER BY ord;
END
$$;

CREATE FUNCTION pg_temp.reached(op text, got float8, value float8) RETURNS bool LANGUAGE sql AS $$
    SELECT op = '+-' AND abs(got - 1) <= value OR op = '<=' AND got <= value
$$;
-- Two ways to sum up the rounds; where they disagree the run cannot tell.
CREATE TEMP VIEW verdict AS
SELECT g.*, s.title, s.ord AS section_ord, v.got, v.of_medians
FROM goal g JOIN section s ON s.name = g.section JOIN middle m ON m.section = g.section AND m.what = g.what
     LEFT JOIN middle b ON b.section = g.section AND b.what = g.versus,
     LATERAL (SELECT CASE WHEN versus IS NULL THEN m.wall ELSE pg_temp.ratio(g.section, g.what, g.versus) END AS got,
                     CASE WHEN versus IS NULL THEN m.wall ELSE m.judged / b.judged END AS of_medians) AS v
WHERE versus IS NULL OR b.what IS NOT NULL;

\if `[ "$BENCH_PART" = calls ] && echo 1 || echo 0`
SELECT pg_temp.table_of('calls');
\else
\qecho '# Speed'
\qecho
\qecho 'Made by `make bench`, from one run: [how to read the numbers](#reading-it), [goals that we'
\qecho 'missed](#what-is-missed-and-the-floor).'
\qecho
SELECT format('PostgreSQL %s, %s. The figures are medians of %s interleaved rounds, with %s rows, and %s for CREATE INDEX and ORDER BY. `measured` is the median of the rounds'' ratios, `of medians` is the ratio of the medians. CPU is the time that the session had a processor.',
              current_setting('server_version'), :'machine', :rounds, to_char(:rows, 'FM999,999,999'), to_char(:sort_rows, 'FM999,999,999'));
\qecho
\qecho '## Goals'
\qecho
\qecho '| what | compared with | measured | of medians | goal | reached |'
\qecho '|---|---|--:|--:|--:|---|'
SELECT format('| %s: %s | %s | %s | %s | %s | %s |', title, what, coalesce(versus, ''), CASE WHEN versus IS NULL THEN pg_temp.show(got / 1e6) || ' ms' ELSE to_char(got, 'FM99990.000') END,
              CASE WHEN versus IS NULL THEN '' ELSE to_char(of_medians, 'FM99990.000') END,
              CASE WHEN versus IS NULL THEN '≤ ' || pg_temp.show(value / 1e6) || ' ms' WHEN op = '+-' THEN '1 ± ' || value ELSE '≤ ' || round(value::numeric, 3) END,
              CASE WHEN pg_temp.reached(op, got, value) <> pg_temp.reached(op, of_medians, value) THEN '*unclear*' WHEN pg_temp.reached(op, got, value) THEN 'yes' ELSE '**no**' END)
FROM verdict ORDER BY verdict.ord, section_ord, section, what;
SELECT line FROM (
    SELECT s.ord, s.name, o, line FROM section s,
    LATERAL (SELECT 0 AS o, '' AS line UNION ALL SELECT 1, '## ' || s.title UNION ALL SELECT 2, ''
             UNION ALL SELECT o + 2, t FROM pg_temp.table_of(s.name) WITH ORDINALITY AS x (t, o)) l
    WHERE EXISTS (SELECT FROM result r WHERE r.section = s.name)) q
ORDER BY ord, name, o;
\endif
