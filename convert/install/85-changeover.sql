-- The last lock: the new columns take the places of the old ones. What is to be made again is written down from the
-- catalogs while the old columns are there, before writers are locked out, as statements in these stages:
--
--   1   with the old columns: what uses them goes        2   the columns change places
--   3   with the new ones: what others need comes back   4   statistics, which may have expressions of the new type
--   5   the rest, without the schema of snowflake_ids on the search path

CREATE FUNCTION snowflake_ids_convert.comment_statement(object text, comment text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN comment IS NOT NULL THEN format('COMMENT ON %s IS %L', object, comment) END
$$;
COMMENT ON FUNCTION snowflake_ids_convert.comment_statement(text, text) IS 'internal: the statement that sets a comment; null if there is none';

-- Foreign keys go first: they need the unique constraints on both sides of the change.
CREATE FUNCTION snowflake_ids_convert.change_foreign_keys(j snowflake_ids_convert.job, OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT DISTINCT k.oid, k.conrelid::regclass AS rel, k.conname, pg_get_constraintdef(k.oid) AS definition, k.convalidated
          FROM pg_constraint k JOIN snowflake_ids_convert.columns(j.relation, j.key_attnum) c ON c.rel = k.confrelid AND c.attnum = ANY (k.confkey)
          WHERE k.contype = 'f') AS o
         CROSS JOIN LATERAL (VALUES
             (1, 1, format('ALTER TABLE %s DROP CONSTRAINT %I', o.rel, o.conname)),
             (2, 5, format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', o.rel, o.conname, o.definition, CASE WHEN o.convalidated THEN ' NOT VALID' END)),
             (3, 5, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', o.conname, o.rel), obj_description(o.oid, 'pg_constraint')))
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL ORDER BY o.oid, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_foreign_keys(snowflake_ids_convert.job) IS 'internal: foreign keys to converted columns go and come back';

-- Triggers for UPDATE OF the columns
CREATE FUNCTION snowflake_ids_convert.change_triggers(target regclass, attnums smallint[], OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM pg_trigger o
         CROSS JOIN LATERAL (VALUES
             (1, 1, format('DROP TRIGGER %I ON %s', o.tgname, target)),
             (2, 5, pg_get_triggerdef(o.oid)),
             (3, 5, CASE WHEN o.tgenabled <> 'O' THEN format('ALTER TABLE %s %s TRIGGER %I', target,
                    CASE o.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS' ELSE 'ENABLE REPLICA' END, o.tgname) END),
             (4, 5, snowflake_ids_convert.comment_statement(format('TRIGGER %I ON %s', o.tgname, target), obj_description(o.oid, 'pg_trigger')))
         ) AS s (n, stage, statement)
    WHERE o.tgrelid = target AND NOT o.tgisinternal AND o.tgname !~ '^zz_snowflake_ids_' AND o.tgattr::int2[] && attnums
      AND s.statement IS NOT NULL ORDER BY o.tgname, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_triggers(regclass, smallint[]) IS 'internal: triggers for an update of converted columns go and come back';

-- Publications that name the columns
CREATE FUNCTION snowflake_ids_convert.change_publications(target regclass, attnums smallint[], OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM pg_publication_rel r JOIN pg_publication b ON b.oid = r.prpubid
         CROSS JOIN LATERAL (VALUES
             (1, format('ALTER PUBLICATION %I DROP TABLE ONLY %s', b.pubname, target)),
             (5, format('ALTER PUBLICATION %I ADD TABLE ONLY %s (%s)', b.pubname, target,
                        (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
                         WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::int2[])))
                 || coalesce(' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')', ''))) AS s (stage, statement)
    WHERE r.prrelid = target AND r.prattrs::int2[] && attnums ORDER BY b.pubname, s.stage
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_publications(regclass, smallint[]) IS 'internal: publications of converted columns lose the table and get it back';

-- Extended statistics go with their columns.
CREATE FUNCTION snowflake_ids_convert.change_statistics(target regclass, attnums smallint[], OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT e.oid, format('%I.%I', n.nspname, e.stxname) AS name, pg_get_userbyid(e.stxowner) AS owner, (to_jsonb(e) ->> 'stxstattarget')::int AS target
          FROM pg_statistic_ext e JOIN pg_namespace n ON n.oid = e.stxnamespace
          WHERE e.stxrelid = target AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_statistic_ext'::regclass AND d.objid = e.oid
                AND d.refclassid = 'pg_class'::regclass AND d.refobjid = target AND d.refobjsubid = ANY (attnums))) AS o
         CROSS JOIN LATERAL (VALUES
             (1, 1, 'DROP STATISTICS ' || o.name),
             (2, 4, pg_get_statisticsobjdef(o.oid)),
             (3, 4, format('ALTER STATISTICS %s OWNER TO %I', o.name, o.owner)),
             (4, 4, CASE WHEN o.target >= 0 THEN format('ALTER STATISTICS %s SET STATISTICS %s', o.name, o.target) END),
             (5, 4, snowflake_ids_convert.comment_statement('STATISTICS ' || o.name, obj_description(o.oid, 'pg_statistic_ext')))
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL ORDER BY o.oid, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_statistics(regclass, smallint[]) IS 'internal: statistics of converted columns go and come back';

-- Checks: the twin that is valid takes the name, others are made again. Twins of checks that were dropped since go.
CREATE FUNCTION snowflake_ids_convert.change_checks(target regclass, attnums smallint[], OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM pg_constraint k LEFT JOIN pg_constraint w ON w.conrelid = target AND w.convalidated AND w.conname = 'snowflake_ids_check_of_' || k.oid
         CROSS JOIN LATERAL (VALUES
             (1, 2, format('ALTER TABLE %s DROP CONSTRAINT %I', target, k.conname)),
             (2, 3, CASE WHEN w.oid IS NOT NULL THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target, w.conname, k.conname)
                    ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', target, k.conname, pg_get_constraintdef(k.oid),
                                CASE WHEN k.convalidated THEN ' NOT VALID' END) END),
             (3, 3, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', k.conname, target), obj_description(k.oid, 'pg_constraint')))
         ) AS s (n, stage, statement)
    WHERE k.conrelid = target AND k.contype = 'c' AND k.conkey && attnums AND k.conname !~ '^snowflake_ids_check_' AND s.statement IS NOT NULL
    UNION ALL
    SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT %I', target, w.conname) FROM pg_constraint w
    WHERE w.conrelid = target AND w.conname ~ '^snowflake_ids_check_of_' AND NOT EXISTS (SELECT FROM pg_constraint k
          WHERE k.conrelid = target AND w.convalidated AND w.conname = 'snowflake_ids_check_of_' || k.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_checks(regclass, smallint[]) IS 'internal: checks on converted columns go and come back';

-- One index: the new one takes its name, its constraint and its properties.
CREATE FUNCTION snowflake_ids_convert.change_index(target regclass, index regclass, OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT n.nspname, p.oid, p.relname AS name, 'snowflake_ids_index_' || p.oid AS new, i.indisclustered, i.indisreplident,
                 k.oid AS conoid, k.contype, k.condeferrable, k.condeferred
          FROM pg_class p JOIN pg_namespace n ON n.oid = p.relnamespace JOIN pg_index i ON i.indexrelid = p.oid
               LEFT JOIN pg_constraint k ON k.conindid = p.oid AND k.contype IN ('p', 'u')
          WHERE p.oid = index) AS o
         CROSS JOIN LATERAL (
             SELECT 1, 2, CASE WHEN o.conoid IS NOT NULL THEN format('ALTER TABLE %s DROP CONSTRAINT %I', target, o.name)
                          ELSE format('DROP INDEX %I.%I', o.nspname, o.name) END
             UNION ALL
             SELECT 2, 3, CASE WHEN o.conoid IS NULL THEN format('ALTER INDEX %I.%I RENAME TO %I', o.nspname, o.new, o.name)
                          ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I%s', target, o.name,
                                      CASE o.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END, o.new,
                                      CASE WHEN o.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED' WHEN o.condeferrable THEN ' DEFERRABLE' END) END
             UNION ALL
             SELECT 3, 3, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', o.name, target), obj_description(o.conoid, 'pg_constraint'))
             UNION ALL
             SELECT 4, 3, format('ALTER TABLE %I.%I RENAME COLUMN %I TO %I', o.nspname, o.name, x.attname, a.attname)
             FROM pg_attribute x JOIN pg_attribute a ON a.attrelid = target AND x.attname = 'snowflake_ids_new_' || a.attnum
             WHERE x.attrelid = (SELECT i.indexrelid FROM pg_index i JOIN pg_class p ON p.oid = i.indexrelid
                                 WHERE i.indrelid = target AND p.relname = o.new)
             UNION ALL
             SELECT 5, 3, snowflake_ids_convert.comment_statement(format('INDEX %I.%I', o.nspname, o.name), obj_description(o.oid, 'pg_class'))
             UNION ALL
             SELECT 6, 3, format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', o.nspname, o.name, a.attnum, to_jsonb(a) ->> 'attstattarget')
             FROM pg_attribute a WHERE a.attrelid = o.oid AND (to_jsonb(a) ->> 'attstattarget')::int >= 0
             UNION ALL
             SELECT 7, 3, format('ALTER TABLE %s CLUSTER ON %I', target, o.name) WHERE o.indisclustered
             UNION ALL
             SELECT 8, 3, format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', target, o.name) WHERE o.indisreplident
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL ORDER BY s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_index(regclass, regclass) IS 'internal: a new index takes the place of one on converted columns';

-- Primary keys first, then unique constraints, then other indexes.
CREATE FUNCTION snowflake_ids_convert.change_indexes(target regclass, attnums smallint[], OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM snowflake_ids_convert.indexes(target, attnums) x
         LEFT JOIN pg_constraint k ON k.conindid = x.index AND k.contype IN ('p', 'u')
         CROSS JOIN LATERAL snowflake_ids_convert.change_index(target, x.index) WITH ORDINALITY AS s (stage, statement, n)
    ORDER BY k.contype NULLS LAST, x.index, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_indexes(regclass, smallint[]) IS 'internal: new indexes take the places of those on converted columns';

-- Since 18 NOT NULL is a constraint, with a name and perhaps a comment.
CREATE FUNCTION snowflake_ids_convert.change_not_null(target regclass, attnum smallint, shadow name, OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT ('snowflake_ids_not_null_' || change_not_null.attnum)::name) AS new (name)
         LEFT JOIN pg_constraint k ON k.conrelid = target AND k.contype = 'n' AND k.conkey = ARRAY[change_not_null.attnum]
         CROSS JOIN LATERAL (VALUES
             (1, 1, CASE WHEN k.oid IS NULL THEN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', target, shadow)
                    ELSE format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', target, new.name, shadow,
                                CASE WHEN k.connoinherit THEN ' NO INHERIT' END) END),
             (2, 3, CASE WHEN k.oid IS NOT NULL THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target, new.name, k.conname) END),
             (3, 3, snowflake_ids_convert.comment_statement('CONSTRAINT ' || quote_ident(k.conname) || ' ON ' || target, obj_description(k.oid, 'pg_constraint')))
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL ORDER BY s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_not_null(regclass, smallint, name) IS 'internal: NOT NULL of a converted column, on the new one';

-- The columns change places. The new default is there already.
CREATE FUNCTION snowflake_ids_convert.change_columns(j snowflake_ids_convert.job, target regclass, OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) c
         JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
         CROSS JOIN LATERAL (
             SELECT 0, n.stage, n.statement FROM snowflake_ids_convert.change_not_null(c.rel, c.attnum, c.shadow) n WHERE c.not_null
             UNION ALL
             SELECT 1, 2, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', c.rel, 'snowflake_ids_check_' || c.attnum)
             UNION ALL
             SELECT 2, 2, format('ALTER TABLE %s DROP COLUMN %I', c.rel, c.attname)
             UNION ALL
             SELECT 3, 2, format('ALTER TABLE %s RENAME COLUMN %I TO %I', c.rel, c.shadow, c.attname)
             UNION ALL
             SELECT 4, 3, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', c.rel, c.attname, to_jsonb(a) ->> 'attstattarget')
             WHERE (to_jsonb(a) ->> 'attstattarget')::int >= 0
             UNION ALL
             SELECT 5, 3, format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', c.rel, c.attname, array_to_string(a.attoptions, ', '))
             WHERE a.attoptions IS NOT NULL
             UNION ALL
             SELECT 6, 3, snowflake_ids_convert.comment_statement(format('COLUMN %s.%I', c.rel, c.attname), col_description(c.rel, c.attnum))
             UNION ALL
             SELECT 7, 3, format('GRANT %s (%I) ON %s TO %s%s', g.privilege_type, c.attname, c.rel,
                                 CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
                                 CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
             FROM aclexplode(a.attacl) AS g) AS s (n, stage, statement)
    WHERE c.rel = target AND s.statement IS NOT NULL ORDER BY c.attnum, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_columns(snowflake_ids_convert.job, regclass) IS 'internal: new columns take the places of the old ones';

-- With keep_position PostgreSQL keeps everything else itself. It takes a new copy of the table, made under the lock.
CREATE FUNCTION snowflake_ids_convert.change_types(j snowflake_ids_convert.job, target regclass, OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH c AS (SELECT * FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE rel = target)
    SELECT 2, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY IF EXISTS', rel, attname) FROM c WHERE is_key
    UNION ALL
    SELECT 2, format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', rel, attname) FROM c WHERE is_key
    UNION ALL
    SELECT 2, format('DROP SEQUENCE %I.%I', n.nspname, p.relname)
    FROM c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.rel
              AND d.refobjsubid = c.attnum AND d.deptype = 'a'
         JOIN pg_class p ON p.oid = d.objid AND p.relkind = 'S' JOIN pg_namespace n ON n.oid = p.relnamespace WHERE c.is_key
    UNION ALL
    SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', rel, 'snowflake_ids_check_' || attnum) FROM c
    UNION ALL
    SELECT 2, format('ALTER TABLE %s %s', target, string_agg(format('ALTER COLUMN %I TYPE %s USING %I', attname, j.type, shadow), ', ')) FROM c
    UNION ALL
    SELECT 3, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', rel, attname, j.new_id) FROM c WHERE is_key
    UNION ALL
    SELECT 3, format('ALTER TABLE %s DROP COLUMN %I', rel, shadow) FROM c
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_types(snowflake_ids_convert.job, regclass) IS 'internal: the old columns get the new type and values';

CREATE FUNCTION snowflake_ids_convert.changes(j snowflake_ids_convert.job, OUT stage integer, OUT statement text) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    t record;
BEGIN
    RETURN QUERY SELECT * FROM snowflake_ids_convert.change_foreign_keys(j);
    FOR t IN SELECT * FROM snowflake_ids_convert.tables(j.relation, j.key_attnum) LOOP
        RETURN QUERY SELECT * FROM snowflake_ids_convert.change_triggers(t.rel, t.attnums);
        RETURN QUERY SELECT * FROM snowflake_ids_convert.change_publications(t.rel, t.attnums);
        IF j.keep_position THEN
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_types(j, t.rel);
        ELSE
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_statistics(t.rel, t.attnums);
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_checks(t.rel, t.attnums);
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_indexes(t.rel, t.attnums);
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_columns(j, t.rel);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.changes(snowflake_ids_convert.job) IS 'internal: all statements of the last lock, in their stages';

-- Constraints that were valid, and come back without a reading of the tables.
CREATE FUNCTION snowflake_ids_convert.to_validate(j snowflake_ids_convert.job) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('rel', k.conrelid, 'constraint', k.conname) ORDER BY k.contype DESC, k.oid), '[]')
    FROM pg_constraint k
    WHERE k.convalidated AND (
        k.contype = 'f' AND EXISTS (SELECT FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) c
                                    WHERE c.rel = k.confrelid AND c.attnum = ANY (k.confkey))
        OR k.contype = 'c' AND k.conname !~ '^snowflake_ids_check_' AND NOT j.keep_position
           AND EXISTS (SELECT FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) c WHERE c.rel = k.conrelid AND c.attnum = ANY (k.conkey))
           AND NOT EXISTS (SELECT FROM pg_constraint w WHERE w.conrelid = k.conrelid AND w.convalidated AND w.conname = 'snowflake_ids_check_of_' || k.oid))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.to_validate(snowflake_ids_convert.job) IS 'internal: constraints to validate after the last lock';
