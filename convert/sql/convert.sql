-- Plans, errors, and small conversions. killed_in_the_middle.pl has writers and failures.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE SCHEMA conversion;
SET search_path = conversion, public;
CREATE TABLE node (
    id bigserial PRIMARY KEY,
    up bigint CONSTRAINT node_up REFERENCES node,
    created timestamp,
    note text,
    CONSTRAINT not_itself CHECK (up <> id)
);
CREATE TABLE leaf (
    note text,
    node bigint NOT NULL CONSTRAINT leaf_node REFERENCES node ON DELETE CASCADE,
    UNIQUE (node, note)
);
INSERT INTO node (up, created, note)
VALUES (NULL, '2026-02-03 10:00:00.001', 'a'), (1, '2026-02-03 10:00:00', 'b'), (2, '2026-02-03 10:00:00.001', 'c');
INSERT INTO leaf VALUES ('of b', 2), ('of c', 3);

SELECT kind, regexp_replace(item, '_\d{3,}', '_N', 'g') AS item
FROM snowflake_ids_convert_plan('node', 'id', 'sno', 'created');
SELECT count(*)
FROM pg_attribute
WHERE attname ~ 'snowflake_ids_new' AND attrelid IN ('node'::regclass, 'leaf'::regclass);
-- Objects that exist during a conversion.
CREATE VIEW traces AS
SELECT (SELECT count(*)
        FROM pg_attribute a
             JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND a.attname ~ 'snowflake_ids') AS columns,
       (SELECT count(*)
        FROM pg_trigger g
             JOIN pg_class c ON c.oid = g.tgrelid
        WHERE c.relnamespace = n.oid AND g.tgname ~ 'snowflake_ids') AS triggers,
       (SELECT count(*)
        FROM pg_class
        WHERE relnamespace = n.oid AND relname ~ 'snowflake_ids') AS relations,
       (SELECT count(*) FROM snowflake_ids_convert_progress) AS conversions
FROM pg_namespace n
WHERE nspname = 'conversion';
SELECT kind, item FROM snowflake_ids_convert_plan('node', 'id', 'mastic', 'created', keep_position => true);
-- It leaves nothing behind.
TABLE traces;

-- The server names a missing cast; doc/errors.md names the conversion.
ALTER TABLE node DROP CONSTRAINT node_up, DROP CONSTRAINT not_itself, ALTER id DROP DEFAULT, ALTER id TYPE sno;
ALTER TABLE node DROP CONSTRAINT node_up, DROP CONSTRAINT not_itself, ALTER id DROP DEFAULT, ALTER id TYPE sno USING id::sno;

CALL snowflake_ids_convert('node', 'no', 'sno', 'created');
CALL snowflake_ids_convert('node', 'id', 'sno', 'no');
CALL snowflake_ids_convert('node', 'id', 'sno', 'note');
CALL snowflake_ids_convert('node', 'created', 'sno', 'created');
CALL snowflake_ids_convert('node', 'id', 'gid', 'created');
CALL snowflake_ids_convert('node', 'id', 'mastic', 'created', metabyte => 1);
CALL snowflake_ids_convert('node', 'id', 'sno', 'created', metabyte => 256);
CALL snowflake_ids_convert('node', 'id', 'sno', 'created', batch_size => 0);
CALL snowflake_ids_convert('node', 'id', 'sno', NULL);
CALL snowflake_ids_convert(NULL, 'id', 'sno', 'created', spill => NULL, finish => NULL);
SELECT * FROM snowflake_ids_convert_plan('node', 'id', NULL, 'created', metabyte => NULL);
SELECT snowflake_ids_convert_undo(NULL);
CALL snowflake_ids_convert('pg_stats', 'attname', 'sno', 'attname');
BEGIN;
CALL snowflake_ids_convert('node', 'id', 'sno', 'created', concurrently => false);
ROLLBACK;

-- All problems at once, before anything changes.
CREATE TABLE hard (
    id int NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created timestamptz,
    doubled int GENERATED ALWAYS AS (id * 2) STORED,
    CONSTRAINT positive CHECK (id > 0)
);
CREATE INDEX hard_even ON hard ((id % 2));
CREATE VIEW hard_view AS SELECT id FROM hard;
CREATE MATERIALIZED VIEW hard_materialized AS SELECT max(id) FROM hard;
CREATE FUNCTION hard_function() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(id) FROM hard; END;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER hard_trigger BEFORE UPDATE ON hard FOR EACH ROW WHEN (NEW.id > 3) EXECUTE FUNCTION nothing();
CREATE POLICY hard_policy ON hard USING (id > 0);
CREATE TABLE hard_part (hard int DEFAULT 1 REFERENCES hard) PARTITION BY LIST (hard);
CREATE TABLE hard_default (hard int DEFAULT 1 REFERENCES hard);
SELECT * FROM snowflake_ids_convert_plan('hard', 'id', 'sno', 'created', keep_position => true);
CALL snowflake_ids_convert('hard', 'id', 'sno', 'created');
TABLE traces;
SELECT * FROM snowflake_ids_convert_plan('hard_part', 'hard', 'sno', 'hard');
-- A table that cannot be converted gets no advice about its key.
CREATE TABLE parted (id int, created timestamptz) PARTITION BY RANGE (created);
SELECT * FROM snowflake_ids_convert_plan('parted', 'id', 'sno', 'created');
CREATE TABLE weak (id int, created date, more timestamptz);
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'sno', 'created');
SELECT * FROM snowflake_ids_convert_plan('leaf', 'node', 'sno', 'note');
ALTER TABLE weak ADD PRIMARY KEY (id);
-- Times that fit no id.
INSERT INTO weak VALUES (1, NULL), (2, '2009-12-31'), (3, '2100-01-01'), (4, '-infinity'), (5, '2020-01-01');
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'sno', 'created');
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'snowflake_si', 'created') WHERE kind = 'problem';
-- Ticks that have more rows than ids.
TRUNCATE weak;
INSERT INTO weak
SELECT i, '2026-02-03', timestamptz '2026-02-03' + i * interval '1 s'
FROM generate_series(1, 600) AS i;
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'snowflake_si', 'created') WHERE kind = 'problem';
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'snowflake_si', 'created', spill => true) WHERE kind = 'note';
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'mastic', 'created') WHERE kind = 'note';

CREATE ROLE regress_convert;
GRANT ALL ON SCHEMA conversion TO regress_convert;
GRANT ALL ON weak TO regress_convert;
SET ROLE regress_convert;
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'mastic', 'created');
SELECT count(*) FROM snowflake_ids_convert.my_conversion;
INSERT INTO snowflake_ids_convert.my_conversion (
    relation, key_attnum, created_attnum, format, zone, metabyte, batch_size, spill, keep_position, fire_triggers,
    build_concurrently, publications, phase)
VALUES ('weak', 1, 2, 'mastic', 'UTC', 0, 1, false, false, false, false, false, 'prepare');
SELECT snowflake_ids_convert_undo('weak');
RESET ROLE;

-- Rows that refer to no key, because their foreign key was never validated.
CREATE TABLE stray (weak int);
INSERT INTO stray VALUES (1), (0);
ALTER TABLE stray ADD FOREIGN KEY (weak) REFERENCES weak NOT VALID;
SELECT * FROM snowflake_ids_convert_plan('weak', 'id', 'mastic', 'created') WHERE kind = 'problem';
DELETE FROM stray WHERE weak = 0;

ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;
-- Rows of one tick are numbered. If it is full, they move to the next.
CALL snowflake_ids_convert('weak', 'id', 'snowflake_si', 'created', spill => true, batch_size => 250,
                           concurrently => false);
SELECT snowflake_si_timestamp(id) AS time, count(*), min(snowflake_si_uin(id)), max(snowflake_si_uin(id))
FROM weak
GROUP BY 1
ORDER BY 1;
SELECT count(*) AS out_of_order
FROM (SELECT id, lag(id) OVER (ORDER BY more) AS before FROM weak) AS w
WHERE id <= before;
SELECT snowflake_si_uin(weak) FROM stray;
SELECT pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE conrelid = 'stray'::regclass;
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'weak'::regclass;
-- Times without a zone are in the time zone of the calling session.
SET timezone = 'Asia/Tokyo';
CALL snowflake_ids_convert('node', 'id', 'sno', 'created', metabyte => 9, batch_size => 1, concurrently => false);
SET timezone = 'UTC';
SELECT n.note, sno_timestamp(n.id), sno_metabyte(n.id),
       sno_partition(n.id) - sno_partition(gen_sno()) AS partition_off,
       sno_sequence(n.id), up.note AS up
FROM node n
     LEFT JOIN node up ON up.id = n.up
ORDER BY n.id;
SELECT l.note, n.note FROM leaf l JOIN node n ON n.id = l.node ORDER BY 1;
\d node
\d leaf
INSERT INTO node (note) VALUES ('new') RETURNING id > (SELECT max(id) FROM node) AS above, sno_metabyte(id);
SELECT relation, key_column, format, phase, rows
FROM snowflake_ids_convert_progress
ORDER BY relation::text;
CALL snowflake_ids_convert('node', 'id', 'sno', 'created', concurrently => false);

-- Filled, written to, undone, and converted again with keep_position.
CREATE TABLE again (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    up uuid REFERENCES again,
    created date NOT NULL DEFAULT '2026-01-02'
);
INSERT INTO again VALUES (md5('1')::uuid, md5('1')::uuid);
INSERT INTO again SELECT md5(i::text)::uuid, md5((i / 2)::text)::uuid FROM generate_series(2, 5) AS i;
CALL snowflake_ids_convert('again', 'id', 'snowflake_si', 'created', keep_position => true, finish => false);
SELECT phase FROM snowflake_ids_convert_progress WHERE relation = 'again'::regclass;
-- A plan does not change a running conversion.
CREATE TABLE under_way AS
SELECT t.*, to_jsonb(s) AS state
FROM traces t
     JOIN snowflake_ids_convert.conversion s ON s.relation = 'again'::regclass;
SELECT DISTINCT kind FROM snowflake_ids_convert_plan('again', 'id', 'snowflake_si', 'created', keep_position => true);
SELECT DISTINCT kind FROM snowflake_ids_convert_plan('again', 'id', 'sno', 'created', keep_position => true);
SELECT columns, triggers FROM under_way;
SELECT count(*) AS same
FROM (SELECT t.*, to_jsonb(s) AS state
      FROM traces t
           JOIN snowflake_ids_convert.conversion s ON s.relation = 'again'::regclass
      INTERSECT
      TABLE under_way) AS u;
DROP TABLE under_way;
CALL snowflake_ids_convert('again', 'id', 'snowflake_si', 'created', concurrently => false);
UPDATE again SET id = md5('one')::uuid, up = md5('one')::uuid WHERE id = md5('1')::uuid;
INSERT INTO again VALUES (md5('self')::uuid, md5('self')::uuid);
SELECT count(*)
FROM again a
     JOIN again u ON u.id = a.up
WHERE a.snowflake_ids_new_2 = u.snowflake_ids_new_1;
SELECT snowflake_ids_convert_undo('again');
SELECT snowflake_ids_convert_undo('again');
\d again
CALL snowflake_ids_convert('again', 'id', 'snowflake_si', 'created', keep_position => true, concurrently => false);
\d again
SELECT count(*) FROM again a JOIN again u ON u.id = a.up;
-- Only the maps remain, and only their owner may read them.
SELECT regexp_replace(relname, '\d+', 'N') AS relname,
       has_table_privilege('regress_convert', oid, 'SELECT') AS public
FROM pg_class
WHERE relnamespace = 'conversion'::regnamespace AND relname ~ 'snowflake' AND relkind = 'r';
SELECT 'again'::regclass::oid AS again \gset
SELECT count(*) AS rows, count(a.id) AS found
FROM snowflake_ids_map_:again m
     LEFT JOIN again a ON a.id = m.new;
CALL snowflake_ids_convert('again', 'id', 'mastic', 'created');
SELECT snowflake_ids_convert_forget('again');
SELECT snowflake_ids_convert_forget('again');

-- A foreign key cannot be validated after the changeover: a repeated call finishes it, and nothing offers to undo.
CREATE TABLE changed_over (id bigserial PRIMARY KEY, up bigint REFERENCES changed_over, created date DEFAULT '2026-02-01');
INSERT INTO changed_over (up) VALUES (1);
CREATE FUNCTION stop() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM public.snowflake_ids_convert_progress WHERE phase = 'validate') THEN
        RAISE 'stopped';
    END IF;
END $$;
CREATE EVENT TRIGGER stop ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION stop();
\set VERBOSITY default
\set SHOW_CONTEXT never
CALL snowflake_ids_convert('changed_over', 'id', 'sno', 'created', concurrently => false);
SELECT phase, pg_typeof(id) FROM snowflake_ids_convert_progress, changed_over WHERE relation = 'changed_over'::regclass;
SELECT snowflake_ids_convert_undo('changed_over');
CALL snowflake_ids_convert('changed_over', 'id', 'mastic', 'created');
DROP EVENT TRIGGER stop;
CALL snowflake_ids_convert('changed_over', 'id', 'sno', 'created');
SELECT snowflake_ids_convert_undo('changed_over');
\set SHOW_CONTEXT errors
\set VERBOSITY terse
SELECT snowflake_ids_convert_forget('changed_over');
DROP TABLE changed_over;
DROP FUNCTION stop;

-- A repeated call refuses a finished conversion, unless the default is dropped.
CREATE TEMP TABLE done AS SELECT id, up FROM again;
\set VERBOSITY default
CALL snowflake_ids_convert('again', 'id', 'snowflake_si', 'created', concurrently => false);
\set VERBOSITY terse
\echo :LAST_ERROR_SQLSTATE
SELECT kind, item FROM snowflake_ids_convert_plan('again', 'id', 'snowflake_si', 'created');
SELECT count(*) FROM done JOIN again USING (id, up);
SELECT count(*)
FROM snowflake_ids_convert_plan('again', 'id', 'mastic', 'created')
WHERE kind = 'problem';
ALTER TABLE again ALTER COLUMN id DROP DEFAULT;
UPDATE again SET created = '2026-01-03';
CALL snowflake_ids_convert('again', 'id', 'snowflake_si', 'created', concurrently => false);
SELECT count(*), count(done.id) AS same, min(snowflake_si_timestamp(again.id)) AS time
FROM again
     LEFT JOIN done USING (id);

-- A view is allowed until the changeover, and after it. A call that would change over is refused at once.
CREATE TABLE seen (id int PRIMARY KEY, created timestamptz NOT NULL);
CREATE TABLE seen_in_place (LIKE seen INCLUDING ALL);
INSERT INTO seen VALUES (1, '2026-02-01');
INSERT INTO seen_in_place TABLE seen;
CREATE VIEW seen_view AS SELECT seen.id, seen_in_place.id AS id_too FROM seen, seen_in_place;
-- This view also depends on the primary key, because "created" is not in GROUP BY.
CREATE VIEW seen_by_id AS SELECT id, created FROM seen GROUP BY id;
SELECT * FROM snowflake_ids_convert_plan('seen', 'id', 'sno', 'created') WHERE item ~ 'seen_(view|by_id)';
SELECT * FROM snowflake_ids_convert_plan('seen', 'id', 'sno', 'created', keep_position => true);
\set VERBOSITY default
CALL snowflake_ids_convert('seen', 'id', 'sno', 'created', concurrently => false);
\set VERBOSITY terse
TABLE traces;
CALL snowflake_ids_convert('seen', 'id', 'sno', 'created');
CALL snowflake_ids_convert('seen_in_place', 'id', 'sno', 'created', keep_position => true, finish => false);
INSERT INTO seen VALUES (2, '2026-02-02');
TABLE seen_view;
\set VERBOSITY default
CALL snowflake_ids_convert('seen', 'id', 'sno', 'created', concurrently => false);
CALL snowflake_ids_convert('seen_in_place', 'id', 'sno', 'created', keep_position => true);
\set VERBOSITY terse
SELECT replace(statement, 'snowflake_ids_index_' || 'seen_pkey'::regclass::oid, 'new_index') AS statement
FROM snowflake_ids_convert_indexes('seen') AS statement;
SELECT phase FROM snowflake_ids_convert_progress WHERE relation::text ~ '^seen' ORDER BY relation;
DROP VIEW seen_view, seen_by_id;
CALL snowflake_ids_convert('seen', 'id', 'sno', 'created', concurrently => false);
CALL snowflake_ids_convert('seen_in_place', 'id', 'sno', 'created', keep_position => true);
SELECT pg_typeof(seen.id), pg_typeof(seen_in_place.id) FROM seen, seen_in_place LIMIT 1;

-- Internal functions refuse tables that are not converted, and formats without such ids.
SELECT snowflake_ids.pass_now('layout');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_convert.step('again', true);
SELECT snowflake_ids_convert.step(NULL, NULL);
\echo :LAST_ERROR_SQLSTATE

ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC;
DROP VIEW traces;
DROP SCHEMA conversion CASCADE;
DROP ROLE regress_convert;
DELETE FROM snowflake_ids_convert.conversion;
