SET timezone = 'UTC';
SET client_min_messages = warning;
LOAD 'snowflake_ids';
-- Generators that no other test uses, except Mastic's.
ALTER SYSTEM SET snowflake_ids.machine_id = 19;
\i sql/include/reload.psql
CREATE ROLE regress_operator;
GRANT EXECUTE ON FUNCTION sno_observe(sno, boolean), mastic_observe(mastic, boolean), snowflake_si_observe(bigint, boolean),
    snowflake_observe(text, bigint, boolean) TO regress_operator;

-- How to draw, compose on this machine id and another, and observe each format.
CREATE TABLE format_of (format text, draw text, make text, elsewhere text, created text, observe text, reset text);
INSERT INTO format_of VALUES
    ('sno', 'gen_sno()', 'make_sno(%L, 255, 19, 65535)', 'make_sno(%L, 0, 18, 0)', 'sno_timestamp(%L)', 'sno_observe(%L, %L)', '''sno'', 19'),
    ('mastic', 'gen_mastic()', 'make_mastic(%L, 65535)', NULL, 'mastic_timestamp(%L)', 'mastic_observe(%L, %L)', '''mastic'', NULL'),
    ('snowflake_si', 'gen_snowflake_si()', 'make_snowflake_si(%L, 19, 255)', 'make_snowflake_si(%L, 18, 0)', 'snowflake_si_timestamp(%L)',
     'snowflake_si_observe(%L, %L)', '''snowflake_si'', 19'),
    ('twitter', 'gen_snowflake(''twitter'')', 'make_snowflake(''twitter'', %L, 19, 4095)', 'make_snowflake(''twitter'', %L, 18, 0)',
     'snowflake_timestamp(%L, ''twitter'')', 'snowflake_observe(''twitter'', %L, %L)', '''layout'', 19');
GRANT SELECT ON format_of TO regress_operator;
CREATE FUNCTION value_of(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v text;
BEGIN
    EXECUTE 'SELECT ' || expression INTO v;
    RETURN v;
END $$;
-- Observes an id so far ahead of now and draws the next one. Returns how far the generator is ahead of the clock, to
-- ten seconds (a machine may pause for four seconds and more), and whether it is above the id.
CREATE FUNCTION observed(f format_of, ahead interval, force boolean, elsewhere boolean DEFAULT false,
                         OUT format text, OUT state text, OUT message text, OUT above boolean, OUT lead numeric)
LANGUAGE plpgsql AS $$
DECLARE
    id text := value_of(format(CASE WHEN elsewhere THEN f.elsewhere ELSE f.make END, clock_timestamp() + ahead));
    next text;
BEGIN
    format := f.format;
    BEGIN
        PERFORM value_of(format(f.observe, id, force));
        state := 'accepted';
    EXCEPTION WHEN OTHERS THEN
        state := SQLSTATE;
        message := SQLERRM;
    END;
    next := value_of(f.draw);
    above := value_of(format(CASE f.format WHEN 'sno' THEN '%L::sno > %L::sno' WHEN 'mastic' THEN '%L::mastic > %L::mastic' ELSE '%L::bigint > %L::bigint' END, next, id));
    lead := 10 * round(extract(epoch FROM value_of(format(f.created, next))::timestamptz - clock_timestamp()) / 10);
END $$;

--
-- Observe
--
SELECT format, value_of(draw) IS NOT NULL AS drawn FROM format_of ORDER BY format;
-- An import from a server whose clock is a little ahead.
SELECT o.* FROM format_of f, observed(f, '24 s', false) AS o ORDER BY format;
-- A past id changes nothing.
SELECT o.* FROM format_of f, observed(f, '-1 h', false) AS o ORDER BY format;
-- Nor does one of another machine id.
SELECT o.* FROM format_of f, observed(f, '50 s', false, true) AS o WHERE elsewhere IS NOT NULL ORDER BY format;
-- Further ahead than clocks differ: refused, nothing moves.
SELECT o.* FROM format_of f, observed(f, '2 min', false) AS o ORDER BY format;
SELECT r.state, r.detail ~ '^Its time is .*, but the clock shows .*\.$' AS detail FROM format_of f, refusal('SELECT ' || format(observe, value_of(format(make, now() + interval '2 min')), false)) AS r;
-- A role with the GRANT can do the same, but not force.
SET ROLE regress_operator;
SELECT o.* FROM format_of f, observed(f, '44 s', false) AS o ORDER BY format;
SELECT o.* FROM format_of f, observed(f, '2 min', false) AS o ORDER BY format;
SELECT o.* FROM format_of f, observed(f, '2 min', true) AS o ORDER BY format;
SELECT o.* FROM format_of f, observed(f, '1 s', true) AS o ORDER BY format;
RESET ROLE;
-- A superuser can force, and a forced reset leads back.
SELECT o.* FROM format_of f, observed(f, '124 s', true) AS o ORDER BY format;
SELECT f.format, r.state, r.message, r.detail ~ '^Ids up to .* may exist\.$' AS detail
FROM format_of f, refusal(format('SELECT snowflake_ids.reset(now(), %s)', reset)) AS r ORDER BY format;
SELECT format, value_of(format('snowflake_ids.reset(now(), %s, true)', reset)) AS void FROM format_of ORDER BY format;
SELECT format, abs(extract(epoch FROM value_of(format(created, value_of(draw)))::timestamptz - clock_timestamp())) < 10 AS now FROM format_of ORDER BY format;
-- At the end of the format nothing can be generated until a reset.
SELECT sno_observe(make_sno('2079-09-07 15:47:35.548+00', 255, 19, 65535, 1), force => true);
SELECT gen_sno();
SELECT snowflake_ids.reset(now(), 'sno', 19, force => true);
SELECT abs(extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp())) < 10 AS now;
SELECT snowflake_si_observe(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_si_observe(9007199254740992);
SELECT snowflake_observe('twitter', -1);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_observe('no such', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT sno_observe('x');
\echo :LAST_ERROR_SQLSTATE
SELECT sno_observe(NULL) IS NULL AS sno, mastic_observe('1', NULL) IS NULL AS mastic, snowflake_si_observe(NULL, true) IS NULL AS snowflake_si,
       snowflake_observe(NULL, 1) IS NULL AS layout;

--
-- Reset
--
SELECT snowflake_ids.reset(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.reset(now(), force => NULL);
SELECT snowflake_ids.reset(now(), 'gid');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.reset(now(), '');
SELECT snowflake_ids.reset(now(), 'SNO');
SELECT snowflake_ids.reset(now(), 'sno', -1);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.reset(now(), 'sno', 65536);
SELECT snowflake_ids.reset(now(), 'snowflake_si', 32);
SELECT snowflake_ids.reset(now(), 'mastic', 5);
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.reset('1969-12-31 23:59:59+00');
\echo :LAST_ERROR_SQLSTATE
SELECT snowflake_ids.reset('-infinity');
SELECT snowflake_ids.reset('infinity');
SELECT snowflake_ids.reset('294276-01-01 00:00:00+00');
SELECT r.state, r.message, r.detail ~ '^Ids up to .* may exist\.$' AS detail FROM refusal('SELECT snowflake_ids.reset(''2020-01-01'', ''sno'', 19)') AS r;
SELECT r.state, r.message, r.detail ~ '^Ids up to .* may exist\.$' AS detail FROM refusal('SELECT snowflake_ids.reset(''2020-01-01'')') AS r;
SET ROLE regress_operator;
SELECT snowflake_ids.reset(now());
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_ids.reset(timestamptz, text, integer, boolean) TO regress_operator;
SET ROLE regress_operator;
SELECT snowflake_ids.reset(now() + interval '20 s', 'sno', 19);
SELECT extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp()) BETWEEN 10 AND 21 AS twenty_seconds_ahead,
       abs(extract(epoch FROM snowflake_si_timestamp(gen_snowflake_si()) - clock_timestamp())) < 10 AS others_are_where_they_were;
SELECT snowflake_ids.reset(now(), 'sno', 19, force => true);
SELECT r.state, r.message, r.detail ~ '^Its time is .*, but the clock shows .*\.$' AS detail
FROM refusal('SELECT snowflake_ids.reset(now() + interval ''2 min'', ''sno'', 19)') AS r;
RESET ROLE;
SELECT snowflake_ids.reset(now(), 'sno', 19, force => true);
SELECT abs(extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp())) < 10 AS now;
-- A floor above all ids needs no force.
SELECT now() + interval '1 s' AS floor, snowflake_ids.reset(now() + interval '1 s', 'sno', 19), gen_sno() AS above \gset
SELECT :'above'::sno >= sno_lower_bound(:'floor') AS above;

--
-- Passing the present: no later id has its time. Each pass disturbs all sessions, so repeated calls wait.
--
SELECT snowflake_ids.pass_now('sno') AS passed \gset
SELECT sno_timestamp(gen_sno()) > :'passed' AS sno;
SELECT snowflake_ids.pass_now('mastic') AS passed \gset
SELECT mastic_timestamp(gen_mastic()) > :'passed' AS mastic;
SELECT snowflake_ids.pass_now('snowflake_si') AS passed \gset
SELECT snowflake_si_timestamp(gen_snowflake_si()) > :'passed' AS snowflake_si;
SELECT clock_timestamp() AS started \gset
SET ROLE regress_operator;
SELECT count(snowflake_ids.pass_now('sno')) FROM generate_series(1, 11);
RESET ROLE;
SELECT clock_timestamp() - :'started' > interval '450 ms' AS waited;
SELECT snowflake_ids.pass_now('sno') + interval '1 s' AS future \gset
SELECT sno_observe(make_sno(:'future', 0, 19, 0)), snowflake_ids.reset(now(), 'sno', 19, force => true);
SELECT snowflake_ids.pass_now('sno') AS passed \gset
SELECT sno_timestamp(gen_sno()) > :'passed' AS sno;

SELECT snowflake_ids.reset(now(), 'sno', 156 * 256 + 82, force => true), snowflake_ids.reset(now(), 'sno', 19, force => true);
REVOKE EXECUTE ON FUNCTION sno_observe(sno, boolean), mastic_observe(mastic, boolean), snowflake_si_observe(bigint, boolean),
    snowflake_observe(text, bigint, boolean), snowflake_ids.reset(timestamptz, text, integer, boolean) FROM regress_operator;
REVOKE SELECT ON format_of FROM regress_operator;
DROP FUNCTION observed(format_of, interval, boolean, boolean), value_of(text);
DROP TABLE format_of;
DROP ROLE regress_operator;
ALTER SYSTEM RESET snowflake_ids.machine_id;
\i sql/include/reload.psql
SELECT count(*) AS ahead FROM snowflake_ids.stats WHERE machine_id = 19 AND clock_lead > 5000;

--
-- Signatures and rights
--
SELECT signature, result, flags, public FROM extension_functions
WHERE proname ~ '^(reset|read_ceiling|pass_now|(sno|mastic|snowflake_si)_observe)$' ORDER BY signature COLLATE "C";
