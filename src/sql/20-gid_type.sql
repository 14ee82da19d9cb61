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
    'Graft id, 16 bytes: kind (volume, log, segment), 48 bits of milliseconds since 1970 UTC (to 10889-08-02), 72 bits of which 64 are random; text TIME-RANDOM, 24 characters; gid(volume), gid(log) and gid(segment) take one kind only';

-- The server calls this when a value gets a modifier. The cast is explicit: for a cast from a type to itself the server
-- only checks that it exists.

CREATE FUNCTION snowflake_ids.gid(id gid, modifier integer, is_explicit boolean) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_check_modifier' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid(gid, integer, boolean) IS
    'the gid itself if it has the kind of the type modifier, otherwise an error';

CREATE CAST (gid AS gid) WITH FUNCTION snowflake_ids.gid(gid, integer, boolean);

COMMENT ON CAST (gid AS gid) IS 'checks the kind against the type modifier';

-- For the comparison and the operator classes see 35-id_order.sql.

CREATE FUNCTION snowflake_ids.gid_hash(gid) RETURNS integer
    AS 'uuid_hash' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_hash(gid) IS 'hash';

CREATE FUNCTION snowflake_ids.gid_hash_extended(gid, bigint) RETURNS bigint
    AS 'uuid_hash_extended' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_hash_extended(gid, bigint) IS 'hash with a seed, 64 bits';

-- All casts are explicit. The cast to uuid keeps the 16 bytes.

CREATE FUNCTION snowflake_ids.gid_from_bytea(id bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.gid_from_bytea(bytea) IS 'the gid with these 16 bytes';

CREATE FUNCTION snowflake_ids.gid_from_uuid(id uuid) RETURNS gid IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowflake_ids.gid_from_bytea(uuid_send(id));
COMMENT ON FUNCTION snowflake_ids.gid_from_uuid(uuid) IS 'the gid with the 16 bytes of the uuid';

CREATE CAST (gid AS bytea) WITH FUNCTION snowflake_ids.gid_send(gid);
CREATE CAST (bytea AS gid) WITH FUNCTION snowflake_ids.gid_from_bytea(bytea);
CREATE CAST (gid AS uuid) WITHOUT FUNCTION;
CREATE CAST (uuid AS gid) WITH FUNCTION snowflake_ids.gid_from_uuid(uuid);

COMMENT ON CAST (gid AS bytea) IS 'the 16 bytes';
COMMENT ON CAST (bytea AS gid) IS 'from exactly 16 bytes that are a gid';
COMMENT ON CAST (gid AS uuid) IS 'the 16 bytes';
COMMENT ON CAST (uuid AS gid) IS 'from 16 bytes that are a gid';
