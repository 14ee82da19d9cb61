-- Indexes and sorting of gid: operator classes, min and max.

CREATE FUNCTION snowflake_ids.gid_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_ids.gid_sortsupport(internal) IS 'sort support: abbreviated keys';
COMMENT ON FUNCTION snowflake_ids.gid_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS gid_ops DEFAULT FOR TYPE gid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.gid_cmp(gid, gid),
    FUNCTION 2 snowflake_ids.gid_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists only from PostgreSQL 18 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY gid_ops USING btree ADD FUNCTION 6 (gid, gid) snowflake_ids.gid_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY gid_ops USING btree IS 'gid in the order of its bytes';
COMMENT ON OPERATOR CLASS gid_ops USING btree IS 'gid in the order of its bytes';

-- hash

CREATE OPERATOR CLASS gid_ops DEFAULT FOR TYPE gid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 snowflake_ids.gid_hash(gid),
    FUNCTION 2 snowflake_ids.gid_hash_extended(gid, bigint);

COMMENT ON OPERATOR FAMILY gid_ops USING hash IS 'gid by equality';
COMMENT ON OPERATOR CLASS gid_ops USING hash IS 'gid by equality';

-- BRIN. Within a kind the time comes first. So in a table whose rows are inserted in the order of time, each block
-- range has a short span of ids.

CREATE OPERATOR CLASS gid_minmax_ops DEFAULT FOR TYPE gid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY gid_minmax_ops USING brin IS 'smallest and greatest gid of each block range';
COMMENT ON OPERATOR CLASS gid_minmax_ops USING brin IS 'smallest and greatest gid of each block range';

-- min and max

CREATE FUNCTION snowflake_ids.gid_smaller(gid, gid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_larger(gid, gid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(gid) (
    SFUNC = snowflake_ids.gid_smaller, STYPE = gid, COMBINEFUNC = snowflake_ids.gid_smaller, SORTOP = <, PARALLEL = SAFE
);
CREATE AGGREGATE max(gid) (
    SFUNC = snowflake_ids.gid_larger, STYPE = gid, COMBINEFUNC = snowflake_ids.gid_larger, SORTOP = >, PARALLEL = SAFE
);

COMMENT ON FUNCTION snowflake_ids.gid_smaller(gid, gid) IS 'smaller of two';
COMMENT ON FUNCTION snowflake_ids.gid_larger(gid, gid) IS 'larger of two';
COMMENT ON AGGREGATE min(gid) IS 'smallest gid: by kind, then the oldest';
COMMENT ON AGGREGATE max(gid) IS 'greatest gid: by kind, then the newest';
