-- Keys of all kinds, and what an owner changes under a feed: a reader gets the right rows, or an error.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
\i sql/include/feed.psql

-- ---- keys: composite, text, a domain, uuid, strange names, a column h, long names
CREATE DOMAIN short AS varchar(5) CHECK (VALUE <> 'bad');
CREATE TABLE composite (b text COLLATE "C", a int, h int, "Row" text, PRIMARY KEY (a, b));
CREATE TABLE named ("From" short, "a ""b" uuid, "é" numeric(10, 2), "select" timestamptz, PRIMARY KEY ("From", "a ""b", "é", "select"));
CREATE TABLE h (h int PRIMARY KEY, hh text, d text);
CREATE TABLE "A.b c" ("%s" bigint PRIMARY KEY, "%1$s" text);
SELECT to_do FROM snowflake_ids.create_feed('composite');
SELECT to_do FROM snowflake_ids.create_feed('named');
SELECT to_do FROM snowflake_ids.create_feed('h');
SELECT to_do FROM snowflake_ids.create_feed('"A.b c"', stamp => 'Stamp %s');
INSERT INTO composite VALUES ('x', 1), ('X', 1), ('x', 2);
INSERT INTO named VALUES ('in', '00000000-0000-0000-0000-000000000001', 1.50, 'epoch');
INSERT INTO h VALUES (1, 'one', 'd'), (2, 'two', 'd');
INSERT INTO "A.b c" VALUES (1, 'one'), (2, 'two');
SELECT * FROM poll('composite');
SELECT step, "From", "a ""b", "é", "select" = 'epoch' AS epoch FROM named_feed('') WHERE step < 3;
SELECT snowflake_ids.feed_position('named') AS named \gset
SELECT * FROM poll('h');
SELECT step, "%s", ("row")."%1$s" FROM "A.b c_feed"('') WHERE step < 3;
SELECT snowflake_ids.feed_position('"A.b c"') AS odd \gset
DELETE FROM composite WHERE b = 'x' AND a = 1;
UPDATE composite SET a = 3 WHERE a = 2;
DELETE FROM named;
UPDATE h SET h = 3 WHERE h = 1;
DELETE FROM "A.b c" WHERE "%s" = 2;
SELECT * FROM poll('composite');
SELECT step, "From", "a ""b", "é", "select" = 'epoch' AS epoch FROM named_feed(:'named') WHERE step < 3;
SELECT * FROM poll('h');
SELECT step, "%s" FROM "A.b c_feed"(:'odd') WHERE step < 3;
-- Equal values of a key can have other bytes, and a copy may keep them apart.
CREATE TABLE amount (n numeric PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed('amount');
INSERT INTO amount VALUES (1.0);
SELECT * FROM poll('amount');
UPDATE amount SET n = 1.00;
SELECT * FROM poll('amount');
-- A DEFAULT in the table of deletions gives no key to rows without one.
ALTER TABLE amount_deleted ALTER n SET DEFAULT 7;
TRUNCATE amount;
SELECT * FROM poll('amount');
SELECT snowflake_ids.forget_deleted('amount', '0') > 0 AS forgotten;
SELECT n, stamp FROM amount_deleted;
SELECT f.relation, f.rule FROM unnest('{composite,named,h,"\"A.b c\"",amount}'::regclass[]) AS t, snowflake_ids.check_feed(t) f WHERE NOT f.ok;
-- A name has at most 63 bytes.
SELECT repeat('é', 30) || 1 AS name1, repeat('é', 30) || 2 AS name2 \gset
CREATE TABLE :name1 (id int PRIMARY KEY);
CREATE TABLE :name2 (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed(:'name1');
INSERT INTO :name1 VALUES (1);
SELECT * FROM snowflake_ids.create_feed(:'name2');
SELECT left(:'name1', 29) || '_feed' AS feed, left(:'name1', 27) || '_deleted' AS deletions \gset
SELECT step, id FROM :feed('');
ALTER FUNCTION :feed RENAME TO e_feed;
ALTER TABLE :deletions RENAME TO e_deleted;
SELECT * FROM snowflake_ids.create_feed(:'name2');
DELETE FROM :name1;
SELECT * FROM poll('e');
SELECT snowflake_ids.drop_feed(:'name2');
SELECT snowflake_ids.drop_feed(:'name1');
DROP TABLE :name1, :name2;

-- ---- columns come, go and change their name, with the function in place. Newer minors (15.20) want it dropped and made
-- again in the transaction that changes a type or gives a DEFAULT: the positions stay valid.
CREATE TABLE headline (id int PRIMARY KEY, body text, n int);
SELECT to_do FROM snowflake_ids.create_feed('headline');
INSERT INTO headline VALUES (1, 'one', 1);
PREPARE poll AS SELECT step, id, f.row FROM headline_feed('') AS f WHERE step = 2;
SELECT id FROM headline_feed('') WHERE step = 2;
SELECT * FROM poll('headline');
ALTER TABLE headline ADD COLUMN added text, DROP COLUMN n;
BEGIN;
DROP FUNCTION headline_feed;
ALTER TABLE headline ALTER body TYPE int USING 7, ALTER added SET DEFAULT 'a';
SELECT * FROM snowflake_ids.create_feed('headline');
COMMIT;
ALTER TABLE headline RENAME body TO number;
ALTER TABLE headline RENAME added TO h;
INSERT INTO headline VALUES (2, 2);
DELETE FROM headline WHERE id = 1;
SELECT * FROM poll('headline');
SELECT id, ("row").number, ("row").h FROM headline_feed('') WHERE step = 2;
EXECUTE poll \g /dev/null
-- the key, too; and its type, with the function made again: the positions stay valid
ALTER TABLE headline RENAME id TO key;
SELECT rule FROM snowflake_ids.check_feed('headline') WHERE NOT ok;
UPDATE headline SET number = 3;
SELECT * FROM poll('headline');
DELETE FROM headline WHERE key = 2;
SELECT * FROM poll('headline');
SELECT to_do FROM snowflake_ids.create_feed('headline');
\d headline_deleted
INSERT INTO headline VALUES (3, 3), (4, 4), (5, 5);
SELECT * FROM poll('headline');
DELETE FROM headline WHERE key = 3;
BEGIN;
DROP FUNCTION headline_feed;
ALTER TABLE headline ALTER key TYPE bigint;
SELECT * FROM snowflake_ids.create_feed('headline');
COMMIT;
DELETE FROM headline WHERE key = 4;
INSERT INTO headline VALUES (5000000000, 5);
SELECT * FROM poll('headline');
SELECT rule, to_do FROM snowflake_ids.check_feed('headline') WHERE NOT ok;
-- the stamp
ALTER TABLE headline RENAME stamp TO changed;
INSERT INTO headline VALUES (6, 6);
SELECT rule FROM snowflake_ids.check_feed('headline') WHERE NOT ok;
SELECT * FROM poll('headline');
SELECT to_do FROM snowflake_ids.create_feed('headline');
INSERT INTO headline VALUES (6, 6);
SELECT * FROM poll('headline');
ALTER TABLE headline DROP COLUMN changed;
ALTER TABLE headline ALTER changed DROP NOT NULL;
SELECT to_do FROM snowflake_ids.create_feed('headline') \gexec
SELECT rule FROM snowflake_ids.check_feed('headline') WHERE NOT ok;

-- ---- keys of parts: a row moves, a child has another key or none, a key is computed
CREATE TABLE parted (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (10);
CREATE TABLE parted_2 (body text, id int NOT NULL);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (10) TO (20);
SELECT to_do FROM snowflake_ids.create_feed('parted');
INSERT INTO parted VALUES (1), (2), (11);
SELECT * FROM poll('parted');
UPDATE parted SET id = 3 WHERE id = 2;
UPDATE parted SET id = 12 WHERE id = 1;
UPDATE parted SET id = 13 WHERE id = 11;
SELECT DISTINCT * FROM poll('parted') ORDER BY 1, 2;
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (other int PRIMARY KEY) INHERITS (parent);
CREATE TABLE keyless () INHERITS (parent);
SELECT to_do FROM snowflake_ids.create_feed('parent') \gexec
INSERT INTO child VALUES (1, 101);
INSERT INTO keyless VALUES (2), (3);
SELECT * FROM poll('parent');
UPDATE child SET other = 102;
UPDATE keyless SET id = 4 WHERE id = 2;
UPDATE child SET id = 5;
DELETE FROM parent WHERE id = 3;
SELECT * FROM poll('parent');
CREATE TABLE computed (id int, key int PRIMARY KEY GENERATED ALWAYS AS (id * 10) STORED);
SELECT to_do FROM snowflake_ids.create_feed('computed');
INSERT INTO computed VALUES (1), (2);
SELECT * FROM poll('computed');
UPDATE computed SET id = 3 WHERE id = 1;
UPDATE computed SET id = id WHERE id = 2;
SELECT * FROM poll('computed');

-- ---- another primary key
CREATE TABLE rekeyed (id int PRIMARY KEY, num int NOT NULL, w int NOT NULL DEFAULT 1);
SELECT to_do FROM snowflake_ids.create_feed('rekeyed');
INSERT INTO rekeyed VALUES (1, 100), (2, 200);
SELECT * FROM poll('rekeyed');
ALTER TABLE rekeyed DROP CONSTRAINT rekeyed_pkey, ADD PRIMARY KEY (num);
DELETE FROM rekeyed WHERE id = 1;
SELECT * FROM snowflake_ids.create_feed('rekeyed');
SELECT * FROM poll('rekeyed');
DELETE FROM reader WHERE name = 'rekeyed';
SELECT * FROM poll('rekeyed');
DELETE FROM rekeyed WHERE id = 1;
SELECT * FROM poll('rekeyed');
ALTER TABLE rekeyed DROP CONSTRAINT rekeyed_pkey, ADD PRIMARY KEY (num, w);
SELECT rule, to_do FROM snowflake_ids.create_feed('rekeyed');
SELECT to_do FROM snowflake_ids.create_feed('rekeyed') \gexec
SELECT * FROM poll('rekeyed');
ALTER TABLE rekeyed DROP CONSTRAINT rekeyed_pkey, ADD PRIMARY KEY (w, num);
SELECT to_do FROM snowflake_ids.create_feed('rekeyed') \gexec
SELECT rule FROM snowflake_ids.check_feed('rekeyed') WHERE NOT ok;
ALTER TABLE rekeyed DROP CONSTRAINT rekeyed_pkey;
SELECT * FROM snowflake_ids.create_feed('rekeyed');
DELETE FROM rekeyed;

-- ---- names and schemas
CREATE SCHEMA feed_other;
CREATE TABLE moving (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed('moving');
INSERT INTO moving VALUES (1), (2), (3);
SELECT * FROM poll('moving');
ALTER TABLE moving RENAME TO moved;
DELETE FROM moved WHERE id = 1;
SELECT * FROM poll('moving');
ALTER TABLE moving_deleted RENAME TO moved_away;
DELETE FROM moved WHERE id = 2;
SELECT * FROM poll('moving');
ALTER TABLE moved_away SET SCHEMA feed_other;
ALTER TABLE moved SET SCHEMA feed_other;
ALTER FUNCTION moving_feed SET SCHEMA feed_other;
DELETE FROM feed_other.moved WHERE id = 3;
SELECT * FROM poll('moving', 'feed_other.moving_feed');
ALTER SCHEMA feed_other RENAME TO feed_another;
INSERT INTO feed_another.moved VALUES (4);
SELECT * FROM poll('moving', 'feed_another.moving_feed');
-- a new table of the old name: two pairs
CREATE TABLE moving (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed('moving');
INSERT INTO moving VALUES (9);
DELETE FROM feed_another.moved;
SELECT step, id FROM moving_feed('');
SELECT * FROM poll('moving', 'feed_another.moving_feed');
SELECT rule, to_do FROM unnest('{moving,feed_another.moved}'::regclass[]) AS t, snowflake_ids.check_feed(t) WHERE NOT ok;
SELECT snowflake_ids.drop_feed('feed_another.moved');
DROP TABLE feed_another.moved;
DELETE FROM moving;
SELECT count(*) FROM moving_deleted;

-- ---- another owner
CREATE ROLE feed_owner;
ALTER TABLE moving OWNER TO feed_owner;
DELETE FROM moving;
INSERT INTO moving VALUES (1);
DELETE FROM moving;
SELECT rule, to_do FROM snowflake_ids.check_feed('moving') WHERE NOT ok;
SELECT to_do FROM snowflake_ids.check_feed('moving') WHERE NOT ok \gexec
SELECT rule, to_do FROM snowflake_ids.check_feed('moving') WHERE NOT ok;
DELETE FROM moving;
SELECT step, id FROM moving_feed('');

-- ---- what is dropped by hand
SELECT * FROM poll('moving');
DROP TABLE moving_deleted;
DROP FUNCTION moving_feed;
DROP TABLE moving_deleted;
DELETE FROM moving;
INSERT INTO moving VALUES (1);
DELETE FROM moving;
SELECT to_regprocedure('moving_feed(text)') IS NULL AS no_function;
SELECT * FROM snowflake_ids.create_feed('moving');
SELECT * FROM poll('moving');
DROP TABLE moving_deleted CASCADE;
SELECT snowflake_ids.drop_feed('moving');
DROP FUNCTION headline_feed;
DROP TABLE moving, headline, headline_deleted;

-- ---- two tables in one REPEATABLE READ transaction are as at one moment; a changed one is not
CREATE TABLE one (id int PRIMARY KEY);
CREATE TABLE two (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed('one');
SELECT to_do FROM snowflake_ids.create_feed('two');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM poll('one');
SELECT * FROM poll('two');
INSERT INTO one VALUES (1);
INSERT INTO two VALUES (1);
SELECT * FROM poll('one');
COMMIT;
SELECT * FROM poll('one');
SELECT * FROM poll('two');
BEGIN ISOLATION LEVEL REPEATABLE READ;
INSERT INTO one VALUES (2);
TRUNCATE two;
SELECT * FROM poll('two');
COMMIT;
SELECT * FROM poll('one');
SELECT * FROM poll('two');

-- ---- limits, as the page has them
CREATE TABLE customer (customer int PRIMARY KEY, name text);
CREATE TABLE purchase (purchase int PRIMARY KEY, customer int);
INSERT INTO customer VALUES (1, 'ada'), (2, 'bob');
INSERT INTO purchase VALUES (1, 1);
SELECT to_do FROM snowflake_ids.create_feed('customer');
SELECT to_do FROM snowflake_ids.create_feed('purchase', deletes => false);
SELECT count(DISTINCT stamp) AS stamps, (SELECT count(position) FROM (SELECT * FROM customer_feed('') LIMIT 2) AS cut) AS positions FROM customer;
SELECT count(*) FROM customer NATURAL JOIN purchase;
SELECT count(*) FROM customer JOIN purchase USING (customer);
SELECT * FROM poll('customer');
INSERT INTO customer AS c VALUES (1, 'ada') ON CONFLICT (customer) DO UPDATE SET name = excluded.name WHERE c.name IS DISTINCT FROM excluded.name;
SELECT * FROM poll('customer');
INSERT INTO customer AS c VALUES (1, 'ada') ON CONFLICT (customer) DO UPDATE SET name = excluded.name WHERE c IS DISTINCT FROM excluded;
SELECT * FROM poll('customer');
BEGIN;
DROP FUNCTION customer_feed;
ALTER TABLE customer ADD points int DEFAULT 7;
SELECT * FROM snowflake_ids.create_feed('customer');
COMMIT;
SELECT * FROM poll('customer');
UPDATE customer SET stamp = stamp;
SELECT count(*) FROM poll('customer');
CREATE TABLE history (LIKE customer);
ALTER TABLE history DROP stamp;
CREATE FUNCTION history() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO history SELECT OLD.*; RETURN NULL; END $$;
CREATE TRIGGER history AFTER UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION history();
UPDATE customer SET points = 8;
-- No constraint keeps a key unique over parent and children: the copy keeps eve.
CREATE TABLE twin (PRIMARY KEY (customer)) INHERITS (customer);
SELECT to_do FROM snowflake_ids.create_feed('customer');
DELETE FROM reader WHERE name = 'customer';
SELECT count(*) FROM poll('customer');
INSERT INTO twin VALUES (1, 'eve');
SELECT * FROM poll('customer');
DELETE FROM twin;
SELECT * FROM poll('customer');
DROP TABLE customer, customer_deleted, purchase, history, twin CASCADE;
DROP FUNCTION history;

-- ---- its owner has altered the table of deletions: an error, and no row of other types
CREATE TABLE forged (id int PRIMARY KEY);
SELECT to_do FROM snowflake_ids.create_feed('forged');
INSERT INTO forged SELECT generate_series(1, 3);
CREATE FUNCTION alters() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ALTER TABLE forged_deleted ALTER id TYPE text; RETURN NULL; END $$;
CREATE TRIGGER zzz AFTER DELETE ON forged FOR EACH ROW WHEN (OLD.id = 1) EXECUTE FUNCTION alters();
DROP FUNCTION forged_feed;
DELETE FROM forged;
CREATE OR REPLACE FUNCTION alters() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DROP TABLE forged_deleted; RETURN NULL; END $$;
DELETE FROM forged;
DROP TRIGGER zzz ON forged;
ALTER TABLE forged_deleted ALTER again TYPE numeric USING 1;
SELECT snowflake_ids.note_missed('forged', 'a reason');
SELECT snowflake_ids.forget_deleted('forged', '0 s');
DROP TABLE forged_deleted;
CREATE TABLE forged_deleted (id int, stamp bigint, again text) PARTITION BY RANGE (id);
CREATE TABLE forged_part PARTITION OF forged_deleted DEFAULT;
CREATE CONSTRAINT TRIGGER feed_of AFTER INSERT ON forged_deleted FROM forged FOR EACH ROW WHEN (false) EXECUTE FUNCTION snowflake_ids.note_lost();
CREATE TRIGGER note_lost AFTER DELETE ON forged_deleted FOR EACH STATEMENT EXECUTE FUNCTION snowflake_ids.note_lost();
DELETE FROM forged;
DELETE FROM forged_deleted;
SELECT snowflake_ids.note_missed('forged', 'a reason');
SELECT relation, rule FROM snowflake_ids.check_feed('forged') WHERE NOT ok;
DROP TABLE forged, forged_deleted;
DROP FUNCTION alters;

-- Another primary key: rows that differ for the table could be one for readers.
CREATE TABLE widened (id int PRIMARY KEY, part int NOT NULL DEFAULT 1);
SELECT to_do FROM snowflake_ids.create_feed('widened');
SELECT snowflake_ids.feed_position('widened') AS position \gset
ALTER TABLE widened DROP CONSTRAINT widened_pkey, ADD PRIMARY KEY (id, part);
SELECT step FROM widened_feed(:'position');
ALTER TABLE widened DROP CONSTRAINT widened_pkey;
SELECT step FROM widened_feed(:'position');
DROP TABLE widened CASCADE;
DROP TABLE widened_deleted;
-- A partition's primary key that is DEFERRABLE: changed keys are noted there, too.
CREATE TABLE late (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE late_part (id int PRIMARY KEY DEFERRABLE);
ALTER TABLE late ATTACH PARTITION late_part DEFAULT;
SELECT to_do FROM snowflake_ids.create_feed('late');
INSERT INTO late VALUES (1);
SELECT * FROM poll('late');
UPDATE late SET id = 2;
SELECT * FROM poll('late');
-- No poll without a table that is read, and so locked: its name alone is none.
\set VERBOSITY terse
SELECT * FROM snowflake_ids.feed_begin('', 'late', NULL, NULL);
\set VERBOSITY default
-- A trigger of a statement has no row.
CREATE TRIGGER each_statement AFTER DELETE ON late FOR EACH STATEMENT EXECUTE FUNCTION snowflake_ids.note_deleted();
DELETE FROM late;
DROP TABLE late CASCADE;
DROP TABLE late_deleted;
-- A child with a feed of its own: the deletions of its rows are noted there only.
CREATE TABLE upper (id int PRIMARY KEY);
CREATE TABLE lower (PRIMARY KEY (id)) INHERITS (upper);
SELECT to_do FROM snowflake_ids.create_feed('upper');
INSERT INTO lower VALUES (1), (2);
SELECT * FROM poll('upper');
SELECT to_do FROM snowflake_ids.create_feed('lower');
DELETE FROM lower WHERE id = 1;
SELECT * FROM poll('upper');
DROP TABLE lower_deleted CASCADE;
SELECT snowflake_ids.note_missed('upper', 'Deletions went to another feed.');
SELECT * FROM poll('upper');
DROP TABLE upper, lower CASCADE;
DROP TABLE upper_deleted;
-- Who has the privileges DELETE and TRIGGER gets no row into the table.
CREATE TABLE others (stamp bigint, again text);
GRANT DELETE, TRIGGER ON others TO feed_owner;
SET ROLE feed_owner;
CREATE TRIGGER lost AFTER DELETE ON others FOR EACH STATEMENT EXECUTE FUNCTION snowflake_ids.note_lost();
DELETE FROM others;
RESET ROLE;
DROP TABLE others;
DROP FUNCTION composite_feed, named_feed, h_feed, "A.b c_feed", amount_feed, parted_feed, parent_feed, computed_feed, rekeyed_feed, one_feed, two_feed;
DROP TABLE composite, named, h, "A.b c", amount, parted, parent, child, keyless, computed, rekeyed, one, two;
DROP TABLE composite_deleted, named_deleted, h_deleted, "A.b c_deleted", amount_deleted, parted_deleted, parent_deleted, computed_deleted,
    rekeyed_deleted, one_deleted, two_deleted;
DROP DOMAIN short;
DROP SCHEMA feed_another;
DROP FUNCTION poll;
DROP TABLE reader;
DROP ROLE feed_owner;
