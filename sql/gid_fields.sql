SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT (gid_decode(id)).*, gid_short(id), gid_is_empty(id)
FROM (VALUES ('5rMJNeFjYs-2eDkDiPiLuBbS'::gid), ('74ggDzh4TZ-33Abx4UEM2PFE'), ('8H245M8PNF-3TLyzYaRBqBTC')) AS v (id);
SELECT gid_timestamp(id), gid_kind(id), gid_random(id)
FROM (VALUES ('74ggDzh4TZ-33Abx4UEM2PFE'::gid(log)), (NULL)) AS v (id);

-- The empty gid of each kind has 0x80 in byte 7; a composed one repeats its prefix there.
SELECT kind, gid_empty(kind), gid_empty(kind)::bytea, gid_is_empty(gid_empty(kind)), made::bytea, gid_is_empty(made)
FROM unnest(ARRAY['volume', 'log', 'segment']) AS kind, make_gid(kind, '1970-01-01', '\x0000000000000000') AS made;

--
-- Composing
--
SELECT make_gid('log', '2025-06-15 15:23:56.672', '\x0f0337bbd1496419'),
       make_gid(kind => 'log', created => '2025-06-15 15:23:56.672999', random => '\x0f0337bbd1496419')::gid(log);
SELECT make_gid('Volume', '2026-01-01', '\x0000000000000000');
\echo :LAST_ERROR_SQLSTATE
SELECT make_gid('', '2026-01-01', '\x0000000000000000');
SELECT make_gid('volum', '2026-01-01', '\x0000000000000000');
SELECT make_gid('log', '1969-12-31 23:59:59.999999', '\x0000000000000000');
\echo :LAST_ERROR_SQLSTATE
SELECT make_gid('log', '10889-08-02 05:31:50.656', '\x0000000000000000');
SELECT make_gid('log', '-infinity', '\x0000000000000000');
SELECT make_gid('log', 'infinity', '\x0000000000000000');
SELECT make_gid('log', '2026-01-01', '');
\echo :LAST_ERROR_SQLSTATE
SELECT make_gid('log', '2026-01-01', '\x00000000000000');
\echo :LAST_ERROR_SQLSTATE
SELECT make_gid('log', '2026-01-01', '\x000000000000000000');
SELECT make_gid('log', '10889-08-02 05:31:50.655999', '\xffffffffffffffff');
SELECT gid_empty('LOG');

--
-- Bounds
--
SELECT kind, t, lower, upper, upper::timestamptz AS upper_time, lower::bytea AS lower_bytes
FROM (SELECT kind, t, gid_lower_bound(kind, t) AS lower, gid_upper_bound(kind, t) AS upper
      FROM unnest(ARRAY['volume', 'log', 'segment']) AS kind,
           unnest(ARRAY['1970-01-01', '2026-06-01 12:00:00.0005', '10889-08-02 05:31:50.655']::timestamptz[]) AS t)
               AS b;
SELECT t, gid_lower_bound('log', t) FROM unnest(ARRAY['-infinity', '1969-12-31 23:59:59.999999']::timestamptz[]) AS t;
SELECT t, gid_upper_bound('log', t) FROM unnest(ARRAY['10889-08-02 05:31:50.656', 'infinity']::timestamptz[]) AS t;
SELECT gid_lower_bound('log', '10889-08-02 05:31:50.655001');
SELECT gid_lower_bound('log', 'infinity');
SELECT gid_upper_bound('log', '1969-12-31 23:59:59.999999');
SELECT gid_upper_bound('log', '-infinity');
SELECT gid_lower_bound('disk', 'now');
SELECT gid_upper_bound('disk', 'infinity');

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
UPDATE golden SET id = decode(bin_hex, 'hex')::gid;
SELECT count(*) AS rows,
       count(*) FILTER (WHERE d.kind IS DISTINCT FROM type) AS kind,
       count(*) FILTER (WHERE d.created IS DISTINCT FROM iso_utc::timestamptz) AS created,
       count(*) FILTER (WHERE extract(epoch FROM d.created) * 1000 IS DISTINCT FROM unix_ms) AS unix_ms,
       count(*) FILTER (WHERE d.random IS DISTINCT FROM decode(random8_hex, 'hex')) AS random,
       count(*) FILTER (WHERE gid_short(id) IS DISTINCT FROM short) AS short,
       count(*) FILTER (WHERE (d.kind, d.created, d.random) IS DISTINCT
           FROM (gid_kind(id), gid_timestamp(id), gid_random(id))) AS fields,
       count(*) FILTER (WHERE id::timestamptz IS DISTINCT FROM d.created) AS cast,
       count(*) FILTER (WHERE gid_is_empty(id) IS DISTINCT FROM (id = gid_empty(type))) AS is_empty
FROM golden g, gid_decode(id) AS d;
-- Only ids with the prefix in byte 7 can be composed again.
SELECT byte7_class, count(*), count(*) FILTER (WHERE make_gid(d.kind, d.created, d.random) = id) AS same,
       count(*) FILTER (WHERE make_gid(d.kind, d.created + interval '999 us', d.random) = id) AS same_late,
       count(*) FILTER (WHERE gid_is_empty(id)) AS empty
FROM golden g, gid_decode(id) AS d GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE NOT id BETWEEN gid_lower_bound(kind, t) AND gid_upper_bound(kind, t)) AS between,
       count(*) FILTER (WHERE gid_kind(lower) <> kind OR gid_timestamp(lower) <> t) AS lower,
       count(*) FILTER (WHERE gid_kind(upper) <> kind OR gid_timestamp(upper) <> t) AS upper,
       count(*) FILTER (WHERE gid_upper_bound(kind, t + interval '999 us') <> upper) AS upper_late,
       count(*) FILTER (WHERE unix_ms < 281474976710655
                        AND gid_lower_bound(kind, t + interval '1 us') <> gid_lower_bound(kind, t + interval '1 ms'))
                            AS lower_late,
       count(*) FILTER (WHERE unix_ms > 0
                        AND gid_upper_bound(kind, t - interval '1 us') <> gid_upper_bound(kind, t - interval '1 ms'))
                            AS upper_early
FROM (SELECT id, kind, t, unix_ms, gid_lower_bound(kind, t) AS lower, gid_upper_bound(kind, t) AS upper
      FROM (SELECT id, gid_kind(id) AS kind, id::timestamptz AS t, unix_ms FROM golden) AS g) AS g;

CREATE TEMP TABLE pages (id gid(segment) PRIMARY KEY,
    created timestamptz GENERATED ALWAYS AS (gid_timestamp(id)) STORED);
CREATE INDEX ON pages (gid_short(id));
INSERT INTO pages VALUES ('8H245M8PNF-3TLyzYaRBqBTC') RETURNING *;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(make_gid|gid_(timestamp|kind|random|short|empty|is_empty|decode|(lower|upper)_bound))$'
ORDER BY signature COLLATE "C";
