-- Undoing a conversion, and forgetting a finished one.

-- A table that belongs to another role is left as it is.
CREATE FUNCTION snowflake_ids_convert.drop_columns(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    col record;
BEGIN
    FOR col IN
        SELECT a.rel, a.attnum, a.shadow
        FROM snowflake_ids_convert.added_columns(job.relation) a
             JOIN pg_class c ON c.oid = a.rel AND pg_has_role(c.relowner, 'USAGE')
    LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, DROP COLUMN %I', col.rel,
                       'snowflake_ids_check_' || col.attnum, col.shadow);
    END LOOP;
    IF job.map IS NOT NULL THEN
        EXECUTE format('DROP TABLE %s', job.map);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_columns(snowflake_ids_convert.job)
    IS 'internal: removes the new columns, what depends on them, and the map';

CREATE FUNCTION snowflake_ids_convert.refuse_undo(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    map_owner name := (SELECT pg_get_userbyid(relowner)
                       FROM pg_class
                       WHERE oid = job.map AND NOT pg_has_role(relowner, 'USAGE'));
BEGIN
    IF map_owner IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '42501', format('cannot undo the conversion of %s', job.relation),
            detail => format('The owner of table %s is %I.', job.map, map_owner),
            hint => 'Give it to the owner of the converted table, or have a superuser undo the conversion.');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse_undo(snowflake_ids_convert.job)
    IS 'internal: error if the map belongs to another role';

-- Includes tables that no longer refer to the key. Tables that belong to another role are not included.
CREATE FUNCTION snowflake_ids_convert.tables_to_undo(job snowflake_ids_convert.job) RETURNS regclass[]
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ARRAY(SELECT t.rel
                 FROM snowflake_ids_convert.tables(job.relation, job.key_attnum) t
                      JOIN pg_class c ON c.oid = t.rel AND pg_has_role(c.relowner, 'USAGE')
                 UNION
                 SELECT c.oid::regclass
                 FROM snowflake_ids_convert.my_conversion s
                      CROSS JOIN LATERAL jsonb_array_elements(s.filled) AS pair
                      JOIN pg_class c ON c.oid = (pair ->> 0)::oid AND pg_has_role(c.relowner, 'USAGE')
                 WHERE s.relation = job.relation)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.tables_to_undo(snowflake_ids_convert.job)
    IS 'internal: tables that an undo alters';

-- Undoing runs no code of the tables, so a superuser may call this.
CREATE FUNCTION snowflake_ids_convert_undo(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    state snowflake_ids_convert.conversion;
    job snowflake_ids_convert.job;
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(jsonb_build_object('relation', relation));
    state := snowflake_ids_convert.lock_state(relation);
    IF state.relation IS NULL OR state.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('%s is not being converted', relation),
            detail => CASE WHEN state.relation IS NULL
                                THEN 'It has no conversion that you may undo.'
                                ELSE 'The changeover is done, and the old keys are gone.'
                           END);
    END IF;
    job := snowflake_ids_convert.job_of(relation);
    PERFORM snowflake_ids_convert.refuse_undo(job);
    PERFORM snowflake_ids_convert.lock_writers_out(snowflake_ids_convert.tables_to_undo(job), 'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.drop_triggers(relation);
    PERFORM snowflake_ids_convert.drop_columns(job);
    DELETE FROM snowflake_ids_convert.my_conversion c WHERE c.relation = snowflake_ids_convert_undo.relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_undo(regclass)
    IS 'undoes a conversion; possible until the changeover';

CREATE FUNCTION snowflake_ids_convert_forget(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    state snowflake_ids_convert.conversion;
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(jsonb_build_object('relation', relation));
    state := snowflake_ids_convert.lock_state(relation);
    IF state.relation IS NULL OR state.phase <> 'done' THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('there is no finished conversion of %s', relation),
            detail => CASE WHEN state.relation IS NULL
                                THEN 'It has no conversion that you may forget.'
                                ELSE 'Its conversion is not finished.'
                           END);
    END IF;
    IF state.map IN (SELECT oid FROM pg_class) THEN
        EXECUTE format('DROP TABLE %s', state.map);
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion c WHERE c.relation = snowflake_ids_convert_forget.relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_forget(regclass)
    IS 'drops the table of old and new keys of a finished conversion, and its state';
