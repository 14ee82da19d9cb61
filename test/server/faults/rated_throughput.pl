# A generator with a small pool gives its rated number of ids under at least twice that load, and nobody waits past
# max_wait. THROUGHPUT_SECONDS=30: the long form.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use List::Util qw(max min);
use Test::More;

my $seconds = $ENV{THROUGHPUT_SECONDS} // 2;
my $clients = 32;

# The share of the rate in the best stretch of so many seconds, and the limit of a wait.
my ($least, $stretch, $patience) = ($ENV{THROUGHPUT_SECONDS} ? 0.98 : 0.8, 0.3, 30);
my $clock = clock();
my $server = new_server('rated', $clock, conf => "snowflake_ids.sno_sequence_max = 5\nmax_connections = 60\n");

$server->safe_psql('postgres', <<'END');
CREATE UNLOGGED TABLE drawn(format text, ids text[]);
CREATE UNLOGGED TABLE start(at timestamptz);
CREATE FUNCTION draw(format text, seconds float8, per_call int, OUT ids bigint, OUT longest float8, OUT began timestamptz, OUT ended timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
	t timestamptz;
	u timestamptz;
	few text[];
BEGIN
	ids := 0; longest := 0;
	SELECT at INTO began FROM start;
	PERFORM pg_sleep(extract(epoch FROM began - clock_timestamp()));
	t := clock_timestamp();
	LOOP
		EXIT WHEN t >= began + seconds * interval '1 second';
		IF format = 'sno' THEN few := ARRAY(SELECT gen_sno()::text FROM generate_series(1, per_call));
		ELSIF format = 'mastic' THEN few := ARRAY(SELECT gen_mastic()::text FROM generate_series(1, per_call));
		ELSE few := ARRAY(SELECT gen_snowflake_si()::text FROM generate_series(1, per_call)); END IF;
		u := clock_timestamp();
		longest := greatest(longest, extract(epoch FROM u - t) * 1000);
		t := u;
		ids := ids + per_call;
		INSERT INTO drawn VALUES (format, few);
	END LOOP;
	ended := t;
END $$;
END

# Returns the most ids per second of a stretch, the clients that waited then, ids per second of all stretches, ids drawn,
# the longest wait in ms, and the last error.
sub clients_draw
{
	my ($format, $per_call) = @_;
	my @sessions = map { Session->new($server) } 1 .. $clients;
	$_->ask("SET snowflake_ids.max_wait = '${patience}s'; SELECT gen_sno()") for @sessions;
	value($server, "TRUNCATE start; INSERT INTO start SELECT clock_timestamp() + interval '0.3 seconds'");
	$_->send("SELECT ids, longest, extract(epoch FROM ended - began) FROM draw('$format', $seconds, $per_call)")
	  for @sessions;
	my $observer = Session->new($server);

	# No more were issued between two looks than fit between the outer times.
	my $look = sub {
		return split /\|/, $observer->ask(
			"SELECT extract(epoch FROM statement_timestamp()), extract(epoch FROM clock_timestamp()), issued, waiting
			FROM snowflake_ids.stats WHERE format = '$format'");
	};
	my $began = value($server, 'SELECT extract(epoch FROM at) FROM start');
	my ($best, $waiting, $all, $sum, $longest, $failed) = (0, 0, 0, 0, 0, '');
	sleep 0.02 while time < $began;
	my @first = my @before = $look->();
	while (time < $began + $seconds - $stretch)
	{
		sleep $stretch;
		my @now = $look->();
		my $per_second = ($now[2] - $before[2]) / ($now[1] - $before[0]);
		($best, $waiting) = ($per_second, $now[3]) if $per_second > $best;
		$all = ($now[2] - $first[2]) / ($now[1] - $first[0]);
		@before = @now;
	}
	for (map { $_->answer } @sessions)
	{
		if (/ERROR/) { $failed = $_; next }
		my ($n, $wait) = split /\|/;
		$sum += $n;
		$longest = max $longest, $wait;
	}
	return ($best, $waiting, $all, $sum, $longest, $failed);
}

# [ format, ids per statement, ids per second, tick in ms ]
for ([ 'sno', 1, 1500 ], [ 'snowflake_si', 500, 256000 ])
{
	my ($format, $per_call, $rate) = @$_;
	value($server,
		"TRUNCATE drawn, start; SELECT gen_sno(), gen_snowflake_si(), gen_mastic(); SELECT snowflake_ids.stats_reset()"
	);

	# A machine that stands gives less, never more. What it can give shows a format whose pool is large.
	my ($best, $waiting, $over, $sum, $longest, $failed) = (0, 0, undef, 0, 0, '');
	my $possible = $rate;
	for my $round (1 .. 10)
	{
		my ($most, $waited, $all, $drawn, $wait, $error) = clients_draw($format, $per_call);
		($best, $waiting) = ($most, $waited) if $most > $best;
		$over = $all if !defined $over || $all < $over;
		$sum += $drawn;
		$longest = max $longest, $wait;
		$failed ||= $error;
		last if $best > $least * $possible;
		$possible = min $possible, (clients_draw('mastic', $per_call))[0];
	}
	is($failed, '', "$format: nobody waited past max_wait");
	cmp_ok($over, '<', $rate * 1.05, sprintf '%s: %.0f ids/s of %d rated', $format, $over, $rate);
	cmp_ok(
		$longest, '<',
		1000 * $patience,
		sprintf '%s: longest wait for %d ids: %.0f ms',
		$format, $per_call, $longest);
	my $twice =
	  value($server, "SELECT count(*) - count(DISTINCT id) FROM drawn, unnest(ids) id WHERE format = '$format'");
	is($twice, 0, "$format: $sum ids drawn by $clients clients, none twice");
	cmp_ok(
		$best, '>',
		$least * $possible,
		sprintf '%s: %.1f %% of the rate, of which this machine can give %.1f %%, %d of %d clients waiting',
		$format,
		100 * $best / $rate,
		100 * $possible / $rate,
		$waiting, $clients);
	diag sprintf
	  '%-14s %d clients, %d s: %.0f ids/s of %d rated (%.1f %%), longest wait %.0f ms for %d ids, %s waiting',
	  $format, $clients, $seconds, $best, $rate, 100 * $best / $rate, $longest, $per_call, $waiting;
}
$server->stop('immediate');
done_testing();
