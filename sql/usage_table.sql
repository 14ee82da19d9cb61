SET timezone = 'UTC';
SET datestyle = 'ISO';
\getenv builddir PG_ABS_BUILDDIR
\cd :builddir

--
-- Column defaults
--
CREATE TABLE item (
    id sno PRIMARY KEY DEFAULT gen_sno(7),
    volume gid(volume) UNIQUE DEFAULT gen_gid('volume'),
    mastic mastic UNIQUE DEFAULT gen_mastic(),
    si bigint UNIQUE DEFAULT gen_snowflake_si(),
    n serial,
    body text
);
\d item
INSERT INTO item (body) VALUES ('one');
INSERT INTO item (body) VALUES ('two'), ('three'), ('four');
INSERT INTO item (body) SELECT 'selected' FROM generate_series(1, 1000);
INSERT INTO item DEFAULT VALUES RETURNING sno_metabyte(id), gid_kind(volume), mastic > 0 AS mastic, si > 0 AS si, body;
INSERT INTO item (id, body) VALUES (DEFAULT, 'said so') RETURNING sno_metabyte(id);
SELECT count(*), count(DISTINCT id), count(DISTINCT volume), count(DISTINCT mastic), count(DISTINCT si) FROM item;
SELECT bool_and(id > id_before) AS id, bool_and(mastic > mastic_before) AS mastic, bool_and(si > si_before) AS si
FROM (SELECT *, lag(id) OVER w AS id_before, lag(mastic) OVER w AS mastic_before, lag(si) OVER w AS si_before FROM item WINDOW w AS (ORDER BY n)) AS i;
-- The type modifier checks values, whatever the default says.
\set VERBOSITY sqlstate
INSERT INTO item (volume) VALUES (gen_gid('log'));
ALTER TABLE item ALTER volume SET DEFAULT gen_gid('segment');
INSERT INTO item DEFAULT VALUES;
\set VERBOSITY default
ALTER TABLE item ALTER volume SET DEFAULT gen_gid('volume');
-- ON CONFLICT generates ids that it does not use.
INSERT INTO item (id, body) SELECT id, 'again' FROM item WHERE n = 1 ON CONFLICT (id) DO UPDATE SET body = excluded.body
RETURNING n, body;

--
-- UPDATE … SET id = DEFAULT
--
SELECT max(id) AS max_id, max(mastic) AS max_mastic, count(*) AS items FROM item \gset
UPDATE item SET id = DEFAULT, mastic = DEFAULT WHERE body = 'selected';
SELECT count(*) = :items AS all, count(DISTINCT id) = :items AS distinct_ids, count(*) FILTER (WHERE id > :'max_id' AND mastic > :max_mastic) AS newer FROM item;

--
-- COPY out and in again: text, CSV, binary, id columns omitted
--
COPY item (body) FROM stdin;
copied 1
copied 2
copied 3
\.
SELECT body, sno_metabyte(id), gid_kind(volume), mastic > 0 AS mastic, si > 0 AS si FROM item WHERE body ~ '^copied' ORDER BY id;
CREATE TABLE item_text (LIKE item);
CREATE TABLE item_csv (LIKE item);
CREATE TABLE item_binary (LIKE item);
\copy item TO 'results/usage_table.text'
\copy item_text FROM 'results/usage_table.text'
\copy item TO 'results/usage_table.csv' (FORMAT csv)
\copy item_csv FROM 'results/usage_table.csv' (FORMAT csv)
\copy item TO 'results/usage_table.binary' (FORMAT binary)
\copy item_binary FROM 'results/usage_table.binary' (FORMAT binary)
SELECT t, (SELECT count(*) FROM (SELECT * FROM item EXCEPT ALL SELECT * FROM item_text) AS x) AS text_lost,
       (SELECT count(*) FROM (SELECT * FROM item EXCEPT ALL SELECT * FROM item_csv) AS x) AS csv_lost,
       (SELECT count(*) FROM (SELECT * FROM item EXCEPT ALL SELECT * FROM item_binary) AS x) AS binary_lost,
       (SELECT count(*) FROM item_text) = count(*) AS text_all, (SELECT count(*) FROM item_csv) = count(*) AS csv_all,
       (SELECT count(*) FROM item_binary) = count(*) AS binary_all
FROM item, (VALUES ('item')) AS v (t) GROUP BY t;
\copy (SELECT gen_gid('log'), 'x' FROM generate_series(1, 2)) TO 'results/usage_table.log' (FORMAT binary)
\set VERBOSITY sqlstate
\copy item (volume, body) FROM 'results/usage_table.log' (FORMAT binary)
\set VERBOSITY default

--
-- Keys
--
CREATE TABLE item_line (id sno PRIMARY KEY DEFAULT gen_sno(), item sno NOT NULL REFERENCES item ON UPDATE CASCADE ON DELETE CASCADE,
                        volume gid(volume) REFERENCES item (volume), mastic mastic REFERENCES item (mastic));
INSERT INTO item_line (item, volume, mastic) SELECT i.id, i.volume, i.mastic FROM item AS i, generate_series(1, 2) WHERE n <= 100;
SELECT count(*), count(DISTINCT item) FROM item_line;
INSERT INTO item_line (item) VALUES ('2222222222222222');
\set VERBOSITY terse
INSERT INTO item_line (item, volume) SELECT id, gen_gid('volume') FROM item LIMIT 1;
\set VERBOSITY default
UPDATE item SET id = DEFAULT WHERE n = 2;
SELECT count(*) FROM item_line JOIN item ON item = item.id WHERE n = 2;
DELETE FROM item_line WHERE item IN (SELECT id FROM item WHERE n = 3);
DELETE FROM item WHERE n = 3;
SELECT count(*) FROM item_line;
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT count(*) FROM item_line AS l JOIN item AS i ON l.item = i.id AND l.volume = i.volume AND l.mastic = i.mastic;
SET enable_nestloop = off; SET enable_mergejoin = on;
SELECT count(*) FROM item_line AS l JOIN item AS i ON l.item = i.id AND l.volume = i.volume AND l.mastic = i.mastic;
SET enable_hashjoin = on; SET enable_mergejoin = off;
SELECT count(*) FROM item_line AS l JOIN item AS i ON l.item = i.id AND l.volume = i.volume AND l.mastic = i.mastic;
RESET enable_nestloop; RESET enable_hashjoin; RESET enable_mergejoin;

--
-- Generated columns and indexes over the time in an id
--
CREATE TABLE event (
    id sno DEFAULT gen_sno(), created timestamptz GENERATED ALWAYS AS (sno_timestamp(id)) STORED,
    mastic bigint DEFAULT gen_mastic(),
    si bigint DEFAULT gen_snowflake_si(),
    si_created timestamptz GENERATED ALWAYS AS (snowflake_si_timestamp(si)) STORED,
    log gid(log) DEFAULT gen_gid('log'), log_created timestamptz GENERATED ALWAYS AS (gid_timestamp(log)) STORED
);
CREATE INDEX event_mastic ON event (mastic_timestamp(mastic));
INSERT INTO event (mastic) SELECT make_mastic('2026-06-01 00:00:00+00'::timestamptz + n * interval '1 s', 0) FROM generate_series(1, 2000) AS n;
INSERT INTO event DEFAULT VALUES;
ANALYZE event;
SELECT count(*) FROM event WHERE created = sno_timestamp(id) AND log_created = gid_timestamp(log) AND si_created = snowflake_si_timestamp(si);
EXPLAIN (COSTS off) SELECT * FROM event WHERE mastic_timestamp(mastic) = '2026-06-01 00:00:05+00';
SELECT mastic_timestamp(mastic) FROM event WHERE mastic_timestamp(mastic) = '2026-06-01 00:00:05+00';
-- A function that looks a layout up cannot be in an index.
\set VERBOSITY sqlstate
CREATE INDEX ON event (snowflake_timestamp(si, 'snowflake_si'));
\set VERBOSITY default

--
-- Temporary and unlogged tables
--
CREATE TEMP TABLE passing (id sno DEFAULT gen_sno(), g gid(segment) DEFAULT gen_gid('segment'), m bigint DEFAULT gen_mastic());
INSERT INTO passing SELECT FROM generate_series(1, 100);
CREATE UNLOGGED TABLE unsafe (id sno PRIMARY KEY DEFAULT gen_sno(), g gid(segment) DEFAULT gen_gid('segment'), m bigint DEFAULT gen_mastic());
INSERT INTO unsafe SELECT FROM generate_series(1, 100);
SELECT count(DISTINCT id), count(DISTINCT g), count(DISTINCT m) FROM (TABLE passing UNION ALL TABLE unsafe) AS t;
CREATE TEMP TABLE made_at_once AS SELECT gen_sno() AS id, gen_gid('log') AS g FROM generate_series(1, 10);
SELECT count(DISTINCT id), count(DISTINCT g) FROM made_at_once;

--
-- Rolled back ids are not generated again
--
CREATE TABLE kept (id sno PRIMARY KEY DEFAULT gen_sno(), mastic mastic DEFAULT gen_mastic(), si bigint DEFAULT gen_snowflake_si(), what text);
BEGIN;
INSERT INTO kept (what) VALUES ('first') RETURNING id AS id1, mastic AS m1, si AS s1 \gset
SAVEPOINT a;
INSERT INTO kept (what) VALUES ('rolled back to a savepoint') RETURNING id AS id2, mastic AS m2, si AS s2 \gset
ROLLBACK TO a;
INSERT INTO kept (what) VALUES ('after it') RETURNING id AS id3, mastic AS m3, si AS s3 \gset
COMMIT;
BEGIN;
INSERT INTO kept (what) VALUES ('rolled back') RETURNING id AS id4, mastic AS m4, si AS s4 \gset
ROLLBACK;
INSERT INTO kept (what) VALUES ('at last') RETURNING id AS id5, mastic AS m5, si AS s5 \gset
SELECT what FROM kept ORDER BY id;
SELECT :'id1'::sno < :'id2' AND :'id2'::sno < :'id3' AND :'id3'::sno < :'id4' AND :'id4'::sno < :'id5' AS id,
       :m1 < :m2 AND :m2 < :m3 AND :m3 < :m4 AND :m4 < :m5 AS mastic, :s1 < :s2 AND :s2 < :s3 AND :s3 < :s4 AND :s4 < :s5 AS si;

--
-- A prepared transaction
--
SELECT current_setting('max_prepared_transactions')::int > 0 AS can_prepare \gset
\if :can_prepare
BEGIN;
INSERT INTO kept (what) VALUES ('prepared');
PREPARE TRANSACTION 'regress_usage_table';
INSERT INTO kept (what) VALUES ('after the prepared one');
COMMIT PREPARED 'regress_usage_table';
\else
INSERT INTO kept (what) VALUES ('prepared');
INSERT INTO kept (what) VALUES ('after the prepared one');
\endif
SELECT what FROM kept ORDER BY id OFFSET 3;

-- Read-only transactions may generate: nothing of the database changes.
BEGIN READ ONLY;
SELECT gen_sno() IS NOT NULL AS sno, gen_mastic() > 0 AS mastic, gen_snowflake_si() > 0 AS si, gid_kind(gen_gid('log'));
COMMIT;

--
-- PL/pgSQL, triggers, prepared statements
--
CREATE FUNCTION new_item(body text) RETURNS sno LANGUAGE plpgsql AS $$
DECLARE fresh sno := gen_sno(9); mine gid(volume) := gen_gid('volume');
BEGIN
    INSERT INTO item (id, volume, body) VALUES (fresh, mine, new_item.body);
    RETURN fresh;
END $$;
SELECT new_item('by a function') AS made \gset
SELECT body, sno_metabyte(id), gid_kind(volume) FROM item WHERE id = :'made';
DO $$
DECLARE previous sno := gen_sno(); fresh sno;
BEGIN
    FOR i IN 1 .. 1000 LOOP
        fresh := gen_sno();
        ASSERT fresh > previous;
        previous := fresh;
    END LOOP;
    FOR fresh IN SELECT gen_sno() FROM generate_series(1, 1000) LOOP
        ASSERT fresh > previous;
        previous := fresh;
    END LOOP;
END $$;
CREATE TABLE audit (id sno PRIMARY KEY, item sno, at timestamptz);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit VALUES (gen_sno(1), NEW.id, sno_timestamp(NEW.id));
    NEW.mastic := gen_mastic();
    RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION note();
INSERT INTO item (body) SELECT 'noted' FROM generate_series(1, 500);
SELECT count(*), count(DISTINCT audit.id), count(DISTINCT item.mastic) FROM audit JOIN item ON item.id = audit.item AND at = sno_timestamp(item.id);
PREPARE put (text) AS INSERT INTO item (body) VALUES ($1) RETURNING body;
EXECUTE put ('prepared 1');
EXECUTE put ('prepared 2');
SET plan_cache_mode = force_generic_plan;
EXECUTE put ('prepared 3');
RESET plan_cache_mode;
PREPARE find (sno) AS SELECT body FROM item WHERE id = $1;
SELECT id AS found FROM item WHERE body = 'prepared 2' \gset
EXECUTE find (:'found');
SELECT count(*), count(DISTINCT id) FROM item WHERE body ~ '^prepared';
-- A generator in WHERE runs for each row, and the other condition still uses an index.
SELECT count(*) FROM item WHERE gen_sno() > id AND n <= 10;

CREATE VIEW item_view AS SELECT id, body FROM item;
ALTER VIEW item_view ALTER id SET DEFAULT gen_sno(99);
INSERT INTO item_view (body) VALUES ('through a view') RETURNING sno_metabyte(id);

DROP VIEW item_view;
DROP TABLE item, item_line, item_text, item_csv, item_binary, event, unsafe, kept, audit;
DROP FUNCTION new_item, note;
