SET timezone = 'UTC';
LOAD 'snowflake_ids';
ALTER SYSTEM SET snowflake_ids.machine_id = 31;
\i sql/include/reload.psql

--
-- What is in an id
--
SELECT pg_typeof(id), id BETWEEN 1 AND 9007199254740991 AS exact_in_a_double, snowflake_si_machine_id(id),
       snowflake_si_uin(id) BETWEEN 0 AND 255 AS uin,
       abs(extract(epoch FROM clock_timestamp() - snowflake_si_timestamp(id))) < 10 AS now
FROM gen_snowflake_si() AS id;

--
-- Order and uniqueness. A millisecond has 256 ids, so most of these wait.
--
CREATE TEMP TABLE single AS SELECT n, gen_snowflake_si() AS id FROM generate_series(1, 100000) AS n;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id <= previous) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM single) AS s;
SELECT max(uins) <= 256 AS within_the_pool, max(last_uin), min(first_uin) FROM (
    SELECT snowflake_si_timestamp(id), count(*) AS uins, min(snowflake_si_uin(id)) AS first_uin,
        max(snowflake_si_uin(id)) AS last_uin
    FROM single GROUP BY 1) AS s;

--
-- Used up: errors
--
SET snowflake_ids.max_wait = 0;
SELECT count(gen_snowflake_si()) FROM generate_series(1, 1000000);
\echo :LAST_ERROR_SQLSTATE
RESET snowflake_ids.max_wait;

--
-- A machine id that does not fit the width
--
ALTER SYSTEM SET snowflake_ids.machine_id = 32;
\i sql/include/reload.psql
SELECT gen_snowflake_si();
\echo :LAST_ERROR_SQLSTATE
-- It fits sno.
SELECT sno_partition(gen_sno());
ALTER SYSTEM SET snowflake_ids.machine_id = 31;
\i sql/include/reload.psql
SELECT snowflake_si_machine_id(gen_snowflake_si());
-- Nothing configured: 0.
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
SELECT snowflake_si_machine_id(gen_snowflake_si());

--
-- Another base clock or width is another layout, with unrelated ids
--
SELECT snowflake_layout_create('shop', epoch => '2024-01-01 00:00:00+00', tick => '1 ms', timestamp_bits => 40,
    node_bits => 5, sequence_bits => 8);
SELECT snowflake_layout_create('wide shop', epoch => '2026-01-01 00:00:00+00', tick => '1 ms', timestamp_bits => 41,
    node_bits => 12, sequence_bits => 10);
SELECT name, generates, javascript_safe FROM snowflake_ids.layouts WHERE name ~ 'shop|snowflake_si|mastic' ORDER BY 1;
ALTER SYSTEM SET snowflake_ids.machine_id = 31;
\i sql/include/reload.psql
SELECT id BETWEEN 1 AND 9007199254740991 AS exact_in_a_double, d.node, d.sequence BETWEEN 0 AND 255 AS sequence,
       abs(extract(epoch FROM clock_timestamp() - d.created)) < 10 AS now, id > gen_snowflake_si() AS of_an_earlier_base
FROM gen_snowflake('shop') AS id, snowflake_decode(id, 'shop') AS d;
SELECT format, machine_id, layout FROM snowflake_ids.stats WHERE layout ~ 'epoch 2024' ORDER BY 1, 2;
-- A machine id that Snowflake-SI cannot hold.
ALTER SYSTEM SET snowflake_ids.machine_id = 4095;
\i sql/include/reload.psql
SELECT (snowflake_decode(gen_snowflake('wide shop'), 'wide shop')).node;
SELECT gen_snowflake('shop');
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql

--
-- Who may: everybody
--
SET client_min_messages = warning;
CREATE ROLE regress_si_user;
SET ROLE regress_si_user;
SELECT gen_snowflake_si() > 0 AS single;
RESET ROLE;
DROP ROLE regress_si_user;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^gen_snowflake_si$'
    ORDER BY signature COLLATE "C";
