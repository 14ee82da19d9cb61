# ALTER EXTENSION UPDATE from a frozen previous version: the catalogs become those of a fresh installation, and data,
# dependent objects and privileges stay.
use strict;
use warnings;
use FindBin;
use File::Copy qw(copy);
use lib "$FindBin::RealBin/lib";
use Faults ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
$node->start;

# The previous version's script is for this test alone: it is not installed with the extension.
my $script = 'snowflake_ids--0.9.sql';
my $directory = $node->config_data('--sharedir') . '/extension';
copy("$FindBin::RealBin/../upgrade/$script", "$directory/$script")
  or plan skip_all => "cannot write to $directory: $!";

# Every member of the extension with every column of its catalog rows. Oids become descriptions: the server tells
# which columns hold them. Expressions and rules hold oids inside: they are shown as SQL instead.
my $members = <<'END';
CREATE TEMP TABLE member AS
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
        AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids');
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
    FROM pg_extension WHERE extname = 'snowflake_ids';
SELECT replace(regexp_replace(what, '(pg_toast_)\d+', '\1N', 'g'), E'\n', ' ') FROM content ORDER BY 1;
END
sub contents { my ($database) = @_; return [ split /\n/, $node->safe_psql($database, $contents) ] }
sub value { my ($database, $query) = @_; return $node->safe_psql($database, $query) }

# ---- what a user of 0.9 has
$node->safe_psql('postgres', "CREATE DATABASE $_") for 'old', 'fresh';
$node->safe_psql('postgres', 'CREATE ROLE regress_operator; CREATE ROLE regress_reader LOGIN');
$node->safe_psql('fresh', 'CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids');
$node->safe_psql('old', <<'END');
CREATE SCHEMA ids;
CREATE EXTENSION snowflake_ids SCHEMA ids VERSION '0.9';
SET search_path = ids, public;
CREATE TABLE public.item (
    id sno PRIMARY KEY DEFAULT gen_sno(7), volume gid(volume) NOT NULL DEFAULT gen_gid('volume'), mastic bigint UNIQUE DEFAULT gen_mastic(),
    si bigint DEFAULT gen_snowflake_si(), created timestamptz GENERATED ALWAYS AS (sno_timestamp(id)) STORED, CHECK (volume <> gid_empty('volume')));
CREATE INDEX item_mastic ON public.item (mastic_timestamp(mastic));
CREATE INDEX item_brin ON public.item USING brin (id);
CREATE INDEX item_hash ON public.item USING hash (volume);
CREATE TABLE public.line (item sno REFERENCES public.item, n int) PARTITION BY RANGE (item);
CREATE TABLE public.line_old PARTITION OF public.line FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-01-01 00:00:00+00'));
CREATE TABLE public.line_new PARTITION OF public.line FOR VALUES FROM (sno_lower_bound('2026-01-01 00:00:00+00')) TO (MAXVALUE);
CREATE DOMAIN public.volume_id AS gid(volume) DEFAULT gen_gid('volume');
CREATE VIEW public.recent AS SELECT id, created FROM public.item WHERE id >= now() - interval '1 hour';
CREATE VIEW public.busy AS SELECT format, node, issued FROM snowflake_ids_stats WHERE issued > 0;
CREATE MATERIALIZED VIEW public.newest AS SELECT max(id) AS id FROM public.item;
CREATE FUNCTION public.fresh() RETURNS sno LANGUAGE sql SET search_path = ids BEGIN ATOMIC SELECT gen_sno(); END;
GRANT EXECUTE ON FUNCTION gen_sno(integer, integer), snowflake_ids_stats_reset() TO regress_operator;
REVOKE SELECT ON snowflake_ids_stats FROM PUBLIC;
GRANT SELECT ON snowflake_ids_stats TO regress_operator;
GRANT USAGE ON SCHEMA ids TO regress_operator;
INSERT INTO public.item SELECT FROM generate_series(1, 1000);
INSERT INTO public.line SELECT id, 1 FROM public.item;
END
is(value('old', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids'}), '0.9', 'the previous version is installed');
if ($node->pg_version >= 18)
{
	# As it is in a database that pg_upgrade brought from an older server.
	value('old', "ALTER OPERATOR FAMILY ids.$_ USING btree DROP FUNCTION 6 (ids." . ($_ =~ s/_ops//r) . ')') for 'sno_ops', 'gid_ops';
}
my $rows = 'SELECT md5(string_agg(i::text, chr(10) ORDER BY id)), count(*) FROM item AS i';
my $indexes = 'SELECT string_agg(indexrelid::regclass || pg_relation_filenode(indexrelid)::text || indisvalid, chr(10) ORDER BY indexrelid) FROM pg_index WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = \'public\'::regnamespace)';
my $dependents = q{SELECT string_agg(pg_get_viewdef(oid), chr(10) ORDER BY relname) FROM pg_class WHERE relname IN ('recent', 'busy', 'newest')};
my $acl = q{SELECT has_function_privilege('regress_operator', 'ids.gen_sno(integer, integer)', 'EXECUTE'), has_function_privilege('public', 'ids.gen_sno(integer, integer)', 'EXECUTE'),
	has_function_privilege('regress_operator', 'ids.snowflake_ids_stats_reset()', 'EXECUTE'), has_table_privilege('regress_operator', 'ids.snowflake_ids_stats', 'SELECT'),
	has_table_privilege('regress_reader', 'ids.snowflake_ids_stats', 'SELECT')};
my @before = map { value('old', $_) } $rows, $indexes, $dependents;
my ($last_sno, $last_mastic, $last_si) = split /\|/, value('old', 'SELECT ids.max(id), max(mastic), max(si) FROM item');
is(value('old', 'SELECT count(*) > 0 FROM busy'), 't', 'its objects work with our library');
my $ledger = (stat $node->data_dir . '/snowflake_ids.ledger')[1];

# ---- the update, with a session that stays connected and goes on drawing
my $session = Session->new($node, dbname => 'old');
like($session->ask('SELECT ids.gen_sno()'), qr/^[2-9a-x]{16}$/, 'a session draws before the update');
value('old', 'ALTER EXTENSION snowflake_ids UPDATE');
is(value('old', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids'}),
	value('fresh', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids'}), 'the extension is at the current version');
is_deeply([ map { value('old', $_) } $rows, $indexes, $dependents ], \@before, 'rows, indexes and views are as they were');
is(value('old', $acl), 't|f|t|t|f', 'privileges are as the users left them');
is((stat $node->data_dir . '/snowflake_ids.ledger')[1], $ledger, 'the ledger is the same file');
is(value('old', "INSERT INTO item DEFAULT VALUES RETURNING ids.sno_metabyte(id), id OPERATOR(ids.>) '$last_sno', mastic > $last_mastic, si > $last_si"),
	'7|t|t|t', 'defaults go on above what is there');
is(value('old', 'SELECT count(*) FROM recent'), '1001', 'views over the types work');
is(value('old', 'SELECT count(*) > 0 FROM busy'), 't', 'views over the statistics work');
like(value('old', "SET search_path = ids, public; SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id >= timestamptz '2026-01-01 00:00:00+00' AND id < timestamptz '2026-01-02 00:00:00+00'"),
	qr/Index (Only )?Scan|Bitmap/, 'indexes serve time predicates');
is($session->ask("SELECT ids.gen_sno() OPERATOR(ids.>) '$last_sno', ids.gen_mastic() > $last_mastic"), 't|t', 'a session that was connected goes on');
$session->gone;

# A dump restores what users granted, which it would not if the update had made that a part of the extension.
my $dump = `pg_dump -s -d "@{[ $node->connstr('old') ]}"`;
like($dump, qr/GRANT ALL ON FUNCTION ids\.snowflake_ids_stats_reset\(\) TO regress_operator/, 'privileges are dumped');
like($dump, qr/GRANT SELECT ON TABLE ids\.snowflake_ids_stats TO regress_operator/, 'those of views too');
value('old', <<'END');
REVOKE ALL ON FUNCTION ids.gen_sno(integer, integer), ids.snowflake_ids_stats_reset() FROM regress_operator;
REVOKE ALL ON ids.snowflake_ids_stats FROM regress_operator;
GRANT SELECT ON ids.snowflake_ids_stats TO PUBLIC;
END

# ---- the same as a fresh installation
my ($old, $fresh) = (contents('old'), contents('fresh'));
cmp_ok(scalar @$fresh, '>', 1000, 'many facts are compared: ' . @$fresh);
my (%old, %fresh);
$old{$_}++ for @$old;
$fresh{$_}++ for @$fresh;
my @differences = sort((map { "only after the update: $_" } grep { ($fresh{$_} // 0) < $old{$_} } keys %old),
	(map { "only when fresh: $_" } grep { ($old{$_} // 0) < $fresh{$_} } keys %fresh));
is(scalar @differences, 0, 'an updated extension is as a fresh one') or diag join "\n", map { substr $_, 0, 300 } @differences[ 0 .. ($#differences > 19 ? 19 : $#differences) ];

# The comparison sees a difference.
value('fresh', "COMMENT ON FUNCTION ids.gen_mastic() IS 'other'; ALTER FUNCTION ids.gen_mastic() COST 7");
my $changed = contents('fresh');
is(scalar(grep { !$fresh{$_} } @$changed), 3, 'a changed comment and a changed cost are seen: a row, a comment, a definition');

is(value('old', 'SELECT string_agg(source || target || path, chr(10)) FROM pg_extension_update_paths($$snowflake_ids$$) WHERE source = $$0.9$$ AND path IS NOT NULL'),
	'0.91.00.9--1.0', 'there is one way up');
$node->stop;
unlink "$directory/$script";
done_testing();
