# The Snowflake-SI layout is frozen by its first id; machine ids that do not fit; and machine ids in recovery.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('layout', $clock, allows_streaming => 1);
my $session = Session->new($server);

sub setting
{
	my ($s, $line, @sessions) = @_;
	$s->append_conf('postgresql.conf', "snowflake_ids.$line\n");
	reload($s, @sessions);
}

# A base clock in the future by mistake: no id, so nothing is frozen.
setting($server, "si_base_clock = '2100-01-01 00:00:00+00'", $session);
fails_with(
	$session,
	'SELECT gen_snowflake_si()',
	'a base clock in the future',
	qr/the clock is before the first time/,
	qr/DETAIL:.*starts at 2100-01-01/);
setting($server, "si_base_clock = '2026-01-01 00:00:00+00'", $session);

my $ids = Ids->new;
$ids->draw($session);

# A reset that leaves the layout as it is, while sessions draw: nothing is lowered for a moment. The clock has passed the
# ids, which began ahead of it.
$clock->step(60);
{
	my $ids = Ids->new;
	my @sessions = map { Session->new($server) } 1 .. 3;
	$_->send("SELECT 'i' || gen_snowflake_si() FROM generate_series(1, 150000)") for @sessions;
	my $operator = Session->new($server);
	my @said =
	  map { sleep 0.01; $operator->ask("SELECT snowflake_ids_reset(clock_timestamp(), 'snowflake_si')") } 1 .. 100;
	$ids->add($_->answer) for @sessions;
	is($ids->drawn, 450000, 'sessions go on through resets') or diag "@{ $ids->{said} }";
	cmp_ok(scalar(grep { $_ eq '' } @said), '>=', 20, 'many of which are done');
	is(join("\n", grep { !/^$|floor is below ids/ } @said), '', 'and the others refused, for ids above their floor');
	$ids->none_twice('resets while Snowflake-SI ids are drawn');
}

# The last reset may have come after the last id.
$ids->draw($session);
my $frozen = qr/Snowflake-SI base clock or machine bits differ from those of the first id/;
my $hint = qr/HINT:.*si_base_clock.*si_machine_bits.*snowflake_ids_reset\(\)/;
setting($server, "si_base_clock = '2025-01-01 00:00:00+00'", $session);
fails_with(
	$session,
	'SELECT gen_snowflake_si()',
	'another base clock, in a session that drew',
	$frozen, qr/DETAIL:.*2026-01-01/, $hint);
restart_after($server, 'fast', -3600);
fails_with($server, 'SELECT gen_snowflake_si()', 'another base clock, after a restart', $frozen, $hint);
setting($server, "si_base_clock = '2026-01-01 00:00:00+00'");
setting($server, 'si_machine_bits = 6');
restart_after($server, 'kill -9', -3600);
fails_with(
	$server,
	'SELECT gen_snowflake_si()',
	'another width, after a crash',
	$frozen, qr/DETAIL:.*5 machine bits/, $hint);
setting($server, 'si_machine_bits = 5');
$ids->draw($server);
$ids->none_twice('layout changed and changed back');
setting($server, 'machine_id = 32');
fails_with(
	$server,
	'SELECT gen_snowflake_si()',
	'a machine id too wide',
	qr/machine id 32 does not fit a Snowflake-SI id/,
	qr/DETAIL:.*0 to 31/, qr/HINT/);
is(value($server, 'SELECT sno_partition(gen_sno())'), 32, 'which sno can use');
setting($server, 'machine_id = 3');

# The ceiling file is not all that remembers: it may be gone, or be that of another server.
setting($server, 'machine_id = 1');
$ids->draw($server);
setting($server, "si_base_clock = '2025-01-01 00:00:00+00'");
$server->stop('fast');
$clock->step(-600);
unlink $server->data_dir . '/snowflake_ids.ceiling' or die;
start_at($server, $clock);
fails_with(
	$server,
	'SELECT gen_snowflake_si()',
	'another base clock, and the ceiling file was removed',
	$frozen, qr/DETAIL:.*This database's.*2026-01-01/, $hint);
setting($server, "si_base_clock = '2026-01-01 00:00:00+00'");
$ids->draw($server);
$ids->none_twice('layout changed, ceiling file removed');
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids; SELECT gen_snowflake_si()');
setting($server, 'machine_id = 3');

# The way out: an operator unfreezes it.
value($server, 'SELECT gen_snowflake_si()');
setting($server, 'si_machine_bits = 7');
is(value($server, "SELECT snowflake_ids_reset(clock_timestamp() + interval '2 hours', 'snowflake_si')"),
	'', 'an operator unfreezes the layout');
is(value($server, "SELECT snowflake_ids_reset(clock_timestamp() + interval '2 hours 1 second')"),
	'', 'another reset, before the first id');
is(Session->new($server, dbname => 'other')->ask('SELECT sno_partition(gen_sno())'),
	3, 'another database, before the first id');
restart_after($server, 'fast');
is(value($server, 'SELECT sno_partition(gen_sno())'), 3, 'a restart, before the first id');
is( value(
		$server,
		"SELECT count(*) FROM snowflake_ids_stats WHERE format = 'snowflake_si' AND last_timestamp > clock_timestamp() + interval '1 day'"
	),
	0,
	'nothing was put to the end of the format');
is(value($server, 'SELECT snowflake_si_machine_id(gen_snowflake_si())'), 3, 'and ids have the new one');
fails_with(
	Session->new($server, dbname => 'other'),
	'SELECT gen_snowflake_si()',
	'another database keeps its own',
	$frozen, qr/DETAIL:.*This database's.*5 machine bits/, $hint);
$clock->set(0);

# ---- in recovery
$server->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($server, 'base', has_streaming => 1);
start_at($standby, clock());
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
setting($standby, 'standby_machine_id = 9', $there);
is($there->ask('SELECT sno_partition(gen_sno()), snowflake_si_machine_id(gen_snowflake_si())'),
	'9|9', 'with an id of its own it draws');
fails_with($there, 'SELECT gen_mastic()', 'but no Mastic ids: they have no machine id', qr/during recovery/, qr/HINT/);
$standby->promote;
is($there->ask('SELECT sno_partition(gen_sno()), snowflake_si_machine_id(gen_snowflake_si()), gen_mastic() > 0'),
	'3|3|t', 'promoted, the same session draws with the primary\'s machine id');
$there->gone;
$standby->stop('immediate');
$server->stop('immediate');
done_testing();
