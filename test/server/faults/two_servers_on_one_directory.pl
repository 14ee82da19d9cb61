# Of two server lives on one data directory, only the newer one draws: an orphaned session, two postmasters, crashes in
# a row.
use Servers;
use Page;
use Quick;

# In case this script dies: servers and sessions that Cluster does not know.
my %stray;
END { kill 'KILL', keys %stray }

my $taken_over = qr/another server has taken over the ids of this data directory/;

# Draws until an error, and writes ids to the server's log, each with the end of WAL as that server knows it.
my $loop = <<'END' =~ s/\s+/ /gr;
DO $$
DECLARE drawn text;
BEGIN
    LOOP
        drawn := '';
        BEGIN
            FOR i IN 1 .. 3 LOOP
                drawn := concat_ws(' ', drawn, 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si());
            END LOOP;
        EXCEPTION WHEN OTHERS THEN
            RAISE LOG 'drawn by % at %: %', pg_backend_pid(), pg_current_wal_insert_lsn(), drawn;
            RAISE;
        END;
        RAISE LOG 'drawn by % at %: %', pg_backend_pid(), pg_current_wal_insert_lsn(), drawn;
        PERFORM count(*) FROM generate_series(1, 5000);
    END LOOP;
END $$
END

my $quiet = 'log_min_error_statement = panic';

sub draw_on
{
	my ($server) = @_;
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$stray{$pid} = 1;
	my $mark = log_mark($server);
	$session->send($loop);
	return ($session, $pid, $mark);
}

sub lines_of
{
	my ($server, $pid, $mark) = @_;
	return log_since($server, $mark) =~ /LOG:  drawn by $pid at (\S+): (.*)\n/g;
}

sub draws_on
{
	my ($server, $pid, $what) = @_;
	my $mark = log_mark($server);
	return ok(eventually(sub { (my @lines = lines_of($server, $pid, $mark)) >= 20 }), $what);
}

sub add_lines
{
	my ($ids, $server, $pid, $mark) = @_;
	my %lines = ();
	my @lines = lines_of($server, $pid, $mark);
	$ids->add(join "\n", map { split / / } @lines[ grep { $_ % 2 } 0 .. $#lines ]);
	return;
}

# As systemd does with RemoveIPC=yes.
sub remove_ipc
{
	my ($server, @pids) = @_;
	my @lines = split /\n/, slurp($server->data_dir . '/postmaster.pid');
	my ($key, $id) = split ' ', $lines[6];
	shmctl($id, 0, 0) or die "shmctl: $!";

	my @files = map { segments_of($_) } @pids;
	my @list = map { unpack 'L*', $_ } grep { unpack('L', $_) == 0x9a503d32 } map { slurp($_) } @files;
	unlink @files, map { "/dev/shm/PostgreSQL.$_" } @list;
	unlink $server->data_dir . '/postmaster.pid';
	return;
}

sub processes_in
{
	my ($dir) = @_;
	return map { m{^/proc/(\d+)/} } grep { (readlink($_) // '') eq $dir } glob '/proc/[0-9]*/cwd';
}

# ---- an orphan may draw below its ceiling while the next server draws, and ends before it would write anything
sub orphaned
{
	my ($server, $clock, $pid) = @_;
	my $dir = $server->data_dir;
	$server->kill9;
	eventually(sub { "@{[ processes_in($dir) ]}" eq $pid }) or die 'other processes do not end';
	remove_ipc($server, $pid);
	unlink $server->host . '/.s.PGSQL.' . $server->port . '.lock';
	start_at($server, $clock);
	return;
}

my $connection_lost = qr/server closed the connection unexpectedly/;

sub ends
{
	my ($session, $pid, $what, $says) = @_;
	ok(eventually(sub { !kill 0, $pid }), "$what: it ends") or return;
	delete $stray{$pid};
	like($session->answer, qr/\A\s*$says/, "$what: as its session sees");
	return;
}

sub replace
{
	my ($file, $old) = @_;
	return unlink $file if !defined $old;
	spew("$file.old", $old);
	return rename "$file.old", $file;
}

my $orphans = 0;
for ({ what => 'the new server\'s ceiling file' }, { what => 'an old ceiling file in its place', replaced => 1 })
{
	my ($what, $replaced) = @$_{qw(what replaced)};
	my $clock = clock();
	my $ids = Ids->new;
	my $start = $clock->now;
	my $server = new_server('orphan' . ++$orphans, $clock, conf => "$quiet\nsnowflake_ids.durable_window = '10min'");
	my $file = $server->data_dir . '/snowflake_ids.ceiling';
	$ids->draw($server);

	# With small steps, because a life begins ahead of the clock. From here on a ceiling lasts for 12.5 minutes.
	$clock->step(3600);
	$ids->draw($server);
	my $old = slurp($file);
	my ($session, $pid, $mark) = draw_on($server);
	draws_on($server, $pid, "$what: a session draws");
	orphaned($server, $clock, $pid);
	draws_on($server, $pid, "$what: and while another server runs");
	$ids->draw($server);
	my ($wal) = (lines_of($server, $pid, $mark))[-2];
	draws_on($server, $pid, "$what: below its ceiling also while the new server draws");
	$ids->draw($server);

	if ($replaced) { replace($file, $old) or die }
	$clock->step(1300);
	my $beyond = $clock->now;
	ends($session, $pid, $what, $replaced ? $connection_lost : qr/ERROR:  $taken_over\n(?:DETAIL|CONTEXT|HINT)/);
	my @lines = lines_of($server, $pid, $mark);
	is($lines[-2], $wal, "$what: it has written no WAL since the new server began");
	add_lines($ids, $server, $pid, $mark);
	$clock->set_to($beyond);
	$ids->draw($server, 1000, 1000);
	draw_at_all_times($ids, $server, $clock, $start);
	restart_after($server, 'immediate', -3600);
	draw_at_all_times($ids, $server, $clock, $start);
	is("@{ $ids->{said} }", '', "$what: nothing else was said");
	$ids->none_twice("a session that outlives its postmaster: $what");
	$server->stop('immediate');
}

# It waits, and then does something of ours for the first time in this database. A crash must not lose the rows that the
# new server commits. `before`: what its transaction has done. After a draw, COMMIT writes if it has to wait for a
# standby; the first draw in a database writes WAL.
my $table = 'CREATE TABLE of_orphan AS SELECT generate_series(1, 1000) AS n';
for (
	part(
		{ does => 'gen_sno()' },
		{ does => 'gen_sno()', before => $table },
		{ does => 'gen_sno()', file => 'removed' },
		{ does => 'gen_sno()', file => 'old' },
		{ does => 'gen_snowflake_si()', before => 'SELECT FROM gen_sno()', file => 'removed' },
		{   does => q{snowflake_ids.reset(clock_timestamp() + interval '1 min')},
			before => 'SELECT FROM gen_sno()',
			file => 'removed' },
		{ does => 'COMMIT' },
		{ does => 'COMMIT', before => 'SELECT FROM gen_sno()' }))
{
	my ($does, $before, $replaced) = @$_{qw(does before file)};
	my $commits = $does eq 'COMMIT';
	my $what = join ', ', $commits ? q{an orphan's COMMIT of a draw} : "an orphan's first $does",
	  (map { "after $_" } $before // ()),
	  map { "file $_" } $replaced // ();
	my ($draw, $do) = $commits ? ('PERFORM gen_sno()', 'COMMIT') : ('NULL', "PERFORM $does");
	my $clock = clock();
	my $server = new_server('late' . ++$orphans, $clock, allows_streaming => 1, conf => <<"END");
$quiet
shared_preload_libraries = 'snowflake_ids'
synchronous_standby_names = 'of_another_time'
synchronous_commit = local
END
	my $file = $server->data_dir . '/snowflake_ids.ceiling';
	my $go = $server->data_dir . '/go';
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids; CREATE TABLE kept (id sno, n int)');
	value($server, 'SELECT gen_sno()');
	my $old = slurp($file);

	# A wait on a latch would notice that the postmaster is gone.
	my $session = Session->new($server, dbname => 'other');
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$stray{$pid} = 1;
	my $mark = log_mark($server);
	my $then = <<"END" =~ s/\s+/ /gr;
DO \$\$
BEGIN
    $draw;
    RAISE LOG 'session % waits', pg_backend_pid();
    WHILE (pg_stat_file('$go', true)).size IS NULL LOOP END LOOP;
    $do;
    RAISE LOG 'session % is through', pg_backend_pid();
END \$\$
END
	$session->send(join '; ', $commits ? ($before // (), 'SET synchronous_commit = on') : ('BEGIN', $before // ()),
		$then);
	wait_for_log($server, qr/session $pid waits/, $mark) or die 'the session does not wait';
	orphaned($server, $clock, $pid);
	my $insert = 'INSERT INTO kept SELECT gen_sno(), n FROM generate_series(1, 1000) n';
	$server->safe_psql('other', $insert) for 1 .. 3;
	if ($replaced) { replace($file, $replaced eq 'old' ? $old : undef) or die }
	spew($go, '');
	ends($session, $pid, $what, $connection_lost);
	unlike(log_since($server, $mark), qr/is through/, "$what: it does not get through");
	$server->safe_psql('other', $insert) for 1 .. 3;
	kill_postmaster($server);
	start_at($server, $clock);
	is( Session->new($server, dbname => 'other')
		  ->ask(q{SELECT count(id), count(DISTINCT id), to_regclass('of_orphan') FROM kept}),
		'6000|6000|',
		"$what: all rows are there after a crash");
	$server->stop('immediate');
}

# ---- an orphan that hangs in its sync holds the file's lock: the commands of doc/errors.md find it
{
	my $clock = clock();
	my $ids = Ids->new;
	my $server = new_server('hanging', $clock, synced => 1, conf => $quiet);
	$ids->draw($server);
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$stray{$pid} = 1;
	spew("$server->{sfids_synced}/held.ceiling", " $pid ");
	$clock->step(1000);
	$session->send("SELECT 's' || gen_sno()");
	ok(eventually(sub { -s "$server->{sfids_synced}/held.log" }), 'a sync that does not return');
	orphaned($server, $clock, $pid);
	ok(kill(0, $pid), 'the process outlives its server');

	my $new = Session->new($server);
	my $said = $new->ask("SET snowflake_ids.max_wait = '300ms'; SELECT gen_sno()");
	like($said, qr/ERROR:  gave up waiting for the lock on ceiling file/, 'the new server cannot draw');
	like($said, qr/HINT:.*fuser.*\/proc\/locks/, 'and names what finds the process');
	my $title = 'The lock on the ceiling file';
	my ($locks, $fuser) = map { $_->{content} } Page->new('doc/errors.md')->blocks($title, 'sh');
	my $run = sub {
		local $ENV{PGDATA} = $server->data_dir;
		return join ' ', map { split } `$_[0]`;
	};
	is($run->($locks), $pid, 'the page finds the process that holds the lock, and no other');
  SKIP:
	{
		skip 'fuser is not installed', 1 unless has_program('fuser');
		is($run->("($fuser) 2>/dev/null"), $pid, 'so does fuser');
	}
	is(value($server, "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid"),
		'0', 'it is no session of the new server');
	kill 'KILL', $pid;
	is($new->ask("SET snowflake_ids.max_wait = '1min'; SELECT gen_sno() IS NOT NULL"), 't', 'killed: ids continue');
	is($run->($locks), '', 'then nobody holds the lock');
	delete $stray{$pid};
	$session->gone;
	$ids->draw($server);
	draw_at_all_times($ids, $server, $clock, $clock->now - 1000);
	$ids->none_twice('an orphan that held the lock');
	$server->stop('immediate');
}

# ---- two postmasters on one data directory
{
	my $clock = clock();
	my $ids = Ids->new;
	my $start = $clock->now;
	my $first = new_server('first', $clock, conf => "$quiet\nsnowflake_ids.durable_window = '1s'");
	$ids->draw($first);
	my ($postmaster) = slurp($first->data_dir . '/postmaster.pid') =~ /\A(\d+)/;
	$stray{$postmaster} = 1;
	my $other = Session->new($first);
	$ids->draw($other);
	my ($session, $pid, $mark) = draw_on($first);
	draws_on($first, $pid, 'a session of the first server draws');

	# Not while the second one replays the WAL that it would write to.
	kill 'STOP', $pid;
	remove_ipc($first, $pid);
	my $second = PostgreSQL::Test::Cluster->new('second');
	rmdir $second->data_dir;
	symlink $first->data_dir, $second->data_dir or die;
	$second->append_conf('postgresql.conf',
		'port = ' . $second->port . "\nunix_socket_directories = '" . $second->host . "'");
	start_at($second, $clock);
	$ids->draw($second);
	kill 'CONT', $pid;
	$ids->draw($second);
	like(
		$session->answer,
		qr/\AERROR:  $taken_over\nDETAIL:.*server that was started later.*\n(?:.*\n)*HINT:.*end this process.*stop both at once/,
		'the session of the first gets an error');
	my $says = sub { $_[0]->ask("\\set VERBOSITY verbose\nSELECT gen_sno()") =~ s/^LOCATION:.*\n?//mr };
	my $said = '';
	eventually(sub { $ids->add($said = $says->($other)); $said =~ /ERROR/ });
	like($said, qr/\AERROR:  55000: $taken_over\nDETAIL:  .*\nHINT:  /, 'each of its sessions does');
	note $said;
	my $status = 'SELECT ceiling_file, life FROM snowflake_ids.status()';
	my ($its_life) = $other->ask($status) =~ /^superseded\|(\d+)$/;
	my ($life) = value($second, $status) =~ /^ready\|(\d+)$/;
	cmp_ok($its_life // 0, '<', $life // 0, 'snowflake_ids.status() says so; the second one is ready, in a later life');
	add_lines($ids, $first, $pid, $mark);
	draw_at_all_times($ids, $second, $clock, $start);
	$_->gone for $session, $other;

	$second->stop('immediate');
	kill 'QUIT', $postmaster;
	eventually(sub { !processes_in($first->data_dir) }) or die 'the first server does not end';
	$first->{_pid} = undef;
	delete @stray{ $postmaster, $pid };
	$ids->none_twice('two postmasters on one data directory');
}

# ---- many crashes in a row
my $clock = clock();
my $server = new_server('crashes', $clock);
{
	my $ids = Ids->new;
	my $mark = log_mark($server);
	my $crashes = whole() ? 20 : 5;
	for (1 .. $crashes)
	{
		$ids->draw($server, 1, 1);
		kill_backend($server);
	}
	$ids->draw($server, 1, 1);
	my ($lead, $window) =
	  split /\|/, value(
		$server, q{SELECT max(clock_lead), (SELECT setting FROM pg_settings WHERE name = 'snowflake_ids.durable_window')
		FROM snowflake_ids.stats});
	cmp_ok(
		$lead, '<',
		1.25 * $window + 1000,
		"after $crashes crashes the lead over the clock is $lead ms, the window $window ms");
	my @lives = log_since($server, $mark) =~ /snowflake_ids: life (\d+) of this server begins/g;
	is(scalar @lives, $crashes + 1, 'each was another life');
	is(join(' ', grep { $lives[$_] <= $lives[ $_ - 1 ] } 1 .. $#lives), '', 'with a higher number');
	$ids->draw($server);
	$ids->none_twice("$crashes crashes in a row");
}

done_testing();
