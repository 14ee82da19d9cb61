# Point-in-time recovery; and an old primary that is rewound and promoted again.
use Servers;

my $a_clock = clock();
my $a = new_server(
	'a', $a_clock,
	allows_streaming => 1,
	has_archiving => 1,
	extra => ['--wal-segsize=1'],
	conf => "wal_log_hints = on\nwal_keep_size = 64MB\n");
$a->safe_psql('postgres', 'CREATE TABLE kept(id text)');
$a->backup('base');

# ---- what was drawn up to the target does not repeat, committed or not
{
	my $ids = Ids->new;
	caught_up($a);    # else the ids are later than the start
	my $start = $a_clock->now;
	$ids->draw($a, 1000);
	$ids->add(value($a, "INSERT INTO kept SELECT 's' || gen_sno() FROM generate_series(1, 500) RETURNING id"));
	my $target = $a->safe_psql('postgres', "SELECT pg_create_restore_point('target')");
	value($a, "INSERT INTO kept SELECT 's' || gen_sno() FROM generate_series(1, 500)");
	$a->safe_psql('postgres', 'SELECT pg_switch_wal()');
	$a->safe_psql('postgres', 'CHECKPOINT');
	$a->poll_query_until('postgres', "SELECT last_archived_wal >= pg_walfile_name('$target') FROM pg_stat_archiver")
	  or die;

	my $clock = clock();
	$clock->set(-7200);
	my $b = PostgreSQL::Test::Cluster->new('pitr');
	$b->init_from_backup($a, 'base', has_restoring => 1, standby => 0);
	$b->append_conf('postgresql.conf',
		"recovery_target_name = 'target'\nrecovery_target_action = 'promote'\narchive_mode = off\n");
	start_at($b, $clock);
	$b->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die;
	is(value($b, 'SELECT count(*) FROM kept'), 500, 'recovered to the target');
	$ids->draw($b);
	$clock->set_to($start);
	$ids->draw($b, 1000);
	$clock->set(0);
	$ids->draw($b);
	$ids->none_twice('point-in-time recovery to a target');
	$b->stop('immediate');
}

# ---- a fails over to b, comes back by pg_rewind, and is promoted again, under jumping clocks
{
	my $ids = Ids->new;
	my $b_clock = clock();
	$b_clock->set(-7200);
	my $b = standby_of($a, 'b', $b_clock, "archive_mode = off\n");
	my $start = $a_clock->now;
	$ids->draw($a, 1000);
	$a->wait_for_catchup($b, 'replay', flushed_lsn($a));
	$b->promote;
	$b->safe_psql('postgres', 'CHECKPOINT');

	$b_clock->set_to($start);
	$ids->draw($b, 1000);
	$a->stop('fast');
	ok(rewind($a, $b), 'pg_rewind');
	$a_clock->set(-10000);
	start_at($a, $a_clock);
	$ids->draw($b);
	$b->wait_for_catchup($a, 'replay', flushed_lsn($b));
	$b->stop('fast');
	$a->promote;
	$ids->draw($a);
	$a_clock->set_to($start);
	$ids->draw($a);
	$a_clock->set(0);
	$ids->draw($a);
	$ids->none_twice('old primary rejoined with pg_rewind and promoted back');
	$a->stop('immediate');
}
done_testing();
