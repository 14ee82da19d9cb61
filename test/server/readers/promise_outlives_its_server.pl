# What a reader was told holds in the next life too, although the clock goes back: after a crash while the ceiling file
# cannot be written, and on a promoted standby that knows the database of the reader by WAL only.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Fcntl qw(:flock);
use Test::More;

my $table = 'CREATE TABLE event (id mastic PRIMARY KEY DEFAULT gen_mastic())';
my $insert = 'INSERT INTO event DEFAULT VALUES RETURNING id';

# ---- a crash. Until then another process has the lock of the file, and ids come up to its ceiling
{
	my $clock = clock();
	my $server = new_server('crashed', $clock, conf => "snowflake_ids.durable_window = '10min'");
	$server->safe_psql('postgres', "$table; $insert");
	$clock->step(1300);    # the lead of a start is twice the window
	caught_up($server);
	my $session = Session->new($server);
	$session->ask("SET snowflake_ids.max_wait = '100ms'");
	like($session->ask("$insert; SELECT mastic_settled()"), qr/^\d+\n\d+$/, 'crash: a row, and a poll');
	open my $file, '+<', $server->data_dir . '/snowflake_ids.ceiling' or die $!;
	flock $file, LOCK_EX or die $!;
	my ($last, $said) = (0);
	$clock->step(500);

	for (1 .. 1000)
	{
		last if ($said = $session->ask($insert)) !~ /^\d+$/;
		$last = $said;
		$clock->step(0.4);
	}
	like($said, qr/gave up waiting for the lock on ceiling file/, 'crash: up to the ceiling');

	# A promise goes at most a tick of a second beyond the last id.
	$clock->step(2);
	my $told = $session->ask('SELECT mastic_settled()');
	$session->gone;
	kill_postmaster($server);
	$clock->set(-3600);
	flock $file, LOCK_UN;
	start_at($server, $clock);
	my $id = value($server, $insert);
	cmp_ok($told, '>', $last, 'crash: a reader was told of all ids');
	cmp_ok($id, '>=', $told, 'crash: the first id of the next life is not below what the reader was told');
	$server->stop;
}

# ---- a promotion. The reader's database generates no ids, but another one does
{
	my $clock = clock();
	my $primary = new_server('primary', $clock, allows_streaming => 1);
	$primary->safe_psql('postgres', 'CREATE DATABASE quiet');
	$primary->safe_psql('quiet', 'CREATE EXTENSION snowflake_ids');
	$primary->safe_psql('quiet', "$table; $insert");
	$primary->backup('base');
	my $standby = standby_of($primary, 'standby', clock());
	$clock->step(3600);
	my $told;
	ok( eventually(
			sub {
				$primary->safe_psql('postgres', 'SELECT gen_mastic()');
				$told = $primary->safe_psql('quiet', 'SELECT mastic_settled()');
				return $primary->safe_psql('quiet',
					"SELECT mastic_timestamp('$told') > clock_timestamp() - interval '60 s'") eq 't';
			}),
		'promotion: a reader was told a time after the step of the clock');
	$primary->wait_for_catchup($standby, 'replay', flushed_lsn($primary));
	kill_postmaster($primary);
	$standby->promote;
	eventually(sub { value($standby, 'SELECT pg_is_in_recovery()') eq 'f' }) or die 'not promoted';
	my $id = $standby->safe_psql('quiet', $insert);
	cmp_ok($id, '>=', $told, 'promotion: the first id is not below what the reader was told');
	$standby->stop;
}
done_testing();
