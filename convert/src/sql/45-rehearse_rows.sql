-- Tries constraints and indexes on new ids: inserts rows into each copy as the conversion would leave them.

-- Inserts up to 10,000 rows, with keys numbered as the conversion does, so ids have the right times and order. If
-- `fresh` names a new column, only one row, whose id is generated now; in an empty table it has only the id. Columns
-- without a check or index are left out because they may be large, except domains, which may refuse NULL.
CREATE FUNCTION snowflake_ids_convert.insert_sample(
    job snowflake_ids_convert.job, target regclass, copy regclass, fresh name
) RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
    WITH c AS (
        SELECT * FROM snowflake_ids_convert.columns(job) WHERE rel = target
    ), sampled (query) AS (
        SELECT format('SELECT * FROM ONLY %s TABLESAMPLE SYSTEM (%s) REPEATABLE (0) LIMIT %s', target,
                      least(100, 1000000 / greatest(reltuples, 1)), CASE WHEN fresh IS NULL THEN 10000 ELSE 1 END)
        FROM pg_class
        WHERE oid = target
    ), numbered (new_id, query) AS (
        SELECT format(job.make, format('(position / %s)', job.capacity), format('position %% %s', job.capacity)),
               snowflake_ids_convert.positions(job, clock_timestamp(), (
                   SELECT string_agg(format('%I%s = ANY (ARRAY(SELECT %I FROM sample))', job.key_column, "collate",
                                            attname), ' OR ')
                   FROM c))
    ), values_of (names, expressions, joins) AS (
        SELECT string_agg(format('%I', coalesce(c.shadow, a.attname)), ', ' ORDER BY a.attnum),
               string_agg(CASE WHEN c.shadow = fresh THEN job.new_id
                               WHEN c.attnum IS NOT NULL THEN format('m%s.new', c.attnum)
                               ELSE format('s.%I', a.attname)
                          END, ', ' ORDER BY a.attnum),
               string_agg(format(' LEFT JOIN map AS m%s ON m%1$s.old%s = s.%I', c.attnum, c.collate, a.attname), '')
                   FILTER (WHERE c.attnum IS NOT NULL)
        FROM pg_attribute a
             LEFT JOIN c ON c.attnum = a.attnum
        WHERE a.attrelid = target
          AND a.attnum > 0
          AND NOT a.attisdropped
          AND a.attname NOT IN (SELECT shadow FROM c)
          AND (c.attnum IS NOT NULL
               OR EXISTS (SELECT FROM pg_type y WHERE y.oid = a.atttypid AND y.typtype = 'd')
               OR EXISTS (SELECT
                          FROM pg_depend d
                               JOIN pg_attribute k ON k.attrelid = copy AND k.attname = a.attname
                          WHERE d.refclassid = 'pg_class'::regclass
                            AND d.refobjid = copy
                            AND d.refobjsubid IN (0, k.attnum)
                            AND d.deptype <> 'i'
                            AND d.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass)))
    )
    SELECT format('WITH sample AS MATERIALIZED (%s), map AS MATERIALIZED (SELECT old, %s AS new FROM (%s) AS p)
                   INSERT INTO %s (%s)
                   SELECT %s FROM (SELECT) AS one %s JOIN sample AS s ON true%s',
                  sampled.query, numbered.new_id, numbered.query, copy, names, expressions,
                  CASE WHEN fresh IS NULL THEN '' ELSE 'LEFT' END, joins)
    FROM sampled, numbered, values_of
$$;
COMMENT ON FUNCTION snowflake_ids_convert.insert_sample
    IS 'internal: the statement that inserts rows with new ids into the copy of a table';

-- A check that refuses the rows is dropped from the copy and the statement repeated, until all problems are found. In
-- an empty table, checks of several columns do not count, because the others are null.
CREATE FUNCTION snowflake_ids_convert.try_insert(target regclass, copy regclass, statement text) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    name name;
    columns integer;
    is_empty boolean;
BEGIN
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM ONLY %s)', target) INTO is_empty;
    LOOP
        BEGIN
            EXECUTE statement;
            RETURN;
        EXCEPTION
            WHEN check_violation THEN
                GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
                columns := (SELECT cardinality(conkey) FROM pg_constraint WHERE conrelid = copy AND conname = name);
                IF columns = 1 OR NOT is_empty THEN
                    RETURN NEXT format('table %s: check constraint %I does not accept new ids; drop it, or replace it by one that they satisfy', target, name);
                END IF;
                EXIT WHEN columns IS NULL;
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', copy, name);
            WHEN unique_violation THEN
                GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
                RETURN NEXT format('index %s: new ids are not unique in it; drop it',
                                   substring(name FROM '[0-9]+$')::oid::regclass);
                RETURN;
            WHEN not_null_violation THEN
                -- A domain of another column in an empty table.
                RETURN;
            WHEN OTHERS THEN
                RETURN NEXT format('table %s: a check or an index does not accept new ids; drop it: %s', target,
                                   SQLERRM);
                RETURN;
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.try_insert
    IS 'internal: what does not accept the rows that a statement inserts into the copy of a table';

-- Fresh ids are tried only if one column refers to keys, because fresh ids in several columns could have an order that
-- real rows never have.
CREATE FUNCTION snowflake_ids_convert.rehearse_rows(job snowflake_ids_convert.job, target regclass) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy regclass := snowflake_ids_convert.make_copy(job, target);
    fresh name := (SELECT CASE WHEN count(*) = 1 THEN min(shadow) ELSE min(shadow) FILTER (WHERE is_key) END
                   FROM snowflake_ids_convert.columns(job)
                   WHERE rel = target);
BEGIN
    IF fresh IS NOT NULL THEN
        RETURN QUERY
        SELECT *
        FROM snowflake_ids_convert.try_insert(
                 target, copy, snowflake_ids_convert.insert_sample(job, target, copy, fresh));
    END IF;
    EXECUTE format('DELETE FROM %s', copy);
    RETURN QUERY
    SELECT *
    FROM snowflake_ids_convert.try_insert(
             target, copy, snowflake_ids_convert.insert_sample(job, target, copy, NULL));
    EXECUTE format('DROP TABLE %s', copy);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.rehearse_rows
    IS 'internal: checks and indexes of a table that do not accept new ids';
