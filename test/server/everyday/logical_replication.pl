# Tables keyed by ids, as text and as binary, between two nodes that both draw.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Servers;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node;
for my $n (1, 2)
{
	$node{$n} = PostgreSQL::Test::Cluster->new("node$n");
	$node{$n}->init(allows_streaming => 'logical');
	$node{$n}->append_conf('postgresql.conf', "snowflake_ids.machine_id = $n");
	$node{$n}->start;
	$node{$n}->safe_psql('postgres', <<'END');
CREATE EXTENSION snowflake_ids;
CREATE TABLE as_text (id sno PRIMARY KEY DEFAULT gen_sno(), g gid(log) DEFAULT gen_gid('log'), si bigint DEFAULT gen_snowflake_si(), m mastic DEFAULT '18446744073709551615', body text);
CREATE TABLE as_binary (LIKE as_text INCLUDING ALL);
END
}
my ($one, $two) = @node{ 1, 2 };

# Before the subscription and after it, one by one and in bulk.
my $fill = "INSERT INTO %s (body) VALUES ('a'), ('b'), ('c')";
$one->safe_psql('postgres', sprintf $fill, $_) for 'as_text', 'as_binary';
(my $from = $one->connstr('postgres')) =~ s/'/''/g;
for my $table ('as_text', 'as_binary')
{
	$one->safe_psql('postgres', "CREATE PUBLICATION $table FOR TABLE $table");
	my $binary = $table eq 'as_binary' ? 'true' : 'false';
	$two->safe_psql('postgres',
		"CREATE SUBSCRIPTION $table CONNECTION '$from' PUBLICATION $table WITH (binary = $binary)");
}
$two->wait_for_subscription_sync($one, $_) for 'as_text', 'as_binary';

$two->safe_psql('postgres', 'ALTER TABLE as_text ADD COLUMN here sno DEFAULT gen_sno(2)');
for my $table ('as_text', 'as_binary')
{
	$one->safe_psql(
		'postgres',
		"INSERT INTO $table (body) SELECT 'bulk' FROM generate_series(1, 1000); UPDATE $table SET g = DEFAULT WHERE body = 'a';
		DELETE FROM $table WHERE body = 'b'; UPDATE $table SET id = DEFAULT WHERE body = 'c'");
}
$one->wait_for_catchup($_) for 'as_text', 'as_binary';
for my $table ('as_text', 'as_binary')
{
	my $rows =
	  "SELECT md5(string_agg(concat_ws(' ', id, g, si, m, body), chr(10) ORDER BY id)), count(*), count(DISTINCT id), string_agg(DISTINCT sno_partition(id)::text, ' ') FROM $table";
	my $there = $two->safe_psql('postgres', $rows);
	is($there, $one->safe_psql('postgres', $rows), "$table: the same rows");
	like($there, qr/\|1002\|1002\|1$/, "$table: all of them, with the publisher's ids");
}
is( $two->safe_psql(
		'postgres',
		"SELECT count(here), count(DISTINCT here), string_agg(DISTINCT concat_ws(':', sno_partition(here), sno_metabyte(here)), ' ') FROM as_text WHERE body = 'bulk'"
	),
	'1000|1000|2:2',
	'apply drew ids of the subscriber for its own column');

$two->safe_psql('postgres', "INSERT INTO as_binary (body) SELECT 'own' FROM generate_series(1, 1000)");
is( $two->safe_psql(
		'postgres',
		'SELECT count(DISTINCT sno_partition(id)), count(*) - count(DISTINCT id), count(*) - count(DISTINCT si) FROM as_binary'
	),
	'2|0|0',
	'two nodes, two machine ids, no id twice');

# Created layouts: what the subscriber uses stays, and replication continues.
my $create = "SELECT snowflake_layout_create('%s', '%s', '10 ms', 40, 8, 14)";
my $layouts = "SELECT string_agg(name, ' ' ORDER BY name) FROM snowflake_ids.created_layout";
$one->safe_psql('postgres', sprintf "$create; $create; $create",
	'kept', '2020-01-01', 'unused', '2021-01-01', 'changed', '2022-01-01');
$one->safe_psql('postgres', 'CREATE PUBLICATION layouts FOR TABLE snowflake_ids.created_layout');
$two->safe_psql('postgres', "CREATE SUBSCRIPTION layouts CONNECTION '$from' PUBLICATION layouts");
$two->wait_for_subscription_sync($one, 'layouts');
is($two->safe_psql('postgres', $layouts), 'changed kept unused', 'layouts: created');
my $session = Session->new($two);
is($session->ask("SELECT gen_snowflake('kept') > 0, snowflake_timestamp(0, 'changed') = '2022-01-01'"),
	't|t', 'layouts: a session of the subscriber uses them');
$one->safe_psql('postgres',
	"SELECT snowflake_layout_drop(name) FROM unnest(ARRAY['kept', 'unused', 'changed']) AS name");
$one->safe_psql('postgres', sprintf $create, 'changed', '2023-01-01');
$one->wait_for_catchup('layouts');
is($two->safe_psql('postgres', $layouts), 'changed kept', 'layouts: one that was used stays');
like(
	slurp($two->logfile),
	qr/LOG:  layout "kept" was kept, although the publisher dropped it/,
	'layouts: the log says so');
is($session->ask("SELECT gen_snowflake('kept') > 0, snowflake_timestamp(0, 'changed') = '2023-01-01'"),
	't|t', 'layouts: the session sees the change');

# The update can only come from a publisher whose triggers are off.
$one->safe_psql('postgres',
	"ALTER TABLE snowflake_ids.created_layout DISABLE TRIGGER ALL; UPDATE snowflake_ids.created_layout SET epoch = '2024-01-01'"
);
my $refused = qr/ERROR:  a layout never changes/;
ok(eventually(sub { slurp($two->logfile) =~ $refused }), 'layouts: a change is refused');
is($session->ask("SELECT snowflake_timestamp(0, 'changed') = '2023-01-01'"), 't', 'layouts: and is not there');
$two->safe_psql('postgres', 'DROP SUBSCRIPTION layouts');

$_->stop for $two, $one;
done_testing();
