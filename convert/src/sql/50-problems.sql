-- Problems that the catalogs show. All are checked before anything changes, most again in phases prepare and swap.

CREATE FUNCTION snowflake_ids_convert.table_problems(target regclass) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    class pg_class := (SELECT c FROM pg_class c WHERE c.oid = target);
BEGIN
    IF class.relkind = 'p' OR class.relispartition THEN
        RETURN NEXT format('table %s: partitioned tables and partitions are not supported', target);
        RETURN;
    ELSIF class.relkind <> 'r' THEN
        RETURN NEXT format('%s: is not a table', target);
        RETURN;
    ELSIF class.relpersistence = 't' THEN
        RETURN NEXT format('table %s: is temporary', target);
    ELSIF EXISTS (SELECT FROM pg_inherits WHERE target IN (inhrelid, inhparent)) OR class.reloftype <> 0 THEN
        RETURN NEXT format('table %s: inheritance and typed tables are not supported', target);
    END IF;
    IF NOT has_schema_privilege(class.relnamespace, 'CREATE') THEN
        RETURN NEXT format('table %s: the CREATE privilege on its schema is needed', target);
    END IF;
    IF row_security_active(target) THEN
        RETURN NEXT format('table %s: row security hides rows from its owner (FORCE ROW LEVEL SECURITY)', target);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.table_problems
    IS 'internal: why a table cannot be converted, without a look at its columns';

-- A converted bigint key looks like any other, so a repeated call would number all rows again. Its default shows the
-- conversion, also after a restore without the state.
CREATE FUNCTION snowflake_ids_convert.key_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: has been converted to %s; to number its rows again, first ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT',
                  job.relation, job.key_column, job.format)
    WHERE job.new_id = (SELECT pg_get_expr(adbin, adrelid)
                        FROM pg_attrdef
                        WHERE adrelid = job.relation AND adnum = job.key_attnum)
    UNION ALL
    SELECT format(CASE WHEN pg_get_userbyid(c.relowner) = current_user
                       THEN 'table %s: is the map of an earlier conversion; copy what you need of it, then SELECT snowflake_ids_convert_forget(%L)'
                       ELSE 'table %s: has the name that the map will have; drop or rename it'
                  END, c.oid::regclass, job.relation)
    FROM pg_class c
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = job.relation)
      AND c.relname = 'snowflake_ids_map_' || job.relation::oid
      AND NOT EXISTS (SELECT
                      FROM snowflake_ids_convert.my_conversion s
                      WHERE s.relation = job.relation AND s.phase NOT IN ('validate', 'done'))
    UNION ALL
    SELECT format('column %s.%I: may be null', job.relation, job.key_column)
    WHERE EXISTS (SELECT FROM pg_attribute WHERE attrelid = job.relation AND attnum = job.key_attnum AND NOT attnotnull)
    UNION ALL
    SELECT format('column %s.%I: is not unique by itself; create a unique index on it', job.relation, job.key_column)
    WHERE NOT EXISTS (SELECT
                      FROM pg_index
                      WHERE indrelid = job.relation
                        AND indisunique
                        AND indisvalid
                        AND indimmediate
                        AND indpred IS NULL
                        AND indnkeyatts = 1
                        AND indkey[0] = job.key_attnum)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.key_problems IS 'internal: why a column cannot be converted as a key';

-- The tables must belong to the role that runs the conversion, and what earlier phases made must exist.
CREATE FUNCTION snowflake_ids_convert.owner_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN QUERY
    SELECT format('table %s: refers to the key, but its owner is %I, not %I', t.rel, pg_get_userbyid(c.relowner),
                  current_user)
    FROM snowflake_ids_convert.tables(job) t
         JOIN pg_class c ON c.oid = t.rel
    WHERE pg_get_userbyid(c.relowner) <> current_user
    ORDER BY t.rel;
    RETURN QUERY
    SELECT format('table %s: is not being converted, or lost the trigger zz_snowflake_ids_1_key', job.relation)
    WHERE job.phase <> 'prepare'
      AND NOT EXISTS (SELECT FROM snowflake_ids_convert.columns(job) WHERE is_key AND filled);
    RETURN QUERY
    SELECT format('table %s: there is no table %I that belongs to %I', job.relation,
                  'snowflake_ids_map_' || job.relation::oid, current_user)
    WHERE job.phase NOT IN ('prepare', 'number') AND job.map IS NULL;
    -- The triggers still fill this column, but the changeover would not replace it.
    RETURN QUERY
    SELECT format('table %s: column %I no longer refers to the key; add its foreign key again', a.rel,
                  coalesce(a.attname, a.shadow))
    FROM snowflake_ids_convert.added_columns(job.relation) a
    WHERE (a.rel::oid, a.attnum) NOT IN (SELECT c.rel::oid, c.attnum FROM snowflake_ids_convert.columns(job) c)
    ORDER BY a.rel, a.attnum;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.owner_problems
    IS 'internal: tables of other owners, and what the conversion has made and lost';

-- Objects that must not exist at the changeover, for example views. Omitted are those that it creates again: defaults
-- and sequences of the columns, constraints, indexes, statistics, column lists of publications, triggers for UPDATE OF.
CREATE FUNCTION snowflake_ids_convert.dependents(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: %s depends on it', d.rel, d.attname, d.object)
    FROM (SELECT DISTINCT c.rel, pg_describe_object(d.classid, d.objid, d.objsubid) AS object, c.attname
          FROM snowflake_ids_convert.columns(job) c
               JOIN pg_depend d ON d.refobjid = c.rel AND d.refobjsubid = c.attnum
               JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
          WHERE d.refclassid = 'pg_class'::regclass
            AND NOT CASE d.classid
                WHEN 'pg_attrdef'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_attrdef ad
                            WHERE ad.oid = d.objid AND ad.adnum = d.refobjsubid AND a.attgenerated = '')
                WHEN 'pg_class'::regclass THEN
                    EXISTS (SELECT FROM pg_class c WHERE c.oid = d.objid AND c.relkind IN ('i', 'S'))
                WHEN 'pg_constraint'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_constraint c
                            WHERE c.oid = d.objid AND c.contype IN ('p', 'u', 'c', 'f', 'n'))
                WHEN 'pg_statistic_ext'::regclass THEN true
                WHEN 'pg_publication_rel'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_publication_rel p
                                 JOIN pg_publication b ON b.oid = p.prpubid
                            WHERE p.oid = d.objid
                              AND pg_has_role(b.pubowner, 'USAGE')
                              AND coalesce(p.prqual::text !~ (':varattno ' || d.refobjsubid || ' '), true))
                WHEN 'pg_trigger'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_trigger g
                            WHERE g.oid = d.objid
                              AND (g.tgname ~ '^zz_snowflake_ids_'
                                   OR coalesce(g.tgqual::text !~ (':varattno ' || d.refobjsubid || ' '), true)))
                ELSE false
                END
          ORDER BY 1, 2) AS d
$$;
COMMENT ON FUNCTION snowflake_ids_convert.dependents
    IS 'internal: objects that use columns and that a conversion cannot make again';

CREATE FUNCTION snowflake_ids_convert.constraint_problems(
    job snowflake_ids_convert.job, target regclass, attnums smallint[]
) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT format('table %s: %s depends on constraint %I; drop it before the conversion, and create it again afterwards',
                           target, pg_describe_object(d.classid, d.objid, d.objsubid), c.conname)
    FROM pg_constraint c
         JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = c.oid AND d.deptype = 'n'
    WHERE c.conrelid = target
      AND c.conkey && attnums
      AND d.classid <> 'pg_constraint'::regclass
      -- dependents() also lists views with GROUP BY on the primary key.
      AND NOT snowflake_ids_convert.uses_columns(d.classid, d.objid, target, attnums)
    UNION ALL
    SELECT format('table %s: foreign key %I of %s needs index %s, which the conversion replaces; drop the foreign key first, and add it again afterwards',
                  target, f.conname, f.conrelid::regclass, x.index)
    FROM snowflake_ids_convert.indexes(target, attnums) x
         JOIN pg_constraint f ON f.contype = 'f' AND f.conindid = x.index
    WHERE NOT f.confkey && attnums
    UNION ALL
    SELECT format('column %s.%I: the index of constraint %I is not a btree', target, a.attname, c.conname)
    FROM pg_constraint c
         JOIN pg_attribute a ON a.attrelid = target AND a.attnum = ANY (attnums) AND a.attnum = ANY (c.conkey)
    WHERE c.conrelid = target
      AND c.contype IN ('p', 'u')
      AND NOT EXISTS (SELECT
                      FROM pg_class i
                           JOIN pg_am m ON m.oid = i.relam
                      WHERE i.oid = c.conindid AND m.amname = 'btree')
    UNION ALL
    SELECT format('column %s.%I: refers to another key, in %s (foreign key %I)', target, a.attname,
                  f.confrelid::regclass, f.conname)
    FROM pg_constraint f
         CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
         JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.att
    WHERE f.contype = 'f'
      AND f.conrelid = target
      AND k.att = ANY (attnums)
      AND NOT EXISTS (SELECT FROM snowflake_ids_convert.columns(job) c WHERE c.rel = f.confrelid AND c.attnum = k.ref)
    UNION ALL
    SELECT format('index %s: is not valid; rebuild or drop it', x.index)
    FROM snowflake_ids_convert.indexes(target, attnums) x
    WHERE NOT x.valid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.constraint_problems
    IS 'internal: constraints and indexes that a conversion cannot make again';

-- The default of the key is replaced. That of a referencing column would remain an old key.
CREATE FUNCTION snowflake_ids_convert.column_problems(
    job snowflake_ids_convert.job, target regclass, attnums smallint[]
) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: has domain %s, which would be lost', target, a.attname, format_type(a.atttypid, NULL))
    FROM pg_attribute a
         JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = target AND a.attnum = ANY (attnums) AND y.typtype = 'd'
    UNION ALL
    SELECT format('column %s.%I: has a default, which would be an old key', target, a.attname)
    FROM pg_attribute a
    WHERE a.attrelid = target
      AND a.attnum = ANY (attnums)
      AND (a.atthasdef OR a.attidentity <> '')
      AND NOT (target = job.relation AND a.attnum = job.key_attnum)
    UNION ALL
    SELECT format('table %s: %s uses the sequence of the key', target,
                  pg_describe_object(o.classid, o.objid, o.objsubid))
    FROM pg_depend d
         JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
         JOIN pg_depend o ON o.refclassid = 'pg_class'::regclass AND o.refobjid = s.oid AND o.deptype = 'n'
    WHERE d.classid = 'pg_class'::regclass
      AND d.refclassid = 'pg_class'::regclass
      AND d.refobjid = target
      AND d.refobjsubid = ANY (attnums)
      AND d.deptype IN ('a', 'i')
      AND NOT EXISTS (SELECT
                      FROM pg_attrdef ad
                      WHERE o.classid = 'pg_attrdef'::regclass
                        AND ad.oid = o.objid
                        AND ad.adrelid = target
                        AND ad.adnum = ANY (attnums))
    UNION ALL
    SELECT format('table %s: a column has a security label, which would be lost', target)
    WHERE EXISTS (SELECT
                  FROM pg_seclabel
                  WHERE classoid = 'pg_class'::regclass AND objoid = target AND objsubid = ANY (attnums))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.column_problems IS 'internal: properties of columns that would be lost';

CREATE FUNCTION snowflake_ids_convert.trigger_problems(job snowflake_ids_convert.job, target regclass)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('table %s: refers to another key that is being converted; finish that conversion first', target)
    WHERE EXISTS (SELECT
                  FROM snowflake_ids_convert.triggers(NULL) g
                  WHERE g.rel = target
                    AND g.function = 'follow'
                    AND g.relation <> job.relation
                    AND EXISTS (SELECT FROM snowflake_ids_convert.columns(job) c WHERE c.rel = target AND NOT c.is_key))
    UNION ALL
    SELECT format('table %s: rule %I is for UPDATE, and would apply to the updates of the conversion', target,
                  rulename)
    FROM pg_rewrite
    WHERE ev_class = target AND ev_type = '2' AND ev_enabled <> 'D'
    UNION ALL
    SELECT format('table %s: trigger %I fires after the triggers of the conversion, which would miss its changes; rename it so that it sorts before zz_snowflake_ids; if it has fired during a conversion, undo that conversion',
                  target, tgname)
    FROM pg_trigger
    WHERE tgrelid = target
      AND NOT tgisinternal
      AND tgtype & 3 = 3
      AND tgtype & 20 <> 0
      AND tgenabled <> 'D'
      AND tgname > 'zz_snowflake_ids_'
      AND tgname !~ '^zz_snowflake_ids_\d_'
    UNION ALL
    SELECT format('table %s: trigger %I would fire for every row; set fire_triggers, or have the SET privilege on session_replication_role granted', target, tgname)
    FROM pg_trigger
    WHERE tgrelid = target
      AND NOT tgisinternal
      AND tgtype & 16 <> 0
      AND tgattr::text = ''
      AND tgenabled IN ('O', 'A')
      AND tgname !~ '^zz_snowflake_ids_'
      AND NOT job.fire_triggers
      AND NOT has_parameter_privilege('session_replication_role', 'SET')
$$;
COMMENT ON FUNCTION snowflake_ids_convert.trigger_problems
    IS 'internal: rules and triggers that would conflict with those of a conversion';

-- Replication would stop at columns and maps that subscribers lack. The map is in the schema of the key's table, so a
-- publication of all tables, or of that schema, has it.
CREATE FUNCTION snowflake_ids_convert.publications(target regclass, OUT problem text, OUT map_problem text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('table %s is in publication %I: its subscribers need the new columns first', target, b.pubname),
           CASE WHEN p.has_map
                THEN format('publication %I would have the map of old and new keys too: make it a publication of named tables', b.pubname)
           END
    FROM pg_publication b
         CROSS JOIN LATERAL (
             SELECT b.puballtables
                    OR EXISTS (SELECT
                               FROM pg_publication_namespace n
                                    JOIN pg_class c ON c.relnamespace = n.pnnspid
                               WHERE n.pnpubid = b.oid AND c.oid = target)) AS p (has_map)
    WHERE p.has_map OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = b.oid AND r.prrelid = target)
    ORDER BY b.pubname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.publications
    IS 'internal: publications that a table is in, or that would have the map of its keys too';

-- A table cannot be rewritten while a column of another table has its row type.
CREATE FUNCTION snowflake_ids_convert.row_type_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH RECURSIVE containing (rel, type) AS (
        SELECT t.rel, c.reltype
        FROM snowflake_ids_convert.tables(job) t
             JOIN pg_class c ON c.oid = t.rel
        UNION
        SELECT inner_type.rel, outer_type.oid
        FROM containing AS inner_type
             CROSS JOIN LATERAL (
                 SELECT oid
                 FROM pg_type
                 WHERE typelem = inner_type.type OR typbasetype = inner_type.type
                 UNION ALL
                 SELECT rngtypid
                 FROM pg_range
                 WHERE rngsubtype = inner_type.type
                 UNION ALL
                 SELECT c.reltype
                 FROM pg_class c
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.atttypid = inner_type.type
                 WHERE c.relkind = 'c') AS outer_type (oid)
    )
    SELECT format('table %s: column %s.%I has its row type; it cannot be rewritten with keep_position', t.rel,
                  c.oid::regclass, a.attname)
    FROM containing t
         JOIN pg_attribute a ON a.atttypid = t.type
         JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'm', 'p')
    ORDER BY t.rel, a.attrelid, a.attname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.row_type_problems
    IS 'internal: columns that have the row type of a table that would be rewritten';

-- Event triggers run with our search path. The context names their function with or without its schema.
CREATE FUNCTION snowflake_ids_convert.needs_a_path(raised_in text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('event trigger %I fails; give its function a search path of its own: ALTER FUNCTION %s SET search_path = %s',
                  e.evtname, e.evtfoid::regprocedure, s.reset_val)
    FROM pg_event_trigger e
         JOIN pg_proc p ON p.oid = e.evtfoid
         JOIN pg_settings s ON s.name = 'search_path'
    WHERE e.evtenabled <> 'D'
      AND (strpos(raised_in, format(' %I()', p.proname)) > 0 OR strpos(raised_in, format('.%I()', p.proname)) > 0)
    LIMIT 1
$$;
COMMENT ON FUNCTION snowflake_ids_convert.needs_a_path
    IS 'internal: what to do if the function of an event trigger is in the context of an error';

CREATE FUNCTION snowflake_ids_convert.problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    tbl record;
    context text;
BEGIN
    RETURN QUERY SELECT * FROM snowflake_ids_convert.owner_problems(job);
    -- The other checks run code of the tables.
    IF FOUND THEN
        RETURN;
    END IF;
    FOR tbl IN SELECT * FROM snowflake_ids_convert.tables(job) LOOP
        RETURN QUERY SELECT * FROM snowflake_ids_convert.table_problems(tbl.rel);
        CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE oid = tbl.rel AND (relkind <> 'r' OR relispartition));
        RETURN QUERY SELECT * FROM snowflake_ids_convert.constraint_problems(job, tbl.rel, tbl.attnums);
        RETURN QUERY SELECT * FROM snowflake_ids_convert.column_problems(job, tbl.rel, tbl.attnums);
        RETURN QUERY SELECT * FROM snowflake_ids_convert.trigger_problems(job, tbl.rel);
        IF NOT job.publications THEN
            RETURN QUERY
            SELECT problem || '; add them there and set publications, or remove the table from the publication'
            FROM snowflake_ids_convert.publications(tbl.rel);
        END IF;
        BEGIN
            -- Once rows have new ids, refuse_violations() checks the rows themselves.
            IF job.map IS NULL THEN
                RETURN QUERY SELECT DISTINCT * FROM snowflake_ids_convert.rehearse_rows(job, tbl.rel);
            ELSE
                PERFORM snowflake_ids_convert.rehearse(job, tbl.rel);
            END IF;
        EXCEPTION
            WHEN query_canceled OR lock_not_available THEN
                RAISE;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
                RETURN NEXT concat_ws('; ', format('table %s: %s', tbl.rel, SQLERRM),
                                      CASE WHEN SQLSTATE ~ '^42' THEN snowflake_ids_convert.needs_a_path(context) END);
        END;
    END LOOP;
    IF coalesce(job.changes_over, job.phase IS DISTINCT FROM 'prepare') THEN
        RETURN QUERY SELECT * FROM snowflake_ids_convert.dependents(job);
    END IF;
    RETURN QUERY
    SELECT map_problem FROM snowflake_ids_convert.publications(job.relation) WHERE map_problem IS NOT NULL;
    IF job.keep_position THEN
        RETURN QUERY SELECT * FROM snowflake_ids_convert.row_type_problems(job);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.problems
    IS 'internal: why the key of a table cannot be converted, as far as the catalogs show';
