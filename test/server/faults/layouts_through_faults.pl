# Ids of known and created layouts through each end of a server life, layouts that share a generator, a drop that meets a
# first use, and a promotion.
use Servers;

my $clock = clock();
my $server = new_server('layouts', $clock, allows_streaming => 1, conf => "snowflake_ids.machine_id = 3\n");
my $create = "SELECT snowflake_layout_create(%s, '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14)";
$server->safe_psql('postgres', sprintf $create, "'acme'");
$server->safe_psql('postgres',
	"SELECT snowflake_layout_create('same twitter', '2010-11-04 01:42:54.657+00', '1 ms', 40, 10, 12)");
$server->safe_psql('postgres',
	"SELECT snowflake_layout_create('shop', epoch => '2024-01-01 00:00:00+00', tick => '1 ms', timestamp_bits => 40, node_bits => 5, sequence_bits => 8)"
);
$server->backup('base');

sub draw
{
	my ($ids, $where) = @_;
	my $paced =
	  "SELECT concat_ws(E'\\n', 'st' || gen_snowflake('twitter'), 'st' || gen_snowflake('same twitter'), 'so' || gen_snowflake('sonyflake'),
	                                  'sa' || gen_snowflake('acme'), 'sh' || gen_snowflake('shop'), 'i' || gen_snowflake_si(), 'm' || gen_snowflake('mastic'), 'm' || gen_mastic(), pg_sleep(0.0005)) FROM generate_series(1, 60)";
	my $bulk = join ';',
	  map { "SELECT '$_->[0]' || gen_snowflake('$_->[1]') FROM generate_series(1, 200)" }[ 'st', 'twitter' ],
	  [ 'st', 'same twitter' ], [ 'so', 'sonyflake' ], [ 'sa', 'acme' ], [ 'sh', 'shop' ], [ 'i', 'snowflake_si' ],
	  [ 'm', 'mastic' ];
	my $answer = Session::ask_once($where, "$paced; $bulk");
	is($ids->add($answer), 60 * 8 + 7 * 200, 'drawn') or diag $answer;
}

sub draw_after
{
	my ($ids, $start) = @_;
	draw($ids, $server);
	$clock->set_to($start);
	draw($ids, $server);
	$clock->set(0);
	draw($ids, $server);
}

for my $how ('fast', 'immediate', 'kill -9')
{
	my $ids = Ids->new;
	my $start = $clock->now;
	draw($ids, $server);
	restart_after($server, $how, -7200);
	draw_after($ids, $start);
	$ids->none_twice("layouts, $how");
}

my $ids = Ids->new;
my $start = $clock->now;
draw($ids, $server);
$clock->set(-7200);
kill_backend($server);
draw_after($ids, $start);
$ids->none_twice('layouts, kill -9 of a backend');

$ids = Ids->new;
$start = $clock->now;
draw($ids, $server);
$server->stop('immediate');
unlink $server->data_dir . '/snowflake_ids.ceiling' or die;
$clock->set(-7200);
start_at($server, $clock);
draw_after($ids, $start);
$ids->none_twice('layouts, ceiling file lost');

$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
$server->safe_psql('other', sprintf $create, "'emca'");
my $both = Ids->new;
my @sessions = map { [ Session->new($server, dbname => $_->[0]), $_->[1] ] }[ 'postgres', 'acme' ], [ 'other', 'emca' ];
$_->[0]->send("SELECT 'sa' || gen_snowflake('$_->[1]') FROM generate_series(1, 50000)") for @sessions;
$both->add($_->[0]->answer) for @sessions;
is($both->drawn, 100000, 'two databases draw at once');
$both->none_twice('two databases with names of their own for the same numbers');

$server->safe_psql('postgres', "SELECT snowflake_layout_create('first', '2020-01-01 00:00:00+00', '1 ms', 40, 7, 15)");
my ($drawer, $dropper) = (Session->new($server), Session->new($server));
$drawer->ask('BEGIN');
like($drawer->ask("SELECT gen_snowflake('first')"), qr/^\d+$/, 'a first id');
$dropper->send("SELECT snowflake_layout_drop('first')");
ok( $server->poll_query_until(
		'postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'layout_drop'"),
	'a drop waits for it');
$drawer->ask('COMMIT');
like($dropper->answer, qr/layout "first" is in use/, 'and is refused');

$server->safe_psql('postgres',
	"SELECT snowflake_layout_create('passing', '2020-01-01 00:00:00+00', '1 ms', 40, 6, 16)");
like($drawer->ask("SELECT snowflake_timestamp(0, 'passing')"), qr/^20(20|19)-/, 'a layout that is not used');
$dropper->ask("SELECT snowflake_layout_drop('passing')");
like($drawer->ask("SELECT snowflake_timestamp(0, 'passing')"), qr/does not exist/, 'is gone in all sessions');
$dropper->ask("SELECT snowflake_layout_create('passing', '2023-06-01 00:00:00+00', '1 ms', 40, 6, 16)");
like($drawer->ask("SELECT snowflake_timestamp(0, 'passing')"), qr/^2023-/, 'and is another one');

{
	my $ids = Ids->new;
	$drawer->ask("SELECT snowflake_layout_create('mine', '2026-01-01 00:00:00+00', '1 ms', 41, 5, 8)");
	my $draw = join ';', "SELECT 'i' || gen_snowflake('mine') FROM generate_series(1, 3500)",
	  "SELECT 'i' || gen_snowflake_si() FROM generate_series(1, 2000)";
	is($ids->add($_->ask($draw)), 5500, "a layout like Snowflake-SI's") for $drawer, $dropper;
	$ids->none_twice('a layout of the numbers of Snowflake-SI');
}

# ---- a standby decodes, and generates once it is promoted
my $behind = clock();
$behind->set(-3 * 3600);
my $standby = standby_of($server, 'standby', $behind);
my $there = Session->new($standby);
for my $layout ('twitter', 'acme', 'mastic')
{
	fails_with(
		$there,
		"SELECT gen_snowflake('$layout')",
		"a standby refuses $layout",
		qr/cannot generate .* ids during recovery/i,
		qr/HINT:.*gen_gid\(\)/);
}
is($there->ask("SELECT (snowflake_decode(make_snowflake('acme', now(), 9, 1), 'acme')).node"),
	9, 'it decodes created layouts');
$ids = Ids->new;
draw($ids, $server);
$server->wait_for_catchup($standby, 'replay', flushed_lsn($server));
$server->stop('immediate');
$standby->promote;
draw($ids, $standby);
$behind->set(0);
draw($ids, $standby);
$ids->none_twice('layouts, promotion of a standby whose clock is three hours behind');
$there->gone;

# ---- the floor of a reset, also inside a millisecond
value($standby,
	"SELECT snowflake_layout_create('short_ticks', '2020-01-01 00:00:00+00', '100 us', 43, 12, 8), gen_snowflake('short_ticks')"
);
my $floor = value($standby, "SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 hour 0.0009 seconds'");
value($standby, "SELECT snowflake_ids.reset('$floor', 'layout', 9)");
is(value($standby, "SELECT snowflake_timestamp(gen_snowflake('short_ticks'), 'short_ticks') > '$floor'"),
	't', 'a floor inside a millisecond is passed');
$standby->stop('immediate');

done_testing();
