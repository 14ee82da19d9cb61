-- Refuses a conversion whose expressions would use other users' functions or operators.

-- Expressions on a future sno need its operators, so they are parsed with the schema of snowflake_ids on the search
-- path. Other users' functions or operators there may match better, and would run as the table's owner. So a conversion
-- that would use them is refused.
CREATE FUNCTION snowflake_ids_convert.lookalikes(tables oid[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(array_agg(DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0)), '{}')
    FROM pg_extension e
         CROSS JOIN (
             SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = ANY (tables)
             UNION ALL
             SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = ANY (tables)
             UNION ALL
             SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = ANY (tables)
             UNION ALL
             SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite WHERE ev_class = ANY (tables)) AS used_by (class, oid)
         JOIN pg_depend d ON d.classid = used_by.class AND d.objid = used_by.oid
         LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
         LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
    WHERE e.extname = 'snowflake_ids'
      AND e.extnamespace IN (o.oprnamespace, p.pronamespace)
      AND NOT EXISTS (SELECT
                      FROM pg_depend member
                      WHERE member.classid = d.refclassid
                        AND member.objid = d.refobjid
                        AND member.deptype = 'e'
                        AND member.refclassid = 'pg_extension'::regclass
                        AND member.refobjid = e.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.lookalikes
    IS 'internal: what relations use from the schema of snowflake_ids although it is not part of that extension';

CREATE FUNCTION snowflake_ids_convert.refuse_lookalikes(used_by oid[], known text[], expression text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    added text := (SELECT string_agg(object, ', ')
                   FROM (SELECT unnest(snowflake_ids_convert.lookalikes(used_by))
                         EXCEPT
                         SELECT unnest(known)) AS n (object));
BEGIN
    IF added IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '42725', format('%s would use %s, which is not part of extension snowflake_ids', expression, added));
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_lookalikes
    IS 'internal: error if relations use operators of other users, unless they are known';

-- No name of ours may be looked up on this path. On return, the old path is back.
CREATE FUNCTION snowflake_ids_convert.run_on_type_path(job snowflake_ids_convert.job, statements text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    path text := concat_ws(', ', 'pg_catalog', CASE WHEN job.format <> 'snowflake_si' THEN job.core END, 'pg_temp');
    statement text;
BEGIN
    PERFORM set_config('search_path', path, true);
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.run_on_type_path
    IS 'internal: runs statements with the operators of the new type, one after another';

CREATE FUNCTION snowflake_ids_convert.expressions(target regclass, attnums smallint[]) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT e.expression
    FROM (SELECT 1, conname, pg_get_expr(conbin, conrelid)
          FROM pg_constraint
          WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
          UNION
          SELECT 2, indexrelid::regclass::text::name, pg_get_indexdef(indexrelid, n, false)
          FROM pg_index
               CROSS JOIN LATERAL generate_series(1, indnkeyatts) AS n
          WHERE indrelid = target AND indkey[n - 1] = 0
          UNION
          SELECT 3, indexrelid::regclass::text::name, pg_get_expr(indpred, indrelid)
          FROM pg_index
          WHERE indrelid = target AND indpred IS NOT NULL
          UNION
          SELECT 4, stxname, statistics_expression
          FROM pg_statistic_ext
               CROSS JOIN LATERAL unnest(pg_get_statisticsobjdef_expressions(oid)) AS statistics_expression
          WHERE stxrelid = target) AS e (kind, name, expression)
    WHERE e.expression !~ '\msnowflake_ids_new_[0-9]'
    ORDER BY e.kind, e.name, e.expression
$$;
COMMENT ON FUNCTION snowflake_ids_convert.expressions
    IS 'internal: expressions of checks, indexes and statistics that have to be parsed again';

-- In a view, an expression is parsed but not evaluated.
CREATE FUNCTION snowflake_ids_convert.refuse_lookalikes_in_expressions(
    job snowflake_ids_convert.job, target regclass, attnums smallint[], copy text, change text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    probe text := snowflake_ids_convert.sibling(target, 'snowflake_ids_probe_' || target::oid);
    view text := snowflake_ids_convert.sibling(target, 'snowflake_ids_probe_' || target::oid || '_view');
    known text[] := snowflake_ids_convert.lookalikes(ARRAY[target]);
    expression text;
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE %s)', probe, copy);
    EXECUTE format('ALTER TABLE %s %s', probe, change);
    FOR expression IN SELECT * FROM snowflake_ids_convert.expressions(target, attnums) LOOP
        PERFORM snowflake_ids_convert.run_on_type_path(
            job, ARRAY[format('CREATE VIEW %s AS SELECT %s AS value FROM %s', view, expression, probe)]);
        PERFORM snowflake_ids_convert.refuse_lookalikes(ARRAY[view::regclass], known, 'expression ' || expression);
        EXECUTE format('DROP VIEW %s', view);
    END LOOP;
    EXECUTE format('DROP TABLE %s', probe);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_lookalikes_in_expressions
    IS 'internal: error if an expression on the new type would use operators of other users';
