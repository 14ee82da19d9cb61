# The extension's objects in a database as lines of text.
package Catalogs;
use strict;
use warnings;

# Every member with every column of its catalog rows. Oids become descriptions; expressions and rules, which hold oids,
# are shown as SQL.
my $members = <<'END';
CREATE TEMP TABLE member AS
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = '%extension%');
-- What belongs to members without being one: rules, indexes, constraints, triggers, operators of families, array and
-- row types, TOAST tables.
DO $$
BEGIN
    LOOP
        INSERT INTO member SELECT DISTINCT d.classid, d.objid FROM pg_depend d JOIN member m ON (m.classid, m.objid) = (d.refclassid, d.refobjid)
            WHERE d.deptype IN ('i', 'a', 'P', 'S') AND NOT EXISTS (SELECT FROM member k WHERE (k.classid, k.objid) = (d.classid, d.objid));
        EXIT WHEN NOT FOUND;
    END LOOP;
END $$;
END
my $contents = $members . <<'END';
CREATE FUNCTION pg_temp.described(catalog regclass, r jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    f record;
    i integer;
    told jsonb;
BEGIN
    FOR f IN SELECT fkcols[1] AS name, pktable, pkcols[1] AS target, is_array FROM pg_get_catalog_foreign_keys()
             WHERE fktable = catalog AND cardinality(fkcols) = 1 AND pkcols[1] = 'oid' LOOP
        CONTINUE WHEN coalesce(r -> f.name::text, 'null') = 'null';
        told := r -> f.name::text;
        IF f.is_array THEN
            SELECT jsonb_agg(pg_describe_object(f.pktable, o::oid, 0) ORDER BY n) INTO told
                FROM unnest(CASE WHEN jsonb_typeof(r -> f.name::text) = 'array'
                                 THEN ARRAY(SELECT jsonb_array_elements_text(r -> f.name::text))
                                 ELSE string_to_array(r ->> f.name::text, ' ') END) WITH ORDINALITY AS a (o, n);
        ELSIF r ->> f.name::text ~ '^[0-9]+$' THEN -- else of type regproc: a name already
            told := to_jsonb(CASE WHEN r ->> f.name::text = '0' THEN '-' ELSE pg_describe_object(f.pktable, (r ->> f.name::text)::oid, 0) END);
        END IF;
        r := jsonb_set(r, ARRAY[f.name::text], coalesce(told, '[]'));
    END LOOP;
    -- A server may keep with an attribute when it was made: no two relations agree on that.
    IF r ->> 'attoptions' IS NOT NULL THEN
        r := jsonb_set(r, '{attoptions}', (SELECT coalesce(jsonb_agg(o), 'null') FROM jsonb_array_elements_text(r -> 'attoptions') AS o
                                           WHERE o NOT LIKE 'pg\_attver=%'));
    END IF;
    -- Storage, statistics and trees with oids in them.
    RETURN r - ARRAY['oid', 'relfilenode', 'relpages', 'reltuples', 'relallvisible', 'relallfrozen', 'relfrozenxid', 'relminmxid', 'relhasindex',
                     'reltoastrelid', 'proargdefaults', 'prosqlbody', 'ev_action', 'conbin', 'adbin', 'indexprs', 'indpred', 'tgqual', 'attversion'];
END $$;
CREATE TEMP TABLE content (what text);
DO $$
DECLARE
    c regclass;
    k text;
BEGIN
    FOR c IN SELECT DISTINCT classid::regclass FROM member LOOP
        EXECUTE format('INSERT INTO content SELECT %L || '' '' || pg_describe_object(%s, t.oid, 0) || '' '' || pg_temp.described(%s, to_jsonb(t))
                        FROM %s AS t JOIN member m ON m.classid = %s AND m.objid = t.oid',
            c, c::oid, c::oid, c, c::oid);
    END LOOP;
    -- Rows that have no oid of their own.
    FOREACH k IN ARRAY ARRAY['pg_aggregate aggfnoid', 'pg_attribute attrelid', 'pg_index indexrelid', 'pg_sequence seqrelid'] LOOP
        c := split_part(k, ' ', 1)::regclass;
        EXECUTE format('INSERT INTO content SELECT %L || '' '' || pg_temp.described(%s, to_jsonb(t))
                        FROM %s AS t JOIN member m ON m.classid = %L::regclass AND m.objid = t.%s',
            c, c::oid, c, CASE c::text WHEN 'pg_aggregate' THEN 'pg_proc' ELSE 'pg_class' END, split_part(k, ' ', 2));
    END LOOP;
END $$;
INSERT INTO content SELECT 'comment ' || pg_describe_object(classoid, objoid, objsubid) || ': ' || description
    FROM pg_description JOIN member ON classid = classoid AND objid = objoid;
INSERT INTO content SELECT 'initial privileges ' || pg_describe_object(classoid, objoid, objsubid) || ': ' || privtype::text || ' ' || initprivs::text
    FROM pg_init_privs JOIN member ON classid = classoid AND objid = objoid;
INSERT INTO content SELECT DISTINCT 'dependency ' || pg_describe_object(d.classid, d.objid, objsubid) || ' ' || deptype::text || ' ' || pg_describe_object(refclassid, refobjid, refobjsubid)
    FROM pg_depend d JOIN member USING (classid, objid);
INSERT INTO content SELECT 'definition ' || pg_get_functiondef(objid) FROM member JOIN pg_proc ON oid = objid
    WHERE classid = 'pg_proc'::regclass AND prokind <> 'a';
INSERT INTO content SELECT 'definition ' || relname || pg_get_viewdef(objid) FROM member JOIN pg_class ON oid = objid
    WHERE classid = 'pg_class'::regclass AND relkind = 'v';
INSERT INTO content SELECT 'definition ' || pg_get_indexdef(objid) FROM member JOIN pg_class ON oid = objid
    WHERE classid = 'pg_class'::regclass AND relkind = 'i';
INSERT INTO content SELECT 'definition ' || conname || pg_get_constraintdef(objid) FROM member JOIN pg_constraint ON oid = objid WHERE classid = 'pg_constraint'::regclass;
INSERT INTO content SELECT 'definition ' || pg_get_triggerdef(objid) FROM member JOIN pg_trigger ON oid = objid WHERE classid = 'pg_trigger'::regclass;
INSERT INTO content SELECT 'default ' || adrelid::regclass || ' ' || adnum || pg_get_expr(adbin, adrelid) FROM member JOIN pg_attrdef ON oid = objid WHERE classid = 'pg_attrdef'::regclass;
INSERT INTO content SELECT concat_ws(' ', 'extension', extversion, extrelocatable, extowner::regrole, extnamespace::regnamespace,
        (SELECT array_agg(c::regclass ORDER BY n) FROM unnest(extconfig) WITH ORDINALITY AS a (c, n)), extcondition)
    FROM pg_extension WHERE extname = '%extension%';
SELECT replace(regexp_replace(what, '(pg_toast_)\d+', '\1N', 'g'), E'\n', ' ') FROM content ORDER BY 1;
END

sub contents
{
	my ($node, $database, $extension) = @_;
	$extension //= 'snowflake_ids';
	return [ split /\n/, $node->safe_psql($database, $contents =~ s/%extension%/$extension/gr) ];
}

sub differences
{
	my ($updated, $fresh) = @_;
	my (%updated, %fresh);
	$updated{$_}++ for @$updated;
	$fresh{$_}++   for @$fresh;
	return sort((map { "only after the update: $_" } grep { ($fresh{$_} // 0) < $updated{$_} } keys %updated),
		(map { "only when fresh: $_" } grep { ($updated{$_} // 0) < $fresh{$_} } keys %fresh));
}

1;
