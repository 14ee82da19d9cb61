-- One step after another.
--
--   prepare   columns and triggers, under a short lock       number    which id each row gets, one sorted pass
--   fill      keys, in batches                               settle    waits for writers that saw keys without ids
--   follow    columns that refer to it, in batches           check     constraints that spare the last lock a reading
--   index     waits for indexes, or makes them               ready     with keep_position, only if it shall not finish
--   swap      the last lock                                  validate  foreign keys and checks, one after another
--
-- Each step is a transaction, and ends by writing down which is next. So a call that was interrupted, however, is
-- resumed by another. A function of a phase takes what is remembered, and returns what shall be.

CREATE FUNCTION snowflake_ids_convert.number_step(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    s.map := snowflake_ids_convert.number_rows(j);
    s.phase := 'fill';
    s.part := j.relation;
    s.unit := 'rows';
    s.done := 0;
    EXECUTE format('SELECT count(*) FROM %s', s.map) INTO s.total;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.number_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: phase number';

CREATE FUNCTION snowflake_ids_convert.fill_step(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF s.done >= s.total THEN
        s.phase := 'settle';
        RETURN s;
    END IF;
    BEGIN
        s.rows := s.rows + snowflake_ids_convert.fill_keys(j, s.done, s.batch_size::bigint);
        s.done := least(s.done + s.batch_size, s.total);
    EXCEPTION WHEN deadlock_detected THEN
        -- With writers; the same batch again.
        NULL;
    END;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: phase fill';

-- The lock waits for writers that may have seen keys without an id.
CREATE FUNCTION snowflake_ids_convert.settle_step(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(j);
    PERFORM snowflake_ids_convert.lock_all(j, 'SHARE ROW EXCLUSIVE');
    PERFORM snowflake_ids_convert.make_late_triggers(j);
    s.todo := (SELECT jsonb_agg(DISTINCT rel::oid) FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE NOT is_key);
    s.phase := 'follow';
    s.part := NULL;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.settle_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: phase settle';

-- VACUUM FULL may have moved rows to where they were not looked for. Then all of the table once more; if that changes
-- nothing, they refer to what is not there.
CREATE FUNCTION snowflake_ids_convert.fill_what_moved(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF s.part IS NOT NULL AND snowflake_ids_convert.has_unfilled(j, s.part) THEN
        s.rows := s.rows + snowflake_ids_convert.fill_references(j, s.part, 0::bigint, pg_relation_size(s.part) / current_setting('block_size')::int + 1);
        IF snowflake_ids_convert.has_unfilled(j, s.part) THEN
            PERFORM snowflake_ids_convert.refuse(j, format('Rows of %s refer to keys that do not exist.', s.part));
        END IF;
    END IF;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_what_moved(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: rows that were moved while their table was filled';

CREATE FUNCTION snowflake_ids_convert.follow_step(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    rows_per_block float8;
    until bigint;
BEGIN
    IF s.part IS NULL OR s.done >= s.total THEN
        s := snowflake_ids_convert.fill_what_moved(j, s);
        IF jsonb_array_length(coalesce(s.todo, '[]')) > 0 THEN
            s.part := (s.todo ->> 0)::oid::regclass;
            s.todo := s.todo - 0;
            s.unit := 'blocks';
            s.done := 0;
            s.total := pg_relation_size(s.part) / current_setting('block_size')::int;
        ELSE
            PERFORM snowflake_ids_convert.make_checks(j);
            s.phase := 'check';
            s.part := NULL;
            s.unit := NULL;
            s.done := NULL;
            s.total := NULL;
        END IF;
        RETURN s;
    END IF;
    SELECT CASE WHEN relpages > 0 AND reltuples > 0 THEN reltuples / relpages ELSE 100 END INTO rows_per_block
    FROM pg_class WHERE oid = s.part;
    until := least(s.done + greatest(1, (s.batch_size / rows_per_block)::bigint), s.total);
    BEGIN
        s.rows := s.rows + snowflake_ids_convert.fill_references(j, s.part, s.done, until - s.done);
        s.done := until;
    EXCEPTION WHEN deadlock_detected THEN
        NULL;
    END;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: phase follow';

-- Indexes that are missing are made one in a step, or left to be made.
CREATE FUNCTION snowflake_ids_convert.index_step(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[] := ARRAY(SELECT * FROM snowflake_ids_convert.index_statements(j, false));
BEGIN
    IF statements = '{}' THEN
        PERFORM snowflake_ids_convert.verify_map(j);
        s.phase := 'swap';
    ELSIF NOT s.build_concurrently THEN
        EXECUTE statements[1];
        IF statements[1] ~ '^DROP' THEN
            EXECUTE statements[2];
        END IF;
    END IF;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.index_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: phase index';

CREATE FUNCTION snowflake_ids_convert.swap_step(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion)
RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    -- One may have come since.
    IF NOT j.keep_position AND EXISTS (SELECT FROM snowflake_ids_convert.index_statements(j, false)) THEN
        s.phase := 'index';
    ELSE
        s.todo := snowflake_ids_convert.swap(j);
        s.phase := 'validate';
    END IF;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap_step(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: phase swap';

CREATE FUNCTION snowflake_ids_convert.validate_step(s snowflake_ids_convert.conversion) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF jsonb_array_length(coalesce(s.todo, '[]')) = 0 THEN
        s.phase := 'done';
        RETURN s;
    END IF;
    -- Unless it was dropped since.
    IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = (s.todo -> 0 ->> 'rel')::oid AND conname = s.todo -> 0 ->> 'constraint') THEN
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', (s.todo -> 0 ->> 'rel')::oid::regclass, s.todo -> 0 ->> 'constraint');
    END IF;
    s.todo := s.todo - 0;
    RETURN s;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_step(snowflake_ids_convert.conversion) IS 'internal: phase validate';

-- What is remembered of a conversion, for this session only.
CREATE FUNCTION snowflake_ids_convert.lock_state(target regclass) RETURNS snowflake_ids_convert.conversion
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    s snowflake_ids_convert.conversion;
BEGIN
    SELECT * INTO s FROM snowflake_ids_convert.my_conversion WHERE relation = target FOR UPDATE NOWAIT;
    RETURN s;
EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION '% is being converted by another session', target USING ERRCODE = 'object_in_use',
        HINT = 'See snowflake_ids_convert_progress.';
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_state(regclass) IS 'internal: what is remembered of a conversion, locked';

-- Others may refer to the new keys after the changeover: the owner of the tables that are left goes on.
CREATE FUNCTION snowflake_ids_convert.refuse_others(j snowflake_ids_convert.job, s snowflake_ids_convert.conversion) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF s.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.refuse(j, (
            SELECT string_agg(format('table %s: must be its owner; first SET ROLE %I', oid::regclass, pg_get_userbyid(relowner)), E'\n')
            FROM pg_class WHERE oid IN (s.relation, (s.todo -> 0 ->> 'rel')::oid) AND pg_get_userbyid(relowner) <> current_user));
    ELSE
        PERFORM snowflake_ids_convert.refuse(j, (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.owner_problems(j) AS p));
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_others(snowflake_ids_convert.job, snowflake_ids_convert.conversion) IS 'internal: error if the caller is not the owner of the tables';

-- Writes down where a conversion is, and says so if that is news or has not been said for a while.
CREATE FUNCTION snowflake_ids_convert.remember(was snowflake_ids_convert.conversion, s snowflake_ids_convert.conversion) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    news boolean := s.phase <> was.phase OR s.part IS DISTINCT FROM was.part;
    tell boolean := news OR clock_timestamp() - was.told > interval '5 s';
BEGIN
    UPDATE snowflake_ids_convert.my_conversion c
    SET phase = s.phase, part = s.part, unit = s.unit, done = s.done, total = s.total, todo = s.todo, rows = s.rows, map = s.map,
        updated = clock_timestamp(), told = CASE WHEN tell THEN clock_timestamp() ELSE c.told END,
        phase_started = CASE WHEN news THEN clock_timestamp() ELSE c.phase_started END,
        resumed = CASE WHEN news THEN clock_timestamp() ELSE c.resumed END,
        resumed_at = CASE WHEN news THEN 0 ELSE c.resumed_at END
    WHERE c.relation = s.relation;
    IF s.phase <> was.phase THEN
        RETURN format('%s: %s', s.relation, s.phase) || CASE s.phase WHEN 'fill' THEN format(', %s rows', s.total) ELSE '' END;
    ELSIF s.part IS DISTINCT FROM was.part THEN
        RETURN format('%s: %s %s, %s blocks', s.relation, s.phase, s.part, s.total);
    ELSIF tell AND s.unit IS NOT NULL THEN
        RETURN format('%s: %s %s, %s of %s %s, %s per second, %s left', s.relation, s.phase, s.part, s.done, s.total, s.unit,
                      round((p.progress / p.seconds)::numeric, 1), date_trunc('second', make_interval(secs => (s.total - s.done) * p.seconds / p.progress)))
        FROM (SELECT extract(epoch FROM clock_timestamp() - was.resumed)::float8 AS seconds, nullif(s.done - was.resumed_at, 0) AS progress) AS p;
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.remember(snowflake_ids_convert.conversion, snowflake_ids_convert.conversion) IS 'internal: writes down where a conversion is';

CREATE FUNCTION snowflake_ids_convert.step(target regclass, finish boolean, OUT said text, OUT more boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    was snowflake_ids_convert.conversion := snowflake_ids_convert.lock_state(target);
    s snowflake_ids_convert.conversion := was;
    j snowflake_ids_convert.job := snowflake_ids_convert.job_of(target);
BEGIN
    IF was.phase IS NULL THEN
        RAISE EXCEPTION '% is not being converted', target USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    PERFORM snowflake_ids_convert.refuse_others(j, s);
    more := true;
    CASE s.phase
    WHEN 'prepare' THEN
        PERFORM snowflake_ids_convert.prepare(j);
        s.phase := 'number';
    WHEN 'number' THEN s := snowflake_ids_convert.number_step(j, s);
    WHEN 'fill' THEN s := snowflake_ids_convert.fill_step(j, s);
    WHEN 'settle' THEN s := snowflake_ids_convert.settle_step(j, s);
    WHEN 'follow' THEN s := snowflake_ids_convert.follow_step(j, s);
    WHEN 'check' THEN
        PERFORM snowflake_ids_convert.validate_checks(j);
        s.phase := CASE WHEN s.keep_position THEN 'ready' ELSE 'index' END;
    WHEN 'validate' THEN s := snowflake_ids_convert.validate_step(s);
    WHEN 'done' THEN more := false;
    ELSE
        IF NOT finish THEN
            more := false;
        ELSIF s.phase = 'index' THEN
            s := snowflake_ids_convert.index_step(j, s);
            more := s.phase <> 'index' OR NOT s.build_concurrently;
        ELSIF s.phase = 'ready' THEN
            PERFORM snowflake_ids_convert.verify_map(j);
            s.phase := 'swap';
        ELSE
            s := snowflake_ids_convert.swap_step(j, s);
        END IF;
    END CASE;
    more := more AND s.phase <> 'done';
    said := snowflake_ids_convert.remember(was, s);
    IF NOT more AND s.phase <> 'done' THEN
        said := format('%s: filled, and kept so; call again to finish', target);
        IF finish THEN
            said := format('%s: filled, and kept so; run the statements of snowflake_ids_convert_indexes(), then call again to finish', target);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.step(regclass, boolean) IS 'internal: one transaction of a conversion';
