-- Puts the new columns in the places of the old ones.

-- Rows that came since the numbering belong into the table of old and new keys, too. Those that were visible in a snapshot
-- are there already; then few are left, and each is looked for by an index.
CREATE FUNCTION snowflake_ids_convert.complete_map(j snowflake_ids_convert.job, since pg_snapshot) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    first_later text;
    operators text := CASE j.format WHEN 'sno' THEN j.core ELSE 'pg_catalog' END;
BEGIN
    EXECUTE format('SELECT (' || j.make || ')::pg_catalog.text',
                   floor((extract(epoch FROM j.issued_after) - extract(epoch FROM j.epoch)) * 1000 / j.tick_ms), 0) INTO first_later;
    EXECUTE format('INSERT INTO %s (old, new) SELECT k.%I, k.%I FROM ONLY %s AS k WHERE k.%3$I OPERATOR(%5$s.>=) %6$L::%7$s
                    AND ($1 IS NULL OR age(k.xmin) <= age(pg_snapshot_xmin($1)::xid))
                    AND NOT EXISTS (SELECT FROM %1$s AS m WHERE m.new OPERATOR(%5$s.=) k.%3$I)',
                   j.map, j.key_column, j.shadow, j.relation, operators, first_later, j.type)
    USING since;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.complete_map(snowflake_ids_convert.job, pg_snapshot) IS 'internal: adds rows that came later to the table of old and new keys';

-- What may have changed since the conversion began. Readers and writers go on.
CREATE FUNCTION snowflake_ids_convert.refuse_changed(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    problem text;
    silent snowflake_ids_convert.job := j;
BEGIN
    silent.fire_triggers := true;
    problem := (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.problems(silent) AS p);
    IF problem IS NULL THEN
        problem := (SELECT string_agg(format('column %s.%I: refers to the key since the conversion began', rel, attname), E'\n')
                    FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) c
                    WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.rel AND a.attname = c.shadow));
    END IF;
    PERFORM snowflake_ids_convert.refuse_finish(j, problem);
    PERFORM snowflake_ids_convert.refuse_violations(j);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_changed(snowflake_ids_convert.job) IS 'internal: error if tables were altered so that a conversion cannot finish';

CREATE FUNCTION snowflake_ids_convert.refuse_finish(j snowflake_ids_convert.job, problems text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF problems IS NOT NULL THEN
        RAISE EXCEPTION 'cannot finish converting %', j.relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problems,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_finish(snowflake_ids_convert.job, text) IS 'internal: error with these problems, if there are any';

-- Under the lock: columns that may be filled later than their row is written.
CREATE FUNCTION snowflake_ids_convert.refuse_unfilled(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    c record;
    missing boolean;
BEGIN
    FOR c IN SELECT * FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE NOT at_once LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE (%I IS NULL) <> (%I IS NULL))', c.rel, c.attname, c.shadow) INTO missing;
        PERFORM snowflake_ids_convert.refuse_finish(j, CASE WHEN missing THEN format('Rows of %s refer by %I to keys that do not exist.', c.rel, c.attname) END);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_unfilled(snowflake_ids_convert.job) IS 'internal: error if rows have no new values yet';

-- Returns the constraints that are still to be validated.
CREATE FUNCTION snowflake_ids_convert.swap(j snowflake_ids_convert.job) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    later jsonb;
    statements text[];
    plain text[];
    statement text;
    since pg_snapshot;
    before text[];
    tables regclass[] := ARRAY(SELECT rel FROM snowflake_ids_convert.tables(j.relation, j.key_attnum));
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(j);
    PERFORM snowflake_ids_convert.refuse_changed(j);
    SELECT array_agg(s.statement ORDER BY s.stage, s.n) FILTER (WHERE s.stage < 5), array_agg(s.statement ORDER BY s.n) FILTER (WHERE s.stage = 5)
    INTO statements, plain FROM snowflake_ids_convert.changes(j) WITH ORDINALITY AS s (stage, statement, n);
    later := snowflake_ids_convert.to_validate(j);
    since := pg_current_snapshot();
    PERFORM snowflake_ids_convert.complete_map(j, NULL);
    before := ARRAY(SELECT unnest(snowflake_ids_convert.lookalikes(rel)) FROM unnest(tables) AS rel);

    PERFORM snowflake_ids_convert.lock_all(j, 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.refuse_unfilled(j);
    PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
    PERFORM snowflake_ids_convert.complete_map(j, since);
    PERFORM snowflake_ids_convert.drop_triggers(j.relation);
    -- Expressions of the new type need the operators of that type. Nothing of ours may be looked up on that path.
    PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(j), true);
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOREACH statement IN ARRAY coalesce(plain, '{}') LOOP
        EXECUTE statement;
    END LOOP;
    -- It was asked whether others have made there what expressions would use. It may have come since.
    PERFORM snowflake_ids_convert.refuse_finish(j, (
        SELECT string_agg(format('an expression would use %s, not of the extension', b), E'\n')
        FROM (SELECT unnest(snowflake_ids_convert.lookalikes(rel)) FROM unnest(tables) AS rel
              EXCEPT SELECT unnest(before)) AS n (b)));
    UPDATE snowflake_ids_convert.my_conversion s SET key_attnum = snowflake_ids_convert.column_number(j.relation, j.key_column)
    WHERE s.relation = j.relation;
    RETURN later;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap(snowflake_ids_convert.job) IS 'internal: puts the new columns in the places of the old ones';
