-- The feed of snowflake_ids in plain SQL, for hosts that load no C code (PostgreSQL 15 and later). Readers that were
-- written for the extension work with it. As the owner of a table with a primary key, run this file and then
-- SELECT snowflake_ids.create_feed('outbox'). A stamp is the id of the transaction that wrote the row. A position is a
-- snapshot. Each start of the server is a life, because a crash can give out the ids of transactions again. Each
-- transaction that stamps sees a note of the present life or writes one, so no row becomes visible without a note.
-- Limits that the extension does not have: It reads on the primary only. It does not wake readers. It needs a new copy
-- after pg_upgrade. It is silent about a failover that lost WAL, triggers that are off, row security, and partitions
-- attached, detached or truncated alone. Do not rename the tables. Delete from outbox_deleted what all have read.
CREATE SCHEMA snowflake_ids;
CREATE TABLE snowflake_ids.life (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, first_xid bigint);
GRANT USAGE ON SCHEMA snowflake_ids TO PUBLIC; GRANT SELECT ON snowflake_ids.life TO PUBLIC;
-- A crash of one session keeps the start time of the server, but any crash resets the statistics.
CREATE FUNCTION snowflake_ids.life_name() RETURNS text LANGUAGE sql STABLE RETURN concat_ws('-',
    extract(epoch FROM pg_postmaster_start_time()), extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()));
CREATE FUNCTION snowflake_ids.note_life() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS
$$BEGIN
    INSERT INTO snowflake_ids.life (name, first_xid)
    SELECT snowflake_ids.life_name(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    WHERE NOT EXISTS (SELECT FROM snowflake_ids.life WHERE name = snowflake_ids.life_name()); END$$;
CREATE FUNCTION snowflake_ids.stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS
$$BEGIN
    PERFORM snowflake_ids.note_life();
    IF TG_WHEN = 'BEFORE' THEN NEW.stamp := pg_current_xact_id()::text; RETURN NEW; END IF;
    EXECUTE format('INSERT INTO %1$s SELECT (jsonb_populate_record(NULL::%1$s, $1)).*', TG_ARGV[0])
    USING coalesce(to_jsonb(OLD), '{}') || jsonb_build_object('stamp', pg_current_xact_id());
    RETURN NULL; END$$;
-- A position: the server, database, table and column, the life, xmax, and the transactions in progress.
CREATE FUNCTION snowflake_ids.feed_position(of_table regclass) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN
    IF current_setting('transaction_read_only') = 'off' THEN PERFORM snowflake_ids.note_life(); END IF;
    RETURN (SELECT concat_ws(':', 'sql', system_identifier, d.oid, attrelid, attnum, snowflake_ids.life_name(),
        pg_snapshot_xmax(s), array_to_string(pg_current_xact_id_if_assigned() || ARRAY(SELECT pg_snapshot_xip(s)), ','))
        FROM pg_control_system(), pg_database AS d, pg_attribute, pg_current_snapshot() AS s
        WHERE datname = current_database() AND attrelid = of_table AND attname = 'stamp'); END$$;
-- New since a position are the stamps from feed_from() on, and those of its list. An unknown position begins at 0.
CREATE FUNCTION snowflake_ids.feed_from(since text) RETURNS bigint LANGUAGE sql STABLE RETURN coalesce((
    SELECT CASE WHEN p[1] = snowflake_ids.life_name() THEN p[2]::bigint
        WHEN last > 0 THEN least(p[2]::bigint, pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
            (SELECT min(first_xid) FROM snowflake_ids.life WHERE n > last)) END
    FROM regexp_match(since, '^sql:.*:([\d.-]+):(\d+):[\d,]*$') AS p,
        LATERAL (SELECT max(n) FROM snowflake_ids.life WHERE name = p[1]) AS _ (last)), 0);
CREATE FUNCTION snowflake_ids.is_new(stamp bigint, since text) RETURNS boolean LANGUAGE sql STABLE RETURN
    stamp >= snowflake_ids.feed_from(since) AND stamp < 1::bigint << 62
    OR stamp = ANY (coalesce(string_to_array(substring(since, '^sql:.*:([\d,]+)$'), ',')::bigint[], '{}'));
CREATE FUNCTION snowflake_ids.read_until(since text) RETURNS bigint LANGUAGE sql STABLE RETURN least((SELECT
    min(x::bigint) FROM string_to_table(substring(since, '^sql:.*:([\d,]+)$'), ',') AS x), snowflake_ids.feed_from(since));
CREATE FUNCTION snowflake_ids.feed_begin(since text, of_table regclass, deleted regclass, newest bigint, empty boolean)
RETURNS boolean LANGUAGE plpgsql STABLE AS $$DECLARE xmax bigint := pg_snapshot_xmax(pg_current_snapshot());
BEGIN
    IF pg_is_in_recovery() THEN RAISE 'this feed is read on the primary only';
    ELSIF newest >= xmax AND newest IS DISTINCT FROM pg_current_xact_id_if_assigned()::text::bigint THEN
        RAISE 'stamps of % are of another server', of_table USING ERRCODE = 'SF002', HINT = format(
            'UPDATE %s SET stamp = 0 WHERE stamp >= %s; DELETE FROM %s WHERE stamp >= %2$s', of_table, xmax, deleted);
    ELSIF since <> '' AND (snowflake_ids.feed_from(since) = 0 OR (string_to_array(since, ':'))[1:5] <>
            (string_to_array(snowflake_ids.feed_position(of_table), ':'))[1:5]) THEN
        RAISE 'the position is of another feed or server' USING ERRCODE = 'SF001', HINT = 'Copy again.';
    ELSIF snowflake_ids.feed_from(since) > xmax OR EXISTS (SELECT FROM pg_snapshot_xip(pg_current_snapshot()) AS x
            WHERE NOT snowflake_ids.is_new(x::text::bigint, since)) -- older than the position, or than a rewrite
        OR EXISTS (SELECT FROM pg_class WHERE pg_relation_filenode(oid) <> relfilenode
            AND (oid IN (of_table, deleted) OR oid IN (SELECT relid FROM pg_partition_tree(of_table)))) THEN
        RAISE 'the snapshot is too old' USING ERRCODE = '40001', HINT = 'Poll again in a new transaction.';
    END IF;
    RETURN coalesce(since, '') = '' OR empty; END$$;
CREATE FUNCTION snowflake_ids.wait_feed(of_table regclass, since text, timeout interval) RETURNS text LANGUAGE plpgsql
AS 'BEGIN PERFORM pg_sleep(least(0.05, extract(epoch FROM timeout))); RETURN since; END';
CREATE FUNCTION snowflake_ids.create_feed(of_table regclass) RETURNS void LANGUAGE plpgsql AS $body$BEGIN
    PERFORM snowflake_ids.note_life();
    EXECUTE (SELECT format($$ALTER TABLE %1$s ADD stamp bigint NOT NULL DEFAULT %2$s;
        ALTER TABLE %1$s ALTER stamp DROP DEFAULT; CREATE INDEX ON %1$s (stamp);
        CREATE TABLE %4$s AS SELECT %5$s, stamp FROM %1$s WITH NO DATA; CREATE INDEX ON %4$s (stamp);
        CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION snowflake_ids.stamp();
        CREATE TRIGGER zz_deleted AFTER DELETE ON %1$s FOR EACH ROW EXECUTE FUNCTION snowflake_ids.stamp(%4$L);
        CREATE TRIGGER zz_key AFTER UPDATE ON %1$s FOR EACH ROW WHEN (%7$s) EXECUTE FUNCTION snowflake_ids.stamp(%4$L);
        CREATE TRIGGER zz_truncated AFTER TRUNCATE ON %1$s EXECUTE FUNCTION snowflake_ids.stamp(%4$L);
        ALTER TABLE %1$s ENABLE ALWAYS TRIGGER zz_stamp, ENABLE ALWAYS TRIGGER zz_deleted,
            ENABLE ALWAYS TRIGGER zz_key, ENABLE ALWAYS TRIGGER zz_truncated;
        CREATE FUNCTION %3$s(since text) RETURNS TABLE (step int, %8$s, "row" %1$s, "position" text) LANGUAGE sql STABLE
        BEGIN ATOMIC SELECT f.* FROM (SELECT 0, %9$s, NULL::%1$s, NULL WHERE snowflake_ids.feed_begin($1, %1$L, %4$L,
                greatest((SELECT max(stamp) FROM %1$s), (SELECT max(stamp) FROM %4$s)),
                EXISTS (SELECT FROM %4$s WHERE (%5$s) IS NULL AND snowflake_ids.is_new(stamp, $1)))
            UNION ALL SELECT 1, %5$s, NULL, NULL FROM %4$s AS d WHERE $1 <> '' AND snowflake_ids.is_new(stamp, $1)
                AND (%5$s) IS NOT NULL AND (SELECT true FROM %1$s AS h WHERE (%5$s) = (%6$s) LIMIT 1) IS NULL
            UNION ALL SELECT 2, %5$s, whole_row, NULL FROM %1$s AS whole_row WHERE snowflake_ids.is_new(stamp, $1)
            UNION ALL SELECT 3, %9$s, NULL, snowflake_ids.feed_position(%1$L)) AS f OFFSET 0; END$$,
        of_table, pg_current_xact_id(), format('%I.%I', nspname, relname || '_feed'),
        format('%I.%I', nspname, relname || '_deleted'), string_agg(k, ', '), string_agg('d.' || k, ', '),
        string_agg(format('OLD.%1$s IS DISTINCT FROM NEW.%1$s', k), ' OR '),
        string_agg(k || ' ' || format_type(atttypid, atttypmod), ', '), string_agg('NULL', ', '))
    FROM pg_class c JOIN pg_namespace s ON s.oid = relnamespace JOIN pg_index ON indrelid = c.oid AND indisprimary
        JOIN pg_attribute ON attrelid = c.oid AND attnum = ANY (indkey[:indnkeyatts - 1]), quote_ident(attname) AS k
    WHERE c.oid = of_table GROUP BY nspname, relname); END$body$;
