# The ceiling file is gone at each start, and only WAL travels: what doc/multi-node.md promises then.
use Servers;

my $clock = clock();
my $server = new_server('stateless', $clock);
my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
$server->safe_psql('postgres', 'CREATE TABLE event (id sno DEFAULT gen_sno() PRIMARY KEY, n int)');

sub start_without_file
{
	my ($how, $step) = @_;
	restart_after($server, $how, $clock->{offset} + $step, sub { unlink $ceiling or die "no ceiling file: $!" });
	return;
}

# ---- the clock goes back by hours at each start: the ceiling in WAL is above all ids
{
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	for my $how ('fast', 'immediate', 'kill -9')
	{
		value($server, 'INSERT INTO event SELECT FROM generate_series(1, 100)');
		my $last = value($server, 'SELECT max(id) FROM event');
		start_without_file($how, -7200);
		is(value($server, "SELECT min(gen_sno()) > '$last' FROM generate_series(1, 10)"),
			't', "$how: ids go on above the rows");
		$ids->draw($server);
	}
	$clock->set_to($start);
	$ids->draw($server);
	$clock->step(60);
	$ids->draw($server);
	$ids->none_twice('no ceiling file at any start, the clock back by 2 h each time');
}

# ---- scale to zero: many starts in a row with a right clock. The lead does not add up.
{
	my $ids = Ids->new;
	start_without_file('fast', 86400);
	my @lead;
	for (1 .. 6)
	{
		$ids->draw($server);
		push @lead, value($server, 'SELECT extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp())');
		start_without_file('fast', 0);
	}
	my ($most) = sort { $b <=> $a } @lead;
	cmp_ok($most, '<', 5, 'after six starts ids are no further ahead of the clock than two leads');
	note sprintf 'ahead of the clock after each start: %s s', join ' ', map { sprintf '%.1f', $_ } @lead;
	$ids->none_twice('no ceiling file, many starts in a row');
}

# ---- a branch runs next to its original, with its own machine id
{
	my $branch = copy_of('branch', $server->data_dir, "snowflake_ids.machine_id = 7\n");
	unlink $branch->data_dir . '/snowflake_ids.ceiling';
	start_at($branch, $clock);
	my %seen;
	my ($sno, $mastic) =
	  ('SELECT gen_sno() FROM generate_series(1, 20000)', 'SELECT gen_mastic() FROM generate_series(1, 20000)');
	$seen{$_}++ for map { split /\n/ } value($server, $sno), value($branch, $sno);
	is(scalar(grep { $_ > 1 } values %seen), 0, 'a branch with a machine id: no sno twice');
	is(scalar(keys %seen), 40000, 'of those of both');
	is(value($server, 'SELECT sno_partition(gen_sno()) <> 7'), 't', 'the original keeps its own');
	$branch->stop('immediate');
}
$server->stop('immediate');
done_testing();
