-- For each of: sno:~ mastic:~~
-- Times in the order of %ID%: next to a %ID%, a time stands for %ID%_lower_bound(time), and above all after the end of
-- the format. So ids and times have one order, and these operators belong to the btree family of %ID%. Indexes,
-- pruning, BRIN, min and max follow without code for the planner. Each format has its own %TICK%, because all operators
-- here compare two times.
--
-- There is no "=": no time equals an id for a user, and the planner would merge and hash with it.
--
-- Next to a %ID%, an untyped literal or parameter is read as a %ID%: write timestamptz '2026-01-01', or
-- $1::timestamptz.

CREATE FUNCTION snowflake_ids.%ID%_lt_timestamptz(%ID%, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_lt_timestamptz(%ID%, timestamptz) IS 'implementation of < operator';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = %ID%, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_lt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (%ID%, timestamptz) IS
    'the timestamp of the %ID% is earlier than the time';

CREATE FUNCTION snowflake_ids.%ID%_le_timestamptz(%ID%, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_le_timestamptz(%ID%, timestamptz) IS 'implementation of <= operator';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = %ID%, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_le_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (%ID%, timestamptz) IS
    'the timestamp of the %ID% is earlier than the time, or it is the first id of the tick that begins then';

CREATE FUNCTION snowflake_ids.%ID%_ge_timestamptz(%ID%, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_ge_timestamptz(%ID%, timestamptz) IS 'implementation of >= operator';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = %ID%, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_ge_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (%ID%, timestamptz) IS
    'the timestamp of the %ID% is the time or later';

CREATE FUNCTION snowflake_ids.%ID%_gt_timestamptz(%ID%, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_gt_timestamptz(%ID%, timestamptz) IS 'implementation of > operator';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = %ID%, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_gt_timestamptz,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (%ID%, timestamptz) IS
    'the timestamp of the %ID% is the time or later, and it is not the first id of the tick that begins then';

CREATE FUNCTION snowflake_ids.%ID%_cmp_timestamptz(%ID%, timestamptz) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_cmp_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_cmp_timestamptz(%ID%, timestamptz) IS
    'less-equal-greater: negative, 0 or positive';

CREATE FUNCTION snowflake_ids.timestamptz_lt_%ID%(timestamptz, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_%ID%' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_lt_%ID%(timestamptz, %ID%) IS 'implementation of < operator';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = timestamptz, RIGHTARG = %ID%, FUNCTION = snowflake_ids.timestamptz_lt_%ID%,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (timestamptz, %ID%) IS 'the same as > with the %ID% first';

CREATE FUNCTION snowflake_ids.timestamptz_le_%ID%(timestamptz, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_%ID%' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_le_%ID%(timestamptz, %ID%) IS 'implementation of <= operator';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = timestamptz, RIGHTARG = %ID%, FUNCTION = snowflake_ids.timestamptz_le_%ID%,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (timestamptz, %ID%) IS 'the same as >= with the %ID% first';

CREATE FUNCTION snowflake_ids.timestamptz_ge_%ID%(timestamptz, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_%ID%' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_ge_%ID%(timestamptz, %ID%) IS 'implementation of >= operator';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = timestamptz, RIGHTARG = %ID%, FUNCTION = snowflake_ids.timestamptz_ge_%ID%,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (timestamptz, %ID%) IS 'the same as <= with the %ID% first';

CREATE FUNCTION snowflake_ids.timestamptz_gt_%ID%(timestamptz, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_%ID%' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_gt_%ID%(timestamptz, %ID%) IS 'implementation of > operator';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = timestamptz, RIGHTARG = %ID%, FUNCTION = snowflake_ids.timestamptz_gt_%ID%,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (timestamptz, %ID%) IS 'the same as < with the %ID% first';

CREATE FUNCTION snowflake_ids.timestamptz_cmp_%ID%(timestamptz, %ID%) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_cmp_%ID%' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_cmp_%ID%(timestamptz, %ID%) IS
    'less-equal-greater: negative, 0 or positive';

-- Two times next to ids: equal within a tick, as the server compares id >= a and id >= b. The server's own operators
-- are in another family already, and tell the times of a tick apart.

CREATE FUNCTION snowflake_ids.%ID%_times_lt(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_times_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_times_lt(timestamptz, timestamptz) IS 'implementation of <%TICK% operator';
CREATE OPERATOR snowflake_ids.<%TICK% (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_times_lt,
    COMMUTATOR = OPERATOR(snowflake_ids.>%TICK%), NEGATOR = OPERATOR(snowflake_ids.>=%TICK%),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR snowflake_ids.<%TICK% (timestamptz, timestamptz) IS
    'internal: < for times next to a %ID%, equal within a tick';

CREATE FUNCTION snowflake_ids.%ID%_times_le(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_times_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_times_le(timestamptz, timestamptz) IS 'implementation of <=%TICK% operator';
CREATE OPERATOR snowflake_ids.<=%TICK% (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_times_le,
    COMMUTATOR = OPERATOR(snowflake_ids.>=%TICK%), NEGATOR = OPERATOR(snowflake_ids.>%TICK%),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR snowflake_ids.<=%TICK% (timestamptz, timestamptz) IS
    'internal: <= for times next to a %ID%, equal within a tick';

CREATE FUNCTION snowflake_ids.%ID%_times_ge(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_times_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_times_ge(timestamptz, timestamptz) IS 'implementation of >=%TICK% operator';
CREATE OPERATOR snowflake_ids.>=%TICK% (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_times_ge,
    COMMUTATOR = OPERATOR(snowflake_ids.<=%TICK%), NEGATOR = OPERATOR(snowflake_ids.<%TICK%),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR snowflake_ids.>=%TICK% (timestamptz, timestamptz) IS
    'internal: >= for times next to a %ID%, equal within a tick';

CREATE FUNCTION snowflake_ids.%ID%_times_gt(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_times_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_times_gt(timestamptz, timestamptz) IS 'implementation of >%TICK% operator';
CREATE OPERATOR snowflake_ids.>%TICK% (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.%ID%_times_gt,
    COMMUTATOR = OPERATOR(snowflake_ids.<%TICK%), NEGATOR = OPERATOR(snowflake_ids.<=%TICK%),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR snowflake_ids.>%TICK% (timestamptz, timestamptz) IS
    'internal: > for times next to a %ID%, equal within a tick';

CREATE FUNCTION snowflake_ids.%ID%_times_cmp(timestamptz, timestamptz) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_times_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_times_cmp(timestamptz, timestamptz) IS
    'less-equal-greater: negative, 0 or positive';

ALTER OPERATOR FAMILY %ID%_ops USING btree ADD
    OPERATOR 1 < (%ID%, timestamptz), OPERATOR 2 <= (%ID%, timestamptz),
    OPERATOR 4 >= (%ID%, timestamptz), OPERATOR 5 > (%ID%, timestamptz),
    FUNCTION 1 (%ID%, timestamptz) snowflake_ids.%ID%_cmp_timestamptz(%ID%, timestamptz),
    OPERATOR 1 < (timestamptz, %ID%), OPERATOR 2 <= (timestamptz, %ID%),
    OPERATOR 4 >= (timestamptz, %ID%), OPERATOR 5 > (timestamptz, %ID%),
    FUNCTION 1 (timestamptz, %ID%) snowflake_ids.timestamptz_cmp_%ID%(timestamptz, %ID%),
    OPERATOR 1 snowflake_ids.<%TICK% (timestamptz, timestamptz), OPERATOR 2 snowflake_ids.<=%TICK% (timestamptz, timestamptz),
    OPERATOR 4 snowflake_ids.>=%TICK% (timestamptz, timestamptz), OPERATOR 5 snowflake_ids.>%TICK% (timestamptz, timestamptz),
    FUNCTION 1 (timestamptz, timestamptz) snowflake_ids.%ID%_times_cmp(timestamptz, timestamptz);
ALTER OPERATOR FAMILY %ID%_minmax_ops USING brin ADD
    OPERATOR 1 < (%ID%, timestamptz), OPERATOR 2 <= (%ID%, timestamptz),
    OPERATOR 4 >= (%ID%, timestamptz), OPERATOR 5 > (%ID%, timestamptz);
