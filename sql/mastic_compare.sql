-- Plans, and a bigint column that becomes mastic. (Results: mastic_bigint.)
SET timezone = 'UTC';
\i sql/include/plan.psql
SET enable_seqscan = off;
SET jit = off;
SET enable_bitmapscan = off;

CREATE TABLE account (id mastic PRIMARY KEY DEFAULT gen_mastic(), name text);
INSERT INTO account SELECT make_mastic('2026-03-01'::timestamptz + n * interval '1 minute', 0), n FROM generate_series(1, 1000) AS n;
INSERT INTO account VALUES (5, 'small'), ('18446744073709551615', 'large');
ANALYZE account;

--
-- Integers and strings are ids, and use the index
--
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id = 5;
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id = 5::bigint;
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id = 5::smallint;
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id = '18446744073709551615';
-- Servers before 18 make an OR of it.
SELECT bool_or(plan ~ 'account_pkey') AS by_index, bool_or(plan ~ 'Seq Scan') AS sequential
FROM plan('SELECT name FROM account WHERE id IN (1, 2)') AS plan;
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id = ANY ('{1,2}');
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id = ANY ('{1,2}'::bigint[]);
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE id BETWEEN 1 AND 9 ORDER BY id DESC LIMIT 1;
EXPLAIN (COSTS OFF) SELECT name FROM account WHERE (id, name) > (5, 'a') ORDER BY id LIMIT 1;
SET plan_cache_mode = force_generic_plan;
PREPARE of_bigint (bigint) AS SELECT name FROM account WHERE id = $1;
PREPARE of_integer (integer) AS SELECT name FROM account WHERE id = $1;
PREPARE of_smallint (smallint) AS SELECT name FROM account WHERE id = $1;
PREPARE of_untyped AS SELECT name FROM account WHERE id = $1;
PREPARE of_bigints (bigint[]) AS SELECT name FROM account WHERE id = ANY ($1);
EXPLAIN (COSTS OFF) EXECUTE of_bigint (5);
EXPLAIN (COSTS OFF) EXECUTE of_integer (5);
EXPLAIN (COSTS OFF) EXECUTE of_smallint (5);
EXPLAIN (COSTS OFF) EXECUTE of_untyped (5);
EXPLAIN (COSTS OFF) EXECUTE of_bigints ('{5}');
EXECUTE of_bigint (-1);
EXECUTE of_integer (5);
EXECUTE of_smallint (5);
EXECUTE of_untyped ('18446744073709551615');
EXECUTE of_bigints ('{5,-1}');
RESET plan_cache_mode;
DEALLOCATE ALL;
-- A literal above 2^63 is a numeric, which is not compared: write a string, or a cast.
SELECT bool_or(id = 'x') FROM account;
\set VERBOSITY terse
SELECT bool_or(id = 18446744073709551615) FROM account;
SELECT bool_or(id = 18446744073709551615::mastic) FROM account;
SELECT bool_or(id = '18446744073709551615') FROM account;
SELECT bool_or(id = 5.0) FROM account;
SELECT bool_or(id % 2 = 0) FROM account;
SELECT bool_or(id + 1 > 0) FROM account;
SELECT bool_or(id::numeric % 2 = 1) FROM account;
SELECT bool_or(id = 5::oid) FROM account;
SELECT bool_or(id = 5::float8) FROM account;
SELECT sum(id) FROM account;
SELECT avg(id) FROM account;
\set VERBOSITY default
SELECT coalesce(id, 0) AS coalesce, pg_typeof(CASE WHEN true THEN 5 ELSE id END) AS "case", greatest(id, 7) AS greatest, sum(id::numeric) AS sum FROM account WHERE id = 5 GROUP BY id;
SELECT pg_typeof(x), count(*) FROM (SELECT id AS x FROM account UNION SELECT 5::bigint UNION SELECT 6) AS u GROUP BY 1;

--
-- Joins with a bigint column use an index on either, but no merge join
--
CREATE TABLE as_bigint (id bigint PRIMARY KEY, note text);
INSERT INTO as_bigint SELECT id, name FROM account WHERE id <= 9223372036854775807;
ANALYZE as_bigint;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off;
SELECT plan('SELECT * FROM (SELECT * FROM as_bigint WHERE id = 5 OFFSET 0) b JOIN account a ON a.id = b.id');
SELECT count(*) FROM as_bigint b JOIN account a ON a.id = b.id;
SELECT plan('SELECT * FROM (SELECT * FROM account WHERE id = 5 OFFSET 0) a JOIN as_bigint b ON a.id = b.id');
SET enable_nestloop = off; SET enable_hashjoin = on;
SELECT plan('SELECT * FROM as_bigint b JOIN account a ON a.id = b.id') ~ 'Hash Cond: .*b.id' AS hashed ORDER BY 1 DESC LIMIT 1;
SELECT count(*) FROM as_bigint b JOIN account a ON a.id = b.id;
RESET enable_nestloop; RESET enable_mergejoin; RESET enable_hashjoin; RESET enable_material; RESET enable_memoize;

--
-- A bigint may refer to a mastic, not the other way round
--
CREATE TABLE post (account bigint REFERENCES account ON DELETE CASCADE ON UPDATE CASCADE, n int);
INSERT INTO post SELECT id, 1 FROM account WHERE id < 9223372036854775807;
\set VERBOSITY terse
INSERT INTO post VALUES (6, 1);
CREATE TABLE refused (id mastic REFERENCES as_bigint);
\set VERBOSITY default
DELETE FROM account WHERE id = '18446744073709551615';
UPDATE account SET id = 6 WHERE id = 5;
SELECT min(account), max(account) > 1000 AS max, count(*) FROM post;
CREATE TABLE reply (account mastic REFERENCES account, n int);
INSERT INTO reply SELECT id, 1 FROM account;

--
-- A bigint column becomes mastic, if it has no negative numbers. Its indexes and foreign keys are rebuilt.
--
CREATE TABLE parent (id bigint PRIMARY KEY, up bigint REFERENCES parent, n int CHECK (n > 0), gone int);
CREATE TABLE child (parent bigint REFERENCES parent, n int);
ALTER TABLE parent DROP gone;
INSERT INTO parent SELECT make_mastic('2026-03-01', n)::bigint, NULL, n FROM generate_series(1, 100) AS n;
INSERT INTO parent VALUES (-1, make_mastic('2026-03-01', 1), 1), (9223372036854775807, NULL, 2);
INSERT INTO child SELECT id, n FROM parent;
ALTER TABLE parent ALTER id TYPE mastic;
\set VERBOSITY terse
ALTER TABLE child ALTER parent TYPE mastic;
\set VERBOSITY default
ALTER TABLE parent ALTER up TYPE mastic, ALTER id TYPE mastic;
BEGIN;
ALTER TABLE child DROP CONSTRAINT child_parent_fkey;
ALTER TABLE parent DROP CONSTRAINT parent_up_fkey;
SAVEPOINT before;
ALTER TABLE parent ALTER up TYPE mastic, ALTER id TYPE mastic;
ROLLBACK TO before;
DELETE FROM child WHERE parent < 0;
DELETE FROM parent WHERE id < 0;
ALTER TABLE parent ALTER id TYPE mastic, ALTER up TYPE mastic, ALTER id SET DEFAULT gen_mastic();
ALTER TABLE parent ADD CONSTRAINT parent_up_fkey FOREIGN KEY (up) REFERENCES parent;
ALTER TABLE child ALTER parent TYPE mastic, ADD CONSTRAINT child_parent_fkey FOREIGN KEY (parent) REFERENCES parent;
COMMIT;
\d parent
SELECT max(id), count(*) FROM parent;
BEGIN;
ALTER TABLE child DROP CONSTRAINT child_parent_fkey;
ALTER TABLE parent DROP CONSTRAINT parent_up_fkey, ALTER id DROP DEFAULT, ALTER id TYPE bigint, ALTER up TYPE bigint;
ALTER TABLE child ALTER parent TYPE bigint;
COMMIT;
SELECT max(id) FROM parent;
-- But not for a mastic beyond bigint.
CREATE TABLE great (id mastic);
INSERT INTO great VALUES ('9223372036854775808');
ALTER TABLE great ALTER id TYPE bigint;
-- Partitions and a child table
CREATE TABLE parts (id bigint, n int) PARTITION BY LIST (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
INSERT INTO parts VALUES (-7, 1);
ALTER TABLE parts ALTER id TYPE mastic;
CREATE TABLE heir () INHERITS (child);
INSERT INTO heir (parent) VALUES (-8);
ALTER TABLE child ALTER parent TYPE mastic;
UPDATE parts SET id = 7;
DELETE FROM heir;
ALTER TABLE parts ALTER id TYPE mastic;
ALTER TABLE child ALTER parent TYPE mastic;
SELECT id, n FROM parts;
DROP TABLE great, parts, heir;
CREATE TABLE indexed (id bigint, m bigint);
INSERT INTO indexed VALUES (-9, 1);
CREATE INDEX ON indexed ((id::mastic));
TRUNCATE indexed;
CREATE INDEX ON indexed ((id::mastic));
ALTER TABLE indexed ALTER m TYPE mastic;
INSERT INTO indexed VALUES (-9, 1);
DROP TABLE indexed;

--
-- Replica identity, partition keys
--
ALTER TABLE parent REPLICA IDENTITY USING INDEX parent_pkey;
CREATE TABLE hashed (id mastic PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT id FROM account;
SELECT tableoid::regclass, count(*) BETWEEN 400 AND 600 AS about_half FROM hashed GROUP BY 1 ORDER BY 1;
SELECT plan('SELECT * FROM hashed WHERE id = 5::bigint');
CREATE TABLE listed (id mastic) PARTITION BY LIST (id);
CREATE TABLE listed_1 PARTITION OF listed FOR VALUES IN (1, '18446744073709551615', 2::bigint);
SELECT pg_get_expr(relpartbound, oid) FROM pg_class WHERE relname = 'listed_1';
SELECT plan('SELECT * FROM listed WHERE id = 3');
DROP TABLE account, as_bigint, post, reply, parent, child, hashed, listed;
