-- The meaning of a function's text, in SQL or PL/pgSQL, can depend on the session: how names are found and quoted, how
-- strings are read, how times are written. So each such function gets these settings, all of them here.
--
-- Exceptions:
--   - procedures: with settings they could not commit;
--   - functions whose body PostgreSQL keeps as a tree (BEGIN ATOMIC): without settings they can be inlined, and they
--     convert no times or names to text.
-- The test "catalog" knows these rules.
--
-- TimeZone is not among them: checks and triggers of a converted table must see the session's. A function that reads
-- times without a zone has TimeZone in its definition.
DO $$
DECLARE
    f regprocedure;
    setting text;
    path text := pg_catalog.current_setting('search_path');
BEGIN
    -- The schema of the extension may have operators of other users, which could take the place of the server's.
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR f IN SELECT p.oid
             FROM pg_depend d
                  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'snowflake_ids'
                  JOIN pg_proc p ON p.oid = d.objid
                  JOIN pg_language l ON l.oid = p.prolang
             WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
               AND l.lanname IN ('sql', 'plpgsql') AND p.prokind <> 'p' AND p.prosqlbody IS NULL LOOP
        FOREACH setting IN ARRAY ARRAY['search_path = pg_catalog, pg_temp', 'standard_conforming_strings = on',
                                       'quote_all_identifiers = off', 'DateStyle = ''ISO, YMD''',
                                       'IntervalStyle = postgres'] LOOP
            EXECUTE format('ALTER FUNCTION %s SET %s', f, setting);
        END LOOP;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', path, true);
END $$;
