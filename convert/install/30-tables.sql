-- The tables of a conversion: the key, what refers to it, and their indexes.

-- The key, and all columns that refer to it through foreign keys, directly or through others.
--
-- at_once: the new value is there as soon as a row is; not so where the row that is referred to may come later. depth:
-- how many foreign keys the table is from the key's table. collate: columns may have another collation than the key
-- that they refer to; as in the foreign key, that of the key decides.
CREATE FUNCTION snowflake_ids_convert.columns(
    relation regclass, key_attnum smallint,
    OUT rel regclass, OUT attnum smallint, OUT attname name, OUT shadow name, OUT is_key boolean, OUT not_null boolean,
    OUT at_once boolean, OUT depth integer, OUT "collate" text
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH RECURSIVE reference (rel, attnum, path) AS (
        SELECT a.attrelid, a.attnum, ARRAY[format('%s %s', a.attrelid, a.attnum)] FROM pg_attribute a
        WHERE a.attrelid = relation AND a.attnum = key_attnum AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT f.conrelid, k.att, r.path || format('%s %s', f.conrelid, k.att)
        FROM reference r JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = r.rel
             CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
        WHERE k.ref = r.attnum AND format('%s %s', f.conrelid, k.att) <> ALL (r.path)),
    c AS (SELECT r.rel, r.attnum, min(min(cardinality(r.path))) OVER (PARTITION BY r.rel)::int AS depth FROM reference r GROUP BY r.rel, r.attnum)
    SELECT c.rel, c.attnum, a.attname, ('snowflake_ids_new_' || c.attnum)::name, c.rel = relation AND c.attnum = key_attnum, a.attnotnull,
           NOT EXISTS (SELECT FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = c.rel AND c.attnum = ANY (f.conkey)
                       AND (f.condeferrable OR f.confrelid = f.conrelid)),
           c.depth,
           coalesce((SELECT format(' COLLATE %I.%I', n.nspname, o.collname)
                     FROM pg_attribute k JOIN pg_collation o ON o.oid = k.attcollation JOIN pg_namespace n ON n.oid = o.collnamespace
                     WHERE k.attrelid = relation AND k.attnum = key_attnum), '')
    FROM c JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
    ORDER BY c.depth, c.rel, c.attnum
$$;
COMMENT ON FUNCTION snowflake_ids_convert.columns(regclass, smallint) IS 'internal: a key and the columns that refer to it';

-- Their tables, in the order in which a transaction that writes all of them begins: the key's table, then what refers to it.
CREATE FUNCTION snowflake_ids_convert.tables(relation regclass, key_attnum smallint, OUT rel regclass, OUT attnums smallint[])
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT c.rel, array_agg(c.attnum ORDER BY c.attnum) FROM snowflake_ids_convert.columns(relation, key_attnum) c
    GROUP BY c.rel ORDER BY min(c.depth), c.rel
$$;
COMMENT ON FUNCTION snowflake_ids_convert.tables(regclass, smallint) IS 'internal: the tables of a key and of the columns that refer to it';

-- Those of the columns that have a new one beside them: others may have come to refer to the key since.
CREATE FUNCTION snowflake_ids_convert.filled_columns(relation regclass, key_attnum smallint)
RETURNS TABLE (rel regclass, attnum smallint, attname name, shadow name, is_key boolean, not_null boolean, at_once boolean, depth integer, "collate" text)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT c.* FROM snowflake_ids_convert.columns(relation, key_attnum) c
    WHERE EXISTS (SELECT FROM pg_attribute n WHERE n.attrelid = c.rel AND n.attname = c.shadow AND NOT n.attisdropped)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.filled_columns(regclass, smallint) IS 'internal: a key and the columns that refer to it, with new ones beside them';

-- Columns that referred to the key when the conversion began, and do not any more. Triggers follow the key in all of
-- them, and the last step writes those that are left.
CREATE FUNCTION snowflake_ids_convert.lost_columns(
    relation regclass, key_attnum smallint, OUT rel regclass, OUT attnum smallint, OUT attname name, OUT shadow name
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT n.attrelid, f.attnum, o.attname, n.attname
    FROM snowflake_ids_convert.my_conversion s
         CROSS JOIN LATERAL (SELECT (c ->> 0)::oid, (c ->> 1)::int2 FROM jsonb_array_elements(s.filled) AS c) AS f (rel, attnum)
         JOIN pg_attribute n ON n.attrelid = f.rel AND n.attname = 'snowflake_ids_new_' || f.attnum AND NOT n.attisdropped
         LEFT JOIN pg_attribute o ON o.attrelid = f.rel AND o.attnum = f.attnum AND NOT o.attisdropped
    WHERE s.relation = lost_columns.relation
      AND NOT EXISTS (SELECT FROM snowflake_ids_convert.columns(lost_columns.relation, lost_columns.key_attnum) c
                      WHERE c.rel = f.rel AND c.attnum = f.attnum)
    ORDER BY 1, 2
$$;
COMMENT ON FUNCTION snowflake_ids_convert.lost_columns(regclass, smallint) IS 'internal: columns that do not refer to the key any more';

-- Indexes that a conversion has to make again. The definition of an index is taken apart after its USING.
CREATE FUNCTION snowflake_ids_convert.indexes(
    target regclass, attnums smallint[], OUT index regclass, OUT rest text, OUT is_unique boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT i.indexrelid,
           substr(pg_get_indexdef(i.indexrelid),
                  length(format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' END, c.relname,
                                tn.nspname, t.relname)) + 1),
           i.indisunique, i.indisvalid
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
    WHERE i.indrelid = target AND c.relname !~ '^snowflake_ids_index_'
      AND (string_to_array(i.indkey::text, ' ')::int2[] && attnums
           OR EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
                      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = target AND d.refobjsubid = ANY (attnums)))
    ORDER BY i.indexrelid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.indexes(regclass, smallint[]) IS 'internal: indexes on some columns of a table, and their definitions from USING on';

-- A step evaluates code of the tables: their checks, expressions of their indexes, their triggers. It has the rights of
-- the caller, so the caller must be the owner of all of them, no less and no more.
CREATE FUNCTION snowflake_ids_convert.owner_problems(j snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = j.relation);
    t record;
BEGIN
    IF owner <> current_user THEN
        RETURN NEXT format('table %s: must be its owner; first SET ROLE %I', j.relation, owner);
    END IF;
    FOR t IN SELECT c.rel, pg_get_userbyid(p.relowner) AS owner
             FROM snowflake_ids_convert.tables(j.relation, j.key_attnum) c JOIN pg_class p ON p.oid = c.rel ORDER BY c.rel LOOP
        IF t.owner <> owner THEN
            RETURN NEXT format('table %s: refers to the key, and belongs to %I, not to %I', t.rel, t.owner, owner);
        END IF;
    END LOOP;
    FOR t IN SELECT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE oid = j.map LOOP
        IF t.owner <> owner THEN
            RETURN NEXT format('table %s: belongs to %I; first ALTER TABLE %s OWNER TO %I', j.map, t.owner, j.map, owner);
        END IF;
    END LOOP;
    FOR t IN SELECT rel, coalesce(attname, shadow) AS name FROM snowflake_ids_convert.lost_columns(j.relation, j.key_attnum) LOOP
        RETURN NEXT format('table %s: column %I referred to the key when the conversion began, and does not now; give it its foreign key again', t.rel, t.name);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.owner_problems(snowflake_ids_convert.job) IS 'internal: tables that are not the caller''s own, or that the conversion has lost';

CREATE FUNCTION snowflake_ids_convert.refuse(j snowflake_ids_convert.job, problems text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF problems IS NOT NULL THEN
        RAISE EXCEPTION 'cannot go on converting %', j.relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problems,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse(snowflake_ids_convert.job, text) IS 'internal: error with these problems, if there are any';

-- A lock that keeps others from altering the tables, but not from writing. Waiting for it makes no writer wait.
CREATE FUNCTION snowflake_ids_convert.lock_definitions(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    target regclass;
BEGIN
    FOR target IN SELECT rel FROM snowflake_ids_convert.tables(j.relation, j.key_attnum) LOOP
        EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', target);
    END LOOP;
    PERFORM snowflake_ids_convert.refuse(j, (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.owner_problems(j) AS p));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_definitions(snowflake_ids_convert.job) IS 'internal: keeps others from altering the tables of a conversion';

-- A strong lock on tables. Whoever comes after a waiting lock waits behind it, so it is asked for during 50 ms at most, all
-- tables together, and then again after a pause. The caller's lock_timeout says for how long; 0 is without an end.
CREATE FUNCTION snowflake_ids_convert.lock_writers_out(tables regclass[], mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    patience text := current_setting('lock_timeout');
    asked timestamptz := clock_timestamp();
    told timestamptz := asked;
    pause float8 := 0.05;
    target regclass;
BEGIN
    PERFORM set_config('lock_timeout', greatest(5, 50 / greatest(cardinality(tables), 1)) || 'ms', true);
    LOOP
        BEGIN
            FOREACH target IN ARRAY tables LOOP
                EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', target, mode);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF patience <> '0' AND clock_timestamp() - asked > patience::interval THEN
                RAISE EXCEPTION 'could not lock % within lock_timeout', target
                    USING ERRCODE = 'lock_not_available', DETAIL = format('Transactions that use it have not ended in %s.', patience),
                          HINT = 'Call again when they have; pg_blocking_pids() and pg_locks tell which they are.';
            ELSIF clock_timestamp() - told > interval '10 s' THEN
                told := clock_timestamp();
                RAISE NOTICE 'waiting for transactions that use %', target;
            END IF;
        END;
        PERFORM pg_sleep(pause * (0.5 + random()));
        pause := least(pause * 2, 1);
    END LOOP;
    PERFORM set_config('lock_timeout', patience, true);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_writers_out(regclass[], text) IS 'internal: a strong lock that makes others wait 50 ms at most';

-- All tables of a conversion, which others cannot alter any more.
CREATE FUNCTION snowflake_ids_convert.lock_all(j snowflake_ids_convert.job, mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_writers_out(ARRAY(SELECT rel FROM snowflake_ids_convert.tables(j.relation, j.key_attnum)), mode);
    -- From here on no table of another can come to refer to the key.
    PERFORM snowflake_ids_convert.refuse(j, (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.owner_problems(j) AS p));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_all(snowflake_ids_convert.job, text) IS 'internal: a strong lock on all tables of a conversion';
