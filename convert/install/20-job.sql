-- A job: what the functions of a conversion need to know of it. It is made once in each step.
--
-- core is the schema of the extension snowflake_ids, now. type, epoch, tick_ms and capacity are those of the format.
-- new_id draws an id; make and read are templates for format(): they make an id of a tick and a number within it, and
-- give the time of an id.
CREATE TYPE snowflake_ids_convert.job AS (
    relation regclass,
    key_attnum smallint,
    key_column name,
    shadow name,
    created_column name,
    format text,
    zone text,
    metabyte integer,
    spill boolean,
    keep_position boolean,
    fire_triggers boolean,
    publications boolean,
    issued_after timestamptz,
    map regclass,
    core text,
    type text,
    epoch timestamptz,
    tick_ms integer,
    capacity bigint,
    new_id text,
    make text,
    read text
);
COMMENT ON TYPE snowflake_ids_convert.job IS 'a conversion, with what its format needs';

CREATE FUNCTION snowflake_ids_convert.refuse_nulls(arguments jsonb) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    missing text := (SELECT string_agg(key, ', ') FROM jsonb_each_text(arguments) WHERE value IS NULL);
BEGIN
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'argument must not be null: %', missing USING ERRCODE = 'null_value_not_allowed';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_nulls(jsonb) IS 'internal: error that names the arguments that are null';

CREATE FUNCTION snowflake_ids_convert.check_format(format text, metabyte integer) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF format IN ('mastic', 'snowflake_si') AND metabyte <> 0 THEN
        RAISE EXCEPTION 'only sno has a metabyte' USING ERRCODE = 'invalid_parameter_value';
    ELSIF metabyte NOT BETWEEN 0 AND 255 THEN
        RAISE EXCEPTION 'metabyte out of range: %', metabyte
            USING ERRCODE = 'numeric_value_out_of_range', DETAIL = 'The metabyte must be between 0 and 255.';
    ELSIF coalesce(format, '') NOT IN ('sno', 'mastic', 'snowflake_si') THEN
        RAISE EXCEPTION 'unknown format "%"', format
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'Keys can become sno, mastic or snowflake_si.';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_format(text, integer) IS 'internal: error if keys cannot become ids of this format';

-- Fills in what the format needs. Functions of the extension snowflake_ids are called with the very types that they
-- have: others may be allowed to create in that schema, and could offer a better match.
CREATE FUNCTION snowflake_ids_convert.with_format(j snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    node text;
    created text;
BEGIN
    PERFORM snowflake_ids_convert.check_format(j.format, j.metabyte);
    j.core := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'snowflake_ids');
    EXECUTE format('SELECT CASE $1 WHEN ''snowflake_si'' THEN narrow_machine_id ELSE machine_id END FROM %s.snowflake_ids_issuer()', j.core)
    INTO node USING j.format;
    j.type := 'pg_catalog.int8';
    j.tick_ms := 1;
    j.capacity := 65536;
    CASE j.format
        WHEN 'sno' THEN
            j.type := j.core || '.sno';
            j.epoch := '2010-01-01 00:00:00+00';
            j.tick_ms := 4;
            j.new_id := j.core || '.gen_sno(' || j.metabyte || ')';
            j.make := j.core || '.make_sno(%s, ' || j.metabyte || ', ' || node || ', (%s)::int4, 0)';
        WHEN 'mastic' THEN
            j.epoch := '2026-01-01 00:00:00+00';
            j.new_id := j.core || '.gen_mastic()';
            j.make := j.core || '.make_mastic(%s, (%s)::int4)';
        WHEN 'snowflake_si' THEN
            EXECUTE format('SELECT %s.snowflake_si_timestamp(0::pg_catalog.int8)', j.core) INTO j.epoch;
            j.capacity := 1 << (13 - current_setting('snowflake_ids.si_machine_bits')::int);
            j.new_id := j.core || '.gen_snowflake_si()';
            j.make := j.core || '.make_snowflake_si(%s, ' || node || ', (%s)::int4)';
    END CASE;
    -- The epoch as a number: the text of a time can mean another time when it is read again ("CST", "IST"). Exact to the
    -- microsecond: a double holds the seconds of 285 years.
    created := format('to_timestamp(%s) + make_interval(secs => (%%1$s) * %s / 1000.0)', extract(epoch FROM j.epoch), j.tick_ms);
    j.make := format(j.make, created, '%2$s');
    j.read := format('%s.%s_timestamp(%%s)', j.core, j.format);
    RETURN j;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.with_format(snowflake_ids_convert.job) IS 'internal: fills in what the format of a job needs';

CREATE FUNCTION snowflake_ids_convert.column_name(relation regclass, attnum smallint) RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT a.attname FROM pg_attribute a WHERE a.attrelid = relation AND a.attnum = column_name.attnum AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION snowflake_ids_convert.column_name(regclass, smallint) IS 'internal: name of a column, now';

CREATE FUNCTION snowflake_ids_convert.column_number(relation regclass, column_name name) RETURNS smallint
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    number smallint := (SELECT attnum FROM pg_attribute
                        WHERE attrelid = relation AND attname = column_name AND attnum > 0 AND NOT attisdropped);
BEGIN
    IF number IS NULL THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', column_name, relation USING ERRCODE = 'undefined_column';
    END IF;
    RETURN number;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.column_number(regclass, name) IS 'internal: number of a column; error if there is none';

-- The job of a conversion that was begun; null if there is none, or it is of a table of somebody else.
CREATE FUNCTION snowflake_ids_convert.job_of(target regclass) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    j snowflake_ids_convert.job;
BEGIN
    SELECT s.relation, s.key_attnum, snowflake_ids_convert.column_name(s.relation, s.key_attnum), 'snowflake_ids_new_' || s.key_attnum,
           snowflake_ids_convert.column_name(s.relation, s.created_attnum), s.format, s.zone, s.metabyte, s.spill, s.keep_position,
           s.fire_triggers, s.publications, s.issued_after, CASE WHEN s.map IN (SELECT oid FROM pg_class) THEN s.map END
    INTO j.relation, j.key_attnum, j.key_column, j.shadow, j.created_column, j.format, j.zone, j.metabyte, j.spill, j.keep_position,
         j.fire_triggers, j.publications, j.issued_after, j.map
    FROM snowflake_ids_convert.my_conversion s WHERE s.relation = target;
    IF j.relation IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN snowflake_ids_convert.with_format(j);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.job_of(regclass) IS 'internal: the job of a conversion that was begun';

-- The job of a conversion that is planned, with what is wrong with the arguments.
CREATE FUNCTION snowflake_ids_convert.planned_job(
    relation regclass, key_column name, format text, created_column name, metabyte integer, spill boolean, keep_position boolean,
    fire_triggers boolean, publications boolean
) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    j snowflake_ids_convert.job;
    key_type oid;
    created_type oid;
BEGIN
    PERFORM snowflake_ids_convert.check_format(format, metabyte);
    j.relation := relation;
    j.key_attnum := snowflake_ids_convert.column_number(relation, key_column);
    j.key_column := key_column;
    j.shadow := 'snowflake_ids_new_' || j.key_attnum;
    j.created_column := created_column;
    SELECT a.atttypid INTO key_type FROM pg_attribute a WHERE a.attrelid = relation AND a.attnum = j.key_attnum;
    SELECT a.atttypid INTO created_type FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attnum = snowflake_ids_convert.column_number(relation, created_column);
    IF created_type NOT IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype) THEN
        RAISE EXCEPTION 'column "%" is not a time', created_column
            USING ERRCODE = 'datatype_mismatch', DETAIL = format('It is of type %s.', format_type(created_type, NULL)),
                  HINT = 'Use a column of type timestamptz, timestamp or date.';
    ELSIF key_type NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'uuid'::regtype,
                           'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN
        RAISE EXCEPTION 'cannot convert a key of type %', format_type(key_type, NULL)
            USING ERRCODE = 'datatype_mismatch', DETAIL = 'Integers, numeric, uuid and text can be converted.';
    ELSIF relation::oid IN (SELECT oid FROM pg_class WHERE relkind NOT IN ('r', 'p')) THEN
        RAISE EXCEPTION '% is not a table', relation USING ERRCODE = 'wrong_object_type';
    END IF;
    j.format := format;
    j.zone := current_setting('TimeZone');
    j.metabyte := metabyte;
    j.spill := spill;
    j.keep_position := keep_position;
    j.fire_triggers := fire_triggers;
    j.publications := publications;
    j.map := (SELECT s.map FROM snowflake_ids_convert.my_conversion s
              WHERE s.relation = planned_job.relation AND s.phase <> 'done' AND s.map IN (SELECT oid FROM pg_class));
    RETURN snowflake_ids_convert.with_format(j);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.planned_job(regclass, name, text, name, integer, boolean, boolean, boolean, boolean) IS 'internal: the job of a conversion that is planned';
