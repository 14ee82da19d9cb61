-- For tools/sanitize sqlsmith: tables keyed by our types, and an ordinary role. Errors are logged with SQLSTATE and
-- source file, so that ours can be counted; so are calls of our functions.
ALTER SYSTEM SET log_error_verbosity = verbose;
ALTER SYSTEM SET log_line_prefix = '%e ';
ALTER SYSTEM SET track_functions = 'all';
ALTER SYSTEM SET max_parallel_workers_per_gather = 2;
SELECT FROM pg_reload_conf();

CREATE EXTENSION snowflake_ids;
SELECT snowflake_layout_create('smith', '2020-01-01', '1 ms', 41, 10, 12);
CREATE ROLE smith LOGIN;
GRANT CREATE ON SCHEMA public TO smith;
SET ROLE smith;
CREATE TABLE by_sno (id sno PRIMARY KEY DEFAULT gen_sno(), made timestamptz DEFAULT now(), owner gid);
CREATE TABLE by_gid (id gid PRIMARY KEY DEFAULT gen_gid('log'), parent sno, many gid[]);
CREATE TABLE by_mastic (id mastic PRIMARY KEY DEFAULT gen_mastic(), parent gid, many mastic[]);
CREATE TABLE by_bigint (id bigint PRIMARY KEY DEFAULT gen_snowflake_si(), other bigint DEFAULT gen_snowflake('smith'), key uuid DEFAULT gen_uuid7());
CREATE TABLE by_time (id sno PRIMARY KEY, what text) PARTITION BY RANGE (id);
CREATE TABLE by_time_1 PARTITION OF by_time FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-01-01'));
CREATE TABLE by_time_2 PARTITION OF by_time FOR VALUES FROM (sno_lower_bound('2026-01-01')) TO (MAXVALUE);
INSERT INTO by_sno (owner) SELECT gen_gid('log') FROM generate_series(1, 300);
INSERT INTO by_gid (parent, many) SELECT id, ARRAY[owner] FROM by_sno;
INSERT INTO by_mastic (parent, many) SELECT id, ARRAY[gen_mastic()] FROM by_gid;
INSERT INTO by_bigint SELECT FROM by_sno;
INSERT INTO by_time SELECT id, 'x' FROM by_sno;
CREATE INDEX ON by_gid USING hash (parent);
CREATE INDEX ON by_bigint USING brin (id);
ANALYZE by_sno, by_gid, by_mastic, by_bigint, by_time;
