-- A stamp is a new id, whatever the statement says, and a trigger that cannot stamp is refused.
\set VERBOSITY default
CREATE TABLE news (id bigint PRIMARY KEY, body text, stamp sno NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');

-- The id is new, whatever the statement assigns.
CREATE TABLE seen (LIKE news);
CREATE PROCEDURE check_new(what text) LANGUAGE plpgsql AS $$
DECLARE
    newer bigint;
    older bigint;
BEGIN
    SELECT count(*) FILTER (WHERE n.stamp > (SELECT max(stamp) FROM seen)),
           count(*) FILTER (WHERE n.stamp <= (SELECT max(stamp) FROM seen) AND n IS DISTINCT FROM s)
    INTO newer, older FROM news n LEFT JOIN seen s USING (id);
    RAISE NOTICE '%: % new, % wrong', what, newer, older;
    TRUNCATE seen;
    INSERT INTO seen TABLE news;
END $$;
INSERT INTO seen VALUES (0, NULL, gen_sno());
INSERT INTO news VALUES (1, 'one'), (2, 'two'), (3, 'three');
CALL check_new('insert');
INSERT INTO news VALUES (4, 'four', '2222222222222222'), (5, 'five', 'xxxxxxxxxxxxxxxx'), (6, 'six', NULL);
CALL check_new('insert of an id');
UPDATE news SET body = upper(body) WHERE id = 1;
CALL check_new('update');
UPDATE news SET stamp = '2222222222222222' WHERE id IN (1, 2);
UPDATE news SET stamp = NULL WHERE id = 3;
CALL check_new('update of the id');
INSERT INTO news VALUES (2, 'zwei') ON CONFLICT (id) DO UPDATE SET body = excluded.body, stamp = excluded.stamp;
INSERT INTO news VALUES (2, 'deux') ON CONFLICT (id) DO NOTHING;
CALL check_new('upsert');
MERGE INTO news USING (VALUES (3, 'drei'), (7, 'sieben')) AS v (id, body) ON news.id = v.id
    WHEN MATCHED THEN UPDATE SET body = v.body WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.body);
CALL check_new('merge');
UPDATE news SET body = v.body FROM (VALUES (3, 'tre'), (4, 'quattro')) AS v (id, body) WHERE news.id = v.id;
CALL check_new('update from');
COPY news (id, body, stamp) FROM STDIN;
8	eight	2222222222222222
9	nine	2222222222222222
\.
CALL check_new('copy');
PREPARE late(sno) AS INSERT INTO news VALUES (10, 'ten', $1);
EXECUTE late(gen_sno());
DEALLOCATE late;
CALL check_new('argument');
SELECT count(DISTINCT stamp) FROM news;
WITH n AS (INSERT INTO news VALUES (11, 'eleven', '2222222222222222') RETURNING id, stamp)
SELECT stamp > (SELECT max(stamp) FROM news) AS new FROM n;
WITH n AS (UPDATE news SET body = 'elf' WHERE id = 11 RETURNING stamp)
SELECT stamp > (SELECT max(stamp) FROM news) AS new FROM n;
-- After a dropped column.
ALTER TABLE news DROP COLUMN body, ADD COLUMN body text DEFAULT 'none';
UPDATE news SET body = 'one' WHERE id = 1 RETURNING id, body, stamp > (SELECT max(stamp) FROM seen) AS new;
DROP TABLE seen;

-- Each format. A row that moves to another partition is stamped on arrival.
CREATE TABLE parted (place int, s sno, m mastic, b bigint, si bigint, l bigint) PARTITION BY LIST (place);
CREATE TABLE parted_1 (l bigint, b bigint, m mastic, si bigint, s sno, place int);
ALTER TABLE parted ATTACH PARTITION parted_1 FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
CREATE TRIGGER s BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION sno_stamp('s');
CREATE TRIGGER m BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION mastic_stamp('m');
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION mastic_stamp('b');
CREATE TRIGGER si BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION snowflake_si_stamp('si');
CREATE TRIGGER l BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION snowflake_stamp('twitter', 'l');
CREATE TABLE before AS SELECT gen_sno() AS s, gen_mastic() AS m, gen_snowflake_si() AS si, gen_snowflake('twitter') AS l;
INSERT INTO parted VALUES (1), (2);
CREATE VIEW newer AS SELECT place, parted.tableoid::regclass, parted.s > before.s AS s, parted.m > before.m AS m,
    b > before.m::bigint AS b, parted.si > before.si AS si, parted.l > before.l AS l FROM parted, before;
SELECT * FROM newer ORDER BY place;
UPDATE before SET s = gen_sno(), m = gen_mastic(), si = gen_snowflake_si(), l = gen_snowflake('twitter');
UPDATE parted SET place = 2, s = '2222222222222222', m = 0, b = 0, si = 0, l = 0 WHERE place = 1;
SELECT * FROM newer ORDER BY place, s;
DROP TABLE parted, before CASCADE;

-- Wrong triggers raise errors.
CREATE ROLE regress_stamp_user;
CREATE SCHEMA stamped AUTHORIZATION regress_stamp_user;
SET ROLE regress_stamp_user;
SET search_path = stamped, public;
CREATE TABLE t (id bigint PRIMARY KEY, stamp sno, x text, i int, m mastic, u uuid, unique_sno sno UNIQUE);
SELECT sno_stamp();
SELECT snowflake_stamp();
DO $$ BEGIN PERFORM mastic_stamp(); END $$;
\set before 'CREATE OR REPLACE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION '
CREATE TRIGGER zz_stamp AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
-- What the hint says.
BEGIN;
DROP TRIGGER zz_stamp ON stamped.t; SELECT to_do FROM snowflake_ids.create_feed('stamped.t', format => 'sno') \gexec
INSERT INTO t (id) VALUES (1) RETURNING stamp IS NOT NULL AS stamped;
ROLLBACK;
CREATE OR REPLACE TRIGGER zz_stamp BEFORE INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION sno_stamp('stamp');
INSERT INTO t (id) VALUES (1);
BEGIN;
CREATE OR REPLACE TRIGGER zz_stamp BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
INSERT INTO t (id) VALUES (1);
DELETE FROM t;
ROLLBACK;
CREATE OR REPLACE TRIGGER zz_stamp BEFORE TRUNCATE ON t EXECUTE FUNCTION sno_stamp('stamp');
TRUNCATE t;
BEGIN;
CREATE VIEW v AS TABLE t;
CREATE TRIGGER zz_stamp INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
INSERT INTO v (id) VALUES (1);
ROLLBACK;
CREATE EVENT TRIGGER zz_stamp ON ddl_command_end EXECUTE FUNCTION sno_stamp();
:before sno_stamp();
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
:before sno_stamp('stamp', 'stamp');
INSERT INTO t (id) VALUES (1);
:before snowflake_stamp('l');
INSERT INTO t (id) VALUES (1);
:before sno_stamp('Changed');
INSERT INTO t (id) VALUES (1);
:before sno_stamp('');
INSERT INTO t (id) VALUES (1);
:before sno_stamp('ctid');
INSERT INTO t (id) VALUES (1);
:before sno_stamp('tableoid');
INSERT INTO t (id) VALUES (1);
BEGIN;
:before sno_stamp('stamp');
ALTER TABLE t RENAME stamp TO at;
INSERT INTO t (id) VALUES (1);
ROLLBACK;
BEGIN;
:before sno_stamp('stamp');
ALTER TABLE t DROP stamp;
INSERT INTO t (id) VALUES (1);
ROLLBACK;
:before sno_stamp('x');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
:before sno_stamp('i');
INSERT INTO t (id) VALUES (1);
:before sno_stamp('m');
INSERT INTO t (id) VALUES (1);
:before sno_stamp('u');
INSERT INTO t (id) VALUES (1);
:before mastic_stamp('stamp');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
:before mastic_stamp('i');
INSERT INTO t (id) VALUES (1);
:before snowflake_si_stamp('m');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
:before snowflake_stamp('twitter', 'x');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
BEGIN;
:before snowflake_stamp('no such layout', 'b');
ALTER TABLE t ADD b bigint;
INSERT INTO t (id) VALUES (1);
ROLLBACK;
BEGIN;
:before snowflake_stamp('mastodon', 'b');
ALTER TABLE t ADD b bigint;
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
:before sno_stamp('d');
CREATE DOMAIN d AS sno;
ALTER TABLE t ADD d d;
INSERT INTO t (id) VALUES (1);
ROLLBACK;
BEGIN;
:before sno_stamp('a');
ALTER TABLE t ADD a sno[];
INSERT INTO t (id) VALUES (1);
ROLLBACK;
BEGIN;
:before sno_stamp('s');
CREATE TYPE sno AS (a int);
ALTER TABLE t ADD s stamped.sno;
INSERT INTO t (id) VALUES (1);
ROLLBACK;
BEGIN;
:before sno_stamp('g');
ALTER TABLE t ADD g public.sno GENERATED ALWAYS AS (stamp) STORED;
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
:before mastic_stamp('n');
ALTER TABLE t ADD n bigint GENERATED BY DEFAULT AS IDENTITY;
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
:before mastic_stamp('id');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
:before sno_stamp('unique_sno');
INSERT INTO t (id) VALUES (1);
\echo :LAST_ERROR_SQLSTATE
-- The column changes its type after the session has used the trigger.
:before sno_stamp('stamp');
INSERT INTO t (id) VALUES (1);
ALTER TABLE t ALTER stamp TYPE text;
INSERT INTO t (id) VALUES (2);
UPDATE t SET id = 3;
RESET search_path;
RESET ROLE;
SET client_min_messages = warning;
DROP SCHEMA stamped CASCADE;
DROP ROLE regress_stamp_user;
DROP TABLE news CASCADE;
DROP PROCEDURE check_new;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(sno|mastic|snowflake|snowflake_si)_stamp$' ORDER BY signature COLLATE "C" \g (format=unaligned)
