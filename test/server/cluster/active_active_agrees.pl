# Three nodes write to one table and send each other their rows, by logical replication and by pglogical. Clocks differ,
# no row conflicts, and ids are out of order by no more than the clocks.
#
# env: NODES_ROWS=1000000   rows of each node
use Servers;
use Page;

my $rows = $ENV{NODES_ROWS} || 10000;
my $sessions = 2;
my %ahead = (node1 => 0, node2 => 0.3, node3 => -0.2);
my $page = Page->new('doc/multi-node.md');

sub mesh
{
	my ($by, $conf) = @_;
	my %node;
	for my $name (sort keys %ahead)
	{
		my $clock = clock();
		$clock->set($ahead{$name});
		my ($id) = $name =~ /(\d)/;
		my $node = $node{$name} = PostgreSQL::Test::Cluster->new("$name\_$by");
		$node->init(allows_streaming => 'logical');
		$node->append_conf('postgresql.conf', <<"END");
max_worker_processes = 20
max_wal_senders = 10
max_replication_slots = 20
max_wal_size = 4GB
wal_level = logical
log_statement = none
snowflake_ids.machine_id = $id
$conf
END
		start_at($node, $clock);
		$node->safe_psql('postgres', 'CREATE DATABASE app');
	}
	return %node;
}

sub connected
{
	my ($query, %node) = @_;
	for (values %node) { $_->poll_query_until('app', $query) or die 'a subscription does not start' }
}

# Pauses, so that ids get out of order. No generator makes what a row says of itself.
sub write_on_all
{
	my (%node) = @_;
	my (@sessions, $began);
	for my $name (sort keys %node)
	{
		caught_up($node{$name}, 'app');
		push @sessions,
		  map { { node => $name, nr => $_, psql => Session->new($node{$name}, dbname => 'app') } } 1 .. $sessions;
	}
	$began = time;
	my $batches = $rows / $sessions / 500;
	$_->{psql}->send(<<"END") for @sessions;
DO \$\$ BEGIN
    FOR batch IN 0 .. $batches - 1 LOOP
        INSERT INTO message (body)
        SELECT concat_ws(' ', '$_->{node}', $_->{nr}, batch * 500 + n, extract(epoch FROM clock_timestamp())) FROM generate_series(1, 500) n;
        COMMIT;
        PERFORM pg_sleep(0.05);
    END LOOP;
END \$\$
END
	is($_->{psql}->answer, '', "$_->{node}, session $_->{nr}: no conflict") for @sessions;
	return time - $began;
}

sub check
{
	my ($by, $wrote, %node) = @_;
	my $all = 3 * $rows;
	my $began = time;
	$_->poll_query_until('app', "SELECT count(*) = $all FROM message") or die "$by: rows are missing" for values %node;
	my $caught_up = time - $began;
	sleep 1;    # nothing may come back
	my %said = map { $_ => $node{$_}->safe_psql('app', <<'END') } keys %node;
SELECT count(*), count(DISTINCT id), count(DISTINCT reference),
       sum(hashtextextended(concat_ws(' ', id, reference, body), 0)) FROM message
END
	like($said{node1}, qr/^$all\|$all\|$all\|/, "$by: all rows, each id and reference once");
	is($said{$_}, $said{node1}, "$by: the same rows on $_") for 'node2', 'node3';

	for my $name (sort keys %node)
	{
		unlike(
			slurp($node{$name}->logfile),
			qr/duplicate key|conflict|is not set, and this server/,
			"$by: nothing to complain of in $name\'s log");
	}

	my $one = $node{node1};
	is($one->safe_psql('app', <<'END'), '0|0|0', "$by: ids of a session grow, and have its node's number");
SELECT count(*) FILTER (WHERE row < row_before), count(*) FILTER (WHERE row_by_reference < row_by_reference_before),
       count(*) FILTER (WHERE 'node' || sno_partition(id) <> node OR 'node' || snowflake_si_machine_id(reference) <> node)
FROM (SELECT id, reference, node, row, lag(row) OVER (PARTITION BY node, session ORDER BY id) AS row_before, row AS row_by_reference,
             lag(row) OVER (PARTITION BY node, session ORDER BY reference) AS row_by_reference_before
      FROM (SELECT id, reference, split_part(body, ' ', 1) AS node, split_part(body, ' ', 2) AS session, split_part(body, ' ', 3)::int AS row FROM message) r) s
END

	# Out of order by no more than the clocks differ. The median, because a machine may stand between id and clock.
	my $off = q{abs(split_part(body, ' ', 4)::float8 - extract(epoch FROM sno_timestamp(id)))};
	is($one->safe_psql('app', <<"END"), '3|t', "$by: ids have the time of their node's clock");
SELECT count(*), bool_and(off < 0.1)
FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY $off) AS off FROM message GROUP BY split_part(body, ' ', 1)) n
END
	diag sprintf
	  '%-8s 3 nodes x %d rows written in %.1f s, everywhere %.1f s later; %d rows, none twice',
	  $by, $rows, $wrote, $caught_up, (split /\|/, $said{node1})[0];
	$_->stop('immediate') for values %node;
}

my ($major) = `pg_config --version` =~ /(\d+)/;

my $chapter = 'Active-active with logical replication';

if ($major < 16)
{
	$page->left_out($chapter, "origin = none came with PostgreSQL 16, this is $major");
}
else
{
	my %node = mesh('native', '');
	$page->run_on(\%node, $chapter);
	connected(q{SELECT count(*) = 2 FROM pg_stat_replication WHERE state = 'streaming'}, %node);
	check('native', write_on_all(%node), %node);
}

if (!-e `pg_config --pkglibdir` =~ s/\n//r . '/pglogical.so')
{
	note 'pglogical is not installed';
}
else
{
	# Some minor releases load only output plugins that it names.
	my $plugins =
		`postgres --describe-config` =~ /^output_plugin_libraries\b/m
	  ? "output_plugin_libraries = 'pgoutput, pglogical_output'"
	  : '';
	my %node = mesh('pglogical', "shared_preload_libraries = 'pglogical'\ntrack_commit_timestamp = on\n$plugins");
	my ($tables) = map { $_->{content} } $page->blocks($chapter, 'sql');
	$tables =~ s/^CREATE PUBLICATION.*//m;
	for my $name (sort keys %node)
	{
		my $own = Page::connection($node{$name}, $name);
		$node{$name}->safe_psql('app', <<"END");
$tables
CREATE EXTENSION pglogical;
SELECT pglogical.create_node('$name', '$own');
SELECT pglogical.replication_set_add_table('default', 'message');
END
	}
	for my $name (sort keys %node)
	{
		for my $from (grep { $_ ne $name } sort keys %node)
		{
			my $other = Page::connection($node{$from}, $from);
			$node{$name}->safe_psql('app', <<"END");
SELECT pglogical.create_subscription('${name}_from_$from', '$other', synchronize_data => false, forward_origins => '{}');
END
		}
	}
	connected(
		q{SELECT (SELECT count(*) FROM pglogical.show_subscription_status() WHERE status = 'replicating') = 2
		AND (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming') = 2}, %node);
	check('pglogical', write_on_all(%node), %node);
}

$page->all_run;
done_testing();
