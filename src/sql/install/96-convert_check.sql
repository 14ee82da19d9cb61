-- Converting a key: whether the new ids have the times of their rows, and the checks of the tables hold for them.

-- Checks on columns that are converted, as they will be. The twin is such a check on the new columns, made before the
-- last lock, which takes its name then. There is none where a new column may be filled later than its row is written,
-- and none for a check that is not valid itself.
CREATE FUNCTION snowflake_ids_convert_checks(
    relation regclass, OUT rel regclass, OUT oid oid, OUT name name, OUT condition text, OUT twin name, OUT made boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    t record;
    definitions jsonb;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    FOR t IN EXECUTE format('SELECT c.rel, array_agg(c.attnum) AS attnums, array_agg(c.attnum) FILTER (WHERE NOT c.early) AS late
                             FROM %s.snowflake_ids_convert_columns($1, $2) c
                             WHERE EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.rel AND k.contype = ''c'' AND k.convalidated
                                           AND c.attnum = ANY (k.conkey) AND k.conname !~ ''^snowflake_ids_check_'')
                             GROUP BY c.rel ORDER BY c.rel', ext) USING relation, s.key_column LOOP
        EXECUTE format('SELECT %s.snowflake_ids_convert_rehearse($1, $2, $3, $4)', ext) INTO definitions
        USING relation, s.key_column, t.rel, f.type;
        RETURN QUERY
        SELECT t.rel::regclass, k.oid, k.conname, definitions ->> ('check ' || k.oid),
               CASE WHEN s.keep_position OR k.conkey && t.late THEN NULL ELSE ('snowflake_ids_check_of_' || k.oid)::name END,
               w.oid IS NOT NULL, coalesce(w.convalidated, false)
        FROM pg_constraint k LEFT JOIN pg_constraint w ON w.conrelid = k.conrelid AND w.conname = 'snowflake_ids_check_of_' || k.oid
        WHERE k.conrelid = t.rel AND k.contype = 'c' AND k.convalidated AND k.conkey && t.attnums
          AND k.conname !~ '^snowflake_ids_check_' ORDER BY k.conname;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_checks(regclass) IS 'internal: checks on the columns of a conversion, as they are on the new columns';

-- Reads the ids that were made, as everybody will, and compares them with the times of their rows: right after they were
-- made, and again before the new columns take the places of the old ones. A row has the tick of its time; one that was
-- moved has the tick after that of the row C places before it, if C ids fit into a tick.
CREATE FUNCTION snowflake_ids_convert_verify(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    s record;
    f record;
    wrong record;
    map text;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_my_conversions WHERE relation = $1', ext) INTO s USING relation;
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING s.format, s.metabyte;
    EXECUTE format('SELECT name FROM %s.snowflake_ids_convert_things($1, $2) WHERE kind = ''table''', ext) INTO map USING relation, s.key_column;
    EXECUTE format('SELECT old, created, time FROM (SELECT *, %1$s AS time FROM %2$s) AS m
                    WHERE time IS DISTINCT FROM date_bin($1, created, $2)
                      AND (coalesce(time <= created, true) OR NOT EXISTS (SELECT FROM %2$s AS earlier WHERE n = m.n - $3 AND %1$s = m.time - $1))
                    ORDER BY n LIMIT 1', format(f.read, 'new'), map)
    INTO wrong USING make_interval(secs => f.tick_ms / 1000.0), f.epoch, f.capacity;
    IF wrong.created IS NOT NULL THEN
        RAISE EXCEPTION 'cannot go on converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('The row with key %s is of %s, and its new id of %s.', wrong.old, wrong.created, wrong.time),
                  HINT = 'Nothing is lost: the old keys are in place. Give up with snowflake_ids_convert_undo(), and begin again.';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_verify(regclass) IS 'internal: error if an id that was made is not of the time of its row';

-- Which of the checks do not hold for the new values. Those with a valid twin do.
CREATE FUNCTION snowflake_ids_convert_violated(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    c record;
    violated boolean;
    problem text;
BEGIN
    FOR c IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_checks($1) WHERE NOT valid', ext) USING relation LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE NOT (%s))', c.rel, c.condition) INTO violated;
        IF violated THEN
            problem := concat_ws(E'\n', problem, format('table %s: new values of rows violate check constraint %I', c.rel, c.name));
        END IF;
    END LOOP;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'cannot go on converting %', relation
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = problem,
                  HINT = 'Mend these and call again, or give up with snowflake_ids_convert_undo().';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_violated(regclass) IS 'internal: error if the new values violate a check of their table';

-- Columns that referred to the key when the conversion began, and do not any more. What follows the key is written for
-- all of them, and what is at the end is written for those that are left.
CREATE FUNCTION snowflake_ids_convert_dropped(
    relation regclass, key_column name, OUT rel regclass, OUT attnum text, OUT attname name, OUT shadow name
) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT g.tgrelid::regclass, substring(a.attname FROM ''\d+$''), o.attname, a.attname
         FROM %1$s.snowflake_ids_convert_things($1, $2) t JOIN pg_trigger g ON g.tgfoid = t.thing AND g.tgname = ''zz_snowflake_ids_2_insert''
              JOIN pg_attribute a ON a.attrelid = g.tgrelid AND a.attname ~ ''^snowflake_ids_new_\d+$'' AND NOT a.attisdropped
              LEFT JOIN pg_attribute o ON o.attrelid = a.attrelid AND o.attnum::text = substring(a.attname FROM ''\d+$'') AND NOT o.attisdropped
         WHERE t.kind = ''function''
           AND NOT EXISTS (SELECT FROM %1$s.snowflake_ids_convert_columns($1, $2) c WHERE c.rel = a.attrelid AND c.shadow = a.attname)
           -- The key of a conversion of its own
           AND NOT EXISTS (SELECT FROM %1$s.snowflake_ids_convert_progress s
                           WHERE s.relation = a.attrelid AND s.key_column = o.attname AND s.phase <> ''done'')
         ORDER BY 1, 4', ext) USING relation, key_column;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_dropped(regclass, name) IS 'internal: columns that do not refer to the key any more';
