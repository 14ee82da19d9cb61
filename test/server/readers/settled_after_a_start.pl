# After a start, ids are ahead of the clock, but a row settles at once: after the first start, a restart, a crash and a
# promotion. Here the window is 40 s, so a reader that waits for the clock would wait 50 s.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use PostgreSQL::Test::Cluster;
use Test::More;

my $fault = 50;

my $server = PostgreSQL::Test::Cluster->new('primary');
$server->init(allows_streaming => 1);
$server->append_conf('postgresql.conf', <<'END');
snowflake_ids.durable_window = '40s'
snowflake_ids.machine_id = 3
hot_standby = on
fsync = off
END
$server->start;
$server->safe_psql('postgres', <<'END');
CREATE EXTENSION snowflake_ids;
CREATE TABLE log (sno sno DEFAULT gen_sno(), mastic mastic DEFAULT gen_mastic(), si bigint DEFAULT gen_snowflake_si(),
                  sony bigint DEFAULT gen_snowflake('sonyflake'));
END

# The seconds until a reader of each format sees a new row
sub settles
{
	my ($node) = @_;
	my $began = time;
	my $row =
	  $node->safe_psql('postgres', 'INSERT INTO log DEFAULT VALUES RETURNING sno, mastic, si, sony') =~ s/\|/', '/gr;
	my ($sno, $mastic, $si, $sony) = split /', '/, $row;
	eventually(
		sub {
			return $node->safe_psql('postgres',
				"SELECT sno_settled() > '$sno' AND mastic_settled() > '$mastic' AND snowflake_si_settled() > $si AND snowflake_settled('sonyflake') > $sony AND snowflake_ids_settled() > sno_timestamp('$sno')"
			) eq 't';
		});
	return time - $began;
}

sub settles_soon
{
	my ($node, $when) = @_;
	cmp_ok(settles($node), '<', $fault / 2, "$when: a row settles");
	my $ahead = $node->safe_psql('postgres', 'SELECT max(clock_lead) / 1000 FROM snowflake_ids.stats');
	cmp_ok($ahead, '>', $fault / 2, "$when: although ids are ahead of the clock");
	cmp_ok(settles($node), '<', $fault / 2, "$when: and so does the next one");
	return;
}
settles_soon($server, 'first start');
$server->restart;
settles_soon($server, 'restart');
$server->stop('immediate');
$server->start;
settles_soon($server, 'crash');

# Constant polls push ids and the promise not beyond twice the lead.
for (1 .. 4)
{
	$server->stop('immediate');
	$server->start;
	$server->safe_psql('postgres', 'INSERT INTO log DEFAULT VALUES; SELECT sno_settled() FROM generate_series(1, 1000)')
	  for 1 .. 3;
}
my $ahead = $server->safe_psql('postgres', 'SELECT max(clock_lead) / 1000 FROM snowflake_ids.stats');
cmp_ok($ahead, '<', 2 * $fault, 'crashes beside readers: ids do not run away');
settles_soon($server, 'many crashes');

# one standby has begun a life before its promotion, one has not
$server->backup('base');
my @standbys = map {
	my $standby = standby_of($server, $_, undef, $_ eq 'with_ids' ? "snowflake_ids.standby_machine_id = 4\n" : '');
	$standby->safe_psql('postgres', 'SELECT gen_sno()') if $_ eq 'with_ids';
	$standby;
} 'with_ids', 'without_ids';
$server->wait_for_catchup($_, 'replay', flushed_lsn($server)) for @standbys;
$server->stop('immediate');
for (@standbys)
{
	$_->promote;
	settles_soon($_, $_->name . ', promoted');
	$_->stop('immediate');
}
done_testing();
