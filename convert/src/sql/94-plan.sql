-- snowflake_ids_convert_plan(): what a conversion would do, and the problems that prevent it.

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
