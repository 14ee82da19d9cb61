-- Comparing gids with time.
SET timezone = 'UTC';
\i sql/include/time_differential.psql

--
-- What the operators mean: that of the timestamp
--
SELECT t, id < t AS lt, id <= t AS le, id >= t AS ge, id > t AS gt, t < id AS "t lt", t <= id AS "t le", t >= id AS "t ge",
       t > id AS "t gt", id <@ tstzrange(t, NULL) AS within
FROM (SELECT make_gid('log', '2026-03-01 12:00:00.001', '\x0011223344556677') AS id,
             '2026-03-01 12:00:00.001'::timestamptz + d * interval '1us' AS t
      FROM (VALUES (-1), (0), (1)) AS v (d) OFFSET 0) AS s;
SELECT '[2026-01-01,2026-01-02)' <@ tstzrange('2026-01-01', '2026-02-01') AS ranges;
-- A range of gids, or of a domain over them; the planner asks as well, for a table with statistics.
CREATE TYPE gidrange AS RANGE (subtype = gid);
CREATE DOMAIN log_gid AS gid(log);
CREATE TYPE log_gidrange AS RANGE (subtype = log_gid);
CREATE TEMP TABLE gid_analyzed AS SELECT make_gid('log', '2026-03-01', decode(lpad(to_hex(n), 16, '0'), 'hex')) AS id
    FROM generate_series(0, 999) AS n;
ANALYZE gid_analyzed;
SELECT count(*) FROM gid_analyzed
WHERE id <@ gidrange(make_gid('log', '2026-03-01', '\x0000000000000064'), make_gid('log', '2026-03-01', '\x00000000000000c8'));
SELECT count(*) FROM gid_analyzed
WHERE id <@ log_gidrange(make_gid('log', '2026-03-01', '\x0000000000000064'), make_gid('log', '2026-03-01', '\x00000000000000c8'));
SELECT count(*) FROM gid_analyzed WHERE id <@ int4range(1, 2);
DROP TYPE gidrange, log_gidrange;
DROP DOMAIN log_gid;

--
-- Plans: comparisons between ids where the kind is known from the column, else filters
--
CREATE TABLE gid_page (id gid(volume) PRIMARY KEY, log gid(log), other gid);
CREATE INDEX ON gid_page (log);
CREATE INDEX ON gid_page (other);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM gid_page WHERE id >= now() - interval '1 hour';
EXPLAIN (COSTS OFF) SELECT id FROM gid_page WHERE id > timestamptz '2026-03-01' AND timestamptz '2026-03-02' >= id ORDER BY id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM gid_page WHERE log <@ tstzrange('2026-03-01', '2026-03-02');
EXPLAIN (COSTS OFF) SELECT * FROM gid_page WHERE log <@ tstzrange(now(), NULL);
EXPLAIN (COSTS OFF) SELECT * FROM gid_page WHERE id >= timestamptz 'infinity';
EXPLAIN (COSTS OFF) SELECT * FROM gid_page WHERE id >= timestamptz '-infinity';
SELECT plan($$SELECT * FROM gid_page WHERE other >= timestamptz '2026-03-01'$$);
SELECT plan($$SELECT * FROM gid_page WHERE other::gid(segment) >= timestamptz '2026-03-01'$$);
-- Through a view, a union of equal kinds, and one of different kinds.
CREATE VIEW gid_view AS SELECT id FROM gid_page;
EXPLAIN (COSTS OFF) SELECT * FROM gid_view WHERE id < timestamptz '2026-03-01';
SELECT plan($$SELECT * FROM (SELECT id FROM gid_page UNION ALL SELECT log FROM gid_page) AS u WHERE id < timestamptz '2026-03-01'$$);
-- A domain.
CREATE DOMAIN log_id AS gid(log);
CREATE TABLE gid_log (id log_id PRIMARY KEY);
EXPLAIN (COSTS OFF) SELECT * FROM gid_log WHERE id < timestamptz '2026-03-01';
DROP TABLE gid_log;
DROP DOMAIN log_id;
RESET enable_bitmapscan;

-- What must not raise, whatever it is told.
SELECT gid_first_from('nonsense', now()) IS NULL AS nothing, gid_first('nonsense', '(,)') > gid_last('nonsense', '(,)') AS nothing_either;

--
-- Exactness: at and around ticks, the epoch, the end and infinity
--
CREATE TEMP TABLE edge (t timestamptz);
INSERT INTO edge SELECT base + d * interval '1us'
FROM unnest(ARRAY['1970-01-01', '1970-01-01 00:00:00.001', '2026-03-01 12:00:00.004', '10889-08-02 05:31:50.654', '10889-08-02 05:31:50.655',
                  '10889-08-02 05:31:50.656', '1960-01-01', '20000-01-01', 'infinity', '-infinity']::timestamptz[]) AS base,
     unnest(ARRAY[-1001, -1000, -999, -1, 0, 1, 999, 1000, 1001]) AS d;
INSERT INTO edge VALUES (NULL);
CREATE TEMP TABLE edge_id (id gid(log));
INSERT INTO edge_id SELECT bound FROM edge, LATERAL (VALUES (gid_lower_bound('log', t)), (gid_upper_bound('log', t))) AS v (bound)
WHERE t >= '1970-01-01' AND t <= '10889-08-02 05:31:50.655';
INSERT INTO edge_id VALUES (NULL);
\set timestamp_of gid_timestamp
\i sql/include/time_edges.psql

--
-- Random predicates
--
INSERT INTO meaning VALUES (true, '%1$s <@ %2$s', 'gid_timestamp(%s)', 'true',
    '{1970-01-01, 10889-08-02 05:31:50.655, 10889-08-02 05:31:50.656, infinity, -infinity, 1960-01-01, 20000-01-01, 2026-03-01}');
CREATE TABLE times_plain (id gid(volume), n int);
INSERT INTO times_plain
SELECT CASE WHEN g < 190 THEN make_gid('volume', '2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms', substr(sha256(g::text::bytea), 1, 8))
            WHEN g < 193 THEN gid_lower_bound('volume', '1970-01-01') WHEN g < 196 THEN gid_upper_bound('volume', 'infinity') END, g
FROM generate_series(1, 200) AS g;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id gid(volume), n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES FROM (MINVALUE) TO (gid_lower_bound('volume', '2026-03-01 00:00:00.1'));
CREATE TABLE times_2 PARTITION OF times_partitioned FOR VALUES FROM (gid_lower_bound('volume', '2026-03-01 00:00:00.1')) TO (gid_lower_bound('volume', '2026-03-01 00:00:00.2'));
CREATE TABLE times_3 PARTITION OF times_partitioned DEFAULT;
CREATE INDEX ON times_partitioned (id);
INSERT INTO times_partitioned TABLE times_plain;
ANALYZE times_plain, times_btree, times_brin, times_partitioned;
SELECT compared, rows > 10000 AS selective, different FROM differences(1500);
SELECT different > 20 AS would_find_a_microsecond FROM differences(150, '1us');
-- Without a type modifier the kinds are mixed, and only a filter gives the right answer.
DROP TABLE times_plain, times_btree, times_brin, times_partitioned;
CREATE TABLE times_plain (id gid, n int);
INSERT INTO times_plain
SELECT make_gid(pick(ARRAY['volume', 'log', 'segment']), '2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms', substr(sha256(g::text::bytea), 1, 8)), g
FROM generate_series(1, 200) AS g;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id gid, n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES FROM (MINVALUE) TO (gid_lower_bound('log', '2026-03-01 00:00:00.1'));
CREATE TABLE times_2 PARTITION OF times_partitioned DEFAULT;
INSERT INTO times_partitioned TABLE times_plain;
UPDATE meaning SET created = 'gid_timestamp(%s)';
SELECT compared, rows > 5000 AS selective, different FROM differences(300);
DROP TABLE times_plain, times_btree, times_brin, times_partitioned, gid_page CASCADE;
