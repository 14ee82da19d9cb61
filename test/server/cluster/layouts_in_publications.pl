# A publication of all tables has the table of layouts: an identical row is left out, another layout of the same name is
# an error. What the subscriber uses stays, and replication continues.
use Servers;

my %node;
for my $n (1, 2)
{
	$node{$n} = plain_server(
		"node$n",
		allows_streaming => 'logical',
		conf => "snowflake_ids.machine_id = $n\nwal_retrieve_retry_interval = 100ms\n");
	$node{$n}->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids; CREATE TABLE mark (n int PRIMARY KEY)');
}
my ($one, $two) = @node{ 1, 2 };

sub create
{
	my ($name, $epoch) = @_;
	return "SELECT snowflake_layout_create('$name', '$epoch 00:00:00+00', '1 ms', 40, 5, 8)";
}

sub subscribe
{
	my ($here, $there, $name, $what, $with) = @_;
	(my $from = $there->connstr('postgres')) =~ s/'/''/g;
	$there->safe_psql('postgres', "CREATE PUBLICATION $name FOR $what");
	$here->safe_psql('postgres', "CREATE SUBSCRIPTION $name CONNECTION '$from' PUBLICATION $name WITH ($with)");
}

my $marks = 0;

sub arrives
{
	my ($what) = @_;
	$marks++;
	$one->safe_psql('postgres', "INSERT INTO mark VALUES ($marks)");
	ok($two->poll_query_until('postgres', "SELECT count(*) = $marks FROM mark"), $what) or diag slurp($two->logfile);
}
my $layouts = q{SELECT string_agg(name, ' ' ORDER BY name) FROM snowflake_ids.created_layout};

$_->safe_psql('postgres', create('first', '2020-01-01')) for $one, $two;
$one->safe_psql('postgres', create('only one', '2020-01-01'));
subscribe($two, $one, 'every', 'ALL TABLES', 'copy_data = true');
ok( $two->poll_query_until('postgres', q{SELECT count(*) > 1 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel}),
	'the first copy, of a layout that is there');
is($two->safe_psql('postgres', $layouts), 'first only one', 'both layouts are there, once');

$_->safe_psql('postgres', create('second', '2021-01-01')) for $two, $one;
arrives('the same layout, created on both nodes');

# The same row comes back, and is left out there as well.
subscribe($one, $two, 'back', 'TABLE snowflake_ids.created_layout', 'copy_data = false');
$two->safe_psql('postgres', create('third', '2022-01-01'));
ok($one->poll_query_until('postgres', q{SELECT count(*) = 1 FROM snowflake_ids.created_layout WHERE name = 'third'}),
	'a layout of the subscriber is on the publisher');
arrives('and its row that comes back does no harm');
is($_->safe_psql('postgres', $layouts), 'first only one second third', 'the same layouts on both') for $one, $two;

# The row arrives while this node's own is not committed.
my $session = Session->new($two);
$session->ask('BEGIN; ' . create('moment', '2023-01-01'));
$one->safe_psql('postgres', create('moment', '2023-01-01'));
ok( $two->poll_query_until(
		'postgres',
		q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'snowflake_ids.created_layout'::regclass AND NOT granted}),
	'the subscription waits for a layout that is not committed');
$session->ask('COMMIT');
arrives('the same layout, created at the same moment');
unlike(slurp($_->logfile), qr/duplicate key/, 'no duplicate key') for $one, $two;
$session->gone;

is($two->safe_psql('postgres', q{SELECT node FROM snowflake_decode(gen_snowflake('moment'), 'moment')}),
	2, 'the subscriber draws ids of the layout');

my $dump = $two->safe_psql('postgres', 'COPY snowflake_ids.created_layout TO STDOUT');
my ($rc, undef, $err) = $two->psql('postgres', "COPY snowflake_ids.created_layout FROM STDIN;\n$dump\n\\.\n");
is("$rc$err", '0', 'rows that are there, restored');

$two->safe_psql('postgres', "ALTER SUBSCRIPTION every DISABLE; ALTER SUBSCRIPTION every ENABLE");
$one->safe_psql('postgres', 'DROP SUBSCRIPTION back');
$two->safe_psql('postgres', create('different', '2024-01-01'));
$one->safe_psql('postgres', create('different', '2025-01-01'));
my $refused =
  qr/ERROR:  layout "different" already exists with other fields\n.*DETAIL:  The layout in this database has epoch 2024-01-01.*; the other one has epoch 2025-01-01/;
ok(eventually(sub { slurp($two->logfile) =~ $refused }), 'another layout of the same name is refused');
$two->safe_psql('postgres', q{SELECT snowflake_layout_drop('different')});
arrives('after the unused one is dropped, replication goes on');
is( $two->safe_psql('postgres', q{SELECT snowflake_timestamp(0, 'different') AT TIME ZONE 'UTC'}),
	'2025-01-01 00:00:00',
	'with the layout of the publisher');

$one->safe_psql('postgres', "SELECT snowflake_layout_drop(name) FROM unnest('{first,moment}'::text[]) AS name");
arrives('layouts are dropped');
is($two->safe_psql('postgres', $layouts), 'different moment only one second third', 'the one that was used stays');
like(slurp($two->logfile), qr/LOG:  layout "moment" was kept, although the publisher dropped it/,
	'and the log says so');

# The update can only come from a publisher whose triggers are off.
$one->safe_psql('postgres',
	"ALTER TABLE snowflake_ids.created_layout DISABLE TRIGGER ALL; UPDATE snowflake_ids.created_layout SET epoch = '2030-01-01'"
);
ok(eventually(sub { slurp($two->logfile) =~ /ERROR:  a layout never changes/ }), 'a change is refused');

$_->stop for $two, $one;
done_testing();
