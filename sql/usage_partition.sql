SET timezone = 'UTC';
SET datestyle = 'ISO';

--
-- By range of the time in the id
--
CREATE TABLE log_by_day (id sno NOT NULL DEFAULT gen_sno(), body text) PARTITION BY RANGE (id);
-- A bound must be known when the partition is created; an expression over constants is.
CREATE TABLE log_june_1 PARTITION OF log_by_day FOR VALUES
    FROM (sno_lower_bound('2026-06-01 00:00:00+00')) TO (sno_lower_bound('2026-06-02 00:00:00+00'));
CREATE TABLE log_june_2 PARTITION OF log_by_day FOR VALUES
    FROM (sno_lower_bound('2026-06-02 00:00:00+00')) TO (sno_lower_bound('2026-06-03 00:00:00+00'));
CREATE TABLE log_later PARTITION OF log_by_day FOR VALUES
    FROM (sno_lower_bound('2026-06-03 00:00:00+00')) TO (MAXVALUE);
CREATE TABLE log_earlier PARTITION OF log_by_day DEFAULT;
CREATE UNIQUE INDEX ON log_by_day (id);
INSERT INTO log_by_day (id, body) SELECT make_sno('2026-05-31 00:00:00+00'::timestamptz + n * interval '1 hour', 0, 0,
    n), n FROM generate_series(0, 95) AS n;
INSERT INTO log_by_day (id) SELECT make_sno(t, 0, 0, 0)
    FROM unnest(ARRAY['2026-06-01 23:59:59.999999+00', '2026-06-02 00:00:00+00']::timestamptz[]) AS t;
INSERT INTO log_by_day (body) SELECT 'now' FROM generate_series(1, 10);
SELECT tableoid::regclass AS part, count(*), count(*) FILTER (WHERE body = 'now') AS now FROM log_by_day GROUP BY 1
    ORDER BY 1;
-- A time predicate visits one partition.
SET enable_bitmapscan = off;
SET enable_seqscan = off;
EXPLAIN (COSTS off) SELECT * FROM log_by_day
    WHERE id >= sno_lower_bound('2026-06-02 05:00:00+00') AND id < sno_lower_bound('2026-06-02 06:00:00+00');
SELECT body FROM log_by_day WHERE id >= sno_lower_bound('2026-06-02 05:00:00+00')
    AND id < sno_lower_bound('2026-06-02 07:00:00+00') ORDER BY id;
RESET enable_bitmapscan;
RESET enable_seqscan;
UPDATE log_by_day SET id = DEFAULT WHERE body = '5' RETURNING tableoid::regclass;
\set VERBOSITY sqlstate
INSERT INTO log_june_1 (body) VALUES ('x');
\set VERBOSITY default
ALTER TABLE log_by_day DETACH PARTITION log_june_1;
ALTER TABLE log_by_day ATTACH PARTITION log_june_1 FOR VALUES
    FROM (sno_lower_bound('2026-06-01 00:00:00+00')) TO (sno_lower_bound('2026-06-02 00:00:00+00'));

--
-- By hash, of sno and of gid
--
CREATE TABLE spread (id sno NOT NULL DEFAULT gen_sno(), n int) PARTITION BY HASH (id);
CREATE TABLE spread_0 PARTITION OF spread FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE spread_1 PARTITION OF spread FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE spread_2 PARTITION OF spread FOR VALUES WITH (MODULUS 4, REMAINDER 2);
CREATE TABLE spread_3 PARTITION OF spread FOR VALUES WITH (MODULUS 4, REMAINDER 3);
ALTER TABLE spread ADD PRIMARY KEY (id);
INSERT INTO spread (n) SELECT generate_series(1, 10000);
-- A fair share is 2,500; the bounds are ten standard deviations away.
SELECT tableoid::regclass AS part, count(*) BETWEEN 2000 AND 3000 AS fair FROM spread GROUP BY 1 ORDER BY 1;
SELECT count(*), count(DISTINCT id) FROM spread;
SELECT id FROM spread WHERE n = 1234 \gset
CREATE FUNCTION pg_temp.partitions_read(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; found bigint := 0;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
        found := found + (line ~ 'Scan')::int;
    END LOOP;
    RETURN found;
END $$;
SELECT pg_temp.partitions_read('SELECT * FROM spread'),
    pg_temp.partitions_read(format('SELECT * FROM spread WHERE id = %L', :'id'));
SELECT n FROM spread WHERE id = :'id';

CREATE TABLE volumes (id gid(volume) NOT NULL DEFAULT gen_gid('volume'), n int) PARTITION BY HASH (id);
CREATE TABLE volumes_0 PARTITION OF volumes FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE volumes_1 PARTITION OF volumes FOR VALUES WITH (MODULUS 2, REMAINDER 1);
ALTER TABLE volumes ADD PRIMARY KEY (id);
INSERT INTO volumes (n) SELECT generate_series(1, 10000);
SELECT tableoid::regclass AS part, count(*) BETWEEN 4400 AND 5600 AS fair FROM volumes GROUP BY 1 ORDER BY 1;
SELECT id FROM volumes WHERE n = 1234 \gset
SELECT pg_temp.partitions_read('SELECT * FROM volumes'),
    pg_temp.partitions_read(format('SELECT * FROM volumes WHERE id = %L', :'id'));
SELECT n FROM volumes WHERE id = :'id';

--
-- By range of gid: each kind has a range, and in it each day
--
CREATE TABLE objects (id gid NOT NULL, n int) PARTITION BY RANGE (id);
CREATE TABLE objects_volume PARTITION OF objects FOR VALUES
    FROM (gid_lower_bound('volume', '1970-01-01 00:00:00+00')) TO (gid_lower_bound('log', '1970-01-01 00:00:00+00'));
CREATE TABLE objects_log_old PARTITION OF objects FOR VALUES
    FROM (gid_lower_bound('log', '1970-01-01 00:00:00+00')) TO (gid_lower_bound('log', '2026-01-01 00:00:00+00'));
CREATE TABLE objects_log PARTITION OF objects FOR VALUES
    FROM (gid_lower_bound('log', '2026-01-01 00:00:00+00')) TO (gid_lower_bound('segment', '1970-01-01 00:00:00+00'));
CREATE TABLE objects_segment PARTITION OF objects FOR VALUES
    FROM (gid_lower_bound('segment', '1970-01-01 00:00:00+00')) TO (MAXVALUE);
INSERT INTO objects SELECT gen_gid(kind) FROM unnest(ARRAY['volume', 'log', 'segment']) AS kind, generate_series(1, 10);
INSERT INTO objects SELECT make_gid('log', '2025-12-31 23:59:59.999+00', gid_random(gen_gid('log')));
SELECT tableoid::regclass AS part, gid_kind(id), count(*) FROM objects GROUP BY 1, 2 ORDER BY 1;

--
-- A foreign key to a partitioned table
--
CREATE TABLE refers (id sno PRIMARY KEY DEFAULT gen_sno(), spread sno REFERENCES spread);
INSERT INTO refers (spread) SELECT id FROM spread WHERE n <= 500;
SELECT count(*) FROM refers JOIN spread ON spread.id = refers.spread;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT count(*), count(DISTINCT a.id) FROM spread AS a JOIN spread AS b ON a.id = b.id;
SELECT count(*) FROM (SELECT id FROM spread GROUP BY id) AS g;

DROP TABLE log_by_day, spread, volumes, objects, refers;
