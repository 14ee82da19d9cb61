# Servers crash, restart, and hand over to standbys that have all WAL: no reader need copy again, and copies are right.
# What tells those who have seen lost WAL is in lost_wal_is_told.pl.
use Servers;
use Feed qw(:DEFAULT pair goes_on);

# ---- one server after another, and nothing is lost
my %ends = (
	'a clean restart' => sub { $_[0]->restart },
	'an immediate one' => sub { $_[0]->restart('immediate') },
	'kill -9' => sub { kill_postmaster($_[0]); $_[0]->start },
	'kill -9 of a backend' => \&kill_backend,
	'a crash after a checkpoint' => sub { $_[0]->safe_psql('postgres', 'CHECKPOINT'); $_[0]->restart('immediate') },
	'a crash after a switch' =>
	  sub { $_[0]->safe_psql('postgres', 'SELECT pg_switch_wal()'); $_[0]->restart('immediate') });
my $server = feed_server('server', streaming => 1);
$server->safe_psql('postgres', 'CREATE TABLE bulk (t text)');
for my $what (sort keys %ends)
{
	insert($server);
	my @readers = (Reader->of($server));
	$server->safe_psql('postgres', 'SELECT pg_switch_wal()') if $what =~ /switch/;
	push @readers, Reader->of($server);
	$ends{$what}->($server) for 1, 2;
	insert($server);
	goes_on($_, $server, $what) for @readers;
}

# The WAL writer flushes whole pages of a transaction that writes much, up to the middle of a record.
for my $round (1 .. 3)
{
	my $open = Session->new($server);
	$open->ask('BEGIN');
	eventually(
		sub {
			$open->ask("INSERT INTO bulk SELECT repeat('x', 500) FROM generate_series(1, 3000)");
			value($server, "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') % 8192") eq '0';
		}) or die;
	my $reader = Reader->of($server);
	kill_postmaster($server);
	$server->start;
	goes_on($reader, $server, 'a crash beside a bulk load');
}
$server->stop('immediate');

# ---- failovers, forth and back
for my $synchronous (0, 1)
{
	my ($primary, $standby) = pair();
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n") if $synchronous;
	reload($primary);
	my $name = $synchronous ? 'synchronous' : 'asynchronous';
	insert($primary);
	my @jobs = map { Job->new($primary, writes('outbox', origin => $_)) } 1, 2;
	my $reader = Reader->new('outbox');
	go_on(1, sub { $reader->poll($primary); return 1 });
	$_->stop for @jobs;
	finish_prepared($primary);
	has_all($primary, $standby);
	my $idle = Reader->of($primary);
	$primary->stop($synchronous ? 'immediate' : 'fast');
	$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
	$standby->reload;
	$standby->promote;
	insert($standby);
	goes_on($_, $standby, "$name failover") for $reader, $idle;
	$standby->restart;
	goes_on($_, $standby, "$name failover and a restart") for $reader, $idle;
	$standby->stop('immediate');
}

# An idle primary that stays up while its standby is promoted.
{
	my ($primary, $standby) = pair();
	insert($primary);
	my $reader = Reader->of($primary);
	has_all($primary, $standby);
	$reader->poll($primary);
	$standby->promote;
	goes_on($reader, $standby, 'promoted beside an idle primary');
	$_->stop('immediate') for $primary, $standby;
}

# A reader on a standby has WAL of the primary's next life before anybody writes in it.
{
	my ($primary, $standby) = pair();
	insert($primary);
	has_all($primary, $standby);
	$primary->restart('immediate');
	has_all($primary, $standby);
	my ($reader, $wanderer) = map { Reader->of($standby) } 1, 2;
	insert($primary);
	has_all($primary, $standby);
	goes_on($reader, $standby, 'a crash of the primary');
	goes_on($wanderer, $primary, 'from the standby to the primary');
	$_->stop('immediate') for $primary, $standby;
}

# ---- a synchronous standby is promoted while clients write: what they saw is there
{
	my ($primary, $standby) = pair();
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n");
	reload($primary);
	$primary->poll_query_until('postgres', "SELECT sync_state = 'sync' FROM pg_stat_replication") or die;
	my @jobs = map { Job->new($primary, writes('outbox', origin => $_)) } 1 .. 4;
	my $reader = Reader->new('outbox');
	go_on(3, sub { $reader->poll($primary); return 1 });
	kill_postmaster($primary);
	$_->stop for @jobs;
	$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
	$standby->reload;
	$standby->promote;
	goes_on($reader, $standby, 'a synchronous standby, promoted beside writers');
	finish_prepared($standby);
	$reader->poll($standby);
	$reader->same_as($standby, 'and after their prepared transactions');
	$standby->stop('immediate');
}
done_testing();
