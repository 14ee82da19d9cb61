-- Changes all tables of a database in one transaction, so that none needs the extension snowflake_ids: sno and gid
-- become text, mastic becomes bigint, and new ids come from sequences. doc/installing.md ("Leaving") says what to do
-- before and after. Run it as a superuser: psql -X -d DATABASE -f uninstall.sql
--
-- Views find what must change. The table todo then gets the statements, in nine steps, and the end runs them.
\set ON_ERROR_STOP on
\o /dev/null
BEGIN;

-- ---- what must change

-- The objects of the extension.
CREATE TEMP VIEW ours AS
SELECT classid, objid FROM pg_depend
WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids');

-- Triggers of ours on tables of others.
CREATE TEMP VIEW triggers AS
SELECT oid, tgrelid::regclass AS tab, tgname FROM pg_trigger
WHERE NOT tgisinternal AND tgparentid = 0 AND ('pg_proc'::regclass, tgfoid) IN (SELECT classid, objid FROM ours)
    AND ('pg_class'::regclass, tgrelid) NOT IN (SELECT classid, objid FROM ours);

-- Feeds go first, because their tables of deletions have the columns of the keys.
SELECT DISTINCT format('SELECT snowflake_ids.drop_feed(%L)', tab)
FROM triggers, LATERAL snowflake_ids.feed_of(tab) AS f WHERE f.feed IS NOT NULL \gexec

-- Columns of our types, and those whose default generates an id (called), or is a constant of ours (fixed). `own`: not
-- inherited. `is_key`: the table is partitioned by it. `becomes`: the new type. `seq`: the sequence for new ids.
CREATE TEMP VIEW changing AS
SELECT c.oid, c.oid::regclass AS tab, relowner::regrole AS owner, relacl, nspname, relname, attname, is_ours, called, fixed,
    attnum = ANY (coalesce(partattrs, '')::int2[]) AS is_key, attinhcount = 0 AS own, inhparent::regclass AS parent,
    CASE WHEN NOT is_ours THEN typname
        ELSE CASE WHEN typname ~ 'mastic' THEN 'bigint' ELSE 'text' END || CASE WHEN typelem > 0 THEN '[]' ELSE '' END
    END AS becomes,
    format('%I.%I', nspname, relname || '_' || attname || '_new') AS seq
FROM pg_attribute
JOIN pg_class AS c ON c.oid = attrelid AND relkind IN ('r', 'p') AND relpersistence <> 't'
JOIN pg_namespace ON pg_namespace.oid = relnamespace AND nspname <> 'snowflake_ids'
JOIN pg_type ON pg_type.oid = atttypid
LEFT JOIN pg_inherits ON inhrelid = c.oid
LEFT JOIN pg_partitioned_table ON partrelid = c.oid
LEFT JOIN pg_attrdef AS a ON adrelid = c.oid AND adnum = attnum
CROSS JOIN LATERAL (SELECT
    ('pg_type'::regclass, coalesce(nullif(typelem, 0), atttypid)) IN (SELECT classid, objid FROM ours),
    -- NULL if the default has nothing of ours.
    (SELECT bool_or(d.refclassid = 'pg_proc'::regclass
            AND EXISTS (SELECT FROM pg_proc WHERE oid = d.refobjid AND provolatile = 'v'))
        FROM pg_depend AS d
        WHERE d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid
            AND (d.refclassid, d.refobjid) IN (SELECT classid, objid FROM ours))) AS s (is_ours, generates)
CROSS JOIN LATERAL (SELECT
    coalesce(generates, false), CASE WHEN NOT generates THEN pg_get_expr(adbin, adrelid) END) AS d (called, fixed)
WHERE attnum > 0 AND NOT attisdropped AND (is_ours OR called OR fixed IS NOT NULL);

-- Tables that are partitioned by such a column: it cannot change its type, so they are built again.
CREATE TEMP VIEW keyed AS
SELECT DISTINCT tab, owner, relacl, nspname, relname, becomes FROM changing
WHERE is_key AND is_ours AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = tab);

-- Their partitions.
CREATE TEMP VIEW part AS
SELECT tab, inhrelid::regclass AS part, pg_get_expr(relpartbound, inhrelid) AS bounds
FROM keyed JOIN pg_inherits ON inhparent = tab JOIN pg_class ON pg_class.oid = inhrelid;

CREATE FUNCTION pg_temp.value_of(expression text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN EXECUTE 'SELECT (' || expression || ')::text' INTO expression; RETURN expression; END $$;

-- ---- the statements

CREATE TEMP TABLE todo (step int, statement text);

-- 1 and 9: foreign keys and lists of publications go, and come back.
INSERT INTO todo
SELECT step, CASE step
    WHEN 1 THEN format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
    ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) END
FROM pg_constraint, unnest('{1,9}'::int[]) AS step
WHERE contype = 'f' AND conparentid = 0
    AND EXISTS (SELECT FROM changing WHERE is_ours AND changing.oid IN (conrelid, confrelid));

INSERT INTO todo
SELECT step, CASE step
    WHEN 1 THEN format('ALTER PUBLICATION %I DROP TABLE %s', pubname, prrelid::regclass)
    ELSE format('ALTER PUBLICATION %I ADD TABLE %s%s%s', pubname, prrelid::regclass,
        (SELECT format(' (%s)', string_agg(quote_ident(attname), ', '))
            FROM pg_attribute WHERE attrelid = prrelid AND attnum = ANY (prattrs::int2[])),
        ' WHERE (' || pg_get_expr(prqual, prrelid) || ')') END
FROM pg_publication_rel JOIN pg_publication ON pg_publication.oid = prpubid, unnest('{1,9}'::int[]) AS step
WHERE (prattrs IS NOT NULL OR prqual IS NOT NULL) AND prrelid IN (SELECT oid FROM changing WHERE is_ours);

-- 1: triggers, such as those of feeds whose table was dropped.
INSERT INTO todo SELECT 1, format('DROP TRIGGER %I ON %s', tgname, tab) FROM triggers;

-- 2 and 3: partitions leave their tables, which are dropped.
INSERT INTO todo SELECT 2, format('ALTER TABLE %s DETACH PARTITION %s', tab, part) FROM part;
INSERT INTO todo SELECT 3, format('DROP TABLE %s', tab) FROM keyed;

-- 4: columns get their new types.
INSERT INTO todo
SELECT 4, format('ALTER TABLE %s ', tab) || string_agg(concat_ws(', ',
    CASE WHEN called OR fixed IS NOT NULL THEN format('ALTER %I DROP DEFAULT', attname) END,
    CASE WHEN is_ours THEN format('ALTER %1$I TYPE %2$s %3$s USING %1$I::%2$s', attname, becomes,
        CASE WHEN becomes ~ 'text' THEN 'COLLATE "C"' END) END), ', ')
FROM changing
WHERE tab NOT IN (SELECT tab FROM keyed) AND (own OR parent IN (SELECT tab FROM keyed))
GROUP BY tab;

-- 5 to 7: partitioned tables come back, like a partition of theirs, with a partition for all new texts.
INSERT INTO todo
SELECT 5, format('CREATE TABLE %s (LIKE %s INCLUDING ALL) PARTITION BY %s', tab, min(part::text), pg_get_partkeydef(tab))
FROM part GROUP BY tab;
INSERT INTO todo SELECT 6, format('ALTER TABLE %s ATTACH PARTITION %s %s', tab, part, bounds) FROM part;
INSERT INTO todo SELECT 6, format('ALTER TABLE %s OWNER TO %s', tab, owner) FROM keyed;
INSERT INTO todo
SELECT unnest('{6,7}'::int[]), unnest(ARRAY[
    format('CREATE TABLE %s PARTITION OF %s FOR VALUES FROM (''z'') TO (MAXVALUE)', z, tab),
    format('ALTER TABLE %s OWNER TO %s', z, owner)])
FROM keyed, format('%I.%I', nspname, relname || '_z') AS z
WHERE becomes = 'text' AND NOT EXISTS (SELECT FROM part WHERE part.tab = keyed.tab AND bounds ~ 'MAXVALUE|DEFAULT');
INSERT INTO todo
SELECT 7, format('GRANT %s ON %s TO %s', privilege_type, tab, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC'))
FROM keyed, aclexplode(relacl);
INSERT INTO todo
SELECT 7, pg_get_triggerdef(oid) FROM pg_trigger
WHERE NOT tgisinternal AND tgrelid IN (SELECT tab FROM keyed) AND oid NOT IN (SELECT oid FROM triggers);

-- 5 to 8: new ids come from sequences, and constants stay.
INSERT INTO todo
SELECT step, CASE step
    WHEN 5 THEN format('CREATE SEQUENCE %s', seq)
    WHEN 6 THEN format('ALTER SEQUENCE %s OWNER TO %s', seq, owner)
    WHEN 7 THEN format('ALTER SEQUENCE %s OWNED BY %s.%I', seq, tab, attname)
    WHEN 8 THEN format('SELECT setval(%L, coalesce(max(%I), 0) + 1, false) FROM %s', seq, attname, tab) END
FROM changing, generate_series(5, 8) AS step
WHERE called AND own AND (becomes ~ 'int' OR step < 8 AND becomes <> 'uuid');
INSERT INTO todo
SELECT 8, format('GRANT USAGE ON SEQUENCE %s TO %s', seq, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC'))
FROM changing, aclexplode(relacl)
WHERE called AND own AND becomes <> 'uuid' AND privilege_type = 'INSERT';
INSERT INTO todo
SELECT 8, format('ALTER TABLE %s ALTER %I SET DEFAULT %s', tab, attname, CASE becomes
    WHEN 'uuid' THEN 'gen_random_uuid()'
    WHEN 'text' THEN format($$'z' || lpad(nextval(%L)::text, 15, '0')$$, seq)
    ELSE format('nextval(%L)', seq) END)
FROM changing WHERE called AND own;
INSERT INTO todo
SELECT 8, format('ALTER TABLE %s ALTER %I SET DEFAULT %L', tab, attname, pg_temp.value_of(fixed))
FROM changing WHERE fixed IS NOT NULL AND own;

-- ---- all of them
SELECT statement FROM todo ORDER BY step, statement \gexec
COMMIT;
