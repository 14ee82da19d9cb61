# One session raises ceilings early; during its slow sync the others issue. A session that begins then waits for it,
# because what it reads of the raised ceiling must be on disk.
use Servers;

my $sessions = 4;
my $clock = clock();
my $server = new_server(
	'slow', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "snowflake_ids.durable_window = '10min'");
my $synced = $server->{sfids_synced};
my $observer = Session->new($server);
my $load =
  'SELECT count(gen_sno()), count(gen_mastic()), count(gen_snowflake_si()), pg_sleep(0.001) FROM generate_series(1, 5)';

sub begun
{
	my ($since, @pids) = @_;
	return split /\n/,
	  $observer->ask(
		"SELECT pid FROM pg_stat_activity WHERE query_start > '$since' AND pid IN (" . join(', ', @pids) . ')');
}
sub now { return $observer->ask('SELECT clock_timestamp()') }

# Returns the session, how many others waited for it, and whether it continued.
sub hold
{
	my ($file) = @_;
	unlink "$synced/held.log";
	my @sessions = map { Session->new($server) } 1 .. $sessions;

	$clock->step(1000);
	my @pids = map { $_->ask("$load; SELECT pg_backend_pid()") =~ /(\d+)\z/ } @sessions;
	$_->send(join ';', ($load) x 10000) for @sessions;
	eventually(sub { begun('-infinity', @pids) == @pids });
	spew("$synced/held.$file", " @pids ");
	$clock->step(620);
	my $holder = eventually(sub { -s "$synced/held.log" }) ? slurp("$synced/held.log") + 0 : 0;
	my $since = my $then = now();

	$clock->pass(5);
	my $until = time + 30;
	my %waits;
	for my $statement (1 .. 20)
	{
		%waits = map { $_ => 1 } grep { $_ != $holder } @pids;
		while (%waits && time < $until) { delete @waits{ begun($then, @pids) } }
		$then = now();
	}
	my $went_on = grep { $_ == $holder } begun($since, @pids);
	my $new = Session->new($server);
	my $new_pid = $new->ask('SELECT pg_backend_pid()');
	$new->send('SELECT gen_sno()');
	my $new_waits = $file eq 'wal' && eventually(
		sub {
			$observer->ask("SELECT state, wait_event FROM pg_stat_activity WHERE pid = $new_pid AND query ~ 'gen_sno'")
			  =~ /^(idle)|WALWrite$/ ? [$1] : 0;
		});
	my $held = slurp("$synced/held.log") =~ s/^\s+|\s+$//gr;
	unlink "$synced/held.$file";
	my $after = now();
	my $released = eventually(sub { begun($after, @pids) == @pids });
	$new->answer;
	undef $new;
	undef @sessions;
	only_connected($server, $observer);
	return {
		holder => scalar(grep { $_ == $holder } @pids),
		held => $held == $holder,
		waits => scalar(keys %waits),
		went_on => $went_on,
		new_waits => $new_waits && !$new_waits->[0],
		released => $released };
}

for my $case ([ 'ceiling file', 'ceiling' ], [ 'WAL', 'wal' ])
{
	my ($what, $file) = @$case;
	my $r;

	# Repeated, because a machine that stands still keeps the others from drawing in time.
	for (1 .. 5) { $r = hold($file); last unless $r->{waits} }
	is($r->{holder}, 1, "$what: a session that draws syncs");
	is($r->{waits}, 0, "$what: the others draw on while it does");
	ok($r->{held}, "$what: none of them syncs, too");
	is($r->{went_on}, 0, "$what: it has to wait itself");
	ok($r->{new_waits}, "$what: so has a new session") if $file eq 'wal';
	ok($r->{released}, "$what: all go on after that");
}
$server->stop('immediate');
done_testing();
