-- Row estimates for comparisons between ids, and between ids and time. They interpolate inside the histogram, which
-- the server does for built-in types only, and count rows that are newer than the last ANALYZE.

CREATE FUNCTION sno_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION sno_ineqsel(internal, oid, internal, integer) IS
    'restriction selectivity of < <= >= > between snos, and of these and <@ between sno and time';
COMMENT ON FUNCTION gid_ineqsel(internal, oid, internal, integer) IS
    'restriction selectivity of < <= >= > between gids, and of these and <@ between gid and time';
COMMENT ON FUNCTION mastic_ineqsel(internal, oid, internal, integer) IS
    'restriction selectivity of < <= >= > between mastics, and of these and <@ between mastic and time';

ALTER OPERATOR < (sno, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR <= (sno, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR >= (sno, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR > (sno, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR < (sno, timestamptz) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR <= (sno, timestamptz) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR >= (sno, timestamptz) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR > (sno, timestamptz) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR < (timestamptz, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR <= (timestamptz, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR >= (timestamptz, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR > (timestamptz, sno) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR <@ (sno, anyrange) SET (RESTRICT = sno_ineqsel);
ALTER OPERATOR < (gid, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR <= (gid, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR >= (gid, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR > (gid, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR < (gid, timestamptz) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR <= (gid, timestamptz) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR >= (gid, timestamptz) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR > (gid, timestamptz) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR < (timestamptz, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR <= (timestamptz, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR >= (timestamptz, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR > (timestamptz, gid) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR <@ (gid, anyrange) SET (RESTRICT = gid_ineqsel);
ALTER OPERATOR < (mastic, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR <= (mastic, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR >= (mastic, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR > (mastic, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR < (mastic, timestamptz) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR <= (mastic, timestamptz) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR >= (mastic, timestamptz) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR > (mastic, timestamptz) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR < (timestamptz, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR <= (timestamptz, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR >= (timestamptz, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR > (timestamptz, mastic) SET (RESTRICT = mastic_ineqsel);
ALTER OPERATOR <@ (mastic, mastic_times) SET (RESTRICT = mastic_ineqsel);
