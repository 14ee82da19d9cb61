-- The new type is tried on empty copies of the tables: PostgreSQL itself says whether constraints and indexes can take
-- it, and how they are written on the new columns.

-- Expressions are read again for a key that is a sno, with the schema of snowflake_ids on the search path: its operators
-- are there. Others may create there, too, what would fit better. This is what expressions of a table use of that.
CREATE FUNCTION snowflake_ids_convert.lookalikes(target regclass) RETURNS text[]
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
COMMENT ON FUNCTION snowflake_ids_convert.lookalikes(regclass) IS 'internal: operators and functions in the schema of snowflake_ids, but not of it, that expressions of a relation use';

CREATE FUNCTION snowflake_ids_convert.refuse_lookalikes(used regclass, original regclass, expression text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    new_ones text := (SELECT string_agg(o, ', ') FROM (SELECT unnest(snowflake_ids_convert.lookalikes(used))
                                                       EXCEPT SELECT unnest(snowflake_ids_convert.lookalikes(original))) AS n (o));
BEGIN
    IF new_ones IS NOT NULL THEN
        RAISE EXCEPTION '% would use %, not of the extension', expression, new_ones USING ERRCODE = 'ambiguous_function';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_lookalikes(regclass, regclass, text) IS 'internal: error if a relation uses others'' operators that another does not';

-- Where expressions with ids of the new type find their operators.
CREATE FUNCTION snowflake_ids_convert.path_of_type(j snowflake_ids_convert.job) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT concat_ws(', ', 'pg_catalog', CASE WHEN j.format = 'sno' THEN j.core END, 'pg_temp')
$$;
COMMENT ON FUNCTION snowflake_ids_convert.path_of_type(snowflake_ids_convert.job) IS 'internal: search path for expressions with ids of a format';

-- All expressions of a table that have to be read again.
CREATE FUNCTION snowflake_ids_convert.expressions(target regclass, attnums smallint[]) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT e.expression FROM (
        SELECT 1, conname, pg_get_expr(conbin, conrelid) FROM pg_constraint
        WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
        UNION SELECT 2, indexrelid::regclass::text::name, pg_get_indexdef(indexrelid, n, false)
        FROM pg_index CROSS JOIN LATERAL generate_series(1, indnkeyatts) AS n WHERE indrelid = target AND indkey[n - 1] = 0
        UNION SELECT 3, indexrelid::regclass::text::name, pg_get_expr(indpred, indrelid) FROM pg_index
        WHERE indrelid = target AND indpred IS NOT NULL
        UNION SELECT 4, stxname, x FROM pg_statistic_ext CROSS JOIN LATERAL unnest(pg_get_statisticsobjdef_expressions(oid)) AS x
        WHERE stxrelid = target) AS e (kind, name, expression)
    WHERE e.expression !~ '\msnowflake_ids_new_[0-9]' ORDER BY e.kind, e.name, e.expression
$$;
COMMENT ON FUNCTION snowflake_ids_convert.expressions(regclass, smallint[]) IS 'internal: expressions of checks, indexes and statistics';

-- What each expression would mean, in a view: that evaluates nothing. A table like the copy has the types.
CREATE FUNCTION snowflake_ids_convert.try_expressions(j snowflake_ids_convert.job, target regclass, attnums smallint[], copy text, change text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    schema_name name := (SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = target);
    probe text := format('%I.%I', schema_name, 'snowflake_ids_probe_' || target::oid);
    view text := format('%I.%I', schema_name, 'snowflake_ids_probe_' || target::oid || '_view');
    expression text;
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE %s)', probe, copy);
    EXECUTE format('ALTER TABLE %s %s', probe, change);
    FOR expression IN SELECT * FROM snowflake_ids_convert.expressions(target, attnums) LOOP
        PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(j), true);
        EXECUTE format('CREATE VIEW %s AS SELECT %s AS x FROM %s', view, expression, probe);
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        PERFORM snowflake_ids_convert.refuse_lookalikes(view::regclass, target, 'expression ' || expression);
        EXECUTE format('DROP VIEW %s', view);
    END LOOP;
    EXECUTE format('DROP TABLE %s', probe);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.try_expressions(snowflake_ids_convert.job, regclass, smallint[], text, text) IS 'internal: error if an expression would use operators of others';

-- Gives the copy the checks, indexes and statistics of the table.
CREATE FUNCTION snowflake_ids_convert.copy_definitions(target regclass, attnums smallint[], copy text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    schema_name name := (SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = target);
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', copy, conname, pg_get_constraintdef(oid)) FROM pg_constraint
        WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
        UNION ALL
        SELECT format('CREATE %sINDEX %I ON %s %s', CASE WHEN i.is_unique THEN 'UNIQUE ' END,
                      'snowflake_ids_copy_' || target::oid || '_' || i.index::oid, copy, i.rest)
        FROM snowflake_ids_convert.indexes(target, attnums) AS i
        UNION ALL
        SELECT format('CREATE STATISTICS %I.%I ON %s FROM %s', schema_name, 'snowflake_ids_copy_' || target::oid || '_of_' || e.oid,
                      pg_get_statisticsobjdef_columns(e.oid), copy)
        FROM pg_statistic_ext e WHERE e.stxrelid = target AND EXISTS (SELECT FROM pg_depend d
             WHERE d.classid = 'pg_statistic_ext'::regclass AND d.objid = e.oid AND d.refclassid = 'pg_class'::regclass
               AND d.refobjid = target AND d.refobjsubid = ANY (attnums)) LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.copy_definitions(regclass, smallint[], text) IS 'internal: checks, indexes and statistics of a table, on its copy';

-- How indexes and checks are written on the copy: by the oid of the index, or "check" and that of the constraint. An
-- index also has its tablespace, which stands before the WHERE.
CREATE FUNCTION snowflake_ids_convert.definitions(target regclass, copy regclass) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_object_agg(d.key, d.definition), '{}') FROM (
        SELECT o.oid::text AS key,
               left(r.rest, length(r.rest) - length(r.condition)) || coalesce(' TABLESPACE ' || quote_ident(s.spcname), '') || r.condition AS definition
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class o ON o.oid::text = substring(c.relname FROM '[0-9]+$')
             LEFT JOIN pg_tablespace s ON s.oid = o.reltablespace
             CROSS JOIN LATERAL (SELECT substr(pg_get_indexdef(c.oid), length(format('CREATE %sINDEX %I ON %s ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                                                                                      c.relname, copy)) + 1),
                                        coalesce(' WHERE ' || pg_get_expr(i.indpred, i.indrelid), '')) AS r (rest, condition)
        WHERE i.indrelid = copy
        UNION ALL
        SELECT 'check ' || t.oid, pg_get_expr(c.conbin, c.conrelid)
        FROM pg_constraint c JOIN pg_constraint t ON t.conrelid = target AND t.contype = 'c' AND t.conname = c.conname
        WHERE c.conrelid = copy AND c.contype = 'c') AS d
$$;
COMMENT ON FUNCTION snowflake_ids_convert.definitions(regclass, regclass) IS 'internal: how indexes and checks are written on a copy';

CREATE FUNCTION snowflake_ids_convert.rehearse(j snowflake_ids_convert.job, target regclass) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy text := (SELECT format('%I.%I', nspname, 'snowflake_ids_copy_' || c.oid)
                  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = target);
    attnums smallint[];
    change text;
    c record;
    definitions jsonb;
BEGIN
    -- What is tried here runs code of the table. Nothing was locked, so it is not enough that this was asked before.
    IF current_user <> (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = target) THEN
        RAISE EXCEPTION 'must be owner of table %', target USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT array_agg(attnum), string_agg(format('ALTER COLUMN %I TYPE %s USING NULL', attname, j.type), ', ')
    INTO attnums, change FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE rel = target;
    EXECUTE format('CREATE TABLE %s (LIKE %s)', copy, target);
    FOR c IN SELECT shadow FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE rel = target LOOP
        EXECUTE format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', copy, c.shadow);
    END LOOP;
    IF j.format = 'sno' THEN
        PERFORM snowflake_ids_convert.try_expressions(j, target, attnums, copy, change);
    END IF;
    PERFORM snowflake_ids_convert.copy_definitions(target, attnums, copy);
    -- Expressions of the new type need the operators of that type. Nothing of ours may be looked up on that path.
    PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(j), true);
    EXECUTE format('ALTER TABLE %s %s', copy, change);
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR c IN SELECT attname, shadow FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE rel = target LOOP
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', copy, c.attname, c.shadow);
    END LOOP;
    definitions := snowflake_ids_convert.definitions(target, copy::regclass);
    -- It may have come since.
    PERFORM snowflake_ids_convert.refuse_lookalikes(copy::regclass, target, 'an expression');
    EXECUTE format('DROP TABLE %s', copy);
    RETURN definitions;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.rehearse(snowflake_ids_convert.job, regclass) IS 'internal: indexes and checks of a table as they are on the new columns; error if something cannot take the new type';
