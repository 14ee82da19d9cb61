-- The statements of the changeover, which replaces the old columns by the new ones; those of columns and indexes are in
-- 86-swap_columns_indexes.sql. The functions read the catalogs before writers are locked out. 87-run_swap.sql runs the
-- statements by stage, then in the returned order. Setting a property of an object is one stage later than creating it.
--
--   10   drop what uses the old columns                        20   replace the old columns
--   30   create again, on the new columns, what others need    40   create statistics again
--   50   create the rest again
--
-- Before stage 50, the schema of snowflake_ids is on the search path for expressions on the new type.
CREATE TYPE snowflake_ids_convert.change AS (stage integer, statement text);
COMMENT ON TYPE snowflake_ids_convert.change IS 'a statement of the changeover; null if there is nothing to do';

CREATE FUNCTION snowflake_ids_convert.comment_statement(object text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN comment IS NOT NULL THEN format('COMMENT ON %s IS %L', object, comment) END
$$;
COMMENT ON FUNCTION snowflake_ids_convert.comment_statement
    IS 'internal: the statement that sets a comment; null if there is no comment';

-- Foreign keys are dropped first and created last, because they need the unique constraints. A check's valid twin gets
-- its name; without one, the check is created again.
CREATE FUNCTION snowflake_ids_convert.constraint_changes(job snowflake_ids_convert.job)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM (SELECT DISTINCT k.oid, k.conrelid::regclass AS rel, k.conname, k.contype, k.convalidated,
                          twin.conname AS twin,
                          CASE k.contype WHEN 'f' THEN 10 ELSE 20 END AS first,
                          CASE k.contype WHEN 'f' THEN 50 ELSE 30 END AS again
          FROM snowflake_ids_convert.columns(job) c
               JOIN pg_constraint k
               ON k.contype = 'f' AND k.confrelid = c.rel AND c.attnum = ANY (k.confkey)
                  OR k.contype = 'c' AND k.conrelid = c.rel AND c.attnum = ANY (k.conkey)
                     AND k.conname !~ '^snowflake_ids_check_' AND NOT job.keep_position
               LEFT JOIN pg_constraint twin
               ON twin.conrelid = k.conrelid AND twin.convalidated
                  AND twin.conname = 'snowflake_ids_check_of_' || k.oid) AS k
         CROSS JOIN LATERAL (VALUES
             (k.first, format('ALTER TABLE %s DROP CONSTRAINT %I', k.rel, k.conname)),
             (k.again, CASE WHEN k.twin IS NOT NULL
                            THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', k.rel, k.twin, k.conname)
                            ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', k.rel, k.conname,
                                        pg_get_constraintdef(k.oid), CASE WHEN k.convalidated THEN ' NOT VALID' END)
                       END),
             (k.again + 1, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', k.conname, k.rel),
                                                                   obj_description(k.oid, 'pg_constraint')))
         ) AS s (stage, statement)
    ORDER BY k.contype DESC, k.oid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.constraint_changes
    IS 'internal: statements that replace the foreign keys to converted columns, and the checks on them';

-- A check may have been dropped after its twin was made.
CREATE FUNCTION snowflake_ids_convert.leftover_check_changes(target regclass)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT 20, format('ALTER TABLE %s DROP CONSTRAINT %I', target, twin.conname)
    FROM pg_constraint twin
    WHERE twin.conrelid = target
      AND twin.conname ~ '^snowflake_ids_check_of_'
      AND NOT EXISTS (SELECT
                      FROM pg_constraint k
                      WHERE k.conrelid = target
                        AND twin.convalidated
                        AND twin.conname = 'snowflake_ids_check_of_' || k.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.leftover_check_changes
    IS 'internal: statements that drop twins of no check';

CREATE FUNCTION snowflake_ids_convert.trigger_changes(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM pg_trigger g
         CROSS JOIN LATERAL (VALUES
             (10, format('DROP TRIGGER %I ON %s', g.tgname, target)),
             (50, pg_get_triggerdef(g.oid)),
             (51, CASE WHEN g.tgenabled <> 'O'
                       THEN format('ALTER TABLE %s %s TRIGGER %I', target,
                                   CASE g.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS'
                                                    ELSE 'ENABLE REPLICA'
                                   END, g.tgname)
                  END),
             (51, snowflake_ids_convert.comment_statement(format('TRIGGER %I ON %s', g.tgname, target),
                                                          obj_description(g.oid, 'pg_trigger')))
         ) AS s (stage, statement)
    WHERE g.tgrelid = target
      AND NOT g.tgisinternal
      AND g.tgname !~ '^zz_snowflake_ids_'
      AND g.tgattr::int2[] && attnums
    ORDER BY g.tgname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.trigger_changes
    IS 'internal: statements that drop the triggers for UPDATE OF converted columns and make them again';

CREATE FUNCTION snowflake_ids_convert.publication_changes(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM pg_publication_rel r
         JOIN pg_publication b ON b.oid = r.prpubid
         CROSS JOIN LATERAL (
             SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
             FROM pg_attribute a
             WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::int2[])) AS published (columns)
         CROSS JOIN LATERAL (VALUES
             (10, format('ALTER PUBLICATION %I DROP TABLE ONLY %s', b.pubname, target)),
             (50, format('ALTER PUBLICATION %I ADD TABLE ONLY %s (%s)', b.pubname, target, published.columns)
                  || coalesce(' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')', ''))
         ) AS s (stage, statement)
    WHERE r.prrelid = target AND r.prattrs::int2[] && attnums
    ORDER BY b.pubname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.publication_changes
    IS 'internal: statements that take the table out of publications of converted columns and add it again';

CREATE FUNCTION snowflake_ids_convert.statistics_changes(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM (SELECT e.oid, format('%I.%I', n.nspname, e.stxname) AS name, pg_get_userbyid(e.stxowner) AS owner,
                 (to_jsonb(e) ->> 'stxstattarget')::int AS target
          FROM snowflake_ids_convert.statistics(target, attnums) AS e
               JOIN pg_namespace n ON n.oid = e.stxnamespace) AS e
         CROSS JOIN LATERAL (VALUES
             (10, 'DROP STATISTICS ' || e.name),
             (40, pg_get_statisticsobjdef(e.oid)),
             (41, CASE WHEN e.target >= 0 THEN format('ALTER STATISTICS %s SET STATISTICS %s', e.name, e.target) END),
             (41, snowflake_ids_convert.comment_statement('STATISTICS ' || e.name,
                                                          obj_description(e.oid, 'pg_statistic_ext'))),
             (42, format('ALTER STATISTICS %s OWNER TO %I', e.name, e.owner))
         ) AS s (stage, statement)
    ORDER BY e.oid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.statistics_changes
    IS 'internal: statements that drop extended statistics of converted columns and make them again';
