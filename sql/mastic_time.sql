-- An integer next to a time is no mastic. (Times next to a mastic: id_time.)
SET timezone = 'UTC';
\i sql/include/plan.psql

SELECT 5 <@ int4range(1, 9) AS int4, 5::bigint <@ int8range(1, 9) AS int8, now() <@ tstzrange(now(), NULL, '[]') AS time,
       '[2026-01-01,2026-01-02)' <@ tstzrange('2026-01-01', '2026-02-01') AS ranges, '2026-01-01' < timestamptz '2026-01-02' AS times;
PREPARE untyped AS SELECT $1 <@ tstzrange('2026-01-01', '2026-02-01'), $2 < timestamptz '2026-01-01', 5 = $3, 5::bigint < $4;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
DEALLOCATE untyped;
-- A bigint may have ids of any layout: next to a time it is not read as a mastic.
SELECT 5::bigint < now();
\echo :LAST_ERROR_SQLSTATE
SELECT 5::bigint <= now();
SELECT 5::bigint >= now();
SELECT 5::bigint > now();
SELECT now() < 5::bigint;
SELECT now() <= 5::bigint;
SELECT now() >= 5::bigint;
SELECT now() > 5::bigint;
SELECT 5 > now();
SELECT 5::smallint > now();
SELECT 5::bigint > current_date;
SELECT current_date > 5;
SELECT 5::bigint BETWEEN now() AND now();
SELECT 5::bigint >= ANY (ARRAY[now()]);
SELECT (5::bigint, 1) >= (now(), 1);
\echo :LAST_ERROR_SQLSTATE
SELECT 5::bigint::mastic < now();

-- An index on the cast serves a bigint column with Mastic ids.
CREATE TABLE as_bigint (id bigint PRIMARY KEY);
INSERT INTO as_bigint SELECT make_mastic(t, 0) FROM generate_series(timestamptz '2026-03-01', '2026-03-05', '1 hour') AS t;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan($$SELECT * FROM as_bigint WHERE id::mastic >= now()$$);
CREATE INDEX as_bigint_mastic ON as_bigint ((id::mastic));
SELECT plan($$SELECT * FROM as_bigint WHERE id::mastic >= timestamptz '2026-03-02' AND id::mastic < timestamptz '2026-03-03' ORDER BY id::mastic LIMIT 5$$);
SELECT count(*) FROM as_bigint WHERE id::mastic >= timestamptz '2026-03-02' AND id::mastic < timestamptz '2026-03-03';
DROP TABLE as_bigint;
CREATE TABLE far (id mastic PRIMARY KEY);
INSERT INTO far SELECT make_mastic(t, 0) FROM generate_series(timestamptz '6485-10-16', '6485-10-19', '1 hour') AS t;
SELECT count(*) AS all_rows, count(*) FILTER (WHERE id > 9223372036854775807) AS above_bigint FROM far WHERE id >= timestamptz '6485-10-17';
SELECT count(*) FROM far WHERE id BETWEEN timestamptz '6485-10-17' AND timestamptz '6485-10-18';
DROP TABLE far;
