-- Giving up, and forgetting.

-- Removes new columns and what was made on them. Tables of others are not touched, unless they were given away since.
CREATE FUNCTION snowflake_ids_convert.drop_columns(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT n.attrelid::regclass AS rel, f.attnum, n.attname AS shadow
             FROM snowflake_ids_convert.my_conversion s
                  CROSS JOIN LATERAL (SELECT (x ->> 0)::oid, (x ->> 1)::int2 FROM jsonb_array_elements(s.filled) AS x) AS f (rel, attnum)
                  JOIN pg_attribute n ON n.attrelid = f.rel AND n.attname = 'snowflake_ids_new_' || f.attnum AND NOT n.attisdropped
                  JOIN pg_class p ON p.oid = f.rel AND pg_has_role(p.relowner, 'USAGE')
             WHERE s.relation = j.relation LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, DROP COLUMN %I', c.rel, 'snowflake_ids_check_' || c.attnum, c.shadow);
    END LOOP;
    IF j.map IS NOT NULL THEN
        EXECUTE format('DROP TABLE %s', j.map);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_columns(snowflake_ids_convert.job) IS 'internal: removes what a conversion has made';

-- Who gives up runs no code of the tables, and may be a superuser.
CREATE FUNCTION snowflake_ids_convert_undo(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    s snowflake_ids_convert.conversion;
    j snowflake_ids_convert.job;
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(jsonb_build_object('relation', relation));
    s := snowflake_ids_convert.lock_state(relation);
    IF s.relation IS NULL OR s.phase IN ('validate', 'done') THEN
        RAISE EXCEPTION '% is not being converted', relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN s.relation IS NULL THEN 'No conversion of it that you may undo was begun.'
                                ELSE 'Its new keys are in place, and the old ones are gone.' END;
    END IF;
    j := snowflake_ids_convert.job_of(relation);
    IF EXISTS (SELECT FROM pg_class WHERE oid = j.map AND NOT pg_has_role(relowner, 'USAGE')) THEN
        RAISE EXCEPTION 'cannot give up converting %', relation
            USING ERRCODE = 'insufficient_privilege', DETAIL = format('table %s belongs to %I', j.map, (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = j.map)),
                  HINT = 'Give it the owner that the table has now, or let a superuser call.';
    END IF;
    -- Tables of others that refer to the key are none of it.
    PERFORM snowflake_ids_convert.lock_writers_out(ARRAY(
        SELECT t.rel FROM snowflake_ids_convert.tables(relation, j.key_attnum) t JOIN pg_class p ON p.oid = t.rel AND pg_has_role(p.relowner, 'USAGE')
        UNION SELECT (x ->> 0)::oid::regclass FROM jsonb_array_elements(s.filled) AS x JOIN pg_class p ON p.oid = (x ->> 0)::oid AND pg_has_role(p.relowner, 'USAGE')),
        'ACCESS EXCLUSIVE');
    PERFORM snowflake_ids_convert.drop_triggers(relation);
    PERFORM snowflake_ids_convert.drop_columns(j);
    DELETE FROM snowflake_ids_convert.my_conversion c WHERE c.relation = snowflake_ids_convert_undo.relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_undo(regclass) IS 'gives up a conversion whose new keys are not in place yet';

CREATE FUNCTION snowflake_ids_convert_forget(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    s snowflake_ids_convert.conversion;
BEGIN
    PERFORM snowflake_ids_convert.refuse_nulls(jsonb_build_object('relation', relation));
    s := snowflake_ids_convert.lock_state(relation);
    IF s.relation IS NULL OR s.phase <> 'done' THEN
        RAISE EXCEPTION 'no conversion of % is done', relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN s.relation IS NULL THEN 'No conversion of it that you may forget was begun.' ELSE 'It is under way.' END;
    END IF;
    IF s.map IN (SELECT oid FROM pg_class) THEN
        EXECUTE format('DROP TABLE %s', s.map);
    END IF;
    DELETE FROM snowflake_ids_convert.my_conversion c WHERE c.relation = snowflake_ids_convert_forget.relation;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_forget(regclass) IS 'drops the table of old and new keys of a conversion that is done, and what is remembered of it';
