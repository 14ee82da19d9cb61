\echo Use "CREATE EXTENSION snowflake_ids" to load this file. \quit

-- 05-ceiling.sql
-- The ceiling that travels with WAL; see src/pg/wal_ceiling.hpp. Not for use by hand.

CREATE SEQUENCE snowflake_ids_ceiling AS bigint MINVALUE 0 START 0;
COMMENT ON SEQUENCE snowflake_ids_ceiling IS 'internal: time up to which ids of this database may exist, in microseconds since 1970; written by the generators';

-- 10-sno_type.sql
-- The type sno: 10 bytes, input and output, operators, casts.

CREATE TYPE sno;

CREATE FUNCTION sno_in(cstring) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_out(sno) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_recv(internal) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_send(sno) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE sno (
    INPUT = sno_in, OUTPUT = sno_out, RECEIVE = sno_recv, SEND = sno_send,
    INTERNALLENGTH = 10, ALIGNMENT = char, STORAGE = plain
);

COMMENT ON TYPE sno IS
    'sno id, 10 bytes: 39 bits of 4 ms units since 2010-01-01 UTC (to 2079-09-07), tick-tock bit, 8-bit metabyte, '
    '16-bit partition, 16-bit sequence; text [2-9a-x]{16}';
COMMENT ON FUNCTION sno_in(cstring) IS 'text input of sno: 16 characters, each one of 2-9 and a-x';
COMMENT ON FUNCTION sno_out(sno) IS 'text output of sno: 16 characters';
COMMENT ON FUNCTION sno_recv(internal) IS 'binary input of sno: 10 bytes';
COMMENT ON FUNCTION sno_send(sno) IS 'binary output of sno: 10 bytes';

-- Comparison: order of the 10 bytes, which is that of time, tick-tock, metabyte, partition, sequence.

CREATE FUNCTION sno_eq(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_ne(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_lt(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_le(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_gt(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_ge(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_cmp(sno, sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_hash(sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_hash_extended(sno, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION sno_eq(sno, sno) IS 'implementation of = operator';
COMMENT ON FUNCTION sno_ne(sno, sno) IS 'implementation of <> operator';
COMMENT ON FUNCTION sno_lt(sno, sno) IS 'implementation of < operator';
COMMENT ON FUNCTION sno_le(sno, sno) IS 'implementation of <= operator';
COMMENT ON FUNCTION sno_gt(sno, sno) IS 'implementation of > operator';
COMMENT ON FUNCTION sno_ge(sno, sno) IS 'implementation of >= operator';
COMMENT ON FUNCTION sno_cmp(sno, sno) IS 'less-equal-greater: negative, 0 or positive';
COMMENT ON FUNCTION sno_hash(sno) IS 'hash';
COMMENT ON FUNCTION sno_hash_extended(sno, bigint) IS 'hash with a seed, 64 bits';

CREATE OPERATOR = (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = sno_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = sno_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = sno_lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = sno_le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = sno_gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = sno_ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON OPERATOR = (sno, sno) IS 'equal';
COMMENT ON OPERATOR <> (sno, sno) IS 'not equal';
COMMENT ON OPERATOR < (sno, sno) IS 'less than: older, or smaller in the remaining fields';
COMMENT ON OPERATOR <= (sno, sno) IS 'less than or equal';
COMMENT ON OPERATOR > (sno, sno) IS 'greater than: newer, or greater in the remaining fields';
COMMENT ON OPERATOR >= (sno, sno) IS 'greater than or equal';

-- Casts, all explicit. A uuid holds the 16 characters of the text, as the sno document has it; a bytea the 10 bytes.

CREATE FUNCTION sno_to_bytea(id sno) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_from_bytea(id bytea) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_to_uuid(id sno) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_to_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_from_uuid(id uuid) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_from_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION sno_to_bytea(sno) IS 'the 10 bytes of a sno';
COMMENT ON FUNCTION sno_from_bytea(bytea) IS 'the sno with these 10 bytes';
COMMENT ON FUNCTION sno_to_uuid(sno) IS 'the 16 text characters of a sno as the 16 bytes of a uuid; same order';
COMMENT ON FUNCTION sno_from_uuid(uuid) IS 'the sno whose 16 text characters are the bytes of the uuid';

CREATE CAST (sno AS bytea) WITH FUNCTION sno_to_bytea(sno);
CREATE CAST (bytea AS sno) WITH FUNCTION sno_from_bytea(bytea);
CREATE CAST (sno AS uuid) WITH FUNCTION sno_to_uuid(sno);
CREATE CAST (uuid AS sno) WITH FUNCTION sno_from_uuid(uuid);

COMMENT ON CAST (sno AS bytea) IS 'the 10 bytes';
COMMENT ON CAST (bytea AS sno) IS 'from exactly 10 bytes';
COMMENT ON CAST (sno AS uuid) IS 'the 16 text characters as 16 bytes';
COMMENT ON CAST (uuid AS sno) IS 'from the 16 text characters as 16 bytes';

-- 11-sno_fields.sql
-- Looking inside a sno, putting one together, bounds of a time range.

CREATE FUNCTION sno_timestamp(id sno) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_ticktock(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ticktock' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_metabyte(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_metabyte' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_partition(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_partition' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_sequence(id sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_decode(
    id sno,
    OUT created timestamptz, OUT ticktock integer, OUT metabyte integer, OUT partition integer, OUT sequence integer
) AS 'MODULE_PATHNAME', 'snowflake_ids_sno_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_sno(
    created timestamptz, metabyte integer, partition integer, sequence integer, ticktock integer DEFAULT 0
) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_sno' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_set_timestamp(id sno, created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_set_metabyte(id sno, metabyte integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_metabyte' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_set_partition(id sno, partition integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_partition' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_set_sequence(id sno, sequence integer) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_set_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_lower_bound(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_upper_bound(created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION sno_timestamp(sno) IS
    'start of the 4 ms unit of a sno, 2010-01-01 00:00:00+00 to 2079-09-07 15:47:35.548+00';
COMMENT ON FUNCTION sno_ticktock(sno) IS 'tick-tock bit of a sno: 0 or 1, toggled when the clock went back';
COMMENT ON FUNCTION sno_metabyte(sno) IS 'metabyte of a sno: 0 to 255, free for the application';
COMMENT ON FUNCTION sno_partition(sno) IS 'partition of a sno: 0 to 65535, which generator made it';
COMMENT ON FUNCTION sno_sequence(sno) IS 'sequence of a sno within its 4 ms unit: 0 to 65535';
COMMENT ON FUNCTION sno_decode(sno) IS 'all fields of a sno';
COMMENT ON FUNCTION make_sno(timestamptz, integer, integer, integer, integer) IS
    'the sno with these fields; the time is floored to 4 ms; metabyte 0 to 255, partition and sequence 0 to 65535, '
    'tick-tock 0 or 1';
COMMENT ON FUNCTION sno_set_timestamp(sno, timestamptz) IS 'the sno with another time, floored to 4 ms';
COMMENT ON FUNCTION sno_set_metabyte(sno, integer) IS 'the sno with another metabyte, 0 to 255';
COMMENT ON FUNCTION sno_set_partition(sno, integer) IS 'the sno with another partition, 0 to 65535';
COMMENT ON FUNCTION sno_set_sequence(sno, integer) IS 'the sno with another sequence, 0 to 65535';
COMMENT ON FUNCTION sno_lower_bound(timestamptz) IS
    'smallest sno whose timestamp is at or after the time; error after 2079-09-07 15:47:35.548+00';
COMMENT ON FUNCTION sno_upper_bound(timestamptz) IS
    'largest sno whose timestamp is at or before the time; error before 2010-01-01 00:00:00+00';

CREATE CAST (sno AS timestamptz) WITH FUNCTION sno_timestamp(sno);
COMMENT ON CAST (sno AS timestamptz) IS 'start of the 4 ms unit';

-- 12-sno_index.sql
-- Indexes and sorting of sno: operator classes, min and max.

CREATE FUNCTION sno_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_distance(sno, sno) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION sno_sortsupport(internal) IS 'sort support: abbreviated keys';
COMMENT ON FUNCTION sno_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';
COMMENT ON FUNCTION sno_distance(sno, sno) IS
    'distance for minmax-multi indexes, in ticks of 4 ms and fractions of one; never negative';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS sno_ops DEFAULT FOR TYPE sno USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 sno_cmp(sno, sno),
    FUNCTION 2 sno_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists from 18 on, and only there can it be named.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY sno_ops USING btree ADD FUNCTION 6 (sno, sno) sno_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY sno_ops USING btree IS 'sno in the order of its bytes';
COMMENT ON OPERATOR CLASS sno_ops USING btree IS 'sno in the order of its bytes';

-- hash

CREATE OPERATOR CLASS sno_ops DEFAULT FOR TYPE sno USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 sno_hash(sno),
    FUNCTION 2 sno_hash_extended(sno, bigint);

COMMENT ON OPERATOR FAMILY sno_ops USING hash IS 'sno by equality';
COMMENT ON OPERATOR CLASS sno_ops USING hash IS 'sno by equality';

-- BRIN. The time comes first, so a table that grows in time has narrow ranges.

CREATE OPERATOR CLASS sno_minmax_ops DEFAULT FOR TYPE sno USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);
CREATE OPERATOR CLASS sno_minmax_multi_ops FOR TYPE sno USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 sno_distance(sno, sno);
CREATE OPERATOR CLASS sno_bloom_ops FOR TYPE sno USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 sno_hash(sno);

COMMENT ON OPERATOR FAMILY sno_minmax_ops USING brin IS 'smallest and greatest sno of each block range';
COMMENT ON OPERATOR CLASS sno_minmax_ops USING brin IS 'smallest and greatest sno of each block range';
COMMENT ON OPERATOR FAMILY sno_minmax_multi_ops USING brin IS
    'several intervals of sno for each block range, for tables that are only roughly in order';
COMMENT ON OPERATOR CLASS sno_minmax_multi_ops USING brin IS
    'several intervals of sno for each block range, for tables that are only roughly in order';
COMMENT ON OPERATOR FAMILY sno_bloom_ops USING brin IS 'bloom filter of the sno of each block range, for equality';
COMMENT ON OPERATOR CLASS sno_bloom_ops USING brin IS 'bloom filter of the sno of each block range, for equality';

-- min and max

CREATE FUNCTION sno_smaller(sno, sno) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sno_larger(sno, sno) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(sno) (
    SFUNC = sno_smaller, STYPE = sno, COMBINEFUNC = sno_smaller, SORTOP = <, PARALLEL = SAFE
);
CREATE AGGREGATE max(sno) (
    SFUNC = sno_larger, STYPE = sno, COMBINEFUNC = sno_larger, SORTOP = >, PARALLEL = SAFE
);

COMMENT ON FUNCTION sno_smaller(sno, sno) IS 'smaller of two';
COMMENT ON FUNCTION sno_larger(sno, sno) IS 'larger of two';
COMMENT ON AGGREGATE min(sno) IS 'smallest sno: the oldest, then by the remaining fields';
COMMENT ON AGGREGATE max(sno) IS 'greatest sno: the newest, then by the remaining fields';

-- 20-gid_type.sql
-- The type gid: 16 bytes, input and output, type modifier, operators, casts.

CREATE TYPE gid;

CREATE FUNCTION gid_in(cstring, oid, integer) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_out(gid) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_recv(internal, oid, integer) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_send(gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_typmod_in(cstring[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_typmod_out(integer) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_typmod_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE gid (
    INPUT = gid_in, OUTPUT = gid_out, RECEIVE = gid_recv, SEND = gid_send,
    TYPMOD_IN = gid_typmod_in, TYPMOD_OUT = gid_typmod_out,
    INTERNALLENGTH = 16, ALIGNMENT = char, STORAGE = plain
);

COMMENT ON TYPE gid IS
    'Graft id, 16 bytes: kind (volume, log, segment), 48 bits of milliseconds since 1970 UTC (to 10889-08-02), '
    '72 bits of which 64 are random; text TIME-RANDOM, 24 characters; gid(volume), gid(log) and gid(segment) take one '
    'kind only';
COMMENT ON FUNCTION gid_in(cstring, oid, integer) IS
    'text input of gid: 10 base58 characters, a dash, 13 base58 characters';
COMMENT ON FUNCTION gid_out(gid) IS 'text output of gid: 24 characters';
COMMENT ON FUNCTION gid_recv(internal, oid, integer) IS 'binary input of gid: 16 bytes';
COMMENT ON FUNCTION gid_send(gid) IS 'binary output of gid: 16 bytes';
COMMENT ON FUNCTION gid_typmod_in(cstring[]) IS 'type modifier of gid: volume, log or segment';
COMMENT ON FUNCTION gid_typmod_out(integer) IS 'text of a type modifier of gid';

-- The server calls this wherever a value meets a column, cast or variable with a modifier. The cast is explicit like
-- all others: for a cast of a type to itself the server looks only at whether there is one.

CREATE FUNCTION gid(id gid, modifier integer, is_explicit boolean) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_check_modifier' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (gid AS gid) WITH FUNCTION gid(gid, integer, boolean);

COMMENT ON FUNCTION gid(gid, integer, boolean) IS
    'the gid itself if it is of the kind of the type modifier, else an error';
COMMENT ON CAST (gid AS gid) IS 'checks the kind against the type modifier';

-- Comparison: order of the 16 bytes, which is that of kind, time, rest.

CREATE FUNCTION gid_eq(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_ne(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_lt(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_le(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_gt(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_ge(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_cmp(gid, gid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_hash(gid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_hash_extended(gid, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION gid_eq(gid, gid) IS 'implementation of = operator';
COMMENT ON FUNCTION gid_ne(gid, gid) IS 'implementation of <> operator';
COMMENT ON FUNCTION gid_lt(gid, gid) IS 'implementation of < operator';
COMMENT ON FUNCTION gid_le(gid, gid) IS 'implementation of <= operator';
COMMENT ON FUNCTION gid_gt(gid, gid) IS 'implementation of > operator';
COMMENT ON FUNCTION gid_ge(gid, gid) IS 'implementation of >= operator';
COMMENT ON FUNCTION gid_cmp(gid, gid) IS 'less-equal-greater: negative, 0 or positive';
COMMENT ON FUNCTION gid_hash(gid) IS 'hash';
COMMENT ON FUNCTION gid_hash_extended(gid, bigint) IS 'hash with a seed, 64 bits';

CREATE OPERATOR = (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = gid_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = gid_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = gid_lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = gid_le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = gid_gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = gid_ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);

COMMENT ON OPERATOR = (gid, gid) IS 'equal';
COMMENT ON OPERATOR <> (gid, gid) IS 'not equal';
COMMENT ON OPERATOR < (gid, gid) IS 'less than: kind, then time, then the remaining bytes';
COMMENT ON OPERATOR <= (gid, gid) IS 'less than or equal';
COMMENT ON OPERATOR > (gid, gid) IS 'greater than: kind, then time, then the remaining bytes';
COMMENT ON OPERATOR >= (gid, gid) IS 'greater than or equal';

-- Casts, all explicit. To uuid nothing has to be done: the same 16 bytes in the same order.

CREATE FUNCTION gid_to_bytea(id gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_from_bytea(id bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_from_uuid(id uuid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION gid_to_bytea(gid) IS 'the 16 bytes of a gid';
COMMENT ON FUNCTION gid_from_bytea(bytea) IS 'the gid with these 16 bytes';
COMMENT ON FUNCTION gid_from_uuid(uuid) IS 'the gid with the 16 bytes of the uuid';

CREATE CAST (gid AS bytea) WITH FUNCTION gid_to_bytea(gid);
CREATE CAST (bytea AS gid) WITH FUNCTION gid_from_bytea(bytea);
CREATE CAST (gid AS uuid) WITHOUT FUNCTION;
CREATE CAST (uuid AS gid) WITH FUNCTION gid_from_uuid(uuid);

COMMENT ON CAST (gid AS bytea) IS 'the 16 bytes';
COMMENT ON CAST (bytea AS gid) IS 'from exactly 16 bytes that are a gid';
COMMENT ON CAST (gid AS uuid) IS 'the 16 bytes';
COMMENT ON CAST (uuid AS gid) IS 'from 16 bytes that are a gid';

-- 21-gid_fields.sql
-- Looking inside a gid, putting one together, bounds of a time range.

CREATE FUNCTION gid_timestamp(id gid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_kind(id gid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_kind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_random(id gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_random' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_short(id gid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_short' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_empty(kind text) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_is_empty(id gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_is_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_decode(id gid, OUT kind text, OUT created timestamptz, OUT random bytea)
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_gid(kind text, created timestamptz, random bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_gid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_lower_bound(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_upper_bound(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION gid_timestamp(gid) IS
    'time of a gid in milliseconds, 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00';
COMMENT ON FUNCTION gid_kind(gid) IS 'kind of a gid: volume, log or segment';
COMMENT ON FUNCTION gid_random(gid) IS 'bytes 8 to 15 of a gid: 64 random bits';
COMMENT ON FUNCTION gid_short(gid) IS 'the RANDOM part of the text of a gid, 13 base58 characters; not a gid by itself';
COMMENT ON FUNCTION gid_empty(text) IS 'the empty gid of a kind (volume, log or segment): time 0, no random bits';
COMMENT ON FUNCTION gid_is_empty(gid) IS 'true for the empty gid of its kind';
COMMENT ON FUNCTION gid_decode(gid) IS 'all fields of a gid';
COMMENT ON FUNCTION make_gid(text, timestamptz, bytea) IS
    'the gid with these fields: volume, log or segment; time floored to milliseconds; exactly 8 random bytes';
COMMENT ON FUNCTION gid_lower_bound(text, timestamptz) IS
    'smallest gid of the kind whose time is at or after the time; error after 10889-08-02 05:31:50.655+00';
COMMENT ON FUNCTION gid_upper_bound(text, timestamptz) IS
    'largest gid of the kind whose time is at or before the time; error before 1970-01-01 00:00:00+00';

CREATE CAST (gid AS timestamptz) WITH FUNCTION gid_timestamp(gid);
COMMENT ON CAST (gid AS timestamptz) IS 'time in milliseconds';

-- 22-gid_index.sql
-- Indexes and sorting of gid: operator classes, min and max.

CREATE FUNCTION gid_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_distance(gid, gid) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION gid_sortsupport(internal) IS 'sort support: abbreviated keys';
COMMENT ON FUNCTION gid_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';
COMMENT ON FUNCTION gid_distance(gid, gid) IS
    'distance for minmax-multi indexes, in milliseconds and fractions of one; never negative';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS gid_ops DEFAULT FOR TYPE gid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 gid_cmp(gid, gid),
    FUNCTION 2 gid_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists from 18 on, and only there can it be named.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY gid_ops USING btree ADD FUNCTION 6 (gid, gid) gid_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY gid_ops USING btree IS 'gid in the order of its bytes';
COMMENT ON OPERATOR CLASS gid_ops USING btree IS 'gid in the order of its bytes';

-- hash

CREATE OPERATOR CLASS gid_ops DEFAULT FOR TYPE gid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 gid_hash(gid),
    FUNCTION 2 gid_hash_extended(gid, bigint);

COMMENT ON OPERATOR FAMILY gid_ops USING hash IS 'gid by equality';
COMMENT ON OPERATOR CLASS gid_ops USING hash IS 'gid by equality';

-- BRIN. The time comes first within a kind, so a table that grows in time has narrow ranges.

CREATE OPERATOR CLASS gid_minmax_ops DEFAULT FOR TYPE gid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);
CREATE OPERATOR CLASS gid_minmax_multi_ops FOR TYPE gid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 brin_minmax_multi_opcinfo(internal),
    FUNCTION 2 brin_minmax_multi_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_multi_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_minmax_multi_union(internal, internal, internal),
    FUNCTION 5 brin_minmax_multi_options(internal),
    FUNCTION 11 gid_distance(gid, gid);
CREATE OPERATOR CLASS gid_bloom_ops FOR TYPE gid USING brin AS
    OPERATOR 1 =,
    FUNCTION 1 brin_bloom_opcinfo(internal),
    FUNCTION 2 brin_bloom_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_bloom_consistent(internal, internal, internal, integer),
    FUNCTION 4 brin_bloom_union(internal, internal, internal),
    FUNCTION 5 brin_bloom_options(internal),
    FUNCTION 11 gid_hash(gid);

COMMENT ON OPERATOR FAMILY gid_minmax_ops USING brin IS 'smallest and greatest gid of each block range';
COMMENT ON OPERATOR CLASS gid_minmax_ops USING brin IS 'smallest and greatest gid of each block range';
COMMENT ON OPERATOR FAMILY gid_minmax_multi_ops USING brin IS
    'several intervals of gid for each block range, for tables that are only roughly in order';
COMMENT ON OPERATOR CLASS gid_minmax_multi_ops USING brin IS
    'several intervals of gid for each block range, for tables that are only roughly in order';
COMMENT ON OPERATOR FAMILY gid_bloom_ops USING brin IS 'bloom filter of the gid of each block range, for equality';
COMMENT ON OPERATOR CLASS gid_bloom_ops USING brin IS 'bloom filter of the gid of each block range, for equality';

-- min and max

CREATE FUNCTION gid_smaller(gid, gid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gid_larger(gid, gid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE min(gid) (
    SFUNC = gid_smaller, STYPE = gid, COMBINEFUNC = gid_smaller, SORTOP = <, PARALLEL = SAFE
);
CREATE AGGREGATE max(gid) (
    SFUNC = gid_larger, STYPE = gid, COMBINEFUNC = gid_larger, SORTOP = >, PARALLEL = SAFE
);

COMMENT ON FUNCTION gid_smaller(gid, gid) IS 'smaller of two';
COMMENT ON FUNCTION gid_larger(gid, gid) IS 'larger of two';
COMMENT ON AGGREGATE min(gid) IS 'smallest gid: by kind, then the oldest';
COMMENT ON AGGREGATE max(gid) IS 'greatest gid: by kind, then the newest';

-- 30-mastic_fields.sql
-- Looking inside a Mastic id, putting one together, its text, bounds of a time range. A bigint holds the unsigned 64
-- bits: ids from the year 6485 on are negative.

CREATE FUNCTION mastic_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_sequence(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_decode(id bigint, OUT created timestamptz, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_mastic(created timestamptz, sequence integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_mastic' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_to_text(id bigint) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_to_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_from_text(id text) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_from_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_lower_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mastic_upper_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION mastic_timestamp(bigint) IS
    'time of a Mastic id in milliseconds, 2026-01-01 00:00:00+00 to 10945-08-03 05:31:50.655+00';
COMMENT ON FUNCTION mastic_sequence(bigint) IS 'sequence of a Mastic id within its millisecond: 0 to 65535';
COMMENT ON FUNCTION mastic_decode(bigint) IS 'all fields of a Mastic id';
COMMENT ON FUNCTION make_mastic(timestamptz, integer) IS
    'the Mastic id with these fields; time floored to milliseconds, sequence 0 to 65535';
COMMENT ON FUNCTION mastic_to_text(bigint) IS 'a Mastic id as unsigned decimal number, 0 to 18446744073709551615';
COMMENT ON FUNCTION mastic_from_text(text) IS
    'the Mastic id written as unsigned decimal number, 0 to 18446744073709551615';
COMMENT ON FUNCTION mastic_lower_bound(timestamptz) IS
    'smallest Mastic id, as unsigned number, at or after the time; error after 10945-08-03 05:31:50.655+00';
COMMENT ON FUNCTION mastic_upper_bound(timestamptz) IS
    'largest Mastic id, as unsigned number, at or before the time; error before 2026-01-01 00:00:00+00';

-- 40-snowflake_si_fields.sql
-- Looking inside a Snowflake-SI id, putting one together, bounds of a time range. Base clock and machine id width are
-- not in the id. The short forms take them from the settings and are stable; those with two more arguments are
-- immutable and can be used in indexes and generated columns.

CREATE FUNCTION snowflake_si_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_timestamp(id bigint, base_clock timestamptz, machine_bits integer) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_machine_id(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_machine_id' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_machine_id(id bigint, base_clock timestamptz, machine_bits integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_machine_id' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_uin(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_uin' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_uin(id bigint, base_clock timestamptz, machine_bits integer) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_uin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_decode(id bigint, OUT created timestamptz, OUT machine_id integer, OUT uin integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_decode' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_decode(
    id bigint, base_clock timestamptz, machine_bits integer,
    OUT created timestamptz, OUT machine_id integer, OUT uin integer
)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_snowflake_si(created timestamptz, machine_id integer, uin integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake_si' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION make_snowflake_si(
    created timestamptz, machine_id integer, uin integer, base_clock timestamptz, machine_bits integer
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake_si' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_lower_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_lower_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_lower_bound(
    created timestamptz, base_clock timestamptz, machine_bits integer
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_upper_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_upper_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_upper_bound(
    created timestamptz, base_clock timestamptz, machine_bits integer
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_si_timestamp(bigint) IS
    'time of a Snowflake-SI id: base clock plus up to 2^40 - 1 milliseconds; layout from the settings';
COMMENT ON FUNCTION snowflake_si_timestamp(bigint, timestamptz, integer) IS
    'time of a Snowflake-SI id: base clock plus up to 2^40 - 1 milliseconds';
COMMENT ON FUNCTION snowflake_si_machine_id(bigint) IS
    'machine id (MID) of a Snowflake-SI id: machine_bits wide, 0 to 12; layout from the settings';
COMMENT ON FUNCTION snowflake_si_machine_id(bigint, timestamptz, integer) IS
    'machine id (MID) of a Snowflake-SI id: machine_bits wide, 0 to 12';
COMMENT ON FUNCTION snowflake_si_uin(bigint) IS
    'number (UIN) of a Snowflake-SI id within its millisecond: 13 - machine_bits wide; layout from the settings';
COMMENT ON FUNCTION snowflake_si_uin(bigint, timestamptz, integer) IS
    'number (UIN) of a Snowflake-SI id within its millisecond: 13 - machine_bits wide';
COMMENT ON FUNCTION snowflake_si_decode(bigint) IS 'all fields of a Snowflake-SI id; layout from the settings';
COMMENT ON FUNCTION snowflake_si_decode(bigint, timestamptz, integer) IS 'all fields of a Snowflake-SI id';
COMMENT ON FUNCTION make_snowflake_si(timestamptz, integer, integer) IS
    'the Snowflake-SI id with these fields; time floored to milliseconds; layout from the settings';
COMMENT ON FUNCTION make_snowflake_si(timestamptz, integer, integer, timestamptz, integer) IS
    'the Snowflake-SI id with these fields; time floored to milliseconds';
COMMENT ON FUNCTION snowflake_si_lower_bound(timestamptz) IS
    'smallest Snowflake-SI id at or after the time; error after the last millisecond; layout from the settings';
COMMENT ON FUNCTION snowflake_si_lower_bound(timestamptz, timestamptz, integer) IS
    'smallest Snowflake-SI id at or after the time; error after the last millisecond';
COMMENT ON FUNCTION snowflake_si_upper_bound(timestamptz) IS
    'largest Snowflake-SI id at or before the time; error before the base clock; layout from the settings';
COMMENT ON FUNCTION snowflake_si_upper_bound(timestamptz, timestamptz, integer) IS
    'largest Snowflake-SI id at or before the time; error before the base clock';

-- 50-series.sql
-- Planner support shared by the series functions.

CREATE FUNCTION snowflake_ids_series_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'snowflake_ids_series_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids_series_support(internal) IS 'planner support: row estimate of the gen_*_series functions';

-- 51-sno_generate.sql
-- Generators of sno. They share one ledger with all sessions of the server, so no two
-- calls ever return the same id.

CREATE FUNCTION gen_sno(metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_sno(integer) IS 'new sno in the partition snowflake_ids.machine_id; metabyte 0-255';

CREATE FUNCTION gen_sno(metabyte integer, partition integer) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_partition'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_sno(integer, integer) IS 'new sno in an explicit partition 0-65535; metabyte 0-255; at most 64 such partitions per database';
-- Could draw in another node's partition.
REVOKE ALL ON FUNCTION gen_sno(integer, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_at(created timestamptz, metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_at'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_sno_at(timestamptz, integer) IS 'new sno with a given time, for porting old ids; own sequence, tick-tock 0; may collide with gen_sno if given the present';
REVOKE ALL ON FUNCTION gen_sno_at(timestamptz, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_series(count bigint, metabyte integer DEFAULT 0) RETURNS SETOF sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids_series_support;
COMMENT ON FUNCTION gen_sno_series(bigint, integer) IS 'count new snos, streamed; metabyte 0-255';

-- 52-gid_generate.sql
-- Generators of gid: 64 random bits from the server's strong source, no shared state.

CREATE FUNCTION gen_gid(kind text) RETURNS gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_gid(text) IS 'new gid of kind volume, log or segment: current millisecond and 64 random bits';

CREATE FUNCTION gen_gid_series(kind text, count bigint) RETURNS SETOF gid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_gid_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids_series_support;
COMMENT ON FUNCTION gen_gid_series(text, bigint) IS 'count new gids of kind volume, log or segment, streamed';

-- 53-mastic_generate.sql
-- Generators of Mastic snowflakes.

CREATE FUNCTION gen_mastic() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_mastic() IS 'new Mastic snowflake: 48 bits of milliseconds since 2026, 16 bits of sequence; unique within this server';

CREATE FUNCTION gen_mastic_series(count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids_series_support;
COMMENT ON FUNCTION gen_mastic_series(bigint) IS 'count new Mastic snowflakes, streamed';

-- 54-snowflake_si_generate.sql
-- Generators of Snowflake-SI ids.

CREATE FUNCTION gen_snowflake_si() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_snowflake_si() IS 'new Snowflake-SI id, at most 2^53-1: milliseconds since snowflake_ids.si_base_clock, snowflake_ids.machine_id, number';

CREATE FUNCTION gen_snowflake_si_series(count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids_series_support;
COMMENT ON FUNCTION gen_snowflake_si_series(bigint) IS 'count new Snowflake-SI ids, streamed; 256 per millisecond at the default widths';

-- 60-stats.sql
-- What operators see.

CREATE FUNCTION snowflake_ids_generators(
    OUT format text,
    OUT node integer,
    OUT issued bigint,
    OUT overflow_waits bigint,
    OUT wait_time double precision,
    OUT waiting bigint,
    OUT regressions bigint,
    OUT holds bigint,
    OUT ticktock integer,
    OUT last_timestamp timestamptz,
    OUT clock_lead double precision,
    OUT durable_until timestamptz,
    OUT owner oid)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 16;
COMMENT ON FUNCTION snowflake_ids_generators() IS 'the generators that this server has used; see the view snowflake_ids_stats';

CREATE VIEW snowflake_ids_stats AS
SELECT g.format, g.node, g.issued, g.overflow_waits, g.wait_time, g.waiting, g.regressions, g.holds,
       g.ticktock, g.last_timestamp, g.clock_lead, g.durable_until, d.datname AS owner
FROM snowflake_ids_generators() g LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) g.owner;
COMMENT ON VIEW snowflake_ids_stats IS 'a row per generator of this server, whichever database drew from it';
COMMENT ON COLUMN snowflake_ids_stats.format IS 'sno, sno_at (given times), mastic or snowflake_si';
COMMENT ON COLUMN snowflake_ids_stats.node IS 'sno partition or Snowflake-SI machine id';
COMMENT ON COLUMN snowflake_ids_stats.issued IS 'ids drawn; other sessions add theirs once per tick and at the end of each transaction';
COMMENT ON COLUMN snowflake_ids_stats.overflow_waits IS 'calls that had to wait because the sequence of a tick was used up';
COMMENT ON COLUMN snowflake_ids_stats.wait_time IS 'total time that calls have waited, in milliseconds';
COMMENT ON COLUMN snowflake_ids_stats.waiting IS 'sessions waiting now';
COMMENT ON COLUMN snowflake_ids_stats.regressions IS 'times that the clock went back and the tick-tock bit was toggled';
COMMENT ON COLUMN snowflake_ids_stats.holds IS 'ticks taken ahead of a clock that had gone back';
COMMENT ON COLUMN snowflake_ids_stats.ticktock IS 'tick-tock bit of new snos';
COMMENT ON COLUMN snowflake_ids_stats.last_timestamp IS 'time of the last id';
COMMENT ON COLUMN snowflake_ids_stats.clock_lead IS 'how far the last id is ahead of the clock, in milliseconds';
COMMENT ON COLUMN snowflake_ids_stats.durable_until IS 'no id of this time or later has been issued, and that is on disk';
COMMENT ON COLUMN snowflake_ids_stats.owner IS 'database whose explicit gen_sno(metabyte, partition) brought the generator into being';
GRANT SELECT ON snowflake_ids_stats TO PUBLIC;

CREATE FUNCTION snowflake_ids_stats_reset() RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_stats_reset'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_stats_reset() IS 'sets the counters of snowflake_ids_stats to zero; no generator changes';
REVOKE ALL ON FUNCTION snowflake_ids_stats_reset() FROM PUBLIC;

CREATE FUNCTION snowflake_ids_node(
    OUT machine_id integer,
    OUT incarnation bigint,
    OUT ledger_state text,
    OUT in_recovery boolean,
    OUT library_version text)
AS 'MODULE_PATHNAME', 'snowflake_ids_node'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_node() IS 'this node as the library sees it; see snowflake_ids_status()';

CREATE FUNCTION snowflake_ids_status(
    OUT machine_id integer,
    OUT machine_id_source text,
    OUT incarnation bigint,
    OUT ledger_state text,
    OUT in_recovery boolean,
    OUT library_version text)
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
BEGIN ATOMIC
    SELECT n.machine_id, s.source, n.incarnation, n.ledger_state, n.in_recovery, n.library_version
    FROM snowflake_ids_node() n
    LEFT JOIN pg_catalog.pg_settings s ON s.name OPERATOR(pg_catalog.=) 'snowflake_ids.machine_id';
END;
COMMENT ON FUNCTION snowflake_ids_status() IS 'this node: machine id and where its setting came from, number of server lives that drew ids, state of the ledger, in recovery or not, library version';

-- 61-operate.sql
-- What an operator may do to generators. Each could harm uniqueness or other databases of
-- the server, so none is for PUBLIC.

CREATE FUNCTION sno_observe(id sno, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_observe(sno, boolean) IS 'after an import: gen_sno() never issues at or below the time of this id, if it is of this node''s partition';
REVOKE ALL ON FUNCTION sno_observe(sno, boolean) FROM PUBLIC;

CREATE FUNCTION mastic_observe(id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_observe(bigint, boolean) IS 'after an import: gen_mastic() never issues at or below the time of this id';
REVOKE ALL ON FUNCTION mastic_observe(bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_si_observe(id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_observe(bigint, boolean) IS 'after an import: gen_snowflake_si() never issues at or below the time of this id, if it is of this node''s machine id';
REVOKE ALL ON FUNCTION snowflake_si_observe(bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_ids_reset(floor timestamptz, format text DEFAULT NULL, node integer DEFAULT NULL, force boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_reset'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_reset(timestamptz, text, integer, boolean) IS 'repairs the ledger, or moves generators to an explicit floor; format snowflake_si also forgets the frozen layout; force: even below ids that exist';
REVOKE ALL ON FUNCTION snowflake_ids_reset(timestamptz, text, integer, boolean) FROM PUBLIC;

-- 62-sno_snapshot.sql
-- The sno reference's GeneratorSnapshot.

CREATE FUNCTION sno_snapshot(partition integer DEFAULT NULL) RETURNS jsonb
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_snapshot'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_snapshot(integer) IS 'state of a sno generator as the reference''s GeneratorSnapshot, times in units of 4 ms since 2010; default: this node''s partition';

CREATE FUNCTION sno_restore(snapshot jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_restore'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_restore(jsonb) IS 'never issue at or before the times of a GeneratorSnapshot again; only moves forward';
REVOKE ALL ON FUNCTION sno_restore(jsonb) FROM PUBLIC;

-- 70-sno_time.sql
-- Comparing snos with time: the meaning is that of sno_timestamp(id). The planner turns these operators into
-- comparisons between ids, so that they use btree and BRIN indexes, partitions and statistics of the id.
--
-- An untyped literal or parameter beside a sno is read as a sno: write timestamptz '2026-01-01', or $1::timestamptz. Beside
-- <@ write tstzrange '[…)': the operator is declared for any range. Declared for tstzrange it would be the best match
-- for an untyped literal beside a tstzrange, so that '[…)' <@ during, which compares ranges, would read a sno.

CREATE FUNCTION sno_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sno_time_support(internal) IS
    'planner support: turns comparisons of sno with time into comparisons between ids';

-- What they become where the time is not a constant: id >= sno_first(…) AND id <= sno_last(…). Never an error, never NULL
-- but for NULL.

CREATE FUNCTION sno_first(comparison text, created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_first(created tstzrange) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_last(comparison text, created timestamptz) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION sno_last(created tstzrange) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION sno_first(text, timestamptz) IS
    'first sno whose time compares like this (<, <=, >=, >) with the given one; if there is none, the last sno of all';
COMMENT ON FUNCTION sno_first(tstzrange) IS
    'first sno whose time is in the range; if there is none, the last sno of all';
COMMENT ON FUNCTION sno_last(text, timestamptz) IS
    'last sno whose time compares like this (<, <=, >=, >) with the given one; if there is none, the first sno of all';
COMMENT ON FUNCTION sno_last(tstzrange) IS
    'last sno whose time is in the range; if there is none, the first sno of all';

-- The operators.

CREATE FUNCTION sno_lt_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_le_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_ge_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_gt_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_lt_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_le_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_ge_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION timestamptz_gt_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT sno_time_support;
CREATE FUNCTION sno_contained_by(sno, anyrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_contained_by' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT sno_time_support;

COMMENT ON FUNCTION sno_lt_timestamptz(sno, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION sno_le_timestamptz(sno, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION sno_ge_timestamptz(sno, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION sno_gt_timestamptz(sno, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_lt_sno(timestamptz, sno) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_le_sno(timestamptz, sno) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_ge_sno(timestamptz, sno) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_gt_sno(timestamptz, sno) IS 'implementation of > operator';
COMMENT ON FUNCTION sno_contained_by(sno, anyrange) IS 'implementation of <@ operator';

CREATE OPERATOR < (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = sno_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_lt_sno, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_le_sno, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_ge_sno, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = timestamptz_gt_sno, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR <@ (
    LEFTARG = sno, RIGHTARG = anyrange, FUNCTION = sno_contained_by, RESTRICT = matchingsel, JOIN = matchingjoinsel
);

COMMENT ON OPERATOR < (sno, timestamptz) IS 'the timestamp of the sno is earlier than the time';
COMMENT ON OPERATOR <= (sno, timestamptz) IS 'the timestamp of the sno is not later than the time';
COMMENT ON OPERATOR >= (sno, timestamptz) IS 'the timestamp of the sno is not earlier than the time';
COMMENT ON OPERATOR > (sno, timestamptz) IS 'the timestamp of the sno is later than the time';
COMMENT ON OPERATOR < (timestamptz, sno) IS 'the time is earlier than the timestamp of the sno';
COMMENT ON OPERATOR <= (timestamptz, sno) IS 'the time is not later than the timestamp of the sno';
COMMENT ON OPERATOR >= (timestamptz, sno) IS 'the time is not earlier than the timestamp of the sno';
COMMENT ON OPERATOR > (timestamptz, sno) IS 'the time is later than the timestamp of the sno';
COMMENT ON OPERATOR <@ (sno, anyrange) IS
    'the timestamp of the sno is in the range, a tstzrange';

-- 71-gid_time.sql
-- Comparing gids with time: the meaning is that of gid_timestamp(id). In columns with a type modifier, such as
-- gid(volume), the planner turns these operators into comparisons between ids, so that they use btree and BRIN indexes,
-- partitions and statistics of the id. Without one the kind is not known, and they work as a filter.
--
-- An untyped literal or parameter beside a gid is read as a gid: write timestamptz '2026-01-01', or $1::timestamptz. Beside
-- <@ write tstzrange '[…)': the operator is declared for any range. Declared for tstzrange it would be the best match
-- for an untyped literal beside a tstzrange, so that '[…)' <@ during, which compares ranges, would read a gid.

CREATE FUNCTION gid_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_time_support(internal) IS
    'planner support: turns comparisons of gid with time into comparisons between ids';

-- What they become where the time is not a constant: id >= gid_first(…) AND id <= gid_last(…). Never an error, never NULL
-- but for NULL.

CREATE FUNCTION gid_first(kind text, comparison text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_first(kind text, created tstzrange) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_last(kind text, comparison text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION gid_last(kind text, created tstzrange) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION gid_first(text, text, timestamptz) IS
    'first gid of the kind whose time compares like this (<, <=, >=, >) with the given one; if there is none, the last gid of all';
COMMENT ON FUNCTION gid_first(text, tstzrange) IS
    'first gid of the kind whose time is in the range; if there is none, the last gid of all';
COMMENT ON FUNCTION gid_last(text, text, timestamptz) IS
    'last gid of the kind whose time compares like this (<, <=, >=, >) with the given one; if there is none, the first gid of all';
COMMENT ON FUNCTION gid_last(text, tstzrange) IS
    'last gid of the kind whose time is in the range; if there is none, the first gid of all';

-- The operators.

CREATE FUNCTION gid_lt_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_le_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_ge_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_gt_timestamptz(gid, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_lt_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_le_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_ge_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION timestamptz_gt_gid(timestamptz, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_gid' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT gid_time_support;
CREATE FUNCTION gid_contained_by(gid, anyrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_contained_by' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT gid_time_support;

COMMENT ON FUNCTION gid_lt_timestamptz(gid, timestamptz) IS 'implementation of < operator';
COMMENT ON FUNCTION gid_le_timestamptz(gid, timestamptz) IS 'implementation of <= operator';
COMMENT ON FUNCTION gid_ge_timestamptz(gid, timestamptz) IS 'implementation of >= operator';
COMMENT ON FUNCTION gid_gt_timestamptz(gid, timestamptz) IS 'implementation of > operator';
COMMENT ON FUNCTION timestamptz_lt_gid(timestamptz, gid) IS 'implementation of < operator';
COMMENT ON FUNCTION timestamptz_le_gid(timestamptz, gid) IS 'implementation of <= operator';
COMMENT ON FUNCTION timestamptz_ge_gid(timestamptz, gid) IS 'implementation of >= operator';
COMMENT ON FUNCTION timestamptz_gt_gid(timestamptz, gid) IS 'implementation of > operator';
COMMENT ON FUNCTION gid_contained_by(gid, anyrange) IS 'implementation of <@ operator';

CREATE OPERATOR < (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = gid, RIGHTARG = timestamptz, FUNCTION = gid_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_lt_gid, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = matchingsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_le_gid, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = matchingsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_ge_gid, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = matchingsel, JOIN = scalargejoinsel
);
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = gid, FUNCTION = timestamptz_gt_gid, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = matchingsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR <@ (
    LEFTARG = gid, RIGHTARG = anyrange, FUNCTION = gid_contained_by, RESTRICT = matchingsel, JOIN = matchingjoinsel
);

COMMENT ON OPERATOR < (gid, timestamptz) IS 'the timestamp of the gid is earlier than the time';
COMMENT ON OPERATOR <= (gid, timestamptz) IS 'the timestamp of the gid is not later than the time';
COMMENT ON OPERATOR >= (gid, timestamptz) IS 'the timestamp of the gid is not earlier than the time';
COMMENT ON OPERATOR > (gid, timestamptz) IS 'the timestamp of the gid is later than the time';
COMMENT ON OPERATOR < (timestamptz, gid) IS 'the time is earlier than the timestamp of the gid';
COMMENT ON OPERATOR <= (timestamptz, gid) IS 'the time is not later than the timestamp of the gid';
COMMENT ON OPERATOR >= (timestamptz, gid) IS 'the time is not earlier than the timestamp of the gid';
COMMENT ON OPERATOR > (timestamptz, gid) IS 'the time is later than the timestamp of the gid';
COMMENT ON OPERATOR <@ (gid, anyrange) IS
    'the timestamp of the gid is in the range, a tstzrange';

-- 72-mastic_time.sql
-- Mastic ids by time: the meaning is mastic_timestamp(id) <@ range. The planner turns it into comparisons of the id, so
-- that it uses btree and BRIN indexes, partitions and statistics.

CREATE FUNCTION mastic_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_time_support(internal) IS
    'planner support: turns mastic_created_in into comparisons between ids';

-- What it becomes where the range is not a constant: id >= mastic_first(…) AND id <= mastic_last(…), and the same for
-- ids from the year 6485 on, the far half, which are negative. Never an error, never NULL but for NULL.

CREATE FUNCTION mastic_first(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_last(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_far_first(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_far_first' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION mastic_far_last(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_far_last' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION mastic_first(tstzrange) IS
    'first Mastic id before the year 6485 whose time is in the range; 0 if there is none';
COMMENT ON FUNCTION mastic_last(tstzrange) IS
    'last Mastic id before the year 6485 whose time is in the range; -1 if there is none';
COMMENT ON FUNCTION mastic_far_first(tstzrange) IS
    'first Mastic id from the year 6485 on, a negative bigint, whose time is in the range; 0 if there is none';
COMMENT ON FUNCTION mastic_far_last(tstzrange) IS
    'last Mastic id from the year 6485 on, a negative bigint, whose time is in the range; -1 if there is none';

CREATE FUNCTION mastic_created_in(id bigint, created tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_created_in' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT mastic_time_support;
COMMENT ON FUNCTION mastic_created_in(bigint, tstzrange) IS
    'the time of the Mastic id is in the range; uses an index on the id';

-- 73-snowflake_si_time.sql
-- Snowflake-SI ids by time: the meaning is snowflake_si_timestamp(id) <@ range, and false for a bigint that is no id. The
-- planner turns it into comparisons of the id, so that it uses btree and BRIN indexes, partitions and statistics.
--
-- As elsewhere the short form takes base clock and machine id width from the settings. It looks them up when the query
-- runs, also in a prepared one.

CREATE FUNCTION snowflake_si_time_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_time_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_time_support(internal) IS
    'planner support: turns snowflake_si_created_in into comparisons between ids';

-- What it becomes where the bounds are not known when the query is planned:
-- id >= snowflake_si_first(…) AND id <= snowflake_si_last(…). Never NULL but for NULL.

CREATE FUNCTION snowflake_si_first(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_first' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_si_first(created tstzrange, base_clock timestamptz, machine_bits integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_first' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_si_last(created tstzrange) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_last' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_si_last(created tstzrange, base_clock timestamptz, machine_bits integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_last' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_si_first(tstzrange) IS
    'first Snowflake-SI id whose time is in the range, 0 if there is none; layout from the settings';
COMMENT ON FUNCTION snowflake_si_first(tstzrange, timestamptz, integer) IS
    'first Snowflake-SI id whose time is in the range, 0 if there is none';
COMMENT ON FUNCTION snowflake_si_last(tstzrange) IS
    'last Snowflake-SI id whose time is in the range, -1 if there is none; layout from the settings';
COMMENT ON FUNCTION snowflake_si_last(tstzrange, timestamptz, integer) IS
    'last Snowflake-SI id whose time is in the range, -1 if there is none';

CREATE FUNCTION snowflake_si_created_in(id bigint, created tstzrange) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_created_in' LANGUAGE C STABLE STRICT LEAKPROOF PARALLEL SAFE
    SUPPORT snowflake_si_time_support;
CREATE FUNCTION snowflake_si_created_in(
    id bigint, created tstzrange, base_clock timestamptz, machine_bits integer
) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_created_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
    SUPPORT snowflake_si_time_support;

COMMENT ON FUNCTION snowflake_si_created_in(bigint, tstzrange) IS
    'the time of the Snowflake-SI id is in the range; uses an index on the id; layout from the settings';
COMMENT ON FUNCTION snowflake_si_created_in(bigint, tstzrange, timestamptz, integer) IS
    'the time of the Snowflake-SI id is in the range; uses an index on the id';

-- 74-estimates.sql
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
