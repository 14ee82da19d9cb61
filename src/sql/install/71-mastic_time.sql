-- A bigint becomes a mastic unasked, but not next to a time: it may have ids of any layout, and would be read as one of
-- Mastic. So each operator has a twin on a domain that fits as well, and PostgreSQL refuses to choose: "operator is not
-- unique: bigint > timestamp with time zone". For a mastic the operators of 70-id_time are the better match.

CREATE DOMAIN mastic_ambiguous AS mastic;
COMMENT ON DOMAIN mastic_ambiguous IS
    'internal: a mastic, declared so that a bigint next to a time is not read as one: cast it';

CREATE FUNCTION snowflake_ids.mastic_ambiguous_time(mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ambiguous_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.mastic_ambiguous_time(timestamptz, mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ambiguous_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ambiguous_time(mastic_ambiguous, timestamptz) IS 'internal: raises an error';
COMMENT ON FUNCTION snowflake_ids.mastic_ambiguous_time(timestamptz, mastic_ambiguous) IS 'internal: raises an error';

CREATE OPERATOR < (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time, RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);

COMMENT ON OPERATOR < (mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR <= (mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR >= (mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR > (mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR < (timestamptz, mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR <= (timestamptz, mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR >= (timestamptz, mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR > (timestamptz, mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
