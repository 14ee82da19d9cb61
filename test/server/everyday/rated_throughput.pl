# A generator with a small pool gives its rated number of ids under at least twice that load, no id is ahead of the clock,
# and nobody waits past max_wait. THROUGHPUT_SECONDS=30: the long form.
use Servers;
use List::Util qw(max min);

my $seconds = $ENV{THROUGHPUT_SECONDS} // 2;
my $clients = 32;

# The share of the rate in the best stretch of so many seconds, and max_wait.
my ($least, $stretch, $patience) = ($ENV{THROUGHPUT_SECONDS} ? 0.98 : 0.8, 0.3, 30);
my $clock = clock();
my $server = new_server('rated', $clock, conf => "snowflake_ids.sno_sequence_max = 5\nmax_connections = 60\n");

$server->safe_psql('postgres', <<'END');
CREATE UNLOGGED TABLE drawn(format text, ids text[]);
CREATE UNLOGGED TABLE start(at timestamptz);
CREATE FUNCTION draw(format text, seconds float8, per_call int, OUT ids bigint, OUT ahead float8)
LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	t timestamptz;
	few text[];
BEGIN
	ids := 0;
	SELECT at INTO began FROM start;
	PERFORM pg_sleep(extract(epoch FROM began - clock_timestamp()));
	LOOP
		IF format = 'sno' THEN few := ARRAY(SELECT gen_sno()::text FROM generate_series(1, per_call));
		ELSIF format = 'mastic' THEN few := ARRAY(SELECT gen_mastic()::text FROM generate_series(1, per_call));
		ELSE few := ARRAY(SELECT gen_snowflake_si()::text FROM generate_series(1, per_call)); END IF;
		t := clock_timestamp();
		ahead := greatest(ahead, extract(epoch FROM CASE format WHEN 'sno' THEN sno_timestamp(few[per_call]::sno)
			WHEN 'mastic' THEN mastic_timestamp(few[per_call]::mastic) ELSE snowflake_si_timestamp(few[per_call]::bigint) END - t));
		ids := ids + per_call;
		INSERT INTO drawn VALUES (format, few);
		EXIT WHEN t >= began + seconds * interval '1 second';
	END LOOP;
END $$;
END

# Returns the most ids per second of a stretch, the clients that waited then, ids drawn, by how much an id was ahead of
# the clock, and the last error.
sub clients_draw
{
	my ($format, $per_call) = @_;
	my @sessions = map { Session->new($server) } 1 .. $clients;
	$_->ask("SET snowflake_ids.max_wait = '${patience}s'; SELECT gen_sno()") for @sessions;
	value($server, "TRUNCATE start; INSERT INTO start SELECT clock_timestamp() + interval '0.3 seconds'");
	$_->send("SELECT ids, ahead FROM draw('$format', $seconds, $per_call)") for @sessions;
	my $observer = Session->new($server);

	# No more were issued between two looks than fit between the outer times.
	my $look = sub {
		return split /\|/, $observer->ask(
			"SELECT extract(epoch FROM statement_timestamp()), extract(epoch FROM clock_timestamp()), issued, waiting
			FROM snowflake_ids.stats WHERE format = '$format'");
	};
	my $began = value($server, 'SELECT extract(epoch FROM at) FROM start');
	my ($best, $waiting, $sum, $ahead, $failed) = (0, 0, 0, -60, '');
	sleep 0.02 while time < $began;
	my @before = $look->();
	while (time < $began + $seconds - $stretch)
	{
		sleep $stretch;
		my @now = $look->();
		my $per_second = ($now[2] - $before[2]) / ($now[1] - $before[0]);
		($best, $waiting) = ($per_second, $now[3]) if $per_second > $best;
		@before = @now;
	}
	for (map { $_->answer } @sessions)
	{
		if (/ERROR/) { $failed = $_; next }
		my ($n, $by) = split /\|/;
		$sum += $n;
		$ahead = max $ahead, $by;
	}
	return ($best, $waiting, $sum, $ahead, $failed);
}

caught_up($server);

# [ format, ids per statement, ids per second ]
for ([ 'sno', 1, 1500 ], [ 'snowflake_si', 500, 256000 ])
{
	my ($format, $per_call, $rate) = @$_;
	value($server,
		"TRUNCATE drawn, start; SELECT gen_sno(), gen_snowflake_si(), gen_mastic(); SELECT snowflake_ids.stats_reset()"
	);

	# A machine that stands gives less, never more. What it can give shows a format whose pool is large.
	my ($best, $waiting, $sum, $ahead, $failed) = (0, 0, 0, -60, '');
	my $possible = $rate;
	for my $round (1 .. 10)
	{
		my ($most, $waited, $drawn, $by, $error) = clients_draw($format, $per_call);
		($best, $waiting) = ($most, $waited) if $most > $best;
		$sum += $drawn;
		$ahead = max $ahead, $by;
		$failed ||= $error;
		last if $best > $least * $possible;
		$possible = min $possible, (clients_draw('mastic', $per_call))[0];
	}
	is($failed, '', "$format: nobody waited past max_wait");
	cmp_ok($ahead, '<=', 0, "$format: no id is ahead of the clock, so no more than the rated are issued");
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
	  '%-14s %d clients, %d s: %.0f ids/s of %d rated (%.1f %%), %s waiting',
	  $format, $clients, $seconds, $best, $rate, 100 * $best / $rate, $waiting;
}
$server->stop('immediate');
done_testing();
