-- Several servers whose ids are used together: can two of them issue the same id, and may an id be one of this
-- server's own?

CREATE FUNCTION snowflake_ids_issuer(
    OUT system_identifier bigint,
    OUT machine_id integer,
    OUT narrow_machine_id integer,
    OUT sno_sequence_min integer,
    OUT sno_sequence_max integer,
    OUT si_base_clock timestamptz,
    OUT si_machine_bits integer)
AS 'MODULE_PATHNAME', 'snowflake_ids_issuer'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_issuer() IS
    'the numbers under which this server issues ids now; see snowflake_ids_identity()';

-- Times are numbers, because their text depends on the session. A standby draws only with its own machine id.
CREATE FUNCTION snowflake_ids_identity() RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT pg_catalog.jsonb_build_object(
        'system_identifier', i.system_identifier::text,
        'started', extract(epoch FROM pg_catalog.pg_postmaster_start_time()),
        'machine_id', NULLIF(i.machine_id, -1),
        'machine_id_source', (SELECT CASE WHEN s.in_recovery THEN 'standby_machine_id' ELSE s.machine_id_source END
                              FROM snowflake_ids_status() s),
        'narrow_machine_id', NULLIF(i.narrow_machine_id, -1),
        'sno_partitions', (SELECT pg_catalog.jsonb_agg(g.node) FROM snowflake_ids_generators() g
                           WHERE g.format OPERATOR(pg_catalog.=) 'sno' AND g.owner IS NOT NULL
                               AND NOT pg_catalog.pg_is_in_recovery()),
        'sno_sequences', pg_catalog.jsonb_build_array(i.sno_sequence_min, i.sno_sequence_max),
        'si_base_clock', extract(epoch FROM i.si_base_clock),
        'si_machine_bits', i.si_machine_bits,
        'si_used', EXISTS (SELECT FROM snowflake_ids_generators() g
                           WHERE g.format OPERATOR(pg_catalog.=) 'snowflake_si'),
        'mastic_used', NOT pg_catalog.pg_is_in_recovery()
                       AND EXISTS (SELECT FROM snowflake_ids_generators() g
                                   WHERE g.format OPERATOR(pg_catalog.=) 'mastic'))
    FROM snowflake_ids_issuer() i;
END;
COMMENT ON FUNCTION snowflake_ids_identity() IS
    'this server and the numbers under which it issues ids, for snowflake_ids_compare()';

CREATE FUNCTION snowflake_ids_compare(one jsonb, other jsonb, OUT format text, OUT conflict text)
RETURNS SETOF record
LANGUAGE sql STABLE STRICT PARALLEL SAFE ROWS 3
AS $$
    WITH node AS (
        SELECT n AS nr, j ->> 'system_identifier' AS cluster, j ->> 'started' AS started,
               (j ->> 'machine_id')::integer AS machine_id, j ->> 'machine_id_source' AS source,
               coalesce(j ->> 'narrow_machine_id', j ->> 'machine_id')::integer AS si_machine_id,
               j -> 'sno_partitions' AS partitions,
               (j #>> '{sno_sequences,0}')::integer AS low, (j #>> '{sno_sequences,1}')::integer AS high,
               ((j ->> 'si_base_clock')::numeric, (j ->> 'si_machine_bits')::integer)::text AS layout,
               1 << (j ->> 'si_machine_bits')::integer AS si_machines,
               (j ->> 'si_used')::boolean AS si_used, (j ->> 'mastic_used')::boolean AS mastic_used
        FROM unnest(ARRAY[one, other]) WITH ORDINALITY AS u(j, n)
    ), partition AS (
        SELECT nr, machine_id AS partition FROM node WHERE machine_id IS NOT NULL
        UNION
        SELECT nr, p::integer
        FROM node, jsonb_array_elements_text(CASE jsonb_typeof(partitions) WHEN 'array' THEN partitions END) AS p
        WHERE machine_id IS NOT NULL
    ), pair AS (
        SELECT a.si_machine_id, b.si_machine_id AS other_si_machine_id, a.layout = b.layout AS same_layout,
               a.machine_id IS NOT NULL AND b.machine_id IS NOT NULL AS both_issue,
               a.low <= b.high AND b.low <= a.high AS sequences_meet,
               a.si_machine_id < a.si_machines AND b.si_machine_id < b.si_machines AS si_possible,
               a.si_used AND b.si_used AS si_used, a.mastic_used AND b.mastic_used AS mastic_used,
               coalesce('; machine ids: ' || a.source || ', ' || b.source, '') || CASE WHEN a.cluster = b.cluster
                   THEN '; they have the same system identifier, so one is a copy of the other' ELSE '' END AS why
        FROM node a, node b
        WHERE a.nr = 1 AND b.nr = 2
            -- not two connections to one server
            AND (a.cluster, a.started) IS DISTINCT FROM (b.cluster, b.started)
    )
    SELECT 'sno', 'both issue in partition ' || string_agg(a.partition::text, ', ' ORDER BY a.partition) || why
    FROM pair, partition a JOIN partition b USING (partition)
    WHERE a.nr = 1 AND b.nr = 2 AND sequences_meet GROUP BY why
    UNION ALL
    SELECT 'snowflake_si', 'both have machine id ' || si_machine_id || why
    FROM pair WHERE si_possible AND same_layout AND si_machine_id = other_si_machine_id
    UNION ALL
    SELECT 'snowflake_si', 'base clock or machine bits differ, so ids of different machine ids can be equal'
    FROM pair WHERE si_possible AND si_used AND NOT same_layout
    UNION ALL
    SELECT 'mastic', 'these ids have no machine id, and both have issued some' || why
    FROM pair WHERE mastic_used AND both_issue
$$;
COMMENT ON FUNCTION snowflake_ids_compare(jsonb, jsonb) IS
    'how two servers can issue the same id, given what snowflake_ids_identity() says on each; no row if they cannot';

CREATE FUNCTION snowflake_ids_check(connection text, OUT format text, OUT conflict text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
AS $$
DECLARE
    here CONSTANT text := (SELECT extnamespace::regnamespace FROM pg_extension WHERE extname = 'snowflake_ids');
    dblink CONSTANT text :=
        (SELECT extnamespace::regnamespace || '.dblink($1, $2)' FROM pg_extension WHERE extname = 'dblink');
    there text;
    other jsonb;
BEGIN
    IF dblink IS NULL THEN
        RAISE EXCEPTION 'extension "dblink" is not installed' USING ERRCODE = 'undefined_function',
            HINT = 'CREATE EXTENSION dblink, or hand what snowflake_ids_identity() says there to '
                   'snowflake_ids_compare().';
    END IF;
    EXECUTE 'SELECT s FROM ' || dblink || ' AS t(s text)' INTO there
        USING connection,
              'SELECT extnamespace::pg_catalog.regnamespace FROM pg_catalog.pg_extension '
              'WHERE extname = ''snowflake_ids''';
    IF there IS NULL THEN
        RAISE EXCEPTION 'extension "snowflake_ids" is not installed there'
            USING ERRCODE = 'object_not_in_prerequisite_state',
            DETAIL = 'It must be in the very database that the connection leads to.';
    END IF;
    EXECUTE 'SELECT j FROM ' || dblink || ' AS t(j jsonb)' INTO other
        USING connection, 'SELECT ' || there || '.snowflake_ids_identity()';
    RETURN QUERY EXECUTE format('SELECT * FROM %1$s.snowflake_ids_compare(%1$s.snowflake_ids_identity(), $1)', here)
        USING other;
END $$;
COMMENT ON FUNCTION snowflake_ids_check(text) IS
    'how this server and the one of a dblink connection can issue the same id; no row if they cannot';

CREATE FUNCTION sno_may_be_mine(id sno) RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_may_be_mine'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_may_be_mine(sno) IS
    'false: this server''s generators cannot have drawn the id; true: its partition and time are among theirs';

CREATE FUNCTION mastic_may_be_mine(id mastic) RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_may_be_mine'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_may_be_mine(mastic) IS
    'false: this server cannot have drawn the Mastic id; true: its time is among those drawn';

CREATE FUNCTION snowflake_si_may_be_mine(id bigint) RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_may_be_mine'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_may_be_mine(bigint) IS
    'false: this server cannot have drawn the Snowflake-SI id; true: its machine id and time are among those drawn';
