-- Runs the changeover: locks writers out, completes the map, and runs the statements.

-- Adds rows that were inserted after phase number. The first call, with a null snapshot, adds most of them before
-- writers are locked out. The second finds, by an index, those that the snapshot did not see.
CREATE FUNCTION snowflake_ids_convert.complete_map(job snowflake_ids_convert.job, since pg_snapshot) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    first_later_id text;
BEGIN
    EXECUTE format('SELECT (' || job.make || ')::pg_catalog.text',
                   snowflake_ids_convert.tick_of(job, job.issued_after), 0)
    INTO first_later_id;
    EXECUTE format('INSERT INTO %s (old, new)
                    SELECT k.%I, k.%I
                    FROM ONLY %s AS k
                    WHERE k.%3$I OPERATOR(pg_catalog.>=) %5$L::%6$s
                      AND ($1 IS NULL OR age(k.xmin) <= age(pg_snapshot_xmin($1)::xid))
                      AND NOT EXISTS (SELECT FROM %1$s AS m WHERE m.new OPERATOR(pg_catalog.=) k.%3$I)',
                   job.map, job.key_column, job.shadow, job.relation, first_later_id, job.type)
    USING since;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.complete_map
    IS 'internal: adds rows that were inserted after the numbering to the map';

-- The tables may have been altered since the conversion began. This locks nobody out.
CREATE FUNCTION snowflake_ids_convert.refuse_changed(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    any_triggers snowflake_ids_convert.job := job;
BEGIN
    -- The changeover updates no rows, so the tables' own triggers do not matter.
    any_triggers.fire_triggers := true;
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.problems(any_triggers)));
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(
        SELECT format(CASE WHEN c.filled THEN 'column %s.%I: its new values have not been checked'
                                         ELSE 'column %s.%I: began to refer to the key after the conversion began'
                      END, c.rel, c.attname)
        FROM snowflake_ids_convert.columns(job) c
        WHERE NOT c.filled
           OR c.at_once
              AND NOT EXISTS (SELECT
                              FROM pg_constraint k
                              WHERE k.conrelid = c.rel
                                AND k.conname = 'snowflake_ids_check_' || c.attnum
                                AND k.convalidated)));
    PERFORM snowflake_ids_convert.refuse_violations(job);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_changed
    IS 'internal: error if tables were altered so that a conversion cannot finish';

-- Returns the constraints that were valid before. The changeover creates them NOT VALID, to read no table, and phase
-- validate validates them.
CREATE FUNCTION snowflake_ids_convert.swap(job snowflake_ids_convert.job) RETURNS oid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    tables oid[] := ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job));
    lookalikes text[];
    not_valid text[];
    on_type_path text[];
    on_plain_path text[];
    since pg_snapshot;
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    PERFORM snowflake_ids_convert.refuse_changed(job);
    SELECT array_agg(s.statement ORDER BY s.stage, s.n) FILTER (WHERE s.stage < 50),
           array_agg(s.statement ORDER BY s.stage, s.n) FILTER (WHERE s.stage >= 50)
    INTO on_type_path, on_plain_path
    FROM snowflake_ids_convert.changes(job) WITH ORDINALITY AS s (stage, statement, n)
    WHERE s.statement IS NOT NULL;
    not_valid := ARRAY(SELECT format('%s %s', conrelid, conname)
                       FROM pg_constraint
                       WHERE conrelid = ANY (tables) AND NOT convalidated);
    since := pg_current_snapshot();
    PERFORM snowflake_ids_convert.complete_map(job, NULL);
    lookalikes := snowflake_ids_convert.lookalikes(tables);

    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    -- The other columns have a validated CHECK that says so.
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(
        SELECT format('Rows of %s refer in column %I to keys that do not exist.', rel, attname)
        FROM snowflake_ids_convert.columns(job)
        WHERE NOT at_once
          AND snowflake_ids_convert.count_rows(rel, format('(%I IS NULL) <> (%I IS NULL)', attname, shadow)) > 0));
    PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
    PERFORM snowflake_ids_convert.complete_map(job, since);
    PERFORM snowflake_ids_convert.drop_triggers(job.relation);
    PERFORM snowflake_ids_convert.run_on_type_path(job, on_type_path);
    PERFORM snowflake_ids_convert.run(coalesce(on_plain_path, '{}'));
    -- A lookalike may be newer than the check of all expressions.
    PERFORM snowflake_ids_convert.refuse_lookalikes(tables, lookalikes, 'an expression');
    RETURN ARRAY(SELECT oid
                 FROM pg_constraint
                 WHERE conrelid = ANY (tables)
                   AND NOT convalidated
                   AND format('%s %s', conrelid, conname) <> ALL (not_valid));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap
    IS 'internal: replaces the old columns by the new ones; returns the constraints that are left to validate';
