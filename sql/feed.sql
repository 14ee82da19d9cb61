-- A feed in one call: what it makes, what readers see, and what is refused. Concurrency and faults:
-- test/server/readers/feed_with_deletions.pl. The rules one by one: test/server/readers/feed_rules.pl.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT oid::regprocedure AS function FROM pg_proc
WHERE proname ~ '^(create|drop|check|forget|note|fail|feed)_(feed|deleted|forgotten|position|as_owner|of|rules|settled|call|taken)$'
    AND pronamespace = 'snowflake_ids'::regnamespace ORDER BY oid::regprocedure::text COLLATE "C";
CREATE FUNCTION rows_of(feed regclass) RETURNS TABLE (deleted boolean, key text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT f.deleted, (to_jsonb(f) - ''{position,stamp,deleted}''::text[])::text
        FROM %s AS f ORDER BY f.stamp, 2', feed);
END $$;
\i sql/include/settle.psql
CREATE TABLE headline (id bigint PRIMARY KEY, body text);
INSERT INTO headline VALUES (1, 'first'), (2, 'second');
SELECT * FROM snowflake_ids.create_feed('headline', deletes => true);
\d headline
\d headline_deleted
\d headline_feed
-- Rows that were there have one new stamp. It comes after a TRUNCATE: an older copy is not this table's.
SELECT * FROM rows_of('headline_feed');
SELECT count(DISTINCT stamp), min(stamp) > 0 AS is_new FROM headline;
CALL settle('headline');
SELECT bool_and(position > stamp) FROM headline_feed;
INSERT INTO headline VALUES (3, 'third') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
INSERT INTO headline VALUES (3, 'again') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
DELETE FROM headline WHERE id = 1;
UPDATE headline SET id = 4 WHERE id = 2;
SELECT * FROM rows_of('headline_feed');
-- A key that is there again has not been deleted.
INSERT INTO headline VALUES (1, 'back');
SELECT * FROM rows_of('headline_feed');
BEGIN; DELETE FROM headline; ROLLBACK;
SELECT count(*) FROM headline_deleted;
-- TRUNCATE is one row.
TRUNCATE headline;
INSERT INTO headline VALUES (7, 'later');
SELECT * FROM rows_of('headline_feed');

-- Forgetting: a position below the last forgotten deletion is an error, the smallest one too.
SELECT snowflake_ids.forget_deleted('headline');
SELECT snowflake_ids.feed_position('headline', '0');
SELECT stamp AS last, stamp + 1 AS after FROM headline_deleted ORDER BY stamp DESC LIMIT 1 \gset
CALL settle('headline');
SELECT snowflake_ids.forget_deleted('headline', '-1 hour');
SELECT count(*), bool_and(forgotten) FROM headline_deleted;
SELECT deleted, id FROM headline_feed WHERE stamp >= 0;
\echo :LAST_ERROR_SQLSTATE
SELECT position FROM headline_feed WHERE stamp >= 0;
SELECT deleted, id FROM headline_feed WHERE stamp >= :last;
SELECT deleted, id FROM headline_feed WHERE stamp >= :after;
SELECT snowflake_ids.feed_position('headline', '0');
SELECT snowflake_ids.feed_position('headline', :'last');
SELECT snowflake_ids.feed_position('headline', :'after') = :'after' AS is_right;
SELECT snowflake_ids.feed_position('headline', '9000000000000000000');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.feed_position('headline')::bigint >= :after AS is_right;
CALL settle('headline');
SELECT snowflake_ids.forget_deleted('headline', '-1 hour');
DELETE FROM headline;
SELECT deleted, id FROM headline_feed WHERE stamp >= :after;

-- Nothing is left. Other formats, an index of another method.
SELECT snowflake_ids.drop_feed('headline');
\d headline
SELECT snowflake_ids.drop_feed('headline');
SELECT snowflake_ids.feed_position('headline');
SELECT snowflake_ids.forget_deleted('headline');
SELECT * FROM snowflake_ids.create_feed('headline', format => 'sno', stamp => 'changed', index => 'brin');
INSERT INTO headline VALUES (1), (2);
DELETE FROM headline WHERE id = 1;
SELECT * FROM rows_of('headline_feed');
SELECT snowflake_ids.feed_position('headline') AS before_deletions \gset
SELECT snowflake_ids.feed_position('headline', :'before_deletions') = :'before_deletions' AS is_right;
SELECT snowflake_ids.feed_position('headline', 'zzzzzzzzzzzzzzzz');
-- Deletions before this are not known, so readers copy the table again.
SELECT * FROM snowflake_ids.create_feed('headline', deletes => true);
DELETE FROM headline WHERE id = 2;
SELECT deleted, id FROM headline_feed WHERE stamp >= :'before_deletions';
SELECT deleted, id FROM headline_feed WHERE stamp > (SELECT stamp FROM headline_deleted WHERE forgotten);
CALL settle('headline', 'gen_sno()');
SELECT snowflake_ids.forget_deleted('headline', '-1 hour');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'headline'::regclass ORDER BY 1;
SELECT * FROM snowflake_ids.check_feed('headline');
SELECT * FROM snowflake_ids.create_feed('headline', format => 'mastic');
SELECT snowflake_ids.drop_feed('headline');
SELECT * FROM snowflake_ids.create_feed('headline', true, 'twitter');
INSERT INTO headline VALUES (1), (2);
DELETE FROM headline WHERE id = 1;
SELECT * FROM rows_of('headline_feed');
SELECT snowflake_ids.feed_position('headline')::bigint > 0 AS is_right;
CALL settle('headline', 'gen_snowflake(''twitter'')');
SELECT snowflake_ids.forget_deleted('headline', '-1 hour');
DROP TABLE headline CASCADE;
-- What an earlier table has left.
CREATE TABLE headline (id bigint PRIMARY KEY);
SELECT * FROM snowflake_ids.create_feed('headline', true);
DROP TABLE headline_deleted;
DROP TABLE headline;
-- A feed that is created again, of this table or of one with its name: a reader of the earlier feed loses no row.
CREATE TABLE again (id bigint PRIMARY KEY, body text);
INSERT INTO again VALUES (1, 'first');
SELECT * FROM snowflake_ids.create_feed('again');
-- Nobody has written, and the first row is not read again for ever.
CALL settle('again');
SELECT snowflake_ids.feed_position('again')::bigint > max(stamp) AS is_right FROM again;
SELECT snowflake_ids.feed_position('again') AS position \gset
SELECT snowflake_ids.drop_feed('again');
INSERT INTO again VALUES (2, 'second');
SELECT * FROM snowflake_ids.create_feed('again');
SELECT id, body FROM again WHERE stamp >= :position ORDER BY id;
SELECT snowflake_ids.drop_feed('again');
SELECT * FROM snowflake_ids.create_feed('again', deletes => true);
CALL settle('again');
SELECT snowflake_ids.feed_position('again') AS position \gset
SELECT snowflake_ids.drop_feed('again');
DELETE FROM again WHERE id = 1;
SELECT * FROM snowflake_ids.create_feed('again', deletes => true, format => 'sno', stamp => 'changed');
SELECT deleted, id FROM again_feed ORDER BY stamp;
SELECT snowflake_ids.feed_position('again') AS position \gset
DROP TABLE again, again_deleted CASCADE;
CREATE TABLE again (id bigint PRIMARY KEY, body text);
INSERT INTO again VALUES (3, 'of another table');
SELECT * FROM snowflake_ids.create_feed('again', true, 'sno');
SELECT deleted, id FROM again_feed WHERE stamp >= :'position' ORDER BY stamp;
-- Its column was there before: what came without a trigger is stamped.
SELECT snowflake_ids.feed_position('again') AS position \gset
DROP VIEW again_feed;
DROP TABLE again_deleted CASCADE;
DROP TRIGGER zz_stamp ON again;
DROP TRIGGER zz_note_deleted ON again;
DROP TRIGGER zz_note_truncated ON again;
DROP TRIGGER zz_note_key ON again;
INSERT INTO again VALUES (4, 'past the trigger', '2222222222222222');
SELECT * FROM snowflake_ids.create_feed('again', true, 'sno');
SELECT id FROM again WHERE stamp >= :'position' ORDER BY id;
SELECT deleted, id FROM again_feed WHERE stamp >= :'position' ORDER BY stamp;
DROP TABLE again, again_deleted CASCADE;

-- ---- refused
CREATE TABLE headline (id bigint PRIMARY KEY);
SELECT * FROM snowflake_ids.create_feed(NULL);
SELECT * FROM snowflake_ids.create_feed('headline', NULL);
SELECT * FROM snowflake_ids.create_feed(4294967295);
SELECT * FROM snowflake_ids.create_feed('pg_class');
SELECT * FROM snowflake_ids.create_feed('snowflake_ids.created_layout');
CREATE VIEW seen AS SELECT * FROM headline;
SELECT * FROM snowflake_ids.create_feed('seen');
CREATE TEMP TABLE short (id int PRIMARY KEY);
SELECT * FROM snowflake_ids.create_feed('short');
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE far (id int) SERVER nowhere;
SELECT * FROM snowflake_ids.create_feed('far');
DROP FOREIGN DATA WRAPPER nowhere CASCADE;
CREATE TABLE keyless (id int UNIQUE);
SELECT * FROM snowflake_ids.create_feed('keyless');
CREATE TABLE own_names (id int, deleted int, PRIMARY KEY (id, deleted));
SELECT * FROM snowflake_ids.create_feed('own_names');
SELECT * FROM snowflake_ids.create_feed('headline', format => 'uuid');
SELECT * FROM snowflake_ids.create_feed('headline', index => 'hash');
SELECT * FROM snowflake_ids.create_feed('headline', stamp => 'id');
CREATE TABLE typed (id int PRIMARY KEY, stamp timestamptz, number bigint GENERATED ALWAYS AS IDENTITY);
SELECT * FROM snowflake_ids.create_feed('typed');
SELECT * FROM snowflake_ids.create_feed('typed', stamp => 'number');
CREATE TABLE typed_feed ();
SELECT * FROM snowflake_ids.create_feed('typed', stamp => 'stamp_id');
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (10);
SELECT * FROM snowflake_ids.create_feed('parted_1');
CREATE FUNCTION wrong() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER wrong BEFORE DELETE ON headline FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_deleted('public.typed');
INSERT INTO headline VALUES (1);
DELETE FROM headline;
DROP TRIGGER wrong ON headline;
CREATE TRIGGER wrong AFTER DELETE ON headline FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_deleted('public.typed');
DELETE FROM headline;
DROP TRIGGER wrong ON headline;
CREATE TRIGGER wrong AFTER DELETE ON headline FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_deleted();
DELETE FROM headline;
DROP TABLE headline, keyless, own_names, typed, typed_feed, parted CASCADE;
DROP FUNCTION rows_of, wrong;
DROP PROCEDURE settle;
