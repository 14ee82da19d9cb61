-- Converting a key: new columns beside the old ones, kept by triggers, and filled in batches.

-- Those of the columns that have a new one beside them: others may have come to refer to the key since.
CREATE FUNCTION snowflake_ids_convert_filled(
    relation regclass, key_column name,
    OUT rel regclass, OUT attnum int2, OUT attname name, OUT shadow name, OUT is_key boolean, OUT not_null boolean,
    OUT early boolean, OUT coll text
) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
BEGIN
    RETURN QUERY EXECUTE format('SELECT c.* FROM %s.snowflake_ids_convert_columns($1, $2) c JOIN pg_attribute n
                                 ON n.attrelid = c.rel AND n.attname = c.shadow AND NOT n.attisdropped
                                 ORDER BY c.rel <> $1, c.rel, c.attnum', ext) USING relation, key_column;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_filled(regclass, name) IS 'internal: a key and the columns that refer to it, with new ones beside them';

-- What is renamed or given to another owner meanwhile. Trigger functions have names in them, and the rights of an owner:
-- they say so rather than follow another table, and the next step of the conversion makes them anew. For a target, or
-- for all tables; "function_name" is a function that must be where it was.
CREATE FUNCTION snowflake_ids_convert_stale(relation regclass, key_column name, target regclass, function_name text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    changed text;
BEGIN
    -- What is asked for each row that is written has to be cheap. The identity has schema, table and column in it.
    EXECUTE format('SELECT string_agg(format(''(pg_identify_object(%%1$s, %%2$s, %%3$s)).identity IS DISTINCT FROM %%4$L'',
                                             ''pg_class''::regclass::oid, rel::oid, attnum,
                                             (pg_identify_object(''pg_class''::regclass, rel, attnum)).identity), '' OR '')
                    FROM %s.snowflake_ids_convert_filled($1, $2) WHERE is_key OR rel = $3 OR $3 IS NULL', ext)
    INTO changed USING relation, key_column, target;
    RETURN format($f$
    IF %s%s OR NOT has_table_privilege(%s::oid, 'SELECT') THEN
        RAISE EXCEPTION 'cannot follow the key of %% now', %s::regclass
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'A table or column of its conversion has got another name, schema or owner.',
                  HINT = 'Call snowflake_ids_convert() again to go on with it, or give up with snowflake_ids_convert_undo().';
    END IF;$f$, 'to_regproc(' || quote_literal(function_name) || ') IS NULL OR ', changed, relation::oid, relation::oid);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_stale(regclass, name, regclass, text) IS 'internal: the lines of a trigger function that find that it is out of date';

-- Makes a trigger function, or makes it anew where it is, if it is another than it should be. Returns its name.
--
-- With a type, the function returns a value of that type, and the body is an expression that PostgreSQL keeps as a tree:
-- it is the same after ALTER EXTENSION SET SCHEMA, and what it uses of the extension keeps that from being dropped.
CREATE FUNCTION snowflake_ids_convert_function(relation regclass, function_name text, body text, type text) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    fn text;
    source text;
BEGIN
    SELECT format('%I.%I', n.nspname, p.proname), p.prosrc INTO fn, source
    FROM pg_class c JOIN pg_proc p ON p.proowner = c.relowner AND p.proname = function_name AND p.pronargs = 0
         JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE c.oid = relation ORDER BY EXISTS (SELECT FROM pg_trigger WHERE tgfoid = p.oid) DESC, p.pronamespace = c.relnamespace DESC LIMIT 1;
    IF source IS NOT DISTINCT FROM body OR type IS NOT NULL AND fn IS NOT NULL THEN
        RETURN fn;
    ELSIF fn IS NULL THEN
        fn := (SELECT format('%I.%I', nspname, function_name) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = relation);
    END IF;
    IF type IS NOT NULL THEN
        EXECUTE format('CREATE FUNCTION %s() RETURNS %s LANGUAGE sql RETURN %s', fn, type, body);
    ELSE
        -- It runs in sessions of writers, with names in it.
        EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
                        SET quote_all_identifiers = off SET standard_conforming_strings = on AS %L', fn, body);
    END IF;
    EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', fn);
    RETURN fn;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_function(regclass, text, text, text) IS 'internal: makes a function of a conversion, or replaces it';

-- Makes a trigger that is not there; the rest of the definition begins with BEFORE or AFTER.
CREATE FUNCTION snowflake_ids_convert_trigger(target regclass, trigger_name text, kind text, rest text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = trigger_name) THEN
        EXECUTE format('CREATE %s %I %s', kind, trigger_name, rest);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, trigger_name);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_trigger(regclass, text, text, text) IS 'internal: makes a trigger';

-- The key's column may have got another name meanwhile. The trigger on it is that of the column.
CREATE FUNCTION snowflake_ids_convert_renamed(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
BEGIN
    EXECUTE format('UPDATE %s.snowflake_ids_my_conversions s SET key_column = a.attname
                    FROM pg_trigger g JOIN pg_attribute a ON a.attrelid = g.tgrelid AND a.attnum = g.tgattr[0]
                    WHERE s.relation = $1 AND s.phase NOT IN (''validate'', ''done'') AND s.key_column <> a.attname
                      AND g.tgrelid = $1 AND g.tgname = ''zz_snowflake_ids_1_key''', ext) USING relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_renamed(regclass) IS 'internal: learns a new name of the key';

-- The trigger functions of one conversion, and the triggers; those that are as they should be are left. They belong to the owner of the key's table: who writes to a table that
-- refers to it may not be allowed to read it.
CREATE FUNCTION snowflake_ids_convert_triggers(relation regclass, settled boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    t record;
    c record;
    k record;
    fn text;
    stale text;
    body text;
    late text;
    changed text;
    moved text;
    draw text;
    make text := format('SELECT %s.snowflake_ids_convert_function($1, $2, $3, NULL)', ext);
    attach text := format('SELECT %s.snowflake_ids_convert_trigger($1, $2, $3, $4)', ext);
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE is_key', ext) INTO k USING relation, s.key_column;
    -- New rows draw as the new default will. A row keeps its id when its key changes, once it has one.
    EXECUTE format('SELECT %s.snowflake_ids_convert_function($1, $2, $3, $4)', ext) INTO draw
    USING relation, 'snowflake_ids_draw_' || relation::oid, f.new_id, f.type;
    EXECUTE format('SELECT %s.snowflake_ids_convert_stale($1, $2, $1, $3)', ext) INTO stale USING relation, s.key_column, draw;
    EXECUTE make INTO fn USING relation, 'snowflake_ids_key_' || relation::oid, format($f$BEGIN
    IF TG_OP = 'INSERT' THEN
        IF to_regproc(%2$L) IS NOT NULL THEN
            NEW.%1$I := %2$s();
            RETURN NEW;
        END IF;
    ELSIF OLD.%1$I IS NOT NULL THEN
        RETURN NEW;
    END IF;%4$s
    IF NEW.%3$I IS DISTINCT FROM OLD.%3$I THEN
        RAISE EXCEPTION 'cannot change a key of %% now', TG_RELID::regclass
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'The table is being converted, and this row has no new id yet.',
                  HINT = 'Try again later. See snowflake_ids_convert_progress.';
    END IF;
    RETURN NEW;
END$f$, k.shadow, draw, k.attname, stale);
    EXECUTE attach USING relation, 'zz_snowflake_ids_1_key', 'TRIGGER',
        format('BEFORE INSERT OR UPDATE OF %I ON %s FOR EACH ROW EXECUTE FUNCTION %s()', k.attname, relation, fn);

    -- A key may pass from one row to another, and what refers to it be none the wiser: rows that exchange their keys,
    -- one that is deleted and inserted again. Most keys that go are not there when the transaction ends; then
    -- nothing refers to them, and no table is searched.
    EXECUTE format($q$SELECT string_agg(format('
    UPDATE ONLY %%s AS c SET %%I = k.%%I FROM ONLY %%s AS k
    WHERE k.%%I = OLD.%%5$I AND OLD.%%5$I%%7$s = c.%%6$I AND c.%%2$I::text IS DISTINCT FROM k.%%3$I::text;',
            rel, shadow, $3, $1, $2, attname, coll), '') FROM %s.snowflake_ids_convert_filled($1, $2) WHERE NOT is_key$q$, ext)
    INTO moved USING relation, k.attname, k.shadow;
    IF moved IS NOT NULL THEN
        EXECUTE format('SELECT %s.snowflake_ids_convert_stale($1, $2, NULL::regclass, NULL)', ext) INTO stale USING relation, s.key_column;
        EXECUTE make INTO fn USING relation, 'snowflake_ids_moved_' || relation::oid, 'BEGIN' || stale || format('
IF EXISTS (SELECT FROM ONLY %s AS k WHERE k.%I = OLD.%2$I) THEN', relation, k.attname) || moved || E'\n    END IF;\n    RETURN NULL;\nEND';
        EXECUTE attach USING relation, 'zz_snowflake_ids_4_delete', 'CONSTRAINT TRIGGER',
            format('AFTER DELETE ON %s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION %s()', relation, fn);
        EXECUTE attach USING relation, 'zz_snowflake_ids_4_update', 'CONSTRAINT TRIGGER',
            format('AFTER UPDATE ON %s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.%I IS DISTINCT FROM NEW.%2$I) EXECUTE FUNCTION %s()',
                   relation, k.attname, fn);
    END IF;

    FOR t IN EXECUTE format('SELECT rel, bool_and(early) AS early FROM %s.snowflake_ids_convert_filled($1, $2) WHERE NOT is_key GROUP BY rel', ext)
             USING relation, s.key_column LOOP
        body := '';
        late := '';
        changed := '';
        FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_filled($1, $2) WHERE NOT is_key AND rel = $3', ext)
                 USING relation, s.key_column, t.rel LOOP
            body := body || format($f$
    IF NEW.%1$I IS NULL THEN
        NEW.%2$I := NULL;
    ELSIF TG_OP = 'INSERT' OR NEW.%2$I IS NULL OR NEW.%1$I IS DISTINCT FROM OLD.%1$I THEN
        -- The lock is that of the foreign key: the row found is still the one that has this key when that is checked.
        NEW.%2$I := (SELECT k.%3$I FROM ONLY %4$s AS k WHERE k.%5$I%6$s = NEW.%1$I FOR KEY SHARE);$f$,
                c.attname, c.shadow, k.shadow, relation, k.attname, k.coll)
            || CASE WHEN settled THEN format($f$
        IF NEW.%2$I IS NULL THEN
            -- All keys have their ids by now. A snapshot that is older fails here, rather than leave a gap.
            NEW.%2$I := (SELECT k.%3$I FROM ONLY %4$s AS k WHERE k.%5$I%6$s = NEW.%1$I FOR SHARE);
        END IF;$f$, c.attname, c.shadow, k.shadow, relation, k.attname, k.coll) ELSE '' END
            || CASE WHEN t.rel = relation THEN format($f$
        IF NEW.%2$I%5$s = NEW.%1$I THEN
            NEW.%3$I := NEW.%4$I;
        END IF;$f$, c.attname, k.attname, c.shadow, k.shadow, k.coll) ELSE '' END
            || '
    END IF;';
            late := late || format($f$
    IF NEW.%1$I IS NOT NULL AND NEW.%2$I IS NULL THEN
        UPDATE ONLY %6$s AS c SET %2$I = k.%3$I FROM ONLY %4$s AS k
        WHERE k.%5$I%7$s = c.%1$I AND c.%1$I = NEW.%1$I AND c.%2$I IS NULL;
    END IF;$f$, c.attname, c.shadow, k.shadow, relation, k.attname, t.rel, k.coll);
            changed := changed || format('%sOLD.%2$I IS DISTINCT FROM NEW.%2$I OR NEW.%2$I IS NOT NULL AND NEW.%3$I IS NULL',
                                         CASE WHEN changed <> '' THEN ' OR ' ELSE '' END, c.attname, c.shadow);
        END LOOP;
        EXECUTE format('SELECT %s.snowflake_ids_convert_stale($1, $2, $3, NULL)', ext) INTO stale USING relation, s.key_column, t.rel;
        EXECUTE make INTO fn USING relation, 'snowflake_ids_follow_' || relation::oid || '_' || t.rel::oid,
            'BEGIN' || stale || body || E'\n    RETURN NEW;\nEND';
        EXECUTE attach USING t.rel, 'zz_snowflake_ids_2_insert', 'TRIGGER',
            format('BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION %s()', t.rel, fn);
        EXECUTE attach USING t.rel, 'zz_snowflake_ids_2_update', 'TRIGGER',
            format('BEFORE UPDATE ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()', t.rel, changed, fn);
        IF settled AND NOT t.early THEN
            -- A row that comes before the one that it refers to is given its value when the transaction ends.
            EXECUTE make INTO fn USING relation, 'snowflake_ids_late_' || relation::oid || '_' || t.rel::oid,
                'BEGIN' || stale || late || E'\n    RETURN NULL;\nEND';
            EXECUTE attach USING t.rel, 'zz_snowflake_ids_3_late', 'CONSTRAINT TRIGGER',
                format('AFTER INSERT OR UPDATE ON %s DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()', t.rel,
                       (SELECT string_agg(format('NEW.%I IS NOT NULL AND NEW.%I IS NULL', attname, 'snowflake_ids_new_' || attnum), ' OR ')
                        FROM pg_attribute a WHERE attrelid = t.rel AND attnum > 0
                          AND EXISTS (SELECT FROM pg_attribute n WHERE n.attrelid = t.rel AND n.attname = 'snowflake_ids_new_' || a.attnum)), fn);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_triggers(regclass, boolean) IS 'internal: the triggers that fill the new columns; settled: all keys have their ids';

-- Locks all tables of a conversion, the key's first. Writers may lock them in another order, so it may take turns. Who
-- gives up runs no code of the tables, and may be a superuser; tables of others that refer to the key are none of it.
CREATE FUNCTION snowflake_ids_convert_lock(relation regclass, key_column name, mode text, giving_up boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    tables text;
    problem text;
BEGIN
    FOR turn IN 1 .. 20 LOOP
        EXECUTE format('SELECT string_agg(''ONLY '' || t.rel, '', '' ORDER BY t.rel <> $1, t.rel)
                        FROM (SELECT DISTINCT c.rel FROM %s.snowflake_ids_convert_columns($1, $2) c JOIN pg_class p ON p.oid = c.rel
                              WHERE NOT $3 OR pg_has_role(p.relowner, ''USAGE'')) AS t', ext)
        INTO tables USING relation, key_column, giving_up;
        BEGIN
            EXECUTE format('LOCK TABLE %s IN %s MODE', tables, mode);
            EXIT;
        EXCEPTION WHEN deadlock_detected THEN
            IF turn = 20 THEN RAISE; END IF;
        END;
    END LOOP;
    IF giving_up THEN
        RETURN;
    END IF;
    -- From here on no table of another can come to refer to the key.
    EXECUTE format('SELECT string_agg(s, E''\n'') FROM %s.snowflake_ids_convert_strangers($1, $2) AS s', ext)
    INTO problem USING relation, key_column;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot go on converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_lock(regclass, name, text, boolean) IS 'internal: locks the tables of a conversion';

-- The first step: columns, triggers, and the table of which id each key gets.
CREATE FUNCTION snowflake_ids_convert_prepare(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    c record;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    EXECUTE format('SELECT %s.snowflake_ids_convert_lock($1, $2, ''ACCESS EXCLUSIVE'', false)', ext) USING relation, s.key_column;
    FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2)', ext) USING relation, s.key_column LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN %I %s', c.rel, c.shadow, f.type);
    END LOOP;
    EXECUTE format('SELECT %s.snowflake_ids_convert_triggers($1, false)', ext) USING relation;
    -- Under the lock: what is there is of this time or before, what comes draws ids after it.
    EXECUTE format('UPDATE %1$s.snowflake_ids_my_conversions SET issued_after = %1$s.snowflake_ids_convert_floor(format) WHERE relation = $1', ext)
    USING relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_prepare(regclass) IS 'internal: adds the new columns and their triggers';

-- The second: one sorted pass over the key's table. Returns how many rows there are. The time zone is that of the first
-- call, until this function returns.
CREATE FUNCTION snowflake_ids_convert_number(relation regclass) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET TimeZone = 'UTC'
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    k record;
    places text;
    problem text;
    map text;
    misfit boolean;
    rows bigint;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE is_key', ext) INTO k USING relation, s.key_column;
    PERFORM set_config('TimeZone', s.zone, true);
    EXECUTE format('SELECT %s.snowflake_ids_convert_places($1, $2, $3, $4, $5, $6, $7)', ext) INTO places
    USING relation, s.key_column, s.format, s.created_column, s.metabyte, s.issued_after, format('%I IS NULL', k.shadow);
    map := (SELECT format('%I.%I', nspname, 'snowflake_ids_map_' || relation::oid)
            FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = relation);
    -- Rows may have changed since the plan, and go on changing. What is judged is what is numbered, in one snapshot: an id
    -- of a time that the generator has not reached would be issued again.
    EXECUTE format('CREATE TABLE %s AS SELECT n, old, created, CASE WHEN %s AND place / %s <= %s THEN %s END AS new FROM (%s) AS p', map,
                   CASE WHEN s.spill THEN 'tick IS NOT NULL' ELSE format('tick = place / %s', f.capacity) END, f.capacity,
                   floor((extract(epoch FROM s.issued_after) - extract(epoch FROM f.epoch)) * 1000 / f.tick_ms),
                   format(f.make, format('(place / %s)', f.capacity), format('place %% %s', f.capacity)), places);
    GET DIAGNOSTICS rows = ROW_COUNT;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE new IS NULL)', map) INTO misfit;
    IF misfit THEN
        EXECUTE format('SELECT string_agg(item, E''\n'') FROM %s.snowflake_ids_convert_misfits($1, $2, $3, $4, $5, $6, $7, $8) WHERE kind = ''problem''', ext)
        INTO problem
        USING relation, s.key_column, s.format, s.created_column, s.metabyte, s.spill, s.issued_after, format('%I IS NULL', k.shadow);
        RAISE EXCEPTION 'cannot go on converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = coalesce(problem, format('Times in %I changed while the rows were numbered.', s.created_column)),
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
    EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (n)', map);
    EXECUTE format('ANALYZE %s', map);
    EXECUTE format('SELECT %s.snowflake_ids_convert_verify($1)', ext) USING relation;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_number(regclass) IS 'internal: gives each row its id, in a table beside';

-- One batch of keys, from the given number on. Returns how many rows it wrote. The planner has no statistics of the new
-- column, and would read the whole table to find those that are null: a batch goes from its numbers to the key's index.
CREATE FUNCTION snowflake_ids_convert_fill(relation regclass, first bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    k record;
    map text;
    rows bigint;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE is_key', ext) INTO k USING relation, s.key_column;
    EXECUTE format('SELECT name FROM %s.snowflake_ids_convert_things($1, $2) WHERE kind = ''table''', ext) INTO map USING relation, s.key_column;
    IF NOT s.fire_triggers AND has_parameter_privilege('session_replication_role', 'SET') THEN
        PERFORM set_config('session_replication_role', 'replica', true);
    END IF;
    EXECUTE format('UPDATE ONLY %s AS k SET %I = m.new FROM %s AS m WHERE m.n >= $1 AND m.n < $1 + $2 AND k.%I = m.old AND k.%2$I IS NULL',
                   relation, k.shadow,
                   map, k.attname)
    USING first, size;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_fill(regclass, bigint, bigint) IS 'internal: gives a batch of keys their ids';

-- One stretch of blocks of a table that refers to the key. Returns how many rows it wrote.
CREATE FUNCTION snowflake_ids_convert_follow(relation regclass, target regclass, first bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    k record;
    settings text;
    missing text;
    rows bigint;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE is_key', ext) INTO k USING relation, s.key_column;
    EXECUTE format('SELECT string_agg(format(''%%1$I = (SELECT k.%%2$I FROM ONLY %%3$s AS k WHERE k.%%4$I%%6$s = c.%%5$I)'', shadow, $4, $1, $2, attname, coll), '', ''),
                           string_agg(format(''c.%%I IS NULL AND c.%%I IS NOT NULL'', shadow, attname), '' OR '')
                    FROM %s.snowflake_ids_convert_columns($1, $2) WHERE rel = $3 AND NOT is_key', ext)
    INTO settings, missing USING relation, s.key_column, target, k.shadow;
    IF NOT s.fire_triggers AND has_parameter_privilege('session_replication_role', 'SET') THEN
        PERFORM set_config('session_replication_role', 'replica', true);
    END IF;
    EXECUTE format('UPDATE ONLY %s AS c SET %s WHERE c.ctid >= $1 AND c.ctid < $2 AND (%s)', target, settings, missing)
    USING format('(%s,0)', first)::tid, format('(%s,0)', first + size)::tid;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_follow(regclass, regclass, bigint, bigint) IS 'internal: gives rows that refer to the key their new values';
