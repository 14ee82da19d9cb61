# What durability costs: under steady load at most one sync of the ceiling file, however many generators there are, and
# one WAL record in each durable window. And fsync = off is honoured.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $window = 0.5;
my $clock = clock();
my $server = new_server('cost', $clock, synced => 1, extra => ['--wal-segsize=1'], conf => "snowflake_ids.durable_window = '500ms'\n");
my $counter = "$server->{sfids_synced}/snowflake_ids.ceiling.syncs";

for my $case (['one generator', 1, "SELECT count(gen_mastic()), pg_sleep(0.001) FROM generate_series(1, 20)"],
	['three generators', 3, "SELECT count(gen_mastic()), count(gen_sno()), count(gen_snowflake_si()), pg_sleep(0.001) FROM generate_series(1, 20)"])
{
	my ($name, $generators, $query) = @$case;
	my @sessions = map { Session->new($server) } 1 .. 3;
	$_->ask($query) for @sessions;
	my $observer = Session->new($server);
	$observer->ask('CHECKPOINT');
	my ($syncs, $from, $began) = (-s $counter, $observer->ask('SELECT pg_current_wal_insert_lsn()'), time);
	$_->send(join ';', ($query) x 1500) for @sessions;
	sleep 4;
	my $seconds = time - $began;
	$syncs = (-s $counter) - $syncs;
	my $to = $observer->ask('SELECT pg_current_wal_insert_lsn()');
	undef @sessions;
	my $filenode = $observer->ask("SELECT pg_relation_filenode('snowflake_ids_ceiling')");
	my $raises = grep { m{rel \d+/\d+/$filenode\b} } split /\n/, `pg_waldump --rmgr=Generic --path=@{[ $server->data_dir ]}/pg_wal --start=$from --end=$to`;
	my $windows = $seconds / $window;
	my $n = $generators == 1 ? 'one generator' : "$generators generators";
	cmp_ok($syncs, '<=', $windows + 1, sprintf '%s: %d syncs of the ceiling file in %.1f windows', $n, $syncs, $windows);
	cmp_ok($raises, '<=', $windows + 1, sprintf '%s: %d WAL records in %.1f windows', $n, $raises, $windows);
	cmp_ok($raises, '>=', 3, "$n: the load was steady");
	diag sprintf '%-20s %.1f windows of %d ms: %d syncs of the ceiling file, %d WAL records', $n, $windows, $window * 1000, $syncs, $raises;
}

# One sync at a time, and only as long as the server wants any.
$server->append_conf('postgresql.conf', "fsync = off\n");
$server->reload;
sleep 0.3;
my $syncs = -s $counter;
for (1 .. 4) { $clock->step(5); value($server, 'SELECT gen_mastic(), gen_sno()') }
is(-s $counter, $syncs, 'fsync = off: the ceiling file is not synced');
my $until = value($server, "SELECT durable_until > clock_timestamp() FROM snowflake_ids_stats WHERE format = 'mastic'");
is($until, 't', 'it is written all the same');
$server->stop('immediate');
done_testing();
