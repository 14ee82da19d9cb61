-- Lookalikes of built-in functions and operators, in the schema of the extensions and first on the search path. (Those
-- of the extensions' functions: convert_decoys.)
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE ROLE regress_convert_lookalike LOGIN;
CREATE DATABASE regress_convert_lookalike OWNER regress_convert_lookalike;
SELECT current_database() AS main, current_user AS super \gset
\c regress_convert_lookalike regress_convert_lookalike
SET client_min_messages = warning;
\i sql/include/traps.psql
CREATE EXTENSION snowflake_ids_convert CASCADE;
\i sql/include/foreign_dependencies.psql

CREATE TABLE public.one (
    id bigint PRIMARY KEY,
    up bigint REFERENCES one,
    created timestamptz NOT NULL,
    CHECK (up <= id)
);
CREATE TABLE public.many (one bigint REFERENCES one, note text);
CREATE INDEX ON many ((note || 'x'), one);

-- All calls, as a superuser and as an ordinary role.
\c - :super
SET client_min_messages = warning;
SET search_path = hostile, pg_catalog, public;
INSERT INTO public.one
SELECT i, i, t
FROM pg_catalog.generate_series(1, 20) AS i,
     pg_catalog.make_timestamptz(2026, 2, 3, 4, 5, 6) AS t;
INSERT INTO public.many SELECT i, 'note' FROM pg_catalog.generate_series(1, 20) AS i;
ALTER TABLE public.one OWNER TO CURRENT_USER;
ALTER TABLE public.many OWNER TO CURRENT_USER;
SELECT kind, pg_catalog.count(*)
FROM public.snowflake_ids_convert_plan('public.one'::pg_catalog.regclass, 'id'::pg_catalog.name,
                                       'sno'::pg_catalog.text, 'created'::pg_catalog.name, 0, false, false, false,
                                       false)
GROUP BY 1
ORDER BY 1;
CALL public.snowflake_ids_convert('public.one', 'id', 'snowflake_si', 'created', finish => false);
SELECT phase, done, per_second OPERATOR(pg_catalog.>=) 0 AS rate
FROM public.snowflake_ids_convert_progress;
-- The triggers
INSERT INTO public.many VALUES (2, 'written');
UPDATE public.many SET one = 3 WHERE one OPERATOR(pg_catalog.=) 20;
BEGIN;
DELETE FROM public.many WHERE one OPERATOR(pg_catalog.=) 19;
DELETE FROM public.one WHERE id OPERATOR(pg_catalog.=) 19;
INSERT INTO public.one SELECT 19, 19, created FROM public.one WHERE id OPERATOR(pg_catalog.=) 18;
INSERT INTO public.many VALUES (19, 'written');
COMMIT;
SELECT pg_catalog.count(*) AS followed
FROM public.many m
     JOIN public.one o ON m.one OPERATOR(pg_catalog.=) o.id
                          AND m.snowflake_ids_new_1 OPERATOR(pg_catalog.=) o.snowflake_ids_new_1;
SELECT public.snowflake_ids_convert_undo('public.one'::pg_catalog.regclass);
CALL public.snowflake_ids_convert('public.one', 'id', 'mastic', 'created', batch_size => 3, concurrently => false);
SELECT pg_catalog.count(*) AS rows
FROM public.many m
     JOIN public.one o ON m.one OPERATOR(pg_catalog.=) o.id AND o.up OPERATOR(pg_catalog.=) o.id;
SELECT public.snowflake_ids_convert_forget('public.one'::pg_catalog.regclass);
ALTER TABLE public.one OWNER TO regress_convert_lookalike;
ALTER TABLE public.many OWNER TO regress_convert_lookalike;
\c - regress_convert_lookalike
SET client_min_messages = warning;
SET search_path = hostile, pg_catalog, public;
ALTER TABLE public.one ADD key pg_catalog.int8 UNIQUE;
UPDATE public.one SET key = id;
ALTER TABLE public.one ALTER key SET NOT NULL;
CALL public.snowflake_ids_convert('public.one', 'key', 'sno', 'created', metabyte => 7, concurrently => false);
SELECT pg_catalog.count(DISTINCT key) AS keys, pg_catalog.min(public.sno_metabyte(key)) AS metabyte
FROM public.one;

-- Users build indexes in their own sessions. One that used the lookalikes is refused.
SET search_path = public;
CREATE TABLE worded (id int PRIMARY KEY, created timestamptz NOT NULL, note text);
CREATE INDEX worded_note ON worded ((note || 'x'), id);
INSERT INTO worded VALUES (1, '2026-02-01', 'word');
CALL snowflake_ids_convert('worded', 'id', 'mastic', 'created');
CREATE OR REPLACE FUNCTION hostile.trap(text, text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
SET search_path = hostile, pg_catalog, public;
\set ECHO none
SELECT * FROM public.snowflake_ids_convert_indexes('worded'::pg_catalog.regclass) \gexec
\set ECHO all
SELECT pg_catalog.regexp_replace(statement, '\d+'::pg_catalog.text, 'N'::pg_catalog.text)
FROM public.snowflake_ids_convert_indexes('worded'::pg_catalog.regclass) AS statement;
SET search_path = public;
CALL snowflake_ids_convert('worded', 'id', 'mastic', 'created');
\set ECHO none
SELECT * FROM snowflake_ids_convert_indexes('worded') \gexec
\set ECHO all
CALL snowflake_ids_convert('worded', 'id', 'mastic', 'created');
SELECT pg_get_indexdef('worded_note'::regclass);

\c :main :super
SET client_min_messages = warning;
DROP DATABASE regress_convert_lookalike;
DROP ROLE regress_convert_lookalike;
