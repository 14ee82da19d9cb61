# Settled ids of one table: whose transactions hold them back, for each way in which a row comes into a table. What is
# not covered is shown as well, because snowflake_ids_settled() and its like without a table do cover it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('settled', $clock, allows_streaming => 'logical', conf => <<'END');
max_prepared_transactions = 5
snowflake_ids.machine_id = 1
snowflake_ids.max_wait = '60s'
END
$server->safe_psql('postgres', <<'END');
CREATE TABLE elsewhere (id bigint DEFAULT gen_mastic() PRIMARY KEY);
CREATE TABLE unrelated (id bigint DEFAULT gen_mastic() PRIMARY KEY);
CREATE TABLE plain (id bigint DEFAULT gen_mastic() PRIMARY KEY, body text UNIQUE);
CREATE TABLE source (body text, note text);

CREATE TABLE by_trigger (id bigint, body text);
CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := gen_mastic(); RETURN NEW; END';
CREATE TRIGGER t BEFORE INSERT ON by_trigger FOR EACH ROW EXECUTE FUNCTION set_id();
CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO plain (body) VALUES (NEW.note); RETURN NEW; END $$;
CREATE TRIGGER t AFTER INSERT ON source FOR EACH ROW EXECUTE FUNCTION log();
CREATE TABLE source_later (note text);
CREATE CONSTRAINT TRIGGER t AFTER INSERT ON source_later DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION log();
CREATE TABLE ruled (id bigint DEFAULT gen_mastic(), body text);
CREATE RULE r AS ON INSERT TO ruled DO ALSO INSERT INTO plain VALUES (NEW.id, NEW.body);
CREATE PROCEDURE inserts(body text) LANGUAGE plpgsql AS $$
BEGIN
	COMMIT;
	INSERT INTO elsewhere DEFAULT VALUES;
	INSERT INTO plain (body) VALUES (body);
	PERFORM pg_advisory_lock(1);
	PERFORM pg_advisory_unlock(1);
END $$;
CREATE FUNCTION inserted(body text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE id bigint;
BEGIN INSERT INTO plain (body) VALUES (inserted.body) RETURNING plain.id INTO id; RETURN id; END $$;

CREATE TABLE root (id bigint DEFAULT gen_mastic(), body text, part text) PARTITION BY LIST (part);
CREATE TABLE middle PARTITION OF root FOR VALUES IN ('a', 'b') PARTITION BY LIST (part);
CREATE TABLE leaf PARTITION OF middle FOR VALUES IN ('a');
CREATE TABLE sibling PARTITION OF root FOR VALUES IN ('c');
CREATE TABLE other PARTITION OF root FOR VALUES IN ('g');
CREATE FUNCTION waits(body text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_lock(1);
	PERFORM pg_advisory_unlock(1);
	RETURN body;
END $$;
CREATE TABLE parent (id bigint DEFAULT gen_mastic(), body text);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);

CREATE TABLE copied (id bigint, body text);
CREATE FUNCTION copy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO copied VALUES (NEW.id, NEW.body); RETURN NEW; END $$;
CREATE TABLE copied_from (id bigint DEFAULT gen_mastic(), body text);
CREATE TRIGGER t AFTER INSERT ON copied_from FOR EACH ROW EXECUTE FUNCTION copy();
CREATE VIEW over_copied AS SELECT * FROM copied;
ALTER VIEW over_copied ALTER id SET DEFAULT gen_mastic();
CREATE FUNCTION copy_later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_lock(1);
	PERFORM pg_advisory_unlock(1);
	INSERT INTO copied VALUES (NEW.id, NEW.body);
	RETURN NEW;
END $$;
CREATE TRIGGER t INSTEAD OF INSERT ON over_copied FOR EACH ROW EXECUTE FUNCTION copy_later();
CREATE EXTENSION dblink;
CREATE EXTENSION postgres_fdw;
CREATE DATABASE publisher;
END
caught_up($server);
my $reader = Session->new($server);
my $ways = 0;

# How many sessions wait in waits() and the like, and how many partitions are being detached.
my $waits = q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted};
my $detaching = 'SELECT count(*) FROM pg_inherits WHERE inhdetachpending';

sub settled { my ($table) = @_; return $reader->ask("SELECT mastic_settled('$table')::bigint") }

# Waits until readers of a table have been told that this id has settled.
sub passes
{
	my ($table, $id) = @_;
	return eventually(sub { settled($table) > $id });
}

# Waits until any table that is not held back has settled past this id.
sub time_passes { my ($id) = @_; passes('unrelated', $id) or die 'nothing settles'; return }

# The same while all tables are held back.
sub clock_passes
{
	my ($id) = @_;
	eventually(
		sub { $reader->ask("SELECT mastic_lower_bound(clock_timestamp() - interval '20 ms')::bigint > $id") eq 't' })
	  or die 'the clock stands still';
	return;
}

# A session in a transaction that has drawn, and been passed over by readers of all tables but `elsewhere`.
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

# The writer does something, with NAME for its row. $tables: of what it holds back; the first one has the row.
sub covers
{
	my ($name, $does, $tables, %o) = @_;
	my @tables = ref $tables ? @$tables : ($tables);
	my ($writer) = passed_over();
	my $told = settled($tables[0]);
	my $row = 'row ' . ++$ways;
	my $said = $writer->ask($does =~ s/NAME/$row/gr);
	unlike($said, qr/ERROR/, $name);
	my $id = $writer->ask("SELECT min(id) FROM $tables[0] WHERE body = '$row'");
	cmp_ok($id, '>=', $told, "$name: no id below what readers were told");
	time_passes($id);
	holds_back($name, $id, @tables);
	is($reader->ask("SELECT count(*) FROM snowflake_ids.unsettled_transactions('$tables[0]')"),
		1, "$name: unsettled_transactions() has it");
	cmp_ok(settled($_), '>', $id, "$name: it does not hold back $_") for @{ $o{not} // [] };
	is($writer->ask('COMMIT'), '', "$name: committed");
	ok(passes($tables[0], $id), "$name: then it settles");
	return;
}

covers('a DEFAULT', q{INSERT INTO plain (body) VALUES ('NAME')}, 'plain', not => ['ruled']);
covers('a trigger that sets the id', q{INSERT INTO by_trigger (body) VALUES ('NAME')}, 'by_trigger');
covers(
	'another table\'s trigger that inserts',
	q{INSERT INTO source (note) VALUES ('NAME')},
	[ 'plain', 'source' ],
	not => ['ruled']);
covers('a deferred one', q{INSERT INTO source_later VALUES ('NAME'); SET CONSTRAINTS ALL IMMEDIATE}, 'plain');
covers('a rule with NEW.id', q{INSERT INTO ruled (body) VALUES ('NAME')}, 'plain');
covers('a CTE', q{WITH x AS (INSERT INTO plain (body) VALUES ('NAME') RETURNING id) SELECT count(*) FROM x}, 'plain');
covers(
	'MERGE',
	q{MERGE INTO plain p USING (VALUES ('NAME')) x (b) ON p.body = x.b WHEN NOT MATCHED THEN INSERT (body) VALUES (b)},
	'plain');
covers('ON CONFLICT',
	q{INSERT INTO plain (body) VALUES ('NAME') ON CONFLICT (body) DO UPDATE SET body = excluded.body}, 'plain');
covers('COPY', "COPY plain (body) FROM stdin;\nNAME\n\\.\n", 'plain');
covers('COPY FREEZE', "TRUNCATE by_trigger; COPY by_trigger (body) FROM stdin (FREEZE);\nNAME\n\\.\n", 'by_trigger');
covers('after a savepoint', q{SAVEPOINT s; INSERT INTO plain (body) VALUES ('NAME'); RELEASE s}, 'plain');
covers('after ROLLBACK TO',
	q{SAVEPOINT s; INSERT INTO plain (body) VALUES ('gone'); ROLLBACK TO s; INSERT INTO plain (body) VALUES ('NAME')},
	'plain');
covers('SELECT of a function that inserts', q{SELECT inserted('NAME')}, 'plain');
covers('CLUSTER before', q{CLUSTER plain USING plain_pkey; INSERT INTO plain (body) VALUES ('NAME')}, 'plain');

# ---- partitions and children
my @above = qw(leaf middle root);
covers("a row by $_", "INSERT INTO $_ (body, part) VALUES ('NAME', 'a')", \@above) for qw(root middle);
covers('a row by the leaf', q{INSERT INTO leaf VALUES (gen_mastic(), 'NAME', 'a')}, \@above, not => ['sibling']);
covers('a row of a child', q{INSERT INTO grandchild (body) VALUES ('NAME')}, [qw(grandchild child parent)]);
covers(
	'a new partition, then a row',
	q{CREATE TABLE b PARTITION OF middle FOR VALUES IN ('b'); INSERT INTO root (body, part) VALUES ('NAME', 'b')},
	[qw(root middle)]);
covers(
	'a new child, then a row',
	q{CREATE TABLE new_child () INHERITS (child); INSERT INTO new_child (body) VALUES ('NAME')},
	[qw(child parent)]);
covers('ATTACH, then a row', <<'END', ['root']);
CREATE TABLE attached (id bigint DEFAULT gen_mastic(), body text, part text);
ALTER TABLE root ATTACH PARTITION attached FOR VALUES IN ('d'); INSERT INTO attached (body, part) VALUES ('NAME', 'd')
END

covers(
	'an UPDATE that moves a row, with a new id',
	q{INSERT INTO root (body, part) VALUES ('to move', 'c'); }
	  . q{UPDATE root SET body = 'NAME', part = 'a', id = DEFAULT WHERE body = 'to move'},
	\@above);

# A row by the root has its id before its partition is locked.
{
	my ($writer, $holder) = map { Session->new($server) } 1 .. 2;
	$holder->ask('SELECT pg_advisory_lock(1)');
	$writer->send(q{INSERT INTO root (body, part) VALUES (waits('by the root'), 'a') RETURNING id});
	ok(eventually(sub { $reader->ask($waits) == 1 }), 'a row by the root waits for its other column');
	is($reader->ask(q{SELECT count(*) FROM pg_locks WHERE relation IN ('leaf'::regclass, 'middle'::regclass)}),
		0, 'and has locked no partition');
	time_passes($reader->ask('SELECT mastic_lower_bound(max(first_id_time))::bigint FROM snowflake_ids.unsettled'));
	my @told = map { settled($_) } @above;
	$holder->ask('SELECT pg_advisory_unlock(1)');
	my $id = $writer->answer;
	cmp_ok($id, '>=', $told[$_], "it has held back readers of $above[$_]") for 0 .. $#above;
}

# The same while the partition is being detached. The statement has chosen its partitions before, so it still inserts
# there, and until then the partition's readers wait for it by the parent's lock only.
{
	my ($writer, $holder, $ddl) = map { Session->new($server) } 1 .. 3;
	$reader->ask(q{CREATE TABLE leaving PARTITION OF root FOR VALUES IN ('f')});
	$holder->ask('SELECT pg_advisory_lock(1)');
	$writer->send(q{INSERT INTO root (body, part) VALUES (waits('by the root'), 'f') RETURNING id});
	ok(eventually(sub { $reader->ask($waits) == 1 }), 'a row by the root waits for its other column');
	$ddl->send('ALTER TABLE root DETACH PARTITION leaving CONCURRENTLY');
	ok(eventually(sub { $reader->ask($detaching) == 1 }), 'DETACH CONCURRENTLY has begun');
	is($reader->ask(q{SELECT count(*) FROM pg_locks WHERE relation = 'leaving'::regclass}),
		0, 'and nobody has locked the partition');
	time_passes($reader->ask('SELECT mastic_lower_bound(max(first_id_time))::bigint FROM snowflake_ids.unsettled'));
	my $told = settled('leaving');
	is($reader->ask(q{SELECT count(*) FROM snowflake_ids.unsettled_transactions('leaving')}),
		1, 'unsettled_transactions() has the writer');
	$holder->ask('SELECT pg_advisory_unlock(1)');
	my $id = $writer->answer;
	cmp_ok($id, '>=', $told, 'it has held back readers of the partition');
	is($ddl->answer, '', 'then the partition is detached');
	is($reader->ask('SELECT id FROM leaving'), $id, 'and has the row');
	ok(passes('leaving', $id), 'which settles');
	$_->gone for $writer, $holder, $ddl;
}

# While a partition is detached, transactions that began before still write to it by its parent.
{
	my ($writer, $low) = passed_over('BEGIN ISOLATION LEVEL REPEATABLE READ');
	$writer->ask(q{INSERT INTO root (body, part) VALUES ('before', 'c')});
	my $ddl = Session->new($server);
	$ddl->send('ALTER TABLE root DETACH PARTITION sibling CONCURRENTLY');
	ok(eventually(sub { $reader->ask($detaching) == 1 }), 'DETACH CONCURRENTLY has begun');
	my $id = $writer->ask(q{INSERT INTO root (body, part) VALUES ('during', 'c') RETURNING id});
	time_passes($id);
	holds_back('by the parent, while a partition is detached', $low, 'sibling');
	$writer->ask('COMMIT');
	is($ddl->answer, '', 'it is detached');
	$_->gone for $writer, $ddl;
}

# ---- a procedure, dblink, postgres_fdw
{
	my ($writer, $holder) = map { Session->new($server) } 1 .. 2;
	$holder->ask('SELECT pg_advisory_lock(1)');
	$writer->send(q{CALL inserts('called')});
	ok(eventually(sub { $reader->ask(q{SELECT count(*) FROM snowflake_ids.unsettled_transactions('plain')}) == 1 }),
		'a procedure has inserted');
	my $low =
	  $reader->ask(
		q{SELECT mastic_lower_bound(first_id_time)::bigint FROM snowflake_ids.unsettled_transactions('plain')});
	time_passes($low);
	holds_back('a procedure', $low, 'plain');
	$holder->ask('SELECT pg_advisory_unlock(1)');
	$writer->answer;
	ok(passes('plain', $reader->ask(q{SELECT id FROM plain WHERE body = 'called'})), 'a procedure: then it settles');
	$_->gone for $writer, $holder;

	my ($writer_of, $drew) = passed_over();
	my $remote = $server->connstr('postgres') =~ s/'/''/gr;
	$writer_of->ask("SELECT dblink_connect('c', '$remote'); SELECT dblink_exec('c', 'BEGIN')");
	my $id = $writer_of->ask(q{SELECT * FROM dblink('c', $$SELECT inserted('by dblink')$$) AS x (id bigint)});
	time_passes($id);
	holds_back('dblink to the same server', $id, 'plain');
	$writer_of->ask(q{SELECT dblink_exec('c', 'COMMIT'); COMMIT});
	ok(passes('plain', $id), 'dblink: then it settles');
	$writer_of->gone;

	# Without a column for the id, so that the table itself generates it; the second one shows what it was.
	my ($host, $port) = ($server->host, $server->port);
	$reader->ask(<<"END");
CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER itself;
CREATE FOREIGN TABLE plain_from_afar (body text) SERVER itself OPTIONS (table_name 'plain');
CREATE FOREIGN TABLE ids_from_afar (id bigint DEFAULT gen_mastic(), body text) SERVER itself OPTIONS (table_name 'plain')
END
	($writer_of) = passed_over();
	my $told = settled('plain');
	is($writer_of->ask(q{INSERT INTO plain_from_afar VALUES ('by postgres_fdw')}), '', 'postgres_fdw inserts');
	$id = $writer_of->ask(q{SELECT id FROM ids_from_afar WHERE body = 'by postgres_fdw'});
	cmp_ok($id, '>=', $told, 'postgres_fdw to the same server: no id below what readers were told');
	time_passes($id);
	holds_back('postgres_fdw to the same server', $id, 'plain');
	$writer_of->ask('COMMIT');
	ok(passes('plain', $id), 'postgres_fdw: then it settles');
	$writer_of->gone;
}

# ---- rows that logical replication brings: the publisher is another database of this server
{
	$server->safe_psql('publisher', <<'END');
CREATE EXTENSION snowflake_ids;
CREATE TABLE brought (body text PRIMARY KEY);
CREATE TABLE with_ids (id bigint DEFAULT gen_mastic() PRIMARY KEY, body text);
CREATE PUBLICATION all_rows FOR TABLE brought, with_ids;
SELECT pg_create_logical_replication_slot('all_rows', 'pgoutput');
END
	my $publisher = $server->connstr('publisher') =~ s/'/''/gr;
	$server->safe_psql('postgres', <<"END");
CREATE TABLE brought (id bigint DEFAULT gen_mastic(), body text PRIMARY KEY);
CREATE TABLE with_ids (id bigint PRIMARY KEY, body text);
CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.waits(NULL); RETURN NEW; END';
CREATE TRIGGER waits BEFORE INSERT ON brought FOR EACH ROW EXECUTE FUNCTION wait_for_lock();
ALTER TABLE brought ENABLE ALWAYS TRIGGER waits;
CREATE SUBSCRIPTION all_rows CONNECTION '$publisher' PUBLICATION all_rows
	WITH (create_slot = false, copy_data = false);
END

	# It says that a server with subscriptions should not generate mastics.
	my $far = Session->new($server, dbname => 'publisher', options => '-c client_min_messages=error');
	my $holder = Session->new($server);
	$holder->ask('SELECT pg_advisory_lock(1)');
	$far->ask(q{INSERT INTO brought VALUES ('replicated')});
	ok(eventually(sub { $reader->ask($waits) == 1 }),
		'an apply worker has the id of a column that only the subscriber has');
	my $low = $reader->ask('SELECT mastic_lower_bound(max(first_id_time))::bigint FROM snowflake_ids.unsettled');
	time_passes($low);
	holds_back('an apply worker', $low, 'brought');
	cmp_ok(settled('plain'), '>', $low, 'an apply worker: it does not hold back plain');
	my $told = settled('brought');
	$holder->ask('SELECT pg_advisory_unlock(1)');
	ok(eventually(sub { $reader->ask('SELECT count(*) FROM brought') == 1 }), 'an apply worker: the row is there');
	my $id = $reader->ask('SELECT id FROM brought');
	cmp_ok($id, '>=', $told, 'an apply worker: no id below what readers were told');
	ok(passes('brought', $id), 'an apply worker: then it settles');

	# What the publisher has generated may arrive at any time.
	$reader->ask('ALTER SUBSCRIPTION all_rows DISABLE');
	$id = $far->ask(q{INSERT INTO with_ids (body) VALUES ('replicated') RETURNING id});
	ok(passes('with_ids', $id), q{the publisher's ids: they do not hold back readers of the table});
	ok(eventually(sub { $reader->ask('SELECT mastic_settled()::bigint') > $id }), 'nor those without a table');
	$reader->ask('ALTER SUBSCRIPTION all_rows ENABLE');
	ok(eventually(sub { $reader->ask('SELECT id FROM with_ids') eq $id }), 'the row comes too late');
	$reader->ask('DROP SUBSCRIPTION all_rows');
	$_->gone for $far, $holder;
	only_connected($server, $reader);
	$server->safe_psql('postgres', 'DROP DATABASE publisher');
}

# ---- ids that a reader has passed: a transaction locks the table later, and the clock is back
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

# The same within a statement, whose numbers were claimed before. Its tick is a second long, and the clock comes back into it.
$server->safe_psql('postgres', <<'END');
SELECT snowflake_layout_create('slow', '2020-01-01', '1 s', 32, 10, 12);
CREATE TABLE slow (id bigint DEFAULT gen_snowflake('slow'), n int);
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

# Readers of the table pass the tick of the ids that are drawn, and the clock comes back into it. Returns what they were
# told.
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

# Waits until a tick has just begun.
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

	# In two statements of a transaction: numbers are claimed in a tick that the transaction has drawn in.
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

# ---- locks that end while rows remain
my $loses_its_lock = <<'END' =~ s/\n/ /gr;
DECLARE c CURSOR FOR SELECT inserted('lost ' || n || ' NAME') / (2 - n) FROM generate_series(1, 2) n;
FETCH c; SAVEPOINT s; FETCH c; ROLLBACK TO s
END

sub loses_lock
{
	my ($name) = @_;
	my ($writer) = passed_over();
	my $said = $writer->ask($loses_its_lock =~ s/NAME/$name/gr);
	my ($id) = $said =~ /^(\d+)$/m;
	like($said, qr/division by zero/, 'a FETCH fails in a savepoint');
	is( $writer->ask(q{SELECT count(*) FROM pg_locks WHERE relation = 'plain'::regclass AND mode = 'RowExclusiveLock'}),
		0, 'and the lock is gone');
	return ($writer, $id);
}
{
	my ($writer, $id) = loses_lock('open');
	clock_passes($id);
	holds_back('locks lost', $id, 'plain', 'unrelated');
	$writer->ask('COMMIT');
	ok(passes('plain', $id), 'locks lost: it settles after the end');
	ok(passes('unrelated', $id), 'also for the other tables');
	is($writer->ask('BEGIN; INSERT INTO elsewhere DEFAULT VALUES'), '', 'the next transaction');
	ok(passes('unrelated', $writer->ask('SELECT max(id) FROM elsewhere')), 'is as any other');
	$writer->ask('COMMIT');
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

	($writer, $id) = loses_lock('two');
	$writer->ask(q{PREPARE TRANSACTION 'two'});
	clock_passes($id);
	holds_back('prepared, with locks lost', $id, 'plain', 'unrelated');
	is($reader->ask(q{SELECT count(*) FROM snowflake_ids.unsettled_transactions('unrelated')}),
		1, 'unsettled_transactions() has it');
	$writer->gone;
}

# ---- a restart: what was prepared before holds back its own tables, for nobody knows what it has drawn
{
	my $writer = Session->new($server);
	$writer->ask(q{BEGIN; INSERT INTO by_trigger (body) VALUES ('prepared'); PREPARE TRANSACTION 'three'});
	my $prepared = q{SELECT string_agg(gid, ' ' ORDER BY gid) FROM pg_prepared_xacts JOIN }
	  . q{snowflake_ids.unsettled_transactions('%s') u USING (transaction) WHERE first_id_time = '-infinity'};
	$_->gone for $writer, $reader;
	restart_after($server, 'immediate');
	caught_up($server);
	$reader = Session->new($server);
	$reader->ask('INSERT INTO unrelated DEFAULT VALUES');
	is(settled('unrelated'), 0, 'prepared before a restart, with locks lost: nothing settles');
	is($reader->ask(sprintf $prepared, 'unrelated'), 'two', 'and one sees why');
	$reader->ask(q{COMMIT PREPARED 'two'});
	my $id = $reader->ask('INSERT INTO unrelated DEFAULT VALUES RETURNING id');
	ok(passes('unrelated', $id), 'prepared before a restart: other tables settle');
	is(settled('by_trigger'), 0, 'its own does not');
	is($reader->ask(sprintf $prepared, 'by_trigger'), 'three', 'and one sees why');
	$reader->ask(q{COMMIT PREPARED 'three'});
	ok(passes('by_trigger', $id), 'it does when that is over');
}

# ---- a transaction that was prepared after the start, before anybody drew an id: it has drawn none
{
	$reader->gone;
	my $writer = Session->new($server);
	restart_after($server, 'immediate');
	$writer->gone;
	$writer = Session->new($server);
	$writer->ask(q{BEGIN; INSERT INTO source (body) SELECT 'no id' WHERE false; CREATE TABLE made (n int); }
		  . q{PREPARE TRANSACTION 'no id'});
	$reader = Session->new($server);
	caught_up($server);
	my $id = $reader->ask('INSERT INTO unrelated DEFAULT VALUES RETURNING id');
	ok( eventually(sub { $reader->ask("SELECT mastic_settled()::bigint > $id") eq 't' }),
		'a transaction that was prepared after the start, and has drawn nothing, holds nobody back');
	is($reader->ask('SELECT count(*) FROM snowflake_ids.unsettled'), 0, 'nor is it in the view');
	$reader->ask(q{ROLLBACK PREPARED 'no id'});
}

# ---- not covered: ids that the statement that inserts does not generate. All of it is covered without a table
sub not_covered
{
	my ($name, $table, @does) = @_;
	my $writer = Session->new($server);
	my $drawn = $writer->ask("BEGIN; $does[0]");
	my ($id) = $drawn =~ /^(\d+)$/m;
	time_passes($id);
	cmp_ok($reader->ask('SELECT mastic_settled()::bigint'), '<=', $id, "$name: it holds back those without a table");
	cmp_ok(settled($table), '>', $id, "$name: it does not hold back readers of $table") unless $does[1] eq '';
	my $row = 'row ' . ++$ways;
	unlike($writer->ask(($does[1] =~ s/ID/$id/r =~ s/NAME/$row/gr) . '; COMMIT'), qr/ERROR/, "$name: the row");
	cmp_ok($reader->ask("SELECT min(id) FROM $table WHERE body = '$row'"), '<=', $id, "$name: it comes too late");
	return;
}
not_covered('an id drawn first', 'plain', 'SELECT gen_mastic()', q{INSERT INTO plain VALUES (ID, 'NAME')});
not_covered(
	'NEW.id copied by the trigger of another table',
	'copied',
	q{CREATE TEMP TABLE kept AS SELECT gen_mastic()::bigint AS id; SELECT id FROM kept},
	q{INSERT INTO copied_from SELECT id, 'NAME' FROM kept});
not_covered(
	'a table that is filled, then attached',
	'root',
	q{CREATE TABLE filled (id bigint DEFAULT gen_mastic(), body text, part text); }
	  . q{INSERT INTO filled (body, part) VALUES ('NAME', 'e') RETURNING id},
	q{UPDATE filled SET body = 'NAME'; ALTER TABLE root ATTACH PARTITION filled FOR VALUES IN ('e')});

# The statement generates the id, and locks the table only after that: here it waits in between.
$reader->ask(<<'END');
CREATE FUNCTION takes(id bigint, body text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM waits('');
	INSERT INTO plain VALUES (id, body);
END $$;
CREATE FUNCTION has_variable(body text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	id bigint := gen_mastic();
BEGIN
	PERFORM takes(id, body);
END $$
END
for (
	[ 'the default of a view', 'copied', q{INSERT INTO over_copied (body) VALUES ('NAME')} ],
	[ 'the default of a foreign table', 'plain', q{INSERT INTO ids_from_afar (body) VALUES (waits('NAME'))} ],
	[ 'an argument of a function', 'plain', q{SELECT takes(gen_mastic()::bigint, 'NAME')} ],
	[ 'a variable of PL/pgSQL', 'plain', q{SELECT has_variable('NAME')} ])
{
	my ($name, $table, $does) = @$_;
	my ($writer, $holder) = map { Session->new($server) } 1 .. 2;
	my $row = 'row ' . ++$ways;
	$holder->ask('SELECT pg_advisory_lock(1)');
	$writer->send($does =~ s/NAME/$row/r);
	ok(eventually(sub { $reader->ask($waits) == 1 }), "$name: generated, and waits");
	time_passes($reader->ask('SELECT mastic_lower_bound(max(first_id_time))::bigint FROM snowflake_ids.unsettled'));
	my ($told, $told_all) = (settled($table), $reader->ask('SELECT mastic_settled()::bigint'));
	$holder->ask('SELECT pg_advisory_unlock(1)');
	is($writer->answer, '', "$name: the row");
	my $id = $reader->ask("SELECT id FROM $table WHERE body = '$row'");
	cmp_ok($id, '<', $told, "$name: it comes too late");
	cmp_ok($id, '>=', $told_all, "$name: not for those without a table");
	$_->gone for $writer, $holder;
}

# By neither: an UPDATE moves a row that has its id into the partition that is read. With a new id it is covered, above.
{
	my $id = $reader->ask(q{INSERT INTO root (body, part) VALUES ('moves', 'g') RETURNING id});
	ok(passes('leaf', $id), 'a row of another partition has settled');
	ok(eventually(sub { $reader->ask('SELECT mastic_settled()::bigint') > $id }), 'also without a table');
	$reader->ask(q{UPDATE root SET part = 'a' WHERE body = 'moves'});
	is($reader->ask(q{SELECT id FROM leaf WHERE body = 'moves'}), $id, 'an UPDATE moves it: it comes too late');
}

# ---- temporary tables of other sessions
{
	my $other = Session->new($server);
	my $oid = $other->ask('CREATE TEMP TABLE own (id mastic DEFAULT gen_mastic()); SELECT $$own$$::regclass::oid');
	fails_with(
		$reader,
		"\\set VERBOSITY verbose\nSELECT mastic_settled($oid)",
		'a temporary table of another session',
		qr/0A000: "own" is a temporary table of another session/,
		qr/HINT:  Only that session can read it\. Call the function in that session\./);
	is($other->ask('SELECT mastic_settled($$own$$) IS NOT NULL'), 't', 'that session may ask');
}
done_testing();
