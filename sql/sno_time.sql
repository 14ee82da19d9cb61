-- Comparing snos with time.
SET timezone = 'UTC';
\i sql/include/time_differential.psql

--
-- What the operators mean: that of the timestamp
--
SELECT t, id < t AS lt, id <= t AS le, id >= t AS ge, id > t AS gt, t < id AS "t lt", t <= id AS "t le", t >= id AS "t ge",
       t > id AS "t gt", id <@ tstzrange(t, NULL) AS within
FROM (SELECT make_sno('2026-03-01 12:00:00.004', 1, 2, 3) AS id, '2026-03-01 12:00:00.004'::timestamptz + d * interval '1us' AS t
      FROM (VALUES (-1), (0), (1)) AS v (d) OFFSET 0) AS s;

-- An untyped literal beside a sno is a sno, beside a time a time; a date is a time.
SELECT '2222222222222222'::sno < 'xxxxxxxxxxxxxxxx' AS sno, '2222222222222222'::sno < date '2026-01-01' AS date;
SELECT '2222222222222222'::sno < '2026-01-01';
SELECT '2222222222222222'::sno <@ '[2026-01-01,)';
SELECT '2222222222222222'::sno <@ int4range(1, 2);
-- The operators do not change what other queries mean.
SELECT '[2026-01-01,2026-01-02)' <@ tstzrange('2026-01-01', '2026-02-01') AS ranges, '2026-01-01' < timestamptz '2026-01-02' AS times;
CREATE TYPE snorange AS RANGE (subtype = sno);
SELECT '3222222222222222'::sno <@ snorange('2222222222222222', 'xxxxxxxxxxxxxxxx') AS range_of_snos;
-- The planner asks as well, for a table with statistics.
CREATE TEMP TABLE sno_analyzed AS SELECT make_sno('2026-03-01', 1, 2, n) AS id FROM generate_series(0, 999) AS n;
ANALYZE sno_analyzed;
SELECT count(*) FROM sno_analyzed WHERE id <@ snorange(make_sno('2026-03-01', 1, 2, 100), make_sno('2026-03-01', 1, 2, 200));
DROP TYPE snorange;

--
-- Plans: comparisons between ids
--
CREATE TABLE sno_event (id sno PRIMARY KEY, detail text);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id >= now() - interval '1 hour';
EXPLAIN (COSTS OFF) SELECT id FROM sno_event WHERE id >= timestamptz '2026-03-01' AND id < timestamptz '2026-03-02';
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE timestamptz '2026-03-01' < id AND timestamptz '2026-03-02' >= id;
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id <@ tstzrange('2026-03-01', '2026-03-02', '[]') ORDER BY id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id <@ tstzrange(now() - interval '1 hour', NULL);
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE NOT (id >= timestamptz '2026-03-01') ORDER BY id DESC;
-- Beyond the ends of the format: all or none.
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id >= timestamptz '2079-09-07 15:47:35.548001';
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id >= timestamptz '2079-09-07 15:47:35.548';
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id < timestamptz '2010-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id <= timestamptz '2010-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id > timestamptz '-infinity' AND id <@ 'empty'::tstzrange;
-- Parameters, with a plan for this one and with a plan for all.
PREPARE since (timestamptz) AS SELECT * FROM sno_event WHERE id > $1;
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE since ('2026-03-01');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE since ('2026-03-01');
RESET plan_cache_mode;
-- A time from another table: an index scan for each of its rows. From the same row: nothing to gain.
CREATE TABLE moment (t timestamptz, id sno);
SET enable_material = off;
SELECT plan($$SELECT * FROM moment JOIN sno_event ON sno_event.id >= moment.t$$);
SELECT plan($$SELECT * FROM moment WHERE id >= t$$);
-- A sub-select is worked out first. What is volatile, or a set, is left as a filter.
SELECT plan($$SELECT * FROM sno_event WHERE id >= clock_timestamp()$$);
SELECT plan($$SELECT * FROM sno_event WHERE id >= (SELECT max(t) FROM moment)$$);
SELECT plan($$SELECT gen_sno() >= now() AS after, id >= generate_series(now(), now(), '1 day') AS each FROM sno_event$$);
RESET enable_bitmapscan;

--
-- Partitions, BRIN, partial indexes, constraints, generated columns
--
CREATE TABLE sno_log (id sno NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE sno_log_1 PARTITION OF sno_log FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-02-01'));
CREATE TABLE sno_log_2 PARTITION OF sno_log FOR VALUES FROM (sno_lower_bound('2026-02-01')) TO (sno_lower_bound('2026-03-01'));
CREATE TABLE sno_log_3 PARTITION OF sno_log FOR VALUES FROM (sno_lower_bound('2026-03-01')) TO (MAXVALUE);
SELECT plan($$SELECT * FROM sno_log WHERE id >= timestamptz '2026-02-01' AND id < timestamptz '2026-03-01'$$);
CREATE FUNCTION at_run_time(t timestamptz) RETURNS timestamptz STABLE LANGUAGE plpgsql AS 'BEGIN RETURN t; END';
SELECT plan($$SELECT * FROM sno_log WHERE id >= at_run_time('2026-02-01') AND id < at_run_time('2026-02-02')$$);
SELECT plan($$SELECT * FROM sno_log WHERE id >= at_run_time('infinity')$$);

-- The comparison for pruning stands beside the predicate, in the partitions instead of it; also below another table, in one
-- half of an OR, below a NOT, and where the time is a parameter or comes from another table.
CREATE TABLE sno_log_4 (id sno NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE sno_log_4a PARTITION OF sno_log_4 FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-04-15'));
CREATE TABLE sno_log_4b PARTITION OF sno_log_4 FOR VALUES FROM (sno_lower_bound('2026-04-15')) TO (MAXVALUE);
ALTER TABLE sno_log DETACH PARTITION sno_log_3;
ALTER TABLE sno_log ATTACH PARTITION sno_log_3 FOR VALUES FROM (sno_lower_bound('2026-03-01')) TO (sno_lower_bound('2026-04-01'));
ALTER TABLE sno_log ATTACH PARTITION sno_log_4 FOR VALUES FROM (sno_lower_bound('2026-04-01')) TO (MAXVALUE);
INSERT INTO sno_log SELECT make_sno(t, 0, 0, 0) FROM generate_series(timestamptz '2026-01-01', '2026-04-30', '1 day') AS t;
CREATE INDEX ON sno_log (id);
SET plan_cache_mode = force_generic_plan;
PREPARE later (timestamptz) AS SELECT id FROM sno_log WHERE id > $1;
SELECT plan('EXECUTE later (''2026-04-28'')');
EXECUTE later ('2026-04-28');
PREPARE within (tstzrange) AS SELECT id FROM sno_log WHERE id <@ $1;
SELECT plan('EXECUTE within (''[2026-02-10,2026-02-12]'')');
EXECUTE within ('[2026-02-10,2026-02-12]');
PREPARE neither (timestamptz, timestamptz) AS SELECT count(*) FROM sno_log WHERE NOT (id >= $1) OR id > $2;
EXECUTE neither ('2026-01-11', '2026-04-20');
PREPARE unknown (timestamptz) AS SELECT count(*) FILTER (WHERE (id >= $1) IS NULL) AS unknown, count(*) FILTER (WHERE NOT (id >= $1)) AS earlier FROM sno_log;
EXECUTE unknown ('infinity');
DEALLOCATE ALL;
RESET plan_cache_mode;
SELECT count(*) FROM (VALUES (timestamptz '2026-04-29')) AS v (t), LATERAL (SELECT t AS since OFFSET 0) AS s JOIN sno_log ON id >= since;
SELECT count(*) FROM sno_log WHERE id >= (SELECT timestamptz '2026-04-20');

CREATE TABLE sno_brin (id sno);
CREATE INDEX ON sno_brin USING brin (id);
EXPLAIN (COSTS OFF) SELECT * FROM sno_brin WHERE id >= now() - interval '1 hour';

CREATE INDEX sno_recent ON sno_event (detail) WHERE id >= timestamptz '2026-03-01';
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE detail = 'x' AND id >= timestamptz '2026-04-01';
EXPLAIN (COSTS OFF) SELECT detail FROM sno_event WHERE detail = 'x' AND id >= sno_lower_bound('2026-03-01');
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE detail = 'x' AND id >= timestamptz '2026-02-01';

CREATE TABLE sno_checked (
    id sno CHECK (id >= timestamptz '2026-01-01'),
    late boolean GENERATED ALWAYS AS (id >= timestamptz '2026-06-01') STORED
);
INSERT INTO sno_checked VALUES (make_sno('2026-01-01', 0, 0, 0)), (make_sno('2026-06-01', 0, 0, 0)), (NULL) RETURNING *;
INSERT INTO sno_checked VALUES (make_sno('2025-12-31 23:59:59.999', 0, 0, 0));
SET constraint_exclusion = on;
SELECT plan($$SELECT * FROM sno_checked WHERE id < timestamptz '2026-01-01'$$);
RESET constraint_exclusion;

-- Triggers: OLD and NEW are no tables of a query.
CREATE TABLE sno_watched (id sno, g gid(volume), m mastic, si bigint);
CREATE FUNCTION report() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''trigger %'', TG_NAME; RETURN NEW; END';
CREATE TRIGGER early BEFORE INSERT ON sno_watched FOR EACH ROW
    WHEN (NEW.id < timestamptz '2026-03-01' AND NEW.g < now() + interval '1000 years') EXECUTE FUNCTION report();
CREATE TRIGGER in_march BEFORE INSERT OR UPDATE ON sno_watched FOR EACH ROW
    WHEN (NEW.id <@ tstzrange('2026-03-01', '2026-04-01') AND NEW.m <@ tstzrange('2026-03-01', NULL))
    EXECUTE FUNCTION report();
CREATE TRIGGER moved AFTER UPDATE ON sno_watched FOR EACH ROW
    WHEN (OLD.m <@ tstzrange('2026-02-01', mastic_timestamp(NEW.m)) AND
          snowflake_si_created_in(OLD.si, tstzrange('2026-02-01', now() + interval '1000 years')) AND
          snowflake_created_in(OLD.m::bigint, 'mastic', tstzrange('2026-02-01', '2026-03-01')) AND NEW.id > now() - interval '1000 years')
    EXECUTE FUNCTION report();
INSERT INTO sno_watched SELECT make_sno(t, 0, 0, 0), make_gid('volume', t, '\x0123456789abcdef'), make_mastic(t, 0), make_snowflake_si(t, 0, 0)
FROM unnest('{2026-02-10, 2026-03-10}'::timestamptz[]) AS t;
UPDATE sno_watched SET id = make_sno('2026-03-11', 0, 0, 0), m = make_mastic('2026-03-11', 0) WHERE id < timestamptz '2026-03-01';
DROP TABLE sno_watched;
DROP FUNCTION report;

-- Row security keeps index scans, for the comparisons are leakproof.
CREATE ROLE regress_reader;
CREATE FUNCTION leaky(sno) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS 'BEGIN RETURN true; END';
ALTER TABLE sno_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON sno_event FOR SELECT USING (detail <> 'secret');
GRANT SELECT ON sno_event TO regress_reader;
SET ROLE regress_reader;
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id >= now() AND leaky(id);
RESET ROLE;
ALTER TABLE sno_event DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON sno_event FROM regress_reader;
DROP ROLE regress_reader;

--
-- Another schema, and objects of the same name in front of it
--
CREATE SCHEMA elsewhere;
ALTER EXTENSION snowflake_ids SET SCHEMA elsewhere;
CREATE FUNCTION sno_first_from(timestamptz) RETURNS elsewhere.sno IMMUTABLE LANGUAGE sql AS 'SELECT NULL::elsewhere.sno';
CREATE OPERATOR >= (LEFTARG = elsewhere.sno, RIGHTARG = elsewhere.sno, FUNCTION = elsewhere.sno_lt);
EXPLAIN (COSTS OFF) SELECT * FROM sno_event WHERE id OPERATOR(elsewhere.>=) now();
DROP OPERATOR >= (elsewhere.sno, elsewhere.sno);
DROP FUNCTION sno_first_from(timestamptz);
ALTER EXTENSION snowflake_ids SET SCHEMA public;
DROP SCHEMA elsewhere;

--
-- Exactness: at and around ticks, the epoch, the end and infinity
--
CREATE TEMP TABLE edge (t timestamptz);
INSERT INTO edge SELECT base + d * interval '1us'
FROM unnest(ARRAY['2010-01-01', '2010-01-01 00:00:00.004', '2026-03-01 12:00:00.004', '2079-09-07 15:47:35.544', '2079-09-07 15:47:35.548',
                  '2079-09-07 15:47:35.552', '1999-01-01', '2100-01-01', 'infinity', '-infinity']::timestamptz[]) AS base,
     unnest(ARRAY[-4001, -4000, -3999, -1, 0, 1, 3999, 4000, 4001]) AS d;
INSERT INTO edge VALUES (NULL);
CREATE TEMP TABLE edge_id (id sno);
INSERT INTO edge_id SELECT make_sno(t, m, m * 257, m * 257, m & 1) FROM edge, unnest(ARRAY[0, 255]) AS m
WHERE t >= '2010-01-01' AND t < '2079-09-07 15:47:35.552';
INSERT INTO edge_id VALUES (NULL), ('2222222222222222'), ('xxxxxxxxxxxxxxxx');
\set timestamp_of sno_timestamp
\i sql/include/time_edges.psql

--
-- Random predicates
--
INSERT INTO meaning VALUES (true, '%1$s <@ %2$s', 'sno_timestamp(%s)', 'true',
    '{2010-01-01, 2079-09-07 15:47:35.548, 2079-09-07 15:47:35.552, infinity, -infinity, 2000-01-01, 2100-01-01, 2026-03-01}');
CREATE TABLE times_plain (id sno, n int);
INSERT INTO times_plain
SELECT CASE WHEN g < 190 THEN make_sno('2026-03-01'::timestamptz + floor(random() * 300) * interval '1ms', floor(random() * 256)::int, 1, g, g % 2)
            WHEN g < 193 THEN '2222222222222222' WHEN g < 196 THEN 'xxxxxxxxxxxxxxxx'::sno END, g
FROM generate_series(1, 200) AS g;
CREATE TABLE times_btree AS TABLE times_plain;
CREATE INDEX ON times_btree (id);
CREATE TABLE times_brin AS TABLE times_plain ORDER BY id;
CREATE INDEX ON times_brin USING brin (id) WITH (pages_per_range = 1);
CREATE TABLE times_partitioned (id sno, n int) PARTITION BY RANGE (id);
CREATE TABLE times_1 PARTITION OF times_partitioned FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-03-01 00:00:00.1'));
CREATE TABLE times_2 PARTITION OF times_partitioned FOR VALUES FROM (sno_lower_bound('2026-03-01 00:00:00.1')) TO (sno_lower_bound('2026-03-01 00:00:00.2'));
CREATE TABLE times_3 PARTITION OF times_partitioned DEFAULT;
CREATE INDEX ON times_partitioned (id);
INSERT INTO times_partitioned TABLE times_plain;
ANALYZE times_plain, times_btree, times_brin, times_partitioned;
SELECT compared, rows > 10000 AS selective, different FROM differences(1500);
SELECT different > 20 AS would_find_a_microsecond FROM differences(150, '1us');
DROP TABLE times_plain, times_btree, times_brin, times_partitioned, sno_event, sno_log, sno_brin, sno_checked, moment;
DROP FUNCTION at_run_time, leaky;

-- A time without a type is read as an id: the hint says what to write.
\set VERBOSITY default
CREATE TABLE untyped (id sno, g gid(volume));
SELECT FROM untyped WHERE id >= '2026-01-01';
SELECT FROM untyped WHERE id BETWEEN '2026-01-01 10:00:00+00' AND 'now';
SELECT FROM untyped WHERE g < '01/02/2026';
PREPARE untyped AS SELECT FROM untyped WHERE id >= $1;
EXECUTE untyped('2026-01-01T10:00:00Z');
EXECUTE untyped(timestamptz '2026-01-01');
SELECT FROM untyped WHERE id >= '2026-01-01 it''s me';
-- Nothing else gets it.
SELECT '2026-01'::sno;
SELECT '2026-01-01x'::sno;
SELECT '20260101'::gid;
DROP TABLE untyped;
