-- Removes what a dump contains of a running conversion: migration.md, "A dump taken during a conversion". No other
-- conversion may be running in the database. Run as the owner of the tables: psql -X -d DATABASE -f clean-up.sql
DO $$
DECLARE
    command text;
BEGIN
    FOR command IN
        SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass)
        FROM pg_trigger WHERE tgname ~ '^zz_snowflake_ids_'
        UNION ALL
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
        FROM pg_constraint WHERE conname ~ '^snowflake_ids_check_'
        UNION ALL
        SELECT format('ALTER TABLE %s DROP COLUMN %I', attrelid::regclass, attname)
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relkind = 'r' AND attname ~ '^snowflake_ids_new_\d+$' AND NOT attisdropped
        UNION ALL
        SELECT format('DROP TABLE %s', oid::regclass)
        FROM pg_class WHERE relkind = 'r' AND relname ~ '^snowflake_ids_map_\d+$'
    LOOP
        EXECUTE command;
    END LOOP;
END $$;
