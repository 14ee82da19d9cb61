-- The owner of a database may create look-alikes in the extension's schema. Nothing may use them by mistake. (Decoys of
-- its own functions: decoys.)
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE ROLE regress_lookalike LOGIN;
CREATE DATABASE regress_lookalike OWNER regress_lookalike;
SELECT current_database() AS main, current_user AS super \gset
SELECT gen_sno() IS NOT NULL AS sno, gen_mastic() > 0 AS mastic, gen_snowflake_si() > 0 AS snowflake_si;
CREATE TABLE lookalike_before AS SELECT * FROM snowflake_ids.stats;

\c regress_lookalike regress_lookalike
SET client_min_messages = warning;
-- Taken names are not adopted. (Its schema: install.)
CREATE SCHEMA snowflake_ids;
CREATE VIEW snowflake_ids.stats AS SELECT;
CREATE EXTENSION snowflake_ids;
DROP SCHEMA snowflake_ids CASCADE;
CREATE FUNCTION gen_mastic() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE EXTENSION snowflake_ids;
DROP FUNCTION gen_mastic();
CREATE TYPE sno AS (id bigint);
CREATE EXTENSION snowflake_ids;
DROP TYPE sno;

\i sql/include/traps.psql

CREATE EXTENSION snowflake_ids;
\i sql/include/foreign_dependencies.psql

-- All functions, called by owner and superuser, with the traps first on the path.
\c - :super
SET client_min_messages = warning;
SET search_path = hostile, pg_catalog, public;
SHOW search_path;
SELECT count(*) AS "this is caught" FROM pg_catalog.pg_class WHERE relname = name 'x';
SELECT quote_ident(pg_catalog.text 'this is caught');
\set formats 'pg_catalog.unnest(ARRAY[\'sno\', \'mastic\', \'snowflake_si\']::pg_catalog.text[]) AS f'
-- No function of the extension falls into one, because each names the schema of what it calls.
SELECT f, snowflake_ids.pass_now(f) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() AS now FROM :formats;
SELECT machine_id_source, ceiling_file FROM snowflake_ids.status();
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>=) 3 AS generators FROM snowflake_ids.stats;
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 AS layouts FROM snowflake_ids.layouts;
SELECT public.snowflake_layout_create(pg_catalog.text 'own', pg_catalog.timestamptz '2024-01-01 00:00:00+00',
    pg_catalog.interval '1 ms', 41, 10, 12, false);
SELECT pg_catalog.count(*) AS layouts FROM snowflake_ids.layouts WHERE created;
SELECT public.snowflake_layout_drop(pg_catalog.text 'own');
SELECT snowflake_ids.reset(pg_catalog.now(), pg_catalog.text 'nothing', NULL::pg_catalog.int4, false);

\c - regress_lookalike
SET client_min_messages = warning;
SET search_path = hostile, pg_catalog, public;
SELECT f, snowflake_ids.pass_now(f) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() AS now FROM :formats;

-- The owner of the database may create or drop nothing in the schema snowflake_ids.
\set VERBOSITY sqlstate
CREATE FUNCTION snowflake_ids.pass_now(name) RETURNS timestamptz LANGUAGE sql AS 'SELECT now()';
ALTER SCHEMA snowflake_ids RENAME TO mine;
DROP SCHEMA snowflake_ids CASCADE;
\set VERBOSITY terse

-- An object there that is no member is not used.
\c - :super
ALTER EXTENSION snowflake_ids DROP MATERIALIZED VIEW snowflake_ids.wal_ceiling;
ALTER EXTENSION snowflake_ids DROP TABLE snowflake_ids.created_layout;
ALTER MATERIALIZED VIEW snowflake_ids.wal_ceiling RENAME TO true_ceiling;
ALTER TABLE snowflake_ids.created_layout RENAME TO true_layout;
CREATE MATERIALIZED VIEW snowflake_ids.wal_ceiling AS SELECT 9000000000000000000;
CREATE TABLE snowflake_ids.created_layout (name pg_catalog.text, epoch pg_catalog.text);
\c -
SELECT gen_mastic();
SELECT snowflake_timestamp(1::pg_catalog.int8, pg_catalog.text 'own');
DROP MATERIALIZED VIEW snowflake_ids.wal_ceiling;
DROP TABLE snowflake_ids.created_layout;
ALTER MATERIALIZED VIEW snowflake_ids.true_ceiling RENAME TO wal_ceiling;
ALTER TABLE snowflake_ids.true_layout RENAME TO created_layout;
ALTER EXTENSION snowflake_ids ADD MATERIALIZED VIEW snowflake_ids.wal_ceiling;
ALTER EXTENSION snowflake_ids ADD TABLE snowflake_ids.created_layout;
SELECT gen_mastic() IS NOT NULL AS mastic;
SELECT snowflake_timestamp(1::pg_catalog.int8, pg_catalog.text 'own');

-- The shared generators: none is new, none is ahead of the clock or of where it was.
\c :main :super
SET client_min_messages = warning;
DROP DATABASE regress_lookalike;
DROP ROLE regress_lookalike;
SELECT s.format, s.machine_id, s.layout FROM snowflake_ids.stats s
WHERE NOT EXISTS (SELECT FROM lookalike_before b WHERE (b.format, b.machine_id, b.layout, b.owner) IS NOT DISTINCT
    FROM (s.format, s.machine_id, s.layout, s.owner));
SELECT s.format, s.machine_id, s.clock_lead FROM snowflake_ids.stats s JOIN lookalike_before b USING (format, machine_id)
WHERE s.layout IS NOT DISTINCT FROM b.layout AND s.clock_lead > greatest(b.clock_lead, 0) + 1000;
DROP TABLE lookalike_before;
