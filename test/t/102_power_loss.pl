# The power goes: all that was not synced is lost. Our two files go back to what they held when they were last
# synced, and WAL is cut where it was last flushed. Also with only one of the two files set back, for which pages
# reach the disk is chance.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server(
	'power', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "synchronous_commit = off\nwal_writer_delay = 10s\nsnowflake_ids.durable_window = '500ms'");
$server->safe_psql('postgres', 'CREATE UNLOGGED TABLE other(id int); CREATE TABLE kept(id text)');

my $all = Ids->new;
for my $fault ('both files and WAL', 'ledger and WAL', 'WAL')
{
	my $ids = Ids->new;
	my $start = $clock->now;

	# Some seconds, so that ceilings have been raised many times and the ledger is far behind.
	for (1 .. 3)
	{
		$ids->draw($server);
		$server->safe_psql('postgres', "INSERT INTO kept SELECT gen_sno()::text FROM generate_series(1, 50)");
		sleep 0.4;
	}
	$ids->draw($server);

	my ($ledger, $ceiling) = map { $server->data_dir . "/snowflake_ids.$_" } qw(ledger ceiling);
	kill_postmaster($server);
	my ($newest_ledger, $newest_ceiling) = (slurp($ledger), slurp($ceiling));
	my $cut = lose_power($server);
	cmp_ok($cut, '>', 0, "$fault: something was lost");
	isnt(slurp($ledger), $newest_ledger, 'the ledger is the one of its creation') if $fault eq 'both files and WAL';
	spew($ceiling, $newest_ceiling) if $fault ne 'both files and WAL';
	spew($ledger, $newest_ledger) if $fault eq 'WAL';

	$clock->set_to($start);
	start_at($server, $clock);
	$ids->draw($server);
	$clock->set(-7200);
	$ids->draw($server);
	$clock->set(0);
	$ids->draw($server);
	$ids->none_twice("power loss: $fault not synced");

	# So that the next fault begins with clock and ids together again.
	sleep 0.7;
}

# Rows whose WAL was flushed are there, and no later id equals one of them.
my $ids = Ids->new;
$ids->add(value($server, "SELECT 's' || id FROM kept"));
$ids->add(value($server, "SELECT 's' || gen_sno() FROM generate_series(1, 1000)"));
$ids->none_twice('power loss: rows that survived, and new ids');
$server->stop;

# ---- a floor is kept through a power loss, before any id above it is drawn
{
	my $clock = clock();
	my $server = new_server('floor', $clock, synced => 1, extra => ['--wal-segsize=1']);
	my $ids = Ids->new;
	$ids->draw($server);
	my $floor = int($clock->now + 1800);
	is(value($server, "SELECT snowflake_ids_reset(to_timestamp($floor))"), '', 'a floor half an hour ahead');
	lose_power($server);
	$server->{sfids_clock}->set(-600);
	start_at($server, $clock);

	for my $draw ('sno_timestamp(gen_sno())', 'mastic_timestamp(gen_mastic())',
		'snowflake_si_timestamp(gen_snowflake_si())')
	{
		is(value($server, "SELECT $draw > to_timestamp($floor)"), 't', "after a power loss $draw is above it");
	}
	$server->stop('immediate');
}

# ---- a generator's first id: the ledger on disk is the one that the kernel wrote back before it
{
	my $clock = clock();
	my $server = new_server('slot', $clock, synced => 1, extra => ['--wal-segsize=1']);
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	my $ledger = $server->data_dir . '/snowflake_ids.ledger';
	value($server, 'SELECT gen_sno()');
	for ([ 'm', 'gen_mastic()', 0 ], [ 'i', 'gen_snowflake_si()', 1 ])
	{
		my ($letter, $draw, $older) = @$_;
		my $paced = "SELECT '$letter' || $draw FROM generate_series(1, %d) WHERE pg_sleep(0.0005) IS NOT NULL";
		my $ids = Ids->new;

		# Beyond what the last turn left in the other database's WAL.
		$clock->step(60);
		my $written_back = slurp($ledger);
		spew("$server->{sfids_synced}/snowflake_ids.ledger", $written_back);
		my $start = $clock->now;
		is($ids->add(value($server, sprintf $paced, 300)), 300, "the first ids of $draw");
		lose_power($server);
		isnt(slurp($ledger), $written_back, 'the slot was synced before its first ceiling');
		spew($ledger, $written_back) if $older;
		start_at($server, $clock);
		$clock->set_to($start - 0.1);
		is($ids->add(Session->new($server, dbname => 'other')->ask(sprintf $paced, 900)),
			900, 'another database draws at their times');
		$ids->none_twice('power loss'
			  . ($older ? ', and a disk that forgot the slot though it was synced' : ' after the first ids'));
	}
	$server->stop('immediate');
}
done_testing();
