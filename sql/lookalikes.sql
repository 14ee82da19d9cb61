-- Names of the extension that others have taken, and look-alikes of what it uses. Whoever owns a database may create
-- in the extension's schema, and its functions are called by others: nothing of his may be taken for what is meant. (For
-- look-alikes of its own functions: decoys.)
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE ROLE regress_lookalike LOGIN;
CREATE DATABASE regress_lookalike OWNER regress_lookalike;
SELECT current_database() AS main, current_user AS super \gset
SELECT gen_sno() IS NOT NULL AS sno, gen_mastic() > 0 AS mastic, gen_snowflake_si() > 0 AS snowflake_si;
CREATE TABLE lookalike_before AS SELECT * FROM snowflake_ids_stats;

\c regress_lookalike regress_lookalike
SET client_min_messages = warning;
-- A name is taken before the extension comes: it adopts nothing.
CREATE SEQUENCE snowflake_ids_ceiling AS bigint START 9000000000000000000;
CREATE EXTENSION snowflake_ids;
DROP SEQUENCE snowflake_ids_ceiling;
CREATE TABLE snowflake_ids_ceiling (last_value bigint, log_cnt bigint);
CREATE EXTENSION snowflake_ids;
DROP TABLE snowflake_ids_ceiling;
CREATE TABLE snowflake_ids_layout (name text, epoch timestamptz, tick interval, timestamp_bits int, node_bits int, sequence_bits int, node_last boolean);
CREATE EXTENSION snowflake_ids;
DROP TABLE snowflake_ids_layout;
CREATE FUNCTION gen_mastic() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
CREATE EXTENSION snowflake_ids;
DROP FUNCTION gen_mastic();
CREATE VIEW snowflake_ids_stats AS SELECT 1 AS issued;
CREATE EXTENSION snowflake_ids;
DROP VIEW snowflake_ids_stats;
CREATE TYPE sno AS (id bigint);
CREATE EXTENSION snowflake_ids;
DROP TYPE sno;

-- Traps. In the schema that the extension will be in: operators and functions that fit better than the built-in ones
-- where an argument is not of their exact type. In the schema hostile: those, and the names of what is built in.
CREATE FUNCTION make_traps(schema text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    types text[] := '{int2,int4,int8,numeric,float8,oid,regclass,regtype,regproc,name,text,"char",bool,timestamptz,interval,jsonb,text[]}';
    a text;
    b text;
    f text;
BEGIN
    FOREACH a IN ARRAY types LOOP
        FOREACH f IN ARRAY '{octet_length,current_setting,quote_ident,round,floor}'::text[] LOOP
            EXECUTE format('CREATE FUNCTION %I.%I(%s) RETURNS text LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION $t$trap %2$s(%3$s)$t$; END''', schema, f, a);
        END LOOP;
        FOREACH b IN ARRAY types LOOP
            FOREACH f IN ARRAY '{format,replace,set_config}'::text[] LOOP
                EXECUTE format('CREATE FUNCTION %I.%I(%s, %s) RETURNS text LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION $t$trap %2$s(%3$s, %4$s)$t$; END''', schema, f, a, b);
            END LOOP;
            EXECUTE format('CREATE FUNCTION %I.trap(%s, %s) RETURNS bool LANGUAGE plpgsql AS ''BEGIN RAISE EXCEPTION $t$trap operator %2$s, %3$s$t$; END''', schema, a, b);
            FOREACH f IN ARRAY '{=,<>,<,>,>=,||,+,-,*,/}'::text[] LOOP
                EXECUTE format('CREATE OPERATOR %I.%s (FUNCTION = %1$I.trap, LEFTARG = %3$s, RIGHTARG = %4$s)', schema, f, a, b);
            END LOOP;
        END LOOP;
    END LOOP;
    RETURN (SELECT count(*) FROM pg_catalog.pg_operator WHERE oprnamespace = schema::regnamespace);
END $$;
CREATE SCHEMA hostile;
SELECT make_traps('public'), make_traps('hostile');
CREATE TABLE hostile.pg_extension AS SELECT 0::oid AS oid, name 'snowflake_ids' AS extname, 'hostile'::regnamespace::oid AS extnamespace;
CREATE TABLE hostile.pg_namespace AS SELECT oid, nspname FROM pg_namespace LIMIT 0;
CREATE TABLE hostile.pg_class AS SELECT oid, relname FROM pg_class LIMIT 0;
CREATE TABLE hostile.pg_database AS SELECT oid, datname FROM pg_database LIMIT 0;
CREATE TABLE hostile.pg_settings AS SELECT name, source FROM pg_settings LIMIT 0;
CREATE FUNCTION hostile.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT timestamptz '2100-01-01'$$;
CREATE DOMAIN hostile.text AS pg_catalog.text CHECK (false);
CREATE DOMAIN hostile.timestamptz AS pg_catalog.timestamptz CHECK (false);
-- They work: this is caught.
CREATE VIEW caught AS SELECT 1 FROM pg_attribute WHERE attname = 'x'::text AND attrelid = 'pg_class'::regclass;

CREATE EXTENSION snowflake_ids;
-- Nothing of the extension depends on what is not its own or built in.
CREATE VIEW foreign_dependencies AS
WITH member AS (
    SELECT classid, objid FROM pg_depend WHERE deptype OPERATOR(pg_catalog.=) 'e' AND refclassid OPERATOR(pg_catalog.=) 'pg_extension'::regclass::oid
), part AS (
    SELECT classid, objid FROM member
    UNION SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r JOIN member m ON r.ev_class OPERATOR(pg_catalog.=) m.objid
    UNION SELECT 'pg_rewrite'::regclass, r.oid FROM pg_rewrite r WHERE r.ev_class OPERATOR(pg_catalog.=) 'caught'::regclass::oid
    UNION SELECT 'pg_constraint'::regclass, c.oid FROM pg_constraint c JOIN member m ON c.conrelid OPERATOR(pg_catalog.=) m.objid
    UNION SELECT 'pg_attrdef'::regclass, a.oid FROM pg_attrdef a JOIN member m ON a.adrelid OPERATOR(pg_catalog.=) m.objid
)
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS what, pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid) AS depends_on
FROM pg_depend d JOIN part p ON d.classid OPERATOR(pg_catalog.=) p.classid AND d.objid OPERATOR(pg_catalog.=) p.objid
WHERE d.refclassid OPERATOR(pg_catalog.=) ANY (ARRAY['pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass]::oid[])
    AND NOT EXISTS (SELECT FROM member m WHERE m.classid OPERATOR(pg_catalog.=) d.refclassid AND m.objid OPERATOR(pg_catalog.=) d.refobjid)
    AND NOT EXISTS (SELECT FROM pg_type t JOIN member m ON m.objid OPERATOR(pg_catalog.=) ANY (ARRAY[t.typrelid, t.typelem])
                    WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_type'::regclass::oid AND t.oid OPERATOR(pg_catalog.=) d.refobjid);
SELECT * FROM foreign_dependencies ORDER BY what COLLATE "C", depends_on COLLATE "C";

CREATE TABLE public.one (id bigint PRIMARY KEY, up bigint REFERENCES one, created timestamptz NOT NULL, CHECK (up <= id));
CREATE TABLE public.many (one bigint REFERENCES one, note text);
CREATE INDEX ON many ((note || 'x'), one);

-- All of it, as its owner and as a superuser, with the traps first on the path.
\c - :super
SET client_min_messages = warning;
SET search_path = hostile, pg_catalog, public;
SHOW search_path;
SELECT count(*) AS "this is caught" FROM pg_catalog.pg_class WHERE relname = name 'x';
SELECT quote_ident(pg_catalog.text 'this is caught');
\set formats 'pg_catalog.unnest(ARRAY[\'sno\', \'mastic\', \'snowflake_si\']::pg_catalog.text[]) AS f'
SELECT f, public.snowflake_ids_convert_floor(f) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() AS now FROM :formats;
SELECT machine_id_source, ledger_state FROM public.snowflake_ids_status();
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>=) 3 AS generators FROM public.snowflake_ids_stats;
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 AS layouts FROM public.snowflake_layouts;
SELECT public.snowflake_layout_create(pg_catalog.text 'own', pg_catalog.timestamptz '2024-01-01 00:00:00+00', pg_catalog.interval '1 ms', 41, 10, 12, false);
SELECT pg_catalog.count(*) AS layouts FROM public.snowflake_layouts WHERE created;
SELECT public.snowflake_layout_drop(pg_catalog.text 'own');
SELECT * FROM public.snowflake_ids_compare(public.snowflake_ids_identity(), public.snowflake_ids_identity());
SELECT conflict OPERATOR(pg_catalog.~) '^both issue in partition' AS found
FROM public.snowflake_ids_compare(public.snowflake_ids_identity(), pg_catalog.jsonb_set(public.snowflake_ids_identity(), '{system_identifier}', '"1"'))
WHERE format OPERATOR(pg_catalog.=) 'sno';
SELECT jsonb_typeof AS snapshot FROM pg_catalog.jsonb_typeof(public.sno_snapshot(NULL::pg_catalog.int4));
SELECT public.snowflake_ids_reset(pg_catalog.now(), pg_catalog.text 'nothing', NULL::pg_catalog.int4, false);
SELECT pg_catalog.count(*) AS drawn FROM public.gen_sno_series(10::pg_catalog.int8, 0), public.gen_mastic_series(10::pg_catalog.int8);

INSERT INTO public.one SELECT i, i, t FROM pg_catalog.generate_series(1, 20) AS i, pg_catalog.make_timestamptz(2026, 2, 3, 4, 5, 6) AS t;
INSERT INTO public.many SELECT i, 'note' FROM pg_catalog.generate_series(1, 20) AS i;
-- Only the owner of tables has their key converted.
ALTER TABLE public.one OWNER TO CURRENT_USER;
ALTER TABLE public.many OWNER TO CURRENT_USER;
SELECT kind, pg_catalog.count(*) FROM public.snowflake_ids_convert_plan('public.one'::pg_catalog.regclass, 'id'::pg_catalog.name,
    'sno'::pg_catalog.text, 'created'::pg_catalog.name, 0, false, false, false) GROUP BY 1 ORDER BY 1;
CALL public.snowflake_ids_convert('public.one', 'id', 'snowflake_si', 'created', finish => false);
SELECT phase, done, per_second OPERATOR(pg_catalog.>=) 0 AS rate FROM public.snowflake_ids_convert_progress;
SELECT public.snowflake_ids_convert_undo('public.one'::pg_catalog.regclass);
CALL public.snowflake_ids_convert('public.one', 'id', 'mastic', 'created', batch_size => 3);
SELECT pg_catalog.count(*) AS rows FROM public.many m JOIN public.one o ON m.one OPERATOR(pg_catalog.=) o.id AND o.up OPERATOR(pg_catalog.=) o.id;
ALTER TABLE public.one OWNER TO regress_lookalike;
ALTER TABLE public.many OWNER TO regress_lookalike;
\c - regress_lookalike
SET client_min_messages = warning;
SET search_path = hostile, pg_catalog, public;
SELECT f, public.snowflake_ids_convert_floor(f) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() AS now FROM :formats;
ALTER TABLE public.one ADD key pg_catalog.int8 UNIQUE;
UPDATE public.one SET key = id;
ALTER TABLE public.one ALTER key SET NOT NULL;
CALL public.snowflake_ids_convert('public.one', 'key', 'sno', 'created', metabyte => 7);
SELECT pg_catalog.count(DISTINCT key) AS keys, pg_catalog.min(public.sno_metabyte(key)) AS metabyte FROM public.one;

-- Moved to a schema of his, which only a superuser can do, where names are taken. It does not adopt them either.
CREATE SCHEMA mine;
\set VERBOSITY sqlstate
ALTER EXTENSION snowflake_ids SET SCHEMA mine;
\set VERBOSITY terse
CREATE SEQUENCE mine.snowflake_ids_ceiling AS pg_catalog.int8 START 9000000000000000000;
CREATE FUNCTION mine.gen_mastic() RETURNS pg_catalog.int8 LANGUAGE sql AS 'SELECT 1::pg_catalog.int8';
\c - :super
ALTER EXTENSION snowflake_ids SET SCHEMA mine;
DROP SEQUENCE mine.snowflake_ids_ceiling;
ALTER EXTENSION snowflake_ids SET SCHEMA mine;
DROP FUNCTION mine.gen_mastic();
ALTER EXTENSION snowflake_ids SET SCHEMA mine;
-- Where it was before there are look-alikes now.
\c - regress_lookalike
SET client_min_messages = warning;
CREATE SEQUENCE public.snowflake_ids_ceiling AS pg_catalog.int8 START 9000000000000000000;
CREATE TABLE public.snowflake_ids_layout (name pg_catalog.text, epoch pg_catalog.text);
INSERT INTO public.snowflake_ids_layout VALUES ('own', 'x');
SET search_path = hostile, public, pg_catalog;
SELECT mine.gen_sno() IS NOT NULL AS sno, mine.gen_mastic() IS NOT NULL AS mastic, mine.gen_snowflake_si() IS NOT NULL AS snowflake_si;
SELECT last_value, is_called FROM public.snowflake_ids_ceiling;
SELECT mine.snowflake_timestamp(1::pg_catalog.int8, pg_catalog.text 'own');

-- What has the name and is in the schema, but is not of the extension, is not used. (Only a superuser gets there.)
\c - :super
ALTER EXTENSION snowflake_ids DROP SEQUENCE mine.snowflake_ids_ceiling;
ALTER EXTENSION snowflake_ids DROP TABLE mine.snowflake_ids_layout;
\c -
SELECT mine.gen_mastic();
SELECT mine.snowflake_timestamp(1::pg_catalog.int8, pg_catalog.text 'own');
ALTER EXTENSION snowflake_ids ADD SEQUENCE mine.snowflake_ids_ceiling;
ALTER EXTENSION snowflake_ids ADD TABLE mine.snowflake_ids_layout;
SELECT mine.gen_mastic() IS NOT NULL AS mastic;
SELECT mine.snowflake_timestamp(1::pg_catalog.int8, pg_catalog.text 'own');

-- The generators that all databases share: none is new, none is ahead of the clock or of where it was.
\c :main :super
SET client_min_messages = warning;
DROP DATABASE regress_lookalike;
DROP ROLE regress_lookalike;
SELECT s.format, s.node, s.layout FROM snowflake_ids_stats s
WHERE NOT EXISTS (SELECT FROM lookalike_before b WHERE (b.format, b.node, b.layout, b.owner) IS NOT DISTINCT FROM (s.format, s.node, s.layout, s.owner));
SELECT s.format, s.node, s.clock_lead FROM snowflake_ids_stats s JOIN lookalike_before b USING (format, node)
WHERE s.layout IS NOT DISTINCT FROM b.layout AND s.clock_lead > greatest(b.clock_lead, 0) + 1000;
DROP TABLE lookalike_before;
