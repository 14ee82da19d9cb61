CREATE FUNCTION sno_timestamp(id sno) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_timestamp(sno) IS
    'the time of a sno: the start of its 4 ms unit, from 2010-01-01 00:00:00+00 to 2079-09-07 15:47:35.548+00';

CREATE FUNCTION sno_ticktock(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ticktock' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_ticktock(sno) IS
    'the tick-tock bit of a sno: 0 or 1; it changes when the clock goes back';

CREATE FUNCTION sno_metabyte(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_metabyte' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_metabyte(sno) IS 'the metabyte of a sno: 0 to 255';

CREATE FUNCTION sno_partition(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_partition' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_partition(sno) IS
    'the partition of a sno, usually the machine id of its server: 0 to 65535';

CREATE FUNCTION sno_sequence(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_sequence(sno) IS 'the sequence of a sno: 0 to 65535';

CREATE FUNCTION sno_decode(
    id sno,
    OUT created timestamptz, OUT ticktock integer, OUT metabyte integer, OUT partition integer, OUT sequence integer
) AS 'MODULE_PATHNAME', 'snowflake_ids_sno_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_decode(sno) IS 'the time, tick-tock bit, metabyte, partition and sequence of a sno';

CREATE FUNCTION make_sno(
    created timestamptz, metabyte integer, partition integer, sequence integer, ticktock integer DEFAULT 0
) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_sno' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_sno(timestamptz, integer, integer, integer, integer) IS
    'the sno with these fields; the time is rounded down to 4 ms; metabyte 0 to 255, partition and sequence 0 to 65535, tick-tock 0 or 1';

CREATE FUNCTION sno_lower_bound(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_lower_bound(timestamptz) IS
    'the smallest sno of this time or a later one; error after 2079-09-07 15:47:35.548+00';

CREATE FUNCTION sno_upper_bound(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_upper_bound(timestamptz) IS
    'the largest sno of this time or an earlier one; error before 2010-01-01 00:00:00+00';

CREATE CAST (sno AS timestamptz) WITH FUNCTION sno_timestamp(sno);
COMMENT ON CAST (sno AS timestamptz) IS 'the time of the id: the start of its 4 ms unit';
