-- One backend: single calls, series, text, and what stays flat. Included after setup.sql.

INSERT INTO section VALUES
    ('calls', 1, 'One call, net of the scan', 'cpu', 'ns per id', '{clock_timestamp(),"nextval, cache 1",gen_random_uuid(),uuidv7()}', 5),
    ('series', 4, 'A series in a target list', 'cpu', 'ns per id', '{"generate_series(1, n)"}', 5),
    ('out', 5, 'Text out, net of the scan', 'cpu', 'ns per id', '{bigint,uuid}', 5),
    ('in', 6, 'Text in, net of the scan', 'cpu', 'ns per id', '{bigint,uuid}', 5),
    ('flat', 10, 'Cost as work grows, one backend', 'cpu', 'ns per id', '{}', 5),
    ('floor', 20, 'Floors in SQL, net of the scan', 'cpu', 'ns per id', '{}', 5);

-- ---- single calls. OFFSET discards the rows without sending them.
INSERT INTO candidate (section, ord, what, net_of, query, ids)
SELECT 'calls', ord, what, 'no-op', format('SELECT %s FROM row_source OFFSET %s', expression, :rows), :rows FROM call
UNION ALL SELECT 'calls', 0, 'no-op', NULL, format('SELECT n FROM row_source OFFSET %s', :rows), :rows;

-- What no call can go below: the function call itself, and a result of 16 bytes in palloc'd memory.
INSERT INTO candidate (section, ord, what, net_of, query, ids)
SELECT 'floor', ord, what, net_of, format('SELECT %s FROM row_source OFFSET %s', expression, :rows), :rows
FROM (VALUES (0, 'no-op', NULL, 'n'),
             (1, 'a call: pg_backend_pid()', 'no-op', 'pg_backend_pid()'),
             (2, 'a call and a clock read: clock_timestamp()', 'no-op', 'clock_timestamp()'),
             (3, 'a call and a result of 16 bytes: point(x, x)', 'no-op', 'point(x, x)')) AS f (ord, what, net_of, expression);

-- ---- series
INSERT INTO candidate (section, ord, what, query, ids)
SELECT 'series', ord, what, format('SELECT %s OFFSET %s', expression, :rows), :rows
FROM (VALUES (0, 'generate_series(1, n)', 'generate_series(1, %s)'),
             (1, 'gen_sno_series(n)', 'gen_sno_series(%s)'),
             (2, 'gen_mastic_series(n)', 'gen_mastic_series(%s)'),
             (3, 'gen_gid_series(''volume'', n)', 'gen_gid_series(''volume'', %s)')) AS s (ord, what, template),
     format(template, :rows) AS expression;

-- ---- text. bigint: time-ordered ids of 17 digits; small numbers print and parse faster, so they are shown too.
CREATE TABLE textual (ord int, what text, type text, expression text, out_call text, in_call text);
INSERT INTO textual VALUES
    (1, 'bigint', 'bigint', 'make_mastic(timestamptz ''2026-11-01'' + n * interval ''7 ms'', (n % 1000)::int)', 'int8out(id)', 'int8in(t)'),
    (2, 'bigint, 1 to n', 'bigint', 'n', 'int8out(id)', 'int8in(t)'),
    (3, 'uuid', 'uuid', 'gen_random_uuid()', 'uuid_out(id)', 'uuid_in(t)'),
    (4, 'sno', 'sno', 'make_sno(timestamptz ''2026-11-01'' + n * interval ''7 ms'', 0, 7, (n % 1000)::int)', 'snowflake_ids.sno_out(id)', 'snowflake_ids.sno_in(t)'),
    (5, 'gid', 'gid', 'make_gid(''volume'', timestamptz ''2026-11-01'' + n * interval ''7 ms'', decode(lpad(to_hex(hashint8extended(n, 1)), 16, ''0''), ''hex''))',
     'snowflake_ids.gid_out(id)', 'snowflake_ids.gid_in(t, 0, -1)'),
    (6, 'mastic', 'mastic', 'make_mastic(timestamptz ''2026-11-01'' + n * interval ''7 ms'', (n % 1000)::int)', 'snowflake_ids.mastic_out(id)', 'snowflake_ids.mastic_in(t)');
SELECT format('CREATE UNLOGGED TABLE textual_%s AS SELECT id, id::text AS t FROM (SELECT (%s)::%s AS id FROM row_source) s', ord, expression, type)
FROM textual \gexec
INSERT INTO candidate (section, ord, what, net_of, query, ids)
SELECT section, 2 * ord + (call IS NOT NULL)::int, CASE WHEN call IS NULL THEN 'scan of ' || what ELSE what END,
       CASE WHEN call IS NOT NULL THEN 'scan of ' || what END,
       format('SELECT %s FROM textual_%s OFFSET %s', coalesce(call, scan), ord, :rows), :rows
FROM textual, LATERAL (VALUES ('out', 'id', NULL), ('out', 'id', out_call), ('in', 'textout(t)', NULL),
                              ('in', 'textout(t)', replace(in_call, '(t', '(textout(t)'))) AS v (section, scan, call);

-- ---- from 10^3 ids up: single calls in statements of that many, and series
INSERT INTO candidate (section, ord, what, net_of, query, ids, loops)
SELECT 'flat', e, format('%s, 10^%s', what, e), CASE WHEN what <> 'no-op' THEN format('no-op, 10^%s', e) END,
       format('SELECT %s FROM generate_series(1, %s), (SELECT n FROM row_source LIMIT %s) s OFFSET %s', expression,
              ids / least(ids, :rows), least(ids, :rows), ids), loops * ids, loops
FROM (VALUES ('no-op', 'n'), ('gen_sno()', 'gen_sno()'), ('gen_mastic()', 'gen_mastic()')) AS c (what, expression),
     generate_series(3, :flat_to) AS e, CAST(10 ^ e AS bigint) AS ids, CAST(greatest(1, 1000000 / ids) AS int) AS loops
UNION ALL
SELECT 'flat', e, format('gen_sno_series(n), 10^%s', e), NULL, format('SELECT gen_sno_series(%s) OFFSET %s', ids, ids), loops * ids, loops
FROM generate_series(3, :flat_to) AS e, CAST(10 ^ e AS bigint) AS ids, CAST(greatest(1, 1000000 / ids) AS int) AS loops;

INSERT INTO goal VALUES
    (1, 'calls', 'gen_sno()', 'clock_timestamp()', '<=', 1.5),
    (2, 'calls', 'gen_mastic()', 'clock_timestamp()', '<=', 1.5),
    (4, 'calls', 'gen_sno()', 'nextval, cache 1', '<=', 0.16),
    (5, 'calls', 'gen_mastic()', 'nextval, cache 1', '<=', 0.16),
    (7, 'calls', 'gen_gid(''volume'')', 'clock_timestamp()', '<=', 2.5),
    (8, 'calls', 'gen_gid(''volume'')', 'uuidv7()', '<=', 0.12),
    (20, 'series', 'gen_sno_series(n)', 'generate_series(1, n)', '<=', 1.1),
    (21, 'series', 'gen_mastic_series(n)', 'generate_series(1, n)', '<=', 1.1),
    (22, 'series', 'gen_gid_series(''volume'', n)', 'generate_series(1, n)', '<=', 1.1),
    (30, 'out', 'sno', 'bigint', '<=', 1.0),
    (31, 'out', 'gid', 'bigint', '<=', 1.2),
    (32, 'in', 'sno', 'bigint', '<=', 1.0),
    (33, 'in', 'gid', 'bigint', '<=', 1.2),
    (34, 'in', 'sno', 'uuid', '<=', 1.0 / 3),
    (35, 'in', 'gid', 'uuid', '<=', 1.0 / 3),
    (36, 'out', 'mastic', 'bigint', '<=', 1.05),
    (37, 'in', 'mastic', 'bigint', '<=', 1.05);
-- Before 18 the server has no version 7: version 4 is what there is.
INSERT INTO goal SELECT 8, 'calls', 'gen_gid(''volume'')', 'gen_random_uuid()', '<=', 0.06 WHERE to_regprocedure('pg_catalog.uuidv7()') IS NULL;
INSERT INTO goal SELECT 9, 'calls', 'gen_uuid7()', what, '<=', value FROM (VALUES ('uuidv7()', 0.12), ('gen_random_uuid()', 0.06)) AS v (what, value)
    WHERE (what = 'uuidv7()') = (to_regprocedure('pg_catalog.uuidv7()') IS NOT NULL);
INSERT INTO goal
SELECT 70, 'flat', format('%s, 10^%s', what, :flat_to), format('%s, 10^4', what), '+-', 0.1 FROM (VALUES ('gen_sno()'), ('gen_mastic()'), ('gen_sno_series(n)')) AS v (what)
UNION ALL
SELECT 71, 'flat', format('%s, 10^%s', what, 3), format('%s, 10^4', what), '+-', 0.1 FROM (VALUES ('gen_sno()'), ('gen_mastic()'), ('gen_sno_series(n)')) AS v (what);
