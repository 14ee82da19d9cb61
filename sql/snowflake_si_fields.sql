SET timezone = 'UTC';
SET datestyle = 'ISO';

SELECT id, d.* FROM unnest(ARRAY[0, 8191, 8192, 9007199254740991]) AS id, snowflake_si_decode(id) AS d;
SELECT snowflake_si_timestamp(id), snowflake_si_machine_id(id), snowflake_si_uin(id)
FROM (VALUES (make_snowflake_si('2026-06-01 12:00:00.000999', 31, 255)), (NULL)) AS v (id);

--
-- Composing
--
SELECT make_snowflake_si('2026-01-01', 0, 0), make_snowflake_si('2060-11-03 19:53:47.775999', 31, 255),
       make_snowflake_si(created => '2026-01-01 00:00:00.001', machine_id => 1, uin => 1);
SELECT make_snowflake_si('2025-12-31 23:59:59.999999', 0, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_snowflake_si('2060-11-03 19:53:47.776', 0, 0);
SELECT make_snowflake_si('-infinity', 0, 0);
SELECT make_snowflake_si('infinity', 0, 0);
SELECT make_snowflake_si('2026-01-01', -1, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_snowflake_si('2026-01-01', 32, 0);
SELECT make_snowflake_si('2026-01-01', 0, -1);
\echo :LAST_ERROR_SQLSTATE
SELECT make_snowflake_si('2026-01-01', 0, 256);

SELECT snowflake_si_timestamp(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_si_machine_id(9007199254740992);
SELECT snowflake_si_uin(9223372036854775807);
SELECT snowflake_si_decode(-9223372036854775808);

--
-- Bounds
--
SELECT t, lower, upper, snowflake_si_timestamp(lower) AS lower_time, snowflake_si_timestamp(upper) AS upper_time
FROM (SELECT t, snowflake_si_lower_bound(t) AS lower, snowflake_si_upper_bound(t) AS upper
      FROM unnest(ARRAY['2026-01-01', '2026-01-01 00:00:00.000001', '2026-06-01 12:00:00.0005',
          '2060-11-03 19:53:47.775']::timestamptz[]) AS t) AS b;
SELECT t, snowflake_si_lower_bound(t) FROM unnest(ARRAY['-infinity', '2025-12-31 23:59:59.999999']::timestamptz[]) AS t;
SELECT t, snowflake_si_upper_bound(t) FROM unnest(ARRAY['2060-11-03 19:53:47.776', 'infinity']::timestamptz[]) AS t;
SELECT snowflake_si_lower_bound('2060-11-03 19:53:47.775001');
SELECT snowflake_si_lower_bound('infinity');
SELECT snowflake_si_upper_bound('2025-12-31 23:59:59.999999');
SELECT snowflake_si_upper_bound('-infinity');

--
-- Golden values: the reference's base clocks and widths, as layouts
--
\getenv srcdir PG_ABS_SRCDIR
\cd :srcdir
CREATE TEMP TABLE golden ("case" text, source text, id bigint, id_hex text, base_clock_ms bigint, clock_bits int,
    mid_bits int, uin_bits int, unix_ms bigint, iso_utc text, mab bigint, mid int, uin int, base_clock timestamptz,
    layout text);
\copy golden ("case", source, id, id_hex, base_clock_ms, clock_bits, mid_bits, uin_bits, unix_ms, iso_utc, mab, mid, uin) FROM PROGRAM 'grep -v "^#" test/vectors/snowflake_si.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
UPDATE golden SET base_clock
    = '1970-01-01'::timestamptz + (base_clock_ms / 1000) * interval '1 s' + (base_clock_ms % 1000) * interval '1 ms',
    layout = format('golden %s %s %s', base_clock_ms, clock_bits, mid_bits);
SELECT count(snowflake_layout_create(layout, base_clock, '1 ms', clock_bits, mid_bits, uin_bits)::text) AS created
FROM (SELECT DISTINCT layout, base_clock, clock_bits, mid_bits, uin_bits FROM golden) AS g;
SELECT count(*) AS rows, count(DISTINCT (base_clock, clock_bits, mid_bits)) AS layouts,
       count(*) FILTER (WHERE d.created IS DISTINCT FROM iso_utc::timestamptz) AS created,
       count(*) FILTER (WHERE extract(epoch FROM d.created) * 1000 IS DISTINCT FROM unix_ms) AS unix_ms,
       count(*) FILTER (WHERE (d.node, d.sequence) IS DISTINCT FROM (mid, uin)) AS decode,
       count(*) FILTER (WHERE d.created IS DISTINCT
           FROM snowflake_timestamp(id, base_clock, '1 ms', clock_bits, mid_bits, uin_bits)) AS timestamp,
       count(*) FILTER (WHERE make_snowflake(layout, d.created, mid, uin) IS DISTINCT FROM id) AS compose,
       count(*) FILTER (WHERE make_snowflake(layout, d.created + interval '999 us', mid, uin) IS DISTINCT FROM id)
           AS compose_late
FROM golden, snowflake_decode(id, base_clock, '1 ms', clock_bits, mid_bits, uin_bits) AS d;
SELECT count(*) FILTER (WHERE snowflake_lower_bound(layout, t) IS DISTINCT FROM make_snowflake(layout, t, 0, 0)) AS lower,
       count(*) FILTER (WHERE snowflake_upper_bound(layout, t)
           IS DISTINCT FROM make_snowflake(layout, t, (1 << mid_bits) - 1, (1 << uin_bits) - 1)) AS upper,
       count(*) FILTER (WHERE snowflake_upper_bound(layout, t + interval '999 us') <> snowflake_upper_bound(layout, t))
           AS upper_late,
       count(*) FILTER (WHERE mab < (1::bigint << clock_bits) - 1
           AND snowflake_lower_bound(layout, t + interval '1 us')
               <> make_snowflake(layout, t + interval '1 ms', 0, 0)) AS lower_late,
       count(*) FILTER (WHERE mab > 0 AND snowflake_upper_bound(layout, t - interval '1 us')
           <> snowflake_upper_bound(layout, t - interval '1 ms')) AS upper_early
FROM golden, LATERAL (SELECT iso_utc::timestamptz) AS s (t);
SELECT count(snowflake_layout_drop(layout)::text) AS dropped FROM (SELECT DISTINCT layout FROM golden) AS g;
SELECT count(*) AS rows, count(*) FILTER (WHERE row(d.*) IS DISTINCT FROM row(l.*)) AS decode,
       count(*) FILTER (WHERE id IS DISTINCT FROM make_snowflake_si(d.created, d.machine_id, d.uin)) AS compose
FROM golden, snowflake_si_decode(id) AS d, snowflake_decode(id, '2026-01-01', '1 ms', 40, 5, 8) AS l;

-- To refuse. Fractions and NaN are no integers (22P02). Three kinds are no errors here: an earlier base clock or other
-- widths, because a layout may have them; a width of 0, refused by v2, which is the document's id without MID; and a
-- time inside a millisecond, which is rounded down.
CREATE TEMP TABLE invalid (kind text, why text, args_json text, ref text, detail text, expect text);
\copy invalid FROM PROGRAM 'grep -v "^#" test/vectors/snowflake_si_invalid.tsv' (FORMAT csv, HEADER, DELIMITER E'\t', QUOTE E'\x01')
CREATE FUNCTION pg_temp.outcome(kind text, args jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    clock numeric;
    clock_bits int;
    mid_bits int;
    uin_bits int;
    id bigint;
BEGIN
    IF kind = 'id_range' THEN
        PERFORM snowflake_si_decode((args #>> '{}')::bigint);
        RETURN 'accepted';
    END IF;
    clock := coalesce(args ->> 'epoch', args ->> 'baseClock')::bigint;
    clock_bits := coalesce((args ->> 'clockBitWidth')::int, 40);
    uin_bits := coalesce(args ->> 'sequenceBitWidth', args ->> 'uinBitWidth')::int;
    mid_bits := coalesce((args ->> 'machineIdBitWidth')::int,
        CASE kind WHEN 'create_v1' THEN 13 - coalesce(uin_bits, 8) ELSE 5 END);
    uin_bits := coalesce(uin_bits, 53 - clock_bits - mid_bits);
    PERFORM snowflake_layout_create('invalid', '1970-01-01'::timestamptz + clock * interval '1 ms', '1 ms', clock_bits,
        mid_bits, uin_bits);
    id := make_snowflake('invalid',
        '1970-01-01'::timestamptz + coalesce((args ->> 'timestamp')::numeric, clock) * interval '1 ms',
        coalesce((args ->> 'machineId')::int, 0), coalesce((args ->> 'sequence')::int, 0));
    PERFORM snowflake_layout_drop('invalid');
    RETURN CASE WHEN clock_bits + mid_bits + uin_bits <> 53 OR clock_bits NOT IN (40, 41)
                    OR uin_bits = 0 OR clock < CASE clock_bits WHEN 40 THEN 1047972019225 ELSE 0 END
                    THEN 'another layout'
                WHEN mid_bits = 0 THEN 'no machine bits' ELSE 'accepted' END;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT kind, why, pg_temp.outcome(kind, args_json::jsonb), count(*)
FROM invalid WHERE args_json !~ 'sequenceResetThreshold' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;

--
-- In an index and a generated column
--
CREATE TEMP TABLE orders (id bigint PRIMARY KEY, created timestamptz GENERATED ALWAYS AS (snowflake_si_timestamp(id))
    STORED);
CREATE INDEX ON orders (snowflake_si_machine_id(id));
INSERT INTO orders VALUES (8192) RETURNING *;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(make_snowflake_si|snowflake_si_(timestamp|machine_id|uin|decode|(lower|upper)_bound))$'
ORDER BY signature COLLATE "C";
