-- The functions that users call, and those that only these use.

-- A converted bigint key looks like any other, so a repeated call would number all rows again. Its default shows the
-- conversion, also after a restore without the state.
CREATE FUNCTION snowflake_ids_convert.key_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: has been converted to %s; to number its rows again, first ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT',
                  job.relation, job.key_column, job.format)
    WHERE job.new_id = (SELECT pg_get_expr(adbin, adrelid)
                        FROM pg_attrdef
                        WHERE adrelid = job.relation AND adnum = job.key_attnum)
    UNION ALL
    SELECT format(CASE WHEN pg_get_userbyid(c.relowner) = current_user
                       THEN 'table %s: is the map of an earlier conversion; copy what you need of it, then SELECT snowflake_ids_convert_forget(%L)'
                       ELSE 'table %s: has the name that the map will have; drop or rename it'
                  END, c.oid::regclass, job.relation)
    FROM pg_class c
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = job.relation)
      AND c.relname = 'snowflake_ids_map_' || job.relation::oid
      AND NOT EXISTS (SELECT
                      FROM snowflake_ids_convert.my_conversion s
                      WHERE s.relation = job.relation AND s.phase NOT IN ('validate', 'done'))
    UNION ALL
    SELECT format('column %s.%I: may be null', job.relation, job.key_column)
    WHERE EXISTS (SELECT FROM pg_attribute WHERE attrelid = job.relation AND attnum = job.key_attnum AND NOT attnotnull)
    UNION ALL
    SELECT format('column %s.%I: is not unique by itself; create a unique index on it', job.relation, job.key_column)
    WHERE NOT EXISTS (SELECT
                      FROM pg_index
                      WHERE indrelid = job.relation
                        AND indisunique
                        AND indisvalid
                        AND indimmediate
                        AND indpred IS NULL
                        AND indnkeyatts = 1
                        AND indkey[0] = job.key_attnum)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.key_problems IS 'internal: why a column cannot be converted as a key';

CREATE FUNCTION snowflake_ids_convert.orphan_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE
AS $$
    SELECT format('column %s.%I: %s rows refer to a key that does not exist', rel, attname, orphans)
    FROM snowflake_ids_convert.columns(job)
         CROSS JOIN LATERAL snowflake_ids_convert.count_rows(rel, format(
             'c.%1$I IS NOT NULL AND NOT EXISTS (SELECT FROM ONLY %2$s k WHERE k.%3$I%4$s = c.%1$I)',
             attname, job.relation, job.key_column, "collate")) AS orphans
    WHERE NOT is_key AND orphans > 0
$$;
COMMENT ON FUNCTION snowflake_ids_convert.orphan_problems
    IS 'internal: columns with rows that refer to a key that does not exist';

-- The conversion updates all rows, which fails for rows that violate a check.
CREATE FUNCTION snowflake_ids_convert.violation_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE
AS $$
    SELECT format('table %s: %s rows violate check constraint %I, which was never validated; correct them, or drop it',
                  t.rel, violations, k.conname)
    FROM snowflake_ids_convert.tables(job) t
         JOIN pg_constraint k ON k.conrelid = t.rel AND k.contype = 'c' AND NOT k.convalidated
         CROSS JOIN LATERAL snowflake_ids_convert.count_rows(
             t.rel, format('NOT (%s)', pg_get_expr(k.conbin, k.conrelid))) AS violations
    WHERE (to_jsonb(k) ->> 'conenforced')::boolean IS NOT FALSE AND violations > 0
    ORDER BY t.rel, k.conname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.violation_problems
    IS 'internal: checks that are not valid and that rows violate';

CREATE FUNCTION snowflake_ids_convert.notes(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT 'the identity becomes a default, because an identity column takes integers from a sequence'
    WHERE EXISTS (SELECT
                  FROM pg_attribute
                  WHERE attrelid = job.relation AND attnum = job.key_attnum AND attidentity <> '')
    UNION ALL
    SELECT format('times in %I are read in time zone %s', job.created_column, job.zone)
    WHERE EXISTS (SELECT
                  FROM pg_attribute
                  WHERE attrelid = job.relation
                    AND attname = job.created_column
                    AND atttypid <> 'timestamptz'::regtype)
    UNION ALL
    SELECT 'the new columns will be the last ones of their tables; to keep the positions, set keep_position, which rewrites the tables during the changeover'
    WHERE NOT job.keep_position
    UNION ALL
    SELECT p.problem
    FROM snowflake_ids_convert.tables(job) t
         CROSS JOIN LATERAL snowflake_ids_convert.publications(t.rel) AS p
    UNION ALL
    SELECT dependent || '; drop it before the changeover, and create it again afterwards'
    FROM snowflake_ids_convert.dependents(job) AS dependent
$$;
COMMENT ON FUNCTION snowflake_ids_convert.notes IS 'internal: notes for the user before a conversion';

CREATE FUNCTION snowflake_ids_convert.planned_steps(
    job snowflake_ids_convert.job, rows bigint, OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    RETURN QUERY
    SELECT 'step', CASE WHEN is_key
                        THEN format('add %s.%I %s, for %s rows, in the order of %I, %I', rel, shadow, job.type, rows,
                                    job.created_column, job.key_column)
                        ELSE format('add %s.%I %s, following %s.%I', rel, shadow, job.type, job.relation,
                                    job.key_column)
                   END
    FROM snowflake_ids_convert.columns(job);
    IF NOT job.keep_position THEN
        RETURN QUERY
        SELECT 'index', replace(definition, '{concurrently}', 'CONCURRENTLY ')
        FROM snowflake_ids_convert.new_indexes(job);
    END IF;
    RETURN QUERY
    SELECT 'step', format('lock the tables, %s, default %s',
                          CASE WHEN job.keep_position THEN 'rewrite them' ELSE 'replace the columns' END, job.new_id);
    RETURN QUERY
    SELECT DISTINCT 'step', format(CASE WHEN f.convalidated
                                        THEN 'validate foreign key %I of %s'
                                        ELSE 'leave foreign key %I of %s NOT VALID, as it is'
                                   END, f.conname, f.conrelid::regclass)
    FROM pg_constraint f
         JOIN snowflake_ids_convert.columns(job) c
         ON c.rel = f.confrelid AND c.attnum = ANY (f.confkey)
    WHERE f.contype = 'f'
    ORDER BY 2;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.planned_steps IS 'internal: what a conversion would do';

CREATE FUNCTION snowflake_ids_convert.plan(job snowflake_ids_convert.job, OUT kind text, OUT item text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    crowded record;
BEGIN
    RETURN QUERY
    SELECT 'problem', problem FROM snowflake_ids_convert.key_problems(job) AS problem
    WHERE (SELECT relkind = 'r' AND NOT relispartition FROM pg_class WHERE oid = job.relation)
    UNION ALL
    SELECT 'problem', problem FROM snowflake_ids_convert.problems(job) AS problem;
    -- With such problems, reading the rows may fail or be wrong.
    IF FOUND THEN
        RETURN;
    END IF;
    -- The clock is read after the snapshot is taken, so rows inserted now are not in the future.
    RETURN QUERY
    SELECT 'problem', problem
    FROM snowflake_ids_convert.time_problems(job, clock_timestamp(), 'true') AS problem;
    IF FOUND THEN
        RETURN;
    END IF;
    crowded := snowflake_ids_convert.crowding(job, clock_timestamp(), 'true');
    RETURN QUERY
    SELECT CASE WHEN job.spill THEN 'note' ELSE 'problem' END, crowded.moves WHERE crowded.moves IS NOT NULL;
    RETURN QUERY
    SELECT 'problem', crowded.too_far WHERE crowded.too_far IS NOT NULL;
    RETURN QUERY
    SELECT 'problem', problem FROM snowflake_ids_convert.orphan_problems(job) AS problem
    UNION ALL
    SELECT 'problem', problem FROM snowflake_ids_convert.violation_problems(job) AS problem;
    IF FOUND OR crowded.too_far IS NOT NULL OR crowded.moves IS NOT NULL AND NOT job.spill THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'note', note FROM snowflake_ids_convert.notes(job) AS note;
    RETURN QUERY
    SELECT p.kind, p.item FROM snowflake_ids_convert.planned_steps(job, crowded.rows) AS p;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.plan
    IS 'internal: what a conversion would do, and the problems that prevent it';

CREATE FUNCTION snowflake_ids_convert.plan_as_owner(
    relation regclass, key_column name, format text, created_column name, metabyte integer, spill boolean,
    keep_position boolean, fire_triggers boolean, publications boolean, OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job := snowflake_ids_convert.planned_job(
        relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers, publications);
BEGIN
    PERFORM snowflake_ids_convert.check_key_type(job);
    job.changes_over := keep_position;
    RETURN QUERY SELECT p.kind, p.item FROM snowflake_ids_convert.plan(job) AS p;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.plan_as_owner IS 'internal: what a conversion would do, and the problems';

CREATE FUNCTION snowflake_ids_convert_plan(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    spill boolean DEFAULT false, keep_position boolean DEFAULT false, fire_triggers boolean DEFAULT false,
    publications boolean DEFAULT false, OUT kind text, OUT item text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_plan(regclass, name, text, name, integer, boolean, boolean, boolean, boolean)
    IS 'what snowflake_ids_convert would do, and the problems; makes copies of some rows and drops them again';

CREATE FUNCTION snowflake_ids_convert.indexes_as_owner(relation regclass) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job := snowflake_ids_convert.with_format(
        snowflake_ids_convert.state_of(relation, false));
BEGIN
    IF job.phase IN ('index', 'swap') AND NOT job.keep_position THEN
        PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
        RETURN QUERY SELECT * FROM snowflake_ids_convert.index_statements(job, true);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.indexes_as_owner
    IS 'internal: statements that make the indexes for which a conversion waits';

CREATE FUNCTION snowflake_ids_convert_indexes(relation regclass) RETURNS SETOF text
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_indexes(regclass)
    IS 'statements that make the indexes for which a conversion waits; run them with \gexec, then call again';

-- RESTRICTED, because in_transaction_block() is always true in a parallel worker.
CREATE FUNCTION snowflake_ids_convert.check_call(batch_size integer) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
AS $$
BEGIN
    IF batch_size < 1 THEN
        PERFORM snowflake_ids_convert.fail(
            '22003', format('batch_size out of range: %s', batch_size),
            detail => 'A batch must have at least one row.');
    ELSIF snowflake_ids_convert.in_transaction_block() THEN
        PERFORM snowflake_ids_convert.fail(
            '25001', 'cannot convert inside a transaction block',
            detail => 'The conversion commits after each batch.',
            hint => 'Call without BEGIN, as the only command of the query.');
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM snowflake_ids_convert.fail(
            '25000', format('cannot convert in isolation level %s', current_setting('transaction_isolation')),
            hint => 'Set default_transaction_isolation to read committed.');
    ELSIF current_setting('transaction_read_only')::boolean THEN
        PERFORM snowflake_ids_convert.fail(
            '25006', 'cannot convert in a read-only transaction',
            hint => 'Set default_transaction_read_only to off. A standby cannot convert.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_call
    IS 'internal: error if the batch size is wrong, or if no conversion can run in this session';

CREATE FUNCTION snowflake_ids_convert.resume(job snowflake_ids_convert.job) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    running snowflake_ids_convert.job := snowflake_ids_convert.with_format(
        snowflake_ids_convert.state_of(job.relation, false));
BEGIN
    IF coalesce(running.phase, 'done') = 'done' THEN
        RETURN false;
    ELSIF (running.key_attnum, running.format, running.created_column, running.metabyte, running.keep_position)
          IS DISTINCT FROM (job.key_attnum, job.format, job.created_column, job.metabyte, job.keep_position) THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('%s is being converted in another way', job.relation),
            detail => format('The conversion has key_column %I, format %s, created_column %I, metabyte %s, keep_position %s.', running.key_column, running.format, running.created_column,
                                  running.metabyte, running.keep_position),
            hint => CASE running.phase WHEN 'validate' THEN 'Call with these arguments.'
                         ELSE 'Call with these arguments, or undo the conversion with snowflake_ids_convert_undo().'
                    END);
    END IF;
    IF job.changes_over AND running.phase <> 'validate' THEN
        PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.dependents(job)));
    END IF;
    UPDATE snowflake_ids_convert.my_conversion s
    SET batch_size = job.batch_size,
        spill = job.spill,
        fire_triggers = job.fire_triggers,
        publications = job.publications,
        build_concurrently = job.build_concurrently,
        resumed = clock_timestamp(),
        updated = clock_timestamp(),
        resumed_at = coalesce(s.done, 0)
    WHERE s.relation = job.relation;
    RETURN true;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.resume
    IS 'internal: continues a conversion that has begun; false if there is none';

-- The first transaction of a call. It takes no lock that stops writers.
CREATE FUNCTION snowflake_ids_convert.start_as_owner(
    relation regclass, key_column name, format text, created_column name, metabyte integer, batch_size integer,
    spill boolean, keep_position boolean, fire_triggers boolean, finish boolean, "concurrently" boolean,
    publications boolean
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job;
    planned record;
    problems text;
BEGIN
    PERFORM snowflake_ids_convert.check_call(batch_size);
    job := snowflake_ids_convert.planned_job(
        relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers, publications);
    job.batch_size := batch_size;
    job.build_concurrently := "concurrently";
    job.changes_over := finish AND (keep_position OR NOT "concurrently");
    IF snowflake_ids_convert.resume(job) THEN
        RETURN;
    END IF;
    PERFORM snowflake_ids_convert.check_key_type(job);
    FOR planned IN SELECT * FROM snowflake_ids_convert.plan(job) LOOP
        IF planned.kind = 'problem' THEN
            problems := concat_ws(E'\n', problems, planned.item);
        ELSIF planned.kind = 'note' THEN
            RAISE NOTICE '%', planned.item;
        END IF;
    END LOOP;
    IF problems IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot convert column "%s" of %s', job.key_column, job.relation),
            detail => problems,
            hint => 'Solve these problems and call again. Nothing was changed.');
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion s WHERE s.relation = job.relation;
    INSERT INTO snowflake_ids_convert.my_conversion (
        relation, key_attnum, created_attnum, format, zone, metabyte, batch_size, spill, keep_position, fire_triggers,
        build_concurrently, publications, phase)
    VALUES (job.relation, job.key_attnum, job.created_attnum, job.format, job.zone, job.metabyte, job.batch_size,
            job.spill, job.keep_position, job.fire_triggers, job.build_concurrently, job.publications, 'prepare');
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.start_as_owner IS 'internal: begins or resumes a conversion';

CREATE FUNCTION snowflake_ids_convert.start(
    relation regclass, key_column name, format text, created_column name, metabyte integer, batch_size integer,
    spill boolean, keep_position boolean, fire_triggers boolean, finish boolean, "concurrently" boolean,
    publications boolean
) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert.start
    IS 'internal: begins or resumes a conversion, as the owner of the table';

-- A procedure that commits can have no settings of its own, so nothing here depends on the search path.
CREATE PROCEDURE snowflake_ids_convert(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    batch_size integer DEFAULT 1000, spill boolean DEFAULT false, keep_position boolean DEFAULT false,
    fire_triggers boolean DEFAULT false, finish boolean DEFAULT true,
    concurrently boolean DEFAULT true, publications boolean DEFAULT false
)
LANGUAGE plpgsql
AS $$
DECLARE
    said pg_catalog.text;
    more pg_catalog.bool := true;
BEGIN
    PERFORM snowflake_ids_convert.start(
        relation, key_column, format, created_column, metabyte, batch_size, spill, keep_position, fire_triggers, finish,
        "concurrently", publications);
    WHILE more LOOP
        COMMIT;
        IF said IS NOT NULL THEN
            RAISE NOTICE '%', said;
        END IF;
        SELECT s.said, s.more INTO said, more FROM snowflake_ids_convert.step(relation, finish) AS s;
    END LOOP;
    COMMIT;
    IF said IS NOT NULL THEN
        RAISE NOTICE '%', said;
    END IF;
END $$;
COMMENT ON PROCEDURE snowflake_ids_convert(
    regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean, boolean
) IS 'replaces a key by sno, mastic or snowflake_si ids, made from the times of its rows; a repeated call resumes';
