-- The triggers of a conversion. Their functions belong to the extension, so it cannot be dropped before they are.
-- Arguments: the oid of the key's table, the column number of the key, and that of the trigger's column.
--
--   zz_snowflake_ids_1_key      key      generates the new id of a new row
--   zz_snowflake_ids_2_N        follow   new column N gets the new id of the key that its row refers to
--   zz_snowflake_ids_3_N        follow   the same, once all existing keys have ids; waits for a writer of one
--   zz_snowflake_ids_4_N        late     the same at the end of the transaction, for a key inserted after its row
--   zz_snowflake_ids_4_delete   moved    updates the rows that refer to a key that moved to another row
--   zz_snowflake_ids_4_update   moved    the same
CREATE FUNCTION snowflake_ids_convert.key() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_key' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.key IS 'internal: trigger on a key that is converted';

CREATE FUNCTION snowflake_ids_convert.follow() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_follow' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.follow IS 'internal: trigger on a column that refers to a converted key';

CREATE FUNCTION snowflake_ids_convert.late() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_late' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.late
    IS 'internal: trigger on a column that may refer to a key that is inserted later';

CREATE FUNCTION snowflake_ids_convert.moved() RETURNS trigger
AS 'MODULE_PATHNAME', 'snowflake_ids_convert_moved' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.moved IS 'internal: trigger on a key that passes to another row';

CREATE FUNCTION snowflake_ids_convert.make_trigger(target regclass, name text, kind text, definition text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = name) THEN
        EXECUTE format('CREATE %s %I %s', kind, name, replace(definition, '{table}', target::text));
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, name);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_trigger IS 'internal: creates a trigger if it does not exist';

CREATE FUNCTION snowflake_ids_convert.make_triggers(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    arguments text := format('%L, %L', job.relation::oid, job.key_attnum);
    col record;
BEGIN
    PERFORM snowflake_ids_convert.make_trigger(job.relation, 'zz_snowflake_ids_1_key', 'TRIGGER', format(
        'BEFORE INSERT OR UPDATE OF %I ON {table} FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.key(%s)',
        job.key_column, arguments));
    FOR col IN SELECT * FROM snowflake_ids_convert.columns(job) WHERE NOT is_key LOOP
        PERFORM snowflake_ids_convert.make_trigger(col.rel, 'zz_snowflake_ids_2_' || col.attnum, 'TRIGGER', format(
            'BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow(%s, %L)',
            arguments, col.attnum));
    END LOOP;
    -- If a key moves to another row, only columns that refer to it must be updated.
    IF FOUND THEN
        PERFORM snowflake_ids_convert.make_trigger(
            job.relation, 'zz_snowflake_ids_4_delete', 'CONSTRAINT TRIGGER', format(
                'AFTER DELETE ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                 EXECUTE FUNCTION snowflake_ids_convert.moved(%s)', arguments));
        PERFORM snowflake_ids_convert.make_trigger(
            job.relation, 'zz_snowflake_ids_4_update', 'CONSTRAINT TRIGGER', format(
                'AFTER UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
                 WHEN (OLD.%I IS DISTINCT FROM NEW.%1$I)
                 EXECUTE FUNCTION snowflake_ids_convert.moved(%s)', job.key_column, arguments));
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_triggers
    IS 'internal: creates the triggers that fill the new columns from the start';

-- From this phase on, all existing keys have ids. A key without one is not inserted yet, or the snapshot is too old to
-- see its id.
CREATE FUNCTION snowflake_ids_convert.make_late_triggers(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    definition text;
    col record;
BEGIN
    FOR col IN SELECT * FROM snowflake_ids_convert.columns(job) WHERE NOT is_key AND filled LOOP
        definition := format('FOR EACH ROW WHEN (NEW.%I IS NOT NULL AND NEW.%I IS NULL)
                              EXECUTE FUNCTION snowflake_ids_convert.%%s(%L, %L, %L%%s)',
                             col.attname, col.shadow, job.relation::oid, job.key_attnum, col.attnum);
        PERFORM snowflake_ids_convert.make_trigger(
            col.rel, 'zz_snowflake_ids_3_' || col.attnum, 'TRIGGER',
            'BEFORE INSERT OR UPDATE ON {table} ' || format(definition, 'follow', ', ''wait'''));
        IF NOT col.at_once THEN
            PERFORM snowflake_ids_convert.make_trigger(
                col.rel, 'zz_snowflake_ids_4_' || col.attnum, 'CONSTRAINT TRIGGER',
                'AFTER INSERT OR UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED ' || format(definition, 'late', ''));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_late_triggers
    IS 'internal: creates the triggers that fill the new columns after all existing keys have ids';

CREATE FUNCTION snowflake_ids_convert.drop_triggers(converted regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
BEGIN
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT format('DROP TRIGGER %I ON %s', name, rel) FROM snowflake_ids_convert.triggers(converted)));
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_triggers IS 'internal: removes the triggers of a conversion';

-- moved() calls this as the owner of the table.
CREATE FUNCTION snowflake_ids_convert.follow_moved_key(converted regclass, key_number smallint, key text)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    key_name name := snowflake_ids_convert.column_name(converted, key_number);
    key_type text := (SELECT format_type(atttypid, atttypmod)
                      FROM pg_attribute
                      WHERE attrelid = converted AND attnum = key_number);
    job snowflake_ids_convert.job;
    col record;
BEGIN
    job.relation := converted;
    job.key_attnum := key_number;
    FOR col IN SELECT * FROM snowflake_ids_convert.columns(job) WHERE NOT is_key AND filled LOOP
        EXECUTE format('UPDATE ONLY %s AS c
                        SET %I = k.%I
                        FROM ONLY %s AS k
                        WHERE k.%I = $1::%s AND k.%5$I%7$s = c.%8$I AND c.%2$I::text IS DISTINCT FROM k.%3$I::text',
                       col.rel, col.shadow, 'snowflake_ids_new_' || key_number, converted,
                       key_name, key_type, col.collate, col.attname)
        USING key;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_moved_key
    IS 'internal: columns that refer to a key get the id of the row that has the key now';
