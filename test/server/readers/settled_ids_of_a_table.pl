# Settled ids of one stamped table, beside the sessions that hold them back: what its readers are told, and when. Which
# tables each way of writing holds back is in sql/stamp_held_back.sql, rows with an early id are in sql/stamp.sql, those
# of a subscription in stamps_on_arrival.pl, and tables that change in tables_change.pl.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('settled', $clock, conf => <<'END');
max_prepared_transactions = 5
snowflake_ids.machine_id = 1
snowflake_ids.max_wait = '60s'
END
$server->safe_psql('postgres', <<'END');
CREATE TABLE elsewhere (id bigint DEFAULT gen_mastic() PRIMARY KEY);
CREATE TABLE unrelated (id bigint);
CREATE TABLE plain (id bigint, body text);
CREATE TABLE root (id bigint, body text, part text) PARTITION BY LIST (part);
CREATE TABLE middle PARTITION OF root FOR VALUES IN ('a', 'b') PARTITION BY LIST (part);
CREATE TABLE leaf PARTITION OF middle FOR VALUES IN ('a');
CREATE TABLE sibling PARTITION OF root FOR VALUES IN ('c');
CREATE FUNCTION waits(body text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_lock(1);
	PERFORM pg_advisory_unlock(1);
	RETURN body;
END $$;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON unrelated FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id');
ALTER TABLE unrelated ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id');
ALTER TABLE plain ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON root FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id');
ALTER TABLE root ENABLE ALWAYS TRIGGER zz_stamp;
END
caught_up($server);
my $reader = Session->new($server);

# sessions that wait, and partitions that are being detached
my $waits = q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted};
my $detaching = 'SELECT count(*) FROM pg_inherits WHERE inhdetachpending';

sub settled { my ($table) = @_; return $reader->ask("SELECT mastic_settled('$table')::bigint") }

# Until readers of a table were told that this id has settled.
sub passes
{
	my ($table, $id) = @_;
	return eventually(sub { settled($table) > $id });
}

sub time_passes { my ($id) = @_; passes('unrelated', $id) or die 'nothing settles'; return }

# A session in a transaction with an id that readers of all tables but `elsewhere` have passed.
sub passed_over
{
	my ($begin) = @_;
	my $writer = Session->new($server);
	my $low = $writer->ask(($begin // 'BEGIN') . '; INSERT INTO elsewhere DEFAULT VALUES RETURNING id');
	time_passes($low);
	return ($writer, $low);
}

sub holds_back
{
	my ($name, $id, @tables) = @_;
	cmp_ok(settled($_), '<=', $id, "$name: it holds back readers of $_") for @tables;
	return;
}

# A row holds back the readers of these tables, the first of which has it, and not those of another one.
sub covers
{
	my ($name, $insert, $tables, $not) = @_;
	my ($writer) = passed_over();
	my $told = settled($tables->[0]);
	my $id = $writer->ask("$insert RETURNING id");
	cmp_ok($id, '>=', $told, "$name: no id below what readers were told");
	time_passes($id);
	holds_back($name, $id, @$tables);
	is($reader->ask("SELECT count(*) FROM snowflake_ids.unsettled_transactions('$tables->[0]')"),
		1, "$name: unsettled_transactions() has it");
	ok(passes($not, $id), "$name: it does not hold back $not");
	is($writer->ask('COMMIT'), '', "$name: committed");
	ok(passes($tables->[0], $id), "$name: then it settles");
	return;
}
covers('a row', 'INSERT INTO plain DEFAULT VALUES', ['plain'], 'root');
covers('a row of a partition', q{INSERT INTO leaf (part) VALUES ('a')}, [qw(leaf middle root)], 'sibling');

sub now_passes
{
	my $now = $reader->ask('SELECT mastic_lower_bound(clock_timestamp())::bigint');
	return eventually(sub { $reader->ask('INSERT INTO elsewhere DEFAULT VALUES'); return settled('unrelated') > $now });
}

# A statement has begun, and has chosen its partitions; then its partition is being detached, where it still inserts.
{
	my ($writer, $holder, $ddl) = map { Session->new($server) } 1 .. 3;
	$reader->ask(q{CREATE TABLE leaving PARTITION OF root FOR VALUES IN ('f')});
	$holder->ask('SELECT pg_advisory_lock(1)');
	$writer->send(q{INSERT INTO root (body, part) VALUES (waits('by the root'), 'f') RETURNING id});
	ok(eventually(sub { $reader->ask($waits) == 1 }), 'a row by the root waits for its other column');
	$ddl->send('ALTER TABLE root DETACH PARTITION leaving CONCURRENTLY');
	ok(eventually(sub { $reader->ask($detaching) == 1 }), 'DETACH CONCURRENTLY has begun');
	now_passes();
	my $told = settled('leaving');
	$holder->ask('SELECT pg_advisory_unlock(1)');
	my $id = $writer->answer;
	cmp_ok($id, '>=', $told, 'its id is not below what readers of the partition were told');
	is($ddl->answer, '', 'then the partition is detached');
	is($reader->ask('SELECT id FROM leaving'), $id, 'and has the row');
	like($reader->ask(q{SELECT mastic_settled('leaving')}), qr/has no trigger/, 'but the trigger no more');
	$_->gone for $writer, $holder, $ddl;
}

# While a partition is detached, earlier transactions still write to it.
{
	my ($writer) = passed_over('BEGIN ISOLATION LEVEL REPEATABLE READ');
	$writer->ask(q{INSERT INTO root (body, part) VALUES ('before', 'c')});
	my $ddl = Session->new($server);
	$ddl->send('ALTER TABLE root DETACH PARTITION sibling CONCURRENTLY');
	ok(eventually(sub { $reader->ask($detaching) == 1 }), 'DETACH CONCURRENTLY has begun');
	my $id = $writer->ask(q{INSERT INTO root (body, part) VALUES ('during', 'c') RETURNING id});
	time_passes($id);
	holds_back('by the parent, while a partition is detached', $id, 'sibling');
	$writer->ask('COMMIT');
	is($ddl->answer, '', 'it is detached');
	$_->gone for $writer, $ddl;
}

# ---- ids that a reader has passed: a later lock, and the clock is back
$clock->step(30);
for my $way ('', q{INSERT INTO elsewhere SELECT FROM generate_series(1, 10); })
{
	my ($writer, $low) = passed_over();
	my $told = settled('plain');
	$clock->step(-20);
	my $id = $writer->ask("${way}INSERT INTO plain (body) VALUES ('back $told') RETURNING id");
	cmp_ok($id, '>=', $told, 'a step back after the table has settled: its next id keeps that');
	$writer->ask('COMMIT');
	$clock->step(20);
}

# In one statement, whose numbers were claimed before. A tick is a second, and the clock comes back into it.
$server->safe_psql('postgres', <<'END');
SELECT snowflake_layout_create('slow', '2020-01-01', '1 s', 32, 10, 12);
CREATE TABLE slow (id bigint, n int);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON slow FOR EACH ROW EXECUTE FUNCTION snowflake_stamp('slow', 'id');
ALTER TABLE slow ENABLE ALWAYS TRIGGER zz_stamp;
CREATE FUNCTION in_one_statement() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE first bigint; last bigint;
BEGIN
	FOR n IN 1 .. 20 LOOP first := gen_snowflake('slow'); END LOOP;
	PERFORM pg_advisory_lock(1);
	PERFORM pg_advisory_unlock(1);
	INSERT INTO slow VALUES (DEFAULT, 1) RETURNING id INTO last;
	RETURN last;
END $$;
END

# Readers pass the tick of the ids, and the clock comes back into it. Returns what they were told.
sub pass_and_come_back
{
	my $next = q{snowflake_lower_bound('slow', (SELECT max(first_id_time) FROM snowflake_ids.unsettled))};
	$clock->step(3);
	ok(eventually(sub { $reader->ask("SELECT snowflake_settled('slow', 'slow') >= $next") eq 't' }),
		'readers have passed the tick');
	my $told = $reader->ask(q{SELECT snowflake_settled('slow', 'slow')});
	$clock->set_to($reader->ask("SELECT extract(epoch FROM snowflake_timestamp($next, 'slow')) - 0.95"));
	return $told;
}

sub begin_tick { $clock->step(2.05 - ($clock->now - int $clock->now)); return }
{
	my ($writer, $holder) = map { Session->new($server) } 1 .. 2;
	$holder->ask('SELECT pg_advisory_lock(1)');
	begin_tick();
	$writer->send('SELECT in_one_statement()');
	ok(eventually(sub { $reader->ask($waits) == 1 }), 'a statement waits that has claimed numbers');
	my $told = pass_and_come_back();
	$holder->ask('SELECT pg_advisory_unlock(1)');
	cmp_ok($writer->answer, '>=', $told, 'numbers that were claimed before: not used below what readers were told');
	$clock->step(10);

	# In two statements: numbers of a tick in which the transaction has generated ids.
	begin_tick();
	$writer->ask(q{BEGIN; SELECT gen_snowflake('slow')});
	$told = pass_and_come_back();
	cmp_ok($writer->ask('INSERT INTO slow VALUES (DEFAULT, 2) RETURNING id'),
		'>=', $told, 'nor are numbers claimed below it');
	$writer->ask('COMMIT');
	$clock->step(10);
	$_->gone for $writer, $holder;
	caught_up($server);
}

# ---- two-phase
{
	my ($writer, $low) = passed_over();
	my $id = $writer->ask(q{INSERT INTO plain (body) VALUES ('prepared') RETURNING id});
	$writer->ask(q{PREPARE TRANSACTION 'one'});
	time_passes($id);
	holds_back('prepared', $id, 'plain');
	is($reader->ask(q{SELECT count(*) FROM snowflake_ids.unsettled_transactions('plain') WHERE pid IS NULL}),
		1, 'unsettled_transactions() has it');
	$reader->ask(q{COMMIT PREPARED 'one'});
	ok(passes('plain', $id), 'committed: it settles');
	$_->gone for $writer;
}

# ---- prepared before anybody generated an id
{
	$reader->gone;
	my $writer = Session->new($server);
	restart_after($server, 'immediate');
	$writer->gone;
	$writer = Session->new($server);
	$writer->ask(q{BEGIN; INSERT INTO plain (body) SELECT 'no id' WHERE false; CREATE TABLE made (n int); }
		  . q{PREPARE TRANSACTION 'no id'});
	$reader = Session->new($server);
	caught_up($server);
	my $id = $reader->ask('INSERT INTO unrelated DEFAULT VALUES RETURNING id');
	ok( eventually(sub { $reader->ask("SELECT mastic_settled()::bigint > $id") eq 't' }),
		'a transaction that was prepared after the start, and has drawn nothing, holds nobody back');
	is($reader->ask('SELECT count(*) FROM snowflake_ids.unsettled'), 0, 'nor is it in the view');
	$reader->ask(q{ROLLBACK PREPARED 'no id'});
}

# ---- temporary tables of other sessions
{
	my $other = Session->new($server);
	my $oid =
	  $other->ask('CREATE TEMP TABLE own (id mastic); CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON own '
		  . 'FOR EACH ROW EXECUTE FUNCTION mastic_stamp($$id$$); ALTER TABLE own ENABLE ALWAYS TRIGGER zz_stamp; SELECT $$own$$::regclass::oid'
	  );
	fails_with(
		$reader,
		"\\set VERBOSITY verbose\nSELECT mastic_settled($oid)",
		'a temporary table of another session',
		qr/0A000: "own" is a temporary table of another session/,
		qr/HINT:  Only that session can read it\. Call the function in that session\./);
	is($other->ask('SELECT mastic_settled($$own$$) IS NOT NULL'), 't', 'that session may ask');
}

done_testing();
