-- The trigger functions refuse to be fired otherwise than by a conversion. (Any role can name them in its triggers.)
CREATE TABLE fired_table (id int PRIMARY KEY, other int);
CREATE VIEW fired_view AS TABLE fired_table;
INSERT INTO fired_table VALUES (1, 1);
CREATE FUNCTION fired(function text, fires text, event text, each text, arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    relation text := CASE fires WHEN 'INSTEAD OF' THEN 'fired_view' ELSE 'fired_table' END;
BEGIN
    EXECUTE format('CREATE TRIGGER a %s %s ON %s FOR EACH %s EXECUTE FUNCTION snowflake_ids_convert.%I(%s)',
                   fires, event, relation, each, function, replace(arguments, 'this', relation::regclass::oid::text));
    EXECUTE format(CASE event WHEN 'INSERT' THEN 'INSERT INTO %s VALUES (2, 1)' WHEN 'UPDATE' THEN 'UPDATE %s SET id = 3'
                              WHEN 'DELETE' THEN 'DELETE FROM %s' ELSE 'TRUNCATE %s' END, relation);
    RAISE 'nothing was refused';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
SELECT function, said, string_agg(DISTINCT fires || ' ' || event || ' ' || each, ', ') AS fired, string_agg(DISTINCT arguments, ' or ') AS arguments
FROM unnest(ARRAY['key', 'follow', 'late', 'moved']) AS function, unnest(ARRAY['BEFORE', 'AFTER', 'INSTEAD OF']) AS fires,
     unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS event, unnest(ARRAY['ROW', 'STATEMENT']) AS each,
     unnest(ARRAY['', 'this, 1', 'this, 1, 2', '0, 0, 0', 'this, 9, 9', '''x'', '''', ''-1''', '1, 1, 1']) AS arguments,
     fired(function, fires, event, each, arguments) AS said
WHERE (event, each) <> ('TRUNCATE', 'ROW') AND (fires, each) <> ('INSTEAD OF', 'STATEMENT')
  AND (fires, event) <> ('INSTEAD OF', 'TRUNCATE')
GROUP BY function, said ORDER BY function, said COLLATE "C";
\set VERBOSITY terse
SELECT snowflake_ids_convert.key();
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids_convert.follow();
SELECT snowflake_ids_convert.late();
SELECT snowflake_ids_convert.moved();
DROP FUNCTION fired;
DROP VIEW fired_view;
DROP TABLE fired_table;
