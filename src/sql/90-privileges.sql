-- Relations give nobody more than SELECT, and the schema gives USAGE. What default privileges gave is revoked: a role
-- that could write into a relation could move the ids of all databases, and one that could create functions in the
-- schema could get others to call them. So are functions that must be granted: those whose privileges this script has
-- changed (pg_init_privs), by REVOKE. Owners of databases may restore layouts, see 80-layouts.sql.
DO $$
DECLARE
    statements text[];
    statement text;
    path text := pg_catalog.current_setting('search_path');
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    statements := ARRAY(
        SELECT DISTINCT format('REVOKE ALL ON %s %s FROM %s', o.kind, o.name,
                               CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
        FROM (SELECT 'TABLE' AS kind, c.oid::regclass::text AS name, c.relacl AS acl, c.relowner AS owner
              FROM pg_class c
              WHERE c.relnamespace = 'snowflake_ids'::regnamespace AND c.relkind IN ('m', 'r', 'v')
              UNION ALL
              SELECT 'SCHEMA', 'snowflake_ids', n.nspacl, n.nspowner
              FROM pg_namespace n
              WHERE n.oid = 'snowflake_ids'::regnamespace
              UNION ALL
              SELECT 'FUNCTION', p.oid::regprocedure::text, p.proacl, p.proowner
              FROM pg_depend d JOIN pg_init_privs i ON i.classoid = d.classid AND i.objoid = d.objid
                   JOIN pg_proc p ON p.oid = d.objid
              WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
                    AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'snowflake_ids')) AS o,
             aclexplode(o.acl) AS a
        WHERE a.grantee <> o.owner);
    PERFORM pg_catalog.set_config('search_path', path, true);
    -- Not before, because functions of event triggers may need the path.
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA snowflake_ids TO PUBLIC;
GRANT SELECT ON snowflake_ids.stats, snowflake_ids.layouts, snowflake_ids.created_layout TO PUBLIC;
GRANT INSERT ON snowflake_ids.created_layout TO pg_database_owner;

-- If the body of a function is a text, its meaning depends on settings, so the function gets its own. A body of RETURN
-- is no text, and with a setting it would not be inlined.
DO $$
DECLARE
    function regprocedure;
    setting text;
BEGIN
    FOR function IN SELECT p.oid
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
        WHERE p.pronamespace OPERATOR(pg_catalog.=) 'snowflake_ids'::pg_catalog.regnamespace
          AND l.lanname OPERATOR(pg_catalog.=) ANY ('{sql,plpgsql}'::pg_catalog.name[]) AND p.prosqlbody IS NULL LOOP
        FOREACH setting IN ARRAY ARRAY['standard_conforming_strings = on', 'quote_all_identifiers = off',
            'DateStyle = ''ISO, YMD''', 'IntervalStyle = postgres'] LOOP
            EXECUTE pg_catalog.format('ALTER FUNCTION %s SET %s', function, setting);
        END LOOP;
    END LOOP;
END $$;
