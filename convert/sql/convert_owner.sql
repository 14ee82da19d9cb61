-- A conversion runs code of the tables as their owner, whoever calls. Objects of other roles do not disturb it.
\set topic owner
\set roles 'a b m'
\i sql/include/roles.psql

-- ---- Code of a table gets no rights of the calling superuser or member. It cannot change settings of the session, or
-- leave something that runs later.
SET ROLE regress_convert_m;
CREATE FUNCTION m.left_behind() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE IF NOT EXISTS left_behind (n int);
END $$;
CREATE FUNCTION m.inner() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        ALTER ROLE regress_convert_m SUPERUSER;
    END IF;
    PERFORM set_config('work_mem', '77MB', false);
    PERFORM m.left_behind();
    RETURN 0;
EXCEPTION WHEN insufficient_privilege THEN
    RETURN 0;
END $$;
CREATE FUNCTION m.dangerous(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM m.inner(); RETURN $1; END';
CREATE TABLE m.in_check (id int PRIMARY KEY, created timestamptz NOT NULL, CHECK (id <> m.dangerous(0)));
CREATE TABLE m.in_index (id int PRIMARY KEY, created timestamptz NOT NULL);
CREATE INDEX ON m.in_index ((id::text || m.dangerous(0)::text));
INSERT INTO m.in_check VALUES (1, '2026-02-01');
INSERT INTO m.in_index VALUES (1, '2026-02-01');
DROP TABLE left_behind;
RESET ROLE;
SET work_mem = '5MB';
SELECT count(*) FROM snowflake_ids_convert_plan('m.in_check', 'id', 'mastic', 'created');
SELECT count(*) FROM snowflake_ids_convert_plan('m.in_index', 'id', 'mastic', 'created');
CALL snowflake_ids_convert('m.in_check', 'id', 'mastic', 'created', concurrently => false);
SELECT mastic_timestamp(id), pg_get_userbyid(relowner) AS owner_of_map
FROM m.in_check, pg_class
WHERE relname = 'snowflake_ids_map_' || 'm.in_check'::regclass::oid;
SELECT snowflake_ids_convert_forget('m.in_check');
CALL snowflake_ids_convert('m.in_index', 'id', 'mastic', 'created', finish => false);
SELECT rolsuper, current_user = session_user AS same_user, current_setting('work_mem'), to_regclass('left_behind')
FROM pg_roles
WHERE rolname = 'regress_convert_m';
-- A member continues, the owner undoes, another role may not.
CREATE ROLE regress_convert_member IN ROLE regress_convert_m;
SET ROLE regress_convert_member;
CALL snowflake_ids_convert('m.in_index', 'id', 'mastic', 'created', finish => false);
SET ROLE regress_convert_a;
CALL snowflake_ids_convert('m.in_index', 'id', 'mastic', 'created', finish => false);
SELECT snowflake_ids_convert_undo('m.in_index');
SET ROLE regress_convert_m;
SELECT snowflake_ids_convert_undo('m.in_index');
RESET ROLE;
SELECT attname FROM pg_attribute WHERE attrelid = 'm.in_index'::regclass AND attnum > 0 AND NOT attisdropped;
SELECT count(*) FROM pg_trigger WHERE tgname ~ '^zz_';

-- ---- Two owners: code of one would run with the rights of the other.
SET ROLE regress_convert_a;
CREATE TABLE a.key (id int PRIMARY KEY, created timestamptz NOT NULL);
INSERT INTO a.key SELECT n, timestamptz '2026-02-01' + n * interval '1 s' FROM generate_series(1, 3) AS n;
GRANT ALL ON a.key TO regress_convert_b;
SET ROLE regress_convert_b;
CREATE TABLE b.other (key int REFERENCES a.key);
SET ROLE regress_convert_a;
SELECT * FROM snowflake_ids_convert_plan('a.key', 'id', 'sno', 'created');
RESET ROLE;
SELECT * FROM snowflake_ids_convert_plan('a.key', 'id', 'sno', 'created');
DROP TABLE b.other;
-- Another owner's table begins to refer to the key. With it, the conversion can only be undone.
SET ROLE regress_convert_a;
CREATE TABLE a.mine (key int REFERENCES a.key);
INSERT INTO a.mine SELECT id FROM a.key;
CALL snowflake_ids_convert('a.key', 'id', 'sno', 'created', finish => false);
SET ROLE regress_convert_b;
CREATE TABLE b.other (key int REFERENCES a.key, snowflake_ids_new_1 sno);
SET ROLE regress_convert_a;
\set VERBOSITY default
CALL snowflake_ids_convert('a.key', 'id', 'sno', 'created', concurrently => false);
\set VERBOSITY terse
RESET ROLE;
BEGIN;
SELECT snowflake_ids_convert_undo('a.key');
SELECT attrelid::regclass, attname
FROM pg_attribute
WHERE attname ~ '^snowflake_ids_new_\d+$' AND attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r');
ROLLBACK;
SET ROLE regress_convert_a;
SELECT snowflake_ids_convert_undo('a.key');
SELECT attrelid::regclass, attname
FROM pg_attribute
WHERE attname ~ '^snowflake_ids_new_\d+$' AND attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r');
RESET ROLE;
DROP TABLE b.other;
SET ROLE regress_convert_a;
CALL snowflake_ids_convert('a.key', 'id', 'sno', 'created', concurrently => false);
SELECT count(*) FROM a.mine JOIN a.key ON a.key.id = a.mine.key;
RESET ROLE;

-- ---- Another role uses the names that a conversion needs, in its own schemas. Temporary tables need only TEMP.
SET ROLE regress_convert_a;
CREATE TABLE a.wanted (id int PRIMARY KEY, created timestamptz NOT NULL, up int REFERENCES a.wanted);
INSERT INTO a.wanted
SELECT n, timestamptz '2026-02-01' + n * interval '1 s', n
FROM generate_series(1, 3) AS n;
CREATE TABLE a.wanted_too (LIKE a.wanted INCLUDING ALL);
INSERT INTO a.wanted_too TABLE a.wanted;
GRANT TRIGGER ON a.wanted, a.wanted_too TO regress_convert_m;
CALL snowflake_ids_convert('a.wanted', 'id', 'sno', 'created', finish => false);
CALL snowflake_ids_convert('a.wanted_too', 'id', 'sno', 'created', finish => false);
SELECT 'a.wanted'::regclass::oid AS wanted, 'a.wanted_too'::regclass::oid AS wanted_too \gset
SET ROLE regress_convert_m;
CREATE TABLE m.mine (n int);
CREATE FUNCTION m.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION pg_temp.name_taken(which oid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER zz_snowflake_ids_9 AFTER INSERT ON %s FOR EACH ROW
                    EXECUTE FUNCTION m.nothing()', which::regclass);
    EXECUTE format('CREATE TRIGGER zz_snowflake_ids_8 AFTER INSERT ON %s FOR EACH ROW
                    EXECUTE FUNCTION snowflake_ids_convert.late(%L, 1, 1)', which::regclass, which);
    EXECUTE format('CREATE TRIGGER zz_snowflake_ids_1_%s BEFORE INSERT ON m.mine FOR EACH ROW
                    EXECUTE FUNCTION snowflake_ids_convert.key(%1$L, 1)', which);
    EXECUTE format('ALTER TABLE m.mine ENABLE ALWAYS TRIGGER zz_snowflake_ids_1_%s', which);
    EXECUTE format('CREATE TABLE m.snowflake_ids_map_%s ()', which);
    EXECUTE format('CREATE TEMP TABLE snowflake_ids_map_%s ()', which);
END $$;
SELECT pg_temp.name_taken(:wanted), pg_temp.name_taken(:wanted_too);
SET ROLE regress_convert_a;
CALL snowflake_ids_convert('a.wanted', 'id', 'sno', 'created', concurrently => false);
SELECT count(*), count(DISTINCT w.id) FROM a.wanted w JOIN a.wanted u ON u.id = w.up;
SELECT snowflake_ids_convert_undo('a.wanted_too');
SELECT relnamespace::regnamespace, count(*)
FROM pg_class
WHERE relname ~ '^snowflake_ids_map' AND relkind = 'r' AND relpersistence = 'p'
GROUP BY 1
ORDER BY 1;
RESET ROLE;

\c :main
DROP DATABASE regress_convert_owner;
DROP ROLE regress_convert_member, regress_convert_a, regress_convert_b, regress_convert_m;
