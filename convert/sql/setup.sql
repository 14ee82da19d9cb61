-- Runs first.
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids_convert CASCADE;
\i sql/include/shared.psql

-- As in sql/setup.sql.
DO $$
BEGIN
    PERFORM gen_mastic();
    PERFORM snowflake_ids.reset(clock_timestamp() - interval '1 s', force => true);
END $$;
SELECT format, machine_id, clock_lead FROM snowflake_ids.stats WHERE clock_lead > 0;
