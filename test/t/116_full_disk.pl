# No space: for one session, and for all processes of the server in each call that our files need. Each is an error with
# the SQLSTATE of a full disk and a hint, nothing is lost by it, and when there is space all goes on, without a restart.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();

# Ceilings have room for minutes.
my $server = new_server(
	'full', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "snowflake_ids.durable_window = '10min'");
my ($ledger, $ceiling) = map { $server->data_dir . "/snowflake_ids.$_" } qw(ledger ceiling);
my $full = "$server->{sfids_synced}/full";
my $ids = Ids->new;
$ids->draw($server);

# Each fault comes later than the ceilings of those before.
my $time = 0;
sub later { $clock->set($time += 3000) }

# What a session says to a query, with SQLSTATE.
sub says { my ($where, $query) = @_; return Session::ask_once($where, "\\set VERBOSITY verbose\n$query") }

# While the calls find no space: new sessions, and one that drew before, end with an error.
sub no_space_for
{
	my ($calls, $session, $what, $message) = @_;
	later;
	my $start = $clock->now;
	$ids->draw($server);
	$ids->draw($session) if $session;
	$what->();
	spew($full, $calls);
	later;

	for ($session // (), $server)
	{
		my $who = $_ == $server ? 'a new session' : 'a session that drew before';
		like(
			says($_, 'SELECT gen_sno()'),
			qr/^ERROR:  53100: $message: No space left on device\n.*^HINT:  .*(?:space|room)/ms,
			"$calls, $who: $message");
	}
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, "$calls: gen_gid() goes on");
	is(join(' ', grep { /tmp$/ } glob $server->data_dir . '/snowflake_ids.*'), '', "$calls: nothing is left of it");
	return $start;
}

sub space_again
{
	my ($session, $start) = @_;
	unlink $full;
	$ids->draw($session) if $session;
	draw_at_all_times($ids, $_, $clock, $start) for $session // (), $server;
}

my ($no_ledger, $no_ceiling) = map { qr/could not $_ file "[a-z_.]+"/ } 'create ledger', 'write ceiling';

# ---- both files are there: the next ceiling
for my $calls ('pwrite', 'fdatasync')
{
	my $session = Session->new($server);
	my $start = no_space_for($calls, $session, sub { }, $no_ceiling);
	space_again($session, $start);
}

# ---- below the ceiling ids go on, and the session that would raise it ahead of need does not mind
{
	my $session = Session->new($server);
	later;
	$ids->draw($session);
	spew($full, 'pwrite fdatasync');

	# It is raised from ten minutes on, and is two and a half after that.
	$clock->step(620);
	$ids->draw($session) for 1 .. 2;
	like(says($session, 'SELECT gen_mastic()'), qr/^\d+$/, 'without space ids go on until the ceiling');
	$clock->step(200);
	like(says($session, 'SELECT gen_mastic()'), qr/^ERROR:  53100: $no_ceiling: No space/, 'and end there');
	unlink $full;
	$ids->draw($session);
}

# ---- the ceiling file is not there
for my $calls ('openat', 'posix_fallocate', 'pwrite', 'fsync', 'linkat')
{
	my $session = Session->new($server);
	my $start = no_space_for($calls, $session, sub { unlink $ceiling }, $no_ceiling);
	ok(!-e $ceiling, "$calls: no ceiling file") if $calls ne 'pwrite';
	space_again($session, $start);
}

# ---- nor is the ledger; a session that has the old one ends at its next ceiling, so there is none
for my $calls ('openat', 'posix_fallocate', 'pwrite', 'fsync', 'linkat')
{
	my $start = no_space_for($calls, undef, sub { unlink $ledger, $ceiling }, $no_ledger);
	ok(!-e $ledger, "$calls: no ledger");
	space_again(undef, $start);
}

# ---- a new life
{
	my $start = $clock->now;
	$ids->draw($server);
	spew($full, 'pwrite fdatasync');
	restart_after($server, 'kill -9', -3600);
	like(says($server, 'SELECT gen_sno()'), qr/^ERROR:  53100: $no_ceiling: No space/m, 'a new life without space');
	space_again(undef, $start);
}

# ---- a repair: the file stays damaged until there is space for all of it
for ([ 'fallocate', $ledger ], [ 'pwrite', $ledger, $ceiling ], [ 'fsync', $ledger ])
{
	my ($calls, @damaged) = @$_;
	my $start = $clock->now;
	$ids->draw($server);
	my $reset = "SELECT snowflake_ids_reset('" . $ids->latest($server) . "')";
	$server->stop('fast');
	spew($_, 'noise' x 1000) for @damaged;
	$clock->set(-3600);
	start_at($server, $clock);
	spew($full, $calls);
	like(
		says($server, $reset),
		qr/^ERROR:  53100: .*No space left on device\n.*^HINT: .*(?:space|room)/ms,
		"$calls: no reset without space");
	unlink $full;
	fails_with(
		$server,
		'SELECT gen_sno()',
		"$calls: the ledger is as damaged as before",
		qr/ledger file .* is damaged/,
		qr/snowflake_ids_reset/);
	is(value($server, $reset), '', "$calls: a reset with space");
	space_again(undef, $start);
}

# ---- a ledger that was copied with holes, which are pages that had not reached the disk when the power went: they get
# their space before they are written
SKIP:
{
	my $start = $clock->now;
	$ids->draw($server);
	$server->stop('fast');
	my $content = slurp($ledger);
	for (map { 4096 + 256 * $_ } 0 .. 1023)
	{
		substr $content, $_, 256, "\0" x 256 if substr($content, $_, 8) eq "\0" x 8;
	}
	spew($ledger, $content);
	rename $ledger, "$ledger.dense" or die;
	system('cp', '--sparse=always', '--preserve=all', "$ledger.dense", $ledger);
	skip 'cp makes no holes here', 1 if $? != 0;
	my ($size, $blocks) = (stat $ledger)[ 7, 12 ];
	note sprintf 'a file of %d bytes in %d', $size, $blocks * 512;
	spew($full, 'fallocate');
	start_at($server, $clock);
	skip 'the file system makes no holes', 1 if $blocks * 512 >= $size;
	my $mark = log_mark($server);
	like(
		says($server, 'SELECT gen_mastic()'),
		qr/^ERROR:  53100: $no_ledger: No space left on device\n.*^HINT:  .*(?:space|room)/ms,
		'holes, and no space for them');
	unlike(log_since($server, $mark), qr/terminated by signal/, 'no backend ran into one');
	space_again(undef, $start);
	cmp_ok((stat $ledger)[12] * 512, '>=', $size, 'with space they are filled');
}
unlink $full;
$ids->none_twice('no space for our files, for all processes');

# ---- no byte more can be written by one session, as the kernel sees to it
SKIP:
{
	skip 'prlimit is not installed', 1 if system('prlimit --version >/dev/null 2>&1') != 0;
	$ids = Ids->new;
	later;
	my $start = $clock->now;
	$ids->draw($server);
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$ids->draw($session);
	system('prlimit', '--pid', $pid, '--fsize=1:unlimited') == 0 or die 'prlimit failed';
	later;
	my $said = $session->ask('SELECT gen_sno()');
	like(
		$said,
		qr/ERROR.*could not write ceiling file "snowflake_ids.ceiling": File too large.*No id is issued.*HINT:.*Make room/s,
		'no space for the ceiling');
	system('prlimit', '--pid', $pid, '--fsize=unlimited:unlimited') == 0 or die 'prlimit failed';
	draw_at_all_times($ids, $session, $clock, $start);
	unlink $ledger;
	$clock->set(-3600);
	$session = Session->new($server);
	$pid = $session->ask('SELECT pg_backend_pid()');
	system('prlimit', '--pid', $pid, '--fsize=1000:unlimited') == 0 or die 'prlimit failed';
	$said = $session->ask('SELECT gen_sno()');
	like($said, qr/ERROR.*could not create ledger file.*HINT:.*free space/s, 'no space for the ledger');
	ok(!grep({ /tmp$/ } glob "$ledger*"), 'nothing is left of it');
	system('prlimit', '--pid', $pid, '--fsize=unlimited:unlimited') == 0 or die 'prlimit failed';
	draw_at_all_times($ids, $session, $clock, $start);
	$ids->none_twice('no space for one session');
}
$server->stop('immediate');
done_testing();
