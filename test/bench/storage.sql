-- Tables and indexes: COPY, INSERT, CREATE INDEX, ORDER BY. Included after calls.sql.

INSERT INTO section VALUES
    ('COPY text out', 7, 'COPY TO, text', 'cpu', 'ns per row', '{bigint,uuid}', 3),
    ('COPY text in', 7, 'COPY FROM, text', 'cpu', 'ns per row', '{bigint,uuid}', 3),
    ('COPY binary out', 7, 'COPY TO, binary', 'cpu', 'ns per row', '{bigint,uuid}', 3),
    ('COPY binary in', 7, 'COPY FROM, binary', 'cpu', 'ns per row', '{bigint,uuid}', 3),
    ('insert', 8, 'INSERT into a table with the id as primary key, commit included', 'wall', 'ns per row', '{"bigint, nextval","uuid, version 7"}', 1),
    ('index', 9, 'CREATE INDEX', 'cpu', 'ns per row', '{bigint,uuid}', 1),
    ('sort', 9, 'ORDER BY, the id alone', 'cpu', 'ns per row', '{bigint,uuid}', 1),
    ('sort rows', 9, 'ORDER BY, the id and a second column', 'cpu', 'ns per row', '{bigint,uuid}', 1);

-- ---- COPY of the id alone, between a table and a file on the server
SELECT current_setting('data_directory') || '/bench_' AS files \gset
SELECT format('CREATE UNLOGGED TABLE copy_%s AS SELECT id FROM textual_%s', ord, ord) FROM textual \gexec
SELECT format('CREATE UNLOGGED TABLE copied_%s (LIKE copy_%s)', ord, ord) FROM textual \gexec
SELECT format('COPY copy_%s TO ''%s%s_%s'' (FORMAT %s)', ord, :'files', format, ord, format)
FROM textual, (VALUES ('text'), ('binary')) AS f (format) \gexec
INSERT INTO candidate (section, ord, what, query, ids, before)
SELECT format('COPY %s %s', format, way), ord, what,
       CASE way WHEN 'out' THEN format('COPY copy_%s TO ''/dev/null'' (FORMAT %s)', ord, format)
                ELSE format('COPY copied_%s FROM ''%s%s_%s'' (FORMAT %s)', ord, :'files', format, ord, format) END,
       :rows, CASE way WHEN 'in' THEN format('TRUNCATE copied_%s', ord) END
FROM textual, (VALUES ('text'), ('binary')) AS f (format), (VALUES ('out'), ('in')) AS w (way);

-- ---- INSERT. Logged tables, a checkpoint before each, so that full-page images are as many for all.
CREATE SEQUENCE seq_insert;
-- Version 7 without the help of a server that has it: its time first, then random. Made beforehand, so that the
-- table costs what it costs, not what making the value in SQL would cost.
CREATE UNLOGGED TABLE uuid_v7 AS
SELECT n, overlay(overlay(gen_random_uuid()::text placing substr(h, 1, 8) from 1) placing substr(h, 9, 4) || '-7' from 10)::uuid AS id
FROM row_source, LATERAL (SELECT lpad(to_hex(1792000000000 + n / 1000), 12, '0') AS h) s;
CREATE TABLE inserted (ord int, what text, type text, generator text, source text);
INSERT INTO inserted VALUES
    (1, 'bigint, nextval', 'bigint', 'nextval(''seq_insert'')', 'row_source'),
    (2, 'sno', 'sno', 'gen_sno()', 'row_source'),
    (3, 'mastic', 'mastic', 'gen_mastic()', 'row_source'),
    (4, 'gid', 'gid', 'gen_gid(''volume'')', 'row_source'),
    (5, 'uuid, version 7', 'uuid', 'id', 'uuid_v7'),
    (6, 'uuid, version 4', 'uuid', 'gen_random_uuid()', 'row_source');
SELECT format('CREATE TABLE insert_%s (id %s PRIMARY KEY, n int)', ord, type) FROM inserted \gexec
INSERT INTO candidate (section, ord, what, query, ids, before, after, sized)
SELECT 'insert', ord, what, format('INSERT INTO insert_%s SELECT %s, n FROM %s', ord, generator, source), :rows,
       format('TRUNCATE insert_%s; CHECKPOINT; SET synchronous_commit = on', ord), 'SET synchronous_commit = off', format('insert_%s', ord)::regclass
FROM inserted;

-- ---- keys to sort. "Over a year" spreads the ids evenly, "bulk" draws them as fast as a generator may: many share
-- a tick, and with it their first eight bytes. In random order unless "as inserted".
\set start 'timestamptz ''2026-01-01 00:00:00+00'''
\set at :start ' + n * (interval ''365 days'' / ' :sort_rows ')'
\set random8 'decode(lpad(to_hex(hashint8extended(n, 1)), 16, ''0''), ''hex'')'
CREATE TABLE sorted (ord int, what text, type text, expression text, row_order text DEFAULT 'hashint8extended(n, 42)');
INSERT INTO sorted VALUES
    (1, 'bigint', 'bigint', 'hashint8extended(n, 0)'),
    (2, 'bigint, Mastic over a year', 'bigint', 'make_mastic(' || :'at' || ', 0)'),
    (13, 'mastic, over a year', 'mastic', 'make_mastic(' || :'at' || ', 0)'),
    (3, 'uuid', 'uuid', 'gen_random_uuid()'),
    (4, 'uuid, version 7 over a year', 'uuid',
     'overlay(overlay(gen_random_uuid()::text placing substr(lpad(to_hex((extract(epoch FROM ' || :'at' || ') * 1000)::bigint), 12, ''0''), 1, 8) from 1)'
     ' placing substr(lpad(to_hex((extract(epoch FROM ' || :'at' || ') * 1000)::bigint), 12, ''0''), 9, 4) || ''-7'' from 10)::uuid'),
    (5, 'sno, over a year', 'sno', 'make_sno(' || :'at' || ', 0, 7, (n % 65536)::int)'),
    (6, 'sno, bulk', 'sno', 'make_sno(' || :'start' || ' + n / 60000 * interval ''4 ms'', 0, 7, (n % 60000)::int)'),
    (8, 'gid, over a year', 'gid', 'make_gid(''volume'', ' || :'at' || ', ' || :'random8' || ')'),
    (9, 'gid, bulk', 'gid', 'make_gid(''volume'', ' || :'start' || ' + n / 1000 * interval ''1 ms'', ' || :'random8' || ')');
INSERT INTO sorted
SELECT * FROM (VALUES
    (7, 'sno, bulk, 100 nodes', 'sno', 'make_sno(' || :'start' || ' + n / 60000 * interval ''4 ms'', 0, (n % 100)::int, (n % 60000)::int)', 'hashint8extended(n, 42)'),
    (10, 'gid, bulk, three kinds', 'gid', 'make_gid((ARRAY[''volume'', ''log'', ''segment''])[n % 3 + 1], ' || :'start' || ' + n / 1000 * interval ''1 ms'', ' || :'random8' || ')', 'hashint8extended(n, 42)'),
    (11, 'sno, bulk, as inserted', 'sno', 'make_sno(' || :'start' || ' + n / 60000 * interval ''4 ms'', 0, 7, (n % 60000)::int)', 'n'),
    (12, 'gid, bulk, as inserted', 'gid', 'make_gid(''volume'', ' || :'start' || ' + n / 1000 * interval ''1 ms'', ' || :'random8' || ')', 'n')
) AS v WHERE :all_keys;
SELECT format('CREATE UNLOGGED TABLE sort_%s AS SELECT (%s)::%s AS id, n FROM generate_series(1, %s) n ORDER BY %s', ord, expression, type, :sort_rows, row_order)
FROM sorted ORDER BY ord \gexec
INSERT INTO candidate (section, ord, what, query, ids)
SELECT 'sort', ord, what, format('SELECT id FROM sort_%s ORDER BY id OFFSET %s', ord, :sort_rows), :sort_rows FROM sorted;
-- A number passed by value is sorted without its row if it is all that is asked for; no other type is.
INSERT INTO candidate (section, ord, what, query, ids)
SELECT 'sort rows', ord, what, format('SELECT id, n FROM sort_%s ORDER BY id OFFSET %s', ord, :sort_rows), :sort_rows FROM sorted;
INSERT INTO candidate (section, ord, what, query, ids, after)
SELECT 'index', ord, what, format('CREATE INDEX sort_index ON sort_%s (id)', ord), :sort_rows, 'DROP INDEX sort_index' FROM sorted;

INSERT INTO goal
SELECT 40, section.name, what, 'bigint', '<=', value
FROM section, (VALUES ('sno', 1.1), ('gid', 1.2), ('mastic', 1.05)) AS v (what, value) WHERE section.name LIKE 'COPY%'
UNION ALL SELECT 50, 'insert', what, 'bigint, nextval', '<=', 1.0 FROM (VALUES ('sno'), ('mastic')) AS v (what)
UNION ALL
SELECT 60, section.name, what, 'bigint', '<=', CASE type WHEN 'sno' THEN 1.1 ELSE 1.2 END
FROM section, sorted WHERE section.name IN ('index', 'sort', 'sort rows') AND type IN ('sno', 'gid') AND what NOT LIKE '%as inserted'
UNION ALL
SELECT 62, section.name, 'mastic, over a year', 'bigint, Mastic over a year', '<=', 1.05 FROM section WHERE section.name IN ('index', 'sort', 'sort rows')
UNION ALL
SELECT 61, section.name, what, 'uuid', '<=', 0.7 FROM section, sorted WHERE section.name IN ('sort', 'sort rows') AND type IN ('sno', 'gid') AND what NOT LIKE '%as inserted';
