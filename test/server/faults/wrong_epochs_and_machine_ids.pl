# A wrong epoch of a layout; base clocks in the configuration; machine ids that do not fit, or in recovery.
use Servers;

my $clock = clock();
my $server = new_server('layout', $clock, allows_streaming => 1);
my $session = Session->new($server);

sub setting
{
	my ($s, $line, @sessions) = @_;
	$s->append_conf('postgresql.conf', "snowflake_ids.$line\n");
	reload($s, @sessions);
}

sub shop
{
	my ($epoch) = @_;
	return
	  "SELECT snowflake_layout_create('shop', epoch => '$epoch', tick => '1 ms', timestamp_bits => 40, node_bits => 5, sequence_bits => 8)";
}
$session->ask(shop('2100-01-01 00:00:00+00'));
fails_with(
	$session,
	"SELECT gen_snowflake('shop')",
	'an epoch in the future',
	qr/the clock is before the first time/,
	qr/DETAIL:.*is 2100-01-01/);
is($session->ask("SELECT snowflake_layout_drop('shop')"), '', 'such a layout can be dropped');
is($session->ask(shop('2024-01-01 00:00:00+00')), '', 'and be made again');
like($session->ask("SELECT gen_snowflake('shop')"), qr/^\d+$/, 'now it draws');

my $ids = Ids->new;
$ids->draw($session);

$clock->step(60);
{
	my $ids = Ids->new;
	my @sessions = map { Session->new($server) } 1 .. 3;
	$_->send("SELECT 'i' || gen_snowflake_si() FROM generate_series(1, 150000)") for @sessions;
	my $operator = Session->new($server);
	my @said =
	  map { sleep 0.01; $operator->ask("SELECT snowflake_ids.reset(clock_timestamp(), 'snowflake_si')") } 1 .. 100;
	$ids->add($_->answer) for @sessions;
	is($ids->drawn, 450000, 'sessions go on through resets') or diag "@{ $ids->{said} }";
	cmp_ok(scalar(grep { $_ eq '' } @said), '>=', 20, 'many of which are done');
	is(join("\n", grep { !/^$|floor is below ids/ } @said), '', 'and the others refused, for ids above their floor');
	$ids->none_twice('resets while Snowflake-SI ids are drawn');
}

# Base clock and widths are not in an id, and no setting changes them.
{
	value($server, 'CREATE TABLE event (id bigint PRIMARY KEY DEFAULT gen_snowflake_si())');
	value($server, 'INSERT INTO event DEFAULT VALUES');
	setting($server, "si_base_clock = '2025-01-01 00:00:00+00'");
	setting($server, 'si_machine_bits = 7');
	restart_after($server, 'kill -9', -3600);
	is( $server->safe_psql(
			'postgres',
			'SELECT snowflake_si_timestamp(gen_snowflake_si()) > max(snowflake_si_timestamp(id)) FROM event'),
		't',
		'ids are of the same base clock after a restart');
	$server->adjust_conf('postgresql.conf', "snowflake_ids.$_", undef) for 'si_base_clock', 'si_machine_bits';
	restart_after($server, 'fast', -7200);
	$ids->draw($server);
	$ids->none_twice('settings of another base clock and width, restarts');
}

setting($server, 'machine_id = 32');
fails_with(
	$server,
	'SELECT gen_snowflake_si()',
	'a machine id too wide',
	qr/machine id 32 does not fit a Snowflake-SI id/,
	qr/DETAIL:.*0 to 31/, qr/HINT/);
is(value($server, 'SELECT sno_partition(gen_sno())'), 32, 'which sno can use');
setting($server, 'machine_id = 3');

$clock->set(0);

# ---- in recovery
$server->backup('base');
my $standby = standby_of($server, 'standby', clock());
my $there = Session->new($standby);
for my $call ('gen_sno()', 'gen_snowflake_si()', 'gen_mastic()')
{
	fails_with(
		$there, "SELECT $call",
		"a standby refuses $call",
		qr/cannot generate .* ids during recovery/,
		qr/HINT:.*gen_gid\(\)/);
}
like($there->ask("SELECT gen_gid('volume')"), qr/^\w+-\w+$/, 'and draws gids');
$standby->promote;
is($there->ask('SELECT sno_partition(gen_sno()), snowflake_si_machine_id(gen_snowflake_si()), gen_mastic() > 0'),
	'3|3|t', 'promoted, the same session draws with the primary\'s machine id');
$there->gone;
$standby->stop('immediate');
$server->stop('immediate');
done_testing();
