-- Waiting for rows of a stamped table. See doc/feed.md.

CREATE FUNCTION sno_wait(of_table regclass, last sno, timeout interval DEFAULT '30 seconds') RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_sno_wait' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION sno_wait(regclass, sno, interval) IS
    'sleeps until sno_settled(of_table) may have passed new rows after last, and returns true; false after the timeout';

CREATE FUNCTION mastic_wait(of_table regclass, last mastic, timeout interval DEFAULT '30 seconds') RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_mastic_wait' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION mastic_wait(regclass, mastic, interval) IS
    'sleeps until mastic_settled(of_table) may have passed new rows after last, and returns true; false after the timeout';

CREATE FUNCTION snowflake_si_wait(of_table regclass, last bigint, timeout interval DEFAULT '30 seconds') RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_si_wait' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_si_wait(regclass, bigint, interval) IS
    'sleeps until snowflake_si_settled(of_table) may have passed new rows after last, and returns true; false after the timeout';

CREATE FUNCTION snowflake_wait(layout text, of_table regclass, last bigint, timeout interval DEFAULT '30 seconds')
RETURNS boolean
AS 'MODULE_PATHNAME', 'snowflake_ids_snowflake_wait' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_wait(text, regclass, bigint, interval) IS
    'sleeps until snowflake_settled(layout, of_table) may have passed new rows after last, and returns true; false after the timeout';
