# After a start ids are ahead of a right clock by 1.25 windows. No policy applies to ids ahead by up to twice as much,
# and nobody blames the clock; a further step back is a regression.
use Servers;
use Quick;

my %name = (sno => 'sno', mastic => 'Mastic', snowflake_si => 'Snowflake-SI');
my @formats = sort keys %name;
my $blamed = qr/clock (?:is|was|went|has)/;
my $clock = clock();
my $server = new_server('lead', $clock, conf => "snowflake_ids.durable_window = '60s'");
my $ids = Ids->new;

sub lead { return value($server, "SELECT max(clock_lead) / 1000 FROM snowflake_ids.stats WHERE format = '$_[0]'") }

# Ids come at once, and the log blames the clock only if the life began too long ago.
sub goes_on
{
	my ($what, $least, $most, $logged) = @_;
	$clock->pass(61) if $logged;
	my $mark = log_mark($server);
	my $began = time;
	is(value($server, "SET snowflake_ids.max_wait = 0; SELECT gen_sno() IS NOT NULL"), 't', "$what: no wait");
	$ids->draw($server);
	my $took = time - $began;
	cmp_ok($took, '<', 30, sprintf '%s: ids at once (%.1f s)', $what, $took);

	for my $format (@formats)
	{
		my $lead = lead($format);
		ok($lead >= $least && $lead <= $most, "$what: $format is $lead s ahead of the clock");
	}
	return like(log_since($server, $mark), $blamed, "$what: the log says so") if $logged;
	unlike(log_since($server, $mark), $blamed, "$what: the log does not blame the clock");
	return;
}

# A wait for the clock is an error at this max_wait.
sub refused
{
	my ($what, @of) = @_;
	for my $format (@of)
	{
		fails_with(
			$server,
			"SET snowflake_ids.max_wait = '100ms'; SELECT gen_$format()",
			"$what: $format is refused",
			qr/(?:cannot generate|gave up waiting for a) $name{$format} id/,
			qr/clock is behind the last id/i);
	}
}

for my $policy (part('error', 'wait'))
{
	$clock->step(1000);
	$ids->draw($server);
	$server->append_conf('postgresql.conf', "snowflake_ids.clock_regression = $policy\n");
	restart_after($server, 'fast');
	goes_on("$policy, a clean restart", 40, 80);
	restart_after($server, 'kill -9');
	goes_on("$policy, kill -9 at once after it", 40, 160);

	$clock->step(-100);
	refused("$policy, 100 s back", @formats);
	$clock->step(100);
	goes_on("$policy, and forward again", 40, 160);

	# Then, a step back of less than 150 s changes only sno's tick-tock bit, while one is free.
	$clock->step(1000);
	$ids->draw($server);
	my $session = Session->new($server);
	$ids->draw($session);
	$clock->step(-100);
	is($session->ask('SELECT sno_ticktock(gen_sno())'), 1, "$policy, back after it has caught up: sno toggles");
	$ids->draw($session);
	cmp_ok(lead('mastic'), '>', 50, "$policy, and mastic goes on ahead of the clock");
	$clock->step(-100);
	refused("$policy, back once more", 'mastic', 'snowflake_si');
	$clock->step(-100);
	refused("$policy, and once more", 'sno');
	$clock->step(300);
	$ids->draw($session);

	restart_after($server, 'fast');
	$clock->step(-3600);
	refused("$policy, an hour back before the first id of a life", @formats);
	$clock->step(3600);
	goes_on("$policy, and right again", 40, 80, 1);
	$clock->step(300);
	$ids->draw($server);
	$server->stop('fast');
	$clock->step(-3600);
	start_at($server, $clock);
	refused("$policy, started an hour back", @formats);
	$clock->step(3600);
	goes_on("$policy, and right after that", 0, 80, 1);

	$clock->step(300);
	$ids->draw($server);
	$server->stop('fast');
	unlink $server->data_dir . '/snowflake_ids.ceiling' or die;
	start_at($server, $clock);
	goes_on("$policy, without the ceiling file", 40, 160);

	$clock->step(300);
	goes_on("$policy, caught up", 0, 1);
}
$ids->none_twice('restarts under the policies error and wait');

# ---- hold: a bulk load drives sno beyond the floor. When the clock gets there it has not gone back.
{
	$clock->step(1000);
	$server->append_conf('postgresql.conf',
		"snowflake_ids.clock_regression = 'hold'\nsnowflake_ids.sno_sequence_max = 99\n");
	$ids->draw($server);
	restart_after($server, 'fast');
	my $session = Session->new($server);
	my $toggles = sub { value($server, "SELECT sum(regressions) FROM snowflake_ids.stats") };
	my ($before, $mark) = ($toggles->(), log_mark($server));
	my $last = '';
	my $smaller = 0;

	for my $step (1 .. 40)
	{
		for my $id (split /\n/, $session->ask('SELECT gen_sno() FROM generate_series(1, 1000)'))
		{
			$smaller++ if $id le $last;
			$last = $id;
			$ids->add("s$id");
		}
		$clock->step(2);
	}
	is($smaller, 0, 'sno while the clock catches up with a bulk load: each id is larger than the last');
	is($toggles->(), $before, 'no tick-tock was spent');
	unlike(log_since($server, $mark), $blamed, 'and the log does not blame the clock');
	cmp_ok(lead('sno'), '<', 1, 'the clock has caught up');
	$clock->step(100);
	$ids->draw($session);
	$clock->step(-30);
	$ids->add($session->ask("SELECT 's' || gen_sno()"));
	is($toggles->(), $before + 1, 'a step back after that toggles');
	$ids->none_twice('a bulk load of sno while the clock catches up after a restart');
}
$server->stop;
done_testing();
