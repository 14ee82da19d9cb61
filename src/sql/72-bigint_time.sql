-- A bigint may have ids of any layout, so PostgreSQL must not read it as a mastic next to a time. These operators raise
-- an error that names the bound to write, when the query is planned.
--
-- Without the implicit cast of bigint they would not be needed. But JOIN ... USING, UNION, COALESCE, GREATEST and CASE
-- of a bigint and a mastic need that cast, and so do the functions of a mastic.

CREATE FUNCTION snowflake_ids.bigint_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.bigint_time_support(internal) IS
    'planner support of comparisons of a bigint with a time: raises the error';

CREATE FUNCTION snowflake_ids.bigint_time(bigint, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT snowflake_ids.bigint_time_support;
COMMENT ON FUNCTION snowflake_ids.bigint_time(bigint, timestamptz) IS 'raises an error';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = bigint, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (bigint, timestamptz) IS 'raises an error that names the bound to compare with';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = bigint, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (bigint, timestamptz) IS 'raises an error that names the bound to compare with';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = bigint, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (bigint, timestamptz) IS 'raises an error that names the bound to compare with';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = bigint, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (bigint, timestamptz) IS 'raises an error that names the bound to compare with';

CREATE FUNCTION snowflake_ids.bigint_time(timestamptz, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT snowflake_ids.bigint_time_support;
COMMENT ON FUNCTION snowflake_ids.bigint_time(timestamptz, bigint) IS 'raises an error';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = bigint, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (timestamptz, bigint) IS 'raises an error that names the bound to compare with';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = bigint, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, bigint) IS 'raises an error that names the bound to compare with';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = bigint, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, bigint) IS 'raises an error that names the bound to compare with';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = bigint, FUNCTION = snowflake_ids.bigint_time,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (timestamptz, bigint) IS 'raises an error that names the bound to compare with';
