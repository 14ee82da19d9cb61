-- What a feed consists of: rules, and for each the statement that mends it. The parts of a feed are found in the
-- catalogs, so it survives renames and dumps.
--
-- A rule is a row: of which relation, what must be true, whether it is, what to type, and whether create_feed() types
-- it itself, because it takes no time and no decision.

CREATE FUNCTION snowflake_ids.feed_of(of_table regclass, OUT name name, OUT owner oid, OUT key name[], OUT stamp name,
    OUT feed regprocedure, OUT feed_name text, OUT deletes boolean, OUT deletions regclass, OUT deletions_name text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema name;
    kind "char";
BEGIN
    SELECT c.relname, n.nspname, c.relowner, c.relkind INTO name, schema, owner, kind
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = of_table;
    IF kind IS NULL AND of_table IS NOT NULL THEN
        RAISE EXCEPTION 'relation with OID % does not exist', of_table::oid USING ERRCODE = 'undefined_table',
            HINT = 'Name the table into which rows are inserted.';
    ELSIF kind NOT IN ('r', 'p') OR schema IN ('pg_catalog', 'information_schema', 'snowflake_ids') OR schema ~ '^pg_t'
    THEN
        RAISE EXCEPTION '% cannot have a feed', of_table USING ERRCODE = 'wrong_object_type',
            DETAIL = 'It is not a permanent table of an application.',
            HINT = CASE kind WHEN 'f' THEN 'Create the feed on the server that has the rows.'
                ELSE 'Name the table into which rows are inserted.' END;
    END IF;
    SELECT array_agg(k.name ORDER BY k.n) INTO key FROM snowflake_ids.feed_key(of_table) k;
    -- The argument of the trigger ends with a zero byte.
    SELECT a.attname INTO stamp
    FROM pg_trigger t JOIN pg_attribute a ON a.attrelid = of_table AND a.atttypid = 'bigint'::regtype
        AND NOT a.attisdropped AND t.tgargs = convert_to(a.attname, getdatabaseencoding()) || '\x00'
    WHERE t.tgrelid = of_table AND t.tgfoid = 'snowflake_ids.feed_stamp'::regproc ORDER BY t.tgname DESC LIMIT 1;
    -- Only the owner can have made the table of deletions and the function. A trigger of the table of deletions refers
    -- to the table, so that both can be renamed. The function depends on both tables, but returns rows of one.
    SELECT c.oid INTO deletions
    FROM pg_depend d JOIN pg_trigger t ON t.oid = d.objid AND t.tgconstrrelid = of_table
        AND t.tgfoid = 'snowflake_ids.note_lost'::regproc
    JOIN pg_class c ON c.oid = t.tgrelid AND c.relowner = feed_of.owner AND c.relkind = 'r'
    WHERE d.classid = 'pg_trigger'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = of_table
    ORDER BY 1 LIMIT 1;
    SELECT f.oid INTO feed
    FROM pg_depend d JOIN pg_proc f ON f.oid = d.objid AND f.proowner = feed_of.owner AND f.pronargs = 1
        AND f.proargnames @> ARRAY['since', 'step', 'row', 'position']
        AND (SELECT c.reltype FROM pg_class c WHERE c.oid = of_table) = ANY (f.proallargtypes)
    WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = of_table
    ORDER BY 1 LIMIT 1;
    IF stamp IS NULL THEN  -- renamed, or its trigger is gone: the function knows it by its number
        SELECT a.attname INTO stamp
        FROM pg_depend d JOIN pg_attribute a ON a.attrelid = of_table AND a.attnum = d.refobjsubid
            AND a.atttypid = 'bigint'::regtype AND a.attname <> ALL (key)
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = feed
          AND d.refclassid = 'pg_class'::regclass AND d.refobjid = of_table ORDER BY a.attnum LIMIT 1;
    END IF;
    deletes := deletions IS NOT NULL OR EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = of_table AND t.tgfoid = 'snowflake_ids.note_deleted'::regproc);
    -- A name has at most 63 bytes.
    feed_name := coalesce((SELECT format('%I.%I', n.nspname, f.proname) FROM pg_proc f
            JOIN pg_namespace n ON n.oid = f.pronamespace WHERE f.oid = feed),
        snowflake_ids.feed_part_name(schema, name, '_feed'));
    deletions_name := coalesce((SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = deletions),
        snowflake_ids.feed_part_name(schema, name, '_deleted'));
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_of(regclass) IS 'internal: what is there of the feed of a table';

CREATE FUNCTION snowflake_ids.feed_part_name(schema name, name name, suffix text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%I.%I', schema, left(name, n) || suffix) FROM generate_series(63, 1, -1) AS n
    WHERE octet_length(left(name, n) || suffix) <= 63 LIMIT 1
$$;
COMMENT ON FUNCTION snowflake_ids.feed_part_name(name, name, text) IS
    'internal: a name with a suffix, cut to the length of a name';

-- In the order of the primary key. A domain is its base type, because its checks may change. `same` compares the column
-- of a row `h` with that of a deletion `d`, by the operator = of the index, because a comparison of whole rows would
-- not restore from a dump.
CREATE FUNCTION snowflake_ids.feed_key(of_table regclass)
RETURNS TABLE (n bigint, number smallint, name name, type text, collated text, is_domain boolean, operator text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT x.n, a.attnum, a.attname, b.type, ' COLLATE ' || nullif(a.attcollation, t.typcollation)::regcollation,
        t.typtype = 'd', format('OPERATOR(%I.%s)', s.nspname, o.oprname)
    FROM pg_index i, unnest(i.indkey::int2[], i.indclass::oid[]) WITH ORDINALITY AS x (attnum, class, n)
    JOIN pg_attribute a ON a.attnum = x.attnum JOIN pg_type t ON t.oid = a.atttypid
    JOIN pg_opclass c ON c.oid = x.class JOIN pg_amop m ON m.amopfamily = c.opcfamily
        AND m.amoplefttype = c.opcintype AND m.amoprighttype = c.opcintype AND m.amopstrategy = 3
    JOIN pg_operator o ON o.oid = m.amopopr JOIN pg_namespace s ON s.oid = o.oprnamespace,
    LATERAL (WITH RECURSIVE base (oid, mod, depth) AS (
        SELECT a.atttypid, a.atttypmod, 0
        UNION ALL
        SELECT t.typbasetype, t.typtypmod, depth + 1 FROM base JOIN pg_type t ON t.oid = base.oid AND t.typtype = 'd')
        SELECT format_type(base.oid, base.mod) FROM base ORDER BY depth DESC LIMIT 1) AS b (type)
    WHERE i.indrelid = of_table AND i.indisprimary AND a.attrelid = of_table
    ORDER BY x.n
$$;
COMMENT ON FUNCTION snowflake_ids.feed_key(regclass) IS 'internal: the columns of the primary key';

-- `own`: it does not have the row triggers of its parent. `big`: an UPDATE of all rows or an index takes long.
CREATE FUNCTION snowflake_ids.feed_parts(of_table regclass)
RETURNS TABLE (part regclass, depth integer, kind "char", own boolean, big boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE member (oid, depth) AS (
        SELECT of_table::oid, 0
        UNION
        SELECT i.inhrelid, m.depth + 1 FROM pg_inherits i JOIN member m ON i.inhparent = m.oid)
    SELECT c.oid::regclass, min(m.depth), c.relkind, c.oid = of_table OR NOT c.relispartition,
        c.relkind = 'r' AND pg_table_size(c.oid) > 8388608
    FROM member m JOIN pg_class c ON c.oid = m.oid GROUP BY c.oid
$$;
COMMENT ON FUNCTION snowflake_ids.feed_parts(regclass) IS
    'internal: the table, its partitions and its children';

-- PostgreSQL gives the name of a trigger to those of its partitions, too.
CREATE FUNCTION snowflake_ids.feed_trigger_name(of_table regclass, wanted text) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT name FROM generate_series(1, 100) AS n, concat(wanted, '_' || nullif(n, 1)) AS name
    WHERE NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_trigger t ON t.tgrelid IN (i.inhrelid, i.inhparent, of_table)
                      WHERE of_table IN (i.inhrelid, i.inhparent) AND t.tgname = name)
      AND NOT EXISTS (SELECT FROM pg_partition_tree(of_table) m JOIN pg_trigger t ON t.tgrelid = m.relid
                      WHERE t.tgname = name)
      AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = of_table AND t.tgname = name)
    ORDER BY n LIMIT 1
$$;
COMMENT ON FUNCTION snowflake_ids.feed_trigger_name(regclass, text) IS
    'internal: a name that no trigger of the table and its parts has';

CREATE FUNCTION snowflake_ids.feed_rules(of_table regclass, deletes boolean, stamp name, index text)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT * FROM snowflake_ids.feed_table_rules(of_table, stamp);
    RETURN QUERY SELECT * FROM snowflake_ids.feed_stamp_rules(of_table, deletes, stamp);
    RETURN QUERY SELECT * FROM snowflake_ids.feed_row_rules(of_table, stamp);
    RETURN QUERY SELECT * FROM snowflake_ids.feed_index_rules(of_table, stamp, index);
    IF deletes AND (SELECT key IS NOT NULL FROM snowflake_ids.feed_of(of_table)) THEN
        RETURN QUERY SELECT * FROM snowflake_ids.feed_deletions_rules(of_table);
        RETURN QUERY SELECT * FROM snowflake_ids.feed_note_rules(of_table);
    END IF;
    RETURN QUERY SELECT * FROM snowflake_ids.feed_function_rules(of_table, deletes, stamp);
    RETURN QUERY SELECT * FROM snowflake_ids.feed_grant_rules(of_table);
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_rules(regclass, boolean, name, text) IS
    'internal: the rules of a feed, and the statement that mends each';

-- All rows get the id of the present transaction. A constant needs no rewrite. There is no DEFAULT later, so rows that
-- come past the trigger fail.
CREATE FUNCTION snowflake_ids.feed_table_rules(of_table regclass, stamp name)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT of_table, 'the table has a primary key', p.key IS NOT NULL,
        format('ALTER TABLE %s ADD PRIMARY KEY (...);', of_table), false
    FROM snowflake_ids.feed_of(of_table) AS p
    UNION ALL
    SELECT of_table, format('the table has the column %I', stamp), EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = of_table AND a.attname = stamp AND NOT a.attisdropped),
        CASE WHEN pg_current_xact_id_if_assigned() IS NULL
            THEN format('SELECT to_do FROM snowflake_ids.create_feed(%L);', of_table)
            ELSE format('ALTER TABLE %1$s ADD COLUMN %2$I bigint NOT NULL DEFAULT %3$s; '
                'ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT;',
                of_table, stamp, pg_current_xact_id_if_assigned()) END, true
$$;
COMMENT ON FUNCTION snowflake_ids.feed_table_rules(regclass, name) IS 'internal: rules of the table itself';

-- Rows may have been written, and keys changed, while the trigger was off. `late` mends that: if the feed has
-- deletions, its readers copy the table again; otherwise all rows are stamped again.
CREATE FUNCTION snowflake_ids.feed_stamp_rules(of_table regclass, deletes boolean, stamp name)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH before AS (
        SELECT m.part, t.tgname, t.tgenabled, t.tgfoid = 'snowflake_ids.feed_stamp'::regproc AS stamps,
            t.tgtype & 23 = 23 AND t.tgattr = '' AND t.tgqual IS NULL
                AND t.tgargs = convert_to(stamp, getdatabaseencoding()) || '\x00' AS whole,
            -- If the column was renamed, the trigger fails, so it has let no row pass.
            t.tgtype & 23 = 23 AND t.tgattr = '' AND t.tgqual IS NULL AND t.tgenabled = 'A' AND NOT EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = m.part AND NOT a.attisdropped
                    AND t.tgargs = convert_to(a.attname, getdatabaseencoding()) || '\x00') AS fails
        FROM snowflake_ids.feed_parts(of_table) m JOIN pg_trigger t ON t.tgrelid = m.part AND t.tgtype & 3 = 3
            AND t.tgtype & 20 <> 0),
    stamping AS (
        SELECT DISTINCT ON (m.part) m.*, b.tgname, b.tgenabled, b.whole, b.fails, quote_ident(b.tgname) AS trigger,
            CASE WHEN m.own THEN m.part ELSE of_table END AS of,
            bool_or(m.big) OVER () AS any_big, a.attnum IS NULL AS is_new,
            CASE WHEN p.deletions IS NULL
                THEN format(' UPDATE %s%s SET %I = %3$I;', CASE WHEN m.kind <> 'p' THEN 'ONLY ' END, m.part, stamp)
                ELSE format(' SELECT snowflake_ids.note_missed(%L, ''The trigger was off that stamps rows.'');',
                    of_table) END AS late,
            p.deletions IS NOT NULL AS is_quick
        FROM (SELECT deletions FROM snowflake_ids.feed_of(of_table)) AS p, snowflake_ids.feed_parts(of_table) m
        LEFT JOIN before b ON b.part = m.part AND b.stamps
        LEFT JOIN pg_attribute a ON a.attrelid = m.part AND a.attname = stamp AND NOT a.attisdropped
        WHERE m.kind <> 'f' ORDER BY m.part, b.whole DESC, b.tgname DESC),
    rules (place, depth, part, rule, ok, to_do, quick) AS (
        SELECT 1, depth, part, 'a trigger stamps each INSERT and UPDATE', coalesce(whole, false),
            coalesce('DROP TRIGGER ' || trigger || ' ON ' || of || '; ', '')
                || format('CREATE TRIGGER %1$s BEFORE INSERT OR UPDATE ON %2$s FOR EACH ROW '
                    'EXECUTE FUNCTION snowflake_ids.feed_stamp(%3$L); ALTER TABLE %2$s ENABLE ALWAYS TRIGGER %1$s;',
                    snowflake_ids.feed_trigger_name(of, 'zz_stamp'), of, stamp)
                || CASE WHEN is_new OR fails THEN '' ELSE late END,
            is_new OR fails OR is_quick OR NOT any_big
        FROM stamping WHERE own  -- the others have that of the table
        UNION ALL
        SELECT 2, depth, part, 'it is enabled ALWAYS', coalesce(tgenabled = 'A', true),
            format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %s;', part, trigger) || late, is_quick OR NOT any_big
        FROM stamping
        UNION ALL
        SELECT 3, min(depth), of, 'it fires last', max(later.tgname) IS NULL,
            format('ALTER TRIGGER %s ON %s RENAME TO %s;', trigger, of,
                CASE WHEN max(later.tgname) < 'zz_stamp' THEN 'zz_stamp'
                    ELSE quote_ident(max(later.tgname) || '_stamp') END)
                || max(late) FILTER (WHERE part = of),
            is_quick OR NOT any_big
        FROM stamping s LEFT JOIN LATERAL (
            SELECT b.tgname FROM before b
            WHERE b.part = s.part AND b.tgname > s.tgname AND NOT b.stamps AND b.tgenabled <> 'D'
            ORDER BY 1 DESC LIMIT 1) AS later ON true GROUP BY of, trigger, is_quick, any_big)
    SELECT r.part, r.rule, r.ok, r.to_do, r.quick FROM rules r ORDER BY r.place, r.depth, r.part
$$;
COMMENT ON FUNCTION snowflake_ids.feed_stamp_rules(regclass, boolean, name) IS
    'internal: rules of the triggers that stamp rows';

-- Rows that were restored from another cluster have stamps of that cluster, and would come with each poll.
CREATE FUNCTION snowflake_ids.feed_row_rules(of_table regclass, stamp name)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    f record;
BEGIN
    RETURN QUERY
    SELECT m.part, format('%I is NOT NULL', stamp), coalesce(a.attnotnull, a.attnum IS NULL),
        format('UPDATE ONLY %1$s SET %2$I = %2$I WHERE %2$I IS NULL; '
            'ALTER TABLE %1$s ALTER COLUMN %2$I SET NOT NULL;', m.part, stamp), false
    FROM snowflake_ids.feed_parts(of_table) m
    LEFT JOIN pg_attribute a ON a.attrelid = m.part AND a.attname = stamp AND NOT a.attisdropped
    ORDER BY m.depth, m.part;
    -- Checked only with a btree index, because it would take long otherwise, and polls check it too. Only for the
    -- owner, because planning the query can call functions of the owner.
    FOR f IN SELECT a.attrelid::regclass AS t, a.attname AS stamp
        FROM pg_attribute a JOIN pg_index i ON i.indrelid = a.attrelid AND i.indkey[0] = a.attnum AND i.indpred IS NULL
        JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
        WHERE (a.attrelid, a.attname) IN ((of_table, p.stamp), (p.deletions, 'stamp'))
          AND p.owner = (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user) ORDER BY a.attrelid LOOP
        relation := f.t; rule := 'this server has given its stamps'; quick := false;
        EXECUTE format('SELECT coalesce(max(t.%1$I) < n.next, true), '
            'format(''UPDATE %%s SET %%2$I = %%2$I WHERE %%2$I >= %%s;'', %2$L, %1$L, n.next) '
            'FROM (SELECT greatest(pg_snapshot_xmax(pg_current_snapshot())::text::bigint, '
            'pg_current_xact_id_if_assigned()::text::bigint + 1)) AS n (next) LEFT JOIN %2$s t ON true '
            'GROUP BY n.next', f.stamp, f.t) INTO ok, to_do;
        RETURN NEXT;
    END LOOP;
    RETURN QUERY
    SELECT of_table, 'row security hides no row from this role', NOT row_security_active(of_table::oid), NULL::text, false;
    RETURN QUERY
    SELECT m.part, 'its rows are in the WAL', c.relpersistence = 'p',
        format('ALTER TABLE %s SET LOGGED;', m.part) || CASE WHEN p.deletions IS NOT NULL
            THEN format(' SELECT snowflake_ids.note_missed(%L, ''A crash may have emptied a part.'');', of_table)
            ELSE '' END, false
    FROM snowflake_ids.feed_parts(of_table) m JOIN pg_class c ON c.oid = m.part ORDER BY m.depth, m.part;
    RETURN QUERY
    SELECT m.part, 'it is no foreign table', m.kind <> 'f', NULL::text, false
    FROM snowflake_ids.feed_parts(of_table) m ORDER BY m.depth, m.part;
    RETURN QUERY
    SELECT m.part, 'it belongs to the owner of the feed', c.relowner = p.owner,
        format('ALTER TABLE %s OWNER TO %s;', m.part, p.owner::regrole), false
    FROM snowflake_ids.feed_parts(of_table) m JOIN pg_class c ON c.oid = m.part
    WHERE p.deletions IS NOT NULL AND m.kind <> 'f' ORDER BY m.depth, m.part;
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_row_rules(regclass, name) IS
    'internal: rules of the rows of the table and its parts';

CREATE FUNCTION snowflake_ids.feed_index_rules(of_table regclass, stamp name, index text)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH part AS (
        SELECT m.*, a.attnum, bool_or(m.big) OVER () AS any_big
        FROM snowflake_ids.feed_parts(of_table) m
        LEFT JOIN pg_attribute a ON a.attrelid = m.part AND a.attname = stamp AND NOT a.attisdropped),
    rules (place, depth, part, rule, ok, to_do, quick) AS (
        SELECT 1, depth, part, 'no index of the stamps is invalid', false,
            format('DROP INDEX CONCURRENTLY %s;', i.indexrelid::regclass), false
        FROM part JOIN pg_index i ON i.indrelid = part AND i.indkey[0] = attnum AND NOT i.indisvalid WHERE kind = 'r'
        UNION ALL  -- that of a partitioned table takes those of its partitions
        SELECT 2, depth, part, 'an index begins with the stamp', EXISTS (SELECT FROM pg_index i
                WHERE i.indrelid = part AND i.indkey[0] = attnum AND i.indisvalid AND i.indpred IS NULL),
            format('CREATE INDEX %sON %s USING %s (%I)%s;', CASE WHEN big THEN 'CONCURRENTLY ' END, part, index, stamp,
                CASE index WHEN 'brin' THEN ' WITH (autosummarize = on)' END),
            own AND NOT CASE kind WHEN 'p' THEN any_big ELSE big END
        FROM part WHERE kind = 'r' OR part = of_table)
    SELECT r.part, r.rule, r.ok, r.to_do, r.quick FROM rules r ORDER BY r.place, -r.depth, r.part
$$;
COMMENT ON FUNCTION snowflake_ids.feed_index_rules(regclass, name, text) IS
    'internal: rules of the indexes of the stamps';

CREATE FUNCTION snowflake_ids.feed_deletions_fit(of_table regclass) RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT cardinality(d.names) = cardinality(p.key) AND NOT EXISTS (
        SELECT FROM unnest(d.names, p.key) AS x (old, new) WHERE old <> new AND new = ANY (d.names))
    FROM snowflake_ids.feed_of(of_table) AS p, LATERAL (
        SELECT array_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = p.deletions AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attname NOT IN ('stamp', 'again')) AS d (names)
$$;
COMMENT ON FUNCTION snowflake_ids.feed_deletions_fit(regclass) IS
    'internal: true if the columns of the table of deletions can become those of the key by other names and types; null if there is no such table';

CREATE FUNCTION snowflake_ids.feed_deletions_rules(of_table regclass)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    k record;
BEGIN
    SELECT string_agg(format('%I %s%s', f.name, f.type, f.collated), ', ' ORDER BY n) AS columns,
           array_agg(f.name ORDER BY n) AS names, array_agg(f.type ORDER BY n) AS types,
           (array_agg(f.name ORDER BY n))[1] AS first
    INTO k FROM snowflake_ids.feed_key(of_table) f;
    RETURN QUERY SELECT of_table, 'a table has the deletions', p.deletions IS NOT NULL,
        coalesce(snowflake_ids.feed_taken(of_table, 'TABLE', to_regclass(p.deletions_name)::text),
            format('CREATE TABLE %1$s (%2$s, stamp bigint NOT NULL, again text); '
            'ALTER TABLE %1$s OWNER TO %3$s, REPLICA IDENTITY FULL; '
            'CREATE INDEX ON %1$s (stamp); CREATE INDEX ON %1$s (stamp) WHERE %4$I IS NULL; '
            'CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW '
            'WHEN (NEW.stamp IS NULL OR NEW.stamp >= 0) EXECUTE FUNCTION snowflake_ids.feed_stamp(''stamp''); '
            'ALTER TABLE %1$s ENABLE ALWAYS TRIGGER zz_stamp; '
            'CREATE TRIGGER zz_note_lost AFTER DELETE OR UPDATE OR TRUNCATE ON %1$s FOR EACH STATEMENT '
            'EXECUTE FUNCTION snowflake_ids.note_lost(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER zz_note_lost; '
            'CREATE CONSTRAINT TRIGGER zz_feed_of AFTER INSERT ON %1$s FROM %6$s FOR EACH ROW WHEN (false) '
            'EXECUTE FUNCTION snowflake_ids.note_lost(); COMMENT ON TABLE %1$s IS %5$L;',
            p.deletions_name, k.columns, p.owner::regrole, k.first,
            format('keys of rows deleted from %s, whatever its row security', of_table), of_table)
            || CASE WHEN p.stamp IS NULL THEN '' ELSE  -- the feed has readers
                format(' INSERT INTO %s (again) VALUES (''Earlier deletions are not known.'');', p.deletions_name) END),
        to_regclass(p.deletions_name) IS NULL;
    IF p.deletions IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT p.deletions, 'its columns are those of the key', (d.names, d.types) = (k.names, k.types),
        CASE WHEN d.fit THEN (
            SELECT string_agg(CASE WHEN x.old <> x.new
                     THEN format('ALTER TABLE %s RENAME COLUMN %I TO %I; ', p.deletions, x.old, x.new) ELSE '' END
                 || CASE WHEN x.old_type <> x.new_type THEN
                     format('ALTER TABLE %1$s ALTER COLUMN %2$I TYPE %3$s USING %2$I::%3$s; ',
                     p.deletions, x.new, x.new_type) ELSE '' END, '')
                || CASE WHEN d.names <> k.names AND NOT d.are_read
                    THEN format('SELECT snowflake_ids.note_missed(%L, ''The primary key has other columns.'');',
                        of_table) ELSE '' END
            FROM unnest(d.names, k.names, d.types, k.types) AS x (old, new, old_type, new_type))
            ELSE format('SELECT snowflake_ids.drop_feed(%1$L); '
                    'SELECT to_do FROM snowflake_ids.create_feed(%1$L, stamp => %2$L);',
                of_table, p.stamp) END,
        d.fit
    FROM (SELECT a.names, a.types, snowflake_ids.feed_deletions_fit(of_table) AS fit,
            -- If the feed's function still reads all columns of the key, they were only renamed.
            NOT EXISTS (SELECT FROM snowflake_ids.feed_key(of_table) f WHERE NOT EXISTS (
                SELECT FROM pg_depend o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.feed
                    AND o.refclassid = 'pg_class'::regclass AND o.refobjid = of_table
                    AND o.refobjsubid = f.number)) AS are_read
          FROM (SELECT array_agg(a.attname ORDER BY a.attnum),
                    array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
                FROM pg_attribute a
                WHERE a.attrelid = p.deletions AND a.attnum > 0 AND NOT a.attisdropped
                  AND a.attname NOT IN ('stamp', 'again')
               ) AS a (names, types)) AS d;
    RETURN QUERY
    SELECT p.deletions, format('trigger %s is enabled ALWAYS', w.name), coalesce(t.tgenabled = 'A', false),
        coalesce('ALTER TABLE ' || p.deletions || ' ENABLE ALWAYS TRIGGER ' || quote_ident(t.tgname) || ';',
            format('SELECT snowflake_ids.drop_feed(%1$L); SELECT to_do FROM snowflake_ids.create_feed(%1$L);',
                of_table))
            || format(' SELECT snowflake_ids.note_missed(%L, ''A trigger of the deletions was off.'');', of_table),
        t.tgname IS NOT NULL
    FROM (VALUES ('zz_stamp', 'snowflake_ids.feed_stamp'::regproc),
              ('zz_note_lost', 'snowflake_ids.note_lost')) AS w (name, function)
    LEFT JOIN pg_trigger t ON t.tgrelid = p.deletions AND t.tgfoid = w.function AND t.tgconstrrelid = 0;
    RETURN QUERY
    SELECT p.deletions, 'row security hides no deletion', NOT c.relrowsecurity,
        format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY;', p.deletions), false
    FROM pg_class c WHERE c.oid = p.deletions;
    RETURN QUERY
    SELECT p.deletions, 'its rows are in the WAL', c.relpersistence = 'p',
        format('ALTER TABLE %s SET LOGGED; '
            'SELECT snowflake_ids.note_missed(%L, ''A crash may have emptied the deletions.'');',
            p.deletions, of_table), false
    FROM pg_class c WHERE c.oid = p.deletions;
    RETURN QUERY
    SELECT p.deletions, 'its stamps are indexed', count(*) FILTER (WHERE i.indpred IS NULL) > 0
            AND count(*) FILTER (WHERE i.indpred IS NOT NULL) > 0,
        format('CREATE INDEX ON %1$s (stamp); CREATE INDEX ON %1$s (stamp) WHERE %2$I IS NULL;',
            p.deletions, k.first), false
    FROM pg_index i JOIN pg_attribute a ON a.attrelid = p.deletions AND a.attname = 'stamp' AND a.attnum = i.indkey[0]
    WHERE i.indrelid = p.deletions AND i.indisvalid;
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_deletions_rules(regclass) IS 'internal: rules of the table of deletions';

-- Partitions inherit no statement triggers, so each part has its own for TRUNCATE. The stamp trigger notes changed
-- keys.
CREATE FUNCTION snowflake_ids.feed_note_rules(of_table regclass)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH p AS (SELECT * FROM snowflake_ids.feed_of(of_table)),
    wanted AS (
        SELECT m.*, w.*, p.deletions
        FROM p, snowflake_ids.feed_parts(of_table) m, LATERAL (VALUES
            ('zz_note_deleted', 'DELETE', 9, 'FOR EACH ROW'),
            ('zz_note_truncated', 'TRUNCATE', 32, 'FOR EACH STATEMENT')) AS w (trigger, event, type, each)
        WHERE m.kind <> 'f'),
    noting AS (
        SELECT w.*, t.tgname, t.tgenabled
        FROM wanted w LEFT JOIN LATERAL (
            SELECT t.* FROM pg_trigger t
            WHERE t.tgrelid = w.part AND t.tgfoid = 'snowflake_ids.note_deleted'::regproc AND t.tgtype = w.type
            ORDER BY t.tgenabled, t.tgname LIMIT 1) AS t ON true)
    SELECT n.part, format('a trigger notes each %s', n.event), coalesce(n.tgenabled = 'A', false),
        CASE WHEN n.tgname IS NOT NULL THEN format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I;', n.part, n.tgname)
            ELSE format('CREATE TRIGGER %1$s AFTER %2$s ON %3$s %4$s EXECUTE FUNCTION snowflake_ids.note_deleted(); '
                'ALTER TABLE %3$s ENABLE ALWAYS TRIGGER %1$s;',
                snowflake_ids.feed_trigger_name(n.part, n.trigger), n.event, n.part, n.each) END
            -- The file of a part that was never truncated is that of CREATE TABLE.
            || CASE WHEN n.deletions IS NULL
                    OR (n.type = 32 AND n.depth > 0 AND coalesce(pg_relation_filenode(n.part) = n.part, true))
                THEN '' ELSE format(
                ' SELECT snowflake_ids.note_missed(%L, ''A trigger was off that notes deletions.'');', of_table) END,
        true
    FROM noting n WHERE n.type = 32 OR n.own OR n.tgname IS NOT NULL ORDER BY n.depth, n.part, n.event
$$;
COMMENT ON FUNCTION snowflake_ids.feed_note_rules(regclass) IS 'internal: rules of the triggers that note deletions';

-- A filter, a sort or a join of the caller stays outside (OFFSET 0). So no part is pruned, and the order of the steps
-- stays. A stamp has two bounds, though one is always kept: so a generic plan expects 0.5 % of the rows, and uses an
-- index.
CREATE FUNCTION snowflake_ids.feed_definition(of_table regclass, deletes boolean, stamp name) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH p AS (SELECT * FROM snowflake_ids.feed_of(of_table)),
    k AS (
        SELECT string_agg(format('%I %s', name, type), ', ' ORDER BY n) AS columns,
            string_agg(format('NULL::%s', type), ', ' ORDER BY n) AS none,
            string_agg(format('%I.%I%s', h, name, CASE WHEN is_domain THEN '::' || type END), ', ' ORDER BY n) AS ours,
            string_agg(format('d.%I', name), ', ' ORDER BY n) AS theirs,
            string_agg(format('%I.%I %s d.%2$I', h, name, operator), ' AND ' ORDER BY n) AS same,
            (array_agg(name ORDER BY n))[1] AS first, min(h) AS h
        FROM snowflake_ids.feed_key(of_table), LATERAL (  -- a name that no column has, so that it means the row
            SELECT repeat('h', n::integer) FROM generate_series(1, 63) AS n WHERE NOT EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = of_table AND a.attname = repeat('h', n::integer))
            ORDER BY n LIMIT 1) AS alias (h)),
    is_new AS (
        SELECT '(%s >= snowflake_ids.feed_from($1) AND %s < 9223372036854775807 OR %s >= 0 '
            'AND %s < snowflake_ids.feed_from($1) AND %s = ANY (snowflake_ids.feed_open($1)))' AS condition)
    SELECT format('CREATE FUNCTION %s(since text) RETURNS TABLE (step integer, %s, "row" %s, "position" text) '
            'LANGUAGE sql STABLE PARALLEL UNSAFE BEGIN ATOMIC SELECT * FROM (', p.feed_name, k.columns, of_table)
        || format('SELECT 0 AS step, %s, NULL::%s AS "row", NULL::text AS "position" '
            'FROM snowflake_ids.feed_begin($1, %L::regclass, ', k.none, of_table, of_table)
        || CASE WHEN feed_definition.deletes THEN format('%L::regclass, ARRAY(SELECT d.again FROM %2$s AS d '
                'WHERE d.%3$I IS NULL AND (d.stamp = -1 OR %4$s)))', p.deletions_name, p.deletions_name, k.first,
                replace(is_new.condition, '%s', 'd.stamp'))
            || format(' AS empties WHERE empties UNION ALL SELECT 1, %1$s, NULL, NULL FROM %2$s AS d WHERE %3$s AND d.%4$I IS NOT NULL '
                'AND $1 <> '''' AND (SELECT pg_catalog.record_image_eq(ROW(%5$s), ROW(%1$s)) FROM %6$s AS %7$I '
                'WHERE %8$s LIMIT 1) IS NOT TRUE',
                k.theirs, p.deletions_name, replace(is_new.condition, '%s', 'd.stamp'), k.first, k.ours, of_table,
                k.h, k.same)
            ELSE 'NULL, NULL) AS empties WHERE empties' END
        || format(' UNION ALL SELECT snowflake_ids.feed_step(%1$I.%2$I), %3$s, %1$I, NULL FROM %4$s AS %1$I WHERE %5$s',
            k.h, feed_definition.stamp, k.ours, of_table,
            replace(is_new.condition, '%s', format('%I.%I', k.h, feed_definition.stamp)))
        || format(' UNION ALL SELECT 3, %s, NULL, snowflake_ids.feed_end($1, %L::regclass)) AS f OFFSET 0; END;',
            k.none, of_table)
        || format(' ALTER FUNCTION %s(text) OWNER TO %s; COMMENT ON FUNCTION %1$s(text) IS %3$L;', p.feed_name,
            p.owner::regrole, format('what has changed in %s since a position: step 0 empty the copy, 1 deleted, '
                '2 a row as it is now, 3 the position for the next poll', of_table))
    FROM p, k, is_new
$$;
COMMENT ON FUNCTION snowflake_ids.feed_definition(regclass, boolean, name) IS
    'internal: the statements that make the function of a feed';

-- An object with a name of the feed may be of this feed, even if it has another owner. The owner of the table must get
-- it before anything of it is used.
CREATE FUNCTION snowflake_ids.feed_taken(of_table regclass, kind text, taken text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('ALTER %s %s OWNER TO %s;', kind, taken, c.relowner::regrole) FROM pg_class c WHERE c.oid = of_table
$$;
COMMENT ON FUNCTION snowflake_ids.feed_taken(regclass, text, text) IS
    'internal: what to do with an object that has a name of the feed';

-- The function must have the columns of the key, and read the table of deletions.
CREATE FUNCTION snowflake_ids.feed_function_rules(of_table regclass, deletes boolean, stamp name)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT of_table, 'there is a function to read', coalesce(
            f.proargnames = ARRAY['since', 'step'] || p.key::text[] || ARRAY['row', 'position']
            AND (SELECT array_agg(o.type ORDER BY o.n) FROM unnest(f.proallargtypes) WITH ORDINALITY AS o (type, n)
                 WHERE o.n > 2 AND o.n <= cardinality(p.key) + 2)
                = (SELECT array_agg(k.type::regtype::oid ORDER BY k.n) FROM snowflake_ids.feed_key(of_table) k)
            AND (NOT feed_function_rules.deletes OR EXISTS (
                SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.feed
                   AND d.refclassid = 'pg_class'::regclass AND d.refobjid = p.deletions)), false),
        coalesce(snowflake_ids.feed_taken(of_table, 'FUNCTION', taken::text),
            coalesce('DROP FUNCTION ' || p.feed || '; ', '') || snowflake_ids.feed_definition(
                of_table, feed_function_rules.deletes, feed_function_rules.stamp)),
        taken IS NULL
    FROM snowflake_ids.feed_of(of_table) AS p LEFT JOIN pg_proc f ON f.oid = p.feed,
        LATERAL (SELECT CASE WHEN p.feed IS NULL THEN to_regprocedure(p.feed_name || '(text)') END) AS t (taken)
    WHERE p.key IS NOT NULL AND snowflake_ids.feed_deletions_fit(of_table) IS NOT FALSE
$$;
COMMENT ON FUNCTION snowflake_ids.feed_function_rules(regclass, boolean, name) IS
    'internal: rules of the function of a feed';

-- Keys of deleted rows are for those who may read all rows of the table.
CREATE FUNCTION snowflake_ids.feed_grant_rules(of_table regclass)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH granted AS (
        SELECT a.grantee, c.oid = of_table AS on_table,
            CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS who
        FROM snowflake_ids.feed_of(of_table) AS p JOIN pg_class c ON c.oid IN (of_table, p.deletions),
             aclexplode(c.relacl) a
        WHERE a.privilege_type = 'SELECT' AND a.grantee <> c.relowner AND p.deletions IS NOT NULL)
    SELECT p.deletions, format('%s may read it, as the table', g.who),
        EXISTS (SELECT FROM granted d WHERE NOT d.on_table AND d.grantee = g.grantee),
        format('GRANT SELECT ON %s TO %s;', p.deletions, g.who), true
    FROM granted g, snowflake_ids.feed_of(of_table) AS p
    WHERE g.on_table AND NOT (SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = of_table)
    UNION ALL
    SELECT p.deletions, format('%s may not read it, as the table', g.who), false,
        format('REVOKE SELECT ON %s FROM %s;', p.deletions, g.who), false
    FROM granted g, snowflake_ids.feed_of(of_table) AS p
    WHERE NOT g.on_table AND NOT has_any_column_privilege(g.grantee, of_table, 'SELECT')
    ORDER BY 2
$$;
COMMENT ON FUNCTION snowflake_ids.feed_grant_rules(regclass) IS
    'internal: rules of who may read the deletions';
