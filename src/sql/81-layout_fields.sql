-- Forms with a layout's name look it up in a table and are stable. Those with the layout's fields at the end are
-- immutable, for indexes and generated columns. A function of the user's that calls a stable form and says IMMUTABLE
-- would lose rows: in a dump, tables may come before the layouts that they need.

CREATE FUNCTION snowflake_timestamp(id bigint, layout text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, text) IS 'the time of an id of the layout: the start of its tick';

CREATE FUNCTION snowflake_timestamp(
    id bigint, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer,
    sequence_bits integer, node_last boolean DEFAULT false
) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, timestamptz, interval, integer, integer, integer, boolean) IS
    'the time of an id: the start of its tick; the other arguments describe the layout';

CREATE FUNCTION snowflake_decode(id bigint, layout text,
    OUT created timestamptz, OUT node integer, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_decode' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, text) IS 'the time, the node and the sequence of an id of the layout';

CREATE FUNCTION snowflake_decode(
    id bigint, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer,
    sequence_bits integer, node_last boolean DEFAULT false,
    OUT created timestamptz, OUT node integer, OUT sequence integer
)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, timestamptz, interval, integer, integer, integer, boolean) IS
    'the time, the node and the sequence of an id; the other arguments describe the layout';

CREATE FUNCTION make_snowflake(layout text, created timestamptz, node integer, sequence integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_snowflake(text, timestamptz, integer, integer) IS
    'the id of the layout with these fields; the time is rounded down to ticks';

CREATE FUNCTION snowflake_lower_bound(layout text, created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_lower_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_lower_bound(text, timestamptz) IS
    'the smallest id of the layout of this time or a later one; error after the last time of the layout';

CREATE FUNCTION snowflake_upper_bound(layout text, created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_upper_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_upper_bound(text, timestamptz) IS
    'the largest id of the layout of this time or an earlier one; error before the epoch of the layout';
