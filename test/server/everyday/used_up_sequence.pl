# A used-up sequence: who waits, and how that looks, also after a wait has ended anywhere. What ends a wait in time:
# faults/waits_end.pl.
use strict;
use warnings;
use Servers qw(plain_server caught_up comes_back eventually log_mark log_since);
use Test::More;
use Time::HiRes qw(sleep);

my $node = plain_server('wait', conf => <<'END');
snowflake_ids.machine_id = 4095
snowflake_ids.sno_sequence_min = 100
snowflake_ids.sno_sequence_max = 105
restart_after_crash = on
END
$node->safe_psql('postgres',
	"CREATE EXTENSION snowflake_ids; SELECT snowflake_layout_create('narrow', '2026-01-01 00:00:00+00', '1 ms', 40, 12, 1)"
);

sub value { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# A terminated session may not have cleaned up yet.
sub nobody_waits { return $node->poll_query_until('postgres', 'SELECT sum(waiting) = 0 FROM snowflake_ids.stats') }

# While ids are ahead of the clock, waits are no overflow.
caught_up($node);

# Rates are those of the format, whatever the demand
for my $case ([ 'narrow', q{gen_snowflake('narrow')}, 2, 1000, q{snowflake_timestamp(id, 'narrow')} ],
	[ 'sno', 'gen_sno()', 6, 1500, 'sno_timestamp(id)' ])
{
	my ($format, $call, $pool, $count, $time) = @$case;
	is( value(
			"SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT $call AS id FROM generate_series(1, $count)) AS s GROUP BY $time) AS t"
		),
		$pool,
		"$format: never more than $pool in a tick");
	is(value("SELECT count(DISTINCT id) FROM (SELECT $call AS id FROM generate_series(1, $count)) AS s"),
		$count, "$format: all of $count are given");
	my ($rc, undef, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSET snowflake_ids.max_wait = 0; SELECT count($call) FROM generate_series(1, 100000)");
	isnt($rc, 0, "$format: max_wait = 0 does not wait");
	like(
		$err,
		qr/ERROR:  55P03: gave up waiting for a $format id after 0 ms\nDETAIL:  .* more than the $pool ids/,
		"$format: which one");
	like($err, qr/HINT:  .*snowflake_ids\.max_wait/, "$format: with a hint");
}

# 1 ms of patience is less than a tick of sno. With shorter ticks it takes a hundred sessions.
my ($rc, undef, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET snowflake_ids.max_wait = 1; SELECT count(gen_sno()) FROM generate_series(1, 100000)");
isnt($rc, 0, 'max_wait: too short for a tick');
like($err, qr/ERROR:  55P03: gave up waiting for a sno id after 1 ms\n/, 'max_wait: which error');
like($err, qr/HINT:  .*snowflake_ids\.max_wait/, 'max_wait: with a hint');
is(value(q{SET snowflake_ids.max_wait = '1min'; SELECT count(gen_sno()) FROM generate_series(1, 60)}),
	60, 'max_wait: long enough for many ticks');

my $wait_event = $node->pg_version >= 17 ? 'SnowflakeIdsNextTick' : 'Extension';

# Returns process id and handle of a session that waits. Names differ, because the last one may take a while to end.
my $waiters = 0;

sub waiter
{
	my ($call) = @_;
	my $name = 'waiter' . ++$waiters;
	my %w = (name => $name, out => '', err => '');
	my $sql = "DO \$\$BEGIN LOOP PERFORM $call; END LOOP; END\$\$";
	$w{harness} = IPC::Run::start(
		[   'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-d',
			$node->connstr('postgres') . " application_name=$name",
			'-c', $sql ],
		'>',
		\$w{out},
		'2>',
		\$w{err});

	# It draws, too; only a wait is seen by chance.
	ok( $node->poll_query_until(
			'postgres',
			"SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = '$name' AND wait_event = '$wait_event'"
		),
		"$call: seen waiting as $wait_event")
	  or diag value("SELECT wait_event_type, wait_event, state FROM pg_stat_activity WHERE application_name = '$name'");
	$w{pid} = value("SELECT pid FROM pg_stat_activity WHERE application_name = '$name'");
	return \%w;
}

is(value("SELECT DISTINCT wait_event_type FROM pg_stat_activity WHERE wait_event = '$wait_event'"),
	'', 'nobody waits yet');

# Wherever in the wait it hits.
for my $round (1 .. 20)
{
	my %w = (err => '');
	$w{harness} = IPC::Run::start(
		[   'psql', '-XAtq',
			'-d', $node->connstr('postgres') . " application_name=round$round",
			'-c', q{SELECT count(gen_snowflake('narrow')) FROM generate_series(1, 30000)} ],
		'>',
		\my $out,
		'2>',
		\$w{err});
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'round$round' AND state = 'active' AND query ~ 'narrow'"
	);
	sleep 0.001 * $round;
	value("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'round$round'");
	$w{harness}->finish;
}
ok(nobody_waits(), 'terminated again and again: nobody waits');

# The server makes its shared memory again, and nobody waits in it.
my $w = waiter(q{gen_snowflake('narrow')});
my $mark = log_mark($node);
kill 'KILL', $w->{pid};
$w->{harness}->finish;
ok(eventually(sub { log_since($node, $mark) =~ /reinitializing/ }), 'kill -9 of a waiting session');
comes_back($node);
is(value('SELECT sum(waiting) FROM snowflake_ids.stats'), 0, 'nobody waits after the crash restart');
ok(value(q{SELECT gen_snowflake('narrow') > 0}), 'the next one is given its id');
$node->restart;
ok(value(q{SELECT gen_snowflake('narrow') > 0}), 'after a restart, too');
is(value('SELECT sum(waiting) FROM snowflake_ids.stats'), 0, 'nobody waits after a restart');

# 64 explicit partitions in a database; the layout above is one
is(value('SELECT count(DISTINCT sno_partition(gen_sno(0, n))) FROM generate_series(1, 63) AS n'),
	63, '63 explicit partitions');
($rc, undef, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT gen_sno(0, 64)");
like($err, qr/ERROR:  53400: too many explicit generators in this database\n.*HINT:/s, 'the next is one too many');
is(value('SELECT sno_partition(gen_sno(0, 63))'), 63, 'those that were used go on');
is(value('SELECT sno_partition(gen_sno(0, 4095))'), 4095, "the node's own is none of them");
is(value('SELECT count(*) FROM snowflake_ids.stats WHERE owner = current_database()'),
	64, 'the statistics name their database');
value('CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
is($node->safe_psql('other', 'SELECT sno_partition(gen_sno(0, 65)) || sno_partition(gen_sno(0, 1))::text'),
	'651', 'another database has its own 64');

$node->stop;
done_testing();
