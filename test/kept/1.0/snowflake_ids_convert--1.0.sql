\echo Use "CREATE EXTENSION snowflake_ids_convert" to load this file. \quit

-- 10-state.sql
-- The state of each conversion, and the views of it.
--
-- The functions that a conversion uses have a schema of their own, snowflake_ids_convert. Nobody else can create
-- objects there, so these functions can call each other by name safely. The functions that users call are in the schema
-- in which the extension was created.
--
-- A conversion runs code of the tables: checks, index expressions, triggers. And what their owner wrote into the state
-- decides what it drops and alters. So each call acts as the owner of the table, whoever calls, like REINDEX. A function
-- whose symbol is snowflake_ids_convert_as_owner (convert/src/as_owner.cpp) becomes the owner and calls its namesake
-- here that ends in _as_owner, with the same arguments. All others run with the rights of the caller.

-- An empty schema of that name, as migrations of frameworks make it, is dropped: as in 00-schema.sql of snowflake_ids.
DO $$
BEGIN
    IF EXISTS (SELECT
               FROM pg_catalog.pg_extension e
                    JOIN pg_catalog.pg_namespace n
                    ON n.nspowner OPERATOR(pg_catalog.=) e.extowner AND n.nspname OPERATOR(pg_catalog.=) e.extname
               WHERE e.extname OPERATOR(pg_catalog.=) 'snowflake_ids_convert') THEN
        DROP SCHEMA snowflake_ids_convert RESTRICT;
        RAISE INFO 'dropped the empty schema "snowflake_ids_convert", because the extension makes its own'
            USING DETAIL = 'Its comment, grants, default privileges and publications'' TABLES IN SCHEMA went with it.';
    END IF;
EXCEPTION
    WHEN dependent_objects_still_exist OR invalid_schema_name THEN NULL;
END $$;

CREATE SCHEMA snowflake_ids_convert;
COMMENT ON SCHEMA snowflake_ids_convert IS 'what snowflake_ids_convert() and its triggers use';

-- Raises an error without the context that RAISE would add: signature and line of each call that is under way.
CREATE FUNCTION snowflake_ids_convert.fail(state text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_fail' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids_convert.fail(text, text, text, text)
    IS 'internal: raises an error that has no context';

CREATE FUNCTION snowflake_ids_convert.in_transaction_block() RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_in_transaction_block' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_convert.in_transaction_block()
    IS 'internal: whether this transaction continues after the statement that runs';

-- What the catalogs show is not here: the map, which columns have a new column, which constraints are valid.
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
    told timestamptz
);
COMMENT ON TABLE snowflake_ids_convert.conversion IS 'state of each conversion; written through my_conversion';
COMMENT ON COLUMN snowflake_ids_convert.conversion.relation IS 'table whose key is converted';
COMMENT ON COLUMN snowflake_ids_convert.conversion.key_attnum IS 'number of the key; after the changeover, of the new one';
COMMENT ON COLUMN snowflake_ids_convert.conversion.created_attnum IS 'number of the column of times';
COMMENT ON COLUMN snowflake_ids_convert.conversion.format IS 'format of the new ids: sno, mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_convert.conversion.zone IS 'time zone of the first call; times without a zone are read in it';
COMMENT ON COLUMN snowflake_ids_convert.conversion.metabyte IS 'metabyte of the new ids';
COMMENT ON COLUMN snowflake_ids_convert.conversion.batch_size IS 'rows per transaction';
COMMENT ON COLUMN snowflake_ids_convert.conversion.spill IS 'whether rows may get ids of later ticks';
COMMENT ON COLUMN snowflake_ids_convert.conversion.keep_position IS 'whether the tables are rewritten';
COMMENT ON COLUMN snowflake_ids_convert.conversion.fire_triggers IS 'whether triggers of the tables fire';
COMMENT ON COLUMN snowflake_ids_convert.conversion.build_concurrently IS 'whether the user builds the indexes';
COMMENT ON COLUMN snowflake_ids_convert.conversion.publications IS 'whether tables may be in a publication';
COMMENT ON COLUMN snowflake_ids_convert.conversion.issued_after IS 'every id that was drawn since the new columns exist is later than this time';
COMMENT ON COLUMN snowflake_ids_convert.conversion.phase
    IS 'prepare, number, fill, settle, follow, check, index, ready, swap, validate or done';
COMMENT ON COLUMN snowflake_ids_convert.conversion.part
    IS 'table that is written now; null if the phase is not about one table';
COMMENT ON COLUMN snowflake_ids_convert.conversion.done IS 'rows of the key''s table, or blocks of a referencing one, that are done';
COMMENT ON COLUMN snowflake_ids_convert.conversion.total IS 'rows, or blocks, of this part';
COMMENT ON COLUMN snowflake_ids_convert.conversion.todo
    IS 'constraints that the changeover made not valid';
COMMENT ON COLUMN snowflake_ids_convert.conversion.rows IS 'rows written so far, in all tables';
COMMENT ON COLUMN snowflake_ids_convert.conversion.started IS 'time of the first call';
COMMENT ON COLUMN snowflake_ids_convert.conversion.phase_started IS 'when this phase, or this part of it, began';
COMMENT ON COLUMN snowflake_ids_convert.conversion.resumed
    IS 'when the current call began, or this part, whichever is later';
COMMENT ON COLUMN snowflake_ids_convert.conversion.resumed_at IS 'rows, or blocks, that were done by then';
COMMENT ON COLUMN snowflake_ids_convert.conversion.updated IS 'end of the last step';
COMMENT ON COLUMN snowflake_ids_convert.conversion.told IS 'time of the last notice about this conversion';

-- A job: the state of a conversion, and from changes_over on what follows from it. with_format() fills that in when a
-- step begins. A conversion that is only planned has no state, but a job.
--
-- changes_over is null but in the first transaction of a call: whether that call does the changeover too. core is the
-- present schema of the extension snowflake_ids. type, epoch, tick_ms and capacity (ids per tick) belong to the format.
-- new_id is the expression that draws an id. make and read are templates for format(): make makes an id from a tick and
-- a number within it, read returns the time of an id.
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

-- Only the owner of a table writes its state: steps run as the owner. This is a view and not row security: pg_dump
-- would dump the policies of an extension's table.
CREATE VIEW snowflake_ids_convert.my_conversion WITH (security_barrier) AS
SELECT *
FROM snowflake_ids_convert.conversion s
WHERE EXISTS (SELECT
              FROM pg_catalog.pg_class c
              WHERE c.oid OPERATOR(pg_catalog.=) s.relation
                AND pg_catalog.pg_get_userbyid(c.relowner) OPERATOR(pg_catalog.=) current_user)
WITH CASCADED CHECK OPTION;
COMMENT ON VIEW snowflake_ids_convert.my_conversion IS 'conversions of tables that the current user owns';

-- The map belongs to the owner of the table. A table of that name that belongs to another role is no map.
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
COMMENT ON FUNCTION snowflake_ids_convert.map_of(regclass) IS 'internal: the table of old and new keys of a table';

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
    IS 'progress of each conversion: its phase, units done and in total, units per second, time left in the phase';
COMMENT ON COLUMN snowflake_ids_convert_progress.key_column IS 'column that is converted';
COMMENT ON COLUMN snowflake_ids_convert_progress.map
    IS 'table of old and new keys, of the same owner as relation; null before phase fill';
COMMENT ON COLUMN snowflake_ids_convert_progress.unit
    IS 'what done and total count: rows of the key''s table, or blocks of a referencing table';
COMMENT ON COLUMN snowflake_ids_convert_progress.per_second IS 'units per second in this part, since the last call';
COMMENT ON COLUMN snowflake_ids_convert_progress.remaining IS 'time that this part still needs at that rate';

-- A column of a view gets the comment of the table's column.
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

-- 20-job.sql
-- How a job is made, and errors about its arguments.

CREATE FUNCTION snowflake_ids_convert.check_format(format text, metabyte integer) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF format IN ('mastic', 'snowflake_si') AND metabyte <> 0 THEN
        PERFORM snowflake_ids_convert.fail('22023', 'only sno has a metabyte');
    ELSIF metabyte NOT BETWEEN 0 AND 255 THEN
        PERFORM snowflake_ids_convert.fail(
            '22003', format('metabyte out of range: %s', metabyte),
            detail => 'The metabyte must be between 0 and 255.');
    ELSIF coalesce(format, '') NOT IN ('sno', 'mastic', 'snowflake_si') THEN
        PERFORM snowflake_ids_convert.fail(
            '22023', format('unknown format "%s"', format),
            detail => 'Keys can become sno, mastic or snowflake_si.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_format(text, integer)
    IS 'internal: error if keys cannot become ids of this format';

CREATE FUNCTION snowflake_ids_convert.column_name(relation regclass, attnum smallint) RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT a.attname
    FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attnum = column_name.attnum AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION snowflake_ids_convert.column_name(regclass, smallint) IS 'internal: present name of a column';

-- Fills in what the format needs. Arguments of functions of snowflake_ids get exactly the types that these functions
-- declare. Other users may be able to create functions in that schema, and a better match would be called instead.
CREATE FUNCTION snowflake_ids_convert.with_format(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    node text;
    not_accepted text;
    tick_start text;
BEGIN
    IF job.relation IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM snowflake_ids_convert.check_format(job.format, job.metabyte);
    job.key_column := snowflake_ids_convert.column_name(job.relation, job.key_attnum);
    job.created_column := snowflake_ids_convert.column_name(job.relation, job.created_attnum);
    job.shadow := 'snowflake_ids_new_' || job.key_attnum;
    job.map := CASE WHEN job.phase NOT IN ('prepare', 'number') THEN snowflake_ids_convert.map_of(job.relation) END;
    job.core := (SELECT quote_ident(n.nspname)
                 FROM pg_extension e
                      JOIN pg_namespace n ON n.oid = e.extnamespace
                 WHERE e.extname = 'snowflake_ids');
    SELECT CASE job.format WHEN 'snowflake_si' THEN s.narrow_machine_id ELSE s.machine_id END, s.not_accepted
    INTO node, not_accepted
    FROM snowflake_ids.status() AS s;
    IF not_accepted IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', 'a setting of snowflake_ids was not accepted',
            detail => format('The settings are: %s.', not_accepted));
    END IF;
    job.type := 'pg_catalog.int8';
    job.tick_ms := 1;
    job.capacity := 65536;
    CASE job.format
        WHEN 'sno' THEN
            job.type := job.core || '.sno';
            job.epoch := '2010-01-01 00:00:00+00';
            job.tick_ms := 4;
            job.new_id := job.core || '.gen_sno(' || job.metabyte || ')';
            job.make := job.core || '.make_sno(%s, ' || job.metabyte || ', ' || node || ', (%s)::int4, 0)';
        WHEN 'mastic' THEN
            job.type := job.core || '.mastic';
            job.epoch := '2026-01-01 00:00:00+00';
            job.new_id := job.core || '.gen_mastic()';
            job.make := job.core || '.make_mastic(%s, (%s)::int4)';
        WHEN 'snowflake_si' THEN
            job.epoch := '2026-01-01 00:00:00+00';
            job.capacity := 256;
            job.new_id := job.core || '.gen_snowflake_si()';
            job.make := job.core || '.make_snowflake_si(%s, ' || node || ', (%s)::int4)';
    END CASE;
    -- The epoch is written as a number, because the text of a time can mean another time when it is read again ("CST",
    -- "IST"). The sum is exact to the microsecond: a double holds the seconds of 285 years.
    tick_start := format('to_timestamp(%s) + make_interval(secs => (%%1$s) * %s / 1000.0)',
                         extract(epoch FROM job.epoch), job.tick_ms);
    job.make := format(job.make, tick_start, '%2$s');
    job.read := format('%s.%s_timestamp(%%s)', job.core, job.format);
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.with_format(snowflake_ids_convert.job)
    IS 'internal: fills in what the format of a job needs';

CREATE FUNCTION snowflake_ids_convert.state_of(target regclass, locked boolean) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job;
BEGIN
    IF locked THEN
        PERFORM FROM snowflake_ids_convert.my_conversion WHERE relation = target FOR UPDATE NOWAIT;
    END IF;
    -- All that follows from the state is null.
    SELECT s.*, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL INTO job
    FROM snowflake_ids_convert.my_conversion s
    WHERE s.relation = target;
    RETURN job;
EXCEPTION WHEN lock_not_available THEN
    PERFORM snowflake_ids_convert.fail(
        '55006', format('%s is being converted by another session', target),
        hint => 'See snowflake_ids_convert_progress.');
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.state_of(regclass, boolean)
    IS 'internal: the state of a conversion, null if there is none, or if another role owns the table';

CREATE FUNCTION snowflake_ids_convert.column_number(relation regclass, column_name name) RETURNS smallint
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    number smallint := (SELECT attnum
                        FROM pg_attribute
                        WHERE attrelid = relation AND attname = column_name AND attnum > 0 AND NOT attisdropped);
BEGIN
    IF number IS NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '42703', format('column "%s" of relation "%s" does not exist', column_name, relation));
    END IF;
    RETURN number;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.column_number(regclass, name)
    IS 'internal: number of a column; error if it does not exist';

CREATE FUNCTION snowflake_ids_convert.planned_job(
    relation regclass, key_column name, format text, created_column name, metabyte integer, spill boolean,
    keep_position boolean, fire_triggers boolean, publications boolean
) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job;
    key_type oid;
    created_type oid;
BEGIN
    PERFORM snowflake_ids_convert.check_format(format, metabyte);
    job.relation := relation;
    job.key_attnum := snowflake_ids_convert.column_number(relation, key_column);
    job.created_attnum := snowflake_ids_convert.column_number(relation, created_column);
    job.format := format;
    job.zone := current_setting('TimeZone');
    job.metabyte := metabyte;
    job.spill := spill;
    job.keep_position := keep_position;
    job.fire_triggers := fire_triggers;
    job.publications := publications;
    key_type := (SELECT atttypid FROM pg_attribute WHERE attrelid = job.relation AND attnum = job.key_attnum);
    created_type := (SELECT atttypid FROM pg_attribute WHERE attrelid = job.relation AND attnum = job.created_attnum);
    IF created_type NOT IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype) THEN
        PERFORM snowflake_ids_convert.fail(
            '42804', format('column "%s" is not of a date/time type', created_column),
            detail => format('Its type is %s.', format_type(created_type, NULL)),
            hint => 'Use a column of type timestamptz, timestamp or date.');
    ELSIF key_type NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'uuid'::regtype,
                           'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN
        PERFORM snowflake_ids_convert.fail(
            '42804', format('cannot convert a key of type %s', format_type(key_type, NULL)),
            detail => 'Integers, numeric, uuid and text can be converted.');
    ELSIF relation::oid IN (SELECT oid FROM pg_class WHERE relkind NOT IN ('r', 'p')) THEN
        PERFORM snowflake_ids_convert.fail('42809', format('%s is not a table', relation));
    END IF;
    RETURN snowflake_ids_convert.with_format(job);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.planned_job(
    regclass, name, text, name, integer, boolean, boolean, boolean, boolean
) IS 'internal: the job of a conversion that is planned; error if an argument is wrong';

-- ---- what several topics use

CREATE FUNCTION snowflake_ids_convert.run(statements text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.run(text[]) IS 'internal: runs statements, one after another';

CREATE FUNCTION snowflake_ids_convert.count_rows(target regclass, condition text) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    rows bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ONLY %s AS c WHERE %s', target, condition) INTO rows;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.count_rows(regclass, text)
    IS 'internal: number of rows of a table, named c, that satisfy a condition';

CREATE FUNCTION snowflake_ids_convert.sibling(target regclass, name text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('%I.%I', n.nspname, name)
    FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = target
$$;
COMMENT ON FUNCTION snowflake_ids_convert.sibling(regclass, text)
    IS 'internal: the name of a relation in the schema of another one';

CREATE FUNCTION snowflake_ids_convert.refuse(job snowflake_ids_convert.job, problems text[]) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF problems <> '{}' THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot continue converting %s', job.relation),
            detail => array_to_string(problems, E'\n'),
            hint => 'Solve this and call again, or undo the conversion with snowflake_ids_convert_undo().');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse(snowflake_ids_convert.job, text[])
    IS 'internal: error with these problems, if there are any';

-- 30-tables.sql
-- The tables of a conversion: the key, the columns that refer to it, their indexes, and locks on the tables.

-- The triggers of a conversion; 70-triggers.sql makes them. Another role can create triggers that look like these, on
-- its own tables, or with the TRIGGER privilege. Only the owner of a table can make a trigger fire always (tgenabled A). So
-- only such triggers count, on tables of the owner, as whom the conversion runs.
CREATE FUNCTION snowflake_ids_convert.triggers(
    converted regclass, OUT rel regclass, OUT name name, OUT function name, OUT relation regclass, OUT attnum smallint
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT g.tgrelid, g.tgname, p.proname, arguments.n[1]::oid::regclass,
           CASE WHEN p.proname IN ('key', 'follow') THEN coalesce(arguments.n[3], arguments.n[2])::smallint END
    FROM pg_trigger g
         JOIN pg_class c ON c.oid = g.tgrelid AND pg_get_userbyid(c.relowner) = current_user
         JOIN pg_proc p ON p.oid = g.tgfoid
         CROSS JOIN LATERAL (
             SELECT regexp_match(encode(g.tgargs, 'escape'), '^(\d+)\\000(\d+)\\000(?:(\d+)\\000)?')
         ) AS arguments (n)
    WHERE p.pronamespace = 'snowflake_ids_convert'::regnamespace
      AND g.tgname ~ '^zz_snowflake_ids_'
      AND g.tgenabled = 'A'
      AND (converted IS NULL OR arguments.n[1] = converted::oid::text)
    ORDER BY 1, 2
$$;
COMMENT ON FUNCTION snowflake_ids_convert.triggers(regclass)
    IS 'internal: triggers of one conversion, or of all conversions if the argument is null';

-- All columns to which the conversion has added a new one. attname is null if the old column was dropped.
CREATE FUNCTION snowflake_ids_convert.added_columns(
    relation regclass, OUT rel regclass, OUT attnum smallint, OUT attname name, OUT shadow name
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT g.rel, g.attnum, o.attname, n.attname
    FROM snowflake_ids_convert.triggers(relation) g
         JOIN pg_attribute n
         ON n.attrelid = g.rel AND n.attname = 'snowflake_ids_new_' || g.attnum AND NOT n.attisdropped
         LEFT JOIN pg_attribute o
         ON o.attrelid = g.rel AND o.attnum = g.attnum AND NOT o.attisdropped
$$;
COMMENT ON FUNCTION snowflake_ids_convert.added_columns(regclass)
    IS 'internal: columns to which a conversion has added a new one';

-- The key, and all columns that refer to it through foreign keys, directly or through others.
--
-- at_once: whether the new value is present as soon as its row is. It is not if the referenced row may come later.
-- depth: number of foreign keys between this table and the key's table.
-- collate: the key's collation. A referencing column may have another one, but the foreign key uses that of the key.
-- filled: whether it has a new column. It has none if it began to refer to the key during the conversion.
CREATE FUNCTION snowflake_ids_convert.columns(
    relation regclass, key_attnum smallint,
    OUT rel regclass, OUT attnum smallint, OUT attname name, OUT shadow name, OUT is_key boolean, OUT not_null boolean,
    OUT at_once boolean, OUT depth integer, OUT "collate" text, OUT filled boolean
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH RECURSIVE reference (rel, attnum, path) AS (
        SELECT a.attrelid, a.attnum, ARRAY[format('%s %s', a.attrelid, a.attnum)]
        FROM pg_attribute a
        WHERE a.attrelid = relation AND a.attnum = key_attnum AND a.attnum > 0 AND NOT a.attisdropped
        UNION
        SELECT f.conrelid, k.att, r.path || format('%s %s', f.conrelid, k.att)
        FROM reference r
             JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = r.rel
             CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
        WHERE k.ref = r.attnum
          AND format('%s %s', f.conrelid, k.att) <> ALL (r.path)
    ), c AS (
        SELECT r.rel, r.attnum, min(min(cardinality(r.path))) OVER (PARTITION BY r.rel)::int AS depth
        FROM reference r
        GROUP BY r.rel, r.attnum
    )
    SELECT c.rel, c.attnum, a.attname,
           ('snowflake_ids_new_' || c.attnum)::name,
           c.rel = relation AND c.attnum = key_attnum,
           a.attnotnull,
           NOT EXISTS (SELECT
                       FROM pg_constraint f
                       WHERE f.contype = 'f'
                         AND f.conrelid = c.rel
                         AND c.attnum = ANY (f.conkey)
                         AND (f.condeferrable OR f.confrelid = f.conrelid)),
           c.depth,
           coalesce((SELECT format(' COLLATE %I.%I', n.nspname, o.collname)
                     FROM pg_attribute k
                          JOIN pg_collation o ON o.oid = k.attcollation
                          JOIN pg_namespace n ON n.oid = o.collnamespace
                     WHERE k.attrelid = relation AND k.attnum = key_attnum), ''),
           (c.rel::oid, c.attnum) IN (SELECT n.rel::oid, n.attnum
                                      FROM snowflake_ids_convert.added_columns(relation) n)
    FROM c
         JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
    ORDER BY c.depth, c.rel, c.attnum
$$;
COMMENT ON FUNCTION snowflake_ids_convert.columns(regclass, smallint)
    IS 'internal: a key and the columns that refer to it';

-- The tables, in the order in which most transactions write to them: the key's table first, then what refers to it.
CREATE FUNCTION snowflake_ids_convert.tables(
    relation regclass, key_attnum smallint, OUT rel regclass, OUT attnums smallint[]
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT c.rel, array_agg(c.attnum ORDER BY c.attnum)
    FROM snowflake_ids_convert.columns(relation, key_attnum) c
    GROUP BY c.rel
    ORDER BY min(c.depth), c.rel
$$;
COMMENT ON FUNCTION snowflake_ids_convert.tables(regclass, smallint)
    IS 'internal: the tables of a key and of the columns that refer to it';

-- definition_end is what follows the table's name in the definition of the index: USING and the rest.
CREATE FUNCTION snowflake_ids_convert.indexes(
    target regclass, attnums smallint[],
    OUT index regclass, OUT definition_end text, OUT is_unique boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT i.indexrelid,
           substr(pg_get_indexdef(i.indexrelid),
                  length(format('CREATE %sINDEX %I ON %I.%I ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                                c.relname, n.nspname, t.relname)) + 1),
           i.indisunique,
           i.indisvalid
    FROM pg_index i
         JOIN pg_class c ON c.oid = i.indexrelid
         JOIN pg_class t ON t.oid = i.indrelid
         JOIN pg_namespace n ON n.oid = t.relnamespace
    WHERE i.indrelid = target
      AND c.relname !~ '^snowflake_ids_index_'
      AND (string_to_array(i.indkey::text, ' ')::int2[] && attnums
           OR EXISTS (SELECT
                      FROM pg_depend d
                      WHERE d.classid = 'pg_class'::regclass
                        AND d.objid = i.indexrelid
                        AND d.refclassid = 'pg_class'::regclass
                        AND d.refobjid = target
                        AND d.refobjsubid = ANY (attnums)))
    ORDER BY i.indexrelid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.indexes(regclass, smallint[])
    IS 'internal: indexes that use some columns of a table, and the ends of their definitions';

-- What the state says is compared with the catalogs: the tables must belong to the role as which the conversion runs,
-- and what earlier phases have made must be there.
CREATE FUNCTION snowflake_ids_convert.owner_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN QUERY
    SELECT format('table %s: refers to the key, but its owner is %I, not %I', t.rel, pg_get_userbyid(c.relowner),
                  current_user)
    FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) t
         JOIN pg_class c ON c.oid = t.rel
    WHERE pg_get_userbyid(c.relowner) <> current_user
    ORDER BY t.rel;
    RETURN QUERY
    SELECT format('table %s: is not being converted, or lost the trigger zz_snowflake_ids_1_key', job.relation)
    WHERE job.phase <> 'prepare'
      AND NOT EXISTS (SELECT
                      FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
                      WHERE is_key AND filled);
    RETURN QUERY
    SELECT format('table %s: there is no table %I that belongs to %I', job.relation,
                  'snowflake_ids_map_' || job.relation::oid, current_user)
    WHERE job.phase NOT IN ('prepare', 'number') AND job.map IS NULL;
    -- The triggers still fill such a column, but the changeover replaces only columns that refer to the key. So this
    -- one would keep its old values.
    RETURN QUERY
    SELECT format('table %s: column %I no longer refers to the key; add its foreign key again', a.rel,
                  coalesce(a.attname, a.shadow))
    FROM snowflake_ids_convert.added_columns(job.relation) a
    WHERE (a.rel::oid, a.attnum) NOT IN (SELECT c.rel::oid, c.attnum
                                         FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c)
    ORDER BY a.rel, a.attnum;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.owner_problems(snowflake_ids_convert.job)
    IS 'internal: tables of other owners, and what the conversion has made and lost';

-- This lock prevents others from altering the tables, but not from writing. Writers do not queue behind it.
CREATE FUNCTION snowflake_ids_convert.lock_definitions(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', rel)
        FROM snowflake_ids_convert.tables(job.relation, job.key_attnum)));
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_definitions(snowflake_ids_convert.job)
    IS 'internal: prevents others from altering the tables of a conversion';

-- Others queue behind a lock request that waits. So all tables together are requested for 50 ms at most, then again
-- after a pause. The caller's lock_timeout limits the whole time; 0 means no limit.
CREATE FUNCTION snowflake_ids_convert.lock_writers_out(tables regclass[], mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    time_limit text := current_setting('lock_timeout');
    begun timestamptz := clock_timestamp();
    last_notice timestamptz := begun;
    pause float8 := 0.05;
    target regclass;
BEGIN
    PERFORM set_config('lock_timeout', greatest(5, 50 / greatest(cardinality(tables), 1)) || 'ms', true);
    LOOP
        BEGIN
            FOREACH target IN ARRAY tables LOOP
                EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', target, mode);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF time_limit <> '0' AND clock_timestamp() - begun > time_limit::interval THEN
                PERFORM snowflake_ids_convert.fail(
                    '55P03', format('could not lock %s within lock_timeout', target),
                    detail => format('Other transactions have used the table for %s.', time_limit),
                    hint => 'Call again when they have ended, or increase lock_timeout. pg_locks shows them.');
            ELSIF clock_timestamp() - last_notice > interval '10 s' THEN
                last_notice := clock_timestamp();
                RAISE NOTICE 'waiting for transactions that use %', target;
            END IF;
        END;
        PERFORM pg_sleep(pause * (0.5 + random()));
        pause := least(pause * 2, 1);
    END LOOP;
    PERFORM set_config('lock_timeout', time_limit, true);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_writers_out(regclass[], text)
    IS 'internal: takes a strong lock; others wait behind the request for 50 ms at most';

CREATE FUNCTION snowflake_ids_convert.lock_all(job snowflake_ids_convert.job, mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_writers_out(
        ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job.relation, job.key_attnum)), mode);
    -- From here on, no other role can add a foreign key to the key.
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_all(snowflake_ids_convert.job, text)
    IS 'internal: takes a strong lock on all tables of a conversion';

-- 40-rehearse.sql
-- The new type is tried on copies of the tables: first on empty ones, then with some rows that have new ids. So
-- PostgreSQL itself tells whether constraints and indexes accept the new ids, and how they are written on the new
-- columns. The copies are unlogged: their rows reach no subscriber.

-- Expressions on a key that becomes a sno need the operators of sno. So they are parsed again, with the schema of
-- snowflake_ids on the search path. Other users may have created functions or operators there that match better. These
-- must not be used: an expression runs with the rights of the table's owner.
CREATE FUNCTION snowflake_ids_convert.lookalikes(tables oid[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(array_agg(DISTINCT pg_describe_object(d.refclassid, d.refobjid, 0)), '{}')
    FROM pg_extension e
         CROSS JOIN (
             SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = ANY (tables)
             UNION ALL
             SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = ANY (tables)
             UNION ALL
             SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = ANY (tables)
             UNION ALL
             SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite WHERE ev_class = ANY (tables)) AS used_by (class, oid)
         JOIN pg_depend d ON d.classid = used_by.class AND d.objid = used_by.oid
         LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
         LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
    WHERE e.extname = 'snowflake_ids'
      AND e.extnamespace IN (o.oprnamespace, p.pronamespace)
      AND NOT EXISTS (SELECT
                      FROM pg_depend member
                      WHERE member.classid = d.refclassid
                        AND member.objid = d.refobjid
                        AND member.deptype = 'e'
                        AND member.refclassid = 'pg_extension'::regclass
                        AND member.refobjid = e.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.lookalikes(oid[])
    IS 'internal: what relations use from the schema of snowflake_ids although it is not part of that extension';

CREATE FUNCTION snowflake_ids_convert.refuse_lookalikes(used_by oid[], known text[], expression text) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    added text := (SELECT string_agg(object, ', ')
                   FROM (SELECT unnest(snowflake_ids_convert.lookalikes(used_by))
                         EXCEPT
                         SELECT unnest(known)) AS n (object));
BEGIN
    IF added IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '42725', format('%s would use %s, which is not part of extension snowflake_ids', expression, added));
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_lookalikes(oid[], text[], text)
    IS 'internal: error if relations use operators of other users, unless they are known';

CREATE FUNCTION snowflake_ids_convert.path_of_type(job snowflake_ids_convert.job) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT concat_ws(', ', 'pg_catalog', CASE WHEN job.format <> 'snowflake_si' THEN job.core END, 'pg_temp')
$$;
COMMENT ON FUNCTION snowflake_ids_convert.path_of_type(snowflake_ids_convert.job)
    IS 'internal: search path with the operators that expressions on the new ids need';

CREATE FUNCTION snowflake_ids_convert.expressions(target regclass, attnums smallint[]) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT e.expression
    FROM (SELECT 1, conname, pg_get_expr(conbin, conrelid)
          FROM pg_constraint
          WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
          UNION
          SELECT 2, indexrelid::regclass::text::name, pg_get_indexdef(indexrelid, n, false)
          FROM pg_index
               CROSS JOIN LATERAL generate_series(1, indnkeyatts) AS n
          WHERE indrelid = target AND indkey[n - 1] = 0
          UNION
          SELECT 3, indexrelid::regclass::text::name, pg_get_expr(indpred, indrelid)
          FROM pg_index
          WHERE indrelid = target AND indpred IS NOT NULL
          UNION
          SELECT 4, stxname, statistics_expression
          FROM pg_statistic_ext
               CROSS JOIN LATERAL unnest(pg_get_statisticsobjdef_expressions(oid)) AS statistics_expression
          WHERE stxrelid = target) AS e (kind, name, expression)
    WHERE e.expression !~ '\msnowflake_ids_new_[0-9]'
    ORDER BY e.kind, e.name, e.expression
$$;
COMMENT ON FUNCTION snowflake_ids_convert.expressions(regclass, smallint[])
    IS 'internal: expressions of checks, indexes and statistics that have to be parsed again';

-- Each expression is put into a view, because a view is parsed but not evaluated. The view is on a table that has the
-- new types.
CREATE FUNCTION snowflake_ids_convert.try_expressions(
    job snowflake_ids_convert.job, target regclass, attnums smallint[], copy text, change text
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    probe text := snowflake_ids_convert.sibling(target, 'snowflake_ids_probe_' || target::oid);
    view text := snowflake_ids_convert.sibling(target, 'snowflake_ids_probe_' || target::oid || '_view');
    known text[] := snowflake_ids_convert.lookalikes(ARRAY[target]);
    expression text;
BEGIN
    EXECUTE format('CREATE TABLE %s (LIKE %s)', probe, copy);
    EXECUTE format('ALTER TABLE %s %s', probe, change);
    FOR expression IN SELECT * FROM snowflake_ids_convert.expressions(target, attnums) LOOP
        PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(job), true);
        EXECUTE format('CREATE VIEW %s AS SELECT %s AS value FROM %s', view, expression, probe);
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
        PERFORM snowflake_ids_convert.refuse_lookalikes(ARRAY[view::regclass], known, 'expression ' || expression);
        EXECUTE format('DROP VIEW %s', view);
    END LOOP;
    EXECUTE format('DROP TABLE %s', probe);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.try_expressions(
    snowflake_ids_convert.job, regclass, smallint[], text, text
) IS 'internal: error if an expression on the new type would use operators of other users';

CREATE FUNCTION snowflake_ids_convert.statistics(target regclass, attnums smallint[]) RETURNS SETOF pg_statistic_ext
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT *
    FROM pg_statistic_ext e
    WHERE e.stxrelid = target
      AND EXISTS (SELECT
                  FROM pg_depend d
                  WHERE d.classid = 'pg_statistic_ext'::regclass
                    AND d.objid = e.oid
                    AND d.refclassid = 'pg_class'::regclass
                    AND d.refobjid = target
                    AND d.refobjsubid = ANY (attnums))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.statistics(regclass, smallint[])
    IS 'internal: extended statistics of the table that are about one of these columns';

CREATE FUNCTION snowflake_ids_convert.copy_definitions(target regclass, attnums smallint[], copy text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', copy, conname, pg_get_constraintdef(oid))
        FROM pg_constraint
        WHERE conrelid = target AND contype = 'c' AND conkey && attnums AND conname !~ '^snowflake_ids_check_'
        UNION ALL
        SELECT format('CREATE %sINDEX %I ON %s %s', CASE WHEN i.is_unique THEN 'UNIQUE ' END,
                      'snowflake_ids_copy_' || target::oid || '_' || i.index::oid, copy, i.definition_end)
        FROM snowflake_ids_convert.indexes(target, attnums) AS i
        UNION ALL
        SELECT format('CREATE STATISTICS %s ON %s FROM %s',
                      snowflake_ids_convert.sibling(target, 'snowflake_ids_copy_' || target::oid || '_of_' || e.oid),
                      pg_get_statisticsobjdef_columns(e.oid), copy)
        FROM snowflake_ids_convert.statistics(target, attnums) AS e));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.copy_definitions(regclass, smallint[], text)
    IS 'internal: gives the copy the checks, indexes and statistics of the table';

-- The keys of the result are the oid of an index, or "check" and the oid of a constraint. pg_get_indexdef() omits the
-- tablespace, which has to be written before WHERE. The copy may be the table itself: then these are its new indexes.
CREATE FUNCTION snowflake_ids_convert.definitions(target regclass, copy regclass) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_object_agg(d.key, d.definition), '{}')
    FROM (SELECT original.oid::text AS key,
                 left(def.ending, length(def.ending) - length(def.condition))
                 || coalesce(' TABLESPACE ' || quote_ident(s.spcname), '')
                 || def.condition AS definition
          FROM pg_index i
               JOIN pg_class c ON c.oid = i.indexrelid
               JOIN pg_class original
               ON original.oid::text = substring(c.relname FROM '^snowflake_ids_(?:copy_[0-9]+|index)_([0-9]+)$')
               LEFT JOIN pg_tablespace s ON s.oid = original.reltablespace
               CROSS JOIN LATERAL (
                   SELECT substr(pg_get_indexdef(c.oid),
                                 length(format('CREATE %sINDEX %I ON %s ', CASE WHEN i.indisunique THEN 'UNIQUE ' END,
                                               c.relname, copy)) + 1),
                          coalesce(' WHERE ' || pg_get_expr(i.indpred, i.indrelid), '')) AS def (ending, condition)
          WHERE i.indrelid = copy
          UNION ALL
          SELECT 'check ' || original.oid, pg_get_expr(c.conbin, c.conrelid)
          FROM pg_constraint c
               JOIN pg_constraint original
               ON original.conrelid = target AND original.contype = 'c' AND original.conname = c.conname
          WHERE c.conrelid = copy AND c.contype = 'c') AS d
$$;
COMMENT ON FUNCTION snowflake_ids_convert.definitions(regclass, regclass)
    IS 'internal: how the indexes and checks of a table are written on its copy';

-- The copy has the new columns only, under their names. It has no NOT NULL.
CREATE FUNCTION snowflake_ids_convert.make_copy(job snowflake_ids_convert.job, target regclass) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy text := snowflake_ids_convert.sibling(target, 'snowflake_ids_copy_' || target::oid);
    attnums smallint[];
    change text;
    col record;
BEGIN
    -- The rehearsal runs code of the table. The owner was checked before, but without a lock, so it is checked again.
    IF current_user <> (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = target) THEN
        PERFORM snowflake_ids_convert.fail('42501', format('must be owner of table %s', target));
    END IF;
    SELECT array_agg(attnum), string_agg(format('ALTER COLUMN %I TYPE %s USING NULL', attname, job.type), ', ')
    INTO attnums, change
    FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
    WHERE rel = target;
    EXECUTE format('CREATE UNLOGGED TABLE %s AS SELECT * FROM ONLY %s WITH NO DATA', copy, target);
    FOR col IN SELECT shadow FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE rel = target LOOP
        EXECUTE format('ALTER TABLE %s DROP COLUMN IF EXISTS %I', copy, col.shadow);
    END LOOP;
    IF job.format <> 'snowflake_si' THEN
        PERFORM snowflake_ids_convert.try_expressions(job, target, attnums, copy, change);
    END IF;
    PERFORM snowflake_ids_convert.copy_definitions(target, attnums, copy);
    -- Expressions on the new type need its operators. While this path is set, no name of ours may be looked up on it.
    PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(job), true);
    EXECUTE format('ALTER TABLE %s %s', copy, change);
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR col IN
        SELECT attname, shadow FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE rel = target
    LOOP
        EXECUTE format('ALTER TABLE %s RENAME COLUMN %I TO %I', copy, col.attname, col.shadow);
    END LOOP;
    -- Another user may have created a lookalike since try_expressions() was called.
    PERFORM snowflake_ids_convert.refuse_lookalikes(
        ARRAY[copy::regclass], snowflake_ids_convert.lookalikes(ARRAY[target]), 'an expression');
    RETURN copy::regclass;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_copy(snowflake_ids_convert.job, regclass)
    IS 'internal: makes an empty copy of a table with the new type; error if a check or an index cannot take it';

CREATE FUNCTION snowflake_ids_convert.rehearse(job snowflake_ids_convert.job, target regclass) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy regclass := snowflake_ids_convert.make_copy(job, target);
    definitions jsonb := snowflake_ids_convert.definitions(target, copy);
BEGIN
    EXECUTE format('DROP TABLE %s', copy);
    RETURN definitions;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.rehearse(snowflake_ids_convert.job, regclass)
    IS 'internal: the indexes and checks of a table on the new columns; error if one cannot take the new type';

-- 45-rehearse_rows.sql
-- Constraints and indexes are tried on new ids before anything changes: rows of each table are inserted into its copy
-- as the conversion would leave them.

-- The statement that inserts up to 10,000 rows. It numbers the keys that they refer to as the conversion numbers all
-- keys, so their ids have the right times and order. With `fresh`, it inserts one row only, and this new column gets an
-- id that is drawn now. If the table is empty, that row has only the id. Columns that no check or index of the copy
-- uses are left out, because their values may be large. Domains are not left out, because they may refuse NULL.
CREATE FUNCTION snowflake_ids_convert.insert_sample(
    job snowflake_ids_convert.job, target regclass, copy regclass, fresh name
) RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
    WITH c AS (
        SELECT * FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE rel = target
    ), sampled (query) AS (
        SELECT format('SELECT * FROM ONLY %s TABLESAMPLE SYSTEM (%s) REPEATABLE (0) LIMIT %s', target,
                      least(100, 1000000 / greatest(reltuples, 1)), CASE WHEN fresh IS NULL THEN 10000 ELSE 1 END)
        FROM pg_class
        WHERE oid = target
    ), numbered (new_id, query) AS (
        SELECT format(job.make, format('(position / %s)', job.capacity), format('position %% %s', job.capacity)),
               snowflake_ids_convert.positions(job, clock_timestamp(), (
                   SELECT string_agg(format('%I%s = ANY (ARRAY(SELECT %I FROM sample))', job.key_column, "collate",
                                            attname), ' OR ')
                   FROM c))
    ), values_of (names, expressions, joins) AS (
        SELECT string_agg(format('%I', coalesce(c.shadow, a.attname)), ', ' ORDER BY a.attnum),
               string_agg(CASE WHEN c.shadow = fresh THEN job.new_id
                               WHEN c.attnum IS NOT NULL THEN format('m%s.new', c.attnum)
                               ELSE format('s.%I', a.attname)
                          END, ', ' ORDER BY a.attnum),
               string_agg(format(' LEFT JOIN map AS m%s ON m%1$s.old%s = s.%I', c.attnum, c.collate, a.attname), '')
                   FILTER (WHERE c.attnum IS NOT NULL)
        FROM pg_attribute a
             LEFT JOIN c ON c.attnum = a.attnum
        WHERE a.attrelid = target
          AND a.attnum > 0
          AND NOT a.attisdropped
          AND a.attname NOT IN (SELECT shadow FROM c)
          AND (c.attnum IS NOT NULL
               OR EXISTS (SELECT FROM pg_type y WHERE y.oid = a.atttypid AND y.typtype = 'd')
               OR EXISTS (SELECT
                          FROM pg_depend d
                               JOIN pg_attribute k ON k.attrelid = copy AND k.attname = a.attname
                          WHERE d.refclassid = 'pg_class'::regclass
                            AND d.refobjid = copy
                            AND d.refobjsubid IN (0, k.attnum)
                            AND d.deptype <> 'i'
                            AND d.classid IN ('pg_class'::regclass, 'pg_constraint'::regclass)))
    )
    SELECT format('WITH sample AS MATERIALIZED (%s), map AS MATERIALIZED (SELECT old, %s AS new FROM (%s) AS p)
                   INSERT INTO %s (%s)
                   SELECT %s FROM (SELECT) AS one %s JOIN sample AS s ON true%s',
                  sampled.query, numbered.new_id, numbered.query, copy, names, expressions,
                  CASE WHEN fresh IS NULL THEN '' ELSE 'LEFT' END, joins)
    FROM sampled, numbered, values_of
$$;
COMMENT ON FUNCTION snowflake_ids_convert.insert_sample(snowflake_ids_convert.job, regclass, regclass, name)
    IS 'internal: the statement that inserts rows with new ids into the copy of a table';

-- What does not accept the rows is dropped from the copy, and they are tried again, until all problems are found. If
-- the table is empty, checks of several columns do not count, because the row has nothing in the others.
CREATE FUNCTION snowflake_ids_convert.try_insert(target regclass, copy regclass, statement text) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    name name;
    columns integer;
    is_empty boolean;
BEGIN
    EXECUTE format('SELECT NOT EXISTS (SELECT FROM ONLY %s)', target) INTO is_empty;
    LOOP
        BEGIN
            EXECUTE statement;
            RETURN;
        EXCEPTION
            WHEN check_violation THEN
                GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
                columns := (SELECT cardinality(conkey) FROM pg_constraint WHERE conrelid = copy AND conname = name);
                IF columns = 1 OR NOT is_empty THEN
                    RETURN NEXT format('table %s: check constraint %I does not accept new ids; drop it, or replace it '
                                       'by one that they satisfy', target, name);
                END IF;
                EXIT WHEN columns IS NULL;
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', copy, name);
            WHEN unique_violation THEN
                GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
                RETURN NEXT format('index %s: new ids are not unique in it; drop it',
                                   substring(name FROM '[0-9]+$')::oid::regclass);
                RETURN;
            WHEN not_null_violation THEN
                -- A domain of another column in an empty table.
                RETURN;
            WHEN OTHERS THEN
                RETURN NEXT format('table %s: a check or an index does not accept new ids; drop it: %s', target,
                                   SQLERRM);
                RETURN;
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.try_insert(regclass, regclass, text)
    IS 'internal: what does not accept the rows that a statement inserts into the copy of a table';

-- A table that only refers to keys gets a fresh id if it has one such column. Else the order of its ids could be one
-- that never comes.
CREATE FUNCTION snowflake_ids_convert.rehearse_rows(job snowflake_ids_convert.job, target regclass) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    copy regclass := snowflake_ids_convert.make_copy(job, target);
    fresh name := (SELECT CASE WHEN count(*) = 1 THEN min(shadow) ELSE min(shadow) FILTER (WHERE is_key) END
                   FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
                   WHERE rel = target);
BEGIN
    IF fresh IS NOT NULL THEN
        RETURN QUERY
        SELECT *
        FROM snowflake_ids_convert.try_insert(
                 target, copy, snowflake_ids_convert.insert_sample(job, target, copy, fresh));
    END IF;
    EXECUTE format('DELETE FROM %s', copy);
    RETURN QUERY
    SELECT *
    FROM snowflake_ids_convert.try_insert(
             target, copy, snowflake_ids_convert.insert_sample(job, target, copy, NULL));
    EXECUTE format('DROP TABLE %s', copy);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.rehearse_rows(snowflake_ids_convert.job, regclass)
    IS 'internal: checks and indexes of a table that do not accept new ids';

-- 50-problems.sql
-- Problems that the catalogs show. They are looked for before anything changes, and again before each strong lock.

CREATE FUNCTION snowflake_ids_convert.table_problems(target regclass) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    class pg_class := (SELECT c FROM pg_class c WHERE c.oid = target);
BEGIN
    IF class.relkind = 'p' OR class.relispartition THEN
        RETURN NEXT format('table %s: partitioned tables and partitions are not supported', target);
        RETURN;
    ELSIF class.relkind <> 'r' THEN
        RETURN NEXT format('%s: is not a table', target);
        RETURN;
    ELSIF class.relpersistence = 't' THEN
        RETURN NEXT format('table %s: is temporary', target);
    ELSIF EXISTS (SELECT FROM pg_inherits WHERE target IN (inhrelid, inhparent)) OR class.reloftype <> 0 THEN
        RETURN NEXT format('table %s: inheritance and typed tables are not supported', target);
    END IF;
    IF NOT has_schema_privilege(class.relnamespace, 'CREATE') THEN
        RETURN NEXT format('table %s: the CREATE privilege on its schema is needed', target);
    END IF;
    IF row_security_active(target) THEN
        RETURN NEXT format('table %s: row security hides rows from its owner (FORCE ROW LEVEL SECURITY)', target);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.table_problems(regclass)
    IS 'internal: why a table cannot be converted, whatever its columns are';

-- Objects that depend on the columns, such as views. They may exist until the changeover. Exceptions are objects that
-- the changeover makes again: the columns' own defaults and sequences, constraints, indexes, statistics, column lists
-- of publications, triggers for UPDATE OF.
CREATE FUNCTION snowflake_ids_convert.dependents(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: %s depends on it', d.rel, d.attname, d.object)
    FROM (SELECT DISTINCT c.rel, pg_describe_object(d.classid, d.objid, d.objsubid) AS object, c.attname
          FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
               JOIN pg_depend d ON d.refobjid = c.rel AND d.refobjsubid = c.attnum
               JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
          WHERE d.refclassid = 'pg_class'::regclass
            AND NOT CASE d.classid
                WHEN 'pg_attrdef'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_attrdef ad
                            WHERE ad.oid = d.objid AND ad.adnum = d.refobjsubid AND a.attgenerated = '')
                WHEN 'pg_class'::regclass THEN
                    EXISTS (SELECT FROM pg_class c WHERE c.oid = d.objid AND c.relkind IN ('i', 'S'))
                WHEN 'pg_constraint'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_constraint c
                            WHERE c.oid = d.objid AND c.contype IN ('p', 'u', 'c', 'f', 'n'))
                WHEN 'pg_statistic_ext'::regclass THEN true
                WHEN 'pg_publication_rel'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_publication_rel p
                                 JOIN pg_publication b ON b.oid = p.prpubid
                            WHERE p.oid = d.objid
                              AND pg_has_role(b.pubowner, 'USAGE')
                              AND coalesce(p.prqual::text !~ (':varattno ' || d.refobjsubid || ' '), true))
                WHEN 'pg_trigger'::regclass THEN
                    EXISTS (SELECT
                            FROM pg_trigger g
                            WHERE g.oid = d.objid
                              AND (g.tgname ~ '^zz_snowflake_ids_'
                                   OR coalesce(g.tgqual::text !~ (':varattno ' || d.refobjsubid || ' '), true)))
                ELSE false
                END
          ORDER BY 1, 2) AS d
$$;
COMMENT ON FUNCTION snowflake_ids_convert.dependents(snowflake_ids_convert.job)
    IS 'internal: objects that use columns and that a conversion cannot make again';

CREATE FUNCTION snowflake_ids_convert.constraint_problems(
    job snowflake_ids_convert.job, target regclass, attnums smallint[]
) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT DISTINCT format('table %s: %s depends on constraint %I', target,
                           pg_describe_object(d.classid, d.objid, d.objsubid), c.conname)
    FROM pg_constraint c
         JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = c.oid AND d.deptype = 'n'
    WHERE c.conrelid = target AND c.conkey && attnums AND d.classid <> 'pg_constraint'::regclass
    UNION ALL
    SELECT format('table %s: foreign key %I of %s needs index %s, which the conversion replaces; '
                  'drop the foreign key first, and add it again afterwards',
                  target, f.conname, f.conrelid::regclass, x.index)
    FROM snowflake_ids_convert.indexes(target, attnums) x
         JOIN pg_constraint f ON f.contype = 'f' AND f.conindid = x.index
    WHERE NOT f.confkey && attnums
    UNION ALL
    SELECT format('column %s.%I: the index of constraint %I is not a btree', target, a.attname, c.conname)
    FROM pg_constraint c
         JOIN pg_attribute a ON a.attrelid = target AND a.attnum = ANY (attnums) AND a.attnum = ANY (c.conkey)
    WHERE c.conrelid = target
      AND c.contype IN ('p', 'u')
      AND NOT EXISTS (SELECT
                      FROM pg_class i
                           JOIN pg_am m ON m.oid = i.relam
                      WHERE i.oid = c.conindid AND m.amname = 'btree')
    UNION ALL
    SELECT format('column %s.%I: refers to another key, in %s (foreign key %I)', target, a.attname,
                  f.confrelid::regclass, f.conname)
    FROM pg_constraint f
         CROSS JOIN LATERAL unnest(f.conkey, f.confkey) AS k (att, ref)
         JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.att
    WHERE f.contype = 'f'
      AND f.conrelid = target
      AND k.att = ANY (attnums)
      AND NOT EXISTS (SELECT
                      FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
                      WHERE c.rel = f.confrelid AND c.attnum = k.ref)
    UNION ALL
    SELECT format('index %s: is not valid; rebuild or drop it', x.index)
    FROM snowflake_ids_convert.indexes(target, attnums) x
    WHERE NOT x.valid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.constraint_problems(snowflake_ids_convert.job, regclass, smallint[])
    IS 'internal: constraints and indexes that a conversion cannot make again';

-- The default of the key is replaced. A default of a column that refers to the key would be an old key.
CREATE FUNCTION snowflake_ids_convert.column_problems(
    job snowflake_ids_convert.job, target regclass, attnums smallint[]
) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: has domain %s, which would be lost', target, a.attname, format_type(a.atttypid, NULL))
    FROM pg_attribute a
         JOIN pg_type y ON y.oid = a.atttypid
    WHERE a.attrelid = target AND a.attnum = ANY (attnums) AND y.typtype = 'd'
    UNION ALL
    SELECT format('column %s.%I: has a default, which would be an old key', target, a.attname)
    FROM pg_attribute a
    WHERE a.attrelid = target
      AND a.attnum = ANY (attnums)
      AND (a.atthasdef OR a.attidentity <> '')
      AND NOT (target = job.relation AND a.attnum = job.key_attnum)
    UNION ALL
    SELECT format('table %s: %s uses the sequence of the key', target,
                  pg_describe_object(o.classid, o.objid, o.objsubid))
    FROM pg_depend d
         JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
         JOIN pg_depend o ON o.refclassid = 'pg_class'::regclass AND o.refobjid = s.oid AND o.deptype = 'n'
    WHERE d.classid = 'pg_class'::regclass
      AND d.refclassid = 'pg_class'::regclass
      AND d.refobjid = target
      AND d.refobjsubid = ANY (attnums)
      AND d.deptype IN ('a', 'i')
      AND NOT EXISTS (SELECT
                      FROM pg_attrdef ad
                      WHERE o.classid = 'pg_attrdef'::regclass
                        AND ad.oid = o.objid
                        AND ad.adrelid = target
                        AND ad.adnum = ANY (attnums))
    UNION ALL
    SELECT format('table %s: a column has a security label, which would be lost', target)
    WHERE EXISTS (SELECT
                  FROM pg_seclabel
                  WHERE classoid = 'pg_class'::regclass AND objoid = target AND objsubid = ANY (attnums))
$$;
COMMENT ON FUNCTION snowflake_ids_convert.column_problems(snowflake_ids_convert.job, regclass, smallint[])
    IS 'internal: properties of columns that would be lost';

CREATE FUNCTION snowflake_ids_convert.trigger_problems(job snowflake_ids_convert.job, target regclass)
RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('table %s: refers to another key that is being converted; finish that conversion first', target)
    WHERE EXISTS (SELECT
                  FROM snowflake_ids_convert.triggers(NULL) g
                  WHERE g.rel = target
                    AND g.function = 'follow'
                    AND g.relation <> job.relation
                    AND EXISTS (SELECT
                                FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
                                WHERE c.rel = target AND NOT c.is_key))
    UNION ALL
    SELECT format('table %s: rule %I is for UPDATE, and would apply to the updates of the conversion', target,
                  rulename)
    FROM pg_rewrite
    WHERE ev_class = target AND ev_type = '2' AND ev_enabled <> 'D'
    UNION ALL
    SELECT format('table %s: trigger %I fires after the triggers of the conversion, which would miss its changes; '
                  'rename it so that it sorts before zz_snowflake_ids, and undo a conversion in which it has fired',
                  target, tgname)
    FROM pg_trigger
    WHERE tgrelid = target
      AND NOT tgisinternal
      AND tgtype & 3 = 3
      AND tgtype & 20 <> 0
      AND tgenabled <> 'D'
      AND tgname > 'zz_snowflake_ids_'
      AND tgname !~ '^zz_snowflake_ids_\d_'
    UNION ALL
    SELECT format('table %s: trigger %I would fire for every row; '
                  'set fire_triggers, or have the SET privilege on session_replication_role granted', target, tgname)
    FROM pg_trigger
    WHERE tgrelid = target
      AND NOT tgisinternal
      AND tgtype & 16 <> 0
      AND tgattr::text = ''
      AND tgenabled IN ('O', 'A')
      AND tgname !~ '^zz_snowflake_ids_'
      AND NOT job.fire_triggers
      AND NOT has_parameter_privilege('session_replication_role', 'SET')
$$;
COMMENT ON FUNCTION snowflake_ids_convert.trigger_problems(snowflake_ids_convert.job, regclass)
    IS 'internal: rules and triggers that would conflict with those of a conversion';

-- Subscribers would receive columns that they do not have, and replication would stop. The map is made in the schema
-- of the key's table. A publication of all tables, or of that schema, would have the map too, and subscribers have no
-- such table.
CREATE FUNCTION snowflake_ids_convert.publications(target regclass, OUT problem text, OUT map_problem text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('table %s is in publication %I: its subscribers need the new columns first', target, b.pubname),
           CASE WHEN p.has_map
                THEN format('publication %I would have the map of old and new keys too: '
                            'make it a publication of named tables', b.pubname)
           END
    FROM pg_publication b
         CROSS JOIN LATERAL (
             SELECT b.puballtables
                    OR EXISTS (SELECT
                               FROM pg_publication_namespace n
                                    JOIN pg_class c ON c.relnamespace = n.pnnspid
                               WHERE n.pnpubid = b.oid AND c.oid = target)) AS p (has_map)
    WHERE p.has_map OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = b.oid AND r.prrelid = target)
    ORDER BY b.pubname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.publications(regclass)
    IS 'internal: publications that a table is in, or that would have the map of its keys too';

-- A table cannot be rewritten while a column of another table has its row type.
CREATE FUNCTION snowflake_ids_convert.row_type_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH RECURSIVE containing (rel, type) AS (
        SELECT t.rel, c.reltype
        FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) t
             JOIN pg_class c ON c.oid = t.rel
        UNION
        SELECT inner_type.rel, outer_type.oid
        FROM containing AS inner_type
             CROSS JOIN LATERAL (
                 SELECT oid
                 FROM pg_type
                 WHERE typelem = inner_type.type OR typbasetype = inner_type.type
                 UNION ALL
                 SELECT rngtypid
                 FROM pg_range
                 WHERE rngsubtype = inner_type.type
                 UNION ALL
                 SELECT c.reltype
                 FROM pg_class c
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.atttypid = inner_type.type
                 WHERE c.relkind = 'c') AS outer_type (oid)
    )
    SELECT format('table %s: column %s.%I has its row type; it cannot be rewritten with keep_position', t.rel,
                  c.oid::regclass, a.attname)
    FROM containing t
         JOIN pg_attribute a ON a.atttypid = t.type
         JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'm', 'p')
    ORDER BY t.rel, a.attrelid, a.attname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.row_type_problems(snowflake_ids_convert.job)
    IS 'internal: columns that have the row type of a table that would be rewritten';

CREATE FUNCTION snowflake_ids_convert.problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    tbl record;
BEGIN
    RETURN QUERY SELECT * FROM snowflake_ids_convert.owner_problems(job);
    -- The other checks run code of the tables, so only the owner may continue.
    IF FOUND THEN
        RETURN;
    END IF;
    FOR tbl IN SELECT * FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) LOOP
        RETURN QUERY SELECT * FROM snowflake_ids_convert.table_problems(tbl.rel);
        CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE oid = tbl.rel AND (relkind <> 'r' OR relispartition));
        RETURN QUERY SELECT * FROM snowflake_ids_convert.constraint_problems(job, tbl.rel, tbl.attnums);
        RETURN QUERY SELECT * FROM snowflake_ids_convert.column_problems(job, tbl.rel, tbl.attnums);
        RETURN QUERY SELECT * FROM snowflake_ids_convert.trigger_problems(job, tbl.rel);
        IF NOT job.publications THEN
            RETURN QUERY
            SELECT problem || '; add them there and set publications, or remove the table from the publication'
            FROM snowflake_ids_convert.publications(tbl.rel);
        END IF;
        BEGIN
            -- Once the rows have their new ids, refuse_violations() looks at these.
            IF job.map IS NULL THEN
                RETURN QUERY SELECT DISTINCT * FROM snowflake_ids_convert.rehearse_rows(job, tbl.rel);
            ELSE
                PERFORM snowflake_ids_convert.rehearse(job, tbl.rel);
            END IF;
        EXCEPTION
            WHEN query_canceled OR lock_not_available THEN
                RAISE;
            WHEN OTHERS THEN
                RETURN NEXT format('table %s: %s', tbl.rel, SQLERRM);
        END;
    END LOOP;
    IF coalesce(job.changes_over, job.phase IS DISTINCT FROM 'prepare') THEN
        RETURN QUERY SELECT * FROM snowflake_ids_convert.dependents(job);
    END IF;
    RETURN QUERY
    SELECT map_problem FROM snowflake_ids_convert.publications(job.relation) WHERE map_problem IS NOT NULL;
    IF job.keep_position THEN
        RETURN QUERY SELECT * FROM snowflake_ids_convert.row_type_problems(job);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.problems(snowflake_ids_convert.job)
    IS 'internal: why the key of a table cannot be converted, as far as the catalogs show';

-- 60-ids.sql
-- The new id of each row.
--
-- Rows are sorted by time, then by old key. A tick has room for C ids. The position of a row is tick * C + number,
-- where number counts the rows of one tick from 0. A row gets the first position of its tick, or the position after
-- that of the previous row, whichever is later. So positions are unique and keep the order, and a row moves to a later
-- tick only if a tick has more than C rows.

-- Returns the query that gives each row its position. The tick is null if the time fits no id or is after up_to. Times
-- without a zone are read in the zone of the setting TimeZone, because "AT TIME ZONE 'CET'" would be an abbreviation,
-- without summer time.
CREATE FUNCTION snowflake_ids_convert.positions(job snowflake_ids_convert.job, up_to timestamptz, condition text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format(
        'SELECT n, old, created, tick, n + max(tick * %1$s - n) OVER (ORDER BY n) AS position
         FROM (SELECT row_number() OVER (ORDER BY created, old) - 1 AS n, old, created,
                      CASE WHEN extract(epoch FROM created) BETWEEN %2$s AND %3$s
                           THEN floor((extract(epoch FROM created) - %2$s) * 1000 / %4$s)::int8
                      END AS tick
               FROM (SELECT %5$I AS old, %6$I::timestamptz AS created
                     FROM ONLY %7$s
                     WHERE %8$s) AS key_table) AS numbered',
        job.capacity, extract(epoch FROM job.epoch), extract(epoch FROM up_to), job.tick_ms,
        job.key_column, job.created_column, job.relation, condition)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.positions(snowflake_ids_convert.job, timestamptz, text)
    IS 'internal: the query that gives each row its position among the new ids';

CREATE FUNCTION snowflake_ids_convert.tick_of(job snowflake_ids_convert.job, moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT floor((extract(epoch FROM moment) - extract(epoch FROM job.epoch)) * 1000 / job.tick_ms)::bigint
$$;
COMMENT ON FUNCTION snowflake_ids_convert.tick_of(snowflake_ids_convert.job, timestamptz)
    IS 'internal: number of the tick that contains a time';

CREATE FUNCTION snowflake_ids_convert.time_problems(
    job snowflake_ids_convert.job, up_to timestamptz, condition text
) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    times record;
BEGIN
    EXECUTE format('SELECT count(*) FILTER (WHERE %1$s IS NULL) AS nulls,
                           count(*) FILTER (WHERE %1$s < $1) AS early,
                           count(*) FILTER (WHERE %1$s > $2) AS late,
                           min(%1$s) AS first,
                           max(%1$s) AS last
                    FROM ONLY %2$s
                    WHERE %3$s', format('%I::timestamptz', job.created_column), job.relation, condition)
    INTO times
    USING job.epoch, up_to;
    IF times.nulls > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows have no time', job.relation, job.created_column, times.nulls);
    END IF;
    IF times.early > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows are before %s, the first time of %s; the earliest is %s',
                           job.relation, job.created_column, times.early, job.epoch, job.format, times.first);
    END IF;
    IF times.late > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows are in the future; the latest is %s',
                           job.relation, job.created_column, times.late, times.last);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.time_problems(snowflake_ids_convert.job, timestamptz, text)
    IS 'internal: rows whose time no id can have';

-- Reads the table and changes nothing.
CREATE FUNCTION snowflake_ids_convert.crowding(
    job snowflake_ids_convert.job, up_to timestamptz, condition text, OUT rows bigint, OUT moves text, OUT too_far text
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    moved record;
BEGIN
    EXECUTE format('SELECT count(*) AS rows,
                           count(*) FILTER (WHERE position / $1 <> tick) AS moved_rows,
                           max(position / $1 - tick) AS furthest,
                           max(position / $1) AS last_tick
                    FROM (%s) AS p', snowflake_ids_convert.positions(job, up_to, condition))
    INTO moved
    USING job.capacity;
    rows := moved.rows;
    IF moved.moved_rows > 0 THEN
        moves := format('column %s.%I: some ticks of %s ms have more than %s rows; '
                        '%s rows %s moved to later ticks, by %s ms at most%s',
                        job.relation, job.created_column, job.tick_ms, job.capacity,
                        moved.moved_rows, CASE WHEN job.spill THEN 'are' ELSE 'would be' END,
                        moved.furthest * job.tick_ms, CASE WHEN job.spill THEN '' ELSE '; set spill to allow it' END);
        IF moved.last_tick > snowflake_ids_convert.tick_of(job, up_to) THEN
            too_far := format('column %s.%I: rows would be moved into the future', job.relation, job.created_column);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.crowding(snowflake_ids_convert.job, timestamptz, text)
    IS 'internal: number of rows, and what is to be said about ticks that have more rows than ids';

-- One sorted pass over the key's table makes the map. Rows that are inserted later have no n. The map stays until
-- snowflake_ids_convert_forget() is called.
CREATE FUNCTION snowflake_ids_convert.make_map(job snowflake_ids_convert.job) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    map text := snowflake_ids_convert.sibling(job.relation, 'snowflake_ids_map_' || job.relation::oid);
    fits text := CASE WHEN job.spill THEN 'tick IS NOT NULL' ELSE format('tick = position / %s', job.capacity) END;
    new_id text := format(job.make, format('(position / %s)', job.capacity), format('position %% %s', job.capacity));
BEGIN
    -- Rows may have changed since the plan, and may still change. So the statement that makes the ids also decides, in
    -- one snapshot, which rows can have one. An id of a time that the generator has not reached would be issued again.
    EXECUTE format('CREATE TABLE %s AS
                    SELECT n, old, created, CASE WHEN %s AND position / %s <= %s THEN %s END AS new
                    FROM (%s) AS p',
                   map, fits, job.capacity, snowflake_ids_convert.tick_of(job, job.issued_after), new_id,
                   snowflake_ids_convert.positions(job, job.issued_after, format('%I IS NULL', job.shadow)));
    -- The default privileges of the owner may have granted privileges on the map.
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', map,
                               CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END)
        FROM pg_class c
             CROSS JOIN LATERAL aclexplode(c.relacl) AS acl
        WHERE c.oid = map::regclass AND acl.grantee <> c.relowner));
    EXECUTE format('ALTER TABLE %s ADD UNIQUE (n)', map);
    EXECUTE format('CREATE INDEX ON %s (new)', map);
    EXECUTE format('COMMENT ON TABLE %s IS %L', map,
                   format('old and new keys of %s; see snowflake_ids_convert_forget()', job.relation));
    EXECUTE format('ANALYZE %s', map);
    RETURN map::regclass;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_map(snowflake_ids_convert.job)
    IS 'internal: makes the new ids, in a table of old and new keys';

-- The time zone is UTC on entry and that of the first call from then on. The SET clause restores the caller's zone.
CREATE FUNCTION snowflake_ids_convert.number_rows(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET TimeZone = 'UTC'
AS $$
DECLARE
    not_numbered text := format('%I IS NULL', job.shadow);
    crowded record;
    problems text[];
BEGIN
    PERFORM set_config('TimeZone', job.zone, true);
    job.map := snowflake_ids_convert.make_map(job);
    IF snowflake_ids_convert.count_rows(job.map, 'new IS NULL') > 0 THEN
        problems := ARRAY(SELECT snowflake_ids_convert.time_problems(job, job.issued_after, not_numbered));
        IF problems = '{}' THEN
            crowded := snowflake_ids_convert.crowding(job, job.issued_after, not_numbered);
            problems := ARRAY[coalesce(
                crowded.too_far, CASE WHEN NOT job.spill THEN crowded.moves END,
                format('Times in %I changed while the rows were numbered.', job.created_column))];
        END IF;
        PERFORM snowflake_ids_convert.refuse(job, problems);
    END IF;
    PERFORM snowflake_ids_convert.verify_map(job);
    job.phase := 'fill';
    job.part := job.relation;
    job.done := 0;
    job.total := snowflake_ids_convert.count_rows(job.map, 'true');
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.number_rows(snowflake_ids_convert.job)
    IS 'internal: phase number: makes the id of each row, and checks all of them';

-- Reads the new ids back and compares them with the times of their rows: after they were made, and again before the
-- changeover. A row has the tick of its time. If C ids fit into a tick, a row that was moved has the tick after that
-- of the row C positions before it.
CREATE FUNCTION snowflake_ids_convert.verify_map(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    wrong record;
BEGIN
    EXECUTE format('SELECT old, created, time
                    FROM (SELECT *, %1$s AS time FROM %2$s WHERE n IS NOT NULL) AS m
                    WHERE time IS DISTINCT FROM date_bin($1, created, $2)
                      AND (coalesce(time <= created, true)
                           OR NOT EXISTS (SELECT
                                          FROM %2$s AS earlier
                                          WHERE n = m.n - $3 AND %1$s = m.time - $1))
                    ORDER BY n
                    LIMIT 1', format(job.read, 'new'), job.map)
    INTO wrong
    USING make_interval(secs => job.tick_ms / 1000.0), job.epoch, job.capacity;
    IF wrong.created IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot continue converting %s', job.relation),
            detail => format('The row with key %s has the time %s, but its new id has the time %s.',
                                  wrong.old, wrong.created, wrong.time),
            hint => 'The old keys are in place. Undo the conversion with snowflake_ids_convert_undo().');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.verify_map(snowflake_ids_convert.job)
    IS 'internal: error if a new id does not have the time of its row';

-- 70-triggers.sql
-- The triggers of a conversion. Their functions belong to the extension, so it cannot be dropped while they exist.
-- Arguments of a trigger: the oid of the key's table, the column number of the key, and the number of its own column.
--
--   zz_snowflake_ids_1_key      key      a new row draws its id
--   zz_snowflake_ids_2_N        follow   new column N gets the new id of the key that its row refers to
--   zz_snowflake_ids_3_N        follow   waits for that id, once all existing keys have theirs
--   zz_snowflake_ids_4_N        late     gets it at the end of the transaction, if the key is inserted later
--   zz_snowflake_ids_4_delete   moved    a key passes to another row
--   zz_snowflake_ids_4_update   moved    the same
CREATE FUNCTION snowflake_ids_convert.key() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_key' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.key() IS 'internal: trigger on a key that is converted';

CREATE FUNCTION snowflake_ids_convert.follow() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_follow' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.follow() IS 'internal: trigger on a column that refers to a converted key';

CREATE FUNCTION snowflake_ids_convert.late() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_late' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.late()
    IS 'internal: trigger on a column that may refer to a key that is inserted later';

CREATE FUNCTION snowflake_ids_convert.moved() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_moved' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.moved() IS 'internal: trigger on a key that passes to another row';

CREATE FUNCTION snowflake_ids_convert.make_trigger(target regclass, name text, kind text, definition text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = name) THEN
        EXECUTE format('CREATE %s %I %s', kind, name, replace(definition, '{table}', target::text));
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, name);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_trigger(regclass, text, text, text)
    IS 'internal: creates a trigger if it does not exist';

CREATE FUNCTION snowflake_ids_convert.make_triggers(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    arguments text := format('%L, %L', job.relation::oid, job.key_attnum);
    col record;
BEGIN
    PERFORM snowflake_ids_convert.make_trigger(job.relation, 'zz_snowflake_ids_1_key', 'TRIGGER', format(
        'BEFORE INSERT OR UPDATE OF %I ON {table} FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.key(%s)',
        job.key_column, arguments));
    FOR col IN
        SELECT * FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE NOT is_key
    LOOP
        PERFORM snowflake_ids_convert.make_trigger(col.rel, 'zz_snowflake_ids_2_' || col.attnum, 'TRIGGER', format(
            'BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow(%s, %L)',
            arguments, col.attnum));
    END LOOP;
    -- If a key passes to another row, only columns that refer to it have to be updated.
    IF FOUND THEN
        PERFORM snowflake_ids_convert.make_trigger(
            job.relation, 'zz_snowflake_ids_4_delete', 'CONSTRAINT TRIGGER', format(
                'AFTER DELETE ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                 EXECUTE FUNCTION snowflake_ids_convert.moved(%s)', arguments));
        PERFORM snowflake_ids_convert.make_trigger(
            job.relation, 'zz_snowflake_ids_4_update', 'CONSTRAINT TRIGGER', format(
                'AFTER UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                 WHEN (OLD.%I IS DISTINCT FROM NEW.%1$I)
                 EXECUTE FUNCTION snowflake_ids_convert.moved(%s)', job.key_column, arguments));
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_triggers(snowflake_ids_convert.job)
    IS 'internal: creates the triggers that fill the new columns from the start';

-- From this phase on, all existing keys have ids. If a key has none, it is not yet inserted, or the transaction's
-- snapshot is too old to see its id.
CREATE FUNCTION snowflake_ids_convert.make_late_triggers(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    definition text;
    col record;
BEGIN
    FOR col IN
        SELECT * FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE NOT is_key AND filled
    LOOP
        definition := format('FOR EACH ROW WHEN (NEW.%I IS NOT NULL AND NEW.%I IS NULL)
                              EXECUTE FUNCTION snowflake_ids_convert.%%s(%L, %L, %L%%s)',
                             col.attname, col.shadow, job.relation::oid, job.key_attnum, col.attnum);
        PERFORM snowflake_ids_convert.make_trigger(
            col.rel, 'zz_snowflake_ids_3_' || col.attnum, 'TRIGGER',
            'BEFORE INSERT OR UPDATE ON {table} ' || format(definition, 'follow', ', ''wait'''));
        IF NOT col.at_once THEN
            PERFORM snowflake_ids_convert.make_trigger(
                col.rel, 'zz_snowflake_ids_4_' || col.attnum, 'CONSTRAINT TRIGGER',
                'AFTER INSERT OR UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED ' || format(definition, 'late', ''));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_late_triggers(snowflake_ids_convert.job)
    IS 'internal: creates the triggers that fill the new columns after all existing keys have ids';

CREATE FUNCTION snowflake_ids_convert.drop_triggers(converted regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('DROP TRIGGER %I ON %s', name, rel) FROM snowflake_ids_convert.triggers(converted)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_triggers(regclass) IS 'internal: removes the triggers of a conversion';

-- The trigger function moved() calls this as the owner of the table.
CREATE FUNCTION snowflake_ids_convert.follow_moved_key(converted regclass, key_number smallint, key text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    key_name name := snowflake_ids_convert.column_name(converted, key_number);
    key_type text := (SELECT format_type(atttypid, atttypmod)
                      FROM pg_attribute
                      WHERE attrelid = converted AND attnum = key_number);
    col record;
BEGIN
    FOR col IN
        SELECT * FROM snowflake_ids_convert.columns(converted, key_number) WHERE NOT is_key AND filled
    LOOP
        EXECUTE format('UPDATE ONLY %s AS c
                        SET %I = k.%I
                        FROM ONLY %s AS k
                        WHERE k.%I = $1::%s AND k.%5$I%7$s = c.%8$I AND c.%2$I::text IS DISTINCT FROM k.%3$I::text',
                       col.rel, col.shadow, 'snowflake_ids_new_' || key_number, converted,
                       key_name, key_type, col.collate, col.attname)
        USING key;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_moved_key(regclass, smallint, text)
    IS 'internal: columns that refer to a key get the id of the row that has the key now';

-- 75-fill.sql
-- New columns next to the old ones, filled in batches.

-- The default of the key's new column draws ids. PostgreSQL stores which function it calls, so the default stays right
-- if the extension moves to another schema.
CREATE FUNCTION snowflake_ids_convert.prepare(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.problems(job)));
    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('ALTER TABLE %s ADD COLUMN %I %s', rel, shadow, job.type)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)));
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', job.relation, job.shadow, job.new_id);
    PERFORM snowflake_ids_convert.make_triggers(job);
    -- No row can be inserted while the lock is held. So existing rows are from this time or earlier, and every new row
    -- draws an id that is later.
    job.issued_after := snowflake_ids.pass_now(job.format);
    job.phase := 'number';
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.prepare(snowflake_ids_convert.job)
    IS 'internal: phase prepare: adds the new columns and their triggers';

CREATE FUNCTION snowflake_ids_convert.silence_triggers(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    -- A conversion runs as another role than its caller, so that no trigger may be left until the commit.
    SET CONSTRAINTS ALL IMMEDIATE;
    IF NOT job.fire_triggers AND has_parameter_privilege('session_replication_role', 'SET') THEN
        PERFORM set_config('session_replication_role', 'replica', true);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.silence_triggers(snowflake_ids_convert.job)
    IS 'internal: keeps the tables'' own triggers from firing in this transaction';

-- The planner has no statistics of the new column, so it would read the whole table to find null values. With these
-- settings, it reads a batch of the map by its numbers, and finds the keys by their index.
CREATE FUNCTION snowflake_ids_convert.fill_keys(job snowflake_ids_convert.job, first bigint, size bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    rows bigint;
BEGIN
    PERFORM snowflake_ids_convert.silence_triggers(job);
    EXECUTE format('UPDATE ONLY %s AS k
                    SET %I = m.new
                    FROM %s AS m
                    WHERE m.n >= $1 AND m.n < $1 + $2 AND k.%I = m.old AND k.%2$I IS NULL',
                   job.relation, job.shadow, job.map, job.key_column)
    USING first, size;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_keys(snowflake_ids_convert.job, bigint, bigint)
    IS 'internal: writes the ids of a batch of keys, from a number on; returns the number of rows';

CREATE FUNCTION snowflake_ids_convert.fill_references(
    job snowflake_ids_convert.job, target regclass, first bigint, size bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    assignments text;
    unfilled text;
    rows bigint;
BEGIN
    SELECT string_agg(format('%I = (SELECT k.%I FROM ONLY %s AS k WHERE k.%I%s = c.%I)', shadow, job.shadow,
                             job.relation, job.key_column, "collate", attname), ', '),
           string_agg(format('c.%I IS NULL AND c.%I IS NOT NULL', shadow, attname), ' OR ')
    INTO assignments, unfilled
    FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
    WHERE rel = target AND NOT is_key;
    PERFORM snowflake_ids_convert.silence_triggers(job);
    EXECUTE format('UPDATE ONLY %s AS c SET %s WHERE c.ctid >= $1 AND c.ctid < $2 AND (%s)', target, assignments,
                   unfilled)
    USING format('(%s,0)', first)::tid, format('(%s,0)', first + size)::tid;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_references(snowflake_ids_convert.job, regclass, bigint, bigint)
    IS 'internal: writes the new values of references in a range of blocks; returns the number of rows';

-- 80-constraints.sql
-- Constraints and indexes on the new columns, made before the changeover.

-- CHECK constraints on the converted columns, written for the new columns. A twin is such a check on the new columns;
-- the changeover only renames it. There is no twin if a new column may be filled later than its row is written, or if
-- the old check is not valid.
CREATE FUNCTION snowflake_ids_convert.checks(
    job snowflake_ids_convert.job,
    OUT rel regclass, OUT name name, OUT condition text, OUT twin name, OUT made boolean, OUT valid boolean
) RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
    WITH old_check AS MATERIALIZED (
        SELECT k.conrelid::regclass AS rel, k.oid, k.conname, ('snowflake_ids_check_of_' || k.oid)::name AS twin,
               NOT job.keep_position AND bool_and(c.at_once) AS has_twin
        FROM pg_constraint k
             JOIN snowflake_ids_convert.columns(job.relation, job.key_attnum) c
             ON k.conrelid = c.rel AND c.attnum = ANY (k.conkey)
        WHERE k.contype = 'c' AND k.convalidated AND k.conname !~ '^snowflake_ids_check_'
        GROUP BY k.oid, k.conrelid, k.conname
    ), rehearsed AS MATERIALIZED (
        SELECT t.rel, snowflake_ids_convert.rehearse(job, t.rel) AS definitions
        FROM (SELECT DISTINCT old_check.rel FROM old_check) AS t
    )
    SELECT o.rel, o.conname, r.definitions ->> ('check ' || o.oid), CASE WHEN o.has_twin THEN o.twin END,
           made.oid IS NOT NULL, coalesce(made.convalidated, false)
    FROM old_check o
         JOIN rehearsed r ON r.rel = o.rel
         LEFT JOIN pg_constraint made ON made.conrelid = o.rel AND made.conname = o.twin
    ORDER BY o.rel, o.conname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.checks(snowflake_ids_convert.job)
    IS 'internal: checks on the columns of a conversion, written for the new columns';

-- If a check has a valid twin, the new values satisfy it.
CREATE FUNCTION snowflake_ids_convert.refuse_violations(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(
        SELECT format('table %s: new values of rows violate check constraint %I', rel, name)
        FROM snowflake_ids_convert.checks(job)
        WHERE NOT valid AND snowflake_ids_convert.count_rows(rel, format('NOT (%s)', condition)) > 0));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_violations(snowflake_ids_convert.job)
    IS 'internal: error if the new values violate a check of their table';

-- With these constraints, the changeover need not read the tables. They are not valid yet.
CREATE FUNCTION snowflake_ids_convert.make_checks(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[];
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    -- From here on, writers would fail if the new values violated a check.
    PERFORM snowflake_ids_convert.refuse_violations(job);
    statements := ARRAY(
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, 'snowflake_ids_check_' || attnum,
                      CASE WHEN not_null THEN format('%I IS NOT NULL', shadow)
                           ELSE format('(%I IS NULL) = (%I IS NULL)', attname, shadow)
                      END)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
        WHERE at_once
        UNION ALL
        SELECT format('ALTER TABLE %s ADD CONSTRAINT %I CHECK (%s) NOT VALID', rel, twin, condition)
        FROM snowflake_ids_convert.checks(job)
        WHERE twin IS NOT NULL AND NOT made);
    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.run(statements);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_checks(snowflake_ids_convert.job)
    IS 'internal: adds NOT NULL checks and twins of checks on the new columns';

CREATE FUNCTION snowflake_ids_convert.validate_checks(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', k.conrelid::regclass, k.conname)
        FROM pg_constraint k
             JOIN snowflake_ids_convert.tables(job.relation, job.key_attnum) t ON t.rel = k.conrelid
        WHERE k.contype = 'c' AND k.conname ~ '^snowflake_ids_check_' AND NOT k.convalidated
        UNION ALL
        SELECT format('ANALYZE %s (%I)', rel, shadow)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_checks(snowflake_ids_convert.job)
    IS 'internal: validates the checks on the new columns, and analyzes the columns';

-- One row for each index on the old columns. state: null if the new index does not exist, true if it can be used. False
-- if a failed CREATE INDEX CONCURRENTLY left it invalid, or if it is another one: in the session that built it,
-- operators of other users may have come first on the path.
CREATE FUNCTION snowflake_ids_convert.new_indexes(
    job snowflake_ids_convert.job, OUT name text, OUT state boolean, OUT definition text
) RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
    WITH rehearsed AS MATERIALIZED (
        SELECT t.rel, t.attnums, t.n, snowflake_ids_convert.rehearse(job, t.rel) AS definitions
        FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) WITH ORDINALITY AS t (rel, attnums, n)
    )
    SELECT snowflake_ids_convert.sibling(r.rel, 'snowflake_ids_index_' || x.index::oid),
           i.indisvalid AND i.indisunique = x.is_unique
           AND snowflake_ids_convert.definitions(r.rel, r.rel) ->> x.index::oid::text
               = r.definitions ->> x.index::oid::text,
           format('CREATE %sINDEX {concurrently}%I ON %s %s', CASE WHEN x.is_unique THEN 'UNIQUE ' END,
                  'snowflake_ids_index_' || x.index::oid, r.rel, r.definitions ->> x.index::oid::text)
    FROM rehearsed r
         CROSS JOIN LATERAL snowflake_ids_convert.indexes(r.rel, r.attnums) x
         LEFT JOIN (pg_index i JOIN pg_class c ON c.oid = i.indexrelid)
         ON i.indrelid = r.rel AND c.relname = 'snowflake_ids_index_' || x.index::oid
    ORDER BY r.n, x.index
$$;
COMMENT ON FUNCTION snowflake_ids_convert.new_indexes(snowflake_ids_convert.job)
    IS 'internal: the indexes that the new columns need, and which of them exist';

CREATE FUNCTION snowflake_ids_convert.index_statements(job snowflake_ids_convert.job, build_concurrently boolean)
RETURNS SETOF text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
AS $$
    SELECT replace(statement, '{concurrently}', CASE WHEN build_concurrently THEN 'CONCURRENTLY ' ELSE '' END)
    FROM snowflake_ids_convert.new_indexes(job) WITH ORDINALITY AS i (name, state, definition, n)
         CROSS JOIN LATERAL (VALUES (1, 'DROP INDEX {concurrently}' || name), (2, definition)) AS s (nth, statement)
    WHERE state IS NULL AND nth = 2 OR NOT state
    ORDER BY n, nth
$$;
COMMENT ON FUNCTION snowflake_ids_convert.index_statements(snowflake_ids_convert.job, boolean)
    IS 'internal: statements that make the missing indexes';

-- 85-changeover.sql
-- The changeover: the new columns replace the old ones. The functions here return its statements. They read the
-- catalogs before writers are locked out, while the old columns still exist. 86-columns.sql has the statements for
-- columns and indexes. 87-swap.sql runs all statements in the order of these stages, then in that in which they come
-- here. What sets properties of an object is one stage later than what makes the object.
--
--   10   drop what uses the old columns                    20   replace the old columns
--   30   make again, on the new ones, what others need     40   make statistics again
--   50   make the rest again
--
-- Before stage 50 the schema of snowflake_ids is on the search path, because expressions on the new type need it. From
-- then on it is not.
CREATE TYPE snowflake_ids_convert.change AS (stage integer, statement text);
COMMENT ON TYPE snowflake_ids_convert.change IS 'a statement of the changeover; null: there is nothing to do';

CREATE FUNCTION snowflake_ids_convert.comment_statement(object text, comment text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN comment IS NOT NULL THEN format('COMMENT ON %s IS %L', object, comment) END
$$;
COMMENT ON FUNCTION snowflake_ids_convert.comment_statement(text, text)
    IS 'internal: the statement that sets a comment; null if there is no comment';

-- Foreign keys to the key, and checks on the columns. Foreign keys are dropped first and made last, because they need
-- the unique constraints. A valid twin gets the name of its check. A check without one is made again.
CREATE FUNCTION snowflake_ids_convert.change_constraints(job snowflake_ids_convert.job)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM (SELECT DISTINCT k.oid, k.conrelid::regclass AS rel, k.conname, k.contype, k.convalidated,
                          twin.conname AS twin,
                          CASE k.contype WHEN 'f' THEN 10 ELSE 20 END AS first,
                          CASE k.contype WHEN 'f' THEN 50 ELSE 30 END AS again
          FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
               JOIN pg_constraint k
               ON k.contype = 'f' AND k.confrelid = c.rel AND c.attnum = ANY (k.confkey)
                  OR k.contype = 'c' AND k.conrelid = c.rel AND c.attnum = ANY (k.conkey)
                     AND k.conname !~ '^snowflake_ids_check_' AND NOT job.keep_position
               LEFT JOIN pg_constraint twin
               ON twin.conrelid = k.conrelid AND twin.convalidated
                  AND twin.conname = 'snowflake_ids_check_of_' || k.oid) AS k
         CROSS JOIN LATERAL (VALUES
             (k.first, format('ALTER TABLE %s DROP CONSTRAINT %I', k.rel, k.conname)),
             (k.again, CASE WHEN k.twin IS NOT NULL
                            THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', k.rel, k.twin, k.conname)
                            ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s%s', k.rel, k.conname,
                                        pg_get_constraintdef(k.oid), CASE WHEN k.convalidated THEN ' NOT VALID' END)
                       END),
             (k.again + 1, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', k.conname, k.rel),
                                                                   obj_description(k.oid, 'pg_constraint')))
         ) AS s (stage, statement)
    ORDER BY k.contype DESC, k.oid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_constraints(snowflake_ids_convert.job)
    IS 'internal: statements that replace the foreign keys to converted columns, and the checks on them';

-- Twins of checks that were dropped after the twins were made
CREATE FUNCTION snowflake_ids_convert.drop_twins(target regclass) RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT 20, format('ALTER TABLE %s DROP CONSTRAINT %I', target, twin.conname)
    FROM pg_constraint twin
    WHERE twin.conrelid = target
      AND twin.conname ~ '^snowflake_ids_check_of_'
      AND NOT EXISTS (SELECT
                      FROM pg_constraint k
                      WHERE k.conrelid = target
                        AND twin.convalidated
                        AND twin.conname = 'snowflake_ids_check_of_' || k.oid)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_twins(regclass) IS 'internal: statements that drop twins of no check';

CREATE FUNCTION snowflake_ids_convert.change_triggers(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM pg_trigger g
         CROSS JOIN LATERAL (VALUES
             (10, format('DROP TRIGGER %I ON %s', g.tgname, target)),
             (50, pg_get_triggerdef(g.oid)),
             (51, CASE WHEN g.tgenabled <> 'O'
                       THEN format('ALTER TABLE %s %s TRIGGER %I', target,
                                   CASE g.tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'A' THEN 'ENABLE ALWAYS'
                                                    ELSE 'ENABLE REPLICA'
                                   END, g.tgname)
                  END),
             (51, snowflake_ids_convert.comment_statement(format('TRIGGER %I ON %s', g.tgname, target),
                                                          obj_description(g.oid, 'pg_trigger')))
         ) AS s (stage, statement)
    WHERE g.tgrelid = target
      AND NOT g.tgisinternal
      AND g.tgname !~ '^zz_snowflake_ids_'
      AND g.tgattr::int2[] && attnums
    ORDER BY g.tgname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_triggers(regclass, smallint[])
    IS 'internal: statements that drop the triggers for UPDATE OF converted columns and make them again';

CREATE FUNCTION snowflake_ids_convert.change_publications(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM pg_publication_rel r
         JOIN pg_publication b ON b.oid = r.prpubid
         CROSS JOIN LATERAL (
             SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
             FROM pg_attribute a
             WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs::int2[])) AS published (columns)
         CROSS JOIN LATERAL (VALUES
             (10, format('ALTER PUBLICATION %I DROP TABLE ONLY %s', b.pubname, target)),
             (50, format('ALTER PUBLICATION %I ADD TABLE ONLY %s (%s)', b.pubname, target, published.columns)
                  || coalesce(' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')', ''))
         ) AS s (stage, statement)
    WHERE r.prrelid = target AND r.prattrs::int2[] && attnums
    ORDER BY b.pubname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_publications(regclass, smallint[])
    IS 'internal: statements that take the table out of publications of converted columns and add it again';

CREATE FUNCTION snowflake_ids_convert.change_statistics(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM (SELECT e.oid, format('%I.%I', n.nspname, e.stxname) AS name, pg_get_userbyid(e.stxowner) AS owner,
                 (to_jsonb(e) ->> 'stxstattarget')::int AS target
          FROM snowflake_ids_convert.statistics(target, attnums) AS e
               JOIN pg_namespace n ON n.oid = e.stxnamespace) AS e
         CROSS JOIN LATERAL (VALUES
             (10, 'DROP STATISTICS ' || e.name),
             (40, pg_get_statisticsobjdef(e.oid)),
             (41, CASE WHEN e.target >= 0 THEN format('ALTER STATISTICS %s SET STATISTICS %s', e.name, e.target) END),
             (41, snowflake_ids_convert.comment_statement('STATISTICS ' || e.name,
                                                          obj_description(e.oid, 'pg_statistic_ext'))),
             (42, format('ALTER STATISTICS %s OWNER TO %I', e.name, e.owner))
         ) AS s (stage, statement)
    ORDER BY e.oid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_statistics(regclass, smallint[])
    IS 'internal: statements that drop extended statistics of converted columns and make them again';

-- 86-columns.sql
-- The changeover: statements for indexes and columns, and all statements together. The stages are explained in
-- 85-changeover.sql.

-- The new index gets the name, constraint and properties of the old one. Primary keys first, then unique constraints,
-- then other indexes.
CREATE FUNCTION snowflake_ids_convert.change_indexes(target regclass, attnums smallint[])
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM (SELECT c.oid, c.relname AS name, 'snowflake_ids_index_' || c.oid AS new,
                 snowflake_ids_convert.sibling(target, c.relname) AS full_name,
                 snowflake_ids_convert.sibling(target, 'snowflake_ids_index_' || c.oid) AS full_new,
                 i.indisclustered, i.indisreplident, k.oid AS conoid, k.contype,
                 CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' ELSE 'UNIQUE' END AS kind,
                 CASE WHEN k.condeferred THEN ' DEFERRABLE INITIALLY DEFERRED'
                      WHEN k.condeferrable THEN ' DEFERRABLE'
                 END AS deferrability
          FROM snowflake_ids_convert.indexes(target, attnums) x
               JOIN pg_class c ON c.oid = x.index
               JOIN pg_index i ON i.indexrelid = c.oid
               LEFT JOIN pg_constraint k ON k.conindid = c.oid AND k.contype IN ('p', 'u')) AS old
         CROSS JOIN LATERAL (
             SELECT 20, CASE WHEN old.conoid IS NOT NULL
                             THEN format('ALTER TABLE %s DROP CONSTRAINT %I', target, old.name)
                             ELSE 'DROP INDEX ' || old.full_name
                        END
             UNION ALL
             SELECT 30, CASE WHEN old.conoid IS NULL
                             THEN format('ALTER INDEX %s RENAME TO %I', old.full_new, old.name)
                             ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s USING INDEX %I%s', target, old.name,
                                         old.kind, old.new, old.deferrability)
                        END
             UNION ALL
             SELECT 31, snowflake_ids_convert.comment_statement(format('CONSTRAINT %I ON %s', old.name, target),
                                                                obj_description(old.conoid, 'pg_constraint'))
             UNION ALL
             SELECT 31, format('ALTER TABLE %s RENAME COLUMN %I TO %I', old.full_name, x.attname, a.attname)
             FROM pg_index i
                  JOIN pg_class c ON c.oid = i.indexrelid AND c.relname = old.new
                  JOIN pg_attribute x ON x.attrelid = i.indexrelid
                  JOIN pg_attribute a ON a.attrelid = target AND x.attname = 'snowflake_ids_new_' || a.attnum
             WHERE i.indrelid = target
             UNION ALL
             SELECT 31, snowflake_ids_convert.comment_statement('INDEX ' || old.full_name,
                                                                obj_description(old.oid, 'pg_class'))
             UNION ALL
             SELECT 31, format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', old.full_name, a.attnum,
                               to_jsonb(a) ->> 'attstattarget')
             FROM pg_attribute a
             WHERE a.attrelid = old.oid AND (to_jsonb(a) ->> 'attstattarget')::int >= 0
             UNION ALL
             SELECT 31, CASE WHEN old.indisclustered THEN format('ALTER TABLE %s CLUSTER ON %I', target, old.name) END
             UNION ALL
             SELECT 31, CASE WHEN old.indisreplident
                             THEN format('ALTER TABLE %s REPLICA IDENTITY USING INDEX %I', target, old.name)
                        END
         ) AS s (stage, statement)
    ORDER BY old.contype NULLS LAST, old.oid
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_indexes(regclass, smallint[])
    IS 'internal: statements that replace the indexes on converted columns by those on the new columns';

-- prepare() has already set the new default. Since PostgreSQL 18, NOT NULL is a constraint that has a name and may have
-- a comment.
CREATE FUNCTION snowflake_ids_convert.change_columns(job snowflake_ids_convert.job, target regclass)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT s.*
    FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
         JOIN pg_attribute a ON a.attrelid = c.rel AND a.attnum = c.attnum
         LEFT JOIN pg_constraint k ON k.conrelid = target AND k.contype = 'n' AND k.conkey = ARRAY[c.attnum]
         CROSS JOIN LATERAL (
             SELECT n.*
             FROM (VALUES
                 (10, CASE WHEN k.oid IS NULL
                           THEN format('ALTER TABLE %s ALTER COLUMN %I SET NOT NULL', target, c.shadow)
                           ELSE format('ALTER TABLE %s ADD CONSTRAINT %I NOT NULL %I%s', target,
                                       'snowflake_ids_not_null_' || c.attnum, c.shadow,
                                       CASE WHEN k.connoinherit THEN ' NO INHERIT' END)
                      END),
                 (30, CASE WHEN k.oid IS NOT NULL
                           THEN format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', target,
                                       'snowflake_ids_not_null_' || c.attnum, k.conname)
                      END),
                 (31, snowflake_ids_convert.comment_statement(
                          'CONSTRAINT ' || quote_ident(k.conname) || ' ON ' || target,
                          obj_description(k.oid, 'pg_constraint')))
             ) AS n (stage, statement)
             WHERE c.not_null
             UNION ALL
             VALUES
                 (20, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS snowflake_ids_check_%s', target, c.attnum)),
                 (21, format('ALTER TABLE %s DROP COLUMN %I', target, c.attname)),
                 (22, format('ALTER TABLE %s RENAME COLUMN %I TO %I', target, c.shadow, c.attname)),
                 (30, CASE WHEN (to_jsonb(a) ->> 'attstattarget')::int >= 0
                           THEN format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', target, c.attname,
                                       to_jsonb(a) ->> 'attstattarget')
                      END),
                 (30, format('ALTER TABLE %s ALTER COLUMN %I SET ', target, c.attname)
                      || '(' || array_to_string(a.attoptions, ', ') || ')'),
                 (30, snowflake_ids_convert.comment_statement(format('COLUMN %s.%I', target, c.attname),
                                                              col_description(target, c.attnum)))
             UNION ALL
             SELECT 30, format('GRANT %s (%I) ON %s TO %s%s', acl.privilege_type, c.attname, target,
                               CASE acl.grantee WHEN 0 THEN 'PUBLIC'
                                                ELSE quote_ident(pg_get_userbyid(acl.grantee))
                               END,
                               CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' END)
             FROM aclexplode(a.attacl) AS acl
         ) AS s (stage, statement)
    WHERE c.rel = target
    ORDER BY c.attnum
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_columns(snowflake_ids_convert.job, regclass)
    IS 'internal: statements that replace the old columns by the new ones';

-- With keep_position the old columns get the new type and values. PostgreSQL keeps everything else itself, but it
-- rewrites the table, under the lock.
CREATE FUNCTION snowflake_ids_convert.change_types(job snowflake_ids_convert.job, target regclass)
RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    WITH c AS (
        SELECT * FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) WHERE rel = target
    )
    SELECT s.*
    FROM c
         CROSS JOIN LATERAL (VALUES
             (20, format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY IF EXISTS', target, attname)),
             (21, format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', target, attname)),
             (30, format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', target, attname, job.new_id))
         ) AS s (stage, statement)
    WHERE is_key
    UNION ALL
    SELECT 22, format('DROP SEQUENCE %s', d.objid::regclass)
    FROM c
         JOIN pg_depend d
         ON d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.rel
            AND d.refobjsubid = c.attnum AND d.deptype = 'a'
         JOIN pg_class p ON p.oid = d.objid AND p.relkind = 'S'
    WHERE c.is_key
    UNION ALL
    SELECT s.*
    FROM c
         CROSS JOIN LATERAL (VALUES
             (22, format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS snowflake_ids_check_%s', target, attnum)),
             (30, format('ALTER TABLE %s DROP COLUMN %I', target, shadow))
         ) AS s (stage, statement)
    UNION ALL
    SELECT 23, format('ALTER TABLE %s %s', target,
                      string_agg(format('ALTER COLUMN %I TYPE %s USING %I', attname, job.type, shadow), ', '))
    FROM c
$$;
COMMENT ON FUNCTION snowflake_ids_convert.change_types(snowflake_ids_convert.job, regclass)
    IS 'internal: statements that give the old columns the new type and values';

CREATE FUNCTION snowflake_ids_convert.changes(job snowflake_ids_convert.job) RETURNS SETOF snowflake_ids_convert.change
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT * FROM snowflake_ids_convert.change_constraints(job)
    UNION ALL
    SELECT s.*
    FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) WITH ORDINALITY AS t (rel, attnums, n)
         CROSS JOIN LATERAL (
             SELECT * FROM snowflake_ids_convert.change_triggers(t.rel, t.attnums)
             UNION ALL
             SELECT * FROM snowflake_ids_convert.change_publications(t.rel, t.attnums)
             UNION ALL
             SELECT * FROM snowflake_ids_convert.change_types(job, t.rel) WHERE job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.change_statistics(t.rel, t.attnums) WHERE NOT job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.drop_twins(t.rel) WHERE NOT job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.change_indexes(t.rel, t.attnums) WHERE NOT job.keep_position
             UNION ALL
             SELECT * FROM snowflake_ids_convert.change_columns(job, t.rel) WHERE NOT job.keep_position
         ) AS s
$$;
COMMENT ON FUNCTION snowflake_ids_convert.changes(snowflake_ids_convert.job)
    IS 'internal: all statements of the changeover, with their stages';

-- 87-swap.sql
-- Runs the changeover.

-- Rows that were inserted after the numbering are added to the map. Most are added before writers are locked out, with
-- a null snapshot. Then only rows that the given snapshot did not see are left; each is found by an index.
CREATE FUNCTION snowflake_ids_convert.complete_map(job snowflake_ids_convert.job, since pg_snapshot) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    first_later_id text;
    operator_schema text := CASE job.format WHEN 'snowflake_si' THEN 'pg_catalog' ELSE job.core END;
BEGIN
    EXECUTE format('SELECT (' || job.make || ')::pg_catalog.text',
                   snowflake_ids_convert.tick_of(job, job.issued_after), 0)
    INTO first_later_id;
    EXECUTE format('INSERT INTO %s (old, new)
                    SELECT k.%I, k.%I
                    FROM ONLY %s AS k
                    WHERE k.%3$I OPERATOR(%5$s.>=) %6$L::%7$s
                      AND ($1 IS NULL OR age(k.xmin) <= age(pg_snapshot_xmin($1)::xid))
                      AND NOT EXISTS (SELECT FROM %1$s AS m WHERE m.new OPERATOR(%5$s.=) k.%3$I)',
                   job.map, job.key_column, job.shadow, job.relation, operator_schema, first_later_id, job.type)
    USING since;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.complete_map(snowflake_ids_convert.job, pg_snapshot)
    IS 'internal: adds rows that were inserted after the numbering to the map';

-- The tables may have been altered since the conversion began. Others can read and write while this looks at them.
CREATE FUNCTION snowflake_ids_convert.refuse_changed(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    any_triggers snowflake_ids_convert.job := job;
BEGIN
    -- The changeover updates no rows, so the tables' own triggers do not matter.
    any_triggers.fire_triggers := true;
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.problems(any_triggers)));
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(
        SELECT format(CASE WHEN c.filled THEN 'column %s.%I: its new values have not been checked'
                                         ELSE 'column %s.%I: began to refer to the key after the conversion began'
                      END, c.rel, c.attname)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum) c
        WHERE NOT c.filled
           OR c.at_once
              AND NOT EXISTS (SELECT
                              FROM pg_constraint k
                              WHERE k.conrelid = c.rel
                                AND k.conname = 'snowflake_ids_check_' || c.attnum
                                AND k.convalidated)));
    PERFORM snowflake_ids_convert.refuse_violations(job);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_changed(snowflake_ids_convert.job)
    IS 'internal: error if tables were altered so that a conversion cannot finish';

-- Returns the constraints that were valid and are not any more. The changeover makes them again as NOT VALID, so that
-- it need not read the tables.
CREATE FUNCTION snowflake_ids_convert.swap(job snowflake_ids_convert.job) RETURNS oid[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    tables oid[] := ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job.relation, job.key_attnum));
    lookalikes text[];
    not_valid text[];
    on_type_path text[];
    on_plain_path text[];
    statement text;
    since pg_snapshot;
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    PERFORM snowflake_ids_convert.refuse_changed(job);
    SELECT array_agg(s.statement ORDER BY s.stage, s.n) FILTER (WHERE s.stage < 50),
           array_agg(s.statement ORDER BY s.stage, s.n) FILTER (WHERE s.stage >= 50)
    INTO on_type_path, on_plain_path
    FROM snowflake_ids_convert.changes(job) WITH ORDINALITY AS s (stage, statement, n)
    WHERE s.statement IS NOT NULL;
    not_valid := ARRAY(SELECT format('%s %s', conrelid, conname)
                       FROM pg_constraint
                       WHERE conrelid = ANY (tables) AND NOT convalidated);
    since := pg_current_snapshot();
    PERFORM snowflake_ids_convert.complete_map(job, NULL);
    lookalikes := snowflake_ids_convert.lookalikes(tables);

    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    -- Only columns that may be filled later than their row is written
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(
        SELECT format('Rows of %s refer in column %I to keys that do not exist.', rel, attname)
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
        WHERE NOT at_once
          AND snowflake_ids_convert.count_rows(rel, format('(%I IS NULL) <> (%I IS NULL)', attname, shadow)) > 0));
    PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
    PERFORM snowflake_ids_convert.complete_map(job, since);
    PERFORM snowflake_ids_convert.drop_triggers(job.relation);
    -- Expressions on the new type need its operators. While this path is set, no name of ours may be looked up on it.
    PERFORM set_config('search_path', snowflake_ids_convert.path_of_type(job), true);
    FOREACH statement IN ARRAY on_type_path LOOP
        EXECUTE statement;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM snowflake_ids_convert.run(coalesce(on_plain_path, '{}'));
    -- Another user may have created a lookalike after the check of all expressions.
    PERFORM snowflake_ids_convert.refuse_lookalikes(tables, lookalikes, 'an expression');
    RETURN ARRAY(SELECT oid
                 FROM pg_constraint
                 WHERE conrelid = ANY (tables)
                   AND NOT convalidated
                   AND format('%s %s', conrelid, conname) <> ALL (not_valid));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap(snowflake_ids_convert.job)
    IS 'internal: replaces the old columns by the new ones; returns the constraints that are left to validate';

-- 90-steps.sql
-- The steps of a conversion, one after another.
--
--   prepare   adds columns and triggers, under a short lock    number    gives each row its id, in one sorted pass
--   fill      writes the new keys, in batches                  settle    waits for writers that saw keys without ids
--   follow    writes the references, in batches                check     adds checks, so that swap reads no table
--   index     builds the indexes, or waits for them            ready     waits for a call with finish (keep_position)
--   swap      replaces the columns, under a lock               validate  foreign keys and checks, one per step
--
-- Each step is a transaction that also writes down which step is next. So after any interruption, another call can
-- continue. The function of a phase takes the job and returns it with its next state.

CREATE FUNCTION snowflake_ids_convert.fill_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF (job.done < job.total) IS NOT TRUE THEN
        job.phase := 'settle';
        RETURN job;
    END IF;
    BEGIN
        job.rows := job.rows + snowflake_ids_convert.fill_keys(job, job.done, job.batch_size::bigint);
        job.done := least(job.done + job.batch_size, job.total);
    EXCEPTION WHEN deadlock_detected THEN
        -- Writers may cause a deadlock. The next step repeats the batch.
        NULL;
    END;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_step(snowflake_ids_convert.job) IS 'internal: phase fill';

-- VACUUM FULL may have moved rows into blocks that were already read. Then the whole table is read again. Rows that
-- still have no new value refer to keys that do not exist.
CREATE FUNCTION snowflake_ids_convert.fill_moved_rows(job snowflake_ids_convert.job) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    unfilled text := (SELECT string_agg(format('%I IS NOT NULL AND %I IS NULL', attname, shadow), ' OR ')
                      FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
                      WHERE rel = job.part AND NOT is_key);
    blocks bigint := pg_relation_size(job.part) / current_setting('block_size')::int + 1;
    rows bigint := 0;
BEGIN
    IF snowflake_ids_convert.count_rows(job.part, unfilled) > 0 THEN
        rows := snowflake_ids_convert.fill_references(job, job.part, 0::bigint, blocks);
        IF snowflake_ids_convert.count_rows(job.part, unfilled) > 0 THEN
            PERFORM snowflake_ids_convert.refuse(
                job, ARRAY[format('Rows of %s refer to keys that do not exist.', job.part)]);
        END IF;
    END IF;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_moved_rows(snowflake_ids_convert.job)
    IS 'internal: fills rows that were moved while their table was filled; error if some cannot be filled';

CREATE FUNCTION snowflake_ids_convert.next_table(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF job.part IS NOT NULL THEN
        job.rows := job.rows + snowflake_ids_convert.fill_moved_rows(job);
    END IF;
    WITH t AS (
        SELECT rel, row_number() OVER (ORDER BY min(depth), rel) AS n
        FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
        WHERE NOT is_key
        GROUP BY rel
    )
    SELECT rel INTO job.part
    FROM t
    WHERE n = 1 + coalesce((SELECT n FROM t AS present WHERE present.rel = job.part), 0);
    job.done := CASE WHEN job.part IS NOT NULL THEN 0 END;
    job.total := pg_relation_size(job.part) / current_setting('block_size')::int;
    IF job.part IS NULL THEN
        PERFORM snowflake_ids_convert.make_checks(job);
        job.phase := 'check';
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.next_table(snowflake_ids_convert.job)
    IS 'internal: begins the next table of phase follow; after the last one, adds checks and begins phase check';

CREATE FUNCTION snowflake_ids_convert.follow_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    rows_per_block float8;
    until bigint;
BEGIN
    job.part := (SELECT min(rel::oid)
                 FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
                 WHERE rel = job.part AND NOT is_key);
    IF job.part IS NULL OR (job.done < job.total) IS NOT TRUE THEN
        RETURN snowflake_ids_convert.next_table(job);
    END IF;
    SELECT CASE WHEN relpages > 0 AND reltuples > 0 THEN reltuples / relpages ELSE 100 END
    INTO rows_per_block
    FROM pg_class
    WHERE oid = job.part;
    until := least(job.done + greatest(1, (job.batch_size / rows_per_block)::bigint), job.total);
    BEGIN
        job.rows := job.rows + snowflake_ids_convert.fill_references(job, job.part, job.done, until - job.done);
        job.done := until;
    EXCEPTION WHEN deadlock_detected THEN
        -- As in fill_step().
        NULL;
    END;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_step(snowflake_ids_convert.job) IS 'internal: phase follow';

-- Each step builds one index. With build_concurrently the user builds them, and the phase waits.
CREATE FUNCTION snowflake_ids_convert.index_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statements text[] := ARRAY(SELECT snowflake_ids_convert.index_statements(job, false));
BEGIN
    IF statements = '{}' THEN
        job.phase := 'swap';
    ELSIF NOT job.build_concurrently THEN
        PERFORM snowflake_ids_convert.run(statements[1:CASE WHEN statements[1] ~ '^DROP' THEN 2 ELSE 1 END]);
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.index_step(snowflake_ids_convert.job) IS 'internal: phase index';

CREATE FUNCTION snowflake_ids_convert.swap_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    -- An index on the old columns may have been created after phase index.
    IF NOT job.keep_position AND EXISTS (SELECT snowflake_ids_convert.index_statements(job, false)) THEN
        job.phase := 'index';
    ELSE
        PERFORM snowflake_ids_convert.verify_map(job);
        job.todo := snowflake_ids_convert.swap(job);
        job.key_attnum := snowflake_ids_convert.column_number(job.relation, job.key_column);
        job.phase := 'validate';
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.swap_step(snowflake_ids_convert.job) IS 'internal: phases ready and swap';

CREATE FUNCTION snowflake_ids_convert.validate_step(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    next record;
BEGIN
    -- A constraint may have been dropped after the changeover.
    SELECT conrelid::regclass AS rel, conname INTO next
    FROM pg_constraint
    WHERE oid = ANY (job.todo) AND conrelid <> 0 AND NOT convalidated
    ORDER BY contype DESC, oid
    LIMIT 1;
    IF FOUND THEN
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', next.rel, next.conname);
    ELSE
        job.phase := 'done';
    END IF;
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.validate_step(snowflake_ids_convert.job) IS 'internal: phase validate';

CREATE FUNCTION snowflake_ids_convert.refuse_unfinished(target regclass) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF EXISTS (SELECT FROM snowflake_ids_convert.triggers(target)) THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('there is no finished conversion of %s', target),
            detail => 'Its conversion is not finished.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_unfinished(regclass)
    IS 'internal: error if triggers of a conversion exist';

CREATE FUNCTION snowflake_ids_convert.rate_text(job snowflake_ids_convert.job) RETURNS text
LANGUAGE sql VOLATILE PARALLEL SAFE
AS $$
    SELECT format('%s: %s %s, %s of %s %s, %s per second, %s left',
                  job.relation, job.phase, job.part, job.done, job.total,
                  CASE job.phase WHEN 'fill' THEN 'rows' ELSE 'blocks' END,
                  round((p.progress / p.seconds)::numeric, 1),
                  date_trunc('second', make_interval(secs => (job.total - job.done) * p.seconds / p.progress)))
    FROM (SELECT extract(epoch FROM clock_timestamp() - job.resumed)::float8 AS seconds,
                 nullif(job.done - job.resumed_at, 0) AS progress) AS p
$$;
COMMENT ON FUNCTION snowflake_ids_convert.rate_text(snowflake_ids_convert.job)
    IS 'internal: notice with what is done, the rate and the time that is left';

-- A notice is due if the phase or the part is new, or if the last notice is more than five seconds old.
CREATE FUNCTION snowflake_ids_convert.write_state(old snowflake_ids_convert.job, job snowflake_ids_convert.job)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    is_new boolean := job.phase <> old.phase OR job.part IS DISTINCT FROM old.part;
    notice_is_due boolean := is_new OR clock_timestamp() - old.told > interval '5 s';
BEGIN
    UPDATE snowflake_ids_convert.my_conversion c
    SET (key_attnum, issued_after, phase, part, done, total, todo, rows, updated) = (
            job.key_attnum, job.issued_after, job.phase, job.part, job.done, job.total, job.todo, job.rows,
            clock_timestamp()),
        told = CASE WHEN notice_is_due THEN clock_timestamp() ELSE c.told END,
        phase_started = CASE WHEN is_new THEN clock_timestamp() ELSE c.phase_started END,
        resumed = CASE WHEN is_new THEN clock_timestamp() ELSE c.resumed END,
        resumed_at = CASE WHEN is_new THEN 0 ELSE c.resumed_at END
    WHERE c.relation = job.relation;
    IF job.phase <> old.phase THEN
        RETURN format('%s: %s', job.relation, job.phase)
               || CASE job.phase
                  WHEN 'fill' THEN format(', %s rows', job.total)
                  WHEN 'validate' THEN '; clients that prepare statements by themselves may have to reconnect'
                  ELSE ''
                  END;
    ELSIF job.part IS DISTINCT FROM old.part THEN
        RETURN format('%s: %s %s, %s blocks', job.relation, job.phase, job.part, job.total);
    ELSIF notice_is_due AND job.phase IN ('fill', 'follow') THEN
        RETURN snowflake_ids_convert.rate_text(job);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.write_state(snowflake_ids_convert.job, snowflake_ids_convert.job)
    IS 'internal: writes down the state of a conversion; returns a notice, if one is due';

CREATE FUNCTION snowflake_ids_convert.step_as_owner(target regclass, finish boolean, OUT said text, OUT more boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    old snowflake_ids_convert.job := snowflake_ids_convert.state_of(target, true);
    job snowflake_ids_convert.job := old;
BEGIN
    IF old.phase IS NULL THEN
        PERFORM snowflake_ids_convert.fail('55000', format('%s is not being converted', target));
    END IF;
    job := snowflake_ids_convert.with_format(old);
    -- After the changeover other roles may refer to the new keys.
    IF job.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.refuse_unfinished(target);
    ELSE
        PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
    END IF;
    more := true;
    CASE job.phase
    WHEN 'prepare' THEN
        job := snowflake_ids_convert.prepare(job);
    WHEN 'number' THEN
        job := snowflake_ids_convert.number_rows(job);
    WHEN 'fill' THEN
        job := snowflake_ids_convert.fill_step(job);
    WHEN 'settle' THEN
        -- The lock waits for writers that may have seen keys without an id.
        PERFORM snowflake_ids_convert.lock_definitions(job);
        PERFORM snowflake_ids_convert.lock_all(job, 'SHARE ROW EXCLUSIVE');
        PERFORM snowflake_ids_convert.make_late_triggers(job);
        job.part := NULL;
        job.phase := 'follow';
    WHEN 'follow' THEN
        job := snowflake_ids_convert.follow_step(job);
    WHEN 'check' THEN
        PERFORM snowflake_ids_convert.validate_checks(job);
        job.phase := CASE WHEN job.keep_position THEN 'ready' ELSE 'index' END;
    WHEN 'validate' THEN
        job := snowflake_ids_convert.validate_step(job);
    WHEN 'done' THEN
        more := false;
    ELSE
        IF finish AND job.phase = 'index' THEN
            job := snowflake_ids_convert.index_step(job);
        ELSIF finish THEN
            job := snowflake_ids_convert.swap_step(job);
        END IF;
        more := finish AND NOT (old.phase = 'index' AND job.phase = 'index' AND job.build_concurrently);
    END CASE;
    more := more AND job.phase <> 'done';
    said := snowflake_ids_convert.write_state(old, job);
    IF NOT more AND job.phase <> 'done' THEN
        said := format('%s: filled, and kept so; %scall again to finish', target,
                       CASE WHEN finish THEN 'run the statements of snowflake_ids_convert_indexes(), then ' END);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.step_as_owner(regclass, boolean)
    IS 'internal: one transaction of a conversion';

CREATE FUNCTION snowflake_ids_convert.step(target regclass, finish boolean, OUT said text, OUT more boolean)
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert.step(regclass, boolean)
    IS 'internal: one transaction of a conversion, as the owner of the table';

-- 95-calls.sql
-- The functions that users call, and what only they need.

-- A bigint does not show that it was converted, so a repeated call would number all rows again. The default shows it,
-- even in a database that was restored from a dump and has no state of the conversion.
CREATE FUNCTION snowflake_ids_convert.key_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('column %s.%I: has been converted to %s; to number its rows again, '
                  'first ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT',
                  job.relation, job.key_column, job.format)
    WHERE job.new_id = (SELECT pg_get_expr(adbin, adrelid)
                        FROM pg_attrdef
                        WHERE adrelid = job.relation AND adnum = job.key_attnum)
    UNION ALL
    SELECT format(CASE WHEN pg_get_userbyid(c.relowner) = current_user
                       THEN 'table %s: is the map of an earlier conversion; copy what you need of it, '
                            'then SELECT snowflake_ids_convert_forget(%L)'
                       ELSE 'table %s: has the name that the map will have; drop or rename it'
                  END, c.oid::regclass, job.relation)
    FROM pg_class c
    WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = job.relation)
      AND c.relname = 'snowflake_ids_map_' || job.relation::oid
      AND NOT EXISTS (SELECT
                      FROM snowflake_ids_convert.my_conversion s
                      WHERE s.relation = job.relation AND s.phase NOT IN ('validate', 'done'))
    UNION ALL
    SELECT format('column %s.%I: may be null', job.relation, job.key_column)
    WHERE EXISTS (SELECT
                  FROM pg_attribute
                  WHERE attrelid = job.relation AND attnum = job.key_attnum AND NOT attnotnull)
    UNION ALL
    SELECT format('column %s.%I: is not unique by itself; create a unique index on it', job.relation, job.key_column)
    WHERE NOT EXISTS (SELECT
                      FROM pg_index
                      WHERE indrelid = job.relation
                        AND indisunique
                        AND indisvalid
                        AND indimmediate
                        AND indpred IS NULL
                        AND indnkeyatts = 1
                        AND indkey[0] = job.key_attnum)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.key_problems(snowflake_ids_convert.job)
    IS 'internal: why a column cannot be converted as a key';

CREATE FUNCTION snowflake_ids_convert.orphan_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE
AS $$
    SELECT format('column %s.%I: %s rows refer to a key that does not exist', rel, attname, orphans)
    FROM snowflake_ids_convert.columns(job.relation, job.key_attnum)
         CROSS JOIN LATERAL snowflake_ids_convert.count_rows(rel, format(
             'c.%1$I IS NOT NULL AND NOT EXISTS (SELECT FROM ONLY %2$s k WHERE k.%3$I%4$s = c.%1$I)',
             attname, job.relation, job.key_column, "collate")) AS orphans
    WHERE NOT is_key AND orphans > 0
$$;
COMMENT ON FUNCTION snowflake_ids_convert.orphan_problems(snowflake_ids_convert.job)
    IS 'internal: columns with rows that refer to a key that does not exist';

-- Such rows cannot be updated, and the conversion updates all of them.
CREATE FUNCTION snowflake_ids_convert.violation_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE
AS $$
    SELECT format('table %s: %s rows violate check constraint %I, which was never validated; correct them, or drop it',
                  t.rel, violations, k.conname)
    FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) t
         JOIN pg_constraint k ON k.conrelid = t.rel AND k.contype = 'c' AND NOT k.convalidated
         CROSS JOIN LATERAL snowflake_ids_convert.count_rows(
             t.rel, format('NOT (%s)', pg_get_expr(k.conbin, k.conrelid))) AS violations
    WHERE (to_jsonb(k) ->> 'conenforced')::boolean IS NOT FALSE AND violations > 0
    ORDER BY t.rel, k.conname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.violation_problems(snowflake_ids_convert.job)
    IS 'internal: checks that are not valid and that rows violate';

CREATE FUNCTION snowflake_ids_convert.notes(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT 'the identity becomes a default, because an identity must draw integers from a sequence'
    WHERE EXISTS (SELECT
                  FROM pg_attribute
                  WHERE attrelid = job.relation AND attnum = job.key_attnum AND attidentity <> '')
    UNION ALL
    SELECT format('times in %I are read in time zone %s', job.created_column, job.zone)
    WHERE EXISTS (SELECT
                  FROM pg_attribute
                  WHERE attrelid = job.relation
                    AND attname = job.created_column
                    AND atttypid <> 'timestamptz'::regtype)
    UNION ALL
    SELECT 'the new columns will be the last ones of their tables; '
           'to keep the positions, set keep_position, which rewrites the tables during the changeover'
    WHERE NOT job.keep_position
    UNION ALL
    SELECT p.problem
    FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) t
         CROSS JOIN LATERAL snowflake_ids_convert.publications(t.rel) AS p
    UNION ALL
    SELECT dependent || '; drop it before the changeover, and create it again afterwards'
    FROM snowflake_ids_convert.dependents(job) AS dependent
$$;
COMMENT ON FUNCTION snowflake_ids_convert.notes(snowflake_ids_convert.job)
    IS 'internal: what a user should know before a conversion';

CREATE FUNCTION snowflake_ids_convert.planned_steps(
    job snowflake_ids_convert.job, rows bigint, OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    RETURN QUERY
    SELECT 'step', CASE WHEN is_key
                        THEN format('add %s.%I %s, for %s rows, in the order of %I, %I', rel, shadow, job.type, rows,
                                    job.created_column, job.key_column)
                        ELSE format('add %s.%I %s, following %s.%I', rel, shadow, job.type, job.relation,
                                    job.key_column)
                   END
    FROM snowflake_ids_convert.columns(job.relation, job.key_attnum);
    IF NOT job.keep_position THEN
        RETURN QUERY
        SELECT 'index', replace(definition, '{concurrently}', 'CONCURRENTLY ')
        FROM snowflake_ids_convert.new_indexes(job);
    END IF;
    RETURN QUERY
    SELECT 'step', format('lock the tables, %s, default %s',
                          CASE WHEN job.keep_position THEN 'rewrite them' ELSE 'replace the columns' END, job.new_id);
    RETURN QUERY
    SELECT DISTINCT 'step', format(CASE WHEN f.convalidated
                                        THEN 'validate foreign key %I of %s'
                                        ELSE 'leave foreign key %I of %s NOT VALID, as it is'
                                   END, f.conname, f.conrelid::regclass)
    FROM pg_constraint f
         JOIN snowflake_ids_convert.columns(job.relation, job.key_attnum) c
         ON c.rel = f.confrelid AND c.attnum = ANY (f.confkey)
    WHERE f.contype = 'f'
    ORDER BY 2;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.planned_steps(snowflake_ids_convert.job, bigint)
    IS 'internal: what a conversion would do';

CREATE FUNCTION snowflake_ids_convert.plan(job snowflake_ids_convert.job, OUT kind text, OUT item text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    crowded record;
BEGIN
    RETURN QUERY
    SELECT 'problem', problem FROM snowflake_ids_convert.key_problems(job) AS problem
    UNION ALL
    SELECT 'problem', problem FROM snowflake_ids_convert.problems(job) AS problem;
    -- With such problems, the rows may be unreadable or not what they seem.
    IF FOUND THEN
        RETURN;
    END IF;
    -- The clock is read after the snapshot is taken. So rows that are inserted now are not in the future.
    RETURN QUERY
    SELECT 'problem', problem
    FROM snowflake_ids_convert.time_problems(job, clock_timestamp(), 'true') AS problem;
    IF FOUND THEN
        RETURN;
    END IF;
    crowded := snowflake_ids_convert.crowding(job, clock_timestamp(), 'true');
    RETURN QUERY
    SELECT CASE WHEN job.spill THEN 'note' ELSE 'problem' END, crowded.moves WHERE crowded.moves IS NOT NULL;
    RETURN QUERY
    SELECT 'problem', crowded.too_far WHERE crowded.too_far IS NOT NULL;
    RETURN QUERY
    SELECT 'problem', problem FROM snowflake_ids_convert.orphan_problems(job) AS problem
    UNION ALL
    SELECT 'problem', problem FROM snowflake_ids_convert.violation_problems(job) AS problem;
    IF FOUND OR crowded.too_far IS NOT NULL OR crowded.moves IS NOT NULL AND NOT job.spill THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT 'note', note FROM snowflake_ids_convert.notes(job) AS note;
    RETURN QUERY
    SELECT p.kind, p.item FROM snowflake_ids_convert.planned_steps(job, crowded.rows) AS p;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.plan(snowflake_ids_convert.job)
    IS 'internal: what a conversion would do, and the problems that prevent it';

CREATE FUNCTION snowflake_ids_convert.plan_as_owner(
    relation regclass, key_column name, format text, created_column name, metabyte integer, spill boolean,
    keep_position boolean, fire_triggers boolean, publications boolean, OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job := snowflake_ids_convert.planned_job(
        relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers, publications);
BEGIN
    job.changes_over := keep_position;
    RETURN QUERY SELECT p.kind, p.item FROM snowflake_ids_convert.plan(job) AS p;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.plan_as_owner(
    regclass, name, text, name, integer, boolean, boolean, boolean, boolean
) IS 'internal: what a conversion would do, and the problems';

CREATE FUNCTION snowflake_ids_convert_plan(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    spill boolean DEFAULT false, keep_position boolean DEFAULT false, fire_triggers boolean DEFAULT false,
    publications boolean DEFAULT false, OUT kind text, OUT item text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_plan(regclass, name, text, name, integer, boolean, boolean, boolean, boolean)
    IS 'what snowflake_ids_convert would do, and the problems; makes copies of some rows and drops them again';

CREATE FUNCTION snowflake_ids_convert.indexes_as_owner(relation regclass) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job := snowflake_ids_convert.with_format(
        snowflake_ids_convert.state_of(relation, false));
BEGIN
    IF job.phase IN ('index', 'swap') AND NOT job.keep_position THEN
        PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
        RETURN QUERY SELECT * FROM snowflake_ids_convert.index_statements(job, true);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.indexes_as_owner(regclass)
    IS 'internal: statements that make the indexes for which a conversion waits';

CREATE FUNCTION snowflake_ids_convert_indexes(relation regclass) RETURNS SETOF text
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_indexes(regclass)
    IS 'statements that make the indexes for which a conversion waits; run them with \gexec, then call again';

-- A parallel worker would seem to be in a transaction block.
CREATE FUNCTION snowflake_ids_convert.check_call(batch_size integer) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
AS $$
BEGIN
    IF batch_size < 1 THEN
        PERFORM snowflake_ids_convert.fail(
            '22003', format('batch_size out of range: %s', batch_size),
            detail => 'A batch must have at least one row.');
    ELSIF snowflake_ids_convert.in_transaction_block() THEN
        PERFORM snowflake_ids_convert.fail(
            '25001', 'cannot convert inside a transaction block',
            detail => 'The conversion commits after each batch.',
            hint => 'Call without BEGIN, as the only command of the query.');
    ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM snowflake_ids_convert.fail(
            '25000', format('cannot convert in isolation level %s', current_setting('transaction_isolation')),
            hint => 'Set default_transaction_isolation to read committed.');
    ELSIF current_setting('transaction_read_only')::boolean THEN
        PERFORM snowflake_ids_convert.fail(
            '25006', 'cannot convert in a read-only transaction',
            hint => 'Set default_transaction_read_only to off. A standby cannot convert.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_call(integer)
    IS 'internal: error if the batch size is wrong, or if no conversion can run in this session';

CREATE FUNCTION snowflake_ids_convert.resume(job snowflake_ids_convert.job) RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    running snowflake_ids_convert.job := snowflake_ids_convert.with_format(
        snowflake_ids_convert.state_of(job.relation, false));
BEGIN
    IF NOT EXISTS (SELECT
                   FROM snowflake_ids_convert.my_conversion s
                   WHERE s.relation = job.relation AND s.phase <> 'done') THEN
        RETURN false;
    ELSIF (running.key_attnum, running.format, running.created_column, running.metabyte, running.keep_position)
          IS DISTINCT FROM (job.key_attnum, job.format, job.created_column, job.metabyte, job.keep_position) THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('%s is being converted in another way', job.relation),
            detail => format('The conversion has key_column %I, format %s, created_column %I, metabyte %s, '
                                  'keep_position %s.', running.key_column, running.format, running.created_column,
                                  running.metabyte, running.keep_position),
            hint => 'Call with these arguments, or undo the conversion with snowflake_ids_convert_undo().');
    END IF;
    IF job.changes_over AND running.phase <> 'validate' THEN
        PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.dependents(job)));
    END IF;
    UPDATE snowflake_ids_convert.my_conversion s
    SET batch_size = job.batch_size,
        spill = job.spill,
        fire_triggers = job.fire_triggers,
        publications = job.publications,
        build_concurrently = job.build_concurrently,
        resumed = clock_timestamp(),
        updated = clock_timestamp(),
        resumed_at = coalesce(s.done, 0)
    WHERE s.relation = job.relation;
    RETURN true;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.resume(snowflake_ids_convert.job)
    IS 'internal: continues a conversion that has begun; false if there is none';

-- The first transaction of a call. It takes no lock that stops writers.
CREATE FUNCTION snowflake_ids_convert.start_as_owner(
    relation regclass, key_column name, format text, created_column name, metabyte integer, batch_size integer,
    spill boolean, keep_position boolean, fire_triggers boolean, finish boolean, "concurrently" boolean,
    publications boolean
) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job;
    planned record;
    problems text;
BEGIN
    PERFORM snowflake_ids_convert.check_call(batch_size);
    job := snowflake_ids_convert.planned_job(
        relation, key_column, format, created_column, metabyte, spill, keep_position, fire_triggers, publications);
    job.batch_size := batch_size;
    job.build_concurrently := "concurrently";
    job.changes_over := finish AND (keep_position OR NOT "concurrently");
    IF snowflake_ids_convert.resume(job) THEN
        RETURN;
    END IF;
    FOR planned IN SELECT * FROM snowflake_ids_convert.plan(job) LOOP
        IF planned.kind = 'problem' THEN
            problems := concat_ws(E'\n', problems, planned.item);
        ELSIF planned.kind = 'note' THEN
            RAISE NOTICE '%', planned.item;
        END IF;
    END LOOP;
    IF problems IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot convert column "%s" of %s', job.key_column, job.relation),
            detail => problems,
            hint => 'Solve these problems and call again. Nothing was changed.');
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion s WHERE s.relation = job.relation;
    INSERT INTO snowflake_ids_convert.my_conversion (
        relation, key_attnum, created_attnum, format, zone, metabyte, batch_size, spill, keep_position, fire_triggers,
        build_concurrently, publications, phase)
    VALUES (job.relation, job.key_attnum, job.created_attnum, job.format, job.zone, job.metabyte, job.batch_size,
            job.spill, job.keep_position, job.fire_triggers, job.build_concurrently, job.publications, 'prepare');
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.start_as_owner(
    regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean, boolean
) IS 'internal: begins or resumes a conversion';

CREATE FUNCTION snowflake_ids_convert.start(
    relation regclass, key_column name, format text, created_column name, metabyte integer, batch_size integer,
    spill boolean, keep_position boolean, fire_triggers boolean, finish boolean, "concurrently" boolean,
    publications boolean
) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert.start(
    regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean, boolean
) IS 'internal: begins or resumes a conversion, as the owner of the table';

-- A procedure that commits can have no settings of its own. So nothing in this body depends on the search path.
CREATE PROCEDURE snowflake_ids_convert(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    batch_size integer DEFAULT 1000, spill boolean DEFAULT false, keep_position boolean DEFAULT false,
    fire_triggers boolean DEFAULT false, finish boolean DEFAULT true,
    concurrently boolean DEFAULT true, publications boolean DEFAULT false
)
LANGUAGE plpgsql
AS $$
DECLARE
    said pg_catalog.text;
    more pg_catalog.bool := true;
BEGIN
    PERFORM snowflake_ids_convert.start(
        relation, key_column, format, created_column, metabyte, batch_size, spill, keep_position, fire_triggers, finish,
        "concurrently", publications);
    WHILE more LOOP
        COMMIT;
        IF said IS NOT NULL THEN
            RAISE NOTICE '%', said;
        END IF;
        SELECT s.said, s.more INTO said, more FROM snowflake_ids_convert.step(relation, finish) AS s;
    END LOOP;
    COMMIT;
    IF said IS NOT NULL THEN
        RAISE NOTICE '%', said;
    END IF;
END $$;
COMMENT ON PROCEDURE snowflake_ids_convert(
    regclass, name, text, name, integer, integer, boolean, boolean, boolean, boolean, boolean, boolean
) IS 'makes a key into sno, mastic or snowflake_si ids of the times of its rows; a repeated call resumes';

-- 96-undo.sql
-- Undoing a conversion, and forgetting a finished one.

-- A table that belongs to another role is left as it is.
CREATE FUNCTION snowflake_ids_convert.drop_map(target regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF snowflake_ids_convert.map_of(target) IS NOT NULL THEN
        EXECUTE format('DROP TABLE %s', snowflake_ids_convert.map_of(target));
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion c WHERE c.relation = target;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_map(regclass) IS 'internal: drops the map and the state of a conversion';

CREATE FUNCTION snowflake_ids_convert.undo_as_owner(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    state snowflake_ids_convert.job := snowflake_ids_convert.state_of(relation, true);
    statements text[];
BEGIN
    IF state.relation IS NULL OR state.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('%s is not being converted', relation),
            detail => CASE WHEN state.relation IS NULL
                                THEN 'It has no conversion that you may undo.'
                                ELSE 'The changeover is done, and the old keys are gone.'
                           END);
    END IF;
    PERFORM snowflake_ids_convert.lock_writers_out(
        ARRAY(SELECT relation UNION SELECT a.rel FROM snowflake_ids_convert.added_columns(relation) a),
        'ACCESS EXCLUSIVE');
    statements := ARRAY(SELECT format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, DROP COLUMN %I', a.rel,
                                      'snowflake_ids_check_' || a.attnum, a.shadow)
                        FROM snowflake_ids_convert.added_columns(relation) a);
    PERFORM snowflake_ids_convert.drop_triggers(relation);
    PERFORM snowflake_ids_convert.run(statements);
    PERFORM snowflake_ids_convert.drop_map(relation);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.undo_as_owner(regclass)
    IS 'internal: removes the new columns, what depends on them, the map and the state';

CREATE FUNCTION snowflake_ids_convert_undo(relation regclass) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_undo(regclass)
    IS 'undoes a conversion; possible until the changeover; tables of other roles, and triggers that they made, stay';

CREATE FUNCTION snowflake_ids_convert.forget_as_owner(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    state snowflake_ids_convert.job := snowflake_ids_convert.state_of(relation, true);
BEGIN
    IF state.relation IS NULL OR state.phase <> 'done' THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('there is no finished conversion of %s', relation),
            detail => CASE WHEN state.relation IS NULL
                                THEN 'It has no conversion that you may forget.'
                                ELSE 'Its conversion is not finished.'
                           END);
    END IF;
    PERFORM snowflake_ids_convert.refuse_unfinished(relation);
    PERFORM snowflake_ids_convert.drop_map(relation);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.forget_as_owner(regclass)
    IS 'internal: drops the map and the state of a finished conversion';

CREATE FUNCTION snowflake_ids_convert_forget(relation regclass) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_forget(regclass)
    IS 'drops the table of old and new keys of a finished conversion, and its state';

-- 99-settings_privileges.sql
-- The text of a function in SQL or PL/pgSQL can have different meanings in different sessions: how names are found and
-- quoted, how strings are read, how times are written. So each function of this extension gets settings of its own, all
-- of them here, at the end of the script. Only procedures have none, because they could not commit then. The test
-- "catalog" checks these rules. (All functions of the extension snowflake_ids are in C.)
--
-- jit is off: the planner overestimates the cost of catalog queries, so compiling them would take longer than running.
--
-- TimeZone is not set here: checks and triggers of a converted table must see that of the session. A function that
-- reads times without a zone sets it in its definition.
DO $$
DECLARE
    function regprocedure;
    setting text;
    privilege text;
    path text := pg_catalog.current_setting('search_path');
BEGIN
    -- The schema of the extension may have operators of other users, which would hide those of the server.
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR function IN
        SELECT p.oid
        FROM pg_depend d
             JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'snowflake_ids_convert'
             JOIN pg_proc p ON p.oid = d.objid
             JOIN pg_language l ON l.oid = p.prolang
        WHERE d.classid = 'pg_proc'::regclass
          AND d.refclassid = 'pg_extension'::regclass
          AND d.deptype = 'e'
          AND l.lanname IN ('sql', 'plpgsql')
          AND p.prokind <> 'p'
    LOOP
        FOREACH setting IN ARRAY ARRAY[
            'search_path = pg_catalog, pg_temp', 'standard_conforming_strings = on', 'quote_all_identifiers = off',
            'DateStyle = ''ISO, YMD''', 'IntervalStyle = postgres', 'jit = off']
        LOOP
            EXECUTE format('ALTER FUNCTION %s SET %s', function, setting);
        END LOOP;
    END LOOP;
    -- What default privileges have given is taken back: who could create functions in the schema, or triggers on the
    -- view, could get others to call them. What they have taken away is given: a conversion calls as the table's owner.
    FOR privilege IN
        SELECT DISTINCT format('%s FROM %s', o.name, coalesce(r.oid::regrole::text, 'PUBLIC'))
        FROM (SELECT 'SCHEMA ' || nspname, nspacl, nspowner
              FROM pg_namespace
              WHERE nspname = 'snowflake_ids_convert'
              UNION ALL
              SELECT 'TABLE ' || oid::regclass, relacl, relowner
              FROM pg_class
              WHERE oid IN (SELECT objid
                            FROM pg_depend d
                                 JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'snowflake_ids_convert'
                            WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'e')) AS o (name, acl, owner)
             CROSS JOIN LATERAL aclexplode(o.acl) AS a
             LEFT JOIN pg_roles r ON r.oid = a.grantee
        WHERE a.grantee <> o.owner
    LOOP
        EXECUTE 'REVOKE ALL ON ' || privilege;
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', path, true);
END $$;
GRANT USAGE ON SCHEMA snowflake_ids_convert TO PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA snowflake_ids_convert TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON snowflake_ids_convert.my_conversion TO PUBLIC;
GRANT SELECT ON snowflake_ids_convert_progress TO PUBLIC;
