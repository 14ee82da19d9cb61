# Files of ours that know nothing of what was drawn here: removed while the server runs, or brought by pg_rewind, whose
# source is another server. They do not tell. So each life begins as far ahead of the clock as ids can be, and the clock
# is right in these tests.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

# Of a standby too: without Mastic. Many in each tick, so that a tick that comes again is seen.
sub paced
{
	my ($n) = @_;
	return <<"END" =~ s/\s+/ /gr;
	        SELECT concat_ws(E'\\n', (SELECT string_agg('s' || i, E'\\n') FROM gen_sno_series(20 + 0 * n) i),
	                                (SELECT string_agg('i' || i, E'\\n') FROM gen_snowflake_si_series(20 + 0 * n) i), pg_sleep(0.0002))
	          FROM generate_series(1, $n) n
END
}

# ---- both files removed while the server runs: a session of a database that never drew makes them again, while another
# one goes on with the old ones up to its ceiling
{
	my $clock = clock();
	my $server = new_server('removed', $clock);
	$server->safe_psql('postgres', "CREATE DATABASE other$_")       for 1 .. 2;
	$server->safe_psql("other$_", 'CREATE EXTENSION snowflake_ids') for 1 .. 2;
	my $ids = Ids->new;
	$ids->draw($server);
	for (1 .. 2)
	{
		# The clock passes what the life has led it by: see the limits in doc/guarantees.md.
		$clock->step(60);
		my $session = Session->new($server);
		$ids->draw($session);
		unlink map { $server->data_dir . "/snowflake_ids.$_" } qw(ledger ceiling) or die;
		my $other = Session->new($server, dbname => "other$_");
		$session->send(join ';', (Ids::query(50, 20)) x 40);
		$other->send(join ';', (Ids::query(50, 20)) x 40);
		$ids->add($other->answer);
		my $said = $session->answer;
		$ids->add($said);
		$said = $session->ask(Ids::query(50, 20)) for 1 .. ($said =~ /ERROR/ ? 0 : 40);
		like(
			$said,
			qr/ERROR:  ledger file "snowflake_ids.ledger" was replaced/,
			'the session with the old files ends with an error');

		# All of what it may have drawn is passed.
		for (1 .. 8) { $ids->draw($other, 300, 20); $clock->step(0.3) }
	}
	$ids->none_twice('both files removed under a running server, another database');
	$server->stop('immediate');
}

# ---- a standby that drew ahead of its clock, and comes back with the files of its primary: these have no slot for its
# machine id, or one that stayed where the primary left it
{
	my $conf =
	  "wal_log_hints = on\nwal_keep_size = 64MB\nsnowflake_ids.durable_window = 20s\nsnowflake_ids.machine_id = 1\n";
	my $clock = clock();
	my $primary = new_server('source', $clock, allows_streaming => 1, extra => ['--wal-segsize=1'], conf => $conf);
	value($primary, 'SELECT gen_sno(), gen_snowflake_si()');
	value($primary, 'SELECT gen_sno(0, 8)');
	$primary->backup('base');
	my $standby = PostgreSQL::Test::Cluster->new('target');
	$standby->init_from_backup($primary, 'base', has_streaming => 1);

	for my $id (7, 8)
	{
		my $ids = Ids->new;
		my $drawn = sub { $ids->add(value($standby, join ';', @_ ? @_ : paced(50))) };
		$standby->append_conf('postgresql.conf', "snowflake_ids.standby_machine_id = $id\n");
		$id == 7 ? start_at($standby, $clock) : $standby->reload;
		$standby->poll_query_until('postgres', "SELECT machine_id = $id FROM snowflake_ids_issuer()") or die;
		is($drawn->(), 2000, "standby_machine_id = $id: drawn");
		restart_after($standby, 'fast');
		is($drawn->(), 2000, 'and again after a restart, ahead of the clock');
		my ($latest, $lead) = split /\|/,
		  value($standby,
			'SELECT extract(epoch FROM t), extract(epoch FROM t - clock_timestamp()) FROM sno_timestamp(gen_sno()) t');

		# It began 25 s ahead, and some time has gone by.
		ok($lead > 10 && $lead < 35, "by about a window, and not by two ($lead s)");

		$standby->promote;
		$standby->safe_psql('postgres', 'CREATE TABLE diverged(); CHECKPOINT');
		$standby->stop('fast');
		my $its_conf = slurp($standby->data_dir . '/postgresql.conf');
		my $rewound =
		  system('pg_rewind', '--target-pgdata', $standby->data_dir, '--source-server', $primary->connstr('postgres'),
			'--no-sync') == 0;
		ok($rewound, 'pg_rewind');
		spew($standby->data_dir . '/postgresql.conf', $its_conf);
		$standby->set_standby_mode;
		start_at($standby, $clock);
		is(value($standby, 'SELECT pg_is_in_recovery()'), 't', 'a standby again');
		$drawn->();

		# Each tick of the time that it was ahead to, and of some beyond.
		$clock->set_to($latest - 1);
		$drawn->((paced(500)) x 8);
		for (1 .. 10) { $clock->step(0.7); $drawn->(paced(100)) }
		is(join("\n", @{ $ids->{said} // [] }), '', 'nothing else was said');
		$ids->none_twice(
			$id == 7
			? 'standby that drew, rewound: its slot is gone'
			: 'standby that drew, rewound: its slot is an old one');
	}
	$_->stop('immediate') for $standby, $primary;
}
done_testing();
