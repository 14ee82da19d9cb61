-- In a database of its own, because the layouts use up what a database may.
SELECT current_database() AS here \gset
CREATE DATABASE regress_layout TEMPLATE :"here";
\c regress_layout
SET timezone = 'UTC';
SET datestyle = 'ISO';
LOAD 'snowflake_ids';
ALTER SYSTEM SET snowflake_ids.machine_id = 21;
\i sql/include/reload.psql

--
-- What is in an id; order and uniqueness
--
SELECT snowflake_layout_create('seconds', '2020-01-01 00:00:00+00', '1 s', 32, 11, 20);
SELECT snowflake_layout_create('tenth', '2020-01-01 00:00:00+00', '100 us', 44, 6, 8);
SELECT snowflake_layout_create('last', '2020-01-01 00:00:00+00', '1 ms', 41, 10, 12, true);
-- A known layout may have ended.
CREATE TEMP VIEW running AS SELECT name, created FROM snowflake_ids.layouts
    WHERE generates AND now() >= epoch AND now() < epoch + tick * 2 ^ timestamp_bits;
CREATE TEMP TABLE drawn (layout text, part int, n bigint, id bigint);
INSERT INTO drawn SELECT name, 1, n, gen_snowflake(name) FROM running, generate_series(1, 5000) AS n
    WHERE name <> 'sonyflake' ORDER BY name, n;
INSERT INTO drawn SELECT 'sonyflake', 1, n, gen_snowflake('sonyflake') FROM generate_series(1, 2000) AS n;
INSERT INTO drawn SELECT name, 2, 1, gen_snowflake(name) FROM running;
SELECT layout, count(*) AS ids, count(DISTINCT id) AS "different",
    count(*) FILTER (WHERE id <= previous) AS inversions, min(node) AS node, max(node) = min(node) AS one_node,
       bool_and(abs(extract(epoch FROM clock_timestamp() - created)) < 60) AS now
FROM (SELECT d.*, f.*, lag(id) OVER (PARTITION BY layout ORDER BY part, n) AS previous
    FROM drawn d, snowflake_decode(id, layout) f) AS s
GROUP BY 1 ORDER BY 1;
SELECT max(sequence) < 65536 AS within FROM drawn, snowflake_decode(id, 'seconds') WHERE layout = 'seconds';
SELECT gen_snowflake(NULL);

--
-- A transaction discards the rest of its numbers, so numbers used grow with the ids, also if one statement is many
-- transactions
--
CREATE PROCEDURE numbers_for(transactions int, ids int, INOUT numbers numeric DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    drawn bigint[];
BEGIN
    FOR t IN 1 .. transactions LOOP
        FOR i IN 1 .. ids LOOP drawn := drawn || gen_snowflake('seconds'); END LOOP;
        COMMIT;
    END LOOP;
    SELECT sum(used) INTO numbers FROM (
        SELECT sequence - lag(sequence) OVER (PARTITION BY created ORDER BY id) AS used
        FROM unnest(drawn) AS id, snowflake_decode(id, 'seconds')) AS s;
END $$;
CALL numbers_for(100, 1) \gset one_
CALL numbers_for(30, 10) \gset ten_
SELECT CASE WHEN :one_numbers < 100 THEN 'one an id' ELSE :'one_numbers' END AS by_ones,
       CASE WHEN :ten_numbers BETWEEN 301 AND 599 THEN 'between one and two an id' ELSE :'ten_numbers' END AS by_tens;
DROP PROCEDURE numbers_for;

--
-- As a default
--
CREATE TABLE tweet (id bigint DEFAULT gen_snowflake('twitter') PRIMARY KEY, n int);
INSERT INTO tweet (n) SELECT generate_series(1, 1000);
SELECT count(*), bool_and(snowflake_timestamp(id, 'twitter')
    BETWEEN now() - interval '1 min' AND now() + interval '1 min') AS now FROM tweet;
DROP TABLE tweet;

--
-- Layouts with the same numbers share one generator
--
SELECT snowflake_layout_create('birds', '2010-11-04 01:42:54.657+00', '1 ms', 41, 10, 12);
SELECT snowflake_layout_create('birds again', '2010-11-04 01:42:54.657+00', '1 ms', 40, 10, 12);
SELECT snowflake_layout_create('my mastic', '2026-01-01 00:00:00+00', '1 ms', 40, 0, 16);
SELECT snowflake_layout_create('my si', '2026-01-01 00:00:00+00', '1 ms', 41, 5, 8);
SELECT count(*) AS slots FROM snowflake_ids.stats \gset before_
CREATE TEMP TABLE same AS SELECT n, gen_snowflake('twitter') AS a, gen_snowflake('birds') AS b,
    gen_snowflake('birds again') AS c FROM generate_series(1, 10000) AS n;
SELECT count(DISTINCT id) FROM (SELECT a FROM same UNION ALL SELECT b FROM same UNION ALL SELECT c FROM same) AS s (id);
DROP TABLE same;
CREATE TEMP TABLE same AS SELECT n, gen_mastic() AS a, gen_snowflake('mastic') AS b, gen_snowflake('my mastic') AS c
    FROM generate_series(1, 10000) AS n;
SELECT count(DISTINCT id) FROM (SELECT a FROM same UNION ALL SELECT b FROM same UNION ALL SELECT c FROM same) AS s (id);
DROP TABLE same;
CREATE TEMP TABLE same AS SELECT n, gen_snowflake_si() AS a, gen_snowflake('snowflake_si') AS b,
    gen_snowflake('my si') AS c FROM generate_series(1, 10000) AS n;
SELECT count(DISTINCT id) FROM (SELECT a FROM same UNION ALL SELECT b FROM same UNION ALL SELECT c FROM same) AS s (id);
SELECT count(*) - :before_slots AS new_slots FROM snowflake_ids.stats;
SELECT layout, machine_id, owner = current_database() AS owned, issued > 0 AS issued, last_timestamp > '2026-01-01' AS last,
    durable_until > last_timestamp AS durable
FROM snowflake_ids.stats WHERE format = 'layout' AND (machine_id = 21 OR machine_id = 0 AND owner = current_database())
    ORDER BY layout COLLATE "C";

--
-- Cannot be generated
--
SELECT snowflake_layout_create('other si', '2025-01-01 00:00:00+00', '1 ms', 40, 5, 8);
SELECT snowflake_layout_create('ended', '1990-01-01 00:00:00+00', '1 ms', 32, 5, 9);
SELECT snowflake_layout_create('later', '2200-01-01 00:00:00+00', '1 ms', 32, 5, 9);
SELECT snowflake_layout_create('slow', '2020-01-01 00:00:00+00', '2 s', 32, 5, 9);
SELECT snowflake_layout_create('odd', '2020-01-01 00:00:00+00', '1024 us', 32, 5, 9);
SELECT snowflake_layout_create('old', '1969-01-01 00:00:00+00', '1 ms', 41, 5, 9);
SELECT snowflake_layout_create('narrow', '2020-01-01 00:00:00+00', '1 ms', 41, 4, 10);
SELECT name, generates FROM snowflake_ids.layouts
    WHERE name IN ('other si', 'ended', 'later', 'slow', 'odd', 'old', 'narrow', 'mastodon') ORDER BY 1;
SELECT gen_snowflake('mastodon');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('facebook');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('ended');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('later');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('slow');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('odd');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('old');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_snowflake('narrow');
\echo :LAST_ERROR_SQLSTATE
-- They can be decoded.
SELECT s, snowflake_timestamp(12345678901, s) FROM unnest(ARRAY['slow', 'odd', 'old', 'narrow']) AS s;
SELECT count(*) - :before_slots AS new_slots FROM snowflake_ids.stats;

--
-- Snowflake-SI's widths with another epoch
--
SELECT count(DISTINCT gen_snowflake('other si')),
    min((snowflake_decode(gen_snowflake('other si'), 'other si')).node) AS node FROM generate_series(1, 1000);
SELECT format, layout FROM snowflake_ids.stats WHERE layout LIKE '%5 node bits, 8 sequence bits';

--
-- Used up: errors
--
SET snowflake_ids.max_wait = 0;
SELECT count(gen_snowflake('sonyflake')) FROM generate_series(1, 100000);
\echo :LAST_ERROR_SQLSTATE
RESET snowflake_ids.max_wait;

--
-- Used layouts stay
--
SELECT snowflake_layout_drop('seconds');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_layout_drop('birds');
SELECT snowflake_layout_drop('my mastic');
SELECT snowflake_layout_drop('my si');
SELECT snowflake_layout_drop('slow');
SELECT snowflake_layout_drop('narrow');

--
-- Observe: only forward, only this node, only plausible
--
SELECT gen_snowflake('twitter') AS before \gset
SELECT make_snowflake('twitter', clock_timestamp() + interval '2 s', 21, 0) AS imported \gset
SELECT snowflake_observe('twitter', :imported);
SELECT gen_snowflake('twitter') > :imported AS above, gen_snowflake('birds') > :imported AS birds_too;
SELECT snowflake_observe('pgedge', make_snowflake('pgedge', clock_timestamp() + interval '30 s', 22, 0));
SELECT gen_snowflake('pgedge') < snowflake_lower_bound('pgedge', clock_timestamp() + interval '20 s') AS not_ours;
\set VERBOSITY terse
SELECT snowflake_observe('twitter', make_snowflake('twitter', '2070-01-01', 21, 0));
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default
SELECT snowflake_observe('twitter', -1);
\echo :LAST_ERROR_SQLSTATE

--
-- Everybody may generate, and what a database can use up is bounded
--
SET client_min_messages = warning;
CREATE ROLE regress_layout_user;
SET ROLE regress_layout_user;
SELECT gen_snowflake('twitter') > 0 AS known, gen_snowflake('seconds') > 0 AS created;
SELECT snowflake_observe('twitter', 1);
RESET ROLE;
DROP ROLE regress_layout_user;
SELECT count(*) AS owned FROM snowflake_ids.stats WHERE owner = current_database() \gset
SELECT count(snowflake_layout_create('filler ' || n, '2020-01-01'::timestamptz + n * interval '1 day', '1 ms', 41, 10,
    12)) FROM generate_series(1, 70) AS n;
SELECT r.*, count(*) = 64 - :owned AS up_to_the_limit
    FROM generate_series(1, 70) AS n, refusal(format('SELECT gen_snowflake(%L)', 'filler ' || n)) AS r
WHERE r.state = 'accepted' GROUP BY 1, 2, 3;
SELECT gen_snowflake('filler 70');
-- Layouts without a local owner, and other databases, are not bounded by it.
ALTER SYSTEM SET snowflake_ids.machine_id = 20;
\i sql/include/reload.psql
SELECT name, gen_snowflake(name) > 0 AS works FROM running WHERE NOT created;
ALTER SYSTEM SET snowflake_ids.machine_id = 21;
\i sql/include/reload.psql
CREATE DATABASE regress_layout_2;
\c regress_layout_2
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids;
-- Neither the same name with other numbers, nor another name with the same, meets the other's ids.
SELECT snowflake_layout_create('seconds', '2020-01-01 00:00:00+00', '10 ms', 40, 11, 12);
SELECT snowflake_layout_create('filler', '2020-01-02 00:00:00+00', '1 ms', 41, 10, 12);
SELECT abs(extract(epoch FROM clock_timestamp() - snowflake_timestamp(gen_snowflake('seconds'), 'seconds'))) < 10
    AS other_numbers;
SELECT count(DISTINCT gen_snowflake('filler')) FROM generate_series(1, 1000);
SELECT layout, count(*), count(DISTINCT owner) FROM snowflake_ids.stats
    WHERE format = 'layout' AND machine_id = 21 AND layout ~ '2020-01-0[12] .*(10 ms|12 sequence)' GROUP BY 1 ORDER BY 1;
SELECT gen_snowflake('filler') AS there \gset
\c regress_layout
SELECT gen_snowflake('filler 1') > :there AS above;
\c :here
DROP DATABASE regress_layout;
DROP DATABASE regress_layout_2;
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
