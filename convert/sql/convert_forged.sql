-- A role forges the state of its own conversion. Others who then call for its tables change nothing of other roles.
-- (forged_state.pl forges every column in every phase.)
\set topic forged
\set roles 'victim team forger mate'
\i sql/include/roles.psql
GRANT regress_convert_team TO regress_convert_forger, regress_convert_mate;
-- Forging may be refused; what counts is what happens then.
CREATE PROCEDURE forge(statement text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
    NULL;
END $$;

SET ROLE regress_convert_victim;
CREATE TABLE victim.private ();
CREATE TABLE victim.other ();
CREATE TABLE victim.lone (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CALL snowflake_ids_convert('victim.lone', 'id', 'sno', 'created', finish => false);
CREATE TABLE victim.key (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CREATE TABLE victim.of_key (key int REFERENCES victim.key);
INSERT INTO victim.key VALUES (1), (2);
INSERT INTO victim.of_key VALUES (1);
CALL snowflake_ids_convert('victim.key', 'id', 'sno', 'created', finish => false);
SET ROLE regress_convert_mate;
CREATE TABLE mate.private ();
RESET ROLE;

-- ---- Its map is another role's table; a superuser undoes.
SET ROLE regress_convert_forger;
CREATE TABLE forger.m1 (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CALL snowflake_ids_convert('forger.m1', 'id', 'sno', 'created', finish => false);
CALL forge($$UPDATE snowflake_ids_convert.my_conversion SET map = 'victim.private' WHERE relation = 'forger.m1'::regclass$$);
RESET ROLE;
SELECT snowflake_ids_convert_undo('forger.m1');
SELECT to_regclass('victim.private') AS is_there;
-- The same if that table has the name of the map.
SELECT 'forger.m1'::regclass::oid AS m1 \gset
SET ROLE regress_convert_forger;
CALL snowflake_ids_convert('forger.m1', 'id', 'sno', 'created', finish => false);
DROP TABLE forger.snowflake_ids_map_:m1;
RESET ROLE;
GRANT CREATE ON SCHEMA forger TO regress_convert_victim;
SET ROLE regress_convert_victim;
CREATE TABLE forger.snowflake_ids_map_:m1 ();
RESET ROLE;
SELECT snowflake_ids_convert_undo('forger.m1');
SELECT to_regclass('forger.snowflake_ids_map_' || :m1) IS NOT NULL AS is_there;

-- ---- A superuser forgets a conversion that never was.
SET ROLE regress_convert_forger;
CREATE TABLE forger.never (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CALL forge($$
    INSERT INTO snowflake_ids_convert.my_conversion (relation, job, phase, map)
    VALUES ('forger.never',
            snowflake_ids_convert.planned_job('forger.never', 'id', 'sno', 'created', 0, false, false, false, false),
            'done', 'victim.other')$$);
RESET ROLE;
SELECT snowflake_ids_convert_forget('forger.never');
SELECT to_regclass('victim.other') AS is_there;

-- ---- Its state names another role's table; a superuser undoes.
SET ROLE regress_convert_forger;
CREATE TABLE forger.m2 (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CALL snowflake_ids_convert('forger.m2', 'id', 'sno', 'created', finish => false);
CALL forge($$
    UPDATE snowflake_ids_convert.my_conversion
    SET job.relation = 'victim.lone', map = NULL
    WHERE relation = 'forger.m2'::regclass$$);
RESET ROLE;
SELECT snowflake_ids_convert_undo('forger.m2');
SELECT attrelid::regclass, attname
FROM pg_attribute
WHERE attname = 'snowflake_ids_new_1' AND attrelid = 'victim.lone'::regclass;
SET ROLE regress_convert_victim;
INSERT INTO victim.lone VALUES (2);
RESET ROLE;

-- ---- A member of a role forges that the map is another member's table.
SET ROLE regress_convert_team;
CREATE TABLE team.t (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CALL snowflake_ids_convert('team.t', 'id', 'sno', 'created', concurrently => false);
SET ROLE regress_convert_forger;
CALL forge($$UPDATE snowflake_ids_convert.my_conversion SET map = 'mate.private' WHERE relation = 'team.t'::regclass$$);
SET ROLE regress_convert_mate;
SELECT snowflake_ids_convert_forget('team.t');
SELECT to_regclass('mate.private') AS is_there;
RESET ROLE;

-- ---- A table looks as if it belonged to the conversion of a key that it may refer to. When the key moves, code of
-- that table runs, but not with the rights of the key's owner.
GRANT REFERENCES ON victim.key TO regress_convert_forger;
SET ROLE regress_convert_forger;
CREATE FUNCTION forger.ran() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'a trigger of forger runs as %', current_user;
    RETURN NEW;
END $$;
CREATE TABLE forger.refers (
    key int REFERENCES victim.key DEFERRABLE INITIALLY DEFERRED,
    snowflake_ids_new_1 sno
);
INSERT INTO forger.refers VALUES (2);
CREATE TRIGGER ran BEFORE UPDATE ON forger.refers FOR EACH ROW EXECUTE FUNCTION forger.ran();
GRANT ALL ON forger.refers TO regress_convert_victim;
SET ROLE regress_convert_victim;
BEGIN;
DELETE FROM victim.key WHERE id = 2;
INSERT INTO victim.key VALUES (2);
COMMIT;
SET ROLE regress_convert_forger;
REVOKE ALL ON forger.refers FROM regress_convert_victim;
SET ROLE regress_convert_victim;
BEGIN;
DELETE FROM victim.key WHERE id = 2;
INSERT INTO victim.key VALUES (2);
COMMIT;
RESET ROLE;

-- ---- A role with TRIGGER and INSERT asks for the new ids of a table that it cannot read.
DELETE FROM victim.lone;
GRANT INSERT, SELECT, TRIGGER ON victim.lone TO regress_convert_forger;
SELECT 'victim.key'::regclass::oid AS key \gset
SET ROLE regress_convert_forger;
SELECT count(*) FROM victim.key;
CREATE TRIGGER zz_snowflake_ids_9 BEFORE INSERT ON victim.lone FOR EACH ROW
    EXECUTE FUNCTION snowflake_ids_convert.follow(:key, 1, 1);
INSERT INTO victim.lone VALUES (1);
CREATE OR REPLACE TRIGGER zz_snowflake_ids_9 BEFORE INSERT ON victim.lone FOR EACH ROW
    EXECUTE FUNCTION snowflake_ids_convert.follow(:key, 1, 1, 'wait');
INSERT INTO victim.lone VALUES (1);
RESET ROLE;
SELECT count(*) AS found_out FROM victim.lone JOIN victim.key USING (snowflake_ids_new_1);
DROP TRIGGER zz_snowflake_ids_9 ON victim.lone;
SET ROLE regress_convert_forger;
CREATE CONSTRAINT TRIGGER zz_snowflake_ids_9 AFTER INSERT ON victim.lone FOR EACH ROW
    EXECUTE FUNCTION snowflake_ids_convert.late(:key, 1, 1);
INSERT INTO victim.lone VALUES (2);
RESET ROLE;
DROP TRIGGER zz_snowflake_ids_9 ON victim.lone;
REVOKE ALL ON victim.lone FROM regress_convert_forger;

-- ---- A trigger whose arguments are no oid
SET ROLE regress_convert_forger;
CREATE CONSTRAINT TRIGGER zz_snowflake_ids_9 AFTER INSERT ON forger.m2 DEFERRABLE
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.late('99999999999999999999', '99999999', '99999999');
ALTER TABLE forger.m2 ENABLE ALWAYS TRIGGER zz_snowflake_ids_9;
SET ROLE regress_convert_victim;
CREATE TABLE victim.later (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01');
CALL snowflake_ids_convert('victim.later', 'id', 'sno', 'created', finish => false);
SELECT snowflake_ids_convert_undo('victim.later');
RESET ROLE;

SELECT relation, phase FROM snowflake_ids_convert_progress WHERE relation = 'victim.key'::regclass;
\c :main
DROP DATABASE regress_convert_forged;
DROP ROLE regress_convert_victim, regress_convert_forger, regress_convert_mate, regress_convert_team;
