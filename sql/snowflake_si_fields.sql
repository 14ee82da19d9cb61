-- Looking inside a Snowflake-SI id, putting one together, bounds of a time range.
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- The short forms read the settings: base clock 2026-01-01, 5 bits of machine id.
SELECT id, d.* FROM unnest(ARRAY[0, 8191, 8192, 9007199254740991]) AS id, snowflake_si_decode(id) AS d;
SELECT snowflake_si_timestamp(id), snowflake_si_machine_id(id), snowflake_si_uin(id)
FROM (VALUES (make_snowflake_si('2026-06-01 12:00:00.000999', 31, 255)), (NULL)) AS v (id);
-- With base clock and width given.
SELECT w, d.* FROM unnest(ARRAY[0, 1, 5, 12]) AS w,
    snowflake_si_decode(9007199254740991, '2017-07-14 02:40:00', w) AS d;
SELECT snowflake_si_decode(id => 1234567890123, base_clock => '2020-01-01', machine_bits => 8);

--
-- Composing
--
SELECT make_snowflake_si('2026-01-01', 0, 0), make_snowflake_si('2060-11-03 19:53:47.775999', 31, 255),
       make_snowflake_si(created => '2026-01-01 00:00:00.001', machine_id => 1, uin => 1),
       make_snowflake_si(created => '2020-01-01 00:00:00.001', machine_id => 4095, uin => 1,
           base_clock => '2020-01-01', machine_bits => 12),
       make_snowflake_si('2020-01-01 00:00:00.001', 0, 8191, '2020-01-01', 0);
SELECT s, r.* FROM unnest(ARRAY[
    $$'2025-12-31 23:59:59.999999', 0, 0$$, $$'2060-11-03 19:53:47.776', 0, 0$$, $$'-infinity', 0, 0$$, $$'infinity', 0, 0$$,
    $$'2026-01-01', -1, 0$$, $$'2026-01-01', 32, 0$$, $$'2026-01-01', 0, -1$$, $$'2026-01-01', 0, 256$$,
    $$'2026-01-01', 1, 0, '2020-01-01', 0$$, $$'2026-01-01', 0, 8192, '2020-01-01', 0$$, $$'2026-01-01', 4096, 0, '2020-01-01', 12$$,
    $$'2026-01-01', 0, 2, '2020-01-01', 12$$, $$'2026-01-01', 0, 0, '2020-01-01', 13$$, $$'2026-01-01', 0, 0, '2020-01-01', -1$$,
    $$'2026-01-01', 0, 0, '2003-03-18 07:20:19.224', 5$$, $$'2026-01-01', 0, 0, '2020-01-01 00:00:00.0005', 5$$,
    $$'2026-01-01', 0, 0, 'infinity', 5$$, $$'2026-01-01', 0, 0, '-infinity', 5$$, $$'2026-01-01', 0, 0, '10000-01-01', 5$$,
    $$'2038-01-19 03:14:07.001', 0, 0, '2003-03-18 07:20:19.225', 5$$]) AS s, refusal(format('SELECT make_snowflake_si(%s)', s)) AS r;
SELECT make_snowflake_si('2038-01-19 03:14:07', 31, 255, '2003-03-18 07:20:19.225', 5);
SELECT make_snowflake_si('10034-11-03 19:53:47.774', 0, 0, '9999-12-31 23:59:59.999', 0);

-- Numbers that are no ids.
SELECT s, r.* FROM unnest(ARRAY['timestamp(-1)', 'machine_id(9007199254740992)', 'uin(9223372036854775807)',
    'decode(-9223372036854775808)', $$timestamp(-1, '2020-01-01', 5)$$]) AS s, refusal(format('SELECT snowflake_si_%s', s)) AS r;

--
-- Bounds
--
SELECT t, lower, upper, snowflake_si_timestamp(lower) AS lower_time, snowflake_si_timestamp(upper) AS upper_time
FROM (SELECT t, snowflake_si_lower_bound(t) AS lower, snowflake_si_upper_bound(t) AS upper
      FROM unnest(ARRAY['2026-01-01', '2026-01-01 00:00:00.000001', '2026-06-01 12:00:00.0005',
          '2060-11-03 19:53:47.775']::timestamptz[]) AS t) AS b;
SELECT t, snowflake_si_lower_bound(t) FROM unnest(ARRAY['-infinity', '2025-12-31 23:59:59.999999']::timestamptz[]) AS t;
SELECT t, snowflake_si_upper_bound(t) FROM unnest(ARRAY['2060-11-03 19:53:47.776', 'infinity']::timestamptz[]) AS t;
SELECT snowflake_si_lower_bound('2026-01-01', '2020-01-01', 5), snowflake_si_upper_bound('2026-01-01', '2020-01-01', 5);
SELECT s, r.* FROM unnest(ARRAY[$$lower_bound('2060-11-03 19:53:47.775001')$$, $$lower_bound('infinity')$$,
    $$upper_bound('2025-12-31 23:59:59.999999')$$, $$upper_bound('-infinity')$$, $$lower_bound('2026-01-01', '2000-01-01', 5)$$,
    $$upper_bound('2026-01-01', '2020-01-01', 13)$$]) AS s, refusal(format('SELECT snowflake_si_%s', s)) AS r;

--
-- Golden values. The 41-bit clock of v2 is not offered in SQL.
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, source text, id bigint, id_hex text, base_clock_ms bigint, clock_bits int,
    mid_bits int,
    uin_bits int, unix_ms bigint, iso_utc text, mab bigint, mid int, uin int, base_clock timestamptz);
\copy golden ("case", source, id, id_hex, base_clock_ms, clock_bits, mid_bits, uin_bits, unix_ms, iso_utc, mab, mid, uin) FROM PROGRAM 'grep -v "^#" test/vectors/snowflake_si.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
DELETE FROM golden WHERE clock_bits = 41;
UPDATE golden SET base_clock
    = '1970-01-01'::timestamptz + (base_clock_ms / 1000) * interval '1 s' + (base_clock_ms % 1000) * interval '1 ms';
SELECT count(*) AS rows, count(DISTINCT (base_clock, mid_bits)) AS layouts,
       count(*) FILTER (WHERE d.created IS DISTINCT FROM iso_utc::timestamptz) AS created,
       count(*) FILTER (WHERE extract(epoch FROM d.created) * 1000 IS DISTINCT FROM unix_ms) AS unix_ms,
       count(*) FILTER (WHERE (d.machine_id, d.uin) IS DISTINCT FROM (mid, g.uin)) AS decode,
       count(*) FILTER (WHERE (d.created, d.machine_id, d.uin) IS DISTINCT
           FROM (snowflake_si_timestamp(id, base_clock, mid_bits),
           snowflake_si_machine_id(id, base_clock, mid_bits), snowflake_si_uin(id, base_clock, mid_bits))) AS fields,
       count(*) FILTER (WHERE make_snowflake_si(d.created, mid, g.uin, base_clock, mid_bits) IS DISTINCT FROM id)
           AS compose,
       count(*) FILTER (WHERE make_snowflake_si(d.created + interval '999 us', mid, g.uin, base_clock, mid_bits)
           IS DISTINCT FROM id)
           AS compose_late
FROM golden g, snowflake_si_decode(id, base_clock, mid_bits) AS d;
SELECT count(*) FILTER (WHERE snowflake_si_lower_bound(t, base_clock, mid_bits)
                              IS DISTINCT FROM make_snowflake_si(t, 0, 0, base_clock, mid_bits)) AS lower,
       count(*) FILTER (WHERE snowflake_si_upper_bound(t, base_clock, mid_bits) IS DISTINCT FROM
                              make_snowflake_si(t, (1 << mid_bits) - 1, (1 << uin_bits) - 1, base_clock, mid_bits))
                                  AS upper,
       count(*) FILTER (WHERE snowflake_si_upper_bound(t + interval '999 us', base_clock, mid_bits)
                              <> snowflake_si_upper_bound(t, base_clock, mid_bits)) AS upper_late,
       count(*) FILTER (WHERE mab < (1::bigint << 40) - 1
           AND snowflake_si_lower_bound(t + interval '1 us', base_clock, mid_bits)
                              <> make_snowflake_si(t + interval '1 ms', 0, 0, base_clock, mid_bits)) AS lower_late,
       count(*) FILTER (WHERE mab > 0 AND snowflake_si_upper_bound(t - interval '1 us', base_clock, mid_bits)
                              <> snowflake_si_upper_bound(t - interval '1 ms', base_clock, mid_bits)) AS upper_early
FROM (SELECT *, snowflake_si_timestamp(id, base_clock, mid_bits) AS t FROM golden) AS g;

-- Options and numbers to refuse, where SQL has an argument for them: base clock, machine id and its width, time, UIN.
-- Fractions and NaN are no integers of SQL (22P02). A width of 0, refused by v2, is the document's id without MID.
CREATE TEMP TABLE invalid (kind text, why text, args_json text, ref text, detail text, expect text);
\copy invalid FROM PROGRAM 'grep -v "^#" test/vectors/snowflake_si_invalid.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
CREATE FUNCTION pg_temp.outcome(kind text, args jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    epoch timestamptz := '1970-01-01';
    clock bigint;
    id bigint;
BEGIN
    IF kind = 'id_range' THEN
        PERFORM snowflake_si_decode((args #>> '{}')::bigint);
    ELSE
        clock := coalesce(args ->> 'epoch', args ->> 'baseClock')::bigint;
        id := make_snowflake_si(
            epoch + coalesce((args ->> 'timestamp')::bigint, clock) * interval '1 ms',
            coalesce((args ->> 'machineId')::int, 0),
            coalesce((args ->> 'sequence')::int, 0),
            epoch + clock * interval '1 ms',
            coalesce((args ->> 'machineIdBitWidth')::int, 13 - coalesce((args ->> 'uinBitWidth')::int, 8)));
    END IF;
    RETURN coalesce('accepted: ' || id, 'null');
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT kind, why, pg_temp.outcome(kind, args_json::jsonb), count(*)
FROM invalid
WHERE args_json !~ 'clockBitWidth|sequenceResetThreshold|sequenceBitWidth' AND why <> 'fractional_time'
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

--
-- Immutable forms in an index and a generated column; the short forms are refused there.
--
CREATE TEMP TABLE orders (id bigint PRIMARY KEY,
    created timestamptz GENERATED ALWAYS AS (snowflake_si_timestamp(id, '2026-01-01 00:00:00+00', 5)) STORED);
CREATE INDEX ON orders (snowflake_si_machine_id(id, '2026-01-01 00:00:00+00', 5));
\set VERBOSITY sqlstate
CREATE INDEX ON orders (snowflake_si_machine_id(id));
\set VERBOSITY default
INSERT INTO orders VALUES (8192) RETURNING *;

--
-- The catalogue of this topic
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(make_snowflake_si|snowflake_si_(timestamp|machine_id|uin|decode|(lower|upper)_bound))$'
ORDER BY signature COLLATE "C";
