-- The changeover: statements for indexes and columns, and all statements together. The stages are explained in
-- 85-changeover.sql.

-- One index: the new index gets the name, constraint and properties of the old one.
CREATE FUNCTION snowflake_ids_convert.change_index(
    target regclass, index regclass, OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT n.nspname, c.oid, c.relname AS name, 'snowflake_ids_index_' || c.oid AS new,
                 i.indisclustered, i.indisreplident, k.oid AS conoid,
                 CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS kind,
                 CASE WHEN k.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED'
                      WHEN k.condeferrable THEN ' DEFERRABLE'
                 END AS deferrability
          FROM pg_class c
               JOIN pg_namespace n ON n.oid = c.relnamespace
               JOIN pg_index i ON i.indexrelid = c.oid
               LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u')
          WHERE c.oid = index) AS old
         CROSS JOIN LATERAL (
             SELECT 1, 2, CASE WHEN old.conoid IS NOT NULL
                               THEN format('ALTER TABLE %s DROP CONSTRAINT %I', target, old.name)
                               ELSE format('DROP INDEX %I.%I', old.nspname, old.name)
                          END
             UNION ALL
             SELECT 2, 3, CASE WHEN old.conoid IS NULL
                               THEN format('ALTER INDEX %I.%I RENAME TO %I', old.nspname, old.new, old.name)
                               ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I%s', target, old.name,
                                           old.kind, old.new, old.deferrability)
                          END
             UNION ALL
             SELECT 3, 3, snowflake_ids_convert.constraint_comment(target, old.name, old.conoid)
             UNION ALL
             SELECT 4, 3, format('ALTER TABLE %I.%I RENAME COLUMN %I TO %I', old.nspname, old.name, x.attname,
                                 a.attname)
             FROM pg_index i
                  JOIN pg_class c ON c.oid = i.indexrelid AND c.relname = old.new
                  JOIN pg_attribute x ON x.attrelid = i.indexrelid
                  JOIN pg_attribute a ON a.attrelid = target AND x.attname = 'snowflake_ids_new_' || a.attnum
             WHERE i.indrelid = target
             UNION ALL
             SELECT 5, 3, snowflake_ids_convert.comment_statement(format('INDEX %I.%I', old.nspname, old.name),
                                                                  obj_description(old.oid, 'pg_class'))
             UNION ALL
             SELECT 6, 3, format('ALTER INDEX %I.%I ALTER COLUMN %s SET STATISTICS %s', old.nspname, old.name,
                                 a.attnum, to_jsonb(a) ->> 'attstattarget')
             FROM pg_attribute a
             WHERE a.attrelid = old.oid AND (to_jsonb(a) ->> 'attstattarget')::int >= 0
             UNION ALL
             SELECT 7, 3, format('ALTER TABLE %s CLUSTER ON %I', target, old.name)
             WHERE old.indisclustered
             UNION ALL
             SELECT 8, 3, format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', target, old.name)
             WHERE old.indisreplident
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL
    ORDER BY s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_index(regclass, regclass)
    IS 'internal: statements that replace one index by that on the new columns';

-- Primary keys first, then unique constraints, then other indexes.
CREATE FUNCTION snowflake_ids_convert.change_indexes(
    target regclass, attnums smallint[], OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM snowflake_ids_convert.indexes(target, attnums) x
         LEFT JOIN pg_constraint k ON k.conindid = x.index AND k.contype IN ('p', 'u')
         CROSS JOIN LATERAL
             snowflake_ids_convert.change_index(target, x.index) WITH ORDINALITY AS s (stage, statement, n)
    ORDER BY k.contype NULLS LAST, x.index, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_indexes(regclass, smallint[])
    IS 'internal: statements that replace the indexes on converted columns';

-- Since PostgreSQL 18, NOT NULL is a constraint that has a name and may have a comment.
CREATE FUNCTION snowflake_ids_convert.change_not_null(
    target regclass, attnum smallint, shadow name, OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT ('snowflake_ids_not_null_' || change_not_null.attnum)::name) AS new (name)
         LEFT JOIN pg_constraint k
         ON k.conrelid = target AND k.contype = 'n' AND k.conkey = ARRAY[change_not_null.attnum]
         CROSS JOIN LATERAL (VALUES
             (1, 1, CASE WHEN k.oid IS NULL
                         THEN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', target, shadow)
                         ELSE format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', target, new.name, shadow,
                                     CASE WHEN k.connoinherit THEN ' NO INHERIT' END)
                    END),
             (2, 3, CASE WHEN k.oid IS NOT NULL
                         THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target, new.name, k.conname)
                    END),
             (3, 3, snowflake_ids_convert.constraint_comment(target, k.conname, k.oid))
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL
    ORDER BY s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_not_null(regclass, smallint, name)
    IS 'internal: statements that make the new column NOT NULL';

-- prepare() has already set the new default.
CREATE FUNCTION snowflake_ids_convert.change_columns(
    job snowflake_ids_convert.job, target regclass, OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
         JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
         CROSS JOIN LATERAL (
             SELECT 0, n.stage, n.statement
             FROM snowflake_ids_convert.change_not_null(c.rel, c.attnum, c.shadow) n
             WHERE c.not_null
             UNION ALL
             SELECT 1, 2, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', c.rel,
                                 'snowflake_ids_check_' || c.attnum)
             UNION ALL
             SELECT 2, 2, format('ALTER TABLE %s DROP COLUMN %I', c.rel, c.attname)
             UNION ALL
             SELECT 3, 2, format('ALTER TABLE %s RENAME COLUMN %I TO %I', c.rel, c.shadow, c.attname)
             UNION ALL
             SELECT 4, 3, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', c.rel, c.attname,
                                 to_jsonb(a) ->> 'attstattarget')
             WHERE (to_jsonb(a) ->> 'attstattarget')::int >= 0
             UNION ALL
             SELECT 5, 3, format('ALTER TABLE %s ALTER COLUMN %I SET (%s)', c.rel, c.attname,
                                 array_to_string(a.attoptions, ', '))
             WHERE a.attoptions IS NOT NULL
             UNION ALL
             SELECT 6, 3, snowflake_ids_convert.comment_statement(format('COLUMN %s.%I', c.rel, c.attname),
                                                                  col_description(c.rel, c.attnum))
             UNION ALL
             SELECT 7, 3, format('GRANT %s (%I) ON %s TO %s%s', acl.privilege_type, c.attname, c.rel,
                                 CASE acl.grantee WHEN 0 THEN 'PUBLIC'
                                                  ELSE quote_ident(pg_get_userbyid(acl.grantee))
                                 END,
                                 CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' END)
             FROM aclexplode(a.attacl) AS acl
         ) AS s (n, stage, statement)
    WHERE c.rel = target AND s.statement IS NOT NULL
    ORDER BY c.attnum, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_columns(snowflake_ids_convert.job, regclass)
    IS 'internal: statements that replace the old columns by the new ones';

-- With keep_position the old columns get the new type and values. PostgreSQL keeps everything else itself, but it
-- rewrites the table, under the lock.
CREATE FUNCTION snowflake_ids_convert.change_types(
    job snowflake_ids_convert.job, target regclass, OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH c AS (
        SELECT * FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE rel = target
    )
    SELECT 2, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY IF EXISTS', rel, attname)
    FROM c
    WHERE is_key
    UNION ALL
    SELECT 2, format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', rel, attname)
    FROM c
    WHERE is_key
    UNION ALL
    SELECT 2, format('DROP SEQUENCE %I.%I', n.nspname, p.relname)
    FROM c
         JOIN pg_depend d
         ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.rel
            AND d.refobjsubid = c.attnum AND d.deptype = 'a'
         JOIN pg_class p ON p.oid = d.objid AND p.relkind = 'S'
         JOIN pg_namespace n ON n.oid = p.relnamespace
    WHERE c.is_key
    UNION ALL
    SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I', rel, 'snowflake_ids_check_' || attnum)
    FROM c
    UNION ALL
    SELECT 2, format('ALTER TABLE %s %s', target,
                     string_agg(format('ALTER COLUMN %I TYPE %s USING %I', attname, job.type, shadow), ', '))
    FROM c
    UNION ALL
    SELECT 3, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', rel, attname, job.new_id)
    FROM c
    WHERE is_key
    UNION ALL
    SELECT 3, format('ALTER TABLE %s DROP COLUMN %I', rel, shadow)
    FROM c
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_types(snowflake_ids_convert.job, regclass)
    IS 'internal: statements that give the old columns the new type and values';

CREATE FUNCTION snowflake_ids_convert.changes(
    job snowflake_ids_convert.job, OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    tbl record;
BEGIN
    RETURN QUERY SELECT * FROM snowflake_ids_convert.change_foreign_keys(job);
    FOR tbl IN SELECT * FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) LOOP
        RETURN QUERY SELECT * FROM snowflake_ids_convert.change_triggers(tbl.rel, tbl.attnums);
        RETURN QUERY SELECT * FROM snowflake_ids_convert.change_publications(tbl.rel, tbl.attnums);
        IF job.keep_position THEN
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_types(job, tbl.rel);
        ELSE
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_statistics(tbl.rel, tbl.attnums);
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_checks(tbl.rel, tbl.attnums);
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_indexes(tbl.rel, tbl.attnums);
            RETURN QUERY SELECT * FROM snowflake_ids_convert.change_columns(job, tbl.rel);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.changes(snowflake_ids_convert.job)
    IS 'internal: all statements of the changeover, with their stages';

-- These constraints were valid. The changeover makes them again as NOT VALID, so that it need not read the tables.
CREATE FUNCTION snowflake_ids_convert.to_validate(job snowflake_ids_convert.job) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('rel', k.conrelid, 'constraint', k.conname)), '[]')
    FROM pg_constraint k
    WHERE k.convalidated
      AND (k.contype = 'f'
           AND EXISTS (SELECT
                       FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
                       WHERE c.rel = k.confrelid AND c.attnum = ANY (k.confkey))
           OR k.contype = 'c'
           AND k.conname !~ '^snowflake_ids_check_'
           AND NOT job.keep_position
           AND EXISTS (SELECT
                       FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
                       WHERE c.rel = k.conrelid AND c.attnum = ANY (k.conkey))
           AND NOT EXISTS (SELECT
                           FROM pg_constraint twin
                           WHERE twin.conrelid = k.conrelid
                             AND twin.convalidated
                             AND twin.conname = 'snowflake_ids_check_of_' || k.oid))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.to_validate(snowflake_ids_convert.job)
    IS 'internal: constraints to validate after the changeover';
