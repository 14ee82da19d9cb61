-- Several servers: identity and comparison, and whether an id can be one's own. test/t/405 does it with two servers.
SET timezone = 'UTC';
LOAD 'snowflake_ids';
ALTER SYSTEM SET snowflake_ids.machine_id = 27;
\i sql/include/reload.psql

--
-- Who this is
--
SELECT key, CASE WHEN key ~ '^(sno_partitions|system_identifier|started|.*_used)$' THEN jsonb_typeof(value)
    ELSE value::text END AS value
FROM jsonb_each(snowflake_ids_identity()) ORDER BY key COLLATE "C";
SELECT snowflake_ids_identity() ->> 'system_identifier' = (SELECT system_identifier::text FROM pg_control_system())
    AS same_cluster;
-- Whatever the session's settings, a server is the same server.
SELECT snowflake_ids_identity() AS before \gset
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German';
SELECT snowflake_ids_identity() = :'before' AS same;
RESET datestyle;
SET timezone = 'UTC';
SELECT * FROM snowflake_ids_compare(snowflake_ids_identity(), snowflake_ids_identity());

--
-- Two servers
--
CREATE TEMP TABLE server (what text, j jsonb);
INSERT INTO server
SELECT what, '{"system_identifier": "1", "started": 1, "machine_id": 5, "sno_partitions": null, "sno_sequences": [0, 65535],
    "si_base_clock": 1767225600, "si_machine_bits": 5, "si_used": true, "mastic_used": false}'::jsonb || change::jsonb
FROM (VALUES ('a', '{}'),
    ('another', '{"system_identifier": "2", "machine_id": 6}'),
    ('same machine id', '{"system_identifier": "2"}'),
    ('copy', '{"started": 2}'),
    ('copy with an id of its own', '{"started": 2, "machine_id": 6}'),
    ('standby', '{"started": 2, "machine_id": null}'),
    ('shares the partition', '{"system_identifier": "2", "sno_sequences": [40000, 65535], "machine_id": 5}'),
    ('draws in my partition', '{"system_identifier": "2", "machine_id": 6, "sno_partitions": [4, 5, 5]}'),
    ('other base clock', '{"system_identifier": "2", "machine_id": 6, "si_base_clock": 1735689600}'),
    ('other width, unused', '{"system_identifier": "2", "machine_id": 6, "si_machine_bits": 6, "si_used": false}'),
    ('automatic', '{"system_identifier": "2", "machine_id": 40000, "narrow_machine_id": 0}'),
    ('another automatic', '{"system_identifier": "3", "machine_id": 50000, "narrow_machine_id": 0}'),
    ('too large for SI', '{"system_identifier": "2", "machine_id": 32}')) AS v(what, change);
SELECT o.what, c.* FROM server a, server o LEFT JOIN
    LATERAL snowflake_ids_compare((SELECT j FROM server WHERE what = 'a'), o.j) c ON true
WHERE a.what = 'a' ORDER BY o.what COLLATE "C", c.format, c.conflict;
-- It does not matter who asks.
SELECT count(*) AS one_sided FROM server a, server b,
    LATERAL (SELECT array_agg(c ORDER BY c::text) AS cs FROM snowflake_ids_compare(a.j, b.j) c) x,
    LATERAL (SELECT array_agg(c ORDER BY c::text) AS cs FROM snowflake_ids_compare(b.j, a.j) c) y
WHERE x.cs IS DISTINCT FROM y.cs;
-- Bounds that share a partition, and ids that are too large for Snowflake-SI on both.
SELECT c.* FROM server a, server b, snowflake_ids_compare(a.j, b.j) c
    WHERE a.what = 'automatic' AND b.what = 'another automatic';
SELECT c.* FROM server a, snowflake_ids_compare(a.j || '{"sno_sequences": [0, 39999], "machine_id": 40}',
    a.j || '{"sno_sequences": [40000, 65535], "machine_id": 40, "started": 3}') c WHERE a.what = 'a';
SELECT c.* FROM server a, snowflake_ids_compare(a.j || '{"mastic_used": true}',
    a.j || '{"mastic_used": true, "machine_id": 7, "started": 3}') c WHERE a.what = 'a';
-- A standby without ids of its own meets nobody.
SELECT c.* FROM server a, snowflake_ids_compare(a.j || '{"mastic_used": true}',
    a.j || '{"mastic_used": true, "machine_id": null, "started": 3}') c WHERE a.what = 'a';

--
-- Over a connection
--
SELECT (refusal('SELECT snowflake_ids_check(''host=nowhere'')')).*;

--
-- Whose id
--
SELECT sno_may_be_mine(gen_sno()) AS sno, mastic_may_be_mine(gen_mastic()) AS mastic,
    snowflake_si_may_be_mine(gen_snowflake_si()) AS snowflake_si;
-- The next number of the same time, by a hair; another partition; later.
SELECT gen_sno() AS mine \gset
SELECT sno_may_be_mine(:'mine') AS itself,
    sno_may_be_mine(sno_set_sequence(:'mine', sno_sequence(:'mine') + 1)) AS next,
       sno_may_be_mine(sno_set_partition(:'mine', 28)) AS other_partition,
       sno_may_be_mine(sno_set_timestamp(:'mine', sno_timestamp(:'mine') + '4 ms')) AS later,
       sno_may_be_mine(sno_set_metabyte(:'mine', 9)) AS other_metabyte,
       sno_may_be_mine(make_sno(sno_timestamp(:'mine') + '1 hour', 0, 27, 0, 1)) AS other_toggle;
SELECT gen_snowflake_si() AS mine \gset
SELECT snowflake_si_may_be_mine(:mine) AS itself, snowflake_si_may_be_mine(:mine + 1) AS next,
       snowflake_si_may_be_mine(make_snowflake_si(snowflake_si_timestamp(:mine), 28, 0)) AS other_machine,
       snowflake_si_may_be_mine(make_snowflake_si(snowflake_si_timestamp(:mine) + '1 ms', 27, 0)) AS later,
       snowflake_si_may_be_mine(-1) AS negative, snowflake_si_may_be_mine(9007199254740992) AS too_large;
SELECT gen_mastic() AS mine \gset
SELECT mastic_may_be_mine(:mine) AS itself, mastic_may_be_mine(:mine + 1) AS next,
    mastic_may_be_mine(:mine + 65536) AS later, mastic_may_be_mine(-1) AS far;
-- Every id that was drawn may be.
SELECT count(*) FILTER (WHERE NOT sno_may_be_mine(id)) AS denied
    FROM (SELECT gen_sno() AS id FROM generate_series(1, 1000)) s;
SELECT count(*) FILTER (WHERE NOT sno_may_be_mine(id)) AS denied FROM gen_sno_series(200000) AS id;
-- With a given time, any.
SELECT gen_sno_at('2030-01-01') IS NOT NULL AS made;
SELECT sno_may_be_mine(make_sno('2030-01-01', 0, 27, 0)) AS given_time,
    sno_may_be_mine(make_sno('2030-01-01', 0, 27, 0, 1)) AS other_toggle;
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
SELECT sno_may_be_mine(gen_sno()) AS mine;

--
-- Reviewed: arguments, result, how it may be used, by whom
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(snowflake_ids_(issuer|identity|compare|check)|.*_may_be_mine)$' ORDER BY signature COLLATE "C";
