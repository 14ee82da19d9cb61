# Each kind of shared memory, preloaded or not, and each kind of process that can be the first to draw: all sessions
# draw from one word. A second word would issue lower ids, with the clock an hour back.
use Servers;

my $clock = clock();
my $ids = Ids->new;
my $start = $clock->now;

# %b in the log: the kind of process that begins a life.
my $server = new_server('memory', $clock, allows_streaming => 'logical', conf => <<'END');
log_line_prefix = '[%p] %b: '
autovacuum_naptime = 1s
autovacuum_analyze_threshold = 0
autovacuum_analyze_scale_factor = 0
hot_standby = on
snowflake_ids.machine_id = 3
END
$server->safe_psql('postgres', <<'END');
CREATE ROLE somebody LOGIN;
CREATE FUNCTION in_index(n int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE LOG 'drawn: m%', public.gen_mastic(); RETURN n; END $$;
CREATE TABLE vacuumed (n int);
CREATE INDEX ON vacuumed (in_index(n));
CREATE TABLE replicated (n int);
CREATE DATABASE other;
END
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');

my $life = 'SELECT life FROM snowflake_ids.status()';
my $last_life = 0;
my $begun = qr/\] (.+): LOG:  snowflake_ids: life (\d+) of this server begins/;

sub all_grow
{
	my ($what, @sessions) = @_;
	my @last = (0, 0);
	my $bad = '';
	for my $session ((@sessions, map({ Session->new($server) } @sessions .. 3)) x 3)
	{
		my $answer = $session->ask(q{SET client_min_messages = error; }
			  . q{SELECT concat_ws(E'\n', 'm' || gen_mastic(), 'i' || gen_snowflake_si(), 's' || gen_sno())});
		my @now = $answer =~ /\Am(\d+)\ni(\d+)\ns\w+\z/ or $bad .= $answer;
		$bad .= "@now after @last\n" if @now && grep { $now[$_] <= $last[$_] } 0, 1;
		@last = @now if @now;
		$ids->add($answer);
	}
	is($bad, '', "$what: ids of all sessions grow, as from one word");
	return;
}

sub life_of
{
	my ($what, $mark, $first, $memory, @sessions) = @_;
	my @lives = log_since($server, $mark) =~ /$begun/g;
	is(scalar @lives, 2, "$what: one life begins") or diag "lives: @lives";
	like($lives[0]   // '', $first, "$what: begun by $first");
	cmp_ok($lives[1] // 0, '>', $last_life, "$what: its number is higher than the last");
	$last_life = $lives[1] // 0;
	is(value($server, 'SELECT memory, ceiling_file, memory_bytes > 135168 FROM snowflake_ids.status()'),
		"$memory|ready|t", "$what: memory is $memory");
	$clock->step(-3600);
	all_grow($what, @sessions);
	is(value($server, $life), $last_life, "$what: in one life");
	$clock->step(3600);
	return;
}

sub conf { my ($line) = @_; $server->append_conf('postgresql.conf', $line); return }

my $client = qr/client backend/;

# ---- kinds of memory
my $allocated =
  q{SELECT string_agg(name, ', ' ORDER BY name COLLATE "C") FROM pg_shmem_allocations WHERE name ~ 'snowflake_ids'};

my $dynamic_files = sub {
	my $bytes = value($server, 'SELECT memory_bytes FROM snowflake_ids.status()');
	return grep { -s $_ == $bytes } glob $server->data_dir . '/pg_dynshmem/mmap.*';
};
for (
	{ what => 'posix', memory => 'dynamic' },
	{ what => 'mmap', conf => 'dynamic_shared_memory_type = mmap', memory => 'dynamic', in_a_file => 1 },
	{   what => 'min_dynamic_shared_memory',
		conf => "dynamic_shared_memory_type = posix\nmin_dynamic_shared_memory = 1MB",
		memory => 'dynamic' },
	{   what => 'shared_preload_libraries',
		conf => "min_dynamic_shared_memory = 0\nshared_preload_libraries = 'snowflake_ids'",
		memory => 'preloaded' })
{
	my ($what, $memory) = @$_{qw(what memory)};
	my $in_main_memory = $memory eq 'preloaded';
	my $files = $_->{in_a_file} // 0;
	conf($_->{conf} // '');
	$clock->set(-600);
	my $mark = log_mark($server);
	restart_after($server, 'fast');
	is( value($server, $allocated) // '',
		$in_main_memory ? 'snowflake_ids, snowflake_ids ledger' : '',
		"$what: main memory before the first id");

	my @sessions = map { Session->new($server) } 1 .. 6;
	$_->send(Ids::query(5, 50)) for @sessions;
	$ids->add($_->answer) for @sessions;
	life_of($what, $mark, $client, $memory, @sessions[ 0 .. 2 ]);
	is( value($server, $allocated),
		$in_main_memory ? 'snowflake_ids, snowflake_ids ledger' : 'snowflake_ids',
		"$what: main memory after it");
	is(scalar $dynamic_files->(), $files, "$what: files in the data directory");
	undef @sessions;

	$mark = log_mark($server);
	kill_backend($server);
	$ids->draw($server);
	life_of("$what, after a crash", $mark, $client, $memory);
	draw_at_all_times($ids, $server, $clock, $start);
}

# ---- a process alone
{
	my $alone = sub {
		my ($query) = @_;
		my ($out, $err) = ('', '');
		local $ENV{LD_PRELOAD} = shim('clock_shim');
		local $ENV{CLOCK_SHIM_OFFSET} = $clock->{file};
		my @command = ('postgres', '--single', '-F', '-D', $server->data_dir, 'postgres');
		IPC::Run::run(\@command, '<', \"$query\n", '>', \$out, '2>', \$err) or die "$err";
		return join "\n", $out =~ /= "([^"]*)"/g, $err =~ /(?:ERROR|FATAL|PANIC).*/g;
	};
	my $drawn =
		q{SELECT string_agg(concat_ws(' ', 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si()), ' ') }
	  . 'FROM generate_series(1, 1000)';
	for ([ 'snowflake_ids', 'preloaded' ], [ '', 'dynamic' ])
	{
		my ($preload, $memory) = @$_;
		conf("shared_preload_libraries = '$preload'");
		$ids->draw($server);
		$server->stop('fast');
		$clock->step(-60);
		my $before = $ids->drawn;
		my $said = $alone->(
			"SELECT memory FROM snowflake_ids.status()\n$drawn\n" . 'SELECT memory, life FROM snowflake_ids.status()');
		my @drawn = $said =~ /\b([msi]\w{10,})\b/g;
		$ids->add(join "\n", grep { $_ ne 'single' } @drawn);
		is($ids->drawn - $before, 3000, 'it draws');
		$said =~ s/\n[^\n]{100,}\n/ ... / or diag $said;
		like($said, qr/^$memory ... $memory\n\d+\z/, "in $memory memory");
		($last_life) = $said =~ /(\d+)\z/;
		start_at($server, $clock);
		$ids->draw($server);
		cmp_ok(value($server, $life), '>', $last_life, 'the server begins another life');
		$last_life = value($server, $life);
	}
	draw_at_all_times($ids, $server, $clock, $start);
}
$ids->none_twice('each kind of shared memory, crashes of it, single-user mode');

# ---- who may be the first
$ids = Ids->new;
sub crash { my $mark = log_mark($server); kill_backend($server); return $mark }
{
	my $mark = crash();
	my $session = Session->new($server, user => 'somebody', options => '-c default_transaction_read_only=on');
	like($session->ask('SELECT gen_mastic() > 0, gen_sno() IS NOT NULL'),
		qr/^t\|t$/, 'a role in a read-only transaction');
	life_of('read-only transaction', $mark, $client, 'dynamic', $session);
}
{
	my $mark = crash();
	my $session = Session->new($server);
	like(
		$session->ask('BEGIN; SAVEPOINT s; SELECT gen_mastic(), 1 / 0; ROLLBACK TO s; SELECT 1 / 0; ROLLBACK'),
		qr/(?:division by zero.*){2}/s,
		'a transaction that fails');
	$session->gone;
	only_connected($server);
	$ids->draw($server);
	life_of('failed transaction of a session that has ended', $mark, $client, 'dynamic');
}
{
	my $mark = crash();
	is(value($server, 'SELECT memory, life, life_began, ceiling_file FROM snowflake_ids.status()'),
		'dynamic|||ready', 'the status makes the memory, but begins no life');
	$ids->draw($server);
	life_of('status', $mark, $client, 'dynamic');
}
{
	$server->safe_psql('postgres', q{CREATE PUBLICATION p FOR TABLE replicated});
	$server->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('s', 'pgoutput')});
	my $from = $server->connstr('postgres');
	$server->safe_psql('other', <<"END");
CREATE TABLE replicated (n int, id bigint DEFAULT gen_mastic());
CREATE SUBSCRIPTION s CONNECTION \$\$$from\$\$ PUBLICATION p
    WITH (create_slot = false, slot_name = 's', copy_data = false);
END
	my $mark = crash();
	my $there = Session->new($server, dbname => 'other');
	$server->safe_psql('postgres', 'INSERT INTO replicated SELECT generate_series(1, 10)');
	is(eventually(sub { my $n = $there->ask('SELECT count(id) FROM replicated'); $n == 10 && $n }),
		10, 'rows are replicated');
	$ids->add($there->ask(q{SELECT 'm' || id FROM replicated}));
	life_of('logical apply worker', $mark, qr/logical replication/, 'dynamic', $there);
	$there->ask('ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s');
	$there->gone;
}
{
	# A crash forgets what was counted for autovacuum.
	$server->safe_psql('postgres', 'INSERT INTO vacuumed SELECT generate_series(1, 10)');
	conf('autovacuum = on');
	my $mark = log_mark($server);
	restart_after($server, 'fast');
	my $drawn = qr/autovacuum worker: LOG:  drawn: (m\d+)/;
	my @drawn;
	eventually(sub { 10 == (@drawn = log_since($server, $mark) =~ /$drawn/g) }) or die 'autovacuum draws no ids';
	$ids->add(join "\n", @drawn);
	life_of('autovacuum worker', $mark, qr/autovacuum worker/, 'dynamic');
	conf('autovacuum = off');
	reload($server);
}
$clock->set(0);
$ids->draw($server);
$ids->none_twice('first id of a life by each kind of process');

# ---- in recovery, and out of it
{
	$ids = Ids->new;
	$server->backup('base');
	my $its_clock = clock();
	$its_clock->set(-3600);
	my $standby = standby_of($server, 'standby', $its_clock);
	my @sessions = map { Session->new($standby) } 1 .. 3;
	fails_with($_, 'SELECT gen_sno(), gen_snowflake_si()', 'sessions of a standby draw nothing', qr/during recovery/)
	  for @sessions;
	value($standby, 'TABLE snowflake_ids.stats');
	my $status = 'SELECT memory, in_recovery, life FROM snowflake_ids.status()';
	my ($there) = value($standby, $status) =~ /^dynamic\|t\|(\d+)$/;
	ok($there, 'who looks at its generators begins a life, in memory of its own');
	$ids->draw($server);
	$server->wait_for_catchup($standby, 'replay', flushed_lsn($server));
	$its_clock->step(-3600);
	$standby->promote;

	for my $session (@sessions, Session->new($standby))
	{
		$ids->draw($session);
		is($session->ask($status), "dynamic|f|$there", 'promoted, all go on in the same life');
	}
	$its_clock->set(0);
	$ids->draw($standby);
	my @lives = log_since($standby, 0) =~ /$begun/g;
	is(scalar @lives, 2, 'one life in all');
	$ids->none_twice('memory of a standby, kept through its promotion');
	$standby->stop('immediate');
}
$server->stop('immediate');
done_testing();
