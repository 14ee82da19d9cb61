\set extension snowflake_ids_convert
\set ECHO none
\i sql/include/catalog.psql
\set ECHO all

-- Functions for users are in the schema of the extension.
-- Others are in a schema where nobody else can create objects. They run as the caller, and their comments say
-- "internal".
SELECT signature, result, flags
FROM extension_functions e
     JOIN pg_proc p ON p.oid = e.function
WHERE extname = 'snowflake_ids_convert'
  AND pronamespace <> 'snowflake_ids_convert'::regnamespace
ORDER BY signature COLLATE "C";
SELECT count(*) FILTER (WHERE obj_description(p.oid, 'pg_proc') !~ '^internal: ') AS not_internal,
       count(*) FILTER (WHERE prosecdef) AS with_other_rights
FROM extension_functions e
     JOIN pg_proc p ON p.oid = e.function
WHERE extname = 'snowflake_ids_convert' AND pronamespace = 'snowflake_ids_convert'::regnamespace;
SELECT has_schema_privilege('public', 'snowflake_ids_convert', 'CREATE') AS creates,
       has_schema_privilege('public', 'snowflake_ids_convert', 'USAGE') AS uses;
-- A function body has at most 60 lines.
SELECT proname, array_length(string_to_array(prosrc, E'\n'), 1) - 2 AS lines
FROM pg_proc
WHERE pronamespace = 'snowflake_ids_convert'::regnamespace
  AND array_length(string_to_array(prosrc, E'\n'), 1) > 62;
SELECT proname FROM extension_functions WHERE extname = 'snowflake_ids' AND proname ~ 'convert';
