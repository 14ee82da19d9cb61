-- Settings and privileges of the functions.
--
-- What the text of a function means depends on settings of the session: search path, quoting, formats of strings and
-- times. So each function in SQL or PL/pgSQL gets its own settings here, at the end of the script; procedures cannot,
-- because they commit. The test "catalog" checks this.
--
-- jit is off: compiling catalog queries, whose cost the planner overestimates, takes longer than running them.
--
-- TimeZone is not set, because checks and triggers of a converted table need that of the session. A function that reads
-- times without a zone sets it in its definition.
DO $$
DECLARE
    statements text[];
    statement text;
    path text := pg_catalog.current_setting('search_path');
BEGIN
    -- Operators of other users in the extension's schema could hide those of the server.
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    statements := ARRAY(
        SELECT format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
                           SET quote_all_identifiers = off SET DateStyle = ''ISO, YMD'' SET IntervalStyle = postgres
                           SET jit = off', p.oid::regprocedure)
        FROM pg_depend d
             JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'snowflake_ids_convert'
             JOIN pg_proc p ON p.oid = d.objid
             JOIN pg_language l ON l.oid = p.prolang
        WHERE d.classid = 'pg_proc'::regclass
          AND d.refclassid = 'pg_extension'::regclass
          AND d.deptype = 'e'
          AND l.lanname IN ('sql', 'plpgsql')
          AND p.prokind <> 'p');
    -- Default privileges may have granted too much: a role that can create functions in the schema, or triggers on the
    -- view, could make others call them. They may also have revoked what a conversion needs as the table's owner. So
    -- all are revoked here, and the needed ones granted below.
    statements := statements || ARRAY(
        SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', o.name, coalesce(r.oid::regrole::text, 'PUBLIC'))
        FROM (SELECT 'SCHEMA ' || nspname, nspacl, nspowner
              FROM pg_namespace
              WHERE nspname = 'snowflake_ids_convert'
              UNION ALL
              SELECT 'TABLE ' || oid::regclass, relacl, relowner
              FROM pg_class
              WHERE oid IN (SELECT objid
                            FROM pg_depend d
                                 JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'snowflake_ids_convert'
                            WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'e')) AS o (name, acl, owner)
             CROSS JOIN LATERAL aclexplode(o.acl) AS a
             LEFT JOIN pg_roles r ON r.oid = a.grantee
        WHERE a.grantee <> o.owner);
    PERFORM pg_catalog.set_config('search_path', path, true);
    -- Only with this path again, because functions of event triggers may need it.
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
GRANT USAGE ON SCHEMA snowflake_ids_convert TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA snowflake_ids_convert TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON snowflake_ids_convert.my_conversion TO PUBLIC;
GRANT SELECT ON snowflake_ids_convert_progress TO PUBLIC;
