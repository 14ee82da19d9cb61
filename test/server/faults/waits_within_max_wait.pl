# No draw waits longer than max_wait, whatever others hold (DROP EXTENSION, a sync that does not return), and none waits
# so long while its ceiling has room.
use Servers;
use Fcntl qw(:flock);

my $clock = clock();
my $server = new_server(
	'bounded', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "snowflake_ids.durable_window = '10min'");
my $ids = Ids->new;
my @draws = ("'s' || gen_sno()", "'m' || gen_mastic()", "'i' || gen_snowflake_si()");
my $patience = 0.2;

sub session
{
	my $s = Session->new($server);
	$s->ask("SET statement_timeout = '60s'; SET snowflake_ids.max_wait = '${patience}s'");
	return $s;
}
sub timed { my ($s, $query) = @_; my $began = time; my $said = $s->ask($query); return ($said, time - $began) }

sub draws_at_once
{
	my ($s, $what) = @_;
	$s->ask("SET snowflake_ids.max_wait = '40s'");
	my ($said, $took) = timed($s, "SELECT concat_ws(E'\\n', " . join(', ', @draws) . ') FROM generate_series(1, 20)');
	is($ids->add($said), 60, "$what: ids") or diag $said;
	cmp_ok($took, '<', 30, sprintf '%s: at once (%.2f s)', $what, $took);
	$s->ask("SET snowflake_ids.max_wait = '${patience}s'");
}

sub gives_up
{
	my ($s, $what, @patterns) = @_;
	for my $draw (@draws)
	{
		my $said;
		my $took = best_of($patience + 0.5,
			sub { ($said, my $took) = timed($s, "\\set VERBOSITY verbose\nSELECT $draw"); return $took });
		my @missing = grep { $said !~ $_ } @patterns;
		ok(!@missing, "$what: $draw gives up") or diag "said: $said\nbut not: @missing";
		ok($took > 0.9 * $patience && $took < $patience + 0.5, sprintf '%s: after max_wait (%.2f s)', $what, $took);
	}
}

# Room after the first step, near after the second, passed with the third.
sub new_ceiling { my ($s) = @_; $clock->step(10000); draws_at_once($s, 'a new ceiling'); $clock->step(5) }
sub near        { $clock->step(620) }
sub beyond      { $clock->step(400) }

# ---- DROP EXTENSION in a transaction that stays open
my $locked = [
	qr/ERROR:  55P03: gave up waiting for relation "snowflake_ids\.\w+" of extension snowflake_ids after 200 ms/,
	qr/HINT:  .*DROP EXTENSION.*max_wait/ ];
for my $end ('ROLLBACK', 'COMMIT')
{
	my ($session, $other) = (session(), session());
	new_ceiling($session);
	$other->ask('BEGIN; DROP EXTENSION snowflake_ids');
	draws_at_once($session, 'an open DROP EXTENSION, the ceiling has room');
	near;
	draws_at_once($session, 'an open DROP EXTENSION, the ceiling is near') for 1 .. 2;
	beyond;
	gives_up($session, 'an open DROP EXTENSION, beyond the ceiling', @$locked);
	my $new = session();
	gives_up($new, 'an open DROP EXTENSION, the first id of a session', @$locked);
	my $said;
	my $took = best_of(
		$patience + 0.5,
		sub {
			($said, my $took) = timed($new, "\\set VERBOSITY verbose\nSELECT gen_snowflake('twitter')");
			return $took;
		});
	like($said, $locked->[0], 'an open DROP EXTENSION, a layout of a session that has not asked for one');
	cmp_ok($took, '<', $patience + 0.5, sprintf 'after max_wait (%.2f s)', $took);

	my $pid = $session->ask("SET snowflake_ids.max_wait = '40s'; SELECT pg_backend_pid()");
	$session->send('SELECT gen_mastic() > 0');
	ok( eventually(
			sub { value($server, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' }),
		'a session waits');
	$other->ask($end);
	my $answer = $session->answer;
	if ($end eq 'ROLLBACK')
	{
		is($answer, 't', 'rolled back: who has waited draws');
		draws_at_once($new, 'rolled back, a session that had failed');
	}
	else
	{
		like(
			$answer,
			qr/ERROR:.*snowflake_ids.*does not exist/,
			'committed: who has waited hears that the extension is gone');
		value($server, 'CREATE EXTENSION snowflake_ids');
		draws_at_once(session(), 'and a new one draws');
	}
}

# ---- the ceiling file's lock, held as by a process whose sync does not return
{
	my @sessions = map { session() } 1 .. 6;
	draws_at_once($_, 'before') for @sessions;
	new_ceiling($sessions[0]);
	open my $file, '+<', $server->data_dir . '/snowflake_ids.ceiling' or die $!;
	flock $file, LOCK_EX or die $!;
	near;
	draws_at_once($sessions[0], 'the ceiling file is locked, the ceiling is near') for 1 .. 2;
	beyond;
	my @held = (
		qr/ERROR:  55P03: gave up waiting for the lock on ceiling file "snowflake_ids.ceiling" after 200 ms/,
		qr/HINT:  .*storage.*fuser.*max_wait/);
	gives_up($sessions[0], 'the ceiling file is locked, beyond the ceiling', @held);
	restart_after($server, 'fast');
	$_ = session() for @sessions;
	gives_up($sessions[0], 'the ceiling file is locked, the first id of a life', @held);
	flock $file, LOCK_UN;
	draws_at_once($_, 'unlocked') for @sessions;

	flock $file, LOCK_EX or die $!;
	$clock->step(10000);
	my @pids = map { $_->ask("SET statement_timeout = 0; SET snowflake_ids.max_wait = '60s'; SELECT pg_backend_pid()") }
	  @sessions;
	$_->send('SELECT gen_mastic() > 0') for @sessions;
	ok( eventually(
			sub {
				value($server,
						"SELECT count(*) FROM pg_stat_activity WHERE pid IN ("
					  . join(', ', @pids)
					  . ") AND wait_event_type = 'Extension'") == @pids;
			}),
		'the ceiling file is locked: all sessions wait');
	my $switches = sub { my ($n) = slurp("/proc/$pids[0]/status") =~ /^voluntary_ctxt_switches:\s+(\d+)/m; return $n };
	my ($before, $began) = ($switches->(), time);
	sleep 1;
	my $naps = $switches->() - $before;
	cmp_ok($naps, '<', 250 * (time - $began), "a session that waits looks again $naps times in a second");
	my $log = "$server->{sfids_synced}/snowflake_ids.ceiling.syncs";
	my $synced = -s $log;
	my $counters = sub {
		split /\|/, value($server, "SELECT overflow_waits, wait_time FROM snowflake_ids.stats WHERE format = 'mastic'");
	};
	my ($overflows, $waited) = $counters->();
	flock $file, LOCK_UN;
	is(join(' ', map { $_->answer } @sessions), 't t t t t t', 'unlocked: all that have waited draw');
	cmp_ok((-s $log) - $synced, '<=', 2, 'with one sync, or another one ahead of need');
	my ($overflows_then, $waited_then) = $counters->();
	is($overflows_then, $overflows, 'overflow_waits does not count them');
	cmp_ok($waited_then - $waited, '>', 1000, 'but wait_time does');
}
$ids->none_twice('draws that wait for the locks of others');
$server->stop;
done_testing();
