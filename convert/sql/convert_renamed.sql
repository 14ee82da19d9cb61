-- Tables and columns that are renamed, moved or given away during a conversion. Writers and the next call find them by
-- number. With two owners, rows that refer to the key cannot be written.
CREATE DATABASE regress_convert_renamed;
SELECT current_database() AS main \gset
\c regress_convert_renamed
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids_convert CASCADE;
CREATE ROLE regress_convert_old;
CREATE ROLE regress_convert_new;
CREATE SCHEMA one;
CREATE SCHEMA two;
GRANT ALL ON SCHEMA one, two TO regress_convert_old, regress_convert_new;
SET ROLE regress_convert_old;
SET search_path = one, public;
CREATE TABLE key (id int PRIMARY KEY, created timestamptz NOT NULL);
CREATE TABLE refers (key int REFERENCES key, late int REFERENCES key DEFERRABLE INITIALLY DEFERRED);
INSERT INTO key SELECT n, timestamptz '2026-02-01' + n * interval '1 s' FROM generate_series(1, 3) AS n;
INSERT INTO refers SELECT id, id FROM key;
CREATE TABLE again (LIKE key INCLUDING ALL);
CREATE TABLE refers_again (key int REFERENCES again);
INSERT INTO again TABLE key;
INSERT INTO refers_again SELECT id FROM again;
CREATE VIEW left_over AS
SELECT (SELECT count(*)
        FROM pg_attribute a
             JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relkind = 'r' AND a.attname ~ '^snowflake_ids_new' AND c.relnamespace = n.oid) AS columns,
       (SELECT count(*)
        FROM pg_trigger g
             JOIN pg_class c ON c.oid = g.tgrelid
        WHERE g.tgname ~ '^zz_snowflake_ids' AND c.relnamespace = n.oid) AS triggers,
       (SELECT count(*)
        FROM pg_class
        WHERE relname ~ '^snowflake_ids_(map|index|copy|probe)' AND relkind IN ('r', 'v') AND relnamespace = n.oid
       ) AS relations
FROM pg_namespace n
WHERE nspname IN ('one', 'two')
ORDER BY nspname;
CALL snowflake_ids_convert('key', 'id', 'sno', 'created', finish => false);

-- Another table gets the old name.
ALTER TABLE key RENAME TO renamed;
CREATE TABLE key (id int, created timestamptz, snowflake_ids_new_1 sno);
INSERT INTO key VALUES (1, now(), gen_sno());
INSERT INTO refers VALUES (1, 1);
\set VERBOSITY terse
UPDATE refers SET key = 2 WHERE key = 1;
INSERT INTO renamed VALUES (4, now());
CALL snowflake_ids_convert('renamed', 'id', 'sno', 'created', finish => false);
INSERT INTO refers VALUES (4, 4);
BEGIN; INSERT INTO refers (late) VALUES (5); INSERT INTO renamed VALUES (5, now()); COMMIT;
ALTER TABLE renamed RENAME id TO ident;
ALTER TABLE refers RENAME key TO refers_to;
INSERT INTO refers VALUES (4, 4);
INSERT INTO renamed VALUES (6, now());
CALL snowflake_ids_convert('renamed', 'id', 'sno', 'created', finish => false);
CALL snowflake_ids_convert('renamed', 'ident', 'sno', 'created', finish => false);
INSERT INTO refers VALUES (6, 6);
ALTER TABLE renamed SET SCHEMA two;
INSERT INTO refers VALUES (6, 6);
CALL snowflake_ids_convert('two.renamed', 'ident', 'sno', 'created', finish => false);
INSERT INTO refers VALUES (6, 6);
SELECT count(*), count(*) FILTER (WHERE r.snowflake_ids_new_1 = k.snowflake_ids_new_1) AS followed
FROM refers r
     JOIN two.renamed k ON k.ident = r.refers_to;
SELECT count(*), count(*) FILTER (WHERE r.snowflake_ids_new_2 = k.snowflake_ids_new_1) AS followed
FROM refers r
     JOIN two.renamed k ON k.ident = r.late;
CALL snowflake_ids_convert('two.renamed', 'ident', 'sno', 'created', concurrently => false);
SELECT count(*), pg_typeof(refers_to) FROM refers JOIN two.renamed ON ident = refers_to GROUP BY 2;
DROP TABLE key;
TABLE left_over;

-- All renamed, and then undone without another call.
CALL snowflake_ids_convert('again', 'id', 'mastic', 'created', finish => false);
ALTER TABLE again RENAME id TO ident;
ALTER TABLE again SET SCHEMA two;
ALTER TABLE two.again RENAME TO renamed_again;
ALTER TABLE refers_again RENAME key TO refers_to;
SELECT snowflake_ids_convert_undo('two.renamed_again');
TABLE left_over;
INSERT INTO two.renamed_again VALUES (4, now());
INSERT INTO refers_again VALUES (4);

-- A new owner. The map still belongs to the old one.
CALL snowflake_ids_convert('two.renamed_again', 'ident', 'mastic', 'created', finish => false);
RESET ROLE;
ALTER TABLE two.renamed_again OWNER TO regress_convert_new;
INSERT INTO one.refers_again VALUES (4);
ALTER TABLE one.refers_again OWNER TO regress_convert_new;
SET ROLE regress_convert_new;
INSERT INTO refers_again VALUES (4);
\set VERBOSITY default
DO $$
DECLARE
    detail text;
BEGIN
    PERFORM snowflake_ids_convert.step('two.renamed_again', true);
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    RAISE WARNING '%: %', SQLERRM, regexp_replace(detail, '_\d+', '_N', 'g');
END $$;
\set VERBOSITY terse
-- Undone, but the other role's map stays.
SELECT snowflake_ids_convert_undo('two.renamed_again');
RESET ROLE;
TABLE left_over;
SET ROLE regress_convert_new;
SELECT regexp_replace(item, '_\d+', '_N', 'g') AS item
FROM snowflake_ids_convert_plan('two.renamed_again', 'ident', 'mastic', 'created')
WHERE kind = 'problem';
RESET ROLE;
DO $$
BEGIN
    EXECUTE 'DROP TABLE two.snowflake_ids_map_' || 'two.renamed_again'::regclass::oid;
END $$;
-- The new owner finishes once the map is his.
SET ROLE regress_convert_new;
CALL snowflake_ids_convert('two.renamed_again', 'ident', 'mastic', 'created', finish => false);
RESET ROLE;
REASSIGN OWNED BY regress_convert_new TO regress_convert_old;
SET ROLE regress_convert_old;
INSERT INTO refers_again VALUES (4);
CALL snowflake_ids_convert('two.renamed_again', 'ident', 'mastic', 'created', concurrently => false);
SELECT count(*), pg_typeof(refers_to)
FROM refers_again
     JOIN two.renamed_again ON ident = refers_to
GROUP BY 2;
RESET ROLE;
TABLE left_over;
\c :main
DROP DATABASE regress_convert_renamed;
DROP ROLE regress_convert_old, regress_convert_new;
