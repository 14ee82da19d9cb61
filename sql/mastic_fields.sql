SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT id, d.* FROM unnest('{0, 65535, 65536, 116301527915219032, 9223372036854775807, 9223372036854775808, 18446744073709551615}'::mastic[]) AS id,
    mastic_decode(id) AS d;
SELECT mastic_timestamp(116301527915219032::bigint), mastic_timestamp('18446744073709551615'), mastic_sequence(65535::bigint), mastic_sequence(NULL);

--
-- Composing
--
SELECT make_mastic('2026-01-01', 0), make_mastic(created => '2082-03-27 14:08:02.104999', sequence => 51288),
       make_mastic('6485-10-17 02:45:55.328', 0), make_mastic('10945-08-03 05:31:50.655999', 65535);
SELECT make_mastic('2025-12-31 23:59:59.999999', 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_mastic('10945-08-03 05:31:50.656', 0);
SELECT make_mastic('-infinity', 0);
SELECT make_mastic('infinity', 0);
SELECT make_mastic('2026-01-01', -1);
\echo :LAST_ERROR_SQLSTATE
SELECT make_mastic('2026-01-01', 65536);

--
-- Bounds
--
SELECT t, lower, upper, mastic_timestamp(lower) AS lower_time, mastic_timestamp(upper) AS upper_time
FROM (SELECT t, mastic_lower_bound(t) AS lower, mastic_upper_bound(t) AS upper
      FROM unnest(ARRAY['2026-01-01', '2026-01-01 00:00:00.000001', '2026-06-01 12:00:00.0005', '6485-10-17 02:45:55.328',
          '10945-08-03 05:31:50.655']::timestamptz[]) AS t) AS b;
SELECT t, mastic_lower_bound(t) FROM unnest(ARRAY['-infinity', '2025-12-31 23:59:59.999999']::timestamptz[]) AS t;
SELECT t, mastic_upper_bound(t) FROM unnest(ARRAY['10945-08-03 05:31:50.656', 'infinity']::timestamptz[]) AS t;
SELECT mastic_lower_bound('10945-08-03 05:31:50.655001');
SELECT mastic_lower_bound('infinity');
SELECT mastic_upper_bound('2025-12-31 23:59:59.999999');
SELECT mastic_upper_bound('-infinity');

--
-- Golden values
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, text text, id_hex text, signed bigint, unix_ms bigint, iso_utc text, ts bigint, sequence int);
\copy golden FROM PROGRAM 'grep -v "^#" test/vectors/mastic.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
ALTER TABLE golden ADD id mastic;
UPDATE golden SET id = text::mastic;
SELECT count(*) AS rows,
       count(*) FILTER (WHERE snowflake_ids.mastic_send(id) IS DISTINCT FROM decode(id_hex, 'hex')) AS bits,
       count(*) FILTER (WHERE d.created IS DISTINCT FROM iso_utc::timestamptz) AS created,
       count(*) FILTER (WHERE extract(epoch FROM d.created) * 1000 IS DISTINCT FROM unix_ms) AS unix_ms,
       count(*) FILTER (WHERE d.sequence IS DISTINCT FROM g.sequence) AS sequence,
       count(*) FILTER (WHERE (d.created, d.sequence) IS DISTINCT FROM (mastic_timestamp(id), mastic_sequence(id))) AS fields,
       count(*) FILTER (WHERE make_mastic(d.created, g.sequence) IS DISTINCT FROM id) AS compose,
       count(*) FILTER (WHERE make_mastic(d.created + interval '999 us', g.sequence) IS DISTINCT FROM id) AS compose_late
FROM golden g, mastic_decode(id) AS d;
SELECT count(*) FILTER (WHERE mastic_lower_bound(t) IS DISTINCT FROM make_mastic(t, 0)) AS lower,
       count(*) FILTER (WHERE mastic_upper_bound(t) IS DISTINCT FROM make_mastic(t, 65535)) AS upper,
       count(*) FILTER (WHERE mastic_upper_bound(t + interval '999 us') <> mastic_upper_bound(t)) AS upper_late,
       count(*) FILTER (WHERE ts < 281474976710655 AND mastic_lower_bound(t + interval '1 us') <> make_mastic(t + interval '1 ms', 0))
           AS lower_late,
       count(*) FILTER (WHERE ts > 0 AND mastic_upper_bound(t - interval '1 us') <> make_mastic(t - interval '1 ms', 65535))
           AS upper_early
FROM (SELECT ts, mastic_timestamp(id) AS t FROM golden) AS g;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(make_mastic|mastic_(timestamp|sequence|decode|(lower|upper)_bound))$'
ORDER BY signature COLLATE "C";
