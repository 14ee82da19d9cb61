-- Feeds of any key and name, and what ALTER TABLE may do with them.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE SCHEMA "My ""Schema""";
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text); CREATE DOMAIN small AS int NOT NULL CHECK (VALUE > 0); CREATE DOMAIN smaller AS small CHECK (VALUE < 100);
CREATE TABLE k_uuid (k uuid PRIMARY KEY);
INSERT INTO k_uuid VALUES (gen_random_uuid());
CREATE TABLE k_text (k text COLLATE "C" PRIMARY KEY, b int);
INSERT INTO k_text VALUES ('x');
CREATE TABLE k_varchar (k varchar(5) PRIMARY KEY);
INSERT INTO k_varchar VALUES ('x');
CREATE TABLE k_enum (k mood PRIMARY KEY);
INSERT INTO k_enum VALUES ('sad');
CREATE TABLE k_pair (k pair PRIMARY KEY);
INSERT INTO k_pair VALUES ('(1,x)');
CREATE TABLE k_domain (k smaller PRIMARY KEY);
INSERT INTO k_domain VALUES (5);
CREATE TABLE k_arr (k int[] PRIMARY KEY);
INSERT INTO k_arr VALUES ('{1,2}');
CREATE TABLE k_two (a int, "B c" text, x int, PRIMARY KEY ("B c", a) INCLUDE (x));
INSERT INTO k_two VALUES (1, 'x');
CREATE TABLE "My ""Schema"""."Табличка 'with' a ""very"" long name, яяяяя" (k sno DEFAULT gen_sno() PRIMARY KEY); INSERT INTO "My ""Schema"""."Табличка 'with' a ""very"" long name, яяяяя" DEFAULT VALUES;
CREATE TABLE k_time (k timestamptz PRIMARY KEY);
INSERT INTO k_time VALUES (now());
CREATE TABLE k_gen (a int, k int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY);
INSERT INTO k_gen VALUES (1);
CREATE TABLE k_defer (k int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED);
INSERT INTO k_defer VALUES (1);
DO $$ DECLARE t regclass; f text; x record; n int; BEGIN
FOR t IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relname ~ '^k_|Таб' AND relnamespace::regnamespace::text ~ 'public|My' LOOP
  FOR x IN SELECT * FROM snowflake_ids.create_feed(t, true, stamp => 'Stämp ''x'' "') LOOP RAISE WARNING '% %', t, x; END LOOP;
 FOR x IN SELECT * FROM snowflake_ids.check_feed(t) c WHERE NOT ok LOOP RAISE WARNING '% %', t, x; END LOOP;
 f := (snowflake_ids.feed_of(t)).feed;
 EXECUTE format('DELETE FROM %s', t);
 EXECUTE format('SELECT count(*) FILTER (WHERE deleted) - 1 FROM %s', f) INTO n;
 IF n <> 1 THEN RAISE WARNING '% %', t, n; END IF;
 EXECUTE format('TRUNCATE %s', t);
 EXECUTE format('SELECT count(*) FILTER (WHERE deleted) - 1 FROM %s', f) INTO n;
 IF n <> 2 THEN RAISE WARNING '% %', t, n; END IF;
 FOR x IN SELECT * FROM snowflake_ids.create_feed(t, true) LOOP RAISE WARNING '% %', t, x; END LOOP;
END LOOP; END $$;
SELECT relname FROM pg_class WHERE relname ~ '_(feed|deleted)$' AND relnamespace = '"My ""Schema"""'::regnamespace ORDER BY 1;
-- domain key: update
INSERT INTO k_domain VALUES (7); UPDATE k_domain SET k = 8; SELECT deleted, k FROM k_domain_feed ORDER BY stamp;
-- Keys that are equal but not the same. A copy may keep both, so the old one comes, too, with the row that has it now.
CREATE TABLE k_numeric (k numeric PRIMARY KEY, b text);
SELECT * FROM snowflake_ids.create_feed('k_numeric', true);
INSERT INTO k_numeric VALUES (1.0, 'updated'), (2.0, 'again'), (3.0, 'kept');
UPDATE k_numeric SET k = 1.00 WHERE k = 1;
DELETE FROM k_numeric WHERE k = 2;
INSERT INTO k_numeric VALUES (2.00, 'again');
UPDATE k_numeric SET k = k, b = 'updated' WHERE k = 3;
SELECT f.deleted, f.k, h.k AS now, h.b FROM k_numeric_feed AS f LEFT JOIN k_numeric AS h USING (k)
WHERE f.k IS NOT NULL ORDER BY f.stamp;
-- rename, schema
ALTER TABLE k_text RENAME TO renamed; ALTER TABLE renamed SET SCHEMA "My ""Schema"""; ALTER TABLE "My ""Schema""".renamed RENAME k TO kk;
INSERT INTO "My ""Schema""".renamed (kk) VALUES ('y'); DELETE FROM "My ""Schema""".renamed;
SELECT deleted, k FROM k_text_feed ORDER BY stamp;
SELECT rule, to_do FROM snowflake_ids.check_feed('"My ""Schema""".renamed') WHERE NOT ok;
SELECT * FROM snowflake_ids.create_feed('"My ""Schema""".renamed');
SELECT rule, to_do FROM snowflake_ids.check_feed('"My ""Schema""".renamed') WHERE NOT ok;
ALTER TABLE k_text_deleted RENAME TO gone;
INSERT INTO "My ""Schema""".renamed (kk) VALUES ('z'); DELETE FROM "My ""Schema""".renamed;
SELECT * FROM snowflake_ids.create_feed('"My ""Schema""".renamed');
DELETE FROM "My ""Schema""".renamed; SELECT deleted, k FROM k_text_feed ORDER BY stamp;
-- other columns
ALTER TABLE "My ""Schema""".renamed ALTER b TYPE bigint, ADD c int; ALTER TABLE "My ""Schema""".renamed DROP b;
-- type of the key
CREATE TABLE typed (id int PRIMARY KEY); SELECT * FROM snowflake_ids.create_feed('typed', true);
ALTER TABLE typed ALTER id TYPE bigint;
-- In one transaction. Readers copy the table again, because a trigger was missing.
BEGIN;
DROP VIEW typed_feed;
DROP TRIGGER zz_note_key ON typed;
ALTER TABLE typed ALTER id TYPE bigint;
SELECT * FROM snowflake_ids.create_feed('typed');
COMMIT;
\d typed_feed
INSERT INTO typed VALUES (3000000000); DELETE FROM typed; SELECT deleted, id FROM typed_feed WHERE stamp > (SELECT stamp FROM typed_deleted WHERE forgotten);
SELECT rule, to_do FROM snowflake_ids.check_feed('typed') WHERE NOT ok;
DROP TABLE typed CASCADE;
-- Large partitions get their indexes from the caller.
CREATE TABLE big (id int PRIMARY KEY, b text) PARTITION BY RANGE (id); CREATE TABLE big_1 PARTITION OF big FOR VALUES FROM (0) TO (200000); CREATE TABLE big_2 PARTITION OF big FOR VALUES FROM (200000) TO (400000);
INSERT INTO big SELECT n, repeat('x', 50) FROM generate_series(1, 399999) n;
SELECT * FROM snowflake_ids.create_feed('big', true);
SELECT to_do FROM snowflake_ids.create_feed('big') \gexec
SELECT * FROM snowflake_ids.create_feed('big');
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT oid::regclass AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND (relname ~ '^(k_|big)' AND relnamespace = 'public'::regnamespace) LOOP
        EXECUTE format('DROP TABLE %s CASCADE', t.name);
    END LOOP;
END $$;
DROP SCHEMA "My ""Schema""" CASCADE;
DROP DOMAIN smaller, small;
DROP TYPE mood, pair;
