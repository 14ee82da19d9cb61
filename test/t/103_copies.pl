# Copies of a data directory, and a data directory whose files of ours are older copies or gone. A copy has the
# original's machine id, so it counts as its successor: what the original drew before the copy was taken, or before
# the WAL that the copy replays, must not be drawn again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('original', $clock, allows_streaming => 1);
my @files = map { $server->data_dir . "/snowflake_ids.$_" } qw(ledger ceiling);

# ---- copies of the running server, while sessions draw
for my $how ('pg_basebackup', 'cp -r')
{
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	my $busy = Session->new($server)->send(join ';', (Ids::query(20, 50)) x ($how eq 'cp -r' ? 500 : 10));
	my $name = $how eq 'cp -r' ? 'hot_copy' : 'base_backup';
	my $copy;
	if ($how eq 'cp -r')
	{
		# What cp reads is no consistent copy. With full_page_writes and all WAL since the checkpoint it mostly
		# starts, and that is all that people who do this ask for. Our files are as torn as the others.
		$copy = copy_of($name, $server->data_dir);
		ok(more_are_drawn($server), "$how: and they still do");
	}
	else
	{
		$server->backup('backup');
		$copy = PostgreSQL::Test::Cluster->new($name);
		$copy->init_from_backup($server, 'backup');
	}

	# Only what was drawn until now can be known to a copy.
	$ids->add($busy->answer) if $how eq 'pg_basebackup';
	undef $busy;

	my $its_clock = clock();
	$its_clock->set(-7200);
	start_at($copy, $its_clock);
	is(value($copy, 'SELECT ledger_state FROM snowflake_ids_status()'), 'ready', "$how: the ledger was copied");
	draw_at_all_times($ids, $copy, $its_clock, $start);
	$ids->none_twice("$how of the running server");
	$copy->stop('immediate');
}

# ---- older copies of our files, and none. The clock is moved with each.
my $old = Ids->new;
$old->draw($server);
my %older = map { $_ => slurp($_) } @files;
sleep 3;    # beyond the ceilings that the older copies have

my @faults = (
	[ 'older ledger', sub { spew($files[0], $older{ $files[0] }) } ],
	[ 'older ceiling file', sub { spew($files[1], $older{ $files[1] }) } ],
	[ 'older ledger and ceiling file', sub { spew($_, $older{$_}) for @files } ],
	[ 'no ledger', sub { unlink $files[0] } ],
	[ 'no ceiling file', sub { unlink $files[1] } ],
	[ 'older ledger, no ceiling file', sub { spew($files[0], $older{ $files[0] }); unlink $files[1] } ],
	[ 'no ledger, older ceiling file', sub { unlink $files[0]; spew($files[1], $older{ $files[1] }) } ],
	[ 'neither file', sub { unlink @files } ]);
for (@faults)
{
	my ($fault, $damage) = @$_;
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	$server->stop('immediate');
	$damage->();
	$clock->set(-7200);
	start_at($server, $clock);
	draw_at_all_times($ids, $server, $clock, $start);
	$ids->none_twice($fault);
	ok(-s $_, 'the file is there: ' . s{.*/}{}r) for @files;
}

# ---- the same while the server runs: sessions that have the old file mapped must not go on beside the new one
{
	# Each life above began at the ceiling of the one before, seconds ahead of the clock. Held ids need no new
	# ceiling for long: let the clock pass them.
	$clock->set(60);
	my $ids = Ids->new;
	my $session = Session->new($server);
	$ids->draw($session);
	unlink $files[0];
	$ids->draw($server);    # a new session makes a new ledger
	$ids->draw($server);
	my $said = '';

	for (1 .. 60)
	{
		$said = $session->ask(Ids::query(50, 20));
		$ids->add($said);
		last if $said =~ /ERROR/;
		$ids->draw($server, 5, 20);
		$clock->step(0.1);
	}
	like(
		$said,
		qr/ERROR:  ledger file "snowflake_ids.ledger" was replaced.*HINT:  .*restart the server/s,
		'a session with the old ledger ends with an error and a hint');
	$ids->draw($server);
	$ids->none_twice('ledger removed under a running server');
}
$server->stop;
done_testing();
