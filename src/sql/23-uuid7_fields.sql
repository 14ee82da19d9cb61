-- Uuids of other versions and variants have no time here.

CREATE FUNCTION uuid7_timestamp(id uuid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_timestamp(uuid) IS
    'the time of a uuid of version 7, in milliseconds, from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00; NULL for other uuids';

CREATE FUNCTION uuid7_lower_bound(created timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_lower_bound(timestamptz) IS
    'the smallest uuid of version 7 of this time or a later one; error after 10889-08-02 05:31:50.655+00';

CREATE FUNCTION uuid7_upper_bound(created timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_upper_bound(timestamptz) IS
    'the largest uuid of version 7 of this time or an earlier one; error before 1970-01-01 00:00:00+00';
