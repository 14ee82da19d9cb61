-- Triggers that check a key: they refuse an id that readers of the table have passed.
CREATE TABLE journal_line (id mastic PRIMARY KEY DEFAULT gen_mastic(), body text);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON journal_line FOR EACH ROW EXECUTE FUNCTION mastic_check('id');
INSERT INTO journal_line (body) SELECT 'line ' || n FROM generate_series(1, 3) n;
COPY journal_line (body) FROM STDIN;
line 4
\.
SELECT count(*), mastic_settled('journal_line') > '0' AS settled FROM journal_line;
-- A key never changes. So an upsert with an old key is refused before the server looks for its row.
CREATE TABLE note (line mastic REFERENCES journal_line, body text);
SELECT id AS first FROM journal_line ORDER BY id LIMIT 1 \gset
\set VERBOSITY terse
INSERT INTO journal_line VALUES (:'first', 'line 1') ON CONFLICT (id) DO UPDATE SET body = 'line one';
\set VERBOSITY default
INSERT INTO note VALUES (:'first', 'a note');
UPDATE journal_line SET body = upper(body);
SELECT body FROM journal_line ORDER BY id LIMIT 2;
-- An id of this transaction may be inserted later.
BEGIN;
SELECT gen_mastic() AS own \gset
INSERT INTO journal_line VALUES (:'own', 'fetched first');
COMMIT;
\set VERBOSITY terse
INSERT INTO journal_line VALUES (mastic_lower_bound(now() - interval '1 year'), 'refused');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO journal_line VALUES (mastic_lower_bound(now() + interval '1 day'), 'refused');
\echo :LAST_ERROR_SQLSTATE
INSERT INTO journal_line VALUES (NULL, 'refused');
UPDATE journal_line SET id = mastic_lower_bound(now() - interval '1 year') WHERE body = 'LINE 2';
\set VERBOSITY default
UPDATE journal_line SET id = gen_mastic() WHERE body = 'LINE 2';
SELECT count(*) FROM journal_line;

-- A statement that pauses between its DEFAULT and its first row, while readers advance.
CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.03); RETURN NEW; END $$;
CREATE TRIGGER a BEFORE INSERT ON journal_line FOR EACH ROW EXECUTE FUNCTION stand_still();
CREATE FUNCTION read_meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM mastic_settled('journal_line'); RETURN NEW; END $$;
CREATE TRIGGER b BEFORE INSERT ON journal_line FOR EACH ROW EXECUTE FUNCTION read_meanwhile();
\set VERBOSITY terse
INSERT INTO journal_line (body) VALUES ('slow');
\set VERBOSITY default
CREATE TRIGGER check_begins BEFORE INSERT OR UPDATE ON journal_line EXECUTE FUNCTION mastic_check('id');
INSERT INTO journal_line (body) VALUES ('slow');
DROP TRIGGER a ON journal_line;
DROP TRIGGER b ON journal_line;

CREATE TABLE other (id mastic, part int, UNIQUE (part, id));
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON other FOR EACH ROW EXECUTE FUNCTION mastic_check('id');
INSERT INTO other VALUES (gen_mastic(), 1);
CREATE UNIQUE INDEX partly ON other (id) WHERE part = 1;
INSERT INTO other VALUES (gen_mastic(), 1);
DROP INDEX partly;
CREATE UNIQUE INDEX ON other (id);
INSERT INTO other VALUES (gen_mastic(), 1);
DROP TABLE other;
CREATE TABLE child () INHERITS (journal_line);
ALTER TABLE child ADD UNIQUE (id);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION mastic_check('id');
INSERT INTO child (body) VALUES ('unique in the child only');
DROP TABLE child;
CREATE TABLE parted (id sno PRIMARY KEY DEFAULT gen_sno()) PARTITION BY RANGE (id);
CREATE TABLE parted_all PARTITION OF parted DEFAULT;
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION sno_check('id');
CREATE TABLE listed (id bigint DEFAULT gen_snowflake_si(), part int, l bigint) PARTITION BY LIST (part);
INSERT INTO parted DEFAULT VALUES;
SELECT sno_settled('parted') > '2222222222222222' AS parted, sno_settled('parted_all') > '2222222222222222' AS one;
CREATE TABLE listed_1 PARTITION OF listed (UNIQUE (id)) FOR VALUES IN (1);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON listed FOR EACH ROW EXECUTE FUNCTION snowflake_si_check('id');
INSERT INTO listed (part) VALUES (1);
CREATE TABLE tweet (id bigint PRIMARY KEY DEFAULT gen_snowflake('twitter'), other bigint UNIQUE DEFAULT gen_snowflake_si());
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON tweet FOR EACH ROW EXECUTE FUNCTION snowflake_check('twitter', 'id');
CREATE TRIGGER check_other BEFORE INSERT OR UPDATE ON tweet FOR EACH ROW EXECUTE FUNCTION snowflake_si_check('other');
INSERT INTO tweet DEFAULT VALUES;
SELECT snowflake_settled('twitter', 'tweet') > 0 AS twitter, snowflake_si_settled('tweet') > 0 AS snowflake_si;
INSERT INTO tweet VALUES (1);
INSERT INTO tweet VALUES (-1);
CREATE TRIGGER check_unknown BEFORE INSERT OR UPDATE ON tweet FOR EACH ROW EXECUTE FUNCTION snowflake_check('no such', 'id');
INSERT INTO tweet DEFAULT VALUES;

DROP TABLE note, journal_line, parted, listed, tweet;
DROP FUNCTION stand_still, read_meanwhile;
