SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT * FROM sno_decode('brpk4q72xwf2m63l');
SELECT (sno_decode(id)).*, id FROM (VALUES ('2222222222222222'::sno), ('xxxxxxxxxxxxxxxx'), ('aaaaaaaa55aaaaaa'))
    AS v (id);
SELECT sno_timestamp(id), sno_ticktock(id), sno_metabyte(id), sno_partition(id), sno_sequence(id)
FROM (VALUES ('brpk4q72xwf2m63l'::sno), (NULL)) AS v (id);

--
-- Composing
--
SELECT make_sno('2031-05-08 23:03:34.976+00', 255, 39434, 4147),
       make_sno(created => '2031-05-08 23:03:34.976+00', metabyte => 255, partition => 39434, sequence => 4147,
           ticktock => 1);
-- A time belongs to its 4 ms unit, also before 2010.
SELECT t, sno_timestamp(make_sno(t, 0, 0, 0)) FROM unnest(ARRAY['2010-01-01 00:00:00', '2010-01-01 00:00:00.003999',
    '2010-01-01 00:00:00.004', '2026-06-01 12:00:00.001', '2079-09-07 15:47:35.551999']::timestamptz[]) AS t;
SELECT make_sno('2009-12-31 23:59:59.999999', 0, 0, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_sno('2079-09-07 15:47:35.552', 0, 0, 0);
SELECT make_sno('infinity', 0, 0, 0);
SELECT make_sno('-infinity', 0, 0, 0);
SELECT make_sno('4713-11-24 BC', 0, 0, 0);
SELECT make_sno('294276-12-31', 0, 0, 0);
SELECT make_sno('2026-01-01', -1, 0, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_sno('2026-01-01', 256, 0, 0);
SELECT make_sno('2026-01-01', 0, -1, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_sno('2026-01-01', 0, 65536, 0);
SELECT make_sno('2026-01-01', 0, 0, -2147483648);
\echo :LAST_ERROR_SQLSTATE
SELECT make_sno('2026-01-01', 0, 0, 65536);
SELECT make_sno('2026-01-01', 0, 0, 0, 2);
\echo :LAST_ERROR_SQLSTATE
SELECT make_sno('2026-01-01', 0, 0, 0, -1);
SELECT make_sno(NULL, 0, 0, 0);

--
-- Bounds
--
SELECT t, lower, lower::timestamptz AS lower_time, upper, upper::timestamptz AS upper_time
FROM (SELECT t, sno_lower_bound(t) AS lower, sno_upper_bound(t) AS upper
      FROM unnest(ARRAY['2010-01-01', '2010-01-01 00:00:00.000001', '2010-01-01 00:00:00.003999',
          '2010-01-01 00:00:00.004',
          '2026-06-01 12:00:00.005', '2079-09-07 15:47:35.548']::timestamptz[]) AS t) AS b;
-- Beyond the range: the first or last id if one exists, otherwise an error.
SELECT t, sno_lower_bound(t) FROM unnest(ARRAY['-infinity', '4713-11-24 BC',
    '2009-12-31 23:59:59.999999']::timestamptz[]) AS t;
SELECT t, sno_upper_bound(t) FROM unnest(ARRAY['2079-09-07 15:47:35.552', '294276-12-31', 'infinity']::timestamptz[])
    AS t;
SELECT sno_lower_bound('2079-09-07 15:47:35.548001');
SELECT sno_lower_bound('infinity');
SELECT sno_upper_bound('2009-12-31 23:59:59.999999');
SELECT sno_upper_bound('-infinity');

--
-- Golden values
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, origin text, bin_hex text, text text, unix_ms bigint, iso_utc text, units bigint,
    ticktock int, metabyte int, partition int, sequence int, json text, text_as_uuid uuid, id sno);
\copy golden ("case", origin, bin_hex, text, unix_ms, iso_utc, units, ticktock, metabyte, partition, sequence, json, text_as_uuid) FROM PROGRAM 'grep -v "^#" test/vectors/sno.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
UPDATE golden SET id = decode(bin_hex, 'hex')::sno;
SELECT count(*) AS rows,
       count(*) FILTER (WHERE d.created IS DISTINCT FROM iso_utc::timestamptz) AS created,
       count(*) FILTER (WHERE extract(epoch FROM d.created) * 1000 IS DISTINCT FROM unix_ms) AS unix_ms,
       count(*) FILTER (WHERE (d.ticktock, d.metabyte, d.partition, d.sequence)
                              IS DISTINCT FROM (g.ticktock, g.metabyte, g.partition, g.sequence)) AS decode,
       count(*) FILTER (WHERE (d.created, d.ticktock, d.metabyte, d.partition, d.sequence) IS DISTINCT FROM
           (sno_timestamp(id), sno_ticktock(id), sno_metabyte(id), sno_partition(id), sno_sequence(id))) AS fields,
       count(*) FILTER (WHERE id::timestamptz IS DISTINCT FROM d.created) AS cast,
       count(*) FILTER (WHERE make_sno(d.created, g.metabyte, g.partition, g.sequence, g.ticktock) IS DISTINCT FROM id)
           AS compose,
       count(*) FILTER (WHERE make_sno(d.created + interval '3999 us', g.metabyte, g.partition, g.sequence, g.ticktock)
                              IS DISTINCT FROM id) AS compose_late
FROM golden g, sno_decode(id) AS d;
-- Bounds have the right time and extreme fields, and their neighbours are on the other side.
SELECT count(*) FILTER (WHERE sno_lower_bound(t) IS DISTINCT FROM make_sno(t, 0, 0, 0, 0)) AS lower,
       count(*) FILTER (WHERE sno_upper_bound(t) IS DISTINCT FROM make_sno(t, 255, 65535, 65535, 1)) AS upper,
       count(*) FILTER (WHERE NOT id BETWEEN sno_lower_bound(t) AND sno_upper_bound(t)) AS between,
       count(*) FILTER (WHERE sno_upper_bound(t + interval '3999 us') <> sno_upper_bound(t)) AS upper_late,
       count(*) FILTER (WHERE t < '2079-09-07 15:47:35.548'
                        AND sno_lower_bound(t + interval '1 us') <> make_sno(t + interval '4 ms', 0, 0, 0, 0))
                            AS lower_late,
       count(*) FILTER (WHERE t > '2010-01-01'
                        AND sno_upper_bound(t - interval '1 us')
                            <> make_sno(t - interval '4 ms', 255, 65535, 65535, 1)) AS upper_early
FROM (SELECT id, id::timestamptz AS t FROM golden) AS g;

CREATE TEMP TABLE posts (id sno PRIMARY KEY, created timestamptz GENERATED ALWAYS AS (sno_timestamp(id)) STORED);
CREATE INDEX ON posts (sno_metabyte(id));
INSERT INTO posts VALUES ('brpk4q72xwf2m63l') RETURNING *;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(make_sno|sno_(timestamp|ticktock|metabyte|partition|sequence|decode|(lower|upper)_bound))$'
ORDER BY signature COLLATE "C";
