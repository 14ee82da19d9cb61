-- Converting the key of an existing table: what a running conversion remembers, and what others see of it.
--
-- The procedure commits between its steps, so it can have no settings of its own. It only calls functions that
-- do; those reach the extension's own objects by the schema in which the extension is now.

CREATE TABLE snowflake_ids_conversion (
    relation regclass PRIMARY KEY,
    key_column name NOT NULL,
    format text NOT NULL,
    created_column name NOT NULL,
    zone text NOT NULL,
    metabyte integer NOT NULL,
    batch_size integer NOT NULL,
    spill boolean NOT NULL,
    keep_position boolean NOT NULL,
    fire_triggers boolean NOT NULL,
    issued_after timestamptz NOT NULL,
    phase text NOT NULL,
    part regclass,
    unit text,
    done bigint,
    total bigint,
    todo jsonb,
    rows bigint NOT NULL DEFAULT 0,
    started timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    phase_started timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    resumed timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    resumed_at bigint NOT NULL DEFAULT 0,
    updated timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    told timestamptz
);
COMMENT ON TABLE snowflake_ids_conversion IS 'state of each conversion; written through snowflake_ids_my_conversions';
COMMENT ON COLUMN snowflake_ids_conversion.relation IS 'the table whose key is converted';
COMMENT ON COLUMN snowflake_ids_conversion.key_column IS 'its key';
COMMENT ON COLUMN snowflake_ids_conversion.format IS 'what the key becomes: sno, mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_conversion.created_column IS 'the column of times that the new ids are made of';
COMMENT ON COLUMN snowflake_ids_conversion.zone IS 'time zone in which times without one are read: that of the first call';
COMMENT ON COLUMN snowflake_ids_conversion.metabyte IS 'metabyte of the new ids and of the new default; sno only';
COMMENT ON COLUMN snowflake_ids_conversion.batch_size IS 'rows in a transaction';
COMMENT ON COLUMN snowflake_ids_conversion.spill IS 'rows may move to later ticks where more share one than it has room for';
COMMENT ON COLUMN snowflake_ids_conversion.keep_position IS 'the tables are rewritten under the last lock, so that columns stay where they are';
COMMENT ON COLUMN snowflake_ids_conversion.fire_triggers IS 'the tables'' own triggers fire for what the conversion writes';
COMMENT ON COLUMN snowflake_ids_conversion.issued_after IS 'no id that is drawn since the numbering has this time or is before it';
COMMENT ON COLUMN snowflake_ids_conversion.phase IS 'prepare, number, fill, settle, follow, check, index, ready, swap, validate or done';
COMMENT ON COLUMN snowflake_ids_conversion.part IS 'the table that is written now; null where a phase is not about one table';
COMMENT ON COLUMN snowflake_ids_conversion.unit IS 'what done and total count: rows of the key''s table, or blocks of one that refers to it';
COMMENT ON COLUMN snowflake_ids_conversion.done IS 'units that are done in this part';
COMMENT ON COLUMN snowflake_ids_conversion.total IS 'units of this part';
COMMENT ON COLUMN snowflake_ids_conversion.todo IS 'what else the phase has to do: oids of tables, or constraints to validate';
COMMENT ON COLUMN snowflake_ids_conversion.rows IS 'rows written so far, in all tables';
COMMENT ON COLUMN snowflake_ids_conversion.started IS 'first call';
COMMENT ON COLUMN snowflake_ids_conversion.phase_started IS 'when this phase, or this part of it, began';
COMMENT ON COLUMN snowflake_ids_conversion.resumed IS 'when the call that works on this part began, or the part, whichever is later';
COMMENT ON COLUMN snowflake_ids_conversion.resumed_at IS 'units that were done by then';
COMMENT ON COLUMN snowflake_ids_conversion.updated IS 'end of the last step';
COMMENT ON COLUMN snowflake_ids_conversion.told IS 'last notice about this conversion';

-- Who owns a table may write what is remembered of it, and nobody else: the steps that follow act on it. A view and
-- not row security, for pg_dump would dump the policies of an extension's table.
CREATE VIEW snowflake_ids_my_conversions WITH (security_barrier) AS
SELECT * FROM snowflake_ids_conversion s
WHERE EXISTS (SELECT FROM pg_catalog.pg_class c
              WHERE c.oid OPERATOR(pg_catalog.=) s.relation AND pg_catalog.pg_has_role(c.relowner, 'USAGE'))
WITH CASCADED CHECK OPTION;
COMMENT ON VIEW snowflake_ids_my_conversions IS 'conversions of tables that the current user owns; the procedures write here, and a row can be deleted once it is done';
COMMENT ON COLUMN snowflake_ids_my_conversions.relation IS 'the table whose key is converted';
COMMENT ON COLUMN snowflake_ids_my_conversions.key_column IS 'its key';
COMMENT ON COLUMN snowflake_ids_my_conversions.format IS 'what the key becomes: sno, mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_my_conversions.created_column IS 'the column of times that the new ids are made of';
COMMENT ON COLUMN snowflake_ids_my_conversions.zone IS 'time zone in which times without one are read: that of the first call';
COMMENT ON COLUMN snowflake_ids_my_conversions.metabyte IS 'metabyte of the new ids and of the new default; sno only';
COMMENT ON COLUMN snowflake_ids_my_conversions.batch_size IS 'rows in a transaction';
COMMENT ON COLUMN snowflake_ids_my_conversions.spill IS 'rows may move to later ticks where more share one than it has room for';
COMMENT ON COLUMN snowflake_ids_my_conversions.keep_position IS 'the tables are rewritten under the last lock, so that columns stay where they are';
COMMENT ON COLUMN snowflake_ids_my_conversions.fire_triggers IS 'the tables'' own triggers fire for what the conversion writes';
COMMENT ON COLUMN snowflake_ids_my_conversions.issued_after IS 'no id that is drawn since the numbering has this time or is before it';
COMMENT ON COLUMN snowflake_ids_my_conversions.phase IS 'prepare, number, fill, settle, follow, check, index, ready, swap, validate or done';
COMMENT ON COLUMN snowflake_ids_my_conversions.part IS 'the table that is written now; null where a phase is not about one table';
COMMENT ON COLUMN snowflake_ids_my_conversions.unit IS 'what done and total count: rows of the key''s table, or blocks of one that refers to it';
COMMENT ON COLUMN snowflake_ids_my_conversions.done IS 'units that are done in this part';
COMMENT ON COLUMN snowflake_ids_my_conversions.total IS 'units of this part';
COMMENT ON COLUMN snowflake_ids_my_conversions.todo IS 'what else the phase has to do: oids of tables, or constraints to validate';
COMMENT ON COLUMN snowflake_ids_my_conversions.rows IS 'rows written so far, in all tables';
COMMENT ON COLUMN snowflake_ids_my_conversions.started IS 'first call';
COMMENT ON COLUMN snowflake_ids_my_conversions.phase_started IS 'when this phase, or this part of it, began';
COMMENT ON COLUMN snowflake_ids_my_conversions.resumed IS 'when the call that works on this part began, or the part, whichever is later';
COMMENT ON COLUMN snowflake_ids_my_conversions.resumed_at IS 'units that were done by then';
COMMENT ON COLUMN snowflake_ids_my_conversions.updated IS 'end of the last step';
COMMENT ON COLUMN snowflake_ids_my_conversions.told IS 'last notice about this conversion';
GRANT SELECT, INSERT, UPDATE, DELETE ON snowflake_ids_my_conversions TO PUBLIC;

CREATE VIEW snowflake_ids_convert_progress AS
SELECT s.relation, s.key_column, s.format, s.phase, s.part, s.unit, s.done, s.total, s.rows,
       CASE WHEN p.seconds OPERATOR(pg_catalog.>) 0 AND s.total IS NOT NULL
            THEN pg_catalog.round((p.progress OPERATOR(pg_catalog./) p.seconds)::numeric, 1) END AS per_second,
       CASE WHEN p.progress OPERATOR(pg_catalog.>) 0
            THEN pg_catalog.make_interval(secs => (s.total OPERATOR(pg_catalog.-) s.done)
                                                  OPERATOR(pg_catalog.*) p.seconds OPERATOR(pg_catalog./) p.progress)
       END AS remaining,
       s.started, s.phase_started, s.updated
FROM snowflake_ids_conversion s
     CROSS JOIN LATERAL (SELECT EXTRACT(epoch FROM s.updated OPERATOR(pg_catalog.-) s.resumed)::float8 AS seconds,
                                s.done OPERATOR(pg_catalog.-) s.resumed_at AS progress) AS p;
COMMENT ON VIEW snowflake_ids_convert_progress IS 'conversions of keys: phase, how far it is, units per second, time that the phase will take';
COMMENT ON COLUMN snowflake_ids_convert_progress.relation IS 'the table whose key is converted';
COMMENT ON COLUMN snowflake_ids_convert_progress.key_column IS 'its key';
COMMENT ON COLUMN snowflake_ids_convert_progress.format IS 'what the key becomes: sno, mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_convert_progress.phase IS 'prepare, number, fill, settle, follow, check, index, ready, swap, validate or done';
COMMENT ON COLUMN snowflake_ids_convert_progress.part IS 'the table that is written now; null where a phase is not about one table';
COMMENT ON COLUMN snowflake_ids_convert_progress.unit IS 'what done and total count: rows of the key''s table, or blocks of one that refers to it';
COMMENT ON COLUMN snowflake_ids_convert_progress.done IS 'units that are done in this part';
COMMENT ON COLUMN snowflake_ids_convert_progress.total IS 'units of this part';
COMMENT ON COLUMN snowflake_ids_convert_progress.rows IS 'rows written so far, in all tables';
COMMENT ON COLUMN snowflake_ids_convert_progress.per_second IS 'units per second in this part, since the last call';
COMMENT ON COLUMN snowflake_ids_convert_progress.remaining IS 'time that this part will take at that rate';
COMMENT ON COLUMN snowflake_ids_convert_progress.started IS 'first call';
COMMENT ON COLUMN snowflake_ids_convert_progress.phase_started IS 'when this phase, or this part of it, began';
COMMENT ON COLUMN snowflake_ids_convert_progress.updated IS 'end of the last step';
GRANT SELECT ON snowflake_ids_convert_progress TO PUBLIC;

CREATE FUNCTION snowflake_ids_convert_given(arguments jsonb) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    missing text := (SELECT string_agg(key, ', ') FROM jsonb_each_text(arguments) WHERE value IS NULL);
BEGIN
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'argument must not be null: %', missing USING ERRCODE = 'null_value_not_allowed';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_given(jsonb) IS 'internal: error that names the arguments that are null';

-- What a format has room for, and how its ids are written in SQL: make takes a tick and a number within it, read an id.
CREATE FUNCTION snowflake_ids_convert_format(
    format text, metabyte integer,
    OUT type text, OUT epoch timestamptz, OUT tick_ms integer, OUT capacity bigint, OUT new_id text, OUT make text,
    OUT read text
)
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    node text;
    created text;
BEGIN
    -- What is called in the schema of the extension must be called with the very types that it has: whoever may create
    -- there could offer a better match.
    EXECUTE format('SELECT CASE $1 WHEN ''snowflake_si'' THEN narrow_machine_id ELSE machine_id END FROM %s.snowflake_ids_issuer()', ext)
        INTO node USING format;
    IF format IN ('mastic', 'snowflake_si') AND metabyte <> 0 THEN
        RAISE EXCEPTION 'only sno has a metabyte' USING ERRCODE = 'invalid_parameter_value';
    ELSIF metabyte NOT BETWEEN 0 AND 255 THEN
        RAISE EXCEPTION 'metabyte out of range: %', metabyte
            USING ERRCODE = 'numeric_value_out_of_range', DETAIL = 'The metabyte must be between 0 and 255.';
    END IF;
    CASE format
        WHEN 'sno' THEN
            type := ext || '.sno';
            epoch := '2010-01-01 00:00:00+00';
            tick_ms := 4;
            capacity := 65536;
            new_id := ext || '.gen_sno(' || metabyte || ')';
            make := ext || '.make_sno(%s, ' || metabyte || ', ' || node || ', (%s)::int4, 0)';
        WHEN 'mastic' THEN
            type := 'pg_catalog.int8';
            epoch := '2026-01-01 00:00:00+00';
            tick_ms := 1;
            capacity := 65536;
            new_id := ext || '.gen_mastic()';
            make := ext || '.make_mastic(%s, (%s)::int4)';
        WHEN 'snowflake_si' THEN
            type := 'pg_catalog.int8';
            EXECUTE format('SELECT %s.snowflake_si_timestamp(0::pg_catalog.int8)', ext) INTO epoch;
            tick_ms := 1;
            capacity := 1 << (13 - current_setting('snowflake_ids.si_machine_bits')::int);
            new_id := ext || '.gen_snowflake_si()';
            make := ext || '.make_snowflake_si(%s, ' || node || ', (%s)::int4)';
        ELSE
            RAISE EXCEPTION 'unknown format "%"', format
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'Keys can become sno, mastic or snowflake_si.';
    END CASE;
    -- The epoch as a number: the text of a time can mean another time when it is read again ("CST", "IST"). Exact to the
    -- microsecond: a double holds the seconds of 285 years.
    created := format('to_timestamp(%s) + make_interval(secs => (%%1$s) * %s / 1000.0)', extract(epoch FROM epoch), tick_ms);
    make := format(make, created, '%2$s');
    read := format('%s.%s_timestamp(%%s)', ext, format);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_format(text, integer) IS 'internal: room in a tick of a format, its type, how its ids are made';

-- No id that is drawn from now on is of this time or before, so what is made of times up to it collides with none.
-- It is the clock's own time: nothing that a caller could abuse, so he needs no privilege to observe it.
CREATE FUNCTION snowflake_ids_convert_floor(format text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_convert_floor' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_floor(text) IS 'internal: the time now, which no id that is drawn from now on has or is before';
