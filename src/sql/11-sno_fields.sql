-- Fields of a sno, making a sno from fields, bounds of a span of time.

CREATE FUNCTION sno_timestamp(id sno) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_timestamp(sno) IS
    'start of the 4 ms unit of a sno, 2010-01-01 00:00:00+00 to 2079-09-07 15:47:35.548+00';

CREATE FUNCTION sno_ticktock(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ticktock' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_ticktock(sno) IS 'tick-tock bit of a sno: 0 or 1, toggled when the clock went back';

CREATE FUNCTION sno_metabyte(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_metabyte' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_metabyte(sno) IS 'metabyte of a sno: 0 to 255, free for the application';

CREATE FUNCTION sno_partition(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_partition' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_partition(sno) IS 'partition of a sno: 0 to 65535, which generator made it';

CREATE FUNCTION sno_sequence(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_sequence(sno) IS 'sequence of a sno within its 4 ms unit: 0 to 65535';

CREATE FUNCTION sno_decode(
    id sno,
    OUT created timestamptz, OUT ticktock integer, OUT metabyte integer, OUT partition integer, OUT sequence integer
) AS 'MODULE_PATHNAME', 'snowflake_ids_sno_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_decode(sno) IS 'all fields of a sno';

CREATE FUNCTION make_sno(
    created timestamptz, metabyte integer, partition integer, sequence integer, ticktock integer DEFAULT 0
) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_sno' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_sno(timestamptz, integer, integer, integer, integer) IS
    'the sno with these fields; the time is floored to 4 ms; metabyte 0 to 255, partition and sequence 0 to 65535, tick-tock 0 or 1';

CREATE FUNCTION sno_set_timestamp(id sno, created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_set_timestamp(sno, timestamptz) IS 'the sno with another time, floored to 4 ms';

CREATE FUNCTION sno_set_metabyte(id sno, metabyte integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_metabyte' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_set_metabyte(sno, integer) IS 'the sno with another metabyte, 0 to 255';

CREATE FUNCTION sno_set_partition(id sno, partition integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_partition' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_set_partition(sno, integer) IS 'the sno with another partition, 0 to 65535';

CREATE FUNCTION sno_set_sequence(id sno, sequence integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_set_sequence(sno, integer) IS 'the sno with another sequence, 0 to 65535';

CREATE FUNCTION sno_set_ticktock(id sno, ticktock integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_ticktock' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_set_ticktock(sno, integer) IS 'the sno with another tick-tock bit, 0 or 1';

CREATE FUNCTION sno_partition_to_bytes(partition integer) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_partition_to_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_partition_to_bytes(integer) IS
    'the two bytes of a partition, 0 to 65535, as the sno reference writes it: Partition{''A'', 10} is 16650';

CREATE FUNCTION sno_partition_from_bytes(bytes bytea) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_partition_from_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_partition_from_bytes(bytea) IS
    'the partition of two bytes, as the sno reference writes it: Partition{''A'', 10} is 16650';

CREATE FUNCTION sno_lower_bound(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_lower_bound(timestamptz) IS
    'smallest sno whose timestamp is at or after the time; error after 2079-09-07 15:47:35.548+00';

CREATE FUNCTION sno_upper_bound(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_upper_bound(timestamptz) IS
    'largest sno whose timestamp is at or before the time; error before 2010-01-01 00:00:00+00';

CREATE CAST (sno AS timestamptz) WITH FUNCTION sno_timestamp(sno);
COMMENT ON CAST (sno AS timestamptz) IS 'start of the 4 ms unit';
