# ALTER EXTENSION UPDATE from the first version (test/kept) to the present and a made-up one: catalogs become those of a
# fresh installation; data, dependent objects and privileges stay.
use strict;
use warnings;
use Catalogs ();
use Servers  ();
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Servers::plain_server('upgrade');
sub value { my ($database, $query) = @_; return $node->safe_psql($database, $query) }

# ---- the versions: "next", and "poor", whose update script forgot a comment
my $directory = $node->config_data('--sharedir') . '/extension';
-w $directory or plan skip_all => "cannot write to $directory";
my $version = value('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'snowflake_ids'});
my $install = slurp_file("$directory/snowflake_ids--$version.sql");
my ($kept) = sort glob "$ENV{SNOWFLAKE_IDS_SRC}/test/kept/*/snowflake_ids--*.sql.gz";
my ($first) = $kept =~ /--(.*)\.sql\.gz$/;
my $added = <<'END';
CREATE FUNCTION snowflake_ids_made_up(id sno) RETURNS timestamptz
    AS 'MODULE_PATHNAME', 'snowflake_ids_sno_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
ALTER FUNCTION gen_mastic() COST 7;
REVOKE EXECUTE ON FUNCTION sno_partition(sno) FROM PUBLIC;
END
my $comment = "COMMENT ON FUNCTION snowflake_ids_made_up(sno) IS 'made up';\n";
my %script = (
	$first => scalar `gunzip -c $kept`,
	'next' => $install . $added . $comment,
	'poor' => $install . $added . $comment,
	"$version--next" => $added . $comment,
	"$version--poor" => $added);

for (keys %script)
{
	open my $f, '>', "$directory/snowflake_ids--$_.sql" or die;
	print $f $script{$_};
	close $f or die;
}

# ---- what a user has
$node->safe_psql('postgres', "CREATE DATABASE $_") for 'old', 'fresh';
$node->safe_psql('postgres', 'CREATE ROLE regress_operator; CREATE ROLE regress_reader LOGIN');
$node->safe_psql('fresh', 'CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids VERSION "next"');
$node->safe_psql('old', <<'END' =~ s/%first%/$first/r);
CREATE SCHEMA ids;
CREATE EXTENSION snowflake_ids SCHEMA ids VERSION "%first%";
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
CREATE VIEW public.busy AS SELECT format, machine_id, issued FROM snowflake_ids.stats WHERE issued > 0;
CREATE MATERIALIZED VIEW public.newest AS SELECT max(id) AS id FROM public.item;
CREATE FUNCTION public.fresh() RETURNS sno LANGUAGE sql SET search_path = ids BEGIN ATOMIC SELECT gen_sno(); END;
GRANT EXECUTE ON FUNCTION gen_sno(integer, integer), snowflake_ids.stats_reset() TO regress_operator;
REVOKE SELECT ON snowflake_ids.stats FROM PUBLIC;
GRANT SELECT ON snowflake_ids.stats TO regress_operator;
GRANT USAGE ON SCHEMA ids TO regress_operator;
INSERT INTO public.item SELECT FROM generate_series(1, 1000);
INSERT INTO public.line SELECT id, 1 FROM public.item;
END
my $rows = 'SELECT md5(string_agg(i::text, chr(10) ORDER BY id)), count(*) FROM item AS i';
my $indexes =
  'SELECT string_agg(indexrelid::regclass || pg_relation_filenode(indexrelid)::text || indisvalid, chr(10) ORDER BY indexrelid) FROM pg_index WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = \'public\'::regnamespace)';
my $dependents =
  q{SELECT string_agg(pg_get_viewdef(oid), chr(10) ORDER BY relname) FROM pg_class WHERE relname IN ('recent', 'busy', 'newest')};
my $acl =
  q{SELECT has_function_privilege('regress_operator', 'ids.gen_sno(integer, integer)', 'EXECUTE'), has_function_privilege('public', 'ids.gen_sno(integer, integer)', 'EXECUTE'),
	has_function_privilege('regress_operator', 'snowflake_ids.stats_reset()', 'EXECUTE'), has_table_privilege('regress_operator', 'snowflake_ids.stats', 'SELECT'),
	has_table_privilege('regress_reader', 'snowflake_ids.stats', 'SELECT')};
my @before = map { value('old', $_) } $rows, $indexes, $dependents;

Servers::caught_up($node, 'old', 'ids');
my ($last_sno, $last_mastic, $last_si) = split /\|/, value('old', 'SELECT ids.max(id), max(mastic), max(si) FROM item');
is(value('old', 'SELECT count(*) > 0 FROM busy'), 't', 'its objects work with our library');
my $life = value('old', 'SELECT life FROM snowflake_ids.status()');

# ---- the update, while a session draws
my $session = Session->new($node, dbname => 'old');
like($session->ask('SELECT ids.gen_sno()'), qr/^[2-9a-x]{16}$/, 'a session draws before the update');
value('old', 'ALTER EXTENSION snowflake_ids UPDATE TO "next"');
is( value('old', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids'}),
	value('fresh', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids'}),
	'the extension is at the next version');
is_deeply([ map { value('old', $_) } $rows, $indexes, $dependents ],
	\@before, 'rows, indexes and views are as they were');
is(value('old', $acl), 't|f|t|t|f', 'privileges are as the users left them');
is(value('old', 'SELECT life FROM snowflake_ids.status()'), $life, 'the ledger is the same');
is( value(
		'old',
		"INSERT INTO item DEFAULT VALUES RETURNING ids.sno_metabyte(id), id OPERATOR(pg_catalog.>) '$last_sno', mastic > $last_mastic, si > $last_si"
	),
	'7|t|t|t',
	'defaults go on above what is there');
is(value('old', 'SELECT count(*) FROM recent'), '1001', 'views over the types work');
is(value('old', 'SELECT count(*) > 0 FROM busy'), 't', 'views over the statistics work');
like(
	value(
		'old',
		"SET search_path = ids, public; SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id >= timestamptz '2026-01-01 00:00:00+00' AND id < timestamptz '2026-01-02 00:00:00+00'"
	),
	qr/Index (Only )?Scan|Bitmap/,
	'indexes serve time predicates');
is( $session->ask(
		"SELECT ids.gen_sno() OPERATOR(pg_catalog.>) '$last_sno', ids.gen_mastic() OPERATOR(pg_catalog.>) $last_mastic"
	),
	't|t',
	'a session that was connected goes on');
$session->gone;

# An update must not make users' grants a part of the extension.
my $dump = `pg_dump -s -d "@{[ $node->connstr('old') ]}"`;
like($dump, qr/GRANT ALL ON FUNCTION snowflake_ids\.stats_reset\(\) TO regress_operator/, 'privileges are dumped');
like($dump, qr/GRANT SELECT ON TABLE snowflake_ids\.stats TO regress_operator/, 'those of views too');
value('old', <<'END');
REVOKE ALL ON FUNCTION ids.gen_sno(integer, integer), snowflake_ids.stats_reset() FROM regress_operator;
REVOKE ALL ON snowflake_ids.stats FROM regress_operator;
GRANT SELECT ON snowflake_ids.stats TO PUBLIC;
END

# ---- the same as a fresh installation
my ($old, $fresh) = map { Catalogs::contents($node, $_) } 'old', 'fresh';
cmp_ok(scalar @$fresh, '>', 1000, 'many facts are compared: ' . @$fresh);
my @differences = Catalogs::differences($old, $fresh);
is(scalar @differences, 0, 'an updated extension is as a fresh one')
  or diag join "\n", map { substr $_, 0, 300 } @differences[ 0 .. ($#differences > 19 ? 19 : $#differences) ];

value('postgres',
	'CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids; ALTER EXTENSION snowflake_ids UPDATE TO "poor"');
value('postgres', q{UPDATE pg_extension SET extversion = 'next' WHERE extname = 'snowflake_ids'});
is_deeply(
	[ Catalogs::differences(Catalogs::contents($node, 'postgres'), $fresh) ],
	['only when fresh: comment function ids.snowflake_ids_made_up(ids.sno): made up'],
	'a forgotten comment is seen');
value('fresh', "COMMENT ON FUNCTION ids.gen_mastic() IS 'other'; ALTER FUNCTION ids.gen_mastic() COST 8");
my %fresh = map { $_ => 1 } @$fresh;
is(scalar(grep { !$fresh{$_} } @{ Catalogs::contents($node, 'fresh') }),
	3, 'a changed comment and a changed cost are seen: a row, a comment, a definition');

$node->stop;
unlink map { "$directory/snowflake_ids--$_.sql" } grep { $_ ne $version } keys %script;
done_testing();
