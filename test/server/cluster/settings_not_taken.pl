# A setting that the server did not take: the first load in a parallel operation takes it; out of range, no number, or
# set where it cannot be, each draw is refused and the status shows it.
use Servers;

my $server = PostgreSQL::Test::Cluster->new('settings');
$server->init;
my %good = (
	machine_id => 11,
	sno_sequence_min => 100,
	sno_sequence_max => 60000,
	clock_regression => 'wait',
	durable_window => '3s',
	max_wait => '7s');
my $good = join '', map { "snowflake_ids.$_ = $good{$_}\n" } sort keys %good;
$server->append_conf('postgresql.conf', <<"END_CONF");
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
parallel_leader_participation = off
max_parallel_workers_per_gather = 2
max_parallel_maintenance_workers = 2
max_parallel_workers = 4
END_CONF
$server->append_conf('snowflake.conf', $good);
$server->append_conf('postgresql.conf', "include 'snowflake.conf'\n");
$server->start;
$server->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowflake_ids;
CREATE TABLE t (id sno, n int);
INSERT INTO t SELECT gen_sno(), n FROM generate_series(1, 20000) AS n;
ALTER TABLE t SET (parallel_workers = 2);
CREATE TABLE u AS TABLE t;
ALTER TABLE u SET (parallel_workers = 2);
CREATE INDEX u1 ON u (id);
CREATE INDEX u2 ON u (id);
SQL
sub psql { my ($sql, @more) = @_; my ($rc, $out, $err) = $server->psql('postgres', $sql, @more); return ($out, $err) }
sub err  { return (psql(@_))[1] }
my $is_loaded = q{SELECT 'loaded ' || count(*) FROM pg_settings WHERE name = 'snowflake_ids.machine_id'};
my $in_force = join ' || ', map { "'$_=' || current_setting('snowflake_ids.$_') || ' '" } sort keys %good;
my $expected = join ' ', map { "$_=" . ($good{$_} =~ s/'//gr) } sort keys %good;

# ---- in a parallel operation. Before late 2024, a server takes no setting there.
my $version = $server->safe_psql('postgres', 'SHOW server_version_num');
my $takes_none =
  $version < 150010 || $version >= 160000 && $version < 160006 || $version >= 170000 && $version < 170002;
for my $first (
	[ 'CREATE INDEX', 'CREATE INDEX ON t (id)' ],
	[ 'CREATE UNIQUE INDEX', 'CREATE UNIQUE INDEX ON t (id, n)' ],
	[ 'REINDEX', 'REINDEX TABLE t' ],
	[ 'VACUUM (PARALLEL)', q{DELETE FROM u WHERE n % 1000 <> 0; VACUUM (PARALLEL 2) u} ])
{
	my ($name, $sql) = @$first;

	my ($out, $err) = psql(
		join ";\n",
		$is_loaded,
		$sql,
		$is_loaded,
		"SELECT $in_force",
		'SELECT DISTINCT sno_partition(id), sno_sequence(id) BETWEEN 100 AND 60000 FROM (SELECT gen_sno() AS id FROM generate_series(1, 10)) AS s',
		'SELECT snowflake_si_machine_id(gen_snowflake_si())');
	my ($before, $after, @rest) = split /\n/, $out;
	note "$name: $before before, $after after";

	# In VACUUM the worker alone may load it; then the session takes all.
	my $refused = $takes_none && $err =~ /ERROR:  value of parameter "snowflake_ids.machine_id" was not accepted: "11"/;
	ok($refused || join("\n", $before, @rest) eq "loaded 0\n$expected \n11|t\n11",
		"first load in $name: the configured values are in force")
	  or diag "$out\n$err";
	unlike($err, qr/WARNING/, 'without a warning') unless $takes_none;
}

# New connections have it once a poll sees it, because the postmaster forks them.
sub configure
{
	my ($conf, $name, $value) = @_;
	spew($server->data_dir . '/snowflake.conf', $conf);
	$server->reload;
	$server->poll_query_until('postgres',
		"SELECT current_setting('snowflake_ids.$name', true) IS NOT DISTINCT FROM "
		  . (defined $value ? "\$\$$value\$\$" : 'NULL'))
	  or die "$name is not $value";
}

# ---- out of range, or no such value
my @calls =
  split / /, q{gen_sno() gen_sno(0,5) gen_sno_at(now()) gen_mastic() gen_snowflake_si() gen_snowflake('twitter')};

sub refusal
{
	my ($name, $value, $detail, $hint) = @_;
	return
	  qr/ERROR:  55000: value of parameter "snowflake_ids.$name" was not accepted: "\Q$value\E"\nDETAIL:  $detail.*\nHINT:  $hint/;
}
for my $bad (
	[ machine_id => 70000 ],
	[ machine_id => 'x' ],
	[ machine_id => '' ],
	[ machine_id => -2 ],
	[ sno_sequence_min => -1 ],
	[ sno_sequence_max => 'many' ],
	[ clock_regression => 'follow' ],
	[ durable_window => '1ms' ])
{
	my ($name, $value) = @$bad;
	configure("snowflake_ids.$name = '$value'\n", $name, $value);
	my $refused = refusal($name, $value, 'It must be ',
		'Correct it in postgresql.conf or with ALTER SYSTEM, reload the configuration, and connect again\.');
	my @drawn = grep { err ("\\set VERBOSITY verbose\nSELECT $_") !~ $refused }
	  $name eq 'machine_id' && $value eq 'x' ? @calls : @calls[ 0, 4 ];
	is("@drawn", '', "$name = '$value': no coordinated generator draws")
	  or diag
	  err ("\\set VERBOSITY verbose\nSELECT $drawn[0]");
	is( $server->safe_psql(
			'postgres', q{SELECT not_accepted, coalesce(machine_id_source, '') FROM snowflake_ids.status()}),
		"$name = $value|" . ($name eq 'machine_id' ? 'not accepted' : 'automatic'),
		'and the status says why');
}
is($server->safe_psql('postgres', q{SELECT gid_kind(gen_gid('log'))}), 'log', 'gen_gid() does not mind');
{
	my ($out, $err) = psql(<<'SQL');
SELECT count(DISTINCT gen_gid('log')), bool_and(sno_partition(id) = 11) FROM t;
SELECT gen_sno()
SQL
	is($out, '20000|t', 'nor do parallel workers that read ids and draw gids');
	like($err, qr/ERROR:  value of parameter "snowflake_ids.durable_window" was not/,
		'their leader refuses afterwards');
}

{
	configure("snowflake_ids.machine_id = 65536\nsnowflake_ids.sno_sequence_min = 'never'\n", 'machine_id', 65536);
	is( $server->safe_psql('postgres', q{SELECT not_accepted FROM snowflake_ids.status()}),
		'machine_id = 65536, sno_sequence_min = never',
		'two bad values are shown');
	my $session = Session->new($server);
	like(
		$session->ask('SELECT gen_sno()'),
		qr/ERROR:  value of parameter "snowflake_ids.machine_id" was not/,
		'a session is refused');
	configure("snowflake_ids.machine_id = 5\nsnowflake_ids.sno_sequence_min = 'never'\n", 'machine_id', 5);
	my $said = '';
	eventually(sub { ($said = $session->ask('SELECT gen_sno()')) =~ /sno_sequence_min/ });
	like(
		$said,
		qr/ERROR:  value of parameter "snowflake_ids.sno_sequence_min" was not/,
		'after one value is mended, by the other');
	configure($good, 'machine_id', '11');
	eventually(sub { ($said = $session->ask('SELECT sno_partition(gen_sno())')) !~ /ERROR/ });
	is($said, 11, 'after both are it draws');
	is($session->ask('SELECT not_accepted IS NULL FROM snowflake_ids.status()'), 't', 'and the status is clean');

	like(
		$session->ask('ALTER SYSTEM SET snowflake_ids.machine_id = 70000'),
		qr/ERROR:  70000 is outside the valid range for parameter "snowflake_ids.machine_id"/,
		'ALTER SYSTEM refuses a bad value as ever');
	$session->gone;
}

# ---- set where it cannot be set
$server->safe_psql('postgres', 'CREATE ROLE somebody LOGIN; CREATE DATABASE other');
for my $place (
	[ 'user', 'ALTER ROLE somebody %s' ],
	[ 'database', 'ALTER DATABASE postgres %s' ],
	[ 'global', 'ALTER ROLE ALL %s' ],
	[ 'database user', 'ALTER ROLE somebody IN DATABASE postgres %s' ])
{
	my ($what, $sql) = @$place;
	$server->safe_psql('postgres', sprintf $sql, 'SET snowflake_ids.machine_id = 5');
	my $reset = sprintf $sql, 'RESET snowflake_ids.machine_id';
	my $refused = refusal('machine_id', 5, "Its source is \"$what\"\\. Only", 'In a new session, remove it there');
	like(err ("\\set VERBOSITY verbose\nSELECT gen_sno()", extra_params => [ '-U', 'somebody' ]),
		$refused, "a machine id for $what is refused");

	like( err ("SELECT snowflake_ids.status();\n$reset"),
		qr/ERROR:  parameter "snowflake_ids.machine_id" cannot be changed now/,
		'a session with the library does not remove it');
	$server->safe_psql('postgres', $reset);
	is($server->safe_psql('postgres', 'SELECT sno_partition(gen_sno())', extra_params => [ '-U', 'somebody' ]),
		11, 'and without it the configured one counts');
}
like( err ("\\set VERBOSITY verbose\nSET snowflake_ids.sno_sequence_max = 200; SELECT gen_sno()"),
	refusal('sno_sequence_max', 200, 'Its source is "session"', 'In a new session, remove it there'),
	'SET before the first use');
{
	local $ENV{PGOPTIONS} = '-c snowflake_ids.machine_id=5';
	like( err ("\\set VERBOSITY verbose\nSELECT gen_sno()"),
		refusal('machine_id', 5, 'Its source is "client"', 'In a new session, remove it there'),
		'by the connection');
}
is(err ("SET snowflake_ids.max_wait = 'for ever'; SELECT gen_sno()") =~ /ERROR/ ? 1 : 0,
	0, 'a setting that uniqueness does not rest on is no reason');

# ---- preloaded
configure("snowflake_ids.machine_id = 70000\n", 'machine_id', '70000');
$server->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'\n");
$server->restart;
my $refused = refusal('machine_id', 70000, 'It must be ', 'Correct it');
like(err ("\\set VERBOSITY verbose\nSELECT gen_sno()"), $refused, 'preloaded: refused as well');
configure("snowflake_ids.machine_id = 11\n", 'machine_id', '11');
is($server->safe_psql('postgres', 'SELECT sno_partition(gen_sno())'), 11, 'until a reload with a good value');
$server->stop('immediate');

done_testing();
