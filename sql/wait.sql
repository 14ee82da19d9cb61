-- What wakes a reader: test/server/readers/waiting_readers.pl.
CREATE TABLE news (id int PRIMARY KEY, stamp sno NOT NULL);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
CREATE TABLE plain (id sno DEFAULT gen_sno());
-- The answer, and whether it took that long.
CREATE FUNCTION try(call text, at_least interval DEFAULT '0', OUT answer text, OUT took_long boolean) LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz := clock_timestamp();
    hint text;
BEGIN
    EXECUTE 'SELECT ' || call INTO answer;
    took_long := clock_timestamp() - began >= at_least;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    answer := SQLERRM || CASE WHEN hint = '' THEN '' ELSE ' | ' || hint END;
END $$;
-- How many calls in a row return true.
CREATE FUNCTION trues(call text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    yes boolean;
BEGIN
    FOR n IN 0 .. 9 LOOP
        EXECUTE 'SELECT ' || call INTO yes;
        IF NOT yes THEN
            RETURN n;
        END IF;
    END LOOP;
END $$;

INSERT INTO news VALUES (1), (2), (3);
SELECT sno_wait('news', '2222222222222222', '1 minute');
-- After the last row, one answer may be true, because its tick could have more ids.
SELECT max(stamp) AS last FROM news \gset
SELECT trues(format('sno_wait(%L, %L, %L)', 'news', :'last', '1 ms')) <= 1 AS sleeps;
SELECT * FROM try(format('sno_wait(%L, %L, %L)', 'news', :'last', '100 ms'), '100 ms');
SELECT sno_wait('news', :'last', '0');
SELECT sno_wait('news', :'last', '-1 s');
SELECT sno_wait('news', :'last', '-1 month');
SELECT sno_wait('news', :'last', '-178000000 years');
SELECT sno_wait('news', :'last', '1 us');
SELECT sno_wait('news', :'last', '1 ms');
SELECT * FROM try($$sno_wait('news', 'xxxxxxxxxxxxxxxx', '50 ms')$$, '50 ms');
-- Existing rows are reported at once.
SELECT answer FROM try($$sno_wait('news', '2222222222222223', '178000000 years')$$);
SELECT sno_wait(NULL, :'last') IS NULL AS no_table, sno_wait('news', NULL) IS NULL AS no_id,
       sno_wait('news', :'last', NULL) IS NULL AS no_timeout;

-- The same errors as sno_settled().
\set VERBOSITY default
SELECT sno_wait('plain', '2222222222222222', '1 s');
SELECT sno_wait('pg_stat_activity', '2222222222222222', '1 s');
SELECT sno_wait(0, '2222222222222222', '1 s');
SELECT sno_wait(1, '2222222222222222', '1 s');
SELECT mastic_wait('news', '0', '1 s');
SELECT snowflake_si_wait('news', 0, '1 s');
SELECT snowflake_wait('twitter', 'news', 0, '1 s');
SELECT snowflake_wait('no such layout', 'news', 0, '1 s');
SELECT snowflake_si_wait('news', -1, '1 s');

-- The rows could never be seen, or the own transaction holds them back.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT sno_wait('news', :'last', '1 minute');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT sno_wait('news', :'last', '1 minute');
ROLLBACK;
BEGIN;
INSERT INTO news VALUES (4);
SELECT sno_wait('news', :'last', '1 minute');
ROLLBACK;
-- Another table's id does not matter.
BEGIN READ WRITE;
INSERT INTO plain DEFAULT VALUES;
SELECT sno_wait('news', :'last', '0') IS NOT NULL AS answers;
ROLLBACK;
BEGIN READ ONLY;
SELECT sno_wait('news', '2222222222222224', '1 minute');
COMMIT;
SET statement_timeout = '50 ms';
SELECT sno_wait('news', 'xxxxxxxxxxxxxxxx', '1 minute');
RESET statement_timeout;

-- snowflake_wait() reads the time of its layout.
CREATE TABLE formats (m mastic, b bigint, s bigint, t bigint);
CREATE TRIGGER m BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION mastic_stamp('m');
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION mastic_stamp('b');
CREATE TRIGGER s BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION snowflake_si_stamp('s');
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON formats FOR EACH ROW EXECUTE FUNCTION snowflake_stamp('twitter', 't');
INSERT INTO formats DEFAULT VALUES;
SELECT mastic_wait('formats', '0', '1 minute'), snowflake_si_wait('formats', 0, '1 minute'),
       snowflake_wait('twitter', 'formats', 0, '1 minute');
SELECT trues(format('mastic_wait(%L, %L, %L)', 'formats', m, '1 ms')) <= 1 AS mastic,
       trues(format('mastic_wait(%L, %L, %L)', 'formats', b::mastic, '1 ms')) <= 1 AS as_bigint,
       trues(format('snowflake_si_wait(%L, %L, %L)', 'formats', s, '1 ms')) <= 1 AS si,
       trues(format('snowflake_wait(%L, %L, %L, %L)', 'twitter', 'formats', t, '1 ms')) <= 1 AS twitter
FROM formats;

-- The rows of partitions are those of the table.
CREATE TABLE parted (id int, stamp sno NOT NULL) PARTITION BY LIST (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
INSERT INTO parted VALUES (1);
SELECT sno_wait('parted', '2222222222222222', '1 minute'), sno_wait('parted_1', '2222222222222222', '1 minute');

DROP TABLE news, plain, formats, parted;
DROP FUNCTION try, trues;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '_wait$' ORDER BY signature COLLATE "C" \g (format=unaligned)
