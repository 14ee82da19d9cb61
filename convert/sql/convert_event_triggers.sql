-- An event trigger whose function writes to a table without its schema.
CREATE DATABASE regress_convert_event_triggers;
SELECT current_database() AS main \gset
\c regress_convert_event_triggers
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE TABLE ddl_log (tag text);
CREATE FUNCTION "log DDL"() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ddl_log VALUES (tg_tag);
END $$;
CREATE EVENT TRIGGER "all DDL" ON ddl_command_end EXECUTE FUNCTION "log DDL"();
-- Others that have no part in it.
CREATE FUNCTION log() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE EVENT TRIGGER quiet ON ddl_command_end EXECUTE FUNCTION log();
CREATE EVENT TRIGGER off ON ddl_command_start EXECUTE FUNCTION "log DDL"();
ALTER EVENT TRIGGER off DISABLE;

-- The extensions are created, also where default privileges make them revoke something.
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC;
CREATE EXTENSION snowflake_ids_convert CASCADE;
SELECT count(*) > 100 AS logged, count(*) FILTER (WHERE tag = 'REVOKE') > 0 AS revoked FROM ddl_log;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;

-- A conversion has a path of its own. Its plan and its error say what to type.
CREATE TABLE watched (id bigserial PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
INSERT INTO watched DEFAULT VALUES;
SELECT * FROM snowflake_ids_convert_plan('watched', 'id', 'sno', 'created');
CALL snowflake_ids_convert('watched', 'id', 'sno', 'created', concurrently => false);
-- What it says helps.
ALTER FUNCTION public."log DDL"() SET search_path TO "$user", public;
CALL snowflake_ids_convert('watched', 'id', 'sno', 'created', concurrently => false);
SELECT pg_typeof(id), count(*) FROM watched GROUP BY 1;
SELECT count(*) FILTER (WHERE tag = 'CREATE TRIGGER') > 0 AS logged FROM ddl_log;

\c :main
DROP DATABASE regress_convert_event_triggers;
