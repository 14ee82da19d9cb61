-- Runs first.
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids_convert CASCADE;
\i sql/include/shared.psql

-- After a start, ids are ahead of the clock. This resets the lead, which is safe because no id of this server is in
-- use.
DO $$
BEGIN
    PERFORM gen_mastic();
    PERFORM snowflake_ids.reset(clock_timestamp() - interval '1 s', force => true);
END $$;
SELECT format, machine_id, clock_lead FROM snowflake_ids.stats WHERE clock_lead > 0;
