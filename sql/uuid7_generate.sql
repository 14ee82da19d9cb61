SET timezone = 'UTC';

--
-- What is in an id
--
CREATE FUNCTION pg_temp.version(id uuid) RETURNS int LANGUAGE sql AS $$ SELECT get_byte(uuid_send(id), 6) >> 4 $$;
CREATE FUNCTION pg_temp.variant(id uuid) RETURNS int LANGUAGE sql AS $$ SELECT get_byte(uuid_send(id), 8) >> 6 $$;
CREATE FUNCTION pg_temp.fraction(id uuid) RETURNS int LANGUAGE sql AS
    $$ SELECT (get_byte(uuid_send(id), 6) & 15) << 8 | get_byte(uuid_send(id), 7) $$;
SELECT pg_typeof(id), pg_temp.version(id), pg_temp.variant(id),
    abs(extract(epoch FROM clock_timestamp() - uuid7_timestamp(id))) < 10 AS now
FROM gen_uuid7() AS id;

-- The 12 bits below the milliseconds are a fraction. The id's time lies between two readings of the clock, which has
-- microseconds; faster than one id in 244 ns, it runs ahead by one step each.
SELECT count(*) AS ids,
       count(*) FILTER (WHERE extract(epoch FROM uuid7_timestamp(id)) * 1000000 + pg_temp.fraction(id) * 1000 / 4096.0
           < extract(epoch FROM before) * 1000000 - 1) AS early,
       count(*) FILTER (WHERE extract(epoch FROM uuid7_timestamp(id)) * 1000000 + pg_temp.fraction(id) * 1000 / 4096.0
           > extract(epoch FROM after) * 1000000 + 1000) AS late
FROM (SELECT clock_timestamp() AS before, gen_uuid7() AS id, clock_timestamp() AS after FROM generate_series(1, 1000))
    AS s;

--
-- Uniqueness, and order within the session
--
CREATE TEMP TABLE drawn AS SELECT n, gen_uuid7() AS id FROM generate_series(1, 100000) AS n;
SELECT count(*), count(DISTINCT id), count(DISTINCT substr(uuid_send(id), 9)),
       count(*) FILTER (WHERE id <= previous) AS inversions
FROM (SELECT n, id, lag(id) OVER (ORDER BY n) AS previous FROM drawn) AS s;
DO $$
DECLARE
    last uuid := gen_uuid7();
    next uuid;
BEGIN
    FOR i IN 1 .. 10000 LOOP
        next := gen_uuid7();
        IF next <= last THEN RAISE EXCEPTION '% is not above %', next, last; END IF;
        last := next;
    END LOOP;
END $$;

-- Each of the 62 random bits is set in about half of 20,000 ids, within ten standard deviations.
SELECT count(*), min(ones) > 10000 - 710 AS enough, max(ones) < 10000 + 710 AS not_too_many
FROM (SELECT bit, sum(get_bit(substr(uuid_send(id), 9), bit)) AS ones
      FROM drawn, unnest(ARRAY(SELECT b FROM generate_series(0, 63) AS b WHERE b NOT IN (6, 7))) AS bit
      WHERE n <= 20000 GROUP BY bit)
          AS s;

--
-- Where an id may be asked for
--
CREATE TEMP TABLE page (id uuid DEFAULT gen_uuid7() PRIMARY KEY, n int);
INSERT INTO page (n) SELECT generate_series(1, 100);
SELECT count(*), bool_and(uuid7_timestamp(id) BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
    AS recent FROM page;
START TRANSACTION READ ONLY;
SELECT count(DISTINCT gen_uuid7()) FROM generate_series(1, 10);
COMMIT;

--
-- Who may: everybody
--
SET client_min_messages = warning;
CREATE ROLE regress_uuid7_user;
SET ROLE regress_uuid7_user;
SELECT pg_temp.version(gen_uuid7());
RESET ROLE;
DROP ROLE regress_uuid7_user;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^gen_uuid7'
    ORDER BY signature COLLATE "C";
