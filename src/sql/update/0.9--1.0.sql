-- From 0.9 to 1.0. tools/update-script makes the script from this file: it puts the fragments that \replace names in
-- their places, and at the end all that 0.9 did not have. So no definition is written twice.
--
-- What is made anew here must keep what users made of it: their views, their privileges.

-- The statistics have more columns. A function cannot get one, a view can.
ALTER FUNCTION snowflake_ids_generators() RENAME TO snowflake_ids_generators_0_9;
\replace 60-stats.sql
DROP FUNCTION snowflake_ids_generators_0_9();

-- A database that pg_upgrade brought from an older server gets what servers from 18 on can have. Types on both sides of
-- an operator are those of a built-in one: others may have made operators in this schema that fit better.
DO $$
BEGIN
    IF current_setting('server_version_num')::integer >= 180000 THEN
        IF NOT EXISTS (SELECT FROM pg_amproc WHERE amprocnum = 6 AND amproclefttype = 'sno'::regtype::oid AND amproc::oid = 'sno_skipsupport'::regproc::oid) THEN
            ALTER OPERATOR FAMILY sno_ops USING btree ADD FUNCTION 6 (sno, sno) sno_skipsupport(internal);
        END IF;
        IF NOT EXISTS (SELECT FROM pg_amproc WHERE amprocnum = 6 AND amproclefttype = 'gid'::regtype::oid AND amproc::oid = 'gid_skipsupport'::regproc::oid) THEN
            ALTER OPERATOR FAMILY gid_ops USING btree ADD FUNCTION 6 (gid, gid) gid_skipsupport(internal);
        END IF;
    END IF;
END $$;

-- It also looks at explicit partitions now.
COMMENT ON FUNCTION sno_observe(sno, boolean) IS 'after an import: gen_sno() never issues at or below the time of this id, if this server draws in its partition';
