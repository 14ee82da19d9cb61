-- The state of each conversion, and the views of it.
--
-- The functions that a conversion uses have a schema of their own, snowflake_ids_convert. Nobody else can create
-- objects there, so these functions can call each other by name safely. They run with the rights of the caller, who
-- owns the tables. The functions that users call are in the schema in which the extension was created.
CREATE SCHEMA snowflake_ids_convert;
COMMENT ON SCHEMA snowflake_ids_convert IS 'what snowflake_ids_convert() and its triggers use';
GRANT USAGE ON SCHEMA snowflake_ids_convert TO PUBLIC;

-- Raises an error without the context that RAISE would add: signature and line of each call that is under way.
CREATE FUNCTION snowflake_ids_convert.fail(state text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_fail' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_convert.fail(text, text, text, text)
    IS 'internal: raises an error that has no context';

CREATE FUNCTION snowflake_ids_convert.in_transaction_block() RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_in_transaction_block' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_convert.in_transaction_block()
    IS 'internal: whether this transaction continues after the statement that runs';

-- A job: what the functions of a conversion need to know about it.
--
-- The fields from key_column on follow from the others: with_format() fills them in when a step begins. core is the
-- present schema of the extension snowflake_ids. type, epoch, tick_ms and capacity (ids per tick) belong to the format.
-- new_id is the expression that draws an id. make and read are templates for format(): make makes an id from a tick and
-- a number within it, read returns the time of an id. issued_after: every id that was drawn since the new columns exist
-- is later than this time. Times without a zone are read in that of the first call.
CREATE TYPE snowflake_ids_convert.job AS (
    relation regclass,
    key_attnum smallint,
    created_attnum smallint,
    format text,
    zone text,
    metabyte integer,
    batch_size integer,
    spill boolean,
    keep_position boolean,
    fire_triggers boolean,
    build_concurrently boolean,
    publications boolean,
    issued_after timestamptz,
    key_column name,
    shadow name,
    created_column name,
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

CREATE TABLE snowflake_ids_convert.conversion (
    relation regclass PRIMARY KEY,
    job snowflake_ids_convert.job NOT NULL,
    map regclass,
    filled jsonb,
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
COMMENT ON TABLE snowflake_ids_convert.conversion IS 'state of each conversion; written through my_conversion';
COMMENT ON COLUMN snowflake_ids_convert.conversion.relation IS 'table whose key is converted';
COMMENT ON COLUMN snowflake_ids_convert.conversion.job IS 'what is converted, and how';
COMMENT ON COLUMN snowflake_ids_convert.conversion.map IS 'table of old and new keys';
COMMENT ON COLUMN snowflake_ids_convert.conversion.filled
    IS 'columns that have a new column: pairs of table oid and column number';
COMMENT ON COLUMN snowflake_ids_convert.conversion.phase
    IS 'prepare, number, fill, settle, follow, check, index, ready, swap, validate or done';
COMMENT ON COLUMN snowflake_ids_convert.conversion.part
    IS 'table that is written now; null if the phase is not about one table';
COMMENT ON COLUMN snowflake_ids_convert.conversion.unit
    IS 'what done and total count: rows of the key''s table, or blocks of a referencing table';
COMMENT ON COLUMN snowflake_ids_convert.conversion.done IS 'units of this part that are done';
COMMENT ON COLUMN snowflake_ids_convert.conversion.total IS 'units of this part';
COMMENT ON COLUMN snowflake_ids_convert.conversion.todo
    IS 'what is left to do in the phase: oids of tables, or constraints to validate';
COMMENT ON COLUMN snowflake_ids_convert.conversion.rows IS 'rows written so far, in all tables';
COMMENT ON COLUMN snowflake_ids_convert.conversion.started IS 'time of the first call';
COMMENT ON COLUMN snowflake_ids_convert.conversion.phase_started IS 'when this phase, or this part of it, began';
COMMENT ON COLUMN snowflake_ids_convert.conversion.resumed
    IS 'when the current call began, or this part, whichever is later';
COMMENT ON COLUMN snowflake_ids_convert.conversion.resumed_at IS 'units that were done by then';
COMMENT ON COLUMN snowflake_ids_convert.conversion.updated IS 'end of the last step';
COMMENT ON COLUMN snowflake_ids_convert.conversion.told IS 'time of the last notice about this conversion';

-- Only the owner of a table may write its state, because later steps act on it. This is a view and not row security:
-- pg_dump would dump the policies of an extension's table.
CREATE VIEW snowflake_ids_convert.my_conversion WITH (security_barrier) AS
SELECT *
FROM snowflake_ids_convert.conversion s
WHERE EXISTS (SELECT
              FROM pg_catalog.pg_class c
              WHERE c.oid OPERATOR(pg_catalog.=) s.relation
                AND pg_catalog.pg_has_role(c.relowner, 'USAGE'))
WITH CASCADED CHECK OPTION;
COMMENT ON VIEW snowflake_ids_convert.my_conversion IS 'conversions of tables that the current user owns';
GRANT SELECT, INSERT, UPDATE, DELETE ON snowflake_ids_convert.my_conversion TO PUBLIC;

CREATE VIEW snowflake_ids_convert_progress AS
SELECT s.relation, a.attname AS key_column, (s.job).format, s.phase, s.part, s.unit, s.done, s.total, s.rows,
       CASE WHEN p.seconds OPERATOR(pg_catalog.>) 0 AND s.total IS NOT NULL
            THEN pg_catalog.round((p.progress OPERATOR(pg_catalog./) p.seconds)::numeric, 1)
       END AS per_second,
       CASE WHEN p.progress OPERATOR(pg_catalog.>) 0
            THEN pg_catalog.make_interval(secs => (s.total OPERATOR(pg_catalog.-) s.done)
                                                  OPERATOR(pg_catalog.*) p.seconds OPERATOR(pg_catalog./) p.progress)
       END AS remaining,
       s.started, s.phase_started, s.updated
FROM snowflake_ids_convert.conversion s
     LEFT JOIN pg_catalog.pg_attribute a
     ON a.attrelid OPERATOR(pg_catalog.=) s.relation AND a.attnum OPERATOR(pg_catalog.=) (s.job).key_attnum
     CROSS JOIN LATERAL (
         SELECT EXTRACT(epoch FROM s.updated OPERATOR(pg_catalog.-) s.resumed)::float8 AS seconds,
                s.done OPERATOR(pg_catalog.-) s.resumed_at AS progress) AS p;
COMMENT ON VIEW snowflake_ids_convert_progress
    IS 'progress of each conversion: its phase, units done and in total, units per second, time left in the phase';
COMMENT ON COLUMN snowflake_ids_convert_progress.format IS 'format of the new ids: sno, mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_convert_progress.key_column IS 'column that is converted';
COMMENT ON COLUMN snowflake_ids_convert_progress.per_second IS 'units per second in this part, since the last call';
COMMENT ON COLUMN snowflake_ids_convert_progress.remaining IS 'time that this part still needs at that rate';
GRANT SELECT ON snowflake_ids_convert_progress TO PUBLIC;

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
