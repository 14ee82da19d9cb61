# An id of a committed transaction is below a ceiling that a synchronous standby has, so a COMMIT waits for it, also
# after a SELECT that draws.
use Servers;

my $clock = clock();
my $primary = new_server('primary', $clock, allows_streaming => 1);
$primary->safe_psql('postgres', 'CREATE TABLE kept AS SELECT generate_series(1, 10000) AS n; CREATE TABLE written ()');
$primary->backup('base');

sub synchronous
{
	my ($names, @sessions) = @_;
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = '$names'\n");
	reload($primary, @sessions);
	return;
}

sub has_all
{
	my ($standby) = @_;
	$primary->wait_for_catchup($standby, 'flush', flushed_lsn($primary));
	return;
}

my $observer = Session->new($primary);
my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = };

# Tells whether the session waits for a standby, or answers.
my $sent = 0;

sub ends
{
	my ($session, $query) = @_;
	my $mark = '/* ' . ++$sent . ' */';
	$session->send("$query $mark");
	my $idle = "SELECT state = 'idle' AND query LIKE '%$mark%' FROM pg_stat_activity WHERE pid = $session->{backend}";
	return eventually(
		sub {
			return 'waits' if $observer->ask($waiting . $session->{backend}) eq '1';
			return $observer->ask($idle) eq 't' && 'answers';
		});
}

sub session
{
	my (%o) = @_;
	my $session = Session->new($primary, %o);
	$session->{backend} = $session->ask('SELECT pg_backend_pid()');
	return $session;
}

sub cancel
{
	my ($session) = @_;
	$observer->ask("SELECT pg_cancel_backend($session->{backend})");
	return $session->answer;
}

# The clock passes the ceiling that standbys have. COMMIT waits only once the checkpointer has read the setting.
sub without
{
	my @standbys = @_;
	$_->stop('fast') for @standbys;
	my $writer = session();
	eventually(sub { my $waits = ends($writer, 'TRUNCATE written') eq 'waits'; cancel($writer); return $waits })
	  or die 'no COMMIT waits';
	$clock->step(100);
	return;
}

# ---- the standby is stopped, clients draw, the standby is promoted, with its clock behind
{
	my $behind = clock();
	my $standby = standby_of($primary, 'standby', $behind);
	synchronous('standby');
	my $ids = Ids->new;
	$ids->draw($primary);
	has_all($standby);
	without($standby);
	my $start = $clock->now;
	my @clients = map { session() } 1 .. 4;
	my $loop = join ';',
	  (q{SELECT 'm' || gen_mastic()}, q{SELECT 's' || gen_sno()}, q{SELECT 'i' || gen_snowflake_si()}) x 2000;
	$_->send($loop) for @clients;
	my $pids = join ', ', map { $_->{backend} } @clients;
	my $busy =
	  "SELECT count(*) FROM pg_stat_activity WHERE pid IN ($pids) AND state <> 'idle' AND wait_event IS DISTINCT FROM 'SyncRep'";
	ok(eventually(sub { $observer->ask($busy) eq '0' }), 'each client waits, or has all it asked for');
	kill_postmaster($primary);

	for (@clients)
	{
		$ids->add($_->answer);
	}
	my $length = $clock->now - $start;

	$behind->set(-10);
	start_at($standby, $behind);
	$standby->promote;
	$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
	$standby->reload;
	$ids->draw($standby);
	$behind->set_to($start);
	for (1 .. 20)
	{
		$ids->draw($standby, 300, 1000);
		last if $behind->now > $start + $length;
	}
	$ids->none_twice('synchronous standby stopped, clients draw, it is promoted');
	$standby->stop('immediate');
	start_at($primary, $clock);
	$observer = Session->new($primary);
}

# ---- which COMMIT waits
my $one = standby_of($primary, 'one', $clock);
synchronous('one');
has_all($one);
without($one);

my $session = session();
my $draw = 'SELECT gen_mastic() > 0';
my $locally = qr/WARNING:  canceling wait for synchronous replication due to user request/;

is(ends($session, $draw), 'waits', 'a draw beyond the ceiling of the standby waits');
like(cancel($session), $locally, 'a cancelled wait ends with the warning of PostgreSQL');
is(ends($session, $draw), 'waits', 'the next draw waits too: a cancelled wait has replicated nothing');
cancel($session);

$session->ask('BEGIN READ ONLY');
is($session->ask($draw), 't', 'no statement waits');
is(ends($session, 'COMMIT'), 'waits', 'READ ONLY');
cancel($session);

$session->ask("BEGIN; SAVEPOINT a; $draw; ROLLBACK TO a");
is(ends($session, 'COMMIT'), 'waits', 'a subtransaction that was rolled back');
cancel($session);

$session->ask("BEGIN; $draw");
is(ends($session, 'ROLLBACK'), 'answers', 'a transaction that is rolled back does not wait');
$session->answer;

$session->ask("BEGIN; SELECT pg_current_xact_id() IS NOT NULL; $draw");
is(ends($session, 'COMMIT'), 'waits', 'a transaction that had an id and wrote nothing');
cancel($session);

$session->ask(q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0});
like($session->ask('EXPLAIN SELECT gen_mastic() > 0 FROM kept WHERE n < 3'), qr/Gather/, 'a leader with workers');
is(ends($session, 'SELECT gen_mastic() > 0 FROM kept WHERE n < 3'), 'waits', 'a leader of parallel workers');
like(cancel($session), qr/^t\nt$/m, 'and has its ids');

is(ends($session, q{DO $$ BEGIN PERFORM gen_mastic(); COMMIT; RAISE 'after the wait'; END $$}),
	'waits', 'COMMIT in a procedure');
like(cancel($session), qr/after the wait/, 'and it continues after that');

# XLogInsert() asserts that each record has data.
my ($records) = PostgreSQL::Test::Utils::run_command(
	[   'pg_waldump', '--rmgr=XLOG', '-p', $primary->data_dir . '/pg_wal',
		'-s', $primary->safe_psql('postgres', 'SELECT redo_lsn FROM pg_control_checkpoint()') ]);
my @noops = $records =~ m{^rmgr: XLOG .* len \(rec/tot\): +(\d+)/.* desc: NOOP}mg;
ok(@noops > 0 && !(grep { $_ <= 24 } @noops), 'a WAL record of its own has data') or diag "@noops bytes";

# PREPARE waits by itself.
$session->ask("BEGIN; $draw");
is(ends($session, q{PREPARE TRANSACTION 'drawn'}), 'waits', 'PREPARE TRANSACTION');
cancel($session);
is(ends($session, q{COMMIT PREPARED 'drawn'}), 'waits', 'COMMIT PREPARED');
cancel($session);

for my $level (qw(remote_write remote_apply))
{
	my $own = session();
	$own->ask("SET synchronous_commit = $level");
	is(ends($own, $draw), 'waits', "synchronous_commit = $level");
	cancel($own);
}

for my $level (qw(local off))
{
	my $own = session();
	$own->ask("SET synchronous_commit = $level");
	is(ends($own, $draw), 'answers', "synchronous_commit = $level");
	$own->answer;
}
is(ends(session(), 'SELECT 1'), 'answers', 'without an id');

is(ends($session, $draw), 'waits', 'while a session waits');
synchronous('', session());
is($session->answer, 't', 'the standby is taken from the list: it waits no more');
is(ends($session, $draw), 'answers', 'no standby is asked for');
$session->answer;

# ---- once a standby has the ceiling, nobody waits or takes a transaction id
$session = session();
my $two = standby_of($primary, 'two', $clock);
$primary->append_conf('postgresql.conf', "snowflake_ids.durable_window = 60s\n");
synchronous('ANY 1 (one, two)', $session);
$session->ask($draw);
has_all($two);
my $next = q{SELECT pg_snapshot_xmax(pg_current_snapshot())};
my $before = $observer->ask($next);

for my $from (map { session() } 1 .. 3)
{
	is(ends($from, $draw), 'answers', 'one of two has the ceiling: the session does not wait') && $from->answer;
	$from->ask(join ';', ($draw) x 100);
}
is($observer->ask($next) - $before, 0, 'and takes no transaction id');

# Flushed is enough, whatever the level waits for.
$two->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
for my $level (qw(remote_write remote_apply))
{
	my $own = session();
	$own->ask("SET synchronous_commit = $level");
	is(ends($own, $draw), 'answers', "$level, the standby has the ceiling and replays nothing") && $own->answer;
}
$two->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');

synchronous('FIRST 2 (one, two)', $session);
is(ends($session, $draw), 'waits', 'both are asked for');
start_at($one, $clock);
is($session->answer, 't', 'it waits until both have it');

without($one, $two);
is(ends($session, $draw), 'waits', 'beyond the ceiling, and both are stopped');
start_at($two, $clock);
start_at($one, $clock);
is($session->answer, 't', 'until they are back');
$_->stop('immediate') for $one, $two, $primary;
done_testing();
