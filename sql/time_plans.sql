-- Time predicates in plans that outlive what they were made with: settings, created layouts, the type of a column. Each
-- answer is compared with what the predicate means.
SET timezone = 'UTC';
CREATE TABLE planned (id bigint);
CREATE INDEX ON planned (id);
INSERT INTO planned SELECT make_snowflake_si(timestamptz '2026-03-01' + n * interval '1 day', 0, 0)
    FROM generate_series(0, 9) AS n;
SET enable_seqscan = off;
\set range '\'[2026-03-03,2026-03-06)\'::tstzrange'
PREPARE of_range (tstzrange) AS SELECT count(*) FROM planned WHERE snowflake_si_created_in(id, $1);
PREPARE of_constant AS SELECT count(*) FROM planned WHERE snowflake_si_created_in(id, :range);
PREPARE of_layout (tstzrange) AS SELECT count(*) FROM planned WHERE snowflake_created_in(id, 'snowflake_si', $1);
PREPARE of_constant_layout AS SELECT count(*) FROM planned WHERE snowflake_created_in(id, 'snowflake_si', :range);
CREATE FUNCTION planned_since(t timestamptz) RETURNS bigint LANGUAGE plpgsql AS
    'BEGIN RETURN (SELECT count(*) FROM planned WHERE snowflake_si_created_in(id, tstzrange(t, NULL))); END';
CREATE FUNCTION planned_is_in(id bigint) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN RETURN snowflake_si_created_in(id, '[2026-03-03,2026-03-06)'); END$$;
CREATE FUNCTION planned_answers() RETURNS TABLE (meant bigint, range bigint, constant bigint, layout bigint,
    constant_layout bigint, since bigint, value bigint)
LANGUAGE plpgsql AS $$
DECLARE
    r tstzrange := '[2026-03-03,2026-03-06)';
BEGIN
    SELECT count(*) INTO meant FROM planned WHERE snowflake_si_timestamp(id) <@ r;
    EXECUTE 'EXECUTE of_range (''[2026-03-03,2026-03-06)'')' INTO range;
    EXECUTE 'EXECUTE of_constant' INTO constant;
    EXECUTE 'EXECUTE of_layout (''[2026-03-03,2026-03-06)'')' INTO layout;
    EXECUTE 'EXECUTE of_constant_layout' INTO constant_layout;
    since := planned_since(lower(r)) - planned_since(upper(r));
    SELECT count(*) INTO value FROM planned WHERE planned_is_in(id);
    RETURN NEXT;
END $$;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM planned_answers();

-- The base clock changes: the ids are of another time then.
ALTER SYSTEM SET snowflake_ids.si_base_clock = '2025-12-26 00:00:00+00';
\i sql/include/reload.psql
SELECT * FROM planned_answers();
ALTER SYSTEM SET snowflake_ids.si_base_clock = '2030-01-01 00:00:00+00';
\i sql/include/reload.psql
SELECT * FROM planned_answers();
ALTER SYSTEM RESET snowflake_ids.si_base_clock;
\i sql/include/reload.psql
SELECT * FROM planned_answers();

-- A layout is dropped and made again with other widths.
SELECT snowflake_layout_create('planned', '2019-03-01 00:00:00+00', '1 ms', 41, 10, 12);
TRUNCATE planned;
INSERT INTO planned SELECT make_snowflake('planned', timestamptz '2026-03-01' + n * interval '1 day', 0, 0)
    FROM generate_series(0, 9) AS n;
PREPARE of_created (tstzrange) AS SELECT count(*) FROM planned WHERE snowflake_created_in(id, 'planned', $1);
PREPARE of_created_constant AS SELECT count(*) FROM planned WHERE snowflake_created_in(id, 'planned', :range);
EXECUTE of_created (:range);
EXECUTE of_created_constant;
SELECT snowflake_layout_drop('planned');
EXECUTE of_created (:range);
EXECUTE of_created_constant;
SELECT snowflake_layout_create('planned', '2019-03-01 00:00:00+00', '10 ms', 40, 8, 9);
SELECT count(*) AS meant FROM planned WHERE CASE WHEN id < 1::bigint << 57
    THEN snowflake_timestamp(id, 'planned') <@ :range END;
EXECUTE of_created (:range);
EXECUTE of_created_constant;
TRUNCATE planned;
INSERT INTO planned SELECT make_snowflake('planned', timestamptz '2026-03-01' + n * interval '1 day', 0, 0)
    FROM generate_series(0, 9) AS n;
EXECUTE of_created (:range);
EXECUTE of_created_constant;
-- In a transaction that is rolled back, too.
BEGIN;
SELECT snowflake_layout_drop('planned');
SELECT snowflake_layout_create('planned', '2026-02-01 00:00:00+00', '1 ms', 41, 0, 12);
TRUNCATE planned;
INSERT INTO planned SELECT make_snowflake('planned', timestamptz '2026-03-01' + n * interval '12 hours', 0, 0)
    FROM generate_series(0, 9) AS n;
EXECUTE of_created (:range);
EXECUTE of_created_constant;
ROLLBACK;
EXECUTE of_created (:range);
EXECUTE of_created_constant;
SELECT snowflake_layout_drop('planned');

-- The kind of a gid column is another one, and then any: the predicate is no comparison of ids any more.
CREATE TABLE planned_gid (id gid(log));
CREATE INDEX ON planned_gid (id);
INSERT INTO planned_gid SELECT make_gid('log', timestamptz '2026-03-01' + n * interval '1 day', '\x0000000000000000')
    FROM generate_series(0, 9) AS n;
PREPARE of_gid (timestamptz) AS SELECT count(*) FROM planned_gid WHERE id < $1;
PREPARE of_gid_constant AS SELECT count(*) FROM planned_gid WHERE id < timestamptz '2026-03-04';
EXECUTE of_gid ('2026-03-04');
EXECUTE of_gid_constant;
ALTER TABLE planned_gid ALTER id TYPE gid(volume) USING make_gid('volume', gid_timestamp(id), gid_random(id));
EXECUTE of_gid ('2026-03-04');
EXECUTE of_gid_constant;
ALTER TABLE planned_gid ALTER id TYPE gid;
INSERT INTO planned_gid SELECT make_gid('segment', gid_timestamp(id), '\x0000000000000000') FROM planned_gid;
EXECUTE of_gid ('2026-03-04');
EXECUTE of_gid_constant;

-- A timestamptz becomes a sno.
CREATE TABLE planned_sno (id timestamptz);
INSERT INTO planned_sno SELECT timestamptz '2026-03-01' + n * interval '1 day' FROM generate_series(0, 9) AS n;
PREPARE of_sno (timestamptz) AS SELECT count(*) FROM planned_sno WHERE id < $1 OR id >= timestamptz '2026-03-10';
EXECUTE of_sno ('2026-03-04');
ALTER TABLE planned_sno ALTER id TYPE sno USING make_sno(id, 0, 0, 0);
EXECUTE of_sno ('2026-03-04');

-- The extension's own operators are meant, whatever stands in front of them on the path.
CREATE SCHEMA in_front;
CREATE FUNCTION in_front.no(sno, sno) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR in_front.>= (LEFTARG = sno, RIGHTARG = sno, FUNCTION = in_front.no);
CREATE OPERATOR in_front.< (LEFTARG = sno, RIGHTARG = sno, FUNCTION = in_front.no);
CREATE OPERATOR in_front.<= (LEFTARG = sno, RIGHTARG = sno, FUNCTION = in_front.no);
SET search_path = in_front, pg_catalog, public;
EXECUTE of_sno ('2026-03-04');
SELECT count(*) FROM planned_sno WHERE id >= timestamptz '2026-03-04' AND id <= now() + interval '100 years';
RESET search_path;

\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA in_front CASCADE;
DEALLOCATE ALL;
DROP TABLE planned, planned_gid, planned_sno;
DROP FUNCTION planned_since, planned_is_in, planned_answers;
