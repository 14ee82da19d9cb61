-- Converting a key: new columns beside the old ones, kept by triggers, and filled in batches.

-- The trigger functions of one conversion. They belong to the owner of the key's table: who writes to a table that
-- refers to it may not be allowed to read it.
CREATE FUNCTION snowflake_ids_convert_triggers(relation regclass, settled boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    t record;
    c record;
    k record;
    owner name;
    key_schema text;
    fn text;
    body text;
    late text;
    changed text;
    moved text;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE is_key', ext) INTO k USING relation, s.key_column;
    SELECT quote_ident(nspname), pg_get_userbyid(relowner) INTO key_schema, owner
    FROM pg_class r JOIN pg_namespace n ON n.oid = relnamespace WHERE r.oid = relation;

    IF NOT settled THEN
        -- New rows draw as the new default will. A row keeps its id when its key changes, once it has one.
        fn := format('%s.%I', key_schema, 'snowflake_ids_key_' || relation::oid);
        EXECUTE format('CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
            fn, format($f$BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.%1$I := %2$s;
    ELSIF OLD.%1$I IS NULL AND NEW.%3$I IS DISTINCT FROM OLD.%3$I THEN
        RAISE EXCEPTION 'cannot change a key of %% now', TG_RELID::regclass
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'The table is being converted, and this row has no new id yet.',
                  HINT = 'Try again later. See snowflake_ids_convert_progress.';
    END IF;
    RETURN NEW;
END$f$, k.shadow, f.new_id, k.attname));
        EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', fn);
        EXECUTE format('ALTER FUNCTION %s() OWNER TO %I', fn, owner);
        EXECUTE format('CREATE TRIGGER zz_snowflake_ids_1_key BEFORE INSERT OR UPDATE OF %I ON %s FOR EACH ROW EXECUTE FUNCTION %s()',
                       k.attname, relation, fn);
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER zz_snowflake_ids_1_key', relation);

        -- A key may pass from one row to another, and what refers to it be none the wiser: rows that exchange their keys,
        -- one that is deleted and inserted again. Most keys that go are not there when the transaction ends; then
        -- nothing refers to them, and no table is searched.
        EXECUTE format($q$SELECT string_agg(format('
        UPDATE ONLY %%s AS c SET %%I = k.%%I FROM ONLY %%s AS k
        WHERE k.%%I = OLD.%%5$I AND c.%%6$I = OLD.%%5$I AND c.%%2$I::text IS DISTINCT FROM k.%%3$I::text;',
                rel, shadow, $3, $1, $2, attname), '') FROM %s.snowflake_ids_convert_columns($1, $2) WHERE NOT is_key$q$, ext)
        INTO moved USING relation, k.attname, k.shadow;
        IF moved IS NOT NULL THEN
            fn := format('%s.%I', key_schema, 'snowflake_ids_moved_' || relation::oid);
            EXECUTE format('CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
                fn, format('BEGIN
    IF EXISTS (SELECT FROM ONLY %s AS k WHERE k.%I = OLD.%2$I) THEN', relation, k.attname) || moved || E'\n    END IF;\n    RETURN NULL;\nEND');
            EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', fn);
            EXECUTE format('ALTER FUNCTION %s() OWNER TO %I', fn, owner);
            EXECUTE format('CREATE CONSTRAINT TRIGGER zz_snowflake_ids_4_delete AFTER DELETE ON %s DEFERRABLE INITIALLY DEFERRED
                            FOR EACH ROW EXECUTE FUNCTION %s()', relation, fn);
            EXECUTE format('CREATE CONSTRAINT TRIGGER zz_snowflake_ids_4_update AFTER UPDATE ON %s DEFERRABLE INITIALLY DEFERRED
                            FOR EACH ROW WHEN (OLD.%I IS DISTINCT FROM NEW.%2$I) EXECUTE FUNCTION %s()', relation, k.attname, fn);
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER zz_snowflake_ids_4_delete, ENABLE ALWAYS TRIGGER zz_snowflake_ids_4_update', relation);
        END IF;
    END IF;

    FOR t IN EXECUTE format('SELECT rel, bool_and(early) AS early FROM %s.snowflake_ids_convert_columns($1, $2) WHERE NOT is_key GROUP BY rel', ext)
             USING relation, s.key_column LOOP
        body := '';
        late := '';
        changed := '';
        FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE NOT is_key AND rel = $3', ext)
                 USING relation, s.key_column, t.rel LOOP
            body := body || format($f$
    IF NEW.%1$I IS NULL THEN
        NEW.%2$I := NULL;
    ELSIF TG_OP = 'INSERT' OR NEW.%2$I IS NULL OR NEW.%1$I IS DISTINCT FROM OLD.%1$I THEN
        -- The lock is that of the foreign key: the row found is still the one that has this key when that is checked.
        NEW.%2$I := (SELECT k.%3$I FROM ONLY %4$s AS k WHERE k.%5$I = NEW.%1$I FOR KEY SHARE);$f$,
                c.attname, c.shadow, k.shadow, relation, k.attname)
            || CASE WHEN settled THEN format($f$
        IF NEW.%2$I IS NULL THEN
            -- All keys have their ids by now. A snapshot that is older fails here, rather than leave a gap.
            NEW.%2$I := (SELECT k.%3$I FROM ONLY %4$s AS k WHERE k.%5$I = NEW.%1$I FOR SHARE);
        END IF;$f$, c.attname, c.shadow, k.shadow, relation, k.attname) ELSE '' END
            || CASE WHEN t.rel = relation THEN format($f$
        IF NEW.%1$I = NEW.%2$I THEN
            NEW.%3$I := NEW.%4$I;
        END IF;$f$, c.attname, k.attname, c.shadow, k.shadow) ELSE '' END
            || '
    END IF;';
            late := late || format($f$
    IF NEW.%1$I IS NOT NULL AND NEW.%2$I IS NULL THEN
        UPDATE ONLY %6$s AS c SET %2$I = k.%3$I FROM ONLY %4$s AS k
        WHERE k.%5$I = c.%1$I AND c.%1$I = NEW.%1$I AND c.%2$I IS NULL;
    END IF;$f$, c.attname, c.shadow, k.shadow, relation, k.attname, t.rel);
            changed := changed || format('%sOLD.%2$I IS DISTINCT FROM NEW.%2$I OR NEW.%2$I IS NOT NULL AND NEW.%3$I IS NULL',
                                         CASE WHEN changed <> '' THEN ' OR ' ELSE '' END, c.attname, c.shadow);
        END LOOP;
        fn := format('%s.%I', key_schema, 'snowflake_ids_follow_' || relation::oid || '_' || t.rel::oid);
        EXECUTE format('CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
            fn, 'BEGIN' || body || E'\n    RETURN NEW;\nEND');
        IF NOT settled THEN
            EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', fn);
            EXECUTE format('ALTER FUNCTION %s() OWNER TO %I', fn, owner);
            EXECUTE format('CREATE TRIGGER zz_snowflake_ids_2_insert BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION %s()', t.rel, fn);
            EXECUTE format('CREATE TRIGGER zz_snowflake_ids_2_update BEFORE UPDATE ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()', t.rel, changed, fn);
            EXECUTE format('ALTER TABLE %1$s ENABLE ALWAYS TRIGGER zz_snowflake_ids_2_insert, ENABLE ALWAYS TRIGGER zz_snowflake_ids_2_update', t.rel);
        ELSIF NOT t.early THEN
            -- A row that comes before the one that it refers to is given its value when the transaction ends.
            fn := format('%s.%I', key_schema, 'snowflake_ids_late_' || relation::oid || '_' || t.rel::oid);
            EXECUTE format('CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
                fn, 'BEGIN' || late || E'\n    RETURN NULL;\nEND');
            EXECUTE format('REVOKE ALL ON FUNCTION %s() FROM PUBLIC', fn);
            EXECUTE format('ALTER FUNCTION %s() OWNER TO %I', fn, owner);
            EXECUTE format('CREATE CONSTRAINT TRIGGER zz_snowflake_ids_3_late AFTER INSERT OR UPDATE ON %s DEFERRABLE INITIALLY DEFERRED
                            FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()', t.rel,
                           (SELECT string_agg(format('NEW.%I IS NOT NULL AND NEW.%I IS NULL', attname, 'snowflake_ids_new_' || attnum), ' OR ')
                            FROM pg_attribute a WHERE attrelid = t.rel AND attnum > 0
                              AND EXISTS (SELECT FROM pg_attribute n WHERE n.attrelid = t.rel AND n.attname = 'snowflake_ids_new_' || a.attnum)), fn);
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER zz_snowflake_ids_3_late', t.rel);
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_triggers(regclass, boolean) IS 'internal: the triggers that fill the new columns; settled: all keys have their ids';

-- Locks all tables of a conversion, the key's first. Writers may lock them in another order, so it may take turns. Who
-- gives up runs no code of the tables, and may be a superuser; tables of others that refer to the key are none of it.
CREATE FUNCTION snowflake_ids_convert_lock(relation regclass, key_column name, mode text, giving_up boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
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
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
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

-- The second: one sorted pass over the key's table. Returns how many rows there are.
CREATE FUNCTION snowflake_ids_convert_number(relation regclass) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
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
    EXECUTE format('SELECT %s.snowflake_ids_convert_places($1, $2, $3, $4, $5, $6, $7, $8)', ext) INTO places
    USING relation, s.key_column, s.format, s.created_column, s.zone, s.metabyte, s.issued_after, format('%I IS NULL', k.shadow);
    map := (SELECT format('%I.%I', nspname, 'snowflake_ids_map_' || relation::oid)
            FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = relation);
    -- Rows may have changed since the plan, and go on changing. What is judged is what is numbered, in one snapshot: an id
    -- of a time that the generator has not reached would be issued again.
    EXECUTE format('CREATE TABLE %s AS SELECT n, old, CASE WHEN %s AND place / %s <= %s THEN %s END AS new FROM (%s) AS p', map,
                   CASE WHEN s.spill THEN 'tick IS NOT NULL' ELSE format('tick = place / %s', f.capacity) END, f.capacity,
                   floor((extract(epoch FROM s.issued_after) - extract(epoch FROM f.epoch)) * 1000 / f.tick_ms),
                   format(f.make, format('(place / %s)', f.capacity), format('place %% %s', f.capacity)), places);
    GET DIAGNOSTICS rows = ROW_COUNT;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE new IS NULL)', map) INTO misfit;
    IF misfit THEN
        EXECUTE format('SELECT string_agg(item, E''\n'') FROM %s.snowflake_ids_convert_misfits($1, $2, $3, $4, $5, $6, $7, $8, $9) WHERE kind = ''problem''', ext)
        INTO problem
        USING relation, s.key_column, s.format, s.created_column, s.zone, s.metabyte, s.spill, s.issued_after, format('%I IS NULL', k.shadow);
        RAISE EXCEPTION 'cannot go on converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = coalesce(problem, format('Times in %I changed while the rows were numbered.', s.created_column)),
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
    EXECUTE format('ALTER TABLE %s ADD PRIMARY KEY (n)', map);
    EXECUTE format('ANALYZE %s', map);
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_number(regclass) IS 'internal: gives each row its id, in a table beside';

-- One batch of keys, from the given number on. Returns how many rows it wrote. The planner has no statistics of the new
-- column, and would read the whole table to find those that are null: a batch goes from its numbers to the key's index.
CREATE FUNCTION snowflake_ids_convert_fill(relation regclass, first bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
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
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
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
    EXECUTE format('SELECT string_agg(format(''%%1$I = (SELECT k.%%2$I FROM ONLY %%3$s AS k WHERE k.%%4$I = c.%%5$I)'', shadow, $4, $1, $2, attname), '', ''),
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
