-- A poll merges the indexes of rows and deletions: it reads no more than it returns, and sorts nothing.
SET client_min_messages = warning;
CREATE TABLE headline (id bigint PRIMARY KEY, body text);
INSERT INTO headline SELECT n, 'body' FROM generate_series(1, 20000) AS n;
SELECT to_do FROM snowflake_ids.create_feed('headline', deletes => true);
ALTER TABLE headline SET (autovacuum_enabled = off);
ALTER TABLE headline_deleted SET (autovacuum_enabled = off);
UPDATE headline SET body = 'new';
DELETE FROM headline WHERE id <= 10000;
SELECT stamp AS far FROM headline_deleted ORDER BY stamp OFFSET 9991 LIMIT 1 \gset
-- With an entry for each stamp, the estimate of the newest rows does not depend on when they were written.
ALTER TABLE headline ALTER stamp SET STATISTICS 10000;
ALTER TABLE headline_deleted ALTER stamp SET STATISTICS 10000;
-- Whoever has an older snapshot, such as an autovacuum of another table, keeps VACUUM from its work.
DO $$
BEGIN
    WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL) LOOP
        PERFORM pg_stat_clear_snapshot(), pg_sleep(0.01);
    END LOOP;
END $$;
VACUUM ANALYZE headline, headline_deleted;
-- The nodes of a plan, and the rows that each scan of `headline` or `headline_deleted` by its stamp has returned.
CREATE FUNCTION nodes(query text) RETURNS TABLE (node text, index text, rows int) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
    RETURN QUERY SELECT n ->> 'Node Type', n ->> 'Index Name', (n ->> 'Actual Rows')::numeric::int
        FROM jsonb_path_query(plan::jsonb, 'strict $.**?(@."Node Type" like_regex "Append|Sort|Seq|stamp" || @."Index Name" like_regex "stamp")') AS n;
END $$;
SELECT * FROM nodes('SELECT greatest(0, f.position), f.deleted, f.id, h.body FROM headline_feed f LEFT JOIN headline h USING (id)
    WHERE f.stamp >= 1 ORDER BY f.stamp LIMIT 10');
SELECT * FROM nodes(format('SELECT greatest(0, f.position), f.deleted, f.id, h.body FROM headline_feed f LEFT JOIN headline h USING (id)
    WHERE f.stamp >= %s ORDER BY f.stamp', :'far'));
-- A generic plan expects a third of all rows, and would hash them. LIMIT in a LATERAL subquery keeps it from that.
PREPARE poll(bigint) AS SELECT greatest($1, f.position), f.deleted, f.id, h.body FROM headline_feed f
    LEFT JOIN LATERAL (SELECT * FROM headline WHERE id = f.id LIMIT 1) h ON true WHERE f.stamp >= $1 ORDER BY f.stamp;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM nodes(format('EXECUTE poll(%s)', :'far'));
RESET plan_cache_mode;
-- Only deletions that are read are looked up.
SELECT * FROM nodes(format('SELECT count(*) FILTER (WHERE deleted) FROM headline_feed WHERE stamp >= %s', :'far'));
DROP TABLE headline, headline_deleted CASCADE;
DROP FUNCTION nodes;
