-- The state of each conversion, and the views of it.
--
-- Internal functions are in the schema snowflake_ids_convert, where nobody else can create objects. So they can call
-- each other by name safely.
--
-- A conversion runs code of the tables: checks, index expressions, triggers. It also drops and alters what the state
-- says, which the owner can write. So a function whose symbol is snowflake_ids_convert_as_owner
-- (convert/src/as_owner.cpp) becomes the owner of the tables and calls the function with _as_owner at the end of its
-- name. All others run with the rights of the caller.

-- A migration tool may have created an empty schema of that name: see src/sql/00-schema.sql.
DO $$
BEGIN
    IF EXISTS (SELECT
               FROM pg_catalog.pg_extension e
                    JOIN pg_catalog.pg_namespace n
                    ON n.nspowner OPERATOR(pg_catalog.=) e.extowner AND n.nspname OPERATOR(pg_catalog.=) e.extname
               WHERE e.extname OPERATOR(pg_catalog.=) 'snowflake_ids_convert') THEN
        DROP SCHEMA snowflake_ids_convert RESTRICT;
        RAISE INFO 'dropped the empty schema "snowflake_ids_convert", because the extension creates its own'
            USING DETAIL = 'This also removed its comment, grants, default privileges and publications'' TABLES IN SCHEMA.';
    END IF;
EXCEPTION
    WHEN dependent_objects_still_exist OR invalid_schema_name THEN NULL;
END $$;

CREATE SCHEMA snowflake_ids_convert;
COMMENT ON SCHEMA snowflake_ids_convert IS 'what snowflake_ids_convert() and its triggers use';

-- The catalogs show the rest: the map, new columns, valid constraints.
CREATE TABLE snowflake_ids_convert.conversion (
    relation regclass PRIMARY KEY,
    key_attnum smallint NOT NULL,
    created_attnum smallint NOT NULL,
    format text NOT NULL,
    zone text NOT NULL,
    metabyte integer NOT NULL,
    batch_size integer NOT NULL,
    spill boolean NOT NULL,
    keep_position boolean NOT NULL,
    fire_triggers boolean NOT NULL,
    build_concurrently boolean NOT NULL,
    publications boolean NOT NULL,
    issued_after timestamptz CHECK (issued_after IS NOT NULL OR phase = 'prepare'),
    phase text NOT NULL CHECK (phase IN ('prepare', 'number', 'fill', 'settle', 'follow', 'check', 'index', 'ready',
                                         'swap', 'validate', 'done')),
    part regclass,
    done bigint,
    total bigint,
    todo oid[],
    rows bigint NOT NULL DEFAULT 0,
    started timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    phase_started timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    resumed timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    resumed_at bigint NOT NULL DEFAULT 0,
    updated timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    last_notice timestamptz
);
COMMENT ON TABLE snowflake_ids_convert.conversion IS 'state of each conversion; written through my_conversion';
COMMENT ON COLUMN snowflake_ids_convert.conversion.relation IS 'table whose key is converted';
COMMENT ON COLUMN snowflake_ids_convert.conversion.key_attnum 
    IS 'number of the key''s column; after the changeover, of the new column';
COMMENT ON COLUMN snowflake_ids_convert.conversion.created_attnum IS 'number of the column that has the times';
COMMENT ON COLUMN snowflake_ids_convert.conversion.format IS 'format of the new ids: sno, mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_convert.conversion.zone
    IS 'time zone of the first call; times without a zone are read in it';
COMMENT ON COLUMN snowflake_ids_convert.conversion.metabyte IS 'metabyte of the new ids';
COMMENT ON COLUMN snowflake_ids_convert.conversion.batch_size IS 'rows per transaction';
COMMENT ON COLUMN snowflake_ids_convert.conversion.spill IS 'whether rows may get ids of later ticks';
COMMENT ON COLUMN snowflake_ids_convert.conversion.keep_position IS 'whether the tables are rewritten';
COMMENT ON COLUMN snowflake_ids_convert.conversion.fire_triggers IS 'whether triggers of the tables fire';
COMMENT ON COLUMN snowflake_ids_convert.conversion.build_concurrently IS 'whether the user builds the indexes';
COMMENT ON COLUMN snowflake_ids_convert.conversion.publications IS 'whether tables may be in a publication';
COMMENT ON COLUMN snowflake_ids_convert.conversion.issued_after
    IS 'every id that was generated after the new columns were added is later than this time';
COMMENT ON COLUMN snowflake_ids_convert.conversion.phase
    IS 'prepare, number, fill, settle, follow, check, index, ready, swap, validate or done';
COMMENT ON COLUMN snowflake_ids_convert.conversion.part
    IS 'table that is written now, or null';
COMMENT ON COLUMN snowflake_ids_convert.conversion.done
    IS 'how many of these are done';
COMMENT ON COLUMN snowflake_ids_convert.conversion.total IS 'how many of these this part has';
COMMENT ON COLUMN snowflake_ids_convert.conversion.todo
    IS 'constraints that the changeover made not valid';
COMMENT ON COLUMN snowflake_ids_convert.conversion.rows IS 'rows written so far, in all tables';
COMMENT ON COLUMN snowflake_ids_convert.conversion.started IS 'time of the first call';
COMMENT ON COLUMN snowflake_ids_convert.conversion.phase_started IS 'when this phase, or this part of it, began';
COMMENT ON COLUMN snowflake_ids_convert.conversion.resumed
    IS 'when the current call began, or this part, whichever is later';
COMMENT ON COLUMN snowflake_ids_convert.conversion.resumed_at IS 'rows, or blocks, that were done by then';
COMMENT ON COLUMN snowflake_ids_convert.conversion.updated IS 'end of the last step';
COMMENT ON COLUMN snowflake_ids_convert.conversion.last_notice IS 'time of the last notice about this conversion';

-- The columns of the state, and then what with_format() computes from it when a step begins. A planned conversion has a
-- job but no state.
--
-- changes_over: whether this call also does the changeover; null except in its first transaction.
-- type, epoch, tick_ms, capacity (ids per tick): of the format. new_id: the expression that generates an id.
-- make, read: templates for format(): an id from a tick and a number within it; an id's time.
DO $$
BEGIN
    EXECUTE pg_catalog.format(
        'CREATE TYPE snowflake_ids_convert.job AS (
             %s, changes_over boolean, key_column name, shadow name, created_column name, map regclass, core text,
             type text, epoch timestamptz, tick_ms integer, capacity bigint, new_id text, make text, read text)',
        (SELECT pg_catalog.string_agg(pg_catalog.format('%I %s', attname, pg_catalog.format_type(atttypid, NULL)), ', '
                                      ORDER BY attnum)
         FROM pg_catalog.pg_attribute
         WHERE attrelid OPERATOR(pg_catalog.=) 'snowflake_ids_convert.conversion'::pg_catalog.regclass
           AND attnum OPERATOR(pg_catalog.>) 0));
END $$;
COMMENT ON TYPE snowflake_ids_convert.job IS 'a conversion, with what its format needs';

-- Steps run as the owner, so only the owner can write. Not row security, because pg_dump would dump its policies as if
-- they did not belong to the extension.
CREATE VIEW snowflake_ids_convert.my_conversion WITH (security_barrier) AS
SELECT *
FROM snowflake_ids_convert.conversion s
WHERE EXISTS (SELECT
              FROM pg_catalog.pg_class c
              WHERE c.oid OPERATOR(pg_catalog.=) s.relation
                AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) current_user)
WITH CASCADED CHECK OPTION;
COMMENT ON VIEW snowflake_ids_convert.my_conversion IS 'conversions of tables that the current user owns';

-- A table with that name and another owner is not the map.
CREATE FUNCTION snowflake_ids_convert.map_of(relation regclass) RETURNS regclass
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT m.oid
    FROM pg_class m
         JOIN pg_class c ON c.oid = relation AND c.relowner = m.relowner
    WHERE m.relname = 'snowflake_ids_map_' || relation::oid AND m.relkind = 'r' AND m.relpersistence <> 't'
    ORDER BY m.oid
    LIMIT 1
$$;
COMMENT ON FUNCTION snowflake_ids_convert.map_of IS 'internal: the table of old and new keys of a table';

CREATE VIEW snowflake_ids_convert_progress AS
SELECT s.relation, a.attname AS key_column, s.format, s.phase, s.part,
       CASE s.phase WHEN 'fill' THEN 'rows' WHEN 'follow' THEN 'blocks' END AS unit,
       s.done, s.total, s.rows,
       CASE WHEN p.seconds OPERATOR(pg_catalog.>) 0 AND s.total IS NOT NULL
            THEN pg_catalog.round((p.progress OPERATOR(pg_catalog./) p.seconds)::numeric, 1)
       END AS per_second,
       CASE WHEN p.progress OPERATOR(pg_catalog.>) 0
            THEN pg_catalog.make_interval(secs => (s.total OPERATOR(pg_catalog.-) s.done)
                                                  OPERATOR(pg_catalog.*) p.seconds OPERATOR(pg_catalog./) p.progress)
       END AS remaining,
       snowflake_ids_convert.map_of(s.relation) AS map, s.started, s.phase_started, s.updated
FROM snowflake_ids_convert.conversion s
     LEFT JOIN pg_catalog.pg_attribute a
     ON a.attrelid OPERATOR(pg_catalog.=) s.relation AND a.attnum OPERATOR(pg_catalog.=) s.key_attnum
     CROSS JOIN LATERAL (
         SELECT EXTRACT(epoch FROM s.updated OPERATOR(pg_catalog.-) s.resumed)::float8 AS seconds,
                s.done OPERATOR(pg_catalog.-) s.resumed_at AS progress) AS p;
COMMENT ON VIEW snowflake_ids_convert_progress
    IS 'progress of each conversion';
COMMENT ON COLUMN snowflake_ids_convert_progress.key_column IS 'column that is converted';
COMMENT ON COLUMN snowflake_ids_convert_progress.map
    IS 'table of old and new keys; null before phase fill';
COMMENT ON COLUMN snowflake_ids_convert_progress.unit
    IS 'what done and total count: rows of the key''s table, or blocks of a referencing table';
COMMENT ON COLUMN snowflake_ids_convert_progress.per_second IS 'units per second in this part, since the last call';
COMMENT ON COLUMN snowflake_ids_convert_progress.remaining IS 'time that this part still needs at that rate';

-- Columns of views get the comments of the table's columns.
DO $$
DECLARE
    col record;
BEGIN
    FOR col IN
        SELECT v.attrelid::pg_catalog.regclass AS view, v.attname,
               pg_catalog.col_description(t.attrelid, t.attnum) AS comment
        FROM pg_catalog.pg_attribute t
             JOIN pg_catalog.pg_attribute v
             ON v.attname OPERATOR(pg_catalog.=) t.attname
                AND v.attrelid IN ('snowflake_ids_convert.my_conversion'::pg_catalog.regclass,
                                   '@extschema@.snowflake_ids_convert_progress'::pg_catalog.regclass)
        WHERE t.attrelid OPERATOR(pg_catalog.=) 'snowflake_ids_convert.conversion'::pg_catalog.regclass
          AND t.attnum OPERATOR(pg_catalog.>) 0
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', col.view, col.attname, col.comment);
    END LOOP;
END $$;
