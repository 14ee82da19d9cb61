-- Runs first: the extension, and what the other tests share.
CREATE EXTENSION snowflake_ids;

-- What happens to a statement that should be refused.
CREATE FUNCTION refusal(statement text, OUT state text, OUT message text, OUT detail text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    state := 'accepted';
EXCEPTION WHEN OTHERS THEN
    state := SQLSTATE;
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
END $$;

-- The SQLSTATE with which bytes are refused as the text of a type. Bytes that are no text of this
-- database (NUL, broken UTF-8) do not get that far: 22021.
CREATE FUNCTION text_state(bytes bytea, expression text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT ' || expression, convert_from(bytes, 'UTF8'));
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- The same for bytes as they are.
CREATE FUNCTION bytes_state(bytes bytea, type text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT $1::%s', type) USING bytes;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- The functions of the extension with all that decides how they may be used.
CREATE VIEW extension_functions AS
SELECT p.proname, p.oid AS function,
       format('%s(%s)', p.proname, pg_get_function_arguments(p.oid)) AS signature,
       pg_get_function_result(p.oid) AS result,
       CASE p.prokind WHEN 'a' THEN 'aggregate ' ELSE '' END
       || CASE p.provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable' ELSE 'volatile' END
       || CASE WHEN p.proisstrict THEN ' strict' ELSE '' END
       || CASE p.proparallel WHEN 's' THEN ' safe' WHEN 'r' THEN ' restricted' ELSE ' unsafe' END
       || CASE WHEN p.proleakproof THEN ' leakproof' ELSE '' END AS flags,
       has_function_privilege('public', p.oid, 'EXECUTE') AS public
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'snowflake_ids';

-- A server begins its ids ahead of the clock. The other tests begin when that lead is over.
DO $$
BEGIN
    PERFORM gen_mastic();
    WHILE (SELECT max(clock_lead) > 0 FROM snowflake_ids_stats) LOOP
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;
