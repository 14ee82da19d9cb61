# Two nodes, and a key that is converted on the publisher. A publication of all tables would have the conversion's own
# tables, which the subscriber does not have: such a conversion is refused, before it has changed anything. With a
# publication of named tables, replication goes on through a conversion.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node;
for my $name ('shop', 'copy')
{
	$node{$name} = PostgreSQL::Test::Cluster->new("publications_$name");
	$node{$name}->init(allows_streaming => 'logical');
	$node{$name}->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\n");
	$node{$name}->start;
	$node{$name}->safe_psql('postgres', <<'END');
CREATE EXTENSION snowflake_ids;
CREATE EXTENSION snowflake_ids_convert;
CREATE TABLE mark (n int PRIMARY KEY);
CREATE TABLE product (id bigint PRIMARY KEY, created timestamptz NOT NULL DEFAULT now());
END
}
my ($shop, $copy) = @node{ 'shop', 'copy' };
$shop->safe_psql('postgres',
	q{INSERT INTO product SELECT n, timestamptz '2026-02-01 00:00:00+00' + n * interval '1 s' FROM generate_series(1, 100) n}
);
$shop->safe_psql('postgres', 'CREATE PUBLICATION every FOR ALL TABLES');
(my $from = $shop->connstr('postgres')) =~ s/'/''/g;
$copy->safe_psql('postgres', "CREATE SUBSCRIPTION every CONNECTION '$from' PUBLICATION every");
$copy->wait_for_subscription_sync($shop, 'every');

my $marks = 0;

sub arrives
{
	my ($what) = @_;
	$marks++;
	$shop->safe_psql('postgres', "INSERT INTO mark VALUES ($marks)");
	ok($copy->poll_query_until('postgres', "SELECT count(*) = $marks FROM mark"), $what);
}
arrives('all tables are replicated');

# The rows with which the plan tries new ids are not replicated.
is( $shop->safe_psql('postgres', q{SELECT count(*) FROM snowflake_ids_convert_plan('product', 'id', 'sno', 'created')}),
	2,
	'the plan names both publication and map');
arrives('and replication goes on');

# The subscriber even has the new column.
$copy->safe_psql('postgres', 'ALTER TABLE product ADD COLUMN snowflake_ids_new_1 sno');
my $convert = q{SET client_min_messages = warning;
CALL snowflake_ids_convert('product', 'id', 'sno', 'created', concurrently => false, publications => true)};
my (undef, undef, $err) = $shop->psql('postgres', $convert);
like(
	$err,
	qr/publication every would have the map of old and new keys too: make it a publication of named tables/,
	'a publication of all tables: the conversion is refused');
is( $shop->safe_psql(
		'postgres',
		q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'product'::regclass AND attname ~ '^snowflake_ids' AND NOT attisdropped}
	),
	0,
	'it has changed nothing');
arrives('and replication goes on');

# Named tables, without the one that is converted.
$copy->safe_psql('postgres', 'DROP SUBSCRIPTION every; TRUNCATE mark');
$shop->safe_psql('postgres', 'DROP PUBLICATION every; CREATE PUBLICATION named FOR TABLE mark');
$copy->safe_psql('postgres', "CREATE SUBSCRIPTION named CONNECTION '$from' PUBLICATION named");
$copy->wait_for_subscription_sync($shop, 'named');
$shop->safe_psql('postgres', $convert);
is($shop->safe_psql('postgres', q{SELECT pg_typeof(id), count(*) FROM product GROUP BY 1}), 'sno|100', 'converted');
arrives('with named tables, replication goes on through a conversion');

$_->stop for $copy, $shop;
done_testing();
