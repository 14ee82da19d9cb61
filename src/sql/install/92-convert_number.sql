-- Converting a key: which id each row gets.
--
-- Rows are taken in order of (time, old key). With room for C ids in a tick, a row has a place, tick * C + number. Each
-- gets the place of its tick's start, or the one after the row before it, whichever is later. So places differ and
-- keep the order, and a row is moved to a later tick only where more rows share a tick than it has room for.

-- A row whose time fits no id, or is after up_to, has no tick. Times without a zone are read in the zone of the setting
-- TimeZone: "AT TIME ZONE 'CET'" would be an abbreviation, without summer time.
CREATE FUNCTION snowflake_ids_convert_places(
    relation regclass, key_column name, format text, created_column name, metabyte integer, up_to timestamptz, condition text
) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    f record;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING format, metabyte;
    RETURN format(
        'SELECT n, old, created, tick, n + max(tick * %1$s - n) OVER (ORDER BY n) AS place FROM (
             SELECT row_number() OVER (ORDER BY created, old) - 1 AS n, old, created,
                    CASE WHEN extract(epoch FROM created) BETWEEN %2$s AND %3$s
                         THEN floor((extract(epoch FROM created) - %2$s) * 1000 / %4$s)::int8 END AS tick
             FROM (SELECT %5$I AS old, %6$I::timestamptz AS created FROM ONLY %7$s WHERE %8$s) AS r) AS t',
        f.capacity, extract(epoch FROM f.epoch), extract(epoch FROM up_to), f.tick_ms, key_column, created_column, relation, condition);
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_places(regclass, name, text, name, integer, timestamptz, text) IS 'internal: the query that gives each row its place';

-- What the rows say against it. Reads the tables; changes nothing.
CREATE FUNCTION snowflake_ids_convert_misfits(
    relation regclass, key_column name, format text, created_column name, metabyte integer, spill boolean,
    up_to timestamptz, condition text, OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    f record;
    r record;
    places text;
BEGIN
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING format, metabyte;
    kind := 'problem';
    EXECUTE format('SELECT count(*) FILTER (WHERE %1$s IS NULL) AS nulls, count(*) FILTER (WHERE %1$s < $1) AS early,
                           count(*) FILTER (WHERE %1$s > $2) AS late, min(%1$s) AS first, max(%1$s) AS last
                    FROM ONLY %2$s WHERE %3$s', format('%I::timestamptz', created_column), relation, condition) INTO r USING f.epoch, up_to;
    IF r.nulls > 0 THEN
        item := format('column %s.%I: %s rows have no time', relation, created_column, r.nulls);
        RETURN NEXT;
    END IF;
    IF r.early > 0 THEN
        item := format('column %s.%I: %s rows are before %s, the first time of %s; the earliest is %s',
                       relation, created_column, r.early, f.epoch, format, r.first)
                || CASE format WHEN 'snowflake_si' THEN '; see snowflake_ids.si_base_clock' ELSE '' END;
        RETURN NEXT;
    END IF;
    IF r.late > 0 THEN
        item := format('column %s.%I: %s rows are in the future, where new ids will be; the latest is %s',
                       relation, created_column, r.late, r.last);
        RETURN NEXT;
    END IF;
    IF r.nulls + r.early + r.late > 0 THEN
        RETURN;
    END IF;
    EXECUTE format('SELECT %s.snowflake_ids_convert_places($1, $2, $3, $4, $5, $6, $7)', ext) INTO places
    USING relation, key_column, format, created_column, metabyte, up_to, condition;
    EXECUTE format('SELECT count(*) AS rows, count(*) FILTER (WHERE place / $1 <> tick) AS moved,
                           max(place / $1 - tick) AS furthest, max(place / $1) AS last FROM (%s) AS p', places)
    INTO r USING f.capacity;
    IF r.moved > 0 THEN
        kind := CASE WHEN spill THEN 'note' ELSE 'problem' END;
        item := format('column %s.%I: more rows share a tick of %s ms than its %s ids; %s rows %s moved to later ticks, by %s ms at most%s',
                       relation, created_column, f.tick_ms, f.capacity, r.moved, CASE WHEN spill THEN 'are' ELSE 'would be' END,
                       r.furthest * f.tick_ms, CASE WHEN spill THEN '' ELSE '; set spill to allow it' END);
        RETURN NEXT;
        IF r.last > floor((extract(epoch FROM up_to) - extract(epoch FROM f.epoch)) * 1000 / f.tick_ms) THEN
            kind := 'problem';
            item := format('column %s.%I: rows would be moved into the future, where new ids will be', relation, created_column);
            RETURN NEXT;
        END IF;
    END IF;
    kind := 'rows';
    item := r.rows;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_misfits(regclass, name, text, name, integer, boolean, timestamptz, text) IS 'internal: rows whose time fits no id of the format';

CREATE FUNCTION snowflake_ids_convert_plan(
    relation regclass, key_column name, format text, created_column name, metabyte integer DEFAULT 0,
    spill boolean DEFAULT false, keep_position boolean DEFAULT false, fire_triggers boolean DEFAULT false,
    OUT kind text, OUT item text
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    ext text := (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
                 WHERE extname = 'snowflake_ids');
    zone text := current_setting('TimeZone');
    f record;
    t record;
    r record;
    k record;
    problems boolean := false;
    rows bigint;
BEGIN
    EXECUTE format('SELECT %s.snowflake_ids_convert_given($1)', ext)
    USING jsonb_build_object('relation', relation, 'key_column', key_column, 'format', format, 'created_column', created_column,
                            'metabyte', metabyte, 'spill', spill, 'keep_position', keep_position, 'fire_triggers', fire_triggers);
    EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_format($1, $2)', ext) INTO f USING format, metabyte;
    SELECT a.attnum, a.atttypid, a.attnotnull, a.attidentity INTO k FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attname = key_column AND a.attnum > 0 AND NOT a.attisdropped;
    SELECT a.atttypid INTO t FROM pg_attribute a
    WHERE a.attrelid = relation AND a.attname = created_column AND a.attnum > 0 AND NOT a.attisdropped;
    IF k.attnum IS NULL OR t.atttypid IS NULL THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', CASE WHEN k.attnum IS NULL THEN key_column ELSE created_column END, relation
            USING ERRCODE = 'undefined_column';
    ELSIF t.atttypid NOT IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype) THEN
        RAISE EXCEPTION 'column "%" is not a time', created_column
            USING ERRCODE = 'datatype_mismatch', DETAIL = format('It is of type %s.', format_type(t.atttypid, NULL)),
                  HINT = 'Use a column of type timestamptz, timestamp or date.';
    ELSIF k.atttypid NOT IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'numeric'::regtype, 'uuid'::regtype,
                             'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) THEN
        RAISE EXCEPTION 'cannot convert a key of type %', format_type(k.atttypid, NULL)
            USING ERRCODE = 'datatype_mismatch', DETAIL = 'Integers, numeric, uuid and text can be converted.';
    ELSIF relation::oid IN (SELECT oid FROM pg_class WHERE relkind NOT IN ('r', 'p')) THEN
        RAISE EXCEPTION '% is not a table', relation USING ERRCODE = 'wrong_object_type';
    END IF;

    kind := 'problem';
    -- A call that is repeated, by a script say, would number all rows anew: a bigint does not tell what it has become.
    -- The default does, also where the row about the conversion is gone, as in a database that was restored from a dump.
    IF f.new_id = (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = relation AND adnum = k.attnum) THEN
        problems := true;
        item := format('column %s.%I: has been converted to %s; to number its rows anew, first ALTER TABLE %1$s ALTER COLUMN %2$I DROP DEFAULT',
                       relation, key_column, format);
        RETURN NEXT;
    END IF;
    FOR item IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_obstacles($1, $2, $3, $4)', ext)
                USING relation, key_column, f.type, fire_triggers LOOP
        problems := true;
        RETURN NEXT;
    END LOOP;
    -- A rewritten table has the old row type in no other.
    IF keep_position THEN
        FOR t IN EXECUTE format('WITH RECURSIVE y (rel, type) AS (
                                     SELECT DISTINCT c.rel, p.reltype FROM %s.snowflake_ids_convert_columns($1, $2) c JOIN pg_class p ON p.oid = c.rel
                                     UNION
                                     SELECT y.rel, n.type FROM y CROSS JOIN LATERAL (
                                         SELECT oid FROM pg_type WHERE typelem = y.type OR typbasetype = y.type
                                         UNION ALL SELECT rngtypid FROM pg_range WHERE rngsubtype = y.type
                                         UNION ALL SELECT reltype FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND atttypid = y.type
                                         WHERE relkind = ''c'') AS n (type))
                                 SELECT y.rel, a.attrelid::regclass AS other, a.attname FROM y JOIN pg_attribute a ON a.atttypid = y.type
                                      JOIN pg_class o ON o.oid = a.attrelid AND o.relkind IN (''r'', ''m'', ''p'') ORDER BY 1, 2, 3', ext)
                 USING relation, key_column LOOP
            problems := true;
            item := format('table %s: column %s.%I has its row type; it cannot be rewritten with keep_position', t.rel, t.other, t.attname);
            RETURN NEXT;
        END LOOP;
    END IF;
    IF NOT k.attnotnull THEN
        problems := true;
        item := format('column %s.%I: may be null', relation, key_column);
        RETURN NEXT;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = relation AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL
                   AND indnkeyatts = 1 AND indkey[0] = k.attnum) THEN
        problems := true;
        item := format('column %s.%I: is not unique by itself; make a unique index on it', relation, key_column);
        RETURN NEXT;
    END IF;
    -- With these the rows may not be what they seem, or not be readable.
    IF problems THEN
        RETURN;
    END IF;

    FOR kind, item IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_misfits($1, $2, $3, $4, $5, $6, clock_timestamp(), ''true'')', ext)
                      USING relation, key_column, format, created_column, metabyte, spill LOOP
        IF kind = 'rows' THEN rows := item; ELSE RETURN NEXT; END IF;
        problems := problems OR kind = 'problem';
    END LOOP;
    kind := 'problem';
    FOR t IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2) WHERE NOT is_key', ext) USING relation, key_column LOOP
        EXECUTE format('SELECT count(*) AS orphans FROM ONLY %1$s c WHERE c.%2$I IS NOT NULL
                        AND NOT EXISTS (SELECT FROM ONLY %3$s k WHERE k.%4$I%5$s = c.%2$I)', t.rel, t.attname, relation, key_column, t.coll) INTO r;
        IF r.orphans > 0 THEN
            item := format('column %s.%I: %s rows refer to a key that does not exist', t.rel, t.attname, r.orphans);
            problems := true;
            RETURN NEXT;
        END IF;
    END LOOP;
    IF problems THEN
        RETURN;
    END IF;

    kind := 'note';
    IF k.attidentity <> '' THEN
        item := 'the identity becomes a default: only integers of a sequence can be an identity';
        RETURN NEXT;
    END IF;
    IF (SELECT atttypid FROM pg_attribute WHERE attrelid = relation AND attname = created_column) <> 'timestamptz'::regtype THEN
        item := format('times of %I are taken to be in time zone %s', created_column, zone);
        RETURN NEXT;
    END IF;
    IF NOT keep_position THEN
        item := 'the new columns stand last in their tables; set keep_position to rewrite the tables instead, under their last lock';
        RETURN NEXT;
    END IF;
    FOR t IN EXECUTE format('SELECT DISTINCT c.rel, p.pubname FROM %s.snowflake_ids_convert_columns($1, $2) c
                             CROSS JOIN LATERAL (SELECT b.pubname FROM pg_publication b WHERE b.puballtables
                             OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = b.oid AND r.prrelid = c.rel)
                             OR EXISTS (SELECT FROM pg_publication_namespace n JOIN pg_class t ON t.relnamespace = n.pnnspid
                                        WHERE n.pnpubid = b.oid AND t.oid = c.rel)) p ORDER BY 1, 2', ext)
             USING relation, key_column LOOP
        item := format('table %s is in publication %I: its subscribers need the new columns first', t.rel, t.pubname);
        RETURN NEXT;
    END LOOP;

    kind := 'step';
    FOR t IN EXECUTE format('SELECT * FROM %s.snowflake_ids_convert_columns($1, $2)', ext) USING relation, key_column LOOP
        item := CASE WHEN t.is_key THEN format('add %s.%I %s, for %s rows, in the order of %I, %I', t.rel, t.shadow, f.type, rows, created_column, key_column)
                     ELSE format('add %s.%I %s, following %s.%I', t.rel, t.shadow, f.type, relation, key_column) END;
        RETURN NEXT;
    END LOOP;
    IF NOT keep_position THEN
        FOR r IN EXECUTE format('SELECT c.rel, array_agg(c.attnum) AS attnums FROM %s.snowflake_ids_convert_columns($1, $2) c
                                 GROUP BY c.rel ORDER BY c.rel <> $1, c.rel', ext) USING relation, key_column LOOP
            FOR t IN EXECUTE format('SELECT i.index, i.index::oid AS oid, i.is_unique,
                                            %1$s.snowflake_ids_convert_rehearse($1, $2, $3, $4) ->> i.index::oid::text AS rest
                                     FROM %1$s.snowflake_ids_convert_indexes($3, $5) i', ext)
                     USING relation, key_column, r.rel, f.type, r.attnums LOOP
                item := format('CREATE %sINDEX %I ON %s %s', CASE WHEN t.is_unique THEN 'UNIQUE ' END,
                               'snowflake_ids_index_' || t.oid, r.rel, t.rest);
                RETURN NEXT;
            END LOOP;
        END LOOP;
    END IF;
    item := format('lock the tables, %s, default %s', CASE WHEN keep_position THEN 'rewrite them' ELSE 'change the columns over' END, f.new_id);
    RETURN NEXT;
    FOR t IN EXECUTE format('SELECT DISTINCT f.conrelid::regclass AS rel, f.conname, f.convalidated FROM pg_constraint f
                             JOIN %s.snowflake_ids_convert_columns($1, $2) c ON c.rel = f.confrelid AND c.attnum = ANY (f.confkey)
                             WHERE f.contype = ''f'' ORDER BY 1, 2', ext) USING relation, key_column LOOP
        item := CASE WHEN t.convalidated THEN format('validate foreign key %I of %s', t.conname, t.rel)
                     ELSE format('leave foreign key %I of %s NOT VALID, as it is', t.conname, t.rel) END;
        RETURN NEXT;
    END LOOP;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert_plan(regclass, name, text, name, integer, boolean, boolean, boolean) IS 'what snowflake_ids_convert would do, and what stands in its way; changes nothing';
