SET timezone = 'UTC';
\i sql/include/plan.psql

--
-- Next to an id, a time stands for the first id of the next tick
--
CREATE TABLE tick (id sno, m mastic, what text);
INSERT INTO tick VALUES
    (make_sno('2026-03-01 12:00:00.004', 0, 0, 0), make_mastic('2026-03-01 12:00:00.001', 0), 'first of the tick'),
    (make_sno('2026-03-01 12:00:00.004', 0, 0, 1), make_mastic('2026-03-01 12:00:00.001', 1), 'second of the tick');
SELECT what, extract(microseconds FROM t) % 1000000 AS us, id < t AS lt, id <= t AS le, id >= t AS ge, id > t AS gt,
    t < id AS "t lt", t <= id AS "t le", t >= id AS "t ge", t > id AS "t gt"
FROM tick, unnest(ARRAY[4000, 4001, 3999, 1, 0]) AS us, LATERAL (SELECT timestamptz '2026-03-01 12:00:00' + us * interval '1 us' AS t) AS s
ORDER BY what, us DESC;
SELECT what, extract(microseconds FROM t) % 1000000 AS us, m < t AS lt, m <= t AS le, m >= t AS ge, m > t AS gt,
    t < m AS "t lt", t <= m AS "t le", t >= m AS "t ge", t > m AS "t gt"
FROM tick, unnest(ARRAY[1000, 1001, 999, 1, 0]) AS us, LATERAL (SELECT timestamptz '2026-03-01 12:00:00' + us * interval '1 us' AS t) AS s
ORDER BY what, us DESC;
-- >= and < compare as the timestamp of the id does, and agree with the bound where there is one.
CREATE FUNCTION bound(name text, t timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT %I($1)', name) INTO result USING t;
    RETURN result;
EXCEPTION WHEN datetime_field_overflow THEN RETURN NULL;
END $$;
CREATE TABLE edge AS SELECT t, bound('sno_lower_bound', t)::sno AS sno, bound('mastic_lower_bound', t)::mastic AS mastic
FROM (SELECT base + d * interval '1 us' AS t
      FROM unnest(ARRAY['1999-01-01', '2010-01-01', '2026-01-01', '2026-03-01 12:00:00.004', '2079-09-07 15:47:35.548',
                        '2079-09-07 15:47:35.552', '2100-01-01', '6485-10-17 02:45:55.328', '10945-08-03 05:31:50.655',
                        '10945-08-03 05:31:50.656', '20000-01-01', 'infinity', '-infinity']::timestamptz[]) AS base,
           unnest(ARRAY[-4000, -1001, -1000, -999, -1, 0, 1, 999, 1000, 1001, 3999, 4000]) AS d) AS s;
SELECT count(*) AS pairs, count(*) FILTER (WHERE (id < t) IS DISTINCT FROM (made < t) OR (id >= t) IS DISTINCT FROM (made >= t)
        OR (t > id) IS DISTINCT FROM (t > made) OR (t <= id) IS DISTINCT FROM (t <= made)) AS not_as_timestamp,
    count(*) FILTER (WHERE (id > t) IS DISTINCT FROM coalesce(id > bound, false) OR (id <= t) IS DISTINCT FROM coalesce(id <= bound, true)
        OR (t < id) IS DISTINCT FROM coalesce(bound < id, false) OR (t >= id) IS DISTINCT FROM coalesce(bound >= id, true)) AS not_as_bound
FROM (SELECT sno AS id, sno_timestamp(sno) AS made FROM edge WHERE sno IS NOT NULL UNION SELECT 'xxxxxxxxxxxxxxxx', '2079-09-07 15:47:35.548'
      UNION SELECT make_sno(t, 0, 0, 1), sno_timestamp(make_sno(t, 0, 0, 1)) FROM edge WHERE t >= '2010-01-01' AND t < '2079-09-07 15:47:35.552') AS i,
    (SELECT t, sno AS bound FROM edge) AS e;
SELECT count(*) AS pairs, count(*) FILTER (WHERE (id < t) IS DISTINCT FROM (made < t) OR (id >= t) IS DISTINCT FROM (made >= t)
        OR (t > id) IS DISTINCT FROM (t > made) OR (t <= id) IS DISTINCT FROM (t <= made)) AS not_as_timestamp,
    count(*) FILTER (WHERE (id > t) IS DISTINCT FROM coalesce(id > bound, false) OR (id <= t) IS DISTINCT FROM coalesce(id <= bound, true)
        OR (t < id) IS DISTINCT FROM coalesce(bound < id, false) OR (t >= id) IS DISTINCT FROM coalesce(bound >= id, true)) AS not_as_bound
FROM (SELECT mastic AS id, mastic_timestamp(mastic) AS made FROM edge WHERE mastic IS NOT NULL
      UNION SELECT '18446744073709551615', mastic_timestamp('18446744073709551615')
      UNION SELECT make_mastic(t, 1), mastic_timestamp(make_mastic(t, 1)) FROM edge WHERE t >= '2026-01-01' AND t < '10945-08-03 05:31:50.656') AS i,
    (SELECT t, mastic AS bound FROM edge) AS e;
-- The comparison functions of indexes agree.
SELECT count(*) FILTER (WHERE snowflake_ids.sno_cmp_timestamptz(i.sno, e.t) <> CASE WHEN i.sno < e.t THEN -1 WHEN i.sno > e.t THEN 1 ELSE 0 END
    OR snowflake_ids.timestamptz_cmp_sno(e.t, i.sno) <> CASE WHEN e.t < i.sno THEN -1 WHEN e.t > i.sno THEN 1 ELSE 0 END
    OR snowflake_ids.sno_times_cmp(i.t, e.t) <> CASE WHEN i.t OPERATOR(snowflake_ids.<~) e.t THEN -1 WHEN i.t OPERATOR(snowflake_ids.>~) e.t THEN 1 ELSE 0 END
    OR (i.t OPERATOR(snowflake_ids.<=~) e.t) IS NOT DISTINCT FROM (i.t OPERATOR(snowflake_ids.>~) e.t) OR (i.t OPERATOR(snowflake_ids.>=~) e.t) IS NOT DISTINCT FROM (i.t OPERATOR(snowflake_ids.<~) e.t)
    OR snowflake_ids.sno_times_cmp(i.t, e.t) <> coalesce(snowflake_ids.sno_cmp(i.sno, e.sno), (i.sno IS NULL)::int - (e.sno IS NULL)::int)) AS sno,
  count(*) FILTER (WHERE snowflake_ids.mastic_cmp_timestamptz(i.mastic, e.t) <> CASE WHEN i.mastic < e.t THEN -1 WHEN i.mastic > e.t THEN 1 ELSE 0 END
    OR snowflake_ids.timestamptz_cmp_mastic(e.t, i.mastic) <> CASE WHEN e.t < i.mastic THEN -1 WHEN e.t > i.mastic THEN 1 ELSE 0 END
    OR snowflake_ids.mastic_times_cmp(i.t, e.t) <> CASE WHEN i.t OPERATOR(snowflake_ids.<~~) e.t THEN -1 WHEN i.t OPERATOR(snowflake_ids.>~~) e.t THEN 1 ELSE 0 END
    OR (i.t OPERATOR(snowflake_ids.<=~~) e.t) IS NOT DISTINCT FROM (i.t OPERATOR(snowflake_ids.>~~) e.t) OR (i.t OPERATOR(snowflake_ids.>=~~) e.t) IS NOT DISTINCT FROM (i.t OPERATOR(snowflake_ids.<~~) e.t)
    OR snowflake_ids.mastic_times_cmp(i.t, e.t) <> coalesce(snowflake_ids.mastic_cmp(i.mastic, e.mastic), (i.mastic IS NULL)::int - (e.mastic IS NULL)::int)) AS mastic
FROM edge AS i, edge AS e;
DROP TABLE tick, edge;
DROP FUNCTION bound;

--
-- Literals
--
-- Next to an id, an untyped literal is an id. There is no = with times, and no time next to a gid.
SELECT '2222222222222222'::sno < 'xxxxxxxxxxxxxxxx' AS sno, '2222222222222222'::sno < date '2026-01-01' AS date,
    '0'::mastic < timestamp '2026-01-01 12:00' AS timestamp, '2026-01-01' < timestamptz '2026-01-02' AS times;
\set VERBOSITY terse
SELECT gen_sno() = now();
SELECT gen_sno() <> now();
SELECT now() = gen_mastic();
SELECT gen_gid('log') < now();
SELECT now() < gen_gid('log');
SELECT gen_sno() <@ tstzrange(now(), NULL);
SELECT gen_mastic() <@ tstzrange(now(), NULL);
\set VERBOSITY default
-- The hint says how to write a time.
\set VERBOSITY default
CREATE TABLE untyped (id sno, g gid(volume));
SELECT FROM untyped WHERE id >= '2026-01-01';
SELECT FROM untyped WHERE id BETWEEN '2026-01-01 10:00:00+00' AND 'now';
SELECT FROM untyped WHERE g < '01/02/2026';
PREPARE untyped AS SELECT FROM untyped WHERE id >= $1;
EXECUTE untyped('2026-01-01T10:00:00Z');
EXECUTE untyped(timestamptz '2026-01-01');
DEALLOCATE untyped;
SELECT FROM untyped WHERE id >= '2026-01-01 it''s me';
-- A bound of a partition cannot be a time: the hint has what can.
CREATE TABLE bounded (id sno) PARTITION BY RANGE (id);
CREATE TABLE bounded_later PARTITION OF bounded FOR VALUES FROM ('2026-12-01') TO (MAXVALUE);
CREATE TABLE bounded_later PARTITION OF bounded FOR VALUES FROM (timestamptz '2026-12-01') TO (MAXVALUE);
CREATE TABLE bounded_later PARTITION OF bounded FOR VALUES FROM (sno_lower_bound('2026-12-01')) TO (MAXVALUE);
DROP TABLE bounded;
SELECT '2026-12-01'::mastic;
SELECT '2026-01'::sno;
SELECT '2026-01-01x'::sno;
SELECT '20260101'::gid;
DROP TABLE untyped;
\set VERBOSITY terse

--
-- Plans show what was written
--
CREATE TABLE event (id sno PRIMARY KEY, m mastic, detail text);
CREATE INDEX ON event (m);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan($$SELECT * FROM event WHERE id >= now() - interval '1 hour'$$);
SELECT plan($$SELECT id FROM event WHERE id >= timestamptz '2026-03-01' AND id < timestamptz '2026-03-02' ORDER BY id DESC LIMIT 5$$);
SELECT plan($$SELECT * FROM event WHERE timestamptz '2026-03-01' < m AND timestamptz '2026-03-02' >= m ORDER BY m$$);
SELECT plan($$SELECT * FROM event WHERE m BETWEEN timestamptz '2026-03-01' AND timestamptz '2026-03-02'$$);
SELECT plan($$SELECT * FROM event WHERE id >= sno '3222222222222222' AND id >= timestamptz '2026-03-01'$$);
SELECT line AS plan FROM plan($$SELECT max(id) FROM event WHERE id < timestamptz '2026-03-01'$$) AS line WHERE line ~ 'Scan';
SET plan_cache_mode = force_generic_plan;
PREPARE since (timestamptz) AS SELECT * FROM event WHERE id >= $1;
SELECT plan($$EXECUTE since ('2026-03-01')$$);
RESET plan_cache_mode;
DEALLOCATE since;
-- A timestamp or a date is of the session's time zone, even if the plan was made in another one.
CREATE TABLE zoned (id sno PRIMARY KEY, t timestamptz);
INSERT INTO zoned SELECT sno_lower_bound(t), t
    FROM generate_series(timestamptz '2025-12-31', '2026-01-02', '1 hour') AS t;
SET plan_cache_mode = force_generic_plan;
PREPARE by_timestamp (timestamp) AS
    SELECT count(*), min(t), count(*) = (SELECT count(*) FROM zoned WHERE t >= $1) AS same FROM zoned WHERE id >= $1;
PREPARE by_date (date) AS
    SELECT count(*), min(t), count(*) = (SELECT count(*) FROM zoned WHERE t >= $1) AS same FROM zoned WHERE id >= $1;
SELECT plan($$SELECT id FROM zoned WHERE id >= timestamp '2026-01-01 00:00' ORDER BY id$$);
EXECUTE by_timestamp ('2026-01-01 00:00');
EXECUTE by_date ('2026-01-01');
SET timezone = 'America/New_York';
EXECUTE by_timestamp ('2026-01-01 00:00');
EXECUTE by_date ('2026-01-01');
SET timezone = 'UTC';
EXECUTE by_timestamp ('2026-01-01 00:00');
RESET plan_cache_mode;
DEALLOCATE by_timestamp;
DEALLOCATE by_date;
DROP TABLE zoned;
CREATE TABLE moment (t timestamptz);
SET enable_material = off;
SELECT plan($$SELECT * FROM moment JOIN event ON event.id >= moment.t$$);
SELECT plan($$SELECT * FROM event WHERE id >= (SELECT max(t) FROM moment)$$);
SELECT plan($$SELECT * FROM event WHERE id >= clock_timestamp()$$);
RESET enable_bitmapscan;

CREATE TABLE of_kind (id gid(log), n int) PARTITION BY RANGE (id);
CREATE TABLE of_kind_0 PARTITION OF of_kind FOR VALUES FROM (MINVALUE) TO (gid_lower_bound('log', '2026-03-01'));
CREATE TABLE of_kind_1 PARTITION OF of_kind DEFAULT;
SELECT plan($$SELECT n FROM of_kind WHERE id < gid_lower_bound('log', now() - interval '1 day') OR n = 3$$);
CREATE TABLE log (id sno, n int) PARTITION BY RANGE (id);
SELECT format('CREATE TABLE log_%s PARTITION OF log FOR VALUES FROM (sno_lower_bound(%L)) TO (sno_lower_bound(%L))', to_char(d, 'MM_DD'), d, d + interval '1 day')
FROM generate_series(timestamptz '2026-03-01', '2026-03-04', '1 day') AS d \gexec
SELECT plan($$SELECT n FROM log WHERE id < now() - interval '1 day' OR n = 3$$);

--
-- Partitions are pruned when the query is planned and when it runs
--
CREATE FUNCTION at_run_time(t timestamptz) RETURNS timestamptz STABLE LANGUAGE plpgsql AS 'BEGIN RETURN t; END';
SELECT plan($$SELECT * FROM log WHERE id >= timestamptz '2026-03-02' AND id < timestamptz '2026-03-03'$$);
SELECT plan($$SELECT * FROM log WHERE id >= at_run_time('2026-03-02') AND id < at_run_time('2026-03-03')$$);
INSERT INTO log SELECT make_sno(t, 0, 0, 0), 1 FROM generate_series(timestamptz '2026-03-01', '2026-03-04 23:00', '1 hour') AS t;
CREATE INDEX ON log (id);
SELECT count(*) FROM log WHERE id >= at_run_time('2026-03-02') AND id < timestamptz '2026-03-03';
SELECT count(*) FROM log WHERE NOT id >= timestamptz '2026-03-02 12:00' OR id > timestamptz '2026-03-04';

--
-- BRIN, partial indexes, constraints, generated columns, triggers
--
CREATE TABLE by_brin (id sno, m mastic) WITH (fillfactor = 10);
INSERT INTO by_brin SELECT make_sno(t, 0, 0, 0), make_mastic(t, 0) FROM generate_series(timestamptz '2026-03-01', '2026-03-08', '10 min') AS t;
CREATE INDEX ON by_brin USING brin (id, m) WITH (pages_per_range = 1);
SELECT plan($$SELECT count(*) FROM by_brin WHERE id >= now() - interval '1 hour' AND timestamptz '2026-03-01' <= m$$);
SELECT count(*) FROM by_brin WHERE id >= timestamptz '2026-03-02' AND m < timestamptz '2026-03-03';

CREATE INDEX recent ON event (detail) WHERE id >= timestamptz '2026-03-01';
SELECT plan($$SELECT * FROM event WHERE detail = 'x' AND id >= timestamptz '2026-04-01'$$);
SELECT plan($$SELECT detail FROM event WHERE detail = 'x' AND id >= sno_lower_bound('2026-03-01')$$);
SELECT plan($$SELECT detail FROM event WHERE detail = 'x' AND id >= timestamptz '2026-02-28 23:59:59.997'$$);
SELECT plan($$SELECT detail FROM event WHERE detail = 'x' AND id >= timestamptz '2026-02-28 23:59:59.996'$$);

CREATE TABLE checked (
    id sno CHECK (id >= timestamptz '2026-01-01'),
    late boolean GENERATED ALWAYS AS (id >= timestamptz '2026-06-01') STORED
);
INSERT INTO checked VALUES (make_sno('2026-01-01', 0, 0, 0)), (make_sno('2026-06-01', 0, 0, 0)), (NULL) RETURNING *;
INSERT INTO checked VALUES (make_sno('2025-12-31 23:59:59.999', 0, 0, 0));
SET constraint_exclusion = on;
SELECT plan($$SELECT id FROM checked WHERE id < timestamptz '2026-01-01'$$);
RESET constraint_exclusion;
CREATE FUNCTION report() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''trigger %'', TG_NAME; RETURN NEW; END';
CREATE TRIGGER early BEFORE INSERT ON checked FOR EACH ROW WHEN (NEW.id < timestamptz '2026-03-01' AND NEW.id < now() + interval '1000 years')
    EXECUTE FUNCTION report();
INSERT INTO checked SELECT make_sno(t, 0, 0, 0) FROM unnest('{2026-02-10, 2026-03-10}'::timestamptz[]) AS t;

-- Comparisons are leakproof, so row security keeps index scans.
CREATE ROLE regress_reader;
CREATE FUNCTION leaky(sno) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS 'BEGIN RETURN true; END';
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON event FOR SELECT USING (detail <> 'secret');
GRANT SELECT ON event TO regress_reader;
SET enable_bitmapscan = off;
SET ROLE regress_reader;
SELECT plan($$SELECT * FROM event WHERE id >= now() AND leaky(id)$$);
RESET ROLE;
REVOKE ALL ON event FROM regress_reader;
DROP ROLE regress_reader;

-- BRIN of a domain would have the domain's values, for which the class has no operators.
CREATE DOMAIN sno_domain AS sno;
CREATE DOMAIN gid_domain AS gid;
CREATE DOMAIN mastic_domain AS mastic;
CREATE DOMAIN domain_of_domain AS sno_domain;
CREATE TABLE of_domain (s sno_domain, g gid_domain, m mastic_domain, d domain_of_domain);
\set VERBOSITY default
CREATE INDEX ON of_domain USING brin (s);
\set VERBOSITY terse
CREATE INDEX ON of_domain USING brin (g);
CREATE INDEX ON of_domain USING brin (m);
CREATE INDEX ON of_domain USING brin (d);
\echo :LAST_ERROR_SQLSTATE
CREATE INDEX ON of_domain USING brin ((s::sno), (g::gid), (m::mastic), (d::sno)) WITH (pages_per_range = 1);
INSERT INTO of_domain SELECT make_sno(t, 0, 0, 0), make_gid('log', t, '\x0123456789abcdef'), make_mastic(t, 0), make_sno(t, 0, 0, 0)
FROM generate_series(timestamptz '2026-03-01', '2026-03-08', '10 min') AS t;
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = on;
SELECT plan($$SELECT count(*) FROM of_domain WHERE s >= timestamptz '2026-03-07' AND m < timestamptz '2026-03-08'$$);
SELECT count(*) FROM of_domain WHERE s >= timestamptz '2026-03-07' AND m < timestamptz '2026-03-08';
SELECT count(*) FROM of_domain WHERE g < gid_lower_bound('log', '2026-03-02') AND d >= timestamptz '2026-03-01 12:00';
COMMIT;
DROP TABLE of_domain;
DROP DOMAIN domain_of_domain, sno_domain, gid_domain, mastic_domain;
-- Without "=", no foreign key leads from a time to an id, nor back.
CREATE TABLE key (id sno PRIMARY KEY, m mastic UNIQUE, t timestamptz UNIQUE);
CREATE TABLE to_sno (t timestamptz REFERENCES key);
CREATE TABLE to_mastic (t timestamptz REFERENCES key (m));
CREATE TABLE to_time (id sno REFERENCES key (t));
DROP TABLE key;
DROP TABLE event, moment, of_kind, log, by_brin, checked;
DROP FUNCTION at_run_time, leaky, report;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '_timestamptz$|^timestamptz_|_times_'
ORDER BY signature COLLATE "C";
SELECT a.amname, f.opfname, amopstrategy AS strategy, amopopr::regoperator AS operator
FROM pg_amop AS o JOIN pg_opfamily AS f ON f.oid = amopfamily JOIN pg_am AS a ON a.oid = amopmethod
WHERE f.opfname ~ '^(sno|mastic)_' AND 'timestamptz'::regtype IN (amoplefttype, amoprighttype)
ORDER BY amname, opfname, amoplefttype::regtype::text, amoprighttype::regtype::text, amopstrategy;
