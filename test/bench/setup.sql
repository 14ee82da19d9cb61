-- What the benchmark shares: the candidates, how one is measured, where figures go.
--
-- Every candidate is a query that makes or handles `ids` ids, `loops` times. A round runs each once, in random order,
-- so that a noisy machine is noisy for all; what is short it runs `tries` times, in turn with the others, and keeps the
-- least, because what else goes on can only add. Net: minus the candidate `net_of` (the same scan without the call) of
-- the same round. Ratios are taken within a round; what is shown is the median over the rounds.
--
-- psql variables: rows (of the scans), sort_rows.
\set QUIET on
\set ON_ERROR_STOP on
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS snowflake_ids;
CREATE UNLOGGED TABLE row_source AS SELECT n, n::float8 AS x FROM generate_series(1, :rows) n;

-- metric: what ratios and goals are about. cpu: time that the session had a processor; other load on the machine
-- disturbs it less, but it hides waiting. wall: elapsed.
CREATE TABLE section (name text PRIMARY KEY, ord int, title text, metric text, unit text, bases text[], tries int DEFAULT 1);
CREATE TABLE candidate (section text REFERENCES section, ord int, what text, net_of text, query text, ids float8, loops int DEFAULT 1,
                        before text, after text, sized regclass, PRIMARY KEY (section, what));
-- Nanoseconds per id.
CREATE UNLOGGED TABLE result (section text, round int, what text, wall float8, cpu float8, wal float8, heap float8, bytes float8,
                              PRIMARY KEY (section, round, what));
CREATE TABLE goal (ord int, section text, what text, versus text, op text, value float8);

-- The kernel brings the figure up to date when the process sleeps.
CREATE FUNCTION cpu_ns() RETURNS float8 LANGUAGE sql AS
$$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 FROM pg_sleep(0.0001) $$;
CREATE FUNCTION wall_ns() RETURNS float8 LANGUAGE sql AS $$ SELECT extract(epoch FROM clock_timestamp())::float8 * 1e9 $$;

CREATE PROCEDURE keep(r result) LANGUAGE sql AS $$
    INSERT INTO result VALUES (r.*)
    ON CONFLICT (section, round, what) DO UPDATE SET wall = least(result.wall, excluded.wall), cpu = least(result.cpu, excluded.cpu)
$$;

CREATE PROCEDURE run_round(this_round int, sections text[]) LANGUAGE plpgsql AS $$
DECLARE
    c record;
    wall float8;
    cpu float8;
    lsn pg_lsn;
BEGIN
    FOR try IN 1 .. (SELECT max(tries) FROM section WHERE name = ANY (sections)) LOOP
        FOR c IN SELECT candidate.* FROM candidate JOIN section s ON s.name = section
                 WHERE section = ANY (sections) AND query IS NOT NULL AND try <= tries
                   -- What took longer than half a second averages by itself.
                   AND NOT EXISTS (SELECT FROM result r WHERE (r.section, r.round, r.what) = (candidate.section, this_round, candidate.what) AND r.wall * ids > 5e8)
                 ORDER BY random() LOOP
            IF c.before IS NOT NULL THEN EXECUTE c.before; END IF;
            COMMIT;
            cpu := cpu_ns();
            lsn := pg_current_wal_insert_lsn();
            wall := wall_ns();
            FOR i IN 1 .. c.loops LOOP
                EXECUTE c.query;
            END LOOP;
            COMMIT;
            wall := wall_ns() - wall;
            cpu := cpu_ns() - cpu;
            CALL keep(ROW(c.section, this_round, c.what, wall / c.ids, cpu / c.ids, (pg_current_wal_insert_lsn() - lsn) / c.ids,
                          pg_table_size(c.sized) / c.ids, pg_indexes_size(c.sized) / c.ids)::result);
            IF c.after IS NOT NULL THEN EXECUTE c.after; END IF;
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;

-- What people would pick instead, for calls: the built-in ways, and extensions where they are installed.
CREATE SEQUENCE seq_1;
CREATE SEQUENCE seq_1000 CACHE 1000;
CREATE SEQUENCE seq_plpgsql;
CREATE TABLE call (ord int, what text, expression text, contended bool, extension text, set_up text);
INSERT INTO call VALUES
    (1, 'clock_timestamp()', 'clock_timestamp()', true, NULL, NULL),
    (2, 'nextval, cache 1', 'nextval(''seq_1'')', true, NULL, NULL),
    (3, 'nextval, cache 1000', 'nextval(''seq_1000'')', true, NULL, NULL),
    (4, 'gen_random_uuid()', 'gen_random_uuid()', true, NULL, NULL),
    (5, 'uuidv7()', 'uuidv7()', true, 'built-in', NULL),
    (6, 'pg_uuidv7', 'uuid_generate_v7()', false, 'pg_uuidv7', NULL),
    (7, 'sequential_uuids', 'uuid_time_nextval()', false, 'sequential_uuids', NULL),
    (8, 'pgEdge snowflake', 'snowflake.nextval(''seq_pgedge'')', true, 'snowflake', 'CREATE SEQUENCE seq_pgedge'),
    (9, 'pgx_ulid', 'gen_ulid()', false, 'pgx_ulid', NULL),
    (10, 'uuid-ossp, version 1', 'uuid_generate_v1()', false, 'uuid-ossp', NULL),
    (11, 'plpgsql, time and sequence', 'plpgsql_id()', false, NULL, NULL),
    (20, 'gen_sno()', 'gen_sno()', true, NULL, NULL),
    (21, 'gen_mastic()', 'gen_mastic()', true, NULL, NULL),
    (23, 'gen_gid(''volume'')', 'gen_gid(''volume'')', true, NULL, NULL),
    (24, 'gen_uuid7()', 'gen_uuid7()', false, NULL, NULL);
DELETE FROM call WHERE extension = 'built-in' AND to_regprocedure('pg_catalog.uuidv7()') IS NULL;
DELETE FROM call WHERE extension <> 'built-in' AND extension NOT IN (SELECT name FROM pg_available_extensions);
SELECT format('CREATE EXTENSION %I', extension) FROM call WHERE extension <> 'built-in' \gexec
SELECT set_up FROM call WHERE set_up IS NOT NULL \gexec

-- The recipe that is passed around for sharded databases: milliseconds, shard, a sequence.
CREATE FUNCTION plpgsql_id() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ms bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    RETURN (ms - 1767225600000) << 23 | 5 << 10 | nextval('seq_plpgsql') % 1024;
END
$$;
