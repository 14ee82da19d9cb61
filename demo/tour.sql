-- A tour of snowflake_ids. `make demo` runs it on a throw-away server; on a server of your own that has the
-- extension installed, `psql -X -e -f demo/tour.sql` does the same in the schema "tour", which it drops in the end.
\set QUIET on
\set ON_ERROR_STOP on
\pset pager off
\pset footer off
SET client_min_messages = warning;
SET timezone = 'UTC';

\echo
\echo '==== 1. Four formats, four column defaults'
\echo
CREATE EXTENSION IF NOT EXISTS snowflake_ids;
CREATE SCHEMA tour;
SET search_path = tour, public;

CREATE TABLE message (
    id   sno PRIMARY KEY DEFAULT gen_sno(),
    body text);
CREATE TABLE disk (
    id   gid(volume) PRIMARY KEY DEFAULT gen_gid('volume'),
    name text);
CREATE TABLE toot (
    id   mastic PRIMARY KEY DEFAULT gen_mastic(),
    body text);
CREATE TABLE invoice (
    id     bigint PRIMARY KEY DEFAULT gen_snowflake_si(),
    amount numeric);

INSERT INTO message (body) VALUES ('first'), ('second'), ('third');
INSERT INTO disk (name) VALUES ('root'), ('home');
INSERT INTO toot (body) VALUES ('hello'), ('world');
INSERT INTO invoice (amount) VALUES (12.50), (99.90);

SELECT * FROM message ORDER BY id;
SELECT * FROM disk ORDER BY id;
SELECT * FROM toot ORDER BY id;
SELECT * FROM invoice ORDER BY id;

\echo '==== 2. What is in an id'
\echo
\echo 'The two examples of the sno document:'
SELECT id, d.* FROM (VALUES (sno 'brpk4q72xwf2m63l'), (sno 'aaaaaaaa55aaaaaa')) AS v(id), sno_decode(id) AS d;
\echo 'And the rows from above:'
SELECT body, d.* FROM message, sno_decode(id) AS d ORDER BY id;
SELECT name, d.* FROM disk, gid_decode(id) AS d ORDER BY id;
SELECT body, d.* FROM toot, mastic_decode(id) AS d ORDER BY id;
SELECT amount, d.* FROM invoice, snowflake_si_decode(id) AS d ORDER BY id;

\echo '==== 3. What is not an id is refused, and so is the wrong kind of id'
\echo
\set ON_ERROR_STOP off
SELECT sno 'not-a-sno';
INSERT INTO disk (id, name) VALUES (gen_gid('log'), 'a log is no volume');
\set ON_ERROR_STOP on

\echo
\echo '==== 4. A million ids'
\echo
CREATE TABLE bulk (id sno PRIMARY KEY);
\timing on
SELECT count(id) AS generated FROM gen_sno_series(1000000) AS id;
INSERT INTO bulk SELECT gen_sno_series(1000000);
SELECT count(DISTINCT id) FROM bulk;
\timing off
\echo
SELECT min(sno_timestamp(id)) AS first, max(sno_timestamp(id)) AS last FROM bulk;

\echo '==== 5. Ids are ordered by time, so the primary key also finds rows by time'
\echo
\echo 'Ids for two weeks of history, one every ten seconds, and three messages of now:'
INSERT INTO message
SELECT make_sno(created => now() - i * interval '10 seconds', metabyte => 0, partition => 0, sequence => 0), 'message ' || i
FROM generate_series(12, 120000) AS i;
INSERT INTO message (body) VALUES ('now'), ('now'), ('now');
VACUUM ANALYZE message;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
SELECT * FROM message WHERE id >= sno_lower_bound(now() - interval '1 minute');
\echo 'The comparison of an id with a time uses the same index. Its bound is worked out once, when the scan starts:'
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE id >= now() - interval '1 minute';
SELECT * FROM message WHERE id >= now() - interval '1 minute' ORDER BY id;

\echo '==== 6. What the server knows about its generators'
\echo
\x on
SELECT * FROM snowflake_ids_stats;
SELECT * FROM snowflake_ids_status();
\x off

\if :{?keep}
\else
DROP SCHEMA tour CASCADE;
\endif
