-- The steps of a conversion, one after another.
--
--   prepare   adds columns and triggers, under a short lock    number    gives each row its id, in one sorted pass
--   fill      writes the new keys, in batches                  settle    waits for writers that saw keys without ids
--   follow    writes the references, in batches                check     adds checks, so that swap reads no table
--   index     builds the indexes, or waits for them            ready     waits for a call with finish (keep_position)
--   swap      replaces the columns, under a lock               validate  foreign keys and checks, one per step
--
-- Each step is a transaction that also writes down which step is next. So after any interruption, another call can
-- continue. The function of a phase takes the state and returns the next state.

CREATE FUNCTION snowflake_ids_convert.number_step(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.number_rows(job);
    state.phase := 'fill';
    state.part := job.relation;
    state.done := 0;
    EXECUTE format('SELECT count(*) FROM %s', snowflake_ids_convert.map_of(job.relation)) INTO state.total;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.number_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: phase number';

CREATE FUNCTION snowflake_ids_convert.fill_step(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF (state.done < state.total) IS NOT TRUE THEN
        state.phase := 'settle';
        RETURN state;
    END IF;
    BEGIN
        state.rows := state.rows + snowflake_ids_convert.fill_keys(job, state.done, job.batch_size::bigint);
        state.done := least(state.done + job.batch_size, state.total);
    EXCEPTION WHEN deadlock_detected THEN
        -- Writers may cause a deadlock. The next step repeats the batch.
        NULL;
    END;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: phase fill';

-- The lock waits for writers that may have seen keys without an id.
CREATE FUNCTION snowflake_ids_convert.settle_step(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    PERFORM snowflake_ids_convert.lock_all(job, 'SHARE ROW EXCLUSIVE');
    PERFORM snowflake_ids_convert.make_late_triggers(job);
    state.phase := 'follow';
    state.part := NULL;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.settle_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: phase settle';

-- VACUUM FULL may have moved rows into blocks that were already read. Then the whole table is read again. Rows that
-- still have no new value refer to keys that do not exist.
CREATE FUNCTION snowflake_ids_convert.fill_moved_rows(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    blocks bigint;
BEGIN
    IF state.part IS NOT NULL AND snowflake_ids_convert.has_unfilled(job, state.part) THEN
        blocks := pg_relation_size(state.part) / current_setting('block_size')::int + 1;
        state.rows := state.rows + snowflake_ids_convert.fill_references(job, state.part, 0::bigint, blocks);
        IF snowflake_ids_convert.has_unfilled(job, state.part) THEN
            PERFORM snowflake_ids_convert.refuse(
                job, format('Rows of %s refer to keys that do not exist.', state.part));
        END IF;
    END IF;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_moved_rows(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: fills rows that were moved while their table was filled; error if some cannot be filled';

CREATE FUNCTION snowflake_ids_convert.next_table(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    WITH t AS (
        SELECT rel, row_number() OVER (ORDER BY min(depth), rel) AS n
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
        WHERE NOT is_key
        GROUP BY rel
    )
    SELECT rel INTO state.part
    FROM t
    WHERE n = 1 + coalesce((SELECT n FROM t AS present WHERE present.rel = state.part), 0);
    state.done := CASE WHEN state.part IS NOT NULL THEN 0 END;
    state.total := pg_relation_size(state.part) / current_setting('block_size')::int;
    IF state.part IS NULL THEN
        PERFORM snowflake_ids_convert.make_checks(job);
        state.phase := 'check';
    END IF;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.next_table(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: begins the next table of phase follow; after the last one, adds checks and begins phase check';

CREATE FUNCTION snowflake_ids_convert.follow_step(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    rows_per_block float8;
    until bigint;
BEGIN
    state.part := (SELECT min(rel::oid)
                   FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
                   WHERE rel = state.part AND NOT is_key);
    IF state.part IS NULL OR (state.done < state.total) IS NOT TRUE THEN
        RETURN snowflake_ids_convert.next_table(job, snowflake_ids_convert.fill_moved_rows(job, state));
    END IF;
    SELECT CASE WHEN relpages > 0 AND reltuples > 0 THEN reltuples / relpages ELSE 100 END
    INTO rows_per_block
    FROM pg_class
    WHERE oid = state.part;
    until := least(state.done + greatest(1, (job.batch_size / rows_per_block)::bigint), state.total);
    BEGIN
        state.rows := state.rows
                      + snowflake_ids_convert.fill_references(job, state.part, state.done, until - state.done);
        state.done := until;
    EXCEPTION WHEN deadlock_detected THEN
        -- As in fill_step().
        NULL;
    END;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: phase follow';

-- Each step builds one index. With build_concurrently the user builds them, and the phase waits.
CREATE FUNCTION snowflake_ids_convert.index_step(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[] := ARRAY(SELECT * FROM snowflake_ids_convert.index_statements(job, false));
BEGIN
    IF statements = '{}' THEN
        state.phase := 'swap';
    ELSIF NOT job.build_concurrently THEN
        EXECUTE statements[1];
        IF statements[1] ~ '^DROP' THEN
            EXECUTE statements[2];
        END IF;
    END IF;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.index_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: phase index';

CREATE FUNCTION snowflake_ids_convert.swap_step(
    job snowflake_ids_convert.job, state snowflake_ids_convert.conversion
) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    -- An index on the old columns may have been created after phase index.
    IF NOT job.keep_position AND EXISTS (SELECT FROM snowflake_ids_convert.index_statements(job, false)) THEN
        state.phase := 'index';
    ELSE
        PERFORM snowflake_ids_convert.verify_map(job);
        state.todo := snowflake_ids_convert.swap(job);
        state.phase := 'validate';
    END IF;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion)
    IS 'internal: phases ready and swap';

CREATE FUNCTION snowflake_ids_convert.validate_step(state snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    next record;
BEGIN
    -- A constraint may have been dropped after the changeover.
    SELECT conrelid::regclass AS rel, conname INTO next
    FROM pg_constraint
    WHERE oid = ANY (state.todo) AND conrelid <> 0 AND NOT convalidated
    ORDER BY contype DESC, oid
    LIMIT 1;
    IF FOUND THEN
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', next.rel, next.conname);
    ELSE
        state.phase := 'done';
    END IF;
    RETURN state;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_step(snowflake_ids_convert.conversion)
    IS 'internal: phase validate';

CREATE FUNCTION snowflake_ids_convert.lock_state(target regclass) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    state snowflake_ids_convert.conversion;
BEGIN
    SELECT * INTO state FROM snowflake_ids_convert.my_conversion WHERE relation = target FOR UPDATE NOWAIT;
    RETURN state;
EXCEPTION WHEN lock_not_available THEN
    PERFORM snowflake_ids_convert.fail(
        '55006', format('%s is being converted by another session', target),
        hint => 'See snowflake_ids_convert_progress.');
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_state(regclass)
    IS 'internal: the state of a conversion; only one session can have it';

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
COMMENT ON FUNCTION snowflake_ids_convert.refuse_unfinished(regclass)
    IS 'internal: error if triggers of a conversion exist';

CREATE FUNCTION snowflake_ids_convert.rate_text(
    old_state snowflake_ids_convert.conversion, state snowflake_ids_convert.conversion
) RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
    SELECT format('%s: %s %s, %s of %s %s, %s per second, %s left',
                  state.relation, state.phase, state.part, state.done, state.total,
                  CASE state.phase WHEN 'fill' THEN 'rows' ELSE 'blocks' END,
                  round((p.progress / p.seconds)::numeric, 1),
                  date_trunc('second', make_interval(secs => (state.total - state.done) * p.seconds / p.progress)))
    FROM (SELECT extract(epoch FROM clock_timestamp() - old_state.resumed)::float8 AS seconds,
                 nullif(state.done - old_state.resumed_at, 0) AS progress) AS p
$$;
COMMENT ON FUNCTION snowflake_ids_convert.rate_text(
    snowflake_ids_convert.conversion, snowflake_ids_convert.conversion
) IS 'internal: notice with what is done, the rate and the time that is left';

-- A notice is due if the phase or the part is new, or if the last notice is more than five seconds old.
CREATE FUNCTION snowflake_ids_convert.write_state(
    old_state snowflake_ids_convert.conversion, state snowflake_ids_convert.conversion
) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    is_new boolean := state.phase <> old_state.phase OR state.part IS DISTINCT FROM old_state.part;
    notice_is_due boolean := is_new OR clock_timestamp() - old_state.told > interval '5 s';
BEGIN
    UPDATE snowflake_ids_convert.my_conversion c
    SET phase = state.phase,
        part = state.part,
        done = state.done,
        total = state.total,
        todo = state.todo,
        rows = state.rows,
        updated = clock_timestamp(),
        told = CASE WHEN notice_is_due THEN clock_timestamp() ELSE c.told END,
        phase_started = CASE WHEN is_new THEN clock_timestamp() ELSE c.phase_started END,
        resumed = CASE WHEN is_new THEN clock_timestamp() ELSE c.resumed END,
        resumed_at = CASE WHEN is_new THEN 0 ELSE c.resumed_at END
    WHERE c.relation = state.relation;
    IF state.phase <> old_state.phase THEN
        RETURN format('%s: %s', state.relation, state.phase)
               || CASE state.phase
                  WHEN 'fill' THEN format(', %s rows', state.total)
                  WHEN 'validate' THEN '; clients that prepare statements by themselves may have to reconnect'
                  ELSE ''
                  END;
    ELSIF state.part IS DISTINCT FROM old_state.part THEN
        RETURN format('%s: %s %s, %s blocks', state.relation, state.phase, state.part, state.total);
    ELSIF notice_is_due AND state.phase IN ('fill', 'follow') THEN
        RETURN snowflake_ids_convert.rate_text(old_state, state);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.write_state(
    snowflake_ids_convert.conversion, snowflake_ids_convert.conversion
) IS 'internal: writes down the state of a conversion; returns a notice, if one is due';

CREATE FUNCTION snowflake_ids_convert.step_as_owner(target regclass, finish boolean, OUT said text, OUT more boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    old_state snowflake_ids_convert.conversion := snowflake_ids_convert.lock_state(target);
    state snowflake_ids_convert.conversion := old_state;
    job snowflake_ids_convert.job := snowflake_ids_convert.job_of(target);
BEGIN
    IF old_state.phase IS NULL THEN
        PERFORM snowflake_ids_convert.fail('55000', format('%s is not being converted', target));
    END IF;
    -- After the changeover other roles may refer to the new keys.
    IF state.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.refuse_unfinished(target);
    ELSE
        PERFORM snowflake_ids_convert.refuse_owner_problems(job);
    END IF;
    more := true;
    CASE state.phase
    WHEN 'prepare' THEN
        PERFORM snowflake_ids_convert.prepare(job);
        state.phase := 'number';
    WHEN 'number' THEN
        state := snowflake_ids_convert.number_step(job, state);
    WHEN 'fill' THEN
        state := snowflake_ids_convert.fill_step(job, state);
    WHEN 'settle' THEN
        state := snowflake_ids_convert.settle_step(job, state);
    WHEN 'follow' THEN
        state := snowflake_ids_convert.follow_step(job, state);
    WHEN 'check' THEN
        PERFORM snowflake_ids_convert.validate_checks(job);
        state.phase := CASE WHEN job.keep_position THEN 'ready' ELSE 'index' END;
    WHEN 'validate' THEN
        state := snowflake_ids_convert.validate_step(state);
    WHEN 'done' THEN
        more := false;
    ELSE
        IF finish AND state.phase = 'index' THEN
            state := snowflake_ids_convert.index_step(job, state);
        ELSIF finish THEN
            state := snowflake_ids_convert.swap_step(job, state);
        END IF;
        more := finish AND NOT (old_state.phase = 'index' AND state.phase = 'index' AND job.build_concurrently);
    END CASE;
    more := more AND state.phase <> 'done';
    said := snowflake_ids_convert.write_state(old_state, state);
    IF NOT more AND state.phase <> 'done' AND finish THEN
        said := format('%s: filled, and kept so; run the statements of snowflake_ids_convert_indexes(), '
                       'then call again to finish', target);
    ELSIF NOT more AND state.phase <> 'done' THEN
        said := format('%s: filled, and kept so; call again to finish', target);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.step_as_owner(regclass, boolean)
    IS 'internal: one transaction of a conversion';

CREATE FUNCTION snowflake_ids_convert.step(target regclass, finish boolean, OUT said text, OUT more boolean)
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert.step(regclass, boolean)
    IS 'internal: one transaction of a conversion, as the owner of the table';
