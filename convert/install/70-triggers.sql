-- The triggers of a conversion. Their functions are members of the extension, so it cannot be dropped while there are any.
-- The arguments are the oid of the key's table and the numbers of the key and of the column that refers to it.
--
--   zz_snowflake_ids_1_key    key        a new row draws its id
--   zz_snowflake_ids_2_N      follow     column N gets the new id of its key
--   zz_snowflake_ids_3_N      follow     and waits for it, once all keys have theirs
--   zz_snowflake_ids_4_N      late       or gets it as the transaction ends, if the key comes later
--   zz_snowflake_ids_4_delete, zz_snowflake_ids_4_update   moved   a key passes to another row
CREATE FUNCTION snowflake_ids_convert.key() RETURNS trigger AS 'MODULE_PATHNAME', 'snowflake_ids_convert_key' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.key() IS 'internal: trigger on a key that is converted';
CREATE FUNCTION snowflake_ids_convert.follow() RETURNS trigger AS 'MODULE_PATHNAME', 'snowflake_ids_convert_follow' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.follow() IS 'internal: trigger on what refers to a key that is converted';
CREATE FUNCTION snowflake_ids_convert.late() RETURNS trigger AS 'MODULE_PATHNAME', 'snowflake_ids_convert_late' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.late() IS 'internal: trigger on what refers to a key that comes later';
CREATE FUNCTION snowflake_ids_convert.moved() RETURNS trigger AS 'MODULE_PATHNAME', 'snowflake_ids_convert_moved' LANGUAGE C;
COMMENT ON FUNCTION snowflake_ids_convert.moved() IS 'internal: trigger on a key that passes to another row';

-- Triggers of conversions: of one, or of all (null). What another role has made is none: to make a trigger takes no more
-- than TRIGGER on a table, but only the owner makes one that is always enabled.
CREATE FUNCTION snowflake_ids_convert.triggers(converted regclass, OUT rel regclass, OUT name name, OUT function name, OUT relation regclass)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT g.tgrelid, g.tgname, p.proname, r.relation
    FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
         CROSS JOIN LATERAL (SELECT substring(encode(g.tgargs, 'escape') FROM '^\d+')::oid::regclass) AS r (relation)
    WHERE p.pronamespace = 'snowflake_ids_convert'::regnamespace AND g.tgname ~ '^zz_snowflake_ids_' AND g.tgenabled = 'A'
      AND (converted IS NULL OR r.relation = converted)
    ORDER BY 1, 2
$$;
COMMENT ON FUNCTION snowflake_ids_convert.triggers(regclass) IS 'internal: triggers of conversions';

CREATE FUNCTION snowflake_ids_convert.make_trigger(target regclass, name text, kind text, definition text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = target AND tgname = name) THEN
        EXECUTE format('CREATE %s %I %s', kind, name, replace(definition, '{table}', target::text));
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', target, name);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_trigger(regclass, text, text, text) IS 'internal: makes a trigger, if it is not there';

-- Those that a conversion begins with.
CREATE FUNCTION snowflake_ids_convert.make_triggers(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    arguments text := format('%L, %L', j.relation::oid, j.key_attnum);
    c record;
BEGIN
    PERFORM snowflake_ids_convert.make_trigger(j.relation, 'zz_snowflake_ids_1_key', 'TRIGGER', format(
        'BEFORE INSERT OR UPDATE OF %I ON {table} FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.key(%s)', j.key_column, arguments));
    FOR c IN SELECT * FROM snowflake_ids_convert.filled_columns(j.relation, j.key_attnum) WHERE NOT is_key LOOP
        PERFORM snowflake_ids_convert.make_trigger(c.rel, 'zz_snowflake_ids_2_' || c.attnum, 'TRIGGER', format(
            'BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.follow(%s, %L)', arguments, c.attnum));
    END LOOP;
    -- A key may pass from one row to another, only where something refers to it.
    IF FOUND THEN
        PERFORM snowflake_ids_convert.make_trigger(j.relation, 'zz_snowflake_ids_4_delete', 'CONSTRAINT TRIGGER', format(
            'AFTER DELETE ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION snowflake_ids_convert.moved(%s)', arguments));
        PERFORM snowflake_ids_convert.make_trigger(j.relation, 'zz_snowflake_ids_4_update', 'CONSTRAINT TRIGGER', format(
            'AFTER UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.%I IS DISTINCT FROM NEW.%1$I)
             EXECUTE FUNCTION snowflake_ids_convert.moved(%s)', j.key_column, arguments));
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_triggers(snowflake_ids_convert.job) IS 'internal: the triggers that fill the new columns';

-- And those from when all keys have their ids. A key without one is one that the transaction's snapshot is too old for, or
-- that is not there yet.
CREATE FUNCTION snowflake_ids_convert.make_late_triggers(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    definition text;
    c record;
BEGIN
    FOR c IN SELECT * FROM snowflake_ids_convert.filled_columns(j.relation, j.key_attnum) WHERE NOT is_key LOOP
        definition := format('FOR EACH ROW WHEN (NEW.%I IS NOT NULL AND NEW.%I IS NULL) EXECUTE FUNCTION snowflake_ids_convert.%%s(%L, %L, %L%%s)',
                             c.attname, c.shadow, j.relation::oid, j.key_attnum, c.attnum);
        PERFORM snowflake_ids_convert.make_trigger(c.rel, 'zz_snowflake_ids_3_' || c.attnum, 'TRIGGER',
                                                   'BEFORE INSERT OR UPDATE ON {table} ' || format(definition, 'follow', ', ''wait'''));
        IF NOT c.at_once THEN
            PERFORM snowflake_ids_convert.make_trigger(c.rel, 'zz_snowflake_ids_4_' || c.attnum, 'CONSTRAINT TRIGGER',
                'AFTER INSERT OR UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED ' || format(definition, 'late', ''));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_late_triggers(snowflake_ids_convert.job) IS 'internal: the triggers that fill the new columns once all keys have ids';

CREATE FUNCTION snowflake_ids_convert.drop_triggers(converted regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET client_min_messages = warning
AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM snowflake_ids_convert.triggers(converted) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', t.name, t.rel);
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.drop_triggers(regclass) IS 'internal: removes the triggers of a conversion';

-- The trigger "moved" calls this as the owner of the table: a key is another row's now, and what refers to it is told.
CREATE FUNCTION snowflake_ids_convert.follow_moved_key(converted regclass, key text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    key_attnum smallint := (SELECT s.key_attnum FROM snowflake_ids_convert.my_conversion s WHERE s.relation = converted);
    k record;
    c record;
BEGIN
    SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS type INTO k
    FROM pg_attribute a WHERE a.attrelid = converted AND a.attnum = key_attnum;
    FOR c IN SELECT * FROM snowflake_ids_convert.filled_columns(converted, key_attnum) WHERE NOT is_key LOOP
        EXECUTE format('UPDATE ONLY %s AS c SET %I = k.%I FROM ONLY %s AS k
                        WHERE k.%I = $1::%s AND k.%5$I%7$s = c.%8$I AND c.%2$I::text IS DISTINCT FROM k.%3$I::text',
                       c.rel, c.shadow, 'snowflake_ids_new_' || key_attnum, converted, k.attname, k.type, c.collate, c.attname)
        USING key;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.follow_moved_key(regclass, text) IS 'internal: gives what refers to a key the id of the row that has it now';
