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
    'sno id, 10 bytes: 39 bits of 4 ms units since 2010-01-01 UTC (to 2079-09-07), tick-tock bit, 8-bit metabyte, 16-bit partition, 16-bit sequence; text [2-9a-x]{16}';

-- For the comparison and the operator classes see 35-id_order.sql.

CREATE FUNCTION snowflake_ids.sno_hash(sno) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_hash(sno) IS 'hash';

CREATE FUNCTION snowflake_ids.sno_hash_extended(sno, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_hash_extended(sno, bigint) IS 'hash with a seed, 64 bits';

-- All casts are explicit. A uuid has the 16 characters of the text, as the sno document says; a bytea has the 10 bytes.

CREATE FUNCTION snowflake_ids.sno_from_bytea(id bytea) RETURNS sno
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.sno_from_bytea(bytea) IS 'the sno with these 10 bytes';

CREATE FUNCTION snowflake_ids.sno_to_uuid(id sno) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE
    RETURN encode(decode(id::text, 'escape'), 'hex')::uuid;
COMMENT ON FUNCTION snowflake_ids.sno_to_uuid(sno) IS
    'the 16 text characters of a sno as the 16 bytes of a uuid; same order';

CREATE FUNCTION snowflake_ids.sno_from_uuid(id uuid) RETURNS sno IMMUTABLE STRICT PARALLEL SAFE
    RETURN encode(uuid_send(id), 'escape')::sno;
COMMENT ON FUNCTION snowflake_ids.sno_from_uuid(uuid) IS 'the sno whose 16 text characters are the bytes of the uuid';

CREATE CAST (sno AS bytea) WITH FUNCTION snowflake_ids.sno_send(sno);
CREATE CAST (bytea AS sno) WITH FUNCTION snowflake_ids.sno_from_bytea(bytea);
CREATE CAST (sno AS uuid) WITH FUNCTION snowflake_ids.sno_to_uuid(sno);
CREATE CAST (uuid AS sno) WITH FUNCTION snowflake_ids.sno_from_uuid(uuid);

COMMENT ON CAST (sno AS bytea) IS 'the 10 bytes';
COMMENT ON CAST (bytea AS sno) IS 'from exactly 10 bytes';
COMMENT ON CAST (sno AS uuid) IS 'the 16 text characters as 16 bytes';
COMMENT ON CAST (uuid AS sno) IS 'from the 16 text characters as 16 bytes';
