-- Planner support shared by the series functions.

CREATE FUNCTION snowflake_ids.series_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'snowflake_ids_series_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.series_support(internal) IS
    'planner support: row estimate of the gen_*_series functions';
