-- What an ordinary role and the owner of one database may not do to generators, which all databases share.
SET client_min_messages = warning;

-- At the end, these used generators must be as they are now.
CREATE ROLE regress_tenant_owner LOGIN;
CREATE ROLE regress_tenant_user LOGIN;
CREATE DATABASE regress_tenant OWNER regress_tenant_owner;
SELECT current_database() AS main, current_user AS super \gset
SELECT gen_sno() IS NOT NULL AS sno, gen_mastic() > 0 AS mastic, gen_snowflake_si() > 0 AS snowflake_si;
CREATE TABLE tenants_before AS SELECT * FROM snowflake_ids.stats;
\c regress_tenant regress_tenant_owner
-- Trusted: the owner of a database installs it, and owns the extension but none of its objects.
CREATE EXTENSION snowflake_ids;
SELECT extowner::regrole FROM pg_extension WHERE extname = 'snowflake_ids';
SELECT count(*) AS objects_that_are_his FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
WHERE p.proowner = 'regress_tenant_owner'::regrole;

SELECT gen_sno() IS NOT NULL AS draws;

\i sql/include/attempts.psql
SET client_min_messages = error;
GRANT ALL ON FUNCTION gen_sno(int, int) TO regress_tenant_owner;
GRANT ALL ON snowflake_ids.wal_ceiling TO regress_tenant_owner;
SELECT gen_sno(0, 1);
SELECT has_table_privilege('snowflake_ids.wal_ceiling', 'UPDATE') AS ceiling;

\c - regress_tenant_user
SELECT gen_sno() IS NOT NULL AS draws;
\set ECHO none
\i sql/include/attempts.psql
\set ECHO all

-- Set before the library is loaded, when any name with a dot is accepted: the session then generates nothing.
\c -
SET snowflake_ids.machine_id = 7;
SET snowflake_ids.durable_window = '1h';
SELECT gen_sno() IS NOT NULL AS draws;
SELECT current_setting('snowflake_ids.machine_id') <> '7' AS machine_id_stays, current_setting('snowflake_ids.durable_window') <> '1h' AS window_stays;

-- A GRANT of observe still cannot go far ahead.
\c - :super
GRANT EXECUTE ON FUNCTION mastic_observe(mastic, boolean) TO regress_tenant_user;
\c - regress_tenant_user
\set VERBOSITY terse
SELECT mastic_observe(make_mastic('2300-01-01', 0));
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default

-- Dropped and created again: no id twice, none goes back.
\c - regress_tenant_owner
CREATE TABLE ids AS SELECT gen_mastic()::bigint AS id FROM generate_series(1, 1000);
SET client_min_messages = error;
DROP EXTENSION snowflake_ids CASCADE;
CREATE EXTENSION snowflake_ids;
INSERT INTO ids SELECT gen_mastic() FROM generate_series(1, 1000);
SELECT count(*), count(DISTINCT id), max(id) < (SELECT gen_mastic()) AS ascending FROM ids;

\c :main :super
DROP DATABASE regress_tenant;
DROP ROLE regress_tenant_owner, regress_tenant_user;
-- No generator is new, none is ahead of the clock or of where it was.
SELECT s.format, s.machine_id, s.layout, s.owner FROM snowflake_ids.stats s
WHERE NOT EXISTS (SELECT FROM tenants_before b WHERE (b.format, b.machine_id, b.layout, b.owner) IS NOT DISTINCT FROM (s.format, s.machine_id, s.layout, s.owner));
SELECT s.format, s.machine_id, s.clock_lead FROM snowflake_ids.stats s JOIN tenants_before b USING (format, machine_id)
WHERE s.layout IS NOT DISTINCT FROM b.layout AND s.clock_lead > greatest(b.clock_lead, 0) + 1000;
DROP TABLE tenants_before;
