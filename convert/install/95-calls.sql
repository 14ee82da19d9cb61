-- What is called by hand.

CREATE FUNCTION snowflake_ids_convert.key_problems(j snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    -- A call that is repeated, by a script say, would number all rows again: a bigint does not tell what it has become.
    -- The default does, also where the row about the conversion is gone, as in a database that was restored from a dump.
    SELECT format('column %s.%I: has been converted to %s; to number its rows again, first ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT',
                  j.relation, j.key_column, j.format)
    WHERE j.new_id = (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = j.relation AND adnum = j.key_attnum)
    UNION ALL
    SELECT format('table %s: is the map of an earlier conversion; keep what you need of it, then SELECT snowflake_ids_convert_forget(%L)', c.oid::regclass, j.relation)
    FROM pg_class c WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = j.relation) AND c.relname = 'snowflake_ids_map_' || j.relation::oid
         AND NOT EXISTS (SELECT FROM snowflake_ids_convert.my_conversion s WHERE s.relation = j.relation AND s.phase NOT IN ('validate', 'done'))
    UNION ALL
    SELECT format('column %s.%I: may be null', j.relation, j.key_column)
    WHERE EXISTS (SELECT FROM pg_attribute WHERE attrelid = j.relation AND attnum = j.key_attnum AND NOT attnotnull)
    UNION ALL
    SELECT format('column %s.%I: is not unique by itself; make a unique index on it', j.relation, j.key_column)
    WHERE NOT EXISTS (SELECT FROM pg_index WHERE indrelid = j.relation AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL
                      AND indnkeyatts = 1 AND indkey[0] = j.key_attnum)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.key_problems(snowflake_ids_convert.job) IS 'internal: why a column cannot be converted as a key';

CREATE FUNCTION snowflake_ids_convert.orphans(j snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    c record;
    orphans bigint;
BEGIN
    FOR c IN SELECT * FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE NOT is_key LOOP
        EXECUTE format('SELECT count(*) FROM ONLY %1$s c WHERE c.%2$I IS NOT NULL
                        AND NOT EXISTS (SELECT FROM ONLY %3$s k WHERE k.%4$I%5$s = c.%2$I)', c.rel, c.attname, j.relation, j.key_column, c.collate)
        INTO orphans;
        IF orphans > 0 THEN
            RETURN NEXT format('column %s.%I: %s rows refer to a key that does not exist', c.rel, c.attname, orphans);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.orphans(snowflake_ids_convert.job) IS 'internal: columns with rows that refer to nothing';

CREATE FUNCTION snowflake_ids_convert.notes(j snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT 'the identity becomes a default: only integers of a sequence can be an identity'
    WHERE EXISTS (SELECT FROM pg_attribute WHERE attrelid = j.relation AND attnum = j.key_attnum AND attidentity <> '')
    UNION ALL
    SELECT format('times of %I are taken to be in time zone %s', j.created_column, j.zone)
    WHERE EXISTS (SELECT FROM pg_attribute WHERE attrelid = j.relation AND attname = j.created_column AND atttypid <> 'timestamptz'::regtype)
    UNION ALL
    SELECT 'the new columns stand last in their tables; set keep_position to rewrite the tables instead, under their last lock'
    WHERE NOT j.keep_position
    UNION ALL
    SELECT p FROM snowflake_ids_convert.tables(j.relation, j.key_attnum) t, snowflake_ids_convert.publication_problems(t.rel) AS p
$$;
COMMENT ON FUNCTION snowflake_ids_convert.notes(snowflake_ids_convert.job) IS 'internal: what is good to know before a conversion';

CREATE FUNCTION snowflake_ids_convert.planned_steps(j snowflake_ids_convert.job, rows bigint, OUT kind text, OUT item text) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    RETURN QUERY
    SELECT 'step', CASE WHEN is_key THEN format('add %s.%I %s, for %s rows, in the order of %I, %I', rel, shadow, j.type, rows, j.created_column, j.key_column)
                   ELSE format('add %s.%I %s, following %s.%I', rel, shadow, j.type, j.relation, j.key_column) END
    FROM snowflake_ids_convert.columns(j.relation, j.key_attnum);
    IF NOT j.keep_position THEN
        RETURN QUERY SELECT 'index', replace(definition, '{concurrently}', 'CONCURRENTLY ') FROM snowflake_ids_convert.new_indexes(j);
    END IF;
    RETURN QUERY
    SELECT 'step', format('lock the tables, %s, default %s', CASE WHEN j.keep_position THEN 'rewrite them' ELSE 'change the columns over' END, j.new_id);
    RETURN QUERY
    SELECT DISTINCT 'step', CASE WHEN f.convalidated THEN format('validate foreign key %I of %s', f.conname, f.conrelid::regclass)
                            ELSE format('leave foreign key %I of %s NOT VALID, as it is', f.conname, f.conrelid::regclass) END
    FROM pg_constraint f JOIN snowflake_ids_convert.columns(j.relation, j.key_attnum) c ON c.rel = f.confrelid AND c.attnum = ANY (f.confkey)
    WHERE f.contype = 'f' ORDER BY 2;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.planned_steps(snowflake_ids_convert.job, bigint) IS 'internal: what a conversion would do';

CREATE FUNCTION snowflake_ids_convert.plan(j snowflake_ids_convert.job, OUT kind text, OUT item text) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    crowded record;
BEGIN
    RETURN QUERY SELECT 'problem', p FROM snowflake_ids_convert.key_problems(j) AS p
                 UNION ALL SELECT 'problem', p FROM snowflake_ids_convert.problems(j) AS p;
    -- With these the rows may not be what they seem, or not be readable.
    IF FOUND THEN
        RETURN;
    END IF;
    -- The time is read after the snapshot is taken: rows that come now are not in the future.
    RETURN QUERY SELECT 'problem', p FROM snowflake_ids_convert.time_problems(j, clock_timestamp(), 'true') AS p;
    IF FOUND THEN
        RETURN;
    END IF;
    crowded := snowflake_ids_convert.crowding(j, clock_timestamp(), 'true');
    RETURN QUERY SELECT CASE WHEN j.spill THEN 'note' ELSE 'problem' END, crowded.moves WHERE crowded.moves IS NOT NULL;
    RETURN QUERY SELECT 'problem', crowded.too_far WHERE crowded.too_far IS NOT NULL;
    RETURN QUERY SELECT 'problem', p FROM snowflake_ids_convert.orphans(j) AS p;
    IF FOUND OR crowded.too_far IS NOT NULL OR crowded.moves IS NOT NULL AND NOT j.spill THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT 'note', n FROM snowflake_ids_convert.notes(j) AS n;
    RETURN QUERY SELECT p.kind, p.item FROM snowflake_ids_convert.planned_steps(j, crowded.rows) AS p;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.plan(snowflake_ids_convert.job) IS 'internal: what a conversion would do, and what is in its way';

CREATE FUNCTION snowflake_ids_convert_plan(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    spill boolean DEFAULT false, keep_position boolean DEFAULT false, fire_triggers boolean DEFAULT false,
    publications boolean DEFAULT false, OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(jsonb_build_object(
        'relation', relation, 'key_column', key_column, 'format', format, 'created_column', created_column, 'metabyte', metabyte,
        'spill', spill, 'keep_position', keep_position, 'fire_triggers', fire_triggers, 'publications', publications));
    RETURN QUERY SELECT p.kind, p.item FROM snowflake_ids_convert.plan(snowflake_ids_convert.planned_job(
        relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers, publications)) AS p;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_plan(regclass, name, text, name, integer, boolean, boolean, boolean, boolean) IS 'what snowflake_ids_convert would do, and what is in its way; changes nothing';

CREATE FUNCTION snowflake_ids_convert_indexes(relation regclass, concurrently boolean DEFAULT true) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    j snowflake_ids_convert.job := snowflake_ids_convert.job_of(relation);
    phase text := (SELECT s.phase FROM snowflake_ids_convert.my_conversion s WHERE s.relation = snowflake_ids_convert_indexes.relation);
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(jsonb_build_object('relation', relation, 'concurrently', "concurrently"));
    IF phase IN ('index', 'swap') AND NOT j.keep_position THEN
        PERFORM snowflake_ids_convert.refuse(j, (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.owner_problems(j) AS p));
        RETURN QUERY SELECT * FROM snowflake_ids_convert.index_statements(j, "concurrently");
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_indexes(regclass, boolean) IS 'statements that make the indexes which a conversion waits for; run them with \gexec, then call again';

-- What is asked of a call, whatever its table is.
CREATE FUNCTION snowflake_ids_convert.check_call(batch_size integer) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
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
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_call(integer) IS 'internal: error if a conversion cannot run in this session';

-- Goes on with a conversion that was begun. False if there is none.
CREATE FUNCTION snowflake_ids_convert.resume(j snowflake_ids_convert.job, batch_size integer, build_concurrently boolean) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    b snowflake_ids_convert.job := snowflake_ids_convert.job_of(j.relation);
BEGIN
    IF NOT EXISTS (SELECT FROM snowflake_ids_convert.my_conversion s WHERE s.relation = j.relation AND s.phase <> 'done') THEN
        RETURN false;
    ELSIF (b.key_attnum, b.format, b.created_column, b.metabyte, b.keep_position)
          IS DISTINCT FROM (j.key_attnum, j.format, j.created_column, j.metabyte, j.keep_position) THEN
        RAISE EXCEPTION '% is being converted in another way', j.relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Column %I becomes %s, by the times of %I, metabyte %s, keep_position %s.',
                                  b.key_column, b.format, b.created_column, b.metabyte, b.keep_position),
                  HINT = 'Call with the same arguments, or give that up with snowflake_ids_convert_undo().';
    END IF;
    UPDATE snowflake_ids_convert.my_conversion s
    SET batch_size = resume.batch_size, spill = j.spill, fire_triggers = j.fire_triggers, publications = j.publications,
        build_concurrently = resume.build_concurrently, resumed = clock_timestamp(), updated = clock_timestamp(), resumed_at = coalesce(s.done, 0)
    WHERE s.relation = j.relation;
    RETURN true;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.resume(snowflake_ids_convert.job, integer, boolean) IS 'internal: goes on with a conversion that was begun';

-- The first transaction of a call: the plan, and what will be remembered. It locks nothing against writers.
CREATE FUNCTION snowflake_ids_convert.start(j snowflake_ids_convert.job, batch_size integer, build_concurrently boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    p record;
    problems text;
BEGIN
    IF snowflake_ids_convert.resume(j, batch_size, build_concurrently) THEN
        RETURN;
    END IF;
    FOR p IN SELECT * FROM snowflake_ids_convert.plan(j) LOOP
        IF p.kind = 'problem' THEN
            problems := concat_ws(E'\n', problems, p.item);
        ELSIF p.kind = 'note' THEN
            RAISE NOTICE '%', p.item;
        END IF;
    END LOOP;
    IF problems IS NOT NULL THEN
        RAISE EXCEPTION 'cannot convert column "%" of %', j.key_column, j.relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problems, HINT = 'Nothing was changed.';
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion s WHERE s.relation = j.relation;
    INSERT INTO snowflake_ids_convert.my_conversion (relation, key_attnum, format, created_attnum, zone, metabyte, batch_size, spill,
                                                     keep_position, fire_triggers, build_concurrently, publications, phase)
    VALUES (j.relation, j.key_attnum, j.format, snowflake_ids_convert.column_number(j.relation, j.created_column), j.zone, j.metabyte, batch_size,
            j.spill, j.keep_position, j.fire_triggers, build_concurrently, j.publications, 'prepare');
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.start(snowflake_ids_convert.job, integer, boolean) IS 'internal: begins or resumes a conversion';

-- It commits between its steps, so it can have no settings of its own: nothing in it depends on the search path.
CREATE PROCEDURE snowflake_ids_convert(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    batch_size integer DEFAULT 1000, spill boolean DEFAULT false, keep_position boolean DEFAULT false,
    fire_triggers boolean DEFAULT false, finish boolean DEFAULT true, dry_run boolean DEFAULT false,
    concurrently boolean DEFAULT true, publications boolean DEFAULT false
)
LANGUAGE plpgsql
AS $$
DECLARE
    j snowflake_ids_convert.job;
    p record;
    said pg_catalog.text;
    more pg_catalog.bool := true;
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(pg_catalog.jsonb_build_object(
        'relation', relation, 'key_column', key_column, 'format', format, 'created_column', created_column, 'metabyte', metabyte,
        'batch_size', batch_size, 'spill', spill, 'keep_position', keep_position, 'fire_triggers', fire_triggers, 'finish', finish,
        'dry_run', dry_run, 'concurrently', "concurrently", 'publications', publications));
    PERFORM snowflake_ids_convert.check_call(batch_size);
    j := snowflake_ids_convert.planned_job(relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers, publications);
    IF dry_run THEN
        FOR p IN SELECT s.kind, s.item FROM snowflake_ids_convert.plan(j) AS s LOOP
            RAISE INFO '%: %', p.kind, p.item;
        END LOOP;
        RETURN;
    END IF;
    PERFORM snowflake_ids_convert.start(j, batch_size, "concurrently");
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
COMMENT ON PROCEDURE snowflake_ids_convert(regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean, boolean, boolean) IS 'turns a key into sno, mastic or snowflake_si ids made of a column of times, with all that refers to it; resumes if called again';
