SET timezone = 'UTC';
\getenv srcdir PG_ABS_SRCDIR

-- "abort": the sort gives up abbreviated keys, which it considers after 10,000 rows, because all but the first are
-- equal.
-- Also any bytes, with ties; ids of bulk inserts; fields at their ends; NULL.
CREATE TABLE id_data (part text, n integer, id sno, raw bytea);
INSERT INTO id_data (part, n, raw)
SELECT 'random', n, substr(sha256(n::text::bytea), 1, 10) FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'ties', n, make_sno('2026-01-01'::timestamptz + n % 5 * interval '4 ms', n % 3, n % 2, n % 7)
    FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'bulk', n, make_sno('2026-01-01'::timestamptz + n * 7919 % 1000 / 400 * interval '4 ms', 0, 40000 + n % 3,
    n * 7919 % 5000)
FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'fields', n, make_sno('2026-01-01'::timestamptz + b[1] % 3 * interval '4 ms',
    (ARRAY[0, 1, 7, 255])[b[2] % 4 + 1],
    (ARRAY[0, 1, 63, 64, 127, 128, 129, 8191, 8192, 8193, 20000, 65407, 65408, 65535])[b[3] % 14 + 1],
        (ARRAY[0, 1, 2, 3, 4, 65535])[b[4] % 6 + 1], b[5] % 2)
FROM generate_series(1, 1000) AS n, LATERAL (SELECT ARRAY(SELECT get_byte(md5(n::text)::bytea,
    i) * 251 + get_byte(md5('x' || n)::bytea, i) FROM generate_series(1, 5) AS i)) AS t (b);
INSERT INTO id_data (part, n, id)
SELECT 'abort', n, make_sno('2026-01-01', 0, CASE n WHEN 1 THEN 5 ELSE 50000 END, n * 7919 % 65536)
    FROM generate_series(1, 11000) AS n;
INSERT INTO id_data (part, n, id) SELECT 'null', n, NULL FROM generate_series(1, 10) AS n;
UPDATE id_data SET id = coalesce(id, raw::sno), raw = coalesce(raw, id::bytea);

-- Everything is compared with the order of the bytes.
\set type sno
\set type_cmp snowflake_ids.sno_cmp
\set type_smaller snowflake_ids.sno_smaller
\set type_larger snowflake_ids.sno_larger
\set type_hash snowflake_ids.sno_hash
\set type_hash_extended snowflake_ids.sno_hash_extended
\cd :srcdir
\i sql/include/id_index.psql
