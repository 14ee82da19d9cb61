# A used-up sequence: how many ids a tick gives, what max_wait does, and how a session that waits looks. What ends a wait
# in time: faults/overflow_waits_end.pl.
use Servers;

my $node = plain_server('wait', conf => <<'END');
snowflake_ids.machine_id = 4095
snowflake_ids.sno_sequence_min = 100
snowflake_ids.sno_sequence_max = 105
restart_after_crash = on
END
$node->safe_psql('postgres',
	"CREATE EXTENSION snowflake_ids; SELECT snowflake_layout_create('narrow', '2026-01-01 00:00:00+00', '1 ms', 40, 12, 1)"
);

# While ids are ahead of the clock, waits are no overflow.
caught_up($node);

# Rates are those of the format, whatever the demand
for my $case ([ 'narrow', q{gen_snowflake('narrow')}, 2, 1000, q{snowflake_timestamp(id, 'narrow')} ],
	[ 'sno', 'gen_sno()', 6, 1500, 'sno_timestamp(id)' ])
{
	my ($format, $call, $pool, $count, $time) = @$case;
	my $drawn = "SELECT $call AS id FROM generate_series(1, $count)";
	is( value(
			$node, "SELECT max(n), sum(n) FROM (SELECT count(DISTINCT id) AS n FROM ($drawn) AS s GROUP BY $time) AS t"
		),
		"$pool|$count",
		"$format: all of $count, and never more than $pool in a tick");
	fails_with(
		$node,
		"\\set VERBOSITY verbose\nSET snowflake_ids.max_wait = 0; SELECT count($call) FROM generate_series(1, 100000)",
		"$format: max_wait = 0 does not wait",
		qr/ERROR:  55P03: gave up waiting for a $format id after 0 ms\nDETAIL:  .* more than the $pool ids/,
		qr/HINT:  .*snowflake_ids\.max_wait/);
}

# 1 ms of patience is less than a tick of sno. With shorter ticks it takes a hundred sessions.
fails_with(
	$node,
	'SET snowflake_ids.max_wait = 1; SELECT count(gen_sno()) FROM generate_series(1, 100000)',
	'max_wait: too short for a tick',
	qr/gave up waiting for a sno id after 1 ms\n/);
is(value($node, q{SET snowflake_ids.max_wait = '1min'; SELECT count(gen_sno()) FROM generate_series(1, 60)}),
	60, 'max_wait: long enough for many ticks');

# It draws, too; only a wait is seen by chance. The server makes its memory again, and nobody waits in it.
my $session = Session->new($node);
my $pid = $session->ask('SELECT pg_backend_pid()');
my $event = $node->pg_version >= 17 ? 'SnowflakeIdsNextTick' : 'Extension';
$session->send(q{DO $$ BEGIN LOOP PERFORM gen_snowflake('narrow'); END LOOP; END $$});
ok(eventually(sub { value($node, "SELECT wait_event FROM pg_stat_activity WHERE pid = $pid") eq $event }),
	"a session is seen waiting as $event");
my $mark = log_mark($node);
kill 'KILL', $pid;
ok(wait_for_log($node, qr/reinitializing/, $mark), 'kill -9 of a waiting session');
comes_back($node);
is(value($node, q{SELECT sum(waiting), gen_snowflake('narrow') > 0 FROM snowflake_ids.stats}),
	'0|t', 'nobody waits after the crash restart, and the next one is given its id');

$node->stop;
done_testing();
