# Two servers that nobody configured: automatic machine ids keep their snos apart; copies, standbys and promotions with
# them; what refuses and what warns.
use Servers;
use IPC::Run;
use PostgreSQL::Test::Utils;

my $rows = $ENV{NOTHING_SET_ROWS} // 20000;

sub fresh
{
	my ($name, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	# A copy of a finished initdb would have the same system identifier.
	$node->init(allows_streaming => 1, force_initdb => 1);
	$node->append_conf('postgresql.conf', $conf // '');
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
	return $node;
}

sub stderr_of
{
	my ($node, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");
	return $err;
}

sub status
{
	my ($node) = @_;
	return $node->safe_psql('postgres',
		'SELECT machine_id, machine_id_source, narrow_machine_id FROM snowflake_ids.status()');
}

my $one = fresh('one');
my $id = $one->safe_psql('postgres', 'SELECT sno_partition(gen_sno())');
like(
	stderr_of($one, q{BEGIN; SELECT gen_sno(); PREPARE TRANSACTION 'p'}),
	qr/ERROR:  55000: prepared transactions are disabled\nHINT:  Set max_prepared_transactions to a nonzero value\./,
	'prepared transactions are disabled, as PostgreSQL says');
my $two = fresh('two');

for (1 .. 3)
{
	last if $two->safe_psql('postgres', 'SELECT sno_partition(gen_sno())') != $id;
	note 'equal machine ids: another server';
	$two->stop('immediate');
	$two = fresh("two_$_");
}

# ---- both draw at the same time
{
	my @clients = map {
		my $node = $_;
		map {
			[   IPC::Run::start(
					[   'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'),
						'-c', "CREATE TABLE t$_ AS SELECT gen_sno() AS id FROM generate_series(1, $rows)" ],
					'<',
					'/dev/null',
					'2>',
					\my $err) ]
		} 1, 2
	} $one, $two;
	$_->[0]->finish or die 'a client failed' for @clients;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/ids';
	$two->safe_psql('postgres', "COPY (SELECT id FROM t1 UNION ALL SELECT id FROM t2) TO '$file'");
	my ($drawn, $shared, $partitions) = split /\|/, $one->safe_psql('postgres', <<"SQL");
CREATE TABLE other (id sno);
COPY other FROM '$file';
WITH mine AS (SELECT id FROM t1 UNION ALL SELECT id FROM t2)
SELECT (SELECT count(*) FROM mine) + (SELECT count(*) FROM other), (SELECT count(*) FROM mine JOIN other USING (id)),
       (SELECT count(DISTINCT sno_partition(id)) FROM (TABLE mine UNION ALL TABLE other) AS a)
SQL
	is("$drawn|$shared|$partitions", 4 * $rows . '|0|2', "two fresh servers drew $drawn snos, and share $shared");
}

# ---- what says so
is(status($one), "$id|automatic|0", 'a machine id from the system identifier, and 0 in narrow layouts');
ok($id >= 32768 && $id <= 65535, 'it is above those that people choose');
is( $one->safe_psql(
		'postgres',
		q{SELECT machine_id, narrow_machine_id, sno_partition(gen_sno()), snowflake_si_machine_id(gen_snowflake_si()) FROM snowflake_ids.status()}
	),
	"$id|0|$id|0",
	'status and ids agree');
is( $one->safe_psql(
		'postgres', q{SELECT string_agg(DISTINCT machine_id::text, ' ') FROM snowflake_ids.stats WHERE format = 'sno'}),
	$id,
	'and the statistics');
like(status($two), qr/^\d+\|automatic\|0$/, 'the other one has 0 there too: they meet in Snowflake-SI only');

# ---- layouts: 16 node bits have room for it
$one->safe_psql('postgres',
	q{SELECT snowflake_layout_create('wide', '2020-01-01', '1 s', 32, 16, 15), snowflake_layout_create('narrow', '2020-01-01', '1 s', 32, 15, 16)}
);
is( $one->safe_psql(
		'postgres',
		q{SELECT (snowflake_decode(gen_snowflake('wide'), 'wide')).node, (snowflake_decode(gen_snowflake('narrow'), 'narrow')).node}
	),
	"$id|0",
	'a layout with 16 node bits, and one with 15');

# ---- a standby has the same, and keeps it when it is promoted
$one->backup('base');
my $standby = standby_of($one, 'standby');
$one->wait_for_catchup($standby);
is(status($standby), '|automatic|', 'a standby shows no machine id, because it generates no ids');
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT sno_partition(gen_sno())'), $id, 'promoted it draws with the primary\'s');
$_->stop('immediate') for $standby, $two;

# ---- no machine id, where servers share tables
my $no_node = sub {
	my ($what, $why) = @_;
	return
	  qr/^(?:psql:\S+ )?WARNING:  \S+ $what ids have no machine id, and this server $why\n(?:psql:\S+ )?DETAIL:  Two servers that both generate them generate equal ids\.\n(?:psql:\S+ )?HINT:  Generate them on one server only/m;
};
my $warnings = sub { my ($sql) = @_; my $err = stderr_of($one, $sql); return (scalar(() = $err =~ /WARNING/g), $err) };
is(($warnings->('SELECT gen_mastic(), gen_sno()'))[0], 0, 'no warning on a server that is alone');
$one->safe_psql('postgres', q{CREATE SUBSCRIPTION s CONNECTION 'dbname=postgres' PUBLICATION p WITH (connect = false)});
my ($count, $err) = $warnings->('SELECT gen_mastic(); SELECT gen_mastic()');
is($count, 1, 'with a subscription one');
like($err, $no_node->('Mastic', 'has subscriptions'), 'for Mastic');
is(($warnings->('SELECT gen_mastic()'))[0], 0, 'and no second one in another session');
$one->restart;
is(($warnings->('SELECT gen_mastic()'))[0], 1, 'but one after a restart');
$one->restart;
$one->safe_psql('postgres', q{SELECT snowflake_layout_create('nodeless', '2020-01-01', '1 s', 32, 0, 16)});
($count, $err) = $warnings->(q{SELECT gen_snowflake('nodeless')});
is($count, 1, 'after a restart, one for another layout');
like($err, $no_node->('nodeless', 'has subscriptions'), 'and for a layout without node bits');
$one->safe_psql('postgres',
	q{ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s});

# Citus is not here: a row of the catalog and a setting stand for it.
$one->safe_psql('postgres', <<'SQL');
SET allow_system_table_mods = on;
INSERT INTO pg_extension SELECT 4242, 'citus', extowner, extnamespace, extrelocatable, extversion, extconfig, extcondition FROM pg_extension WHERE extname = 'plpgsql';
SQL
is(($warnings->('SELECT gen_mastic()'))[0], 0, 'none where the server has not loaded Citus');
$one->append_conf('postgresql.conf', 'citus.enable_ddl_propagation = on');
$one->restart;
($count, $err) = $warnings->('SELECT gen_mastic(); SELECT gen_sno(); SELECT gen_sno()');
is($count, 2, 'with Citus two');
like($err, $no_node->('Mastic', 'is part of a Citus cluster'), 'for Mastic');
like(
	$err,
	qr/WARNING:  \S+ snowflake_ids.machine_id is not set, and this server is part of a Citus cluster\n.*\n.*HINT:  In postgresql.conf, set snowflake_ids.machine_id/,
	'and for a machine id that is not set');
is(($warnings->('SELECT gen_mastic(); SELECT gen_sno(); SELECT gen_sno_at(now())'))[0],
	0, 'and none in another session');
$one->append_conf('postgresql.conf', 'wal_level = logical');
$one->restart;
$one->safe_psql('postgres', q{SET allow_system_table_mods = on; DELETE FROM pg_extension WHERE extname = 'citus'});
my $line = qr/snowflake_ids.machine_id is not set, and this server may use logical replication/;
my $in_log = sub { return scalar(() = slurp_file($one->logfile) =~ /WARNING.*$line/g) };
like(stderr_of($one, 'SELECT gen_sno()'), $line, 'with wal_level = logical one');
$one->safe_psql('postgres', 'SELECT gen_sno(), gen_snowflake_si()') for 1 .. 5;
is($in_log->(), 1, 'which five more sessions do not log again');
$one->append_conf('postgresql.conf', 'snowflake_ids.machine_id = 1');
$one->reload;
$one->poll_query_until('postgres', 'SELECT machine_id = 1 FROM snowflake_ids.status()') or die;
($count, $err) = $warnings->('SELECT gen_sno(), gen_snowflake_si()');
is($count, 0, 'which a machine id ends');
$one->stop('immediate');

done_testing();
