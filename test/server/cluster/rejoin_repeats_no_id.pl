# A primary with two standbys under load: four times, one is promoted and the old primary comes back with pg_rewind.
# Nothing that anybody saw comes twice.
use Servers;

my %clock = map { $_ => clock() } 'a', 'b', 'c';
my %server = (
	a => new_server(
		'a', $clock{a},
		allows_streaming => 1,
		extra => ['--wal-segsize=1'],
		conf => "wal_log_hints = on\nwal_keep_size = 256MB\nhot_standby = on\nsnowflake_ids.machine_id = 4\n"));
$server{a}->safe_psql('postgres',
	'CREATE TABLE kept (sno sno DEFAULT gen_sno() PRIMARY KEY, mastic mastic DEFAULT gen_mastic() UNIQUE, si bigint DEFAULT gen_snowflake_si() UNIQUE, turn int)'
);
$server{a}->backup('base');

$server{$_} = standby_of($server{a}, $_, $clock{$_}) for 'b', 'c';

my $ids = Ids->new;
my $turn = 0;

sub start_clients
{
	my ($primary) = @_;
	$turn++;
	my @clients = map { Session->new($primary) } 1 .. 3;
	my $write =
	  "INSERT INTO kept (turn) SELECT $turn FROM generate_series(1, 20) RETURNING concat_ws(E'\\n', 's' || sno, 'm' || mastic, 'i' || si)";
	my $draw =
	  "BEGIN READ ONLY; SELECT 's' || gen_sno() FROM generate_series(1, 20); SELECT 'm' || gen_mastic() FROM generate_series(1, 20);"
	  . "SELECT 'i' || gen_snowflake_si() FROM generate_series(1, 20); COMMIT";
	$_->send(join ';', ("$write; $draw; SELECT pg_sleep(0.03)") x 3000) for @clients;
	return @clients;
}

sub answers
{
	my $n = 0;
	for my $client (@_)
	{
		my $said = join "\n", grep { /^[smi]/ && !/^server closed/ } split /\n/, $client->answer;
		$n += $ids->add($said);
		$client->gone;
	}
	return $n;
}

sub written
{
	my ($primary, $many) = @_;
	$primary->poll_query_until('postgres', "SELECT count(*) >= $many FROM kept WHERE turn = $turn")
	  or die 'clients do not write';
}

# The standby with more WAL is promoted, because the other one could not follow it. Returns its name. `behind`: by how
# much its clock is behind the old primary's; undefined: its first ids, 2.5 s ahead, would have the times of the old ones.
sub fail_over
{
	my ($from, $how, $behind) = @_;
	my $old = $server{$from};
	my $began = $clock{$from}->now;
	my @clients = start_clients($old);
	written($old, 600);
	ok(more_are_drawn($old), "turn $turn: clients of $from write and draw");
	$how eq 'kill' ? kill_postmaster($old) : $old->stop($how);
	my $seen = answers(@clients);
	cmp_ok($seen, '>', 2000, "turn $turn: clients of $from saw $seen ids, and then its end ($how)");
	is(scalar(grep { $_->{cut_short} } @clients), 3, 'while they drew');
	my %received = map { $_ => received($_) } grep { $_ ne $from } sort keys %server;
	my ($to, $third) = sort { $received{$b} <=> $received{$a} || $a cmp $b } keys %received;
	my ($new, $other) = @server{ $to, $third };

	# A walreceiver whose clock jumps takes its connection for dead.
	$clock{$to}->set($clock{$from}{offset} - $behind) if defined $behind;
	$new->promote;
	$new->safe_psql('postgres', 'CHECKPOINT');
	$clock{$to}->set_to($began - 2.5) if !defined $behind;
	@clients = start_clients($new);
	$other->append_conf('postgresql.conf', "primary_conninfo = '" . $new->connstr . "'\n");
	$other->reload;

	# Under any clock, a crashed server is recovered first.
	{
		local $ENV{LD_PRELOAD} = shim('clock_shim');
		local $ENV{CLOCK_SHIM_OFFSET} = $clock{$from}{file};
		ok(more_are_drawn($new), "turn $turn: clients of $to write and draw");
		my $before = $new->safe_psql('postgres', 'SELECT count(*) FROM kept');
		ok(rewind($old, $new), "turn $turn: $from is rewound while $to is written to");
		ok($new->poll_query_until('postgres', "SELECT count(*) > $before FROM kept"), "turn $turn: which goes on");
	}
	$clock{$from}->set($clock{$to}{offset} - 5000);
	start_at($old, $clock{$from});
	for my $standby ($old, $other)
	{
		$new->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '"
			  . $standby->name . "'")
		  or die $standby->name . ' does not follow';
	}
	written($new, 300);
	drain($new, @clients);
	return $to;
}

sub received
{
	my ($name) = @_;
	$server{$name}
	  ->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_wal_receiver WHERE status = 'streaming'})
	  or die "$name still streams";
	return $server{$name}->safe_psql('postgres', q{SELECT pg_last_wal_receive_lsn() - '0/0'});
}

sub drain
{
	my ($primary, @clients) = @_;
	my $pids = $primary->safe_psql('postgres',
		q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'}
	);
	my $seen = answers(@clients);
	cmp_ok($seen, '>', 1000, "turn $turn: clients of the new primary saw $seen ids");
}

# After a shutdown, standbys have all WAL: the next clock may be anything.
caught_up($server{a});
my $primary = fail_over('a', 'fast', undef);

# A killed primary may take ids along that no standby heard of, so the next clock must not be behind.
$primary = fail_over($primary, 'kill', 0);
$primary = fail_over($primary, 'immediate', 0);
$primary = fail_over($primary, 'fast', -3600);
my @standbys = grep { $_ ne $primary } sort keys %server;

$ids->none_twice('three servers, four failovers and rejoins under load');
$server{$primary}->wait_for_catchup($server{$_}, 'replay', flushed_lsn($server{$primary})) for @standbys;
my $rows =
  'SELECT count(*), count(DISTINCT turn), count(DISTINCT sno_partition(sno)), sum(hashtextextended(concat_ws(\' \', sno, mastic, si), 0)) FROM kept';
my $there = $server{$primary}->safe_psql('postgres', $rows);
like($there, qr/^\d+\|8\|1\|/, 'rows of every turn are there, in one partition');
is($server{$_}->safe_psql('postgres', $rows), $there, "the same ones on $_") for @standbys;
$_->stop('immediate') for values %server;
done_testing();
