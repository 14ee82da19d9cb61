-- A bigint becomes a mastic unasked, but not next to a time: it may have ids of any layout, and would be read as one of
-- Mastic. So each operator has a twin on a domain that fits as well, and PostgreSQL refuses to choose: "operator is not
-- unique: bigint > timestamp with time zone". For a mastic the operators of 70-id_time are the better match.

CREATE DOMAIN snowflake_ids.mastic_ambiguous AS mastic;
COMMENT ON DOMAIN snowflake_ids.mastic_ambiguous IS
    'internal: a mastic that makes a bigint next to a time ambiguous, so that nobody compares it as a mastic by mistake';

CREATE FUNCTION snowflake_ids.mastic_ambiguous_time(snowflake_ids.mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ambiguous_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ambiguous_time(snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: raises an error';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';

CREATE FUNCTION snowflake_ids.mastic_ambiguous_time(timestamptz, snowflake_ids.mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ambiguous_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ambiguous_time(timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: raises an error';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
