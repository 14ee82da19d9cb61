-- Runs the changeover.

-- Rows that were inserted after the numbering are added to the map. Most are added before writers are locked out, with
-- a null snapshot. Then only rows that the given snapshot did not see are left; each is found by an index.
CREATE FUNCTION snowflake_ids_convert.complete_map(job snowflake_ids_convert.job, since pg_snapshot) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    first_later_id text;
    operator_schema text := CASE job.format WHEN 'snowflake_si' THEN 'pg_catalog' ELSE job.core END;
BEGIN
    EXECUTE format('SELECT (' || job.make || ')::pg_catalog.text',
                   snowflake_ids_convert.tick_of(job, job.issued_after), 0)
    INTO first_later_id;
    EXECUTE format('INSERT INTO %s (old, new)
                    SELECT k.%I, k.%I
                    FROM ONLY %s AS k
                    WHERE k.%3$I OPERATOR(%5$s.>=) %6$L::%7$s
                      AND ($1 IS NULL OR age(k.xmin) <= age(pg_snapshot_xmin($1)::xid))
                      AND NOT EXISTS (SELECT FROM %1$s AS m WHERE m.new OPERATOR(%5$s.=) k.%3$I)',
                   job.map, job.key_column, job.shadow, job.relation, operator_schema, first_later_id, job.type)
    USING since;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.complete_map(snowflake_ids_convert.job, pg_snapshot)
    IS 'internal: adds rows that were inserted after the numbering to the map';

-- The tables may have been altered since the conversion began. Others can read and write while this looks at them.
CREATE FUNCTION snowflake_ids_convert.refuse_changed(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    problem_text text;
    any_triggers snowflake_ids_convert.job := job;
BEGIN
    -- The changeover updates no rows, so the tables' own triggers do not matter.
    any_triggers.fire_triggers := true;
    problem_text := (SELECT string_agg(problem, E'\n')
                     FROM snowflake_ids_convert.problems(any_triggers) AS problem);
    IF problem_text IS NULL THEN
        problem_text := (
            SELECT string_agg(format('column %s.%I: began to refer to the key after the conversion began',
                                     c.rel, c.attname), E'\n')
            FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
            WHERE NOT c.filled);
    END IF;
    IF problem_text IS NULL THEN
        problem_text := (
            SELECT string_agg(format('column %s.%I: its new values have not been checked', c.rel, c.attname), E'\n')
            FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
            WHERE c.at_once
              AND NOT EXISTS (SELECT
                              FROM pg_constraint k
                              WHERE k.conrelid = c.rel
                                AND k.conname = 'snowflake_ids_check_' || c.attnum
                                AND k.convalidated));
    END IF;
    PERFORM snowflake_ids_convert.refuse(job, problem_text);
    PERFORM snowflake_ids_convert.refuse_violations(job);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_changed(snowflake_ids_convert.job)
    IS 'internal: error if tables were altered so that a conversion cannot finish';

-- Only columns that may be filled later than their row is written. This runs under the lock.
CREATE FUNCTION snowflake_ids_convert.refuse_unfilled(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    col record;
    unfilled boolean;
BEGIN
    FOR col IN
        SELECT * FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE NOT at_once
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE (%I IS NULL) <> (%I IS NULL))',
                       col.rel, col.attname, col.shadow)
        INTO unfilled;
        IF unfilled THEN
            PERFORM snowflake_ids_convert.refuse(job, format(
                'Rows of %s refer in column %I to keys that do not exist.', col.rel, col.attname));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_unfilled(snowflake_ids_convert.job)
    IS 'internal: error if rows have no new values yet';

CREATE FUNCTION snowflake_ids_convert.lookalikes_of_all(tables regclass[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ARRAY(SELECT unnest(snowflake_ids_convert.lookalikes(rel)) FROM unnest(tables) AS rel)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.lookalikes_of_all(regclass[])
    IS 'internal: lookalikes that any of these tables uses';

-- Another user may have created a lookalike after the check of all expressions. Then the changeover is rolled back.
CREATE FUNCTION snowflake_ids_convert.refuse_new_lookalikes(
    job snowflake_ids_convert.job, tables regclass[], known text[]
) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.refuse(job, (
        SELECT string_agg(format('an expression would use %s, which is not part of extension snowflake_ids', object),
                          E'\n')
        FROM (SELECT unnest(snowflake_ids_convert.lookalikes_of_all(tables))
              EXCEPT
              SELECT unnest(known)) AS n (object)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_new_lookalikes(snowflake_ids_convert.job, regclass[], text[])
    IS 'internal: error if tables use lookalikes that were not known before';

CREATE FUNCTION snowflake_ids_convert.swap(job snowflake_ids_convert.job) RETURNS oid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    tables regclass[] := ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job.relation, job.key_attnum));
    on_type_path text[];
    on_plain_path text[];
    statement text;
    to_validate jsonb;
    since pg_snapshot;
    known_lookalikes text[];
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    PERFORM snowflake_ids_convert.refuse_changed(job);
    SELECT array_agg(s.statement ORDER BY s.stage, s.n) FILTER (WHERE s.stage < 5),
           array_agg(s.statement ORDER BY s.n) FILTER (WHERE s.stage = 5)
    INTO on_type_path, on_plain_path
    FROM snowflake_ids_convert.changes(job) WITH ORDINALITY AS s (stage, statement, n);
    to_validate := snowflake_ids_convert.to_validate(job);
    since := pg_current_snapshot();
    PERFORM snowflake_ids_convert.complete_map(job, NULL);
    known_lookalikes := snowflake_ids_convert.lookalikes_of_all(tables);

    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.refuse_unfilled(job);
    PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
    PERFORM snowflake_ids_convert.complete_map(job, since);
    PERFORM snowflake_ids_convert.drop_triggers(job.relation);
    -- Expressions on the new type need its operators. While this path is set, no name of ours may be looked up on it.
    PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(job), true);
    FOREACH statement IN ARRAY on_type_path LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOREACH statement IN ARRAY coalesce(on_plain_path, '{}') LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM snowflake_ids_convert.refuse_new_lookalikes(job, tables, known_lookalikes);
    UPDATE snowflake_ids_convert.my_conversion s
    SET key_attnum = snowflake_ids_convert.column_number(job.relation, job.key_column)
    WHERE s.relation = job.relation;
    RETURN ARRAY(SELECT k.oid
                 FROM jsonb_to_recordset(to_validate) AS v (rel oid, "constraint" name)
                      JOIN pg_constraint k ON k.conrelid = v.rel AND k.conname = v.constraint);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap(snowflake_ids_convert.job)
    IS 'internal: replaces the old columns by the new ones; returns the constraints that are left to validate';
