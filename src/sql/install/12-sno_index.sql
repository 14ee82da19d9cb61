-- Indexes and sorting of sno: operator classes, min and max.

CREATE FUNCTION snowflake_ids.sno_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.sno_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_ids.sno_sortsupport(internal) IS 'sort support: abbreviated keys';
COMMENT ON FUNCTION snowflake_ids.sno_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS sno_ops DEFAULT FOR TYPE sno USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.sno_cmp(sno, sno),
    FUNCTION 2 snowflake_ids.sno_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists only from PostgreSQL 18 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY sno_ops USING btree ADD FUNCTION 6 (sno, sno) snowflake_ids.sno_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY sno_ops USING btree IS 'sno in the order of its bytes';
COMMENT ON OPERATOR CLASS sno_ops USING btree IS 'sno in the order of its bytes';

-- hash

CREATE OPERATOR CLASS sno_ops DEFAULT FOR TYPE sno USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 snowflake_ids.sno_hash(sno),
    FUNCTION 2 snowflake_ids.sno_hash_extended(sno, bigint);

COMMENT ON OPERATOR FAMILY sno_ops USING hash IS 'sno by equality';
COMMENT ON OPERATOR CLASS sno_ops USING hash IS 'sno by equality';

-- BRIN. The time comes first. So in a table whose rows are inserted in the order of time, each block range has a short
-- span of ids.

CREATE OPERATOR CLASS sno_minmax_ops DEFAULT FOR TYPE sno USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY sno_minmax_ops USING brin IS 'smallest and greatest sno of each block range';
COMMENT ON OPERATOR CLASS sno_minmax_ops USING brin IS 'smallest and greatest sno of each block range';

-- min and max

CREATE FUNCTION snowflake_ids.sno_smaller(sno, sno) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.sno_larger(sno, sno) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(sno) (
    SFUNC = snowflake_ids.sno_smaller, STYPE = sno, COMBINEFUNC = snowflake_ids.sno_smaller, SORTOP = <, PARALLEL = SAFE
);
CREATE AGGREGATE max(sno) (
    SFUNC = snowflake_ids.sno_larger, STYPE = sno, COMBINEFUNC = snowflake_ids.sno_larger, SORTOP = >, PARALLEL = SAFE
);

COMMENT ON FUNCTION snowflake_ids.sno_smaller(sno, sno) IS 'smaller of two';
COMMENT ON FUNCTION snowflake_ids.sno_larger(sno, sno) IS 'larger of two';
COMMENT ON AGGREGATE min(sno) IS 'smallest sno: the oldest, then by the remaining fields';
COMMENT ON AGGREGATE max(sno) IS 'greatest sno: the newest, then by the remaining fields';
