-- The type mastic: 8 bytes, input and output, operators, casts.
--
-- Laid out as bigint, and compared without a sign. Where the sign makes no difference its functions are those of
-- bigint.

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

-- In the category of numbers, so that UNION, COALESCE and USING find mastic as the common type with bigint.
CREATE TYPE mastic (
    INPUT = snowflake_ids.mastic_in, OUTPUT = snowflake_ids.mastic_out, RECEIVE = snowflake_ids.mastic_recv, SEND = snowflake_ids.mastic_send,
    LIKE = pg_catalog.int8, CATEGORY = 'N'
);

COMMENT ON TYPE mastic IS
    'Mastic snowflake, 8 bytes: 48 bits of milliseconds since 2026-01-01 UTC (to 10945-08-03), 16-bit sequence; text 0 to 18446744073709551615';

-- For the comparison and the operator classes see 35-id_order.sql.

-- The hash functions are those of bigint, because PostgreSQL hashes a list (id = ANY (bigint[])) only with one function
-- for both types.

CREATE FUNCTION snowflake_ids.mastic_hash(mastic) RETURNS integer
    AS 'hashint8' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_hash(mastic) IS 'hash of a mastic or a bigint';

CREATE FUNCTION snowflake_ids.mastic_hash_extended(mastic, bigint) RETURNS bigint
    AS 'hashint8extended' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_hash_extended(mastic, bigint) IS
    'hash of a mastic or a bigint with a seed, 64 bits';

-- Casts keep the number. Only that from bigint is implicit, so that functions of mastics take a bigint column;
-- 71-mastic_bigint.sql compares integers. No cast to json: JSON then has a string, which JavaScript does not round.

CREATE FUNCTION snowflake_ids.mastic_from_bigint(id bigint) RETURNS mastic
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_from_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_from_bigint(bigint) IS 'the mastic of this number; error below 0';

CREATE FUNCTION snowflake_ids.mastic_from_integer(id integer) RETURNS mastic IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowflake_ids.mastic_from_bigint(id);
COMMENT ON FUNCTION snowflake_ids.mastic_from_integer(integer) IS 'the mastic of this number; error below 0';

CREATE FUNCTION snowflake_ids.mastic_from_smallint(id smallint) RETURNS mastic IMMUTABLE STRICT PARALLEL SAFE
    RETURN snowflake_ids.mastic_from_bigint(id);
COMMENT ON FUNCTION snowflake_ids.mastic_from_smallint(smallint) IS 'the mastic of this number; error below 0';

CREATE FUNCTION snowflake_ids.mastic_to_bigint(id mastic) RETURNS bigint
    AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_to_bigint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids.mastic_to_bigint(mastic) IS 'the number of a mastic; error above 9223372036854775807';

CREATE FUNCTION snowflake_ids.mastic_from_numeric(id numeric) RETURNS mastic IMMUTABLE STRICT PARALLEL SAFE
    RETURN round(id)::text::mastic;
COMMENT ON FUNCTION snowflake_ids.mastic_from_numeric(numeric) IS
    'the mastic of this number, rounded to a whole one; error outside 0 to 18446744073709551615';

CREATE CAST (bigint AS mastic) WITH FUNCTION snowflake_ids.mastic_from_bigint(bigint) AS IMPLICIT;
CREATE CAST (integer AS mastic) WITH FUNCTION snowflake_ids.mastic_from_integer(integer) AS ASSIGNMENT;
CREATE CAST (smallint AS mastic) WITH FUNCTION snowflake_ids.mastic_from_smallint(smallint) AS ASSIGNMENT;
CREATE CAST (mastic AS bigint) WITH FUNCTION snowflake_ids.mastic_to_bigint(mastic) AS ASSIGNMENT;
CREATE CAST (mastic AS numeric) WITH INOUT;
CREATE CAST (numeric AS mastic) WITH FUNCTION snowflake_ids.mastic_from_numeric(numeric);

COMMENT ON CAST (bigint AS mastic) IS 'the number; error below 0';
COMMENT ON CAST (integer AS mastic) IS 'the number; error below 0';
COMMENT ON CAST (smallint AS mastic) IS 'the number; error below 0';
COMMENT ON CAST (mastic AS bigint) IS 'the number; error above 9223372036854775807';
COMMENT ON CAST (mastic AS numeric) IS 'the unsigned number';
COMMENT ON CAST (numeric AS mastic) IS 'from 0 to 18446744073709551615, rounded to a whole number';
