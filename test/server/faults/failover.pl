# A promoted standby whose clock is hours behind: only the ceiling in each database's WAL protects.
use Servers;

my $behind = -3 * 3600;
my $primary_clock = clock();
my $primary = new_server('primary', $primary_clock, allows_streaming => 1, conf => <<'END');
snowflake_ids.machine_id = 3
synchronous_commit = off
wal_writer_delay = 10s
hot_standby = on
END
$primary->safe_psql('postgres', 'CREATE TABLE kept(id text); CREATE TABLE stop ()');
$primary->backup('base');

my $standbys = 0;

sub standby
{
	my $clock = clock();
	$clock->set($behind);
	return (standby_of($primary, 'standby' . ++$standbys, $clock), $clock);
}

sub replayed
{
	my ($standby, $lsn) = @_;
	$primary->wait_for_catchup($standby, 'replay', $lsn // flushed_lsn($primary));
}

sub draw_after
{
	my ($ids, $standby, $clock, $start) = @_;
	$ids->draw($standby);
	$clock->set_to($start);
	$ids->draw($standby);
	$clock->step(0.2);
	$ids->draw($standby);
	$clock->set(0);
	$ids->draw($standby);
	$standby->stop('immediate');
}

# ---- asynchronous commit: no commit is flushed
{
	my ($standby, $clock) = standby();
	my $ids = Ids->new;
	my $start = $primary_clock->now;
	$ids->draw($primary);
	$ids->add(
		value($primary, "INSERT INTO kept SELECT gen_sno()::text FROM generate_series(1, 300) RETURNING 's' || id"));
	my $last = Session->new($primary);
	$ids->draw($last);
	$ids->draw($last);

	replayed($standby, $primary->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()'));
	$standby->promote;
	draw_after($ids, $standby, $clock, $start);
	$ids->none_twice('promotion, asynchronous commit, clock 3 h behind');
}

# ---- ids that left no row: of a read-only transaction
{
	my ($standby, $clock) = standby();
	my $ids = Ids->new;
	my $start = $primary_clock->now;
	my $session = Session->new($primary);
	$session->ask('BEGIN TRANSACTION READ ONLY');
	$ids->draw($session);
	$session->ask('COMMIT');

	$primary_clock->step(10);
	$session->ask('BEGIN TRANSACTION READ ONLY');
	$ids->draw($session);
	replayed($standby);
	$standby->promote;
	draw_after($ids, $standby, $clock, $start);
	$ids->none_twice('promotion, read-only transactions');
}

# ---- the primary's clock was a year ahead for a moment, and has been corrected
{
	my ($standby, $clock) = standby();
	my $ids = Ids->new;
	my $start = $primary_clock->now;
	$ids->draw($primary);
	my $was = $primary_clock->{offset};
	$primary_clock->step(365 * 86400);
	my $jump = $primary_clock->now;
	$ids->draw($primary);
	$primary_clock->set($was);
	$ids->draw($primary);
	replayed($standby);
	$standby->promote;
	$ids->draw($standby);
	$clock->set_to($jump);
	draw_after($ids, $standby, $clock, $start);
	$ids->none_twice('promotion after a clock jump of a year was corrected');
}

# ---- prepared before the promotion, committed after it
{
	my ($standby, $clock) = standby();
	my $ids = Ids->new;
	my $start = $primary_clock->now;
	$primary->safe_psql(
		'postgres', q{BEGIN; TRUNCATE kept; INSERT INTO kept SELECT 's' || gen_sno() FROM generate_series(1, 500);
		INSERT INTO kept SELECT 'm' || gen_mastic() FROM generate_series(1, 500); PREPARE TRANSACTION 'before'});
	replayed($standby);
	$standby->promote;
	$ids->draw($standby);
	$clock->set_to($start);
	$ids->draw($standby);
	$standby->safe_psql('postgres', q{COMMIT PREPARED 'before'});
	is($ids->add(value($standby, 'SELECT id FROM kept')), 1000, 'the prepared rows are there');
	draw_after($ids, $standby, $clock, $start);
	$ids->none_twice('prepared before promotion, committed after it');
	$primary->safe_psql('postgres', q{ROLLBACK PREPARED 'before'});
}

# ---- promoted, and restarted before its first id; twice, once without shutting down
{
	my ($standby, $clock) = standby();
	my $ids = Ids->new;
	my $start = $primary_clock->now;
	$ids->draw($primary);
	replayed($standby);
	$standby->promote;
	restart_after($standby, 'fast', $behind);
	restart_after($standby, 'kill -9', $behind);
	draw_after($ids, $standby, $clock, $start);
	$ids->none_twice('promoted and restarted before the first id');
}

# ---- sessions that are refused, and stay connected while the standby is promoted
{
	my ($standby, $clock) = standby();
	my $ids = Ids->new;
	my $start = $primary_clock->now;
	$ids->draw($primary);
	my @sessions = map { Session->new($standby) } 1 .. 3;
	my $both =
	  "SELECT 's' || gen_sno() FROM generate_series(1, 100); SELECT 'i' || gen_snowflake_si() FROM generate_series(1, 100)";
	like($_->ask($both), qr/(?:ERROR:  cannot generate \S+ ids during recovery.*){2}/s, 'a standby draws nothing')
	  for @sessions;
	replayed($standby);

	# A life begins in recovery, below the ceiling in WAL.
	my $observer = Session->new($standby);
	$observer->ask('TABLE snowflake_ids.stats');
	my $pids = join ', ', map { $_->ask('SELECT pg_backend_pid()') } @sessions;
	my $loop = join ';', map { "$_ WHERE NOT EXISTS (SELECT FROM stop)" } split(/;/, $both), 'SELECT pg_sleep(0.01)';
	$_->send(join ';', ($loop) x 4000) for @sessions;
	my $begun = sub {
		my ($since) = @_;
		my $looping =
		  "SELECT count(*) FROM pg_stat_activity WHERE pid IN ($pids) AND query ~ 'stop' AND query_start > '$since'";
		return eventually(sub { $observer->ask($looping) == @sessions });
	};
	ok($begun->('-infinity'), 'sessions try when the standby is promoted');
	$standby->promote;
	ok(more_are_drawn($observer), 'and draw after it');

	# Each begins another statement; the loop has three.
	$begun->($observer->ask('SELECT clock_timestamp()')) for 1 .. 4;
	$observer->ask('INSERT INTO stop DEFAULT VALUES');
	for (@sessions)
	{
		my $said = $_->answer;
		$ids->{said} = [];
		$ids->add($said);
		my @other = grep { !/during recovery|^DETAIL:  The primary generates|^HINT:  Generate/ } @{ $ids->{said} };
		is("@other", '', 'without another error');
		unlike($said, qr/^s.*ERROR/ms, 'and none after the first id');
		my @sno = $said =~ /^s(.*)/mg;
		is($observer->ask("SELECT sno_partition('$sno[0]')"), 3, 'each draws with the machine id of the primary');
	}
	for (@sessions)
	{
		is($_->ask('SELECT sno_partition(gen_sno())'), 3, 'after promotion the session draws as the primary');
		$ids->draw($_);
	}
	draw_after($ids, $standby, $clock, $start);
	$ids->none_twice('sessions that were connected before the promotion');
}
$primary->stop('immediate');
done_testing();
