-- A feed in one call: what it makes, what readers get, what is refused, who may read. What owners change afterwards:
-- feed_changes.sql. Plans: feed_plans.sql. Concurrency and faults: test/server/feeds.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
SELECT oid::regprocedure AS function FROM pg_proc
WHERE proname ~ '^(feed_[a-z_]+|note_(deleted|life|lost|missed)|read_until|wait_feed|(create|drop|check)_feed|check_can_have_feed|forget_deleted)$'
    AND pronamespace = 'snowflake_ids'::regnamespace ORDER BY oid::regprocedure::text COLLATE "C";
\i sql/include/feed.psql

CREATE TABLE headline (id bigint PRIMARY KEY, body text);
INSERT INTO headline VALUES (1, 'first'), (2, 'second');
SELECT * FROM snowflake_ids.create_feed('headline');
\d headline
\d headline_deleted
\df headline_feed
-- '' and NULL: step 0, then all. Only the last row has a position.
SELECT step, id, ("row").body, position IS NOT NULL AS position FROM headline_feed('');
SELECT step, id, ("row").body, position IS NOT NULL AS position FROM headline_feed(NULL);
SELECT count(DISTINCT stamp), bool_and(stamp < pg_snapshot_xmin(pg_current_snapshot())::text::bigint) FROM headline;
SELECT * FROM poll('headline');
SELECT * FROM poll('headline');
-- the last of several changes, a key that changes, one that is deleted, one that comes back
INSERT INTO headline VALUES (3, 'third') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
INSERT INTO headline VALUES (3, 'again') ON CONFLICT (id) DO UPDATE SET body = excluded.body;
DELETE FROM headline WHERE id = 1;
UPDATE headline SET id = 4 WHERE id = 2;
SELECT * FROM poll('headline');
INSERT INTO headline VALUES (1, 'back');
DELETE FROM headline WHERE id = 1;
INSERT INTO headline VALUES (1, 'back again');
SELECT * FROM poll('headline');
BEGIN; DELETE FROM headline; ROLLBACK;
SELECT * FROM poll('headline');
-- What a transaction writes before and after its poll comes again with the next one.
BEGIN;
INSERT INTO headline VALUES (5, 'before');
SELECT * FROM poll('headline');
UPDATE headline SET body = 'after' WHERE id = 5;
SAVEPOINT s;
INSERT INTO headline VALUES (6, 'subtransaction');
SELECT * FROM poll('headline');
COMMIT;
SELECT * FROM poll('headline');
SELECT * FROM poll('headline');
-- TRUNCATE is step 0, and what came after it follows.
TRUNCATE headline;
INSERT INTO headline VALUES (7, 'later');
SELECT * FROM poll('headline');
SELECT * FROM poll('headline');
-- The stamp is the feed's own business: what a user writes into it is overwritten.
UPDATE headline SET stamp = 1;
INSERT INTO headline VALUES (8, 'stamped', 9000000000000000000);
SELECT * FROM poll('headline');

-- ---- positions
SELECT snowflake_ids.feed_position('headline') AS position \gset
SELECT step, id FROM headline_feed(:'position');
SELECT snowflake_ids.read_until(:'position') > max(stamp) AS has_read_all FROM headline;
SELECT snowflake_ids.feed_position_time(:'position') BETWEEN now() - interval '1 minute' AND now() AS is_right;
SELECT snowflake_ids.read_until('');
SELECT snowflake_ids.read_until('nonsense');
SELECT snowflake_ids.feed_position_time('nonsense');
SELECT snowflake_ids.feed_position_time('');
SELECT step, id FROM headline_feed('nonsense');
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE other (id bigint PRIMARY KEY);
SELECT snowflake_ids.feed_position('other');
\echo :LAST_ERROR_SQLSTATE
SELECT to_do FROM snowflake_ids.create_feed('other');
SELECT step, id FROM other_feed(:'position');
\echo :LAST_ERROR_SQLSTATE

-- ---- waiting
SELECT snowflake_ids.wait_feed('headline', '');
SELECT snowflake_ids.wait_feed('headline', NULL);
-- at once, because the position knows no count yet; then not before the timeout, unless somebody commits
SELECT snowflake_ids.wait_feed('headline', :'position', '1 hour') AS waited \gset
SELECT clock_timestamp() AS before \gset
SELECT snowflake_ids.wait_feed('headline', :'waited', '20 ms') = :'waited' AS same,
       clock_timestamp() - :'before' >= interval '20 ms' AS waited;
INSERT INTO headline VALUES (9, 'wakes');
SELECT snowflake_ids.wait_feed('headline', :'waited', '1 hour') AS waited \gset
SELECT step, id FROM headline_feed(:'waited');
SELECT position FROM headline_feed(:'waited') WHERE step = 3 \gset
SELECT snowflake_ids.wait_feed('headline', :'position', '0') = :'position' AS keeps_the_count;
SELECT snowflake_ids.wait_feed('headline', 'nonsense', '0');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake_ids.wait_feed('headline', :'position', '0');
ROLLBACK;

-- ---- forgetting
DELETE FROM headline WHERE id = 7;
SELECT snowflake_ids.forget_deleted('headline') AS forgotten, count(*) FROM headline_deleted;
SELECT snowflake_ids.forget_deleted('headline', '0') > 0 AS forgotten;
SELECT count(*) FILTER (WHERE id IS NOT NULL) AS deletions, count(*) FILTER (WHERE stamp = -1) AS forgotten,
    count(*) FILTER (WHERE stamp < -1) AS noted FROM headline_deleted;
SELECT step, id FROM headline_feed(:'position');
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM headline_feed('');
SELECT snowflake_ids.forget_deleted('headline', '1 hour');
SELECT snowflake_ids.forget_deleted('headline', NULL);
DELETE FROM headline_deleted;
SELECT * FROM poll('headline');
\echo :LAST_ERROR_SQLSTATE

-- ---- another feed, an index of another method, no deletions
SELECT snowflake_ids.drop_feed('headline');
\d headline
SELECT snowflake_ids.drop_feed('headline');
SELECT snowflake_ids.forget_deleted('headline');
SELECT snowflake_ids.note_missed('headline', 'a test');
SELECT snowflake_ids.wait_feed('headline', :'position', '0');
SELECT * FROM snowflake_ids.create_feed('headline', deletes => false, stamp => 'changed', index => 'brin');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'headline'::regclass ORDER BY indexrelid;
SELECT step, id FROM headline_feed(:'position');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.feed_position('headline') AS position \gset
UPDATE headline SET id = id + 100 WHERE id = 9;
SELECT step, id FROM headline_feed(:'position');
SELECT snowflake_ids.forget_deleted('headline');
-- What the hint of SF002 says: nothing is added that the owner did not want.
ALTER TABLE headline DISABLE TRIGGER USER;
SELECT step, id FROM headline_feed(:'position');
SELECT to_do FROM snowflake_ids.create_feed('headline') \gexec
SELECT to_regclass('headline_deleted') IS NULL AS still_without;
SELECT step, id FROM headline_feed(:'position');
-- Deletions before this are not known, so readers copy the table again.
SELECT * FROM snowflake_ids.create_feed('headline', deletes => true, stamp => 'ignored');
SELECT step, id FROM headline_feed(:'position');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM snowflake_ids.create_feed('headline', deletes => false);
SELECT rule, ok FROM snowflake_ids.check_feed('headline');

-- ---- what is refused
SELECT * FROM snowflake_ids.create_feed(NULL);
SELECT * FROM snowflake_ids.create_feed('headline', index => 'hash');
SELECT * FROM snowflake_ids.create_feed('pg_class');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM snowflake_ids.check_feed('snowflake_ids.wal_ceiling');
SELECT * FROM snowflake_ids.create_feed(4294967295);
\echo :LAST_ERROR_SQLSTATE
CREATE TEMP TABLE temporary (id int PRIMARY KEY);
SELECT * FROM snowflake_ids.create_feed('temporary');
CREATE VIEW a_view AS SELECT 1 AS id;
SELECT * FROM snowflake_ids.create_feed('a_view');
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
SELECT * FROM snowflake_ids.create_feed('parted_1');
CREATE TABLE keyless (id int);
SELECT * FROM snowflake_ids.create_feed('keyless');
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE named (step int PRIMARY KEY);
SELECT * FROM snowflake_ids.create_feed('named');
CREATE TABLE has_stamp (id int PRIMARY KEY, stamp timestamptz);
SELECT * FROM snowflake_ids.create_feed('has_stamp');
\echo :LAST_ERROR_SQLSTATE
CREATE TABLE has_unique (id int PRIMARY KEY, stamp bigint UNIQUE);
SELECT * FROM snowflake_ids.create_feed('has_unique');
CREATE TABLE has_generated (id int PRIMARY KEY, stamp bigint GENERATED ALWAYS AS IDENTITY);
SELECT * FROM snowflake_ids.create_feed('has_generated');
CREATE TABLE taken (id int PRIMARY KEY);
CREATE TABLE taken_deleted (kept text);
SELECT * FROM snowflake_ids.create_feed('taken');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM snowflake_ids.create_feed('taken', deletes => false);
SELECT snowflake_ids.drop_feed('taken');
CREATE FUNCTION taken_feed(text) RETURNS text LANGUAGE sql RETURN $1;
SELECT * FROM snowflake_ids.create_feed('taken', deletes => false);
\echo :LAST_ERROR_SQLSTATE
-- A column of that name and type is taken over, and its rows are stamped.
CREATE TABLE has_bigint (id int PRIMARY KEY, stamp bigint);
INSERT INTO has_bigint VALUES (1, 9000000000000000000), (2, NULL);
SELECT * FROM snowflake_ids.create_feed('has_bigint');
SELECT to_do FROM snowflake_ids.create_feed('has_bigint', stamp => 'stamp') \gexec
SELECT * FROM poll('has_bigint');
SELECT rule FROM snowflake_ids.check_feed('has_bigint') WHERE NOT ok;
-- Triggers of ours that somebody else makes.
CREATE TRIGGER a AFTER INSERT ON keyless FOR EACH ROW EXECUTE FUNCTION snowflake_ids.feed_stamp('id');
INSERT INTO keyless VALUES (1);
DROP TRIGGER a ON keyless;
CREATE TRIGGER a BEFORE INSERT ON keyless FOR EACH ROW EXECUTE FUNCTION snowflake_ids.feed_stamp('id');
INSERT INTO keyless VALUES (1);
CREATE TRIGGER b AFTER DELETE ON other FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_lost();
DROP TRIGGER b ON other;
CREATE TRIGGER c AFTER DELETE ON has_unique FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_deleted();
INSERT INTO has_unique VALUES (1, 1);
DELETE FROM has_unique;

-- ---- who may read
CREATE ROLE feed_reader;
CREATE ROLE feed_owner;
GRANT CREATE, USAGE ON SCHEMA public TO feed_owner;
ALTER TABLE other OWNER TO feed_owner;
SELECT to_do FROM snowflake_ids.check_feed('other') WHERE NOT ok \gexec
SELECT rule FROM snowflake_ids.check_feed('other') WHERE NOT ok;
SELECT snowflake_ids.drop_feed('other');
SET ROLE feed_owner;
SELECT * FROM snowflake_ids.create_feed('other');
INSERT INTO other VALUES (1), (2);
SET ROLE feed_reader;
SELECT * FROM snowflake_ids.create_feed('other');
\echo :LAST_ERROR_SQLSTATE
SELECT step, id FROM other_feed('');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.forget_deleted('other');
SELECT snowflake_ids.note_missed('other', 'a test');
RESET ROLE;
GRANT SELECT ON other TO feed_reader;
SELECT rule, to_do FROM snowflake_ids.check_feed('other') WHERE NOT ok;
SELECT * FROM snowflake_ids.create_feed('other');
SET ROLE feed_reader;
SELECT step, id FROM other_feed('');
SELECT snowflake_ids.wait_feed('other', '') = '' AS may_wait;
DELETE FROM other_deleted;
RESET ROLE;
-- Who may delete notes what he deletes, though he may not write there.
GRANT DELETE, TRUNCATE ON other TO feed_reader;
SELECT snowflake_ids.feed_position('other') AS position \gset
SET ROLE feed_reader;
DELETE FROM other WHERE id = 1;
SELECT step, id FROM other_feed(:'position');
TRUNCATE other;
SELECT step, id FROM other_feed(:'position');
RESET ROLE;
REVOKE SELECT ON other FROM feed_reader;
SELECT to_do FROM snowflake_ids.check_feed('other') WHERE NOT ok;

DROP FUNCTION taken_feed;
DROP FUNCTION headline_feed, has_bigint_feed, other_feed;
DROP VIEW a_view;
DROP TABLE headline, headline_deleted, other, other_deleted, parted, keyless, named, has_stamp, has_unique, has_generated,
    taken, taken_deleted, has_bigint, has_bigint_deleted;
REVOKE ALL ON SCHEMA public FROM feed_owner;
DROP ROLE feed_reader, feed_owner;
DROP FUNCTION poll;
DROP TABLE reader;
