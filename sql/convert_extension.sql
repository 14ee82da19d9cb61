-- A conversion is under way, and somebody drops the extension or gives it another schema. The first is refused, and
-- whatever is written goes on.
CREATE DATABASE regress_convert_extension;
SELECT current_database() AS main \gset
\c regress_convert_extension
SET timezone = 'UTC';
SET client_min_messages = warning;
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE SCHEMA one;
CREATE SCHEMA "Two";
CREATE EXTENSION snowflake_ids SCHEMA one;
CREATE TABLE by_sno (id int PRIMARY KEY, up int REFERENCES by_sno, created timestamptz NOT NULL DEFAULT now());
CREATE TABLE by_mastic (LIKE by_sno INCLUDING ALL);
CREATE TABLE by_si (LIKE by_sno INCLUDING ALL);
CREATE TABLE of_mastic (key int REFERENCES by_mastic);
INSERT INTO by_sno SELECT n, nullif(n - 1, 0), timestamptz '2026-02-01' + n * interval '1 s' FROM generate_series(1, 5) AS n;
INSERT INTO by_mastic TABLE by_sno;
INSERT INTO by_si TABLE by_sno;
INSERT INTO of_mastic SELECT id FROM by_mastic;
CALL one.snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', finish => false);
DROP EXTENSION snowflake_ids;
CALL one.snowflake_ids_convert('by_si', 'id', 'snowflake_si', 'created', finish => false);
SELECT one.snowflake_ids_convert_undo('by_mastic');
DROP EXTENSION snowflake_ids;
SELECT one.snowflake_ids_convert_undo('by_si');
-- Nothing of it is under way.
BEGIN;
DROP EXTENSION snowflake_ids;
ROLLBACK;
CALL one.snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', keep_position => true, finish => false);
CALL one.snowflake_ids_convert('by_sno', 'id', 'sno', 'created', metabyte => 7, finish => false);
CALL one.snowflake_ids_convert('by_si', 'id', 'snowflake_si', 'created', finish => false);
DROP EXTENSION snowflake_ids;

ALTER EXTENSION snowflake_ids SET SCHEMA "Two";
INSERT INTO by_sno (id, up) VALUES (6, 6);
INSERT INTO by_mastic (id) VALUES (6);
INSERT INTO by_si (id) VALUES (6);
INSERT INTO of_mastic VALUES (6);
UPDATE by_sno SET up = 6 WHERE id = 2;
DROP EXTENSION snowflake_ids;
CALL "Two".snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', keep_position => true, finish => false);
ALTER SCHEMA "Two" RENAME TO three;
INSERT INTO by_mastic (id) VALUES (7);
CALL three.snowflake_ids_convert('by_mastic', 'id', 'mastic', 'created', keep_position => true);
CALL three.snowflake_ids_convert('by_sno', 'id', 'sno', 'created', metabyte => 7);
SELECT three.snowflake_ids_convert_undo('by_si');
SELECT count(*), count(*) FILTER (WHERE three.mastic_timestamp(m.id) = m.created AND m.created < '2026-03-01') AS of_their_times FROM of_mastic o JOIN by_mastic m ON m.id = o.key;
SELECT count(*), count(*) FILTER (WHERE three.sno_timestamp(id) = created AND created < '2026-03-01') AS of_their_times, count(*) FILTER (WHERE up::text = id::text) AS own FROM by_sno;
SELECT relname AS left_over FROM pg_class WHERE relname ~ '^snowflake_ids' AND relnamespace = 'public'::regnamespace
UNION ALL SELECT proname FROM pg_proc WHERE proname ~ '^snowflake_ids' AND pronamespace = 'public'::regnamespace;

-- The schema of the table gets another name: the next call goes on.
CREATE SCHEMA shop;
CREATE TABLE shop.item (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT now());
CALL three.snowflake_ids_convert('shop.item', 'id', 'mastic', 'created', finish => false);
ALTER SCHEMA shop RENAME TO store;
INSERT INTO store.item VALUES (1);
CALL three.snowflake_ids_convert('store.item', 'id', 'mastic', 'created', finish => false);
INSERT INTO store.item VALUES (1);
CALL three.snowflake_ids_convert('store.item', 'id', 'mastic', 'created');
SELECT three.mastic_timestamp(id) > now() - interval '1 hour' AS drawn FROM store.item;
\c :main
DROP DATABASE regress_convert_extension;
