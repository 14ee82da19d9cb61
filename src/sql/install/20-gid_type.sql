-- The type gid: 16 bytes, input and output, type modifier, operators, casts.

CREATE TYPE gid;

CREATE FUNCTION snowflake_ids.gid_in(cstring, oid, integer) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_out(gid) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_recv(internal, oid, integer) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_send(gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_typmod_in(cstring[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_typmod_out(integer) RETURNS cstring
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_typmod_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE gid (
    INPUT = snowflake_ids.gid_in, OUTPUT = snowflake_ids.gid_out, RECEIVE = snowflake_ids.gid_recv, SEND = snowflake_ids.gid_send,
    TYPMOD_IN = snowflake_ids.gid_typmod_in, TYPMOD_OUT = snowflake_ids.gid_typmod_out,
    INTERNALLENGTH = 16, ALIGNMENT = char, STORAGE = plain
);

COMMENT ON TYPE gid IS
    'Graft id, 16 bytes: kind (volume, log, segment), 48 bits of milliseconds since 1970 UTC (to 10889-08-02), '
    '72 bits of which 64 are random; text TIME-RANDOM, 24 characters; gid(volume), gid(log) and gid(segment) take one '
    'kind only';
COMMENT ON FUNCTION snowflake_ids.gid_in(cstring, oid, integer) IS
    'text input of gid: 10 base58 characters, a dash, 13 base58 characters';
COMMENT ON FUNCTION snowflake_ids.gid_out(gid) IS 'text output of gid: 24 characters';
COMMENT ON FUNCTION snowflake_ids.gid_recv(internal, oid, integer) IS 'binary input of gid: 16 bytes';
COMMENT ON FUNCTION snowflake_ids.gid_send(gid) IS 'binary output of gid: 16 bytes';
COMMENT ON FUNCTION snowflake_ids.gid_typmod_in(cstring[]) IS 'type modifier of gid: volume, log or segment';
COMMENT ON FUNCTION snowflake_ids.gid_typmod_out(integer) IS 'text of a type modifier of gid';

-- The server calls this when a value is assigned to a column or variable with a modifier, or cast to a type with one.
-- The cast is explicit like all others: for a cast from a type to itself the server only checks that there is one.

CREATE FUNCTION snowflake_ids.gid(id gid, modifier integer, is_explicit boolean) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_check_modifier' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (gid AS gid) WITH FUNCTION snowflake_ids.gid(gid, integer, boolean);

COMMENT ON FUNCTION snowflake_ids.gid(gid, integer, boolean) IS
    'the gid itself if it is of the kind of the type modifier, else an error';
COMMENT ON CAST (gid AS gid) IS 'checks the kind against the type modifier';

-- Comparison in the order of the 16 bytes: kind, time, rest.

CREATE FUNCTION snowflake_ids.gid_eq(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_eq' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_ne(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ne' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_lt(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_le(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_le' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_gt(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_gt' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_ge(gid, gid) RETURNS boolean
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_ge' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_cmp(gid, gid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_cmp' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_hash(gid) RETURNS integer
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_hash' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_hash_extended(gid, bigint) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_hash_extended' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_ids.gid_eq(gid, gid) IS 'implementation of = operator';
COMMENT ON FUNCTION snowflake_ids.gid_ne(gid, gid) IS 'implementation of <> operator';
COMMENT ON FUNCTION snowflake_ids.gid_lt(gid, gid) IS 'implementation of < operator';
COMMENT ON FUNCTION snowflake_ids.gid_le(gid, gid) IS 'implementation of <= operator';
COMMENT ON FUNCTION snowflake_ids.gid_gt(gid, gid) IS 'implementation of > operator';
COMMENT ON FUNCTION snowflake_ids.gid_ge(gid, gid) IS 'implementation of >= operator';
COMMENT ON FUNCTION snowflake_ids.gid_cmp(gid, gid) IS 'less-equal-greater: negative, 0 or positive';
COMMENT ON FUNCTION snowflake_ids.gid_hash(gid) IS 'hash';
COMMENT ON FUNCTION snowflake_ids.gid_hash_extended(gid, bigint) IS 'hash with a seed, 64 bits';

CREATE OPERATOR = (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES
);
CREATE OPERATOR <> (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
CREATE OPERATOR < (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_lt, COMMUTATOR = >, NEGATOR = >=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarltjoinsel
);
CREATE OPERATOR <= (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_le, COMMUTATOR = >=, NEGATOR = >,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalarlejoinsel
);
CREATE OPERATOR > (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_gt, COMMUTATOR = <, NEGATOR = <=,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargtjoinsel
);
CREATE OPERATOR >= (
    LEFTARG = gid, RIGHTARG = gid, FUNCTION = snowflake_ids.gid_ge, COMMUTATOR = <=, NEGATOR = <,
    RESTRICT = snowflake_ids.id_ineqsel, JOIN = scalargejoinsel
);

COMMENT ON OPERATOR = (gid, gid) IS 'equal';
COMMENT ON OPERATOR <> (gid, gid) IS 'not equal';
COMMENT ON OPERATOR < (gid, gid) IS 'less than: kind, then time, then the remaining bytes';
COMMENT ON OPERATOR <= (gid, gid) IS 'less than or equal';
COMMENT ON OPERATOR > (gid, gid) IS 'greater than: kind, then time, then the remaining bytes';
COMMENT ON OPERATOR >= (gid, gid) IS 'greater than or equal';

-- Casts, all explicit. The cast to uuid does nothing: the same 16 bytes in the same order.

CREATE FUNCTION snowflake_ids.gid_to_bytea(id gid) RETURNS bytea
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_to_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_from_bytea(id bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION snowflake_ids.gid_from_uuid(id uuid) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_from_uuid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION snowflake_ids.gid_to_bytea(gid) IS 'the 16 bytes of a gid';
COMMENT ON FUNCTION snowflake_ids.gid_from_bytea(bytea) IS 'the gid with these 16 bytes';
COMMENT ON FUNCTION snowflake_ids.gid_from_uuid(uuid) IS 'the gid with the 16 bytes of the uuid';

CREATE CAST (gid AS bytea) WITH FUNCTION snowflake_ids.gid_to_bytea(gid);
CREATE CAST (bytea AS gid) WITH FUNCTION snowflake_ids.gid_from_bytea(bytea);
CREATE CAST (gid AS uuid) WITHOUT FUNCTION;
CREATE CAST (uuid AS gid) WITH FUNCTION snowflake_ids.gid_from_uuid(uuid);

COMMENT ON CAST (gid AS bytea) IS 'the 16 bytes';
COMMENT ON CAST (bytea AS gid) IS 'from exactly 16 bytes that are a gid';
COMMENT ON CAST (gid AS uuid) IS 'the 16 bytes';
COMMENT ON CAST (uuid AS gid) IS 'from 16 bytes that are a gid';
