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
    AND (length(description) NOT BETWEEN 4 AND 160 OR description ~ '\.$') ORDER BY 1;

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
