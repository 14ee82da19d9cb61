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
    'Mastic snowflake, 8 bytes: 48 bits of milliseconds since 2026-01-01 UTC (to 10945-08-03), 16-bit sequence; text 0 to 18446744073709551615';

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
COMMENT ON FUNCTION snowflake_ids.mastic_from_smallint(smallint) IS
    'the mastic with the bits of the number as a bigint';

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
COMMENT ON CAST (integer AS mastic) IS 'the same as the cast from bigint';
COMMENT ON CAST (smallint AS mastic) IS 'the same as the cast from bigint';
COMMENT ON CAST (mastic AS bigint) IS 'the same 64 bits: an id above 2^63 is a negative number';
COMMENT ON CAST (mastic AS numeric) IS 'the unsigned number';
COMMENT ON CAST (numeric AS mastic) IS 'from 0 to 18446744073709551615, rounded to a whole number';
