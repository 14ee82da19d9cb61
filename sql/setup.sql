-- Runs first: the extension, and what the other tests share.
CREATE EXTENSION snowflake_ids;

\i sql/include/shared.psql

-- The SQLSTATE of bytes as the text of a type. NUL and broken UTF-8 fail earlier, with 22021.
CREATE FUNCTION text_state(bytes bytea, expression text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT ' || expression, convert_from(bytes, 'UTF8'));
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

CREATE FUNCTION bytes_state(bytes bytea, type text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT $1::%s', type) USING bytes;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- After a start, ids are ahead of the clock. This resets the lead, which is safe because no id of this server is in
-- use.
DO $$
BEGIN
    PERFORM gen_mastic();
    PERFORM snowflake_ids.reset(clock_timestamp() - interval '1 s', force => true);
END $$;
SELECT format, machine_id, clock_lead FROM snowflake_ids.stats WHERE clock_lead > 0;
