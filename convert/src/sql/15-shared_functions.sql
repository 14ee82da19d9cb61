-- Small functions that several files use.

CREATE FUNCTION snowflake_ids_convert.run(statements text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    statement text;
BEGIN
    FOREACH statement IN ARRAY statements LOOP
        EXECUTE statement;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.run IS 'internal: runs statements, one after another';

CREATE FUNCTION snowflake_ids_convert.count_rows(target regclass, condition text) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    rows bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ONLY %s AS c WHERE %s', target, condition) INTO rows;
    RETURN rows;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.count_rows
    IS 'internal: number of rows of a table, named c, that satisfy a condition';

CREATE FUNCTION snowflake_ids_convert.sibling(target regclass, name text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format('%I.%I', n.nspname, name)
    FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = target
$$;
COMMENT ON FUNCTION snowflake_ids_convert.sibling IS 'internal: the name of a relation in the schema of another one';
