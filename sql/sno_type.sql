SET timezone = 'UTC';
SET datestyle = 'ISO';

--
-- Text and binary
--
SELECT 'brpk4q72xwf2m63l'::sno, '2222222222222222'::sno AS zero, 'xxxxxxxxxxxxxxxx'::sno AS max;
SELECT snowflake_ids.sno_send('brpk4q72xwf2m63l'), pg_column_size('brpk4q72xwf2m63l'::sno);
SELECT typlen, typbyval, typalign, typstorage, typcategory, typispreferred FROM pg_type WHERE typname = 'sno';

SELECT ''::sno;
\echo :LAST_ERROR_SQLSTATE
-- Drivers send bytes as a text: the hint says what to write.
SELECT ('\x4e6f2160a0ff9a0a1033')::sno;
SELECT '\x4e6f2160a0ff9a0a1033'::bytea::sno;
SELECT '\x4e6f2160a0ff9a0a103'::sno;
SELECT '\x'::sno;
SELECT '\xyz'::sno;

-- COPY sends a bytea of any length, and sno_recv gets it.
\getenv builddir PG_ABS_BUILDDIR
\cd :builddir
CREATE TEMP TABLE received (id sno);
\copy (SELECT '\x4e6f2160a0ff9a0a1033'::bytea) TO 'results/sno_type.bin' (FORMAT binary)
\copy received FROM 'results/sno_type.bin' (FORMAT binary)
\copy (SELECT '\x4e6f2160a0ff9a0a10'::bytea) TO 'results/sno_type.bin' (FORMAT binary)
\copy received FROM 'results/sno_type.bin' (FORMAT binary)
\copy (SELECT '\x4e6f2160a0ff9a0a103300'::bytea) TO 'results/sno_type.bin' (FORMAT binary)
\copy received FROM 'results/sno_type.bin' (FORMAT binary)
\copy (SELECT ''::bytea) TO 'results/sno_type.bin' (FORMAT binary)
\copy received FROM 'results/sno_type.bin' (FORMAT binary)
SELECT * FROM received;

--
-- Comparison: the order of the bytes
--
SELECT a, b, a < b AS lt, a <= b AS le, a = b AS eq, a <> b AS ne, a >= b AS ge, a > b AS gt, sign(snowflake_ids.sno_cmp(a, b)) AS cmp
FROM (VALUES
    ('2222222222222222'::sno, '2222222222222222'::sno),
    ('2222222222222222', '2222222222222223'),          -- last byte
    ('22222222222222x2', '2222222222222322'),          -- across the eighth byte
    ('22222222xxxxxxxx', '2222222322222222'),          -- tick-tock before metabyte
    ('f222222222222222', 'e222222222222222'),          -- top bit: bytes are unsigned
    ('xxxxxxxxxxxxxxxx', '2222222222222222')) AS v (a, b);
SELECT '2222222222222222'::sno < NULL AS none;

SELECT snowflake_ids.sno_hash(a) = snowflake_ids.sno_hash(b) AS same, snowflake_ids.sno_hash_extended(a, 0) = snowflake_ids.sno_hash_extended(b, 0) AS same_extended,
       snowflake_ids.sno_hash_extended(a, 1) = snowflake_ids.sno_hash_extended(a, 2) AS seed_ignored,
       snowflake_ids.sno_hash_extended(a, 0)::bit(32) = snowflake_ids.sno_hash(a)::bit(32) AS low_half
FROM (VALUES ('brpk4q72xwf2m63l'::sno, '\x4e6f2160a0ff9a0a1033'::bytea::sno)) AS v (a, b);

--
-- Operator classes
--
SELECT amname, opcname, opcdefault
FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
WHERE opcintype = 'sno'::regtype AND amname IN ('btree', 'hash') ORDER BY 1;

CREATE TABLE events (id sno PRIMARY KEY, n int);
INSERT INTO events SELECT make_sno('2026-01-01'::timestamptz + n * interval '4 ms', n % 256, n % 7, n % 11), n
FROM generate_series(1, 2000) AS n;
ANALYZE events;
INSERT INTO events SELECT id, 0 FROM events LIMIT 1;
SELECT count(*), count(*) FILTER (WHERE id < prev) AS out_of_order
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS prev FROM events) AS t;

-- The btree serves ranges, both directions, bounds and equality.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE id >= 'aaaaaaaaaaaaaaaa' AND id < 'bbbbbbbbbbbbbbbb' ORDER BY id DESC;
EXPLAIN (COSTS OFF) SELECT n FROM events WHERE 'aaaaaaaaaaaaaaaa' = id;
SELECT count(*) FROM events WHERE id > sno_upper_bound('2026-01-01 00:00:01')
    AND id <= sno_upper_bound('2026-01-01 00:00:02');
SELECT n FROM events WHERE id = (SELECT id FROM events WHERE n = 1234);
RESET enable_bitmapscan;
RESET enable_seqscan;

CREATE TABLE hashed AS SELECT * FROM events;
CREATE INDEX ON hashed USING hash (id);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM hashed WHERE id = 'aaaaaaaaaaaaaaaa';
SELECT count(*) FROM events e, LATERAL (SELECT n FROM hashed WHERE id = e.id OFFSET 0) AS h WHERE h.n = e.n;
RESET enable_bitmapscan;
RESET enable_seqscan;
DROP TABLE hashed;

CREATE TABLE again AS SELECT * FROM events;
ANALYZE again;
SET enable_nestloop = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM events JOIN again USING (id);
SELECT count(*) FROM events JOIN again USING (id);
SET enable_hashjoin = off;
SET enable_mergejoin = on;
SELECT count(*) FROM events JOIN again USING (id);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
SET enable_sort = off;
SELECT count(*) FROM (SELECT DISTINCT make_sno('2026-01-01', 0, sno_partition(id), sno_sequence(id), sno_ticktock(id)) FROM events) AS t;
RESET enable_sort;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT DISTINCT make_sno('2026-01-01', 0, sno_partition(id), sno_sequence(id), sno_ticktock(id)) FROM events) AS t;
RESET enable_hashagg;

CREATE TABLE by_time (id sno) PARTITION BY RANGE (id);
CREATE TABLE by_time_1 PARTITION OF by_time FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-01-01 00:00:04'));
CREATE TABLE by_time_2 PARTITION OF by_time FOR VALUES FROM (sno_lower_bound('2026-01-01 00:00:04')) TO (MAXVALUE);
INSERT INTO by_time SELECT id FROM events;
SELECT tableoid::regclass, count(*), min(id::timestamptz), max(id::timestamptz) FROM by_time GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT * FROM by_time WHERE id < sno_lower_bound('2026-01-01 00:00:02');
CREATE TABLE by_hash (id sno) PARTITION BY HASH (id);
CREATE TABLE by_hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_hash SELECT id FROM events;
SELECT tableoid::regclass, count(*) BETWEEN 900 AND 1100 AS about_half FROM by_hash GROUP BY 1 ORDER BY 1;
DROP TABLE by_hash, by_time, again, events;

--
-- Casts: all explicit
--
SELECT 'brpk4q72xwf2m63l'::sno::bytea, 'brpk4q72xwf2m63l'::sno::uuid, 'brpk4q72xwf2m63l'::sno::timestamptz;
SELECT '\x4e6f2160a0ff9a0a1033'::bytea::sno, '6272706b-3471-3732-7877-66326d36336c'::uuid::sno;
SELECT 'brpk4q72xwf2m63l'::sno::text, 'brpk4q72xwf2m63l'::text::sno;
SELECT '\x'::bytea::sno;
\echo :LAST_ERROR_SQLSTATE
SELECT '\x4e6f2160a0ff9a0a10'::bytea::sno;
\echo :LAST_ERROR_SQLSTATE
SELECT 'brpk4q72xwf2m63l'::bytea::sno;
\echo :LAST_ERROR_SQLSTATE
SELECT repeat('x', 100)::bytea::sno;
\echo :LAST_ERROR_SQLSTATE
SELECT '4e6f2160-a0ff-9a0a-1033-000000000000'::uuid::sno;
\echo :LAST_ERROR_SQLSTATE
CREATE TEMP TABLE typed (b bytea, u uuid, t timestamptz, s sno);
INSERT INTO typed (b) SELECT 'brpk4q72xwf2m63l'::sno;
INSERT INTO typed (u) SELECT 'brpk4q72xwf2m63l'::sno;
INSERT INTO typed (t) SELECT 'brpk4q72xwf2m63l'::sno;
INSERT INTO typed (s) SELECT 'brpk4q72xwf2m63l'::text;
INSERT INTO typed (s) SELECT '\x'::bytea;

--
-- Golden values
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, origin text, bin_hex text, text text, unix_ms bigint, iso_utc text, units bigint,
    ticktock int, metabyte int, partition int, sequence int, json text, text_as_uuid uuid, id sno);
\copy golden ("case", origin, bin_hex, text, unix_ms, iso_utc, units, ticktock, metabyte, partition, sequence, json, text_as_uuid) FROM PROGRAM 'grep -v "^#" test/vectors/sno.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
UPDATE golden SET id = text::sno;
\cd :builddir
CREATE TEMP TABLE round_trip (text text, id sno);
\copy (SELECT text, decode(bin_hex, 'hex') FROM golden) TO 'results/sno_type.bin' (FORMAT binary)
\copy round_trip FROM 'results/sno_type.bin' (FORMAT binary)

SELECT count(*) AS rows,
       count(*) FILTER (WHERE id::text IS DISTINCT FROM text) AS text,
       count(*) FILTER (WHERE snowflake_ids.sno_send(id) IS DISTINCT FROM decode(bin_hex, 'hex')) AS send,
       count(*) FILTER (WHERE id::bytea IS DISTINCT FROM decode(bin_hex, 'hex')) AS to_bytea,
       count(*) FILTER (WHERE decode(bin_hex, 'hex')::sno IS DISTINCT FROM id) AS from_bytea,
       count(*) FILTER (WHERE id::uuid IS DISTINCT FROM text_as_uuid) AS to_uuid,
       count(*) FILTER (WHERE text_as_uuid::sno IS DISTINCT FROM id) AS from_uuid
FROM golden;
SELECT count(*) AS rows, count(*) FILTER (WHERE id::text IS DISTINCT FROM text) AS received FROM round_trip;
SELECT count(*) FILTER (WHERE by_id <> by_text) AS text_order, count(*) FILTER (WHERE by_id <> by_bytes) AS byte_order,
       count(*) FILTER (WHERE by_id <> by_uuid) AS uuid_order
FROM (SELECT rank() OVER (ORDER BY id) AS by_id, rank() OVER (ORDER BY text COLLATE "C") AS by_text,
             rank() OVER (ORDER BY bin_hex COLLATE "C") AS by_bytes, rank() OVER (ORDER BY text_as_uuid) AS by_uuid
                 FROM golden) AS t;

-- Inputs to refuse. The reference's Scan() gets text or bytes here; JSON gives its strings as text.
\cd :srcdir
CREATE TEMP TABLE invalid (kind text, why text, input_hex text, input_q text, ref text, ref_detail text, expect text);
\copy invalid FROM PROGRAM 'grep -v "^#" test/vectors/sno_invalid.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
SELECT kind, state, count(*)
FROM (SELECT kind, CASE WHEN kind IN ('text', 'scan_string') THEN text_state(bytes, '%L::sno')
                        WHEN kind = 'json' THEN text_state(bytes, '(%L::json #>> ''{}'')::sno')
                        ELSE bytes_state(bytes, 'sno') END AS state
      FROM (SELECT kind, decode(trim('-' FROM input_hex), 'hex') AS bytes FROM invalid) AS t) AS t
GROUP BY 1, 2 ORDER BY 1, 2;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^sno_(in|out|recv|send|eq|ne|lt|le|gt|ge|cmp|hash|hash_extended|to_.*|from_.*)$'
    AND signature !~ 'timestamp|range'
ORDER BY signature COLLATE "C";
SELECT oprname, oprcode, oprcom::regoperator AS commutator, oprnegate::regoperator AS negator, oprrest AS restrict,
    oprjoin AS join,
       oprcanhash AS hash, oprcanmerge AS merge
FROM pg_operator WHERE oprleft = 'sno'::regtype AND oprright = 'sno'::regtype ORDER BY oprname COLLATE "C";
SELECT format('%s -> %s', castsource::regtype, casttarget::regtype) AS cast, castcontext, castmethod,
       CASE castfunc WHEN 0 THEN NULL ELSE castfunc::regprocedure END AS function
FROM pg_cast WHERE 'sno'::regtype IN (castsource, casttarget) ORDER BY 1;
