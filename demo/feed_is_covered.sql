-- Shows for each rule of doc/feed.md `ok`, or what to do; sno_settled() looks only at the triggers. Run it on each server,
-- with your table, column and mark in its first line.
WITH RECURSIVE feed (parent, stamp, mark) AS (VALUES ('bulletin'::regclass, 'stamp', 'mark')),
members AS (SELECT parent AS t FROM feed UNION SELECT inhrelid FROM pg_inherits JOIN members ON inhparent = t),
relations AS (
    SELECT t::regclass AS relation, relkind, relpersistence, attnum, attnotnull, feed.*,
        EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid IN (
            SELECT t FROM members UNION SELECT pg_partition_ancestors(parent) FROM feed)) AS subscribed
    FROM feed, members JOIN pg_class ON pg_class.oid = t
    LEFT JOIN pg_attribute ON attrelid = t AND attname = (SELECT stamp FROM feed)),
triggers AS (
    SELECT tgrelid, tgname, tgenabled, tgqual IS NOT NULL OR tgattr <> '' AS conditional, tgtype & 23 = 23 AS fires,
        proname IN ('sno_stamp', 'mastic_stamp', 'snowflake_si_stamp', 'snowflake_stamp')
            AND split_part(encode(tgargs, 'escape'), '\000', tgnargs) = (SELECT stamp FROM feed) AS stamps
    FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE tgrelid IN (SELECT t FROM members) AND tgtype & 3 = 3 AND tgtype & 20 <> 0),
checks (relation, rule, kept, remedy) AS (
    SELECT relation, r.*
    FROM relations AS c LEFT JOIN triggers AS s ON tgrelid = relation AND stamps,
    LATERAL (VALUES
        ('the table has the column of the stamp', attnum IS NOT NULL, 'ALTER TABLE %s ADD COLUMN stamp sno'),
        ('it is NOT NULL', attnum IS NULL OR attnotnull, 'ALTER TABLE %s ALTER COLUMN stamp SET NOT NULL'),
        ('it is the first column of an index', attnum IS NULL OR relkind = 'f' OR EXISTS (SELECT FROM pg_index
            WHERE indrelid = relation AND indkey[0] = attnum AND indisvalid AND indpred IS NULL),
            'CREATE INDEX ON %s (stamp)'),
        ('a trigger stamps INSERT and UPDATE', coalesce(fires, false),
            'CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION sno_stamp(''stamp'')'),
        ('it has neither WHEN nor OF', conditional IS NOT TRUE, 'create the trigger of %s again without WHEN and OF'),
        ('it is the last BEFORE trigger by name', NOT EXISTS (SELECT FROM triggers AS o
            WHERE o.tgrelid = relation AND o.tgname COLLATE "C" > s.tgname AND NOT o.stamps AND o.tgenabled <> 'D'),
            'ALTER TRIGGER zz_stamp ON %s RENAME TO zzz_stamp'),
        ('it is enabled', tgenabled IN ('O', 'A') IS NOT FALSE, 'ALTER TABLE %s ENABLE TRIGGER zz_stamp'),
        ('it is ENABLE ALWAYS beside a subscription', NOT subscribed OR tgenabled = 'A' IS NOT FALSE,
            'ALTER TABLE %s ENABLE ALWAYS TRIGGER zz_stamp'),
        ('rows are in the WAL, for standbys', relpersistence = 'p', 'ALTER TABLE %s SET LOGGED'),
        ('it is no foreign table', relkind <> 'f', 'stamp the rows of %s where they are')) AS r
UNION ALL
    SELECT parent, 'no role is session_replication_role = replica', NOT EXISTS (SELECT FROM pg_db_role_setting
        WHERE 'session_replication_role=replica' = ANY (setconfig))
        OR NOT EXISTS (SELECT FROM triggers WHERE stamps AND tgenabled <> 'A'),
        'ALTER TABLE %s ENABLE ALWAYS TRIGGER zz_stamp'
    FROM feed
UNION ALL
    SELECT parent, 'standbys: a table has the mark', EXISTS (SELECT FROM pg_class
        WHERE oid = to_regclass(mark) AND relpersistence = 'p'), 'CREATE TABLE mark (settled sno NOT NULL, beat sno)'
    FROM feed)
SELECT relation, rule, CASE WHEN kept THEN 'ok' ELSE format(remedy, relation) END AS to_do FROM checks ORDER BY kept, 1, 2;

-- The mark was set in the last ten seconds.
SELECT count(*) = 1 AND coalesce(bool_and(clock_timestamp() - sno_timestamp(beat) < '10 s'), false) AS mark_is_fresh FROM mark;
