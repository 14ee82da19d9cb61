-- Snowflake-SI ids by time.
SET timezone = 'UTC';
\i sql/include/time_differential.psql

--
-- What it means: the timestamp is in the range; what is no id was created at no time
--
SELECT d AS microseconds, snowflake_si_created_in(id, tstzrange(t, NULL)) AS "[t,)",
    snowflake_si_created_in(id, tstzrange(t, NULL, '()')) AS "(t,)",
       snowflake_si_created_in(id, tstzrange(NULL, t), '2026-01-01', 5) AS "(,t)",
           snowflake_si_created_in(id, tstzrange(NULL, t, '[]'), '2026-01-01', 5) AS "(,t]"
FROM (SELECT d, make_snowflake_si('2026-03-01 12:00:00.001', 3, 7) AS id,
    '2026-03-01 12:00:00.001'::timestamptz + d * interval '1us' AS t
      FROM (VALUES (-1), (0), (1)) AS v (d) OFFSET 0) AS s;
SELECT id, snowflake_si_created_in(id, '(,)')
    FROM (VALUES (-1), (0), (9007199254740991), (9007199254740992), (NULL)) AS v (id) ORDER BY id;
SELECT snowflake_si_created_in(1, '(,)', '1999-01-01', 5);

--
-- Plans. Settings are looked up when the query runs; a base clock that is given is used in the plan.
--
CREATE TABLE message (id bigint PRIMARY KEY);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE snowflake_si_created_in(id, tstzrange('2026-03-01', '2026-03-02'))
    ORDER BY id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM message
    WHERE snowflake_si_created_in(id, tstzrange('2026-03-01', '2026-03-02'), '2026-01-01', 5);
EXPLAIN (COSTS OFF) SELECT * FROM message
    WHERE snowflake_si_created_in(id, tstzrange('2026-03-01', '2026-03-02', '[]'), '2025-01-01', 12);
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE snowflake_si_created_in(id, '(,)', '2026-01-01', 5);
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE snowflake_si_created_in(id, '(,2020-01-01)', '2026-01-01', 5);
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE snowflake_si_created_in(id, tstzrange(now(), NULL), '2026-01-01', 5);
SELECT plan($$SELECT * FROM message WHERE snowflake_si_created_in(id, (SELECT tstzrange(now(), NULL)))$$);
-- Left alone: a base clock that is not valid or not known.
SELECT plan($$SELECT * FROM message WHERE snowflake_si_created_in(id, '(,)', '1999-01-01', 5)$$);
SELECT plan($$SELECT * FROM message WHERE snowflake_si_created_in(id, '(,)', now(), 5)$$);
RESET enable_bitmapscan;

--
-- Random predicates
--
INSERT INTO meaning VALUES (false, 'snowflake_si_created_in(%1$s, %2$s)', 'snowflake_si_timestamp(%s)',
    '%s NOT IN (-1, 9223372036854775807)',
    '{2026-01-01, 2060-11-03 19:53:47.775, 2060-11-03 19:53:47.776, infinity, -infinity, 2000-01-01, 2100-01-01, 2026-03-01}');
CREATE TABLE times_plain (id bigint, n int);
INSERT INTO times_plain
SELECT CASE WHEN g < 190 THEN make_snowflake_si('2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms',
    floor(random() * 32)::int, g)
            WHEN g < 193 THEN 0 WHEN g < 195 THEN -1 WHEN g = 195 THEN 9223372036854775807 WHEN g = 196
                THEN 9007199254740991 END, g
FROM generate_series(1, 200) AS g;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id bigint, n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES
    FROM (MINVALUE) TO (snowflake_si_lower_bound('2026-03-01 00:00:00.1'));
CREATE TABLE times_2 PARTITION OF times_partitioned FOR VALUES
    FROM (snowflake_si_lower_bound('2026-03-01 00:00:00.1')) TO (snowflake_si_lower_bound('2026-03-01 00:00:00.2'));
CREATE TABLE times_3 PARTITION OF times_partitioned DEFAULT;
CREATE INDEX ON times_partitioned (id);
INSERT INTO times_partitioned TABLE times_plain;
ANALYZE times_plain, times_btree, times_brin, times_partitioned;
SELECT compared, rows > 5000 AS selective, different FROM differences(500);
UPDATE meaning SET predicate = 'snowflake_si_created_in(%1$s, %2$s, ''2026-01-01'', 5)';
SELECT compared, rows > 5000 AS selective, different FROM differences(500);
SELECT different > 20 AS would_find_a_microsecond FROM differences(100, '1us');
DROP TABLE times_plain, times_btree, times_brin, times_partitioned, message;
