# doc/partitioning.md in the last hours of a month by UTC, where the server's next month has begun: rows go to the old
# month's partition.
use Servers;
use Page;
use Time::Local qw(timegm);

my (undef, undef, undef, undef, $month, $year) = gmtime;
my $midnight = timegm(0, 0, 0, 1, ($month + 1) % 12, $year + 1900 + ($month == 11));
my $clock = clock();
$clock->set_to($midnight - 6 * 3600);
my $server = new_server('tokyo', $clock, conf => "timezone = 'Asia/Tokyo'");
is( value(
		$server,
		"SELECT to_char(now(), 'DD') || ' ' || (extract(month FROM now()) <> extract(month FROM now() AT TIME ZONE 'UTC'))"
	),
	'01 true',
	'the first of the month here');

Page->new('doc/partitioning.md')->run_chapter($server, 'Add partitions', dbname => 'postgres');
my $name = sprintf '%d_%02d', $year + 1900, $month + 1;
is(value($server, 'SELECT tableoid::regclass, count(*) FROM log_entry GROUP BY 1'),
	"log_entry_$name|1", 'a new row is in the partition of its month');
$server->stop('immediate');
done_testing();
