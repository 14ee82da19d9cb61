-- Rules for all objects of this extension; sql/include/catalog.psql has those of both.

\set extension snowflake_ids
\i sql/include/catalog.psql

SELECT castsource::regtype, casttarget::regtype, castcontext FROM pg_cast
WHERE castcontext <> 'e' AND oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_cast'::regclass AND deptype = 'e'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'))
ORDER BY castsource, casttarget;

SELECT oid::regoperator AS incomplete FROM pg_operator o
WHERE oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_operator'::regclass AND deptype = 'e'
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'))
    AND oprresult = 'boolean'::regtype AND (oprrest = 0 OR oprjoin = 0)
ORDER BY 1;
-- Families with times lack "=" between ids and times on purpose: see src/sql/70-id_time.sql. None may have the
-- same hash function for two types, as mastic's has for bigints.
SELECT amname, opcname FROM (
    SELECT a.amname, c.opcname, c.oid FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
    WHERE c.oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_opclass'::regclass AND deptype = 'e'
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids'))
        AND (a.amname, c.opcname) <> ('hash', 'mastic_ops')
    ORDER BY 1, 2 OFFSET 0) AS ours
WHERE NOT amvalidate(oid);

-- Functions that write rows are unsafe in parallel queries. Those that read no clock, ledger or setting are strict and
-- safe.
SELECT signature, flags FROM extension_functions
WHERE (flags ~ 'unsafe' OR flags ~ '^(immutable|stable)' AND flags !~ '^(immutable|stable) strict safe')
ORDER BY signature COLLATE "C";
-- Comparisons are leakproof, so row security does not keep them from an index.
SELECT o.oid::regoperator AS leaky FROM pg_operator o JOIN pg_amop a ON a.amopopr = o.oid JOIN pg_proc p ON p.oid = o.oprcode
WHERE o.oprcode IN (SELECT function FROM extension_functions) AND NOT p.proleakproof GROUP BY 1 ORDER BY 1;

SET timezone = 'UTC';
SET datestyle = 'ISO';
-- The user's schema has types, operator classes and what queries call, pg_catalog the operators, snowflake_ids all
-- others.
CREATE TEMP TABLE behind AS
SELECT unnest(ARRAY[oprcode, oprrest, oprjoin])::oid AS function FROM pg_operator
UNION SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout]) FROM pg_type
UNION SELECT unnest(ARRAY[aggtransfn, aggcombinefn, aggfinalfn]) FROM pg_aggregate
UNION SELECT amproc FROM pg_amproc UNION SELECT prosupport FROM pg_proc UNION SELECT tgfoid FROM pg_trigger
UNION SELECT castfunc FROM pg_cast;
-- Each topic's test lists its functions. If one is in no list, edit the file that this query names.
\set lists `cat sql/*.sql | sed -n "s/.*proname [~] '\([^']*\)'.*/(\1)/p" | paste -sd '|' -`
\set created `grep -oE 'CREATE FUNCTION [a-z0-9_.]+' src/sql/*.sql | sed -E 's,.*/[0-9]+-(.*)\.sql:CREATE FUNCTION (.*[.])?,\1 ,'`
\set tests `ls sql`
SELECT DISTINCT f.proname AS function_in_no_list,
       coalesce((SELECT format('add it to "WHERE proname ~" in sql/%s.sql', split_part(line, ' ', 1))
                 FROM regexp_split_to_table(:'created', E'\n') AS line
                 WHERE split_part(line, ' ', 2) = f.proname
                     AND split_part(line, ' ', 1) || '.sql' = ANY (regexp_split_to_array(:'tests', E'\n')) LIMIT 1),
                'add it to a list "WHERE proname ~" in the test of its topic') AS what_to_do
FROM extension_functions f
WHERE f.extname = 'snowflake_ids' AND f.proname !~ :'lists' AND f.flags !~ '^aggregate'
    AND f.function NOT IN (SELECT function FROM behind WHERE function IS NOT NULL)
ORDER BY 1;
CREATE TEMP VIEW members AS
SELECT d.classid, d.objid, p.proname, coalesce(p.pronamespace::regnamespace::text, o.schema) AS schema
FROM pg_depend d
    CROSS JOIN pg_identify_object(d.classid, d.objid, d.objsubid) AS o
    LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids');
SELECT objid::regprocedure AS calls_nobody FROM members
WHERE schema = 'public' AND classid = 'pg_proc'::regclass AND objid IN (TABLE behind) AND proname !~ '_timestamp$';
SELECT proname, count(*) FROM members
WHERE schema = 'snowflake_ids' AND classid = 'pg_proc'::regclass AND objid NOT IN (TABLE behind) GROUP BY 1 ORDER BY 1;
-- Servers differ in which row and array types are members.
SELECT classid::regclass, schema, count(*) > 0 AS some FROM members
WHERE classid <> 'pg_proc'::regclass AND schema IS NOT NULL
    AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT oid FROM pg_type WHERE typtype = 'c' OR typcategory = 'A'))
GROUP BY 1, 2 ORDER BY classid::regclass::text COLLATE "C", 2;
DROP VIEW members;
