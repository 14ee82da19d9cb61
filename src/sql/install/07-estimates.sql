-- Row estimates for comparisons between ids, and between ids and times.

CREATE FUNCTION id_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_id_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION id_ineqsel(internal, oid, internal, integer) IS
    'restriction selectivity of < <= >= > between ids, and between ids and times';
