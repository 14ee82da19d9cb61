-- What is there of a feed is found in the catalogs, so it survives renames and dumps. feed_rules() has all rules of a
-- feed, and for each the statement that mends it.

CREATE FUNCTION snowflake_ids.feed_of(of_table regclass, OUT name name, OUT owner oid, OUT key name[], OUT stamp name,
    OUT type regtype, OUT format text, OUT feed regclass, OUT feed_name text, OUT deletes boolean,
    OUT deletions regclass, OUT deletions_name text)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    schema name;
    kind "char";
    -- Casts of a type of the owner could run the owner's code with the caller's rights.
    types constant regtype[] := '{bigint,@extschema@.mastic,@extschema@.sno}';
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
    SELECT array_agg(a.attname ORDER BY k.n) INTO key
    FROM pg_index i, unnest(i.indkey) WITH ORDINALITY AS k (attnum, n), pg_attribute a
    WHERE i.indrelid = of_table AND i.indisprimary AND k.n <= i.indnkeyatts AND a.attrelid = of_table
      AND a.attnum = k.attnum;
    -- Each argument of a trigger ends with a zero byte.
    SELECT a.attname, a.atttypid, coalesce(f.format, convert_from(
        substring(t.tgargs FOR position('\x00'::bytea IN t.tgargs) - 1), getdatabaseencoding())) INTO stamp, type, format
    FROM pg_trigger t
    JOIN (VALUES ('@extschema@.mastic_stamp'::regproc, 'mastic'), ('@extschema@.sno_stamp', 'sno'),
        ('@extschema@.snowflake_si_stamp', 'snowflake_si'), ('@extschema@.snowflake_stamp', NULL)) AS f (oid, format)
        ON f.oid = t.tgfoid
    JOIN pg_attribute a ON a.attrelid = of_table AND NOT a.attisdropped AND a.atttypid = ANY (types)
        AND convert_to(a.attname, getdatabaseencoding()) || '\x00' = CASE t.tgnargs WHEN 1 THEN t.tgargs
            ELSE substring(t.tgargs FROM position('\x00'::bytea IN t.tgargs) + 1) END
    WHERE t.tgrelid = of_table ORDER BY t.tgname DESC LIMIT 1;
    -- Only the owner can have made the view, or have enabled the trigger ALWAYS.
    SELECT c.oid INTO feed
    FROM pg_depend d JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v' AND c.relowner = feed_of.owner
    WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = of_table
      AND (SELECT array_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a
           WHERE a.attrelid = c.oid AND a.attnum BETWEEN 1 AND 3) = '{position,stamp,deleted}'::name[]
    ORDER BY 1 LIMIT 1;
    SELECT c.oid INTO deletions
    FROM (SELECT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass
              AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
          WHERE r.ev_class = feed
          UNION
          SELECT to_regclass(convert_from(substring(t.tgargs FOR length(t.tgargs) - 1), getdatabaseencoding()))
          FROM pg_trigger t
          WHERE t.tgrelid = of_table AND t.tgfoid = 'snowflake_ids.note_deleted'::regproc AND t.tgnargs = 1
            AND t.tgenabled = 'A') AS o (oid)
    JOIN pg_class c ON c.oid = o.oid AND c.oid <> of_table AND c.relkind = 'r' AND c.relowner = feed_of.owner
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'forgotten' AND a.atttypid = 'boolean'::regtype
    JOIN pg_attribute s ON s.attrelid = c.oid AND s.attname = 'stamp' AND s.atttypid = ANY (types) LIMIT 1;
    deletes := deletions IS NOT NULL OR EXISTS (
        SELECT FROM pg_trigger t WHERE t.tgrelid = of_table AND t.tgfoid = 'snowflake_ids.note_deleted'::regproc);
    -- A name has at most 63 bytes.
    feed_name := coalesce(feed::text, (SELECT format('%I.%I', schema, left(name, n) || '_feed')
        FROM generate_series(63, 1, -1) AS n WHERE octet_length(left(name, n)) <= 58 LIMIT 1));
    deletions_name := coalesce(deletions::text, (SELECT format('%I.%I', schema, left(name, n) || '_deleted')
        FROM generate_series(63, 1, -1) AS n WHERE octet_length(left(name, n)) <= 55 LIMIT 1));
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_of(regclass) IS 'internal: what is there of the feed of a table';

CREATE FUNCTION snowflake_ids.feed_call(format text, function text, argument text DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('@extschema@.%s(%s)', format(function, coalesce(own, 'snowflake')),
        concat_ws(', ', CASE WHEN own IS NULL THEN quote_literal(format) END, argument))
    FROM (SELECT CASE WHEN format IN ('mastic', 'sno', 'snowflake_si') THEN format END) AS f (own)
$$;
COMMENT ON FUNCTION snowflake_ids.feed_call(text, text, text) IS
    'internal: the call of a function of a format: mastic_settled(argument), snowflake_settled(layout, argument)';

CREATE FUNCTION snowflake_ids.feed_settled(of_table regclass, format text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'SELECT ' || snowflake_ids.feed_call(format, '%s_settled', format('%L::pg_catalog.regclass', of_table))
$$;
COMMENT ON FUNCTION snowflake_ids.feed_settled(regclass, text) IS 'internal: the query for the settled id of a table';

-- What another owner has may be of this feed. Two long names can begin alike, so nothing is dropped that a view reads.
CREATE FUNCTION snowflake_ids.feed_taken(of_table regclass, own regclass, taken text,
    OUT detail text, OUT to_do text, OUT hint text)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN c.relowner = t.relowner THEN format('It is not of the feed of %s.', of_table)
            ELSE format('It belongs to %s, and %s to %s.', c.relowner::regrole, of_table, t.relowner::regrole) END,
        s.to_do,
        CASE WHEN c.relowner <> t.relowner THEN format('Rename it. If it is of this feed: %s', s.to_do)
            WHEN c.relkind <> 'r' OR EXISTS (
                SELECT FROM pg_depend d
                WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
            THEN format('Rename it, or %s.', of_table)
            ELSE format('Rename it. If it is of an earlier table: DROP TABLE %s;', taken) END
    FROM pg_class t JOIN pg_class c ON own IS NULL AND c.oid = to_regclass(taken),
        LATERAL (SELECT format(CASE WHEN c.relowner = t.relowner THEN 'ALTER TABLE %s RENAME TO ...;'
            ELSE 'ALTER TABLE %s OWNER TO %s;' END, taken, t.relowner::regrole)) AS s (to_do)
    WHERE t.oid = of_table
$$;
COMMENT ON FUNCTION snowflake_ids.feed_taken(regclass, regclass, text) IS
    'internal: what to do if a relation that is not of the feed has its name';

-- The arguments say what is wanted, where nothing is there yet. create_feed() runs the statements that are `quick`; it
-- passes the first stamp.
CREATE FUNCTION snowflake_ids.feed_rules(of_table regclass, deletes boolean, format text, stamp name, index text,
    first_stamp text DEFAULT NULL)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text, quick boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    zero constant bytea := '\x00';
    encoding constant name := getdatabaseencoding();
    -- mastic_stamp('stamp'), snowflake_stamp('twitter', 'stamp')
    is_layout constant boolean := feed_rules.format NOT IN ('mastic', 'sno', 'snowflake_si');
    stamps constant text := snowflake_ids.feed_call(feed_rules.format, '%s_stamp', quote_literal(feed_rules.stamp));
    arguments constant bytea := CASE WHEN is_layout THEN convert_to(feed_rules.format, encoding) || zero ELSE '' END
        || convert_to(feed_rules.stamp, encoding) || zero;
    new_id constant text := snowflake_ids.feed_call(feed_rules.format, 'gen_%s');
    column_type text;
    -- Readers copy the table again, because deletions may have come past a trigger.
    passed constant text := format(' SELECT snowflake_ids.feed_as_owner(%L, %L);', of_table,
        format('INSERT INTO %s (forgotten) VALUES (true)', p.deletions_name));
    k record;
    settled text;
    definition text;
BEGIN
    column_type := coalesce((SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
        WHERE a.attrelid = of_table AND a.attname = feed_rules.stamp AND NOT a.attisdropped),
        CASE feed_rules.format WHEN 'sno' THEN '@extschema@.sno' ELSE 'bigint' END);
    RETURN QUERY SELECT of_table, 'the table has a primary key', p.key IS NOT NULL,
        format('ALTER TABLE %s ADD PRIMARY KEY (...);', of_table), false;
    -- All rows get one new id, so a reader of an earlier feed reads them, too. A constant needs no rewrite. There is no
    -- DEFAULT later, so rows that come past the trigger fail. An id of an earlier time would be too old.
    RETURN QUERY SELECT of_table, format('the table has the column %I', feed_rules.stamp), EXISTS (
            SELECT FROM pg_attribute a WHERE a.attrelid = of_table AND a.attname = feed_rules.stamp AND NOT a.attisdropped),
        CASE WHEN first_stamp IS NULL
            THEN format('SELECT to_do FROM snowflake_ids.create_feed(%L, format => %L, stamp => %L);', of_table, feed_rules.format, feed_rules.stamp)
            ELSE format('ALTER TABLE %1$s ADD COLUMN %2$I %3$s NOT NULL DEFAULT %4$L; ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT;', of_table, feed_rules.stamp, column_type, first_stamp) END, true;

    RETURN QUERY
    WITH RECURSIVE member (oid, depth) AS (
        SELECT of_table::oid, 0 UNION ALL SELECT i.inhrelid, m.depth + 1 FROM pg_inherits i JOIN member m ON i.inhparent = m.oid),
    -- `of`: on which its triggers are created; `own`: it does not have those of its parent
    part AS (
        SELECT c.oid::regclass AS t, m.depth, c.relkind, c.relpersistence, c.relowner, a.attnum, a.attnotnull,
            c.oid = of_table OR NOT c.relispartition AS own, c.relkind = 'r' AND pg_table_size(c.oid) > 8388608 AS big,
            CASE WHEN c.relispartition THEN of_table ELSE c.oid::regclass END AS of
        FROM member m JOIN pg_class c ON c.oid = m.oid
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = feed_rules.stamp AND NOT a.attisdropped),
    before AS (
        SELECT t.tgrelid, t.tgname, t.tgenabled, t.tgtype & 23 = 23 AND t.tgattr = '' AND t.tgqual IS NULL AS whole,
            t.tgfoid = split_part(stamps, '(', 1)::regproc AND t.tgargs = arguments AS stamps
        FROM part JOIN pg_trigger t ON t.tgrelid = part.t AND t.tgtype & 3 = 3 AND t.tgtype & 20 <> 0),
    -- `late` stamps the rows that may have come past the trigger; `taken` has its name, and another format
    stamping AS (
        SELECT DISTINCT ON (part.t) part.*, b.tgname, quote_ident(b.tgname) AS trigger, b.tgenabled, b.whole,
            attnum IS NULL AS is_new, CASE relkind WHEN 'p' THEN (SELECT bool_or(big) FROM part) ELSE big END AS is_long,
            format(' UPDATE %1$s%2$s SET %3$I = %3$I;', CASE WHEN relkind <> 'p' THEN 'ONLY ' END, part.t,
                feed_rules.stamp) AS late,
            (SELECT z.tgname FROM before z WHERE z.tgrelid = part.t AND z.tgname = 'zz_stamp' AND NOT z.stamps) AS taken
        FROM part LEFT JOIN before b ON b.tgrelid = part.t AND b.stamps
        WHERE part.relkind <> 'f' ORDER BY part.t, b.whole DESC, b.tgname DESC),
    rules (place, depth, t, rule, ok, to_do, quick) AS (
        SELECT 1, depth, t, format('%I is NOT NULL', feed_rules.stamp), coalesce(attnotnull, attnum IS NULL),
            format('UPDATE ONLY %1$s SET %2$I = %2$I WHERE %2$I IS NULL; ALTER TABLE %1$s ALTER COLUMN %2$I SET NOT NULL;', t, feed_rules.stamp), false
        FROM part
        UNION ALL
        SELECT 2, depth, t, 'a trigger stamps each INSERT and UPDATE', coalesce(whole, false),
            coalesce('DROP TRIGGER ' || coalesce(trigger, taken) || ' ON ' || of || '; ', '')
                || format('CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION %2$s; ALTER TABLE %1$s ENABLE ALWAYS TRIGGER zz_stamp;', of, stamps)
                || CASE WHEN is_new THEN '' ELSE late END,
            own AND (is_new OR NOT is_long) AND taken IS NULL
        FROM stamping
        UNION ALL
        SELECT 3, depth, t, 'it is enabled ALWAYS', coalesce(tgenabled = 'A', true),
            format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %s;', t, trigger) || late, NOT is_long
        FROM stamping
        UNION ALL
        SELECT 4, depth, t, 'it fires last', later.tgname IS NULL, format('ALTER TRIGGER %s ON %s RENAME TO %s;', trigger, of,
            CASE WHEN later.tgname < 'zz_stamp' THEN 'zz_stamp' ELSE quote_ident(later.tgname || '_stamp') END), own
        FROM stamping s LEFT JOIN LATERAL (
            SELECT b.tgname FROM before b
            WHERE b.tgrelid = s.t AND b.tgname > s.tgname AND NOT b.stamps AND b.tgenabled <> 'D'
            ORDER BY 1 DESC LIMIT 1) AS later ON true
        UNION ALL
        SELECT 5, depth, t, 'its rows are in the WAL', relpersistence = 'p', format('ALTER TABLE %s SET LOGGED;', t), false
        FROM stamping
        UNION ALL
        SELECT 6, depth, t, 'it is no foreign table', relkind <> 'f', format('-- stamp the rows of %s on its server', t), false
        FROM part
        UNION ALL
        SELECT 7, depth, t, 'it belongs to the owner of the feed', relowner = p.owner,
            format('ALTER TABLE %s OWNER TO %s;', t, p.owner::regrole), false
        FROM stamping WHERE deletes
        UNION ALL
        SELECT 8, -depth, t, 'no index of the stamps is invalid', false,
            format('DROP INDEX CONCURRENTLY %s;', i.indexrelid::regclass), false
        FROM part JOIN pg_index i ON i.indrelid = t AND i.indkey[0] = attnum AND NOT i.indisvalid WHERE relkind = 'r'
        UNION ALL  -- that of a partitioned table takes those of its partitions
        SELECT 9, -depth, t, 'an index begins with the stamp', EXISTS (SELECT FROM pg_index i
                WHERE i.indrelid = t AND i.indkey[0] = attnum AND i.indisvalid AND i.indpred IS NULL),
            format('CREATE INDEX %sON %s USING %s (%I);', CASE WHEN big THEN 'CONCURRENTLY ' END, t, feed_rules.index,
                feed_rules.stamp),
            own AND NOT CASE relkind WHEN 'p' THEN (SELECT bool_or(big) FROM part) ELSE big END
        FROM part WHERE relkind = 'r' OR t = of_table)
    SELECT r.t, r.rule, r.ok, r.to_do, r.quick FROM rules r ORDER BY r.place, r.depth, r.t;

    -- Of the key: definitions of columns, names, types, comparisons. The columns of a view keep their names.
    SELECT array_agg(a.attnum) AS numbers, string_agg(format('%I %s%s', a.attname, b.type, ' COLLATE ' || nullif(a.attcollation, t.typcollation)::regcollation), ', '
               ORDER BY n) AS columns, array_agg(a.attname ORDER BY n) AS names, array_agg(b.type ORDER BY n) AS types,
           string_agg(format('h.%I%s AS %I', a.attname, CASE t.typtype WHEN 'd' THEN '::' || b.type END,
               coalesce(v.attname, a.attname)), ', ' ORDER BY n) AS ours,
           string_agg(format('d.%I', coalesce(da.attname, a.attname)), ', ' ORDER BY n) AS theirs,
           string_agg(format('h.%I OPERATOR(%I.%s) d.%I', a.attname, s.nspname, o.oprname,
               coalesce(da.attname, a.attname)), ' AND ' ORDER BY n) AS same,
           string_agg(format('OLD.%I', a.attname), ', ' ORDER BY n) AS old,
           string_agg(format('NEW.%I', a.attname), ', ' ORDER BY n) AS new
    INTO k
    FROM pg_index i, unnest(i.indkey::int2[], i.indclass::oid[]) WITH ORDINALITY AS x (attnum, class, n)
    JOIN pg_attribute a ON a.attrelid = of_table AND a.attnum = x.attnum JOIN pg_type t ON t.oid = a.atttypid
    -- The operator =, by the names of the server: a comparison of whole rows would not restore from a dump.
    JOIN pg_opclass c ON c.oid = x.class JOIN pg_amop m ON m.amopfamily = c.opcfamily
        AND m.amoplefttype = c.opcintype AND m.amoprighttype = c.opcintype AND m.amopstrategy = 3
    JOIN pg_operator o ON o.oid = m.amopopr JOIN pg_namespace s ON s.oid = o.oprnamespace
    LEFT JOIN pg_attribute v ON v.attrelid = p.feed AND v.attnum = 3 + x.n
    LEFT JOIN pg_attribute da ON da.attrelid = p.deletions AND da.attnum = x.n,
    LATERAL (WITH RECURSIVE base (oid, mod, depth) AS (
        SELECT a.atttypid, a.atttypmod, 0
        UNION ALL
        SELECT t.typbasetype, t.typtypmod, depth + 1 FROM base JOIN pg_type t ON t.oid = base.oid AND t.typtype = 'd')
        SELECT format_type(base.oid, base.mod) FROM base ORDER BY depth DESC LIMIT 1) AS b (type)
    WHERE i.indrelid = of_table AND i.indisprimary;
    IF k.names IS NULL THEN
        RETURN;
    END IF;
    -- A view keeps its columns, so a renamed key is the same, and another one needs another feed.
    IF p.feed IS NOT NULL AND NOT (cardinality(k.numbers) = (SELECT count(*) FROM pg_attribute v WHERE v.attrelid = p.feed AND v.attnum > 3)
            AND k.numbers <@ (SELECT array_agg(d.refobjsubid::int2) FROM pg_rewrite r JOIN pg_depend d
                ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
                    AND d.refobjid = of_table WHERE r.ev_class = p.feed)) THEN
        RETURN QUERY SELECT p.feed, 'its key is the primary key', false, format(
            'SELECT snowflake_ids.drop_feed(%1$L); SELECT to_do FROM snowflake_ids.create_feed(%1$L, deletes => %2$s, format => %3$L, stamp => %4$L, index => %5$L);',
            of_table, deletes::text, feed_rules.format, feed_rules.stamp, feed_rules.index), false;
        RETURN;
    END IF;

    IF deletes THEN
        RETURN QUERY SELECT of_table, 'a table has the deletions', p.deletions IS NOT NULL,
            coalesce((snowflake_ids.feed_taken(of_table, p.deletions, p.deletions_name)).to_do, format('CREATE TABLE %1$s (%2$s, stamp %3$s NOT NULL DEFAULT %4$s, forgotten boolean NOT NULL DEFAULT false); ALTER TABLE %1$s OWNER TO %5$s, REPLICA IDENTITY FULL; CREATE INDEX ON %1$s (stamp); COMMENT ON TABLE %1$s IS %6$L;', p.deletions_name, k.columns, column_type, new_id, p.owner::regrole,
                format('keys of rows deleted from %s, whatever its row security; none: all rows before the stamp', of_table))), true;
        RETURN QUERY
        SELECT p.deletions, 'its columns are those of the key', (d.names, d.types) = (k.names, k.types),
            (SELECT string_agg(CASE WHEN x.old <> x.new
                         THEN format('ALTER TABLE %s RENAME COLUMN %I TO %I; ', p.deletions, x.old, x.new) ELSE '' END
                     || CASE WHEN x.old_type <> x.new_type THEN format('ALTER TABLE %s ALTER COLUMN %I TYPE %s; ',
                         p.deletions, x.new, x.new_type) ELSE '' END, '')
             FROM unnest(d.names, k.names, d.types, k.types) AS x (old, new, old_type, new_type)),
            cardinality(d.names) = cardinality(k.names)
        FROM (SELECT array_agg(a.attname ORDER BY a.attnum), array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
              FROM pg_attribute a
              WHERE a.attrelid = p.deletions AND a.attnum > 0 AND a.attnum < (SELECT s.attnum FROM pg_attribute s
                  WHERE s.attrelid = p.deletions AND s.attname = 'stamp')) AS d (names, types)
        WHERE p.deletions IS NOT NULL;
        -- A key has changed if its bytes have: a copy may keep equal keys apart.
        RETURN QUERY
        WITH RECURSIVE member (oid) AS (
            SELECT of_table::oid UNION ALL SELECT i.inhrelid FROM pg_inherits i JOIN member m ON i.inhparent = m.oid),
        noting AS (
            SELECT c.oid::regclass AS t, w.*, n.tgname, n.tgenabled, quote_ident(n.tgname) AS trigger, n.tgparentid,
                n.tgargs = convert_to(p.deletions_name, encoding) || zero AS right
            FROM member m JOIN pg_class c ON c.oid = m.oid AND c.relkind <> 'f'
            JOIN (VALUES ('zz_note_deleted', 'DELETE', 'ROW', 9), ('zz_note_truncated', 'TRUNCATE', 'STATEMENT', 32),
                ('zz_note_key', 'UPDATE', format('ROW WHEN (pg_catalog.record_image_ne(ROW(%s), ROW(%s)))', k.old, k.new), 17)) AS w (name, what, each, type)
                ON c.oid = of_table OR NOT c.relispartition AND w.type <> 32
            LEFT JOIN LATERAL (
                SELECT t.* FROM pg_trigger t
                WHERE t.tgrelid = c.oid AND t.tgtype = w.type AND t.tgfoid = 'snowflake_ids.note_deleted'::regproc
                ORDER BY t.tgenabled, t.tgname LIMIT 1) AS n ON true)
        SELECT n.t, format('a trigger notes each %s', n.what), coalesce(n.tgenabled = 'A' AND n.right, false),
            CASE WHEN n.tgenabled IN ('D', 'R', 'O') THEN format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %s;', n.t, n.trigger)
                ELSE coalesce('DROP TRIGGER ' || n.trigger || ' ON ' || n.t || '; ', '')
                    || format('CREATE TRIGGER %1$s AFTER %2$s ON %3$s FOR EACH %4$s EXECUTE FUNCTION snowflake_ids.note_deleted(%5$L); ALTER TABLE %3$s ENABLE ALWAYS TRIGGER %1$s;',
                        n.name, n.what, n.t, n.each, p.deletions_name) END
                || CASE WHEN n.tgenabled = 'A' OR p.deletions IS NULL THEN '' ELSE passed END,
            true
        FROM noting n ORDER BY n.t, n.what;
        RETURN QUERY
        SELECT c.oid::regclass, format('trigger %I of the partition notes deletions', t.tgname), t.tgenabled = 'A',
            format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I;', c.oid::regclass, t.tgname) || passed, true
        FROM pg_partition_tree(of_table) m JOIN pg_class c ON c.oid = m.relid AND m.level > 0
        JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgfoid = 'snowflake_ids.note_deleted'::regproc
        ORDER BY c.oid, t.tgname;
    END IF;

    settled := format('(%s::%s)', snowflake_ids.feed_settled(of_table, feed_rules.format), column_type);
    definition := format('SELECT %s AS position, h.%I AS stamp, false AS deleted, %s FROM %s AS h', settled,
        feed_rules.stamp, k.ours, of_table);
    IF deletes THEN
        -- A key that is there again has not been deleted, though its stamp may be the smaller one. Without a WHERE, so
        -- that the planner merges two indexes; a subquery that returns a row cannot be hashed.
        definition := definition || format(' UNION ALL SELECT CASE WHEN d.forgotten THEN snowflake_ids.fail_forgotten(%1$L::pg_catalog.regclass, d.stamp) ELSE %2$s END, d.stamp, CASE WHEN d.forgotten THEN snowflake_ids.fail_forgotten(%1$L::pg_catalog.regclass, true) ELSE (SELECT false FROM %1$s AS h WHERE %3$s) IS NULL END, %4$s FROM %5$s AS d', of_table, settled, k.same, k.theirs, p.deletions_name);
    END IF;
    RETURN QUERY
    SELECT of_table, 'there is a view to read', p.feed IS NOT NULL AND (NOT deletes OR EXISTS (
            SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                AND d.refobjid = p.deletions WHERE r.ev_class = p.feed)),
        coalesce((snowflake_ids.feed_taken(of_table, p.feed, p.feed_name)).to_do, format('CREATE OR REPLACE VIEW %1$s WITH (security_invoker = true) AS %2$s; ALTER VIEW %1$s OWNER TO %3$s; COMMENT ON VIEW %1$s IS %4$L;', p.feed_name, definition, p.owner::regrole,
            format('keys of new%s changed rows of %s, by stamp; not what row security or a dropped partition hides', CASE WHEN deletes THEN ', deleted and' ELSE ' and' END, of_table))), true;
    RETURN QUERY
    SELECT o.oid, format('%s may read it, as the table', g.who), EXISTS (
            SELECT FROM pg_class f, aclexplode(f.relacl) fa
            WHERE f.oid = o.oid AND fa.grantee = a.grantee AND fa.privilege_type = 'SELECT'),
        format('GRANT SELECT ON %s TO %s;', o.name, g.who), true
    FROM pg_class c, aclexplode(c.relacl) a,
        LATERAL (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) AS g (who),
        (VALUES (p.feed, p.feed_name, true), (p.deletions, p.deletions_name, deletes)) AS o (oid, name, wanted)
    WHERE c.oid = of_table AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner AND o.wanted
    ORDER BY o.oid, g.who COLLATE "C";
    -- The keys of deleted rows are for those who may read the table.
    RETURN QUERY
    SELECT c.oid::regclass, format('%s may not read it, as the table', g.who), false,
        format('REVOKE SELECT ON %s FROM %s;', c.oid::regclass, g.who), false
    FROM pg_class c, aclexplode(c.relacl) a,
        LATERAL (SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) AS g (who)
    WHERE c.oid IN (p.feed, p.deletions) AND a.privilege_type = 'SELECT'
      AND NOT has_any_column_privilege(a.grantee, of_table, 'SELECT')
    ORDER BY c.oid, g.who COLLATE "C";
END $$;
COMMENT ON FUNCTION snowflake_ids.feed_rules(regclass, boolean, text, name, text, text) IS
    'internal: the rules of a feed, and the statement that mends each';

CREATE FUNCTION snowflake_ids.check_feed(of_table regclass)
RETURNS TABLE (relation regclass, rule text, ok boolean, to_do text)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    p record := snowflake_ids.feed_of(of_table);
    all_ok boolean := true;
    detail text;
BEGIN
    FOR relation, rule, ok, to_do IN SELECT f.relation, f.rule, f.ok, CASE WHEN NOT f.ok THEN f.to_do END
        FROM snowflake_ids.feed_rules(
            of_table, p.deletes, coalesce(p.format, 'mastic'), coalesce(p.stamp, 'stamp'), 'btree') f LOOP
        all_ok := all_ok AND ok;
        RETURN NEXT;
    END LOOP;
    -- What else the settled id refuses. The statements before it mend it, if there are any.
    IF p.stamp IS NOT NULL AND NOT pg_is_in_recovery() THEN
        relation := of_table; rule := 'its settled id can be asked for'; ok := true; to_do := NULL;
        BEGIN
            EXECUTE snowflake_ids.feed_settled(of_table, p.format);
        EXCEPTION WHEN object_not_in_prerequisite_state THEN
            GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, to_do = PG_EXCEPTION_HINT;
            ok := false; to_do := CASE WHEN all_ok THEN concat_ws(' -- ', to_do, detail) END;
        END;
        RETURN NEXT;
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids.check_feed(regclass) IS
    'shows for each rule of a feed whether it is kept, or the statement to type; also on subscribers and standbys';

-- What their texts mean depends on settings of the session.
DO $$
DECLARE
    function regprocedure;
    setting text;
BEGIN
    FOR function IN SELECT p.oid
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
        WHERE p.pronamespace OPERATOR(pg_catalog.=) 'snowflake_ids'::pg_catalog.regnamespace
          AND l.lanname OPERATOR(pg_catalog.=) ANY ('{sql,plpgsql}'::pg_catalog.name[]) LOOP
        FOREACH setting IN ARRAY ARRAY['standard_conforming_strings = on', 'quote_all_identifiers = off',
            'DateStyle = ''ISO, YMD''', 'IntervalStyle = postgres'] LOOP
            EXECUTE pg_catalog.format('ALTER FUNCTION %s SET %s', function, setting);
        END LOOP;
    END LOOP;
END $$;
