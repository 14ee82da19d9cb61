SET timezone = 'UTC';
\getenv srcdir PG_ABS_SRCDIR

-- Everything is compared with the bytes, most significant first.
CREATE CAST (mastic AS bytea) WITH FUNCTION snowflake_ids.mastic_send(mastic);
CREATE TABLE id_data (part text, n integer, id mastic, raw bytea);
INSERT INTO id_data (part, n, raw)
SELECT 'random', n, substr(sha256(n::text::bytea), 1, 8) FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'ties', n, make_mastic('2026-01-01'::timestamptz + n % 5 * interval '1 ms', n % 7) FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'bulk', n, make_mastic('2026-01-01'::timestamptz + n * 7919 % 1000 / 400 * interval '1 ms', n * 7919 % 5000) FROM generate_series(1, 1000) AS n;
-- Around the sign of a bigint
INSERT INTO id_data (part, n, id)
SELECT 'sign', n, make_mastic('6485-10-17 02:45:55.328'::timestamptz + (n * 7919 % 1000 - 500) * interval '1 ms', n % 3) FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'ends', n, (ARRAY['0', '1', '9223372036854775807', '9223372036854775808', '18446744073709551614', '18446744073709551615']::mastic[])[1 + n % 6]
FROM generate_series(1, 600) AS n;
INSERT INTO id_data (part, n, id) SELECT 'null', n, NULL FROM generate_series(1, 10) AS n;
UPDATE id_data SET id = coalesce(id, (('x' || encode(substr(raw, 1, 4), 'hex'))::bit(32)::bigint * 4294967296::numeric + ('x' || encode(substr(raw, 5, 4), 'hex'))::bit(32)::bigint)::mastic), raw = coalesce(raw, snowflake_ids.mastic_send(id));

\set type mastic
\set type_cmp snowflake_ids.mastic_cmp
\set type_smaller snowflake_ids.mastic_smaller
\set type_larger snowflake_ids.mastic_larger
\set type_hash snowflake_ids.mastic_hash
\set type_hash_extended snowflake_ids.mastic_hash_extended
\cd :srcdir
-- sno_index shows the statements.
\set ECHO none
\i sql/include/id_index.psql
DROP CAST (mastic AS bytea);
