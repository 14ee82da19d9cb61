-- Gives each row its new id.
--
-- Rows are sorted by time, then by old key. A tick has room for C ids, and a position is tick * C + number. A row gets
-- the first position of its tick, or the one after the previous row's, whichever is later. So positions are unique and
-- ordered, and rows move to a later tick only if one has more than C rows.

-- The tick is null if no id can have that time, or if it is after up_to. Times without a zone use the setting TimeZone,
-- because "AT TIME ZONE 'CET'" would be an abbreviation, without summer time.
CREATE FUNCTION snowflake_ids_convert.positions(job snowflake_ids_convert.job, up_to timestamptz, condition text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT format(
        'SELECT n, old, created, tick, n + max(tick * %1$s - n) OVER (ORDER BY n) AS position
         FROM (SELECT row_number() OVER (ORDER BY created, old) - 1 AS n, old, created,
                      CASE WHEN extract(epoch FROM created) BETWEEN %2$s AND %3$s
                           THEN floor((extract(epoch FROM created) - %2$s) * 1000 / %4$s)::int8
                      END AS tick
               FROM (SELECT %5$I AS old, %6$I::timestamptz AS created
                     FROM ONLY %7$s
                     WHERE %8$s) AS key_table) AS numbered',
        job.capacity, extract(epoch FROM job.epoch), extract(epoch FROM up_to), job.tick_ms,
        job.key_column, job.created_column, job.relation, condition)
$$;
COMMENT ON FUNCTION snowflake_ids_convert.positions
    IS 'internal: the query that gives each row its position among the new ids';

CREATE FUNCTION snowflake_ids_convert.tick_of(job snowflake_ids_convert.job, moment timestamptz) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT floor((extract(epoch FROM moment) - extract(epoch FROM job.epoch)) * 1000 / job.tick_ms)::bigint
$$;
COMMENT ON FUNCTION snowflake_ids_convert.tick_of IS 'internal: number of the tick that contains a time';

-- One sorted pass over the key's table. Rows that are inserted later have no n. The map stays until
-- snowflake_ids_convert_forget().
CREATE FUNCTION snowflake_ids_convert.make_map(job snowflake_ids_convert.job) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    map text := snowflake_ids_convert.sibling(job.relation, 'snowflake_ids_map_' || job.relation::oid);
    fits text := CASE WHEN job.spill THEN 'tick IS NOT NULL' ELSE format('tick = position / %s', job.capacity) END;
    new_id text := format(job.make, format('(position / %s)', job.capacity), format('position %% %s', job.capacity));
BEGIN
    -- Rows may have changed since the plan, and still may. So this statement also decides, in one snapshot, which rows
    -- can have an id. An id of a time that the generator has not reached would be issued again.
    EXECUTE format('CREATE TABLE %s AS
                    SELECT n, old, created, CASE WHEN %s AND position / %s <= %s THEN %s END AS new
                    FROM (%s) AS p',
                   map, fits, job.capacity, snowflake_ids_convert.tick_of(job, job.issued_after), new_id,
                   snowflake_ids_convert.positions(job, job.issued_after, format('%I IS NULL', job.shadow)));
    -- Default privileges may have opened the map.
    PERFORM snowflake_ids_convert.run(ARRAY(
        SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', map,
                               CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END)
        FROM pg_class c
             CROSS JOIN LATERAL aclexplode(c.relacl) AS acl
        WHERE c.oid = map::regclass AND acl.grantee <> c.relowner));
    EXECUTE format('ALTER TABLE %s ADD UNIQUE (n)', map);
    EXECUTE format('CREATE INDEX ON %s (new)', map);
    EXECUTE format('COMMENT ON TABLE %s IS %L', map,
                   format('old and new keys of %s; see snowflake_ids_convert_forget()', job.relation));
    EXECUTE format('ANALYZE %s', map);
    RETURN map::regclass;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.make_map IS 'internal: makes the new ids, in a table of old and new keys';

-- Uses the time zone of the conversion's first call. The SET clause restores the caller's zone.
CREATE FUNCTION snowflake_ids_convert.number_rows(job snowflake_ids_convert.job) RETURNS snowflake_ids_convert.job
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET TimeZone = 'UTC'
AS $$
DECLARE
    not_numbered text := format('%I IS NULL', job.shadow);
    crowded record;
    problems text[];
BEGIN
    PERFORM set_config('TimeZone', job.zone, true);
    job.map := snowflake_ids_convert.make_map(job);
    IF snowflake_ids_convert.count_rows(job.map, 'new IS NULL') > 0 THEN
        problems := ARRAY(SELECT snowflake_ids_convert.time_problems(job, job.issued_after, not_numbered));
        IF problems = '{}' THEN
            crowded := snowflake_ids_convert.crowding(job, job.issued_after, not_numbered);
            problems := ARRAY[coalesce(
                crowded.too_far, CASE WHEN NOT job.spill THEN crowded.moves END,
                format('Times in %I changed while the rows were numbered.', job.created_column))];
        END IF;
        PERFORM snowflake_ids_convert.refuse(job, problems);
    END IF;
    PERFORM snowflake_ids_convert.check_map_times(job);
    job.phase := 'fill';
    job.part := job.relation;
    job.done := 0;
    job.total := snowflake_ids_convert.count_rows(job.map, 'true');
    RETURN job;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.number_rows
    IS 'internal: phase number: makes the id of each row, and checks all of them';

-- Compares times of ids and rows, after numbering and again before the changeover. A row that was moved out of a full
-- tick has the tick after that of the row C positions before it.
CREATE FUNCTION snowflake_ids_convert.check_map_times(job snowflake_ids_convert.job) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
AS $$
DECLARE
    wrong record;
BEGIN
    EXECUTE format('SELECT old, created, time
                    FROM (SELECT *, %1$s AS time FROM %2$s WHERE n IS NOT NULL) AS m
                    WHERE time IS DISTINCT FROM date_bin($1, created, $2)
                      AND (coalesce(time <= created, true)
                           OR NOT EXISTS (SELECT FROM %2$s AS earlier WHERE n = m.n - $3 AND %1$s = m.time - $1))
                    ORDER BY n
                    LIMIT 1', format(job.read, 'new'), job.map)
    INTO wrong
    USING make_interval(secs => job.tick_ms / 1000.0), job.epoch, job.capacity;
    IF wrong.created IS NOT NULL THEN
        PERFORM snowflake_ids_convert.fail(
            '55000', format('cannot continue converting %s', job.relation),
            detail => format('The row with key %s has the time %s, but its new id has the time %s.',
                                  wrong.old, wrong.created, wrong.time),
            hint => 'The old keys are in place. Undo the conversion with snowflake_ids_convert_undo().');
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.check_map_times IS 'internal: error if a new id does not have the time of its row';
