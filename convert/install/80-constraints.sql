-- Constraints and indexes on the new columns, made before the changeover.

-- CHECK constraints on the converted columns, written for the new columns. A twin is such a check on the new columns;
-- the changeover only renames it. There is no twin if a new column may be filled later than its row is written, or if
-- the old check is not valid.
CREATE FUNCTION snowflake_ids_convert.checks(
    job snowflake_ids_convert.job,
    OUT rel regclass, OUT oid oid, OUT name name, OUT condition text,
    OUT twin name, OUT made boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    tbl record;
    definitions jsonb;
BEGIN
    FOR tbl IN
        SELECT c.rel, array_agg(c.attnum) AS attnums, array_agg(c.attnum) FILTER (WHERE NOT c.at_once) AS late
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
        WHERE EXISTS (SELECT
                      FROM pg_constraint k
                      WHERE k.conrelid = c.rel
                        AND k.contype = 'c'
                        AND k.convalidated
                        AND c.attnum = ANY (k.conkey)
                        AND k.conname !~ '^snowflake_ids_check_')
        GROUP BY c.rel
        ORDER BY c.rel
    LOOP
        definitions := snowflake_ids_convert.rehearse(job, tbl.rel);
        RETURN QUERY
        SELECT tbl.rel::regclass, k.oid, k.conname,
               definitions ->> ('check ' || k.oid),
               CASE WHEN NOT job.keep_position AND NOT coalesce(k.conkey && tbl.late, false)
                    THEN ('snowflake_ids_check_of_' || k.oid)::name
               END,
               made_twin.oid IS NOT NULL,
               coalesce(made_twin.convalidated, false)
        FROM pg_constraint k
             LEFT JOIN pg_constraint made_twin
             ON made_twin.conrelid = k.conrelid AND made_twin.conname = 'snowflake_ids_check_of_' || k.oid
        WHERE k.conrelid = tbl.rel
          AND k.contype = 'c'
          AND k.convalidated
          AND k.conkey && tbl.attnums
          AND k.conname !~ '^snowflake_ids_check_'
        ORDER BY k.conname;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.checks(snowflake_ids_convert.job)
    IS 'internal: checks on the columns of a conversion, written for the new columns';

-- If a check has a valid twin, the new values satisfy it.
CREATE FUNCTION snowflake_ids_convert.refuse_violations(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    old_check record;
    violated boolean;
    problems text;
BEGIN
    FOR old_check IN SELECT * FROM snowflake_ids_convert.checks(job) WHERE NOT valid LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s WHERE NOT (%s))', old_check.rel, old_check.condition)
        INTO violated;
        IF violated THEN
            problems := concat_ws(E'\n', problems,
                                  format('table %s: new values of rows violate check constraint %I',
                                         old_check.rel, old_check.name));
        END IF;
    END LOOP;
    PERFORM snowflake_ids_convert.refuse(job, problems);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_violations(snowflake_ids_convert.job)
    IS 'internal: error if the new values violate a check of their table';

-- With these constraints, the changeover need not read the tables. They are not valid yet.
CREATE FUNCTION snowflake_ids_convert.make_checks(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[];
    statement text;
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    -- From here on, writers would fail if the new values violated a check.
    PERFORM snowflake_ids_convert.refuse_violations(job);
    statements := ARRAY(
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, 'snowflake_ids_check_' || attnum,
                      CASE WHEN not_null THEN format('%I IS NOT NULL', shadow)
                           ELSE format('(%I IS NULL) = (%I IS NULL)', attname, shadow)
                      END)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
        WHERE at_once
        UNION ALL
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, twin, condition)
        FROM snowflake_ids_convert.checks(job)
        WHERE twin IS NOT NULL AND NOT made);
    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_checks(snowflake_ids_convert.job)
    IS 'internal: adds NOT NULL checks and twins of checks on the new columns';

CREATE FUNCTION snowflake_ids_convert.validate_checks(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', k.conrelid::regclass, k.conname)
        FROM pg_constraint k
             JOIN snowflake_ids_convert.tables(job.relation, job.key_attnum) t ON t.rel = k.conrelid
        WHERE k.contype = 'c' AND k.conname ~ '^snowflake_ids_check_' AND NOT k.convalidated
        UNION ALL
        SELECT format('ANALYZE %s (%I)', rel, shadow)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_checks(snowflake_ids_convert.job)
    IS 'internal: validates the checks on the new columns, and analyzes the columns';

-- One row for each index on the old columns. state: null if the new index does not exist, false if a failed CREATE
-- INDEX CONCURRENTLY left it invalid, true if it can be used.
CREATE FUNCTION snowflake_ids_convert.new_indexes(
    job snowflake_ids_convert.job, OUT rel regclass, OUT old regclass, OUT name text, OUT state boolean,
    OUT definition text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    tbl record;
    definitions jsonb;
BEGIN
    FOR tbl IN
        SELECT t.rel, t.attnums, n.nspname
        FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) t
             JOIN pg_class c ON c.oid = t.rel
             JOIN pg_namespace n ON n.oid = c.relnamespace
    LOOP
        definitions := snowflake_ids_convert.rehearse(job, tbl.rel);
        RETURN QUERY
        SELECT tbl.rel::regclass, x.index,
               format('%I.%I', tbl.nspname, 'snowflake_ids_index_' || x.index::oid),
               i.indisvalid,
               format('CREATE %sINDEX {concurrently}%I ON %s %s', CASE WHEN x.is_unique THEN 'UNIQUE ' END,
                      'snowflake_ids_index_' || x.index::oid, tbl.rel, definitions ->> x.index::oid::text)
        FROM snowflake_ids_convert.indexes(tbl.rel, tbl.attnums) x
             LEFT JOIN (pg_index i JOIN pg_class c ON c.oid = i.indexrelid)
             ON i.indrelid = tbl.rel AND c.relname = 'snowflake_ids_index_' || x.index::oid
        ORDER BY x.index;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.new_indexes(snowflake_ids_convert.job)
    IS 'internal: the indexes that the new columns need, and which of them exist';

CREATE FUNCTION snowflake_ids_convert.index_statements(job snowflake_ids_convert.job, build_concurrently boolean)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    new_index record;
    keyword text := CASE WHEN build_concurrently THEN 'CONCURRENTLY ' ELSE '' END;
BEGIN
    FOR new_index IN SELECT * FROM snowflake_ids_convert.new_indexes(job) WHERE state IS NOT TRUE LOOP
        IF new_index.state IS FALSE THEN
            RETURN NEXT format('DROP INDEX %s%s', keyword, new_index.name);
        END IF;
        RETURN NEXT replace(new_index.definition, '{concurrently}', keyword);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.index_statements(snowflake_ids_convert.job, boolean)
    IS 'internal: statements that make the missing indexes';
