SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE ROLE regress_settings_user LOGIN;
SELECT current_user AS superuser \gset

-- Until a session uses the extension, its settings are placeholders. Loading the library refuses their values, and then
-- no id is generated.
SET snowflake_ids.machine_id = 5;
SET snowflake_ids.no_such = 1;
SELECT sno_partition(gen_sno()) >= 32768 AS automatic;
SHOW snowflake_ids.machine_id;
SHOW snowflake_ids.no_such;
\c - regress_settings_user
SET snowflake_ids.machine_id = 5;
SET snowflake_ids.sno_sequence_max = 5;
SET snowflake_ids.clock_regression = 'error';
SET snowflake_ids.max_wait = '123ms';
SELECT sno_partition(gen_sno()) >= 32768 AS automatic, sno_sequence(max(gen_sno())) >= 5
    FROM generate_series(1, 10000);
SELECT name, setting, source FROM pg_settings WHERE name LIKE 'snowflake\_ids.%' AND source <> 'default'
    ORDER BY name COLLATE "C";
-- From now on, unknown names are refused.
SET snowflake_ids.no_such = 1;
SET snowflake_ids.maschine_id = 1;

--
-- What there is
--
\c - :superuser
LOAD 'snowflake_ids';
SELECT name, context, vartype, boot_val, min_val, max_val, unit, enumvals FROM pg_settings
WHERE name LIKE 'snowflake\_ids.%' ORDER BY name COLLATE "C";
SELECT name, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'snowflake\_ids.%' ORDER BY name COLLATE "C";
SELECT name FROM pg_settings WHERE name LIKE 'snowflake\_ids.%'
    AND (short_desc IS NULL OR short_desc !~ '^[A-Z].*\.$' OR extra_desc !~ '\.$');
SELECT name FROM pg_settings WHERE name LIKE 'snowflake\_ids.%' AND setting IS DISTINCT FROM boot_val;

--
-- A session, even a superuser's, cannot change what makes ids unique
--
SELECT name, (refusal(format('SET %s = %L', name, boot_val))).* FROM pg_settings
WHERE name LIKE 'snowflake\_ids.%' AND context = 'sighup' ORDER BY name COLLATE "C";
SELECT set_config('snowflake_ids.machine_id', '5', true);
ALTER ROLE regress_settings_user SET snowflake_ids.machine_id = 5;
CREATE FUNCTION f() RETURNS sno LANGUAGE sql SET snowflake_ids.machine_id = 5 RETURN gen_sno();
SET ROLE regress_settings_user;
SET snowflake_ids.machine_id = 5;
ALTER SYSTEM SET snowflake_ids.machine_id = 5;
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

--
-- What a session may choose
--
SET ROLE regress_settings_user;
SET snowflake_ids.max_wait = 0;
SET snowflake_ids.max_wait = '1min';
SHOW snowflake_ids.max_wait;
SET snowflake_ids.max_wait = 1500;
SHOW snowflake_ids.max_wait;
\set VERBOSITY sqlstate
SET snowflake_ids.max_wait = -1;
SET snowflake_ids.max_wait = '25d';
\set VERBOSITY default
SET snowflake_ids.max_wait = 'for ever';
RESET snowflake_ids.max_wait;
SHOW snowflake_ids.max_wait;
RESET ROLE;
BEGIN;
SET LOCAL snowflake_ids.max_wait = '5ms';
SHOW snowflake_ids.max_wait;
ROLLBACK;
SHOW snowflake_ids.max_wait;
CREATE FUNCTION pg_temp.impatient() RETURNS text LANGUAGE sql SET snowflake_ids.max_wait
    = '7ms' RETURN current_setting('snowflake_ids.max_wait');
SELECT pg_temp.impatient(), current_setting('snowflake_ids.max_wait') AS outside;
ALTER ROLE regress_settings_user SET snowflake_ids.max_wait = '6ms';
-- A role cannot have a machine id of its own, even if a session sets it before loading the library.
\c - :superuser
ALTER ROLE regress_settings_user SET snowflake_ids.machine_id = 5;
\c - regress_settings_user
SELECT sno_partition(gen_sno()) >= 32768 AS automatic;
SHOW snowflake_ids.max_wait;
\c - :superuser
LOAD 'snowflake_ids';
SET client_min_messages = warning;

--
-- Values out of range
--
ALTER SYSTEM SET snowflake_ids.machine_id = 65536;
ALTER SYSTEM SET snowflake_ids.machine_id = -2;
ALTER SYSTEM SET snowflake_ids.machine_id = 'x';
ALTER SYSTEM SET snowflake_ids.sno_sequence_min = 65536;
ALTER SYSTEM SET snowflake_ids.sno_sequence_max = -1;
-- Following the clock back, as some implementations do, repeats ids.
ALTER SYSTEM SET snowflake_ids.clock_regression = follow;
\set VERBOSITY sqlstate
ALTER SYSTEM SET snowflake_ids.durable_window = 0;
\set VERBOSITY default

ALTER SYSTEM SET snowflake_ids.machine_id = 65535;
\i sql/include/reload.psql
SELECT sno_partition(gen_sno());
SELECT machine_id, machine_id_source FROM snowflake_ids.status();
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
SELECT sno_partition(gen_sno()) >= 32768 AS automatic;
SELECT machine_id >= 32768 AS automatic, machine_id_source, narrow_machine_id FROM snowflake_ids.status();

-- The automatic machine id is the same in each session; 0 is one, too.
SELECT sno_partition(gen_sno()) AS automatic \gset
\c - :superuser
SELECT sno_partition(gen_sno()) = :automatic AS same;
ALTER SYSTEM SET snowflake_ids.machine_id = 0;
\i sql/include/reload.psql
SELECT sno_partition(gen_sno()), machine_id, machine_id_source, narrow_machine_id FROM snowflake_ids.status();
ALTER SYSTEM SET snowflake_ids.machine_id = -1;
\i sql/include/reload.psql
SELECT sno_partition(gen_sno()) = :automatic AS same, machine_id_source FROM snowflake_ids.status();
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
-- The source is right before the session generates ids.
\c - :superuser
SELECT machine_id >= 32768 AS automatic, machine_id_source, narrow_machine_id FROM snowflake_ids.status();


DROP ROLE regress_settings_user;
