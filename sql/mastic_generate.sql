SET timezone = 'UTC';

--
-- What is in an id
--
SELECT pg_typeof(id), id > 0 AS positive, abs(extract(epoch FROM clock_timestamp() - mastic_timestamp(id))) < 10 AS now,
       mastic_sequence(id) BETWEEN 0 AND 65535 AS sequence
FROM gen_mastic() AS id;

--
-- Order and uniqueness
--
CREATE TEMP TABLE single AS SELECT n, gen_mastic() AS id FROM generate_series(1, 200000) AS n;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id <= previous) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM single) AS s;
SELECT gen_mastic() AS a \gset
\c -
SELECT gen_mastic() > :a AS above;

-- Mastic ignores the machine id and the sno bounds.
SELECT gen_mastic() AS a \gset
ALTER SYSTEM SET snowflake_ids.machine_id = 77;
ALTER SYSTEM SET snowflake_ids.sno_sequence_max = 5;
\i sql/include/reload.psql
SELECT gen_mastic() > :a AS above;
SELECT count(DISTINCT gen_mastic()) FROM generate_series(1, 10000);
ALTER SYSTEM RESET snowflake_ids.machine_id;
ALTER SYSTEM RESET snowflake_ids.sno_sequence_max;
\i sql/include/reload.psql

--
-- Who may: everybody
--
SET client_min_messages = warning;
CREATE ROLE regress_mastic_user;
SET ROLE regress_mastic_user;
SELECT gen_mastic() > 0 AS single;
RESET ROLE;
DROP ROLE regress_mastic_user;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^gen_mastic$' ORDER BY signature COLLATE "C";
