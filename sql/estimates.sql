-- Row estimates on a million ids spread over a year: within a factor of two, mostly within a tenth.
CREATE FUNCTION estimated(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

SET timezone = 'UTC';
CREATE TABLE year (sno sno, gid gid(volume), mastic bigint);
INSERT INTO year
SELECT make_sno(t, 0, 1, 0), make_gid('volume', t, '\x0123456789abcdef'), make_mastic(t, 0)
FROM (SELECT timestamptz '2026-01-01' + g * interval '31.536s' AS t FROM generate_series(0, 999999) AS g) AS s;
ANALYZE year;

-- Spans at many places in the year; `actual` rows are what a uniform spread gives.
CREATE TEMP TABLE span AS
SELECT name, f, f + length AS t, extract(epoch FROM length) / 31.536 AS actual
FROM (VALUES ('hour', interval '1 hour'), ('day', '1 day'), ('month', '30 days')) AS v (name, length),
     generate_series(timestamptz '2026-01-05 03:00', '2026-11-25', '8 days 5 hours') AS f;
CREATE TEMP TABLE estimate AS
SELECT name, actual, form, estimated(format('SELECT FROM year WHERE ' || condition, f, t)) AS rows
FROM span, (VALUES
    ('sno >= and <', 'sno >= timestamptz %L AND sno < timestamptz %L'),
    ('sno <@', 'sno <@ tstzrange(%L, %L)'),
    ('sno, stable', 'sno >= now() + (timestamptz %L - now()) AND sno < now() + (timestamptz %L - now())'),
    ('sno, either order', 'timestamptz %2$L > sno AND timestamptz %1$L <= sno'),
    ('gid >= and <', 'gid >= timestamptz %L AND gid < timestamptz %L'),
    ('gid <@', 'gid <@ tstzrange(%L, %L)'),
    ('mastic', 'mastic_created_in(mastic, tstzrange(%L, %L))'),
    ('mastic, stable', 'mastic_created_in(mastic, tstzrange(now() + (timestamptz %L - now()), timestamptz %L))'),
    ('sno, in an OR', 'sno = ''2222222222222222'' OR (sno >= timestamptz %L AND sno < timestamptz %L)')) AS c (form, condition);
SELECT form, name, count(*) AS spans, bool_and(rows BETWEEN actual / 2 AND actual * 2) AS within_two
FROM estimate GROUP BY form, name ORDER BY form, min(actual);

-- One side, none, all, not known.
SELECT estimated('SELECT FROM year WHERE sno < timestamptz ''2026-02-01''') BETWEEN 70000 AND 100000 AS month,
       estimated('SELECT FROM year WHERE NOT (gid >= timestamptz ''2026-02-01'')') BETWEEN 70000 AND 100000 AS not_later,
       estimated('SELECT FROM year WHERE sno >= timestamptz ''infinity''') < 500 AS none,
       estimated('SELECT FROM year WHERE sno > timestamptz ''-infinity''') AS all_rows,
       estimated('SELECT FROM year WHERE sno >= timestamptz ''2026-03-01'' AND sno < timestamptz ''2026-02-01''') AS contradiction,
       estimated('SELECT FROM year WHERE sno >= timestamptz ''2026-02-01'' AND sno >= timestamptz ''2026-12-01''') BETWEEN 70000 AND 100000 AS later_of_two,
       estimated('SELECT FROM year WHERE sno >= timestamptz ''2026-02-01'' AND sno < NULL') AS never;
SET plan_cache_mode = force_generic_plan;
PREPARE since (timestamptz) AS SELECT FROM year WHERE sno >= $1;
PREPARE between_two (timestamptz, timestamptz) AS SELECT FROM year WHERE sno >= $1 AND sno < $2;
SELECT estimated('EXECUTE since (now())') AS third, estimated('EXECUTE between_two (now(), now())') AS five_thousandths;
RESET plan_cache_mode;

-- Common values, NULLs, without statistics.
CREATE TABLE few (id sno);
INSERT INTO few SELECT CASE WHEN g % 4 > 0 THEN make_sno('2026-01-01', 0, 0, g % 4) END FROM generate_series(1, 4000) AS g;
SELECT estimated('SELECT FROM few WHERE id >= timestamptz ''2026-01-01''') BETWEEN 1000 AND 1700 AS without_statistics;
ANALYZE few;
SELECT estimated('SELECT FROM few WHERE id >= timestamptz ''2026-01-01''') AS three_quarters,
       estimated('SELECT FROM few WHERE id > make_sno(''2026-01-01'', 0, 0, 1)') AS half,
       estimated('SELECT FROM few WHERE id >= make_sno(''2026-01-01'', 0, 0, 2) AND id <= make_sno(''2026-01-01'', 0, 0, 2)') AS quarter;
DEALLOCATE ALL;
DROP TABLE year, few;
DROP FUNCTION estimated;
