SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
\i sql/include/plan.psql

SELECT * FROM snowflake_ids.layouts WHERE NOT created;
SELECT prorows = (SELECT count(*) FROM snowflake_ids.known_layouts()) AS rows FROM pg_proc
    WHERE oid = 'snowflake_ids.known_layouts'::regproc;

--
-- Ids that were published
--
-- `within` is the precision of the published time.
CREATE TEMP TABLE published (layout text, id bigint, created timestamptz, within interval, node int, sequence int,
    source text);
INSERT INTO published VALUES
    ('twitter', 1541815603606036480, '2022-06-28 16:07:40.105', '1 ms', 378, 0,
        'wikipedia.org/wiki/Snowflake_ID, example'),
    ('twitter', 1900547158165840235, '2025-03-14 13:58:47.622', '1 ms', 422, 363,
        'blog-ev8.pages.dev/blog/decoding-twitter-snowflake'),
    ('discord', 175928847299117063, '2016-04-30 11:18:25.796', '1 ms', 1 * 32 + 0, 7,
        'discord.com/developers/docs/reference#snowflakes'),
    ('discord', 90339695967350784, '2015-09-07 06:57:41.949', '1 ms', 0 * 32 + 3, 0,
        'npmjs.com/package/discord-snowflake'),
    ('discord', 105484726235607040, '2015-10-19 01:58:38.546', '1 ms', NULL, NULL,
        'docs.rs/twilight-util, trait Snowflake'),
    -- Published to the second. The epoch of its own example (below) has milliseconds.
    ('instagram', 2384288897814875714, '2020-08-26 13:43:27', '1 s', NULL, NULL,
        'stackoverflow.com/questions/63683015'),
    ('instagram', 2383568809444681765, '2020-08-25 13:52:46', '1 s', NULL, NULL,
        'stackoverflow.com/questions/63683015'),
    -- What Sony's own library answered, from the tests of a port. A tick has 10 ms.
    ('sonyflake', 282536111597682687, '2020-01-02 03:04:05.678', '10 ms', 65535, 255,
        'github.com/Zahgon/sony_sonyflake, sonyflake/tests/go_parity.rs'),
    ('sonyflake', 465233541865341384, '2023-06-15 12:00:00', '10 ms', 456, 123,
        'github.com/Zahgon/sony_sonyflake, sonyflake/tests/go_parity.rs'),
    ('sonyflake', 9176965353308225537, '2188-01-01 00:00:00', '10 ms', 1, 1,
        'github.com/Zahgon/sony_sonyflake, sonyflake/tests/go_parity.rs'),
    -- Mastodon notes the time of a status a moment after the id was generated.
    ('mastodon', 103270115826048975, '2019-12-08 03:48:33.901', '60 ms', 0, NULL,
        'docs.joinmastodon.org/entities/Status, example'),
    ('mastodon', 103254962155278888, '2019-12-05 11:34:47.196', '60 ms', 0, NULL,
        'docs.joinmastodon.org/methods/statuses, post a new status'),
    ('mastodon', 103254193998341330, '2019-12-05 08:19:26.052', '60 ms', 0, NULL,
        'docs.joinmastodon.org/methods/statuses, delete a status'),
    -- Node 0 is refused there, so these two prove the order of the fields.
    ('pgedge', 170505378935607296, '2024-04-15 12:07:30.175', '1 ms', 1, 0,
        'github.com/pgEdge/snowflake, hibernate.md'),
    ('pgedge', 413334082185859072, '2026-02-14 14:02:04.569', '1 ms', 1, 0,
        'a walkthrough of Spock 5.0.4: snowflake.get_node() of it is 1'),
    ('pgedge_old', 136169504773242881, to_timestamp(1704996539.845), '1 ms', 1, 0,
        'docs.pgedge.com/snowflake/snowflake_functions'),
    ('pgedge_old', 135824181823537153, '2024-01-10 14:16:48.438-05', '1 ms', 1, 0,
        'docs.pgedge.com/spock-v5/development/managing/snowflake'),
    ('pgedge_old', 135824609030176769, '2024-01-10 14:18:30.292-05', '1 ms', 1, 0,
        'docs.pgedge.com/spock-v5/development/managing/snowflake');
SELECT p.layout, p.id, d.created, d.node, d.sequence, d.created > p.created - within
    AND d.created < p.created + within AS time,
       (coalesce(p.node, d.node), coalesce(p.sequence, d.sequence)) = (d.node, d.sequence) AS fields,
       make_snowflake(p.layout, d.created, d.node, d.sequence) = p.id AS back,
           snowflake_timestamp(p.id, p.layout) = d.created AS same
FROM published p, snowflake_decode(p.id, p.layout) d;
-- Instagram's own example gives fields: time 1387263000, shard 1341, sequence 5001 % 1024, and in its function the epoch 1314220021721
-- (instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c).
SELECT snowflake_decode((1387263000::bigint << (64 - 41)) | (1341 << (64 - 41 - 13)) | (5001 % 1024), 'instagram');
SELECT extract(epoch FROM epoch) * 1000 = 1314220021721 AS instagram FROM snowflake_ids.layouts WHERE name = 'instagram';
-- The types agree with these layouts.
SELECT (SELECT row(d.*) FROM snowflake_decode(id, 'mastic') d)
    = (SELECT row(created, 0, sequence) FROM mastic_decode(id)) AS mastic,
       snowflake_timestamp(-id, 'mastic') = mastic_timestamp((18446744073709551616 - id)::mastic) AS negative
FROM (VALUES (116301527915219032)) AS v (id);
SELECT (SELECT row(d.*) FROM snowflake_decode(id, 'snowflake_si') d) = (SELECT row(d.*) FROM snowflake_si_decode(id) d)
    AS snowflake_si
FROM (VALUES (make_snowflake_si('2026-05-06 07:08:09.123', 21, 201))) AS v (id);

--
-- Ends and fields of every layout
--
SELECT l.name, make_snowflake(l.name, l.epoch, 0, 0) AS first, snowflake_lower_bound(l.name, l.epoch) AS lower,
       snowflake_upper_bound(l.name, 'infinity') AS last, d.created AS last_time, d.node, d.sequence,
       make_snowflake(l.name, d.created, d.node, d.sequence) = snowflake_upper_bound(l.name, 'infinity') AS back
FROM snowflake_ids.layouts l, snowflake_decode(snowflake_upper_bound(l.name, 'infinity'), l.name) d;
SELECT t, snowflake_lower_bound('sonyflake', t), snowflake_upper_bound('sonyflake', t)
FROM unnest(ARRAY['2014-09-01', '2014-09-01 00:00:00.000001', '2014-09-01 00:00:00.01']::timestamptz[]) AS t;
SELECT snowflake_decode(-1, 'twitter');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, 'facebook');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '');
SELECT snowflake_decode(1, repeat('x', 100));
SELECT snowflake_decode(1, 'Twitter');
SELECT make_snowflake('twitter', '2010-11-04 01:42:54.656+00', 0, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_snowflake('twitter', 'infinity', 0, 0);
SELECT make_snowflake('twitter', '2020-01-01', 1024, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT make_snowflake('twitter', '2020-01-01', -1, 0);
SELECT make_snowflake('twitter', '2020-01-01', 0, 4096);
\echo :LAST_ERROR_SQLSTATE
SELECT make_snowflake('mastic', '2027-01-01', 1, 0);
SELECT snowflake_lower_bound('twitter', 'infinity');
SELECT snowflake_upper_bound('twitter', '2010-01-01');
SELECT snowflake_decode(NULL, 'twitter') IS NULL AS id, snowflake_decode(1, NULL) IS NULL AS layout;

--
-- By fields: immutable
--
CREATE TEMP TABLE tweet (
    id bigint PRIMARY KEY,
    created timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, '2010-11-04 01:42:54.657+00', '1 ms', 41, 10,
        12)) STORED
);
CREATE INDEX ON tweet ((snowflake_timestamp(id, '2010-11-04 01:42:54.657+00', '1 ms', 41, 10, 12)));
\set VERBOSITY sqlstate
CREATE INDEX ON tweet (snowflake_timestamp(id, 'twitter'));
\set VERBOSITY default
INSERT INTO tweet SELECT id FROM published WHERE layout = 'twitter';
SELECT * FROM tweet;
-- As by name, for all known 63-bit layouts.
SELECT l.name, count(*), count(*) FILTER (WHERE row(a.*) IS DISTINCT FROM row(b.*)) AS decode,
       count(*) FILTER (WHERE make_snowflake(l.name, a.created, a.node, a.sequence) <> id) AS make,
       count(*) FILTER (WHERE snowflake_timestamp(snowflake_lower_bound(l.name, t), l.name) < t
                           OR snowflake_timestamp(snowflake_lower_bound(l.name, t) - 1, l.name) >= t
                           OR snowflake_timestamp(snowflake_upper_bound(l.name, t), l.name) > t
                           OR snowflake_timestamp(snowflake_upper_bound(l.name, t) + 1, l.name) <= t) AS wrong
FROM snowflake_ids.layouts l, generate_series(1, 300) AS n,
     LATERAL (SELECT l.epoch + n * random() * interval '1 day' + interval '1 s' AS t) AS times,
     LATERAL (SELECT snowflake_lower_bound(l.name,
         t) + floor(random() * (1 << (l.node_bits + l.sequence_bits)))::bigint AS id) AS ids,
     snowflake_decode(id, l.name) AS a, snowflake_decode(id, l.epoch, l.tick, l.timestamp_bits, l.node_bits,
         l.sequence_bits, l.node_last) AS b
WHERE l.timestamp_bits + l.node_bits + l.sequence_bits <= 63
GROUP BY 1 ORDER BY 1;
SELECT snowflake_decode(1, '2020-01-01', '1 ms', 0, 10, 12);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '2020-01-01', '1 ms', 63, 0, 0);
SELECT snowflake_decode(1, '2020-01-01', '1 ms', 41, 32, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '2020-01-01', '1 ms', 41, 0, 32);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '2020-01-01', '1 ms', 41, -1, 12);
SELECT snowflake_decode(1, '2020-01-01', '1 ms', 42, 10, 12);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '2020-01-01', '0', 41, 10, 12);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '2020-01-01', '-1 ms', 41, 10, 12);
SELECT snowflake_decode(1, '2020-01-01', '1 day', 41, 10, 12);
SELECT snowflake_decode(1, '2020-01-01', '1 month', 41, 10, 12);
SELECT snowflake_decode(1, 'infinity', '1 ms', 41, 10, 12);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_decode(1, '-infinity', '1 ms', 41, 10, 12);
SELECT snowflake_decode(1, '2020-01-01', '1 s', 62, 0, 1);
SELECT snowflake_decode(1, '2020-01-01', '1 us', 62, 0, 1);

--
-- Created ones
--
SELECT snowflake_layout_create('acme', '2020-01-01 00:00:00+00', '1 s', 32, 20, 11);
SELECT snowflake_layout_create(name => 'acme low', epoch => '2020-01-01 00:00:00+00', tick => '10 ms',
    timestamp_bits => 38, node_bits => 12, sequence_bits => 10, node_last => true);
SELECT * FROM snowflake_ids.layouts WHERE created ORDER BY 1;
SELECT snowflake_decode(make_snowflake('acme', '2026-05-06 07:08:09', 1000000, 2000), 'acme'),
       snowflake_decode(make_snowflake('acme low', '2026-05-06 07:08:09', 4000, 1000), 'acme low');
SELECT snowflake_layout_create('acme', '2020-01-01', '1 s', 32, 20, 11);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_layout_create('twitter', '2020-01-01', '1 s', 32, 20, 11);
SELECT snowflake_layout_create('', '2020-01-01', '1 s', 32, 20, 11);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_layout_create(repeat('x', 64), '2020-01-01', '1 s', 32, 20, 11);
SELECT snowflake_layout_create('wide', '2020-01-01', '1 s', 33, 20, 11);
SELECT snowflake_layout_create('none', NULL, '1 s', 32, 20, 11);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_layout_create(NULL, '2020-01-01', '1 s', 32, 20, 11);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_layout_drop(NULL);
UPDATE snowflake_ids.created_layout SET node_bits = 1;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM snowflake_ids.created_layout;
TRUNCATE snowflake_ids.created_layout;
INSERT INTO snowflake_ids.created_layout VALUES ('wide', '2020-01-01', '1 s', 33, 20, 11, false);
INSERT INTO snowflake_ids.created_layout (name) VALUES ('half');
-- An equal row is skipped, as a subscription needs it. A different one of that name is refused.
INSERT INTO snowflake_ids.created_layout VALUES ('acme', '2020-01-01', '1 s', 32, 20, 11, false);
INSERT INTO snowflake_ids.created_layout VALUES ('acme', '2020-01-01', '1 s', 32, 20, 11, true);
SET session_replication_role = replica;
UPDATE snowflake_ids.created_layout SET node_bits = 1;
DELETE FROM snowflake_ids.created_layout;
TRUNCATE snowflake_ids.created_layout;
RESET session_replication_role;
SET default_transaction_read_only = on;
SELECT snowflake_layout_create('unwanted', '2020-01-01', '1 s', 32, 20, 11);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_layout_drop('acme');
RESET default_transaction_read_only;
SELECT count(*) FILTER (WHERE name = 'unwanted') AS unwanted, count(*) FILTER (WHERE name = 'acme') AS acme
    FROM snowflake_ids.layouts;
-- Calls of the trigger functions by hand are refused.
SELECT snowflake_ids.layout_keep();
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.layout_same();
-- So are they as other triggers, or on other tables.
CREATE TABLE not_layouts (LIKE snowflake_ids.created_layout);
INSERT INTO not_layouts SELECT * FROM snowflake_ids.created_layout;
CREATE VIEW not_layout AS TABLE not_layouts;
CREATE FUNCTION fired(function text, fires text, event text, each text, relation text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF relation = 'snowflake_ids.created_layout' THEN
        ALTER TABLE snowflake_ids.created_layout DISABLE TRIGGER USER;
    END IF;
    EXECUTE format('CREATE TRIGGER a %s %s ON %s FOR EACH %s EXECUTE FUNCTION %s()', fires, event, relation, each, function);
    EXECUTE format(CASE event WHEN 'INSERT' THEN 'INSERT INTO %s VALUES (''x'', ''2020-01-01'', ''1 s'', 32, 20, 11, false)'
                              WHEN 'UPDATE' THEN 'UPDATE %s SET name = name || 1'
                              WHEN 'DELETE' THEN 'DELETE FROM %s' ELSE 'TRUNCATE %s' END, relation);
    RAISE 'nothing was refused';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
SELECT function, relation, string_agg(fires || ' ' || event || ' ' || each, ', ' ORDER BY fires, event, each) AS fired, said
FROM unnest(ARRAY['snowflake_ids.layout_keep', 'snowflake_ids.layout_same']) AS function,
     unnest(ARRAY['BEFORE', 'AFTER', 'INSTEAD OF']) AS fires, unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS event,
     unnest(ARRAY['ROW', 'STATEMENT']) AS each, unnest(ARRAY['snowflake_ids.created_layout', 'not_layouts', 'not_layout']) AS relation,
     fired(function, fires, event, each, relation) AS said
WHERE (relation = 'not_layout') = (fires = 'INSTEAD OF') AND (event, each) <> ('TRUNCATE', 'ROW')
  AND (fires, each) <> ('INSTEAD OF', 'STATEMENT') AND (fires, event) <> ('INSTEAD OF', 'TRUNCATE')
GROUP BY function, relation, said ORDER BY function, relation, said;
DROP FUNCTION fired;
DROP TABLE not_layouts CASCADE;
-- A rollback leaves nothing behind, also in this session.
BEGIN;
SELECT snowflake_layout_create('brief', '2020-01-01 00:00:00+00', '1 s', 32, 20, 11);
SELECT snowflake_timestamp(0, 'brief');
ROLLBACK;
SELECT snowflake_timestamp(0, 'brief');
BEGIN;
SAVEPOINT s;
SELECT snowflake_layout_create('brief', '2020-01-01 00:00:00+00', '1 s', 32, 20, 11);
SELECT snowflake_timestamp(0, 'brief');
ROLLBACK TO s;
SELECT snowflake_layout_create('brief', '2021-01-01 00:00:00+00', '1 s', 32, 20, 11);
SELECT snowflake_timestamp(0, 'brief');
COMMIT;
SELECT snowflake_timestamp(0, 'brief');
-- Unused ones can be dropped; known ones cannot.
SELECT snowflake_layout_drop('brief');
SELECT snowflake_timestamp(0, 'brief');
SELECT snowflake_layout_create('brief', '2022-01-01 00:00:00+00', '1 s', 32, 20, 11);
SELECT snowflake_timestamp(0, 'brief');
SELECT snowflake_layout_drop('brief');
SELECT snowflake_layout_drop('brief');
SELECT snowflake_layout_drop('twitter');
\echo :LAST_ERROR_SQLSTATE
-- A layout that was created before a version built in its name, as a dump brings it, hides the known one.
BEGIN;
INSERT INTO snowflake_ids.created_layout VALUES ('twitter', '2020-01-01 00:00:00+00', '1 s', 32, 20, 11, false);
SELECT name, epoch, created FROM snowflake_ids.layouts WHERE name = 'twitter';
SELECT snowflake_timestamp(0, 'twitter');
ROLLBACK;
SELECT name, epoch, created FROM snowflake_ids.layouts WHERE name = 'twitter';
SELECT snowflake_timestamp(0, 'twitter');

--
-- Who may
--
SET client_min_messages = warning;
CREATE ROLE regress_layout_user;
SET ROLE regress_layout_user;
SELECT snowflake_timestamp(0, 'acme'), (SELECT count(*) FROM snowflake_ids.layouts);
SELECT snowflake_layout_create('mine', '2020-01-01', '1 s', 32, 20, 11);
SELECT snowflake_layout_drop('acme');
INSERT INTO snowflake_ids.created_layout VALUES ('mine', '2020-01-01', '1 s', 32, 20, 11, false);
DELETE FROM snowflake_ids.created_layout;
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer,
    boolean) TO regress_layout_user;
SET ROLE regress_layout_user;
SELECT snowflake_layout_create('granted', '2020-01-01 00:00:00+00', '1 s', 32, 20, 11);
RESET ROLE;
SELECT snowflake_layout_drop('granted');
REVOKE EXECUTE ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean)
    FROM regress_layout_user;
DROP ROLE regress_layout_user;

--
-- Rows by time
--
CREATE TABLE message (id bigint PRIMARY KEY);
INSERT INTO message SELECT make_snowflake('discord', '2026-03-01'::timestamptz + n * interval '1 min', n % 1024,
    n % 4096) FROM generate_series(1, 2000) AS n;
ANALYZE message;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE id >= snowflake_lower_bound('discord', now() - interval '1 hour');
SELECT count(*) FROM message WHERE id >= snowflake_lower_bound('discord', '2026-03-01 10:00')
    AND id < snowflake_lower_bound('discord', '2026-03-01 11:00');
SELECT count(*) FROM message WHERE id > snowflake_upper_bound('discord', '2026-03-01 10:00')
    AND id <= snowflake_upper_bound('discord', '2026-03-01 11:00');
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE message;
-- The ends of a layout, and where 64-bit ids become negative.
SELECT l, t, snowflake_lower_bound(l, t), snowflake_upper_bound(l, t)
FROM (VALUES ('discord', '2015-01-01'::timestamptz), ('discord', '2084-09-06 15:47:35.551'),
             ('discord', '2084-09-06 15:47:35.552'), ('discord', '2154-05-15 07:35:11.103'), ('twitter', '2080-07-10')) AS v (l, t);
SELECT snowflake_lower_bound('discord', '2154-05-15 07:35:11.104');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_upper_bound('discord', '2014-12-31');
SELECT snowflake_lower_bound('twitter', 'infinity');
SELECT snowflake_upper_bound('twitter', '-infinity');
SELECT snowflake_lower_bound('twitter', '-infinity'), snowflake_upper_bound('twitter', 'infinity');

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(make_snowflake|snowflake_(layout|known|decode|timestamp|lower|upper|observe).*|gen_snowflake|known_layouts|layout_(check|generates|keep|same))$' ORDER BY signature COLLATE "C";
