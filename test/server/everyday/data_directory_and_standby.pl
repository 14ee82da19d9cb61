# Our file in the data directory (mode, pg_basebackup, pg_checksums), settings of a library that is not loaded yet, and
# what a standby refuses, with a hint, and what works there. Ids over restarts and promotions:
# faults/restarts_with_clock_back.pl, faults/failover.pl.
use strict;
use warnings;
use Fcntl ':mode';
use Servers ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);

# The library is not loaded yet.
$node->append_conf('postgresql.conf', <<'END');
snowflake_ids.machine_id = 21
END
$node->start;

sub value { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

$node->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
is(value('SELECT sno_partition(gen_sno())'), 21, 'the setting in the file holds');
is( value('SELECT machine_id, machine_id_source, ceiling_file FROM snowflake_ids.status()'),
	'21|configuration file|ready',
	'and the status says so');

# ---- files
my $ceiling = $node->data_dir . '/snowflake_ids.ceiling';
my @ours = glob $node->data_dir . '/snowflake_ids*';
is("@ours", $ceiling, 'the ceiling file is in the data directory, and nothing else of ours');
is(sprintf('%o', S_IMODE((stat $ceiling)[2])), '600', 'it has the mode of the server\'s files');
is((stat $ceiling)[3], 1, 'and one name');

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'");
$node->restart;
is($node->safe_psql('postgres', 'SHOW snowflake_ids.machine_id'),
	'21', 'preloaded, settings are known before the first use');
{
	# $node->psql() writes into a pipe, and psql may have ended.
	local $ENV{PGOPTIONS} = '-c snowflake_ids.machine_id=9';
	my $said = `psql -XAtq -d "@{[ $node->connstr('postgres') ]}" -c 'SELECT 1' 2>&1 </dev/null`;
	like($said, qr/parameter "snowflake_ids.machine_id" cannot be changed/, 'and cannot be set by who connects');
}
value('DROP EXTENSION snowflake_ids');
ok(-f $ceiling, 'the ceiling file outlives the extension');
value('CREATE EXTENSION snowflake_ids');

# ---- together with the server's own tools
$node->backup('base');
ok(1, 'pg_basebackup');
my $standby = Servers::standby_of($node, 'standby');
$node->wait_for_catchup($standby);

# ---- a standby
for my $call ('gen_sno()', 'gen_sno(0, 5)', 'gen_sno_at(now())', 'gen_mastic()', 'gen_snowflake_si()')
{
	my ($rc, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call");
	like(
		$err,
		qr/ERROR:  55000: cannot generate .* ids during recovery.*HINT:  .*gen_gid\(\)/s,
		"a standby refuses $call, with a hint");
}
like(
	($standby->psql('postgres', 'SELECT snowflake_ids.reset(now())'))[2],
	qr/cannot execute snowflake_ids.reset\(\) during recovery/,
	'and a reset');
is($standby->safe_psql('postgres', "SELECT gid_kind(gen_gid('log'))"), 'log', 'gen_gid() works there');
is($standby->safe_psql('postgres', 'SELECT machine_id, in_recovery FROM snowflake_ids.status()'),
	'|t', 'the status says that it is a standby, and shows no machine id');

$node->stop;

# 18 has checksums from the start.
my @changes = $node->pg_version >= 18 ? ('--disable', '--enable') : ('--enable');
command_ok([ 'pg_checksums', $_, '-D', $node->data_dir ], "pg_checksums $_") for @changes;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'pg_checksums --check');
$standby->stop;

# ---- a cluster that its group may read
my $group = Servers::plain_server('group', extra => ['--allow-group-access']);
$group->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids; SELECT gen_sno()');
@ours = glob $group->data_dir . '/snowflake_ids*';
is( join(' ', map { sprintf '%o', S_IMODE((stat $_)[2]) } @ours),
	join(' ', ('640') x @ours),
	'initdb -g: our files can be read by the group, as the server\'s');
$group->stop;

done_testing();
