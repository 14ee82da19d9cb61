-- Uuids of version 7 by time.
SET timezone = 'UTC';
\i sql/include/time_differential.psql

--
-- What it means: version 7, and the timestamp is in the range
--
SELECT d AS microseconds, uuid7_created_in(id, tstzrange(t, NULL)) AS "[t,)",
    uuid7_created_in(id, tstzrange(t, NULL, '()')) AS "(t,)",
       uuid7_created_in(id, tstzrange(NULL, t)) AS "(,t)", uuid7_created_in(id, tstzrange(NULL, t, '[]')) AS "(,t]"
FROM (SELECT d, uuid7_upper_bound('2026-03-01 12:00:00.001') AS id,
    '2026-03-01 12:00:00.001'::timestamptz + d * interval '1us' AS t
      FROM (VALUES (-1), (0), (1)) AS v (d) OFFSET 0) AS s;
SELECT uuid7_created_in(gen_uuid7(), NULL) AS null_range, uuid7_created_in(NULL, 'empty') AS null_id,
       uuid7_created_in(gen_random_uuid(), '(,)') AS other_version,
           uuid7_created_in('017F22E2-79B0-7CC3-D8C4-DC0C0C07398F', '(,)') AS other_variant,
       uuid7_created_in(gen_uuid7(), '(,)') AS any_time;
SELECT uuid7_first('[2026-03-01,2026-03-02)'), uuid7_last('[2026-03-01,2026-03-02)'),
    uuid7_first('empty') > uuid7_last('empty') AS nothing;

--
-- Plans: an index finds the uuids between two, the filter leaves version 7
--
CREATE TABLE page (id uuid PRIMARY KEY);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM page WHERE uuid7_created_in(id, tstzrange('2026-03-01', '2026-03-02')) ORDER BY id
    LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM page WHERE uuid7_created_in(id, tstzrange(NULL, '2026-03-02', '[]'));
EXPLAIN (COSTS OFF) SELECT * FROM page WHERE uuid7_created_in(id, tstzrange(now() - interval '1 hour', NULL))
    ORDER BY id DESC LIMIT 5;
SELECT plan($$SELECT * FROM page WHERE uuid7_created_in(id, NULL)$$);
EXPLAIN (COSTS OFF) SELECT * FROM page WHERE NOT uuid7_created_in(id, tstzrange('2026-03-01', '2026-03-02'));
EXPLAIN (COSTS OFF) SELECT * FROM page, LATERAL (SELECT tstzrange(uuid7_timestamp(page.id), NULL) AS r) AS s
    WHERE uuid7_created_in(page.id, r);
-- Pruning, when the query is planned and when it runs.
CREATE TABLE page_log (id uuid NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE page_log_1 PARTITION OF page_log FOR VALUES FROM (MINVALUE) TO (uuid7_lower_bound('2026-02-01'));
CREATE TABLE page_log_2 PARTITION OF page_log FOR VALUES
    FROM (uuid7_lower_bound('2026-02-01')) TO (uuid7_lower_bound('2026-03-01')) PARTITION BY RANGE (id);
CREATE TABLE page_log_2a PARTITION OF page_log_2 FOR VALUES FROM (MINVALUE) TO (uuid7_lower_bound('2026-02-15'));
CREATE TABLE page_log_2b PARTITION OF page_log_2 FOR VALUES FROM (uuid7_lower_bound('2026-02-15')) TO (MAXVALUE);
CREATE TABLE page_log_3 PARTITION OF page_log FOR VALUES FROM (uuid7_lower_bound('2026-03-01')) TO (MAXVALUE);
CREATE INDEX ON page_log (id);
SELECT plan($$SELECT * FROM page_log WHERE uuid7_created_in(id, tstzrange('2026-02-01', '2026-02-02'))$$);
SELECT plan($$SELECT * FROM page_log WHERE uuid7_created_in(id, stable_range('[2026-02-01,2026-02-02)'))$$);
RESET enable_bitmapscan;
DROP INDEX page_log_id_idx;
SELECT plan($$SELECT * FROM page_log WHERE uuid7_created_in(id, volatile_range('[2026-02-01,2026-02-02)'))$$);
DROP TABLE page_log;

--
-- Row estimates: within a factor of two, on plain and on partitioned tables, with and without other versions
--
CREATE FUNCTION estimated(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
CREATE FUNCTION id_at(t timestamptz, n int) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT encode(substr(uuid_send(uuid7_lower_bound(t)), 1, 6) || '\x7000' || set_bit(set_bit(substr(sha256(n::text::bytea), 1, 8), 7, 1), 6, 0), 'hex')::uuid
$$;
CREATE TABLE year_plain (id uuid) WITH (autovacuum_enabled = off);
INSERT INTO year_plain SELECT id_at(timestamptz '2026-01-01' + g * interval '157.68s', g)
    FROM generate_series(0, 199999) AS g;
CREATE TABLE year_mixed (id uuid) WITH (autovacuum_enabled = off);
INSERT INTO year_mixed TABLE year_plain;
INSERT INTO year_mixed SELECT encode(overlay(substr(sha256(('v4' || g)::bytea), 1, 16) placing '\x40' from 7),
    'hex')::uuid FROM generate_series(1, 100000) AS g;
CREATE TABLE year_partitioned (id uuid) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE year_%s PARTITION OF year_partitioned FOR VALUES FROM (%L) TO (%L)', n,
              uuid7_lower_bound('2026-01-01'::timestamptz + n * interval '73 days'),
                  uuid7_lower_bound('2026-01-01'::timestamptz + (n + 1) * interval '73 days'))
FROM generate_series(0, 4) AS n \gexec
INSERT INTO year_partitioned TABLE year_plain;
CREATE INDEX ON year_partitioned (id);
ANALYZE year_plain, year_mixed, year_partitioned;
CREATE TEMP TABLE estimate AS
SELECT tab, form, name, extract(epoch FROM length) / 157.68 AS actual,
    estimated(format('SELECT FROM year_%s WHERE ' || condition, tab, f, f + length)) AS rows
FROM unnest(ARRAY['plain', 'mixed', 'partitioned']) AS tab,
     (VALUES ('hours', interval '6 hours'), ('day', '1 day'), ('month', '30 days')) AS v (name, length),
     generate_series(timestamptz '2026-01-05 03:00', '2026-11-25', '28 days 5 hours') AS f,
     (VALUES ('constant', 'uuid7_created_in(id, tstzrange(%2$L, %3$L))'),
             ('stable', 'uuid7_created_in(id, tstzrange(now() + (timestamptz %2$L - now()), timestamptz %3$L))'))
                 AS c (form, condition);
SELECT tab, form, name, count(*) AS spans,
    count(*) FILTER (WHERE rows NOT BETWEEN actual / 2 AND actual * 2) <= CASE tab WHEN 'mixed' THEN 3
    ELSE 0 END AS within_two
FROM estimate GROUP BY tab, form, name ORDER BY tab, form, min(actual);
-- All times, which are two thirds of the mixed rows; none; not known.
SELECT estimated('SELECT FROM year_mixed WHERE uuid7_created_in(id, ''(,)'')') BETWEEN 160000 AND 240000 AS two_thirds,
       estimated('SELECT FROM year_plain WHERE uuid7_created_in(id, ''(,)'')') AS all_rows,
       estimated('SELECT FROM year_plain WHERE uuid7_created_in(id, ''empty'')') AS none,
       estimated('SELECT FROM year_plain WHERE uuid7_created_in(id, volatile_range(''(,)''))') AS five_thousandths;
-- Rows that are newer than the last ANALYZE.
CREATE INDEX ON year_plain (id);
INSERT INTO year_plain SELECT id_at(timestamptz '2026-01-01' + g * interval '157.68s', g)
    FROM generate_series(200000, 239999) AS g;
SELECT estimated('SELECT FROM year_plain WHERE uuid7_created_in(id, tstzrange(''2027-01-01'', NULL))') BETWEEN 36000
    AND 44000 AS within_a_tenth;
DROP TABLE year_plain, year_mixed, year_partitioned;
DROP FUNCTION estimated, id_at;

--
-- Random predicates, on uuids of version 7 and on others between them
--
INSERT INTO meaning VALUES (false, 'uuid7_created_in(%1$s, %2$s)', 'uuid7_timestamp(%s)',
    '(uuid7_timestamp(%1$s) IS NOT NULL OR %1$s IS NULL)',
    '{1970-01-01, 10889-08-02 05:31:50.655, 10889-08-02 05:31:50.656, infinity, -infinity, 1960-01-01, 20000-01-01, 2026-03-01}');
CREATE TABLE times_plain (id uuid, n int);
INSERT INTO times_plain
SELECT CASE WHEN g < 130 THEN CASE g % 3 WHEN 0 THEN uuid7_upper_bound(t) WHEN 1 THEN uuid7_lower_bound(t)
    ELSE overlay(uuid7_lower_bound(t)::text placing left(md5(g::text), 12) from 25)::uuid END
            -- The same times with another version, then with another variant.
            WHEN g < 160 THEN overlay(uuid7_lower_bound(t)::text placing pick(ARRAY['0', '1', '4', '6', '8',
                'f']) from 15)::uuid
            WHEN g < 180 THEN overlay(uuid7_lower_bound(t)::text placing pick(ARRAY['0', '7', 'c', 'f']) from 20)::uuid
            WHEN g < 190 THEN md5(g::text)::uuid
            WHEN g < 192 THEN uuid7_lower_bound('1970-01-01') WHEN g < 194 THEN uuid7_upper_bound('infinity')
            WHEN g = 194 THEN '00000000-0000-0000-0000-000000000000' WHEN g = 195
                THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' END, g
FROM (SELECT g, '2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms' AS t
    FROM generate_series(1, 200) AS g OFFSET 0) AS s;
SELECT count(*) AS rows, count(id) AS ids, count(uuid7_timestamp(id)) BETWEEN 125 AND 140 AS of_version_7
    FROM times_plain;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id uuid, n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES
    FROM (MINVALUE) TO (uuid7_lower_bound('2026-03-01 00:00:00.1'));
CREATE TABLE times_2 PARTITION OF times_partitioned FOR VALUES
    FROM (uuid7_lower_bound('2026-03-01 00:00:00.1')) TO (uuid7_lower_bound('2026-03-01 00:00:00.2'));
CREATE TABLE times_3 PARTITION OF times_partitioned DEFAULT;
CREATE INDEX ON times_partitioned (id);
INSERT INTO times_partitioned TABLE times_plain;
ANALYZE times_plain, times_btree, times_brin, times_partitioned;
SELECT compared, rows > 5000 AS selective, different FROM differences(1000);
SELECT different > 20 AS would_find_a_microsecond FROM differences(100, '1us');
-- Would a comparison of bytes alone be found? It takes the uuids of other versions for ids of their place.
UPDATE meaning SET created = 'uuid7_timestamp(%s)',
    predicate = '(%1$s >= uuid7_first(%2$s) AND %1$s <= uuid7_last(%2$s))';
SET client_min_messages = error;
SELECT different > 20 AS would_find_other_versions FROM differences(100);
DROP TABLE times_plain, times_btree, times_brin, times_partitioned, page;
