-- A tour of snowflake_ids. `make demo` runs it on a throw-away server; on a server of your own that has the
-- extension installed, `psql -X -e -f demo/tour.sql` does the same in the schema "tour", which it drops in the end.
\set QUIET on
\set echo :ECHO
\set ECHO none
\set ON_ERROR_STOP on
\pset pager off
\pset footer off
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE EXTENSION IF NOT EXISTS snowflake_ids;
CREATE SCHEMA tour;
SET search_path = tour, public;
\set ECHO :echo

\echo
\echo '==== 1. The key of this table is a sno: 16 characters, which contain the time'
\echo
CREATE TABLE message (id sno PRIMARY KEY DEFAULT gen_sno(), body text);
INSERT INTO message (body) VALUES ('hello'), ('world')
RETURNING id, body, sno_timestamp(id) AS created;
\echo
\echo 'There are three other formats for other uses (doc/choosing.md compares them):'
SELECT gen_gid('volume') AS gid, gen_mastic() AS mastic, gen_snowflake_si() AS snowflake_si;

\echo
\echo '==== 2. Ids sort by time, so the index of the primary key also finds the rows of the last minute'
\echo
INSERT INTO message SELECT sno_lower_bound(now() - i * interval '10 seconds'), 'from the last two weeks'
FROM generate_series(1, 120000) AS i;
VACUUM ANALYZE message;
SELECT count(*), count(*) FILTER (WHERE id >= now() - interval '1 minute') AS last_minute FROM message;
EXPLAIN (COSTS OFF) SELECT * FROM message WHERE id >= now() - interval '1 minute';

\echo
\echo '==== 3. The server generates one million ids'
\echo
INSERT INTO message (body) SELECT 'bulk' FROM generate_series(1, 1000000);
SELECT count(*), count(DISTINCT id) AS different FROM message WHERE body = 'bulk';
\set ECHO none
\echo
\echo 'This table shows the milliseconds of SELECT count(...) FROM generate_series(1, 1000000), the best of three runs:'
CREATE SEQUENCE counter;
CREATE TABLE timing (expression text PRIMARY KEY, ms float DEFAULT 'infinity');
INSERT INTO timing VALUES ('1'), ('gen_mastic()'), ('gen_sno()'), ('gen_gid(''volume'')'), ('nextval(''counter'')'),
    ('gen_random_uuid()');
DO $$
DECLARE
    candidate text;
    began timestamptz;
BEGIN
    FOR candidate IN SELECT expression FROM timing, generate_series(1, 3) AS round ORDER BY round LOOP
        began := clock_timestamp();
        EXECUTE format('SELECT count(%s) FROM generate_series(1, 1000000)', candidate);
        UPDATE timing SET ms = least(ms, 1000 * extract(epoch FROM clock_timestamp() - began))
        WHERE expression = candidate;
    END LOOP;
END $$;
SELECT expression AS "count(...)", round(ms) AS ms,
    round((ms / (SELECT ms FROM timing WHERE expression = 'gen_sno()'))::numeric, 1) AS "x gen_sno()",
    repeat('#', greatest(1, round(40 * ms / max(ms) OVER ())::int)) AS "less is better"
FROM timing ORDER BY ms;

\set ECHO :echo
\echo
\echo '==== 4. A program follows changes: its first poll has everything, and a position for the next one'
\echo
CREATE TABLE outbox (id bigserial PRIMARY KEY, message text);
SELECT to_do FROM snowflake_ids.create_feed('outbox') \gexec
INSERT INTO outbox (message) VALUES ('first'), ('second'), ('third');
SELECT step, id, (f.row).message, position FROM outbox_feed('') AS f;
\echo
\echo 'Step 0 empties the copy, 1 deletes a row, 2 is a row as it is now, and 3 has the position.'
\echo 'wait_feed() sleeps until somebody commits. The next poll has what is new, each row once:'
SELECT position FROM outbox_feed('') WHERE step = 3 \gset
UPDATE outbox SET message = 'changed' WHERE message = 'first';
DELETE FROM outbox WHERE message = 'second';
SELECT snowflake_ids.wait_feed('outbox', :'position', '1 s') AS position \gset
SELECT step, id, (f.row).message, position FROM outbox_feed(:'position') AS f;
\set ECHO none

\if :{?keep}
\else
DROP SCHEMA tour CASCADE;
\endif
