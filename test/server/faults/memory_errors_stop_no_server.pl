# Shared memory that cannot be had, was removed, or is another version's: an error with SQLSTATE and hint, the server
# stays up, sessions with the memory continue, and the hint helps.
use Servers;

my $clock = clock();
my $ids = Ids->new;
my $start = $clock->now;
my $module = module('memory_module');
my $server = new_server('errors', $clock, conf => <<'END');
max_connections = 10
autovacuum_max_workers = 1
dynamic_shared_memory_type = posix
END
$ids->draw($server);
$server->safe_psql('postgres', <<"END");
CREATE FUNCTION take_slack() RETURNS bigint AS '$module' LANGUAGE C;
CREATE FUNCTION take_segments() RETURNS int AS '$module' LANGUAGE C;
CREATE FUNCTION give_segments(int) RETURNS void AS '$module' LANGUAGE C STRICT;
CREATE FUNCTION forget_ledger() RETURNS void AS '$module' LANGUAGE C;
CREATE FUNCTION set_memory_version(int) RETURNS int AS '$module' LANGUAGE C STRICT;
END

my $room = qr/Ids need \d+ bytes of .*Make room there, or add snowflake_ids to shared_preload_libraries/;
my $removed = qr/something has removed it since.*Restart the server, and see RemoveIPC/;

sub refused
{
	my ($where, $what, $pattern, $hint) = @_;
	my $said = Session::ask_once($where, "\\set VERBOSITY verbose\nSELECT gen_sno()") =~ s/^LOCATION:.*\n?//mr;
	chomp $said;
	like($said, qr/\AERROR:  $pattern\n(?:.*\n)*HINT:  .*$hint/, $what);
	note "---- $what\n$said";
	return;
}

sub no_crash
{
	my ($what, $mark) = @_;
	unlike(log_since($server, $mark), qr/PANIC|FATAL|terminated by signal|reinitializing/,
		"$what: the server stays up");
	return;
}

sub new_memory
{
	my ($conf) = @_;
	$server->append_conf('postgresql.conf', $conf) if defined $conf;
	restart_after($server, 'fast');
	return log_mark($server);
}

# ---- no space where segments are; the server's statistics need a megabyte there at the start
SKIP:
{
	my $pg_ctl = small_filesystem('/dev/shm', '8m');
	skip 'this user may not mount a file system in a namespace of its own', 8 unless $pg_ctl;
	{
		local $ENV{PATH} = "$pg_ctl:$ENV{PATH}";
		new_memory();
	}
	my $mark = log_mark($server);
	my $there = q{SELECT string_agg(f, ' ' ORDER BY f) FROM pg_ls_dir('/dev/shm') f};
	my $own = value($server, $there);
	my $fill = q{COPY (SELECT repeat('x', %d)) TO '/dev/shm/filler'};
	like(value($server, sprintf $fill, 9000000), qr/No space left on device/, 'the file system of /dev/shm is full');
	my $session = Session->new($server);
	refused(
		$session,
		'no space in /dev/shm',
		qr/53100: could not resize shared memory segment "\S+" to \d+ bytes: No space left on device/, $room);
	refused($server, 'no space in /dev/shm, another session', qr/53100: could not resize.*/, $room);
	is(value($server, $there), "$own filler", 'nothing is left of it');
	is($session->ask('SELECT ceiling_file FROM snowflake_ids.status()') =~ /could not resize/,
		1, 'snowflake_ids.status() says it, too');
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, 'gen_gid() needs none');
	no_crash('no space', $mark);

	is(value($server, sprintf $fill, 1), '', 'room is made');
	draw_at_all_times($ids, $session, $clock, $start);
	$ids->draw($server);

	$server->append_conf('postgresql.conf', q{shared_preload_libraries = 'snowflake_ids'});
	{
		local $ENV{PATH} = "$pg_ctl:$ENV{PATH}";
		new_memory();
	}
	like(value($server, sprintf $fill, 9000000), qr/No space left on device/, 'full again');
	$ids->draw($server);
	is(value($server, 'SELECT memory FROM snowflake_ids.status()'), 'preloaded', 'preloaded, ids need no space there');
	$server->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
}

# ---- no more segments
{
	my $mark = new_memory();
	my $session = Session->new($server);
	cmp_ok($session->ask('SELECT take_segments()'), '>', 100, 'others have all segments');
	refused($session, 'no segment left', qr/53000: too many dynamic shared memory segments/, $room);
	refused($server, 'no segment left, another session', qr/53000: too many.*/, $room);
	$session->ask('SELECT give_segments(1)');
	$ids->draw($server);
	$ids->draw($session);
	no_crash('no segment left', $mark);
	is($session->ask('SELECT give_segments(100000)'), '', 'they are given back');
}

# ---- no space in the main shared memory
{
	my $mark = new_memory();
	cmp_ok(value($server, 'SELECT take_slack()'), '>', 10000, 'others have all that the server has left over');
	refused(
		$server,
		'no main memory left',
		qr/53200: not enough shared memory for data structure "snowflake_ids" \(64 bytes requested\)/, $room);
	no_crash('no main memory left', $mark);
	new_memory(q{shared_preload_libraries = 'snowflake_ids'});
	cmp_ok(value($server, 'SELECT take_slack()'), '>', 10000, 'the same with the memory set aside');
	draw_at_all_times($ids, $server, $clock, $start);
	$server->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
}
$ids->none_twice('no room for shared memory, and room again');

# ---- a segment that is removed while the server runs
{
	$ids = Ids->new;
	my $mark = new_memory();
	my $session = Session->new($server);
	$ids->draw($session);
	my ($pid, $bytes) = split /\|/, $session->ask('SELECT pg_backend_pid(), memory_bytes FROM snowflake_ids.status()');
	my @files = segments_of($pid, $bytes);
	is(scalar @files, 1, "a file of $bytes bytes has the memory: @files");
	unlink @files;
	$ids->draw($session);
	refused(
		$server,
		'the segment was removed',
		qr/58P01: could not open shared memory segment "\S+": No such file or directory/, $removed);
	$ids->draw($session);
	is(value($server, 'SELECT memory FROM snowflake_ids.status()'), 'none', 'a new session has no memory');
	no_crash('removed', $mark);
	$session->gone;
	$clock->set(-7200);
	kill_backend($server);
	draw_at_all_times($ids, $server, $clock, $start);

	# The server gives it up when nobody keeps it.
	only_connected($server);
	value($server, 'SELECT forget_ledger()');
	only_connected($server);
	refused(
		$server,
		'the server has dropped the segment',
		qr/XX000: could not attach to the shared memory of snowflake_ids/, $removed);
	new_memory();
	draw_at_all_times($ids, $server, $clock, $start);
	$ids->none_twice('shared memory removed while the server runs');
}

# ---- memory of another version
{
	$ids = Ids->new;
	my $mark = new_memory();
	my $old = Session->new($server);
	$ids->draw($old);
	my $version = value($server, 'SELECT set_memory_version(99)');
	cmp_ok($version, '>', 0, "this is version $version of the memory");
	refused(
		$server,
		'memory of another version',
		qr/55000: another version of snowflake_ids has created the shared memory .*\nDETAIL:  This session has loaded version \d[\d.]+\./,
		qr/Restart the server\./);
	like(
		value($server, 'SELECT ceiling_file FROM snowflake_ids.status()'),
		qr/^another version of snowflake_ids/,
		'snowflake_ids.status() says it, too');
	$ids->draw($old);
	$old->gone;
	no_crash('another version', $mark);
	$clock->set(-3600);
	new_memory();
	draw_at_all_times($ids, $server, $clock, $start);
	$ids->none_twice('memory of another version, server restarted');
}
$server->stop('immediate');
done_testing();
