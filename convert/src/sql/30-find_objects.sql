-- Finds the objects of a conversion: tables, the key, columns that refer to it, triggers, indexes and statistics.

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

CREATE FUNCTION snowflake_ids_convert.statistics(target regclass, attnums smallint[]) RETURNS SETOF pg_statistic_ext
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT *
    FROM pg_statistic_ext e
    WHERE e.stxrelid = target AND snowflake_ids_convert.uses_columns('pg_statistic_ext', e.oid, target, attnums)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.statistics
    IS 'internal: extended statistics of the table that are about one of these columns';
