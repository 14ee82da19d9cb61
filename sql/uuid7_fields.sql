SET timezone = 'UTC';
SET datestyle = 'ISO';

-- RFC 9562, appendix A.6. Only the milliseconds are read.
SELECT uuid7_timestamp('017F22E2-79B0-7CC3-98C4-DC0C0C07398F'), uuid7_timestamp('017f22e2-79b0-7000-8000-000000000000'),
       uuid7_timestamp('017f22e2-79b0-7fff-bfff-ffffffffffff');
SELECT uuid7_timestamp(id) FROM unnest(ARRAY['00000000-0000-7000-8000-000000000000',
    'ffffffff-ffff-7fff-bfff-ffffffffffff', NULL]::uuid[]) AS id;
-- Other versions and variants, most of them the RFC's examples, have no time here.
SELECT id, uuid7_timestamp(id) IS NULL AS no_time FROM unnest(ARRAY[
    'C232AB00-9414-11EC-B3C8-9F6BDECED846', '5df41881-3aed-3515-88a7-2f4a814cf09e',
        '919108f7-52d1-4320-9bac-f847db4148a8',
    '2ed6657d-e927-568b-95e1-2665a8aea6a2', '1EC9414C-232A-6B00-B3C8-9F6BDECED846',
        '2489E9AD-2EE2-8E00-8EC9-32D5F69181C0',
    '017F22E2-79B0-7CC3-18C4-DC0C0C07398F', '017F22E2-79B0-7CC3-58C4-DC0C0C07398F',
        '017F22E2-79B0-7CC3-D8C4-DC0C0C07398F',
    '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']::uuid[]) AS id;

--
-- Bounds
--
SELECT t, uuid7_lower_bound(t), uuid7_upper_bound(t), uuid7_timestamp(uuid7_lower_bound(t)) AS lower_time,
    uuid7_timestamp(uuid7_upper_bound(t)) AS upper_time
FROM unnest(ARRAY['1970-01-01', '2026-06-01 12:00:00', '2026-06-01 12:00:00.0005',
    '10889-08-02 05:31:50.655']::timestamptz[]) AS t;
SELECT t, uuid7_lower_bound(t) FROM unnest(ARRAY['-infinity', '1969-12-31 23:59:59.999999']::timestamptz[]) AS t;
SELECT t, uuid7_upper_bound(t) FROM unnest(ARRAY['10889-08-02 05:31:50.656', 'infinity']::timestamptz[]) AS t;
SELECT uuid7_lower_bound('10889-08-02 05:31:50.655001');
\echo :LAST_ERROR_SQLSTATE
SELECT uuid7_lower_bound('infinity');
SELECT uuid7_upper_bound('1969-12-31 23:59:59.999999');
SELECT uuid7_upper_bound('-infinity');

-- uuid_extract_timestamp() of 18 agrees.
SELECT CASE WHEN to_regprocedure('pg_catalog.uuidv7()') IS NULL THEN 'SELECT 0 AS different' ELSE
    'SELECT count(*) FILTER (WHERE uuid7_timestamp(id) IS DISTINCT FROM uuid_extract_timestamp(id)) AS different
     FROM (SELECT uuidv7(n * interval ''100 days'') AS id FROM generate_series(-100, 1000) AS n UNION ALL SELECT gen_uuid7() FROM generate_series(1, 1000)) AS s' END AS query \gset
:query;

CREATE TEMP TABLE pages (id uuid PRIMARY KEY, created timestamptz GENERATED ALWAYS AS (uuid7_timestamp(id)) STORED);
CREATE INDEX ON pages (uuid7_timestamp(id));
INSERT INTO pages VALUES ('017F22E2-79B0-7CC3-98C4-DC0C0C07398F') RETURNING *;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^uuid7_'
    ORDER BY signature COLLATE "C";
