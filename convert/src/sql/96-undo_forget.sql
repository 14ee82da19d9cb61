-- Undoes a conversion, or forgets a finished one: drops its map and its state.

-- Keeps a table with the map's name that another role owns.
CREATE FUNCTION snowflake_ids_convert.drop_map(target regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF snowflake_ids_convert.map_of(target) IS NOT NULL THEN
        EXECUTE format('DROP TABLE %s', snowflake_ids_convert.map_of(target));
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion c WHERE c.relation = target;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_map IS 'internal: drops the map and the state of a conversion';

CREATE FUNCTION snowflake_ids_convert.undo_as_owner(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    state snowflake_ids_convert.job := snowflake_ids_convert.state_of(relation, true);
    statements text[];
BEGIN
    IF state.relation IS NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('%s is not being converted', relation),
            detail => 'It has no conversion that you may undo.');
    ELSIF state.phase IN ('validate', 'done') THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot undo the conversion of %s', relation),
            detail => 'The new keys are in place.',
            hint => CASE state.phase WHEN 'validate' THEN 'Repeat the call of snowflake_ids_convert() to finish it.' END);
    END IF;
    PERFORM snowflake_ids_convert.lock_writers_out(
        ARRAY(SELECT relation UNION SELECT a.rel FROM snowflake_ids_convert.added_columns(relation) a),
        'ACCESS EXCLUSIVE');
    statements := ARRAY(SELECT format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, DROP COLUMN %I', a.rel,
                                      'snowflake_ids_check_' || a.attnum, a.shadow)
                        FROM snowflake_ids_convert.added_columns(relation) a);
    PERFORM snowflake_ids_convert.drop_triggers(relation);
    PERFORM snowflake_ids_convert.run(statements);
    PERFORM snowflake_ids_convert.drop_map(relation);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.undo_as_owner
    IS 'internal: removes the new columns, what depends on them, the map and the state';

CREATE FUNCTION snowflake_ids_convert_undo(relation regclass) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_undo(regclass)
    IS 'undoes a conversion; possible until the changeover; tables of other roles, and triggers that they made, stay';

CREATE FUNCTION snowflake_ids_convert.forget_as_owner(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    state snowflake_ids_convert.job := snowflake_ids_convert.state_of(relation, true);
BEGIN
    IF state.relation IS NULL OR state.phase <> 'done' THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('there is no finished conversion of %s', relation),
            detail => CASE WHEN state.relation IS NULL
                                THEN 'It has no conversion that you may forget.'
                                ELSE 'Its conversion is not finished.'
                           END);
    END IF;
    PERFORM snowflake_ids_convert.refuse_unfinished(relation);
    PERFORM snowflake_ids_convert.drop_map(relation);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.forget_as_owner
    IS 'internal: drops the map and the state of a finished conversion';

CREATE FUNCTION snowflake_ids_convert_forget(relation regclass) RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_as_owner' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_ids_convert_forget(regclass)
    IS 'drops the table of old and new keys of a finished conversion, and its state';
