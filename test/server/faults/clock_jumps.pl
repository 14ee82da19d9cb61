# The wall clock steps while sessions draw.
use Servers;

my $clock = clock();

# A short window, so that steps of more than 250 ms are regressions.
my $server =
  new_server('steps', $clock, conf => "snowflake_ids.machine_id = 0\nsnowflake_ids.durable_window = '100ms'");
my $session = Session->new($server);
my $ids = Ids->new;

sub setting { $server->append_conf('postgresql.conf', "snowflake_ids.$_[0]\n"); reload($server, $session) }

sub timed
{
	my ($query) = @_;
	my $began = time;
	my $said = $session->ask($query);
	return ((time - $began) * 1000, $said);
}
sub stat_of { return value($server, "SELECT $_[0] FROM snowflake_ids.stats WHERE format = '$_[1]'") }

my %format = (
	sno => { name => 'sno', timestamp => 'sno_timestamp', letter => 's', tick => 4 },
	mastic => { name => 'Mastic', timestamp => 'mastic_timestamp', letter => 'm', tick => 1 },
	snowflake_si => { name => 'Snowflake-SI', timestamp => 'snowflake_si_timestamp', letter => 'i', tick => 1 });
my @formats = sort keys %format;

# Ahead of all ids; and 20 s back no time is safe for sno. The last log line is more than a minute old, so the next
# regression is logged.
my $base = 0;

sub use_up_toggle
{
	$clock->set($base += 1000);
	$ids->add($session->ask("SELECT 's' || gen_sno() || E'\\nm' || gen_mastic() || E'\\ni' || gen_snowflake_si()"));
	$clock->step(-20);
	$ids->add($session->ask("SELECT 's' || gen_sno()"));
	$clock->step(20);
	$clock->pass(61);
}

sub one { my ($format) = @_; return "SELECT '$format{$format}{letter}' || gen_$format()" }

sub logged
{
	my ($mark, $format, $what) = @_;
	my $line = "clock is behind the last id: $what";
	return log_since($server, $mark) =~ /LOG:  $line\n.*DETAIL:  The last id is ([\d.]+) ms ahead of the clock\./g;
}

# ---- sno: the first step back toggles the bit, at once
{
	$ids->draw($session);

	$clock->step(60);
	$ids->draw($session);
	my $mark = log_mark($server);
	$clock->step(-30);
	my $before = $clock->now;
	my ($ms, $said) =
	  timed("SELECT i, sno_ticktock(i), extract(epoch FROM sno_timestamp(i)) FROM (SELECT gen_sno() AS i) s");
	my ($id, $toggle, $time) = split /\|/, $said;
	$ids->add("s$id");
	is($toggle, 1, 'the first regression toggles the tick-tock bit');
	ok($time > $before - 0.1 && $time < $clock->now,
		'the id has the time of the clock: it sorts with the ids of that time');
	cmp_ok($ms, '<', 10000, sprintf 'without a wait for the time before the step (%.1f ms)', $ms);
	ok( wait_for_log(
			$server,
			qr/LOG:  clock went back by [\d.]+ ms: tick-tock bit of sno ids of machine id 0 is now 1\n.*DETAIL:  Regressions so far: 1\. /,
			$mark),
		'logged');
	my ($step) = log_since($server, $mark) =~ /went back by ([\d.]+)/;

	ok($step > 10000 && $step <= 30000, "with the size of the step ($step ms)");
	$ids->draw($session);
	my $lines = () = log_since($server, $mark) =~ /clock went back/g;
	is($lines, 1, 'once');
	is(stat_of('regressions', 'sno'), 1, 'and counted');
	is(stat_of('ticktock', 'sno'), 1, 'the statistics show the bit');

	# No bit is free: the default is to hold.
	$clock->step(-60);
	($ms, $said) = timed("SELECT i, sno_ticktock(i) FROM (SELECT gen_sno() AS i) s");
	like($said, qr/\|1$/, 'a regression behind all safe times does not toggle');
	cmp_ok($ms, '<', 10000, 'hold does not wait');
	$ids->add('s' . $said =~ s/\|.*//r);
	$ids->draw($session);
	$clock->step(90);
	$ids->draw($session);
	$ids->none_twice('two steps back, and forward again');
}

# ---- hold: the last time, then at most one tick per tick of real time
{
	$ids = Ids->new;
	setting('sno_sequence_max = 5');

	# 99 ticks of 6, 2 of 65,536, 78 of 256 take as long as that, and the lead stays.
	my %many = (sno => 600, mastic => 200000, snowflake_si => 20000);
	for my $format (@formats)
	{
		use_up_toggle();
		$clock->step(-100);
		my $f = $format{$format};
		my $mark = log_mark($server);
		my $before = stat_of('holds', $format);
		my $said = $session->ask(
			"SELECT extract(epoch FROM $f->{timestamp}(gen_$format())) - extract(epoch FROM clock_timestamp())");
		cmp_ok($said, '>', $format eq 'sno' ? 40 : 50, "$format: hold keeps the last time");
		my $lead = 1000 * $said;    # that of the id, because the clock goes on until somebody looks
		my ($ms, $drawn) = timed("SELECT '$f->{letter}' || gen_$format() FROM generate_series(1, $many{$format})");
		$ids->add($drawn);
		my $ticks = stat_of('holds', $format) - $before;
		my $least = { sno => 99, mastic => 2, snowflake_si => 77 }->{$format};
		cmp_ok($ticks, '>=', $least, "$format: held ticks are counted ($ticks)");
		cmp_ok(
			$ms, '>=',
			($least - 1) * $f->{tick},
			sprintf '%s: it keeps its rate (%d ids in %.0f ms)',
			$format, $many{$format}, $ms);
		my $grown = stat_of('clock_lead', $format) - $lead;
		cmp_ok($grown, '<', 10, sprintf '%s: the lead over the clock does not grow (%.1f ms)', $format, $grown);
		my @ahead = logged($mark, $format, "$f->{name} ids of machine id 0 continue ahead of the clock");
		my $size = $format eq 'sno' ? 80000 : 100000;
		is(scalar @ahead, 1, "$format: the log has one line when it begins");
		ok($ahead[0] > $size / 2 && $ahead[0] <= $size, "$format: with the size of the step ($ahead[0] ms)");

		$clock->pass(61);
		$session->ask(one($format)) for 1 .. 2;
		@ahead = logged($mark, $format, "$f->{name} ids of machine id 0 continue ahead of the clock");
		is(scalar @ahead, 2, "$format: and another one after a minute");
	}
	setting('sno_sequence_max = 65535');

	$session->ask(one('mastic'));
	$clock->pass(61);
	$clock->step(-50);
	my $mark = log_mark($server);
	my @sessions = map { Session->new($server) } 1 .. 6;
	$_->send(
		"DO 'BEGIN FOR i IN 1 .. 50 LOOP PERFORM count(gen_mastic()) FROM generate_series(1, 5000); END LOOP; END'")
	  for @sessions;
	$_->answer for @sessions;
	my $lines = () = log_since($server, $mark) =~ /clock is behind/g;
	is($lines, 1, 'six sessions, one line');
	$clock->step(50);
	$ids->draw($session);
	$ids->none_twice('hold in each format');
}

# ---- wait: until min(H, S + 1), without a tick-tock bit until H
setting("clock_regression = 'wait'");
$ids = Ids->new;
for my $format (@formats)
{
	use_up_toggle();
	$clock->step(-20) if $format eq 'sno';

	# The best of some, because a machine that stands still changes step and wait.
	my ($ms, $said, $waited, @ahead);
	for (1 .. 15)
	{
		$clock->pass(61);
		my $mark = log_mark($server);
		$waited = stat_of('wait_time', $format);
		$ids->add($session->ask(one($format)));
		$clock->step(-1);
		($ms, $said) = timed(one($format));
		$ids->add($said);
		$waited = stat_of('wait_time', $format) - $waited;
		@ahead = logged($mark, $format, "calls for $format{$format}{name} ids of machine id 0 wait for the clock");
		last if $ms > 500 && $ms < 1500;
	}
	cmp_ok($ms, '>', 500, sprintf '%s: wait ends when the clock is nearly back at the last id (%.0f ms)', $format, $ms);
	cmp_ok($ms, '<', 1500, "$format: and not later");
	is(scalar @ahead, 1, "$format: the log says so");
	ok($ahead[0] > 0 && $ahead[0] <= 1004, "$format: with the step ($ahead[0] ms)");
	ok($waited > 0.5 * $ahead[0] && $waited <= $ms, "$format: the statistics have the time ($waited ms)");

	$session->ask("SET snowflake_ids.max_wait = '300ms'");
	$clock->step(-3600);
	$ms = best_of(1000, sub { my ($took, $answer) = timed("SELECT gen_$format()"); $said = $answer; return $took });
	my $name = $format{$format}{name};
	like(
		$said,
		qr/ERROR:  gave up waiting for a $name id after 300 ms.*DETAIL:.*clock is behind.*HINT:.*max_wait/s,
		"$format: wait is bounded by max_wait");
	cmp_ok($ms, '<', 1000, sprintf '%s: in real time (%.0f ms)', $format, $ms);
	$session->ask('RESET snowflake_ids.max_wait');
	$clock->step(3700);
	$ids->draw($session);
}
{
	my ($ms, $said);
	for (1 .. 15)
	{
		$clock->set($base += 1000);
		$ids->add($session->ask("SELECT 's' || gen_sno()"));
		my $safe_end = $clock->now;
		$clock->step(-5);
		$ids->add($session->ask("SELECT 's' || gen_sno()"));    # safe is 5 s on
		$clock->step(60);
		$ids->add($session->ask("SELECT 's' || gen_sno()"));    # H
		$clock->set_to($safe_end - 0.6);
		($ms, $said) = timed("SELECT 's' || gen_sno()");
		$ids->add($said);
		last if $ms > 400 && $ms < 1500;
	}
	cmp_ok($ms, '>', 400, sprintf 'sno: or just past the safe time, where the bit can toggle again (%.0f ms)', $ms);
	cmp_ok($ms, '<', 1500, 'and not later');
}

setting("clock_regression = 'error'");
for my $format (@formats)
{
	use_up_toggle();
	$ids->add($session->ask(one($format)));
	$clock->step(-50);
	my $before = stat_of('last_timestamp', $format);
	my $name = $format{$format}{name};
	fails_with(
		$session,
		"SELECT gen_$format()",
		"$format: error, with a way out",
		qr/cannot generate $name ids: the clock is behind the last id/,
		qr/HINT:.*clock_regression.*snowflake_ids.reset\(\)/);
	is(stat_of('last_timestamp', $format), $before, "$format: the generator stays where it was");
	$clock->step(51);
	$ids->draw($session);
}
$ids->none_twice('policies wait and error');
setting("clock_regression = 'hold'");

# ---- a year ahead for a moment
{
	$ids = Ids->new;
	$ids->draw($session);
	my $was = $clock->{offset};
	$clock->step(365 * 86400);
	$ids->draw($session);
	$clock->set($was);
	$ids->draw($session);
	my %lead = map { $_ => stat_of('clock_lead', $_) } qw(sno mastic snowflake_si);
	for (1 .. 5) { $ids->draw($session, 20, 1000) }

	for my $format (sort keys %lead)
	{
		my $grown = stat_of('clock_lead', $format) - $lead{$format};
		cmp_ok($grown, '<', 5, sprintf '%s: 10000 ids after a jump of a year was corrected, the lead grew by %.1f ms',
			$format, $grown);
	}
	cmp_ok($lead{mastic}, '>', 364 * 86400e3, 'Mastic goes on at the time it had reached');
	$ids->none_twice('a jump of a year, corrected');

	fails_with(
		$session,
		'SELECT snowflake_ids.reset(clock_timestamp())',
		'a reset below issued ids must be forced',
		qr/floor is below ids that have been generated/,
		qr/HINT:.*force => true/);

	# The floor that the operator names is kept.
	is($session->ask("SELECT snowflake_ids.reset(clock_timestamp() + interval '1 second', force => true)"),
		'', 'forced, it leads back');
	$clock->step(2);
	my $new = Ids->new;
	$new->draw($session);
	is($session->ask('SELECT abs(extract(epoch FROM mastic_timestamp(gen_mastic()) - clock_timestamp())) < 10'),
		't', 'to the time of the clock');
	$ids->add($_) for keys %{ $new->{seen} };
	$ids->none_twice('forced reset after a jump of a year');
}

# ---- before the epoch of a format
{
	my $own = Session->new($server);
	my $was = $clock->{offset};
	my $to_2020 = 1577836800 - time;
	$clock->set($to_2020);
	fails_with(
		$own,
		'SELECT gen_mastic()',
		'a clock before the format\'s epoch',
		qr/cannot generate Mastic ids: the clock is before the first time/,
		qr/HINT:.*clock/);
	$clock->set($was);
	is($own->ask('SELECT mastic_timestamp(gen_mastic()) > timestamptz \'2026-01-01\''),
		't', 'goes on when it is corrected');
}

# ---- many sessions, a clock that goes back and forth all the time
{
	$ids = Ids->new;
	$clock->set(0);

	# pg_sleep() goes by the wall clock, so slow rows make a long statement.
	$server->safe_psql('postgres', 'CREATE TABLE stop ()');
	my $draw =
	  "SELECT concat_ws(E'\\n', 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si()) FROM generate_series(1, 100) i"
	  . ' WHERE (SELECT count(*) FROM generate_series(1, 1000 + i)) > 0 AND NOT EXISTS (SELECT FROM stop);'
	  . "SELECT 's' || gen_sno() FROM generate_series(1, 20) WHERE NOT EXISTS (SELECT FROM stop)";
	my @sessions = map { Session->new($server)->send(join ';', ($draw) x 2000) } 1 .. 4;
	ok(more_are_drawn($session), 'four sessions draw');
	srand 42;
	for my $step (1 .. 60)
	{
		$clock->set(rand(10) - 5);
		sleep 0.03;
		ok(more_are_drawn($session), "and still do before the last step") if $step == 59;
	}
	$session->ask('INSERT INTO stop DEFAULT VALUES');
	$ids->{said} = [];
	$ids->add($_->answer) for @sessions;
	is("@{ $ids->{said} }", '', 'without an error');
	$ids->none_twice('sixty steps of up to 10 s under four sessions');
}
undef $session;
$server->stop;
done_testing();
