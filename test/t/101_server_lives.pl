# Every way a server life can end, with the clock moved back before the next one begins.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('lives', $clock);

# Three times after each fault: hours behind, where hold goes on from the durable ceiling; at the very time when
# the ids before the fault were drawn; and when the clock is right again.
sub draw_after
{
	my ($ids, $start) = @_;
	$ids->draw($server);
	$clock->set_to($start);
	$ids->draw($server);
	$clock->set(0);
	$ids->draw($server);
}

for my $how ('fast', 'immediate', 'kill -9')
{
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	restart_after($server, $how, -7200);
	draw_after($ids, $start);
	$ids->none_twice(
		$how eq 'fast' ? 'clean restart' : $how eq 'immediate' ? 'immediate shutdown' : 'kill -9 of the postmaster');
}

my $ids = Ids->new;
my $start = $clock->now;
$ids->draw($server);
$clock->set(-7200);
kill_backend($server);
draw_after($ids, $start);
$ids->none_twice('kill -9 of a backend');

# Killed in the middle of drawing, by several sessions, again and again.
$ids = Ids->new;
for my $round (1 .. 3)
{
	my @sessions = map { Session->new($server) } 1 .. 3;

	# Many statements: what psql has printed is kept when its session is killed.
	$_->send(join ';', (Ids::query(5, 20)) x 1000) for @sessions;
	sleep 0.3;
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
}
$ids->none_twice('kill -9 while sessions draw');

# That these tests would see a repeat: an operator who forces a reset gets what the hint warns of. Both draws are
# some ten milliseconds long, which a busy machine may push apart.
$ids = Ids->new;
my $session = Session->new($server);
for my $try (1 .. 20)
{
	$clock->set(3600 * $try);
	$start = $clock->now;
	$ids->draw($session);
	$clock->set_to($start);
	$session->ask("SELECT snowflake_ids_reset(clock_timestamp() - interval '1 hour', force => true)");
	$clock->set_to($start);
	$ids->draw($session);
	last if $ids->twice;
}
undef $session;
cmp_ok($ids->twice, '>', 0, 'after a forced reset ids repeat, and these tests see it');

is(value($server, 'SELECT incarnation FROM snowflake_ids_status()'), 5, 'each life was counted');

# A session that cannot find out which life it is in does not guess: a guess would stay with it, and it and all others
# would begin new lives in turn.
SKIP:
{
	skip 'prlimit is not installed', 1 if system('prlimit --version >/dev/null 2>&1') != 0;
	my $session = Session->new($server);
	my $pid = $session->ask(
		'SELECT ledger_state FROM snowflake_ids_status(); PREPARE draw AS SELECT gen_mastic() > 0; SELECT pg_backend_pid()'
	);
	$pid =~ s/.*\n//s;
	system('prlimit', '--pid', $pid, '--nofile=3:') == 0 or die 'prlimit failed';
	like($session->ask('EXECUTE draw'), qr/ERROR: .*Too many open files/, 'no descriptor to read which life it is');
	system('prlimit', '--pid', $pid, '--nofile=1024:') == 0 or die 'prlimit failed';
	my $others = Session->new($server);
	is(join('', map { ($others->ask('SELECT gen_mastic() > 0'), $session->ask('EXECUTE draw')) } 1 .. 3),
		'tttttt', 'with one it draws, as others do');
	is(value($server, 'SELECT incarnation FROM snowflake_ids_status()'), 5, 'in the life that is');
}
$server->stop;
done_testing();
