-- For each of: sno gid mastic
-- The order of a type: comparison, operators, operator classes, min and max. The comment of each type says which fields
-- come first.
--
-- The operators are in pg_catalog, because PostgreSQL prints JOIN ... USING, IS DISTINCT FROM, NULLIF, CASE x WHEN and
-- (a, b) < (c, d) without the schema of their operators, and restores a dump with an empty search_path.

CREATE FUNCTION snowflake_ids.%ID%_eq(%ID%, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_eq(%ID%, %ID%) IS 'implementation of = operator';
CREATE OPERATOR pg_catalog.= (
    LEFTARG = %ID%, RIGHTARG = %ID%, FUNCTION = snowflake_ids.%ID%_eq,
    COMMUTATOR = OPERATOR(pg_catalog.=), NEGATOR = OPERATOR(pg_catalog.<>),
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR pg_catalog.= (%ID%, %ID%) IS 'equal';

CREATE FUNCTION snowflake_ids.%ID%_ne(%ID%, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_ne(%ID%, %ID%) IS 'implementation of <> operator';
CREATE OPERATOR pg_catalog.<> (
    LEFTARG = %ID%, RIGHTARG = %ID%, FUNCTION = snowflake_ids.%ID%_ne,
    COMMUTATOR = OPERATOR(pg_catalog.<>), NEGATOR = OPERATOR(pg_catalog.=),
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR pg_catalog.<> (%ID%, %ID%) IS 'not equal';

CREATE FUNCTION snowflake_ids.%ID%_lt(%ID%, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_lt(%ID%, %ID%) IS 'implementation of < operator';
CREATE OPERATOR pg_catalog.< (
    LEFTARG = %ID%, RIGHTARG = %ID%, FUNCTION = snowflake_ids.%ID%_lt,
    COMMUTATOR = OPERATOR(pg_catalog.>), NEGATOR = OPERATOR(pg_catalog.>=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR pg_catalog.< (%ID%, %ID%) IS 'less than';

CREATE FUNCTION snowflake_ids.%ID%_le(%ID%, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_le(%ID%, %ID%) IS 'implementation of <= operator';
CREATE OPERATOR pg_catalog.<= (
    LEFTARG = %ID%, RIGHTARG = %ID%, FUNCTION = snowflake_ids.%ID%_le,
    COMMUTATOR = OPERATOR(pg_catalog.>=), NEGATOR = OPERATOR(pg_catalog.>),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR pg_catalog.<= (%ID%, %ID%) IS 'less than or equal';

CREATE FUNCTION snowflake_ids.%ID%_gt(%ID%, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_gt(%ID%, %ID%) IS 'implementation of > operator';
CREATE OPERATOR pg_catalog.> (
    LEFTARG = %ID%, RIGHTARG = %ID%, FUNCTION = snowflake_ids.%ID%_gt,
    COMMUTATOR = OPERATOR(pg_catalog.<), NEGATOR = OPERATOR(pg_catalog.<=),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR pg_catalog.> (%ID%, %ID%) IS 'greater than';

CREATE FUNCTION snowflake_ids.%ID%_ge(%ID%, %ID%) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_ge(%ID%, %ID%) IS 'implementation of >= operator';
CREATE OPERATOR pg_catalog.>= (
    LEFTARG = %ID%, RIGHTARG = %ID%, FUNCTION = snowflake_ids.%ID%_ge,
    COMMUTATOR = OPERATOR(pg_catalog.<=), NEGATOR = OPERATOR(pg_catalog.<),
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR pg_catalog.>= (%ID%, %ID%) IS 'greater than or equal';

CREATE FUNCTION snowflake_ids.%ID%_cmp(%ID%, %ID%) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_cmp(%ID%, %ID%) IS 'less-equal-greater: negative, 0 or positive';

CREATE FUNCTION snowflake_ids.%ID%_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_sortsupport(internal) IS 'sort support';

-- Equal ids are equal byte by byte, so an index may keep one for all (deduplication).

CREATE OPERATOR CLASS %ID%_ops DEFAULT FOR TYPE %ID% USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.%ID%_cmp(%ID%, %ID%),
    FUNCTION 2 snowflake_ids.%ID%_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

COMMENT ON OPERATOR FAMILY %ID%_ops USING btree IS 'the order of %ID%';
COMMENT ON OPERATOR CLASS %ID%_ops USING btree IS 'the order of %ID%';

CREATE OPERATOR CLASS %ID%_ops DEFAULT FOR TYPE %ID% USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 (%ID%, %ID%) snowflake_ids.%ID%_hash(%ID%),
    FUNCTION 2 (%ID%, %ID%) snowflake_ids.%ID%_hash_extended(%ID%, bigint);

COMMENT ON OPERATOR FAMILY %ID%_ops USING hash IS '%ID% by equality';
COMMENT ON OPERATOR CLASS %ID%_ops USING hash IS '%ID% by equality';

-- In a table filled in the order of time, each block range has a short span of ids.

CREATE OPERATOR CLASS %ID%_minmax_ops DEFAULT FOR TYPE %ID% USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.id_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY %ID%_minmax_ops USING brin IS 'smallest and greatest %ID% of each block range';
COMMENT ON OPERATOR CLASS %ID%_minmax_ops USING brin IS 'smallest and greatest %ID% of each block range';

CREATE FUNCTION snowflake_ids.%ID%_smaller(%ID%, %ID%) RETURNS %ID%
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_smaller(%ID%, %ID%) IS 'the smaller of two ids';
CREATE AGGREGATE min(%ID%) (
    SFUNC = snowflake_ids.%ID%_smaller, STYPE = %ID%, COMBINEFUNC = snowflake_ids.%ID%_smaller,
    SORTOP = OPERATOR(pg_catalog.<), PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(%ID%) IS 'the smallest %ID%';

CREATE FUNCTION snowflake_ids.%ID%_larger(%ID%, %ID%) RETURNS %ID%
    AS 'MODULE_PATHNAME', 'snowflake_ids_%ID%_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.%ID%_larger(%ID%, %ID%) IS 'the larger of two ids';
CREATE AGGREGATE max(%ID%) (
    SFUNC = snowflake_ids.%ID%_larger, STYPE = %ID%, COMBINEFUNC = snowflake_ids.%ID%_larger,
    SORTOP = OPERATOR(pg_catalog.>), PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(%ID%) IS 'the greatest %ID%';
