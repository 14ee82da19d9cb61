-- A mastic next to a bigint: each query is right, or an error. The oracle is numeric.
\i sql/include/plan.psql
SET timezone = 'UTC';

CREATE TEMP TABLE m AS SELECT n::numeric::mastic AS m, n::numeric AS n FROM unnest('{0,1,2,65535,65536,9223372036854775806,9223372036854775807,9223372036854775808,9223372036854775809,18446744073709551614,18446744073709551615}'::text[]) AS n;
CREATE TEMP TABLE b AS SELECT b, b::numeric AS n FROM unnest('{-9223372036854775808,-9223372036854775807,-65536,-2,-1,0,1,2,65535,65536,9223372036854775806,9223372036854775807}'::bigint[]) AS b;
SELECT count(*) AS pairs, bool_and((m = b, m <> b, m < b, m <= b, m >= b, m > b) = (m.n = b.n, m.n <> b.n, m.n < b.n, m.n <= b.n, m.n >= b.n, m.n > b.n)) AS mastic_first,
       bool_and((b = m, b <> m, b < m, b <= m, b >= m, b > m) = (b.n = m.n, b.n <> m.n, b.n < m.n, b.n <= m.n, b.n >= m.n, b.n > m.n)) AS bigint_first,
       bool_and(sign(snowflake_ids.mastic_cmp_bigint(m, b)) = sign(m.n - b.n) AND sign(snowflake_ids.bigint_cmp_mastic(b, m)) = sign(b.n - m.n)) AS cmp
FROM m, b;

-- An index on the bigint agrees, also for ids above each bigint.
CREATE TEMP TABLE btree_bigint AS SELECT b FROM b;
CREATE INDEX ON btree_bigint (b);
CREATE TEMP TABLE brin_bigint AS SELECT b FROM b;
CREATE INDEX ON brin_bigint USING brin (b);
CREATE TEMP TABLE hash_bigint AS SELECT b FROM b;
CREATE INDEX ON hash_bigint USING hash (b);
CREATE FUNCTION rows_with(condition text, of_table text, scans text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    got bigint;
BEGIN
    PERFORM set_config('enable_' || s, (s = scans OR scans LIKE s || '%')::text, true) FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) AS s;
    EXECUTE format('SELECT count(*) FROM %I AS x WHERE %s', of_table, condition) INTO got;
    RETURN got;
END $$;
BEGIN;
SELECT count(*) AS compared, count(*) FILTER (WHERE rows_with(c, t, 'seqscan') IS DISTINCT FROM rows_with(c, t, s)) AS other_rows
FROM m, unnest('{=,<,<=,>=,>,<>}'::text[]) AS o,
     LATERAL (VALUES (format('x.b %s %L::mastic', o, m)), (format('%L::mastic %s x.b', m, o))) AS conditions (c),
     (VALUES ('btree_bigint', 'indexscan'), ('btree_bigint', 'bitmapscan'), ('brin_bigint', 'bitmapscan'), ('hash_bigint', 'indexscan')) AS ways (t, s);
ROLLBACK;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\pset tuples_only on
\pset format unaligned
SELECT plan FROM plan($$SELECT FROM btree_bigint WHERE b < (SELECT mastic_lower_bound(now()))$$) plan;
SELECT plan FROM plan($$SELECT FROM btree_bigint WHERE mastic_lower_bound('2026-11-01') <= b AND b < '5'::mastic$$) plan;
SELECT plan FROM plan($$SELECT FROM btree_bigint WHERE b = '9223372036854775808'::mastic$$) plan;
SELECT plan FROM plan($$SELECT FROM hash_bigint WHERE b = '5'::mastic$$) plan;
SET enable_bitmapscan = on;
SELECT plan FROM plan($$SELECT FROM brin_bigint WHERE b >= '5'::mastic$$) plan;

CREATE TABLE event (id mastic PRIMARY KEY, what text);
INSERT INTO event SELECT n::bigint, 'event ' || n FROM generate_series(1, 1000) AS n;
ANALYZE event;
SELECT plan FROM plan($$SELECT FROM event WHERE id = 5$$) plan;
SELECT plan FROM plan($$SELECT FROM event WHERE id BETWEEN -1 AND 5$$) plan;
SELECT plan FROM plan($$SELECT FROM event WHERE id = ANY ('{1,2,3}'::bigint[])$$) plan;
RESET enable_seqscan;
RESET enable_bitmapscan;
\pset tuples_only off
PREPARE after(bigint) AS SELECT count(*) FROM event WHERE id > $1;
EXECUTE after(-1);
SELECT count(*) FILTER (WHERE id > -1) AS above, count(*) FILTER (WHERE id >= -9223372036854775808) AS lowest,
       count(*) FILTER (WHERE id BETWEEN -1 AND 3) AS between, count(*) FILTER (WHERE id IN (1, 2)) AS few,
       count(*) FILTER (WHERE id IN (-1, 2)) AS negative, count(*) FILTER (WHERE id NOT IN (SELECT b FROM b)) AS not_in,
       count(*) FILTER (WHERE id = ANY (ARRAY[1, 2, 3]::smallint[])) AS small
FROM event;
-- PostgreSQL 19 says more.
\set VERBOSITY sqlstate
SELECT count(*) FROM event WHERE id < 'infinity'::float8;
\set VERBOSITY default
SELECT count(*) FROM event WHERE id = ANY (ARRAY(SELECT generate_series(-50, 50)::bigint));

INSERT INTO event VALUES (-1);
\echo :LAST_ERROR_SQLSTATE
INSERT INTO event SELECT -2::smallint;
INSERT INTO event VALUES (-3::bigint);
SELECT (-1)::mastic;
SELECT mastic_timestamp((-1)::bigint);
SELECT '-1'::mastic;
SELECT '9223372036854775808'::mastic::bigint;
SELECT '9223372036854775807'::mastic::bigint, 5::mastic, 5::smallint::mastic, 5::bigint::mastic;
SELECT coalesce(max(id), 0) FROM event;
SELECT coalesce(max(id), '0') FROM event;

CREATE TABLE item (n bigint PRIMARY KEY, id bigint);
INSERT INTO item VALUES (1, 1), (2, -1), (3, 3), (4, 2000);
SELECT id, what, n FROM event JOIN item USING (id) ORDER BY 1;
SELECT id, n FROM item NATURAL JOIN (SELECT id FROM event) e ORDER BY 1;
SELECT id FROM event WHERE id < 3 UNION SELECT n FROM item ORDER BY 1;
SELECT e.id, CASE e.id WHEN i.id THEN 'same' ELSE 'other' END, NULLIF(e.id, i.id), e.id IS DISTINCT FROM i.id AS other
FROM event e, item i WHERE e.id = 3 AND i.n IN (1, 3) ORDER BY i.n;
SELECT coalesce(e.id, i.n) FROM item i LEFT JOIN event e ON e.id = i.id ORDER BY i.n;
SELECT id FROM event WHERE false UNION SELECT id FROM item;
SELECT mastic_timestamp(n) FROM item WHERE n = 1;

CREATE FUNCTION join_by(way text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('enable_' || w, (w = way)::text, true) FROM unnest('{hashjoin,mergejoin,nestloop}'::text[]) AS w;
    RETURN (SELECT count(*) FROM event e JOIN item i ON e.id = i.id);
END $$;
BEGIN;
SELECT w, join_by(w) FROM unnest('{hashjoin,mergejoin,nestloop}'::text[]) AS w;
ROLLBACK;
SELECT plan FROM plan($$SELECT FROM event e JOIN item i ON e.id = i.id$$) plan WHERE plan ~ 'Join|Cond';

-- Foreign keys: the child of a deleted row is found by its index.
CREATE TABLE child (id bigint REFERENCES event ON DELETE CASCADE);
INSERT INTO child SELECT n FROM generate_series(1, 1000) AS n;
CREATE INDEX child_id ON child (id);
ANALYZE child;
INSERT INTO child VALUES (-1);
INSERT INTO child VALUES (1001);
SET enable_seqscan = off;
SELECT plan FROM plan($$DELETE FROM ONLY child x WHERE '7'::mastic OPERATOR(pg_catalog.=) id$$) plan;
RESET enable_seqscan;
DELETE FROM event WHERE id = 7;
SELECT count(*) FROM child WHERE id = 7;
-- PostgreSQL looks for "=" in the family of the key, which is the server's own.
\set VERBOSITY terse
CREATE TABLE mastic_child (id mastic REFERENCES item);
\set VERBOSITY default
DELETE FROM item WHERE n = 1;

-- ALTER TABLE in both directions. (More: mastic_compare.)
ALTER TABLE item ALTER id TYPE mastic;
UPDATE item SET id = 1 WHERE id < 0;
ALTER TABLE item ALTER id TYPE mastic;
ALTER TABLE item ALTER id TYPE bigint;
SELECT array_agg(id ORDER BY n) FROM item;
-- A bigint next to a time is an error of planning, so no plan and no empty table hides it.
CREATE TABLE empty (id bigint, small integer);
EXPLAIN SELECT FROM empty WHERE id >= now();
\echo :LAST_ERROR_SQLSTATE
SELECT FROM empty WHERE now() > id;
SELECT FROM empty WHERE small < date '2026-01-01';
SELECT FROM empty WHERE id BETWEEN timestamptz '2026-01-01' AND timestamptz '2026-02-01';
SELECT FROM empty WHERE id >= mastic_lower_bound('2026-01-01') AND id < snowflake_si_lower_bound('2026-01-01');

CREATE TABLE counted AS SELECT n::bigint AS b, n::bigint::mastic AS m FROM generate_series(1, 10000) AS n;
ANALYZE counted;
CREATE FUNCTION expected_rows(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    j json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO j;
    RETURN round((j->0->'Plan'->>'Plan Rows')::numeric, -2);
END $$;
SELECT c, expected_rows('SELECT FROM counted AS x ' || c)
FROM unnest(ARRAY[$$WHERE b < '5000'::mastic$$, $$WHERE m < 5000$$, $$WHERE m BETWEEN -1 AND 2500$$, $$WHERE '7500'::mastic <= b$$, 'JOIN counted y ON x.b = y.m']) AS c;

DROP TABLE event, child, item, empty, counted;
DROP FUNCTION rows_with, join_by, expected_rows, plan;

SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^(mastic_index_bound|mastic_.*_bigint|bigint_.*|mastic_bigint_support)$' ORDER BY signature COLLATE "C";
