-- Comparing gids with time: the operators compare gid_timestamp(id). For columns with a type modifier, such as
-- gid(volume), the planner turns them into comparisons between ids, which use btree and BRIN indexes, partitions and
-- statistics of the id. Without a modifier the kind is not known, and they work as a filter.
--
-- An untyped literal or parameter next to a gid is read as a gid: write timestamptz '2026-01-01', or $1::timestamptz.
-- Next to <@ write tstzrange '[…)', because the operator is declared for any range. Declared for tstzrange, it would
-- be the best match for an untyped literal next to a tstzrange: '[…)' <@ during, which compares ranges, would read a
-- gid.

CREATE FUNCTION gid_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_time_support(internal) IS
    'planner support: comparisons of gid with time as comparisons between ids, for indexes and partitions';

-- If the time is not a constant, indexes and partitioned tables get id >= gid_first_from(t) and the like. These
-- functions never raise an error. They return NULL if there is no such gid: then an index finds nothing.

CREATE FUNCTION gid_first_from(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_first_from' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_first_after(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_first_after' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_last_before(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_last_before' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_last_until(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_last_until' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- For ranges: id >= gid_first(range) AND id <= gid_last(range). They never raise an error, and return NULL only for
-- NULL.

CREATE FUNCTION gid_first(kind text, created tstzrange) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_last(kind text, created tstzrange) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION gid_first_from(text, timestamptz) IS
    'first gid of the kind whose time is at or after the given one; NULL if there is none';
COMMENT ON FUNCTION gid_first_after(text, timestamptz) IS
    'first gid of the kind whose time is after the given one; NULL if there is none';
COMMENT ON FUNCTION gid_last_before(text, timestamptz) IS
    'last gid of the kind whose time is before the given one; NULL if there is none';
COMMENT ON FUNCTION gid_last_until(text, timestamptz) IS
    'last gid of the kind whose time is at or before the given one; NULL if there is none';
COMMENT ON FUNCTION gid_first(text, tstzrange) IS
    'first gid of the kind whose time is in the range; if there is none, the last gid of all';
COMMENT ON FUNCTION gid_last(text, tstzrange) IS
    'last gid of the kind whose time is in the range; if there is none, the first gid of all';

-- The operators.

CREATE FUNCTION gid_lt_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_le_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_ge_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_gt_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_lt_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_le_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_ge_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_gt_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_contained_by(gid, anyrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_contained_by' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT gid_time_support;

COMMENT ON FUNCTION gid_lt_timestamptz(gid, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION gid_le_timestamptz(gid, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION gid_ge_timestamptz(gid, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION gid_gt_timestamptz(gid, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_lt_gid(timestamptz, gid) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_le_gid(timestamptz, gid) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_ge_gid(timestamptz, gid) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_gt_gid(timestamptz, gid) IS 'implementation of > operator';
COMMENT ON FUNCTION gid_contained_by(gid, anyrange) IS 'implementation of <@ operator';

CREATE OPERATOR < (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_lt_gid, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_le_gid, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_ge_gid, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_gt_gid, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR <@ (
    LEFTARG = gid, RIGHTARG = anyrange, FUNCTION = gid_contained_by, RESTRICT = matchingsel, JOIN = matchingjoinsel
);

COMMENT ON OPERATOR < (gid, timestamptz) IS 'the timestamp of the gid is earlier than the time';
COMMENT ON OPERATOR <= (gid, timestamptz) IS 'the timestamp of the gid is not later than the time';
COMMENT ON OPERATOR >= (gid, timestamptz) IS 'the timestamp of the gid is not earlier than the time';
COMMENT ON OPERATOR > (gid, timestamptz) IS 'the timestamp of the gid is later than the time';
COMMENT ON OPERATOR < (timestamptz, gid) IS 'the time is earlier than the timestamp of the gid';
COMMENT ON OPERATOR <= (timestamptz, gid) IS 'the time is not later than the timestamp of the gid';
COMMENT ON OPERATOR >= (timestamptz, gid) IS 'the time is not earlier than the timestamp of the gid';
COMMENT ON OPERATOR > (timestamptz, gid) IS 'the time is later than the timestamp of the gid';
COMMENT ON OPERATOR <@ (gid, anyrange) IS
    'the timestamp of the gid is in the range, a tstzrange';
