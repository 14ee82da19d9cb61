-- An extension is dropped or its schema renamed during a conversion.
CREATE DATABASE regress_convert_extension;
SELECT current_database() AS main \gset
\c regress_convert_extension
SET timezone = 'UTC';
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA one;
CREATE SCHEMA "Two";
CREATE SCHEMA tool;
CREATE EXTENSION snowflake_ids SCHEMA one;
-- An empty schema of its name is replaced; one with objects, or of another role, stays.
CREATE SCHEMA snowflake_ids_convert;
CREATE TABLE snowflake_ids_convert.mine ();
CREATE EXTENSION snowflake_ids_convert SCHEMA tool;
DROP TABLE snowflake_ids_convert.mine;
CREATE EXTENSION snowflake_ids_convert SCHEMA snowflake_ids_convert;
GRANT CREATE ON SCHEMA snowflake_ids_convert TO PUBLIC;
CREATE ROLE regress_convert_extension;
GRANT CREATE ON DATABASE regress_convert_extension TO regress_convert_extension;
GRANT USAGE, CREATE ON SCHEMA tool TO regress_convert_extension;
SET ROLE regress_convert_extension;
CREATE EXTENSION snowflake_ids_convert SCHEMA tool;
RESET ROLE;
ALTER SCHEMA snowflake_ids_convert OWNER TO regress_convert_extension;
CREATE EXTENSION snowflake_ids_convert SCHEMA tool;
SET ROLE regress_convert_extension;
CREATE EXTENSION snowflake_ids_convert SCHEMA tool;
SELECT nspowner::regrole = 'regress_convert_extension'::regrole AS theirs,
       has_schema_privilege('public', oid, 'CREATE') AS creates
FROM pg_namespace
WHERE nspname = 'snowflake_ids_convert';
DROP EXTENSION snowflake_ids_convert;
RESET ROLE;

-- What default privileges give is revoked. A role that could create functions in the schema, or triggers on the view,
-- would have them run by others. Owners of converted tables may call what is there.
ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO regress_convert_extension;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO regress_convert_extension, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
CREATE EXTENSION snowflake_ids_convert SCHEMA tool;
SELECT o.object, a.grantee::regrole, string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) AS privileges
FROM (SELECT nspname AS object, nspacl AS acl, nspowner AS owner FROM pg_namespace WHERE nspname = 'snowflake_ids_convert'
      UNION ALL
      SELECT relname, relacl, relowner FROM pg_class WHERE relname ~ '^(my_)?conversion$|_progress$') AS o
     CROSS JOIN aclexplode(o.acl) AS a
WHERE a.grantee <> o.owner
GROUP BY 1, 2
ORDER BY 1, 2;
GRANT USAGE ON SCHEMA one TO regress_convert_extension;
GRANT EXECUTE ON PROCEDURE tool.snowflake_ids_convert TO regress_convert_extension;
SET ROLE regress_convert_extension;
CREATE FUNCTION snowflake_ids_convert.fill_step(text) RETURNS int LANGUAGE sql RETURN 1;
CREATE TRIGGER mine INSTEAD OF UPDATE ON snowflake_ids_convert.my_conversion
    FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TABLE tool.mine (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
INSERT INTO tool.mine VALUES (1);
CALL tool.snowflake_ids_convert('tool.mine', 'id', 'mastic', 'created', concurrently => false);
SELECT phase FROM tool.snowflake_ids_convert_progress;
DROP TABLE tool.mine;
RESET ROLE;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM regress_convert_extension;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM regress_convert_extension, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC;
DROP EXTENSION snowflake_ids_convert;
DROP OWNED BY regress_convert_extension;
DROP ROLE regress_convert_extension;
CREATE EXTENSION snowflake_ids_convert SCHEMA tool;
CREATE TABLE by_sno (id int PRIMARY KEY, up int REFERENCES by_sno, created timestamptz NOT NULL DEFAULT now());
CREATE TABLE by_mastic (LIKE by_sno INCLUDING ALL);
CREATE TABLE by_si (LIKE by_sno INCLUDING ALL);
CREATE TABLE of_mastic (key int REFERENCES by_mastic);
INSERT INTO by_sno
SELECT n, nullif(n - 1, 0), timestamptz '2026-02-01' + n * interval '1 s'
FROM generate_series(1, 5) AS n;
INSERT INTO by_mastic TABLE by_sno;
INSERT INTO by_si TABLE by_sno;
INSERT INTO of_mastic SELECT id FROM by_mastic;
CALL tool.snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', finish => false);
-- The triggers keep both extensions. (The lines of the detail are sorted.)
CREATE FUNCTION needs(extension text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
BEGIN
    EXECUTE format('DROP EXTENSION %I', extension);
    RETURN NEXT 'nothing';
EXCEPTION WHEN dependent_objects_still_exist THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RETURN QUERY
    SELECT regexp_replace(line, 'map_\d+', 'map_N')
    FROM regexp_split_to_table(detail, '\n') AS line
    ORDER BY line COLLATE "C";
END $$;
SELECT needs('snowflake_ids_convert');
SELECT needs('snowflake_ids');
CALL tool.snowflake_ids_convert('by_si', 'id', 'snowflake_si', 'created', finish => false);
SELECT tool.snowflake_ids_convert_undo('by_mastic');
SELECT count(*) > 0 AS needed FROM needs('snowflake_ids_convert') WHERE needs <> 'nothing';
SELECT tool.snowflake_ids_convert_undo('by_si');
BEGIN;
SELECT needs('snowflake_ids_convert');
SELECT nspname FROM pg_namespace WHERE nspname ~ '^snowflake';
ROLLBACK;
CALL tool.snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', keep_position => true, finish => false);
CALL tool.snowflake_ids_convert('by_sno', 'id', 'sno', 'created', metabyte => 7, finish => false);
CALL tool.snowflake_ids_convert('by_si', 'id', 'snowflake_si', 'created', finish => false);

-- Only the schema of the functions for users can change.
ALTER EXTENSION snowflake_ids_convert SET SCHEMA "Two";
ALTER SCHEMA tool RENAME TO "The tool";
ALTER SCHEMA one RENAME TO two;
INSERT INTO by_sno (id, up) VALUES (6, 6);
INSERT INTO by_mastic (id) VALUES (6);
INSERT INTO by_si (id) VALUES (6);
INSERT INTO of_mastic VALUES (6);
UPDATE by_sno SET up = 6 WHERE id = 2;
DROP EXTENSION snowflake_ids;
CALL "The tool".snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', keep_position => true, finish => false);
ALTER SCHEMA two RENAME TO three;
INSERT INTO by_mastic (id) VALUES (7);
CALL "The tool".snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', keep_position => true);
CALL "The tool".snowflake_ids_convert('by_sno', 'id', 'sno', 'created', metabyte => 7, concurrently => false);
SELECT "The tool".snowflake_ids_convert_undo('by_si');
SELECT count(*),
       count(*) FILTER (WHERE three.mastic_timestamp(m.id) = m.created AND m.created < '2026-03-01') AS of_their_times
FROM of_mastic o
     JOIN by_mastic m ON m.id OPERATOR(pg_catalog.=) o.key;
SELECT count(*),
       count(*) FILTER (WHERE three.sno_timestamp(id) = created AND created < '2026-03-01') AS of_their_times,
       count(*) FILTER (WHERE up::text = id::text) AS own
FROM by_sno;
SELECT pg_get_expr(adbin, adrelid)
FROM pg_attrdef
WHERE adrelid = 'by_sno'::regclass AND pg_get_expr(adbin, adrelid) ~ 'gen';

-- The schema of the table is renamed.
CREATE SCHEMA shop;
CREATE TABLE shop.item (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT now());
CALL "The tool".snowflake_ids_convert('shop.item', 'id', 'mastic', 'created', finish => false);
ALTER SCHEMA shop RENAME TO store;
INSERT INTO store.item VALUES (1);
CALL "The tool".snowflake_ids_convert('store.item', 'id', 'mastic', 'created', concurrently => false);
SELECT three.mastic_timestamp(id) > now() - interval '1 hour' AS drawn FROM store.item;

-- CASCADE drops the triggers too, and writers continue.
CALL "The tool".snowflake_ids_convert('by_si', 'id', 'snowflake_si', 'created', finish => false);
DROP EXTENSION snowflake_ids_convert CASCADE;
INSERT INTO by_si (id) VALUES (8);
SELECT count(*) FROM pg_trigger WHERE tgname ~ '^zz_';
\c :main
DROP DATABASE regress_convert_extension;
