-- snowflake_ids_convert(), which begins or resumes a conversion, and snowflake_ids_convert_indexes().

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
    IS E'statements that make the indexes for which a conversion waits; run them with \\gexec, then call again';

CREATE FUNCTION snowflake_ids_convert.in_transaction_block() RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_in_transaction_block' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_convert.in_transaction_block
    IS 'internal: whether this transaction continues after the statement that runs';

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
