SET timezone = 'UTC';
SET datestyle = 'ISO';

--
-- Text and binary
--
SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::gid AS volume, '74ggDzh4TZ-33Abx4UEM2PFE'::gid AS log,
    '8H245M8PNF-3TLyzYaRBqBTC'::gid AS segment;
SELECT snowflake_ids.gid_send('74ggDzh4TZ-33Abx4UEM2PFE'), pg_column_size('74ggDzh4TZ-33Abx4UEM2PFE'::gid);
SELECT typlen, typbyval, typalign, typstorage, typcategory, typispreferred FROM pg_type WHERE typname = 'gid';

SELECT ''::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT '5rMJNeFj0s-2eDkDiPiLuBbS'::gid;
SELECT '5rMJNeFjYs-zzzzzzzzzzzzz'::gid;
SELECT '9rMJNeFjYs-2eDkDiPiLuBbS'::gid;
SELECT '\xa001977420dc00a00f0337bbd1496419'::gid;

\getenv builddir PG_ABS_BUILDDIR
\cd :builddir
CREATE TEMP TABLE received (id gid, log gid(log));
\copy (SELECT '\xa001977420dc00a00f0337bbd1496419'::bytea) TO 'results/gid_type.bin' (FORMAT binary)
\copy received (id) FROM 'results/gid_type.bin' (FORMAT binary)
\copy received (log) FROM 'results/gid_type.bin' (FORMAT binary)
\copy (SELECT '\x8001977420dc0080fa560112f91df425'::bytea) TO 'results/gid_type.bin' (FORMAT binary)
\copy received (log) FROM 'results/gid_type.bin' (FORMAT binary)
\copy (SELECT '\xa001977420dc00a00f0337bbd14964'::bytea) TO 'results/gid_type.bin' (FORMAT binary)
\copy received (id) FROM 'results/gid_type.bin' (FORMAT binary)
\copy (SELECT '\xb001977420dc00a00f0337bbd1496419'::bytea) TO 'results/gid_type.bin' (FORMAT binary)
\copy received (id) FROM 'results/gid_type.bin' (FORMAT binary)
\copy (SELECT '\xa001977420dc00000f0337bbd1496419'::bytea) TO 'results/gid_type.bin' (FORMAT binary)
\copy received (id) FROM 'results/gid_type.bin' (FORMAT binary)
SELECT * FROM received;

--
-- Type modifier: one kind only
--
-- The modifier is written as a word.
CREATE TABLE volumes (id gid(volume), n int);
\d volumes
SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::gid(volume), '74ggDzh4TZ-33Abx4UEM2PFE'::gid(log),
    '8H245M8PNF-3TLyzYaRBqBTC'::gid(segment);
SELECT gid(Volume) '5rMJNeFjYs-2eDkDiPiLuBbS', CAST(NULL AS gid(log));
CREATE TEMP TABLE t (id gid(disk));
\echo :LAST_ERROR_SQLSTATE
CREATE TEMP TABLE t (id gid(volume, log));
\echo :LAST_ERROR_SQLSTATE
CREATE TEMP TABLE t (id gid(1));
CREATE TEMP TABLE t (id gid(NULL));
SELECT format_type('gid'::regtype, m) FROM unnest(ARRAY[-1, 0, 1, 2]) AS m;

\set v '''5rMJNeFjYs-2eDkDiPiLuBbS'''
\set l '''74ggDzh4TZ-33Abx4UEM2PFE'''
CREATE TABLE logs (id gid);
INSERT INTO logs VALUES (:l);
INSERT INTO volumes VALUES (:v, 1);
INSERT INTO volumes VALUES (:l, 2);
INSERT INTO volumes VALUES (:l::gid, 3);
INSERT INTO volumes SELECT id, 4 FROM logs;
INSERT INTO volumes SELECT :l, 4;
UPDATE volumes SET id = (SELECT id FROM logs);
INSERT INTO volumes VALUES (:v, 5) RETURNING id::gid(log);
PREPARE typed (gid) AS INSERT INTO volumes VALUES ($1, 6);
EXECUTE typed(:l);
PREPARE untyped AS INSERT INTO volumes VALUES ($1, 7);
EXECUTE untyped(:l);
MERGE INTO volumes USING logs ON false WHEN NOT MATCHED THEN INSERT VALUES (logs.id, 8);
COPY volumes FROM stdin;
74ggDzh4TZ-33Abx4UEM2PFE	9
\.
\copy (SELECT id, 10 FROM logs) TO 'results/gid_type.bin' (FORMAT binary)
\copy volumes FROM 'results/gid_type.bin' (FORMAT binary)
ALTER TABLE logs ALTER COLUMN id TYPE gid(volume);
ALTER TABLE logs ALTER COLUMN id TYPE gid(log);
ALTER TABLE volumes ALTER COLUMN id SET DEFAULT '74ggDzh4TZ-33Abx4UEM2PFE';
INSERT INTO volumes (n) VALUES (11);
ALTER TABLE volumes ALTER COLUMN id DROP DEFAULT;
DO $$ DECLARE id gid(volume); BEGIN SELECT logs.id INTO id FROM logs; END $$;
CREATE DOMAIN volume AS gid(volume);
SELECT id::volume FROM logs;
SELECT ARRAY[id]::gid(volume)[] FROM logs;
CREATE TYPE pair AS (id gid(volume), n int);
SELECT format('(%s,1)', id)::pair FROM logs;
SELECT (id, 1)::pair FROM logs;
SELECT jsonb_populate_record(NULL::pair, jsonb_build_object('id', id)) FROM logs;
SELECT * FROM jsonb_to_record('{"id": "74ggDzh4TZ-33Abx4UEM2PFE"}') AS t (id gid(volume));
INSERT INTO volumes VALUES (NULL, 12) RETURNING *;
SELECT n, id, gid_kind(id) FROM volumes ORDER BY n;
-- From gid(volume) to gid no row is checked. Views and copies keep the kind.
CREATE TABLE copied AS SELECT id FROM volumes;
CREATE VIEW viewed AS SELECT (SELECT max(id::text) FROM volumes)::gid(volume) AS id,
    '74ggDzh4TZ-33Abx4UEM2PFE'::gid(log) AS log;
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid IN ('copied'::regclass, 'viewed'::regclass, 'volumes'::regclass) AND attnum > 0 AND NOT attisdropped
    ORDER BY 1, 2;
-- The functions behind it, with arguments that catalogs never hold.
SELECT snowflake_ids.gid(:v, 3, true);
SELECT snowflake_ids.gid(:v, -2, true);
SELECT snowflake_ids.gid_in(:v, 0, 2147483647);
SELECT snowflake_ids.gid_typmod_out(3);
SELECT snowflake_ids.gid(:l::gid, -1, true), snowflake_ids.gid(:l::gid, 1, false), snowflake_ids.gid(NULL, 1, false);
DROP VIEW viewed;
DROP TABLE copied, volumes, logs;
DROP TYPE pair;
DROP DOMAIN volume;

--
-- Comparison: the order of the bytes, so kind first
--
SELECT a, b, a < b AS lt, a <= b AS le, a = b AS eq, a <> b AS ne, a >= b AS ge, a > b AS gt, sign(snowflake_ids.gid_cmp(a, b)) AS cmp
FROM (VALUES
    (gid_empty('volume'), gid_empty('volume')),
    (make_gid('volume', '2026-01-01', '\x0000000000000001'), make_gid('volume', '2026-01-01', '\x0000000000000002')),
    (make_gid('volume', '2026-01-01', '\xffffffffffffffff'),
        make_gid('volume', '2026-01-01 00:00:00.001', '\x0000000000000000')),
    (make_gid('volume', '2026-01-01', '\x7fffffffffffffff'), make_gid('volume', '2026-01-01', '\x8000000000000000')),
    (make_gid('segment', '1970-01-01', '\x0000000000000000'), make_gid('log', '9999-01-01', '\x0000000000000000')))
        AS v (a, b);
SELECT snowflake_ids.gid_hash(a) = snowflake_ids.gid_hash(b) AS same, snowflake_ids.gid_hash_extended(a, 0) = snowflake_ids.gid_hash_extended(b, 0) AS same_extended,
       snowflake_ids.gid_hash_extended(a, 1) = snowflake_ids.gid_hash_extended(a, 2) AS seed_ignored,
       snowflake_ids.gid_hash_extended(a, 0)::bit(32) = snowflake_ids.gid_hash(a)::bit(32) AS low_half
FROM (VALUES (:v::gid, '\x8001977420dc0080fa560112f91df425'::bytea::gid)) AS v (a, b);

--
-- Operator classes
--
SELECT amname, opcname, opcdefault, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
WHERE opcintype = 'gid'::regtype AND amname IN ('btree', 'hash') ORDER BY 1;

CREATE TABLE segments (id gid(segment) PRIMARY KEY, n int);
INSERT INTO segments SELECT make_gid('segment', '2026-01-01'::timestamptz + n * interval '1 ms', int8send(n)), n
FROM generate_series(1, 2000) AS n;
ANALYZE segments;
INSERT INTO segments SELECT id, 0 FROM segments LIMIT 1;
SELECT count(*), count(*) FILTER (WHERE id < prev) AS out_of_order
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS prev FROM segments) AS t;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM segments WHERE id >= gid_lower_bound('segment', '2026-01-01 00:00:01')
    ORDER BY id DESC;
SELECT count(*) FROM segments
WHERE id >= gid_lower_bound('segment', '2026-01-01 00:00:01')
    AND id <= gid_upper_bound('segment', '2026-01-01 00:00:01.5');
RESET enable_bitmapscan;
RESET enable_seqscan;
CREATE TABLE again AS SELECT * FROM segments;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*) FROM segments JOIN again USING (id);
SET enable_hashjoin = off;
SET enable_mergejoin = on;
SELECT count(*) FROM segments JOIN again USING (id);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
CREATE TABLE by_hash (id gid) PARTITION BY HASH (id);
CREATE TABLE by_hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_hash SELECT id FROM segments;
SELECT tableoid::regclass, count(*) BETWEEN 900 AND 1100 AS about_half FROM by_hash GROUP BY 1 ORDER BY 1;
CREATE INDEX ON by_hash USING hash (id);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM by_hash_0 WHERE id = '8H245M8PNF-3TLyzYaRBqBTC';
SELECT count(*) FROM segments s, LATERAL (SELECT FROM by_hash WHERE id = s.id OFFSET 0) AS h;
RESET enable_bitmapscan;
RESET enable_seqscan;
DROP TABLE by_hash, again, segments;

--
-- Casts: all explicit
--
SELECT :v::gid::bytea, :v::gid::uuid, :v::gid::timestamptz;
SELECT '\x8001977420dc0080fa560112f91df425'::bytea::gid, '8001977420dc0080fa560112f91df425'::uuid::gid(volume),
    :v::text::gid;
SELECT '\x80'::bytea::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT '\x0001977420dc0080fa560112f91df425'::bytea::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT '\x8001977420dc004e900abb53e6b70fff'::bytea::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT '00000000-0000-0000-0000-000000000000'::uuid::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT '80019774-20dc-0000-fa56-0112f91df425'::uuid::gid;
\echo :LAST_ERROR_SQLSTATE
SELECT '80019774-20dc-0080-fa56-0112f91df425'::uuid::gid(log);
\echo :LAST_ERROR_SQLSTATE
-- The smallest random part that prints is 58^12.
SELECT '\x8001977420dc004e900abb53e6b71000'::bytea::gid;
CREATE TEMP TABLE typed (b bytea, u uuid, t timestamptz, g gid);
INSERT INTO typed (b) SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::gid;
INSERT INTO typed (u) SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::gid;
INSERT INTO typed (t) SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::gid;
INSERT INTO typed (g) SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::text;
INSERT INTO typed (g) SELECT '80019774-20dc-0080-fa56-0112f91df425'::uuid;

--
-- Golden values, and values that graft reads but never writes
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, origin text, type text, prefix_hex text, bin_hex text, uuid uuid, text text,
    short text,
    unix_ms bigint, iso_utc text, byte7_hex text, byte7_class text, random9_hex text, random8_hex text, json text);
\copy golden FROM PROGRAM 'grep -v "^#" test/vectors/gid.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
\copy golden FROM PROGRAM 'grep -v "^#" test/vectors/gid_lenient.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
ALTER TABLE golden ADD id gid;
UPDATE golden SET id = text::gid;
\cd :builddir
CREATE TEMP TABLE round_trip (text text, id gid);
\copy (SELECT text, decode(bin_hex, 'hex') FROM golden) TO 'results/gid_type.bin' (FORMAT binary)
\copy round_trip FROM 'results/gid_type.bin' (FORMAT binary)
SELECT count(*) AS rows,
       count(*) FILTER (WHERE id::text IS DISTINCT FROM text) AS text,
       count(*) FILTER (WHERE snowflake_ids.gid_send(id) IS DISTINCT FROM decode(bin_hex, 'hex')) AS send,
       count(*) FILTER (WHERE id::bytea IS DISTINCT FROM decode(bin_hex, 'hex')) AS to_bytea,
       count(*) FILTER (WHERE decode(bin_hex, 'hex')::gid IS DISTINCT FROM id) AS from_bytea,
       count(*) FILTER (WHERE id::uuid IS DISTINCT FROM uuid) AS to_uuid,
       count(*) FILTER (WHERE uuid::gid IS DISTINCT FROM id) AS from_uuid,
       count(*) FILTER (WHERE to_json(id)::text IS DISTINCT FROM json) AS json
FROM golden;
SELECT count(*) AS rows, count(*) FILTER (WHERE id::text IS DISTINCT FROM text) AS received FROM round_trip;
SELECT count(*) FILTER (WHERE by_id <> by_text) AS text_order, count(*) FILTER (WHERE by_id <> by_uuid) AS uuid_order
FROM (SELECT rank() OVER (ORDER BY id) AS by_id, rank() OVER (ORDER BY text COLLATE "C") AS by_text,
             rank() OVER (ORDER BY uuid) AS by_uuid FROM golden) AS t;
SELECT type, count(*), count(*) FILTER (WHERE as_volume = 'accepted') AS volume,
    count(*) FILTER (WHERE as_log = 'accepted') AS log,
       count(*) FILTER (WHERE as_segment = 'accepted') AS segment, array_agg(DISTINCT as_log) AS as_log
FROM (SELECT type, bytes_state(bin, 'gid(volume)') AS as_volume, bytes_state(bin, 'gid(log)') AS as_log,
             text_state(convert_to(text, 'UTF8'), '%L::gid(segment)') AS as_segment
      FROM (SELECT type, text, decode(bin_hex, 'hex') AS bin FROM golden) AS t) AS t
GROUP BY 1 ORDER BY 1;

-- Inputs to refuse. What one type of the reference accepts is a kind of gid here.
\cd :srcdir
CREATE TEMP TABLE invalid (kind text, why text, input_hex text, input_q text, ref_volume text, ref_log text,
    ref_segment text, expect text);
\copy invalid FROM PROGRAM 'grep -v "^#" test/vectors/gid_invalid.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
CREATE TEMP TABLE outcome AS
SELECT kind, why, expect, m AS modifier,
       CASE kind WHEN 'text' THEN text_state(bytes, '%L::gid' || m)
                 WHEN 'json' THEN text_state(bytes, '(%L::json #>> ''{}'')::gid' || m)
                 ELSE bytes_state(bytes, 'gid' || m) END AS state
FROM (SELECT *, decode(trim('-' FROM input_hex), 'hex') AS bytes FROM invalid) AS t,
     unnest(ARRAY['', '(volume)', '(log)', '(segment)']) AS m;
SELECT kind, expect, state, count(*) FROM outcome WHERE expect = 'reject' AND state <> 'accepted' AND modifier = ''
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT kind, expect, modifier, state FROM outcome WHERE expect <> 'reject' ORDER BY 1, 2, 3;
-- JSON null is SQL null, and escapes in JSON strings mean nothing here.
SELECT kind, why, modifier FROM outcome WHERE expect = 'reject' AND state = 'accepted' ORDER BY 1, 2, 3;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^gid(|_(in|out|recv|send|typmod_in|typmod_out|eq|ne|lt|le|gt|ge|cmp|hash|hash_extended|to_.*|from_.*))$'
    AND signature !~ 'timestamp|range'
ORDER BY signature COLLATE "C";
SELECT oprname, oprcode, oprcom::regoperator AS commutator, oprnegate::regoperator AS negator, oprrest AS restrict,
    oprjoin AS join,
       oprcanhash AS hash, oprcanmerge AS merge
FROM pg_operator WHERE oprleft = 'gid'::regtype AND oprright = 'gid'::regtype ORDER BY oprname COLLATE "C";
SELECT format('%s -> %s', castsource::regtype, casttarget::regtype) AS cast, castcontext, castmethod,
       CASE castfunc WHEN 0 THEN NULL ELSE castfunc::regprocedure END AS function
FROM pg_cast WHERE 'gid'::regtype IN (castsource, casttarget) ORDER BY 1;
