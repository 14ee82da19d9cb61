# Each way to make a feed unsound: an empty poll, too, says SF002 (mend the table) or SF001 (copy again). After what
# create_feed() and check_feed() tell to type, each copy is right.
use Servers;
use Feed;

my $server = feed_server('unsound', conf => 'wal_level = replica');
my $m = Session->new($server);
$m->ask('CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.stamp := 1; RETURN NEW; END $$');

my ($n, $id) = (0, 0);

# What is done to a feed `t` with its parts `t_1` and `t_2`; what the next poll says. Writes, during this, that no trigger
# may see. `mend`: more that an owner does.
my @ways = (
	[ 'the trigger of the stamps is disabled', 'SF002', 'ALTER TABLE t DISABLE TRIGGER zz_stamp' ],
	[ 'of a part', 'SF002', 'ALTER TABLE t_1 DISABLE TRIGGER zz_stamp' ],
	[   'all triggers are enabled, but not ALWAYS',
		'SF002', 'ALTER TABLE t DISABLE TRIGGER ALL; ALTER TABLE t ENABLE TRIGGER ALL' ],
	[ 'the trigger of the stamps is dropped', 'SF002', 'DROP TRIGGER zz_stamp ON t' ],
	[   'it gets a condition',
		'SF002',
		'DROP TRIGGER zz_stamp ON t; CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON t FOR EACH ROW '
		  . q{WHEN (NEW.id > 10) EXECUTE FUNCTION snowflake_ids.feed_stamp('stamp'); ALTER TABLE t ENABLE ALWAYS TRIGGER zz_stamp}
	],
	[   'another trigger fires later',
		'SF002', 'CREATE TRIGGER zzz BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION changes()' ],
	[ 'the trigger of the deletions is disabled', 'SF002', 'ALTER TABLE t DISABLE TRIGGER zz_note_deleted' ],
	[ 'it is dropped', 'SF002', 'DROP TRIGGER zz_note_deleted ON t' ],
	[ 'that of TRUNCATE is dropped', 'SF001', 'DROP TRIGGER zz_note_truncated ON t_1; TRUNCATE t_1', 'no writes' ],
	[ 'those of the table of deletions are disabled', 'SF002', 'ALTER TABLE t_deleted DISABLE TRIGGER ALL' ],
	[ 'its stamp is no longer ALWAYS', 'SF002', 'ALTER TABLE t_deleted ENABLE TRIGGER zz_stamp' ],
	[ 'a part is UNLOGGED', 'SF002', 'ALTER TABLE t_1 SET UNLOGGED' ],
	[ 'the table of deletions is UNLOGGED', 'SF002', 'ALTER TABLE t_deleted SET UNLOGGED' ],
	[ 'deletions are removed by hand', 'SF001', 'DELETE FROM t_deleted' ],
	[ 'deletions are changed by hand', 'SF001', 'UPDATE t_deleted SET id = id + 1' ],
	[ 'deletions are truncated by hand', 'SF001', 'TRUNCATE t_deleted' ],
	[   'the feed is dropped and made again',
		'SF001', "SELECT snowflake_ids.drop_feed('t'); SELECT to_do FROM snowflake_ids.create_feed('t') \\gexec\n" ],
	[   'without deletions, then with',
		'SF001',
		'DROP FUNCTION t_feed; DROP TABLE t_deleted; DROP TRIGGER zz_note_deleted ON t; '
		  . 'DROP TRIGGER zz_note_truncated ON t; DROP TRIGGER zz_note_truncated ON t_1; DROP TRIGGER zz_note_truncated ON t_2; WRITE; '
		  . "SELECT to_do FROM snowflake_ids.create_feed('t') \\gexec\n" ],
	[ 'the indexes are dropped', '', 'DROP INDEX t_stamp_idx, t_deleted_stamp_idx, t_deleted_stamp_idx1' ],
	[   'an older table is put back',
		'SF001',
		"ALTER TABLE t_deleted RENAME TO old_t_deleted; ALTER TABLE t RENAME TO old_t; "
		  . 'ALTER TABLE t_1 RENAME TO old_t_1; ALTER TABLE t_2 RENAME TO old_t_2; ALTER FUNCTION t_feed RENAME TO old_t_feed; '
		  . 'CREATE TABLE t (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1) PARTITION BY RANGE (id); '
		  . 'CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (1000); CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (1000) TO (2000); '
		  . "SELECT to_do FROM snowflake_ids.create_feed('t') \\gexec\n INSERT INTO t SELECT id, body FROM old_t; DELETE FROM old_t WHERE id < 3"
	]);

sub some_writes
{
	my ($t) = @_;
	$id++;
	return "INSERT INTO $t VALUES (600 + $id), (1600 + $id); UPDATE $t SET body = body + 1 WHERE id IN (5, 1005); "
	  . "DELETE FROM $t WHERE id IN (10 + $id, 1010 + $id); UPDATE $t SET id = 700 + $id WHERE id = 20 + $id";
}
for my $way (@ways)
{
	my ($name, $sqlstate, $break, $quiet) = @$way;
	my $t = 'feed' . ++$n;
	$id = 0;
	$m->ask("CREATE TABLE $t (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1) PARTITION BY RANGE (id)");
	$m->ask(
		"CREATE TABLE ${t}_1 PARTITION OF $t FOR VALUES FROM (0) TO (1000); CREATE TABLE ${t}_2 PARTITION OF $t FOR VALUES FROM (1000) TO (2000)"
	);
	create_feed($server, $t);
	$m->ask(
		"INSERT INTO $t SELECT generate_series(1, 50); INSERT INTO $t SELECT generate_series(1001, 1050); DELETE FROM $t WHERE id = 50"
	);
	my @readers = map { Reader->new($t) } 1, 2;
	$_->poll($m) for @readers;
	my $writes = some_writes($t);
	(my $sql = $break) =~ s/\bt(?=\b|_\w)/$t/g;
	$sql =~ s/WRITE/$writes/;
	unlike($m->ask($sql), qr/ERROR/, "$name: done");

	# One reader polls before anything was missed, the other one after it.
	is($readers[0]->once($m), $sqlstate, "$name: an empty poll, " . ($sqlstate || 'no error'));
	$m->ask(some_writes($t)) if !$quiet;
	is($readers[1]->once($m), $sqlstate, "$name: a poll with rows, " . ($sqlstate || 'no error'));
	like(
		$m->ask("SELECT count(*) FROM snowflake_ids.check_feed('$t') WHERE NOT ok"),
		$sqlstate eq 'SF001' && !$quiet ? qr/^0$/ : qr/^[1-9]/,
		"$name: check_feed()");

	# ---- mended
	my $mend = "SELECT to_do FROM snowflake_ids.%s('$t') %s \\gexec\n";
	my $said =
	  $n % 2 ? $m->ask(sprintf $mend, 'create_feed', '') : $m->ask(sprintf $mend, 'check_feed', 'WHERE NOT ok');
	unlike($said, qr/ERROR/, "$name: what is to do, is done");
	is($m->ask("SELECT relation, rule, to_do FROM snowflake_ids.check_feed('$t') WHERE NOT ok"),
		'', "$name: nothing more is to do");
	$m->ask(some_writes($t));
	for (@readers) { $_->poll($m); $_->same_as($m, $name) }
	$m->ask(some_writes($t));
	for (@readers) { $_->poll($m); $_->same_as($m, "$name, later") }
}

# ---- a crash empties what is not in the WAL. Readers are told, also those that polled neither before nor during this
for my $unlogged ('crash_1', 'crash_deleted')
{
	$m->ask('CREATE TABLE crash (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1) PARTITION BY RANGE (id)');
	$m->ask('CREATE TABLE crash_1 PARTITION OF crash FOR VALUES FROM (0) TO (1000)');
	create_feed($server, 'crash');
	$m->ask('INSERT INTO crash VALUES (1), (2)');
	my $reader = Reader->new('crash');
	$reader->poll($m);
	$m->ask("ALTER TABLE $unlogged SET UNLOGGED; DELETE FROM crash WHERE id = 1");
	kill_and_start($server);
	$m = Session->new($server);
	unlike($m->ask("SELECT to_do FROM snowflake_ids.create_feed('crash') \\gexec\n"), qr/ERROR/, "$unlogged: mended");
	is($reader->once($m), 'SF001', "$unlogged was not in the WAL: SF001");
	$reader->poll($m);
	$reader->same_as($m, $unlogged);
	$m->ask("SELECT snowflake_ids.drop_feed('crash'); DROP TABLE crash");
}

# ---- row security: of who polls
$m->ask('CREATE ROLE reads LOGIN; GRANT SELECT ON outbox, outbox_deleted TO reads');
my $session = Session->new($server, user => 'reads');
for my $table ('outbox', 'outbox_deleted')
{
	my $reader = Reader->new('outbox');
	$reader->poll($session);
	$m->ask("ALTER TABLE $table ENABLE ROW LEVEL SECURITY; CREATE POLICY some ON $table USING (id > 10)");
	is($reader->once($session), 'SF002', "row security on $table: SF002");
	is($reader->once($m), '', 'but not for who sees all');
	$m->ask("DROP POLICY some ON $table; ALTER TABLE $table DISABLE ROW LEVEL SECURITY");
	is($reader->once($session), '', 'without it, no error');
}
done_testing();
