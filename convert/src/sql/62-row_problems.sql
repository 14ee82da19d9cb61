-- Problems that the rows show: their times, and what they refer to. 50-problems.sql has those of the catalogs.

CREATE FUNCTION snowflake_ids_convert.time_problems(
    job snowflake_ids_convert.job, up_to timestamptz, condition text
) RETURNS SETOF text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    times record;
BEGIN
    EXECUTE format('SELECT count(*) FILTER (WHERE %1$s IS NULL) AS nulls,
                           count(*) FILTER (WHERE %1$s < $1) AS early,
                           count(*) FILTER (WHERE %1$s > $2) AS late,
                           min(%1$s) AS first,
                           max(%1$s) AS last
                    FROM ONLY %2$s
                    WHERE %3$s', format('%I::timestamptz', job.created_column), job.relation, condition)
    INTO times
    USING job.epoch, up_to;
    IF times.nulls > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows have no time', job.relation, job.created_column, times.nulls);
    END IF;
    IF times.early > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows are before %s, the first time of %s; the earliest is %s',
                           job.relation, job.created_column, times.early, job.epoch, job.format, times.first);
    END IF;
    IF times.late > 0 THEN
        RETURN NEXT format('column %s.%I: %s rows are in the future; the latest is %s',
                           job.relation, job.created_column, times.late, times.last);
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.time_problems IS 'internal: rows with a time that no id can have';

CREATE FUNCTION snowflake_ids_convert.crowding(
    job snowflake_ids_convert.job, up_to timestamptz, condition text, OUT rows bigint, OUT moves text, OUT too_far text
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $$
DECLARE
    moved record;
BEGIN
    EXECUTE format('SELECT count(*) AS rows,
                           count(*) FILTER (WHERE position / $1 <> tick) AS moved_rows,
                           max(position / $1 - tick) AS furthest,
                           max(position / $1) AS last_tick
                    FROM (%s) AS p', snowflake_ids_convert.positions(job, up_to, condition))
    INTO moved
    USING job.capacity;
    rows := moved.rows;
    IF moved.moved_rows > 0 THEN
        moves := format('column %s.%I: some ticks of %s ms have more than %s rows; %s rows %s moved to later ticks, by %s ms at most%s',
                        job.relation, job.created_column, job.tick_ms, job.capacity,
                        moved.moved_rows, CASE WHEN job.spill THEN 'are' ELSE 'would be' END,
                        moved.furthest * job.tick_ms, CASE WHEN job.spill THEN '' ELSE '; set spill to allow it' END);
        IF moved.last_tick > snowflake_ids_convert.tick_of(job, up_to) THEN
            too_far := format('column %s.%I: rows would be moved into the future', job.relation, job.created_column);
        END IF;
    END IF;
END $$;
COMMENT ON FUNCTION snowflake_ids_convert.crowding
    IS 'internal: number of rows, and problems of ticks that have more rows than ids';

CREATE FUNCTION snowflake_ids_convert.orphan_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE
AS $$
    SELECT format('column %s.%I: %s rows refer to a key that does not exist', rel, attname, orphans)
    FROM snowflake_ids_convert.columns(job)
         CROSS JOIN LATERAL snowflake_ids_convert.count_rows(rel, format(
             'c.%1$I IS NOT NULL AND NOT EXISTS (SELECT FROM ONLY %2$s k WHERE k.%3$I%4$s = c.%1$I)',
             attname, job.relation, job.key_column, "collate")) AS orphans
    WHERE NOT is_key AND orphans > 0
$$;
COMMENT ON FUNCTION snowflake_ids_convert.orphan_problems
    IS 'internal: columns with rows that refer to a key that does not exist';

-- The conversion updates all rows, which fails for rows that violate a check.
CREATE FUNCTION snowflake_ids_convert.violation_problems(job snowflake_ids_convert.job) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL UNSAFE
AS $$
    SELECT format('table %s: %s rows violate check constraint %I, which was never validated; correct them, or drop it',
                  t.rel, violations, k.conname)
    FROM snowflake_ids_convert.tables(job) t
         JOIN pg_constraint k ON k.conrelid = t.rel AND k.contype = 'c' AND NOT k.convalidated
         CROSS JOIN LATERAL snowflake_ids_convert.count_rows(
             t.rel, format('NOT (%s)', pg_get_expr(k.conbin, k.conrelid))) AS violations
    WHERE (to_jsonb(k) ->> 'conenforced')::boolean IS NOT FALSE AND violations > 0
    ORDER BY t.rel, k.conname
$$;
COMMENT ON FUNCTION snowflake_ids_convert.violation_problems
    IS 'internal: checks that are not valid and that rows violate';
