# Every end of a server life, with the clock moved back before the next one begins.
use Servers;

my $clock = clock();
my $server = new_server('lives', $clock);
sub life { return value($server, 'SELECT life FROM snowflake_ids.status()') }

sub new_life
{
	my ($before, $what) = @_;
	cmp_ok(life(), '>', $before, "$what: a new life");
}

sub draw_after
{
	my ($ids, $start) = @_;
	$ids->draw($server);
	$clock->set_to($start);
	$ids->draw($server);
	$clock->set(0);
	$ids->draw($server);
}

for ([ 'fast', 'clean restart' ], [ 'immediate', 'immediate shutdown' ], [ 'kill -9', 'kill -9 of the postmaster' ])
{
	my ($how, $what) = @$_;
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	my $life = life();
	restart_after($server, $how, -7200);
	is(life(), '', "$how: no life before the first use");
	draw_after($ids, $start);
	new_life($life, $how);
	$ids->none_twice($what);
}

# A killed backend takes shared memory along. Preloaded, the postmaster makes it.
for my $memory ('dynamic', 'preloaded')
{
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	my $life = life();
	my $mark = log_mark($server);
	is(value($server, 'SELECT memory FROM snowflake_ids.status()'), $memory, "the memory is $memory");
	my $issued = q{SELECT sum(issued), min(stats_since) FROM snowflake_ids.stats};
	my (undef, $since) = split /\|/, value($server, $issued);
	$clock->set(-7200);
	kill_backend($server);
	is(life(), '', "kill -9 of a backend, $memory: its life is over");
	draw_after($ids, $start);
	new_life($life, "kill -9 of a backend, $memory");
	my ($after, $new_since) = split /\|/, value($server, $issued);
	is($after, 3 * 1380, 'the statistics began again');
	isnt($new_since, $since, 'and say since when');
	my @lines = log_since($server, $mark) =~ /LOG:  snowflake_ids: life (\d+) of this server begins to generate ids/g;
	is("@lines", life(), 'one log line for the new life');
	$ids->none_twice('kill -9 of a backend' . ($memory eq 'preloaded' ? ', preloaded' : ''));
	$server->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'\n");
	restart_after($server, 'fast') if $memory eq 'dynamic';
}

$server->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
restart_after($server, 'fast');

my $ids = Ids->new;
for my $round (1 .. 3)
{
	my @sessions = map { Session->new($server) } 1 .. 3;

	my $life = life();

	# Many statements, so that psql's output survives its session.
	$_->send(join ';', (Ids::query(5, 20)) x 1000) for @sessions;
	ok(more_are_drawn($server), "round $round: sessions draw");
	$round == 2 ? kill_postmaster($server) : kill 'KILL',
	  value($server, "SELECT pid FROM pg_stat_activity WHERE query ~ 'gen_' AND pid <> pg_backend_pid() LIMIT 1");
	$ids->add($_->answer) for @sessions;
	is(scalar(grep { $_->{cut_short} } @sessions), 3, 'and did so until they were killed');
	$clock->set(-$round * 1000);
	start_at($server, $clock) if $round == 2;
	comes_back($server);
	note $ids->drawn, ' ids drawn by sessions that were killed';
	$ids->draw($server);
	new_life($life, "round $round");
}
$ids->none_twice('kill -9 while sessions draw');

# The test sees repeats: a forced reset makes some. A busy machine may push both draws apart.
$ids = Ids->new;
my $session = Session->new($server);
for my $try (1 .. 20)
{
	$clock->set(3600 * $try);
	my $start = $clock->now;
	$ids->draw($session);
	$clock->set_to($start);
	$session->ask("SELECT snowflake_ids.reset(clock_timestamp() - interval '1 hour', force => true)");
	$clock->set_to($start);
	$ids->draw($session);
	last if $ids->twice;
}
undef $session;
cmp_ok($ids->twice, '>', 0, 'after a forced reset ids repeat, and these tests see it');
$server->stop;
done_testing();
