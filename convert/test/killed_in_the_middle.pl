# Tables get new keys while others write. The server is killed in the middle, and a call is cancelled. At the end, each
# row is checked: the order of keys, their times, and everything that refers to them.
#
# SNOWFLAKE_IDS_CONVERT_ROWS=1000000: rows in the table of the key (default 20000, in the quick `make test` 5000).
use Servers;
use IPC::Run ();
use Quick;
use PostgreSQL::Test::Utils;

my $rows = $ENV{SNOWFLAKE_IDS_CONVERT_ROWS} // (whole() ? 20000 : 5000);
my $server = plain_server('convert',
	conf =>
	  "autovacuum = on\nmax_wal_size = 4GB\ndeadlock_timeout = 200ms\nautovacuum_naptime = 5s\nmaintenance_work_mem = 256MB\nwork_mem = 64MB"
);
sub sql    { return $server->safe_psql('postgres', $_[0]) }
sub as_joe { return $server->safe_psql('postgres', "SET ROLE regress_joe; SET search_path = shop, ids; $_[0]") }

# ---- tables that refer to themselves and each other, by one and two columns
sql('CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids; CREATE EXTENSION snowflake_ids_convert SCHEMA ids; GRANT USAGE ON SCHEMA ids TO PUBLIC;
     CREATE ROLE regress_joe LOGIN; CREATE ROLE regress_clerk LOGIN; CREATE SCHEMA shop AUTHORIZATION regress_joe; GRANT USAGE ON SCHEMA shop TO regress_clerk'
);
as_joe(<<"END");
CREATE SEQUENCE refs;
CREATE TABLE orders (
    tenant int NOT NULL DEFAULT 1, id bigserial CONSTRAINT orders_key PRIMARY KEY, parent bigint, created timestamptz NOT NULL,
    ref bigint UNIQUE DEFAULT nextval('refs'), parent_ref bigint, touched int NOT NULL DEFAULT 0,
    CONSTRAINT by_tenant UNIQUE (tenant, id),
    CONSTRAINT no_loop CHECK (parent <> id),
    CONSTRAINT parent_of FOREIGN KEY (parent) REFERENCES orders ON DELETE SET NULL DEFERRABLE);
CREATE INDEX by_parent ON orders (parent DESC NULLS LAST) INCLUDE (ref) WHERE parent IS NOT NULL;
CREATE TABLE line (
    tenant int NOT NULL, order_id bigint NOT NULL, n int NOT NULL, order_ref bigint, PRIMARY KEY (order_id, n),
    CONSTRAINT line_of FOREIGN KEY (tenant, order_id) REFERENCES orders (tenant, id) ON UPDATE CASCADE ON DELETE CASCADE);
CREATE TABLE detail (order_id bigint, n int, order_ref bigint);
INSERT INTO orders (parent, created, parent_ref)
SELECT nullif(i / 2, 0), '2025-01-01 00:00:00+00'::timestamptz + (i::bigint * 7919 % $rows) / 5 * interval '1 ms', nullif(i / 2, 0)
FROM generate_series(1, $rows) AS i;
INSERT INTO line SELECT tenant, id, 1, ref FROM orders;
INSERT INTO detail SELECT order_id, n, order_ref FROM line WHERE order_ref % 2 = 0;
ALTER TABLE detail ADD CONSTRAINT detail_of FOREIGN KEY (order_id, n) REFERENCES line ON UPDATE CASCADE ON DELETE CASCADE NOT VALID;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.touched := OLD.touched + 1; RETURN NEW; END';
CREATE TRIGGER touch BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TRIGGER on_key BEFORE UPDATE OF id ON orders FOR EACH ROW EXECUTE FUNCTION touch();
ALTER TABLE orders DISABLE TRIGGER on_key;
CREATE STATISTICS tenants (dependencies) ON tenant, id FROM orders;
CREATE TABLE old_orders AS SELECT id, created, ref FROM orders;
ALTER TABLE orders ALTER COLUMN id SET STATISTICS 321, REPLICA IDENTITY USING INDEX by_tenant;
ALTER TABLE line CLUSTER ON line_pkey;
COMMENT ON COLUMN orders.id IS 'the key';
COMMENT ON CONSTRAINT orders_key ON orders IS 'its constraint';
COMMENT ON CONSTRAINT line_of ON line IS 'its reference';
COMMENT ON INDEX by_parent IS 'its index';
GRANT SELECT (id, ref), INSERT ON orders TO regress_clerk;
GRANT SELECT, INSERT ON line TO regress_clerk;
END
sql('ALTER DATABASE postgres SET search_path = shop, ids; CREATE PUBLICATION part_of FOR TABLE shop.orders (id, ref, tenant);
     CREATE PUBLICATION lines FOR TABLE shop.line; ALTER PUBLICATION part_of OWNER TO regress_joe; GRANT CREATE ON DATABASE postgres TO regress_joe;
     ANALYZE');

# Constraints, indexes and so on, without types and positions of columns
sub shape
{
	return sql(<<'END');
SELECT conname, conrelid::regclass, pg_get_constraintdef(oid), convalidated, obj_description(oid, 'pg_constraint') FROM pg_constraint WHERE connamespace = 'shop'::regnamespace ORDER BY 2, 1;
SELECT pg_get_indexdef(indexrelid), indisclustered, indisreplident, indisvalid, obj_description(indexrelid, 'pg_class'),
       (SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = indexrelid)
FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = 'shop'::regnamespace ORDER BY 1;
SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1;
SELECT attrelid::regclass, attname, attnotnull, attstattarget, attacl, col_description(attrelid, attnum) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE relnamespace = 'shop'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped ORDER BY 1, 2;
SELECT relname, relacl, relreplident FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relkind = 'r' ORDER BY 1;
SELECT pubname, tablename, (SELECT array_agg(a ORDER BY a) FROM unnest(attnames) AS a), rowfilter FROM pg_publication_tables ORDER BY 1, 2;
SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext ORDER BY 1;
SELECT proname FROM pg_proc WHERE pronamespace = 'shop'::regnamespace ORDER BY 1;
END
}

# Since 18 NOT NULL is a constraint with a name.
sql(q{ALTER TABLE line RENAME CONSTRAINT line_order_id_not_null TO has_order; COMMENT ON CONSTRAINT has_order ON line IS 'always'}
) if $server->pg_version >= 18;
my $shape = shape();

# ---- writers that name no key
my $script = PostgreSQL::Test::Utils::tempdir() . '/writers.sql';
append_to_file($script, <<'END');
\set r random(1, :n)
\set p random(1, :n)
\set d random(1, :n)
INSERT INTO shop.orders (created) VALUES (now());
UPDATE shop.orders o SET parent = p.id, parent_ref = p.ref FROM shop.orders p WHERE o.ref = :r AND p.ref = :p AND o.ref <> p.ref;
INSERT INTO shop.line (tenant, order_id, n, order_ref) SELECT tenant, id, nextval('shop.refs'), ref FROM shop.orders WHERE ref = :r;
INSERT INTO shop.detail (order_id, n, order_ref) SELECT l.order_id, l.n, l.order_ref FROM shop.line l JOIN shop.orders o ON o.id = l.order_id WHERE o.ref = :p;
END

sub writers
{
	my ($out, $err) = ('', '');
	my $run = IPC::Run::start(
		[   'pgbench', '-n', '-c', '2', '-R', whole() ? '200' : '50',
			'-T', '600', '--max-tries=1000', '-D', "n=$rows", '-f', $script, $server->connstr('postgres') ],
		'<',
		\undef,
		'>',
		\$out,
		'2>',
		\$err);
	return { run => $run, out => \$out, err => \$err };
}

sub stop_writers
{
	my ($w) = @_;
	$w->{run}->signal('INT');
	eval { $w->{run}->finish };
	return ${ $w->{err} };
}

sub progress
{
	return sql(
		"SELECT phase, coalesce(done, 0) FROM snowflake_ids_convert_progress WHERE relation = 'orders'::regclass");
}

# True once a batch of this phase is done, if something holds the phase.
sub wait_for
{
	my ($phase) = @_;
	return eventually(sub { progress() =~ /^$phase\|[1-9]/ });
}

sub waits_for_lock
{
	my ($pid, $lock) = @_;
	return eventually(sub { sql("SELECT count(*) > 0 FROM pg_locks WHERE pid = $pid AND NOT granted AND $lock") eq 't' }
	);
}

# Some batches must come before the row for which a phase waits.
my $batch = int($rows / 200) < 10000 ? int $rows / 200 : 10000;
my $call =
  "SET ROLE regress_joe; CALL ids.snowflake_ids_convert('shop.orders', 'id', 'sno', 'created', batch_size => $batch, fire_triggers => FIRE, finish => FINISH, publications => true)";
sub call_text { my ($finish) = @_; return $call =~ s/FINISH/$finish/r =~ s/FIRE/false/r }

# ---- problems are reported before anything changes
my ($rc, $out, $err) = $server->psql('postgres', call_text('true'));
like(
	$err,
	qr/cannot convert column "id" of (shop\.)?orders.*trigger touch would fire for every row/s,
	'a trigger that would fire is named');
is(shape(), $shape, 'and nothing changed');
sql('GRANT SET ON PARAMETER session_replication_role TO regress_joe');

# ---- killed while it fills the keys, cancelled while it fills the rest, resumed
my $start = time;
my $writers = writers();
my $session = Session->new($server);
my $backend = $session->ask('SELECT pg_backend_pid()');
{
	# Numbering waits for a table with the name of the map. During this, another session locks a row, which phase fill
	# reaches after half of the rows.
	my $other = Session->new($server);
	$other->ask("BEGIN; CREATE TABLE shop.snowflake_ids_map_@{[ sql(q{SELECT 'orders'::regclass::oid}) ]} ()");
	$session->send(call_text('false'));
	ok(waits_for_lock($backend, "locktype = 'transactionid'"), 'the conversion waits');
	like(progress(), qr/^number/, 'while it numbers the rows');
	my $holder = Session->new($server);
	$holder->ask("BEGIN; SELECT FROM orders WHERE ref = $rows / 2 FOR NO KEY UPDATE");
	$other->ask('ROLLBACK');
	ok(wait_for('fill'), 'keys are being filled');

	# Killing the postmaster alone would leave a busy backend.
	kill 'KILL', $server->{_pid}, $backend;
	kill_postmaster($server);
	$_->gone for $session, $holder, $other;
}
my $said = stop_writers($writers);
$server->_update_pid(0) if $server->can('_update_pid');
for (1 .. 50) { last if $server->start(fail_ok => 1); sleep 0.1 }
my $before = progress();
unlike($said, qr/ERROR/, 'writers had no errors but that');
like($before, qr/^fill\|[1-9]/, "killed while keys are being filled: $before");
my ($filled) = $before =~ /(\d+)$/;
is(sql("SELECT count(*) >= $filled * 0.5 FROM orders WHERE snowflake_ids_new_2 IS NOT NULL"),
	't', 'what was committed is there');

$writers = writers();

# So that the first step gives a notice.
sql("UPDATE snowflake_ids_convert.conversion SET last_notice = last_notice - interval '10 s'");

# Until a locked row.
my $holder = Session->new($server);
$holder->ask("BEGIN; SELECT FROM shop.line WHERE order_ref = $rows / 2 AND n = 1 FOR NO KEY UPDATE");
$session = Session->new($server);
$session->send(call_text('false'));
my $rate = eventually(
	sub {
		return sql(
			"SELECT phase, per_second, remaining FROM ids.snowflake_ids_convert_progress WHERE phase IN ('fill', 'follow') AND per_second > 0 AND remaining IS NOT NULL"
		);
	});
like($rate, qr/^(fill|follow)\|[\d.]+\|\d\d:\d\d:\d\d/, "progress has a rate and the time that is left: $rate");
ok(wait_for('follow'), 'resumed, and columns that refer to keys are being filled');
sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%CALL%' AND pid <> pg_backend_pid() AND state = 'active'"
);
my $until_cancelled = $session->answer;
like($until_cancelled, qr/canceling statement/, 'cancelled');
like(
	$until_cancelled,
	qr/NOTICE:  \S*orders: fill \S*orders, [1-9]\d* of [1-9]\d* rows, [1-9][\d.]* per second, \d\d:\d\d:\d\d left/,
	'a notice has them, too');
like(progress(), qr/^follow/, 'the phase is remembered');
$holder->ask('ROLLBACK');
{
	my $other = Session->new($server);
	$other->ask(
		"BEGIN; SELECT phase FROM snowflake_ids_convert.conversion WHERE relation = 'orders'::regclass FOR UPDATE");
	like(
		Session::ask_once($server, "SET lock_timeout = '1s';" . call_text('false')),
		qr/lock timeout/,
		'one session at a time');
	$other->ask('ROLLBACK');
}
like(
	Session::ask_once($server, call_text('false') =~ s/'sno'/'mastic'/r),
	qr/converted in another way/,
	'other arguments are refused');
like(Session::ask_once($server, call_text('false')), qr/triggers keep them filled/, 'resumed, and filled');

# ---- filled, before the changeover: all sorts of writes
is( as_joe(
		"BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO orders (id, parent, created, ref, parent_ref) VALUES (900000001, 900000002, now(), 900000001, 900000002);
           INSERT INTO orders (id, created, ref) VALUES (900000002, now(), 900000002); COMMIT;
           SELECT c.snowflake_ids_new_3 = p.snowflake_ids_new_2 FROM orders c JOIN orders p ON p.id = c.parent WHERE c.ref = 900000001"
	),
	't',
	'a row before the one that it refers to');
is( as_joe(
		"INSERT INTO line SELECT tenant, id, 1, ref FROM orders WHERE ref = 900000002; UPDATE orders SET id = 900000003 WHERE ref = 900000001;
           UPDATE line SET order_id = 900000003, order_ref = 900000001 WHERE order_ref = 900000002;
           SELECT l.snowflake_ids_new_2 = o.snowflake_ids_new_2 FROM line l JOIN orders o ON o.id = l.order_id WHERE o.ref = 900000001"
	),
	't',
	'keys and references that change');
is( sql('SET ROLE regress_clerk; INSERT INTO line VALUES (1, 900000003, 7, 900000001);
        RESET ROLE; SELECT count(*) FROM line WHERE snowflake_ids_new_2 IS NULL'),
	'0',
	'a writer who may not read the keys');
{
	my $repeatable = Session->new($server);
	$repeatable->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM orders LIMIT 1');
	is($repeatable->ask('INSERT INTO line SELECT tenant, id, 8, ref FROM orders WHERE ref = 900000001'),
		'', 'repeatable read');
	$repeatable->ask('COMMIT');
}

# The call waits for indexes that the user builds. One that failed halfway is found.
{
	like(
		Session::ask_once($server, call_text('true')),
		qr/run the statements of snowflake_ids_convert_indexes/,
		'the call waits for indexes');
	my $missing = sub { return split /\n/, as_joe("SELECT * FROM snowflake_ids_convert_indexes('orders')") };
	my @statements = $missing->();
	is(scalar(grep { /^CREATE (UNIQUE )?INDEX CONCURRENTLY snowflake_ids_index_\d+ ON shop\./ } @statements),
		4, 'four are missing')
	  or diag "@statements";
	my $blocker = Session->new($server);
	$blocker->ask('BEGIN; LOCK TABLE shop.line IN ROW EXCLUSIVE MODE');
	my ($of_line) = grep { / ON shop\.line / } @statements;
	my $maker = Session->new($server);
	my $pid = $maker->ask('SET ROLE regress_joe; SELECT pg_backend_pid()');
	$maker->send($of_line);
	ok( $server->poll_query_until(
			'postgres',
			"SELECT count(*) = 1 FROM pg_stat_progress_create_index WHERE pid = $pid AND phase ~ '^waiting'"),
		'one waits for a writer');
	sql("SELECT pg_cancel_backend($pid)");
	like($maker->answer, qr/canceling statement/, 'and cannot be made');
	$blocker->ask('ROLLBACK');
	my @again = $missing->();
	is(scalar(@again), 5, 'what it left has to go');
	like(
		join("\n", @again),
		qr/^DROP INDEX CONCURRENTLY shop\.snowflake_ids_index_\d+\n\Q$of_line\E$/m,
		'before it is made again');
	like(Session::ask_once($server, "SET ROLE regress_joe; $_"), qr/^(?!.*ERROR)/s, $_ =~ s/_\d+/_N/r) for @again;
	is(join('', $missing->()), '', 'all are there');
	my $index = sql("SELECT ('shop.snowflake_ids_index_' || 'by_parent'::regclass::oid)::regclass::oid");
	my $said = Session::ask_once($server, call_text('true'));
	like($said, qr/done$/, 'changed over');
	like($said, qr/: validate; clients .* may have to reconnect$/m, 'a notice says what clients may meet');
	is(sql("SELECT 'by_parent'::regclass::oid"), $index, 'the index that was made is the index now');
}
my $took = time - $start;
$said = stop_writers($writers);
unlike($said, qr/ERROR/, 'writers had no errors');
note sprintf '%d keys, %s rows in all, with writers, killed and cancelled: %.1f s', $rows,
  sql('SELECT rows FROM snowflake_ids_convert_progress'), $took;

# ---- row by row
sub verify
{
	my ($name) = @_;
	is(sql('SELECT count(*) FROM old_orders o LEFT JOIN orders n USING (ref) WHERE n.ref IS NULL'),
		0, "$name: no row is lost");
	is( sql('SELECT count(*) FROM old_orders o JOIN orders n USING (ref)
	        WHERE sno_timestamp(n.id) <> o.created - (extract(epoch FROM o.created) * 1000 % 4)::int * interval \'1 ms\''),
		0,
		"$name: the time of each id is that of its row");
	is( sql('SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY o.created, o.id) AS old_place, row_number() OVER (ORDER BY n.id) AS new_place
	        FROM old_orders o JOIN orders n USING (ref)) AS t WHERE old_place <> new_place'),
		0,
		"$name: the order of the rows is that of their ids");
	is(sql('SELECT count(*) - count(DISTINCT id) FROM orders'), 0, "$name: no id twice");
	is( sql('SELECT count(*) FROM orders n WHERE NOT EXISTS (SELECT FROM old_orders o WHERE o.ref = n.ref) AND n.id <= (SELECT ids.max(n.id) FROM old_orders o JOIN orders n USING (ref))'
		),
		0,
		"$name: rows that came later sort after");
	is( sql('SELECT count(*) FROM orders o LEFT JOIN orders p ON p.id = o.parent WHERE o.parent_ref IS DISTINCT FROM p.ref'
		),
		0,
		"$name: parents");
	is( sql('SELECT count(*) FROM line l LEFT JOIN orders o ON (o.tenant, o.id) = (l.tenant, l.order_id) WHERE l.order_ref IS DISTINCT FROM o.ref'
		),
		0,
		"$name: lines");
	is( sql('SELECT count(*) FROM detail d LEFT JOIN line l ON (l.order_id, l.n) = (d.order_id, d.n) WHERE d.order_ref IS DISTINCT FROM l.order_ref'
		),
		0,
		"$name: details");
}
verify('sno');
cmp_ok(sql("SELECT count(*) FROM orders WHERE ref > $rows AND ref < 900000000"), '>', 0, 'writers wrote');
is( sql('SELECT count(*) FROM old_orders o JOIN orders n USING (ref) WHERE touched > 0 AND parent_ref IS NOT DISTINCT FROM nullif(n.ref / 2, 0)'
	) <= $rows / 20 ? 1 : 0,
	1,
	'the trigger fired for writers, not for the conversion');
is( sql("SELECT count(*) FROM shop.snowflake_ids_map_@{[ sql(q{SELECT 'orders'::regclass::oid}) ]} m FULL JOIN orders o ON o.id = m.new
	        WHERE o.id IS NULL OR m.new IS NULL AND sno_timestamp(o.id) < (SELECT max(sno_timestamp(new)) FROM shop.snowflake_ids_map_@{[ sql(q{SELECT 'orders'::regclass::oid}) ]})"
	),
	0,
	'the table of old and new keys has all rows, except those that came after it was complete');
is( sql("SELECT has_table_privilege('regress_clerk', 'shop.snowflake_ids_map_@{[ sql(q{SELECT 'orders'::regclass::oid}) ]}', 'SELECT')"
	),
	'f',
	'and is not for others');
as_joe("SELECT snowflake_ids_convert_forget('orders')");
is(sql("INSERT INTO orders (created) VALUES (now()) RETURNING id > (SELECT ids.max(id) FROM orders)"),
	't', 'the next id is above all');
is(shape() =~ s/OPERATOR\(ids\.<>\)/<>/gr,
	$shape, 'constraints, indexes, triggers, privileges, comments, statistics and publications are as they were');
is(sql("SELECT count(*) FROM pg_class WHERE relname ~ 'snowflake_ids_' AND relnamespace = 'shop'::regnamespace"),
	0, 'nothing is left over');
is(sql("SELECT to_regclass('orders_id_seq') IS NULL"), 't', 'not even the sequence');

# ---- an open transaction: the conversion waits for it, and nobody waits behind the conversion
{
	sql("CREATE TABLE held (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01'); INSERT INTO held VALUES (1)"
	);
	my $holder = Session->new($server);
	$holder->ask('BEGIN; INSERT INTO held VALUES (2)');
	my $convert = "CALL ids.snowflake_ids_convert('held', 'id', 'mastic', 'created', concurrently => false)";
	like(
		Session::ask_once($server, "SET lock_timeout = '200ms'; $convert"),
		qr/could not lock \S*held within lock_timeout/,
		'a conversion that may not wait for long');
	is(sql("SELECT phase FROM snowflake_ids_convert_progress WHERE relation = 'held'::regclass"),
		'prepare', 'has begun, and changed nothing');
	my $session = Session->new($server);
	my $backend = $session->ask('SELECT pg_backend_pid()');
	$session->send($convert);
	ok( $server->poll_query_until(
			'postgres',
			"SELECT count(*) = 1 FROM pg_locks WHERE pid = $backend AND mode = 'AccessExclusiveLock' AND NOT granted AND relation = 'held'::regclass"
		),
		'one that may asks for a strong lock');

	for my $id (3 .. 5)
	{
		unlike(Session::ask_once($server, "SET lock_timeout = '30s'; INSERT INTO held VALUES ($id)"),
			qr/ERROR/, 'others write while it waits');
	}
	is(sql("SELECT phase FROM snowflake_ids_convert_progress WHERE relation = 'held'::regclass"),
		'prepare', 'it waits still');
	$holder->ask('COMMIT');
	like($session->answer, qr/done$/, 'and ends when it can');
	is(sql('SELECT count(*), count(DISTINCT id) FROM held'), '5|5', 'with all rows');
}

# ---- rows that get another time before and during numbering
{
	as_joe(<<'END');
CREATE TABLE race (id int PRIMARY KEY, created timestamptz NOT NULL);
CREATE TABLE of_race (race int REFERENCES race DEFERRABLE INITIALLY DEFERRED);
INSERT INTO race SELECT i, timestamptz '2026-02-01 00:00:00+00' + i * interval '1 s' FROM generate_series(1, 1000) AS i;
INSERT INTO of_race VALUES (7);
END
	my $writer = Session->new($server);
	my $session = Session->new($server);
	my $backend = $session->ask('SET ROLE regress_joe; SELECT pg_backend_pid()');
	my $convert = "CALL ids.snowflake_ids_convert('race', 'id', 'sno', 'created', finish => false)";
	my $phase = "SELECT phase FROM snowflake_ids_convert_progress WHERE relation = 'race'::regclass";

	# The plan does not see the new times, and phase prepare waits for them.
	$writer->ask("BEGIN; UPDATE race SET created = now() + interval '1 day' WHERE id <= 3");
	$session->send($convert);
	is(eventually(sub { sql($phase) }), 'prepare', 'there is a plan');
	$writer->ask('COMMIT');
	like($session->answer, qr/3 rows are in the future/, 'times that change before the rows are numbered');
	is(sql($phase), 'number', 'and the conversion can continue');

	# The policy makes all readers of a row, except superusers, wait for the writer.
	sql("UPDATE race SET created = '2026-02-01 00:00:00+00' WHERE id <= 3;
	     ALTER TABLE race ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
	     CREATE POLICY gate ON race USING (pg_advisory_xact_lock_shared(303)::text = '')");
	$writer->ask('SELECT pg_advisory_lock(303)');
	$session->send($convert);
	ok(waits_for_lock($backend, "locktype = 'advisory'"), 'rows are being read');
	is(sql($phase), 'number', 'to number them');
	$writer->ask('UPDATE race SET created = clock_timestamp() WHERE id <= 3; SELECT pg_advisory_unlock(303)');
	like($session->answer, qr/triggers keep them filled/, 'times that change while the rows are numbered');
	sql('DROP POLICY gate ON race; ALTER TABLE race DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY');
	is( sql("SELECT count(*) FROM race, snowflake_ids_convert.conversion s WHERE s.relation = 'race'::regclass AND sno_timestamp(snowflake_ids_new_1) > s.issued_after"
		),
		0,
		'no id is made of a time that the generator has not passed');

	# A reference that is checked later keeps its key with the row until then.
	$session->ask('BEGIN; INSERT INTO of_race VALUES (7)');
	my $pass = 'BEGIN; DELETE FROM race WHERE id = 7; INSERT INTO race VALUES (7, now()); COMMIT';
	like(
		Session::ask_once($server, "SET lock_timeout = '300ms'; $pass"),
		qr/lock timeout/,
		'a key does not pass to another row while somebody refers to it');
	$session->ask('COMMIT');
	sql($pass);
	is( sql('SELECT count(*) FROM of_race o JOIN race r ON r.id = o.race WHERE o.snowflake_ids_new_1 = r.snowflake_ids_new_1'
		),
		2,
		'and what refers to it follows');
	sql("SELECT snowflake_ids_convert_undo('race')");
	like($session->ask($convert), qr/triggers keep them filled/, 'the same times, later');
}
$server->stop;
done_testing();
