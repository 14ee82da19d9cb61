-- Tries the new type on empty copies of the tables; 45-rehearse_rows.sql adds rows. So PostgreSQL itself decides
-- whether constraints and indexes accept the new ids, and how their definitions read. The copies are unlogged, so rows
-- do not reach subscribers.

CREATE FUNCTION snowflake_ids_convert.copy_definitions(target regclass, attnums smallint[], copy text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', copy, conname, pg_get_constraintdef(oid))
        FROM pg_constraint
        WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
        UNION ALL
        SELECT format('CREATE %sINDEX %I ON %s %s', CASE WHEN i.is_unique THEN 'UNIQUE ' END,
                      'snowflake_ids_copy_' || target::oid || '_' || i.index::oid, copy, i.definition_end)
        FROM snowflake_ids_convert.indexes(target, attnums) AS i
        UNION ALL
        SELECT format('CREATE STATISTICS %s ON %s FROM %s',
                      snowflake_ids_convert.sibling(target, 'snowflake_ids_copy_' || target::oid || '_of_' || e.oid),
                      pg_get_statisticsobjdef_columns(e.oid), copy)
        FROM snowflake_ids_convert.statistics(target, attnums) AS e));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.copy_definitions
    IS 'internal: gives the copy the checks, indexes and statistics of the table';

-- Keys of the result: the oid of an index, or "check" and the oid of a constraint. pg_get_indexdef() omits the
-- tablespace, so it is inserted before WHERE. If the copy is the table itself, the result has its new indexes.
CREATE FUNCTION snowflake_ids_convert.definitions(target regclass, copy regclass) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_object_agg(d.key, d.definition), '{}')
    FROM (SELECT original.oid::text AS key,
                 left(def.ending, length(def.ending) - length(def.condition))
                 || coalesce(' TABLESPACE ' || quote_ident(s.spcname), '')
                 || def.condition AS definition
          FROM pg_index i
               JOIN pg_class c ON c.oid = i.indexrelid
               JOIN pg_class original
               ON original.oid::text = substring(c.relname FROM '^snowflake_ids_(?:copy_[0-9]+|index)_([0-9]+)$')
               LEFT JOIN pg_tablespace s ON s.oid = original.reltablespace
               CROSS JOIN LATERAL (
                   SELECT substr(pg_get_indexdef(c.oid),
                                 length(format('CREATE %sINDEX %I ON %s ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                                               c.relname, copy)) + 1),
                          coalesce(' WHERE ' || pg_get_expr(i.indpred, i.indrelid), '')) AS def (ending, condition)
          WHERE i.indrelid = copy
          UNION ALL
          SELECT 'check ' || original.oid, pg_get_expr(c.conbin, c.conrelid)
          FROM pg_constraint c
               JOIN pg_constraint original
               ON original.conrelid = target AND original.contype = 'c' AND original.conname = c.conname
          WHERE c.conrelid = copy AND c.contype = 'c') AS d
$$;
COMMENT ON FUNCTION snowflake_ids_convert.definitions
    IS 'internal: how the indexes and checks of a table are written on its copy';

-- Converted columns have the new type and the names of the new columns. It has no NOT NULL.
CREATE FUNCTION snowflake_ids_convert.make_copy(job snowflake_ids_convert.job, target regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy text := snowflake_ids_convert.sibling(target, 'snowflake_ids_copy_' || target::oid);
    attnums smallint[];
    change text;
    col record;
BEGIN
    -- The rehearsal runs code of the table. The earlier check of the owner held no lock.
    IF current_user <> (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = target) THEN
        PERFORM snowflake_ids_convert.fail('42501', format('must be owner of table %s', target));
    END IF;
    SELECT array_agg(attnum), string_agg(format('ALTER COLUMN %I TYPE %s USING NULL', attname, job.type), ', ')
    INTO attnums, change
    FROM snowflake_ids_convert.columns(job)
    WHERE rel = target;
    EXECUTE format('CREATE UNLOGGED TABLE %s AS SELECT * FROM ONLY %s WITH NO DATA', copy, target);
    FOR col IN SELECT shadow FROM snowflake_ids_convert.columns(job) WHERE rel = target LOOP
        EXECUTE format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', copy, col.shadow);
    END LOOP;
    IF job.format <> 'snowflake_si' THEN
        PERFORM snowflake_ids_convert.refuse_lookalikes_in_expressions(job, target, attnums, copy, change);
    END IF;
    PERFORM snowflake_ids_convert.copy_definitions(target, attnums, copy);
    PERFORM snowflake_ids_convert.run_on_type_path(job, ARRAY[format('ALTER TABLE %s %s', copy, change)]);
    FOR col IN SELECT attname, shadow FROM snowflake_ids_convert.columns(job) WHERE rel = target LOOP
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', copy, col.attname, col.shadow);
    END LOOP;
    -- A lookalike may be newer than refuse_lookalikes_in_expressions().
    PERFORM snowflake_ids_convert.refuse_lookalikes(
        ARRAY[copy::regclass], snowflake_ids_convert.lookalikes(ARRAY[target]), 'an expression');
    RETURN copy::regclass;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_copy
    IS 'internal: makes an empty copy of a table with the new type; error if a check or an index cannot take it';

CREATE FUNCTION snowflake_ids_convert.rehearse(job snowflake_ids_convert.job, target regclass) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy regclass := snowflake_ids_convert.make_copy(job, target);
    definitions jsonb := snowflake_ids_convert.definitions(target, copy);
BEGIN
    EXECUTE format('DROP TABLE %s', copy);
    RETURN definitions;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.rehearse
    IS 'internal: the indexes and checks of a table on the new columns; error if one cannot take the new type';
