-- Whose readers a transaction holds back: those of the tables that got its stamps, for each way in which a row comes.
CREATE TABLE elsewhere (id mastic DEFAULT gen_mastic());
CREATE TABLE plain (id int UNIQUE, body text, stamp mastic);
CREATE TABLE source (body text, stamp bigint);
CREATE TABLE ruled (body text, stamp mastic);
CREATE TABLE root (part text, stamp mastic) PARTITION BY LIST (part);
CREATE TABLE middle PARTITION OF root FOR VALUES IN ('a', 'b') PARTITION BY LIST (part);
CREATE TABLE leaf PARTITION OF middle FOR VALUES IN ('a');
CREATE TABLE sibling PARTITION OF root FOR VALUES IN ('c');
CREATE TABLE parent (stamp mastic);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);
CREATE PROCEDURE stamps(VARIADIC tables text[]) LANGUAGE plpgsql AS $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY tables LOOP
        EXECUTE format('CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %1$I FOR EACH ROW EXECUTE FUNCTION mastic_stamp(%2$L); ALTER TABLE %1$I ENABLE ALWAYS TRIGGER zz_stamp', t, 'stamp');
    END LOOP;
END $$;
CALL stamps('plain', 'source', 'ruled', 'root', 'parent', 'child', 'grandchild');
CREATE FUNCTION insert_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO plain (body) VALUES (NEW.body);
    RETURN NEW;
END $$;
CREATE TRIGGER insert_it AFTER INSERT ON source FOR EACH ROW EXECUTE FUNCTION insert_it();
CREATE TABLE source_later (body text);
CREATE CONSTRAINT TRIGGER insert_it AFTER INSERT ON source_later DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION insert_it();
CREATE RULE also AS ON INSERT TO ruled DO ALSO INSERT INTO plain (body) VALUES (NEW.body);
CREATE FUNCTION inserted(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO plain (id) VALUES (n);
    RETURN n;
END $$;

-- All tables with a stamp whose readers wait for this transaction.
CREATE FUNCTION held_back() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C")
    FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid WHERE tgname = 'zz_stamp'
    AND EXISTS (SELECT FROM snowflake_ids.unsettled_transactions(tgrelid) WHERE pid = pg_backend_pid()) $$;
CREATE PROCEDURE holds_back(what text, does text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE does;
    RAISE NOTICE '%: %', what, held_back();
    ROLLBACK;
END $$;

CALL holds_back('an id that is no stamp', 'INSERT INTO elsewhere DEFAULT VALUES');
CALL holds_back('INSERT', 'INSERT INTO plain DEFAULT VALUES');
INSERT INTO plain VALUES (1, 'old');
INSERT INTO root VALUES ('c');
CALL holds_back('UPDATE', 'UPDATE plain SET body = NULL');
CALL holds_back('no row', 'UPDATE plain SET body = NULL WHERE false');
CALL holds_back('CTE', 'WITH x AS (INSERT INTO plain VALUES (2) RETURNING id) SELECT FROM x');
CALL holds_back('ON CONFLICT', 'INSERT INTO plain VALUES (1) ON CONFLICT (id) DO UPDATE SET body = NULL');
CALL holds_back('MERGE, new', 'MERGE INTO plain p USING (VALUES (2)) v (id) ON p.id = v.id WHEN NOT MATCHED THEN INSERT (id) VALUES (v.id)');
CALL holds_back('MERGE, old', 'MERGE INTO plain p USING (VALUES (1)) v (id) ON p.id = v.id WHEN MATCHED THEN UPDATE SET body = NULL');
CALL holds_back('function', 'SELECT inserted(2)');
CALL holds_back('trigger of another table', 'INSERT INTO source VALUES (1)');
CALL holds_back('deferred trigger', 'INSERT INTO source_later VALUES (1); SET CONSTRAINTS ALL IMMEDIATE');
CALL holds_back('rule', 'INSERT INTO ruled VALUES (1)');
CALL holds_back('after a COMMIT', 'INSERT INTO plain VALUES (2)');
BEGIN;
COPY plain (id) FROM STDIN;
2
\.
SELECT held_back() AS "COPY";
ROLLBACK;
BEGIN;
TRUNCATE plain;
COPY plain (id) FROM STDIN (FREEZE);
2
\.
SELECT held_back() AS "COPY FREEZE";
ROLLBACK;
BEGIN;
SAVEPOINT a;
INSERT INTO plain VALUES (2);
ROLLBACK TO a;
SELECT held_back() AS "rolled back to a savepoint";
ROLLBACK;
-- Rows outlast the locks under which they came.
BEGIN;
DECLARE c CURSOR FOR SELECT inserted(n) / (12 - n) FROM generate_series(11, 12) n;
FETCH c;
SAVEPOINT a;
FETCH c;
ROLLBACK TO a;
SELECT held_back() AS "lock is lost", count(*) AS locks FROM pg_locks
WHERE relation = 'plain'::regclass AND pid = pg_backend_pid() AND mode = 'RowExclusiveLock';
ROLLBACK;

-- A table holds back readers of those that it is a part of.
CALL holds_back('root', $$INSERT INTO root VALUES ('a')$$);
CALL holds_back('middle', $$INSERT INTO middle VALUES ('a')$$);
CALL holds_back('leaf', $$INSERT INTO leaf VALUES ('a')$$);
CALL holds_back('a row moves', $$UPDATE root SET part = 'a'$$);
CALL holds_back('grandchild', 'INSERT INTO grandchild DEFAULT VALUES');
CALL holds_back('child', 'INSERT INTO child DEFAULT VALUES');
CALL holds_back('new partition', $$CREATE TABLE b PARTITION OF middle FOR VALUES IN ('b'); INSERT INTO root VALUES ('b')$$);
CALL holds_back('new child', $$CREATE TABLE new_child () INHERITS (child); CALL stamps('new_child'); INSERT INTO new_child DEFAULT VALUES$$);
CALL holds_back('ATTACH', $$CREATE TABLE d (part text, stamp mastic); ALTER TABLE root ATTACH PARTITION d FOR VALUES IN ('d'); INSERT INTO d VALUES ('d')$$);

-- More tables than a transaction can note: then it holds back the readers of all.
CREATE PROCEDURE insert_into_each(tables int) LANGUAGE plpgsql AS $$
BEGIN
    FOR n IN 1 .. tables LOOP
        EXECUTE format('CREATE TABLE many_%s (stamp mastic)', n);
        CALL stamps('many_' || n);
        EXECUTE format('INSERT INTO many_%s DEFAULT VALUES', n);
    END LOOP;
END $$;
CALL holds_back('14 tables', 'CALL insert_into_each(14)');
CALL holds_back('15 tables', 'CALL insert_into_each(15)');

-- Tables of Citus, by its catalog: their rows are in other tables. A session that has asked before does not look again.
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL);
SELECT mastic_settled('root') IS NOT NULL AS not_distributed;
INSERT INTO pg_catalog.pg_dist_partition VALUES ('root', 'h');
\c -
SELECT mastic_settled('root');
SET allow_system_table_mods = on;
UPDATE pg_catalog.pg_dist_partition SET logicalrelid = 'leaf';
\c -
SELECT mastic_settled('root');
SET allow_system_table_mods = on;
DROP TABLE pg_catalog.pg_dist_partition;
RESET allow_system_table_mods;

DROP TABLE elsewhere, plain, source, source_later, ruled, root, parent CASCADE;
DROP FUNCTION insert_it, inserted, held_back;
DROP PROCEDURE stamps, holds_back, insert_into_each;
