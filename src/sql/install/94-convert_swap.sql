-- Converting a key: the new columns take the places of the old ones, and giving up before that.

-- Makes one index on the new columns, as one of the old. Returns how many are left to make.
CREATE FUNCTION snowflake_ids_convert_index(relation regclass) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    t record;
    i record;
    definitions jsonb;
    left_over integer := 0;
    made boolean := false;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    FOR t IN EXECUTE format('SELECT c.rel, n.nspname, array_agg(c.attnum) AS attnums FROM %s.snowflake_ids_convert_columns($1, $2) c
                             JOIN pg_class p ON p.oid = c.rel JOIN pg_namespace n ON n.oid = p.relnamespace
                             GROUP BY c.rel, n.nspname ORDER BY c.rel <> $1, c.rel', ext) USING relation, s.key_column LOOP
        definitions := NULL;
        FOR i IN EXECUTE format('SELECT x.index, x.index::oid AS oid, x.is_unique, n.indisvalid,
                                        (SELECT spcname FROM pg_tablespace WHERE pg_tablespace.oid = p.reltablespace) AS space
                                 FROM %s.snowflake_ids_convert_indexes($1, $2) x JOIN pg_class p ON p.oid = x.index
                                      LEFT JOIN (pg_index n JOIN pg_class c ON c.oid = n.indexrelid)
                                      ON n.indrelid = $1 AND c.relname = ''snowflake_ids_index_'' || x.index::oid', ext)
                 USING t.rel, t.attnums LOOP
            -- One that was made by hand, concurrently, is taken; one that failed halfway is not.
            CONTINUE WHEN i.indisvalid;
            IF made THEN
                left_over := left_over + 1;
                CONTINUE;
            END IF;
            IF i.indisvalid IS FALSE THEN
                EXECUTE format('DROP INDEX %I.%I', t.nspname, 'snowflake_ids_index_' || i.oid);
            END IF;
            IF definitions IS NULL THEN
                EXECUTE format('SELECT %s.snowflake_ids_convert_rehearse($1, $2, $3, $4)', ext) INTO definitions
                USING relation, s.key_column, t.rel, f.type;
            END IF;
            PERFORM set_config('default_tablespace', coalesce(i.space, ''), true);
            EXECUTE format('CREATE %sINDEX %I ON %s %s', CASE WHEN i.is_unique THEN 'UNIQUE ' END,
                           'snowflake_ids_index_' || i.oid, t.rel, definitions ->> i.oid::text);
            made := true;
        END LOOP;
    END LOOP;
    RETURN left_over;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_index(regclass) IS 'internal: makes the next index on the new columns';

-- Before the last lock: constraints that spare it a reading of the tables, and statistics.
CREATE FUNCTION snowflake_ids_convert_check(relation regclass, validate boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    c record;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2)', ext) USING relation, s.key_column LOOP
        IF validate THEN
            IF c.early THEN
                EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', c.rel, 'snowflake_ids_check_' || c.attnum);
            END IF;
            EXECUTE format('ANALYZE %s (%I)', c.rel, c.shadow);
        ELSIF c.early THEN
            EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', c.rel, 'snowflake_ids_check_' || c.attnum,
                           CASE WHEN c.not_null THEN format('%I IS NOT NULL', c.shadow)
                                ELSE format('(%I IS NULL) = (%I IS NULL)', c.attname, c.shadow) END);
        END IF;
    END LOOP;
    FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_checks($1) WHERE twin IS NOT NULL AND made = $2', ext) USING relation, validate LOOP
        IF validate THEN
            EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', c.rel, c.twin);
        ELSE
            EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', c.rel, c.twin, c.condition);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_check(regclass, boolean) IS 'internal: constraints on the new columns, and their validation';

-- Removes the triggers and functions of a conversion.
CREATE FUNCTION snowflake_ids_convert_clear(relation regclass, key_column name) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    thing record;
    t record;
BEGIN
    FOR thing IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_things($1, $2)', ext) USING relation, key_column LOOP
        IF thing.kind = 'function' THEN
            FOR t IN SELECT tgname, tgrelid::regclass AS rel FROM pg_trigger WHERE tgfoid = thing.thing LOOP
                EXECUTE format('DROP TRIGGER %I ON %s', t.tgname, t.rel);
            END LOOP;
        END IF;
        EXECUTE format('DROP %s %s', thing.kind, thing.name);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_clear(regclass, name) IS 'internal: removes what a conversion needed meanwhile';

-- The last lock. What is to be made again is written down from the catalogs while the old columns are there, and run
-- when the new ones have their names. Returns the constraints that are still to be validated.
CREATE FUNCTION snowflake_ids_convert_swap(relation regclass) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    t record;
    c record;
    o record;
    problem text;
    missing boolean;
    first text[] := '{}';    -- with the old columns
    change text[] := '{}';
    again text[] := '{}';    -- with the new ones, first what others need
    last text[] := '{}';
    plain text[];            -- without the extension's schema on the search path
    later jsonb := '[]';
    statement text;
    borrowed text[];
    borrowed_now text[];
    borrowed_query text;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    EXECUTE format('SELECT %s.snowflake_ids_convert_lock($1, $2, ''ACCESS EXCLUSIVE'', false)', ext) USING relation, s.key_column;

    -- The tables may have been altered meanwhile.
    EXECUTE format('SELECT string_agg(o, E''\n'') FROM %s.snowflake_ids_convert_obstacles($1, $2, $3, true) AS o', ext)
    INTO problem USING relation, s.key_column, f.type;
    IF problem IS NULL THEN
        EXECUTE format('SELECT string_agg(format(''column %%s.%%I: refers to the key since the conversion began'', rel, attname), E''\n'')
                        FROM %s.snowflake_ids_convert_columns($1, $2) c
                        WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.rel AND a.attname = c.shadow)', ext)
        INTO problem USING relation, s.key_column;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot finish converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
    FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2)', ext) USING relation, s.key_column LOOP
        CONTINUE WHEN c.early;
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE (%I IS NULL) <> (%I IS NULL))', c.rel, c.attname, c.shadow) INTO missing;
        IF missing THEN
            RAISE EXCEPTION 'cannot finish converting %', relation
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      DETAIL = format('Rows of %s refer by %I to keys that do not exist.', c.rel, c.attname),
                      HINT = 'Mend them and call again, or give up with snowflake_ids_convert_undo().';
        END IF;
    END LOOP;

    EXECUTE format('SELECT %s.snowflake_ids_convert_violated($1)', ext) USING relation;

    -- Foreign keys first: they need the unique constraints on both sides of the change.
    FOR o IN EXECUTE format('SELECT DISTINCT k.oid, k.conrelid::regclass AS rel, k.conname, pg_get_constraintdef(k.oid) AS definition, k.convalidated
                             FROM pg_constraint k JOIN %s.snowflake_ids_convert_columns($1, $2) c ON c.rel = k.confrelid AND c.attnum = ANY (k.confkey)
                             WHERE k.contype = ''f'' ORDER BY k.oid', ext) USING relation, s.key_column LOOP
        first := first || format('ALTER TABLE %s DROP CONSTRAINT %I', o.rel, o.conname);
        last := last || format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', o.rel, o.conname, o.definition,
                               CASE WHEN o.convalidated THEN ' NOT VALID' ELSE '' END);
        IF obj_description(o.oid, 'pg_constraint') IS NOT NULL THEN
            last := last || format('COMMENT ON CONSTRAINT %I ON %s IS %L', o.conname, o.rel, obj_description(o.oid, 'pg_constraint'));
        END IF;
        IF o.convalidated THEN
            later := later || jsonb_build_object('rel', o.rel::oid, 'constraint', o.conname);
        END IF;
    END LOOP;

    FOR t IN EXECUTE format('SELECT c.rel, n.nspname, p.relowner, array_agg(c.attnum) AS attnums FROM %s.snowflake_ids_convert_columns($1, $2) c
                             JOIN pg_class p ON p.oid = c.rel JOIN pg_namespace n ON n.oid = p.relnamespace
                             GROUP BY c.rel, n.nspname, p.relowner ORDER BY c.rel <> $1, c.rel', ext) USING relation, s.key_column LOOP
        FOR o IN SELECT oid, tgname, pg_get_triggerdef(oid) AS definition, tgenabled FROM pg_trigger
                 WHERE tgrelid = t.rel AND NOT tgisinternal AND tgname !~ '^zz_snowflake_ids_'
                   AND EXISTS (SELECT FROM unnest(tgattr::int2[]) AS x WHERE x = ANY (t.attnums)) ORDER BY tgname LOOP
            first := first || format('DROP TRIGGER %I ON %s', o.tgname, t.rel);
            last := last || o.definition;
            IF o.tgenabled <> 'O' THEN
                last := last || format('ALTER TABLE %s %s TRIGGER %I', t.rel,
                    CASE o.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, o.tgname);
            END IF;
            IF obj_description(o.oid, 'pg_trigger') IS NOT NULL THEN
                last := last || format('COMMENT ON TRIGGER %I ON %s IS %L', o.tgname, t.rel, obj_description(o.oid, 'pg_trigger'));
            END IF;
        END LOOP;

        -- Publications that name the columns
        FOR o IN SELECT b.pubname,
                        (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                         WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::int2[])) AS names,
                        pg_get_expr(r.prqual, r.prrelid) AS condition
                 FROM pg_publication_rel r JOIN pg_publication b ON b.oid = r.prpubid
                 WHERE r.prrelid = t.rel AND r.prattrs::int2[] && t.attnums LOOP
            first := first || format('ALTER PUBLICATION %I DROP TABLE ONLY %s', o.pubname, t.rel);
            last := last || (format('ALTER PUBLICATION %I ADD TABLE ONLY %s (%s)', o.pubname, t.rel, o.names)
                             || CASE WHEN o.condition IS NOT NULL THEN ' WHERE (' || o.condition || ')' ELSE '' END);
        END LOOP;
        IF s.keep_position THEN
            -- PostgreSQL keeps everything else itself; it takes a new copy of the table, made under the lock.
            statement := '';
            FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE rel = $3', ext) USING relation, s.key_column, t.rel LOOP
                IF c.is_key THEN
                    change := change || format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY IF EXISTS', t.rel, c.attname)
                                     || format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', t.rel, c.attname);
                    again := again || format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', t.rel, c.attname, f.new_id);
                    FOR o IN SELECT format('%I.%I', n.nspname, p.relname) AS seq FROM pg_depend d JOIN pg_class p ON p.oid = d.objid AND p.relkind = 'S'
                                    JOIN pg_namespace n ON n.oid = p.relnamespace
                             WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.rel
                               AND d.refobjsubid = c.attnum AND d.deptype = 'a' LOOP
                        change := change || ('DROP SEQUENCE ' || o.seq);
                    END LOOP;
                END IF;
                change := change || format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', t.rel, 'snowflake_ids_check_' || c.attnum);
                statement := statement || format('%s ALTER COLUMN %I TYPE %s USING %I', CASE WHEN statement <> '' THEN ',' END, c.attname, f.type, c.shadow);
                again := again || format('ALTER TABLE %s DROP COLUMN %I', t.rel, c.shadow);
            END LOOP;
            change := change || format('ALTER TABLE %s %s', t.rel, statement);
            CONTINUE;
        END IF;

        -- Extended statistics go with their columns.
        FOR o IN SELECT e.oid, format('%I.%I', n.nspname, e.stxname) AS name, pg_get_statisticsobjdef(e.oid) AS definition,
                        pg_get_userbyid(e.stxowner) AS owner, (to_jsonb(e) ->> 'stxstattarget')::int AS target
                 FROM pg_statistic_ext e JOIN pg_namespace n ON n.oid = e.stxnamespace
                 WHERE e.stxrelid = t.rel AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_statistic_ext'::regclass AND d.objid = e.oid
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.rel AND d.refobjsubid = ANY (t.attnums)) LOOP
            first := first || ('DROP STATISTICS ' || o.name);
            last := last || o.definition || format('ALTER STATISTICS %s OWNER TO %I', o.name, o.owner);
            IF o.target >= 0 THEN
                last := last || format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.target);
            END IF;
            IF obj_description(o.oid, 'pg_statistic_ext') IS NOT NULL THEN
                last := last || format('COMMENT ON STATISTICS %s IS %L', o.name, obj_description(o.oid, 'pg_statistic_ext'));
            END IF;
        END LOOP;
        FOR o IN SELECT k.oid, k.conname, pg_get_constraintdef(k.oid) AS definition, k.convalidated, w.conname AS twin
                 FROM pg_constraint k LEFT JOIN pg_constraint w ON w.conrelid = t.rel AND w.convalidated AND w.conname = 'snowflake_ids_check_of_' || k.oid
                 WHERE k.conrelid = t.rel AND k.contype = 'c' AND k.conkey && t.attnums AND k.conname !~ '^snowflake_ids_check_' ORDER BY k.conname LOOP
            change := change || format('ALTER TABLE %s DROP CONSTRAINT %I', t.rel, o.conname);
            IF o.twin IS NOT NULL THEN
                again := again || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', t.rel, o.twin, o.conname);
            ELSE
                again := again || format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', t.rel, o.conname, o.definition,
                                         CASE WHEN o.convalidated THEN ' NOT VALID' ELSE '' END);
            END IF;
            IF obj_description(o.oid, 'pg_constraint') IS NOT NULL THEN
                again := again || format('COMMENT ON CONSTRAINT %I ON %s IS %L', o.conname, t.rel, obj_description(o.oid, 'pg_constraint'));
            END IF;
            IF o.convalidated AND o.twin IS NULL THEN
                later := later || jsonb_build_object('rel', t.rel::oid, 'constraint', o.conname);
            END IF;
        END LOOP;
        -- Twins of checks that were dropped meanwhile
        change := change || ARRAY(SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', t.rel, w.conname) FROM pg_constraint w
                                  WHERE w.conrelid = t.rel AND w.conname ~ '^snowflake_ids_check_of_' AND NOT EXISTS (SELECT FROM pg_constraint k
                                        WHERE k.conrelid = t.rel AND w.convalidated AND w.conname = 'snowflake_ids_check_of_' || k.oid));
        FOR o IN EXECUTE format('SELECT x.index::oid AS oid, p.relname AS name, i.indisclustered, i.indisreplident,
                                        k.oid AS conoid, k.contype, k.condeferrable, k.condeferred,
                                        obj_description(x.index, ''pg_class'') AS comment, obj_description(k.oid, ''pg_constraint'') AS concomment
                                 FROM %s.snowflake_ids_convert_indexes($1, $2) x JOIN pg_class p ON p.oid = x.index JOIN pg_index i ON i.indexrelid = x.index
                                      LEFT JOIN pg_constraint k ON k.conindid = x.index AND k.contype IN (''p'', ''u'')
                                 ORDER BY k.contype NULLS LAST, x.index', ext)
                 USING t.rel, t.attnums LOOP
            IF NOT EXISTS (SELECT FROM pg_index i JOIN pg_class p ON p.oid = i.indexrelid
                           WHERE i.indrelid = t.rel AND i.indisvalid AND p.relname = 'snowflake_ids_index_' || o.oid) THEN
                -- Made meanwhile: back a step.
                RETURN NULL;
            END IF;
            IF o.conoid IS NOT NULL THEN
                change := change || format('ALTER TABLE %s DROP CONSTRAINT %I', t.rel, o.name);
                again := again || format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I%s', t.rel, o.name,
                    CASE o.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, 'snowflake_ids_index_' || o.oid,
                    CASE WHEN o.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED' WHEN o.condeferrable THEN ' DEFERRABLE' ELSE '' END);
                IF o.concomment IS NOT NULL THEN
                    again := again || format('COMMENT ON CONSTRAINT %I ON %s IS %L', o.name, t.rel, o.concomment);
                END IF;
            ELSE
                change := change || format('DROP INDEX %I.%I', t.nspname, o.name);
                again := again || format('ALTER INDEX %I.%I RENAME TO %I', t.nspname, 'snowflake_ids_index_' || o.oid, o.name);
            END IF;
            again := again || ARRAY(SELECT format('ALTER TABLE %I.%I RENAME COLUMN %I TO %I', t.nspname, o.name, x.attname, a.attname)
                                    FROM pg_attribute x JOIN pg_attribute a ON a.attrelid = t.rel AND x.attname = 'snowflake_ids_new_' || a.attnum
                                    WHERE x.attrelid = (SELECT i.indexrelid FROM pg_index i JOIN pg_class p ON p.oid = i.indexrelid
                                                        WHERE i.indrelid = t.rel AND p.relname = 'snowflake_ids_index_' || o.oid));
            IF o.comment IS NOT NULL THEN
                again := again || format('COMMENT ON INDEX %I.%I IS %L', t.nspname, o.name, o.comment);
            END IF;
            again := again || ARRAY(SELECT format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', t.nspname, o.name, x.attnum, x.target)
                                    FROM (SELECT a.attnum, (to_jsonb(a) ->> 'attstattarget')::int AS target FROM pg_attribute a WHERE a.attrelid = o.oid) AS x
                                    WHERE x.target >= 0 ORDER BY x.attnum);
            IF o.indisclustered THEN
                again := again || format('ALTER TABLE %s CLUSTER ON %I', t.rel, o.name);
            END IF;
            IF o.indisreplident THEN
                again := again || format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', t.rel, o.name);
            END IF;
        END LOOP;
        FOR c IN EXECUTE format('SELECT c.*, a.attacl, (to_jsonb(a) ->> ''attstattarget'')::int AS target, a.attoptions FROM %s.snowflake_ids_convert_columns($1, $2) c
                                 JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum WHERE c.rel = $3', ext)
                 USING relation, s.key_column, t.rel LOOP
            IF c.not_null THEN
                -- Since 18 this is a constraint, with a name and perhaps a comment.
                SELECT oid, conname, connoinherit INTO o FROM pg_constraint WHERE conrelid = t.rel AND contype = 'n' AND conkey = ARRAY[c.attnum];
                IF o.oid IS NULL THEN
                    first := first || format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', t.rel, c.shadow);
                ELSE
                    first := first || format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', t.rel, 'snowflake_ids_not_null_' || c.attnum, c.shadow,
                                             CASE WHEN o.connoinherit THEN ' NO INHERIT' ELSE '' END);
                    again := again || format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', t.rel, 'snowflake_ids_not_null_' || c.attnum, o.conname);
                    IF obj_description(o.oid, 'pg_constraint') IS NOT NULL THEN
                        again := again || format('COMMENT ON CONSTRAINT %I ON %s IS %L', o.conname, t.rel, obj_description(o.oid, 'pg_constraint'));
                    END IF;
                END IF;
            END IF;
            change := change || format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', t.rel, 'snowflake_ids_check_' || c.attnum);
            change := change || format('ALTER TABLE %s DROP COLUMN %I', t.rel, c.attname)
                             || format('ALTER TABLE %s RENAME COLUMN %I TO %I', t.rel, c.shadow, c.attname);
            IF c.is_key THEN
                again := again || format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', t.rel, c.attname, f.new_id);
            END IF;
            IF c.target >= 0 THEN
                again := again || format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', t.rel, c.attname, c.target);
            END IF;
            IF c.attoptions IS NOT NULL THEN
                again := again || format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', t.rel, c.attname, array_to_string(c.attoptions, ', '));
            END IF;
            IF col_description(t.rel, c.attnum) IS NOT NULL THEN
                again := again || format('COMMENT ON COLUMN %s.%I IS %L', t.rel, c.attname, col_description(t.rel, c.attnum));
            END IF;
            again := again || ARRAY(SELECT format('GRANT %s (%I) ON %s TO %s%s', a.privilege_type, c.attname, t.rel,
                                           CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
                                           CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
                                    FROM aclexplode(c.attacl) AS a);
        END LOOP;
    END LOOP;

    EXECUTE format('SELECT %s.snowflake_ids_convert_clear($1, $2)', ext) USING relation, s.key_column;
    borrowed_query := format('SELECT ARRAY(SELECT unnest(%1$s.snowflake_ids_convert_borrowed(rel)) FROM %1$s.snowflake_ids_convert_columns($1, $2))', ext);
    EXECUTE borrowed_query INTO borrowed USING relation, s.key_column;
    -- Statistics may have expressions of the new type. Triggers and the like have none.
    plain := ARRAY(SELECT l FROM unnest(last) WITH ORDINALITY AS l (l, n) WHERE l !~ '^(CREATE|ALTER|COMMENT ON) STATISTICS' ORDER BY n);
    change := first || change || again || ARRAY(SELECT l FROM unnest(last) WITH ORDINALITY AS l (l, n)
                                                WHERE l ~ '^(CREATE|ALTER|COMMENT ON) STATISTICS' ORDER BY n);
    -- Expressions of the new type need the operators of that type. Nothing of ours may be looked up on that path.
    PERFORM set_config('search_path', concat_ws(', ', 'pg_catalog', CASE WHEN f.type = ext || '.sno' THEN ext END, 'pg_temp'), true);
    FOREACH statement IN ARRAY change LOOP
        EXECUTE statement;
    END LOOP;
    -- Obstacles asked whether others have made there what expressions would use. It may have come since.
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOREACH statement IN ARRAY plain LOOP
        EXECUTE statement;
    END LOOP;
    EXECUTE borrowed_query INTO borrowed_now USING relation, s.key_column;
    SELECT string_agg(format('an expression would use %s, not of the extension', b), E'\n') INTO problem
    FROM (SELECT unnest(borrowed_now) EXCEPT SELECT unnest(borrowed)) AS n (b);
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot finish converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
    RETURN later;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_swap(regclass) IS 'internal: puts the new columns in the places of the old ones';

CREATE FUNCTION snowflake_ids_convert_undo(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    c record;
    problem text;
    ours oid[];
    dropped text[] := '{}';
    statement text;
BEGIN
    EXECUTE format('SELECT %s.snowflake_ids_convert_given($1)', ext) USING jsonb_build_object('relation', relation);
    EXECUTE format('SELECT FROM %s.snowflake_ids_my_conversions WHERE relation = $1 FOR UPDATE NOWAIT', ext) USING relation;
    EXECUTE format('SELECT %s.snowflake_ids_convert_renamed($1)', ext) USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    IF s.relation IS NULL OR s.phase IN ('validate', 'done') THEN
        RAISE EXCEPTION '% is not being converted', relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN s.relation IS NULL THEN 'No conversion of it that you may undo was begun.'
                                ELSE 'Its new keys are in place, and the old ones are gone.' END;
    END IF;
    EXECUTE format('SELECT %s.snowflake_ids_convert_lock($1, $2, ''ACCESS EXCLUSIVE'', true)', ext) USING relation, s.key_column;
    EXECUTE format('SELECT string_agg(format(''%%s %%s belongs to %%I'', kind, name, owner), E''\n'')
                    FROM %s.snowflake_ids_convert_things($1, $2) WHERE NOT may_drop', ext) INTO problem USING relation, s.key_column;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot give up converting %', relation
            USING ERRCODE = 'insufficient_privilege', DETAIL = problem,
                  HINT = 'Give them the owner that the table has now, or let a superuser call.';
    END IF;
    FOR c IN EXECUTE format('SELECT d.* FROM %s.snowflake_ids_convert_dropped($1, $2) d JOIN pg_class p ON p.oid = d.rel
                             WHERE pg_has_role(p.relowner, ''USAGE'')', ext) USING relation, s.key_column LOOP
        dropped := dropped || format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, DROP COLUMN %I', c.rel, 'snowflake_ids_check_' || c.attnum, c.shadow);
    END LOOP;
    -- A table of somebody else is none of it, whatever its columns are called, unless it was given away meanwhile.
    EXECUTE format('SELECT array_agg(g.tgrelid) FROM %s.snowflake_ids_convert_things($1, $2) t JOIN pg_trigger g ON g.tgfoid = t.thing
                    WHERE t.kind = ''function''', ext) INTO ours USING relation, s.key_column;
    EXECUTE format('SELECT %s.snowflake_ids_convert_clear($1, $2)', ext) USING relation, s.key_column;
    FOREACH statement IN ARRAY dropped LOOP
        EXECUTE statement;
    END LOOP;
    FOR c IN EXECUTE format('SELECT c.* FROM %s.snowflake_ids_convert_columns($1, $2) c JOIN pg_class p ON p.oid = c.rel
                             WHERE pg_has_role(p.relowner, ''USAGE'')
                               AND (p.oid = ANY ($3) OR p.relowner = (SELECT relowner FROM pg_class WHERE oid = $1))', ext)
             USING relation, s.key_column, ours LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, DROP COLUMN IF EXISTS %I', c.rel, 'snowflake_ids_check_' || c.attnum, c.shadow);
    END LOOP;
    EXECUTE format('DELETE FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) USING relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_undo(regclass) IS 'gives up a conversion whose new keys are not in place yet';
