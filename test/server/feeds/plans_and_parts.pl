# A poll reads the parts that its plan knows, which may be other ones than its snapshot shows: an ATTACH is visible before
# other sessions are told of it, and a plan may be older than the snapshot. Such a poll ends with 40001, and loses nothing.
use Servers;
use Feed;

my $module = module('commit_module');
my $server = feed_server('plans');
my $m = Session->new($server);
my $go_on = $server->data_dir . '/go_on';
$m->ask("CREATE FUNCTION hold_commit() RETURNS void AS '$module' LANGUAGE C");

my $n = 0;

# A table with rows 1 and 901, and a reader of it. `parts`: by partitioning or by inheritance
sub parted
{
	my ($parts, %o) = @_;
	my $t = 'ev' . ++$n;
	my ($by, $part) =
	  $parts eq 'partitions'
	  ? (' PARTITION BY RANGE (id)', "PARTITION OF $t FOR VALUES FROM (0) TO (1000)")
	  : ('', "() INHERITS ($t)");
	$m->ask("CREATE TABLE $t (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1)$by; CREATE TABLE ${t}_0 $part");
	create_feed($server, $t, %o);
	$m->ask("INSERT INTO ${t}_0 VALUES (1), (901)");
	my $reader = Reader->new($t);
	$reader->poll($m);
	return ($t, $reader);
}

# ---- the part is visible, and nobody was told of it: COMMIT stands between the two
{
	my ($t, $reader) = parted('partitions');
	my ($adds, $polls) = map { Session->new($server) } 1, 2;
	$reader->poll($polls);
	$adds->ask(
		"BEGIN; SELECT hold_commit(); CREATE TABLE ${t}_1 (LIKE $t INCLUDING ALL); INSERT INTO ${t}_1 VALUES (1001, 1, 5)"
	);
	$adds->ask(
		"ALTER TABLE $t ATTACH PARTITION ${t}_1 FOR VALUES FROM (1000) TO (2000); UPDATE $t SET body = 2 WHERE id = 1001"
	);
	$adds->send('COMMIT');
	ok(eventually(sub { $m->ask("SELECT count(*) FROM pg_class WHERE relname = '${t}_1'") }), 'ATTACH is visible');
	like(
		$polls->ask($reader->query),
		qr/Its parts were others when the poll was planned/,
		'a poll that was not told of it');
	Servers::spew($server->data_dir . '/go_on', '');
	$adds->answer;
	$reader->poll($polls);
	like($reader->{copy}{1001}, qr/^\(1001,2,/, 'the row comes');
	$reader->same_as($m, 'ATTACH');
}

# ---- PostgreSQL before 18 plans all statements of such a function before it runs the first one, which waits here, and then
# reads the part
{
	my ($t, $reader) = parted('partitions');
	my ($adds, $polls) = map { Session->new($server) } 1, 2;
	$m->ask(<<"END");
CREATE FUNCTION later(sql text) RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); EXECUTE sql; END';
CREATE FUNCTION wait_and_poll(since text) RETURNS TABLE (step int, "position" text, id bigint, "row" $t) LANGUAGE sql VOLATILE AS
	'SELECT later(''SELECT FROM ${t}_1''); SELECT step, position, id, "row" FROM ${t}_feed(since)'
END
	$adds->ask('BEGIN; SELECT pg_advisory_xact_lock(1)');
	(my $query = $reader->query) =~ s/${t}_feed/wait_and_poll/;
	$polls->send($query);
	ok(eventually(sub { $m->ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") }),
		'it waits');
	$adds->ask(
		"CREATE TABLE ${t}_1 (LIKE $t INCLUDING ALL); ALTER TABLE $t ATTACH PARTITION ${t}_1 FOR VALUES FROM (1000) TO (2000); INSERT INTO $t VALUES (1001); COMMIT"
	);
	like(
		$polls->answer,
		qr/Its parts were others when the poll was planned|^2\|\|1001\|/m,
		'a part that is not in the plan, and that the transaction has locked');
}

# ---- a child leaves, and gets rows, while a poll is being planned
{
	my ($t, $reader) = parted('children', options => 'deletes => false');
	my ($leaves, $polls) = map { Session->new($server) } 1, 2;
	my $pid = $polls->ask('SELECT pg_backend_pid()');
	$leaves->ask("BEGIN; ALTER TABLE ${t}_0 NO INHERIT $t; INSERT INTO ${t}_0 VALUES (2)");
	$polls->send($reader->query);
	ok(eventually(sub { $m->ask("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Lock' }),
		'NO INHERIT: a poll is being planned');
	$leaves->ask('COMMIT');
	unlike($polls->answer, qr/^2\|\|2\|/m, 'its new rows are none of the table');
}

# ---- a temporary child is read by its own session only
{
	my ($t, $reader) = parted('children');
	my $other = Session->new($server);
	$other->ask("CREATE TEMP TABLE own () INHERITS ($t)");
	is($reader->once($m), '', 'the temporary child of another session');
	is($reader->once($other), 'SF002', 'the own temporary child');
}
done_testing();
