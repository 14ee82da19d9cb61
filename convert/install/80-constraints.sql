-- Constraints and indexes on the new columns, made before the last lock.

-- Checks on columns that are converted, as they will be. The twin is such a check on the new columns, made before the
-- last lock, which takes its name then. There is none where a new column may be filled later than its row is written,
-- and none for a check that is not valid itself.
CREATE FUNCTION snowflake_ids_convert.checks(
    j snowflake_ids_convert.job,
    OUT rel regclass, OUT oid oid, OUT name name, OUT condition text, OUT twin name, OUT made boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    t record;
    definitions jsonb;
BEGIN
    FOR t IN SELECT c.rel, array_agg(c.attnum) AS attnums, array_agg(c.attnum) FILTER (WHERE NOT c.at_once) AS late
             FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) c
             WHERE EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.rel AND k.contype = 'c' AND k.convalidated
                           AND c.attnum = ANY (k.conkey) AND k.conname !~ '^snowflake_ids_check_')
             GROUP BY c.rel ORDER BY c.rel LOOP
        definitions := snowflake_ids_convert.rehearse(j, t.rel);
        RETURN QUERY
        SELECT t.rel::regclass, k.oid, k.conname, definitions ->> ('check ' || k.oid),
               CASE WHEN j.keep_position OR k.conkey && t.late THEN NULL ELSE ('snowflake_ids_check_of_' || k.oid)::name END,
               w.oid IS NOT NULL, coalesce(w.convalidated, false)
        FROM pg_constraint k LEFT JOIN pg_constraint w ON w.conrelid = k.conrelid AND w.conname = 'snowflake_ids_check_of_' || k.oid
        WHERE k.conrelid = t.rel AND k.contype = 'c' AND k.convalidated AND k.conkey && t.attnums
          AND k.conname !~ '^snowflake_ids_check_' ORDER BY k.conname;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.checks(snowflake_ids_convert.job) IS 'internal: checks on the columns of a conversion, as they are on the new columns';

-- Error if a check does not hold for the new values. Those with a valid twin do.
CREATE FUNCTION snowflake_ids_convert.refuse_violations(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    c record;
    violated boolean;
    problem text;
BEGIN
    FOR c IN SELECT * FROM snowflake_ids_convert.checks(j) WHERE NOT valid LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE NOT (%s))', c.rel, c.condition) INTO violated;
        IF violated THEN
            problem := concat_ws(E'\n', problem, format('table %s: new values of rows violate check constraint %I', c.rel, c.name));
        END IF;
    END LOOP;
    PERFORM snowflake_ids_convert.refuse(j, problem);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_violations(snowflake_ids_convert.job) IS 'internal: error if the new values violate a check of their table';

-- Constraints that spare the last lock a reading of the tables: not null, and twins of checks. They are not valid yet.
CREATE FUNCTION snowflake_ids_convert.make_checks(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[];
    statement text;
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(j);
    -- Before writers meet a check that does not hold.
    PERFORM snowflake_ids_convert.refuse_violations(j);
    statements := ARRAY(
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, 'snowflake_ids_check_' || attnum,
                      CASE WHEN not_null THEN format('%I IS NOT NULL', shadow) ELSE format('(%I IS NULL) = (%I IS NULL)', attname, shadow) END)
        FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE at_once
        UNION ALL
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, twin, condition)
        FROM snowflake_ids_convert.checks(j) WHERE twin IS NOT NULL AND NOT made);
    PERFORM snowflake_ids_convert.lock_all(j, 'ACCESS EXCLUSIVE');
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_checks(snowflake_ids_convert.job) IS 'internal: constraints on the new columns';

CREATE FUNCTION snowflake_ids_convert.validate_checks(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', conrelid::regclass, conname)
        FROM pg_constraint JOIN snowflake_ids_convert.tables(j.relation, j.key_attnum) t ON t.rel = conrelid
        WHERE contype = 'c' AND conname ~ '^snowflake_ids_check_' AND NOT convalidated
        UNION ALL
        SELECT format('ANALYZE %s (%I)', rel, shadow) FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_checks(snowflake_ids_convert.job) IS 'internal: validates the constraints on the new columns, and analyzes them';

-- Indexes on the new columns, as those on the old: state is null for one that is not there, false for one that was left
-- invalid by a CREATE INDEX CONCURRENTLY that failed, true for one that can be used.
CREATE FUNCTION snowflake_ids_convert.new_indexes(
    j snowflake_ids_convert.job, OUT rel regclass, OUT old regclass, OUT name text, OUT state boolean, OUT definition text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    t record;
    definitions jsonb;
BEGIN
    FOR t IN SELECT c.rel, c.attnums, n.nspname FROM snowflake_ids_convert.tables(j.relation, j.key_attnum) c
             JOIN pg_class p ON p.oid = c.rel JOIN pg_namespace n ON n.oid = p.relnamespace LOOP
        definitions := snowflake_ids_convert.rehearse(j, t.rel);
        RETURN QUERY
        SELECT t.rel::regclass, x.index, format('%I.%I', t.nspname, 'snowflake_ids_index_' || x.index::oid), n.indisvalid,
               format('CREATE %sINDEX {concurrently}%I ON %s %s', CASE WHEN x.is_unique THEN 'UNIQUE ' END,
                      'snowflake_ids_index_' || x.index::oid, t.rel, definitions ->> x.index::oid::text)
        FROM snowflake_ids_convert.indexes(t.rel, t.attnums) x
             LEFT JOIN (pg_index n JOIN pg_class c ON c.oid = n.indexrelid)
             ON n.indrelid = t.rel AND c.relname = 'snowflake_ids_index_' || x.index::oid
        ORDER BY x.index;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.new_indexes(snowflake_ids_convert.job) IS 'internal: indexes on the new columns, and those that are to be made';

-- The statements that are left to run, for any client.
CREATE FUNCTION snowflake_ids_convert.index_statements(j snowflake_ids_convert.job, build_concurrently boolean) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    i record;
    word text := CASE WHEN build_concurrently THEN 'CONCURRENTLY ' ELSE '' END;
BEGIN
    FOR i IN SELECT * FROM snowflake_ids_convert.new_indexes(j) WHERE state IS NOT TRUE LOOP
        IF i.state IS FALSE THEN
            RETURN NEXT format('DROP INDEX %s%s', word, i.name);
        END IF;
        RETURN NEXT replace(i.definition, '{concurrently}', word);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.index_statements(snowflake_ids_convert.job, boolean) IS 'internal: statements that make the indexes that are missing';
