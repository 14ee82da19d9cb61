-- Calls of all that the extension owns, made from the catalogs, for hostile_calls.pl. hostile.run() tries those of one
-- function or operator as its caller's role.
CREATE SCHEMA hostile;
CREATE DOMAIN hostile.sno_domain AS sno;
CREATE TABLE hostile.others (id bigint PRIMARY KEY, created timestamptz NOT NULL);
INSERT INTO hostile.others SELECT n, '2026-02-03' FROM generate_series(1, 10) AS n;
-- A row that the planner cannot know.
CREATE TABLE hostile.row (n int);
INSERT INTO hostile.row VALUES (1);

CREATE TABLE hostile.value (type regtype, expression text, argument text, n int GENERATED ALWAYS AS IDENTITY);
INSERT INTO hostile.value (type, expression)
SELECT type::regtype, CASE WHEN type ~ '^any' THEN e ELSE format('%L::%s', e, type) END
FROM (VALUES
    ('sno', '{brpk4q72xwf2m63l, 2222222222222222, xxxxxxxxxxxxxxxx, 2222222222222223}'::text[]),
    ('gid', '{5rMJNeFjYs-2eDkDiPiLuBbS, 5r1111111Z-2111111111111, 8HMJNeFjYs-2eDkDiPiLuBbS, 74MJNeFjYs-2eDkDiPiLuBbS}'),
    ('mastic', '{116301527915219032, 0, 1, 65536, 9223372036854775807, 9223372036854775808, 18446744073709551615}'),
    ('boolean', '{f, t}'),
    ('smallint', '{0, 1, -1, 32767, -32768}'),
    ('integer', '{1, 0, -1, 2, 5, 12, 62, 63, 64, 255, 256, 65535, 65536, 2147483647, -2147483648}'),
    ('bigint', '{116301527915219032, 1, 0, -1, 9007199254740991, 9223372036854775807, -9223372036854775808}'),
    ('double precision', '{1, 0, -1, NaN, Infinity, -Infinity, 1e308, 1e-308}'),
    ('text', '{twitter, "", mastic, snowflake_si, sno, layout, volume, log, segment, <, >=, created, nobody''s, "%s%n%1$s", "\"", $$, 18446744073709551615, " ", 1}'),
    ('cstring', '{brpk4q72xwf2m63l, "", 5rMJNeFjYs-2eDkDiPiLuBbS, x, "%s%n%1$s", 2026-01-01}'),
    ('cstring[]', '{"{volume}", "{}", "{NULL}", "{volume,log}", "{{volume},{log}}", "{\"\"}", "{1}"}'),
    ('name', '{id, "", created, "\"; --"}'),
    ('"char"', '{a, ""}'),
    ('oid', '{0, 1, 25, 4294967295}'),
    ('regclass', '{hostile.others, 0, 4294967295, pg_class, pg_class_oid_index, snowflake_ids.created_layout, snowflake_ids.wal_ceiling, snowflake_ids.stats, pg_toast.pg_toast_1255}'),
    ('uuid', '{6272706b-3471-3732-7877-66326d36336c, 00000000-0000-0000-0000-000000000000, ffffffff-ffff-ffff-ffff-ffffffffffff, 80000000-0000-0000-4e90-0abb53e6b710, 017f22e2-79b0-7cc3-98c4-dc0c0c07398f}'),
    ('bytea', '{"\\x0102030405060708090a", "", "\\x00", "\\xffffffffffffffff", "\\xffffffffffffffffffffffffffffffff", "\\x800000000000004e900abb53e6b71000"}'),
    ('timestamptz', '{2026-05-06 07:08:09+00, -infinity, infinity, 1970-01-01 00:00:00+00, 2010-01-01 00:00:00+00, 2079-09-07 15:47:35.551+00, 4714-11-24 00:00:00+00 BC, 294276-12-31 23:59:59.999999+00, now}'),
    ('interval', '{1 ms, 0, -1 ms, 1 us, 1 day, 1 mon, 178000000 years, 2562047788:00:54.775807, -2562047788:00:54.775807}'),
    ('jsonb', '{"{}", "null", "1", "[]", "\"x\"", "{\"wallHi\": 1e400, \"sequenceMax\": 65535}", "{\"partition\": [1], \"sequenceMax\": -1}",
               "{\"partition\": [255, 256]}", "{\"partition\": {\"a\": 1}}", "{\"wallHi\": 1, \"sequenceMin\": 9, \"sequenceMax\": 65535, \"partition\": [0, 1]}",
               "{\"machine_id\": \"x\", \"system_identifier\": []}", "[[[[[[]]]]]]"}'),
    ('json', '{"{}", "{\"a\": null, \"b\": 1}", "null", "1", "[]", "\"x\""}'),
    ('numeric', '{1, 0, -1, 1.5, NaN, Infinity, -Infinity, 18446744073709551615, 18446744073709551615.5, 1e300, 1e-300}'),
    ('smallint[]', '{"{1}", "{}", "{NULL}", "{0,-1,32767}", "[-2147483648:-2147483647]={1,2}", "{{1},{2}}"}')
) AS v (type, expressions), unnest(v.expressions) AS e;
INSERT INTO hostile.value (type, expression) VALUES
    ('text', 'repeat(''x'', 100000)'), ('text', 'repeat(E''\u00e9'', 40)'), ('text', 'repeat(''9'', 400)'), ('text', 'repeat(''x'', 64)'),
    ('cstring', 'repeat(''2'', 100000)::text::cstring'), ('name', 'repeat(''x'', 63)::name'), ('bytea', 'decode(repeat(''ff'', 100000), ''hex'')'),
    ('jsonb', '(SELECT jsonb_object_agg(n, n) FROM generate_series(1, 1000) AS n)'), ('bigint', '''18446744073709551615''::mastic::bigint'),
    ('cstring[]', 'array_fill(''volume''::text, ARRAY[10000])::cstring[]'), ('sno', '''brpk4q72xwf2m63l''::hostile.sno_domain');
INSERT INTO hostile.value (type, expression) SELECT DISTINCT type, 'NULL::' || type FROM hostile.value;
INSERT INTO hostile.value (type, expression) VALUES ('internal', 'NULL');

INSERT INTO hostile.value (type, expression, argument)
SELECT type::regtype, format('%L::%s', v, type), argument
FROM (VALUES ('text', 'mastic', 'format'), ('text', 'volume', 'kind'), ('text', '<', 'comparison'), ('text', '18446744073709551615', 'id'), ('text', 'EXCLUSIVE', 'mode'),
    ('name', 'created', 'created_column'), ('integer', '0', 'partition'), ('integer', '41', 'timestamp_bits'), ('integer', '10', 'node_bits'), ('integer', '12', 'sequence_bits'),
    ('bytea', '\x0102030405060708', 'random'), ('bigint', '2', 'count'), ('bigint', '7', 'id'),
    ('timestamptz', '2020-01-01 00:00:00+00', 'epoch'), ('jsonb', '{"machine_id": 1, "system_identifier": 1}', 'one')) AS v (type, v, argument);

INSERT INTO hostile.value (type, expression) VALUES ('snowflake_ids_convert.job',
    'snowflake_ids_convert.planned_job(''hostile.others''::regclass, ''id''::name, ''mastic'', ''created''::name, 0, false, false, false, false)'),
    ('snowflake_ids_convert.job', 'NULL::snowflake_ids_convert.job'), ('snowflake_ids_convert.job', '''()''::snowflake_ids_convert.job');

CREATE VIEW hostile.member AS
SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname LIKE 'snowflake\_ids%' AND d.deptype = 'e';
INSERT INTO hostile.value (type, expression)
SELECT type, coalesce(format('%L::%s', v, type), 'NULL::' || type) FROM (
    SELECT DISTINCT a::regtype AS type FROM pg_proc, unnest(proargtypes) AS a WHERE (pg_proc.tableoid, pg_proc.oid) IN (SELECT classid, objid FROM hostile.member)) AS t,
    unnest(ARRAY['{}', '1', '', 'x', '[1,2]', '2026-01-01', NULL]) AS v
WHERE NOT EXISTS (SELECT FROM hostile.value h WHERE h.type = t.type);

CREATE VIEW hostile.type AS
SELECT t.oid, t.oid::regtype::text AS name, typelem FROM pg_type t
WHERE (t.tableoid, t.oid) IN (SELECT classid, objid FROM hostile.member) AND typtype = 'b'
UNION SELECT a.oid, a.oid::regtype::text, a.typelem FROM pg_type t JOIN pg_type a ON a.oid = t.typarray
WHERE (t.tableoid, t.oid) IN (SELECT classid, objid FROM hostile.member) AND t.typtype = 'b';
CREATE VIEW hostile.function AS
SELECT p.oid, p.oid::regprocedure AS signature, p.proname, p.prokind, p.proretset, p.proparallel, p.pronargdefaults, p.proargnames,
       format('%I.%I', n.nspname, p.proname) AS name, p.prorettype::regtype AS result, t.typtype = 'p' AND t.typname <> 'record' AS pseudo,
       ARRAY(SELECT type::regtype FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, i) ORDER BY i) AS types
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_type t ON t.oid = p.prorettype
WHERE (p.tableoid, p.oid) IN (SELECT classid, objid FROM hostile.member);

-- Lists of arguments of these types:
--   depth 0   ordinary values; all NULL
--   depth 1   each value in each place, among ordinary ones; a literal that is nothing
--   depth 2   and some mixed at random, the same ones in each run
CREATE FUNCTION hostile.arguments(types regtype[], names text[], depth int) RETURNS SETOF text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    plain text[] := ARRAY(SELECT (SELECT v.expression FROM hostile.value v WHERE v.type = a.type ORDER BY v.argument = names[i] DESC NULLS LAST, v.n LIMIT 1) FROM unnest(types) WITH ORDINALITY AS a (type, i) ORDER BY i);
    changed text[] := ARRAY(SELECT CASE type WHEN 'internal'::regtype THEN 'NULL' ELSE 'NULL::' || type END FROM unnest(types) WITH ORDINALITY AS a (type, i) ORDER BY i);
    e text;
BEGIN
    IF array_position(plain, NULL) IS NOT NULL THEN
        RAISE EXCEPTION 'hostile.value has no values for a type of %', types;
    END IF;
    RETURN NEXT plain;
    IF cardinality(types) = 0 THEN RETURN; END IF;
    RETURN NEXT changed;
    IF depth = 0 THEN RETURN; END IF;
    FOR i IN 1 .. cardinality(types) LOOP
        FOR e IN SELECT v.expression FROM hostile.value v WHERE v.type = types[i] UNION ALL VALUES ('''garbage''') LOOP
            changed := plain;
            changed[i] := e;
            RETURN NEXT changed;
        END LOOP;
    END LOOP;
    IF depth = 1 OR cardinality(types) = 1 THEN RETURN; END IF;
    FOR mixed IN 1 .. 15 LOOP
        RETURN NEXT ARRAY(SELECT (SELECT v.expression FROM hostile.value v WHERE v.type = a.type ORDER BY md5(concat(v.n, ' ', mixed, ' ', i)) LIMIT 1)
                          FROM unnest(types) WITH ORDINALITY AS a (type, i) ORDER BY i);
    END LOOP;
END $$;

-- With constants, which the planner may compute, and with values that only the executor sees.
CREATE FUNCTION hostile.calls(called oid, depth int, forms text DEFAULT 'both') RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
DECLARE
    f hostile.function;
    arguments text[];
    list text;
    shape text;
BEGIN
    SELECT * INTO STRICT f FROM hostile.function WHERE oid = called;
    shape := CASE WHEN f.pseudo THEN '%s' ELSE '(%s)::text' END;
    FOR arguments IN SELECT * FROM hostile.arguments(f.types, f.proargnames, depth) LOOP
        -- Generators must be able to come back.
        CONTINUE WHEN arguments[array_position(f.proargnames, 'force')] ~ 't';
        list := array_to_string(arguments, ', ');
        IF f.prokind = 'p' THEN
            RETURN NEXT format('CALL %s(%s)', f.name, list);
            CONTINUE;
        ELSIF f.prokind = 'a' THEN
            RETURN NEXT format('SELECT %s(%s)::text', f.name, list);
            RETURN NEXT format('SELECT (%1$s(DISTINCT v) FILTER (WHERE v IS NOT NULL))::text, %1$s(v ORDER BY v) FROM (VALUES (%2$s), (%2$s)) AS r (v)', f.name, list);
            RETURN NEXT format('SELECT %s(v) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM hostile.row, LATERAL (VALUES (%s)) AS r (v)', f.name, list);
            CONTINUE;
        END IF;
        IF forms <> 'executor' THEN
            RETURN NEXT format('SELECT ' || shape || ' LIMIT 3', format('%s(%s)', f.name, list));
        END IF;
        IF forms <> 'constants' AND 'internal'::regtype <> ALL (f.types) THEN
            RETURN NEXT format('SELECT ' || shape || ' FROM hostile.row LIMIT 3', format('%s(%s)', f.name,
                (SELECT string_agg(format('CASE n WHEN 1 THEN %s END', CASE a WHEN '''garbage''' THEN 'NULL::' || f.types[i]::text ELSE a END), ', ' ORDER BY i)
                 FROM unnest(arguments) WITH ORDINALITY AS a (a, i))));
        END IF;
        FOR i IN 1 .. CASE WHEN depth > 0 AND forms <> 'executor' THEN f.pronargdefaults ELSE 0 END LOOP
            RETURN NEXT format('SELECT ' || shape || ' LIMIT 3', format('%s(%s)', f.name, array_to_string(trim_array(arguments, i), ', ')));
        END LOOP;
    END LOOP;
END $$;

CREATE VIEW hostile.expression AS
SELECT 'operator ' || o.oid::regoperator::text AS object,
       format(f, format('%s OPERATOR(%I.%s) %s', a.expression, n.nspname, o.oprname, b.expression), format('a OPERATOR(%I.%s) b', n.nspname, o.oprname), a.expression, b.expression) AS sql
FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace JOIN hostile.value a ON a.type = o.oprleft JOIN hostile.value b ON b.type = o.oprright,
     (VALUES ('SELECT %1$s'), ('SELECT %2$s FROM (SELECT %3$s AS a, %4$s AS b FROM hostile.row OFFSET 0) AS v')) AS f (f)
WHERE (o.tableoid, o.oid) IN (SELECT classid, objid FROM hostile.member)
UNION ALL
SELECT format('cast from %s to %s', c.castsource::regtype, c.casttarget::regtype), format(f, a.expression, c.casttarget::regtype::text || modifier)
FROM pg_cast c JOIN hostile.value a ON a.type = c.castsource,
     unnest(CASE c.casttarget WHEN 'gid'::regtype THEN '{"",(volume),(segment),[]}' ELSE '{"",[]}' END::text[]) AS modifier,
     (VALUES ('SELECT (%s)::%s'), ('SELECT v::%2$s FROM (SELECT %1$s AS v FROM hostile.row OFFSET 0) AS s'), ('SELECT ARRAY[%s]::%s[]')) AS f (f)
WHERE (c.tableoid, c.oid) IN (SELECT classid, objid FROM hostile.member)
UNION ALL
SELECT 'type ' || t.name, format(f, a.expression, t.name || modifier)
FROM hostile.type t, hostile.value a, unnest('{"","(volume)","(volume,log)","(0)","(-1)","(''x'')","(1.5)","(NULL)",[]}'::text[]) AS modifier,
     (VALUES ('SELECT (%s)::text::%s'), ('SELECT (%s::text::%s)::text')) AS f (f)
WHERE t.typelem = 0 AND a.type = ANY ('{text,sno,gid,bytea}'::regtype[]);

-- A row per SQLSTATE, 'done' or 'wrote', with the slowest as an example.
CREATE TYPE hostile.outcome AS (state text, calls bigint, slowest_ms float8, example text, message text);

-- Each in a subtransaction. A transaction id means that it wrote. `undo`: all is rolled back.
CREATE FUNCTION hostile.try(statements text[], undo boolean DEFAULT false) RETURNS SETOF hostile.outcome LANGUAGE plpgsql AS $$
DECLARE
    outcomes hostile.outcome[] := '{}';
    o hostile.outcome;
    started timestamptz;
    statement text;
    had_id boolean;
    known int;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        had_id := pg_is_in_recovery() OR pg_current_xact_id_if_assigned() IS NOT NULL;
        o := ('done', 1, 0, left(statement, 300), NULL);
        started := clock_timestamp();
        BEGIN
            EXECUTE statement;
            IF NOT had_id AND pg_current_xact_id_if_assigned() IS NOT NULL THEN o.state := 'wrote'; END IF;
            IF undo THEN RAISE EXCEPTION 'undone'; END IF;
        EXCEPTION WHEN query_canceled OR assert_failure OR OTHERS THEN
            IF SQLERRM <> 'undone' THEN
                o.state := SQLSTATE;
                o.message := left(SQLERRM, 300);
            END IF;
        END;
        o.slowest_ms := 1000 * extract(epoch FROM clock_timestamp() - started);
        IF o.state = '57014' THEN RAISE EXCEPTION 'too slow: %', o.example; END IF;
        known := array_position(ARRAY(SELECT state FROM unnest(outcomes)), o.state);
        IF known IS NULL THEN
            outcomes := outcomes || o;
        ELSE
            o.calls := outcomes[known].calls + 1;
            IF outcomes[known].slowest_ms < o.slowest_ms THEN outcomes[known] := o; ELSE outcomes[known].calls := o.calls; END IF;
        END IF;
    END LOOP;
    RETURN QUERY SELECT * FROM unnest(outcomes);
END $$;

GRANT USAGE ON SCHEMA hostile TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA hostile TO PUBLIC;
REVOKE ALL ON hostile.others FROM PUBLIC;
