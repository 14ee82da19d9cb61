-- Mastic ids by time.
SET timezone = 'UTC';
\i sql/include/time_differential.psql

--
-- What it means: the timestamp is in the range
--
SELECT d AS microseconds, mastic_created_in(id, tstzrange(t, NULL)) AS "[t,)", mastic_created_in(id, tstzrange(t, NULL, '()')) AS "(t,)",
       mastic_created_in(id, tstzrange(NULL, t)) AS "(,t)", mastic_created_in(id, tstzrange(NULL, t, '[]')) AS "(,t]"
FROM (SELECT d, make_mastic('2026-03-01 12:00:00.001', 7) AS id, '2026-03-01 12:00:00.001'::timestamptz + d * interval '1us' AS t
      FROM (VALUES (-1), (0), (1)) AS v (d) OFFSET 0) AS s;
SELECT mastic_created_in(1, NULL) AS null_range, mastic_created_in(NULL, 'empty') AS null_id, mastic_created_in(-1, '[6485-10-18,)') AS far;

--
-- Plans
--
CREATE TABLE status (id bigint PRIMARY KEY);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange('2026-03-01', '2026-03-02')) ORDER BY id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange(NULL, '2026-03-02', '[]'));
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange('7000-01-01', '8000-01-01'));
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange('7000-01-01', NULL));
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange(NULL, NULL));
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange(NULL, '2026-01-01'));
-- Ids from the year 6485 on are negative: a range that reaches there, or may, is two intervals.
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange('2026-03-01', NULL));
EXPLAIN (COSTS OFF) SELECT * FROM status WHERE mastic_created_in(id, tstzrange(now() - interval '1 hour', NULL));
-- Run-time pruning.
CREATE TABLE status_log (id bigint NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE status_log_1 PARTITION OF status_log FOR VALUES FROM (MINVALUE) TO (mastic_lower_bound('2026-02-01'));
CREATE TABLE status_log_2 PARTITION OF status_log FOR VALUES FROM (mastic_lower_bound('2026-02-01')) TO (mastic_lower_bound('2026-03-01'));
CREATE TABLE status_log_3 PARTITION OF status_log FOR VALUES FROM (mastic_lower_bound('2026-03-01')) TO (MAXVALUE);
SELECT plan($$SELECT * FROM status_log WHERE mastic_created_in(id, tstzrange('2026-02-01', '2026-02-02'))$$);
SELECT plan($$SELECT * FROM status_log WHERE mastic_created_in(id, stable_range('[2026-02-01,2026-02-02)'))$$);
SELECT plan($$SELECT * FROM status_log WHERE mastic_created_in(id, volatile_range('[2026-02-01,2026-02-02)'))$$);

--
-- Random predicates
--
INSERT INTO meaning VALUES (false, 'mastic_created_in(%1$s, %2$s)', 'mastic_timestamp(%s)', 'true',
    '{2026-01-01, 10945-08-03 05:31:50.655, 10945-08-03 05:31:50.656, 6485-10-17 14:45:55.327, 6485-10-17 14:45:55.328, infinity, -infinity, 2000-01-01, 20000-01-01, 2026-03-01, 7000-01-01}');
CREATE TABLE times_plain (id bigint, n int);
INSERT INTO times_plain
SELECT CASE WHEN g < 160 THEN make_mastic('2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms', floor(random() * 65536)::int)
            WHEN g < 190 THEN make_mastic('7000-01-01'::timestamptz + floor(random() * 300) * interval '1ms', floor(random() * 65536)::int)
            WHEN g < 193 THEN 0 WHEN g < 195 THEN -1 WHEN g = 195 THEN 9223372036854775807 WHEN g = 196 THEN -9223372036854775808 END, g
FROM generate_series(1, 200) AS g;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id bigint, n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE times_2 PARTITION OF times_partitioned FOR VALUES FROM (0) TO (mastic_lower_bound('2026-03-01 00:00:00.2'));
CREATE TABLE times_3 PARTITION OF times_partitioned DEFAULT;
CREATE INDEX ON times_partitioned (id);
INSERT INTO times_partitioned TABLE times_plain;
ANALYZE times_plain, times_btree, times_brin, times_partitioned;
SELECT compared, rows > 5000 AS selective, different FROM differences(1000);
SELECT different > 20 AS would_find_a_microsecond FROM differences(100, '1us');
DROP TABLE times_plain, times_btree, times_brin, times_partitioned, status, status_log;
