SET timezone = 'UTC';

CREATE FUNCTION pg_temp.estimate(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

--
-- Counts
--
SELECT count(*) FROM gen_sno_series(0);
SELECT count(*) FROM gen_sno_series(1);
SELECT count(*) FROM gen_sno_series(NULL);
SELECT count(*) FROM gen_sno_series(10, NULL);
SELECT gen_mastic_series(NULL);
SELECT count(*) FROM gen_gid_series(NULL, 10);
SELECT count(*) FROM gen_gid_series('log', NULL);
SELECT count(*) FROM gen_gid_series('log', 0);
SELECT count(*) FROM gen_snowflake_si_series(NULL);
SELECT gen_sno_series(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT gen_gid_series('log', -2);
SELECT gen_mastic_series(-9223372036854775808);
SELECT gen_snowflake_si_series(-1);
SELECT gen_sno_series(1, 256);
\echo :LAST_ERROR_SQLSTATE
SELECT gen_sno_series(1, -1);
SELECT gen_sno_series(0, 256);
SELECT gen_gid_series('disk', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT gen_gid_series('disk', 0);

-- Around the sizes of a range and of the ids per reading of the clock.
SELECT n, count(id), count(DISTINCT id) FROM unnest(ARRAY[15, 16, 17, 47, 48, 49, 63, 64, 65, 8191, 8192, 8193, 70000])
    AS n,
    gen_sno_series(n) AS id GROUP BY n ORDER BY n;

--
-- Where a set may be asked for
--
SELECT count(DISTINCT id) FROM (SELECT gen_sno_series(1000) AS id) AS s;
SELECT count(DISTINCT id) FROM (SELECT gen_sno_series(3) AS id FROM generate_series(1, 1000)) AS s;
SELECT count(DISTINCT id) FROM generate_series(1, 1000) AS n, LATERAL gen_sno_series(n % 3) AS id;
SELECT count(DISTINCT id), max(ordinality) FROM gen_mastic_series(1000) WITH ORDINALITY AS s (id, ordinality);
SELECT count(DISTINCT a), count(DISTINCT b), count(*)
    FROM (SELECT gen_mastic_series(1000) AS a, gen_mastic_series(1000) AS b) AS s WHERE a <> b;
SELECT count(*) FROM ROWS FROM (gen_sno_series(3), gen_gid_series('log', 5), gen_mastic_series(2)) AS s (a, b, c);
-- Streamed: a hundred billion are not made before the first is returned.
SELECT count(*) FROM (SELECT gen_sno_series(100000000000) LIMIT 5) AS s;
SELECT count(*) FROM (SELECT gen_gid_series('segment', 100000000000) LIMIT 5) AS s;
SELECT count(*) FROM (SELECT gen_mastic_series(100000000000) LIMIT 5) AS s;
SELECT count(*) FROM (SELECT gen_snowflake_si_series(100000000000) LIMIT 5) AS s;
SELECT EXISTS (SELECT gen_sno_series(100000000000));

-- A restarted inner loop generates new ids.
SELECT count(DISTINCT first) FROM (SELECT (SELECT id FROM gen_sno_series(2 + n - n) AS id LIMIT 1) AS first
    FROM generate_series(1, 1000) AS n) AS s;

--
-- A cursor: an id fetched later sorts after ids generated in between. A tick of sno has 4 ms, so several commands share
-- one.
--
CREATE TEMP TABLE sno_seen (n serial, id sno);
CREATE TEMP TABLE bigint_seen (n serial, format text, id bigint);
CREATE FUNCTION pg_temp.next(cursor refcursor) RETURNS sno LANGUAGE plpgsql AS $$
DECLARE id sno; BEGIN FETCH cursor INTO id; RETURN id; END $$;
CREATE FUNCTION pg_temp.next_bigint(cursor refcursor) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint; BEGIN FETCH cursor INTO id; RETURN id; END $$;
BEGIN;
DECLARE s CURSOR FOR SELECT gen_sno_series(1000000);
DECLARE m CURSOR FOR SELECT gen_mastic_series(1000000);
DECLARE i CURSOR FOR SELECT gen_snowflake_si_series(1000000);
\set ECHO none
SELECT s FROM generate_series(1, 100) AS n, unnest(ARRAY[
    'INSERT INTO sno_seen (id) VALUES (pg_temp.next(''s''))', 'INSERT INTO sno_seen (id) VALUES (gen_sno())',
    'INSERT INTO bigint_seen (format, id) VALUES (''mastic'', pg_temp.next_bigint(''m''))',
    'INSERT INTO bigint_seen (format, id) VALUES (''mastic'', gen_mastic())',
    'INSERT INTO bigint_seen (format, id) VALUES (''snowflake_si'', pg_temp.next_bigint(''i''))',
    'INSERT INTO bigint_seen (format, id) VALUES (''snowflake_si'', gen_snowflake_si())']) WITH ORDINALITY AS u (s, i)
ORDER BY n, i \gexec
\set ECHO all
COMMIT;
SELECT count(*), count(*) FILTER (WHERE id <= previous) AS inversions
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS previous FROM sno_seen) AS s;
SELECT format, count(*), count(*) FILTER (WHERE id <= previous) AS inversions
FROM (SELECT format, id, lag(id) OVER (PARTITION BY format ORDER BY n) AS previous FROM bigint_seen) AS s
GROUP BY format ORDER BY format;
-- Single fetches must not use up a range of 8192 numbers each: eight of those are a tick.
SELECT max(used) < 8192 AS thrifty
FROM (SELECT max(sno_sequence(id)) - min(sno_sequence(id)) AS used FROM sno_seen GROUP BY sno_timestamp(id)) AS s;

--
-- Times are current however slowly rows are fetched, and in order with single calls. (The clock is read before the id.)
--
SELECT count(*), count(*) FILTER (WHERE sno_timestamp(id) < now - interval '8 ms') AS sno_late
FROM (SELECT clock_timestamp() AS now, gen_sno_series(20) AS id, pg_sleep(0.01)) AS s;
SELECT count(*), count(*) FILTER (WHERE mastic_timestamp(id) < now - interval '2 ms') AS mastic_late
FROM (SELECT clock_timestamp() AS now, gen_mastic_series(20) AS id, pg_sleep(0.01)) AS s;
SELECT count(*), count(*) FILTER (WHERE snowflake_si_timestamp(id) < now - interval '2 ms') AS snowflake_si_late
FROM (SELECT clock_timestamp() AS now, gen_snowflake_si_series(20) AS id, pg_sleep(0.01)) AS s;
SELECT count(*), count(*) FILTER (WHERE gid_timestamp(id) < now - interval '2 ms') AS gid_late
FROM (SELECT clock_timestamp() AS now, gen_gid_series('log', 20) AS id, pg_sleep(0.01)) AS s;
SELECT count(*), count(*) FILTER (WHERE b <= a OR a <= before) AS inversions
FROM (SELECT a, b, lag(b) OVER (ORDER BY n) AS before
      FROM (SELECT gen_mastic_series(1000) AS a, gen_mastic() AS b, generate_series(1, 1000) AS n) AS s) AS t;
SELECT count(*), count(*) FILTER (WHERE b <= a OR a <= before) AS inversions
FROM (SELECT a, b, lag(b) OVER (ORDER BY n) AS before
      FROM (SELECT gen_sno_series(1000) AS a, gen_sno() AS b, generate_series(1, 1000) AS n) AS s) AS t;

--
-- Can be cancelled anywhere in the loop
--
SET statement_timeout = '500ms';
SELECT count(*) FROM (SELECT gen_sno_series(1000000000000)) AS s;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM (SELECT gen_gid_series('volume', 1000000000000)) AS s;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM (SELECT gen_mastic_series(1000000000000)) AS s;
\echo :LAST_ERROR_SQLSTATE
SELECT max(id) FROM (SELECT gen_snowflake_si_series(1000000000000) AS id) AS s;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM gen_sno_series(1000000000000);
\echo :LAST_ERROR_SQLSTATE
RESET statement_timeout;

--
-- The row estimate is the count
--
SELECT query, pg_temp.estimate(query) FROM unnest(ARRAY[
    'SELECT gen_sno_series(12345)', 'SELECT * FROM gen_sno_series(12345)', 'SELECT * FROM gen_sno_series(12345, 7)',
    'SELECT * FROM gen_gid_series(''log'', 23456)', 'SELECT * FROM gen_mastic_series(34567)',
    'SELECT * FROM gen_snowflake_si_series(45678)', 'SELECT * FROM gen_mastic_series(10 * 1000)',
    'SELECT * FROM gen_mastic_series(7::int)', 'SELECT * FROM gen_mastic_series(-5)',
    'SELECT * FROM gen_mastic_series(random()::bigint)', 'SELECT gen_sno_series(n) FROM generate_series(1, 10) AS n'])
        AS query;
PREPARE planned (bigint) AS SELECT * FROM gen_sno_series($1);
SELECT pg_temp.estimate('EXECUTE planned (4321)');
SET plan_cache_mode = force_generic_plan;
SELECT pg_temp.estimate('EXECUTE planned (4321)');
RESET plan_cache_mode;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ 'series_'
    ORDER BY signature COLLATE "C";
SELECT oid::regprocedure AS function, prosupport, prorows FROM pg_proc WHERE proname ~ '^gen_.*_series$' ORDER BY 1;
