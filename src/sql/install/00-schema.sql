-- The extension has two schemas. This one is its own: all relations, the functions that stand behind types, operators,
-- casts, classes and the planner, and what operators of a server call. In the schema that the user chooses are types,
-- operators, operator classes and the functions that queries call.
--
-- Nobody else may create objects here. So the schema must not exist before, and functions find each other here safely.
DO $$
BEGIN
    IF pg_catalog.current_schema() OPERATOR(pg_catalog.=) 'snowflake_ids' THEN
        RAISE EXCEPTION 'extension snowflake_ids cannot be installed in schema snowflake_ids'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'The extension makes a schema of that name for its own objects.',
                  HINT = 'Drop the schema, and name another one: CREATE EXTENSION snowflake_ids SCHEMA public.';
    END IF;
END $$;

CREATE SCHEMA snowflake_ids;
COMMENT ON SCHEMA snowflake_ids IS
    'what operators of a server call, and what is behind the types of the extension snowflake_ids';
