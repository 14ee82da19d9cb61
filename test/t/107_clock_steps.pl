# The wall clock steps while sessions draw.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('steps', $clock);
my $session = Session->new($server);
my $ids = Ids->new;

sub setting { $server->append_conf('postgresql.conf', "snowflake_ids.$_[0]\n"); $server->reload; sleep 0.2; }
# Milliseconds of real time, and the answer.
sub timed
{
	my ($query) = @_;
	my $began = time;
	my $said = $session->ask($query);
	return ((time - $began) * 1000, $said);
}
sub stat_of { return value($server, "SELECT $_[0] FROM snowflake_ids_stats WHERE format = '$_[1]'") }

# ---- sno: the first step back toggles the bit, at once
{
	$ids->draw($session);
	my $mark = log_mark($server);
	$clock->step(-30);
	my $before = $clock->now;
	my ($ms, $said) = timed("SELECT i, sno_ticktock(i), extract(epoch FROM sno_timestamp(i)) FROM (SELECT gen_sno() AS i) s");
	my ($id, $toggle, $time) = split /\|/, $said;
	$ids->add("s$id");
	is($toggle, 1, 'the first regression toggles the tick-tock bit');
	cmp_ok(abs($time - $before), '<', 2, 'the id has the time of the clock: it sorts beside those of then');
	cmp_ok($ms, '<', 1000, sprintf 'without a wait (%.1f ms)', $ms);
	ok(wait_for_log($server, qr/LOG:  clock went back: tick-tock bit of sno ids of node 0 is now 1/, $mark), 'logged');
	$ids->draw($session);
	my $lines = () = log_since($server, $mark) =~ /clock went back/g;
	is($lines, 1, 'once');
	is(stat_of('regressions', 'sno'), 1, 'and counted');
	is(stat_of('ticktock', 'sno'), 1, 'the statistics show the bit');

	# A second one at the time that the first went back to: no bit is free, the default is to hold.
	$clock->step(-60);
	($ms, $said) = timed("SELECT i, sno_ticktock(i) FROM (SELECT gen_sno() AS i) s");
	like($said, qr/\|1$/, 'a regression behind all safe times does not toggle');
	cmp_ok($ms, '<', 1000, 'hold does not wait');
	$ids->add('s' . $said =~ s/\|.*//r);
	$ids->draw($session);
	$clock->step(90);
	$ids->draw($session);
	$ids->none_twice('two steps back, and forward again');
}

# ---- Mastic and Snowflake-SI hold the last time and count on; a new tick at most once per tick of real time
{
	$ids = Ids->new;
	$clock->set(0);
	$ids->draw($session);
	$clock->step(-100);
	$ids->draw($session);
	for my $format (['mastic', 'mastic_timestamp', 65536], ['snowflake_si', 'snowflake_si_timestamp', 256])
	{
		my ($name, $timestamp, $pool) = @$format;
		my $said = $session->ask("SELECT extract(epoch FROM $timestamp(gen_$name())) - extract(epoch FROM clock_timestamp())");
		cmp_ok($said, '>', 95, "$name holds the last time");
	}
	# 20,000 Snowflake-SI ids need 78 ticks: they take 78 ms, not less, and the lead stays.
	my $lead = stat_of('clock_lead', 'snowflake_si');
	my ($ms, $said) = timed("SELECT 'i' || gen_snowflake_si() FROM generate_series(1, 20000)");
	$ids->add($said);
	cmp_ok($ms, '>', 77, sprintf 'a held Snowflake-SI keeps its rate (20000 ids in %.0f ms)', $ms);
	my $grown = stat_of('clock_lead', 'snowflake_si') - $lead;
	cmp_ok($grown, '<', 3, sprintf 'the lead over the clock does not grow (%.1f ms)', $grown);
	cmp_ok(stat_of('holds', 'snowflake_si'), '>', 70, 'held ticks are counted');
	$clock->step(100);
	$ids->none_twice('Mastic and Snowflake-SI hold');
}

# ---- wait: as the reference, until min(H, S + 1)
{
	$ids = Ids->new;
	setting("clock_regression = 'wait'");
	$clock->set(300);
	$ids->draw($session);    # H
	$clock->step(-20);
	$ids->add($session->ask("SELECT 's' || gen_sno()"));    # toggles: safe = H, tick = H - 20 s
	$clock->step(-0.7);
	my ($ms, $said) = timed("SELECT 's' || gen_sno()");
	$ids->add($said);
	cmp_ok($ms, '>', 500, sprintf 'wait ends when the clock is back at the last id (%.0f ms)', $ms);
	cmp_ok($ms, '<', 1500, 'and not later');
	# Beyond safe now; one more step back toggles; then behind safe, but safe is nearer than the last id.
	$clock->set(400);
	$ids->add($session->ask("SELECT 's' || gen_sno()"));
	my $safe_end = $clock->now;
	$clock->step(-5);
	$ids->add($session->ask("SELECT 's' || gen_sno()"));    # safe = 400
	$clock->step(60);
	$ids->add($session->ask("SELECT 's' || gen_sno()"));    # H = 455 s
	$clock->set_to($safe_end - 0.6);
	($ms, $said) = timed("SELECT 's' || gen_sno()");
	$ids->add($said);
	cmp_ok($ms, '>', 400, sprintf 'or just past the safe time, where the bit can toggle again (%.0f ms)', $ms);
	cmp_ok($ms, '<', 1500, 'and not later');
	# An hour is longer than max_wait.
	$session->ask("SET snowflake_ids.max_wait = '300ms'");
	$clock->step(-3600);
	($ms, $said) = timed('SELECT gen_mastic()');
	like($said, qr/ERROR:  gave up waiting for a Mastic id after 300 ms.*DETAIL:.*clock is behind.*HINT:.*snowflake_ids_reset\(\).*max_wait/s, 'wait is bounded by max_wait');
	cmp_ok($ms, '<', 1500, sprintf 'in real time (%.0f ms)', $ms);
	$session->ask('RESET snowflake_ids.max_wait');
	$clock->step(3600);

	setting("clock_regression = 'error'");
	$ids->draw($session);
	$clock->step(-50);
	fails_with($session, 'SELECT gen_snowflake_si()', 'error: an error with a way out',
		qr/cannot generate Snowflake-SI ids: the clock is behind the last id/, qr/HINT:.*clock_regression.*snowflake_ids_reset\(\)/);
	$clock->step(50);
	setting("clock_regression = 'hold'");
	$ids->draw($session);
	$ids->none_twice('policies wait and error');
}

# ---- a year ahead for a moment
{
	$ids = Ids->new;
	$ids->draw($session);
	my $was = $clock->{offset};
	$clock->step(365 * 86400);
	$ids->draw($session);
	$clock->set($was);
	$ids->draw($session);
	my %lead = map { $_ => stat_of('clock_lead', $_) } qw(sno mastic snowflake_si);
	for (1 .. 5) { $ids->draw($session, 20, 1000) }
	for my $format (sort keys %lead)
	{
		my $grown = stat_of('clock_lead', $format) - $lead{$format};
		cmp_ok($grown, '<', 5, sprintf '%s: 10000 ids after a jump of a year was corrected, the lead grew by %.1f ms', $format, $grown);
	}
	cmp_ok($lead{mastic}, '>', 364 * 86400e3, 'Mastic goes on at the time it had reached');
	$ids->none_twice('a jump of a year, corrected');

	my $mark = log_mark($server);
	setting("max_clock_lead = '1h'");
	fails_with($session, 'SELECT gen_mastic()', 'max_clock_lead makes it an error',
		qr/cannot generate Mastic ids: the clock is behind the last id/, qr/HINT:.*max_clock_lead.*snowflake_ids_reset\(\)/);
	fails_with($session, 'SELECT snowflake_ids_reset(clock_timestamp())', 'a reset below issued ids must be forced', qr/floor is below ids that have been issued/, qr/HINT:.*forced/);
	# The operator gives the ids of that year up, and what he names as floor is kept.
	is($session->ask("SELECT snowflake_ids_reset(clock_timestamp() + interval '1 second', force => true)"), '', 'forced, it leads back');
	$clock->step(2);
	my $new = Ids->new;
	$new->draw($session);
	is($session->ask('SELECT abs(extract(epoch FROM mastic_timestamp(gen_mastic()) - clock_timestamp())) < 10'), 't', 'to the time of the clock');
	$ids->add($_) for keys %{ $new->{seen} };
	$ids->none_twice('forced reset after a jump of a year');
	setting('max_clock_lead = -1');
}

# ---- before the epoch of a format
{
	my $own = Session->new($server);
	my $was = $clock->{offset};
	my $to_2020 = 1577836800 - time;
	$clock->set($to_2020);
	fails_with($own, 'SELECT gen_mastic()', 'a clock before the format\'s epoch', qr/cannot generate Mastic ids: the clock is before the first time/, qr/HINT:.*clock/);
	$clock->set($was);
	is($own->ask('SELECT mastic_timestamp(gen_mastic()) > timestamptz \'2026-01-01\''), 't', 'goes on when it is corrected');
}

# ---- many sessions, a clock that goes back and forth all the time
{
	$ids = Ids->new;
	# From where the steps are: pg_sleep() goes by the wall clock, and a step far back would make it as much longer.
	$clock->set(0);
	my @sessions = map { Session->new($server) } 1 .. 4;
	$_->send(join ';', (Ids::query(3, 100)) x 40) for @sessions;
	srand 42;
	for (1 .. 60) { $clock->set(rand(10) - 5); sleep 0.03 }
	$ids->add($_->answer) for @sessions;
	$ids->none_twice('sixty steps of up to 10 s under four sessions');
}
undef $session;
$server->stop;
done_testing();
