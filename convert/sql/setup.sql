-- Runs first: creates the extension and what the other tests share.
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids_convert CASCADE;
\i sql/include/shared.psql

-- After a start, a server's ids are ahead of the clock. The other tests begin without that lead. No id of this server is
-- in use, so a reset by force may take the lead away.
DO $$
BEGIN
    PERFORM gen_mastic();
    PERFORM snowflake_ids.reset(clock_timestamp() - interval '1 s', force => true);
END $$;
SELECT format, machine_id, clock_lead FROM snowflake_ids.stats WHERE clock_lead > 0;
