-- For the BRIN classes of 35-id_order.

CREATE FUNCTION snowflake_ids.id_minmax_opcinfo(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_id_minmax_opcinfo' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.id_minmax_opcinfo(internal) IS
    'describes what a BRIN index stores for each block range';
