-- Feeds: what users call, and what the function of a feed calls. What a feed consists of is in 58-feed_rules.sql.

-- ---- what the function of a feed calls. Not parallel, because workers would return rows in another order.

CREATE FUNCTION snowflake_ids.feed_begin(since text, of_table regclass, deletions regclass, again text[])
RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_begin' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.feed_begin(text, regclass, regclass, text[]) IS
    'internal: an error if a poll would miss something; true if the reader empties its copy first';

CREATE FUNCTION snowflake_ids.feed_from(since text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_from' LANGUAGE C STABLE PARALLEL UNSAFE COST 10;
COMMENT ON FUNCTION snowflake_ids.feed_from(text) IS
    'internal: stamps from here on are new to a reader with the position';

CREATE FUNCTION snowflake_ids.feed_open(since text) RETURNS bigint[]
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_open' LANGUAGE C STABLE PARALLEL UNSAFE COST 10;
COMMENT ON FUNCTION snowflake_ids.feed_open(text) IS
    'internal: these stamps are new to a reader with the position, too';

CREATE FUNCTION snowflake_ids.feed_step(stamp bigint) RETURNS integer
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_step' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.feed_step(bigint) IS
    'internal: 2, the step of a present row; an error if this server has not given the stamp';

CREATE FUNCTION snowflake_ids.feed_end(since text, of_table regclass) RETURNS text
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_end' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.feed_end(text, regclass) IS 'internal: the position after a poll';

-- ---- what readers call

CREATE FUNCTION snowflake_ids.wait_feed(of_table regclass, since text, timeout interval DEFAULT '1 second')
RETURNS text
AS 'MODULE_PATHNAME', 'snowflake_ids_wait_feed' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.wait_feed(regclass, text, interval) IS
    'returns the position for the next poll when somebody has committed rows of the table, or after the timeout';

CREATE FUNCTION snowflake_ids.feed_position(of_table regclass) RETURNS text
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_position' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.feed_position(regclass) IS
    'a position from which a reader gets later changes only, not the present rows';

CREATE FUNCTION snowflake_ids.read_until(since text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_read_until' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.read_until(text) IS
    'a reader with this position has read all rows whose stamp is below the returned one';

CREATE FUNCTION snowflake_ids.feed_position_time(since text) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_feed_position_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.feed_position_time(text) IS 'the start of the poll that returned this position';

-- ---- what the owner calls

CREATE FUNCTION snowflake_ids.note_life() RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_note_life' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.note_life() IS
    'internal: create_feed() calls it, because a standby that is polled first cannot note the life of the server';

CREATE FUNCTION snowflake_ids.forget_deleted(of_table regclass, keep interval DEFAULT '7 days') RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_forget_deleted' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.forget_deleted(regclass, interval) IS
    'removes deletions that an earlier call has seen, at least "keep" ago; readers with an older position copy the table again; returns how many';

CREATE FUNCTION snowflake_ids.note_missed(of_table regclass, reason text) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_note_missed' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.note_missed(regclass, text) IS
    'tells all readers of the feed to copy the table again, after deletions that no trigger has noted';

CREATE FUNCTION snowflake_ids.create_feed(of_table regclass, deletes boolean DEFAULT NULL, stamp name DEFAULT NULL,
    index text DEFAULT 'btree')
RETURNS TABLE (rule text, to_do text) LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
#variable_conflict use_variable
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    is_named constant boolean := stamp IS NOT NULL;
    is_owner constant boolean := p.owner = (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user);
    found record;
BEGIN
    IF of_table IS NULL OR index IS NULL THEN
        RAISE EXCEPTION 'argument must not be null' USING ERRCODE = 'null_value_not_allowed';
    ELSIF index NOT IN ('btree', 'brin') THEN
        RAISE EXCEPTION 'a feed cannot be read by an index of the method %', index
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Choose btree or brin.';
    END IF;
    IF NOT deletes AND p.deletions IS NOT NULL THEN
        RAISE NOTICE 'the feed of % keeps its deletions', of_table
            USING HINT = pg_catalog.format('To end them: SELECT snowflake_ids.drop_feed(%1$L); Then create it again.', of_table);
    END IF;
    -- A call that mends a feed adds nothing that its owner did not want. A function without deletions shows that.
    deletes := p.deletions IS NOT NULL OR coalesce(deletes, p.deletes OR p.feed IS NULL);
    stamp := coalesce(p.stamp, stamp, 'stamp');
    PERFORM snowflake_ids.check_can_have_feed(of_table, deletes, stamp, is_named);
    PERFORM snowflake_ids.note_life();
    PERFORM pg_current_xact_id();  -- the stamp of the rows that are there
    -- Triggers and casts of the owner must not run with the rights of another caller.
    FOR found IN SELECT * FROM snowflake_ids.feed_rules(of_table, deletes, stamp, index) f
        WHERE NOT f.ok AND f.quick
          AND (is_owner OR f.to_do !~ '(^|; *)(UPDATE |ALTER TABLE [^;]* TYPE )')
    LOOP
        EXECUTE found.to_do;
    END LOOP;
    RETURN QUERY SELECT pg_catalog.format('%s: %s', f.relation, f.rule), f.to_do
        FROM snowflake_ids.feed_rules(of_table, deletes, stamp, index) f WHERE NOT f.ok;
END $$;
COMMENT ON FUNCTION snowflake_ids.create_feed(regclass, boolean, name, text) IS
    'makes what a feed of the table lacks: stamps, the function TABLE_feed(), the table TABLE_deleted; returns the statements that are still to run';

CREATE FUNCTION snowflake_ids.check_can_have_feed(of_table regclass, deletes boolean, stamp name, is_named boolean)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    found record;
BEGIN
    IF NOT pg_has_role(p.owner, 'USAGE') THEN
        RAISE EXCEPTION 'must be owner of table %', of_table USING ERRCODE = 'insufficient_privilege',
            HINT = format('SET ROLE %s;', p.owner::regrole);
    ELSIF (SELECT c.relispartition FROM pg_class c WHERE c.oid = of_table) THEN
        RAISE EXCEPTION '% is a partition', of_table USING ERRCODE = 'wrong_object_type',
            HINT = format('SELECT * FROM snowflake_ids.create_feed(%L);', pg_partition_root(of_table));
    ELSIF p.key IS NULL THEN
        RAISE EXCEPTION '% has no primary key', of_table USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'A reader could not tell which row has changed.',
            HINT = format('ALTER TABLE %s ADD PRIMARY KEY (...);', of_table);
    ELSIF p.key && ARRAY['step', 'row', 'position', 'since', 'stamp', 'again']::name[] THEN
        RAISE EXCEPTION 'the primary key of % has a column with a name that its feed needs', of_table
            USING ERRCODE = 'duplicate_column', HINT = 'Rename the column.',
                  DETAIL = 'These names are step, row, position, since, stamp and again.';
    END IF;
    FOR found IN SELECT a.atttypid::regtype AS type, a.attgenerated <> '' OR a.attidentity <> '' AS generated,
            EXISTS (SELECT FROM pg_index i
                    WHERE i.indrelid = of_table AND i.indisunique AND a.attnum = ANY (i.indkey)) AS unique
        FROM pg_attribute a WHERE a.attrelid = of_table AND a.attname = stamp AND NOT a.attisdropped LOOP
        CONTINUE WHEN NOT found.generated AND NOT found.unique AND found.type = 'bigint'::regtype
            AND (is_named OR p.stamp IS NOT NULL);
        RAISE EXCEPTION 'column % of % exists already', stamp, of_table USING ERRCODE = 'duplicate_column',
            DETAIL = format('Its type is %s%s%s.%s', found.type,
                CASE WHEN found.generated THEN ', and its values are generated' END,
                CASE WHEN found.unique THEN ', and it is part of a unique index' END,
                CASE WHEN found.type = 'bigint'::regtype AND NOT found.generated AND NOT found.unique
                    THEN format(' If it is of an earlier feed, or the feed may overwrite it, write stamp => %L.', stamp) END),
            HINT = format('SELECT to_do FROM snowflake_ids.create_feed(%L, stamp => %L);', of_table, stamp || '_xid');
    END LOOP;
    -- An object of another owner may belong to this feed. A table with a link to another table belongs to the feed of
    -- that.
    FOR found IN
        SELECT p.deletions_name AS name, 'duplicate_table' AS code, c.relowner AS owner,
            format('ALTER TABLE %s', p.deletions_name) AS alter,
            CASE WHEN EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgconstrrelid <> 0) THEN ''
                ELSE format(' If it is of an earlier table: DROP TABLE %s;', p.deletions_name) END AS drop
        FROM pg_class c WHERE deletes AND p.deletions IS NULL AND c.oid = to_regclass(p.deletions_name)
        UNION ALL
        SELECT p.feed_name || '(text)', 'duplicate_function', f.proowner,
            format('ALTER FUNCTION %s(text)', p.feed_name), ''
        FROM pg_proc f WHERE p.feed IS NULL AND f.oid = to_regprocedure(p.feed_name || '(text)') LOOP
        RAISE EXCEPTION '% exists already', found.name USING ERRCODE = found.code,
            DETAIL = CASE WHEN found.owner = p.owner THEN format('It is not of the feed of %s.', of_table)
                ELSE format('It belongs to %s, and %s to %s.', found.owner::regrole, of_table, p.owner::regrole) END,
            HINT = CASE WHEN found.owner = p.owner
                THEN format('Rename it: %s RENAME TO ...;%s', found.alter, found.drop)
                ELSE format('Rename it. If it is of this feed: %s OWNER TO %s;', found.alter, p.owner::regrole) END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids.check_can_have_feed(regclass, boolean, name, boolean) IS
    'internal: an error if create_feed() cannot begin';

CREATE FUNCTION snowflake_ids.drop_feed(of_table regclass) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    old record;
BEGIN
    IF p.stamp IS NULL AND p.feed IS NULL AND p.deletions IS NULL THEN
        RAISE EXCEPTION '% has no feed', of_table USING ERRCODE = 'undefined_object',
            HINT = format('To create it: SELECT * FROM snowflake_ids.create_feed(%L);', of_table);
    END IF;
    IF p.feed IS NOT NULL THEN
        EXECUTE format('DROP FUNCTION %s', p.feed);
    END IF;
    FOR old IN SELECT t.tgname AS trigger, t.tgrelid::regclass AS of
        FROM snowflake_ids.feed_parts(of_table) m JOIN pg_trigger t ON t.tgrelid = m.part
        WHERE t.tgparentid = 0 AND t.tgfoid = ANY ('{snowflake_ids.feed_stamp,snowflake_ids.note_deleted}'::regproc[])
    LOOP
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
    'drops a feed with its deletions and stamps; after a new create_feed(), its readers copy the table again';

CREATE FUNCTION snowflake_ids.check_feed(of_table regclass)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text)
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT f.relation, f.rule, f.ok, CASE WHEN NOT f.ok THEN f.to_do END
    FROM snowflake_ids.feed_of(of_table) AS p,
         snowflake_ids.feed_rules(of_table, p.deletes, coalesce(p.stamp, 'stamp'), 'btree') AS f
$$;
COMMENT ON FUNCTION snowflake_ids.check_feed(regclass) IS
    'shows for each rule of a feed whether it is kept, or the statement to type; also on subscribers and standbys';
