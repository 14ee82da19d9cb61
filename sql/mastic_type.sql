SET timezone = 'UTC';
SET datestyle = 'ISO';

--
-- Text and binary
--
SELECT '116301527915219032'::mastic, '0'::mastic AS zero, '18446744073709551615'::mastic AS max, '+7'::mastic AS plus, '007'::mastic AS zeros;
SELECT snowflake_ids.mastic_send('116301527915219032'), pg_column_size('116301527915219032'::mastic);
SELECT typname, typlen, typbyval, typalign, typstorage, typcategory, typispreferred FROM pg_type WHERE typname IN ('mastic', 'int8') ORDER BY 1;

SELECT ''::mastic;
\echo :LAST_ERROR_SQLSTATE
SELECT '18446744073709551616'::mastic;
\echo :LAST_ERROR_SQLSTATE
SELECT '2026-01-01'::mastic;

-- COPY sends a bytea of any length, and mastic_recv gets it.
\getenv builddir PG_ABS_BUILDDIR
\cd :builddir
CREATE TEMP TABLE received (id mastic);
\copy (SELECT '\x019d2f7a6c58d0a8'::bytea) TO 'results/mastic_type.bin' (FORMAT binary)
\copy received FROM 'results/mastic_type.bin' (FORMAT binary)
\copy (SELECT (-1)::bigint) TO 'results/mastic_type.bin' (FORMAT binary)
\copy received FROM 'results/mastic_type.bin' (FORMAT binary)
\copy (SELECT '\x019d2f7a6c58d0'::bytea) TO 'results/mastic_type.bin' (FORMAT binary)
\copy received FROM 'results/mastic_type.bin' (FORMAT binary)
\copy (SELECT '\x019d2f7a6c58d0a800'::bytea) TO 'results/mastic_type.bin' (FORMAT binary)
\copy received FROM 'results/mastic_type.bin' (FORMAT binary)
\copy (SELECT ''::bytea) TO 'results/mastic_type.bin' (FORMAT binary)
\copy received FROM 'results/mastic_type.bin' (FORMAT binary)
SELECT * FROM received;

--
-- Comparison: unsigned
--
SELECT a, b, a < b AS lt, a <= b AS le, a = b AS eq, a <> b AS ne, a >= b AS ge, a > b AS gt, snowflake_ids.mastic_cmp(a, b) AS cmp
FROM (VALUES
    ('0'::mastic, '0'::mastic),
    ('0', '1'),
    ('9223372036854775807', '9223372036854775808'),    -- the sign of a bigint
    ('18446744073709551615', '9223372036854775807'),
    ('18446744073709551615', '0')) AS v (a, b);
SELECT '0'::mastic < NULL AS none;

SELECT count(*) AS pairs,
       count(*) FILTER (WHERE (snowflake_ids.mastic_hash(a) = snowflake_ids.mastic_hash(b)) < (a = b) OR (snowflake_ids.mastic_hash_extended(a, 7) = snowflake_ids.mastic_hash_extended(b, 7)) < (a = b)) AS differ
FROM unnest('{0, 1, 9223372036854775807, 9223372036854775808, 18446744073709551615}'::mastic[]) AS a,
     unnest('{0, 1, 9223372036854775807, 9223372036854775808, 18446744073709551615}'::mastic[]) AS b;
SELECT snowflake_ids.mastic_hash_extended(m, 0)::bit(32) = snowflake_ids.mastic_hash(m)::bit(32) AS low_half, snowflake_ids.mastic_hash_extended(m, 1) = snowflake_ids.mastic_hash_extended(m, 2) AS seed_ignored FROM (SELECT mastic '5' AS m) AS x;

--
-- Casts keep the number. Only bigint to mastic is implicit; smaller integers and the way back are assignments.
--
SELECT 5::smallint::mastic, 5::mastic, 5::bigint::mastic, 9223372036854775807::mastic;
SELECT (-1)::smallint::mastic;
\echo :LAST_ERROR_SQLSTATE
SELECT (-1)::mastic;
SELECT (-1)::bigint::mastic;
SELECT '18446744073709551615'::mastic::bigint;
\echo :LAST_ERROR_SQLSTATE
SELECT '5'::mastic::bigint, '9223372036854775807'::mastic::bigint, '116301527915219032'::mastic::timestamptz;
SELECT '5'::mastic::text, '18446744073709551615'::text::mastic, '18446744073709551615'::mastic::numeric, 18446744073709551615::mastic,
       1.5::mastic AS rounded, 18446744073709551615.4::mastic AS rounded_down, (-0.4)::mastic AS rounded_up;
SELECT (-1.0)::mastic;
SELECT 18446744073709551615.5::mastic;
SELECT 18446744073709551616::mastic;
SELECT 'NaN'::numeric::mastic;
\echo :LAST_ERROR_SQLSTATE
SELECT '-Infinity'::numeric::mastic;
\echo :LAST_ERROR_SQLSTATE
SELECT 1e30::mastic;
SELECT 5::mastic::int4;
SELECT 5::mastic::int2;
SELECT 5::float8::mastic;
CREATE TEMP TABLE typed (i int, b bigint, n numeric, t timestamptz, v text, m mastic);
INSERT INTO typed (i) SELECT '5'::mastic;
INSERT INTO typed (b) SELECT '5'::mastic;
INSERT INTO typed (n) SELECT '5'::mastic;
INSERT INTO typed (t) SELECT '5'::mastic;
INSERT INTO typed (v) SELECT '5'::mastic;
INSERT INTO typed (m) SELECT 5;
INSERT INTO typed (m) SELECT 5::bigint;
INSERT INTO typed (m) SELECT '5'::text;
INSERT INTO typed (m) SELECT 5.0;
TABLE typed;
CREATE TEMP TABLE as_bigint (id bigint DEFAULT gen_mastic(), made bigint GENERATED ALWAYS AS (make_mastic('2026-06-01 00:00:00+00', 7)) STORED);
INSERT INTO as_bigint DEFAULT VALUES RETURNING id > 0 AS id, made;

--
-- JSON has a string, which JavaScript does not round
--
CREATE TEMP TABLE status (id mastic, up mastic[], note text);
INSERT INTO status VALUES ('18446744073709551615', '{1,116301527915219032}', 'a'), ('116301527915219032', NULL, 'b');
SELECT to_json(id), to_jsonb(id), json_build_object('id', id) FROM status;
SELECT row_to_json(status), to_jsonb(status) FROM status;
SELECT json_agg(id), jsonb_agg(id), jsonb_object_agg(id, note), json_agg(status) FROM status;
SELECT jsonb_populate_recordset(NULL::status, jsonb_agg(status)) FROM status;
SELECT * FROM jsonb_to_record('{"id": 18446744073709551615, "up": ["7", 8]}') AS r (id mastic, up mastic[]);
SELECT (jsonb_agg(status) @? '$[*] ? (@.id == "18446744073709551615")') AS found FROM status;

--
-- Golden values
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, text text, id_hex text, signed bigint, unix_ms bigint, iso_utc text, ts bigint, sequence int);
\copy golden FROM PROGRAM 'grep -v "^#" test/vectors/mastic.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
ALTER TABLE golden ADD id mastic;
UPDATE golden SET id = text::mastic;
\cd :builddir
CREATE TEMP TABLE round_trip (text text, id mastic);
\copy (SELECT text, decode(id_hex, 'hex') FROM golden) TO 'results/mastic_type.bin' (FORMAT binary)
\copy round_trip FROM 'results/mastic_type.bin' (FORMAT binary)
SELECT count(*) AS rows,
       count(*) FILTER (WHERE id::text IS DISTINCT FROM text) AS text,
       count(*) FILTER (WHERE snowflake_ids.mastic_send(id) IS DISTINCT FROM decode(id_hex, 'hex')) AS send,
       count(*) FILTER (WHERE CASE WHEN signed >= 0 THEN id::bigint IS DISTINCT FROM signed OR signed::mastic IS DISTINCT FROM id END) AS bigint,
       count(*) FILTER (WHERE id::numeric IS DISTINCT FROM text::numeric OR text::numeric::mastic IS DISTINCT FROM id) AS numeric
FROM golden;
SELECT count(*) AS rows, count(*) FILTER (WHERE id::text IS DISTINCT FROM text) AS received FROM round_trip;
SELECT count(*) FILTER (WHERE by_id <> by_number) AS number_order, count(*) FILTER (WHERE by_id <> by_bytes) AS byte_order
FROM (SELECT rank() OVER (ORDER BY id) AS by_id, rank() OVER (ORDER BY text::numeric) AS by_number,
             rank() OVER (ORDER BY id_hex COLLATE "C") AS by_bytes FROM golden) AS t;

-- As in the reference, a leading plus and leading zeros are read.
\cd :srcdir
CREATE TEMP TABLE invalid (why text, input_hex text, input_q text, ref text, detail text, expect text);
\copy invalid FROM PROGRAM 'grep -v "^#" test/vectors/mastic_invalid.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
SELECT expect, state, count(*)
FROM (SELECT expect, text_state(decode(trim('-' FROM input_hex), 'hex'), '%L::mastic') AS state FROM invalid) AS t
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT why, state FROM (SELECT why, text_state(decode(trim('-' FROM input_hex), 'hex'), '%L::mastic') AS state FROM invalid) AS t
WHERE state NOT IN ('22P02', 'accepted') ORDER BY 1;
SELECT count(*) AS accepted, count(*) FILTER (WHERE convert_from(decode(input_hex, 'hex'), 'UTF8')::mastic::text <> detail) AS mismatches
FROM invalid WHERE expect = 'decide';

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^mastic_(in|out|recv|send|eq|ne|lt|le|gt|ge|cmp|hash|hash_extended|to_.*|from_.*)$' AND signature !~ 'timestamp|range|times'
ORDER BY signature COLLATE "C";
SELECT oprname, oprcode, oprcom::regoperator AS commutator, oprnegate::regoperator AS negator, oprrest AS restrict, oprjoin AS join,
       oprcanhash AS hash, oprcanmerge AS merge
FROM pg_operator WHERE oprleft = 'mastic'::regtype AND oprright = 'mastic'::regtype ORDER BY oprname COLLATE "C";
SELECT format('%s -> %s', castsource::regtype, casttarget::regtype) AS cast, castcontext, castmethod,
       CASE castfunc WHEN 0 THEN NULL ELSE castfunc::regprocedure END AS function
FROM pg_cast WHERE 'mastic'::regtype IN (castsource, casttarget) ORDER BY 1;
-- No cast from bytes exists, so no hint.
SELECT '\x00ff'::mastic;
