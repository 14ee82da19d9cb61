-- Row estimates for comparisons between ids, and between ids and times.

CREATE FUNCTION snowflake_ids.id_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_id_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.id_ineqsel(internal, oid, internal, integer) IS
    'restriction selectivity of < <= >= > between ids, and between ids and times';
