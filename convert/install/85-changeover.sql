-- The changeover: the new columns replace the old ones. The functions here return its statements. They read the
-- catalogs before writers are locked out, while the old columns still exist. 86-columns.sql has the statements for
-- columns and indexes. 87-swap.sql runs all statements in the order of these stages:
--
--   1   drop what uses the old columns                    2   replace the old columns
--   3   make again, on the new ones, what others need     4   make statistics again
--   5   make the rest again
--
-- Up to stage 4 the schema of snowflake_ids is on the search path, because expressions on the new type need it. In
-- stage 5 it is not.

CREATE FUNCTION snowflake_ids_convert.comment_statement(object text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN comment IS NOT NULL THEN format('COMMENT ON %s IS %L', object, comment) END
$$;
COMMENT ON FUNCTION snowflake_ids_convert.comment_statement(text, text)
    IS 'internal: the statement that sets a comment; null if there is no comment';

CREATE FUNCTION snowflake_ids_convert.constraint_comment(target regclass, conname name, old oid) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT snowflake_ids_convert.comment_statement('CONSTRAINT ' || quote_ident(conname) || ' ON ' || target,
                                                   obj_description(old, 'pg_constraint'))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.constraint_comment(regclass, name, oid)
    IS 'internal: the statement that gives a constraint the comment of an old one';

-- Foreign keys are dropped first and made last, because they need the unique constraints.
CREATE FUNCTION snowflake_ids_convert.change_foreign_keys(
    job snowflake_ids_convert.job, OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT DISTINCT k.oid, k.conrelid::regclass AS rel, k.conname,
                          pg_get_constraintdef(k.oid) AS definition, k.convalidated
          FROM pg_constraint k
               JOIN snowflake_ids_convert.columns(job.relation, job.key_attnum) c
               ON c.rel = k.confrelid AND c.attnum = ANY (k.confkey)
          WHERE k.contype = 'f') AS f
         CROSS JOIN LATERAL (VALUES
             (1, 1, format('ALTER TABLE %s DROP CONSTRAINT %I', f.rel, f.conname)),
             (2, 5, format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', f.rel, f.conname, f.definition,
                           CASE WHEN f.convalidated THEN ' NOT VALID' END)),
             (3, 5, snowflake_ids_convert.constraint_comment(f.rel, f.conname, f.oid))
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL
    ORDER BY f.oid, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_foreign_keys(snowflake_ids_convert.job)
    IS 'internal: statements that drop the foreign keys to converted columns and make them again';

CREATE FUNCTION snowflake_ids_convert.change_triggers(
    target regclass, attnums smallint[], OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM pg_trigger g
         CROSS JOIN LATERAL (VALUES
             (1, 1, format('DROP TRIGGER %I ON %s', g.tgname, target)),
             (2, 5, pg_get_triggerdef(g.oid)),
             (3, 5, CASE WHEN g.tgenabled <> 'O'
                         THEN format('ALTER TABLE %s %s TRIGGER %I', target,
                                     CASE g.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS'
                                                      ELSE 'ENABLE REPLICA'
                                     END, g.tgname)
                    END),
             (4, 5, snowflake_ids_convert.comment_statement(format('TRIGGER %I ON %s', g.tgname, target),
                                                            obj_description(g.oid, 'pg_trigger')))
         ) AS s (n, stage, statement)
    WHERE g.tgrelid = target
      AND NOT g.tgisinternal
      AND g.tgname !~ '^zz_snowflake_ids_'
      AND g.tgattr::int2[] && attnums
      AND s.statement IS NOT NULL
    ORDER BY g.tgname, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_triggers(regclass, smallint[])
    IS 'internal: statements that drop the triggers for UPDATE OF converted columns and make them again';

CREATE FUNCTION snowflake_ids_convert.change_publications(
    target regclass, attnums smallint[], OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM pg_publication_rel r
         JOIN pg_publication b ON b.oid = r.prpubid
         CROSS JOIN LATERAL (
             SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
             FROM pg_attribute a
             WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::int2[])) AS published (columns)
         CROSS JOIN LATERAL (VALUES
             (1, format('ALTER PUBLICATION %I DROP TABLE ONLY %s', b.pubname, target)),
             (5, format('ALTER PUBLICATION %I ADD TABLE ONLY %s (%s)', b.pubname, target, published.columns)
                 || coalesce(' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')', ''))
         ) AS s (stage, statement)
    WHERE r.prrelid = target AND r.prattrs::int2[] && attnums
    ORDER BY b.pubname, s.stage
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_publications(regclass, smallint[])
    IS 'internal: statements that take the table out of publications of converted columns and add it again';

CREATE FUNCTION snowflake_ids_convert.change_statistics(
    target regclass, attnums smallint[], OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM (SELECT e.oid, format('%I.%I', n.nspname, e.stxname) AS name, pg_get_userbyid(e.stxowner) AS owner,
                 (to_jsonb(e) ->> 'stxstattarget')::int AS target
          FROM snowflake_ids_convert.statistics(target, attnums) AS e
               JOIN pg_namespace n ON n.oid = e.stxnamespace) AS e
         CROSS JOIN LATERAL (VALUES
             (1, 1, 'DROP STATISTICS ' || e.name),
             (2, 4, pg_get_statisticsobjdef(e.oid)),
             (3, 4, format('ALTER STATISTICS %s OWNER TO %I', e.name, e.owner)),
             (4, 4, CASE WHEN e.target >= 0
                         THEN format('ALTER STATISTICS %s SET STATISTICS %s', e.name, e.target)
                    END),
             (5, 4, snowflake_ids_convert.comment_statement('STATISTICS ' || e.name,
                                                            obj_description(e.oid, 'pg_statistic_ext')))
         ) AS s (n, stage, statement)
    WHERE s.statement IS NOT NULL
    ORDER BY e.oid, s.n
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_statistics(regclass, smallint[])
    IS 'internal: statements that drop extended statistics of converted columns and make them again';

-- A valid twin gets the name of its check. A check without one is made again, and validated after the changeover. The
-- last part drops twins of checks that were dropped after the twins were made.
CREATE FUNCTION snowflake_ids_convert.change_checks(
    target regclass, attnums smallint[], OUT stage integer, OUT statement text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.stage, s.statement
    FROM pg_constraint k
         LEFT JOIN pg_constraint twin
         ON twin.conrelid = target AND twin.convalidated AND twin.conname = 'snowflake_ids_check_of_' || k.oid
         CROSS JOIN LATERAL (VALUES
             (1, 2, format('ALTER TABLE %s DROP CONSTRAINT %I', target, k.conname)),
             (2, 3, CASE WHEN twin.oid IS NOT NULL
                         THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target, twin.conname, k.conname)
                         ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', target, k.conname,
                                     pg_get_constraintdef(k.oid), CASE WHEN k.convalidated THEN ' NOT VALID' END)
                    END),
             (3, 3, snowflake_ids_convert.constraint_comment(target, k.conname, k.oid))
         ) AS s (n, stage, statement)
    WHERE k.conrelid = target
      AND k.contype = 'c'
      AND k.conkey && attnums
      AND k.conname !~ '^snowflake_ids_check_'
      AND s.statement IS NOT NULL
    UNION ALL
    SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT %I', target, twin.conname)
    FROM pg_constraint twin
    WHERE twin.conrelid = target
      AND twin.conname ~ '^snowflake_ids_check_of_'
      AND NOT EXISTS (SELECT
                      FROM pg_constraint k
                      WHERE k.conrelid = target
                        AND twin.convalidated
                        AND twin.conname = 'snowflake_ids_check_of_' || k.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_checks(regclass, smallint[])
    IS 'internal: statements that replace the checks on converted columns';
