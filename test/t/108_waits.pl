# Overflow: the wait can be interrupted in every way that a session can be, is bounded, and holds no lock; and its
# other form, an error. A sno pool of 6 and a clock that the test keeps from reaching the next tick make long waits:
# the generator is minutes ahead, and the policy is to wait for the clock. What is said to end such a wait ends it within
# a minute then, on any machine.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server =
  new_server('waits', $clock, conf => "snowflake_ids.machine_id = 0\nsnowflake_ids.clock_regression = 'wait'\n");
my $session = Session->new($server);
value($server, 'SELECT gen_mastic()');
$clock->set(-300);

sub waiting
{
	my ($n) = @_;
	return eventually(sub { value($server, "SELECT waiting FROM snowflake_ids_stats WHERE format = 'mastic'") == $n });
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
	is( value(
			$server,
			"SELECT count(*) FROM pg_locks WHERE pid = $pid AND locktype <> 'virtualxid' AND mode <> 'AccessShareLock'"
		),
		0,
		'and holds no lock');
	my $began = time;
	$act->($pid);
	my $said = $own->answer;
	return ((time - $began) * 1000, $said);
}

my ($ms, $said) = wait_and(sub { value($server, "SELECT pg_cancel_backend($_[0])") });
like($said, qr/ERROR:  canceling statement due to user request/, sprintf 'cancelled (%.0f ms)', $ms);
cmp_ok($ms, '<', 60000, 'before its time');
($ms, $said) = wait_and(sub { value($server, "SELECT pg_terminate_backend($_[0])") });
like($said, qr/terminating connection/, sprintf 'terminated (%.0f ms)', $ms);
cmp_ok($ms, '<', 60000, 'before its time');
ok(waiting(0), 'nobody waits any more');

# The three limits: the client's, ours, and none.
sub timed { my ($query) = @_; my $began = time; $said = $session->ask($query); return (time - $began) * 1000 }
$session->ask("SET snowflake_ids.max_wait = '5min'; SET statement_timeout = '300ms'");
my $took = best_of(1000, sub { timed('SELECT gen_mastic()') });
like(
	$said,
	qr/ERROR:  canceling statement due to statement timeout/,
	sprintf 'statement_timeout ends it (%.0f ms)', $took);
cmp_ok($took, '<', 1000, 'in time');
$session->ask("RESET statement_timeout; SET snowflake_ids.max_wait = '250ms'");
$took = best_of(1000, sub { timed('SELECT gen_mastic()') });
like($said, qr/ERROR:  gave up waiting for a Mastic id after 250 ms/, sprintf 'max_wait ends it (%.0f ms)', $took);
cmp_ok($took, '<', 1000, 'in time');

# It is measured on the monotonic clock: a wall clock that goes on stepping back does not make it longer.
$session->ask("SET snowflake_ids.max_wait = '2min'");
my $began = time;
$session->send('SELECT gen_mastic()');
ok(waiting(1), 'a session waits while the clock steps back');
for (1 .. 5) { sleep 0.02; $clock->step(-100) }
$clock->pass(120);
$said = $session->answer;
$took = (time - $began) * 1000;
like($said, qr/gave up waiting/, sprintf 'max_wait while the clock steps back (%.0f ms)', $took);
cmp_ok($took, '<', 60000, 'in time');

# The clock is corrected while a session waits: it draws.
$session->ask("SET snowflake_ids.max_wait = '5min'");
$session->send('SELECT gen_mastic() > 0');
ok(waiting(1), 'a session waits');
$clock->set(1);
is($session->answer, 't', 'and draws when the clock is right again');

# ---- overflow proper
$server->append_conf('postgresql.conf',
	"snowflake_ids.sno_sequence_max = 5\nsnowflake_ids.clock_regression = 'hold'\n");
reload($server);
my $own = Session->new($server);
my $ids = Ids->new;

# The waits of an occurrence end when it has not been for a second: that second goes by at once.
sub settle
{
	$clock->pass(2);
	return value($server, "SELECT overflow_waits || ' ' || wait_time FROM snowflake_ids_stats WHERE format = 'sno'")
	  // '0 0';
}

sub overflow_ticks
{
	return value($server,
		"SELECT coalesce(overflow_ticks::text, 'none') FROM snowflake_ids_stats WHERE format = 'sno'");
}
sub last_overflow { return value($server, "SELECT $_[0] FROM snowflake_ids_stats WHERE format = 'sno'") }

sub logged
{
	my ($mark, $what) = @_;
	my @lines = log_since($server, $mark) =~ /LOG:  (sno sequence overflow $what.*)/g;
	return { lines => scalar @lines, map { /(\w+)=([\d.]+)/ ? ($1 => $2) : () } split /, |: /, $lines[0] // '' };
}

# Overflow that no session has met for a second is over, so a machine that stands still for longer divides it in two.
# Tries until that cannot have happened.
sub undisturbed
{
	my ($query, @sessions) = @_;
	my ($mark, $took, $before);
	for (1 .. 60)
	{
		$before = settle();
		$mark = log_mark($server);
		my $began = time;
		$_->send($query) for @sessions;
		$ids->add($_->answer) for @sessions;
		$took = (time - $began) * 1000;
		last if $took < 1000;
	}
	cmp_ok($took, '<', 1000, sprintf 'without a pause of a second (%.0f ms)', $took);
	return ($mark, $took, split / /, $before);
}
$ids->add($own->ask("SELECT 's' || gen_sno()"));
my ($mark, $calls, $waited);
($mark, $took, $calls, $waited) = undisturbed("SELECT 's' || gen_sno() FROM generate_series(1, 600)", $own);
cmp_ok($took, '>', 98 * 4, sprintf '600 ids of a pool of 6 take 100 ticks of 4 ms (%.0f ms)', $took);
my $lines = () = log_since($server, $mark) =~ /sequence overflow/g;
is($lines, 1, 'the overflow is logged once when it begins');
my ($calls_after, $waited_after) = split / /, settle();
cmp_ok($calls_after - $calls, '>', 50, 'its waits are counted');
my $end = logged($mark, 'is over');
is($end->{lines}, 1, 'and it is logged once when it is over');
is($end->{calls}, $calls_after - $calls, "with the calls that waited ($end->{calls})");
cmp_ok(abs($end->{waited} - ($waited_after - $waited)),
	'<', 0.002, "their time, as in the statistics ($end->{waited} ms)");
ok($end->{lasted} >= $end->{waited} && $end->{lasted} <= $took, "how long it lasted ($end->{lasted} ms)");
cmp_ok(abs($end->{ticks} - $end->{lasted} / 4), '<=', 1, "and in ticks ($end->{ticks})");

# Of many sessions that begin together one writes the lines.
my @many = map { Session->new($server) } 1 .. 4;
($mark) = undisturbed("SELECT 's' || gen_sno() FROM generate_series(1, 100)", @many);
settle();
$lines = () = log_since($server, $mark) =~ /LOG:  sno sequence overflow: calls wait/g;
is($lines . logged($mark, 'is over')->{lines}, '11', 'four sessions: one line when it begins, one when it is over');

# A wait ends at the next tick, not a few later, and that goes on for 20 ticks: so many follow each other without gaps
# as long. A busy machine may be late: the best stretch of some runs counts.
for ([ 'sno', 600, 4 ], [ 'snowflake_si', 25600, 1 ])
{
	my ($format, $many, $tick) = @$_;
	my $stretches = "SELECT 1000 * min(stretch) FROM (SELECT t - lag(t, 20) OVER (ORDER BY t) AS stretch
		FROM (SELECT DISTINCT extract(epoch FROM ${format}_timestamp(gen_$format())) AS t FROM generate_series(1, $many)) i) g";
	my $best = best_of(25 * $tick, sub { $own->ask($stretches) });
	cmp_ok($best, '<', 30 * $tick,
		sprintf '%s: a wait ends with the tick, ids of the next one follow (20 ticks in %.0f ms)',
		$format, $best);
}

# A minute of it: a reminder, with what it has come to. The monotonic clock goes faster here, in steps that are not
# long enough to end the overflow, and each after a new wait. If the machine stands still for so long that it ends, the
# minute begins anew.
sub waits { return $session->ask("SELECT overflow_waits FROM snowflake_ids_stats WHERE format = 'sno'") }

sub new_wait
{
	my $so_far = waits();
	return eventually(sub { waits() > $so_far });
}
my $pid = $own->ask("SET snowflake_ids.max_wait = '5min'; SELECT pg_backend_pid()");
my ($reminder, $none_before, $shown, $shown_after_reset, $goes_on, $cancelled);
for (1 .. 20)
{
	settle();
	$none_before = overflow_ticks();
	value($server, 'SELECT snowflake_ids_stats_reset()');
	$mark = log_mark($server);
	$own->send('SELECT count(gen_sno()) FROM (SELECT generate_series(1, 1000000)) g');
	wait_for_log($server, qr/sequence overflow: calls wait/, $mark) or last;
	my $until = time + 60;
	while (time < $until && log_since($server, $mark) !~ /continues/) { new_wait() or last; $clock->pass(0.4) }
	$shown = overflow_ticks();
	value($server, 'SELECT snowflake_ids_stats_reset()');
	$shown_after_reset = overflow_ticks();
	$goes_on = new_wait();
	value($server, "SELECT pg_cancel_backend($pid)");
	$cancelled = $own->answer;
	settle();
	$mark += rindex log_since($server, $mark), 'LOG:  sno sequence overflow: calls wait';
	last if log_since($server, $mark) =~ /continues/;
}
is($none_before, 'none', 'no overflow is under way');
like(
	log_since($server, $mark),
	qr/sno sequence overflow continues: .*\n.*DETAIL:  Node 0: it began at .* Calls that wait now: \d+\./,
	'after a minute of it there is a reminder');
$reminder = logged($mark, 'continues');
is($reminder->{lines}, 1, 'one');
ok( $reminder->{lasted} >= 60000 && $reminder->{lasted} < 120000,
	"with how long it has gone on ($reminder->{lasted} ms)");
cmp_ok($reminder->{calls}, '>', 100, "and how many calls waited by then ($reminder->{calls})");
cmp_ok($shown, '>=', $reminder->{ticks}, 'the statistics show for how many ticks it has gone on');
cmp_ok($shown_after_reset, '>=', $reminder->{ticks}, 'also when they were reset');
ok($goes_on, 'calls wait after that');
like($cancelled, qr/canceling statement/, 'cancelled in the middle of the overflow');
is(overflow_ticks(), 'none', 'no overflow is shown when it is over');
$end = logged($mark, 'is over');
is($end->{lines}, 1, 'its end is logged once');
is( last_overflow("last_overflow_calls || ' ' || last_overflow_ticks"),
	"$end->{calls} $end->{ticks}",
	'the statistics keep the figures of the last overflow');
is(last_overflow('last_overflow_end <= clock_timestamp() AND overflow_calls IS NULL'), 't', 'and when it ended');
value($server, 'SELECT snowflake_ids_stats_reset()');
is(last_overflow("coalesce(last_overflow_calls, last_overflow_ticks)::text || last_overflow_end"),
	'', 'until they are reset');
cmp_ok($end->{calls}, '>', $reminder->{calls},
	"with the calls since it began, not since the statistics were reset ($end->{calls})");
cmp_ok($end->{lasted}, '>', $reminder->{lasted}, "and the time ($end->{lasted} ms)");

my $state = $own->ask(
	"\\set VERBOSITY verbose\nSET snowflake_ids.overflow = 'error'; SELECT gen_sno() FROM generate_series(1, 600)");
like(
	$state,
	qr/ERROR:  2200H: sno sequence overflow.*HINT:.*snowflake_ids.overflow/s,
	'or an error with SQLSTATE 2200H and a hint');
$own->ask("RESET snowflake_ids.overflow");
$ids->add($own->ask("SELECT 's' || gen_sno() FROM generate_series(1, 60)"));
$ids->none_twice('overflow of a pool of 6');

# ---- the postmaster dies while sessions wait for the next tick: six ids are not enough for four that draw all the time
$_->send("SELECT pg_backend_pid(); SELECT count(gen_sno()) FROM (SELECT generate_series(1, 100000000)) g") for @many;
sub some_wait { return value($server, "SELECT waiting FROM snowflake_ids_stats WHERE format = 'sno'") >= 3 }
ok(eventually(\&some_wait), 'most of the sessions wait for the next tick');

# A session has a lock for the moment in which it raises a ceiling. One that it had while it waits would be seen each time.
my ($looks, $locked) = (20, 0);
for (1 .. $looks)
{
	$locked++ if value(
		$server, "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
		WHERE query LIKE '%count(gen_sno())%' AND pid <> pg_backend_pid() AND locktype <> 'virtualxid'") != 0;
}
cmp_ok($locked, '<', $looks / 2, "and none of them holds a lock (seen in $locked of $looks looks)");
ok(eventually(\&some_wait), 'they still do');
$began = time;
kill_postmaster($server);
$_->answer for @many;
$took = (time - $began) * 1000;
cmp_ok($took, '<', 60000, sprintf 'the postmaster\'s death ends such waits (%.0f ms)', $took);
start_at($server, $clock);
is(value($server, 'SELECT sum(waiting), count(overflow_calls), count(last_overflow_calls) FROM snowflake_ids_stats'),
	'0|0|0', 'nobody is counted as waiting, and the overflow went with the memory');

# ---- the postmaster dies while sessions wait for the clock
$server->append_conf('postgresql.conf', "snowflake_ids.clock_regression = 'wait'\n");
reload($server);
value($server, 'SELECT gen_mastic()');
$clock->step(-300);
my @waiting = map { Session->new($server)->send("SET snowflake_ids.max_wait = '5min'; SELECT gen_mastic()") } 1 .. 2;
ok(waiting(2), 'two sessions wait');
$began = time;
kill_postmaster($server);
$_->answer for @waiting;
$took = (time - $began) * 1000;
cmp_ok($took, '<', 60000, sprintf 'the postmaster\'s death ends the wait (%.0f ms)', $took);
$clock->set(5);
start_at($server, $clock);
like(value($server, 'SELECT gen_mastic()'), qr/^\d+$/, 'and a new one draws');
is(value($server, 'SELECT sum(waiting) FROM snowflake_ids_stats'), 0, 'nobody is counted as waiting then either');
$server->stop;
done_testing();
