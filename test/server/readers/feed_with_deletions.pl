# A feed with deletions, of a table and of a partitioned one: copies that readers keep end as the table, during deletions
# of a role that may not write the deletions, new rows with old keys, changed keys, TRUNCATE, rollbacks, prepared
# transactions and forgetting. The control takes the order of the stamps alone. Then a dump is restored.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use Test::More;

my $server = feed_server('deletions', 1);
my $said = sub { $server->safe_psql('postgres', $_[0]) };
$said->(<<'END');
CREATE ROLE shop; CREATE ROLE app;
CREATE SCHEMA "Shop" AUTHORIZATION shop;
GRANT USAGE ON SCHEMA "Shop" TO app;
GRANT USAGE ON SEQUENCE row_ids TO app;
SET ROLE shop;
CREATE TABLE "Shop".plain (id bigint PRIMARY KEY, body text);
CREATE TABLE "Shop".parted (id bigint PRIMARY KEY, body text) PARTITION BY HASH (id);
CREATE TABLE "Shop".parted_0 PARTITION OF "Shop".parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE "Shop".parted_1 PARTITION OF "Shop".parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON "Shop".plain, "Shop".parted TO app;
END
for my $table ('plain', 'parted')
{
	is($said->(qq{SET ROLE shop; SELECT to_do FROM snowflake_ids.create_feed('"Shop".$table', deletes => true)}),
		'', "$table: nothing is left to do");
}
my $refused = $server->psql('postgres', q{SET ROLE app; INSERT INTO "Shop".plain_deleted (id) VALUES (1)});
is($refused, 3, 'the role may not write the deletions');

# ---- readers
sub reader
{
	my ($table, %o) = @_;
	return {
		table => $table,
		of => $o{of} // "${table}_feed",
		session => Session->new($server),
		last => 0,
		copy => {},
		polls => 0,
		again => 0 };
}

sub copy_again
{
	my ($reader) = @_;
	my $table = $reader->{table};
	$reader->{again}++;
	$reader->{copy} = {};
	$reader->{last} = $reader->{session}->ask("SELECT snowflake_ids.feed_position('$table')");
	$reader->{copy}{ (split /\|/)[0] } = (split /\|/)[1]
	  for split /\n/, $reader->{session}->ask("SELECT id, body FROM $table");
	return;
}

sub poll
{
	my ($reader) = @_;
	my ($table, $last) = @$reader{qw(table last)};
	my $answer =
	  $reader->{session}->ask("SELECT greatest($last, f.position), f.deleted, f.id, t.body FROM $reader->{of} AS f "
		  . "LEFT JOIN $table AS t USING (id) WHERE f.stamp >= $last ORDER BY f.stamp");
	$reader->{polls}++;
	return copy_again($reader) if $answer =~ /ERROR:  the feed of .* does not know all deletions since this position/;
	for (split /\n/, $answer)
	{
		my ($position, $deleted, $id, $body) = /^(\d+)\|([tf])\|(\d*)\|(.*)$/ or die $_;
		if    ($id eq '')       { $reader->{copy} = {} }
		elsif ($deleted eq 't') { delete $reader->{copy}{$id} }
		elsif ($body ne '')     { $reader->{copy}{$id} = $body }
		$reader->{last} = $position;
	}
	return;
}

sub table_of
{
	return { map { split /\|/ } split /\n/, $said->("SELECT id, body FROM $_[0]->{table}") };
}

sub is_equal
{
	my ($reader) = @_;
	my ($copy, $table) = ($reader->{copy}, table_of($reader));
	return !(grep { !exists $copy->{$_} || $copy->{$_} ne $table->{$_} } keys %$table) && keys %$copy == keys %$table;
}

sub ends_equal
{
	my ($reader) = @_;
	return eventually(sub { poll($reader); return is_equal($reader) });
}

# ---- a key is inserted again with a smaller stamp than its deletion, which goes on after its first row
$said->(<<'END');
CREATE VIEW "Shop".by_stamp AS SELECT position, stamp, deleted, id FROM "Shop".plain_feed WHERE NOT deleted
UNION ALL SELECT (SELECT mastic_settled('"Shop".plain')::bigint), stamp, true, id FROM "Shop".plain_deleted;
END
my $plain = reader('"Shop".plain', of => '"Shop".plain_feed');
my $control = reader('"Shop".plain', of => '"Shop".by_stamp');
my ($deletes, $inserts, $holder) = map { Session->new($server) } 1 .. 3;
$holder->ask(q{INSERT INTO "Shop".plain VALUES (1, '1'), (2, '1')});
ok(ends_equal($_), 'two rows') for $plain, $control;
$holder->ask('SELECT pg_advisory_lock(1)');
$deletes->send(
	q{DELETE FROM "Shop".plain WHERE CASE WHEN id = 1 THEN true ELSE pg_advisory_lock_shared(1) IS NOT NULL END});
my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'};
ok(eventually(sub { value($server, $waiting) eq '1' }), 'the deletion waits');
$inserts->send(q{INSERT INTO "Shop".plain VALUES (1, '2')});
ok(eventually(sub { value($server, $waiting) eq '2' }), 'the same key waits for it');
$holder->ask('SELECT pg_advisory_unlock(1)');
unlike($_->answer, qr/ERROR/, 'done') for $deletes, $inserts;
is(value($server, 'SELECT h.stamp < d.stamp FROM "Shop".plain h JOIN "Shop".plain_deleted d USING (id)'),
	't', 'the new row has a smaller stamp than the deletion');
ok(ends_equal($plain), 'the reader has the new row');
poll($control) for 1 .. 3;
ok(!is_equal($control), 'control: by stamps alone, it is lost');
$_->gone for $deletes, $inserts, $holder, $control->{session};

# ---- an open deletion holds the position, not the reader
{
	my $open = Session->new($server);
	$said->('SET ROLE app; INSERT INTO "Shop".plain VALUES (70, 1), (71, 1)');
	ok(ends_equal($plain), 'two rows more');
	$open->ask('BEGIN; SET LOCAL ROLE app; DELETE FROM "Shop".plain WHERE id = 70');
	$said->('SET ROLE app; UPDATE "Shop".plain SET body = 2 WHERE id = 71');
	poll($plain);
	is($plain->{copy}{71}, 2, 'a reader gets rows beside an open deletion');
	$open->ask('COMMIT');
	ok(ends_equal($plain), 'and the deletion when it has committed');
	$open->gone;
}

# ---- a deletion wakes who waits for the table
{
	my ($sleeper, $table) = (Session->new($server), q{'"Shop".plain'});
	my $seen = $sleeper->ask("SELECT snowflake_ids_wait($table, 0, '1 s')");
	$seen = $sleeper->ask("SELECT snowflake_ids_wait($table, $seen, '1 ms')");
	my $began = time;
	$sleeper->send("SELECT snowflake_ids_wait($table, $seen, '100 s')");
	ok( eventually(
			sub {
				value($server,
					"SELECT count(*) FROM pg_stat_activity WHERE query ~ '100 s' AND wait_event_type IN ('Extension', 'IPC')"
				) eq '1';
			}),
		'a reader sleeps');
	$said->('SET ROLE app; DELETE FROM "Shop".plain WHERE id = 71');
	isnt($sleeper->answer, $seen, 'a deletion wakes it');
	cmp_ok(time - $began, '<', 90, 'before its timeout');
	ok(ends_equal($plain), 'and it reads the deletion');
	$sleeper->gone;
}

# ---- many
my $keys = 40;

sub changes
{
	my ($table) = @_;
	my $script = "SET ROLE app; SET lock_timeout = '2s';\n";
	for (1 .. 60)
	{
		my ($a, $b) = map { 1 + int rand $keys } 1, 2;
		my $upsert = sub {
			"INSERT INTO $table VALUES ($_[0], nextval('row_ids')) ON CONFLICT (id) DO UPDATE SET body = excluded.body;\n";
		};
		my $delete = sub { "DELETE FROM $table WHERE id = $_[0];\n" };
		my $wait = sprintf "SELECT FROM pg_sleep(%.4f);\n", rand 0.02;
		my @kinds = (
			$upsert->($a) . $delete->($b),
			"BEGIN;\n" . $delete->($a) . $wait . "COMMIT;\n" . $upsert->($a),
			"BEGIN;\n" . $delete->($a) . $wait . $upsert->($a) . $wait . "COMMIT;\n",
			"BEGIN;\n" . $upsert->($a) . $wait . $delete->($a) . "COMMIT;\n",
			"BEGIN;\n" . $delete->($a) . $wait . "ROLLBACK;\n",
			"BEGIN;\nSAVEPOINT s;\n" . $delete->($a) . "ROLLBACK TO s;\n" . $upsert->($b) . $wait . "COMMIT;\n",
			"INSERT INTO $table VALUES ($a, nextval('row_ids')) ON CONFLICT DO NOTHING;\n",
			"WITH d AS (DELETE FROM $table WHERE id = $a RETURNING id) INSERT INTO $table SELECT $keys + id, 0 FROM d ON CONFLICT DO NOTHING;\n",
			"UPDATE $table SET id = $b WHERE id = $a;\n",
			"DELETE FROM $table WHERE id BETWEEN $a AND $b;\n",
			"BEGIN ISOLATION LEVEL REPEATABLE READ;\n" . $delete->($a) . $wait . $upsert->($b) . "COMMIT;\n",
			rand() < 0.2 ? "TRUNCATE $table;\n" : $upsert->($a),
			"BEGIN;\n" . $delete->($a) . "PREPARE TRANSACTION 'p$a.' ;\n${wait}COMMIT PREPARED 'p$a.';\n");
		$script .= $kinds[ rand @kinds ];
	}
	return $script;
}

for my $table ('"Shop".plain', '"Shop".parted')
{
	my @readers = map { reader($table, of => $table =~ s/(\w+)$/$1_feed/r) } 'at once', 'now and then';
	my @jobs = map { Job->new($server, changes($table), 0.01) } 1 .. 3;
	go_on(
		3,
		sub {
			poll($readers[0]);
			poll($readers[1]) if rand() < 0.05;
			$said->("SELECT snowflake_ids.forget_deleted('$table', '-1 hour')") if rand() < 0.05;
			return 1;
		});
	unlike(join('', map { $_->stop } @jobs), qr/cannot note|permission denied|internal/,
		"$table: no writer is refused");
	finish_prepared($server);
	ok(ends_equal($readers[0]), "$table: the copy of a reader is the table");
	ok(ends_equal($readers[1]), "$table: and of one that was told to copy again, $readers[1]{again} times");
	diag sprintf '%-14s %5d polls, copied again %d and %d times', $table, $readers[0]{polls},
	  map { $_->{again} } @readers;
	$_->{session}->gone for @readers;
	is($said->("SELECT count(*) FROM snowflake_ids.check_feed('$table') WHERE NOT ok"), 0,
		"$table: all rules are kept");
}

# ---- the page
my $page = Page->new('doc/feed.md');
$said->('CREATE DATABASE page');
$server->safe_psql('page', 'CREATE EXTENSION snowflake_ids');
$server->safe_psql('page', ($page->blocks('A feed with stamps', 'sql'))[0]{content});
$page->run_chapter($server, 'Deleted rows', dbname => 'page');
my $known = 'SELECT deleted, id FROM headline_feed WHERE stamp > (SELECT stamp FROM headline_deleted WHERE forgotten)';
is($server->safe_psql('page', $known), 't|2', 'a feed without deletions gets them');
$page->all_run;

# ---- a dump, restored by several sessions
$said->(
	'SET ROLE app; INSERT INTO "Shop".plain SELECT n, n FROM generate_series(1, 50) n ON CONFLICT DO NOTHING; DELETE FROM "Shop".plain WHERE id < 20'
);
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$server->command_ok([ 'pg_dump', '-Fd', '-j2', '-f', $dump, '-d', $server->connstr('postgres') ], 'pg_dump');
$said->('CREATE DATABASE restored');
$server->command_ok([ 'pg_restore', '-j2', '-d', $server->connstr('restored'), $dump ], 'pg_restore');
for my $table ('"Shop".plain', '"Shop".parted')
{
	is( $server->safe_psql(
			'restored', "SELECT string_agg(relation || rule, ',') FROM snowflake_ids.check_feed('$table') WHERE NOT ok"
		),
		'',
		"$table: a restored feed keeps all rules");
	is( $server->safe_psql('restored', "SELECT count(*) FROM $table" . '_deleted'),
		$said->("SELECT count(*) FROM $table" . '_deleted'),
		"$table: with its deletions");
	my $at = $server->safe_psql('restored', "SELECT snowflake_ids.feed_position('$table')");
	$server->safe_psql('restored',
		"SET ROLE app; INSERT INTO $table VALUES (1000, 1) ON CONFLICT DO NOTHING; DELETE FROM $table WHERE id = 1000");
	is($server->safe_psql('restored', "SELECT deleted, id FROM ${table}_feed WHERE stamp >= $at"),
		't|1000', "$table: and notes the next one");
}
$plain->{session}->gone;
$server->stop;
done_testing();
