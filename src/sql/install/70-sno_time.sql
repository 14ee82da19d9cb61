-- Comparing snos with time: the operators compare sno_timestamp(id). The planner turns them into comparisons between
-- ids, which use btree and BRIN indexes, partitions and statistics of the id.
--
-- An untyped literal or parameter next to a sno is read as a sno: write timestamptz '2026-01-01', or $1::timestamptz.
-- Next to <@ write tstzrange '[…)', because the operator is declared for any range. Declared for tstzrange, it would
-- be the best match for an untyped literal next to a tstzrange: '[…)' <@ during, which compares ranges, would read a
-- sno.

CREATE FUNCTION sno_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_time_support(internal) IS
    'planner support: comparisons of sno with time as comparisons between ids, for indexes and partitions';

-- If the time is not a constant, indexes and partitioned tables get id >= sno_first_from(t) and the like. These
-- functions never raise an error. They return NULL if there is no such sno: then an index finds nothing.

CREATE FUNCTION sno_first_from(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_first_from' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_first_after(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_first_after' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_last_before(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_last_before' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_last_until(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_last_until' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- For ranges: id >= sno_first(range) AND id <= sno_last(range). They never raise an error, and return NULL only for
-- NULL.

CREATE FUNCTION sno_first(created tstzrange) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_last(created tstzrange) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION sno_first_from(timestamptz) IS
    'first sno whose time is at or after the given one; NULL if there is none';
COMMENT ON FUNCTION sno_first_after(timestamptz) IS
    'first sno whose time is after the given one; NULL if there is none';
COMMENT ON FUNCTION sno_last_before(timestamptz) IS
    'last sno whose time is before the given one; NULL if there is none';
COMMENT ON FUNCTION sno_last_until(timestamptz) IS
    'last sno whose time is at or before the given one; NULL if there is none';
COMMENT ON FUNCTION sno_first(tstzrange) IS
    'first sno whose time is in the range; if there is none, the last sno of all';
COMMENT ON FUNCTION sno_last(tstzrange) IS
    'last sno whose time is in the range; if there is none, the first sno of all';

-- The operators.

CREATE FUNCTION sno_lt_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_le_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_ge_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_gt_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_lt_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_le_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_ge_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_gt_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_contained_by(sno, anyrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_contained_by' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT sno_time_support;

COMMENT ON FUNCTION sno_lt_timestamptz(sno, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION sno_le_timestamptz(sno, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION sno_ge_timestamptz(sno, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION sno_gt_timestamptz(sno, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_lt_sno(timestamptz, sno) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_le_sno(timestamptz, sno) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_ge_sno(timestamptz, sno) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_gt_sno(timestamptz, sno) IS 'implementation of > operator';
COMMENT ON FUNCTION sno_contained_by(sno, anyrange) IS 'implementation of <@ operator';

CREATE OPERATOR < (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_lt_sno, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_le_sno, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_ge_sno, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_gt_sno, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR <@ (
    LEFTARG = sno, RIGHTARG = anyrange, FUNCTION = sno_contained_by, RESTRICT = matchingsel, JOIN = matchingjoinsel
);

COMMENT ON OPERATOR < (sno, timestamptz) IS 'the timestamp of the sno is earlier than the time';
COMMENT ON OPERATOR <= (sno, timestamptz) IS 'the timestamp of the sno is not later than the time';
COMMENT ON OPERATOR >= (sno, timestamptz) IS 'the timestamp of the sno is not earlier than the time';
COMMENT ON OPERATOR > (sno, timestamptz) IS 'the timestamp of the sno is later than the time';
COMMENT ON OPERATOR < (timestamptz, sno) IS 'the time is earlier than the timestamp of the sno';
COMMENT ON OPERATOR <= (timestamptz, sno) IS 'the time is not later than the timestamp of the sno';
COMMENT ON OPERATOR >= (timestamptz, sno) IS 'the time is not earlier than the timestamp of the sno';
COMMENT ON OPERATOR > (timestamptz, sno) IS 'the time is later than the timestamp of the sno';
COMMENT ON OPERATOR <@ (sno, anyrange) IS
    'the timestamp of the sno is in the range, a tstzrange';
