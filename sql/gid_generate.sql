SET timezone = 'UTC';

--
-- What is in an id
--
SELECT kind, pg_typeof(id), gid_kind(id), gid_is_empty(id), length(gid_random(id)),
       abs(extract(epoch FROM clock_timestamp() - gid_timestamp(id))) < 10 AS now
FROM unnest(ARRAY['volume', 'log', 'segment']) AS kind, gen_gid(kind) AS id;
SELECT DISTINCT length(id::text), gid_short(id) = split_part(id::text, '-', 2) AS short
    FROM (SELECT gen_gid('log') AS id FROM generate_series(1, 1000)) AS s;

--
-- Arguments
--
SELECT gen_gid('');
\echo :LAST_ERROR_SQLSTATE
SELECT gen_gid('Volume');
SELECT gen_gid(' log');
SELECT gen_gid('logs');
SELECT gen_gid('lo');
SELECT gen_gid('disk');
SELECT gen_gid(repeat('x', 40));
SELECT gen_gid(NULL);

--
-- Uniqueness; order by millisecond
--
CREATE TEMP TABLE drawn AS SELECT n, gen_gid('volume') AS id FROM generate_series(1, 100000) AS n;
SELECT count(*), count(DISTINCT id), count(DISTINCT gid_random(id)),
       count(*) FILTER (WHERE gid_timestamp(id) < previous) AS inversions
FROM (SELECT id, lag(gid_timestamp(id)) OVER (ORDER BY n) AS previous FROM drawn) AS s;

-- Each of the 64 random bits is set in about half, within ten standard deviations. (No gid has the smallest random
-- parts: less than a part in 1,000 for the first bit.)
SELECT count(*), min(ones) > 10000 - 710 AS enough, max(ones) < 10000 + 710 AS not_too_many
FROM (SELECT bit, sum(get_bit(gid_random(id), bit)) AS ones FROM drawn, generate_series(0, 63) AS bit
      WHERE n <= 20000 GROUP BY bit)
    AS s;

--
-- Who may: everybody
--
SET client_min_messages = warning;
CREATE ROLE regress_gid_user;
SET ROLE regress_gid_user;
SELECT gid_kind(gen_gid('log'));
RESET ROLE;
DROP ROLE regress_gid_user;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions WHERE proname ~ '^gen_gid$'
    ORDER BY signature COLLATE "C";
