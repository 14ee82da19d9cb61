-- Raises errors (convert/src/fail.cpp).

-- Raises an error without RAISE's context, which names each running function.
CREATE FUNCTION snowflake_ids_convert.fail(state text, message text, detail text DEFAULT NULL, hint text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_fail' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_ids_convert.fail IS 'internal: raises an error that has no context';

CREATE FUNCTION snowflake_ids_convert.refuse(job snowflake_ids_convert.job, problems text[]) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    IF problems <> '{}' THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot continue converting %s', job.relation),
            detail => array_to_string(problems, E'\n'),
            hint => 'Solve this and call again, or undo the conversion with snowflake_ids_convert_undo().');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.refuse IS 'internal: error with these problems, if there are any';
