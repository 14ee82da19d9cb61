# Overflow: the wait can be interrupted in every way that a session can be, is bounded, and holds no lock; and its
# other form, an error. A sno pool of 6 and a clock that the test keeps from reaching the next tick make long waits:
# the generator is minutes ahead, and the policy is to wait for the clock.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('waits', $clock, conf => "snowflake_ids.clock_regression = 'wait'\n");
my $session = Session->new($server);
value($server, 'SELECT gen_mastic()');
$clock->set(-300);

sub waiting
{
	my ($n) = @_;
	for (1 .. 100)
	{
		return 1 if value($server, "SELECT waiting FROM snowflake_ids_stats WHERE format = 'mastic'") == $n;
		sleep 0.05;
	}
	return 0;
}

# Sends a draw that has to wait minutes; returns how long it took from `act` to its end, in ms, and what it said.
sub wait_and
{
	my ($act) = @_;
	my $own = Session->new($server);
	my $pid = $own->ask("SET snowflake_ids.max_wait = '5min'; SELECT pg_backend_pid()");
	$own->send('SELECT gen_mastic()');
	ok(waiting(1), 'it waits, and the statistics show it');
	my $shown = value($server, "SELECT wait_event_type || '/' || wait_event FROM pg_stat_activity WHERE pid = $pid");
	note "shown as $shown";
	is(value($server, "SELECT count(*) FROM pg_locks WHERE pid = $pid AND locktype <> 'virtualxid' AND mode <> 'AccessShareLock'"), 0, 'and holds no lock');
	my $began = time;
	$act->($pid);
	my $said = $own->answer;
	return ((time - $began) * 1000, $said);
}

my ($ms, $said) = wait_and(sub { value($server, "SELECT pg_cancel_backend($_[0])") });
like($said, qr/ERROR:  canceling statement due to user request/, sprintf 'cancelled (%.0f ms)', $ms);
cmp_ok($ms, '<', 2000, 'at once');
($ms, $said) = wait_and(sub { value($server, "SELECT pg_terminate_backend($_[0])") });
like($said, qr/terminating connection/, sprintf 'terminated (%.0f ms)', $ms);
cmp_ok($ms, '<', 2000, 'at once');
ok(waiting(0), 'nobody waits any more');

# The three limits: the client's, ours, and none.
my $began = time;
$said = $session->ask("SET statement_timeout = '300ms'; SELECT gen_mastic()");
my $took = (time - $began) * 1000;
like($said, qr/ERROR:  canceling statement due to statement timeout/, sprintf 'statement_timeout ends it (%.0f ms)', $took);
cmp_ok($took, '<', 2500, 'in time');
$session->ask('RESET statement_timeout');
$began = time;
$said = $session->ask("SET snowflake_ids.max_wait = '250ms'; SELECT gen_mastic()");
$took = (time - $began) * 1000;
like($said, qr/ERROR:  gave up waiting for a Mastic id after 250 ms/, sprintf 'max_wait ends it (%.0f ms)', $took);
cmp_ok($took, '<', 2500, 'in time');

# It is measured on the monotonic clock: a wall clock that goes on stepping back does not make it longer.
$session->send('SELECT gen_mastic()');
$began = time;
for (1 .. 5) { sleep 0.02; $clock->step(-10) }
$said = $session->answer;
$took = (time - $began) * 1000;
like($said, qr/gave up waiting/, sprintf 'max_wait while the clock steps back (%.0f ms)', $took);
cmp_ok($took, '<', 2500, 'in time');

# The clock is corrected while a session waits: it draws.
$session->ask("SET snowflake_ids.max_wait = '5min'");
$session->send('SELECT gen_mastic() > 0');
ok(waiting(1), 'a session waits');
$clock->set(1);
is($session->answer, 't', 'and draws when the clock is right again');

# ---- overflow proper
$server->append_conf('postgresql.conf', "snowflake_ids.sno_sequence_max = 5\nsnowflake_ids.clock_regression = 'hold'\n");
$server->reload;
sleep 0.3;
my $own = Session->new($server);
my $ids = Ids->new;
my $mark = log_mark($server);
$began = time;
$ids->add($own->ask("SELECT 's' || gen_sno() FROM generate_series(1, 600)"));
$took = (time - $began) * 1000;
cmp_ok($took, '>', 99 * 4, sprintf '600 ids of a pool of 6 take 100 ticks of 4 ms (%.0f ms)', $took);
my $lines = () = log_since($server, $mark) =~ /sequence overflow/g;
is($lines, 1, 'the overflow is logged once');
cmp_ok(value($server, "SELECT overflow_waits FROM snowflake_ids_stats WHERE format = 'sno'"), '>', 50, 'and its waits are counted');
my $state = $own->ask("\\set VERBOSITY verbose\nSET snowflake_ids.overflow = 'error'; SELECT gen_sno() FROM generate_series(1, 600)");
like($state, qr/ERROR:  2200H: sno sequence overflow.*HINT:.*snowflake_ids.overflow/s, 'or an error with SQLSTATE 2200H and a hint');
$own->ask("RESET snowflake_ids.overflow");
$ids->add($own->ask("SELECT 's' || gen_sno() FROM generate_series(1, 60)"));
$ids->none_twice('overflow of a pool of 6');

# ---- the postmaster dies while sessions wait
$server->append_conf('postgresql.conf', "snowflake_ids.clock_regression = 'wait'\n");
$server->reload;
sleep 0.3;
value($server, 'SELECT gen_mastic()');
$clock->step(-300);
my @waiting = map { Session->new($server)->send("SET snowflake_ids.max_wait = '5min'; SELECT gen_mastic()") } 1 .. 2;
ok(waiting(2), 'two sessions wait');
$began = time;
kill_postmaster($server);
$_->answer for @waiting;
$took = (time - $began) * 1000;
cmp_ok($took, '<', 3000, sprintf 'the postmaster\'s death ends the wait (%.0f ms)', $took);
$clock->set(5);
start_at($server, $clock);
like(value($server, 'SELECT gen_mastic()'), qr/^\d+$/, 'and a new one draws');
is(value($server, 'SELECT sum(waiting) FROM snowflake_ids_stats'), 0, 'nobody is counted as waiting');
$server->stop;
done_testing();
