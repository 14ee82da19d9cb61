-- Adds new columns next to the old ones, and fills them in batches.

CREATE FUNCTION snowflake_ids_convert.prepare(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(job);
    PERFORM snowflake_ids_convert.refuse(job, ARRAY(SELECT snowflake_ids_convert.problems(job)));
    PERFORM snowflake_ids_convert.lock_all(job, 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('ALTER TABLE %s ADD COLUMN %I %s', rel, shadow, job.type)
        FROM snowflake_ids_convert.columns(job)));
    -- The default survives a rename of its function's schema, because PostgreSQL stores the function's oid.
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', job.relation, job.shadow, job.new_id);
    PERFORM snowflake_ids_convert.make_triggers(job);
    -- No row can be inserted while the lock is held. So existing rows have this time or an earlier one, and every new
    -- row gets a later id.
    job.issued_after := snowflake_ids.pass_now(job.format);
    job.phase := 'number';
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.prepare IS 'internal: phase prepare: adds the new columns and their triggers';

CREATE FUNCTION snowflake_ids_convert.silence_triggers(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    -- No trigger may wait for the commit, because the role is the caller's again by then.
    SET CONSTRAINTS ALL IMMEDIATE;
    IF NOT job.fire_triggers AND has_parameter_privilege('session_replication_role', 'SET') THEN
        PERFORM set_config('session_replication_role', 'replica', true);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.silence_triggers
    IS 'internal: keeps the tables'' own triggers from firing in this transaction';

-- Without statistics of the new column, the planner would read the whole table for null values. These settings make it
-- read a batch of the map by number, and find the keys by index.
CREATE FUNCTION snowflake_ids_convert.fill_keys(job snowflake_ids_convert.job, first bigint, size bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    rows bigint;
BEGIN
    PERFORM snowflake_ids_convert.silence_triggers(job);
    EXECUTE format('UPDATE ONLY %s AS k
                    SET %I = m.new
                    FROM %s AS m
                    WHERE m.n >= $1 AND m.n < $1 + $2 AND k.%I = m.old AND k.%2$I IS NULL',
                   job.relation, job.shadow, job.map, job.key_column)
    USING first, size;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_keys
    IS 'internal: writes the ids of a batch of keys, from a number on; returns the number of rows';

CREATE FUNCTION snowflake_ids_convert.fill_references(
    job snowflake_ids_convert.job, target regclass, first bigint, size bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    assignments text;
    unfilled text;
    rows bigint;
BEGIN
    SELECT string_agg(format('%I = (SELECT k.%I FROM ONLY %s AS k WHERE k.%I%s = c.%I)', shadow, job.shadow,
                             job.relation, job.key_column, "collate", attname), ', '),
           string_agg(format('c.%I IS NULL AND c.%I IS NOT NULL', shadow, attname), ' OR ')
    INTO assignments, unfilled
    FROM snowflake_ids_convert.columns(job)
    WHERE rel = target AND NOT is_key;
    PERFORM snowflake_ids_convert.silence_triggers(job);
    EXECUTE format('UPDATE ONLY %s AS c SET %s WHERE c.ctid >= $1 AND c.ctid < $2 AND (%s)', target, assignments,
                   unfilled)
    USING format('(%s,0)', first)::tid, format('(%s,0)', first + size)::tid;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_references
    IS 'internal: writes the new values of references in a range of blocks; returns the number of rows';
