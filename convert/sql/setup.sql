-- Runs first: creates the extension and what the other tests share.
SET client_min_messages = warning;
CREATE EXTENSION snowflake_ids_convert CASCADE;
\i sql/include/shared.psql

-- After a start, a server's ids are ahead of the clock. The other tests begin when the clock has caught up.
DO $$
BEGIN
    PERFORM gen_mastic();
    WHILE (SELECT max(clock_lead) > 0 FROM snowflake_ids.stats) LOOP
        PERFORM pg_sleep(0.05);
    END LOOP;
END $$;
