# The pages of convert/ do what they say: their commands are run, and the output that they show is what comes.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib "$FindBin::RealBin/../../test/t/lib";
use Page;

my $server = PostgreSQL::Test::Cluster->new('migration');
$server->init;
$server->append_conf('postgresql.conf', "fsync = off\ntimezone = 'Asia/Tokyo'");
$server->start;

my $page = Page->new('convert/migration.md');
my $db = $page->run_chapter($server, 'A conversion');
$page->run_chapter($server, 'Old keys elsewhere', dbname => $db);
$page->run_chapter($server, $_) for 'Installing', 'Interrupting and undoing';
$page->all_run;

$page = Page->new('convert/existing_ids.md');
$page->run_chapter($server, $_) for 'sno, gid and uuid', 'mastic from bigint';
$page->all_run;

$page = Page->new('convert/problems.md');
$page->run_chapter($server, 'A dump taken during a conversion');
$page->all_run;

$page = Page->new('convert/recipes.md');
$page->run_chapter($server, $_)
  for 'Choosing the time of the changeover', 'Tables without a column of times', 'Checking the result yourself';

# A publisher and a subscriber. After each block, the subscriber has caught up.
my %servers = map { $_ => PostgreSQL::Test::Cluster->new($_) } qw(shop copy);
my $machine_id = 0;
for (@servers{qw(shop copy)})
{
	$_->init(allows_streaming => 'logical');
	$_->append_conf('postgresql.conf', "fsync = off\nsnowflake_ids.machine_id = " . ++$machine_id);
	$_->start;
}
my ($publisher, $subscriber) = @servers{qw(shop copy)};
$_->safe_psql('postgres', 'CREATE DATABASE app')                       for values %servers;
$_->safe_psql('app', 'CREATE EXTENSION snowflake_ids_convert CASCADE') for values %servers;
my $not_synced = q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')};
for my $block ($page->take('Tables in logical replication', 'sql'))
{
	my ($name) = $block->{content} =~ /^-- on (\w+)/ or die "$block->{name} does not say where";
	Page::run_block($block, $block->{name}, $servers{$name}, 'app', Page::for_servers($block->{content}, \%servers));
	$subscriber->poll_query_until('app', $not_synced) or die 'the tables are not copied';
}
my $rows = 'SELECT count(*), min(id), max(id), min(name) FROM product';
my $converted = $publisher->safe_psql('app', $rows);
like($converted, qr/^100\|/, 'all rows were converted');
is($subscriber->safe_psql('app', $rows), $converted, 'the subscriber has copied the converted rows');
$publisher->safe_psql('app', q{INSERT INTO product (name) VALUES ('new')});
ok($subscriber->poll_query_until('app', q{SELECT count(*) = 101 AND bool_or(name = 'new') FROM product}),
	'and receives new rows');
$page->all_run;
$_->stop for $subscriber, $publisher, $server;
done_testing();
