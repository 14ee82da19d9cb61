-- Runs first: the extension, and what the other tests share.
CREATE EXTENSION snowflake_ids;

\i sql/include/shared.psql

-- The SQLSTATE with which bytes are refused as the text of a type. Bytes that are no text of this
-- database (NUL, broken UTF-8) do not get that far: 22021.
CREATE FUNCTION text_state(bytes bytea, expression text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT ' || expression, convert_from(bytes, 'UTF8'));
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- The same for bytes as they are.
CREATE FUNCTION bytes_state(bytes bytea, type text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT $1::%s', type) USING bytes;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;

-- A server begins its ids ahead of the clock. The other tests begin when that lead is over.
DO $$
BEGIN
    PERFORM gen_mastic();
    WHILE (SELECT max(clock_lead) > 0 FROM snowflake_ids.stats) LOOP
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;
