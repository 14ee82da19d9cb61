-- A role that forges what it may write gains nothing, whoever runs the functions of feeds.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE ROLE feed_owner;
CREATE ROLE feed_deleter;
CREATE ROLE feed_mallory;
GRANT CREATE, USAGE ON SCHEMA public TO feed_owner, feed_mallory;
SET ROLE feed_owner;
CREATE TABLE mine (id int PRIMARY KEY, b text);
CREATE TABLE other (id int, stamp bigint DEFAULT 1, forgotten bool);
GRANT DELETE, INSERT, SELECT ON mine TO feed_deleter;
GRANT TRIGGER, INSERT, DELETE, SELECT ON mine TO feed_mallory;
RESET ROLE;
SET ROLE feed_mallory;
CREATE TABLE mine_deleted (id int, stamp bigint, forgotten bool);

SELECT * FROM snowflake_ids.create_feed('mine', true);
RESET ROLE;
SELECT * FROM snowflake_ids.create_feed('mine', true);
DROP TABLE mine_deleted;
SET ROLE feed_mallory;
CREATE TRIGGER evil AFTER DELETE ON mine FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_deleted('public.other');
INSERT INTO mine VALUES (1);
DELETE FROM mine;
ALTER TABLE mine ENABLE ALWAYS TRIGGER evil;
SELECT snowflake_ids.feed_as_owner('mine', 'SELECT 1');
SELECT snowflake_ids.forget_deleted('mine');
RESET ROLE;
SELECT count(*) FROM other;
DROP TRIGGER evil ON mine;
SET ROLE feed_owner;
SELECT * FROM snowflake_ids.create_feed('mine', true);
RESET ROLE;
SET ROLE feed_deleter;
SET search_path = pg_temp;
CREATE TEMP TABLE mine_deleted (id int);
INSERT INTO public.mine VALUES (2);
DELETE FROM public.mine;
RESET search_path;
DROP TABLE pg_temp.mine_deleted;
SELECT count(*) FROM public.mine_deleted;
INSERT INTO public.mine_deleted DEFAULT VALUES;
SELECT deleted, id FROM mine_feed ORDER BY id;
SELECT snowflake_ids.drop_feed('mine');
SELECT snowflake_ids.create_feed('mine');
SELECT snowflake_ids.forget_deleted('mine', '-1 h');
SELECT count(*) > 0 FROM snowflake_ids.check_feed('mine');
RESET ROLE;
SELECT relname, relowner::regrole, has_table_privilege('feed_deleter', oid, 'SELECT') AS reads, has_table_privilege('feed_deleter', oid, 'INSERT') AS writes FROM pg_class
WHERE relname ~ '^mine(_feed|_deleted)$' ORDER BY 1;
-- a superuser on another's table
SELECT snowflake_ids.drop_feed('mine');
SELECT * FROM snowflake_ids.create_feed('mine', true);
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^mine_(feed|deleted)$' ORDER BY 1;
SET ROLE feed_owner;
CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE WARNING 'as %', current_user;
    RESET ROLE;
    RETURN OLD;
END $$;
CREATE TRIGGER evil BEFORE DELETE OR UPDATE ON mine_deleted FOR EACH ROW EXECUTE FUNCTION evil();
INSERT INTO mine VALUES (1),(2);
DELETE FROM mine;
RESET ROLE;
\i sql/include/settle.psql
CALL settle('mine');
SELECT snowflake_ids.forget_deleted('mine', '-1 hour');
-- A table of deletions of its own making, whose casts are code.
SELECT snowflake_ids.drop_feed('mine');
SET ROLE feed_owner;
CREATE TYPE pretended AS (yes boolean);
CREATE FUNCTION cast_by(pretended) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'cast as %', current_user;
    RETURN true;
END $$;
CREATE CAST (pretended AS boolean) WITH FUNCTION cast_by AS IMPLICIT;
SELECT * FROM snowflake_ids.create_feed('mine');
CREATE TABLE mine_deleted (id int, stamp bigint, forgotten pretended);
INSERT INTO mine_deleted VALUES (1, 1, '(t)');
CREATE TRIGGER zz_note_deleted AFTER DELETE ON mine FOR EACH ROW EXECUTE FUNCTION snowflake_ids.note_deleted('public.mine_deleted');
ALTER TABLE mine ENABLE ALWAYS TRIGGER zz_note_deleted;
RESET ROLE;
SELECT snowflake_ids.feed_position('mine', '1');
SELECT snowflake_ids.forget_deleted('mine', '-1 hour');
DROP TABLE mine, other CASCADE;
DROP TABLE mine_deleted;
DROP FUNCTION evil;
DROP PROCEDURE settle;
DROP TYPE pretended CASCADE;
REVOKE ALL ON SCHEMA public FROM feed_owner, feed_mallory;
DROP ROLE feed_owner, feed_mallory, feed_deleter;
