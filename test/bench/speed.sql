-- What test/bench/speed measures inside of a server. psql variable: rows.
--
-- A candidate is a query that makes `ids` ids. A round runs each once, in random order, so that noise is the same for
-- all. `cpu`: the session's processor time.
\set QUIET on
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS snowflake_ids;
SELECT current_setting('server_version_num')::integer >= 180000 AS has_uuidv7 \gset
\if :has_uuidv7
\set uuid7 'uuidv7()'
\else
\set uuid7 'gen_uuid7()'
\endif

CREATE UNLOGGED TABLE row_source AS SELECT n FROM generate_series(1, :rows) AS n;
CREATE UNLOGGED TABLE result (section text, what text, metric text, value float8);
CREATE TABLE candidate (section text, what text, query text, ids float8, before text, sized regclass);

SELECT snowflake_layout_create('five_bits', '2025-01-01 00:00:00+00', '1 ms', 41, 17, 5);

-- OFFSET discards the rows.
CREATE SEQUENCE seq;
CREATE SEQUENCE seq_1000 CACHE 1000;
CREATE TABLE generator (ord integer, what text, type text, expression text);
INSERT INTO generator VALUES
    (0, 'scan', 'integer', 'n'),
    (1, 'clock_timestamp()', 'timestamptz', 'clock_timestamp()'),
    (2, 'nextval', 'bigint', 'nextval(''seq'')'),
    (3, 'nextval, CACHE 1000', 'bigint', 'nextval(''seq_1000'')'),
    (4, 'gen_random_uuid()', 'uuid', 'gen_random_uuid()'),
    (5, :'uuid7', 'uuid', :'uuid7'),
    (6, 'gen_sno()', 'sno', 'gen_sno()'),
    (7, 'gen_mastic()', 'mastic', 'gen_mastic()'),
    (8, 'gen_gid(''volume'')', 'gid', 'gen_gid(''volume'')'),
    (9, 'no-op', 'integer', 'pg_backend_pid()');
INSERT INTO candidate SELECT 'one', what, format('SELECT %s FROM row_source OFFSET %s', expression, :rows), :rows FROM generator;

-- A checkpoint before each, for as many full-page images.
SELECT format('CREATE TABLE inserted_%s (id %s PRIMARY KEY, n integer)', ord, type)
FROM generator WHERE ord IN (2, 4, 5, 6, 7, 8) \gexec
INSERT INTO candidate
SELECT 'insert', what, format('INSERT INTO inserted_%s SELECT %s, n FROM row_source', ord, expression), :rows,
       format('TRUNCATE inserted_%s; CHECKPOINT', ord), format('inserted_%s', ord)::regclass
FROM generator WHERE ord IN (2, 4, 5, 6, 7, 8);

-- No row passes.
CREATE UNLOGGED TABLE filtered AS
SELECT t, make_sno(t, 0, 0, 0) AS sno, make_mastic(t, 0) AS mastic FROM row_source, LATERAL (SELECT timestamptz '2026-02-01 00:00+00' + n * interval '1 s') AS s (t);
INSERT INTO candidate
SELECT 'filter', c, format('SELECT FROM filtered WHERE %I >= timestamptz ''2079-01-01 00:00+00'' AND %I >= timestamptz ''2078-01-01 00:00+00''', c, c), :rows
FROM unnest('{t,sno,mastic}'::text[]) AS c;

CREATE UNLOGGED TABLE ranged AS
SELECT sno, mastic, mastic::bigint AS bigint FROM filtered;
CREATE INDEX ON ranged (sno);
CREATE INDEX ON ranged (mastic);
CREATE INDEX ON ranged (bigint);
INSERT INTO candidate
SELECT 'planning', c, format('EXPLAIN SELECT FROM ranged WHERE %s', 
    string_agg(format('%1$I >= %2$L AND %1$I < %3$L', c, ids ->> c, next ->> c), ' OR ')), 1
FROM unnest('{bigint,sno,mastic}'::text[]) AS c, (
    SELECT to_jsonb(r) AS ids, lead(to_jsonb(r)) OVER (ORDER BY sno) AS next
    FROM (SELECT *, row_number() OVER (ORDER BY sno) AS n FROM ranged) AS r WHERE n % (:rows / 6000) = 1
    ORDER BY sno LIMIT 6000) AS s
WHERE (ids ->> 'n')::bigint / (:rows / 6000) % 2 = 0
GROUP BY c;

-- The kernel brings the figure up to date when the process sleeps.
CREATE FUNCTION cpu_ns() RETURNS float8 LANGUAGE sql AS
$$ SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::float8 FROM pg_sleep(0.0001) $$;
CREATE FUNCTION wall_ns() RETURNS float8 LANGUAGE sql AS $$ SELECT extract(epoch FROM clock_timestamp())::float8 * 1e9 $$;

CREATE PROCEDURE run_round(keep boolean) LANGUAGE plpgsql AS $$
DECLARE
    c candidate;
    wall float8;
    cpu float8;
    lsn pg_lsn;
BEGIN
    FOR c IN SELECT * FROM candidate ORDER BY random() LOOP
        IF c.before IS NOT NULL THEN EXECUTE c.before; END IF;
        COMMIT;
        cpu := cpu_ns();
        lsn := pg_current_wal_insert_lsn();
        wall := wall_ns();
        EXECUTE c.query;
        COMMIT;
        wall := wall_ns() - wall;
        cpu := cpu_ns() - cpu;
        CONTINUE WHEN NOT keep;
        INSERT INTO result VALUES
            (c.section, c.what, 'elapsed', wall / c.ids), (c.section, c.what, 'cpu', cpu / c.ids),
            (c.section, c.what, 'wal', (pg_current_wal_insert_lsn() - lsn) / c.ids),
            (c.section, c.what, 'table', pg_table_size(c.sized) / c.ids), (c.section, c.what, 'index', pg_indexes_size(c.sized) / c.ids);
    END LOOP;
END
$$;

-- The first query of a connection, which loads PL/pgSQL and so on, is not counted, nor is the INSERT.
CREATE PROCEDURE first_call(section text, what text, query text) LANGUAGE plpgsql AS $$
DECLARE
    q text;
    start timestamptz;
    took interval;
BEGIN
    FOREACH q IN ARRAY ARRAY['SELECT random()', query] LOOP
        start := clock_timestamp();
        EXECUTE q;
        took := clock_timestamp() - start;
    END LOOP;
    INSERT INTO result VALUES (section, what, 'elapsed', extract(epoch FROM took) * 1e9);
END
$$;
SELECT 'CREATE EXTENSION pg_trgm' FROM pg_available_extensions WHERE name = 'pg_trgm' \gexec
VACUUM ANALYZE;
CHECKPOINT;
