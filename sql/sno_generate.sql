SET timezone = 'UTC';
LOAD 'snowflake_ids';
ALTER SYSTEM SET snowflake_ids.machine_id = 4660;
\i sql/include/reload.psql

--
-- What is in an id
--
SELECT pg_typeof(id), sno_metabyte(id), sno_partition(id),
    abs(extract(epoch FROM clock_timestamp() - sno_timestamp(id))) < 10 AS now
FROM gen_sno() AS id;
SELECT sno_metabyte(gen_sno(0)), sno_metabyte(gen_sno(42)), sno_metabyte(gen_sno(255)),
    sno_metabyte(gen_sno(metabyte => 7));
SELECT sno_metabyte(id), sno_partition(id), abs(extract(epoch FROM clock_timestamp() - sno_timestamp(id))) < 10 AS now
FROM gen_sno(3, 65535) AS id;
SELECT sno_partition(gen_sno(0, 0)), sno_partition(gen_sno(partition => 1, metabyte => 2));
-- A default prints as it was written.
CREATE TABLE printed (id sno DEFAULT gen_sno(), of_seven sno DEFAULT gen_sno(7));
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'printed'::regclass ORDER BY adnum;
INSERT INTO printed DEFAULT VALUES RETURNING sno_metabyte(id), sno_metabyte(of_seven);
DROP TABLE printed;

--
-- Arguments
--
SELECT gen_sno(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT gen_sno(256);
SELECT gen_sno(2147483647);
SELECT gen_sno(-2147483648);
SELECT gen_sno(256, 1);
SELECT gen_sno(0, -1);
\echo :LAST_ERROR_SQLSTATE
SELECT gen_sno(0, 65536);
SELECT gen_sno_at(now(), 256);
SELECT gen_sno_at(now(), -1);
SELECT gen_sno_at('2009-12-31 23:59:59.999999+00');
\echo :LAST_ERROR_SQLSTATE
SELECT sno_timestamp(gen_sno_at('2010-01-01 00:00:00+00'));
SELECT sno_timestamp(gen_sno_at('2079-09-07 15:47:35.551999+00'));
SELECT gen_sno_at('2079-09-07 15:47:35.552+00');
SELECT gen_sno_at('infinity');
SELECT gen_sno_at('-infinity');
SELECT gen_sno_at('294276-12-31 23:59:59.999999+00');
SELECT gen_sno_at('4713-01-01 00:00:00+00 BC');
SELECT gen_sno(NULL), gen_sno(NULL, 1), gen_sno(1, NULL), gen_sno_at(NULL), gen_sno_at(now(), NULL);

--
-- Order and uniqueness
--
CREATE TEMP TABLE single AS SELECT n, gen_sno() AS id FROM generate_series(1, 100000) AS n;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id <= previous) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM single) AS s;
-- The own partition, named or not, has one generator.
SELECT gen_sno() AS a \gset
SELECT gen_sno(0, 4660) AS b \gset
SELECT gen_sno() AS c \gset
SELECT gen_sno(0, 4660) AS d \gset
SELECT :'a'::sno < :'b'::sno AND :'b'::sno < :'c'::sno AND :'c'::sno < :'d'::sno AS ascending;
-- Metabytes share the sequence.
SELECT count(DISTINCT make_sno(sno_timestamp(id), 0, sno_partition(id), sno_sequence(id), sno_ticktock(id)))
    FROM (SELECT gen_sno(n % 256) AS id FROM generate_series(1, 20000) AS n) AS s;
SELECT count(DISTINCT make_sno(sno_timestamp(id), 0, sno_partition(id), sno_sequence(id), sno_ticktock(id))) FROM (
    SELECT unnest(ARRAY[gen_sno(1), gen_sno(2, 4660), gen_sno(3)]) AS id FROM generate_series(1, 20000)) AS s;

--
-- Given times: no clock, a sequence that wraps, tick-tock 0
--
SELECT sno_timestamp(id), sno_ticktock(id), sno_metabyte(id), sno_partition(id)
    FROM gen_sno_at('2012-03-04 05:06:07.891234+00', 5) AS id;
SELECT min(sno_timestamp(id)), max(sno_timestamp(id)), count(DISTINCT id), min(sno_sequence(id)),
    max(sno_sequence(id)), max(sno_ticktock(id))
FROM (SELECT gen_sno_at('2012-03-04 05:06:07.891234+00') AS id FROM generate_series(1, 65536)) AS s;
-- The reference starts a round at the second number of its bounds. Here each number follows the one before, in any
-- session.
SELECT sno_sequence(gen_sno_at('2010-01-01 00:00:00+00')) AS first \gset
\c -
SELECT (sno_sequence(gen_sno_at('2011-01-01 00:00:00+00')) - :first) & 65535 AS next;

--
-- Who may
--
SET client_min_messages = warning;
CREATE ROLE regress_sno_user;
SET ROLE regress_sno_user;
SELECT gen_sno() IS NOT NULL AS sno, gen_sno(1) IS NOT NULL AS sno_metabyte;
SELECT gen_sno(0, 1);
SELECT gen_sno_at(now());
RESET ROLE;
GRANT EXECUTE ON FUNCTION gen_sno(integer, integer) TO regress_sno_user;
SET ROLE regress_sno_user;
SELECT sno_partition(gen_sno(0, 1));
RESET ROLE;
REVOKE EXECUTE ON FUNCTION gen_sno(integer, integer) FROM regress_sno_user;
DROP ROLE regress_sno_user;

--
-- Sequence bounds
--
ALTER SYSTEM SET snowflake_ids.sno_sequence_min = 1000;
ALTER SYSTEM SET snowflake_ids.sno_sequence_max = 1005;
\i sql/include/reload.psql
SELECT min(sno_sequence(id)), max(sno_sequence(id)), count(DISTINCT id)
    FROM (SELECT gen_sno() AS id FROM generate_series(1, 100)) AS s;
SELECT min(sno_sequence(id)), max(sno_sequence(id)), count(DISTINCT id)
FROM (SELECT gen_sno_at('2012-03-04 05:06:07.891234+00') AS id FROM generate_series(1, 100)) AS s;

-- Six ids in 4 ms: the 100 ids took at least 16 ticks. Now the same as an error.
SET snowflake_ids.max_wait = 0;
SELECT count(gen_sno()) FROM generate_series(1, 10000);
\echo :LAST_ERROR_SQLSTATE
RESET snowflake_ids.max_wait;
SELECT count(gen_sno()) FROM generate_series(1, 10);

-- Too close, and reversed.
ALTER SYSTEM SET snowflake_ids.sno_sequence_max = 1004;
\i sql/include/reload.psql
SELECT gen_sno();
\echo :LAST_ERROR_SQLSTATE
SELECT gen_sno_at(now());
SELECT gen_sno(0, 4660);
ALTER SYSTEM SET snowflake_ids.sno_sequence_max = 999;
\i sql/include/reload.psql
SELECT gen_sno();
ALTER SYSTEM SET snowflake_ids.sno_sequence_max = 1000;
\i sql/include/reload.psql
SELECT gen_sno();
-- Other formats ignore the bounds.
SELECT gen_mastic() > 0 AS mastic, gen_snowflake_si() > 0 AS snowflake_si;

ALTER SYSTEM RESET snowflake_ids.sno_sequence_min;
ALTER SYSTEM RESET snowflake_ids.sno_sequence_max;
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
-- The whole pool again, above all earlier ids.
SELECT gen_sno(0, 4660) > :'d'::sno AS above, sno_partition(gen_sno()) >= 32768 AS automatic;

--
-- After an import: no imported id is repeated, and other partitions do not matter
--
SELECT make_sno(clock_timestamp() + interval '2 s', 0, 4660, 9) AS imported \gset
SELECT sno_observe(:'imported');
SELECT gen_sno(0, 4660) > :'imported'::sno AS above;
SELECT sno_observe(make_sno(clock_timestamp() + interval '50 s', 0, 4661, 9));
SELECT sno_timestamp(gen_sno(0, 4661)) < clock_timestamp() + interval '5 s' AS not_there;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^gen_sno(_at)?$'
    ORDER BY signature COLLATE "C";
