-- What one session is told, and what it is refused. Who holds back whom: isolation test settled.
CREATE TABLE event (id sno PRIMARY KEY DEFAULT gen_sno(), what text);
\i sql/include/plan.psql
CREATE PROCEDURE settle(until timestamptz) LANGUAGE plpgsql AS $$
BEGIN
    WHILE snowflake_ids_settled() < until LOOP
        COMMIT;
        PERFORM pg_sleep(0.002);
    END LOOP;
END $$;
INSERT INTO event (what) SELECT 'event ' || n FROM generate_series(1, 1000) n;
SELECT sno_timestamp(max(id)) + interval '4 ms' AS until FROM event \gset
CALL settle(:'until');

-- Each function subtracts a tick of its format, snowflake_ids_settled() the longest.
SELECT sno_settled() = sno_lower_bound(t - interval '3999 us') AS sno,
       mastic_settled() = mastic_lower_bound(t - interval '999 us') AS mastic,
       snowflake_si_settled() = snowflake_si_lower_bound(t - interval '999 us') AS snowflake_si,
       snowflake_settled('mastic') = mastic_settled()::bigint AS layout,
       snowflake_settled('twitter') = snowflake_lower_bound('twitter', t - interval '999 us') AS twitter,
       snowflake_settled('sonyflake') = snowflake_lower_bound('sonyflake', t - interval '9999 us') AS sonyflake
FROM (SELECT snowflake_ids_settled() + interval '9999 us' AS t) x;
SELECT snowflake_settled('no such layout');

-- The recommended query: one range of the index.
PREPARE next_events(sno) AS
    SELECT id, what FROM event WHERE id > $1 AND id < (SELECT sno_settled()) ORDER BY id LIMIT 2;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\pset tuples_only on
\pset format unaligned
SELECT plan FROM plan($$EXECUTE next_events('2222222222222222')$$) plan;
\pset format aligned
\pset tuples_only off
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;

CREATE FUNCTION read_all(page int) RETURNS TABLE (pages int, events int, in_order boolean) LANGUAGE plpgsql AS $$
DECLARE
    last sno := '2222222222222222';
    got sno[];
BEGIN
    pages := 0; events := 0; in_order := true;
    LOOP
        got := ARRAY(SELECT id FROM event WHERE id > last AND id < (SELECT sno_settled()) ORDER BY id LIMIT page);
        EXIT WHEN cardinality(got) = 0;
        pages := pages + 1;
        events := events + cardinality(got);
        in_order := in_order AND got[1] > last;
        last := got[cardinality(got)];
    END LOOP;
    RETURN NEXT;
END $$;
SELECT * FROM read_all(300);

BEGIN;
INSERT INTO event (what) VALUES ('own');
SELECT count(*) FROM snowflake_ids.unsettled WHERE pid = pg_backend_pid();
SELECT count(*) FROM event WHERE id < sno_settled();
ROLLBACK;

-- One time for a whole statement and all partitions.
SELECT count(DISTINCT s) FROM (SELECT sno_settled() s, pg_sleep(0.001) FROM generate_series(1, 30)) x;
-- Each statement of a function has its own snapshot. So a loop reaches the last row without a COMMIT on an idle server.
CREATE FUNCTION polls_on() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    last sno := (SELECT max(id) FROM event);
BEGIN
    FOR n IN 1 .. 5000 LOOP
        IF (SELECT count(*) FROM event WHERE id = last AND id < sno_settled()) = 1 THEN RETURN true; END IF;
        PERFORM pg_sleep(0.002);
    END LOOP;
    RETURN false;
END $$;
INSERT INTO event (what) VALUES ('last');
SELECT polls_on();
CREATE TABLE parted (id mastic DEFAULT gen_mastic(), n int) PARTITION BY HASH (n);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT gen_mastic(), n FROM generate_series(1, 100) n;
SELECT mastic_timestamp(max(id)) + interval '1 ms' AS until FROM parted \gset
CALL settle(:'until');
SELECT count(*) FROM parted WHERE id < mastic_settled();

-- One table, stamped by a trigger. A statement has one answer for each table.
CREATE TABLE outbox (id bigint, body text, stamp mastic NOT NULL);
CREATE INDEX ON outbox (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE outbox ENABLE ALWAYS TRIGGER zz_stamp;
INSERT INTO outbox SELECT n, 'event ' || n FROM generate_series(1, 1000) n;
SELECT mastic_timestamp(max(stamp)) + interval '1 ms' AS until FROM outbox \gset
CALL settle(:'until');
ALTER TABLE event ADD COLUMN stamp sno, ADD COLUMN changed_too bigint;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON event FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE event ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TRIGGER stamp_too BEFORE INSERT OR UPDATE ON event FOR EACH ROW
    EXECUTE FUNCTION snowflake_stamp('twitter', 'changed_too');
ALTER TABLE event ENABLE ALWAYS TRIGGER stamp_too;
-- An open writer to `event` holds back its readers, not those of `outbox`.
BEGIN;
INSERT INTO event (what) VALUES ('open');
SELECT count(*) FROM snowflake_ids.unsettled_transactions('event') WHERE pid = pg_backend_pid();
SELECT count(*) FROM snowflake_ids.unsettled_transactions('outbox');
DO $$ BEGIN
    WHILE snowflake_ids_settled('outbox') <= (SELECT first_id_time FROM snowflake_ids.unsettled) LOOP
        PERFORM pg_sleep(0.002);
    END LOOP;
END $$;
SELECT snowflake_ids_settled('outbox') > snowflake_ids_settled() AS further,
       snowflake_ids_settled('event') = snowflake_ids_settled() AS same,
       sno_settled('event') = sno_settled() AS sno,
       snowflake_settled('twitter', 'event') = snowflake_settled('twitter') AS twitter;
SELECT count(DISTINCT (a, b)) FROM (
    SELECT mastic_settled('outbox') a, sno_settled('event') b, pg_sleep(0.001) FROM generate_series(1, 30)) x;
ROLLBACK;

-- A view depends on the table, and follows its name.
CREATE VIEW outbox_feed AS SELECT * FROM outbox WHERE stamp < (SELECT mastic_settled('outbox'));
DROP TABLE outbox;
ALTER TABLE outbox RENAME TO sent;
SELECT pg_get_viewdef('outbox_feed') ~ $$mastic_settled\('sent'::regclass\)$$ AS follows, count(*) FROM outbox_feed;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
\pset tuples_only on
\pset format unaligned
SELECT plan FROM plan($$SELECT * FROM outbox_feed WHERE stamp > 5 ORDER BY stamp LIMIT 10$$) plan;
\pset format aligned
\pset tuples_only off
RESET enable_seqscan;
RESET enable_bitmapscan;

SELECT mastic_settled(NULL) IS NULL AS null, snowflake_settled('twitter', NULL) IS NULL AS null_table,
       snowflake_settled(NULL, 'sent') IS NULL AS null_layout;
CREATE SEQUENCE numbers;
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE far_away (id mastic) SERVER nowhere;
SELECT mastic_settled('outbox_feed');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_settled('sent_gone');
SELECT sno_settled('outbox_stamp_idx');
SELECT snowflake_si_settled('numbers');
SELECT snowflake_settled('twitter', 'far_away');
SELECT mastic_settled(0);
\echo :LAST_ERROR_SQLSTATE
SELECT mastic_settled('outbox_feed') FROM generate_series(1, 2);
SELECT * FROM snowflake_ids.unsettled_transactions('outbox_feed');
DROP FOREIGN DATA WRAPPER nowhere CASCADE;
DROP SEQUENCE numbers;
DROP TABLE sent CASCADE;

-- On a quiet server the settled time stands still. has_settled() moves it, if no transaction holds it back.
DO $$ BEGIN WHILE (SELECT max(clock_lead) FROM snowflake_ids.stats) > 0 LOOP PERFORM pg_sleep(0.01); END LOOP; END $$;
SELECT gen_sno() IS NOT NULL AS generated, pg_sleep(0.1);
SELECT snowflake_ids_settled() < clock_timestamp() - interval '50 ms' AS stands_still;
SELECT clock_timestamp() AS asked \gset
SELECT snowflake_ids_has_settled(:'asked'::timestamptz - interval '20 ms') AS there,
       snowflake_ids_has_settled(clock_timestamp() + interval '1 minute') AS future,
       snowflake_ids_has_settled('-infinity') AS always, snowflake_ids_has_settled('infinity') AS never,
       snowflake_ids_has_settled(NULL) IS NULL AS null;
SELECT snowflake_ids_settled() >= :'asked'::timestamptz - interval '50 ms' AS went_on;
-- Its own transaction can hold it back too.
BEGIN;
SELECT gen_sno() IS NOT NULL AS generated, pg_sleep(0.1);
SELECT snowflake_ids_has_settled(clock_timestamp() - interval '20 ms') AS there;
COMMIT;
SELECT snowflake_ids_has_settled(clock_timestamp() - interval '20 ms') AS there;

-- Rights and volatility.
SELECT proname, provolatile, proparallel, proisstrict, has_function_privilege('public', p.oid, 'EXECUTE') AS public
FROM pg_proc p WHERE proname ~ 'settled' ORDER BY 1;
BEGIN READ ONLY;
SELECT snowflake_ids_settled() >= :'until' AS settled;
COMMIT;

DROP FUNCTION read_all, polls_on, plan;
DROP PROCEDURE settle;
DROP TABLE event, parted;
