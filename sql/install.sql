SET client_min_messages = warning;
CREATE ROLE regress_install_owner LOGIN;
CREATE ROLE regress_install_user LOGIN;
CREATE DATABASE regress_install OWNER regress_install_owner;
SELECT current_user AS superuser, current_database() AS here \gset

-- The owner of a database installs it without a superuser, in any schema.
\c regress_install regress_install_owner
SET client_min_messages = warning;
CREATE SCHEMA ids;
-- But not in its own. Servers from 18 on add the place in the script.
\set SHOW_CONTEXT never
CREATE EXTENSION snowflake_ids SCHEMA snowflake_ids;
CREATE SCHEMA snowflake_ids;
CREATE EXTENSION snowflake_ids SCHEMA snowflake_ids;
-- An empty schema of that name, if this role owns it, is replaced.
COMMENT ON SCHEMA snowflake_ids IS 'made by a migration';
GRANT ALL ON SCHEMA snowflake_ids TO regress_install_user;
ALTER DEFAULT PRIVILEGES IN SCHEMA snowflake_ids GRANT ALL ON TABLES TO regress_install_user;
BEGIN;
-- The script does not depend on how the session reads strings. PostgreSQL 19 has one way only.
SELECT current_setting('server_version_num')::int < 190000 AS has_two_ways \gset
\if :has_two_ways
SET LOCAL standard_conforming_strings = off;
\endif
CREATE EXTENSION snowflake_ids SCHEMA ids;
SELECT ids.gid_is_empty(ids.gid_empty('log')) AS empty;
SELECT nspowner::regrole <> current_user::regrole AS "not his", has_schema_privilege('regress_install_user', oid, 'CREATE') AS others,
       obj_description(oid, 'pg_namespace') AS comment, (SELECT count(*) FROM pg_default_acl) AS default_privileges
FROM pg_namespace WHERE nspname = 'snowflake_ids';
ROLLBACK;
SELECT nspowner::regrole, has_schema_privilege('regress_install_user', oid, 'CREATE') AS others,
       obj_description(oid, 'pg_namespace') AS comment, (SELECT count(*) FROM pg_default_acl) AS default_privileges
FROM pg_namespace WHERE nspname = 'snowflake_ids';
-- A schema with anything in it stays, and the installation fails.
CREATE TABLE snowflake_ids.mine ();
CREATE EXTENSION snowflake_ids SCHEMA ids;
DROP TABLE snowflake_ids.mine;
CREATE FUNCTION snowflake_ids.mine() RETURNS int LANGUAGE sql RETURN 1;
CREATE EXTENSION snowflake_ids SCHEMA ids;
DROP FUNCTION snowflake_ids.mine();
CREATE EXTENSION hstore SCHEMA snowflake_ids;
CREATE EXTENSION snowflake_ids SCHEMA ids;
DROP EXTENSION hstore;
CREATE EXTENSION snowflake_ids SCHEMA ids;
SELECT nspowner::regrole <> current_user::regrole AS "not his", has_schema_privilege('regress_install_user', oid, 'CREATE') AS others,
       (SELECT count(*) FROM pg_default_acl) AS default_privileges
FROM pg_namespace WHERE nspname = 'snowflake_ids';
DROP EXTENSION snowflake_ids;
-- So does one of another role, also if a superuser asks or owns it.
\c - :superuser
SET client_min_messages = warning;
CREATE SCHEMA snowflake_ids AUTHORIZATION regress_install_owner;
CREATE EXTENSION snowflake_ids SCHEMA ids;
ALTER SCHEMA snowflake_ids OWNER TO CURRENT_USER;
SET client_min_messages = error;
CREATE PUBLICATION regress_install FOR TABLES IN SCHEMA snowflake_ids;
SET client_min_messages = warning;
SET ROLE regress_install_owner;
CREATE EXTENSION snowflake_ids SCHEMA ids;
RESET ROLE;
-- So does one of another extension.
ALTER EXTENSION plpgsql ADD SCHEMA snowflake_ids;
CREATE EXTENSION snowflake_ids SCHEMA ids;
ALTER EXTENSION plpgsql DROP SCHEMA snowflake_ids;
CREATE ROLE "regress install ""owner""" SUPERUSER;
ALTER SCHEMA snowflake_ids OWNER TO "regress install ""owner""";
SET ROLE "regress install ""owner""";
CREATE EXTENSION IF NOT EXISTS snowflake_ids SCHEMA ids;
SELECT nspowner::regrole, (SELECT count(*) FROM pg_publication_namespace) AS published FROM pg_namespace WHERE nspname = 'snowflake_ids';
DROP EXTENSION snowflake_ids;
RESET ROLE;
DROP PUBLICATION regress_install;
DROP ROLE "regress install ""owner""";
\c - regress_install_owner
SET client_min_messages = warning;
\set SHOW_CONTEXT errors
CREATE EXTENSION snowflake_ids SCHEMA ids;
SELECT extname, nspname, extrelocatable FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'snowflake_ids';
-- Outside its schemas only comparison operators exist: PostgreSQL finds them without a search path.
SELECT o.type, o.schema, count(*) AS elsewhere FROM pg_depend d, pg_identify_object(d.classid, d.objid, d.objsubid) AS o
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids') AND d.deptype = 'e' AND o.schema NOT IN ('ids', 'snowflake_ids') GROUP BY 1, 2;

-- Everything works without a search path, and after a rename of its schema.
CREATE TABLE ids_used (a ids.sno DEFAULT ids.gen_sno(), b ids.gid(log) DEFAULT ids.gen_gid('log'), c bigint DEFAULT ids.gen_mastic(),
                       d bigint DEFAULT ids.gen_snowflake_si());
SET search_path = '';
INSERT INTO public.ids_used DEFAULT VALUES;
SELECT count(*) > 0 AS stats FROM snowflake_ids.stats;
SELECT ceiling_file FROM snowflake_ids.status();
ALTER EXTENSION snowflake_ids SET SCHEMA public;
ALTER SCHEMA ids RENAME TO "moved ""ids""";
INSERT INTO public.ids_used DEFAULT VALUES;
SELECT count(*) > 0 AS stats FROM snowflake_ids.stats;
SELECT ceiling_file FROM snowflake_ids.status();
\c -
SET search_path = '';
INSERT INTO public.ids_used DEFAULT VALUES RETURNING a IS NOT NULL AS a, b IS NOT NULL AS b, c > 0 AS c, d > 0 AS d;
SELECT count(*), count(DISTINCT a), count(DISTINCT b), count(DISTINCT c), count(DISTINCT d) FROM public.ids_used;
SELECT count(*) > 0 AS stats FROM snowflake_ids.stats;
SELECT ceiling_file FROM snowflake_ids.status();
ALTER SCHEMA "moved ""ids""" RENAME TO ids;

-- Its names in an earlier schema change nothing.
SET client_min_messages = warning;
CREATE SCHEMA decoy;
CREATE MATERIALIZED VIEW decoy.wal_ceiling AS SELECT 1 AS one;
CREATE FUNCTION decoy.gen_sno(integer DEFAULT 0) RETURNS ids.sno LANGUAGE sql RETURN '2222222222222222'::ids.sno;
CREATE FUNCTION decoy.node() RETURNS integer LANGUAGE sql RETURN 1 / 0;
CREATE TABLE decoy.pg_settings (name text);
SET search_path = decoy, ids, public;
INSERT INTO ids_used DEFAULT VALUES;
SELECT ceiling_file FROM snowflake_ids.status();
SELECT * FROM decoy.wal_ceiling;
RESET search_path;
DROP SCHEMA decoy CASCADE;

-- The owner of the database may not do what only a superuser can grant.
SELECT ids.gen_sno(0, 1);
SELECT snowflake_ids.stats_reset();
\set VERBOSITY sqlstate
REFRESH MATERIALIZED VIEW snowflake_ids.wal_ceiling;  -- from 17 on in other words
\set VERBOSITY default
\c - regress_install_user
CREATE EXTENSION snowflake_ids;
SELECT ids.gen_sno();

\c - regress_install_owner
\set VERBOSITY terse
DROP EXTENSION snowflake_ids;
\set VERBOSITY default
SELECT max(c) AS last_c, ids.max(a) AS last_a FROM ids_used \gset
SET client_min_messages = warning;
DROP EXTENSION snowflake_ids CASCADE;
SELECT attname FROM pg_attribute WHERE attrelid = 'ids_used'::regclass AND attnum > 0 AND NOT attisdropped;
SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'ids';
-- Created again in the same session, it continues above.
CREATE EXTENSION snowflake_ids SCHEMA ids;
SELECT ids.gen_mastic() OPERATOR(pg_catalog.>) :last_c AS mastic, ids.gen_sno() OPERATOR(pg_catalog.>) :'last_a' AS sno;
BEGIN;
DROP EXTENSION snowflake_ids;
ROLLBACK;
SELECT ids.gen_mastic() OPERATOR(pg_catalog.>) :last_c AS mastic;

\c :here :superuser
DROP DATABASE regress_install;
DROP ROLE regress_install_owner, regress_install_user;
