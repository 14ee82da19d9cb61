-- For each of: < <= >= >
CREATE OPERATOR %ID% (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR %ID% (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR %ID% (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
COMMENT ON OPERATOR %ID% (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
