# Partitions and children come, go and are emptied while readers poll. Rows that come with them, and rows that leave one
# part for another in one transaction, reach each copy; a reader that cannot be told is told to copy again (SF001).
use Servers;
use Feed;

my $server = feed_server('parts');
my $m = Session->new($server);
sub pid { my ($session) = @_; return $session->ask('SELECT pg_backend_pid()') }

sub waits
{
	my ($pid) = @_;
	return eventually(sub { $m->ask("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Lock' });
}

# A partitioned table with a feed, and a reader with a copy of its three rows.
my $n = 0;

sub parted
{
	my (%o) = @_;
	my $t = 'ev' . ++$n;
	$m->ask("CREATE TABLE $t (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1) PARTITION BY RANGE (id)");
	$m->ask(
		"CREATE TABLE ${t}_default PARTITION OF $t DEFAULT; CREATE TABLE ${t}_9 PARTITION OF $t FOR VALUES FROM (900) TO (1000)"
	);
	create_feed($server, $t);
	$m->ask("INSERT INTO $t VALUES (1), (2), (500), (901)");
	my $reader = Reader->new($t);
	$reader->poll($m);
	return ($t, $reader);
}

sub is_told
{
	my ($reader, $sqlstate, $name) = @_;
	is($reader->once($m), $sqlstate, "$name: " . ($sqlstate eq '' ? 'no error' : $sqlstate));
	$reader->poll($m);
	$reader->same_as($m, $name);
	my $later = Reader->new($reader->{table});
	$later->poll($m);
	is($later->once($m), '', "$name: a reader that begins later hears of nothing");
	return;
}

# ---- one transaction moves rows into a new partition, as pg_partman does, while PostgreSQL plans a poll
for my $order ('attach', 'insert', 'partition of')
{
	for my $kind ('custom', 'prepared')
	{
		my ($t, $reader) = parted();
		my ($mover, $polls) = map { Session->new($server) } 1, 2;
		my $pid = pid($polls);
		my $query = $reader->query;
		if ($kind eq 'prepared')
		{
			(my $prepared = $query) =~ s/'[^']*'\)$/\$1)/;
			$polls->ask("SET plan_cache_mode = force_generic_plan; PREPARE poll(text) AS $prepared");
			$polls->ask("EXECUTE poll('')");
			$query = "EXECUTE poll('$reader->{position}')";
		}
		$mover->ask("BEGIN; CREATE TEMP TABLE kept AS SELECT id, body FROM ${t}_default WHERE id < 100");
		$mover->ask("DELETE FROM ${t}_default WHERE id < 100");
		my $attach = "ALTER TABLE $t ATTACH PARTITION ${t}_0 FOR VALUES FROM (0) TO (100)";
		my $create = "CREATE TABLE ${t}_0 (LIKE $t INCLUDING ALL)";
		if    ($order eq 'attach') { $mover->ask("$create; $attach; INSERT INTO $t (id, body) SELECT * FROM kept") }
		elsif ($order eq 'insert')
		{
			$mover->ask("$create; INSERT INTO ${t}_0 SELECT *, 5 FROM kept; $attach; UPDATE ${t}_0 SET body = 2");
		}
		else
		{
			$mover->ask(
				"CREATE TABLE ${t}_0 PARTITION OF $t FOR VALUES FROM (0) TO (100); INSERT INTO $t (id, body) SELECT * FROM kept"
			);
		}
		$mover->ask("INSERT INTO $t VALUES (3)");
		$polls->send($query);
		ok(waits($pid), "$order, $kind: a poll is being planned");
		$mover->ask('COMMIT');
		like($polls->answer, qr/^ERROR:  could not poll .* been altered|^3\|/m, "$order, $kind: it ends");
		is_told($reader, '', "$order, $kind: moved into a new partition");
		like($polls->ask($query), qr/^2\|\|3\|/m, "$order, $kind: the session goes on") if $kind eq 'prepared';
		is(() = sort(keys %{ $reader->{copy} }), 5, "$order, $kind: all rows");
	}
}

# ---- attached
{
	my ($t, $reader) = parted();
	$m->ask("CREATE TABLE ${t}_1 PARTITION OF $t FOR VALUES FROM (1000) TO (2000)");
	is_told($reader, '', 'an empty partition');
	$m->ask(
		"CREATE TABLE ${t}_2 (LIKE $t); INSERT INTO ${t}_2 VALUES (2001, 1, 5); ALTER TABLE ${t}_2 ADD PRIMARY KEY (id)"
	);
	my $between = Reader->new($t);
	$between->poll($m);
	$m->ask("ALTER TABLE $t ATTACH PARTITION ${t}_2 FOR VALUES FROM (2000) TO (3000)");
	is_told($_, 'SF001', 'a partition with rows') for $reader, $between;
	$m->ask(
		"BEGIN; CREATE TABLE ${t}_3 PARTITION OF $t FOR VALUES FROM (3000) TO (4000); INSERT INTO $t VALUES (3001); COMMIT"
	);
	is_told($reader, '', 'a partition that is filled in one transaction');

	# ---- detached: no feed shows that; then it comes back with its rows
	$m->ask("ALTER TABLE $t DETACH PARTITION ${t}_3");
	is($reader->once($m), '', 'DETACH: no error');
	is($reader->differs($m), 1, 'DETACH: copies keep the rows');
	$m->ask("INSERT INTO ${t}_3 VALUES (3002)");
	$m->ask("ALTER TABLE $t ATTACH PARTITION ${t}_3 FOR VALUES FROM (3000) TO (4000)");
	is($reader->once($m), 'SF001', 'attached again: SF001');
	is_told($reader, 'SF001', 'attached again');
}

# ---- DETACH CONCURRENTLY, that is interrupted and finished
{
	my ($t, $reader) = parted();
	$m->ask(
		"DROP TABLE ${t}_default; CREATE TABLE ${t}_1 PARTITION OF $t FOR VALUES FROM (1000) TO (2000); INSERT INTO $t VALUES (1001)"
	);
	$reader->poll($m);
	my ($holds, $detaches) = map { Session->new($server) } 1, 2;
	my $pid = pid($detaches);
	$holds->ask("BEGIN; SELECT FROM $t");
	$detaches->send("ALTER TABLE $t DETACH PARTITION ${t}_1 CONCURRENTLY");
	ok(waits($pid), 'DETACH CONCURRENTLY waits');
	$m->ask("INSERT INTO $t VALUES (902)");
	is($reader->once($m), '', 'beside it, a poll passes');
	$m->ask("SELECT pg_cancel_backend($pid)");
	like($detaches->answer, qr/canceling/, 'it is interrupted');
	$holds->ask('COMMIT');
	$m->ask("INSERT INTO $t VALUES (903)");
	is($reader->once($m), '', 'half detached: a poll passes');
	ok(exists $reader->{copy}{903}, 'and has new rows');
	$m->ask(
		"ALTER TABLE $t DETACH PARTITION ${t}_1 FINALIZE; ALTER TABLE $t ATTACH PARTITION ${t}_1 FOR VALUES FROM (1000) TO (2000)"
	);
	is_told($reader, 'SF001', 'finished, and attached again');
}

# ---- a part is emptied alone; sub-partitions; what a prepared poll reads of a partition that is younger
{
	my ($t, $reader) = parted();
	$m->ask("TRUNCATE ${t}_9");
	is_told($reader, 'SF001', 'a part is truncated alone');
	$m->ask("CREATE TABLE ${t}_1 PARTITION OF $t FOR VALUES FROM (1000) TO (2000) PARTITION BY RANGE (id)");
	my $polls = Session->new($server);
	(my $prepared = $reader->query) =~ s/'[^']*'\)$/\$1)/;
	$polls->ask(
		"SET plan_cache_mode = force_generic_plan; PREPARE poll(text) AS $prepared; EXECUTE poll('$reader->{position}')"
	);
	$m->ask("CREATE TABLE ${t}_1_1 PARTITION OF ${t}_1 FOR VALUES FROM (1000) TO (1500); INSERT INTO $t VALUES (1001)");
	like($polls->ask("EXECUTE poll('$reader->{position}')"),
		qr/^2\|\|1001\|/m, 'a prepared poll reads a younger sub-partition');
	is_told($reader, '', 'a sub-partition');
	$m->ask("GRANT SELECT ON ${t}_1_1 TO PUBLIC");
	is_told($reader, '', 'a part without a trigger for TRUNCATE');
	$m->ask("TRUNCATE ${t}_1_1");
	is_told($reader, 'SF001', 'it is truncated');
	$m->ask("INSERT INTO $t VALUES (1001)");
	$reader->poll($m);
	$m->ask("VACUUM FULL ${t}_1_1");
	is_told($reader, '', 'it is rewritten, and has an old row');
	like(
		$m->ask("SELECT DISTINCT rule FROM snowflake_ids.check_feed('$t') WHERE NOT ok"),
		qr/^a trigger notes each TRUNCATE$/,
		'check_feed() tells');
	$m->ask("SELECT to_do FROM snowflake_ids.create_feed('$t')");
	$m->ask("TRUNCATE ${t}_1");
	is_told($reader, 'SF001', 'a part with parts is truncated');
	$m->ask("TRUNCATE $t; INSERT INTO $t VALUES (2)");
	is_told($reader, '', 'the table is truncated');
}

# ---- INHERITS
{
	$m->ask(
		"CREATE TABLE parent (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1); CREATE TABLE child () INHERITS (parent)"
	);
	create_feed($server, 'parent');
	$m->ask('INSERT INTO parent VALUES (1); INSERT INTO child VALUES (2)');
	my $reader = Reader->new('parent');
	$reader->poll($m);
	$m->ask('TRUNCATE ONLY parent');
	is_told($reader, 'SF001', 'TRUNCATE ONLY');
	$m->ask('INSERT INTO child VALUES (3); TRUNCATE child');
	is_told($reader, 'SF001', 'TRUNCATE of a child');
	$m->ask(
		'CREATE TABLE late (id bigint NOT NULL, body int NOT NULL DEFAULT 1, stamp bigint NOT NULL); INSERT INTO late VALUES (4, 1, 5)'
	);
	$m->ask('ALTER TABLE late INHERIT parent');
	is($reader->once($m), 'SF002', 'a child without triggers: SF002');
	create_feed($server, 'parent');
	is_told($reader, 'SF001', 'INHERIT');
	$m->ask('INSERT INTO late VALUES (5); UPDATE late SET id = 6 WHERE id = 4; DELETE FROM parent WHERE id = 5');
	is_told($reader, '', 'rows of a child');
	$m->ask('ALTER TABLE late NO INHERIT parent');
	is($reader->once($m), '', 'NO INHERIT: no error');
}
done_testing();
