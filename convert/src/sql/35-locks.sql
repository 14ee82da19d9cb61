-- Locks the tables of a conversion.

-- Others can write to the tables but not alter them. Writers do not queue behind this lock.
CREATE FUNCTION snowflake_ids_convert.lock_definitions(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', rel)
        FROM snowflake_ids_convert.tables(job)));
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_definitions
    IS 'internal: prevents others from altering the tables of a conversion';

-- While a strong lock waits, other sessions queue behind it. So the request for each of n tables waits at most
-- 50 / n ms (not less than 5 ms). After a pause, all are repeated. The caller's lock_timeout limits the whole time; 0
-- means no limit.
CREATE FUNCTION snowflake_ids_convert.lock_writers_out(tables regclass[], mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    time_limit text := current_setting('lock_timeout');
    begun timestamptz := clock_timestamp();
    last_notice timestamptz := begun;
    pause float8 := 0.05;
    target regclass;
BEGIN
    PERFORM set_config('lock_timeout', greatest(5, 50 / greatest(cardinality(tables), 1)) || 'ms', true);
    LOOP
        BEGIN
            FOREACH target IN ARRAY tables LOOP
                EXECUTE format('LOCK TABLE ONLY %s IN %s MODE', target, mode);
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF time_limit <> '0' AND clock_timestamp() - begun > time_limit::interval THEN
                PERFORM snowflake_ids_convert.fail(
                    '55P03', format('could not lock %s within lock_timeout', target),
                    detail => format('Other transactions have used the table for %s.', time_limit),
                    hint => 'Call again when they have ended, or increase lock_timeout. pg_locks shows them.');
            ELSIF clock_timestamp() - last_notice > interval '10 s' THEN
                last_notice := clock_timestamp();
                RAISE NOTICE 'waiting for transactions that use %', target;
            END IF;
        END;
        PERFORM pg_sleep(pause * (0.5 + random()));
        pause := least(pause * 2, 1);
    END LOOP;
    PERFORM set_config('lock_timeout', time_limit, true);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_writers_out
    IS 'internal: takes a strong lock; others wait behind the requests for at most 50 ms, or 5 ms per table';

CREATE FUNCTION snowflake_ids_convert.lock_all(job snowflake_ids_convert.job, mode text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_writers_out(
        ARRAY(SELECT rel FROM snowflake_ids_convert.tables(job)), mode);
    -- From here on, no other role can add a foreign key to the key.
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.owner_problems(job)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.lock_all IS 'internal: takes a strong lock on all tables of a conversion';
