-- New columns next to the old ones, filled in batches.

-- The first step: columns and triggers. The default of the key's new column draws ids; the server keeps what it means,
-- wherever the extension goes.
CREATE FUNCTION snowflake_ids_convert.prepare(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    c record;
    passed timestamptz;
BEGIN
    PERFORM snowflake_ids_convert.lock_definitions(j);
    PERFORM snowflake_ids_convert.refuse(j, (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.problems(j) AS p));
    PERFORM snowflake_ids_convert.lock_all(j, 'ACCESS EXCLUSIVE');
    FOR c IN SELECT * FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN %I %s', c.rel, c.shadow, j.type);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET DEFAULT %s', j.relation, j.shadow, j.new_id);
    PERFORM snowflake_ids_convert.make_triggers(j);
    -- Under the lock: what is there is of this time or before, what comes draws ids after it.
    EXECUTE format('SELECT %s.snowflake_ids_pass_now($1)', j.core) INTO passed USING j.format;
    UPDATE snowflake_ids_convert.my_conversion s
    SET issued_after = passed,
        filled = (SELECT jsonb_agg(jsonb_build_array(rel::oid, attnum)) FROM snowflake_ids_convert.columns(j.relation, j.key_attnum))
    WHERE s.relation = j.relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.prepare(snowflake_ids_convert.job) IS 'internal: adds the new columns and their triggers';

CREATE FUNCTION snowflake_ids_convert.silence_triggers(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF NOT j.fire_triggers AND has_parameter_privilege('session_replication_role', 'SET') THEN
        PERFORM set_config('session_replication_role', 'replica', true);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.silence_triggers(snowflake_ids_convert.job) IS 'internal: the tables'' own triggers do not fire in this transaction';

-- One batch of keys, from the given number on. Returns how many rows it wrote. The planner has no statistics of the new
-- column, and would read the whole table to find those that are null: a batch goes from its numbers to the key's index.
CREATE FUNCTION snowflake_ids_convert.fill_keys(j snowflake_ids_convert.job, first bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    rows bigint;
BEGIN
    PERFORM snowflake_ids_convert.silence_triggers(j);
    EXECUTE format('UPDATE ONLY %s AS k SET %I = m.new FROM %s AS m WHERE m.n >= $1 AND m.n < $1 + $2 AND k.%I = m.old AND k.%2$I IS NULL',
                   j.relation, j.shadow, j.map, j.key_column)
    USING first, size;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_keys(snowflake_ids_convert.job, bigint, bigint) IS 'internal: gives a batch of keys their ids';

-- One stretch of blocks of a table that refers to the key. Returns how many rows it wrote.
CREATE FUNCTION snowflake_ids_convert.fill_references(j snowflake_ids_convert.job, target regclass, first bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
AS $$
DECLARE
    assignments text;
    missing text;
    rows bigint;
BEGIN
    SELECT string_agg(format('%I = (SELECT k.%I FROM ONLY %s AS k WHERE k.%I%s = c.%I)', shadow, j.shadow, j.relation, j.key_column,
                             "collate", attname), ', '),
           string_agg(format('c.%I IS NULL AND c.%I IS NOT NULL', shadow, attname), ' OR ')
    INTO assignments, missing FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE rel = target AND NOT is_key;
    PERFORM snowflake_ids_convert.silence_triggers(j);
    EXECUTE format('UPDATE ONLY %s AS c SET %s WHERE c.ctid >= $1 AND c.ctid < $2 AND (%s)', target, assignments, missing)
    USING format('(%s,0)', first)::tid, format('(%s,0)', first + size)::tid;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.fill_references(snowflake_ids_convert.job, regclass, bigint, bigint) IS 'internal: gives rows that refer to the key their new values';

-- Whether rows of a table refer to a key and have no new value.
CREATE FUNCTION snowflake_ids_convert.has_unfilled(j snowflake_ids_convert.job, target regclass) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    found boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s c WHERE %s)', target,
                   (SELECT string_agg(format('%I IS NOT NULL AND %I IS NULL', attname, shadow), ' OR ')
                    FROM snowflake_ids_convert.columns(j.relation, j.key_attnum) WHERE rel = target AND NOT is_key))
    INTO found;
    RETURN found;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.has_unfilled(snowflake_ids_convert.job, regclass) IS 'internal: whether rows that refer to a key have no new value';
