-- Several backends at once, and new connections. Included after calls.sql; test/bench/side_by_side runs them.

INSERT INTO section VALUES
    ('backends', 3, 'Backends at once, gross: one id of all of them together', 'wall', 'ns per id', '{}', 1),
    ('connect', 11, 'First id in a new connection, whose second query it is: library load, set-up, catalog look-ups', 'wall', 'ns', '{nextval}', 1),
    ('reconnect', 12, 'A new connection for each id, 16 clients (pgbench -C)', 'wall', 'ns', '{nextval}', 1),
    ('restart', 13, 'First id after a restart, the begin of a life and its sync included', 'wall', 'ns', '{nextval}', 1);

-- 2 and 8 for what people would pick; up to 64 for ours. As many rows for all backends together.
CREATE TABLE contender AS
SELECT ord, what, expression, '{2,8}'::int[] || CASE WHEN ord >= 20 THEN '{1,4,16,32,64}'::int[] ELSE '{}' END AS backends
FROM call WHERE contended
UNION ALL SELECT 0, 'no-op', 'n', '{1,2,4,8,16,32,64}';
SELECT format('CREATE UNLOGGED TABLE rows_%s AS SELECT n FROM generate_series(1, %s) n', b, :rows / b)
FROM unnest('{1,2,4,8,16,32,64}'::int[]) b \gexec
INSERT INTO candidate (section, ord, what, ids) SELECT 'backends', 100 * b + ord, format('%s, %s', what, b), 1 FROM contender, unnest(backends) b;

-- The first query of a connection loads what any query needs, PL/pgSQL included; it is not counted.
CREATE PROCEDURE first_call(what text, query text, round int, section text DEFAULT 'connect') LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz;
BEGIN
    EXECUTE 'SELECT random()';
    start := clock_timestamp();
    EXECUTE query;
    CALL keep(ROW(section, round, what, extract(epoch FROM clock_timestamp() - start) * 1e9, NULL, NULL, NULL, NULL)::result);
END
$$;
CREATE TABLE first_query (ord int, what text, query text, sections text[]);
INSERT INTO first_query VALUES
    (1, 'gen_random_uuid()', 'SELECT gen_random_uuid()', '{connect}'),
    (2, 'nextval', 'SELECT nextval(''seq_1'')', '{connect,reconnect,restart}'),
    (3, 'any library: LOAD ''pg_trgm''', 'LOAD ''pg_trgm''', '{connect}'),
    (4, 'ours: LOAD ''snowflake_ids''', 'LOAD ''snowflake_ids''', '{connect}'),
    (5, 'gen_sno()', 'SELECT gen_sno()', '{connect,reconnect,restart}');
DELETE FROM first_query WHERE query ~ 'pg_trgm' AND NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm');
INSERT INTO candidate (section, ord, what, ids) SELECT unnest(sections), ord, what, 1 FROM first_query;

-- Rates: half the time is twice the rate.
INSERT INTO goal
SELECT 10, 'backends', format('%s, %s', what, n), format('nextval, cache %s, %s', cache, n), '<=', value
FROM unnest('{2,8}'::int[]) n, (VALUES ('gen_sno()'), ('gen_mastic()')) AS v (what), (VALUES (1, 1.0 / 6), (1000, 1.0)) AS c (cache, value)
UNION ALL
SELECT 72, 'backends', format('%s, 64', what), format('%s, 8', what), '+-', 0.1 FROM (VALUES ('gen_sno()'), ('gen_mastic()')) AS v (what)
UNION ALL
VALUES (80, 'connect', 'gen_sno()', NULL, '<=', 1e6), (81, 'reconnect', 'gen_sno()', 'nextval', '<=', 1 / 0.92), (82, 'restart', 'gen_sno()', NULL, '<=', 1e7);
