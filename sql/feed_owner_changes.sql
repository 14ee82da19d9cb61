-- What an owner changes under a feed: nothing of it may give a reader a wrong row in silence.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE feed_old_owner;
CREATE ROLE feed_new_owner;
GRANT CREATE ON SCHEMA public TO feed_old_owner, feed_new_owner;
CREATE TABLE another_key (id int PRIMARY KEY, num int NOT NULL, v text);
INSERT INTO another_key VALUES (1, 100, 'a'), (2, 200, 'b'), (3, 1, 'c');
SELECT to_do FROM snowflake_ids.create_feed('another_key', deletes => true);
ALTER TABLE another_key DROP CONSTRAINT another_key_pkey, ADD PRIMARY KEY (num);
DELETE FROM another_key WHERE id = 3;
SELECT * FROM snowflake_ids.create_feed('another_key');
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok;
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok \gexec
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok;
DELETE FROM another_key WHERE id = 3;
SELECT deleted, num FROM another_key_feed ORDER BY stamp, num;

CREATE TABLE longer_key (id int PRIMARY KEY, w int NOT NULL DEFAULT 1);
ALTER TABLE longer_key OWNER TO feed_old_owner;
INSERT INTO longer_key VALUES (1, 1);
SELECT to_do FROM snowflake_ids.create_feed('longer_key', deletes => true);
ALTER TABLE longer_key DROP CONSTRAINT longer_key_pkey, ADD PRIMARY KEY (id, w);
INSERT INTO longer_key VALUES (1, 2);
DELETE FROM longer_key WHERE w = 1;
SELECT to_do FROM snowflake_ids.check_feed('longer_key') WHERE NOT ok \gexec
SELECT to_do FROM snowflake_ids.check_feed('longer_key') WHERE NOT ok;
DELETE FROM longer_key WHERE w = 1;
SELECT deleted, id, w FROM longer_key_feed ORDER BY stamp, w;

-- without deletions
CREATE TABLE plain_key (id int PRIMARY KEY, w int NOT NULL DEFAULT 1);
SELECT to_do FROM snowflake_ids.create_feed('plain_key', format => 'sno');
ALTER TABLE plain_key DROP CONSTRAINT plain_key_pkey, ADD PRIMARY KEY (w, id);
SELECT to_do FROM snowflake_ids.check_feed('plain_key') WHERE NOT ok \gexec
SELECT to_do FROM snowflake_ids.check_feed('plain_key') WHERE NOT ok;
\d plain_key_feed

-- another owner
ALTER TABLE longer_key OWNER TO feed_new_owner;
DELETE FROM longer_key;
SELECT * FROM snowflake_ids.create_feed('longer_key');
SELECT to_do FROM snowflake_ids.check_feed('longer_key') WHERE NOT ok \gexec
SELECT to_do FROM snowflake_ids.check_feed('longer_key') WHERE NOT ok;
DELETE FROM longer_key;

-- Its names are taken. What is to do drops nothing.
CREATE TABLE taken (id int PRIMARY KEY);
CREATE TABLE taken_feed ();
SELECT * FROM snowflake_ids.create_feed('taken');
SELECT relation, to_do FROM snowflake_ids.check_feed('taken') WHERE to_do ~ 'taken_feed';
DROP TABLE taken_feed;
SELECT to_do FROM snowflake_ids.create_feed('taken', deletes => true);
DROP TABLE taken_deleted CASCADE;
CREATE TABLE taken_deleted (kept text);
SELECT * FROM snowflake_ids.create_feed('taken');
SELECT relation, to_do FROM snowflake_ids.check_feed('taken') WHERE to_do ~ 'TABLE public.taken_deleted';
DROP TABLE taken_deleted;
-- What DROP TABLE ... CASCADE leaves.
SELECT to_do FROM snowflake_ids.create_feed('taken');
DROP TABLE taken CASCADE;
CREATE TABLE taken (id int PRIMARY KEY);
SELECT * FROM snowflake_ids.create_feed('taken', deletes => true);
DROP TABLE taken_deleted;
-- A name has at most 63 bytes, so that of a view is too short for both of these.
SELECT repeat('n', 60) || 1 AS name1, repeat('n', 60) || 2 AS name2 \gset
CREATE TABLE :name1 (id int PRIMARY KEY);
CREATE TABLE :name2 (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed(:'name1', deletes => true);
SELECT * FROM snowflake_ids.create_feed(:'name2', deletes => true);
SELECT to_do FROM snowflake_ids.check_feed(:'name2') WHERE to_do ~ '_feed ';
SELECT left(:'name1', 58) || '_feed' AS feed \gset
ALTER VIEW :feed RENAME TO n_feed;
SELECT * FROM snowflake_ids.create_feed(:'name2', deletes => true);
ALTER TABLE :name2 RENAME TO shorter;
SELECT * FROM snowflake_ids.create_feed('shorter', deletes => true);
DROP TABLE :name1, shorter CASCADE;
SELECT left(:'name1', 55) || '_deleted' AS deletions \gset
DROP TABLE shorter_deleted, :deletions;

-- A call that finds nothing to do generates no id, so readers of other tables do not wait for its transaction.
BEGIN;
SELECT * FROM snowflake_ids.create_feed('plain_key');
SELECT count(*) FROM snowflake_ids.unsettled WHERE pid = pg_backend_pid();
ROLLBACK;

-- The triggers are off, then on. What is to do, runs as it stands there.
SELECT snowflake_ids.feed_position('plain_key', NULL);
SELECT snowflake_ids.feed_position(NULL, '2222222222222222');
ALTER TABLE plain_key DISABLE TRIGGER ALL;
SELECT snowflake_ids.feed_position('plain_key', '2222222222222222');
SELECT to_do FROM snowflake_ids.check_feed('plain_key') WHERE NOT ok \gexec
ALTER TABLE another_key ENABLE TRIGGER ALL;
SELECT snowflake_ids.feed_position('another_key', '0');
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok \gexec
SELECT snowflake_ids.feed_position('plain_key', '2222222222222222');
SELECT snowflake_ids.feed_position('another_key', '0');

-- A part with stamps of another format, and one with rows, but no trigger.
CREATE TABLE whole (id int PRIMARY KEY);
CREATE TABLE part (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed('whole');
SELECT to_do FROM snowflake_ids.create_feed('part', format => 'twitter');
ALTER TABLE part INHERIT whole;
SELECT snowflake_ids.feed_position('whole');
SELECT to_do FROM snowflake_ids.check_feed('whole') WHERE NOT ok;
SELECT to_do FROM snowflake_ids.create_feed('whole') \gexec
SELECT to_do FROM snowflake_ids.check_feed('whole') WHERE NOT ok;
SELECT snowflake_ids.feed_position('part') IS NOT NULL AS is_right;
SELECT snowflake_ids.feed_position('whole') AS position \gset
CREATE TABLE filled (id int PRIMARY KEY, stamp bigint NOT NULL);
INSERT INTO filled VALUES (3, 0);
ALTER TABLE filled INHERIT whole;
SELECT to_do FROM snowflake_ids.create_feed('whole') \gexec
SELECT id FROM whole_feed WHERE stamp >= :position;
-- A filled partition gets the trigger, so nothing can notice its rows.
CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY LIST (id);
SELECT to_do FROM snowflake_ids.create_feed('parted', deletes => true);
SELECT snowflake_ids.feed_position('parted') AS position \gset
CREATE TABLE parted_4 (id int PRIMARY KEY, stamp bigint NOT NULL);
INSERT INTO parted_4 VALUES (4, 0);
ALTER TABLE parted ATTACH PARTITION parted_4 FOR VALUES IN (4);
SELECT to_do FROM snowflake_ids.check_feed('parted') WHERE NOT ok;
SELECT id FROM parted_feed WHERE stamp >= :position AND NOT deleted;
UPDATE parted_4 SET stamp = stamp;
SELECT id FROM parted_feed WHERE stamp >= :position AND NOT deleted;

-- Who may not read the table any more: what is deleted then is not for them either.
GRANT SELECT ON another_key TO feed_old_owner;
SELECT to_do FROM snowflake_ids.create_feed('another_key');
REVOKE SELECT ON another_key FROM feed_old_owner;
SET ROLE feed_old_owner;
SELECT * FROM another_key_feed;
SELECT count(*) > 0 AS sees FROM another_key_deleted;
RESET ROLE;
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok;
-- Columns of the table are enough for the feed.
GRANT SELECT (num, stamp) ON another_key TO feed_old_owner;
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok;
REVOKE SELECT (num, stamp) ON another_key FROM feed_old_owner;
GRANT SELECT ON another_key_deleted TO PUBLIC;
SELECT to_do FROM snowflake_ids.create_feed('another_key') \gexec
SELECT to_do FROM snowflake_ids.check_feed('another_key') WHERE NOT ok;
SET ROLE feed_old_owner;
SELECT count(*) FROM another_key_deleted;
RESET ROLE;

DROP TABLE another_key, longer_key, plain_key, whole, part, filled, parted CASCADE;
DROP TABLE another_key_deleted, longer_key_deleted, parted_deleted;
REVOKE ALL ON SCHEMA public FROM feed_old_owner, feed_new_owner;
DROP ROLE feed_old_owner, feed_new_owner;
