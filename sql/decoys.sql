-- A role that may create functions in the extension's schema must not get others to call them: a better match would
-- win. So the extension calls there only exact matches.
CREATE DATABASE regress_decoys;
SELECT current_database() AS main \gset
\c regress_decoys
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE SCHEMA ids;
CREATE EXTENSION snowflake_ids SCHEMA ids;

-- For each argument, a decoy with a type that a literal or a column could have.
CREATE FUNCTION pg_temp.make_decoys() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    f record;
    made bigint := 0;
BEGIN
    FOR f IN
        SELECT DISTINCT p.oid, p.proname, v.args
        FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid CROSS JOIN LATERAL generate_series(1, p.pronargs) AS n
        JOIN (VALUES ('int8'::regtype, '{int4,int2,numeric,float8}'::regtype[]), ('int4', '{int2,int8,numeric}'), ('text', '{name,varchar,bpchar}'),
                     ('name', '{text,varchar}'), ('regclass', '{oid,int8,text}'), ('timestamptz', '{timestamp,date}'), ('boolean', '{text}'),
                     ('interval', '{time,text}'), ('jsonb', '{json,text}'), ('ids.sno', '{text}'), ('ids.gid', '{text}'), ('ids.mastic', '{int4,int8,numeric,text}')) AS t (type, others)
             ON t.type = p.proargtypes[n - 1]
        CROSS JOIN LATERAL unnest(t.others) AS other
        CROSS JOIN LATERAL (SELECT string_agg(CASE WHEN i = n THEN other ELSE p.proargtypes[i - 1] END::regtype::text, ', ' ORDER BY i) AS args
                            FROM generate_series(1, p.pronargs) AS i) AS v
        WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
          AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids')
          AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) AS a WHERE a IN ('internal'::regtype, 'cstring'::regtype, '"any"'::regtype))
    LOOP
        CONTINUE WHEN to_regprocedure(format('ids.%I(%s)', f.proname, f.args)) IS NOT NULL;
        EXECUTE format('CREATE FUNCTION ids.%I(%s) RETURNS void LANGUAGE plpgsql AS %L', f.proname, f.args,
                       format('BEGIN RAISE EXCEPTION %L; END', format('decoy %s(%s)', f.proname, f.args)));
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;
SELECT pg_temp.make_decoys() > 500 AS many;
-- A decoy that a user's own call finds.
SELECT ids.mastic_sequence(0);

SELECT count(*) > 0 AS stats FROM snowflake_ids.stats;
SELECT count(*) AS status FROM snowflake_ids.status();
SELECT ids.snowflake_layout_create('ours'::text, timestamptz '2020-01-01 00:00:00+00', interval '1 ms', 41, 10, 12);
SELECT count(*) > 0 AS layouts FROM snowflake_ids.layouts;
SELECT ids.gen_snowflake('ours'::text) > 0 AS drawn;

-- No function runs with the rights of its owner.
SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'ids'::regnamespace AND prosecdef;

\c :main
DROP DATABASE regress_decoys;
