# Overflow: the wait can be interrupted, is bounded, and holds no lock. A sno pool of 6 under a clock minutes behind
# makes long waits; what ends one does so within a minute.
use Servers;

my $clock = clock();
my $server =
  new_server('waits', $clock, conf => "snowflake_ids.machine_id = 0\nsnowflake_ids.clock_regression = 'wait'\n");
my $session = Session->new($server);
value($server, 'SELECT gen_mastic()');
$clock->set(-300);

sub waiting
{
	my ($n) = @_;
	return eventually(sub { value($server, "SELECT waiting FROM snowflake_ids.stats WHERE format = 'mastic'") == $n });
}

# The draw waits for minutes. Returns the ms from `act` to its end, and what it said.
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

# The monotonic clock measures it: further steps back do not lengthen it.
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

sub figures
{
	return split / /,
	  value($server, "SELECT overflow_waits || ' ' || wait_time FROM snowflake_ids.stats WHERE format = 'sno'")
	  // '0 0';
}

sub logged
{
	my ($mark) = @_;
	my $line = 'sno sequence overflow: calls wait for the next tick';
	return log_since($server, $mark) =~
	  /LOG:  $line\n.*DETAIL:  Machine id 0 has 6 ids in each tick \(4 ms\)\. Calls that have waited so far: (\d+)\./g;
}
my $mark = log_mark($server);
my ($calls, $waited) = figures();
$began = time;
$ids->add($own->ask("SELECT 's' || gen_sno() FROM generate_series(1, 600)"));
$took = (time - $began) * 1000;
cmp_ok($took, '>', 98 * 4, sprintf '600 ids of a pool of 6 take 100 ticks of 4 ms (%.0f ms)', $took);
my ($calls_after, $waited_after) = figures();
cmp_ok($calls_after - $calls, '>', 50, 'its waits are counted');
ok($waited_after > $waited && $waited_after - $waited <= $took, 'with their time');
my @lines = logged($mark);
is(scalar @lines, 1, 'the overflow is logged once');

my @many = map { Session->new($server) } 1 .. 4;
$clock->pass(61);
$mark = log_mark($server);
($calls) = figures();
$_->send("SELECT 's' || gen_sno() FROM generate_series(1, 100)") for @many;
$ids->add($_->answer) for @many;
@lines = logged($mark);
is(scalar @lines, 1, 'and again a minute later, by one of four sessions');
cmp_ok($lines[0], '>', $calls, "with the calls that waited so far ($lines[0])");

# 20 full ticks without gaps. A busy machine may be late: the best stretch counts.
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

my $pid = $own->ask("SET snowflake_ids.max_wait = '5min'; SELECT pg_backend_pid()");
($calls) = figures();
$own->send('SELECT count(gen_sno()) FROM (SELECT generate_series(1, 1000000)) g');
ok(eventually(sub { (figures())[0] > $calls }), 'calls wait');
value($server, "SELECT pg_cancel_backend($pid)");
like($own->answer, qr/canceling statement/, 'cancelled in the middle of the overflow');

# Only in the server's log: the client may not be able to read a layout's name.
value($server, "CREATE DATABASE letters ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
my $reader = Session->new($server, dbname => 'letters');
my $layout = q{U&'\\6F22\\5B57'};
$reader->ask("SET client_encoding = UTF8; CREATE EXTENSION snowflake_ids");
$reader->ask("SELECT snowflake_layout_create($layout, '2026-01-01 00:00:00+00', '1 ms', 41, 0, 1)");
$mark = log_mark($server);
is( $reader->ask(
		"SET client_encoding = LATIN1; SET client_min_messages = log; SELECT count(gen_snowflake($layout)) FROM generate_series(1, 100)"
	),
	100,
	'a client that cannot read the name of a layout draws');
like(log_since($server, $mark), qr/LOG:  .* sequence overflow: calls wait/, 'and the log has the line');

$ids->add($own->ask("SELECT 's' || gen_sno() FROM generate_series(1, 60)"));
$ids->none_twice('overflow of a pool of 6');

# ---- the postmaster dies while sessions wait for the next tick
$_->send("SELECT pg_backend_pid(); SELECT count(gen_sno()) FROM (SELECT generate_series(1, 100000000)) g") for @many;
sub some_wait { return value($server, "SELECT waiting FROM snowflake_ids.stats WHERE format = 'sno'") >= 3 }
ok(eventually(\&some_wait), 'most of the sessions wait for the next tick');

# A lock that a session had while it waits would be seen each time; one for raising a ceiling is not.
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
is(value($server, 'SELECT sum(waiting) FROM snowflake_ids.stats'), 0, 'nobody is counted as waiting');

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
is(value($server, 'SELECT sum(waiting) FROM snowflake_ids.stats'), 0, 'nobody is counted as waiting then either');
$server->stop;
done_testing();
