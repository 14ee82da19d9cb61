# Tables are rewritten, truncated and filled while readers poll with a snapshot from before, to which PostgreSQL shows
# such a table as empty or half. Those polls end with 40001, and after the next one each copy is right.
use Servers;
use Feed;
use Time::HiRes 'time';

my $server = feed_server('altered');
$server->safe_psql('postgres', 'CREATE TABLE other ()');
my $monitor = Session->new($server);
my $id = 0;
sub insert { $id++;              return $monitor->ask("INSERT INTO outbox (id) VALUES ($id), (-$id)") }
sub pid    { my ($session) = @_; return $session->ask('SELECT pg_backend_pid()') }

# PostgreSQL does not inline a function with a subquery as its argument. It plans its body after taking the snapshot.
package NotInlined;
our @ISA = ('Reader');
sub query { my ($self) = @_; return $self->SUPER::query =~ s/_feed\(('.*?')\)/_feed((SELECT $1::text))/r }

package main;

my %changes = (
	'TRUNCATE' => [ 1, 'TRUNCATE outbox; INSERT INTO outbox (id) VALUES (-1)' ],
	'TRUNCATE and COPY FREEZE' => [ 1, "TRUNCATE outbox;\nCOPY outbox (id) FROM stdin (FREEZE);\n-1\n-2\n\\.\n" ],
	'another column type' => [ 1, 'ALTER TABLE outbox ALTER body TYPE bigint; ALTER TABLE outbox ALTER body TYPE int' ],
	'rewritten deletions' => [
		1,
		"DROP FUNCTION outbox_feed; ALTER TABLE outbox ALTER id TYPE numeric; "
		  . "SELECT snowflake_ids.create_feed('outbox'); DROP FUNCTION outbox_feed; ALTER TABLE outbox ALTER id TYPE bigint; "
		  . "SELECT snowflake_ids.create_feed('outbox')" ],
	'a column' => [ 1, 'ALTER TABLE outbox ADD y int; ALTER TABLE outbox DROP y' ],

	# Controls: they write no new row of pg_class.
	'ANALYZE' => [ 0, 'ANALYZE outbox' ],
	'CREATE INDEX' => [ 0, 'CREATE INDEX i ON outbox (body); DROP INDEX i' ],
	'rows' => [ 0, 'DELETE FROM outbox WHERE id = 1; UPDATE outbox SET body = body + 1' ]);

for my $kind (sort keys %changes)
{
	my ($is_hidden, $change) = @{ $changes{$kind} };
	my $end = $change =~ /\.\n\z/ ? '' : ';';

	# ---- a snapshot from before
	my $reader = Reader->new('outbox');
	$reader->poll($monitor);
	insert();
	my $session = Session->new($server);
	$session->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM other');
	$monitor->ask('BEGIN');
	my $said = $monitor->ask($change);
	unlike($said, qr/ERROR/, "$kind: done");
	$monitor->ask('COMMIT');
	is( $reader->once($session),
		$is_hidden ? '40001' : '',
		"$kind: a snapshot from before, " . ($is_hidden ? '40001' : 'no error'));
	$session->ask('ROLLBACK');
	$reader->poll($session);
	$reader->same_as($monitor, "$kind, snapshot from before");

	# ---- the own change
	insert();
	$session->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM other');
	$session->ask($change);
	is($reader->once($session), '', "$kind: in the transaction itself, no error");
	$reader->same_as($session, "$kind, in the transaction itself");
	$session->ask('COMMIT');
	$reader->poll($session);
	$reader->same_as($monitor, "$kind, after its end");

	# ---- READ COMMITTED: the poll waits for the lock. The plan of an inlined function has the later snapshot
	next if !$is_hidden;
	for my $class ('Reader', 'NotInlined')
	{
		my $waiting = $class->new('outbox');
		$waiting->poll($monitor);
		insert();
		my ($ddl, $polls) = map { Session->new($server) } 1, 2;
		my $pid = pid($polls);
		$ddl->ask('BEGIN; LOCK TABLE outbox');
		$ddl->ask($change);
		$polls->send($waiting->query);
		ok( eventually(
				sub { $monitor->ask("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Lock' }),
			"$kind: a poll waits, $class");
		$ddl->ask('COMMIT');
		my $answer = $polls->answer;

		# Of the last kind, the function of the plan is gone.
		like(
			$answer,
			$class eq 'Reader' ? qr/^3\||cache lookup failed/m : qr/because it has been altered/,
			"$kind: what it says, $class");
		$waiting->poll($polls);
		$waiting->same_as($monitor, "$kind, after it waited, $class");
	}
}

# ---- a reader that sleeps hears that its table is gone
my $heard = best_of(
	1,
	sub {
		create_feed($server, 'gone');
		my $sleeper = Session->new($server);
		my $since = $sleeper->ask(q{SELECT snowflake_ids.wait_feed('gone', snowflake_ids.feed_position('gone'), '0')});
		$sleeper->send("SELECT snowflake_ids.wait_feed('gone', '$since', '1 h')");
		my $sleeps = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SnowflakeIdsNewRows' OR }
		  . q{wait_event_type = 'Extension' AND query ~ '1 h'};
		eventually(sub { $monitor->ask($sleeps) eq '1' });
		$monitor->ask('DROP TABLE gone CASCADE; DROP TABLE gone_deleted');
		my $dropped = time;
		like($sleeper->answer, qr/relation with OID \d+ does not exist/, 'a reader that sleeps: its table is gone');
		return time - $dropped;
	});
cmp_ok($heard, '<', 1, 'it is told at once');
done_testing();
