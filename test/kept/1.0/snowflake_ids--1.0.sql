\echo Use "CREATE EXTENSION snowflake_ids" to load this file. \quit

-- 00-schema.sql
-- The extension has two schemas. This one is its own: all relations, the functions that stand behind types, operators,
-- casts, classes and the planner, and what operators of a server call. In the schema that the user chooses are types,
-- operators, operator classes and the functions that queries call.
--
-- Nobody else may create objects here, so functions find each other here safely. A schema of that name that is there
-- before, as migrations of frameworks make it, is not adopted: see below.
DO $$
BEGIN
    IF pg_catalog.current_schema() OPERATOR(pg_catalog.=) 'snowflake_ids' THEN
        RAISE EXCEPTION 'extension snowflake_ids cannot be installed in schema snowflake_ids'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'The extension makes a schema of that name for its own objects.',
                  HINT = 'Drop the schema, and name another one: CREATE EXTENSION snowflake_ids SCHEMA public.';
    END IF;
END $$;

-- An empty schema of that name is dropped, if it belongs to the role that creates the extension. (A script's NOTICE is
-- not shown.) In all other cases CREATE SCHEMA says that it exists.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n
                   ON n.nspowner OPERATOR(pg_catalog.=) e.extowner AND n.nspname OPERATOR(pg_catalog.=) e.extname
               WHERE e.extname OPERATOR(pg_catalog.=) 'snowflake_ids') THEN
        DROP SCHEMA snowflake_ids RESTRICT;
        RAISE INFO 'dropped the empty schema "snowflake_ids", because the extension makes its own'
            USING DETAIL = 'Its comment, grants, default privileges and publications'' TABLES IN SCHEMA went with it.';
    END IF;
EXCEPTION
    WHEN dependent_objects_still_exist OR invalid_schema_name THEN NULL;
END $$;

CREATE SCHEMA snowflake_ids;
COMMENT ON SCHEMA snowflake_ids IS
    'what operators of a server call, and what is behind the types of the extension snowflake_ids';

-- 05-wal_ceiling.sql
-- The WAL ceiling of this database; see src/pg/server/wal_ceiling.hpp. Not for use by hand. It starts with the sealed
-- 0 of src/ledger/sealed.hpp, which means: no ceiling yet.
--
-- nextval() must not change the number: the increment leaves no room for a next value, so the server refuses the call.
-- Bounds that leave no value for setval() either would stop pg_upgrade, which takes the number along by setval(). With a
-- least value of 1, monitors (check_postgres --action=sequence) would see a sequence that is used up.

CREATE SEQUENCE snowflake_ids.wal_ceiling AS bigint INCREMENT 9223372036854775807
    MINVALUE -1000000000000000000 START 22320;
SELECT pg_catalog.setval('snowflake_ids.wal_ceiling', 22320);
COMMENT ON SEQUENCE snowflake_ids.wal_ceiling IS
    'internal: time up to which ids of this database may exist, in milliseconds since 1970, above 15 check bits; '
    'written by the generators';

-- 07-estimates.sql
-- Row estimates for comparisons between ids, and between ids and times.

CREATE FUNCTION snowflake_ids.id_ineqsel(internal, oid, internal, integer) RETURNS double precision
    AS 'MODULE_PATHNAME', 'snowflake_ids_id_ineqsel' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.id_ineqsel(internal, oid, internal, integer) IS
    'restriction selectivity of < <= >= > between ids, and between ids and times';

-- 10-sno_type.sql
-- The type sno: 10 bytes, input and output, operators, casts.

CREATE TYPE sno;

CREATE FUNCTION snowflake_ids.sno_in(cstring) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_in(cstring) IS 'text input of sno: 16 characters, each one of 2-9 and a-x';

CREATE FUNCTION snowflake_ids.sno_out(sno) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_out(sno) IS 'text output of sno: 16 characters';

CREATE FUNCTION snowflake_ids.sno_recv(internal) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_recv(internal) IS 'binary input of sno: 10 bytes';

CREATE FUNCTION snowflake_ids.sno_send(sno) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_send(sno) IS 'binary output of sno: 10 bytes';

CREATE TYPE sno (
    INPUT = snowflake_ids.sno_in, OUTPUT = snowflake_ids.sno_out, RECEIVE = snowflake_ids.sno_recv, SEND = snowflake_ids.sno_send,
    INTERNALLENGTH = 10, ALIGNMENT = char, STORAGE = plain
);

COMMENT ON TYPE sno IS
    'sno id, 10 bytes: 39 bits of 4 ms units since 2010-01-01 UTC (to 2079-09-07), tick-tock bit, 8-bit metabyte, '
    '16-bit partition, 16-bit sequence; text [2-9a-x]{16}';

-- Hashing. The comparison is the same for each type, and so are the operator classes: see 35-id_order.sql.

CREATE FUNCTION snowflake_ids.sno_hash(sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_hash(sno) IS 'hash';

CREATE FUNCTION snowflake_ids.sno_hash_extended(sno, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_hash_extended(sno, bigint) IS 'hash with a seed, 64 bits';

-- Casts, all explicit. A uuid has the 16 characters of the text, as the sno document says; a bytea has the 10 bytes.

CREATE FUNCTION snowflake_ids.sno_to_bytea(id sno) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_to_bytea(sno) IS 'the 10 bytes of a sno';

CREATE FUNCTION snowflake_ids.sno_from_bytea(id bytea) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_from_bytea(bytea) IS 'the sno with these 10 bytes';

CREATE FUNCTION snowflake_ids.sno_to_uuid(id sno) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_to_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_to_uuid(sno) IS 'the 16 text characters of a sno as the 16 bytes of a uuid; same order';

CREATE FUNCTION snowflake_ids.sno_from_uuid(id uuid) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_from_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_from_uuid(uuid) IS 'the sno whose 16 text characters are the bytes of the uuid';

CREATE CAST (sno AS bytea) WITH FUNCTION snowflake_ids.sno_to_bytea(sno);
CREATE CAST (bytea AS sno) WITH FUNCTION snowflake_ids.sno_from_bytea(bytea);
CREATE CAST (sno AS uuid) WITH FUNCTION snowflake_ids.sno_to_uuid(sno);
CREATE CAST (uuid AS sno) WITH FUNCTION snowflake_ids.sno_from_uuid(uuid);

COMMENT ON CAST (sno AS bytea) IS 'the 10 bytes';
COMMENT ON CAST (bytea AS sno) IS 'from exactly 10 bytes';
COMMENT ON CAST (sno AS uuid) IS 'the 16 text characters as 16 bytes';
COMMENT ON CAST (uuid AS sno) IS 'from the 16 text characters as 16 bytes';

-- 11-sno_fields.sql
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
    'the sno with these fields; the time is floored to 4 ms; metabyte 0 to 255, partition and sequence 0 to 65535, '
    'tick-tock 0 or 1';

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

-- 20-gid_type.sql
-- The type gid: 16 bytes, input and output, type modifier, operators, casts.

CREATE TYPE gid;

CREATE FUNCTION snowflake_ids.gid_in(cstring, oid, integer) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_in(cstring, oid, integer) IS
    'text input of gid: 10 base58 characters, a dash, 13 base58 characters';

CREATE FUNCTION snowflake_ids.gid_out(gid) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_out(gid) IS 'text output of gid: 24 characters';

CREATE FUNCTION snowflake_ids.gid_recv(internal, oid, integer) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_recv(internal, oid, integer) IS 'binary input of gid: 16 bytes';

CREATE FUNCTION snowflake_ids.gid_send(gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_send(gid) IS 'binary output of gid: 16 bytes';

CREATE FUNCTION snowflake_ids.gid_typmod_in(cstring[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_typmod_in(cstring[]) IS 'type modifier of gid: volume, log or segment';

CREATE FUNCTION snowflake_ids.gid_typmod_out(integer) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_typmod_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_typmod_out(integer) IS 'text of a type modifier of gid';

CREATE TYPE gid (
    INPUT = snowflake_ids.gid_in, OUTPUT = snowflake_ids.gid_out, RECEIVE = snowflake_ids.gid_recv, SEND = snowflake_ids.gid_send,
    TYPMOD_IN = snowflake_ids.gid_typmod_in, TYPMOD_OUT = snowflake_ids.gid_typmod_out,
    INTERNALLENGTH = 16, ALIGNMENT = char, STORAGE = plain
);

COMMENT ON TYPE gid IS
    'Graft id, 16 bytes: kind (volume, log, segment), 48 bits of milliseconds since 1970 UTC (to 10889-08-02), '
    '72 bits of which 64 are random; text TIME-RANDOM, 24 characters; gid(volume), gid(log) and gid(segment) take one '
    'kind only';

-- The server calls this when a value is assigned to a column or variable with a modifier, or cast to a type with one.
-- The cast is explicit like all others: for a cast from a type to itself the server only checks that there is one.

CREATE FUNCTION snowflake_ids.gid(id gid, modifier integer, is_explicit boolean) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_check_modifier' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid(gid, integer, boolean) IS
    'the gid itself if it is of the kind of the type modifier, else an error';

CREATE CAST (gid AS gid) WITH FUNCTION snowflake_ids.gid(gid, integer, boolean);

COMMENT ON CAST (gid AS gid) IS 'checks the kind against the type modifier';

-- Hashing. The comparison is the same for each type, and so are the operator classes: see 35-id_order.sql.

CREATE FUNCTION snowflake_ids.gid_hash(gid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_hash(gid) IS 'hash';

CREATE FUNCTION snowflake_ids.gid_hash_extended(gid, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_hash_extended(gid, bigint) IS 'hash with a seed, 64 bits';

-- Casts, all explicit. The cast to uuid does nothing: the same 16 bytes in the same order.

CREATE FUNCTION snowflake_ids.gid_to_bytea(id gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_to_bytea(gid) IS 'the 16 bytes of a gid';

CREATE FUNCTION snowflake_ids.gid_from_bytea(id bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_from_bytea(bytea) IS 'the gid with these 16 bytes';

CREATE FUNCTION snowflake_ids.gid_from_uuid(id uuid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_from_uuid(uuid) IS 'the gid with the 16 bytes of the uuid';

CREATE CAST (gid AS bytea) WITH FUNCTION snowflake_ids.gid_to_bytea(gid);
CREATE CAST (bytea AS gid) WITH FUNCTION snowflake_ids.gid_from_bytea(bytea);
CREATE CAST (gid AS uuid) WITHOUT FUNCTION;
CREATE CAST (uuid AS gid) WITH FUNCTION snowflake_ids.gid_from_uuid(uuid);

COMMENT ON CAST (gid AS bytea) IS 'the 16 bytes';
COMMENT ON CAST (bytea AS gid) IS 'from exactly 16 bytes that are a gid';
COMMENT ON CAST (gid AS uuid) IS 'the 16 bytes';
COMMENT ON CAST (uuid AS gid) IS 'from 16 bytes that are a gid';

-- 21-gid_fields.sql
-- Fields of a gid, making a gid from fields, bounds of a span of time.

CREATE FUNCTION gid_timestamp(id gid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_timestamp(gid) IS
    'time of a gid in milliseconds, 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00';

CREATE FUNCTION gid_kind(id gid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_kind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_kind(gid) IS 'kind of a gid: volume, log or segment';

CREATE FUNCTION gid_random(id gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_random' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_random(gid) IS 'bytes 8 to 15 of a gid: 64 random bits';

CREATE FUNCTION gid_short(id gid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_short' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_short(gid) IS 'the RANDOM part of the text of a gid, 13 base58 characters; not a gid by itself';

CREATE FUNCTION gid_empty(kind text) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_empty(text) IS 'the empty gid of a kind (volume, log or segment): time 0, no random bits';

CREATE FUNCTION gid_is_empty(id gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_is_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_is_empty(gid) IS 'true for the empty gid of its kind';

CREATE FUNCTION gid_decode(id gid, OUT kind text, OUT created timestamptz, OUT random bytea)
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_decode(gid) IS 'all fields of a gid';

CREATE FUNCTION make_gid(kind text, created timestamptz, random bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_gid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_gid(text, timestamptz, bytea) IS
    'the gid with these fields: volume, log or segment; time floored to milliseconds; exactly 8 random bytes';

CREATE FUNCTION gid_lower_bound(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_lower_bound(text, timestamptz) IS
    'smallest gid of the kind whose time is at or after the time; error after 10889-08-02 05:31:50.655+00';

CREATE FUNCTION gid_upper_bound(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_upper_bound(text, timestamptz) IS
    'largest gid of the kind whose time is at or before the time; error before 1970-01-01 00:00:00+00';

CREATE CAST (gid AS timestamptz) WITH FUNCTION gid_timestamp(gid);
COMMENT ON CAST (gid AS timestamptz) IS 'time in milliseconds';

-- 23-uuid7_fields.sql
-- Fields of a uuid of version 7 (RFC 9562), bounds of a span of time. The type is the server's uuid, which has uuids
-- of any version. Uuids of other versions and variants have no time here.

CREATE FUNCTION uuid7_timestamp(id uuid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_timestamp(uuid) IS
    'time of a uuid of version 7 in milliseconds, 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00; '
    'NULL for other uuids';

CREATE FUNCTION uuid7_lower_bound(created timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_lower_bound(timestamptz) IS
    'smallest uuid of version 7 whose time is at or after the time; error after 10889-08-02 05:31:50.655+00';

CREATE FUNCTION uuid7_upper_bound(created timestamptz) RETURNS uuid
    AS 'MODULE_PATHNAME', 'snowflake_ids_uuid7_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION uuid7_upper_bound(timestamptz) IS
    'largest uuid of version 7 whose time is at or before the time; error before 1970-01-01 00:00:00+00';

-- 30-mastic_type.sql
-- The type mastic: 8 bytes, input and output, operators, casts.
--
-- It is laid out as bigint is, and compared without a sign. Where the sign makes no difference its functions are those
-- of bigint.

CREATE TYPE mastic;

CREATE FUNCTION snowflake_ids.mastic_in(cstring) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_in(cstring) IS 'text input of mastic: an unsigned decimal number';

CREATE FUNCTION snowflake_ids.mastic_out(mastic) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_out(mastic) IS 'text output of mastic: an unsigned decimal number';

CREATE FUNCTION snowflake_ids.mastic_recv(internal) RETURNS mastic AS 'int8recv' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_recv(internal) IS 'binary input of mastic: 8 bytes, as those of bigint';

CREATE FUNCTION snowflake_ids.mastic_send(mastic) RETURNS bytea AS 'int8send' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_send(mastic) IS 'binary output of mastic: 8 bytes, as those of bigint';

-- Of the category of numbers: id IN (1, 2) and coalesce(id, 0) find mastic as the common type.
CREATE TYPE mastic (
    INPUT = snowflake_ids.mastic_in, OUTPUT = snowflake_ids.mastic_out, RECEIVE = snowflake_ids.mastic_recv, SEND = snowflake_ids.mastic_send,
    LIKE = pg_catalog.int8, CATEGORY = 'N'
);

COMMENT ON TYPE mastic IS
    'Mastic snowflake, 8 bytes: 48 bits of milliseconds since 2026-01-01 UTC (to 10945-08-03), 16-bit sequence; '
    'text 0 to 18446744073709551615';

-- Hashing. The comparison is the same for each type, and so are the operator classes: see 35-id_order.sql.

CREATE FUNCTION snowflake_ids.mastic_hash(mastic) RETURNS integer
    AS 'hashint8' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_hash(mastic) IS 'hash';

CREATE FUNCTION snowflake_ids.mastic_hash_extended(mastic, bigint) RETURNS bigint
    AS 'hashint8extended' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_hash_extended(mastic, bigint) IS 'hash with a seed, 64 bits';

-- Casts. Integers become ids unasked, so that "id = 5", "id = ANY (bigint[])", joins and foreign keys use the index on
-- the id. A bigint column takes an id by assignment. Neither changes a bit: a negative bigint is an id above 2^63.
-- The way to bigint has a function, although the planner leaves it out: a type that a cast without one makes a bigint
-- passes for it. TimescaleDB partitioned such a column by its number, and gave wrong rows for a time beside it.
-- There is no cast to json: JSON has an id as a string then, which JavaScript does not round.

CREATE FUNCTION snowflake_ids.mastic_from_integer(id integer) RETURNS mastic
    AS 'int48' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_from_integer(integer) IS 'the mastic with the bits of the number as a bigint';

CREATE FUNCTION snowflake_ids.mastic_from_smallint(id smallint) RETURNS mastic
    AS 'int28' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_from_smallint(smallint) IS 'the mastic with the bits of the number as a bigint';

CREATE FUNCTION snowflake_ids.same_bits_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_same_bits_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.same_bits_support(internal) IS
    'planner support of a cast that changes no bit: the call is left out';

CREATE FUNCTION snowflake_ids.mastic_to_bigint(id mastic) RETURNS bigint
    AS 'int8up' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE SUPPORT snowflake_ids.same_bits_support;
COMMENT ON FUNCTION snowflake_ids.mastic_to_bigint(mastic) IS 'the bits of a mastic as a bigint: negative above 2^63';

CREATE FUNCTION snowflake_ids.mastic_to_numeric(id mastic) RETURNS numeric
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_to_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_to_numeric(mastic) IS 'a mastic as a number to calculate with';

CREATE FUNCTION snowflake_ids.mastic_from_numeric(id numeric) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_from_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_from_numeric(numeric) IS
    'the mastic of this number, rounded to a whole one; error outside 0 to 18446744073709551615';

CREATE CAST (bigint AS mastic) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (integer AS mastic) WITH FUNCTION snowflake_ids.mastic_from_integer(integer) AS IMPLICIT;
CREATE CAST (smallint AS mastic) WITH FUNCTION snowflake_ids.mastic_from_smallint(smallint) AS IMPLICIT;
CREATE CAST (mastic AS bigint) WITH FUNCTION snowflake_ids.mastic_to_bigint(mastic) AS ASSIGNMENT;
CREATE CAST (mastic AS numeric) WITH FUNCTION snowflake_ids.mastic_to_numeric(mastic);
CREATE CAST (numeric AS mastic) WITH FUNCTION snowflake_ids.mastic_from_numeric(numeric);

COMMENT ON CAST (bigint AS mastic) IS 'the same 64 bits: a negative number is an id above 2^63';
COMMENT ON CAST (integer AS mastic) IS 'as bigint';
COMMENT ON CAST (smallint AS mastic) IS 'as bigint';
COMMENT ON CAST (mastic AS bigint) IS 'the same 64 bits: an id above 2^63 is a negative number';
COMMENT ON CAST (mastic AS numeric) IS 'the unsigned number';
COMMENT ON CAST (numeric AS mastic) IS 'from 0 to 18446744073709551615, rounded to a whole number';

-- 31-mastic_fields.sql
-- Looking inside a mastic, putting one together, bounds of a time range.

CREATE FUNCTION mastic_timestamp(id mastic) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_timestamp(mastic) IS
    'time of a mastic in milliseconds, 2026-01-01 00:00:00+00 to 10945-08-03 05:31:50.655+00';

CREATE FUNCTION mastic_sequence(id mastic) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_sequence' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_sequence(mastic) IS 'sequence of a mastic within its millisecond: 0 to 65535';

CREATE FUNCTION mastic_decode(id mastic, OUT created timestamptz, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_decode(mastic) IS 'all fields of a mastic';

CREATE FUNCTION make_mastic(created timestamptz, sequence integer) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_mastic' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_mastic(timestamptz, integer) IS
    'the mastic with these fields; time floored to milliseconds, sequence 0 to 65535';

CREATE FUNCTION mastic_lower_bound(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_lower_bound(timestamptz) IS
    'smallest mastic at or after the time; error after 10945-08-03 05:31:50.655+00';

CREATE FUNCTION mastic_upper_bound(created timestamptz) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION mastic_upper_bound(timestamptz) IS
    'largest mastic at or before the time; error before 2026-01-01 00:00:00+00';

CREATE CAST (mastic AS timestamptz) WITH FUNCTION mastic_timestamp(mastic);
COMMENT ON CAST (mastic AS timestamptz) IS 'start of the millisecond';

-- 34-id_order.sql
-- For the BRIN classes of 35-id_order.

CREATE FUNCTION snowflake_ids.id_minmax_opcinfo(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'snowflake_ids_id_minmax_opcinfo' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.id_minmax_opcinfo(internal) IS 'what a BRIN index keeps of each block range';

-- 35-id_order.sql
-- The order of a type: comparison, operators, operator classes, min and max. It is that of the bytes of a sno or a gid,
-- and of the unsigned numbers of mastic; the comment of each type says which fields come first.

CREATE FUNCTION snowflake_ids.sno_eq(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_eq(sno, sno) IS 'implementation of = operator';
CREATE OPERATOR = (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (sno, sno) IS 'equal';

CREATE FUNCTION snowflake_ids.sno_ne(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_ne(sno, sno) IS 'implementation of <> operator';
CREATE OPERATOR <> (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (sno, sno) IS 'not equal';

CREATE FUNCTION snowflake_ids.sno_lt(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_lt(sno, sno) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (sno, sno) IS 'less than';

CREATE FUNCTION snowflake_ids.sno_le(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_le(sno, sno) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (sno, sno) IS 'less than or equal';

CREATE FUNCTION snowflake_ids.sno_gt(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_gt(sno, sno) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (sno, sno) IS 'greater than';

CREATE FUNCTION snowflake_ids.sno_ge(sno, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_ge(sno, sno) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (sno, sno) IS 'greater than or equal';

CREATE FUNCTION snowflake_ids.sno_cmp(sno, sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_cmp(sno, sno) IS 'less-equal-greater: negative, 0 or positive';

-- Indexes and sorting.

CREATE FUNCTION snowflake_ids.sno_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_sortsupport(internal) IS 'sort support';

CREATE FUNCTION snowflake_ids.sno_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS sno_ops DEFAULT FOR TYPE sno USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.sno_cmp(sno, sno),
    FUNCTION 2 snowflake_ids.sno_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists only from PostgreSQL 18 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY sno_ops USING btree ADD FUNCTION 6 (sno, sno) snowflake_ids.sno_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY sno_ops USING btree IS 'the order of sno';
COMMENT ON OPERATOR CLASS sno_ops USING btree IS 'the order of sno';

-- hash

CREATE OPERATOR CLASS sno_ops DEFAULT FOR TYPE sno USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 snowflake_ids.sno_hash(sno),
    FUNCTION 2 snowflake_ids.sno_hash_extended(sno, bigint);

COMMENT ON OPERATOR FAMILY sno_ops USING hash IS 'sno by equality';
COMMENT ON OPERATOR CLASS sno_ops USING hash IS 'sno by equality';

-- BRIN. In a table whose rows are inserted in the order of time, each block range has a short span of ids.

CREATE OPERATOR CLASS sno_minmax_ops DEFAULT FOR TYPE sno USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.id_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY sno_minmax_ops USING brin IS 'smallest and greatest sno of each block range';
COMMENT ON OPERATOR CLASS sno_minmax_ops USING brin IS 'smallest and greatest sno of each block range';

-- min and max

CREATE FUNCTION snowflake_ids.sno_smaller(sno, sno) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_smaller(sno, sno) IS 'smaller of two';
CREATE AGGREGATE min(sno) (
    SFUNC = snowflake_ids.sno_smaller, STYPE = sno, COMBINEFUNC = snowflake_ids.sno_smaller, SORTOP = <, PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(sno) IS 'smallest sno';

CREATE FUNCTION snowflake_ids.sno_larger(sno, sno) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_larger(sno, sno) IS 'larger of two';
CREATE AGGREGATE max(sno) (
    SFUNC = snowflake_ids.sno_larger, STYPE = sno, COMBINEFUNC = snowflake_ids.sno_larger, SORTOP = >, PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(sno) IS 'greatest sno';

-- 35-id_order.sql
-- The order of a type: comparison, operators, operator classes, min and max. It is that of the bytes of a sno or a gid,
-- and of the unsigned numbers of mastic; the comment of each type says which fields come first.

CREATE FUNCTION snowflake_ids.gid_eq(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_eq(gid, gid) IS 'implementation of = operator';
CREATE OPERATOR = (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (gid, gid) IS 'equal';

CREATE FUNCTION snowflake_ids.gid_ne(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_ne(gid, gid) IS 'implementation of <> operator';
CREATE OPERATOR <> (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (gid, gid) IS 'not equal';

CREATE FUNCTION snowflake_ids.gid_lt(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_lt(gid, gid) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (gid, gid) IS 'less than';

CREATE FUNCTION snowflake_ids.gid_le(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_le(gid, gid) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (gid, gid) IS 'less than or equal';

CREATE FUNCTION snowflake_ids.gid_gt(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_gt(gid, gid) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (gid, gid) IS 'greater than';

CREATE FUNCTION snowflake_ids.gid_ge(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_ge(gid, gid) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (gid, gid) IS 'greater than or equal';

CREATE FUNCTION snowflake_ids.gid_cmp(gid, gid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_cmp(gid, gid) IS 'less-equal-greater: negative, 0 or positive';

-- Indexes and sorting.

CREATE FUNCTION snowflake_ids.gid_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_sortsupport(internal) IS 'sort support';

CREATE FUNCTION snowflake_ids.gid_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS gid_ops DEFAULT FOR TYPE gid USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.gid_cmp(gid, gid),
    FUNCTION 2 snowflake_ids.gid_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists only from PostgreSQL 18 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY gid_ops USING btree ADD FUNCTION 6 (gid, gid) snowflake_ids.gid_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY gid_ops USING btree IS 'the order of gid';
COMMENT ON OPERATOR CLASS gid_ops USING btree IS 'the order of gid';

-- hash

CREATE OPERATOR CLASS gid_ops DEFAULT FOR TYPE gid USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 snowflake_ids.gid_hash(gid),
    FUNCTION 2 snowflake_ids.gid_hash_extended(gid, bigint);

COMMENT ON OPERATOR FAMILY gid_ops USING hash IS 'gid by equality';
COMMENT ON OPERATOR CLASS gid_ops USING hash IS 'gid by equality';

-- BRIN. In a table whose rows are inserted in the order of time, each block range has a short span of ids.

CREATE OPERATOR CLASS gid_minmax_ops DEFAULT FOR TYPE gid USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.id_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY gid_minmax_ops USING brin IS 'smallest and greatest gid of each block range';
COMMENT ON OPERATOR CLASS gid_minmax_ops USING brin IS 'smallest and greatest gid of each block range';

-- min and max

CREATE FUNCTION snowflake_ids.gid_smaller(gid, gid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_smaller(gid, gid) IS 'smaller of two';
CREATE AGGREGATE min(gid) (
    SFUNC = snowflake_ids.gid_smaller, STYPE = gid, COMBINEFUNC = snowflake_ids.gid_smaller, SORTOP = <, PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(gid) IS 'smallest gid';

CREATE FUNCTION snowflake_ids.gid_larger(gid, gid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_larger(gid, gid) IS 'larger of two';
CREATE AGGREGATE max(gid) (
    SFUNC = snowflake_ids.gid_larger, STYPE = gid, COMBINEFUNC = snowflake_ids.gid_larger, SORTOP = >, PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(gid) IS 'greatest gid';

-- 35-id_order.sql
-- The order of a type: comparison, operators, operator classes, min and max. It is that of the bytes of a sno or a gid,
-- and of the unsigned numbers of mastic; the comment of each type says which fields come first.

CREATE FUNCTION snowflake_ids.mastic_eq(mastic, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_eq(mastic, mastic) IS 'implementation of = operator';
CREATE OPERATOR = (
    LEFTARG = mastic, RIGHTARG = mastic, FUNCTION = snowflake_ids.mastic_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
COMMENT ON OPERATOR = (mastic, mastic) IS 'equal';

CREATE FUNCTION snowflake_ids.mastic_ne(mastic, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ne(mastic, mastic) IS 'implementation of <> operator';
CREATE OPERATOR <> (
    LEFTARG = mastic, RIGHTARG = mastic, FUNCTION = snowflake_ids.mastic_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (mastic, mastic) IS 'not equal';

CREATE FUNCTION snowflake_ids.mastic_lt(mastic, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_lt(mastic, mastic) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = mastic, RIGHTARG = mastic, FUNCTION = snowflake_ids.mastic_lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (mastic, mastic) IS 'less than';

CREATE FUNCTION snowflake_ids.mastic_le(mastic, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_le(mastic, mastic) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = mastic, RIGHTARG = mastic, FUNCTION = snowflake_ids.mastic_le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (mastic, mastic) IS 'less than or equal';

CREATE FUNCTION snowflake_ids.mastic_gt(mastic, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_gt(mastic, mastic) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = mastic, RIGHTARG = mastic, FUNCTION = snowflake_ids.mastic_gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (mastic, mastic) IS 'greater than';

CREATE FUNCTION snowflake_ids.mastic_ge(mastic, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ge(mastic, mastic) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = mastic, RIGHTARG = mastic, FUNCTION = snowflake_ids.mastic_ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (mastic, mastic) IS 'greater than or equal';

CREATE FUNCTION snowflake_ids.mastic_cmp(mastic, mastic) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_cmp(mastic, mastic) IS 'less-equal-greater: negative, 0 or positive';

-- Indexes and sorting.

CREATE FUNCTION snowflake_ids.mastic_sortsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_sortsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_sortsupport(internal) IS 'sort support';

CREATE FUNCTION snowflake_ids.mastic_skipsupport(internal) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_skipsupport' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_skipsupport(internal) IS 'skip support, for skip scans of servers from 18 on';

-- btree. Equal ids are equal byte by byte, so an index may keep one of them for all (deduplication).

CREATE OPERATOR CLASS mastic_ops DEFAULT FOR TYPE mastic USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.mastic_cmp(mastic, mastic),
    FUNCTION 2 snowflake_ids.mastic_sortsupport(internal),
    FUNCTION 4 btequalimage(oid);

-- Support function 6 exists only from PostgreSQL 18 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER OPERATOR FAMILY mastic_ops USING btree ADD FUNCTION 6 (mastic, mastic) snowflake_ids.mastic_skipsupport(internal);
    END IF;
END $$;

COMMENT ON OPERATOR FAMILY mastic_ops USING btree IS 'the order of mastic';
COMMENT ON OPERATOR CLASS mastic_ops USING btree IS 'the order of mastic';

-- hash

CREATE OPERATOR CLASS mastic_ops DEFAULT FOR TYPE mastic USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 snowflake_ids.mastic_hash(mastic),
    FUNCTION 2 snowflake_ids.mastic_hash_extended(mastic, bigint);

COMMENT ON OPERATOR FAMILY mastic_ops USING hash IS 'mastic by equality';
COMMENT ON OPERATOR CLASS mastic_ops USING hash IS 'mastic by equality';

-- BRIN. In a table whose rows are inserted in the order of time, each block range has a short span of ids.

CREATE OPERATOR CLASS mastic_minmax_ops DEFAULT FOR TYPE mastic USING brin AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 snowflake_ids.id_minmax_opcinfo(internal),
    FUNCTION 2 brin_minmax_add_value(internal, internal, internal, internal),
    FUNCTION 3 brin_minmax_consistent(internal, internal, internal),
    FUNCTION 4 brin_minmax_union(internal, internal, internal);

COMMENT ON OPERATOR FAMILY mastic_minmax_ops USING brin IS 'smallest and greatest mastic of each block range';
COMMENT ON OPERATOR CLASS mastic_minmax_ops USING brin IS 'smallest and greatest mastic of each block range';

-- min and max

CREATE FUNCTION snowflake_ids.mastic_smaller(mastic, mastic) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_smaller(mastic, mastic) IS 'smaller of two';
CREATE AGGREGATE min(mastic) (
    SFUNC = snowflake_ids.mastic_smaller, STYPE = mastic, COMBINEFUNC = snowflake_ids.mastic_smaller, SORTOP = <, PARALLEL = SAFE
);
COMMENT ON AGGREGATE min(mastic) IS 'smallest mastic';

CREATE FUNCTION snowflake_ids.mastic_larger(mastic, mastic) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_larger(mastic, mastic) IS 'larger of two';
CREATE AGGREGATE max(mastic) (
    SFUNC = snowflake_ids.mastic_larger, STYPE = mastic, COMBINEFUNC = snowflake_ids.mastic_larger, SORTOP = >, PARALLEL = SAFE
);
COMMENT ON AGGREGATE max(mastic) IS 'greatest mastic';

-- 40-snowflake_si_fields.sql
-- Fields of a Snowflake-SI id, making an id from fields, bounds of a span of time. They are for the ids of
-- gen_snowflake_si(). Base clock and widths are not in an id: for others, use snowflake_decode() and similar functions.

CREATE FUNCTION snowflake_si_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_timestamp(bigint) IS
    'time of a Snowflake-SI id: 2026-01-01 plus up to 2^40 - 1 milliseconds';

CREATE FUNCTION snowflake_si_machine_id(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_machine_id' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_machine_id(bigint) IS 'machine id (MID) of a Snowflake-SI id: 0 to 31';

CREATE FUNCTION snowflake_si_uin(id bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_uin' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_uin(bigint) IS
    'number (UIN) of a Snowflake-SI id within its millisecond: 0 to 255';

CREATE FUNCTION snowflake_si_decode(id bigint, OUT created timestamptz, OUT machine_id integer, OUT uin integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_decode(bigint) IS 'all fields of a Snowflake-SI id';

CREATE FUNCTION make_snowflake_si(created timestamptz, machine_id integer, uin integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake_si' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_snowflake_si(timestamptz, integer, integer) IS
    'the Snowflake-SI id with these fields; time floored to milliseconds';

CREATE FUNCTION snowflake_si_lower_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_lower_bound(timestamptz) IS
    'smallest Snowflake-SI id at or after the time; error after the last millisecond';

CREATE FUNCTION snowflake_si_upper_bound(created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_si_upper_bound(timestamptz) IS
    'largest Snowflake-SI id at or before the time; error before 2026-01-01';

-- 50-series.sql
-- Planner support shared by the series functions.

CREATE FUNCTION snowflake_ids.series_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'snowflake_ids_series_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.series_support(internal) IS
    'planner support: row estimate of the gen_*_series functions';

-- 51-sno_generate.sql
-- Generators of sno. All sessions of the server share one ledger, so no two calls ever return the same id.

CREATE FUNCTION gen_sno(metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno(integer) IS 'new sno in the partition snowflake_ids.machine_id; metabyte 0-255';

CREATE FUNCTION gen_sno(metabyte integer, partition integer) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_partition'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno(integer, integer) IS
    'new sno in an explicit partition 0-65535; metabyte 0-255; at most 64 such partitions per database; to allow it: '
    'GRANT EXECUTE ON FUNCTION gen_sno(integer, integer) TO role';
-- Not for PUBLIC, because it can draw in the partition of another server.
REVOKE ALL ON FUNCTION gen_sno(integer, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_at(created timestamptz, metabyte integer DEFAULT 0) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_at'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_sno_at(timestamptz, integer) IS
    'new sno with a given time, for porting old ids; its sequence goes round after 65536 calls; may meet ids of gen_sno '
    'at the present; to allow it: GRANT EXECUTE ON FUNCTION gen_sno_at TO role';
REVOKE ALL ON FUNCTION gen_sno_at(timestamptz, integer) FROM PUBLIC;

CREATE FUNCTION gen_sno_series(count bigint, metabyte integer DEFAULT 0) RETURNS SETOF sno
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_sno_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
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
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_gid_series(text, bigint) IS 'count new gids of kind volume, log or segment, streamed';

-- 53-mastic_generate.sql
-- Generators of Mastic snowflakes.

CREATE FUNCTION gen_mastic() RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_mastic() IS
    'new Mastic snowflake: 48 bits of milliseconds since 2026, 16 bits of sequence; unique within this server';

CREATE FUNCTION gen_mastic_series(count bigint) RETURNS SETOF mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_mastic_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_mastic_series(bigint) IS 'count new Mastic snowflakes, streamed';

-- 54-snowflake_si_generate.sql
-- Generators of Snowflake-SI ids.

CREATE FUNCTION gen_snowflake_si() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake_si() IS
    'new Snowflake-SI id, at most 2^53-1: milliseconds since 2026-01-01, snowflake_ids.machine_id, number';

CREATE FUNCTION gen_snowflake_si_series(count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_si_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_snowflake_si_series(bigint) IS
    'count new Snowflake-SI ids, streamed; 256 per millisecond';

-- 55-uuid7_generate.sql
-- Generators of uuids of version 7: the time and 62 random bits from the server's strong source, no shared state.
-- PostgreSQL 18 has uuidv7(), which generates the same kind of uuid.

CREATE FUNCTION gen_uuid7() RETURNS uuid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_uuid7'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_uuid7() IS
    'new uuid of version 7: current time and 62 random bits; larger than those that this session drew before, except in '
    'parallel workers';

CREATE FUNCTION gen_uuid7(shift interval) RETURNS uuid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_uuid7_shift'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gen_uuid7(interval) IS
    'the same at the current time plus shift; 62 random bits keep ids of different shifts apart; error before 1970 and '
    'after 10889';

CREATE FUNCTION gen_uuid7_series(count bigint) RETURNS SETOF uuid
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_uuid7_series'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_uuid7_series(bigint) IS 'count new uuids of version 7, streamed';

-- 60-stats.sql
-- What operators see.

CREATE FUNCTION snowflake_ids.generators(
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
    OUT owner oid,
    OUT layout text,
    OUT stats_since timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_stats'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 16;
COMMENT ON FUNCTION snowflake_ids.generators() IS
    'the generators that this server has used; see the view snowflake_ids.stats';

CREATE VIEW snowflake_ids.stats AS
SELECT g.format, g.node, g.issued, g.overflow_waits, g.wait_time, g.waiting, g.regressions, g.holds,
       g.ticktock, g.last_timestamp, g.clock_lead, g.durable_until, d.datname AS owner, g.layout, g.stats_since
FROM snowflake_ids.generators() g LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) g.owner;
COMMENT ON VIEW snowflake_ids.stats IS 'a row per generator of this server, for all its databases';
COMMENT ON COLUMN snowflake_ids.stats.format IS 'sno, sno_at (given times), mastic, snowflake_si or layout';
COMMENT ON COLUMN snowflake_ids.stats.node IS 'sno partition, or machine id of a Snowflake-SI id or layout';
COMMENT ON COLUMN snowflake_ids.stats.issued IS
    'ids drawn; other sessions add theirs once per tick and at the end of each transaction';
COMMENT ON COLUMN snowflake_ids.stats.overflow_waits IS
    'calls that had to wait because the sequence of a tick was used up';
COMMENT ON COLUMN snowflake_ids.stats.wait_time IS 'total time that calls have waited, in milliseconds';
COMMENT ON COLUMN snowflake_ids.stats.waiting IS 'sessions waiting now';
COMMENT ON COLUMN snowflake_ids.stats.regressions IS 'times that the clock went back and the tick-tock bit was toggled';
COMMENT ON COLUMN snowflake_ids.stats.holds IS 'ticks taken ahead of a clock that had gone back';
COMMENT ON COLUMN snowflake_ids.stats.ticktock IS 'tick-tock bit of new snos';
COMMENT ON COLUMN snowflake_ids.stats.last_timestamp IS 'time of the last id';
COMMENT ON COLUMN snowflake_ids.stats.clock_lead IS 'how far the last id is ahead of the clock, in milliseconds';
COMMENT ON COLUMN snowflake_ids.stats.durable_until IS
    'ceiling on disk: no id of this time or later has been issued';
COMMENT ON COLUMN snowflake_ids.stats.owner IS
    'database that created the generator, by gen_sno(metabyte, partition) or by a layout of its own';
COMMENT ON COLUMN snowflake_ids.stats.layout IS
    'for format layout: its name if it is built in, else epoch, tick and widths';
COMMENT ON COLUMN snowflake_ids.stats.stats_since IS
    'when the counters were 0: at the first use after a start or a crash of the server, or at the last '
    'snowflake_ids.stats_reset()';

CREATE FUNCTION snowflake_ids.stats_reset() RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_stats_reset'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.stats_reset() IS
    'sets the counters of snowflake_ids.stats to zero; no generator changes; to allow it: GRANT EXECUTE ON FUNCTION '
    'snowflake_ids.stats_reset TO role';
REVOKE ALL ON FUNCTION snowflake_ids.stats_reset() FROM PUBLIC;

CREATE FUNCTION snowflake_ids.status(
    OUT machine_id integer,
    OUT machine_id_source text,
    OUT narrow_machine_id integer,
    OUT system_identifier bigint,
    OUT not_accepted text,
    OUT life bigint,
    OUT life_began timestamptz,
    OUT memory text,
    OUT memory_bytes bigint,
    OUT ledger_state text,
    OUT in_recovery boolean,
    OUT library_version text,
    OUT clock_steps bigint,
    OUT clock_step double precision,
    OUT clock_stepped_at timestamptz)
AS 'MODULE_PATHNAME', 'snowflake_ids_status'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.status() IS
    'this server: its machine id, settings that were not accepted, server life, memory, state of the ceiling file, '
    'recovery, version; how often its clock was set, by how many ms the last time (negative: back), when';

-- 61-operate.sql
-- What an operator may do to generators. A misuse can harm uniqueness or other databases of the server, so PUBLIC may
-- call none of them but snowflake_ids.pass_now().

CREATE FUNCTION sno_observe(id sno, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_observe(sno, boolean) IS
    'after an import: gen_sno() never issues at or below the time of this id, if this server draws in its partition; '
    'to allow it: GRANT EXECUTE ON FUNCTION sno_observe TO role';
REVOKE ALL ON FUNCTION sno_observe(sno, boolean) FROM PUBLIC;

CREATE FUNCTION mastic_observe(id mastic, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_observe(mastic, boolean) IS
    'after an import: gen_mastic() never issues at or below the time of this id; to allow it: GRANT EXECUTE ON '
    'FUNCTION mastic_observe TO role';
REVOKE ALL ON FUNCTION mastic_observe(mastic, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_si_observe(id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_observe(bigint, boolean) IS
    'after an import: gen_snowflake_si() never issues at or below the time of this id, if it is of this node''s '
    'machine id; to allow it: GRANT EXECUTE ON FUNCTION snowflake_si_observe TO role';
REVOKE ALL ON FUNCTION snowflake_si_observe(bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_ids.reset(
    floor timestamptz, format text DEFAULT NULL, node integer DEFAULT NULL, force boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_reset'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.reset(timestamptz, text, integer, boolean) IS
    'repairs WAL ceilings, or moves generators to a floor, at most a minute ahead; superusers: to any floor, and with '
    'force even below ids that exist; '
    'to allow it: GRANT EXECUTE ON FUNCTION snowflake_ids.reset TO role';
REVOKE ALL ON FUNCTION snowflake_ids.reset(timestamptz, text, integer, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_ids.pass_now(format text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_pass_now' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.pass_now(text) IS
    'the present time; ids drawn later have later times, so ids made from times up to it collide with none of them';

-- 62-sno_snapshot.sql
-- The sno reference's GeneratorSnapshot.

CREATE FUNCTION snowflake_ids.sno_snapshot(partition integer DEFAULT NULL) RETURNS jsonb
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_snapshot'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.sno_snapshot(integer) IS
    'state of a sno generator as the reference''s GeneratorSnapshot, times in units of 4 ms since 2010; default: this '
    'node''s partition';

CREATE FUNCTION snowflake_ids.sno_restore(snapshot jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_restore'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids.sno_restore(jsonb) IS
    'the generator of a GeneratorSnapshot never issues at or before its times again; it never moves back; to allow it: '
    'GRANT EXECUTE ON FUNCTION snowflake_ids.sno_restore TO role';
REVOKE ALL ON FUNCTION snowflake_ids.sno_restore(jsonb) FROM PUBLIC;

-- 63-settled.sql
-- Settled: for readers who continue after the last id that they have read. See doc/polling.md.

CREATE FUNCTION snowflake_ids_settled() RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_settled() IS
    'for ids that the inserting transaction drew, of ticks up to 10 ms: no row with an id of an earlier time will '
    'appear; -infinity: not known; not for gid, uuid';

CREATE FUNCTION sno_settled() RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_settled() IS
    'for ids that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still appear; '
    'WHERE id > last AND id < (SELECT sno_settled())';

CREATE FUNCTION mastic_settled() RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_settled() IS
    'for ids that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still appear; '
    'WHERE id > last AND id < (SELECT mastic_settled())';

CREATE FUNCTION snowflake_si_settled() RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_settled() IS
    'for Snowflake-SI ids that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still '
    'appear';

CREATE FUNCTION snowflake_settled(layout text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_settled(text) IS
    'for ids of this layout that the inserting transaction drew (a DEFAULT does): no row with a smaller one will still '
    'appear';

-- The same for one table.

CREATE FUNCTION snowflake_ids_settled(of_table regclass) RETURNS timestamptz
AS 'MODULE_PATHNAME', 'snowflake_ids_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with an earlier time will still '
    'appear';

CREATE FUNCTION sno_settled(of_table regclass) RETURNS sno
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION sno_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still '
    'appear';

CREATE FUNCTION mastic_settled(of_table regclass) RETURNS mastic
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION mastic_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still '
    'appear';

CREATE FUNCTION snowflake_si_settled(of_table regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_si_settled(regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still '
    'appear';

CREATE FUNCTION snowflake_settled(layout text, of_table regclass) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_settled' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_settled(text, regclass) IS
    'for ids that the inserting statement generates (a DEFAULT does): no row of this table with a smaller id will still '
    'appear';

CREATE FUNCTION snowflake_ids.unsettled_transactions(OUT pid integer, OUT transaction xid, OUT drew timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_unsettled' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION snowflake_ids.unsettled_transactions() IS
    'open and prepared transactions of this database that have drawn ids; see the view snowflake_ids.unsettled';

CREATE FUNCTION snowflake_ids.unsettled_transactions(of_table regclass, OUT pid integer, OUT transaction xid,
    OUT drew timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_unsettled' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION snowflake_ids.unsettled_transactions(regclass) IS
    'those that hold the settled id of this table back';

CREATE VIEW snowflake_ids.unsettled AS
SELECT u.pid, p.gid AS prepared, u.drew, coalesce(a.xact_start, p.prepared) AS since,
       coalesce(a.usename, p.owner) AS usename, a.application_name, a.state
FROM snowflake_ids.unsettled_transactions() u
LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid OPERATOR(pg_catalog.=) u.pid
LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) u.transaction;
COMMENT ON VIEW snowflake_ids.unsettled IS
    'open and prepared transactions of this database that have drawn ids, and so hold the settled time back';
COMMENT ON COLUMN snowflake_ids.unsettled.pid IS 'process of the session; NULL: a prepared transaction';
COMMENT ON COLUMN snowflake_ids.unsettled.prepared IS 'name of the prepared transaction';
COMMENT ON COLUMN snowflake_ids.unsettled.drew IS
    'when the tick of its first id ends: nothing settles past it; -infinity: prepared before the first id since the start';
COMMENT ON COLUMN snowflake_ids.unsettled.since IS
    'when the transaction began, or was prepared; NULL: you may not see that session';
COMMENT ON COLUMN snowflake_ids.unsettled.usename IS 'its user';
COMMENT ON COLUMN snowflake_ids.unsettled.application_name IS 'as in pg_stat_activity';
COMMENT ON COLUMN snowflake_ids.unsettled.state IS 'as in pg_stat_activity';

-- 70-id_time.sql
-- Times in the order of sno: next to a sno, a time stands for sno_lower_bound(time), and a time after the end of the
-- format stands above all. So ids and times have one order, and the operators below belong to the btree operator family
-- of sno. Indexes, pruning, BRIN, min and max follow from that, without any code for the planner.
-- ~ tells the operators of two times apart.
--
-- There is no "=": no time equals an id for a user, and the planner would merge and hash with it.
--
-- An untyped literal or parameter next to a sno is read as a sno: write timestamptz '2026-01-01', or $1::timestamptz.

-- An id and a time.

CREATE FUNCTION snowflake_ids.sno_lt_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_lt_timestamptz(sno, timestamptz) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (sno, timestamptz) IS
    'the timestamp of the sno is earlier than the time';

CREATE FUNCTION snowflake_ids.sno_le_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_le_timestamptz(sno, timestamptz) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (sno, timestamptz) IS
    'the timestamp of the sno is earlier than the time, or it is the first id of the tick that begins then';

CREATE FUNCTION snowflake_ids.sno_ge_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_ge_timestamptz(sno, timestamptz) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (sno, timestamptz) IS
    'the timestamp of the sno is the time or later';

CREATE FUNCTION snowflake_ids.sno_gt_timestamptz(sno, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_gt_timestamptz(sno, timestamptz) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = sno, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (sno, timestamptz) IS
    'the timestamp of the sno is the time or later, and it is not the first id of the tick that begins then';

CREATE FUNCTION snowflake_ids.sno_cmp_timestamptz(sno, timestamptz) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_cmp_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_cmp_timestamptz(sno, timestamptz) IS 'less-equal-greater: negative, 0 or positive';

-- A time and an id.

CREATE FUNCTION snowflake_ids.timestamptz_lt_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_lt_sno(timestamptz, sno) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = snowflake_ids.timestamptz_lt_sno, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (timestamptz, sno) IS 'the same as > with the sno first';

CREATE FUNCTION snowflake_ids.timestamptz_le_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_le_sno(timestamptz, sno) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = snowflake_ids.timestamptz_le_sno, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (timestamptz, sno) IS 'the same as >= with the sno first';

CREATE FUNCTION snowflake_ids.timestamptz_ge_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_ge_sno(timestamptz, sno) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = snowflake_ids.timestamptz_ge_sno, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (timestamptz, sno) IS 'the same as <= with the sno first';

CREATE FUNCTION snowflake_ids.timestamptz_gt_sno(timestamptz, sno) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_gt_sno(timestamptz, sno) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = sno, FUNCTION = snowflake_ids.timestamptz_gt_sno, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (timestamptz, sno) IS 'the same as < with the sno first';

CREATE FUNCTION snowflake_ids.timestamptz_cmp_sno(timestamptz, sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_cmp_sno' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_cmp_sno(timestamptz, sno) IS 'less-equal-greater: negative, 0 or positive';

-- Two times next to ids: equal within a tick. The server compares so what it knows of id >= a and id >= b. These
-- operators are not the server's own, which stand in one operator family already and tell the times of a tick apart.

CREATE FUNCTION snowflake_ids.sno_times_lt(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_times_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_times_lt(timestamptz, timestamptz) IS 'implementation of <~ operator';
CREATE OPERATOR snowflake_ids.<~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_times_lt,
    COMMUTATOR = OPERATOR(snowflake_ids.>~), NEGATOR = OPERATOR(snowflake_ids.>=~),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR snowflake_ids.<~ (timestamptz, timestamptz) IS
    'internal: < for times next to a sno, equal within a tick';

CREATE FUNCTION snowflake_ids.sno_times_le(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_times_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_times_le(timestamptz, timestamptz) IS 'implementation of <=~ operator';
CREATE OPERATOR snowflake_ids.<=~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_times_le,
    COMMUTATOR = OPERATOR(snowflake_ids.>=~), NEGATOR = OPERATOR(snowflake_ids.>~),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR snowflake_ids.<=~ (timestamptz, timestamptz) IS
    'internal: <= for times next to a sno, equal within a tick';

CREATE FUNCTION snowflake_ids.sno_times_ge(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_times_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_times_ge(timestamptz, timestamptz) IS 'implementation of >=~ operator';
CREATE OPERATOR snowflake_ids.>=~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_times_ge,
    COMMUTATOR = OPERATOR(snowflake_ids.<=~), NEGATOR = OPERATOR(snowflake_ids.<~),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR snowflake_ids.>=~ (timestamptz, timestamptz) IS
    'internal: >= for times next to a sno, equal within a tick';

CREATE FUNCTION snowflake_ids.sno_times_gt(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_times_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_times_gt(timestamptz, timestamptz) IS 'implementation of >~ operator';
CREATE OPERATOR snowflake_ids.>~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.sno_times_gt,
    COMMUTATOR = OPERATOR(snowflake_ids.<~), NEGATOR = OPERATOR(snowflake_ids.<=~),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR snowflake_ids.>~ (timestamptz, timestamptz) IS
    'internal: > for times next to a sno, equal within a tick';

CREATE FUNCTION snowflake_ids.sno_times_cmp(timestamptz, timestamptz) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_times_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_times_cmp(timestamptz, timestamptz) IS 'less-equal-greater: negative, 0 or positive';

-- The operator families.

ALTER OPERATOR FAMILY sno_ops USING btree ADD
    OPERATOR 1 < (sno, timestamptz), OPERATOR 2 <= (sno, timestamptz),
    OPERATOR 4 >= (sno, timestamptz), OPERATOR 5 > (sno, timestamptz),
    FUNCTION 1 (sno, timestamptz) snowflake_ids.sno_cmp_timestamptz(sno, timestamptz),
    OPERATOR 1 < (timestamptz, sno), OPERATOR 2 <= (timestamptz, sno),
    OPERATOR 4 >= (timestamptz, sno), OPERATOR 5 > (timestamptz, sno),
    FUNCTION 1 (timestamptz, sno) snowflake_ids.timestamptz_cmp_sno(timestamptz, sno),
    OPERATOR 1 snowflake_ids.<~ (timestamptz, timestamptz), OPERATOR 2 snowflake_ids.<=~ (timestamptz, timestamptz),
    OPERATOR 4 snowflake_ids.>=~ (timestamptz, timestamptz), OPERATOR 5 snowflake_ids.>~ (timestamptz, timestamptz),
    FUNCTION 1 (timestamptz, timestamptz) snowflake_ids.sno_times_cmp(timestamptz, timestamptz);
ALTER OPERATOR FAMILY sno_minmax_ops USING brin ADD
    OPERATOR 1 < (sno, timestamptz), OPERATOR 2 <= (sno, timestamptz),
    OPERATOR 4 >= (sno, timestamptz), OPERATOR 5 > (sno, timestamptz);

-- 70-id_time.sql
-- Times in the order of mastic: next to a mastic, a time stands for mastic_lower_bound(time), and a time after the end of the
-- format stands above all. So ids and times have one order, and the operators below belong to the btree operator family
-- of mastic. Indexes, pruning, BRIN, min and max follow from that, without any code for the planner.
-- ~~ tells the operators of two times apart.
--
-- There is no "=": no time equals an id for a user, and the planner would merge and hash with it.
--
-- An untyped literal or parameter next to a mastic is read as a mastic: write timestamptz '2026-01-01', or $1::timestamptz.

-- An id and a time.

CREATE FUNCTION snowflake_ids.mastic_lt_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_lt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_lt_timestamptz(mastic, timestamptz) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_lt_timestamptz, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (mastic, timestamptz) IS
    'the timestamp of the mastic is earlier than the time';

CREATE FUNCTION snowflake_ids.mastic_le_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_le_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_le_timestamptz(mastic, timestamptz) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_le_timestamptz, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (mastic, timestamptz) IS
    'the timestamp of the mastic is earlier than the time, or it is the first id of the tick that begins then';

CREATE FUNCTION snowflake_ids.mastic_ge_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ge_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ge_timestamptz(mastic, timestamptz) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ge_timestamptz, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (mastic, timestamptz) IS
    'the timestamp of the mastic is the time or later';

CREATE FUNCTION snowflake_ids.mastic_gt_timestamptz(mastic, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_gt_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_gt_timestamptz(mastic, timestamptz) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = mastic, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_gt_timestamptz, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (mastic, timestamptz) IS
    'the timestamp of the mastic is the time or later, and it is not the first id of the tick that begins then';

CREATE FUNCTION snowflake_ids.mastic_cmp_timestamptz(mastic, timestamptz) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_cmp_timestamptz' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_cmp_timestamptz(mastic, timestamptz) IS 'less-equal-greater: negative, 0 or positive';

-- A time and an id.

CREATE FUNCTION snowflake_ids.timestamptz_lt_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_lt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_lt_mastic(timestamptz, mastic) IS 'implementation of < operator';
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = snowflake_ids.timestamptz_lt_mastic, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (timestamptz, mastic) IS 'the same as > with the mastic first';

CREATE FUNCTION snowflake_ids.timestamptz_le_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_le_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_le_mastic(timestamptz, mastic) IS 'implementation of <= operator';
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = snowflake_ids.timestamptz_le_mastic, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (timestamptz, mastic) IS 'the same as >= with the mastic first';

CREATE FUNCTION snowflake_ids.timestamptz_ge_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_ge_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_ge_mastic(timestamptz, mastic) IS 'implementation of >= operator';
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = snowflake_ids.timestamptz_ge_mastic, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (timestamptz, mastic) IS 'the same as <= with the mastic first';

CREATE FUNCTION snowflake_ids.timestamptz_gt_mastic(timestamptz, mastic) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_gt_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_gt_mastic(timestamptz, mastic) IS 'implementation of > operator';
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = mastic, FUNCTION = snowflake_ids.timestamptz_gt_mastic, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (timestamptz, mastic) IS 'the same as < with the mastic first';

CREATE FUNCTION snowflake_ids.timestamptz_cmp_mastic(timestamptz, mastic) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_timestamptz_cmp_mastic' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.timestamptz_cmp_mastic(timestamptz, mastic) IS 'less-equal-greater: negative, 0 or positive';

-- Two times next to ids: equal within a tick. The server compares so what it knows of id >= a and id >= b. These
-- operators are not the server's own, which stand in one operator family already and tell the times of a tick apart.

CREATE FUNCTION snowflake_ids.mastic_times_lt(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_times_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_times_lt(timestamptz, timestamptz) IS 'implementation of <~~ operator';
CREATE OPERATOR snowflake_ids.<~~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_times_lt,
    COMMUTATOR = OPERATOR(snowflake_ids.>~~), NEGATOR = OPERATOR(snowflake_ids.>=~~),
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR snowflake_ids.<~~ (timestamptz, timestamptz) IS
    'internal: < for times next to a mastic, equal within a tick';

CREATE FUNCTION snowflake_ids.mastic_times_le(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_times_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_times_le(timestamptz, timestamptz) IS 'implementation of <=~~ operator';
CREATE OPERATOR snowflake_ids.<=~~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_times_le,
    COMMUTATOR = OPERATOR(snowflake_ids.>=~~), NEGATOR = OPERATOR(snowflake_ids.>~~),
    RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR snowflake_ids.<=~~ (timestamptz, timestamptz) IS
    'internal: <= for times next to a mastic, equal within a tick';

CREATE FUNCTION snowflake_ids.mastic_times_ge(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_times_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_times_ge(timestamptz, timestamptz) IS 'implementation of >=~~ operator';
CREATE OPERATOR snowflake_ids.>=~~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_times_ge,
    COMMUTATOR = OPERATOR(snowflake_ids.<=~~), NEGATOR = OPERATOR(snowflake_ids.<~~),
    RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR snowflake_ids.>=~~ (timestamptz, timestamptz) IS
    'internal: >= for times next to a mastic, equal within a tick';

CREATE FUNCTION snowflake_ids.mastic_times_gt(timestamptz, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_times_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_times_gt(timestamptz, timestamptz) IS 'implementation of >~~ operator';
CREATE OPERATOR snowflake_ids.>~~ (
    LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_times_gt,
    COMMUTATOR = OPERATOR(snowflake_ids.<~~), NEGATOR = OPERATOR(snowflake_ids.<=~~),
    RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR snowflake_ids.>~~ (timestamptz, timestamptz) IS
    'internal: > for times next to a mastic, equal within a tick';

CREATE FUNCTION snowflake_ids.mastic_times_cmp(timestamptz, timestamptz) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_times_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_times_cmp(timestamptz, timestamptz) IS 'less-equal-greater: negative, 0 or positive';

-- The operator families.

ALTER OPERATOR FAMILY mastic_ops USING btree ADD
    OPERATOR 1 < (mastic, timestamptz), OPERATOR 2 <= (mastic, timestamptz),
    OPERATOR 4 >= (mastic, timestamptz), OPERATOR 5 > (mastic, timestamptz),
    FUNCTION 1 (mastic, timestamptz) snowflake_ids.mastic_cmp_timestamptz(mastic, timestamptz),
    OPERATOR 1 < (timestamptz, mastic), OPERATOR 2 <= (timestamptz, mastic),
    OPERATOR 4 >= (timestamptz, mastic), OPERATOR 5 > (timestamptz, mastic),
    FUNCTION 1 (timestamptz, mastic) snowflake_ids.timestamptz_cmp_mastic(timestamptz, mastic),
    OPERATOR 1 snowflake_ids.<~~ (timestamptz, timestamptz), OPERATOR 2 snowflake_ids.<=~~ (timestamptz, timestamptz),
    OPERATOR 4 snowflake_ids.>=~~ (timestamptz, timestamptz), OPERATOR 5 snowflake_ids.>~~ (timestamptz, timestamptz),
    FUNCTION 1 (timestamptz, timestamptz) snowflake_ids.mastic_times_cmp(timestamptz, timestamptz);
ALTER OPERATOR FAMILY mastic_minmax_ops USING brin ADD
    OPERATOR 1 < (mastic, timestamptz), OPERATOR 2 <= (mastic, timestamptz),
    OPERATOR 4 >= (mastic, timestamptz), OPERATOR 5 > (mastic, timestamptz);

-- 71-mastic_time.sql
-- A bigint becomes a mastic unasked, but not next to a time: it may have ids of any layout, and would be read as one of
-- Mastic. So each operator has a twin on a domain that fits as well, and PostgreSQL refuses to choose: "operator is not
-- unique: bigint > timestamp with time zone". For a mastic the operators of 70-id_time are the better match.

CREATE DOMAIN snowflake_ids.mastic_ambiguous AS mastic;
COMMENT ON DOMAIN snowflake_ids.mastic_ambiguous IS
    'internal: a mastic, declared so that a bigint next to a time is not read as one: cast it';

CREATE FUNCTION snowflake_ids.mastic_ambiguous_time(snowflake_ids.mastic_ambiguous, timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ambiguous_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ambiguous_time(snowflake_ids.mastic_ambiguous, timestamptz) IS 'internal: raises an error';
CREATE OPERATOR < (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR <= (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR <= (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR >= (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR >= (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR > (
    LEFTARG = snowflake_ids.mastic_ambiguous, RIGHTARG = timestamptz, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR > (snowflake_ids.mastic_ambiguous, timestamptz) IS
    'internal: with it, a bigint next to a time is ambiguous';

CREATE FUNCTION snowflake_ids.mastic_ambiguous_time(timestamptz, snowflake_ids.mastic_ambiguous) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_ambiguous_time' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_ambiguous_time(timestamptz, snowflake_ids.mastic_ambiguous) IS 'internal: raises an error';
CREATE OPERATOR < (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR <= (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR <= (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR >= (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR >= (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';
CREATE OPERATOR > (
    LEFTARG = timestamptz, RIGHTARG = snowflake_ids.mastic_ambiguous, FUNCTION = snowflake_ids.mastic_ambiguous_time,
    RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR > (timestamptz, snowflake_ids.mastic_ambiguous) IS
    'internal: with it, a bigint next to a time is ambiguous';

-- 80-layouts.sql
-- Layouts of 64-bit ids: | timestamp | node | sequence |, or with node_last | timestamp | sequence | node |, most
-- significant bit first. Some are built in; others can be created. No layout ever changes. A created one can be
-- dropped only while this server has drawn no id with its epoch, tick and widths.

CREATE FUNCTION snowflake_ids.layout_check(
    epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer, sequence_bits integer,
    node_last boolean)
RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_check'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.layout_check(timestamptz, interval, integer, integer, integer, boolean) IS
    'internal: true if this is a layout of at most 63 bits, else an error';

CREATE TABLE snowflake_ids.created_layout (
    name text PRIMARY KEY,
    epoch timestamptz NOT NULL,
    tick interval NOT NULL,
    timestamp_bits integer NOT NULL,
    node_bits integer NOT NULL,
    sequence_bits integer NOT NULL,
    node_last boolean NOT NULL,
    CHECK (octet_length(name) BETWEEN 1 AND 63),
    CHECK (snowflake_ids.layout_check(epoch, tick, timestamp_bits, node_bits, sequence_bits, node_last))
);
COMMENT ON TABLE snowflake_ids.created_layout IS
    'the layouts that were created in this database; see the view snowflake_ids.layouts';
COMMENT ON COLUMN snowflake_ids.created_layout.name IS 'name of the layout, as argument of functions';
COMMENT ON COLUMN snowflake_ids.created_layout.epoch IS 'start of tick 0';
COMMENT ON COLUMN snowflake_ids.created_layout.tick IS 'length of a tick';
COMMENT ON COLUMN snowflake_ids.created_layout.timestamp_bits IS 'width of the time, in ticks';
COMMENT ON COLUMN snowflake_ids.created_layout.node_bits IS 'width of the node; 0: none';
COMMENT ON COLUMN snowflake_ids.created_layout.sequence_bits IS 'width of the sequence; 0: none';
COMMENT ON COLUMN snowflake_ids.created_layout.node_last IS 'the node has the lowest bits, below the sequence';
-- A dump has the rows, so that a name decodes the same ids after a restore.
SELECT pg_catalog.pg_extension_config_dump('snowflake_ids.created_layout', '');

CREATE FUNCTION snowflake_ids.layout_keep() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_keep'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.layout_keep() IS 'internal: refuses changes to layouts';
REVOKE ALL ON FUNCTION snowflake_ids.layout_keep() FROM PUBLIC;
CREATE TRIGGER keep BEFORE UPDATE OR DELETE OR TRUNCATE ON snowflake_ids.created_layout
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_ids.layout_keep();
COMMENT ON TRIGGER keep ON snowflake_ids.created_layout IS 'a layout never changes';
-- A subscription applies changes row by row: no statement trigger fires.
CREATE TRIGGER keep_row BEFORE UPDATE OR DELETE ON snowflake_ids.created_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids.layout_keep();
COMMENT ON TRIGGER keep_row ON snowflake_ids.created_layout IS
    'a layout never changes, also if a subscription applies the change';

CREATE FUNCTION snowflake_layout_create(
    name text, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer, sequence_bits integer,
    node_last boolean DEFAULT false
) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_create'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean) IS
    'gives a layout of 64-bit ids a name in this database; node_last: the node has the lowest bits; to allow '
    'it: GRANT EXECUTE ON FUNCTION snowflake_layout_create TO role';
-- Not for PUBLIC, because each layout can use up a slot of the server's ledger: at most 64 per database, together with
-- explicit sno partitions.
REVOKE ALL ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean)
    FROM PUBLIC;
-- A dump always copies into this table, even if there are no rows, so the owner of the database must have the right to
-- restore it (90-privileges.sql). Only users who could create layouts may insert rows.
CREATE TRIGGER restore BEFORE INSERT ON snowflake_ids.created_layout FOR EACH ROW
    WHEN (NOT pg_catalog.has_function_privilege(
        'snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean)'::regprocedure::oid,
        'EXECUTE'))
    EXECUTE FUNCTION snowflake_ids.layout_keep();
COMMENT ON TRIGGER restore ON snowflake_ids.created_layout IS
    'only users who may call snowflake_layout_create() may insert rows';
-- A subscription, or a dump that is restored, may bring a row that is there already.
CREATE FUNCTION snowflake_ids.layout_same() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_same'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids.layout_same() IS 'internal: leaves out a layout that exists';
REVOKE ALL ON FUNCTION snowflake_ids.layout_same() FROM PUBLIC;
CREATE TRIGGER same BEFORE INSERT ON snowflake_ids.created_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_ids.layout_same();
COMMENT ON TRIGGER same ON snowflake_ids.created_layout IS
    'a row that exists is left out, so that two nodes may create the same layout';
-- Also with session_replication_role = replica.
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER keep;
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER keep_row;
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER restore;
ALTER TABLE snowflake_ids.created_layout ENABLE ALWAYS TRIGGER same;

CREATE FUNCTION snowflake_layout_drop(name text) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_drop'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_layout_drop(text) IS
    'drops a created layout, if this server has generated no id with it; to allow it: GRANT EXECUTE ON FUNCTION '
    'snowflake_layout_drop TO role';
REVOKE ALL ON FUNCTION snowflake_layout_drop(text) FROM PUBLIC;

CREATE FUNCTION snowflake_ids.layout_generates(
    epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer, sequence_bits integer,
    node_last boolean)
RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_layout_generates'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.layout_generates(timestamptz, interval, integer, integer, integer, boolean) IS
    'internal: true if gen_snowflake() can draw ids of such a layout while its time runs';

CREATE FUNCTION snowflake_ids.known_layouts(
    OUT name text,
    OUT epoch timestamptz,
    OUT tick interval,
    OUT timestamp_bits integer,
    OUT node_bits integer,
    OUT sequence_bits integer,
    OUT node_last boolean,
    OUT generates boolean,
    OUT description text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'snowflake_ids_known_layouts'
LANGUAGE C STABLE STRICT PARALLEL SAFE ROWS 9;
COMMENT ON FUNCTION snowflake_ids.known_layouts() IS 'the built-in layouts; see the view snowflake_ids.layouts';

CREATE VIEW snowflake_ids.layouts AS
SELECT k.name, k.epoch, k.tick, k.timestamp_bits, k.node_bits, k.sequence_bits, k.node_last, k.generates,
       k.timestamp_bits OPERATOR(pg_catalog.+) k.node_bits OPERATOR(pg_catalog.+) k.sequence_bits
           OPERATOR(pg_catalog.<=) 53 AS javascript_safe,
       false AS created, k.description
FROM snowflake_ids.known_layouts() k
-- A name that was created here before a version had it built in means what was created. An array, so that the planner
-- makes no join of it, which would not keep the order.
WHERE k.name OPERATOR(pg_catalog.<>) ALL (ARRAY(SELECT l.name FROM snowflake_ids.created_layout l))
UNION ALL
SELECT l.name, l.epoch, l.tick, l.timestamp_bits, l.node_bits, l.sequence_bits, l.node_last,
       snowflake_ids.layout_generates(l.epoch, l.tick, l.timestamp_bits, l.node_bits, l.sequence_bits, l.node_last),
       l.timestamp_bits OPERATOR(pg_catalog.+) l.node_bits OPERATOR(pg_catalog.+) l.sequence_bits
           OPERATOR(pg_catalog.<=) 53,
       true, NULL
FROM snowflake_ids.created_layout l;
COMMENT ON VIEW snowflake_ids.layouts IS 'a row per layout that snowflake_decode() and similar functions accept';
COMMENT ON COLUMN snowflake_ids.layouts.name IS 'name of the layout, as argument of functions';
COMMENT ON COLUMN snowflake_ids.layouts.epoch IS 'start of tick 0';
COMMENT ON COLUMN snowflake_ids.layouts.tick IS 'length of a tick';
COMMENT ON COLUMN snowflake_ids.layouts.timestamp_bits IS 'width of the time, in ticks';
COMMENT ON COLUMN snowflake_ids.layouts.node_bits IS 'width of the node; 0: none';
COMMENT ON COLUMN snowflake_ids.layouts.sequence_bits IS 'width of the sequence; 0: none';
COMMENT ON COLUMN snowflake_ids.layouts.node_last IS 'the node has the lowest bits, below the sequence';
COMMENT ON COLUMN snowflake_ids.layouts.generates IS
    'gen_snowflake() can draw ids of this layout, if now is between the first and the last time that they can hold';
COMMENT ON COLUMN snowflake_ids.layouts.javascript_safe IS
    'ids have at most 53 bits, so each is an exact JavaScript number; false: hand them over as strings';
COMMENT ON COLUMN snowflake_ids.layouts.created IS 'created in this database by snowflake_layout_create()';
COMMENT ON COLUMN snowflake_ids.layouts.description IS 'the service that has these ids; null for a created layout';

-- 81-layout_fields.sql
-- Fields of an id of any layout, making an id from fields, bounds of a span of time. The forms with a layout's name
-- look it up in a table and are stable. The forms with the layout's fields at the end are immutable
-- and can be used in indexes and generated columns.

CREATE FUNCTION snowflake_timestamp(id bigint, layout text) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_timestamp' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, text) IS 'time of an id of the layout: the start of its tick';

CREATE FUNCTION snowflake_timestamp(
    id bigint, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer,
    sequence_bits integer, node_last boolean DEFAULT false
) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, timestamptz, interval, integer, integer, integer, boolean) IS
    'time of an id of the layout: the start of its tick; immutable';

CREATE FUNCTION snowflake_decode(id bigint, layout text,
    OUT created timestamptz, OUT node integer, OUT sequence integer)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_decode' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, text) IS 'all fields of an id of the layout';

CREATE FUNCTION snowflake_decode(
    id bigint, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer,
    sequence_bits integer, node_last boolean DEFAULT false,
    OUT created timestamptz, OUT node integer, OUT sequence integer
)
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, timestamptz, interval, integer, integer, integer, boolean) IS
    'all fields of an id of the layout; immutable';

CREATE FUNCTION make_snowflake(layout text, created timestamptz, node integer, sequence integer) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_snowflake(text, timestamptz, integer, integer) IS
    'the id of the layout with these fields; time floored to ticks';

CREATE FUNCTION make_snowflake(
    created timestamptz, node integer, sequence integer, epoch timestamptz, tick interval, timestamp_bits integer,
    node_bits integer, sequence_bits integer, node_last boolean DEFAULT false
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_snowflake' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_snowflake(
    timestamptz, integer, integer, timestamptz, interval, integer, integer, integer, boolean) IS
    'the id of the layout with these fields; time floored to ticks; immutable';

CREATE FUNCTION snowflake_lower_bound(layout text, created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_lower_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_lower_bound(text, timestamptz) IS
    'smallest id of the layout at or after the time; error after its last tick';

CREATE FUNCTION snowflake_lower_bound(
    created timestamptz, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer,
    sequence_bits integer, node_last boolean DEFAULT false
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_lower_bound(timestamptz, timestamptz, interval, integer, integer, integer, boolean) IS
    'smallest id of the layout at or after the time; error after its last tick; immutable';

CREATE FUNCTION snowflake_upper_bound(layout text, created timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_upper_bound' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_upper_bound(text, timestamptz) IS
    'largest id of the layout at or before the time; error before its epoch';

CREATE FUNCTION snowflake_upper_bound(
    created timestamptz, epoch timestamptz, tick interval, timestamp_bits integer, node_bits integer,
    sequence_bits integer, node_last boolean DEFAULT false
) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_upper_bound(timestamptz, timestamptz, interval, integer, integer, integer, boolean) IS
    'largest id of the layout at or before the time; error before its epoch; immutable';

-- 82-layout_generate.sql
-- Generators of any layout. Layouts of the same epoch, tick and widths share one, in all databases of the server.

CREATE FUNCTION gen_snowflake(layout text) RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION gen_snowflake(text) IS 'new id of the layout; node snowflake_ids.machine_id';

CREATE FUNCTION gen_snowflake_series(layout text, count bigint) RETURNS SETOF bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_gen_snowflake_series'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 1000
SUPPORT snowflake_ids.series_support;
COMMENT ON FUNCTION gen_snowflake_series(text, bigint) IS 'count new ids of the layout, streamed';

CREATE FUNCTION snowflake_observe(layout text, id bigint, force boolean DEFAULT false) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_observe'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_observe(text, bigint, boolean) IS
    'after an import: gen_snowflake() never issues at or below the time of this id, if it is of this node; to allow '
    'it: GRANT EXECUTE ON FUNCTION snowflake_observe TO role';
REVOKE ALL ON FUNCTION snowflake_observe(text, bigint, boolean) FROM PUBLIC;

-- 90-privileges.sql
-- Relations give nobody more than SELECT, and the schema gives USAGE. What default privileges have given is taken back:
-- who could write into a relation could move the ids of all databases, and who could create functions in the schema
-- could get others to call them. So are functions that must be granted: those whose privileges this script has changed
-- (pg_init_privs), by REVOKE. Owners of databases may restore layouts, see 80-layouts.sql.
DO $$
DECLARE
    given record;
    path text := pg_catalog.current_setting('search_path');
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR given IN
        SELECT DISTINCT format('%s %s', o.kind, o.name) AS object,
               CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
        FROM (SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, c.oid::regclass::text AS name,
                     c.relacl AS acl, c.relowner AS owner
              FROM pg_class c
              WHERE c.relnamespace = 'snowflake_ids'::regnamespace AND c.relkind IN ('S', 'r', 'v')
              UNION ALL
              SELECT 'SCHEMA', 'snowflake_ids', n.nspacl, n.nspowner
              FROM pg_namespace n
              WHERE n.oid = 'snowflake_ids'::regnamespace
              UNION ALL
              SELECT 'FUNCTION', p.oid::regprocedure::text, p.proacl, p.proowner
              FROM pg_depend d JOIN pg_init_privs i ON i.classoid = d.classid AND i.objoid = d.objid
                   JOIN pg_proc p ON p.oid = d.objid
              WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
                    AND d.refobjid = (SELECT e.oid FROM pg_extension e WHERE e.extname = 'snowflake_ids')) AS o,
             aclexplode(o.acl) AS a
        WHERE a.grantee <> o.owner
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', given.object, given.grantee);
    END LOOP;
    PERFORM pg_catalog.set_config('search_path', path, true);
END $$;
GRANT USAGE ON SCHEMA snowflake_ids TO PUBLIC;
GRANT SELECT ON snowflake_ids.stats, snowflake_ids.unsettled, snowflake_ids.layouts, snowflake_ids.created_layout TO PUBLIC;
GRANT INSERT ON snowflake_ids.created_layout TO pg_database_owner;
