-- Two schemas: this one has all relations, the functions behind types, operators, casts, classes and the planner, and
-- what operators of a server call. The one that the user chooses has types, operators, operator classes and the
-- functions that queries call.
--
-- Nobody else may create objects here, so functions find each other safely. An existing schema of that name, which
-- migrations of frameworks make, is not adopted: see below.
DO $$
BEGIN
    IF pg_catalog.current_schema() OPERATOR(pg_catalog.=) 'snowflake_ids' THEN
        RAISE EXCEPTION 'extension snowflake_ids cannot be installed in schema snowflake_ids'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'The extension creates a schema of that name for its own objects.',
                  HINT = 'Drop the schema. Then run CREATE EXTENSION snowflake_ids SCHEMA public.';
    END IF;
END $$;

-- Drops an empty schema of that name, if it belongs to the role that creates the extension. (A script's NOTICE is not
-- shown.) Otherwise CREATE SCHEMA says that it exists.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n
                   ON n.nspowner OPERATOR(pg_catalog.=) e.extowner AND n.nspname OPERATOR(pg_catalog.=) e.extname
               WHERE e.extname OPERATOR(pg_catalog.=) 'snowflake_ids') THEN
        DROP SCHEMA snowflake_ids RESTRICT;
        RAISE INFO 'dropped the empty schema "snowflake_ids", because the extension creates its own'
            USING DETAIL = 'This also removed its comment, grants, default privileges and publications'' TABLES IN SCHEMA.';
    END IF;
EXCEPTION
    WHEN dependent_objects_still_exist OR invalid_schema_name THEN NULL;
END $$;

CREATE SCHEMA snowflake_ids;
COMMENT ON SCHEMA snowflake_ids IS
    'views and functions for administrators, and internal objects of the extension snowflake_ids';
