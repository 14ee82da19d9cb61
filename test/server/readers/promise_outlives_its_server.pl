# A reader of a database that generates no ids is told how far they have settled. This holds on a promoted standby, whose
# clock is an hour behind, and which knows it from WAL only: other databases have later ids.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $clock = clock();
my $primary = new_server('primary', $clock, allows_streaming => 1);
$primary->safe_psql('postgres', 'CREATE DATABASE quiet');
$primary->safe_psql('quiet', 'CREATE EXTENSION snowflake_ids');
$primary->safe_psql('quiet',
	"CREATE TABLE event (id mastic PRIMARY KEY DEFAULT gen_mastic()); INSERT INTO event DEFAULT VALUES");
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
	'a reader was told a time after the step of the clock');
$primary->wait_for_catchup($standby, 'replay', flushed_lsn($primary));
kill_postmaster($primary);
$standby->promote;
eventually(sub { value($standby, 'SELECT pg_is_in_recovery()') eq 'f' }) or die 'not promoted';
my $id = $standby->safe_psql('quiet', 'INSERT INTO event DEFAULT VALUES RETURNING id');
cmp_ok($id, '>=', $told, 'the first id is not below what the reader was told');
$standby->stop;
done_testing();
