-- Comparing mastics with time.
SET timezone = 'UTC';
\i sql/include/time_differential.psql

--
-- What the operators mean: that of the timestamp
--
SELECT t, id < t AS lt, id <= t AS le, id >= t AS ge, id > t AS gt, t < id AS "t lt", t <= id AS "t le", t >= id AS "t ge",
       t > id AS "t gt", id <@ tstzrange(t, NULL) AS within
FROM (SELECT make_mastic('2026-03-01 12:00:00.001', 7) AS id, '2026-03-01 12:00:00.001'::timestamptz + d * interval '1us' AS t
      FROM (VALUES (-1), (0), (1)) AS v (d) OFFSET 0) AS s;
SELECT '5'::mastic <@ NULL::tstzrange AS null_range, NULL::mastic <@ 'empty' AS null_id, '18446744073709551615'::mastic <@ '[6485-10-18,)' AS far;
-- Beside a mastic an untyped literal is a mastic, or a tstzrange.
SELECT s, r.* FROM unnest(ARRAY['id > ''2026-01-01''', 'id <@ ''[2026-01-01,)''', 'id <@ ''5''', 'id <@ 5', 'id <@ ''[2026-01-01,)''::tsrange']) AS s,
    refusal('SELECT count(*) FROM (SELECT gen_mastic() AS id) AS t WHERE ' || s) AS r;
-- A range of mastics
CREATE TYPE masticrange AS RANGE (subtype = mastic);
SELECT '5'::mastic <@ masticrange(3, 5, '[]') AS within, '5'::mastic <@ masticrange('3', '5') AS before,
       '18446744073709551615'::mastic <@ masticrange('9223372036854775807', NULL) AS unsigned;
DROP TYPE masticrange;

--
-- What the operators leave alone. An integer becomes a mastic unasked, but not where it is compared with something else.
--
SELECT 5 <@ int4range(1, 9) AS int4, 5::bigint <@ int8range(1, 9) AS int8, 5::numeric <@ numrange(1, 9) AS numeric, now() <@ tstzrange(now(), NULL, '[]') AS time,
       '[2026-01-01,2026-01-02)' <@ tstzrange('2026-01-01', '2026-02-01') AS ranges, '{1}' <@ ARRAY[1, 2] AS arrays, int8range(3, 4) <@ int8range(1, 9) AS int8range;
PREPARE unknown_beside_range AS SELECT $1 <@ tstzrange('2026-01-01', '2026-02-01'), $2 < timestamptz '2026-01-01', 5 = $3, 5::bigint < $4;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'unknown_beside_range';
DEALLOCATE unknown_beside_range;
-- A bigint may have ids of any layout: beside a time it is not read as a mastic.
SELECT s, r.* FROM unnest(ARRAY['5::bigint < now()', 'now() >= 5::bigint', '5 > now()', '5::smallint > now()', '5::bigint <@ tstzrange(now(), NULL)', '5 <@ tstzrange(now(), NULL)',
    '5::bigint > current_date', '5::bigint::mastic < now()', '5::mastic <@ tstzrange(NULL, now())']) AS s, refusal('SELECT ' || s) AS r;
-- A column of the domain for that compares as a mastic.
CREATE TEMP TABLE of_domain (id mastic_ambiguous);
INSERT INTO of_domain VALUES (make_mastic('2026-03-01', 0)), (make_mastic('7026-03-01', 0));
SELECT count(*) FILTER (WHERE id < timestamptz '2026-03-02') AS lt, count(*) FILTER (WHERE id <= timestamptz '2026-03-02') AS le,
       count(*) FILTER (WHERE id > timestamptz '2026-03-02') AS gt, count(*) FILTER (WHERE id >= timestamptz '2026-03-02') AS ge,
       count(*) FILTER (WHERE timestamptz '2026-03-02' < id) AS "t lt", count(*) FILTER (WHERE timestamptz '2026-03-02' <= id) AS "t le",
       count(*) FILTER (WHERE timestamptz '2026-03-02' > id) AS "t gt", count(*) FILTER (WHERE timestamptz '2026-03-02' >= id) AS "t ge",
       count(*) FILTER (WHERE id <@ tstzrange('2026-03-02', NULL)) AS within
FROM of_domain;

--
-- Plans: one range, one index condition
--
CREATE TABLE status (id mastic PRIMARY KEY);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id >= now() - interval '1 hour';
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id > timestamptz '2026-03-01' AND timestamptz '2026-03-02' >= id ORDER BY id LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id >= now() - interval '1 hour' ORDER BY id LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id < now() ORDER BY id DESC LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id <@ tstzrange('2026-03-01', '2026-03-02');
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id <@ '[2026-03-01,2026-03-02)';
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id <@ tstzrange(now() - interval '1 hour', NULL);
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id <@ tstzrange('6000-01-01', '8000-01-01');
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id <@ tstzrange(NULL, '2026-01-01');
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id >= timestamptz 'infinity';
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE id >= timestamptz '-infinity';
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE NOT id < now();
SELECT line AS plan FROM plan($$SELECT mastic_timestamp(max(id)) FROM status$$) AS line
    WHERE line !~ 'IS NOT NULL'; -- 17 and later leave it out
SET plan_cache_mode = force_generic_plan;
PREPARE since (timestamptz) AS SELECT * FROM status WHERE id >= $1 ORDER BY id LIMIT 10;
PREPARE within (tstzrange) AS SELECT * FROM status WHERE id <@ $1;
PREPARE within_untyped AS SELECT * FROM status WHERE id <@ $1;
EXPLAIN (COSTS OFF) EXECUTE since (now());
EXPLAIN (COSTS OFF) EXECUTE within (tstzrange(now(), NULL));
EXPLAIN (COSTS OFF) EXECUTE within_untyped ('[2026-03-01,)');
RESET plan_cache_mode;
DEALLOCATE ALL;
-- Through a view, and of a join whose other side has the time
CREATE VIEW status_view AS SELECT status.id FROM status WHERE status.id <@ tstzrange('2026-01-01', '2027-01-01');
SELECT replace(pg_get_viewdef('status_view'), 'status.', '') AS view;
EXPLAIN (COSTS OFF) SELECT * FROM status_view WHERE id < timestamptz '2026-03-01';
CREATE TEMP TABLE visit (during tstzrange, at timestamptz);
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT plan($$SELECT * FROM visit JOIN status ON status.id <@ visit.during$$);
SELECT plan($$SELECT * FROM visit JOIN status ON status.id >= visit.at$$);
RESET enable_hashjoin; RESET enable_mergejoin;
-- A bigint column that has Mastic ids: an index of it with the order of mastic serves them.
CREATE TABLE as_bigint (id bigint PRIMARY KEY);
EXPLAIN (COSTS OFF) SELECT * FROM as_bigint WHERE id::mastic >= now();
CREATE INDEX as_bigint_mastic ON as_bigint (id mastic_ops);
EXPLAIN (COSTS OFF) SELECT * FROM as_bigint WHERE id::mastic >= now();
EXPLAIN (COSTS OFF) SELECT * FROM as_bigint WHERE id::mastic <@ tstzrange('2026-03-01', '2026-03-02') ORDER BY id::mastic LIMIT 5;
RESET enable_bitmapscan;
-- Partitions, when the query is planned and when it runs.
CREATE TABLE status_log (id mastic NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE status_log_1 PARTITION OF status_log FOR VALUES FROM (MINVALUE) TO (mastic_lower_bound('2026-02-01'));
CREATE TABLE status_log_2 PARTITION OF status_log FOR VALUES FROM (mastic_lower_bound('2026-02-01')) TO (mastic_lower_bound('2026-03-01'));
CREATE TABLE status_log_3 PARTITION OF status_log FOR VALUES FROM (mastic_lower_bound('2026-03-01')) TO (MAXVALUE);
SELECT plan($$SELECT * FROM status_log WHERE id <@ tstzrange('2026-02-01', '2026-02-02')$$);
SELECT plan($$SELECT * FROM status_log WHERE id >= timestamptz '2026-03-02'$$);
SELECT plan($$SELECT * FROM status_log WHERE id <@ stable_range('[2026-02-01,2026-02-02)')$$);
SELECT plan($$SELECT * FROM status_log WHERE id >= stable_time('2026-03-01')$$);
SELECT plan($$SELECT * FROM status_log WHERE id <@ volatile_range('[2026-02-01,2026-02-02)')$$);
-- If somebody gives the domain of <@ a constraint, it is checked.
INSERT INTO status VALUES (make_mastic('2026-02-01', 0)), (make_mastic('2026-02-02', 0));
ALTER DOMAIN mastic_times ADD CHECK (NOT isempty(VALUE));
SELECT plan($$SELECT * FROM status WHERE id <@ stable_range('[2026-02-01,2026-02-02)')$$);
SELECT count(*) FROM status WHERE id <@ stable_range('[2026-02-01,2026-02-02)');
SELECT (refusal($$SELECT FROM status WHERE id <@ stable_range('empty')$$)).message;
ALTER DOMAIN mastic_times DROP CONSTRAINT mastic_times_check;

--
-- Exactness: at and around ticks, the epoch, the end and infinity
--
CREATE TEMP TABLE edge (t timestamptz);
INSERT INTO edge SELECT base + d * interval '1us'
FROM unnest(ARRAY['2026-01-01', '2026-01-01 00:00:00.001', '2026-03-01 12:00:00.004', '6485-10-17 02:45:55.327', '6485-10-17 02:45:55.328',
                  '10945-08-03 05:31:50.654', '10945-08-03 05:31:50.655', '10945-08-03 05:31:50.656', '1960-01-01', '20000-01-01', 'infinity', '-infinity']::timestamptz[]) AS base,
     unnest(ARRAY[-1001, -1000, -999, -1, 0, 1, 999, 1000, 1001]) AS d;
INSERT INTO edge VALUES (NULL);
CREATE TEMP TABLE edge_id (id mastic);
INSERT INTO edge_id SELECT bound FROM edge, LATERAL (VALUES (mastic_lower_bound(t)), (mastic_upper_bound(t))) AS v (bound)
WHERE t >= '2026-01-01' AND t <= '10945-08-03 05:31:50.655';
INSERT INTO edge_id VALUES (NULL);
\set timestamp_of mastic_timestamp
\i sql/include/time_edges.psql

--
-- Random predicates
--
INSERT INTO meaning VALUES (true, '%1$s <@ %2$s', 'mastic_timestamp(%s)', 'true',
    '{2026-01-01, 10945-08-03 05:31:50.655, 10945-08-03 05:31:50.656, 6485-10-17 02:45:55.327, 6485-10-17 02:45:55.328, infinity, -infinity, 2000-01-01, 20000-01-01, 2026-03-01, 7000-01-01}');
CREATE TABLE times_plain (id mastic, n int);
INSERT INTO times_plain
SELECT CASE WHEN g < 160 THEN make_mastic('2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms', floor(random() * 65536)::int)
            WHEN g < 190 THEN make_mastic('7000-01-01'::timestamptz + floor(random() * 300) * interval '1ms', floor(random() * 65536)::int)
            WHEN g < 193 THEN '0' WHEN g < 195 THEN '18446744073709551615' WHEN g = 195 THEN '9223372036854775807' WHEN g = 196 THEN '9223372036854775808' END, g
FROM generate_series(1, 200) AS g;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id mastic, n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES FROM (MINVALUE) TO (mastic_lower_bound('2026-03-01 00:00:00.1'));
CREATE TABLE times_2 PARTITION OF times_partitioned FOR VALUES FROM (mastic_lower_bound('2026-03-01 00:00:00.1')) TO (mastic_lower_bound('2026-03-01 00:00:00.2'));
CREATE TABLE times_3 PARTITION OF times_partitioned DEFAULT;
CREATE INDEX ON times_partitioned (id);
INSERT INTO times_partitioned TABLE times_plain;
ANALYZE times_plain, times_btree, times_brin, times_partitioned;
SELECT compared, rows > 5000 AS selective, different FROM differences(1500);
SELECT different > 20 AS would_find_a_microsecond FROM differences(150, '1us');
DROP TABLE times_plain, times_btree, times_brin, times_partitioned, status, status_log, as_bigint CASCADE;

--
-- The catalogue of this topic
--
SELECT signature, result, flags, public FROM extension_functions
WHERE signature ~ 'mastic' AND (signature ~ '(timestamptz|mastic_times|tstzrange|mastic_time_support|with time zone)' OR proname ~ '^mastic_(first|last)')
    AND proname !~ '^(make|mastic_(lower|upper))'
ORDER BY signature COLLATE "C";
