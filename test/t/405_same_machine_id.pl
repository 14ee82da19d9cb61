# Two active-active nodes that have the same machine id by mistake: found by asking the other server, by rows that
# arrive, and by where rows came from. The commands are those of doc/same-machine-id.md. Before it, settings as
# doc/multi-node.md has them: command line, standby, the warning of a machine id that is not set.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Page;
use Test::More;

my $page = Page->new('doc/multi-node.md');
my $same = Page->new('doc/same-machine-id.md');
my $active_active = Page->new('doc/active-active.md');
my ($major) = `pg_config --version` =~ /(\d+)/;

sub node
{
	my ($name, $conf, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(allows_streaming => 'logical', %options);
	$node->append_conf('postgresql.conf', "fsync = off\ntrack_commit_timestamp = on\nautovacuum = off\n$conf");
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE app');
	return $node;
}

sub set_to
{
	my ($node, $id) = @_;
	$node->poll_query_until('app', "SELECT machine_id = $id FROM snowflake_ids_status()") or die 'not reloaded';
}

my %node = (node1 => node('node1', "snowflake_ids.machine_id = 1\n"), node2 => node('node2', ''));
my ($one, $two) = @node{ 'node1', 'node2' };
$_->safe_psql('app', 'CREATE EXTENSION snowflake_ids') for $one, $two;

# ---- the default on a server that may replicate logically
my $warned = sub {
	my ($node, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('app', $sql);
	return scalar(() = $err =~ /WARNING/g) . " $err";
};
my ($sample) = slurp("$ENV{SNOWFLAKE_IDS_SRC}/doc/multi-node.md") =~ /^```\n(WARNING:.*?\n)```/ms;
{
	my $said = $warned->($two, 'SELECT gen_sno(); SELECT gen_sno(); SELECT gen_snowflake_si()');
	like($said, qr/^1 /, 'a machine id that is not set: a warning once a session');
	(my $plain = $said) =~ s/^\d+ |psql:<stdin>:\d+: //g;
	is("$plain\n", $sample, 'as the page shows it');
	like($warned->($two, 'SELECT gen_snowflake_si()'), qr/^1 /, 'by Snowflake-SI, too');
	like($warned->($two, q{SELECT gen_gid('log'), gen_mastic()}), qr/^0 /, 'but not by formats that have none');
	like($warned->($one, 'SELECT gen_sno()'), qr/^0 /, 'nor where it is set');
}

# No word of it where nothing is replicated, and again on a server that only subscribes.
{
	my $alone = PostgreSQL::Test::Cluster->new('alone');
	$alone->init;
	$alone->append_conf('postgresql.conf', "fsync = off\nwal_level = minimal\nmax_wal_senders = 0\n");
	$alone->start;
	$alone->safe_psql('postgres', 'CREATE DATABASE app');
	$alone->safe_psql('app', 'CREATE EXTENSION snowflake_ids');
	like($warned->($alone, 'SELECT gen_sno()'), qr/^0 /, 'no warning on a server that does not replicate');
	$alone->safe_psql('app', q{CREATE SUBSCRIPTION s CONNECTION 'dbname=app' PUBLICATION p WITH (connect = false)});
	like($warned->($alone, 'SELECT gen_sno()'), qr/^1 /, 'with a subscription there is one');

	# The command line, as in the page's example of an ordinal.
	my ($line) = map { $_->{content} } $page->take('Kubernetes', 'sh');
	like($line, qr/^postgres (-c .*)$/, 'the page has a command line');
	my ($options) = $line =~ /^postgres (.*)$/m;
	chomp($options = `HOSTNAME=db-shard-6 bash -c 'echo $options'`);
	$alone->append_conf('postgresql.conf', "snowflake_ids.machine_id = 3\n");
	$alone->restart;
	$alone->stop;
	system('pg_ctl', '-w', '-D', $alone->data_dir, '-l', $alone->logfile, '-o', "--cluster-name=alone $options",
		'start') == 0
	  or die;
	$alone->_update_pid(1);
	is( $alone->safe_psql(
			'app', 'SELECT machine_id, machine_id_source, sno_partition(gen_sno()) FROM snowflake_ids_status()'),
		'7|command line|7',
		'the ordinal of a pod, counted from one, on the command line');
	$alone->stop('immediate');
}

# ---- the page's first chapter, and a standby
$page->run_on({ node2 => $two }, 'Choosing machine ids');
set_to($two, 2);
$two->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($two, 'base', has_streaming => 1);
$standby->start;

# A standby takes ALTER SYSTEM, its own file: the page's command.
$page->run_on({ standby => $standby }, 'Read replicas');
$standby->poll_query_until('app', q{SELECT snowflake_ids_identity() ->> 'machine_id' = '101'}) or die 'not reloaded';
is($standby->safe_psql('app', 'SELECT sno_partition(gen_sno()), snowflake_ids_identity() ->> $$machine_id$$'),
	'101|101', 'a standby draws with an id of its own');

# ---- node3 has number 1, too
my $three = $node{node3} = node('node3', "snowflake_ids.machine_id = 1\n");
my ($table) = map { $_->{content} } $active_active->blocks('Native replication', 'sql');
$table =~ s/^CREATE EXTENSION/CREATE EXTENSION IF NOT EXISTS/m;
$_->safe_psql('app', $table) for $one, $two, $three;

# Rows that go to node1 will do here.
my $native = $major >= 16 ? 'origin = none, ' : '';
$one->safe_psql('app',
		"CREATE SUBSCRIPTION node1_from_$_ CONNECTION '"
	  . Page::connection($node{$_}, $_)
	  . "' PUBLICATION mesh WITH (${native}copy_data = false)")
  for 'node2', 'node3';

$same->run_on(\%node, 'Before it hurts');

sub check
{
	my ($from, $to) = @_;
	return $from->safe_psql('app', 'SELECT * FROM snowflake_ids_check($$' . Page::connection($to, '') . '$$)');
}
is(check($one, $one), '', 'a server is no rival of itself');
my $configured = 'machine ids: configuration file, configuration file';
{
	# A copy says that it is one; its standby with an id of its own is nobody's rival.
	$one->backup('base');
	my $copy = PostgreSQL::Test::Cluster->new('copy');
	$copy->init_from_backup($one, 'base');
	$copy->append_conf('postgresql.conf', "max_logical_replication_workers = 0\n");
	my $hba = slurp($copy->data_dir . '/pg_hba.conf');
	PostgreSQL::Test::Utils::append_to_file($copy->data_dir . '/password.conf',
		"local all id_check scram-sha-256\n$hba");
	rename $copy->data_dir . '/password.conf', $copy->data_dir . '/pg_hba.conf' or die $!;
	$copy->start;
	my $is = "$configured; they have the same system identifier, so one is a copy of the other";
	is( check($one, $copy),
		"sno|both issue in partition 1; $is\nsnowflake_si|both have machine id 1; $is",
		'a copy is told from another cluster');

	# An ordinary user needs a password that the other server asks for.
	$one->safe_psql('app', 'CREATE ROLE ordinary');
	my @as = map { "SET ROLE ordinary; SELECT * FROM snowflake_ids_check('" . Page::connection($copy, '') . "$_')" }
	  ' user=id_check', ' user=id_check password=secret';
	my ($rc, $out, $err) = $one->psql('app', $as[0]);
	like($err, qr/password .*required/, 'an ordinary user without a password is refused');
	is( $one->safe_psql('app', $as[1]),
		"sno|both issue in partition 1; $is\nsnowflake_si|both have machine id 1; $is",
		'with the password of a role that owns nothing it is told');
	$copy->append_conf('postgresql.conf', "snowflake_ids.machine_id = 8\n");
	$copy->reload;
	set_to($copy, 8);
	is(check($one, $copy), '', 'with a number of its own it is no rival');
	$one->safe_psql('app', 'SELECT gen_sno(0, 8)');
	is(check($one, $copy), "sno|both issue in partition 8; $is", 'but for an explicit partition');
	$one->safe_psql('app', 'SELECT gen_mastic()');
	$copy->safe_psql('app', 'SELECT gen_mastic()');
	is( check($one, $copy),
		"sno|both issue in partition 8; $is\nmastic|these ids have no machine id, and both have issued some; $is",
		'and Mastic ids of both');
	$copy->stop('immediate');
}
$two->safe_psql('app', 'CREATE EXTENSION dblink');
is(check($two, $standby), '', 'a standby with an id of its own is no rival of its primary');
$standby->append_conf('postgresql.auto.conf', "snowflake_ids.standby_machine_id = 2\n");
$standby->reload;
$standby->poll_query_until('app', q{SELECT snowflake_ids_identity() ->> 'machine_id' = '2'}) or die;
like(
	check($two, $standby),
	qr/^sno\|both issue in partition 2;.*\nsnowflake_si\|both have machine id 2;/,
	'one that draws with the primary\'s is');
$standby->append_conf('postgresql.auto.conf', "snowflake_ids.standby_machine_id = -1\n");
$standby->reload;
$standby->poll_query_until('app', q{SELECT snowflake_ids_identity() ->> 'machine_id' IS NULL}) or die;
is(check($two, $standby), '', 'one that draws none is not');
$standby->stop('immediate');

# What the servers say, collected in a table.
for my $name ('node2', 'node3')
{
	my $said = $node{$name}->safe_psql('app', 'SELECT snowflake_ids_identity()');
	$one->safe_psql('app', "INSERT INTO known_server VALUES ('$name', '$said')");
}
my ($pairs) = map { $_->{content} =~ /^(SELECT a.name.*;)/m } $same->blocks('Before it hurts', 'sql');
is( $one->safe_psql('app', $pairs),
	"node1|node3|sno|both issue in partition 1; $configured\nnode1|node3|snowflake_si|both have machine id 1; $configured",
	'compared pair by pair');
for my $wrong ([ 'host=/nonexistent dbname=app', qr/could not establish connection/ ],
	[ Page::connection($one, '') =~ s/app$/postgres/r, qr/extension "snowflake_ids" is not installed there/ ])
{
	my ($rc, $out, $err) = $one->psql('app', "SELECT * FROM snowflake_ids_check('$wrong->[0]')");
	like($err, $wrong->[1], 'a connection that leads nowhere');
}

# The extension may be in another schema, here or there.
$three->safe_psql('app', 'CREATE SCHEMA "other ""place"""; ALTER EXTENSION snowflake_ids SET SCHEMA "other ""place"""');
like(check($one, $three), qr/^sno\|both issue in partition 1; $configured\n/, 'in whatever schema it is there');
$three->safe_psql('app', 'ALTER EXTENSION snowflake_ids SET SCHEMA public');

# ---- rows arrive
$same->run_on(\%node, 'At the moment it hurts');

sub write_one
{
	my ($name) = @_;
	return $node{$name}->safe_psql('app', "INSERT INTO message (body) VALUES ('$name') RETURNING id");
}

sub arrived
{
	my ($n) = @_;
	$one->poll_query_until('app', "SELECT count(*) = $n FROM message") or die 'rows do not arrive';
}
caught_up($_, 'app') for values %node;
my $mark = log_mark($one);
write_one($_) for 'node2', 'node1';
my $early = write_one('node3');
arrived(3);
write_one($_) for 'node2', 'node1';
sleep 0.02;
my $late = write_one('node3');
arrived(6);
my @arrived = log_since($one, $mark) =~ /WARNING:  id (\w+) has arrived, in the partition of this server/g;
is("@arrived", "$early $late", 'the trigger warns of both rows of node3, and of no other');
$same->run_on(\%node, 'Afterwards: where an id comes from');
is($one->safe_psql('app', 'SELECT id FROM message WHERE sno_partition(id) = 1 AND NOT sno_may_be_mine(id)'),
	$late, 'it is the one that came after this server\'s last');
is($three->safe_psql('app', "SELECT sno_may_be_mine('$early'), sno_may_be_mine('$late')"),
	't|t', 'and node3 owns up to both');
$same->run_on(\%node, 'The way out');
set_to($three, 3);
is(check($one, $three), '', 'no conflict is left');
write_one('node3');
arrived(7);
is( $one->safe_psql(
		'app', 'SELECT count(*), count(DISTINCT id), string_agg(DISTINCT sno_partition(id)::text, $$ $$) FROM message'),
	'7|7|1 2 3',
	'rows of three numbers, none twice');

# ---- what may be mine outlives crashes
$one->safe_psql('app', 'ALTER SUBSCRIPTION node1_from_node2 DISABLE; ALTER SUBSCRIPTION node1_from_node3 DISABLE');
my $mine = $one->safe_psql('app',
	q{SELECT count(sno) || ' ' || max(sno) FROM (SELECT gen_sno() AS sno FROM generate_series(1, 1000)) s});
my ($last) = $mine =~ /(\w+)$/;
$one->stop('immediate');
unlink $one->data_dir . '/snowflake_ids.ceiling' or die;
$one->start;
is($one->safe_psql('app', "SELECT sno_may_be_mine('$last'), sno_may_be_mine(sno_set_partition('$last', 3))"),
	't|f', 'also without the ceiling file that knew: by the ceiling in WAL');

# ---- a dump's ids are stepped over
$page->run_on(\%node, 'Copies and restores');
$_->stop('immediate') for values %node;
$page->all_run;
$same->all_run;
done_testing();
