# Preloaded or not: restarts of every kind, base backups and standbys. Ids go up all the way.
use strict;
use warnings;
use Fcntl ':mode';
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);

# The library is not loaded yet.
$node->append_conf('postgresql.conf', <<'END');
restart_after_crash = on
snowflake_ids.machine_id = 21
END
$node->start;

my %last;
my $draws = 0;

sub goes_up
{
	my ($what, $server) = @_;
	$server //= $node;
	my ($sno, $mastic, $si, $series) = split /\|/, $server->safe_psql('postgres', <<'END');
SELECT gen_sno(), gen_mastic(), gen_snowflake_si(), (SELECT min(id) FROM gen_sno_series(1000) AS id);
END
	my %drawn = (mastic => sprintf('%020d', $mastic), snowflake_si => sprintf('%020d', $si), sno => $sno);

	ok(!grep({ defined $last{$_} && $drawn{$_} le $last{$_} } keys %drawn) && $series gt $sno, "ids go up: $what")
	  or diag explain { last => \%last, drawn => \%drawn, series => $series };
	%last = (%drawn, sno => $server->safe_psql('postgres', 'SELECT gen_sno()'));
	return;
}
sub value { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

$node->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
goes_up('the first ones');
is(value('SELECT sno_partition(gen_sno())'), 21, 'the setting in the file holds');
is( value('SELECT machine_id, machine_id_source, ledger_state FROM snowflake_ids.status()'),
	'21|configuration file|ready',
	'and the status says so');

# ---- files
my $ceiling = $node->data_dir . '/snowflake_ids.ceiling';
my @ours = glob $node->data_dir . '/snowflake_ids*';
is("@ours", $ceiling, 'the ceiling file is in the data directory, and nothing else of ours');
is(sprintf('%o', S_IMODE((stat $ceiling)[2])), '600', 'it has the mode of the server\'s files');
is((stat $ceiling)[3], 1, 'and one name');

$node->restart;
goes_up('clean restart');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'");
$node->restart;
goes_up('with preloading');
is($node->safe_psql('postgres', 'SHOW snowflake_ids.machine_id'),
	'21', 'preloaded, settings are known before the first use');
my $said;
{
	# $node->psql() writes into a pipe, and psql may have ended.
	local $ENV{PGOPTIONS} = '-c snowflake_ids.machine_id=9';
	$said = `psql -XAtq -d "@{[ $node->connstr('postgres') ]}" -c 'SELECT 1' 2>&1 </dev/null`;
}
like($said, qr/parameter "snowflake_ids.machine_id" cannot be changed/, 'and cannot be set by who connects');
$node->restart;
goes_up('restart with preloading');
$node->stop('immediate');
$node->start;
goes_up('immediate stop');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
goes_up('without preloading again');
{
	my $mark = -s $node->logfile;
	my $psql = IPC::Run::start(
		[   'psql', '-XAtq',
			'-d', $node->connstr('postgres') . ' application_name=victim',
			'-c', 'SELECT gen_sno(), pg_sleep(300)' ],
		'>',
		\my $o,
		'2>',
		\my $e);
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'victim' AND wait_event = 'PgSleep'");
	kill 'KILL', value("SELECT pid FROM pg_stat_activity WHERE application_name = 'victim'");
	$psql->finish;
	$node->wait_for_log(qr/all server processes terminated; reinitializing/, $mark);
	Faults::comes_back($node);
	goes_up('kill -9 of a session');
}
Faults::kill_postmaster($node);
for my $try (1 .. 50)
{
	last if $node->start(fail_ok => 1);
	$node->stop('immediate', fail_ok => 1);
	select undef, undef, undef, 0.2;
}
goes_up('kill -9 of the postmaster');

# ---- dropped and made again: the generators stay
value('DROP EXTENSION snowflake_ids; CREATE EXTENSION snowflake_ids');
goes_up('DROP EXTENSION and CREATE EXTENSION');
value('DROP EXTENSION snowflake_ids');
ok(-f $ceiling, 'the ceiling file outlives the extension');
$node->restart;
value('CREATE EXTENSION snowflake_ids');
goes_up('DROP EXTENSION, restart, CREATE EXTENSION');

# ---- together with the server's own tools
$node->backup('base');
ok(1, 'pg_basebackup');
my $standby = Faults::standby_of($node, 'standby');
$node->wait_for_catchup($standby);

# ---- a standby
for my $call (
	'gen_sno()', 'gen_sno(0, 5)',
	'gen_sno_at(now())', 'gen_mastic()',
	'gen_snowflake_si()', '(SELECT max(id) FROM gen_mastic_series(3) AS id)')
{
	my ($rc, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call");
	like($err, qr/ERROR:  55000: cannot .*HINT:  .*gen_gid\(\)/s, "a standby refuses $call, with a hint");
}
is( $standby->safe_psql(
		'postgres',
		"SELECT gid_kind(gen_gid('log')), (SELECT count(DISTINCT id) FROM gen_gid_series('volume', 1000) AS id)"),
	'log|1000',
	'gen_gid() works there');
is($standby->safe_psql('postgres', 'SELECT machine_id, in_recovery FROM snowflake_ids.status()'),
	'|t', 'the status says why: a standby without a machine id of its own');

# ---- make installcheck leads generators back, unless another database has the extension
{
	my @refuses = (
		"$ENV{SNOWFLAKE_IDS_SRC}/tools/refuse-used-server",
		$node->can('installed_command') ? $node->installed_command('psql') : 'psql');
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port);
	delete local $ENV{THROW_AWAY};
	my ($out, $err) = run_command([ @refuses, 'contrib_regression' ]);
	like($err, qr/for a throw-away server.* in: postgres\n/s, 'make installcheck refuses a server in use');
	isnt($?, 0, 'and fails');
	($out, $err) = run_command([ @refuses, 'postgres' ]);
	is("$out$err$?", '0', 'but not for its own database');
}

$node->stop;

# 18 has checksums from the start.
my @changes = $node->pg_version >= 18 ? ('--disable', '--enable') : ('--enable');
command_ok([ 'pg_checksums', $_, '-D', $node->data_dir ], "pg_checksums $_") for @changes;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums --check');
$standby->promote;
goes_up('promotion', $standby);
$standby->stop;

# ---- a cluster that its group may read
my $group = PostgreSQL::Test::Cluster->new('group');
$group->init(extra => ['--allow-group-access']);
$group->start;
$group->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids; SELECT gen_sno()');
@ours = glob $group->data_dir . '/snowflake_ids*';
is( join(' ', map { sprintf '%o', S_IMODE((stat $_)[2]) } @ours),
	join(' ', ('640') x @ours),
	'initdb -g: our files can be read by the group, as the server\'s');
$group->stop;

done_testing();
