SET timezone = 'UTC';
\getenv srcdir PG_ABS_SRCDIR

-- "far": beyond 2248, where the sort's keys have another form. "abort": the sort gives up abbreviated keys, which it
-- considers after 10,000 rows, because all are equal.
CREATE TABLE id_data (part text, n integer, id gid, raw bytea);
CREATE FUNCTION kind_of(n integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT (ARRAY['volume', 'log', 'segment'])[n % 3 + 1] $$;
INSERT INTO id_data (part, n, id)
SELECT 'random', n, make_gid(kind_of(n), '2026-01-01'::timestamptz + n * 7919 % 15000 * interval '1 hour',
    substr(sha256(n::text::bytea), 1, 8))
FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'ties', n, make_gid(kind_of(n), '2026-01-01'::timestamptz + n % 5 * interval '1 ms',
    decode('0' || n % 7 || repeat('00', 7), 'hex'))
FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'bulk', n, make_gid('log', '2026-01-01'::timestamptz + n * 7919 % 1000 / 400 * interval '1 ms',
    substr(sha256(n::text::bytea), 1, 8))
FROM generate_series(1, 1000) AS n;
-- Any byte 7: as graft writes it, below and above the prefix.
INSERT INTO id_data (part, n, raw)
SELECT 'byte 7', n, set_byte(substr(snowflake_ids.gid_send(make_gid(kind_of(n), '2026-01-01'::timestamptz + n % 4 * interval '1 ms',
    '\x0000000000000000')), 1, 8),
                             7, 79 + n * 7919 % 177) || substr(sha256((n % 999)::text::bytea), 1, 8)
FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'far', n, make_gid(kind_of(n), to_timestamp(8796093022 + n * 7919 % 15000 / 10000.0),
    substr(sha256(n::text::bytea), 1, 8))
FROM generate_series(1, 1000) AS n;
INSERT INTO id_data (part, n, id)
SELECT 'abort', n, make_gid('volume', '2026-01-01', decode('0000' || lpad(to_hex(n * 7919 % 15000), 12, '0'), 'hex'))
FROM generate_series(1, 11000) AS n;
INSERT INTO id_data (part, n, id) SELECT 'null', n, NULL FROM generate_series(1, 10) AS n;
UPDATE id_data SET id = coalesce(id, raw::gid), raw = coalesce(raw, id::bytea);
DROP FUNCTION kind_of;

-- Everything is compared with the order of the bytes.
\set type gid
\set type_cmp snowflake_ids.gid_cmp
\set type_smaller snowflake_ids.gid_smaller
\set type_larger snowflake_ids.gid_larger
\set type_hash snowflake_ids.gid_hash
\set type_hash_extended snowflake_ids.gid_hash_extended
\cd :srcdir
-- sno_index shows the statements.
\set ECHO none
\i sql/include/id_index.psql
