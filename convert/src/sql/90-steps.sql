-- The steps of a conversion.
--
--   prepare   adds columns and triggers, under a short lock    number    gives each row its id, in one sorted pass
--   fill      writes the new keys, in batches                  settle    waits for writers that saw keys without ids
--   follow    writes the references, in batches                check     adds checks, so that swap reads no table
--   index     builds the indexes, or waits for them            ready     waits for a call with finish (keep_position)
--   swap      replaces the columns, under a lock               validate  foreign keys and checks, one per step
--
-- Each step is a transaction that also writes the next state, so another call can continue after any interruption. The
-- function of a phase takes the job and returns the next.

CREATE FUNCTION snowflake_ids_convert.fill_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF (job.done < job.total) IS NOT TRUE THEN
        job.phase := 'settle';
        RETURN job;
    END IF;
    BEGIN
        job.rows := job.rows + snowflake_ids_convert.fill_keys(job, job.done, job.batch_size::bigint);
        job.done := least(job.done + job.batch_size, job.total);
    EXCEPTION WHEN deadlock_detected THEN
        -- Writers may cause a deadlock. The next step repeats the batch.
        NULL;
    END;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_step IS 'internal: phase fill';

-- VACUUM FULL may have moved rows into blocks that were already read; then the table is read again. Rows still without
-- a value refer to keys that do not exist.
CREATE FUNCTION snowflake_ids_convert.fill_moved_rows(job snowflake_ids_convert.job) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    unfilled text := (SELECT string_agg(format('%I IS NOT NULL AND %I IS NULL', attname, shadow), ' OR ')
                      FROM snowflake_ids_convert.columns(job)
                      WHERE rel = job.part AND NOT is_key);
    blocks bigint := pg_relation_size(job.part) / current_setting('block_size')::int + 1;
    rows bigint := 0;
BEGIN
    IF snowflake_ids_convert.count_rows(job.part, unfilled) > 0 THEN
        rows := snowflake_ids_convert.fill_references(job, job.part, 0::bigint, blocks);
        IF snowflake_ids_convert.count_rows(job.part, unfilled) > 0 THEN
            PERFORM snowflake_ids_convert.refuse(
                job, ARRAY[format('Rows of %s refer to keys that do not exist.', job.part)]);
        END IF;
    END IF;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_moved_rows
    IS 'internal: fills rows that were moved while their table was filled; error if some cannot be filled';

CREATE FUNCTION snowflake_ids_convert.next_table(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF job.part IS NOT NULL THEN
        job.rows := job.rows + snowflake_ids_convert.fill_moved_rows(job);
    END IF;
    WITH t AS (
        SELECT rel, row_number() OVER (ORDER BY min(depth), rel) AS n
        FROM snowflake_ids_convert.columns(job)
        WHERE NOT is_key
        GROUP BY rel
    )
    SELECT rel INTO job.part
    FROM t
    WHERE n = 1 + coalesce((SELECT n FROM t AS present WHERE present.rel = job.part), 0);
    job.done := CASE WHEN job.part IS NOT NULL THEN 0 END;
    job.total := pg_relation_size(job.part) / current_setting('block_size')::int;
    IF job.part IS NULL THEN
        PERFORM snowflake_ids_convert.make_checks(job);
        job.phase := 'check';
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.next_table
    IS 'internal: begins the next table of phase follow; after the last one, adds checks and begins phase check';

CREATE FUNCTION snowflake_ids_convert.follow_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    rows_per_block float8;
    until bigint;
BEGIN
    job.part := (SELECT min(rel::oid) FROM snowflake_ids_convert.columns(job) WHERE rel = job.part AND NOT is_key);
    IF job.part IS NULL OR (job.done < job.total) IS NOT TRUE THEN
        RETURN snowflake_ids_convert.next_table(job);
    END IF;
    SELECT CASE WHEN relpages > 0 AND reltuples > 0 THEN reltuples / relpages ELSE 100 END
    INTO rows_per_block
    FROM pg_class
    WHERE oid = job.part;
    until := least(job.done + greatest(1, (job.batch_size / rows_per_block)::bigint), job.total);
    BEGIN
        job.rows := job.rows + snowflake_ids_convert.fill_references(job, job.part, job.done, until - job.done);
        job.done := until;
    EXCEPTION WHEN deadlock_detected THEN
        -- As in fill_step().
        NULL;
    END;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_step IS 'internal: phase follow';

-- One index or one table per step, because a step rehearses only one. With build_concurrently the user builds them, and
-- the phase waits.
CREATE FUNCTION snowflake_ids_convert.index_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    tables regclass[] := ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job));
    statements text[];
BEGIN
    IF NOT job.build_concurrently THEN
        job.part := coalesce(tables[array_position(tables, job.part)], tables[1]);
    END IF;
    statements := ARRAY(SELECT snowflake_ids_convert.index_statements(job, false, job.part));
    IF statements = '{}' THEN
        job.part := tables[array_position(tables, job.part) + 1];
        IF job.part IS NULL THEN
            job.phase := 'swap';
        END IF;
    ELSIF NOT job.build_concurrently THEN
        PERFORM snowflake_ids_convert.run(statements[1:CASE WHEN statements[1] ~ '^DROP' THEN 2 ELSE 1 END]);
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.index_step IS 'internal: phase index';

CREATE FUNCTION snowflake_ids_convert.swap_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    -- An index on the old columns may be newer than phase index.
    IF NOT job.keep_position AND EXISTS (SELECT snowflake_ids_convert.index_statements(job, false)) THEN
        job.phase := 'index';
    ELSE
        PERFORM snowflake_ids_convert.check_map_times(job);
        job.todo := snowflake_ids_convert.swap(job);
        job.key_attnum := snowflake_ids_convert.column_number(job.relation, job.key_column);
        job.phase := 'validate';
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap_step IS 'internal: phases ready and swap';

CREATE FUNCTION snowflake_ids_convert.validate_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    next record;
BEGIN
    -- A constraint may have been dropped after the changeover.
    SELECT conrelid::regclass AS rel, conname INTO next
    FROM pg_constraint
    WHERE oid = ANY (job.todo) AND conrelid <> 0 AND NOT convalidated
    ORDER BY contype DESC, oid
    LIMIT 1;
    IF FOUND THEN
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', next.rel, next.conname);
    ELSE
        job.phase := 'done';
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_step IS 'internal: phase validate';

CREATE FUNCTION snowflake_ids_convert.refuse_unfinished(target regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF EXISTS (SELECT FROM snowflake_ids_convert.triggers(target)) THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('there is no finished conversion of %s', target),
            detail => 'Its conversion is not finished.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_unfinished IS 'internal: error if triggers of a conversion exist';

CREATE FUNCTION snowflake_ids_convert.rate_text(job snowflake_ids_convert.job) RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
    SELECT format('%s: %s %s, %s of %s %s, %s per second, %s left',
                  job.relation, job.phase, job.part, job.done, job.total,
                  CASE job.phase WHEN 'fill' THEN 'rows' ELSE 'blocks' END,
                  round((p.progress / p.seconds)::numeric, 1),
                  date_trunc('second', make_interval(secs => (job.total - job.done) * p.seconds / p.progress)))
    FROM (SELECT extract(epoch FROM clock_timestamp() - job.resumed)::float8 AS seconds,
                 nullif(job.done - job.resumed_at, 0) AS progress) AS p
$$;
COMMENT ON FUNCTION snowflake_ids_convert.rate_text
    IS 'internal: notice with what is done, the rate and the time that is left';

-- A notice is due for a new phase or part, or after five seconds.
CREATE FUNCTION snowflake_ids_convert.write_state(old snowflake_ids_convert.job, job snowflake_ids_convert.job)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    is_new boolean := job.phase <> old.phase OR job.part IS DISTINCT FROM old.part;
    notice_is_due boolean := is_new OR clock_timestamp() - old.last_notice > interval '5 s';
BEGIN
    UPDATE snowflake_ids_convert.my_conversion c
    SET (key_attnum, issued_after, phase, part, done, total, todo, rows, updated) = (
            job.key_attnum, job.issued_after, job.phase, job.part, job.done, job.total, job.todo, job.rows,
            clock_timestamp()),
        last_notice = CASE WHEN notice_is_due THEN clock_timestamp() ELSE c.last_notice END,
        phase_started = CASE WHEN is_new THEN clock_timestamp() ELSE c.phase_started END,
        resumed = CASE WHEN is_new THEN clock_timestamp() ELSE c.resumed END,
        resumed_at = CASE WHEN is_new THEN 0 ELSE c.resumed_at END
    WHERE c.relation = job.relation;
    IF job.phase <> old.phase THEN
        RETURN format('%s: %s', job.relation, job.phase)
               || CASE job.phase
                  WHEN 'fill' THEN format(', %s rows', job.total)
                  WHEN 'validate' THEN '; clients that prepare statements by themselves may have to reconnect'
                  ELSE ''
                  END;
    ELSIF job.part IS DISTINCT FROM old.part THEN
        RETURN format('%s: %s %s, %s blocks', job.relation, job.phase, job.part, job.total);
    ELSIF notice_is_due AND job.phase IN ('fill', 'follow') THEN
        RETURN snowflake_ids_convert.rate_text(job);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.write_state
    IS 'internal: writes down the state of a conversion; returns a notice, if one is due';

CREATE FUNCTION snowflake_ids_convert.step_as_owner(target regclass, finish boolean, OUT said text, OUT more boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    old snowflake_ids_convert.job := snowflake_ids_convert.state_of(target, true);
    job snowflake_ids_convert.job := old;
BEGIN
    IF old.phase IS NULL THEN
        PERFORM snowflake_ids_convert.fail('55000', format('%s is not being converted', target));
    END IF;
    job := snowflake_ids_convert.with_format(old);
    -- After the changeover other roles may refer to the new keys.
    IF job.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.refuse_unfinished(target);
    ELSE
        PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
    END IF;
    more := true;
    CASE job.phase
    WHEN 'prepare' THEN
        job := snowflake_ids_convert.prepare(job);
    WHEN 'number' THEN
        job := snowflake_ids_convert.number_rows(job);
    WHEN 'fill' THEN
        job := snowflake_ids_convert.fill_step(job);
    WHEN 'settle' THEN
        -- Waits for writers that may have seen keys without an id.
        PERFORM snowflake_ids_convert.lock_definitions(job);
        PERFORM snowflake_ids_convert.lock_all(job, 'SHARE ROW EXCLUSIVE');
        PERFORM snowflake_ids_convert.make_late_triggers(job);
        job.part := NULL;
        job.phase := 'follow';
    WHEN 'follow' THEN
        job := snowflake_ids_convert.follow_step(job);
    WHEN 'check' THEN
        PERFORM snowflake_ids_convert.validate_checks(job);
        job.phase := CASE WHEN job.keep_position THEN 'ready' ELSE 'index' END;
    WHEN 'validate' THEN
        job := snowflake_ids_convert.validate_step(job);
    WHEN 'done' THEN
        more := false;
    ELSE
        IF finish AND job.phase = 'index' THEN
            job := snowflake_ids_convert.index_step(job);
        ELSIF finish THEN
            job := snowflake_ids_convert.swap_step(job);
        END IF;
        more := finish AND NOT (old.phase = 'index' AND job.phase = 'index' AND job.build_concurrently);
    END CASE;
    more := more AND job.phase <> 'done';
    said := snowflake_ids_convert.write_state(old, job);
    IF NOT more AND job.phase <> 'done' THEN
        said := format('%s: the new columns are filled, and triggers keep them filled; %scall again to finish', target,
                       CASE WHEN finish THEN 'run the statements of snowflake_ids_convert_indexes(), then ' END);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.step_as_owner IS 'internal: one transaction of a conversion';

CREATE FUNCTION snowflake_ids_convert.step(target regclass, finish boolean, OUT said text, OUT more boolean)
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert.step
    IS 'internal: one transaction of a conversion, as the owner of the table';
