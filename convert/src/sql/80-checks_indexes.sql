-- Checks and indexes on the new columns, made before the changeover, so that it reads no table.

-- A twin is a CHECK that exists on the new columns before the changeover, which only renames it. There is none if a new
-- column may be filled later than its row is written, or if the old check is not valid.
CREATE FUNCTION snowflake_ids_convert.checks(
    job snowflake_ids_convert.job,
    OUT rel regclass, OUT name name, OUT condition text, OUT twin name, OUT made boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
    WITH old_check AS MATERIALIZED (
        SELECT k.conrelid::regclass AS rel, k.oid, k.conname, ('snowflake_ids_check_of_' || k.oid)::name AS twin,
               NOT job.keep_position AND bool_and(c.at_once) AS has_twin
        FROM pg_constraint k
             JOIN snowflake_ids_convert.columns(job) c
             ON k.conrelid = c.rel AND c.attnum = ANY (k.conkey)
        WHERE k.contype = 'c' AND k.convalidated AND k.conname !~ '^snowflake_ids_check_'
        GROUP BY k.oid, k.conrelid, k.conname
    ), rehearsed AS MATERIALIZED (
        SELECT t.rel, snowflake_ids_convert.rehearse(job, t.rel) AS definitions
        FROM (SELECT DISTINCT old_check.rel FROM old_check) AS t
    )
    SELECT o.rel, o.conname, r.definitions ->> ('check ' || o.oid), CASE WHEN o.has_twin THEN o.twin END,
           made.oid IS NOT NULL, coalesce(made.convalidated, false)
    FROM old_check o
         JOIN rehearsed r ON r.rel = o.rel
         LEFT JOIN pg_constraint made ON made.conrelid = o.rel AND made.conname = o.twin
    ORDER BY o.rel, o.conname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.checks
    IS 'internal: checks on the columns of a conversion, written for the new columns';

-- Valid twins already prove the other checks.
CREATE FUNCTION snowflake_ids_convert.refuse_violations(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(
        SELECT format('table %s: new values of rows violate check constraint %I', rel, name)
        FROM snowflake_ids_convert.checks(job)
        WHERE NOT valid AND snowflake_ids_convert.count_rows(rel, format('NOT (%s)', condition)) > 0));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_violations
    IS 'internal: error if the new values violate a check of their table';

-- So the changeover need not read the tables. validate_checks() validates them.
CREATE FUNCTION snowflake_ids_convert.make_checks(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[];
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    -- From here on, writers would fail if the new values violated a check.
    PERFORM snowflake_ids_convert.refuse_violations(job);
    statements := ARRAY(
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, 'snowflake_ids_check_' || attnum,
                      CASE WHEN not_null THEN format('%I IS NOT NULL', shadow)
                           ELSE format('(%I IS NULL) = (%I IS NULL)', attname, shadow)
                      END)
        FROM snowflake_ids_convert.columns(job)
        WHERE at_once
        UNION ALL
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, twin, condition)
        FROM snowflake_ids_convert.checks(job)
        WHERE twin IS NOT NULL AND NOT made);
    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.run(statements);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_checks
    IS 'internal: adds NOT NULL checks and twins of checks on the new columns';

CREATE FUNCTION snowflake_ids_convert.validate_checks(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', k.conrelid::regclass, k.conname)
        FROM pg_constraint k
             JOIN snowflake_ids_convert.tables(job) t ON t.rel = k.conrelid
        WHERE k.contype = 'c' AND k.conname ~ '^snowflake_ids_check_' AND NOT k.convalidated
        UNION ALL
        SELECT format('ANALYZE %s (%I)', rel, shadow)
        FROM snowflake_ids_convert.columns(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_checks
    IS 'internal: validates the checks on the new columns, and analyzes the columns';

-- One row for each index on the old columns. state is null without a new index, true if it is usable, false if a failed
-- CREATE INDEX CONCURRENTLY left it invalid or its definition is wrong, as when the session that built it had other
-- users' operators first on its path.
CREATE FUNCTION snowflake_ids_convert.new_indexes(
    job snowflake_ids_convert.job, of_table regclass DEFAULT NULL,
    OUT name text, OUT state boolean, OUT definition text
) RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
    WITH rehearsed AS MATERIALIZED (
        SELECT t.rel, t.attnums, t.n, snowflake_ids_convert.rehearse(job, t.rel) AS definitions
        FROM snowflake_ids_convert.tables(job) WITH ORDINALITY AS t (rel, attnums, n)
        WHERE t.rel = of_table OR of_table IS NULL
    )
    SELECT snowflake_ids_convert.sibling(r.rel, 'snowflake_ids_index_' || x.index::oid),
           i.indisvalid AND i.indisunique = x.is_unique
           AND snowflake_ids_convert.definitions(r.rel, r.rel) ->> x.index::oid::text
               = r.definitions ->> x.index::oid::text,
           format('CREATE %sINDEX {concurrently}%I ON %s %s', CASE WHEN x.is_unique THEN 'UNIQUE ' END,
                  'snowflake_ids_index_' || x.index::oid, r.rel, r.definitions ->> x.index::oid::text)
    FROM rehearsed r
         CROSS JOIN LATERAL snowflake_ids_convert.indexes(r.rel, r.attnums) x
         LEFT JOIN (pg_index i JOIN pg_class c ON c.oid = i.indexrelid)
         ON i.indrelid = r.rel AND c.relname = 'snowflake_ids_index_' || x.index::oid
    ORDER BY r.n, x.index
$$;
COMMENT ON FUNCTION snowflake_ids_convert.new_indexes
    IS 'internal: the indexes that the new columns need, and which of them exist';

CREATE FUNCTION snowflake_ids_convert.index_statements(
    job snowflake_ids_convert.job, build_concurrently boolean, of_table regclass DEFAULT NULL
) RETURNS SETOF text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
    SELECT replace(statement, '{concurrently}', CASE WHEN build_concurrently THEN 'CONCURRENTLY ' ELSE '' END)
    FROM snowflake_ids_convert.new_indexes(job, of_table) WITH ORDINALITY AS i (name, state, definition, n)
         CROSS JOIN LATERAL (VALUES (1, 'DROP INDEX {concurrently}' || name), (2, definition)) AS s (nth, statement)
    WHERE state IS NULL AND nth = 2 OR NOT state
    ORDER BY n, nth
$$;
COMMENT ON FUNCTION snowflake_ids_convert.index_statements IS 'internal: statements that make the missing indexes';
