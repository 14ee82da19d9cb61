-- Waiting for rows of a stamped table. See doc/feed.md.

CREATE FUNCTION snowflake_ids_wait(of_table regclass, seen bigint, timeout interval DEFAULT '1 second') RETURNS bigint
AS 'MODULE_PATHNAME', 'snowflake_ids_wait' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_ids_wait(regclass, bigint, interval) IS
    'returns a number that changes when a transaction has committed rows of a stamped table; sleeps while it is still the one "seen", until the timeout';
