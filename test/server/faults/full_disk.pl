# No space or a failing disk, in each call that the ceiling file needs: an error with SQLSTATE and hint, no ids lost, no
# crash, and afterwards all continues without a restart.
use Servers;
use Quick;

my $clock = clock();

my $server = new_server(
	'full', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "snowflake_ids.durable_window = '10min'");
my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
my $beginning = log_mark($server);
my ($ids, $fault);

my %error = (
	full => qr/53100: could not write ceiling file "[a-z_.]+": No space left on device/,
	broken => qr/58030: could not write ceiling file "[a-z_.]+": Input\/output error/);
sub fault_in { spew("$server->{sfids_synced}/$fault", $_[0]) }

sub mend
{
	unlink map { "$server->{sfids_synced}/$_" } keys %error;
}

# What differs by the fault is the error alone.
sub some { return $fault eq 'full' ? @_ : part(@_) }

my $time = 0;
sub later { $clock->set($time += 3000) }

sub says { my ($where, $query) = @_; return Session::ask_once($where, "\\set VERBOSITY verbose\n$query") }

sub is_refused
{
	my ($where, $name, $query) = @_;
	like(says($where, $query // 'SELECT gen_sno()'), qr/^ERROR:  $error{$fault}\n.*^HINT:  .*Make room/ms, $name);
}

sub no_temporary_files
{
	return is(join(' ', grep { /tmp$/ } glob $server->data_dir . '/snowflake_ids.*'), '',
		"$_[0]: nothing is left of it");
}

# New sessions and an old one get errors, twice, and then continue.
sub refused_during
{
	my ($calls, $what, $act) = @_;
	my $name = "$fault, $calls, $what";
	my $session = Session->new($server);
	later;
	my $start = $clock->now;
	$ids->draw($server);
	$ids->draw($session);
	$act->();
	fault_in($calls);
	later;

	for (1 .. 2)
	{
		is_refused($session, "$name: a session that drew before");
		is_refused($server, "$name: a new session");
	}
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, "$name: gen_gid() goes on");
	no_temporary_files($name);
	mend;
	draw_at_all_times($ids, $session, $clock, $start);
	later;
	$ids->draw($server);
	is(-s $ceiling, 36864, "$name: the file is whole");
}

for (sort keys %error)
{
	$fault = $_;
	$ids = Ids->new;
	$ids->draw($server);
	refused_during($_, 'the next ceiling', sub { }) for some($fault eq 'broken' ? 'pread' : (), 'pwrite', 'fdatasync');

	# Ids below the ceiling continue, and so does the session that would raise it early.
	{
		my $session = Session->new($server);
		later;
		$ids->draw($session);
		fault_in('pwrite fdatasync');

		$clock->step(620);
		$ids->draw($session) for 1 .. 2;
		like(says($session, 'SELECT gen_mastic()'), qr/^\d+$/, "$fault: ids go on until the ceiling");
		$clock->step(200);
		is_refused($session, "$fault: and end there", 'SELECT gen_mastic()');
		mend;
		$ids->draw($session);
	}

	# The file is made under another name, and gets its own when it is whole.
	refused_during($_, 'no file', sub { unlink $ceiling or die })
	  for some('openat', 'pwrite', 'fsync', 'linkat', 'fsync_directory', 'fdatasync');

	for (
		some(
			(map { [ $_, 1 ] } 'pwrite', 'fdatasync'),
			(map { [ $_, 0 ] } 'openat', 'pwrite', 'fsync', 'linkat', 'fsync_directory')))
	{
		my ($calls, $there) = @$_;
		my $name = "$fault, $calls: a new life" . ($there ? '' : ' without a file');
		later;
		my $start = $clock->now;
		$ids->draw($server);
		fault_in($calls);
		$server->stop('immediate');
		unlink $ceiling or die if !$there;
		$clock->set($time - 3600);
		start_at($server, $clock);
		is_refused($server, $name) for 1 .. 2;
		no_temporary_files($name);
		is(value($server, 'SELECT life FROM snowflake_ids.status()'), '', "$name: it has not begun");
		mend;
		draw_at_all_times($ids, $server, $clock, $start);
	}

	for (some([ 'pwrite', 0 ], [ 'fdatasync', 0 ], [ 'pwrite', 1 ], [ 'fdatasync', 1 ]))
	{
		my ($calls, $running) = @$_;
		my $name = "$fault, $calls: a reset " . ($running ? 'in a life' : 'before a life begins');
		later;
		my $start = $clock->now;
		$ids->draw($server);
		$server->stop('immediate') if !$running;
		unlink $ceiling or die;
		if (!$running) { $clock->set($time - 3600); start_at($server, $clock) }
		my $reset = "SELECT snowflake_ids.reset(greatest('" . $ids->latest($server) . "', clock_timestamp()
		  + interval '1 s'))";
		fault_in($calls);
		is_refused($server, $name, $reset);
		mend;
		is(value($server, $reset), '', "$name: and then it is done");
		draw_at_all_times($ids, $server, $clock, $start);
	}
	$ids->none_twice(
		$fault eq 'full' ? 'no space for the ceiling file, for all processes' : 'a disk that fails, for all processes');
}

unlike(log_since($server, $beginning), qr/terminated by signal/, 'no process has crashed');
$server->stop('immediate');
done_testing();
