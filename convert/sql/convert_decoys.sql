-- Other users' functions in the schema of the extension. The extension passes exactly the declared types, otherwise a
-- better match would be called.
CREATE DATABASE regress_convert_decoys;
SELECT current_database() AS main \gset
\c regress_convert_decoys
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE SCHEMA ids;
CREATE EXTENSION snowflake_ids SCHEMA ids;
CREATE EXTENSION snowflake_ids_convert SCHEMA ids;

-- For each argument, a decoy with another type that a literal or a column could have.
CREATE FUNCTION pg_temp.make_decoys() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    f record;
    made bigint := 0;
BEGIN
    FOR f IN
        SELECT DISTINCT p.oid, p.proname, v.args
        FROM pg_depend d
             JOIN pg_proc p ON p.oid = d.objid
             CROSS JOIN LATERAL generate_series(1, p.pronargs) AS n
             JOIN (VALUES
                 ('int8'::regtype, '{int4,int2,numeric,float8}'::regtype[]), ('int4', '{int2,int8,numeric}'),
                 ('text', '{name,varchar,bpchar}'), ('name', '{text,varchar}'), ('regclass', '{oid,int8,text}'),
                 ('timestamptz', '{timestamp,date}'), ('boolean', '{text}'), ('interval', '{time,text}'),
                 ('jsonb', '{json,text}'), ('ids.sno', '{text}'), ('ids.gid', '{text}'),
                 ('ids.mastic', '{int4,int8,numeric,text}')
             ) AS t (type, others)
             ON t.type = p.proargtypes[n - 1]
             CROSS JOIN LATERAL unnest(t.others) AS other
             CROSS JOIN LATERAL (
                 SELECT string_agg(CASE WHEN i = n THEN other ELSE p.proargtypes[i - 1] END::regtype::text, ', '
                                   ORDER BY i)
                 FROM generate_series(1, p.pronargs) AS i) AS v (args)
        WHERE d.classid = 'pg_proc'::regclass
          AND d.refclassid = 'pg_extension'::regclass
          AND d.deptype = 'e'
          AND d.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('snowflake_ids', 'snowflake_ids_convert'))
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
-- A decoy that matches best is called.
SELECT ids.mastic_sequence(0);

-- Conversions of all formats.
CREATE TABLE node (
    id bigserial PRIMARY KEY,
    up bigint CONSTRAINT node_up REFERENCES node,
    created timestamp,
    at timestamptz,
    note text
);
CREATE TABLE leaf (
    note text,
    node bigint NOT NULL CONSTRAINT leaf_node REFERENCES node ON DELETE CASCADE,
    UNIQUE (node, note)
);
INSERT INTO node (up, created, at, note)
SELECT nullif(n - 1, 0), timestamp '2026-02-03' + n * interval '1 s', timestamptz '2026-02-03' + n * interval '1 s', n
FROM generate_series(1, 100) AS n;
INSERT INTO leaf SELECT 'of ' || n, n FROM generate_series(1, 100, 2) AS n;
SELECT count(*) > 0 AS planned
FROM ids.snowflake_ids_convert_plan('node'::regclass, 'id'::name, 'sno'::text, 'created'::name);
CALL ids.snowflake_ids_convert('node'::regclass, 'id'::name, 'sno'::text, 'created'::name, concurrently => false);
INSERT INTO node (at, note) VALUES ('2026-02-04', 'drawn');
SELECT pg_typeof(id), count(*), count(DISTINCT id) FROM node GROUP BY 1;
CREATE TABLE key_uuid (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), at timestamptz NOT NULL);
INSERT INTO key_uuid (at) SELECT at FROM node WHERE note <> 'drawn';
CALL ids.snowflake_ids_convert('key_uuid'::regclass, 'id'::name, 'mastic'::text, 'at'::name,
                               concurrently => false);
CREATE TABLE key_identity (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL);
INSERT INTO key_identity (at) SELECT at FROM key_uuid;
CALL ids.snowflake_ids_convert('key_identity'::regclass, 'id'::name, 'snowflake_si'::text, 'at'::name,
                               keep_position => true, publications => false);
INSERT INTO key_uuid (at) VALUES (now());
INSERT INTO key_identity (at) VALUES (now());
SELECT count(*), count(DISTINCT id) FROM key_uuid;
SELECT count(*), count(DISTINCT id) FROM key_identity;
CREATE TABLE given_up (id int PRIMARY KEY, at timestamptz NOT NULL);
INSERT INTO given_up
SELECT n, timestamptz '2026-02-03' + n * interval '1 s'
FROM generate_series(1, 10) AS n;
CALL ids.snowflake_ids_convert('given_up'::regclass, 'id'::name, 'sno'::text, 'at'::name, finish => false);
SELECT phase, done, total FROM ids.snowflake_ids_convert_progress WHERE relation = 'given_up'::regclass;
SELECT ids.snowflake_ids_convert_undo('given_up'::regclass);

-- Role m creates an operator that matches an expression of role a's table better than the built-in one. Mastic
-- expressions do not look there. For sno, the plan reports it.
CREATE ROLE regress_convert_decoys_a;
CREATE ROLE regress_convert_decoys_m;
GRANT USAGE ON SCHEMA ids TO PUBLIC;
GRANT CREATE ON SCHEMA ids TO regress_convert_decoys_m;
GRANT CREATE ON DATABASE regress_convert_decoys TO regress_convert_decoys_a;
SET ROLE regress_convert_decoys_m;
CREATE FUNCTION ids.decoy(bigint, int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
AS $$BEGIN RAISE EXCEPTION 'decoy as %', current_user; END$$;
CREATE FUNCTION ids.decoy(ids.sno, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE
AS $$BEGIN RAISE EXCEPTION 'decoy as %', current_user; END$$;
CREATE OPERATOR ids.% (LEFTARG = bigint, RIGHTARG = int, FUNCTION = ids.decoy);
CREATE OPERATOR ids.~~ (LEFTARG = ids.sno, RIGHTARG = text, FUNCTION = ids.decoy);
SET ROLE regress_convert_decoys_a;
CREATE SCHEMA a;
CREATE TABLE a.expressions (id int PRIMARY KEY, at timestamptz NOT NULL, CHECK (id % 2 >= 0));
CREATE INDEX ON a.expressions ((id % 2));
INSERT INTO a.expressions
SELECT n, timestamptz '2026-02-03' + n * interval '1 s'
FROM generate_series(1, 10) AS n;
CREATE TABLE a.in_place (LIKE a.expressions INCLUDING ALL);
INSERT INTO a.in_place TABLE a.expressions;
CREATE TABLE a.words (
    id text PRIMARY KEY,
    at timestamptz NOT NULL,
    CHECK (id LIKE '%'),
    CHECK (at > '2026-01-01')
);
INSERT INTO a.words
SELECT n, timestamptz '2026-02-03' + n * interval '1 s'
FROM generate_series(1, 10) AS n;
CALL ids.snowflake_ids_convert('a.expressions'::regclass, 'id'::name, 'snowflake_si'::text, 'at'::name,
                               concurrently => false);
CALL ids.snowflake_ids_convert('a.in_place'::regclass, 'id'::name, 'snowflake_si'::text, 'at'::name,
                               keep_position => true, publications => false);
INSERT INTO a.expressions (at) VALUES (now());
INSERT INTO a.in_place (at) VALUES (now());
SELECT pg_get_constraintdef(oid)
FROM pg_constraint
WHERE contype = 'c' AND conrelid IN ('a.expressions'::regclass, 'a.in_place'::regclass);
SELECT pg_get_indexdef(indexrelid)
FROM pg_index
WHERE indexprs IS NOT NULL AND indrelid = 'a.expressions'::regclass;
SELECT * FROM ids.snowflake_ids_convert_plan('a.words'::regclass, 'id'::name, 'sno'::text, 'at'::name);
RESET ROLE;

-- No function runs with the rights of its owner.
SELECT oid::regprocedure
FROM pg_proc
WHERE pronamespace IN ('ids'::regnamespace, 'snowflake_ids_convert'::regnamespace) AND prosecdef;

\c :main
DROP DATABASE regress_convert_decoys;
DROP ROLE regress_convert_decoys_a, regress_convert_decoys_m;
