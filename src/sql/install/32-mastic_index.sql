-- Indexes and sorting of mastic: operator classes, min and max.

CREATE FUNCTION snowflake_ids.mastic_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.mastic_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_ids.mastic_sortsupport(internal) IS 'sort support: the comparison of unsigned numbers';
COMMENT ON FUNCTION snowflake_ids.mastic_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';

-- btree. Equal ids are equal bit by bit, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS mastic_ops DEFAULT FOR TYPE mastic USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.mastic_cmp(mastic, mastic),
    FUNCTION 2 snowflake_ids.mastic_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists from 18 on, and only there can it be named.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY mastic_ops USING btree ADD FUNCTION 6 (mastic, mastic) snowflake_ids.mastic_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY mastic_ops USING btree IS 'mastic as unsigned numbers';
COMMENT ON OPERATOR CLASS mastic_ops USING btree IS 'mastic as unsigned numbers';

-- hash

CREATE OPERATOR CLASS mastic_ops DEFAULT FOR TYPE mastic USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 snowflake_ids.mastic_hash(mastic),
    FUNCTION 2 snowflake_ids.mastic_hash_extended(mastic, bigint);

COMMENT ON OPERATOR FAMILY mastic_ops USING hash IS 'mastic by equality';
COMMENT ON OPERATOR CLASS mastic_ops USING hash IS 'mastic by equality';

-- BRIN. The time comes first, so a table that grows in time has narrow ranges.

CREATE OPERATOR CLASS mastic_minmax_ops DEFAULT FOR TYPE mastic USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY mastic_minmax_ops USING brin IS 'smallest and greatest mastic of each block range';
COMMENT ON OPERATOR CLASS mastic_minmax_ops USING brin IS 'smallest and greatest mastic of each block range';

-- min and max

CREATE FUNCTION snowflake_ids.mastic_smaller(mastic, mastic) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.mastic_larger(mastic, mastic) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(mastic) (
    SFUNC = snowflake_ids.mastic_smaller, STYPE = mastic, COMBINEFUNC = snowflake_ids.mastic_smaller, SORTOP = <, PARALLEL = SAFE
);
CREATE AGGREGATE max(mastic) (
    SFUNC = snowflake_ids.mastic_larger, STYPE = mastic, COMBINEFUNC = snowflake_ids.mastic_larger, SORTOP = >, PARALLEL = SAFE
);

COMMENT ON FUNCTION snowflake_ids.mastic_smaller(mastic, mastic) IS 'smaller of two';
COMMENT ON FUNCTION snowflake_ids.mastic_larger(mastic, mastic) IS 'larger of two';
COMMENT ON AGGREGATE min(mastic) IS 'smallest mastic: the oldest, then by sequence';
COMMENT ON AGGREGATE max(mastic) IS 'greatest mastic: the newest, then by sequence';
