# pg_dump and pg_restore: types with modifiers, defaults, partitions, indexes and data come back, and new ids are above
# the old ones.
use strict;
use warnings;
use Servers ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Servers::plain_server('dump');
$node->safe_psql('postgres', 'CREATE DATABASE source');
$node->safe_psql('source', <<'END');
CREATE SCHEMA ids;
CREATE EXTENSION snowflake_ids SCHEMA ids;
SET search_path = ids, public;
CREATE TABLE public.item (
    id sno PRIMARY KEY DEFAULT gen_sno(7), volume gid(volume) NOT NULL DEFAULT gen_gid('volume'), log gid(log), segment gid(segment),
    anything gid, mastic mastic UNIQUE DEFAULT gen_mastic(), masticint bigint REFERENCES public.item (mastic), si bigint DEFAULT gen_snowflake_si(),
    created timestamptz GENERATED ALWAYS AS (sno_timestamp(id)) STORED, parents sno[], CHECK (volume <> gid_empty('volume')));
CREATE INDEX item_mastic ON public.item (mastic_timestamp(mastic));
CREATE INDEX item_masticint ON public.item (mastic_timestamp(masticint));
CREATE INDEX item_masticint_ordered ON public.item ((masticint::mastic));
CREATE INDEX item_brin ON public.item USING brin (id);
CREATE INDEX item_hash ON public.item USING hash (volume);
CREATE TABLE public.line (item sno REFERENCES public.item, n int) PARTITION BY RANGE (item);
CREATE TABLE public.line_old PARTITION OF public.line FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2026-01-01 00:00:00+00'));
CREATE TABLE public.line_new PARTITION OF public.line FOR VALUES FROM (sno_lower_bound('2026-01-01 00:00:00+00')) TO (MAXVALUE);
CREATE DOMAIN public.volume_id AS gid(volume) DEFAULT gen_gid('volume');
CREATE VIEW public.seen AS SELECT id, sno_timestamp(id) AS at, gen_sno() > id AS older FROM public.item;
CREATE FUNCTION public.fresh() RETURNS sno LANGUAGE sql SET search_path = ids BEGIN ATOMIC SELECT gen_sno(); END;
CREATE ROLE regress_dump_user;
GRANT EXECUTE ON FUNCTION gen_sno(integer, integer) TO regress_dump_user;
INSERT INTO public.item (log, anything, parents) SELECT CASE WHEN n % 2 = 0 THEN gen_gid('log') END, gen_gid((ARRAY['volume', 'log', 'segment'])[n % 3 + 1]), ARRAY[gen_sno(), gen_sno()]
    FROM generate_series(1, 1000) AS n;
UPDATE public.item SET masticint = mastic;
CREATE VIEW public.recent AS SELECT id FROM public.item WHERE mastic >= timestamptz '2026-01-01 00:00:00+00' AND timestamptz '9999-01-01 00:00:00+00' > mastic AND mastic > 5;
INSERT INTO public.line SELECT id, 1 FROM public.item;
SELECT snowflake_layout_create('acme', '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14), snowflake_layout_create('low', '2021-01-01 00:00:00+00', '1 ms', 41, 10, 12, true);
CREATE TABLE public.event (id bigint PRIMARY KEY DEFAULT gen_snowflake('acme'), low bigint DEFAULT gen_snowflake('low'), tweet bigint DEFAULT gen_snowflake('twitter'),
    created timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14)) STORED,
    CHECK (snowflake_timestamp(id, '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14) < '2100-01-01'));
INSERT INTO public.event SELECT FROM generate_series(1, 100);
END
$node->safe_psql('source', "ALTER TABLE item ADD COLUMN other ids.gid(log)");

Servers::caught_up($node, 'source', 'ids');

my $dir = PostgreSQL::Test::Utils::tempdir();
my $rows = 'SELECT md5(string_agg(i::text, chr(10) ORDER BY id)) FROM item AS i';
my $acl =
  "SELECT has_function_privilege('regress_dump_user', 'ids.gen_sno(integer, integer)', 'EXECUTE'), has_function_privilege('public', 'ids.gen_sno(integer, integer)', 'EXECUTE')";
my $types =
  "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'item'::regclass AND attnum > 0";
my $last = $node->safe_psql('source', 'SELECT ids.max(id), ids.max(mastic) FROM item');
my ($last_sno, $last_mastic) = split /\|/, $last;
is( $node->safe_psql('source', $types),
	'id ids.sno, volume ids.gid(volume), log ids.gid(log), segment ids.gid(segment), anything ids.gid, mastic ids.mastic, masticint bigint, si bigint, created timestamp with time zone, parents ids.sno[], other ids.gid(log)',
	'types before');

my $layouts = 'SELECT * FROM snowflake_ids.layouts ORDER BY name';
my $events =
  "SELECT count(*), min(id), max(id), bool_and(created = ids.snowflake_timestamp(id, 'acme')), md5(string_agg(ids.snowflake_timestamp(low, 'low')::text, ' ' ORDER BY low)) FROM event";
like($node->safe_psql('source', $events), qr/^100\|.*\|t\|/, 'ids of created layouts before');
my $last_event = $node->safe_psql('source', 'SELECT max(id) FROM event');

for my $format ('custom', 'plain', 'inserts')
{
	my $file = "$dir/$format";
	my $target = "target_$format";
	command_ok(
		[   'pg_dump', '-F',
			$format eq 'custom'  ? 'c'         : 'p',
			$format eq 'inserts' ? '--inserts' : (),
			'-f', $file, $node->connstr('source') ],
		"pg_dump, $format");
	$node->safe_psql('postgres', "CREATE DATABASE $target");
	command_ok(
		$format eq 'custom'
		? [ 'pg_restore', '--exit-on-error', '-d', $node->connstr($target), $file ]
		: [ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-f', $file, $node->connstr($target) ],
		"restore, $format");
	is($node->safe_psql($target, $types), $node->safe_psql('source', $types), "$format: types with their modifiers");
	is($node->safe_psql($target, $rows), $node->safe_psql('source', $rows), "$format: rows");
	is($node->safe_psql($target, 'SELECT tableoid::regclass, count(*) FROM line GROUP BY 1'),
		'line_new|1000', "$format: partitions");
	is($node->safe_psql($target, $acl), 't|f', "$format: privileges");
	is($node->safe_psql($target, $layouts), $node->safe_psql('source', $layouts), "$format: layouts");
	is($node->safe_psql($target, $events), $node->safe_psql('source', $events), "$format: ids of created layouts");
	is($node->safe_psql($target, "INSERT INTO event DEFAULT VALUES RETURNING id > $last_event"),
		't', "$format: and new ones above");
	my ($rc, undef, $err) =
	  $node->psql($target, "\\set VERBOSITY sqlstate\nINSERT INTO item (volume) VALUES (ids.gen_gid('log'))");
	like($err, qr/22023/, "$format: a column still refuses other kinds");
	is( $node->safe_psql(
			$target,
			"INSERT INTO item DEFAULT VALUES RETURNING ids.sno_metabyte(id), ids.gid_kind(volume), id > '$last_sno', mastic > $last_mastic"
		),
		'7|volume|t|t',
		"$format: defaults draw above what is there");
	is($node->safe_psql($target, 'SELECT count(*) FILTER (WHERE older) >= 1000 FROM seen'), 't', "$format: view");
	is($node->safe_psql($target, "SELECT fresh() > '$last_sno'"), 't', "$format: function");
}

# Trusted: the database's owner does it. Layouts are for those who may create them.
$node->safe_psql('postgres',
	"CREATE ROLE regress_joe LOGIN; CREATE DATABASE owned OWNER regress_joe; CREATE DATABASE owned_again OWNER regress_joe; CREATE DATABASE owned_layouts OWNER regress_joe"
);
$node->safe_psql('owned',
	"SET ROLE regress_joe; CREATE EXTENSION snowflake_ids; CREATE TABLE item (id sno DEFAULT gen_sno() PRIMARY KEY); INSERT INTO item SELECT FROM generate_series(1, 10)"
);

sub as_joe
{
	my ($target, $file) = @_;
	return [ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-f', $file, $node->connstr($target) . ' user=regress_joe' ];
}
command_ok([ 'pg_dump', '-f', "$dir/regress_joe", $node->connstr('owned') . ' user=regress_joe' ],
	'the owner of a database dumps it');
command_ok(as_joe('owned_again', "$dir/regress_joe"), 'and restores it');
is($node->safe_psql('owned_again', 'SELECT count(*) FROM item'), 10, 'with the rows');
$node->safe_psql('owned', "SELECT snowflake_layout_create('acme', '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14)");
command_ok([ 'pg_dump', '-f', "$dir/regress_joe", $node->connstr('owned') . ' user=regress_joe' ], 'with a layout');
command_fails_like(
	as_joe('owned_layouts', "$dir/regress_joe"),
	qr/permission denied to restore layouts/,
	'which he may not create');
$node->safe_psql('owned_again',
	'GRANT EXECUTE ON FUNCTION snowflake_layout_create(text, timestamptz, interval, integer, integer, integer, boolean) TO regress_joe'
);
$node->safe_psql('owned_again',
	"SET ROLE regress_joe; INSERT INTO snowflake_ids.created_layout VALUES ('acme', '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14, false)"
);
is($node->safe_psql('owned_again', "SELECT gen_snowflake('acme') > 0"), 't', 'unless that is granted');

my $dump = slurp_file("$dir/plain");
unlike(
	$dump,
	qr/CREATE (TYPE|MATERIALIZED VIEW|OPERATOR|SCHEMA (IF NOT EXISTS )?snowflake_ids)/,
	'members of the extension are not dumped');
like($dump, qr/CREATE EXTENSION IF NOT EXISTS snowflake_ids/, 'the extension is');

$node->stop;
done_testing();
