-- Drops each partition of the stamped table dispatch whose rows all readers have read. Writers wait for the lock, so no row
-- comes between the look and the drop. Call the function outside of a transaction block, in READ COMMITTED. It keeps an
-- empty partition. Leave out partitions that still get rows, such as the current month, or they are dropped when all of
-- their rows are read. The stamp cannot be the key of the partitions, because it is set after the row has found its own.
CREATE TABLE dispatch (id bigint, body int, stamp sno NOT NULL, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE INDEX ON dispatch (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON dispatch FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE dispatch ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE dispatch_reader (name text PRIMARY KEY, position sno NOT NULL DEFAULT '2222222222222222');
CREATE FUNCTION drop_read_partition(part regclass) RETURNS boolean LANGUAGE plpgsql
SET lock_timeout = '1s' AS $$
DECLARE
    look text := format('SELECT max(stamp) < (SELECT min(position) FROM dispatch_reader) FROM %s', part);
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
