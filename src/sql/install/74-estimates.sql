-- Row estimates for comparisons between ids: they interpolate inside the histogram, which the server does for built-in
-- types only.

CREATE FUNCTION sno_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION id_ineqjoinsel(internal, oid, internal, smallint, internal) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_id_ineqjoinsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION sno_ineqsel(internal, oid, internal, integer) IS 'restriction selectivity of < <= >= > between snos';
COMMENT ON FUNCTION gid_ineqsel(internal, oid, internal, integer) IS 'restriction selectivity of < <= >= > between gids';
COMMENT ON FUNCTION id_ineqjoinsel(internal, oid, internal, smallint, internal) IS
    'join selectivity of < <= >= > between ids';

ALTER OPERATOR < (sno, sno) SET (RESTRICT = sno_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR <= (sno, sno) SET (RESTRICT = sno_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR >= (sno, sno) SET (RESTRICT = sno_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR > (sno, sno) SET (RESTRICT = sno_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR < (gid, gid) SET (RESTRICT = gid_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR <= (gid, gid) SET (RESTRICT = gid_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR >= (gid, gid) SET (RESTRICT = gid_ineqsel, JOIN = id_ineqjoinsel);
ALTER OPERATOR > (gid, gid) SET (RESTRICT = gid_ineqsel, JOIN = id_ineqjoinsel);
