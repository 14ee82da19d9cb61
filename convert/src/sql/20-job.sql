-- Makes a job from arguments or state, and raises errors about arguments.

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
COMMENT ON FUNCTION snowflake_ids_convert.check_format IS 'internal: error if keys cannot become ids of this format';

CREATE FUNCTION snowflake_ids_convert.column_name(relation regclass, attnum smallint) RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT a.attname
    FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attnum = column_name.attnum AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION snowflake_ids_convert.column_name IS 'internal: present name of a column';

-- Functions of snowflake_ids get exactly the declared types. Otherwise another user's function in that schema could
-- match better.
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
            job.new_id := job.core || '.gen_sno(' || coalesce(nullif(job.metabyte::text, '0'), '') || ')';
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
    -- A number, because the text of a time can mean another time when it is read again ("CST", "IST"). The sum is exact
    -- to the microsecond: a double holds the seconds of 285 years.
    tick_start := format('to_timestamp(%s) + make_interval(secs => (%%1$s) * %s / 1000.0)',
                         extract(epoch FROM job.epoch), job.tick_ms);
    job.make := format(job.make, tick_start, '%2$s');
    job.read := format('%s.%s_timestamp(%%s)', job.core, job.format);
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.with_format IS 'internal: fills in what the format of a job needs';

CREATE FUNCTION snowflake_ids_convert.state_of(target regclass, locked boolean) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job;
BEGIN
    IF locked THEN
        PERFORM FROM snowflake_ids_convert.my_conversion WHERE relation = target FOR UPDATE NOWAIT;
    END IF;
    -- with_format() sets the rest.
    SELECT s.*, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL INTO job
    FROM snowflake_ids_convert.my_conversion s
    WHERE s.relation = target;
    RETURN job;
EXCEPTION WHEN lock_not_available THEN
    PERFORM snowflake_ids_convert.fail(
        '55006', format('%s is being converted by another session', target),
        hint => 'See snowflake_ids_convert_progress.');
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.state_of
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
COMMENT ON FUNCTION snowflake_ids_convert.column_number IS 'internal: number of a column; error if it does not exist';

CREATE FUNCTION snowflake_ids_convert.planned_job(
    relation regclass, key_column name, format text, created_column name, metabyte integer, spill boolean,
    keep_position boolean, fire_triggers boolean, publications boolean
) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    job snowflake_ids_convert.job;
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
    created_type := (SELECT atttypid FROM pg_attribute WHERE attrelid = job.relation AND attnum = job.created_attnum);
    IF created_type NOT IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype) THEN
        PERFORM snowflake_ids_convert.fail(
            '42804', format('column "%s" is not of a date/time type', created_column),
            detail => format('Its type is %s.', format_type(created_type, NULL)),
            hint => 'Use a column of type timestamptz, timestamp or date.');
    ELSIF relation::oid IN (SELECT oid FROM pg_class WHERE relkind NOT IN ('r', 'p')) THEN
        PERFORM snowflake_ids_convert.fail('42809', format('%s is not a table', relation));
    END IF;
    RETURN snowflake_ids_convert.with_format(job);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.planned_job
    IS 'internal: the job of a conversion that is planned; error if an argument is wrong';

-- Only before a conversion begins: after the changeover, a repeated call finds a key of the new type.
CREATE FUNCTION snowflake_ids_convert.check_key_type(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    key_type oid := (SELECT atttypid FROM pg_attribute WHERE attrelid = job.relation AND attnum = job.key_attnum);
BEGIN
    IF key_type NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'uuid'::regtype,
                        'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN
        PERFORM snowflake_ids_convert.fail(
            '42804', format('cannot convert a key of type %s', format_type(key_type, NULL)),
            detail => 'Integers, numeric, uuid and text can be converted.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_key_type
    IS 'internal: error if the key has a type that cannot be converted';
