# Under steady load, one sync of the ceiling file and one WAL record in each durable window, however many generators;
# and fsync = off is honoured.
use Servers;

my $window = 0.5;
my $clock = clock();
my $server = new_server(
	'cost', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "snowflake_ids.durable_window = '500ms'\n");
my $counter = "$server->{sfids_synced}/snowflake_ids.ceiling.syncs";

for my $case (
	[ 'one generator', 1, "SELECT count(gen_mastic()), pg_sleep(0.001) FROM generate_series(1, 20)" ],
	[   'three generators',
		3,
		"SELECT count(gen_mastic()), count(gen_sno()), count(gen_snowflake_si()), pg_sleep(0.001) FROM generate_series(1, 20)"
	])
{
	my ($name, $generators, $query) = @$case;
	my $n = $generators == 1 ? 'one generator' : "$generators generators";
	my ($windows, $syncs, $raises);

	# Repeated, because after each pause of a window every generator begins its own.
	for (1 .. 20)
	{
		my @sessions = map { Session->new($server) } 1 .. 3;
		$_->ask($query) for @sessions;
		my $observer = Session->new($server);
		$observer->ask('CHECKPOINT');
		my $began = time;
		my ($syncs_before, $from) = (-s $counter, $observer->ask('SELECT pg_current_wal_insert_lsn()'));
		$_->send(join ';', ($query) x 1500) for @sessions;
		sleep 2.5;
		$syncs = (-s $counter) - $syncs_before;
		my $to = $observer->ask('SELECT pg_current_wal_insert_lsn()');
		$windows = (time - $began) / $window;
		undef @sessions;
		my $filenode = $observer->ask("SELECT pg_relation_filenode('snowflake_ids.wal_ceiling')");
		$raises = grep { m{rel \d+/\d+/$filenode\b} } split /\n/,
		  `pg_waldump --rmgr=Generic --path=@{[ $server->data_dir ]}/pg_wal --start=$from --end=$to`;
		only_connected($server, $observer);
		last if !grep { $_ > $windows + 1 || $_ < $windows / 3 } $syncs, $raises;
	}
	for ([ $syncs, 'syncs of the ceiling file' ], [ $raises, 'WAL records' ])
	{
		my ($had, $what) = @$_;
		cmp_ok(
			$had, '<=',
			$windows + 1,
			sprintf '%s: at most one in a window: %d %s in %.1f windows',
			$n, $had, $what, $windows);

		# A busy machine leaves windows in which nobody draws.
		cmp_ok($had, '>=', $windows / 3, "$n: and not less: $what");
	}
	diag sprintf '%-20s %.1f windows of %d ms: %d syncs of the ceiling file, %d WAL records', $n, $windows,
	  $window * 1000, $syncs, $raises;
}

{
	my $observer = Session->new($server);
	my $look = sub {
		my $filenode = $observer->ask("SELECT pg_relation_filenode('snowflake_ids.wal_ceiling')");
		my $to = $observer->ask('SELECT pg_current_wal_insert_lsn()');
		return (
			-s $counter,
			scalar grep { m{rel \d+/\d+/$filenode\b} } split /\n/,
			`pg_waldump --rmgr=Generic --path=@{[ $server->data_dir ]}/pg_wal --start=$_[0] --end=$to`);
	};
	my $session = Session->new($server);
	$session->ask('SELECT gen_mastic()');
	my $from = $observer->ask('SELECT pg_current_wal_insert_lsn()');
	my ($syncs) = $look->($from);
	for (1 .. 5) { $clock->step(60); $session->ask('SELECT gen_mastic()') }
	my ($syncs_after, $records) = $look->($from);
	is_deeply([ $syncs_after - $syncs, $records ], [ 5, 5 ],
		'an id a minute: one sync of the file and one record each');
	$from = $observer->ask('SELECT pg_current_wal_insert_lsn()');
	$clock->step(3600);
	$observer->ask('SELECT * FROM snowflake_ids.stats');
	is_deeply([ $look->($from) ], [ $syncs_after, 0 ], 'an hour without ids: none');
}

$server->append_conf('postgresql.conf', "fsync = off\n");
reload($server);
my $syncs = -s $counter;
for (1 .. 4) { $clock->step(5); value($server, 'SELECT gen_mastic(), gen_sno()') }
is(-s $counter, $syncs, 'fsync turned off: the ceiling file is not synced');
my $until = value($server, "SELECT durable_until > clock_timestamp() FROM snowflake_ids.stats WHERE format = 'mastic'");
is($until, 't', 'it is written all the same');
$server->stop('immediate');

$server = new_server('unsynced', $clock, synced => 1, extra => ['--wal-segsize=1'], conf => 'fsync = off');
my $ids = Ids->new;
my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
my $synced = sub {
	join ' ', map { s{.*/}{}r } glob "$server->{sfids_synced}/snowflake_ids.*";
};
$ids->draw($server);
ok(-s $ceiling, 'fsync = off: the ceiling file is made');
is($synced->(), '', 'and not synced');
for my $how ('fast', 'kill -9')
{
	restart_after($server, $how);
	$ids->draw($server);
	is($synced->(), '', "fsync = off: nor in a new life, $how");
}
unlink $ceiling or die;
$clock->step(60);
$ids->draw($server);
is($synced->(), '', 'fsync = off: nor when the ceiling file is made again');
$server->stop('fast');
truncate $ceiling, 100;
start_at($server, $clock);
unlink $ceiling or die;
is(value($server, "SELECT snowflake_ids.reset(clock_timestamp() + interval '1 minute')"), '', 'a floor is named');
$ids->draw($server);
is($synced->(), '', 'fsync = off: nor when a floor is named');
is($ids->twice, 0, 'and no id came twice');
$server->append_conf('postgresql.conf', 'fsync = on');
reload($server);
$clock->step(300);
$ids->draw($server);
is($synced->(), 'snowflake_ids.ceiling snowflake_ids.ceiling.syncs', 'fsync turned on: the ceiling file is synced');
$server->stop('immediate');
done_testing();
