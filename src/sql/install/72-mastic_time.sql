-- Comparing mastics with time: the meaning is that of mastic_timestamp(id). The planner turns these operators into
-- comparisons between ids, so that they use btree and BRIN indexes, partitions and statistics of the id.
--
-- An untyped literal or parameter beside a mastic is read as a mastic: write timestamptz '2026-01-01', or
-- $1::timestamptz.

CREATE FUNCTION mastic_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_time_support(internal) IS
    'planner support: comparisons of mastic with time as comparisons between ids, for indexes and partitions';

-- What an index, or a partitioned table, is asked where the time is not a constant: id >= mastic_first_from(t) and the
-- like. Never an error. NULL where there is no such mastic: an index finds nothing then.

CREATE FUNCTION mastic_first_from(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_first_from' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_first_after(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_first_after' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_last_before(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_last_before' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_last_until(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_last_until' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

-- For ranges: id >= mastic_first(range) AND id <= mastic_last(range). Never an error, never NULL but for NULL.

CREATE FUNCTION mastic_first(created tstzrange) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_last(created tstzrange) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION mastic_first_from(timestamptz) IS
    'first mastic whose time is at or after the given one; NULL if there is none';
COMMENT ON FUNCTION mastic_first_after(timestamptz) IS
    'first mastic whose time is after the given one; NULL if there is none';
COMMENT ON FUNCTION mastic_last_before(timestamptz) IS
    'last mastic whose time is before the given one; NULL if there is none';
COMMENT ON FUNCTION mastic_last_until(timestamptz) IS
    'last mastic whose time is at or before the given one; NULL if there is none';
COMMENT ON FUNCTION mastic_first(tstzrange) IS
    'first mastic whose time is in the range; if there is none, the last mastic of all';
COMMENT ON FUNCTION mastic_last(tstzrange) IS
    'last mastic whose time is in the range; if there is none, the first mastic of all';

-- The operators. The right side of <@ is a tstzrange, and declared as a domain over it. Declared as tstzrange it would be
-- the best match for an untyped literal beside a tstzrange, so that '[…)' <@ during, which compares ranges, would read a
-- mastic. Declared as anyrange, as for sno, it would be as good a match as the server's own for 5 <@ int4range(1, 9),
-- since an integer becomes a mastic unasked.

CREATE DOMAIN mastic_times AS tstzrange;
COMMENT ON DOMAIN mastic_times IS 'a tstzrange, as right side of the operator <@ of mastic';

CREATE FUNCTION mastic_lt_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION mastic_le_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION mastic_ge_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION mastic_gt_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION timestamptz_lt_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION timestamptz_le_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION timestamptz_ge_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION timestamptz_gt_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
CREATE FUNCTION mastic_contained_by(mastic, mastic_times) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_contained_by' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;

COMMENT ON FUNCTION mastic_lt_timestamptz(mastic, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION mastic_le_timestamptz(mastic, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION mastic_ge_timestamptz(mastic, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION mastic_gt_timestamptz(mastic, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_lt_mastic(timestamptz, mastic) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_le_mastic(timestamptz, mastic) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_ge_mastic(timestamptz, mastic) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_gt_mastic(timestamptz, mastic) IS 'implementation of > operator';
COMMENT ON FUNCTION mastic_contained_by(mastic, mastic_times) IS 'implementation of <@ operator';

CREATE OPERATOR < (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = mastic_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = mastic_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = mastic_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = mastic_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = timestamptz_lt_mastic, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = timestamptz_le_mastic, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = timestamptz_ge_mastic, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = timestamptz_gt_mastic, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR <@ (
    LEFTARG = mastic, RIGHTARG = mastic_times, FUNCTION = mastic_contained_by,
    RESTRICT = matchingsel, JOIN = matchingjoinsel
);

COMMENT ON OPERATOR < (mastic, timestamptz) IS 'the timestamp of the mastic is earlier than the time';
COMMENT ON OPERATOR <= (mastic, timestamptz) IS 'the timestamp of the mastic is not later than the time';
COMMENT ON OPERATOR >= (mastic, timestamptz) IS 'the timestamp of the mastic is not earlier than the time';
COMMENT ON OPERATOR > (mastic, timestamptz) IS 'the timestamp of the mastic is later than the time';
COMMENT ON OPERATOR < (timestamptz, mastic) IS 'the time is earlier than the timestamp of the mastic';
COMMENT ON OPERATOR <= (timestamptz, mastic) IS 'the time is not later than the timestamp of the mastic';
COMMENT ON OPERATOR >= (timestamptz, mastic) IS 'the time is not earlier than the timestamp of the mastic';
COMMENT ON OPERATOR > (timestamptz, mastic) IS 'the time is later than the timestamp of the mastic';
COMMENT ON OPERATOR <@ (mastic, mastic_times) IS 'the timestamp of the mastic is in the range, a tstzrange';

-- A bigint becomes a mastic unasked, but not beside a time: it may have ids of any layout, and would be read as one of
-- Mastic. So there is a second operator of each kind that fits as well, on a domain, and PostgreSQL refuses to choose:
-- "operator is not unique: bigint > timestamp with time zone". For a mastic the operators above are the better match.

CREATE DOMAIN mastic_ambiguous AS mastic;
COMMENT ON DOMAIN mastic_ambiguous IS
    'internal: a mastic, declared so that a bigint beside a time is not read as one: cast it';

CREATE FUNCTION mastic_lt_timestamptz(mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_le_timestamptz(mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_ge_timestamptz(mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_gt_timestamptz(mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION timestamptz_lt_mastic(timestamptz, mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION timestamptz_le_mastic(timestamptz, mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION timestamptz_ge_mastic(timestamptz, mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION timestamptz_gt_mastic(timestamptz, mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_contained_by(mastic_ambiguous, mastic_times) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_contained_by' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION mastic_lt_timestamptz(mastic_ambiguous, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION mastic_le_timestamptz(mastic_ambiguous, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION mastic_ge_timestamptz(mastic_ambiguous, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION mastic_gt_timestamptz(mastic_ambiguous, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_lt_mastic(timestamptz, mastic_ambiguous) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_le_mastic(timestamptz, mastic_ambiguous) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_ge_mastic(timestamptz, mastic_ambiguous) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_gt_mastic(timestamptz, mastic_ambiguous) IS 'implementation of > operator';
COMMENT ON FUNCTION mastic_contained_by(mastic_ambiguous, mastic_times) IS 'implementation of <@ operator';

CREATE OPERATOR < (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = mastic_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = mastic_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = mastic_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = mastic_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = timestamptz_lt_mastic, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = timestamptz_le_mastic, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = timestamptz_ge_mastic, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = mastic_ambiguous, FUNCTION = timestamptz_gt_mastic, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR <@ (
    LEFTARG = mastic_ambiguous, RIGHTARG = mastic_times, FUNCTION = mastic_contained_by,
    RESTRICT = matchingsel, JOIN = matchingjoinsel
);

COMMENT ON OPERATOR < (mastic_ambiguous, timestamptz) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR <= (mastic_ambiguous, timestamptz) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR >= (mastic_ambiguous, timestamptz) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR > (mastic_ambiguous, timestamptz) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR < (timestamptz, mastic_ambiguous) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR <= (timestamptz, mastic_ambiguous) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR >= (timestamptz, mastic_ambiguous) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR > (timestamptz, mastic_ambiguous) IS 'as for mastic; with it, a bigint beside a time is ambiguous';
COMMENT ON OPERATOR <@ (mastic_ambiguous, mastic_times) IS
    'as for mastic; with it, a bigint beside a time is ambiguous';
