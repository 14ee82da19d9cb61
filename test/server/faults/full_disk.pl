# No space or a failing disk, in each call that the ceiling file needs: an error with SQLSTATE and hint, no ids lost, no
# crash, and afterwards all continues without a restart.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Servers;
use Test::More;

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
	refused_during($_, 'the next ceiling', sub { }) for $fault eq 'broken' ? 'pread' : (), 'pwrite', 'fdatasync';

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
	  for 'openat', 'pwrite', 'fsync', 'linkat', 'fsync_directory', 'fdatasync';

	for ((map { [ $_, 1 ] } 'pwrite', 'fdatasync'),
		(map { [ $_, 0 ] } 'openat', 'pwrite', 'fsync', 'linkat', 'fsync_directory'))
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

	for ([ 'pwrite', 0 ], [ 'fdatasync', 0 ], [ 'pwrite', 1 ], [ 'fdatasync', 1 ])
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

# ---- for one session: limits on bytes and on open files
SKIP:
{
	skip 'prlimit is not installed', 1 if system('prlimit --version >/dev/null 2>&1') != 0;
	$ids = Ids->new;
	my $limit = sub {
		my ($session, $what) = @_;
		my $pid = $session->{backend} //= $session->ask('SELECT pg_backend_pid()');
		system('prlimit', '--pid', $pid, "--$what") == 0 or die 'prlimit failed';
	};
	for my $bytes (1, 4096, 5000, 20000, 36863)
	{
		later;
		my $start = $clock->now;
		$ids->draw($server);
		my $session = Session->new($server);
		$ids->draw($session);
		$limit->($session, "fsize=$bytes:unlimited");
		later;
		my $refused =
		  qr/ERROR.*could not write ceiling file "snowflake_ids.ceiling": File too large.*No id is generated.*HINT:.*Make room/s;
		like($session->ask('SELECT gen_sno()'), $refused, "$bytes bytes: no space for the ceiling") for 1 .. 2;
		is(value($server, 'SELECT ledger_state FROM snowflake_ids.status()'),
			'ready', "$bytes bytes: a file of which a part was written is not damaged");
		unlink $ceiling or die;
		like($session->ask('SELECT gen_sno()'), $refused, "$bytes bytes: no space for a new file");
		ok(!-e $ceiling, "$bytes bytes: there is none");
		no_temporary_files("$bytes bytes");
		$limit->($session, 'fsize=unlimited:unlimited');
		draw_at_all_times($ids, $session, $clock, $start);
	}
	later;
	my $start = $clock->now;
	my $session = Session->new($server);
	$ids->draw($session);
	$session->ask('PREPARE draw AS SELECT gen_mastic() > 0');
	is($session->ask('EXECUTE draw'), 't', 'a session draws');
	$limit->($session, 'nofile=3:');
	later;
	like(
		$session->ask('EXECUTE draw'),
		qr/ERROR: .*could not write ceiling file .*Too many open files/,
		'without a descriptor it has no new ceiling');
	$limit->($session, 'nofile=1024:');
	is($session->ask('EXECUTE draw'), 't', 'with one it draws');
	draw_at_all_times($ids, $_, $clock, $start) for $session, $server;
	$ids->none_twice('no space for one session');
}
unlike(log_since($server, $beginning), qr/terminated by signal/, 'no process has crashed');
$server->stop('immediate');
done_testing();
