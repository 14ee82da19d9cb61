-- Converting a key: what it will touch, and what stands in the way.

-- The key, and all columns that refer to it through foreign keys, directly or through others.
CREATE FUNCTION snowflake_ids_convert_columns(
    relation regclass, key_column name,
    OUT rel regclass, OUT attnum int2, OUT attname name, OUT shadow name, OUT is_key boolean, OUT not_null boolean,
    OUT early boolean, OUT coll text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH RECURSIVE c (rel, attnum) AS (
        SELECT a.attrelid, a.attnum FROM pg_attribute a
        WHERE a.attrelid = relation AND a.attname = key_column AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT f.conrelid, k.att
        FROM c JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = c.rel
             CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
        WHERE k.ref = c.attnum)
    SELECT c.rel, c.attnum, a.attname, ('snowflake_ids_new_' || c.attnum)::name,
           c.rel = relation AND a.attname = key_column, a.attnotnull,
           -- Whether the new value is there as soon as a row is: not where the row referred to may come later.
           NOT EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = c.rel AND c.attnum = ANY (f.conkey)
                       AND (f.condeferrable OR f.confrelid = f.conrelid)),
           -- Columns may have another collation than the key that they refer to. As in the foreign key, that of the key decides.
           coalesce((SELECT format(' COLLATE %I.%I', n.nspname, o.collname)
                     FROM pg_attribute k JOIN pg_collation o ON o.oid = k.attcollation JOIN pg_namespace n ON n.oid = o.collnamespace
                     WHERE k.attrelid = relation AND k.attname = key_column), '')
    FROM c JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
    ORDER BY c.rel <> relation, c.rel, c.attnum
$$;
COMMENT ON FUNCTION snowflake_ids_convert_columns(regclass, name) IS 'internal: a key and the columns that refer to it';

-- Indexes that a conversion has to make anew. The definition of an index is taken apart after its USING.
CREATE FUNCTION snowflake_ids_convert_indexes(
    target regclass, attnums int2[], OUT index regclass, OUT rest text, OUT is_unique boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT i.indexrelid,
           substr(pg_get_indexdef(i.indexrelid),
                  length(format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, c.relname,
                                tn.nspname, t.relname)) + 1),
           i.indisunique, i.indisvalid
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
    WHERE i.indrelid = target AND c.relname !~ '^snowflake_ids_index_'
      AND (string_to_array(i.indkey::text, ' ')::int2[] && attnums
           OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = target AND d.refobjsubid = ANY (attnums)))
    ORDER BY i.indexrelid
$$;
COMMENT ON FUNCTION snowflake_ids_convert_indexes(regclass, int2[]) IS 'internal: indexes on some columns of a table, and their definitions from USING on';

-- What a conversion has made beside its tables: trigger functions, and the table of which id each key gets. Others may
-- use the same names, in schemas of theirs. They belong to the owner of the table, even if it has moved to another
-- schema; or, if it has got another owner since, triggers call them that only the owner of a table makes (ENABLE ALWAYS).
CREATE FUNCTION snowflake_ids_convert_things(
    relation regclass, key_column name, OUT kind text, OUT thing oid, OUT name text, OUT owner name, OUT may_drop boolean
) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    tables oid[];
    owners oid[];
    f record;
BEGIN
    EXECUTE format('SELECT array_agg(rel::oid) FROM %s.snowflake_ids_convert_columns($1, $2)', ext) INTO tables USING relation, key_column;
    owners := ARRAY(SELECT relowner FROM pg_class WHERE oid = relation
                    UNION SELECT p.proowner FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
                    WHERE g.tgrelid = ANY (tables) AND g.tgname ~ '^zz_snowflake_ids_' AND g.tgenabled = 'A');
    FOR f IN SELECT p.oid, p.proowner, format('%I.%I()', n.nspname, p.proname) AS name,
                    pg_has_role(p.proowner, 'USAGE') OR pg_has_role(n.nspowner, 'USAGE') AS may_drop
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
             WHERE p.proname BETWEEN 'snowflake_ids_' AND 'snowflake_ids_zzz'    -- for the index
               AND p.proname ~ format('^snowflake_ids_[a-z]+_%s(_[0-9]+)?$', relation::oid)
               AND p.pronargs = 0 AND (p.prorettype = 'trigger'::regtype OR p.proname = 'snowflake_ids_draw_' || relation::oid)
               AND p.proowner = ANY (owners) LOOP
        kind := 'function';
        thing := f.oid;
        name := f.name;
        owner := pg_get_userbyid(f.proowner);
        may_drop := f.may_drop;
        RETURN NEXT;
    END LOOP;
    FOR f IN SELECT c.oid, c.relowner, format('%I.%I', n.nspname, c.relname) AS name,
                    pg_has_role(c.relowner, 'USAGE') OR pg_has_role(n.nspowner, 'USAGE') AS may_drop
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE c.relname = 'snowflake_ids_map_' || relation::oid AND c.relkind = 'r' AND c.relpersistence <> 't'
               AND c.relowner = ANY (owners) LOOP
        kind := 'table';
        thing := f.oid;
        name := f.name;
        owner := pg_get_userbyid(f.relowner);
        may_drop := f.may_drop;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_things(regclass, name) IS 'internal: functions and the table that a conversion has made beside its tables';

-- A step evaluates code of the tables: their checks, expressions of their indexes, their triggers. It has the rights of
-- the caller, so he must be the owner of all of them, no less and no more.
CREATE FUNCTION snowflake_ids_convert_strangers(relation regclass, key_column name) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = relation);
    t record;
BEGIN
    IF owner <> current_user THEN
        RETURN NEXT format('table %s: must be its owner; first SET ROLE %I', relation, owner);
    END IF;
    FOR t IN EXECUTE format('SELECT DISTINCT c.rel, pg_get_userbyid(p.relowner) AS owner FROM %s.snowflake_ids_convert_columns($1, $2) c
                             JOIN pg_class p ON p.oid = c.rel ORDER BY c.rel', ext) USING relation, key_column LOOP
        IF t.owner <> owner THEN
            RETURN NEXT format('table %s: refers to the key, and belongs to %I, not to %I', t.rel, t.owner, owner);
        END IF;
    END LOOP;
    FOR t IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_things($1, $2)', ext) USING relation, key_column LOOP
        IF t.owner <> owner THEN
            RETURN NEXT format('%s %s: belongs to %I; first ALTER %s %s OWNER TO %I', t.kind, t.name, t.owner, upper(t.kind), t.name, owner);
        END IF;
    END LOOP;
    FOR t IN EXECUTE format('SELECT rel, coalesce(attname, shadow) AS name FROM %s.snowflake_ids_convert_dropped($1, $2)', ext)
             USING relation, key_column LOOP
        RETURN NEXT format('table %s: column %I referred to the key when the conversion began, and does not now; give it its foreign key again', t.rel, t.name);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_strangers(regclass, name) IS 'internal: tables that are not the caller''s own, or that the conversion has lost';

-- Expressions are read again for a key that is a sno, with the extension's schema on the search path: its operators are
-- there. Others may create there, too, what would fit better. This is what expressions of a table use of that.
CREATE FUNCTION snowflake_ids_convert_borrowed(target regclass) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(array_agg(DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0)), '{}')
    FROM pg_extension e,
         (SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = target
          UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = target
          UNION ALL SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = target
          UNION ALL SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite WHERE ev_class = target) AS o (class, oid)
         JOIN pg_depend d ON d.classid = o.class AND d.objid = o.oid
         LEFT JOIN pg_operator op ON d.refclassid = 'pg_operator'::regclass AND op.oid = d.refobjid
         LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
    WHERE e.extname = 'snowflake_ids' AND e.extnamespace IN (op.oprnamespace, p.pronamespace)
      AND NOT EXISTS (SELECT FROM pg_depend m WHERE m.classid = d.refclassid AND m.objid = d.refobjid AND m.deptype = 'e'
                      AND m.refclassid = 'pg_extension'::regclass AND m.refobjid = e.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert_borrowed(regclass) IS 'internal: operators and functions in the schema of the extension, but not of it, that expressions of a relation use';

-- Tries the new type on an empty copy of a table: PostgreSQL itself says whether the constraints and indexes can take
-- it, and how the indexes are written on the shadow columns.
CREATE FUNCTION snowflake_ids_convert_rehearse(relation regclass, key_column name, target regclass, type text) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    schema_name name := (SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = target);
    copy_name name := 'snowflake_ids_copy_' || target::oid;
    copy text := format('%I.%I', schema_name, copy_name);
    probe text := format('%I.%I', schema_name, 'snowflake_ids_probe_' || target::oid);
    attnums int2[];
    names name[];
    shadows name[];
    item record;
    change text;
    definitions jsonb := '{}';
    decoys text[];
    wide text := concat_ws(', ', 'pg_catalog', CASE WHEN type = ext || '.sno' THEN ext END, 'pg_temp');
BEGIN
    -- What is tried here runs code of the table. Nothing was locked, so it is not enough that this was asked before.
    IF current_user <> (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = target) THEN
        RAISE EXCEPTION 'must be owner of table %', target USING ERRCODE = 'insufficient_privilege';
    END IF;
    EXECUTE format('SELECT array_agg(attnum), array_agg(attname), array_agg(shadow) FROM %s.snowflake_ids_convert_columns($1, $2)
                    WHERE rel = $3', ext) INTO attnums, names, shadows USING relation, key_column, target;
    EXECUTE format('CREATE TABLE %s (LIKE %s)', copy, target);
    FOR i IN 1 .. cardinality(names) LOOP
        EXECUTE format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', copy, shadows[i]);
    END LOOP;
    change := format('ALTER TABLE %s ', copy)
              || (SELECT string_agg(format('ALTER COLUMN %I TYPE %s USING NULL', n, type), ', ') FROM unnest(names) AS n);
    IF type = ext || '.sno' THEN
        -- First what each expression means then, in a view: that evaluates nothing. A table like the copy has the types.
        EXECUTE format('CREATE TABLE %s (LIKE %s)', probe, copy);
        EXECUTE replace(change, 'ALTER TABLE ' || copy, 'ALTER TABLE ' || probe);
        FOR item IN SELECT 1 AS kind, conname AS name, pg_get_expr(conbin, conrelid) AS expression FROM pg_constraint
                    WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
                    UNION SELECT 2, indexrelid::regclass::text::name, pg_get_indexdef(indexrelid, n, false) FROM pg_index CROSS JOIN LATERAL generate_series(1, indnkeyatts) AS n
                    WHERE indrelid = target AND indkey[n - 1] = 0
                    UNION SELECT 3, indexrelid::regclass::text::name, pg_get_expr(indpred, indrelid) FROM pg_index WHERE indrelid = target AND indpred IS NOT NULL
                    UNION SELECT 4, stxname, e FROM pg_statistic_ext CROSS JOIN LATERAL unnest(pg_get_statisticsobjdef_expressions(oid)) AS e
                    WHERE stxrelid = target ORDER BY 1, 2, 3 LOOP
            CONTINUE WHEN item.expression ~ '\msnowflake_ids_new_[0-9]';
            PERFORM set_config('search_path', wide, true);
            EXECUTE format('CREATE VIEW %s_view AS SELECT %s AS x FROM %1$s', probe, item.expression);
            PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
            EXECUTE format('SELECT ARRAY(SELECT unnest(%1$s.snowflake_ids_convert_borrowed($1)) EXCEPT SELECT unnest(%1$s.snowflake_ids_convert_borrowed($2)))', ext)
            INTO decoys USING (probe || '_view')::regclass, target;
            IF decoys <> '{}' THEN
                RAISE EXCEPTION 'expression % would use %, not of the extension', item.expression, array_to_string(decoys, ', ')
                    USING ERRCODE = 'ambiguous_function';
            END IF;
            EXECUTE format('DROP VIEW %s_view', probe);
        END LOOP;
        EXECUTE format('DROP TABLE %s', probe);
    END IF;
    FOR item IN SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
                WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_' LOOP
        EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', copy, item.conname, item.definition);
    END LOOP;
    FOR item IN EXECUTE format('SELECT *, index::oid AS oid FROM %s.snowflake_ids_convert_indexes($1, $2)', ext) USING target, attnums LOOP
        EXECUTE format('CREATE %sINDEX %I ON %s %s', CASE WHEN item.is_unique THEN 'UNIQUE ' END,
                       'snowflake_ids_copy_' || target::oid || '_' || item.oid, copy, item.rest);
    END LOOP;
    FOR item IN SELECT e.oid FROM pg_statistic_ext e WHERE e.stxrelid = target AND EXISTS (SELECT FROM pg_depend d
                WHERE d.classid = 'pg_statistic_ext'::regclass AND d.objid = e.oid AND d.refclassid = 'pg_class'::regclass
                              AND d.refobjid = target AND d.refobjsubid = ANY (attnums)) LOOP
        EXECUTE format('CREATE STATISTICS %I.%I ON %s FROM %s', schema_name, 'snowflake_ids_copy_' || target::oid || '_of_' || item.oid,
                       pg_get_statisticsobjdef_columns(item.oid), copy);
    END LOOP;
    -- Expressions of the new type need the operators of that type. Nothing of ours may be looked up on that path.
    PERFORM set_config('search_path', wide, true);
    EXECUTE change;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR i IN 1 .. cardinality(names) LOOP
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', copy, names[i], shadows[i]);
    END LOOP;
    FOR item IN SELECT substring(c.relname FROM '[0-9]+$') AS original,
                       substr(pg_get_indexdef(c.oid), length(format('CREATE %sINDEX %I ON %s ', CASE WHEN indisunique THEN 'UNIQUE ' END,
                                                                    c.relname, copy)) + 1) AS rest
                FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = copy::regclass LOOP
        definitions := definitions || jsonb_build_object(item.original, item.rest);
    END LOOP;
    FOR item IN SELECT t.oid AS original, pg_get_expr(c.conbin, c.conrelid) AS rest
                FROM pg_constraint c JOIN pg_constraint t ON t.conrelid = target AND t.contype = 'c' AND t.conname = c.conname
                WHERE c.conrelid = copy::regclass AND c.contype = 'c' LOOP
        definitions := definitions || jsonb_build_object('check ' || item.original, item.rest);
    END LOOP;
    -- It may have come since.
    EXECUTE format('SELECT ARRAY(SELECT unnest(%1$s.snowflake_ids_convert_borrowed($1)) EXCEPT SELECT unnest(%1$s.snowflake_ids_convert_borrowed($2)))', ext)
    INTO decoys USING copy::regclass, target;
    IF decoys <> '{}' THEN
        RAISE EXCEPTION 'an expression would use %, not of the extension', array_to_string(decoys, ', ') USING ERRCODE = 'ambiguous_function';
    END IF;
    EXECUTE format('DROP TABLE %s', copy);
    RETURN definitions;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_rehearse(regclass, name, regclass, text) IS 'internal: indexes and checks of a table as they are on the new columns; error if something cannot take the new type';

-- What the catalogs say against it. Asked before anything changes, and again under the last lock.
CREATE FUNCTION snowflake_ids_convert_obstacles(relation regclass, key_column name, type text, fire_triggers boolean)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    t record;
    item record;
    mine boolean := true;
BEGIN
    FOR item IN EXECUTE format('SELECT s FROM %s.snowflake_ids_convert_strangers($1, $2) AS s', ext) USING relation, key_column LOOP
        mine := false;
        RETURN NEXT item.s;
    END LOOP;
    -- The rest depends on who asks.
    IF NOT mine THEN
        RETURN;
    END IF;
    FOR t IN EXECUTE format('SELECT c.rel, array_agg(c.attnum) AS attnums, p.*,
                                    has_schema_privilege(p.relnamespace, ''CREATE'') AS can_create
                             FROM %s.snowflake_ids_convert_columns($1, $2) c JOIN pg_class p ON p.oid = c.rel
                             GROUP BY c.rel, p.oid ORDER BY c.rel <> $1, c.rel', ext) USING relation, key_column LOOP
        IF t.relkind = 'p' OR t.relispartition THEN
            RETURN NEXT format('table %s: partitioned tables and partitions are not supported', t.rel);
            CONTINUE;
        ELSIF t.relkind <> 'r' THEN
            RETURN NEXT format('%s: is not a table', t.rel);
            CONTINUE;
        ELSIF t.relpersistence = 't' THEN
            RETURN NEXT format('table %s: is temporary', t.rel);
        ELSIF EXISTS (SELECT FROM pg_inherits WHERE t.rel IN (inhrelid, inhparent)) OR t.reloftype <> 0 THEN
            RETURN NEXT format('table %s: inheritance and typed tables are not supported', t.rel);
        END IF;
        IF NOT t.can_create THEN
            RETURN NEXT format('table %s: permission to create in its schema is needed', t.rel);
        END IF;
        IF row_security_active(t.rel) THEN
            RETURN NEXT format('table %s: row security hides rows from its owner (FORCE ROW LEVEL SECURITY)', t.rel);
        END IF;
        -- What uses a column, but for what can be made again: defaults and sequences of its own, constraints, plain
        -- indexes, statistics, publications' column lists, UPDATE OF triggers.
        FOR item IN
            SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) AS what, a.attname
            FROM pg_depend d JOIN pg_attribute a ON a.attrelid = t.rel AND a.attnum = d.refobjsubid
            WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = t.rel AND d.refobjsubid = ANY (t.attnums)
              AND NOT CASE d.classid
                  WHEN 'pg_attrdef'::regclass THEN
                      EXISTS (SELECT FROM pg_attrdef ad WHERE ad.oid = d.objid AND ad.adnum = d.refobjsubid
                              AND a.attgenerated = '')
                  WHEN 'pg_class'::regclass THEN
                      EXISTS (SELECT FROM pg_class c WHERE c.oid = d.objid AND c.relkind IN ('i', 'S'))
                  WHEN 'pg_constraint'::regclass THEN
                      EXISTS (SELECT FROM pg_constraint c WHERE c.oid = d.objid AND c.contype IN ('p', 'u', 'c', 'f', 'n'))
                  WHEN 'pg_statistic_ext'::regclass THEN true
                  WHEN 'pg_publication_rel'::regclass THEN
                      EXISTS (SELECT FROM pg_publication_rel p JOIN pg_publication b ON b.oid = p.prpubid
                              WHERE p.oid = d.objid AND pg_has_role(b.pubowner, 'USAGE')
                                AND coalesce(p.prqual::text !~ (':varattno ' || d.refobjsubid || ' '), true))
                  WHEN 'pg_trigger'::regclass THEN
                      EXISTS (SELECT FROM pg_trigger g WHERE g.oid = d.objid
                              AND (g.tgname ~ '^zz_snowflake_ids_'
                                   OR coalesce(g.tgqual::text !~ (':varattno ' || d.refobjsubid || ' '), true)))
                  ELSE false END
            ORDER BY 1 LOOP
            RETURN NEXT format('column %s.%I: %s depends on it', t.rel, item.attname, item.what);
        END LOOP;
        FOR item IN SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) AS what, c.conname
                    FROM pg_constraint c JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = c.oid AND d.deptype = 'n'
                    WHERE c.conrelid = t.rel AND c.conkey && t.attnums AND d.classid <> 'pg_constraint'::regclass ORDER BY 1 LOOP
            RETURN NEXT format('table %s: %s depends on constraint %I', t.rel, item.what, item.conname);
        END LOOP;
        FOR item IN EXECUTE format('SELECT f.conname, f.conrelid::regclass AS other, x.index FROM %s.snowflake_ids_convert_indexes($1, $2) x
                                    JOIN pg_constraint f ON f.contype = ''f'' AND f.conindid = x.index
                                    WHERE NOT f.confkey && $2 ORDER BY 1', ext) USING t.rel, t.attnums LOOP
            RETURN NEXT format('table %s: foreign key %I of %s needs index %s, which is made anew; drop it before and make it after',
                               t.rel, item.conname, item.other, item.index);
        END LOOP;
        FOR item IN SELECT a.attname, a.atttypid FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid
                    WHERE a.attrelid = t.rel AND a.attnum = ANY (t.attnums) AND y.typtype = 'd' LOOP
            RETURN NEXT format('column %s.%I: is of domain %s, which would be lost', t.rel, item.attname, format_type(item.atttypid, NULL));
        END LOOP;
        FOR item IN SELECT p.proname FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
                    WHERE g.tgrelid = t.rel AND g.tgname = 'zz_snowflake_ids_2_insert' AND p.proname <> format('snowflake_ids_follow_%s_%s', relation::oid, t.rel::oid)
                      AND t.attnums <> ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = relation AND attname = key_column AND t.rel = relation) LOOP
            RETURN NEXT format('table %s: refers to another key that is being converted; finish that first', t.rel);
        END LOOP;
        FOR item IN SELECT rulename FROM pg_rewrite WHERE ev_class = t.rel AND ev_type = '2' AND ev_enabled <> 'D' ORDER BY 1 LOOP
            RETURN NEXT format('table %s: rule %I is for UPDATE, which the conversion does', t.rel, item.rulename);
        END LOOP;
        FOR item IN SELECT tgname FROM pg_trigger WHERE tgrelid = t.rel AND NOT tgisinternal AND tgtype & 3 = 3 AND tgtype & 20 <> 0
                    AND tgenabled <> 'D' AND tgname > 'zz_snowflake_ids_' AND tgname !~ '^zz_snowflake_ids_\d_' ORDER BY 1 LOOP
            RETURN NEXT format('table %s: trigger %I fires after those of a conversion, which would miss what it changes; rename it to sort '
                               'before zz_snowflake_ids. A conversion in which it fired must be given up', t.rel, item.tgname);
        END LOOP;
        FOR item IN
            SELECT c.conname, c.contype, a.attname, c.confrelid::regclass AS other
            FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = t.rel AND a.attnum = ANY (t.attnums) AND a.attnum = ANY (c.conkey)
            WHERE c.conrelid = t.rel AND c.contype IN ('p', 'u')
              AND NOT EXISTS (SELECT FROM pg_class i JOIN pg_am m ON m.oid = i.relam WHERE i.oid = c.conindid AND m.amname = 'btree') LOOP
            RETURN NEXT format('column %s.%I: constraint %I is not a btree', t.rel, item.attname, item.conname);
        END LOOP;
        FOR item IN EXECUTE format(
            'SELECT f.conname, a.attname, f.confrelid::regclass AS other
             FROM pg_constraint f CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
                  JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.att
             WHERE f.contype = ''f'' AND f.conrelid = $3 AND k.att = ANY ($4)
               AND NOT EXISTS (SELECT FROM %s.snowflake_ids_convert_columns($1, $2) c WHERE c.rel = f.confrelid AND c.attnum = k.ref)',
            ext) USING relation, key_column, t.rel, t.attnums LOOP
            RETURN NEXT format('column %s.%I: refers to another key, in %s (foreign key %I)', t.rel, item.attname, item.other, item.conname);
        END LOOP;
        -- The key's default is replaced. That of a column that refers to it would be an old key.
        FOR item IN SELECT a.attname FROM pg_attribute a WHERE a.attrelid = t.rel AND a.attnum = ANY (t.attnums)
                    AND (a.atthasdef OR a.attidentity <> '') AND NOT (t.rel = relation AND a.attname = key_column) LOOP
            RETURN NEXT format('column %s.%I: has a default, which is an old key', t.rel, item.attname);
        END LOOP;
        FOR item IN SELECT d.refobjid::regclass AS seq, pg_describe_object(o.classid, o.objid, o.objsubid) AS what
                    FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
                         JOIN pg_depend o ON o.refclassid = 'pg_class'::regclass AND o.refobjid = s.oid AND o.deptype = 'n'
                    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.rel
                      AND d.refobjsubid = ANY (t.attnums) AND d.deptype IN ('a', 'i')
                      AND NOT EXISTS (SELECT FROM pg_attrdef ad WHERE o.classid = 'pg_attrdef'::regclass AND ad.oid = o.objid
                                      AND ad.adrelid = t.rel AND ad.adnum = ANY (t.attnums)) LOOP
            RETURN NEXT format('table %s: %s uses the sequence of the key', t.rel, item.what);
        END LOOP;
        FOR item IN EXECUTE format('SELECT index FROM %s.snowflake_ids_convert_indexes($1, $2) WHERE NOT valid', ext)
                    USING t.rel, t.attnums LOOP
            RETURN NEXT format('index %s: is not valid; rebuild or drop it', item.index);
        END LOOP;
        IF EXISTS (SELECT FROM pg_seclabel WHERE classoid = 'pg_class'::regclass AND objoid = t.rel AND objsubid = ANY (t.attnums)) THEN
            RETURN NEXT format('table %s: a column has a security label', t.rel);
        END IF;
        IF NOT fire_triggers AND NOT has_parameter_privilege('session_replication_role', 'SET') THEN
            FOR item IN SELECT tgname FROM pg_trigger WHERE tgrelid = t.rel AND NOT tgisinternal AND tgtype & 16 <> 0
                        AND tgattr::text = '' AND tgenabled IN ('O', 'A') AND tgname !~ '^zz_snowflake_ids_' ORDER BY 1 LOOP
                RETURN NEXT format('table %s: trigger %I would fire for every row; set fire_triggers, or have '
                                   'SET on session_replication_role granted', t.rel, item.tgname);
            END LOOP;
        END IF;
        BEGIN
            EXECUTE format('SELECT %s.snowflake_ids_convert_rehearse($1, $2, $3, $4)', ext) USING relation, key_column, t.rel, type;
        EXCEPTION
            WHEN query_canceled OR lock_not_available THEN RAISE;
            WHEN OTHERS THEN RETURN NEXT format('table %s: %s', t.rel, SQLERRM);
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_obstacles(regclass, name, text, boolean) IS 'internal: why the key of a table cannot be converted, as far as the catalogs show';
