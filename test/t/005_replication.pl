# Logical replication of tables keyed by ids, as text and as binary, between two nodes that both draw.
use strict;
use warnings;
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
CREATE TABLE as_text (id sno PRIMARY KEY DEFAULT gen_sno(), g gid(log) DEFAULT gen_gid('log'), si bigint DEFAULT gen_snowflake_si(), body text);
CREATE TABLE as_binary (LIKE as_text INCLUDING ALL);
END
}
my ($one, $two) = @node{ 1, 2 };

# Rows that are there before the subscription, and rows that come after it, one by one and in bulk.
my $fill = "INSERT INTO %s (body) VALUES ('a'), ('b'), ('c')";
$one->safe_psql('postgres', sprintf $fill, $_) for 'as_text', 'as_binary';
(my $from = $one->connstr('postgres')) =~ s/'/''/g;
for my $table ('as_text', 'as_binary')
{
	$one->safe_psql('postgres', "CREATE PUBLICATION $table FOR TABLE $table");
	my $binary = $table eq 'as_binary' ? 'true' : 'false';
	$two->safe_psql('postgres', "CREATE SUBSCRIPTION $table CONNECTION '$from' PUBLICATION $table WITH (binary = $binary)");
}
$two->wait_for_subscription_sync($one, $_) for 'as_text', 'as_binary';

# A subscriber's own column defaults are used for columns that the publisher does not have.
$two->safe_psql('postgres', 'ALTER TABLE as_text ADD COLUMN here sno DEFAULT gen_sno(2)');
for my $table ('as_text', 'as_binary')
{
	$one->safe_psql('postgres', "INSERT INTO $table (body) SELECT 'bulk' FROM generate_series(1, 1000); UPDATE $table SET g = DEFAULT WHERE body = 'a';
		DELETE FROM $table WHERE body = 'b'; UPDATE $table SET id = DEFAULT WHERE body = 'c'");
}
$one->wait_for_catchup($_) for 'as_text', 'as_binary';
for my $table ('as_text', 'as_binary')
{
	my $rows = "SELECT md5(string_agg(concat_ws(' ', id, g, si, body), chr(10) ORDER BY id)), count(*), count(DISTINCT id), string_agg(DISTINCT sno_partition(id)::text, ' ') FROM $table";
	my $there = $two->safe_psql('postgres', $rows);
	is($there, $one->safe_psql('postgres', $rows), "$table: the same rows");
	like($there, qr/\|1002\|1002\|1$/, "$table: all of them, with the publisher's ids");
}
is( $two->safe_psql('postgres', "SELECT count(here), count(DISTINCT here), string_agg(DISTINCT concat_ws(':', sno_partition(here), sno_metabyte(here)), ' ') FROM as_text WHERE body = 'bulk'"),
	'1000|1000|2:2',
	'apply drew ids of the subscriber for its own column');

# Both draw: no id meets another.
$two->safe_psql('postgres', "INSERT INTO as_binary (body) SELECT 'own' FROM generate_series(1, 1000)");
is($two->safe_psql('postgres', 'SELECT count(DISTINCT sno_partition(id)), count(*) - count(DISTINCT id), count(*) - count(DISTINCT si) FROM as_binary'), '2|0|0', 'two nodes, two machine ids, no id twice');

$_->stop for $two, $one;
done_testing();
