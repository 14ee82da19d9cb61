-- What wakes a reader, and whom it hinders: test/server/readers/waiting_*.pl.
CREATE TABLE news (id int PRIMARY KEY, stamp sno NOT NULL);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE plain (id sno DEFAULT gen_sno());
-- What a call returns: 'seen' or 'another', and whether it took that long. The number changes with each start.
CREATE FUNCTION try(seen bigint, timeout interval, at_least interval DEFAULT '0', OUT answer text, OUT took_long boolean)
LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz := clock_timestamp();
BEGIN
    answer := CASE WHEN snowflake_ids_wait('news', seen, timeout) = seen THEN 'seen' ELSE 'another' END;
    took_long := clock_timestamp() - began >= at_least;
END $$;

SELECT snowflake_ids_wait('news', 0, '1 minute') AS seen \gset
SELECT * FROM try(:seen, '100 ms', '100 ms');
INSERT INTO news VALUES (1), (2), (3);
SELECT * FROM try(:seen, '1 minute');
SELECT snowflake_ids_wait('news', NULL, '1 minute') - :seen AS transactions;
SELECT snowflake_ids_wait('news', NULL, '1 minute') AS seen \gset
SELECT * FROM try(:seen, '100 ms', '100 ms');
-- One second is the default.
SELECT clock_timestamp() AS began \gset
SELECT snowflake_ids_wait('news', :seen) = :seen AS same;
SELECT clock_timestamp() - :'began' BETWEEN '1 second' AND '30 seconds' AS one_second;
-- Numbers of others.
SELECT * FROM try(:seen - 1, '1 minute');
SELECT * FROM try(:seen + 1, '1 minute');
SELECT * FROM try(-1, '1 minute');
SELECT * FROM try(-9223372036854775808, '1 minute');
SELECT * FROM try(9223372036854775807, '178000000 years');
-- Timeouts.
SELECT t AS timeout, (try(:seen, t)).answer FROM unnest('{0,-1 s,-1 month,-178000000 years,1 us,1 ms}'::interval[]) t;
SELECT snowflake_ids_wait(NULL, 0) IS NULL AS no_table, snowflake_ids_wait('news', 0, NULL) IS NULL AS no_timeout;
-- It is exact in a double, as in JavaScript.
SELECT :seen BETWEEN 0 AND 9007199254740991 AS exact;

-- Rolled back rows do not count, nor do transactions that leave none, nor those of other tables.
BEGIN;
INSERT INTO news VALUES (4);
ROLLBACK;
INSERT INTO news VALUES (1) ON CONFLICT DO NOTHING;
INSERT INTO plain DEFAULT VALUES;
SELECT * FROM try(:seen, '0');
UPDATE news SET id = id;
SELECT * FROM try(:seen, '0');

-- A transaction can wait for others when it has written itself.
BEGIN;
SELECT snowflake_ids_wait('news', 0) AS seen \gset
INSERT INTO news VALUES (5);
SELECT * FROM try(:seen, '10 ms', '10 ms');
COMMIT;
SELECT * FROM try(:seen, '0');
BEGIN READ ONLY;
SELECT * FROM try(:seen, '1 minute');
COMMIT;

-- A table without stamps, and what is none.
\set VERBOSITY default
SELECT snowflake_ids_wait('plain', 0);
SELECT snowflake_ids_wait('pg_stat_activity', 0);
SELECT snowflake_ids_wait(0, 0);
SELECT snowflake_ids_wait(1, 0);

-- The rows could never be seen.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake_ids_wait('news', 0);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT snowflake_ids_wait('news', 0);
ROLLBACK;

-- A statement's timeout. The session can wait again after that.
SELECT snowflake_ids_wait('news', 0) AS seen \gset
SET statement_timeout = '1 s';
SELECT snowflake_ids_wait('news', :seen, '10 minutes');
RESET statement_timeout;
SELECT * FROM try(:seen, '10 ms', '10 ms');

-- All formats.
CREATE TABLE formats (m mastic, s bigint, t bigint);
CREATE TRIGGER zz_m BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION mastic_stamp('m');
ALTER TABLE formats ENABLE ALWAYS TRIGGER zz_m;
SELECT snowflake_ids_wait('formats', 0) > 0 AS mastic;
CREATE TRIGGER zz_s BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION snowflake_si_stamp('s');
ALTER TABLE formats ENABLE ALWAYS TRIGGER zz_s;
DROP TRIGGER zz_m ON formats;
SELECT snowflake_ids_wait('formats', 0) > 0 AS snowflake_si;
CREATE TRIGGER zz_t BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION snowflake_stamp('twitter', 't');
ALTER TABLE formats ENABLE ALWAYS TRIGGER zz_t;
DROP TRIGGER zz_s ON formats;
SELECT snowflake_ids_wait('formats', 0) > 0 AS layout;
DROP TRIGGER zz_t ON formats;
SELECT snowflake_ids_wait('formats', 0);

-- The rows of partitions are those of the table.
CREATE TABLE parted (id int, stamp sno NOT NULL) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE parted ENABLE ALWAYS TRIGGER zz_stamp;
SELECT snowflake_ids_wait('parted', 0) AS all, snowflake_ids_wait('parted_1', 0) AS one \gset
INSERT INTO parted VALUES (1);
SELECT snowflake_ids_wait('parted', :all, '1 minute') <> :all AS all, snowflake_ids_wait('parted_1', :one, '1 minute') <> :one AS one;

DROP TABLE news, plain, formats, parted;
DROP FUNCTION try;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '_wait$' ORDER BY signature COLLATE "C" \g (format=unaligned)
