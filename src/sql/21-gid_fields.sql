CREATE FUNCTION gid_timestamp(id gid) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_timestamp(gid) IS
    'the time of a gid, in milliseconds, from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00';

CREATE FUNCTION gid_kind(id gid) RETURNS text
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_kind' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_kind(gid) IS 'the kind of a gid: volume, log or segment';

CREATE FUNCTION gid_random(id gid) RETURNS bytea IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(id::bytea, 9);
COMMENT ON FUNCTION gid_random(gid) IS 'the 64 random bits of a gid: its bytes 8 to 15';

CREATE FUNCTION gid_short(id gid) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(id::text, 12);
COMMENT ON FUNCTION gid_short(gid) IS
    'the text of a gid after the dash';

CREATE FUNCTION gid_decode(id gid, OUT kind text, OUT created timestamptz, OUT random bytea)
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_decode(gid) IS 'the kind, the time and the random bits of a gid';

CREATE FUNCTION make_gid(kind text, created timestamptz, random bytea) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_make_gid' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION make_gid(text, timestamptz, bytea) IS
    'the gid with these fields; the time is rounded down to milliseconds; random has 8 bytes';

-- Graft's EMPTY. Its byte 7 is 0x80 for each kind, and not a copy of the prefix.
CREATE FUNCTION gid_empty(kind text) RETURNS gid IMMUTABLE STRICT PARALLEL SAFE
    RETURN overlay(make_gid(kind, '1970-01-01 00:00:00+00', E'\\x0000000000000000')::bytea
        PLACING E'\\x80' FROM 8)::gid;
COMMENT ON FUNCTION gid_empty(text) IS
    'the gid of a kind with the time 0 and no random bits';

CREATE FUNCTION gid_is_empty(id gid) RETURNS boolean IMMUTABLE STRICT PARALLEL SAFE
    RETURN substr(id::bytea, 2) = E'\\x000000000000800000000000000000';
COMMENT ON FUNCTION gid_is_empty(gid) IS 'true for an empty gid';

CREATE FUNCTION gid_lower_bound(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_lower_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_lower_bound(text, timestamptz) IS
    'the smallest gid of this kind, of this time or a later one; error after 10889-08-02 05:31:50.655+00';

CREATE FUNCTION gid_upper_bound(kind text, created timestamptz) RETURNS gid
    AS 'MODULE_PATHNAME', 'snowflake_ids_gid_upper_bound' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION gid_upper_bound(text, timestamptz) IS
    'the largest gid of this kind, of this time or an earlier one; error before 1970-01-01 00:00:00+00';

CREATE CAST (gid AS timestamptz) WITH FUNCTION gid_timestamp(gid);
COMMENT ON CAST (gid AS timestamptz) IS 'the time of the id, in milliseconds';
