-- Which id each row gets.
--
-- Rows are taken in order of (time, old key). With room for C ids in a tick, a row has a place, tick * C + number. Each
-- gets the place of its tick's start, or the one after the row before it, whichever is later. So places differ and
-- keep the order, and a row is moved to a later tick only where more rows share a tick than it has room for.

-- A row whose time fits no id, or is after up_to, has no tick. Times without a zone are read in the zone of the setting
-- TimeZone: "AT TIME ZONE 'CET'" would be an abbreviation, without summer time.
CREATE FUNCTION snowflake_ids_convert.places(j snowflake_ids_convert.job, up_to timestamptz, condition text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format(
        'SELECT n, old, created, tick, n + max(tick * %1$s - n) OVER (ORDER BY n) AS place FROM (
             SELECT row_number() OVER (ORDER BY created, old) - 1 AS n, old, created,
                    CASE WHEN extract(epoch FROM created) BETWEEN %2$s AND %3$s
                         THEN floor((extract(epoch FROM created) - %2$s) * 1000 / %4$s)::int8 END AS tick
             FROM (SELECT %5$I AS old, %6$I::timestamptz AS created FROM ONLY %7$s WHERE %8$s) AS r) AS t',
        j.capacity, extract(epoch FROM j.epoch), extract(epoch FROM up_to), j.tick_ms, j.key_column, j.created_column, j.relation, condition)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.places(snowflake_ids_convert.job, timestamptz, text) IS 'internal: the query that gives each row its place';

-- Rows whose time no id can have.
CREATE FUNCTION snowflake_ids_convert.time_problems(j snowflake_ids_convert.job, up_to timestamptz, condition text) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    r record;
BEGIN
    EXECUTE format('SELECT count(*) FILTER (WHERE %1$s IS NULL) AS nulls, count(*) FILTER (WHERE %1$s < $1) AS early,
                           count(*) FILTER (WHERE %1$s > $2) AS late, min(%1$s) AS first, max(%1$s) AS last
                    FROM ONLY %2$s WHERE %3$s', format('%I::timestamptz', j.created_column), j.relation, condition) INTO r USING j.epoch, up_to;
    IF r.nulls > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows have no time', j.relation, j.created_column, r.nulls);
    END IF;
    IF r.early > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows are before %s, the first time of %s; the earliest is %s',
                           j.relation, j.created_column, r.early, j.epoch, j.format, r.first)
                    || CASE j.format WHEN 'snowflake_si' THEN '; see snowflake_ids.si_base_clock' ELSE '' END;
    END IF;
    IF r.late > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows are in the future, where new ids will be; the latest is %s',
                           j.relation, j.created_column, r.late, r.last);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.time_problems(snowflake_ids_convert.job, timestamptz, text) IS 'internal: rows whose time no id can have';

-- Ticks with more rows than room, and how many rows there are in all. Reads the table; changes nothing.
CREATE FUNCTION snowflake_ids_convert.crowding(
    j snowflake_ids_convert.job, up_to timestamptz, condition text, OUT rows bigint, OUT moves text, OUT too_far text
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    r record;
BEGIN
    EXECUTE format('SELECT count(*) AS rows, count(*) FILTER (WHERE place / $1 <> tick) AS moved,
                           max(place / $1 - tick) AS furthest, max(place / $1) AS last FROM (%s) AS p',
                   snowflake_ids_convert.places(j, up_to, condition))
    INTO r USING j.capacity;
    rows := r.rows;
    IF r.moved > 0 THEN
        moves := format('column %s.%I: more rows share a tick of %s ms than its %s ids; %s rows %s moved to later ticks, by %s ms at most%s',
                        j.relation, j.created_column, j.tick_ms, j.capacity, r.moved, CASE WHEN j.spill THEN 'are' ELSE 'would be' END,
                        r.furthest * j.tick_ms, CASE WHEN j.spill THEN '' ELSE '; set spill to allow it' END);
        IF r.last > floor((extract(epoch FROM up_to) - extract(epoch FROM j.epoch)) * 1000 / j.tick_ms) THEN
            too_far := format('column %s.%I: rows would be moved into the future, where new ids will be', j.relation, j.created_column);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.crowding(snowflake_ids_convert.job, timestamptz, text) IS 'internal: rows that share a tick with more than it has room for';

-- A table of old and new keys, in one sorted pass over the key's table. Rows that come later have no n. It stays until snowflake_ids_convert_forget(), and
-- is for its owner only, whatever the default privileges are.
CREATE FUNCTION snowflake_ids_convert.make_map(j snowflake_ids_convert.job) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    map text := (SELECT format('%I.%I', nspname, 'snowflake_ids_map_' || c.oid)
                 FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE c.oid = j.relation);
    last_tick bigint := floor((extract(epoch FROM j.issued_after) - extract(epoch FROM j.epoch)) * 1000 / j.tick_ms);
    grantee text;
BEGIN
    -- Rows may have changed since the plan, and go on changing. What is judged is what is numbered, in one snapshot: an id
    -- of a time that the generator has not reached would be issued again.
    EXECUTE format('CREATE TABLE %s AS SELECT n, old, created, CASE WHEN %s AND place / %s <= %s THEN %s END AS new FROM (%s) AS p', map,
                   CASE WHEN j.spill THEN 'tick IS NOT NULL' ELSE format('tick = place / %s', j.capacity) END, j.capacity, last_tick,
                   format(j.make, format('(place / %s)', j.capacity), format('place %% %s', j.capacity)),
                   snowflake_ids_convert.places(j, j.issued_after, format('%I IS NULL', j.shadow)));
    FOR grantee IN SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
                   FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = map::regclass AND a.grantee <> c.relowner LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', map, grantee);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ADD UNIQUE (n)', map);
    EXECUTE format('CREATE INDEX ON %s (new)', map);
    EXECUTE format('COMMENT ON TABLE %s IS %L', map, format('old and new keys of %s; see snowflake_ids_convert_forget()', j.relation));
    EXECUTE format('ANALYZE %s', map);
    RETURN map::regclass;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_map(snowflake_ids_convert.job) IS 'internal: gives each row its id, in a table next to it';

-- The time zone is that of the first call, until this function returns.
CREATE FUNCTION snowflake_ids_convert.number_rows(j snowflake_ids_convert.job) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET TimeZone = 'UTC'
AS $$
DECLARE
    without_id boolean;
    crowded record;
    problem text;
BEGIN
    PERFORM set_config('TimeZone', j.zone, true);
    j.map := snowflake_ids_convert.make_map(j);
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE new IS NULL)', j.map) INTO without_id;
    IF without_id THEN
        problem := (SELECT string_agg(p, E'\n') FROM snowflake_ids_convert.time_problems(j, j.issued_after, format('%I IS NULL', j.shadow)) AS p);
        IF problem IS NULL THEN
            crowded := snowflake_ids_convert.crowding(j, j.issued_after, format('%I IS NULL', j.shadow));
            problem := coalesce(crowded.too_far, CASE WHEN NOT j.spill THEN crowded.moves END,
                                format('Times in %I changed while the rows were numbered.', j.created_column));
        END IF;
        PERFORM snowflake_ids_convert.refuse(j, problem);
    END IF;
    PERFORM snowflake_ids_convert.verify_map(j);
    RETURN j.map;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.number_rows(snowflake_ids_convert.job) IS 'internal: gives each row its id, and checks all of them';

-- Reads the ids that were made, as everybody will, and compares them with the times of their rows: right after they were
-- made, and again before the new columns take the places of the old ones. A row has the tick of its time; one that was
-- moved has the tick after that of the row C places before it, if C ids fit into a tick.
CREATE FUNCTION snowflake_ids_convert.verify_map(j snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    wrong record;
BEGIN
    EXECUTE format('SELECT old, created, time FROM (SELECT *, %1$s AS time FROM %2$s WHERE n IS NOT NULL) AS m
                    WHERE time IS DISTINCT FROM date_bin($1, created, $2)
                      AND (coalesce(time <= created, true) OR NOT EXISTS (SELECT FROM %2$s AS earlier WHERE n = m.n - $3 AND %1$s = m.time - $1))
                    ORDER BY n LIMIT 1', format(j.read, 'new'), j.map)
    INTO wrong USING make_interval(secs => j.tick_ms / 1000.0), j.epoch, j.capacity;
    IF wrong.created IS NOT NULL THEN
        RAISE EXCEPTION 'cannot go on converting %', j.relation
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('The row with key %s is of %s, and its new id of %s.', wrong.old, wrong.created, wrong.time),
                  HINT = 'Nothing is lost: the old keys are in place. Give up with snowflake_ids_convert_undo(), and begin again.';
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.verify_map(snowflake_ids_convert.job) IS 'internal: error if an id that was made is not of the time of its row';
