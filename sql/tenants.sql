-- What an ordinary role and the owner of one database may not do to generators, which all databases share.
SET client_min_messages = warning;

-- At the end, these used generators must be as they are now.
CREATE ROLE regress_tenant_owner LOGIN;
CREATE ROLE regress_tenant_user LOGIN;
CREATE DATABASE regress_tenant OWNER regress_tenant_owner;
SELECT current_database() AS main, current_user AS super \gset
SELECT gen_sno() IS NOT NULL AS sno, gen_mastic() > 0 AS mastic, gen_snowflake_si() > 0 AS snowflake_si;
CREATE TABLE tenants_before AS SELECT * FROM snowflake_ids.stats;
\c regress_tenant regress_tenant_owner
-- Trusted: the owner of a database installs it, and owns the extension but none of its objects.
CREATE EXTENSION snowflake_ids;
SELECT extowner::regrole FROM pg_extension WHERE extname = 'snowflake_ids';
SELECT count(*) AS objects_that_are_his FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
WHERE p.proowner = 'regress_tenant_owner'::regrole;

-- Attempts of both roles.
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE attempts (n int GENERATED ALWAYS AS IDENTITY, statement text);
GRANT SELECT ON attempts TO PUBLIC;
INSERT INTO attempts (statement) VALUES
    -- another partition, given times, all slots
    ('SELECT gen_sno(0, 1)'),
    ('SELECT gen_sno(0, n) FROM generate_series(1, 65) n'),
    ('SELECT gen_sno_at(now())'),
    -- far ahead, or back
    ('SELECT sno_observe(make_sno(''2070-01-01'', 0, 0, 0))'),
    ('SELECT mastic_observe(make_mastic(''2300-01-01'', 0))'),
    ('SELECT snowflake_si_observe(1)'),
    ('SELECT snowflake_ids.sno_restore(''{"wallHi": 400000000000, "sequenceMax": 65535}'')'),
    ('SELECT snowflake_ids.reset(''2100-01-01'')'),
    ('SELECT snowflake_ids.reset(now(), force => true)'),
    ('SELECT snowflake_ids.stats_reset()'),
    -- shared settings
    ('SET snowflake_ids.machine_id = 1'),
    ('SET snowflake_ids.sno_sequence_min = 60000'),
    ('SET snowflake_ids.clock_regression = ''error'''),
    ('SET snowflake_ids.sno_sequence_max = 9999'),
    ('SET snowflake_ids.durable_window = ''1h'''),
    ('SET snowflake_ids.standby_machine_id = 1'),
    ('ALTER SYSTEM SET snowflake_ids.machine_id = 1'),
    ('ALTER ROLE CURRENT_USER SET snowflake_ids.machine_id = 1'),
    ('ALTER DATABASE regress_tenant SET snowflake_ids.machine_id = 1'),
    -- the ceiling
    ('SELECT setval(''snowflake_ids.wal_ceiling'', 1)'),
    ('SELECT nextval(''snowflake_ids.wal_ceiling'')'),
    ('ALTER SEQUENCE snowflake_ids.wal_ceiling RESTART'),
    ('ALTER SEQUENCE snowflake_ids.wal_ceiling RENAME TO mine'),
    ('DROP SEQUENCE snowflake_ids.wal_ceiling'),
    ('ALTER EXTENSION snowflake_ids DROP SEQUENCE snowflake_ids.wal_ceiling'),
    -- rights, and functions of his own
    ('ALTER FUNCTION gen_sno(int, int) OWNER TO CURRENT_USER'),
    ('CREATE FUNCTION mine(int, int) RETURNS sno AS ''snowflake_ids'', ''snowflake_ids_gen_sno_partition'' LANGUAGE C'),
    ('CREATE OR REPLACE FUNCTION gen_mastic() RETURNS bigint LANGUAGE sql AS ''SELECT 1'''),
    -- layouts: each can take a slot
    ('SELECT snowflake_layout_create(''mine'', ''2024-01-01'', ''1 ms'', 41, 10, 12)'),
    ('SELECT snowflake_layout_drop(''mine'')'),
    ('INSERT INTO snowflake_ids.created_layout VALUES (''mine'', ''2024-01-01'', ''1 ms'', 41, 10, 12, false)'),
    ('UPDATE snowflake_ids.created_layout SET epoch = now()'),
    ('DELETE FROM snowflake_ids.created_layout'),
    ('TRUNCATE snowflake_ids.created_layout'),
    ('ALTER TABLE snowflake_ids.created_layout DISABLE TRIGGER ALL'),
    ('ALTER TABLE snowflake_ids.created_layout OWNER TO CURRENT_USER'),
    ('DROP TRIGGER keep ON snowflake_ids.created_layout'),
    ('CREATE RULE mine AS ON INSERT TO snowflake_ids.created_layout DO INSTEAD NOTHING'),
    ('ALTER EXTENSION snowflake_ids DROP TABLE snowflake_ids.created_layout'),
    ('SELECT snowflake_observe(''twitter'', 1)'),
    ('SELECT snowflake_observe(''twitter'', 9000000000000000000, force => true)');
SELECT gen_sno() IS NOT NULL AS draws;

SELECT n, statement, refusal(statement) FROM attempts ORDER BY n;
SET client_min_messages = error;
SELECT refusal('GRANT ALL ON FUNCTION gen_sno(int, int) TO regress_tenant_owner'),
       refusal('GRANT ALL ON SEQUENCE snowflake_ids.wal_ceiling TO regress_tenant_owner');
SELECT refusal('SELECT gen_sno(0, 1)'), has_sequence_privilege('snowflake_ids.wal_ceiling', 'UPDATE') AS ceiling;

\c - regress_tenant_user
SELECT gen_sno() IS NOT NULL AS draws;
SELECT n, refusal(statement) FROM attempts ORDER BY n;

-- Set before the library is loaded, when any name with a dot is accepted: the session then generates nothing.
\c -
SET snowflake_ids.machine_id = 7;
SET snowflake_ids.durable_window = '1h';
SELECT gen_sno() IS NOT NULL AS draws;
SELECT current_setting('snowflake_ids.machine_id') <> '7' AS machine_id_stays, current_setting('snowflake_ids.durable_window') <> '1h' AS window_stays;

-- A GRANT of restore still cannot go far ahead.
\c - :super
GRANT EXECUTE ON FUNCTION snowflake_ids.sno_restore(jsonb) TO regress_tenant_user;
\c - regress_tenant_user
SELECT split_part(refusal('SELECT snowflake_ids.sno_restore(''{"partition": [0, 0], "sequenceMin": 0, "sequenceMax": 65535, "sequence": 0, "wallHi": 400000000000, "wallSafe": 0, "drifts": 0}'')'), ':', 1);

-- Dropped and created again: no id twice, none goes back.
\c - regress_tenant_owner
CREATE TABLE ids AS SELECT gen_mastic()::bigint AS id FROM generate_series(1, 1000);
SET client_min_messages = error;
DROP EXTENSION snowflake_ids CASCADE;
CREATE EXTENSION snowflake_ids;
INSERT INTO ids SELECT gen_mastic() FROM generate_series(1, 1000);
SELECT count(*), count(DISTINCT id), max(id) < (SELECT gen_mastic()) AS ascending FROM ids;

\c :main :super
DROP DATABASE regress_tenant;
DROP ROLE regress_tenant_owner, regress_tenant_user;
-- No generator is new, none is ahead of the clock or of where it was.
SELECT s.format, s.machine_id, s.layout, s.owner FROM snowflake_ids.stats s
WHERE NOT EXISTS (SELECT FROM tenants_before b WHERE (b.format, b.machine_id, b.layout, b.owner) IS NOT DISTINCT FROM (s.format, s.machine_id, s.layout, s.owner));
SELECT s.format, s.machine_id, s.clock_lead FROM snowflake_ids.stats s JOIN tenants_before b USING (format, machine_id)
WHERE s.layout IS NOT DISTINCT FROM b.layout AND s.clock_lead > greatest(b.clock_lead, 0) + 1000;
DROP TABLE tenants_before;
