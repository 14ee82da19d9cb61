-- The tables of a conversion: the key, the columns that refer to it, their indexes, and locks.

-- The triggers that 70-triggers.sql makes. Other roles can create similar ones, on their own tables or with the TRIGGER
-- privilege, but only the owner can make one fire always (tgenabled A). So only these count, on tables of the role that
-- runs the conversion.
CREATE FUNCTION snowflake_ids_convert.triggers(
    converted regclass, OUT rel regclass, OUT name name, OUT function name, OUT relation regclass, OUT attnum smallint
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT g.tgrelid, g.tgname, p.proname, arguments.n[1]::oid::regclass,
           CASE WHEN p.proname IN ('key', 'follow') THEN coalesce(arguments.n[3], arguments.n[2])::smallint END
    FROM pg_trigger g
         JOIN pg_class c ON c.oid = g.tgrelid AND pg_get_userbyid(c.relowner) = current_user
         JOIN pg_proc p ON p.oid = g.tgfoid
         CROSS JOIN LATERAL (
             SELECT regexp_match(encode(g.tgargs, 'escape'), '^(\d+)\\000(\d+)\\000(?:(\d+)\\000)?')
         ) AS arguments (n)
    WHERE p.pronamespace = 'snowflake_ids_convert'::regnamespace
      AND g.tgname ~ '^zz_snowflake_ids_'
      AND g.tgenabled = 'A'
      AND (converted IS NULL OR arguments.n[1] = converted::oid::text)
    ORDER BY 1, 2
$$;
COMMENT ON FUNCTION snowflake_ids_convert.triggers
    IS 'internal: triggers of one conversion, or of all conversions if the argument is null';

-- attname is null if the old column was dropped.
CREATE FUNCTION snowflake_ids_convert.added_columns(
    relation regclass, OUT rel regclass, OUT attnum smallint, OUT attname name, OUT shadow name
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT g.rel, g.attnum, o.attname, n.attname
    FROM snowflake_ids_convert.triggers(relation) g
         JOIN pg_attribute n
         ON n.attrelid = g.rel AND n.attname = 'snowflake_ids_new_' || g.attnum AND NOT n.attisdropped
         LEFT JOIN pg_attribute o
         ON o.attrelid = g.rel AND o.attnum = g.attnum AND NOT o.attisdropped
$$;
COMMENT ON FUNCTION snowflake_ids_convert.added_columns
    IS 'internal: columns to which a conversion has added a new one';

-- The key, and all columns that refer to it through foreign keys, directly or through others.
--
-- at_once: the new value is written with its row, because the referenced row is never written later. depth: foreign
-- keys up to the key's table.
-- collate: the key's collation, which the foreign key uses. filled: false if the foreign key was added during the
-- conversion, so there is no new column.
CREATE FUNCTION snowflake_ids_convert.columns(
    job snowflake_ids_convert.job,
    OUT rel regclass, OUT attnum smallint, OUT attname name, OUT shadow name, OUT is_key boolean, OUT not_null boolean,
    OUT at_once boolean, OUT depth integer, OUT "collate" text, OUT filled boolean
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH RECURSIVE reference (rel, attnum, path) AS (
        SELECT a.attrelid, a.attnum, ARRAY[format('%s %s', a.attrelid, a.attnum)]
        FROM pg_attribute a
        WHERE a.attrelid = job.relation AND a.attnum = job.key_attnum AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT f.conrelid, k.att, r.path || format('%s %s', f.conrelid, k.att)
        FROM reference r
             JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = r.rel
             CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
        WHERE k.ref = r.attnum
          AND format('%s %s', f.conrelid, k.att) <> ALL (r.path)
    ), c AS (
        SELECT r.rel, r.attnum, min(min(cardinality(r.path))) OVER (PARTITION BY r.rel)::int AS depth
        FROM reference r
        GROUP BY r.rel, r.attnum
    )
    SELECT c.rel, c.attnum, a.attname,
           ('snowflake_ids_new_' || c.attnum)::name,
           c.rel = job.relation AND c.attnum = job.key_attnum,
           a.attnotnull,
           NOT EXISTS (SELECT
                       FROM pg_constraint f
                       WHERE f.contype = 'f'
                         AND f.conrelid = c.rel
                         AND c.attnum = ANY (f.conkey)
                         AND (f.condeferrable OR f.confrelid = f.conrelid)),
           c.depth,
           coalesce((SELECT format(' COLLATE %I.%I', n.nspname, o.collname)
                     FROM pg_attribute k
                          JOIN pg_collation o ON o.oid = k.attcollation
                          JOIN pg_namespace n ON n.oid = o.collnamespace
                     WHERE k.attrelid = job.relation AND k.attnum = job.key_attnum), ''),
           (c.rel::oid, c.attnum) IN (SELECT n.rel::oid, n.attnum
                                      FROM snowflake_ids_convert.added_columns(job.relation) n)
    FROM c
         JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
    ORDER BY c.depth, c.rel, c.attnum
$$;
COMMENT ON FUNCTION snowflake_ids_convert.columns IS 'internal: a key and the columns that refer to it';

-- In the order in which most transactions write: the key's table, then what refers to it.
CREATE FUNCTION snowflake_ids_convert.tables(
    job snowflake_ids_convert.job, OUT rel regclass, OUT attnums smallint[]
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT c.rel, array_agg(c.attnum ORDER BY c.attnum)
    FROM snowflake_ids_convert.columns(job) c
    GROUP BY c.rel
    ORDER BY min(c.depth), c.rel
$$;
COMMENT ON FUNCTION snowflake_ids_convert.tables IS 'internal: the tables of a key and of the columns that refer to it';

CREATE FUNCTION snowflake_ids_convert.uses_columns(class regclass, object oid, target regclass, attnums smallint[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT EXISTS (SELECT
                   FROM pg_depend d
                   WHERE d.classid = class
                     AND d.objid = object
                     AND d.refclassid = 'pg_class'::regclass
                     AND d.refobjid = target
                     AND d.refobjsubid = ANY (attnums))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.uses_columns
    IS 'internal: whether an object depends on one of these columns of a table';

-- definition_end: after the name of the table, from USING on.
CREATE FUNCTION snowflake_ids_convert.indexes(
    target regclass, attnums smallint[],
    OUT index regclass, OUT definition_end text, OUT is_unique boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT i.indexrelid,
           substr(pg_get_indexdef(i.indexrelid),
                  length(format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                                c.relname, n.nspname, t.relname)) + 1),
           i.indisunique,
           i.indisvalid
    FROM pg_index i
         JOIN pg_class c ON c.oid = i.indexrelid
         JOIN pg_class t ON t.oid = i.indrelid
         JOIN pg_namespace n ON n.oid = t.relnamespace
    WHERE i.indrelid = target
      AND c.relname !~ '^snowflake_ids_index_'
      AND (string_to_array(i.indkey::text, ' ')::int2[] && attnums
           OR snowflake_ids_convert.uses_columns('pg_class', i.indexrelid, target, attnums))
    ORDER BY i.indexrelid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.indexes
    IS 'internal: indexes that use some columns of a table, and the ends of their definitions';

-- The tables must belong to the role that runs the conversion, and what earlier phases made must exist.
CREATE FUNCTION snowflake_ids_convert.owner_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN QUERY
    SELECT format('table %s: refers to the key, but its owner is %I, not %I', t.rel, pg_get_userbyid(c.relowner),
                  current_user)
    FROM snowflake_ids_convert.tables(job) t
         JOIN pg_class c ON c.oid = t.rel
    WHERE pg_get_userbyid(c.relowner) <> current_user
    ORDER BY t.rel;
    RETURN QUERY
    SELECT format('table %s: is not being converted, or lost the trigger zz_snowflake_ids_1_key', job.relation)
    WHERE job.phase <> 'prepare'
      AND NOT EXISTS (SELECT FROM snowflake_ids_convert.columns(job) WHERE is_key AND filled);
    RETURN QUERY
    SELECT format('table %s: there is no table %I that belongs to %I', job.relation,
                  'snowflake_ids_map_' || job.relation::oid, current_user)
    WHERE job.phase NOT IN ('prepare', 'number') AND job.map IS NULL;
    -- The triggers still fill this column, but the changeover would not replace it.
    RETURN QUERY
    SELECT format('table %s: column %I no longer refers to the key; add its foreign key again', a.rel,
                  coalesce(a.attname, a.shadow))
    FROM snowflake_ids_convert.added_columns(job.relation) a
    WHERE (a.rel::oid, a.attnum) NOT IN (SELECT c.rel::oid, c.attnum FROM snowflake_ids_convert.columns(job) c)
    ORDER BY a.rel, a.attnum;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.owner_problems
    IS 'internal: tables of other owners, and what the conversion has made and lost';

-- Others can write to the tables but not alter them. Writers do not queue behind this lock.
CREATE FUNCTION snowflake_ids_convert.lock_definitions(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', rel)
        FROM snowflake_ids_convert.tables(job)));
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_definitions
    IS 'internal: prevents others from altering the tables of a conversion';

-- While a strong lock waits, other sessions queue behind it. So requests for all tables together wait at most 50 ms,
-- and are repeated after a pause. The caller's lock_timeout limits the whole time; 0 means no limit.
CREATE FUNCTION snowflake_ids_convert.lock_writers_out(tables regclass[], mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    time_limit text := current_setting('lock_timeout');
    begun timestamptz := clock_timestamp();
    last_notice timestamptz := begun;
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
            IF time_limit <> '0' AND clock_timestamp() - begun > time_limit::interval THEN
                PERFORM snowflake_ids_convert.fail(
                    '55P03', format('could not lock %s within lock_timeout', target),
                    detail => format('Other transactions have used the table for %s.', time_limit),
                    hint => 'Call again when they have ended, or increase lock_timeout. pg_locks shows them.');
            ELSIF clock_timestamp() - last_notice > interval '10 s' THEN
                last_notice := clock_timestamp();
                RAISE NOTICE 'waiting for transactions that use %', target;
            END IF;
        END;
        PERFORM pg_sleep(pause * (0.5 + random()));
        pause := least(pause * 2, 1);
    END LOOP;
    PERFORM set_config('lock_timeout', time_limit, true);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_writers_out
    IS 'internal: takes a strong lock; others wait behind the request for 50 ms at most';

CREATE FUNCTION snowflake_ids_convert.lock_all(job snowflake_ids_convert.job, mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_writers_out(
        ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job)), mode);
    -- From here on, no other role can add a foreign key to the key.
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_all IS 'internal: takes a strong lock on all tables of a conversion';
