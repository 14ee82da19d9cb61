# Servers with the same machine id, found by one query; the settings and commands of doc/multi-node.md.
use Servers;
use Page;

my $page = Page->new('doc/multi-node.md');

sub node
{
	my ($name, $conf, %options) = @_;
	my $node = plain_server($name, allows_streaming => 'logical', %options, conf => $conf);
	$node->safe_psql('postgres', 'CREATE DATABASE app');
	return $node;
}

sub set_to
{
	my ($node, $id) = @_;
	$node->poll_query_until('app', "SELECT coalesce(machine_id::text, 'none') = '$id' FROM snowflake_ids.status()")
	  or die 'not reloaded';
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
my ($sample) = $page->text =~ /gets a\s+warning \(`(.*?)`\)/;
{
	my $said = $warned->($two, 'SELECT gen_sno(); SELECT gen_sno(); SELECT gen_snowflake_si()');
	like($said, qr/^1 /, 'a machine id that is not set: a warning once');
	like($said, qr/WARNING:  \Q$sample\E/, 'as the page says');
	like($warned->($two, 'SELECT gen_snowflake_si()'), qr/^0 /, 'and no second one in the same life of the server');
	$two->restart;
	like($warned->($two, 'SELECT gen_snowflake_si()'), qr/^1 /, 'by Snowflake-SI, too');
	like($warned->($two, q{SELECT gen_gid('log'), gen_mastic()}), qr/^0 /, 'but not by formats that have none');
	like($warned->($one, 'SELECT gen_sno()'), qr/^0 /, 'nor where it is set');
}

# Not where nothing is replicated, but on a server that subscribes.
{
	my $alone = plain_server('alone', conf => "wal_level = minimal\nmax_wal_senders = 0\n");
	$alone->safe_psql('postgres', 'CREATE DATABASE app');
	$alone->safe_psql('app', 'CREATE EXTENSION snowflake_ids');
	like($warned->($alone, 'SELECT gen_sno()'), qr/^0 /, 'no warning on a server that does not replicate');
	$alone->safe_psql('app', q{CREATE SUBSCRIPTION s CONNECTION 'dbname=app' PUBLICATION p WITH (connect = false)});
	like($warned->($alone, 'SELECT gen_sno()'), qr/^1 /, 'with a subscription there is one');

	my ($line) = map { $_->{content} } $page->take('Kubernetes and Patroni', 'sh');
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
			'app', 'SELECT machine_id, machine_id_source, sno_partition(gen_sno()) FROM snowflake_ids.status()'),
		'7|command line|7',
		'the ordinal of a pod, counted from one, on the command line');
	$alone->stop('immediate');
}

# ---- the page's first chapter, and a standby
$page->run_on({ node2 => $two }, 'Choosing machine ids');
set_to($two, 2);
$two->backup('base');
my $standby = standby_of($two, 'standby');

# ---- node3 has number 1, too
my $three = $node{node3} = node('node3', "snowflake_ids.machine_id = 1\n");
$three->safe_psql('app', 'CREATE EXTENSION snowflake_ids');
my $chapter = 'Two servers with the same machine id';
my ($search) = map { $_->{content} =~ /^(WITH server.*;)/ms } $page->blocks($chapter, 'sql');
$page->run_on(\%node, $chapter);

sub found
{
	my (%servers) = @_;
	my $list = join ', ', map { "('$_', '" . Page::connection($servers{$_}, $_) . "')" } sort keys %servers;
	my $sql = $search =~ s/\(VALUES.*?'\)\)/(VALUES $list)/sr;
	die "not the page's query: $sql" if $sql eq $search;
	return $one->safe_psql('app', $sql);
}
set_to($three, 3);
is(found(%node), '', 'with numbers of their own there is nothing to find');

# Unset servers are found, also if their machine ids differ by luck.
{
	my $reset = sub {
		my ($node, $to, $source) = @_;
		$node->safe_psql('app',
			"LOAD 'snowflake_ids'; ALTER SYSTEM SET snowflake_ids.machine_id = $to; SELECT pg_reload_conf()");
		$node->poll_query_until('app', "SELECT machine_id_source = '$source' FROM snowflake_ids.status()")
		  or die 'not reloaded';
	};
	$reset->($_, -1, 'automatic') for $one, $two;
	is( $one->safe_psql('app', 'SELECT machine_id FROM snowflake_ids.status()') !=
		  $two->safe_psql('app', 'SELECT machine_id FROM snowflake_ids.status()'),
		1,
		'two automatic machine ids, which differ');
	my ($row) = $page->text =~ /`(\S+, node2\|automatic\|\d+)`/;
	is(found(%node), $row, 'they are found');
	$reset->($one, 1, 'configuration file');
	is(found(%node), '0|node2|automatic|1', 'so is one');
	$three->append_conf('postgresql.auto.conf', "snowflake_ids.machine_id = 0\n");
	$three->reload;
	set_to($three, 0);
	is( found(%node),
		'0|node2, node3|automatic, configuration file|2',
		'and one that has the number of Snowflake-SI set');
	$reset->($two, 2, 'configuration file');
	$reset->($three, 3, 'configuration file');
	set_to($three, 3);
	$one->safe_psql('app', "LOAD 'snowflake_ids'; ALTER SYSTEM RESET snowflake_ids.machine_id");
}
{
	$one->backup('base');
	my $copy = PostgreSQL::Test::Cluster->new('copy');
	$copy->init_from_backup($one, 'base');
	$copy->start;
	is(found(%node, copy => $copy), '1|copy, node1|configuration file|1', 'a copy is told from another cluster');
	$copy->append_conf('postgresql.conf', "snowflake_ids.machine_id = 8\n");
	$copy->reload;
	set_to($copy, 8);
	is(found(%node, copy => $copy), '', 'with a number of its own it is no rival');
	$copy->stop('immediate');
}

my $other = standby_of($two, 'other');
my %standbys = (standby => $standby, other => $other);
is(found(%node, %standbys), '', 'standbys are no rivals of their primary');
$_->stop('immediate') for values %standbys;

$_->stop('immediate') for values %node;
$page->all_run;
done_testing();
