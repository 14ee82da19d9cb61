-- Drops each partition of the table dispatch whose rows all readers have read. Writers wait for the lock, so no row comes
-- between the look and the drop. Call the function outside of a transaction block, in READ COMMITTED. It keeps an empty
-- partition. Leave out partitions that still get rows, such as the current month, or they are dropped when all of their
-- rows are read. Readers keep rows of a dropped partition, because the feed does not show that they have left.
CREATE TABLE dispatch (id bigint PRIMARY KEY, body int) PARTITION BY RANGE (id);
SELECT snowflake_ids.create_feed('dispatch');
CREATE TABLE dispatch_reader (name text PRIMARY KEY, position text NOT NULL DEFAULT '');
CREATE FUNCTION drop_read_partition(part regclass) RETURNS boolean LANGUAGE plpgsql
SET lock_timeout = '1s' AS $$
DECLARE
    look text := format('SELECT max(stamp) < (SELECT min(snowflake_ids.read_until(position)) FROM dispatch_reader)
        FROM %s', part);
    all_read boolean;
BEGIN
    EXECUTE look INTO all_read;
    IF all_read IS NOT TRUE THEN RETURN false; END IF;
    LOCK TABLE ONLY dispatch IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', part);
    EXECUTE look INTO all_read;
    IF all_read THEN EXECUTE format('DROP TABLE %s', part); END IF;
    RETURN all_read;
END $$;

-- Each night, in psql
SELECT format('SELECT drop_read_partition(%L)', inhrelid::regclass) FROM pg_inherits JOIN pg_class ON oid = inhrelid
WHERE inhparent = 'dispatch'::regclass AND pg_get_expr(relpartbound, oid) <> 'DEFAULT' \gexec
