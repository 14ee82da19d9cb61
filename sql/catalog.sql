-- What holds for everything in the extension. Each topic's own test lists its functions.

-- Everything that can have a comment has one, so that \df+, \dT+ and \do+ explain themselves.
SELECT pg_describe_object(classid, objid, objsubid) AS uncommented
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids')
    AND deptype = 'e'
    AND NOT EXISTS (SELECT FROM pg_description c WHERE c.objoid = objid AND c.classoid = classid AND c.objsubid = 0)
    -- Array types and the row types of views come by themselves.
    AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT oid FROM pg_type WHERE typelem <> 0 OR typtype = 'c'))
ORDER BY 1;
SELECT attrelid::regclass AS relation, attname AS uncommented FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE attrelid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_class'::regclass AND deptype = 'e'
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'))
    AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL
ORDER BY 1, attnum;
-- Comments are short and say something of their own.
SELECT objoid::regprocedure AS function, description FROM pg_description
WHERE classoid = 'pg_proc'::regclass AND objoid IN (SELECT function FROM extension_functions)
    AND (length(regexp_replace(description, '; to allow it: .*', '')) NOT BETWEEN 4 AND 160 OR description ~ '\.$') ORDER BY 1;
-- "permission denied for function" cannot carry a hint: what PUBLIC may not call says what to type.
SELECT signature, description FROM extension_functions LEFT JOIN pg_description ON classoid = 'pg_proc'::regclass AND objoid = function
WHERE NOT public AND description !~ 'GRANT EXECUTE ON FUNCTION \w+.* TO role$' AND description !~ '^internal: ' ORDER BY signature COLLATE "C";

-- No cast happens unasked.
SELECT castsource::regtype, casttarget::regtype, castcontext FROM pg_cast
WHERE castcontext <> 'e' AND oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_cast'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'));

-- Every operator has what the planner needs, every operator class is whole.
SELECT oid::regoperator AS incomplete FROM pg_operator o
WHERE oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_operator'::regclass AND deptype = 'e'
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'))
    AND oprresult = 'boolean'::regtype AND (oprrest = 0 OR oprjoin = 0)
ORDER BY 1;
SELECT a.amname, c.opcname FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
WHERE c.oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_opclass'::regclass AND deptype = 'e'
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'))
    AND NOT amvalidate(c.oid)
ORDER BY 1, 2;

-- What a body in SQL or PL/pgSQL means does not depend on the session's settings. Procedures could not commit then.
SELECT p.oid::regprocedure AS not_pinned, p.proconfig FROM pg_proc p JOIN extension_functions f ON f.function = p.oid JOIN pg_language l ON l.oid = p.prolang
WHERE l.lanname NOT IN ('c', 'internal') AND p.prokind <> 'p' AND p.prosqlbody IS NULL
    AND NOT coalesce(p.proconfig, '{}') @> ARRAY['search_path=pg_catalog, pg_temp', 'standard_conforming_strings=on', 'quote_all_identifiers=off',
                                                 'DateStyle=ISO, YMD', 'IntervalStyle=postgres']
ORDER BY 1;
SELECT proname AS procedure FROM pg_proc WHERE prokind = 'p' AND oid IN (SELECT function FROM extension_functions) ORDER BY 1;
-- A body that is kept as a tree can be inlined. It makes no text of times, intervals or names: these are all its casts.
SELECT p.proname, array(SELECT m[1] FROM regexp_matches(pg_get_functiondef(p.oid), '\S*\)::\S+|\mCAST\(.*', 'g') AS m) AS casts
FROM pg_proc p WHERE p.prosqlbody IS NOT NULL AND p.oid IN (SELECT function FROM extension_functions) ORDER BY 1;

-- Parallel queries may run beside everything but what writes rows. What reads no clock, ledger or setting is strict and runs in workers.
SELECT signature, flags FROM extension_functions
WHERE (flags ~ 'unsafe' OR flags ~ '^(immutable|stable)' AND flags !~ '^(immutable|stable) strict safe')
    AND proname !~ '^snowflake_ids_convert'
ORDER BY signature COLLATE "C";
-- Comparison gives nothing away, so row security does not keep it from an index.
SELECT o.oid::regoperator AS leaky FROM pg_operator o JOIN pg_amop a ON a.amopopr = o.oid JOIN pg_proc p ON p.oid = o.oprcode
WHERE o.oprcode IN (SELECT function FROM extension_functions) AND NOT p.proleakproof GROUP BY 1 ORDER BY 1;

SET timezone = 'UTC';
SET datestyle = 'ISO';
-- The extension can live in any schema and move to another.
CREATE SCHEMA elsewhere;
ALTER EXTENSION snowflake_ids SET SCHEMA elsewhere;
SET search_path = pg_catalog;
SELECT elsewhere.sno_decode('brpk4q72xwf2m63l'), 'brpk4q72xwf2m63l'::elsewhere.sno OPERATOR(elsewhere.<) 'xxxxxxxxxxxxxxxx' AS less;
SELECT '5rMJNeFjYs-2eDkDiPiLuBbS'::elsewhere.gid(volume)::uuid;
RESET search_path;
ALTER EXTENSION snowflake_ids SET SCHEMA public;
DROP SCHEMA elsewhere;
