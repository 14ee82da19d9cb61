-- The owner of a database installs the extension, but owns none of its functions. Roles can convert only their own
-- tables.
SET client_min_messages = warning;
CREATE ROLE regress_convert_owner LOGIN;
CREATE ROLE regress_convert_user LOGIN;
CREATE DATABASE regress_convert_tenants OWNER regress_convert_owner;
SELECT current_database() AS main, current_user AS super \gset
\c regress_convert_tenants regress_convert_owner
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids_convert CASCADE;
SELECT pg_get_userbyid(nspowner) = current_user AS owned, has_schema_privilege(oid, 'CREATE') AS creates
FROM pg_namespace
WHERE nspname = 'snowflake_ids_convert';
CREATE TABLE account (id bigint PRIMARY KEY, created timestamptz NOT NULL);
INSERT INTO account
SELECT n, timestamptz '2026-02-03 04:05:06+00' + n * interval '1 s'
FROM generate_series(1, 10) AS n;
GRANT ALL ON account TO regress_convert_user;
CREATE TABLE ahead (id bigint PRIMARY KEY, created timestamptz NOT NULL);
INSERT INTO ahead VALUES (1, '2070-01-01');
CREATE SCHEMA workshop;
GRANT ALL ON SCHEMA workshop TO regress_convert_user;
\set VERBOSITY terse
INSERT INTO snowflake_ids_convert.conversion SELECT * FROM snowflake_ids_convert.my_conversion;
DELETE FROM snowflake_ids_convert.conversion;
UPDATE snowflake_ids_convert_progress SET phase = 'done';
CREATE FUNCTION snowflake_ids_convert.columns(oid, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER FUNCTION snowflake_ids_convert.key() OWNER TO CURRENT_USER;
DROP SCHEMA snowflake_ids_convert CASCADE;
SELECT snowflake_ids_convert_undo('account');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_convert_forget('account');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_convert_indexes('account');
-- Own tables need no privilege. Future times are refused, because they would move the generators of others.
CALL snowflake_ids_convert('ahead', 'id', 'mastic', 'created');

\c - regress_convert_user
INSERT INTO snowflake_ids_convert.conversion SELECT * FROM snowflake_ids_convert.my_conversion;
DELETE FROM snowflake_ids_convert.conversion;
UPDATE snowflake_ids_convert_progress SET phase = 'done';
CREATE FUNCTION snowflake_ids_convert.columns(oid, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
ALTER FUNCTION snowflake_ids_convert.key() OWNER TO CURRENT_USER;
DROP SCHEMA snowflake_ids_convert CASCADE;
SELECT snowflake_ids_convert_undo('account');
SELECT snowflake_ids_convert_forget('account');
SELECT snowflake_ids_convert_indexes('account');
SET client_min_messages = warning;
-- The role may write to another's table, but not convert it.
CALL snowflake_ids_convert('account', 'id', 'sno', 'created');
CREATE TABLE workshop.tool AS SELECT * FROM account;
ALTER TABLE workshop.tool ADD PRIMARY KEY (id);
CALL snowflake_ids_convert('workshop.tool', 'id', 'sno', 'created', concurrently => false);
SELECT count(*), count(DISTINCT id), max(sno_timestamp(id)) < now() AS in_the_past FROM workshop.tool;

-- A role's own triggers with these functions find only keys of its tables, and accept no column of another type.
CREATE TABLE workshop.mine (id int, snowflake_ids_new_1 bigint);
CREATE TABLE workshop.other_type (id int, snowflake_ids_new_1 text);
SELECT 'account'::regclass::oid AS account,
       'workshop.mine'::regclass::oid AS mine,
       'workshop.other_type'::regclass::oid AS other_type \gset
INSERT INTO workshop.other_type VALUES (1, 'one');
CREATE TRIGGER t BEFORE INSERT ON workshop.mine
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow(:account, 1, 1);
INSERT INTO workshop.mine VALUES (1);
DROP TRIGGER t ON workshop.mine;
CREATE TRIGGER t BEFORE INSERT ON workshop.mine
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow(:other_type, 1, 1);
INSERT INTO workshop.mine VALUES (1);
DROP TRIGGER t ON workshop.mine;
CREATE TRIGGER t BEFORE INSERT ON workshop.mine
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow(:mine, 1, 7);
INSERT INTO workshop.mine VALUES (1);
DROP TRIGGER t ON workshop.mine;
CREATE TRIGGER t BEFORE INSERT ON workshop.mine
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow('x', '', '-1');
INSERT INTO workshop.mine VALUES (1);
DROP TRIGGER t ON workshop.mine;
CREATE TRIGGER t AFTER DELETE ON workshop.mine
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.key(:mine, 1);
DELETE FROM workshop.mine;
INSERT INTO workshop.mine VALUES (1, 5);
DELETE FROM workshop.mine;
DROP TRIGGER t ON workshop.mine;
CREATE TRIGGER t BEFORE INSERT ON workshop.mine
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.key(:mine, 2);
INSERT INTO workshop.mine VALUES (2, 5);
DROP TRIGGER t ON workshop.mine;
CREATE CONSTRAINT TRIGGER t AFTER INSERT OR UPDATE ON workshop.other_type
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.late(:mine, 1, 1);
UPDATE workshop.other_type SET snowflake_ids_new_1 = NULL;
TABLE workshop.mine;
TABLE workshop.other_type;

\c - regress_convert_owner
SET client_min_messages = warning;
CALL snowflake_ids_convert('account', 'id', 'mastic', 'created', concurrently => false);
SELECT count(*), count(DISTINCT id), max(mastic_timestamp(id)) < now() AS in_the_past FROM account;
-- The database's owner has no rights on other tables.
CALL snowflake_ids_convert('workshop.tool', 'id', 'sno', 'created');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_convert_plan('workshop.tool', 'id', 'sno', 'created');
SELECT snowflake_ids_convert_indexes('workshop.tool');
SELECT snowflake_ids_convert_undo('workshop.tool');
SELECT snowflake_ids_convert_forget('workshop.tool');
SELECT snowflake_ids_convert.step('workshop.tool', true);
SELECT snowflake_ids_convert.start('workshop.tool', 'id', 'sno', 'created', 0, 1, true, true, true, true, true, true);
-- Each role sees the progress of all conversions, but can write only its own state.
SELECT relation, phase FROM snowflake_ids_convert_progress ORDER BY relation::text;
SELECT relation FROM snowflake_ids_convert.my_conversion;

\c :main :super
DROP DATABASE regress_convert_tenants;
DROP ROLE regress_convert_owner, regress_convert_user;
