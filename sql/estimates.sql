-- Estimates of rows: within a factor of two, mostly within a tenth.
CREATE FUNCTION estimated(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

SET timezone = 'UTC';
CREATE TABLE year (sno sno, gid gid(volume), mastic mastic, uuid uuid);
INSERT INTO year
SELECT make_sno(t, 0, 1, 0), make_gid('volume', t, '\x0123456789abcdef'), make_mastic(t, 0), uuid7_lower_bound(t)
FROM (SELECT timestamptz '2026-01-01' + g * interval '31.536s' AS t FROM generate_series(0, 999999) AS g) AS s;
ANALYZE year;

CREATE TEMP TABLE span AS
SELECT name, f, f + length AS t, extract(epoch FROM length) / 31.536 AS actual
FROM (VALUES ('hour', interval '1 hour'), ('day', '1 day'), ('month', '30 days')) AS v (name, length),
     generate_series(timestamptz '2026-01-05 03:00', '2026-11-25', '8 days 5 hours') AS f;
CREATE TEMP TABLE estimate AS
SELECT name, actual, form, estimated(format('SELECT FROM year WHERE ' || condition, f, t)) AS rows
FROM span, (VALUES
    ('sno >= and <', 'sno >= timestamptz %L AND sno < timestamptz %L'),
    ('sno, of ids', 'sno >= sno_lower_bound(%L) AND sno < sno_lower_bound(%L)'),
    ('sno, of both', 'sno >= sno_lower_bound(%L) AND sno < timestamptz %L'),
    ('sno, stable', 'sno >= now() + (timestamptz %L - now()) AND sno < now() + (timestamptz %L - now())'),
    ('sno, either order', 'timestamptz %2$L > sno AND timestamptz %1$L <= sno'),
    ('gid, of ids', 'gid >= gid_lower_bound(''volume'', %L) AND gid < gid_lower_bound(''volume'', %L)'),
    ('gid, stable', 'gid >= gid_lower_bound(''volume'', now() + (timestamptz %L - now())) AND gid < gid_lower_bound(''volume'', now() + (timestamptz %L - now()))'),
    ('mastic >= and <', 'mastic >= timestamptz %L AND mastic < timestamptz %L'),
    ('mastic between', 'mastic BETWEEN timestamptz %L AND timestamptz %L'),
    ('mastic, of ids', 'mastic >= mastic_lower_bound(%L) AND mastic < mastic_lower_bound(%L)'),
    ('mastic, stable', 'mastic >= now() + (timestamptz %L - now()) AND mastic < timestamptz %L'),
    ('mastic, either order', 'timestamptz %2$L > mastic AND timestamptz %1$L <= mastic'),
    ('sno, in an OR', 'sno = ''2222222222222222'' OR (sno >= timestamptz %L AND sno < timestamptz %L)')) AS c (form, condition);
SELECT count(DISTINCT form) AS forms, count(*) AS spans,
       string_agg(concat(form, ', ', name), '; ') FILTER (WHERE rows NOT BETWEEN actual / 2 AND actual * 2) AS not_within_two
FROM estimate;
-- PostgreSQL estimates a uuid itself, by half a bin: an error of up to a hundredth of the rows.
SELECT name, max(abs(actual - rows)) <= 10000 AS within_a_hundredth
FROM (SELECT *, estimated(format('SELECT FROM year WHERE uuid >= uuid7_lower_bound(%L) AND uuid < uuid7_lower_bound(%L)', f, t)) AS rows
      FROM span WHERE name <> 'month') AS e
GROUP BY name ORDER BY min(actual);

-- Conditions that are computed when the scan starts cost the same as constants.
CREATE INDEX ON year (sno);
CREATE FUNCTION cost(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT condition, cost('SELECT FROM year WHERE ' || condition) BETWEEN c * 0.9 AND c * 1.1 AS the_same
FROM (SELECT cost('SELECT FROM year WHERE sno >= timestamptz ''2026-06-01'' AND sno < timestamptz ''2026-06-02''')) AS constant (c), (VALUES
    ('sno >= now() + (timestamptz ''2026-06-01'' - now()) AND sno < now() + (timestamptz ''2026-06-02'' - now())'),
    ('sno < now() + (timestamptz ''2026-06-02'' - now()) AND sno >= now() + (timestamptz ''2026-06-01'' - now())'),
    ('now() + (timestamptz ''2026-06-01'' - now()) <= sno AND now() + (timestamptz ''2026-06-02'' - now()) > sno')) AS v (condition);
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP FUNCTION cost;

-- Here the estimate changes the plan: the last hour has some hundred rows, the server's own estimator expects half a
-- bin.
CREATE FUNCTION join_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (regexp_match(plan::text, '"(Nested Loop|Hash Join|Merge Join)"'))[1];
END $$;
SET max_parallel_workers_per_gather = 0;
\set last_hour 'SELECT FROM year AS a JOIN year AS b USING (sno) WHERE a.sno >= timestamptz ''2026-12-31 23:00'''
SELECT join_of(:'last_hour');
BEGIN;
ALTER OPERATOR >= (sno, timestamptz) SET (RESTRICT = scalargesel);
SELECT join_of(:'last_hour') <> 'Nested Loop' AS another;
ROLLBACK;
RESET max_parallel_workers_per_gather;
DROP FUNCTION join_of;

SELECT estimated('SELECT FROM year WHERE sno < timestamptz ''2026-02-01''') BETWEEN 70000 AND 100000 AS month,
       estimated('SELECT FROM year WHERE NOT (gid >= gid_lower_bound(''volume'', ''2026-02-01''))') BETWEEN 70000 AND 100000 AS not_later,
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

CREATE TABLE few (id sno);
INSERT INTO few SELECT CASE WHEN g % 4 > 0 THEN make_sno('2026-01-01', 0, 0, g % 4) END FROM generate_series(1, 4000) AS g;
SELECT estimated('SELECT FROM few WHERE id >= timestamptz ''2026-01-01''') BETWEEN 1000 AND 1700 AS without_statistics;
ANALYZE few;
SELECT estimated('SELECT FROM few WHERE id >= timestamptz ''2026-01-01''') AS three_quarters,
       estimated('SELECT FROM few WHERE id > make_sno(''2026-01-01'', 0, 0, 1)') AS half,
       estimated('SELECT FROM few WHERE id >= make_sno(''2026-01-01'', 0, 0, 2) AND id <= make_sno(''2026-01-01'', 0, 0, 2)') AS quarter;
DEALLOCATE ALL;

-- Newer rows than the last ANALYZE: a fifth more, at the same pace. Estimates of a bigint key are at most a bin, a
-- hundredth.
CREATE TABLE grown (sno sno, gid gid(volume), mastic mastic, key bigint) WITH (autovacuum_enabled = off);
CREATE INDEX ON grown (sno);
CREATE INDEX ON grown (gid DESC);
CREATE INDEX ON grown (mastic);
CREATE INDEX ON grown (key);
CREATE FUNCTION grow(since int, until int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO grown SELECT make_sno(t, 0, 1, 0), make_gid('volume', t, '\x0123456789abcdef'), mastic_lower_bound(t), mastic_lower_bound(t)
    FROM (SELECT timestamptz '2026-01-01' + g * interval '1s' AS t FROM generate_series(since, until - 1) AS g) AS s
$$;
SELECT grow(0, 100000) \g /dev/null
ANALYZE grown;
SELECT grow(100000, 120000) \g /dev/null
CREATE TEMP TABLE grown_estimate AS
SELECT form, seconds, estimated(format('SELECT FROM grown WHERE ' || condition,
                                       timestamptz '2026-01-01' + (120000 - seconds) * interval '1s')) AS rows
FROM unnest(ARRAY[10000, 3600, 1200]) AS seconds, (VALUES
    ('sno', 'sno >= timestamptz %L'),
    ('sno, of ids', 'sno >= sno_lower_bound(%L)'),
    ('sno, stable', 'sno > now() + (timestamptz %L - now())'),
    ('sno, two sides', 'sno >= timestamptz %1$L AND sno < timestamptz %1$L + interval ''10 minutes'''),
    ('gid', 'gid >= gid_lower_bound(''volume'', %L)'),
    ('mastic', 'mastic >= timestamptz %L'),
    ('key', 'key >= mastic_lower_bound(%L)::bigint')) AS c (form, condition);
SELECT form, bool_and(rows BETWEEN actual * 0.9 AND actual * 1.1) AS within_a_tenth
FROM (SELECT *, CASE form WHEN 'sno, two sides' THEN 600 ELSE seconds END AS actual FROM grown_estimate) AS e
GROUP BY form ORDER BY form;
SELECT estimated('SELECT FROM grown WHERE sno >= timestamptz ''2026-01-02 09:20:00''') < 50 AS beyond_the_last,
       estimated('SELECT FROM grown WHERE sno < timestamptz ''2026-01-02 09:20:00''') > 118000 AS all_rows;
-- VACUUM forgets the growth: as for a bigint, up to a bin.
VACUUM grown;
SELECT form, rows BETWEEN 100 AND 1300 AS up_to_a_bin
FROM (SELECT form, estimated('SELECT FROM grown WHERE ' || condition) AS rows
      FROM (VALUES ('sno', 'sno >= timestamptz ''2026-01-02 08:00:00'''),
                   ('mastic', 'mastic >= timestamptz ''2026-01-02 08:00:00'''),
                   ('key', 'key >= mastic_lower_bound(''2026-01-02 08:00:00'')::bigint')) AS c (form, condition)) AS e
ORDER BY form;
DELETE FROM grown WHERE sno >= timestamptz '2026-01-02 06:00:00';
VACUUM grown;
SELECT estimated('SELECT FROM grown WHERE sno >= timestamptz ''2026-01-02 07:00:00''') < 50 AS deleted;
TRUNCATE grown;
SELECT estimated('SELECT FROM grown WHERE sno >= timestamptz ''2026-01-02 07:00:00''') < 50 AS emptied;

DROP TABLE year, few, grown;
DROP FUNCTION grow;

-- Members of one family compare ids, ids with times, and times. Reading a time as an id would crash the server.
CREATE TABLE member (sno sno, mastic mastic, t timestamptz);
INSERT INTO member SELECT make_sno(t, 0, 1, 0), make_mastic(t, 0), t FROM generate_series(timestamptz '2026-01-01', '2026-01-31', '10 min') AS t;
CREATE INDEX ON member (sno);
CREATE INDEX ON member (mastic);
ANALYZE member;
SELECT condition, estimated('SELECT FROM member WHERE ' || condition) AS rows FROM (VALUES
    ('sno < timestamptz ''2026-01-11'' AND sno < sno_lower_bound(''2026-01-06'')'),
    ('sno < sno_lower_bound(''2026-01-06'') AND sno < timestamptz ''2026-01-11'''),
    ('mastic >= timestamptz ''2026-01-11'' AND mastic >= mastic_lower_bound(''2026-01-21'')'),
    ('mastic >= mastic_lower_bound(''2026-01-11'') AND timestamptz ''2026-01-21'' <= mastic'),
    ('sno >= timestamptz ''2100-01-01'' AND sno < sno_lower_bound(''2026-01-06'')'),
    ('sno BETWEEN timestamptz ''-infinity'' AND timestamptz ''infinity'''),
    ('mastic > ANY (ARRAY[timestamptz ''2026-01-11'', ''2026-01-21''])'),
    ('(sno, t) >= (timestamptz ''2026-01-11'', timestamptz ''2026-01-11'')'),
    ('t < sno_lower_bound(''2026-01-11'')'),
    ('mastic_lower_bound(''2026-01-11'') <= t AND t < mastic_lower_bound(''2026-01-12'')'),
    ('t OPERATOR(snowflake_ids.<~) timestamptz ''2026-01-11'''),
    ('sno < t')) AS v (condition);
DROP TABLE member;
DROP FUNCTION estimated;

-- Anybody may create an operator with this estimator.
CREATE FUNCTION any_sno(sno) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION any_sno(sno, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION any_sno(timestamptz, timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE OPERATOR !! (RIGHTARG = sno, FUNCTION = any_sno, RESTRICT = snowflake_ids.id_ineqsel);
CREATE OPERATOR !! (LEFTARG = sno, RIGHTARG = text, FUNCTION = any_sno, RESTRICT = snowflake_ids.id_ineqsel);
CREATE OPERATOR !! (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = any_sno, RESTRICT = snowflake_ids.id_ineqsel);
CREATE TABLE other (id sno, t timestamptz);
EXPLAIN (COSTS OFF) SELECT FROM other WHERE !! id;
EXPLAIN (COSTS OFF) SELECT FROM other WHERE id !! text 'x' AND t !! now();
DROP TABLE other;
DROP OPERATOR !! (NONE, sno), !! (sno, text), !! (timestamptz, timestamptz);
DROP FUNCTION any_sno(sno), any_sno(sno, text), any_sno(timestamptz, timestamptz);
