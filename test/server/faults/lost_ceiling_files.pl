# Ceiling files that do not know all that was drawn here: removed or replaced while the server runs. They do not tell, so
# each life begins as far ahead of the clock as ids can be.
use Servers;

# ---- removed or replaced while sessions draw: the next raise writes it again from memory
{
	my $clock = clock();
	my $server = new_server('removed', $clock);
	my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
	value($server, 'SELECT gen_sno()');
	my $of_earlier_life = slurp($ceiling);
	restart_after($server, 'fast');
	$server->safe_psql('postgres', "CREATE DATABASE other$_")       for 1 .. 3;
	$server->safe_psql("other$_", 'CREATE EXTENSION snowflake_ids') for 1 .. 3;
	my $n = 0;

	for (
		[ 'ceiling file removed', sub { unlink $ceiling or die } ],
		[   'older ceiling file put back',
			sub { spew("$ceiling.older", $_[0]); rename "$ceiling.older", $ceiling or die } ],
		[ 'ceiling file of an earlier life put back', sub { spew($ceiling, $of_earlier_life) } ])
	{
		my ($what, $damage) = @$_;
		my $ids = Ids->new;
		$clock->step(60);
		my $start = $clock->now;
		my @sessions = map { Session->new($server) } 1 .. 2;
		$ids->draw($_) for @sessions;
		my $life = value($server, 'SELECT life FROM snowflake_ids.status()');
		my $of_earlier = slurp($ceiling);
		$clock->step(60);
		$_->send(join ';', (Ids::query(50, 20)) x 40) for @sessions;
		ok(more_are_drawn($server), "$what: sessions draw");
		$damage->($of_earlier);

		push @sessions, Session->new($server, dbname => 'other' . ++$n)->send(join ';', (Ids::query(50, 20)) x 40);
		for (1 .. 10) { more_are_drawn($server) or last; $clock->step(1) }
		for (@sessions) { $ids->{said} = []; $ids->add($_->answer); is("@{ $ids->{said} }", '', "$what: no error") }
		is(value($server, 'SELECT life || ceiling_file FROM snowflake_ids.status()'),
			"${life}ready", "$what: the same life");
		is(-s $ceiling, 36864, "$what: the file was written again");
		isnt(slurp($ceiling), $_, "$what: and says more than the older ones") for $of_earlier, $of_earlier_life;
		kill_postmaster($server);
		$clock->step(-7200);
		start_at($server, $clock);
		$ids->draw(Session->new($server, dbname => "other$n"));
		$ids->draw($server);
		$clock->set_to($start);
		$ids->draw($server);
		$clock->step(7200);
		$ids->draw($server);
		$ids->none_twice("$what while sessions draw");
	}

	# It goes back by a window, and the server crashes before the next raise: the database's ceiling, or a right clock, is
	# above all.
	for my $database ('postgres', 'other1')
	{
		my $ids = Ids->new;
		$clock->step(60);
		my $start = $clock->now;
		$ids->draw($server);
		my $of_earlier = slurp($ceiling);
		$clock->step(2);
		$ids->draw($server);
		isnt(slurp($ceiling), $of_earlier, 'it has been raised');
		spew($ceiling, $of_earlier);
		kill_postmaster($server);
		$clock->step(-7200) if $database eq 'postgres';
		start_at($server, $clock);
		$ids->draw(Session->new($server, dbname => $database));
		$clock->set_to($start);
		for (1 .. 6) { $ids->draw(Session->new($server, dbname => $database)); $clock->step(0.7) }
		$ids->none_twice('ceiling file back by a window, and a crash'
			  . ($database eq 'postgres' ? '' : ', another database and the right clock'));
	}

	# Another server has begun a newer life on a copy: ids end at the ceiling that this server has, and a restart begins
	# above the file.
	{
		my $ids = Ids->new;
		$clock->step(60);
		my $start = $clock->now;
		my $session = Session->new($server);
		$ids->draw($session);
		my $copy = copy_of('newer', $server->data_dir);
		my $its_clock = clock();
		$its_clock->set_to($clock->now + 60);
		start_at($copy, $its_clock);
		$ids->draw($copy);
		$copy->stop('fast');
		spew($ceiling, slurp($copy->data_dir . '/snowflake_ids.ceiling'));
		is(value($server, 'SELECT ceiling_file FROM snowflake_ids.status()'),
			'superseded', 'a file of a newer life: the status says so');
		my $said = '';

		for (1 .. 60)
		{
			$ids->add($said = $session->ask(Ids::query(5, 5)));
			last if $said =~ /ERROR/;
			$clock->step(0.5);
		}
		my @refused = (
			qr/ERROR: .*another server has taken over the ids of this data directory/,
			qr/server that was started later/, qr/HINT:/);

		for (
			$said,
			value($server, 'SELECT gen_mastic()'),
			value($server, "SELECT snowflake_ids.reset(clock_timestamp() + interval '1 min')"))
		{
			my $this = $_;
			is(scalar(grep { $this =~ $_ } @refused), 3, 'sessions and resets end with an error') or diag $this;
		}
		restart_after($server, 'fast', -7200);
		$ids->draw($server);
		is(value($server, 'SELECT ceiling_file FROM snowflake_ids.status()'), 'ready', 'a restart leads out');
		$clock->set_to($start);
		$ids->draw($server);
		$clock->set_to($its_clock->now);
		$ids->draw($server);
		$ids->none_twice('ceiling file of a newer life put in place while sessions draw');
	}
	$server->stop('immediate');
}

done_testing();
