-- The statements of the changeover for columns and indexes, and all of its statements together. 85-swap_statements.sql
-- explains the stages.

-- New indexes get the names, constraints and properties of the old ones: first primary keys, then unique constraints,
-- then others.
CREATE FUNCTION snowflake_ids_convert.index_changes(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM (SELECT c.oid, c.relname AS name, 'snowflake_ids_index_' || c.oid AS new,
                 snowflake_ids_convert.sibling(target, c.relname) AS full_name,
                 snowflake_ids_convert.sibling(target, 'snowflake_ids_index_' || c.oid) AS full_new,
                 i.indisclustered, i.indisreplident, k.oid AS conoid, k.contype,
                 CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS kind,
                 CASE WHEN k.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED'
                      WHEN k.condeferrable THEN ' DEFERRABLE'
                 END AS deferrability
          FROM snowflake_ids_convert.indexes(target, attnums) x
               JOIN pg_class c ON c.oid = x.index
               JOIN pg_index i ON i.indexrelid = c.oid
               LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u')) AS old
         CROSS JOIN LATERAL (
             SELECT 20, CASE WHEN old.conoid IS NOT NULL
                             THEN format('ALTER TABLE %s DROP CONSTRAINT %I', target, old.name)
                             ELSE 'DROP INDEX ' || old.full_name
                        END
             UNION ALL
             SELECT 30, CASE WHEN old.conoid IS NULL
                             THEN format('ALTER INDEX %s RENAME TO %I', old.full_new, old.name)
                             ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I%s', target, old.name,
                                         old.kind, old.new, old.deferrability)
                        END
             UNION ALL
             SELECT 31, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', old.name, target),
                                                                obj_description(old.conoid, 'pg_constraint'))
             UNION ALL
             SELECT 31, format('ALTER TABLE %s RENAME COLUMN %I TO %I', old.full_name, x.attname, a.attname)
             FROM pg_index i
                  JOIN pg_class c ON c.oid = i.indexrelid AND c.relname = old.new
                  JOIN pg_attribute x ON x.attrelid = i.indexrelid
                  JOIN pg_attribute a ON a.attrelid = target AND x.attname = 'snowflake_ids_new_' || a.attnum
             WHERE i.indrelid = target
             UNION ALL
             SELECT 31, snowflake_ids_convert.comment_statement('INDEX ' || old.full_name,
                                                                obj_description(old.oid, 'pg_class'))
             UNION ALL
             SELECT 31, format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', old.full_name, a.attnum,
                               to_jsonb(a) ->> 'attstattarget')
             FROM pg_attribute a
             WHERE a.attrelid = old.oid AND (to_jsonb(a) ->> 'attstattarget')::int >= 0
             UNION ALL
             SELECT 31, CASE WHEN old.indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', target, old.name) END
             UNION ALL
             SELECT 31, CASE WHEN old.indisreplident
                             THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', target, old.name)
                        END
         ) AS s (stage, statement)
    ORDER BY old.contype NULLS LAST, old.oid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.index_changes
    IS 'internal: statements that replace the indexes on converted columns by those on the new columns';

-- prepare() has set the new default. Since 18, NOT NULL is a constraint with a name and perhaps a comment.
CREATE FUNCTION snowflake_ids_convert.column_changes(job snowflake_ids_convert.job, target regclass)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM snowflake_ids_convert.columns(job) c
         JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
         LEFT JOIN pg_constraint k ON k.conrelid = target AND k.contype = 'n' AND k.conkey = ARRAY[c.attnum]
         CROSS JOIN LATERAL (
             SELECT n.*
             FROM (VALUES
                 (10, CASE WHEN k.oid IS NULL
                           THEN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', target, c.shadow)
                           ELSE format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', target,
                                       'snowflake_ids_not_null_' || c.attnum, c.shadow,
                                       CASE WHEN k.connoinherit THEN ' NO INHERIT' END)
                      END),
                 (30, CASE WHEN k.oid IS NOT NULL
                           THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target,
                                       'snowflake_ids_not_null_' || c.attnum, k.conname)
                      END),
                 (31, snowflake_ids_convert.comment_statement(
                          'CONSTRAINT ' || quote_ident(k.conname) || ' ON ' || target,
                          obj_description(k.oid, 'pg_constraint')))
             ) AS n (stage, statement)
             WHERE c.not_null
             UNION ALL
             VALUES
                 (20, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS snowflake_ids_check_%s', target, c.attnum)),
                 (21, format('ALTER TABLE %s DROP COLUMN %I', target, c.attname)),
                 (22, format('ALTER TABLE %s RENAME COLUMN %I TO %I', target, c.shadow, c.attname)),
                 (30, CASE WHEN (to_jsonb(a) ->> 'attstattarget')::int >= 0
                           THEN format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', target, c.attname,
                                       to_jsonb(a) ->> 'attstattarget')
                      END),
                 (30, format('ALTER TABLE %s ALTER COLUMN %I SET ', target, c.attname)
                      || '(' || array_to_string(a.attoptions, ', ') || ')'),
                 (30, snowflake_ids_convert.comment_statement(format('COLUMN %s.%I', target, c.attname),
                                                              col_description(target, c.attnum)))
             UNION ALL
             SELECT 30, format('GRANT %s (%I) ON %s TO %s%s', acl.privilege_type, c.attname, target,
                               CASE acl.grantee WHEN 0 THEN 'PUBLIC'
                                                ELSE quote_ident(pg_get_userbyid(acl.grantee))
                               END,
                               CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' END)
             FROM aclexplode(a.attacl) AS acl
         ) AS s (stage, statement)
    WHERE c.rel = target
    ORDER BY c.attnum
$$;
COMMENT ON FUNCTION snowflake_ids_convert.column_changes
    IS 'internal: statements that replace the old columns by the new ones';

-- keep_position: the old columns get the new type and values. PostgreSQL keeps everything else, but rewrites the table
-- under the lock.
CREATE FUNCTION snowflake_ids_convert.type_changes(job snowflake_ids_convert.job, target regclass)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH c AS (
        SELECT * FROM snowflake_ids_convert.columns(job) WHERE rel = target
    )
    SELECT s.*
    FROM c
         CROSS JOIN LATERAL (VALUES
             (20, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY IF EXISTS', target, attname)),
             (21, format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', target, attname)),
             (30, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', target, attname, job.new_id))
         ) AS s (stage, statement)
    WHERE is_key
    UNION ALL
    SELECT 22, format('DROP SEQUENCE %s', d.objid::regclass)
    FROM c
         JOIN pg_depend d
         ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.rel
            AND d.refobjsubid = c.attnum AND d.deptype = 'a'
         JOIN pg_class p ON p.oid = d.objid AND p.relkind = 'S'
    WHERE c.is_key
    UNION ALL
    SELECT s.*
    FROM c
         CROSS JOIN LATERAL (VALUES
             (22, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS snowflake_ids_check_%s', target, attnum)),
             (30, format('ALTER TABLE %s DROP COLUMN %I', target, shadow))
         ) AS s (stage, statement)
    UNION ALL
    SELECT 23, format('ALTER TABLE %s %s', target,
                      string_agg(format('ALTER COLUMN %I TYPE %s USING %I', attname, job.type, shadow), ', '))
    FROM c
$$;
COMMENT ON FUNCTION snowflake_ids_convert.type_changes
    IS 'internal: statements that give the old columns the new type and values';

CREATE FUNCTION snowflake_ids_convert.changes(job snowflake_ids_convert.job) RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT * FROM snowflake_ids_convert.constraint_changes(job)
    UNION ALL
    SELECT s.*
    FROM snowflake_ids_convert.tables(job) WITH ORDINALITY AS t (rel, attnums, n)
         CROSS JOIN LATERAL (
             SELECT * FROM snowflake_ids_convert.trigger_changes(t.rel, t.attnums)
             UNION ALL
             SELECT * FROM snowflake_ids_convert.publication_changes(t.rel, t.attnums)
             UNION ALL
             SELECT * FROM snowflake_ids_convert.type_changes(job, t.rel) WHERE job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.statistics_changes(t.rel, t.attnums) WHERE NOT job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.leftover_check_changes(t.rel) WHERE NOT job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.index_changes(t.rel, t.attnums) WHERE NOT job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.column_changes(job, t.rel) WHERE NOT job.keep_position
         ) AS s
$$;
COMMENT ON FUNCTION snowflake_ids_convert.changes IS 'internal: all statements of the changeover, with their stages';
