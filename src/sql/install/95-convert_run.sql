-- Converting a key: the call, one step after another.
--
--   prepare   columns and triggers, under a short lock       number    which id each row gets, one sorted pass
--   fill      keys, in batches                               settle    waits for writers that saw keys without ids
--   follow    columns that refer to it, in batches           check     constraints that spare the last lock a reading
--   index     one after another                              ready     only if it shall not finish
--   swap      the last lock                                  validate  foreign keys and checks, one after another
--
-- Each step is a transaction, and ends by writing down which is next. So a call that was interrupted, however, is
-- resumed by another.

CREATE FUNCTION snowflake_ids_convert_start(
    relation regclass, key_column name, format text, created_column name, metabyte integer, batch_size integer,
    spill boolean, keep_position boolean, fire_triggers boolean, finish boolean, dry_run boolean
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    p record;
    problems text;
BEGIN
    EXECUTE format('SELECT %s.snowflake_ids_convert_given($1)', ext)
    USING jsonb_build_object('relation', relation, 'key_column', key_column, 'format', format, 'created_column', created_column,
                            'metabyte', metabyte, 'batch_size', batch_size, 'spill', spill, 'keep_position', keep_position,
                            'fire_triggers', fire_triggers, 'finish', finish, 'dry_run', dry_run);
    IF batch_size < 1 THEN
        RAISE EXCEPTION 'batch_size out of range: %', batch_size
            USING ERRCODE = 'numeric_value_out_of_range', DETAIL = 'A batch has at least one row.';
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'cannot convert in isolation level %', current_setting('transaction_isolation')
            USING ERRCODE = 'invalid_transaction_state', HINT = 'Set default_transaction_isolation to read committed.';
    ELSIF current_setting('transaction_read_only')::boolean THEN
        RAISE EXCEPTION 'cannot convert in a read-only transaction'
            USING ERRCODE = 'read_only_sql_transaction', HINT = 'Set default_transaction_read_only to off. A standby cannot convert.';
    END IF;
    IF NOT dry_run THEN
        EXECUTE format('SELECT %s.snowflake_ids_convert_renamed($1)', ext) USING relation;
    END IF;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    IF s.relation IS NOT NULL AND s.phase <> 'done' AND NOT dry_run THEN
        IF (s.key_column, s.format, s.created_column, s.metabyte, s.keep_position)
           IS DISTINCT FROM (key_column, format, created_column, metabyte, keep_position) THEN
            RAISE EXCEPTION '% is being converted in another way', relation
                USING ERRCODE = 'object_not_in_prerequisite_state',
                      DETAIL = format('Column %I becomes %s, by the times of %I, metabyte %s, keep_position %s.',
                                      s.key_column, s.format, s.created_column, s.metabyte, s.keep_position),
                      HINT = 'Call with the same arguments, or give that up with snowflake_ids_convert_undo().';
        END IF;
        EXECUTE format('UPDATE %s.snowflake_ids_my_conversions SET batch_size = $2, spill = $3, fire_triggers = $4,
                        resumed = clock_timestamp(), updated = clock_timestamp(), resumed_at = coalesce(done, 0) WHERE relation = $1', ext)
        USING relation, batch_size, spill, fire_triggers;
        RETURN;
    END IF;
    FOR p IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_plan($1, $2, $3, $4, $5, $6, $7, $8)', ext)
             USING relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers LOOP
        IF dry_run THEN
            RAISE INFO '%: %', p.kind, p.item;
        ELSIF p.kind = 'problem' THEN
            problems := concat_ws(E'\n', problems, p.item);
        ELSIF p.kind = 'note' THEN
            RAISE NOTICE '%', p.item;
        END IF;
    END LOOP;
    IF dry_run THEN
        RETURN;
    ELSIF problems IS NOT NULL THEN
        RAISE EXCEPTION 'cannot convert column "%" of %', key_column, relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problems, HINT = 'Nothing was changed.';
    END IF;
    EXECUTE format('DELETE FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) USING relation;
    EXECUTE format('INSERT INTO %s.snowflake_ids_my_conversions (relation, key_column, format, created_column, zone, metabyte, batch_size,
                                                                  spill, keep_position, fire_triggers, issued_after, phase)
                    VALUES ($1, $2, $3, $4, current_setting(''TimeZone''), $5, $6, $7, $8, $9, ''-infinity'', ''prepare'')', ext)
    USING relation, key_column, format, created_column, metabyte, batch_size, spill, keep_position, fire_triggers;
    -- In the same transaction: there is no conversion that has not locked its tables once.
    EXECUTE format('SELECT %s.snowflake_ids_convert_prepare($1)', ext) USING relation;
    EXECUTE format('UPDATE %s.snowflake_ids_my_conversions SET phase = ''number'' WHERE relation = $1', ext) USING relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_start(regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean) IS 'internal: begins or resumes a conversion';

CREATE FUNCTION snowflake_ids_convert_step(relation regclass, finish boolean, OUT said text, OUT more boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    p record;
    next_phase text;
    next_part regclass;
    next_unit text;
    next_done bigint;
    next_total bigint;
    next_todo jsonb;
    wrote bigint := 0;
    density float8;
    missing boolean;
    tell boolean;
    problem text;
BEGIN
    BEGIN
        EXECUTE format('SELECT FROM %s.snowflake_ids_my_conversions WHERE relation = $1 FOR UPDATE NOWAIT', ext) USING relation;
        EXECUTE format('SELECT %s.snowflake_ids_convert_renamed($1)', ext) USING relation;
        EXECUTE format('SELECT *, clock_timestamp() - told > interval ''5 s'' AS silent FROM %s.snowflake_ids_my_conversions
                        WHERE relation = $1 FOR UPDATE NOWAIT', ext) INTO s USING relation;
    EXCEPTION WHEN lock_not_available THEN
        RAISE EXCEPTION '% is being converted by another session', relation USING ERRCODE = 'object_in_use',
            HINT = 'See snowflake_ids_convert_progress.';
    END;
    IF s.phase IN ('validate', 'done') THEN
        -- Others may refer to the new keys.
        SELECT string_agg(format('table %s: must be its owner; first SET ROLE %I', oid::regclass, pg_get_userbyid(relowner)), E'\n')
        INTO problem FROM pg_class
        WHERE oid IN (relation, (s.todo -> 0 ->> 'rel')::oid) AND pg_get_userbyid(relowner) <> current_user;
    ELSE
        EXECUTE format('SELECT string_agg(s, E''\n'') FROM %s.snowflake_ids_convert_strangers($1, $2) AS s', ext)
        INTO problem USING relation, s.key_column;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot go on converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
    -- Names may have changed since the last step. A batch has no use for the triggers, so it need not look each time.
    IF s.phase IN ('check', 'index', 'ready') OR s.phase IN ('fill', 'follow') AND (s.silent OR s.done IS NOT DISTINCT FROM s.resumed_at) THEN
        EXECUTE format('SELECT %s.snowflake_ids_convert_triggers($1, $2)', ext) USING relation, s.phase <> 'fill';
    END IF;
    more := true;
    next_phase := s.phase;
    next_part := s.part;
    next_unit := s.unit;
    next_done := s.done;
    next_total := s.total;
    next_todo := s.todo;
    CASE s.phase
    WHEN 'number' THEN
        EXECUTE format('SELECT %s.snowflake_ids_convert_number($1)', ext) INTO next_total USING relation;
        next_phase := 'fill';
        next_part := relation;
        next_unit := 'rows';
        next_done := 0;
    WHEN 'fill' THEN
        IF s.done < s.total THEN
            BEGIN
                EXECUTE format('SELECT %s.snowflake_ids_convert_fill($1, $2, $3)', ext) INTO wrote USING relation, s.done, s.batch_size::bigint;
                next_done := least(s.done + s.batch_size, s.total);
            EXCEPTION WHEN deadlock_detected THEN
                -- With writers; the same batch again.
                wrote := 0;
            END;
        ELSE
            next_phase := 'settle';
        END IF;
    WHEN 'settle' THEN
        -- The lock waits for writers that may have seen keys without an id.
        EXECUTE format('SELECT %s.snowflake_ids_convert_lock($1, $2, ''SHARE ROW EXCLUSIVE'', false)', ext) USING relation, s.key_column;
        EXECUTE format('SELECT %s.snowflake_ids_convert_triggers($1, true)', ext) USING relation;
        EXECUTE format('SELECT jsonb_agg(DISTINCT rel::oid) FROM %s.snowflake_ids_convert_columns($1, $2) WHERE NOT is_key', ext)
        INTO next_todo USING relation, s.key_column;
        next_phase := 'follow';
        next_part := NULL;
    WHEN 'follow' THEN
        IF s.part IS NULL OR s.done >= s.total THEN
            -- VACUUM FULL may have moved rows to where they were not looked for.
            IF s.part IS NOT NULL THEN
                EXECUTE format('SELECT string_agg(format(''%%I IS NOT NULL AND %%I IS NULL'', attname, shadow), '' OR '') AS missing
                                FROM %s.snowflake_ids_convert_columns($1, $2) WHERE rel = $3 AND NOT is_key', ext)
                INTO p USING relation, s.key_column, s.part;
                EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s c WHERE %s)', s.part, p.missing) INTO missing;
                IF missing THEN
                    next_todo := jsonb_build_array(s.part::oid) || coalesce(s.todo, '[]');
                END IF;
            END IF;
            IF jsonb_array_length(coalesce(next_todo, '[]')) > 0 THEN
                next_part := (next_todo ->> 0)::oid::regclass;
                next_todo := next_todo - 0;
                next_unit := 'blocks';
                next_done := 0;
                next_total := pg_relation_size(next_part) / current_setting('block_size')::int;
                IF missing AND next_part = s.part THEN
                    -- Once more, all of it; if that changes nothing, they refer to what is not there.
                    EXECUTE format('SELECT %s.snowflake_ids_convert_follow($1, $2, 0::pg_catalog.int8, $3)', ext) INTO wrote
                    USING relation, next_part, next_total + 1;
                    EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s c WHERE %s)', next_part, p.missing) INTO missing;
                    IF missing THEN
                        RAISE EXCEPTION 'cannot go on converting %', relation
                            USING ERRCODE = 'object_not_in_prerequisite_state',
                                  DETAIL = format('Rows of %s refer to keys that do not exist.', next_part),
                                  HINT = 'Mend them and call again, or give up with snowflake_ids_convert_undo().';
                    END IF;
                    next_done := next_total;
                END IF;
            ELSE
                -- Before writers meet a check that does not hold.
                EXECUTE format('SELECT %s.snowflake_ids_convert_violated($1)', ext) USING relation;
                EXECUTE format('SELECT %s.snowflake_ids_convert_lock($1, $2, ''ACCESS EXCLUSIVE'', false)', ext) USING relation, s.key_column;
                EXECUTE format('SELECT %s.snowflake_ids_convert_check($1, false)', ext) USING relation;
                next_phase := 'check';
                next_part := NULL;
                next_unit := NULL;
                next_done := NULL;
                next_total := NULL;
            END IF;
        ELSE
            SELECT CASE WHEN relpages > 0 AND reltuples > 0 THEN reltuples / relpages ELSE 100 END INTO density
            FROM pg_class WHERE oid = s.part;
            next_done := least(s.done + greatest(1, (s.batch_size / density)::bigint), s.total);
            BEGIN
                EXECUTE format('SELECT %s.snowflake_ids_convert_follow($1, $2, $3, $4)', ext) INTO wrote
                USING relation, s.part, s.done, next_done - s.done;
            EXCEPTION WHEN deadlock_detected THEN
                wrote := 0;
                next_done := s.done;
            END;
        END IF;
    WHEN 'check' THEN
        EXECUTE format('SELECT %s.snowflake_ids_convert_check($1, true)', ext) USING relation;
        next_phase := CASE WHEN s.keep_position THEN 'ready' ELSE 'index' END;
    WHEN 'index' THEN
        IF finish THEN
            EXECUTE format('SELECT %s.snowflake_ids_convert_index($1)', ext) INTO wrote USING relation;
            IF wrote = 0 THEN
                EXECUTE format('SELECT %s.snowflake_ids_convert_verify($1)', ext) USING relation;
                next_phase := 'swap';
            END IF;
            wrote := 0;
        ELSE
            more := false;
        END IF;
    WHEN 'ready' THEN
        IF finish THEN
            EXECUTE format('SELECT %s.snowflake_ids_convert_verify($1)', ext) USING relation;
            next_phase := 'swap';
        ELSE
            more := false;
        END IF;
    WHEN 'swap' THEN
        IF finish THEN
            EXECUTE format('SELECT %s.snowflake_ids_convert_swap($1)', ext) INTO next_todo USING relation;
            next_phase := CASE WHEN next_todo IS NULL THEN 'index' ELSE 'validate' END;
        ELSE
            more := false;
        END IF;
    WHEN 'validate' THEN
        IF jsonb_array_length(s.todo) > 0 THEN
            -- Unless it was dropped since.
            IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = (s.todo -> 0 ->> 'rel')::oid AND conname = s.todo -> 0 ->> 'constraint') THEN
                EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', (s.todo -> 0 ->> 'rel')::oid::regclass, s.todo -> 0 ->> 'constraint');
            END IF;
            next_todo := s.todo - 0;
        ELSE
            next_phase := 'done';
            more := false;
        END IF;
    WHEN 'done' THEN
        more := false;
    ELSE
        RAISE EXCEPTION '% is not being converted', relation USING ERRCODE = 'object_not_in_prerequisite_state';
    END CASE;
    tell := next_phase <> s.phase OR next_part IS DISTINCT FROM s.part OR s.silent;
    EXECUTE format('UPDATE %s.snowflake_ids_my_conversions SET phase = $2, part = $3, unit = $4, done = $5, total = $6, todo = $7, rows = rows + $8,
                        updated = clock_timestamp(), told = CASE WHEN $9 THEN clock_timestamp() ELSE told END,
                        phase_started = CASE WHEN $10 THEN clock_timestamp() ELSE phase_started END,
                        resumed = CASE WHEN $10 THEN clock_timestamp() ELSE resumed END,
                        resumed_at = CASE WHEN $10 THEN 0 ELSE resumed_at END
                    WHERE relation = $1', ext)
    USING relation, next_phase, next_part, next_unit, next_done, next_total, next_todo, wrote, tell,
          next_phase <> s.phase OR next_part IS DISTINCT FROM s.part;
    IF next_phase <> s.phase THEN
        said := format('%s: %s', relation, next_phase) || CASE next_phase WHEN 'fill' THEN format(', %s rows', next_total) ELSE '' END;
    ELSIF next_part IS DISTINCT FROM s.part THEN
        said := format('%s: %s %s, %s blocks', relation, next_phase, next_part, next_total);
    ELSIF tell AND next_unit IS NOT NULL THEN
        EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_progress WHERE relation = $1', ext) INTO p USING relation;
        said := format('%s: %s %s, %s of %s %s, %s per second, %s left', relation, p.phase, p.part, p.done, p.total, p.unit, p.per_second,
                       date_trunc('second', p.remaining));
    END IF;
    IF NOT more AND next_phase NOT IN ('done') THEN
        said := format('%s: filled, and kept so; call again to finish', relation);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_step(regclass, boolean) IS 'internal: one transaction of a conversion';

CREATE PROCEDURE snowflake_ids_convert(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    batch_size integer DEFAULT 10000, spill boolean DEFAULT false, keep_position boolean DEFAULT false,
    fire_triggers boolean DEFAULT false, finish boolean DEFAULT true, dry_run boolean DEFAULT false
)
LANGUAGE plpgsql
AS $$
DECLARE
    -- Nothing here may depend on the search path.
    ext pg_catalog.text;
    said pg_catalog.text;
    more pg_catalog.bool;
BEGIN
    LOOP
        -- The extension may get another schema between two steps.
        ext := (SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e, pg_catalog.pg_namespace n
                WHERE n.oid OPERATOR(pg_catalog.=) e.extnamespace AND e.extname OPERATOR(pg_catalog.=) 'snowflake_ids');
        IF more IS NULL THEN
            EXECUTE pg_catalog.replace('SELECT ?.snowflake_ids_convert_start($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)', '?', ext)
            USING relation, key_column, format, created_column, metabyte, batch_size, spill, keep_position, fire_triggers, finish, dry_run;
            more := NOT dry_run;
        ELSE
            EXECUTE pg_catalog.replace('SELECT * FROM ?.snowflake_ids_convert_step($1, $2)', '?', ext) INTO said, more USING relation, finish;
        END IF;
        EXIT WHEN dry_run;
        COMMIT;
        IF said IS NOT NULL THEN
            RAISE NOTICE '%', said;
        END IF;
        EXIT WHEN more IS NOT TRUE;
    END LOOP;
END $$;
COMMENT ON PROCEDURE snowflake_ids_convert(regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean) IS 'turns a key into sno, mastic or snowflake_si ids made of a column of times, with all that refers to it; resumes if called again';
