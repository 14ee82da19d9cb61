-- The settled id of a table exists only if a trigger stamps each row that arrives, and the stamp stays.
CREATE TABLE news (id bigint PRIMARY KEY, body text, stamp sno, at_all bigint);
SELECT sno_settled('news');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_settled('news');
SELECT * FROM snowflake_ids.unsettled_transactions('news');
-- The hint is what to type.
ALTER TABLE news ALTER stamp SET NOT NULL;
SELECT to_do FROM snowflake_ids.create_feed('public.news', format => 'sno');
SELECT sno_settled('news') > '2222222222222222', snowflake_ids_settled('news') > '-infinity';
SELECT count(*) FROM snowflake_ids.unsettled_transactions('news');

-- Each format needs its own, and each layout.
SELECT mastic_settled('news');
SELECT snowflake_si_settled('news');
SELECT snowflake_settled('twitter', 'news');
CREATE TRIGGER stamp_mastic BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION mastic_stamp('at_all');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_mastic;
SELECT mastic_settled('news') > '0';
DROP TRIGGER stamp_mastic ON news;
CREATE TRIGGER stamp_si BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION snowflake_si_stamp('at_all');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_si;
SELECT snowflake_si_settled('news') > 0;
DROP TRIGGER stamp_si ON news;
CREATE TRIGGER stamp_twitter BEFORE INSERT OR UPDATE ON news FOR EACH ROW
    EXECUTE FUNCTION snowflake_stamp('twitter', 'at_all');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_twitter;
SELECT snowflake_settled('twitter', 'news') > 0;
SELECT snowflake_settled('instagram', 'news');
SELECT snowflake_ids_wait('news', 0) > 0;
DROP TRIGGER stamp_twitter ON news;

-- The trigger does not fire.
ALTER TABLE news DISABLE TRIGGER zz_stamp;
SELECT sno_settled('news');
ALTER TABLE news ENABLE REPLICA TRIGGER zz_stamp;
SELECT sno_settled('news');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
SELECT sno_settled('news') IS NOT NULL;
ALTER TABLE news DISABLE TRIGGER zz_stamp;
-- What pg_restore --disable-triggers leaves behind. Rows of a session with session_replication_role come past it.
ALTER TABLE news ENABLE TRIGGER zz_stamp;
SELECT sno_settled('news');
CREATE OR REPLACE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW WHEN (NEW.body <> '')
    EXECUTE FUNCTION sno_stamp('stamp');
SELECT sno_settled('news');
CREATE OR REPLACE TRIGGER zz_stamp BEFORE INSERT OR UPDATE OF body ON news FOR EACH ROW
    EXECUTE FUNCTION sno_stamp('stamp');
SELECT sno_settled('news');
CREATE OR REPLACE TRIGGER zz_stamp BEFORE INSERT ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
SELECT sno_settled('news');
CREATE OR REPLACE TRIGGER zz_stamp AFTER INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
SELECT sno_settled('news');
CREATE OR REPLACE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news EXECUTE FUNCTION sno_stamp('stamp');
SELECT sno_settled('news');
DROP TRIGGER zz_stamp ON news;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
SELECT sno_settled('news') IS NOT NULL;

-- Later triggers may change the stamp: they fire in the order of their names.
CREATE FUNCTION as_before() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER later BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION as_before();
SELECT sno_settled('news') IS NOT NULL AS earlier;
ALTER TRIGGER later ON news RENAME TO zz_touch;
SELECT sno_settled('news');
ALTER TABLE news DISABLE TRIGGER zz_touch;
SELECT sno_settled('news') IS NOT NULL AS disabled;
DROP TRIGGER zz_touch ON news;
CREATE TRIGGER zz_touch BEFORE DELETE ON news FOR EACH ROW EXECUTE FUNCTION as_before();
CREATE TRIGGER zz_touch_after AFTER INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION as_before();
SELECT sno_settled('news') IS NOT NULL AS harmless;

-- Children have triggers of their own.
CREATE TABLE local_news () INHERITS (news);
SELECT sno_settled('news');
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON local_news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE local_news ENABLE ALWAYS TRIGGER zz_stamp;
SELECT sno_settled('news') IS NOT NULL AS all, sno_settled('local_news') IS NOT NULL AS child;
-- They stamp the same column.
ALTER TABLE local_news ADD COLUMN own sno;
CREATE TRIGGER also BEFORE INSERT OR UPDATE ON local_news FOR EACH ROW EXECUTE FUNCTION sno_stamp('own');
ALTER TABLE local_news ENABLE ALWAYS TRIGGER also;
SELECT sno_settled('news');
SELECT sno_settled('local_news') IS NOT NULL AS child;
DROP TRIGGER zz_stamp ON local_news;
SELECT sno_settled('news');
SELECT snowflake_ids_settled('news');
DROP TABLE local_news;
-- A column has ids of one format, and of one layout.
CREATE TRIGGER stamp_1 BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION snowflake_stamp('twitter', 'at_all');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_1;
CREATE TRIGGER stamp_2 BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION mastic_stamp('at_all');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_2;
SELECT mastic_settled('news');
SELECT snowflake_settled('twitter', 'news');
ALTER TABLE news DISABLE TRIGGER stamp_1;
SELECT mastic_settled('news') > '0' AS one;
CREATE OR REPLACE TRIGGER stamp_2 BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION snowflake_stamp('instagram', 'at_all');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_2;
SELECT snowflake_settled('twitter', 'news');
ALTER TABLE news ENABLE ALWAYS TRIGGER stamp_1;
SELECT snowflake_settled('twitter', 'news');
DROP TRIGGER stamp_1 ON news;
SELECT snowflake_settled('instagram', 'news') > 0 AS one;
DROP TRIGGER stamp_2 ON news;
-- Partitions get those of the table, and may lose them.
CREATE TABLE log (day date, body text, stamp sno) PARTITION BY RANGE (day);
CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
SELECT sno_settled('log');
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON log FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE log ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE log_2 PARTITION OF log FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
SELECT sno_settled('log') IS NOT NULL AS all, sno_settled('log_2') IS NOT NULL AS one;
ALTER TABLE log_2 DISABLE TRIGGER zz_stamp;
SELECT sno_settled('log');
SELECT sno_settled('log_1') IS NOT NULL AS other;
ALTER TABLE log_2 ENABLE ALWAYS TRIGGER zz_stamp;
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE log_3 PARTITION OF log FOR VALUES FROM ('2026-03-01') TO ('2026-04-01') SERVER nowhere;
SELECT sno_settled('log');
DROP FOREIGN DATA WRAPPER nowhere CASCADE;
SELECT sno_settled('log') IS NOT NULL AS again;

-- A function of that name in another schema stamps nothing.
CREATE SCHEMA impostor;
CREATE FUNCTION impostor.sno_stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TABLE impostor."Own news" (stamp sno);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON impostor."Own news" FOR EACH ROW
    EXECUTE FUNCTION impostor.sno_stamp('stamp');
SELECT sno_settled('impostor."Own news"');

DROP SCHEMA impostor CASCADE;
DROP TABLE news, log CASCADE;
DROP FUNCTION as_before;
