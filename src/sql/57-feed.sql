-- A feed in one call. create_feed() runs those statements of 58-feed_rules.sql that are quick, and returns the others.

CREATE FUNCTION snowflake_ids.note_deleted() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_note_deleted' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids.note_deleted() IS
    'internal: trigger that create_feed() makes: writes the key of a deleted row into the table of deletions, as the owner of the table';

CREATE FUNCTION snowflake_ids.feed_as_owner(of_table regclass, statement text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_as_owner' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.feed_as_owner(regclass, text) IS
    'internal: runs a statement as the owner of the table, whose rights the caller must have; readers of the table wait for it';

CREATE FUNCTION snowflake_ids.fail_forgotten(of_table regclass, instead_of anyelement) RETURNS anyelement
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the feed of % does not know all deletions since this position', of_table
        USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Deletions before it were forgotten, or not noted.',
              HINT = format('Empty the copy. First keep the result of SELECT snowflake_ids.feed_position(%1$L); as the position, then copy the rows of %1$s, and go on.', of_table);
END $$;
COMMENT ON FUNCTION snowflake_ids.fail_forgotten(regclass, anyelement) IS
    'internal: the feed of a table calls it for a position below deletions that were forgotten';

CREATE FUNCTION snowflake_ids.create_feed(of_table regclass, deletes boolean DEFAULT false, format text DEFAULT NULL,
    stamp name DEFAULT NULL, index text DEFAULT NULL)
RETURNS TABLE (rule text, to_do text) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
#variable_conflict use_variable
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    has_column boolean;
    before text;
    first_stamp text;
    found record;
BEGIN
    IF of_table IS NULL OR deletes IS NULL THEN
        RAISE EXCEPTION 'argument must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF NOT pg_has_role(p.owner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', of_table USING ERRCODE = 'insufficient_privilege',
            HINT = pg_catalog.format('SET ROLE %s;', p.owner::regrole);
    ELSIF (SELECT c.relispartition FROM pg_class c WHERE c.oid = of_table) THEN
        RAISE EXCEPTION '% is a partition', of_table USING ERRCODE = 'wrong_object_type',
            HINT = pg_catalog.format('SELECT * FROM snowflake_ids.create_feed(%L);', pg_partition_root(of_table));
    ELSIF p.key IS NULL THEN
        RAISE EXCEPTION '% has no primary key', of_table USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A reader could not tell which row has changed.',
            HINT = pg_catalog.format('ALTER TABLE %s ADD PRIMARY KEY (...);', of_table);
    ELSIF p.key && ARRAY['position', 'stamp', 'deleted', 'forgotten']::name[] THEN
        RAISE EXCEPTION 'the primary key of % has a column with a name that its feed needs', of_table
            USING ERRCODE = 'duplicate_column', DETAIL = 'These names are position, stamp, deleted and forgotten.',
                  HINT = 'Rename the column.';
    END IF;
    deletes := deletes OR p.deletes;
    format := coalesce(format, p.format, 'mastic');
    stamp := coalesce(stamp, p.stamp, 'stamp');
    index := coalesce(index, 'btree');
    IF format <> 'sno' AND NOT EXISTS (SELECT FROM snowflake_ids.layouts l WHERE l.name = format) THEN
        RAISE EXCEPTION 'format % does not exist', format USING ERRCODE = 'undefined_object',
            HINT = 'Choose mastic, sno, snowflake_si, or a name in snowflake_ids.layouts.';
    ELSIF index NOT IN ('btree', 'brin') THEN
        RAISE EXCEPTION 'a feed cannot be read by an index of the method %', index
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Choose btree or brin.';
    ELSIF p.stamp IS NOT NULL AND (p.stamp, p.format) <> (stamp, format) THEN
        RAISE EXCEPTION 'a trigger of % stamps already', of_table USING ERRCODE = 'duplicate_object',
            DETAIL = pg_catalog.format('It stamps column %s with ids of the format %s.', p.stamp, p.format),
            HINT = pg_catalog.format('SELECT snowflake_ids.drop_feed(%L); Then readers copy the table again.', of_table);
    END IF;
    FOR found IN SELECT a.atttypid::regtype AS type, a.attgenerated <> '' OR a.attidentity <> '' AS generated,
            EXISTS (SELECT FROM pg_index i WHERE i.indrelid = of_table AND i.indisunique AND a.attnum = ANY (i.indkey)) AS unique
        FROM pg_attribute a WHERE a.attrelid = of_table AND a.attname = stamp AND NOT a.attisdropped LOOP
        CONTINUE WHEN NOT found.generated AND NOT found.unique AND found.type = ANY (CASE format
            WHEN 'sno' THEN '{@extschema@.sno}' WHEN 'mastic' THEN '{@extschema@.mastic,bigint}'
            ELSE '{bigint}' END::regtype[]);
        RAISE EXCEPTION 'column % of % exists already', stamp, of_table USING ERRCODE = 'duplicate_column',
            DETAIL = pg_catalog.format('Its type is %s%s%s.', found.type,
                CASE WHEN found.generated THEN ', and its values are generated' END,
                CASE WHEN found.unique THEN ', and it is part of a unique index' END),
            HINT = pg_catalog.format('SELECT * FROM snowflake_ids.create_feed(%L, stamp => %L);', of_table,
                stamp || '_id');
    END LOOP;
    FOR found IN SELECT n.name, t.*
        FROM (VALUES (p.feed, p.feed_name, true), (p.deletions, p.deletions_name, deletes)) AS n (oid, name, wanted),
            snowflake_ids.feed_taken(of_table, n.oid, n.name) AS t
        WHERE n.wanted AND t.to_do IS NOT NULL LOOP
        RAISE EXCEPTION '% exists already', found.name USING ERRCODE = 'duplicate_table', DETAIL = found.detail,
            HINT = found.hint;
    END LOOP;
    has_column := EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = of_table AND a.attname = stamp AND NOT a.attisdropped);
    IF NOT has_column THEN
        EXECUTE pg_catalog.format('SELECT %1$s, %1$s', snowflake_ids.feed_call(format, 'gen_%s')) INTO before, first_stamp;
    END IF;
    FOR found IN SELECT * FROM snowflake_ids.feed_rules(of_table, deletes, format, stamp, index, first_stamp) f
        WHERE NOT f.ok AND f.quick LOOP
        EXECUTE found.to_do;
    END LOOP;
    -- Readers do not know the deletions until now. If all rows are new to them, a TRUNCATE before the rows says so.
    IF deletes AND p.deletions IS NULL THEN
        PERFORM snowflake_ids.feed_as_owner(of_table, CASE WHEN has_column
            THEN pg_catalog.format('INSERT INTO %s (forgotten) VALUES (true)', p.deletions_name)
            ELSE pg_catalog.format('INSERT INTO %s (stamp) VALUES (%L)', p.deletions_name, before) END);
    END IF;
    RETURN QUERY SELECT pg_catalog.format('%s: %s', f.relation, f.rule), f.to_do
        FROM snowflake_ids.feed_rules(of_table, deletes, format, stamp, index) f WHERE NOT f.ok;
END $$;
COMMENT ON FUNCTION snowflake_ids.create_feed(regclass, boolean, text, name, text) IS
    'makes what a feed of the table lacks: stamps, the view TABLE_feed, and with deletes TABLE_deleted; returns the statements that are still to run, for \gexec';

CREATE FUNCTION snowflake_ids.drop_feed(of_table regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    old record;
BEGIN
    IF p.stamp IS NULL AND p.feed IS NULL THEN
        RAISE EXCEPTION '% has no feed', of_table USING ERRCODE = 'undefined_object',
            HINT = format('To create it: SELECT * FROM snowflake_ids.create_feed(%L);', of_table);
    END IF;
    IF p.feed IS NOT NULL THEN
        EXECUTE format('DROP VIEW %s', p.feed);
    END IF;
    FOR old IN
        WITH RECURSIVE member (oid) AS (
            SELECT of_table::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN member m ON i.inhparent = m.oid)
        SELECT t.tgname AS trigger, t.tgrelid::regclass AS of FROM member m JOIN pg_trigger t ON t.tgrelid = m.oid
        WHERE t.tgparentid = 0 AND t.tgfoid = ANY ('{snowflake_ids.note_deleted,@extschema@.mastic_stamp,
            @extschema@.sno_stamp,@extschema@.snowflake_si_stamp,@extschema@.snowflake_stamp}'::regproc[]) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', old.trigger, old.of);
    END LOOP;
    IF p.deletions IS NOT NULL THEN
        EXECUTE format('DROP TABLE %s', p.deletions);
    END IF;
    IF p.stamp IS NOT NULL THEN
        EXECUTE format('ALTER TABLE %s DROP COLUMN %I', of_table, p.stamp);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids.drop_feed(regclass) IS
    'drops the view, the triggers, the table of deletions and the column of stamps of a feed; after a new create_feed(), its readers get all rows again';

CREATE FUNCTION snowflake_ids.feed_position(of_table regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    settled text;
BEGIN
    IF p.stamp IS NULL THEN
        RAISE EXCEPTION '% has no feed', of_table USING ERRCODE = 'undefined_object',
            HINT = format('SELECT * FROM snowflake_ids.create_feed(%L);', of_table);
    END IF;
    EXECUTE format('SELECT (%s)::%s::text', snowflake_ids.feed_settled(of_table, p.format), p.type) INTO settled;
    RETURN settled;
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_position(regclass) IS
    'the position with which to begin after a copy of the table: ask for it before the copy, or in the same statement';

CREATE FUNCTION snowflake_ids.feed_position(of_table regclass, since text) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    is_above boolean := false;
BEGIN
    IF of_table IS NULL THEN
        RETURN NULL;
    ELSIF since IS NULL THEN
        RAISE EXCEPTION 'position must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = format('Without a position, empty the copy. First keep the result of SELECT snowflake_ids.feed_position(%1$L); as the position, then copy the rows of %1$s, and go on.', of_table);
    ELSIF p.stamp IS NULL THEN
        RETURN snowflake_ids.feed_position(of_table);
    ELSIF NOT pg_is_in_recovery() THEN
        -- An error if the triggers are not sound. A new id is above all positions of this server; a standby has none.
        PERFORM snowflake_ids.feed_position(of_table);
        EXECUTE format('SELECT $1::%1$s > %2$s::%1$s', p.type, snowflake_ids.feed_call(p.format, 'gen_%s')) INTO is_above
            USING since;
    END IF;
    IF is_above THEN
        RAISE EXCEPTION 'position % is above all ids of this server', since
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'It is of another server, or this one has lost WAL and its clock was behind.',
                  HINT = format('Empty the copy. First keep the result of SELECT snowflake_ids.feed_position(%1$L); as the position, then copy the rows of %1$s, and go on.', of_table);
    END IF;
    IF p.deletions IS NOT NULL THEN
        EXECUTE format('SELECT snowflake_ids.fail_forgotten($1, d.stamp) FROM %s d WHERE d.forgotten AND d.stamp >= %L',
            p.deletions, since) USING of_table;
    END IF;
    RETURN since;
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_position(regclass, text) IS
    'the same position, or an error if a reader with it must copy the table again: ask after each connect';

-- In UTC each day has 24 hours, as in the difference of two times.
CREATE FUNCTION snowflake_ids.forget_deleted(of_table regclass, keep interval DEFAULT '7 days') RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    last text;
BEGIN
    IF p.deletions IS NULL THEN
        RAISE EXCEPTION 'the feed of % has no deletions', of_table USING ERRCODE = 'object_not_in_prerequisite_state',
            HINT = format('SELECT * FROM snowflake_ids.create_feed(%L, deletes => true);', of_table);
    END IF;
    EXECUTE format('SELECT d.stamp::text FROM %s d WHERE d.stamp < (%s)::%s AND d.stamp < %s ORDER BY d.stamp DESC LIMIT 1', p.deletions, snowflake_ids.feed_settled(of_table, p.format), p.type,
        snowflake_ids.feed_call(p.format, '%s_lower_bound', 'now() - $1')) INTO last USING keep;
    -- The last one that is forgotten stays, and is an error for who reads it.
    PERFORM snowflake_ids.feed_as_owner(of_table,
        format('UPDATE %s SET forgotten = true WHERE stamp = %L AND NOT forgotten', p.deletions, last));
    RETURN snowflake_ids.feed_as_owner(of_table, format('DELETE FROM %s WHERE stamp < %L', p.deletions, last));
END $$;
COMMENT ON FUNCTION snowflake_ids.forget_deleted(regclass, interval) IS
    'removes older deletions; a reader with a position before the last of them gets an error that says how to copy the table again; returns how many';
