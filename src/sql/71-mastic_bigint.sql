-- An id next to a bigint, compared as numbers: a negative bigint is below every id. Smaller integers and literals widen
-- to bigint.
--
-- The operators are in the families of mastic, so an index on a mastic is used. For one on a bigint the support
-- function gives the condition on the bigint.
-- "=" has no MERGES: the planner would put both columns into an equivalence class, and not ask the support function.

CREATE FUNCTION snowflake_ids.mastic_bigint_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_bigint_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_bigint_support(internal) IS
    'planner support of comparisons of a bigint with a mastic: the condition for an index on the bigint';

CREATE FUNCTION snowflake_ids.mastic_index_bound(id mastic, strategy integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_index_bound' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_index_bound(mastic, integer) IS
    'internal: the bigint that an index on a bigint is searched for, with this btree strategy';

CREATE FUNCTION snowflake_ids.mastic_lt_bigint(mastic, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lt_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.mastic_lt_bigint(mastic, bigint) IS 'implementation of < operator';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = mastic, RIGHTARG = bigint, FUNCTION = snowflake_ids.mastic_lt_bigint,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (mastic, bigint) IS 'less than';

CREATE FUNCTION snowflake_ids.mastic_le_bigint(mastic, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_le_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.mastic_le_bigint(mastic, bigint) IS 'implementation of <= operator';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = mastic, RIGHTARG = bigint, FUNCTION = snowflake_ids.mastic_le_bigint,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (mastic, bigint) IS 'less than or equal';

CREATE FUNCTION snowflake_ids.mastic_eq_bigint(mastic, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_eq_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.mastic_eq_bigint(mastic, bigint) IS 'implementation of = operator';
CREATE OPERATOR pg_catalog.= (
    LEFTARG = mastic, RIGHTARG = bigint, FUNCTION = snowflake_ids.mastic_eq_bigint,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR pg_catalog.= (mastic, bigint) IS 'equal';

CREATE FUNCTION snowflake_ids.mastic_ge_bigint(mastic, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ge_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.mastic_ge_bigint(mastic, bigint) IS 'implementation of >= operator';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = mastic, RIGHTARG = bigint, FUNCTION = snowflake_ids.mastic_ge_bigint,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (mastic, bigint) IS 'greater than or equal';

CREATE FUNCTION snowflake_ids.mastic_gt_bigint(mastic, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_gt_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.mastic_gt_bigint(mastic, bigint) IS 'implementation of > operator';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = mastic, RIGHTARG = bigint, FUNCTION = snowflake_ids.mastic_gt_bigint,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (mastic, bigint) IS 'greater than';

CREATE FUNCTION snowflake_ids.mastic_ne_bigint(mastic, bigint) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ne_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.mastic_ne_bigint(mastic, bigint) IS 'implementation of <> operator';
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = mastic, RIGHTARG = bigint, FUNCTION = snowflake_ids.mastic_ne_bigint,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR pg_catalog.<> (mastic, bigint) IS 'not equal';

CREATE FUNCTION snowflake_ids.mastic_cmp_bigint(mastic, bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_cmp_bigint' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_cmp_bigint(mastic, bigint) IS 'less-equal-greater: negative, 0 or positive';

CREATE FUNCTION snowflake_ids.bigint_lt_mastic(bigint, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_lt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.bigint_lt_mastic(bigint, mastic) IS 'implementation of < operator';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = bigint, RIGHTARG = mastic, FUNCTION = snowflake_ids.bigint_lt_mastic,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (bigint, mastic) IS 'less than';

CREATE FUNCTION snowflake_ids.bigint_le_mastic(bigint, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_le_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.bigint_le_mastic(bigint, mastic) IS 'implementation of <= operator';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = bigint, RIGHTARG = mastic, FUNCTION = snowflake_ids.bigint_le_mastic,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (bigint, mastic) IS 'less than or equal';

CREATE FUNCTION snowflake_ids.bigint_eq_mastic(bigint, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_eq_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.bigint_eq_mastic(bigint, mastic) IS 'implementation of = operator';
CREATE OPERATOR pg_catalog.= (
    LEFTARG = bigint, RIGHTARG = mastic, FUNCTION = snowflake_ids.bigint_eq_mastic,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR pg_catalog.= (bigint, mastic) IS 'equal';

CREATE FUNCTION snowflake_ids.bigint_ge_mastic(bigint, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_ge_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.bigint_ge_mastic(bigint, mastic) IS 'implementation of >= operator';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = bigint, RIGHTARG = mastic, FUNCTION = snowflake_ids.bigint_ge_mastic,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (bigint, mastic) IS 'greater than or equal';

CREATE FUNCTION snowflake_ids.bigint_gt_mastic(bigint, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_gt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.bigint_gt_mastic(bigint, mastic) IS 'implementation of > operator';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = bigint, RIGHTARG = mastic, FUNCTION = snowflake_ids.bigint_gt_mastic,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (bigint, mastic) IS 'greater than';

CREATE FUNCTION snowflake_ids.bigint_ne_mastic(bigint, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_ne_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_ids.mastic_bigint_support;
COMMENT ON FUNCTION snowflake_ids.bigint_ne_mastic(bigint, mastic) IS 'implementation of <> operator';
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = bigint, RIGHTARG = mastic, FUNCTION = snowflake_ids.bigint_ne_mastic,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR pg_catalog.<> (bigint, mastic) IS 'not equal';

CREATE FUNCTION snowflake_ids.bigint_cmp_mastic(bigint, mastic) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_bigint_cmp_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.bigint_cmp_mastic(bigint, mastic) IS 'less-equal-greater: negative, 0 or positive';

-- Operators for two bigints, because foreign keys, NOT IN and proofs of the planner look for them in the family of
-- mastic. They are not the server's own, because an operator in a second family changes the plans of every query with a
-- bigint.

CREATE OPERATOR snowflake_ids.<~~ (
    LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8lt,
    COMMUTATOR = OPERATOR(snowflake_ids.>~~), NEGATOR = OPERATOR(snowflake_ids.>=~~),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR snowflake_ids.<~~ (bigint, bigint) IS 'internal: < for bigints next to a mastic';

CREATE OPERATOR snowflake_ids.<=~~ (
    LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8le,
    COMMUTATOR = OPERATOR(snowflake_ids.>=~~), NEGATOR = OPERATOR(snowflake_ids.>~~),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR snowflake_ids.<=~~ (bigint, bigint) IS 'internal: <= for bigints next to a mastic';

CREATE OPERATOR snowflake_ids.=~~ (
    LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq,
    COMMUTATOR = OPERATOR(snowflake_ids.=~~),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
COMMENT ON OPERATOR snowflake_ids.=~~ (bigint, bigint) IS 'internal: = for bigints next to a mastic';

CREATE OPERATOR snowflake_ids.>=~~ (
    LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8ge,
    COMMUTATOR = OPERATOR(snowflake_ids.<=~~), NEGATOR = OPERATOR(snowflake_ids.<~~),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR snowflake_ids.>=~~ (bigint, bigint) IS 'internal: >= for bigints next to a mastic';

CREATE OPERATOR snowflake_ids.>~~ (
    LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8gt,
    COMMUTATOR = OPERATOR(snowflake_ids.<~~), NEGATOR = OPERATOR(snowflake_ids.<=~~),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR snowflake_ids.>~~ (bigint, bigint) IS 'internal: > for bigints next to a mastic';

ALTER OPERATOR FAMILY mastic_ops USING btree ADD
    OPERATOR 1 < (mastic, bigint),
    OPERATOR 2 <= (mastic, bigint),
    OPERATOR 3 = (mastic, bigint),
    OPERATOR 4 >= (mastic, bigint),
    OPERATOR 5 > (mastic, bigint),
    FUNCTION 1 (mastic, bigint) snowflake_ids.mastic_cmp_bigint(mastic, bigint),
    OPERATOR 1 < (bigint, mastic),
    OPERATOR 2 <= (bigint, mastic),
    OPERATOR 3 = (bigint, mastic),
    OPERATOR 4 >= (bigint, mastic),
    OPERATOR 5 > (bigint, mastic),
    FUNCTION 1 (bigint, mastic) snowflake_ids.bigint_cmp_mastic(bigint, mastic),
    OPERATOR 1 snowflake_ids.<~~ (bigint, bigint),
    OPERATOR 2 snowflake_ids.<=~~ (bigint, bigint),
    OPERATOR 3 snowflake_ids.=~~ (bigint, bigint),
    OPERATOR 4 snowflake_ids.>=~~ (bigint, bigint),
    OPERATOR 5 snowflake_ids.>~~ (bigint, bigint),
    FUNCTION 1 (bigint, bigint) btint8cmp(bigint, bigint);
ALTER OPERATOR FAMILY mastic_ops USING hash ADD
    OPERATOR 1 = (mastic, bigint), OPERATOR 1 = (bigint, mastic), OPERATOR 1 snowflake_ids.=~~ (bigint, bigint),
    FUNCTION 1 (bigint, bigint) snowflake_ids.mastic_hash(mastic),
    FUNCTION 2 (bigint, bigint) snowflake_ids.mastic_hash_extended(mastic, bigint);
ALTER OPERATOR FAMILY mastic_minmax_ops USING brin ADD
    OPERATOR 1 < (mastic, bigint),
    OPERATOR 2 <= (mastic, bigint),
    OPERATOR 3 = (mastic, bigint),
    OPERATOR 4 >= (mastic, bigint),
    OPERATOR 5 > (mastic, bigint);
