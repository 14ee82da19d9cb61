# Settled ids of one stamped table: whose transactions hold them back, for each way in which a row comes into a table,
# and whatever id the statement had for it.
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
CREATE TABLE unrelated (id bigint);
CREATE TABLE plain (id bigint DEFAULT gen_mastic(), body text UNIQUE);
CREATE INDEX plain_id ON plain (id);
CREATE TABLE source (id bigint, body text, note text);
CREATE TABLE no_default (id bigint, body text);
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
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY '{unrelated, plain, source, no_default, ruled, root, parent, child, grandchild, copied}'::text[] LOOP
		EXECUTE format('CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION mastic_stamp(%L)', t, 'id');
	END LOOP;
END $$;
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

# The writer does something, with NAME for its row. $tables: those that it holds back; the first has the row
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
covers('a column without a DEFAULT', q{INSERT INTO no_default (body) VALUES ('NAME')}, 'no_default');
covers('an UPDATE', q{INSERT INTO plain (body) VALUES ('old'); UPDATE plain SET body = 'NAME' WHERE body = 'old'},
	'plain');
covers('an UPDATE of a key', q{INSERT INTO source VALUES (1); UPDATE source SET body = 'NAME', id = 1}, 'source');
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
covers('COPY FREEZE', "TRUNCATE no_default; COPY no_default (body) FROM stdin (FREEZE);\nNAME\n\\.\n", 'no_default');
covers('after a savepoint', q{SAVEPOINT s; INSERT INTO plain (body) VALUES ('NAME'); RELEASE s}, 'plain');
covers('after ROLLBACK TO',
	q{SAVEPOINT s; INSERT INTO plain (body) VALUES ('gone'); ROLLBACK TO s; INSERT INTO plain (body) VALUES ('NAME')},
	'plain');
covers('SELECT of a function that inserts', q{SELECT inserted('NAME')}, 'plain');
covers('CLUSTER before', q{CLUSTER plain USING plain_id; INSERT INTO plain (body) VALUES ('NAME')}, 'plain');

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
	q{CREATE TABLE new_child () INHERITS (child); }
	  . q{CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON new_child FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id'); }
	  . q{INSERT INTO new_child (body) VALUES ('NAME')},
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

	# no column for the id: the table generates it
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

# ---- rows of logical replication, from another database of this server
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
CREATE TABLE with_ids (id bigint PRIMARY KEY, body text, stamp mastic);
CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.waits(NULL); RETURN NEW; END';
CREATE TRIGGER waits AFTER INSERT ON brought FOR EACH ROW EXECUTE FUNCTION wait_for_lock();
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON brought FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id');
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON with_ids FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE brought ENABLE ALWAYS TRIGGER waits, ENABLE ALWAYS TRIGGER zz_stamp;
CREATE SUBSCRIPTION all_rows CONNECTION '$publisher' PUBLICATION all_rows
	WITH (create_slot = false, copy_data = false);
END
	like(
		$reader->ask(q{SELECT mastic_settled('with_ids')}),
		qr/does not fire for rows of a subscription.*ENABLE ALWAYS TRIGGER zz_stamp/s,
		'a trigger that is not ENABLE ALWAYS');
	$reader->ask('ALTER TABLE with_ids ENABLE ALWAYS TRIGGER zz_stamp');

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

	# stamped when it arrives
	$reader->ask('ALTER SUBSCRIPTION all_rows DISABLE');
	$id = $far->ask(q{INSERT INTO with_ids (body) VALUES ('replicated') RETURNING id});
	ok(passes('with_ids', $id), q{the publisher's ids: they do not hold back readers of the table});
	$told = settled('with_ids');
	$reader->ask('ALTER SUBSCRIPTION all_rows ENABLE');
	ok(eventually(sub { $reader->ask('SELECT id FROM with_ids') eq $id }), 'the row comes late');
	cmp_ok($reader->ask('SELECT stamp::bigint FROM with_ids'), '>=', $told, 'with a stamp that is not too late');
	$reader->ask('DROP SUBSCRIPTION all_rows');
	$_->gone for $far, $holder;
	only_connected($server, $reader);
	$server->safe_psql('postgres', 'DROP DATABASE publisher');
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

# ---- rows outlast the locks under which they came
my $loses_its_lock = <<'END' =~ s/\n/ /gr;
DECLARE c CURSOR FOR SELECT inserted('lost ' || n || ' NAME') / (2 - n) FROM generate_series(1, 2) n;
FETCH c; SAVEPOINT s; FETCH c; ROLLBACK TO s
END
{
	my ($writer) = passed_over();
	my $said = $writer->ask($loses_its_lock =~ s/NAME/open/gr);
	my ($id) = $said =~ /^(\d+)$/m;
	like($said, qr/division by zero/, 'a FETCH fails in a savepoint');
	is( $writer->ask(q{SELECT count(*) FROM pg_locks WHERE relation = 'plain'::regclass AND mode = 'RowExclusiveLock'}),
		0, 'and the lock is gone');
	time_passes($id);
	holds_back('locks lost', $id, 'plain');
	$writer->ask('COMMIT');
	ok(passes('plain', $id), 'locks lost: it settles after the end');
}

# ---- more tables than a process can note: all are held back
{
	my $many = sub {
		my ($from, $to, $does) = @_;
		return "DO \$\$ BEGIN FOR n IN $from .. $to LOOP $does END LOOP; END \$\$";
	};
	my $stamp =
	  q{CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON many_%s FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id')};
	$reader->ask(
		$many->(1, 15, "EXECUTE format('CREATE TABLE many_%s (id bigint)', n); EXECUTE format(\$x\$$stamp\$x\$, n);"));
	my ($writer) = passed_over();
	$writer->ask($many->(1, 14, q{EXECUTE format('INSERT INTO many_%s VALUES (1)', n);}));
	my $id = $writer->ask('SELECT id FROM many_1');
	time_passes($id);
	holds_back('14 tables', $id, 'many_1', 'many_14');
	$writer->ask('INSERT INTO many_15 VALUES (1)');
	$id = settled('unrelated');
	eventually(
		sub { $reader->ask("SELECT mastic_lower_bound(clock_timestamp() - interval '20 ms')::bigint > $id") eq 't' })
	  or die 'the clock stands still';
	$reader->ask('INSERT INTO elsewhere DEFAULT VALUES');
	holds_back('15 tables', $id, 'many_15', 'unrelated');
	$writer->ask('ROLLBACK');
	ok(passes($_, $id), "rolled back: $_ settles") for qw(many_15 unrelated);
	$writer->gone;
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

# ---- a restart: what was prepared before holds back all tables
{
	my $writer = Session->new($server);
	$writer->ask(q{BEGIN; INSERT INTO no_default (body) VALUES ('prepared'); PREPARE TRANSACTION 'three'});
	$_->gone for $writer, $reader;
	restart_after($server, 'immediate');
	caught_up($server);
	$reader = Session->new($server);
	my $id = $reader->ask('INSERT INTO unrelated DEFAULT VALUES RETURNING id');
	is(settled($_), 0, "prepared before a restart: $_ does not settle") for qw(no_default unrelated);
	is( $reader->ask(
				q{SELECT string_agg(gid, ' ' ORDER BY gid) FROM pg_prepared_xacts JOIN }
			  . q{snowflake_ids.unsettled_transactions('unrelated') u USING (transaction) WHERE first_id_time = '-infinity'}
		),
		'three',
		'and one sees why');
	$reader->ask(q{COMMIT PREPARED 'three'});
	ok(passes($_, $id), "it does when that is over: $_") for qw(no_default unrelated);
}

# ---- prepared before anybody generated an id
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

# ---- ids from before the row: it gets another one
sub gets_another
{
	my ($name, $table, @does) = @_;
	my $writer = Session->new($server);
	my ($id) = $writer->ask("BEGIN; $does[0]") =~ /^(\d+)$/m;
	time_passes($id);
	my $told = settled($table);
	cmp_ok($told, '>', $id, "$name: it does not hold back readers of $table");
	my $row = 'row ' . ++$ways;
	unlike($writer->ask($does[1] =~ s/ID/$id/r =~ s/NAME/$row/gr), qr/ERROR/, "$name: the row");
	my $has = $writer->ask("SELECT min(id) FROM $table WHERE body = '$row'");
	cmp_ok($has, '>=', $told, "$name: the row has an id that readers were not told to be past");
	holds_back($name, $has, $table);
	$writer->ask('COMMIT');
	ok(passes($table, $has), "$name: it settles");
	$writer->gone;
	return;
}
gets_another('an id drawn first', 'plain', 'SELECT gen_mastic()', q{INSERT INTO plain VALUES (ID, 'NAME')});
gets_another(
	'NEW.id copied by the trigger of another table',
	'copied',
	q{CREATE TEMP TABLE kept AS SELECT gen_mastic()::bigint AS id; SELECT id FROM kept},
	q{INSERT INTO copied_from SELECT id, 'NAME' FROM kept});
gets_another(
	'an UPDATE that moves a row of another partition',
	'leaf',
	q{INSERT INTO root (body, part) VALUES ('moves', 'g') RETURNING id},
	q{UPDATE root SET part = 'a', body = 'NAME' WHERE body = 'moves'});

# It has generated an id, and waits before its row.
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
	my $told = settled($table);
	$holder->ask('SELECT pg_advisory_unlock(1)');
	is($writer->answer, '', "$name: the row");
	my $id = $reader->ask("SELECT id FROM $table WHERE body = '$row'");
	cmp_ok($id, '>=', $told, "$name: it is not too late");
	$_->gone for $writer, $holder;
}

# ---- rows that come past the trigger; a restamp mends it
{
	my $filled = Session->new($server);
	$filled->ask(q{CREATE TABLE filled (id bigint, body text, part text); INSERT INTO filled VALUES (1, 'old', 'e')});
	now_passes();
	my $told = settled('root');
	$filled->ask(q{BEGIN; ALTER TABLE root ATTACH PARTITION filled FOR VALUES IN ('e')});
	$filled->ask(q{UPDATE filled SET id = id});
	$filled->ask('COMMIT');
	cmp_ok($reader->ask(q{SELECT id FROM root WHERE body = 'old'}), '>=', $told, 'ATTACH, then a restamp');
	$filled->gone;
}

# ---- temporary tables of other sessions
{
	my $other = Session->new($server);
	my $oid = $other->ask('CREATE TEMP TABLE own (id mastic); CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON own '
		  . 'FOR EACH ROW EXECUTE FUNCTION mastic_stamp($$id$$); SELECT $$own$$::regclass::oid');
	fails_with(
		$reader,
		"\\set VERBOSITY verbose\nSELECT mastic_settled($oid)",
		'a temporary table of another session',
		qr/0A000: "own" is a temporary table of another session/,
		qr/HINT:  Only that session can read it\. Call the function in that session\./);
	is($other->ask('SELECT mastic_settled($$own$$) IS NOT NULL'), 't', 'that session may ask');
}

# ---- tables of Citus, which Debian does not have: its catalog names them, and their rows are in other tables
{
	$server->safe_psql('postgres', <<"END");
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL);
CREATE TABLE spread (id bigint, stamp sno) PARTITION BY RANGE (id);
CREATE TABLE spread_0 PARTITION OF spread FOR VALUES FROM (0) TO (10);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON spread FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
END
	my $ask = q{SELECT sno_settled('spread') IS NOT NULL};
	is(value($server, $ask), 't', 'a table that Citus does not distribute');
	for my $distributed ('spread', 'spread_0')
	{
		$server->safe_psql('postgres', "INSERT INTO pg_dist_partition VALUES ('$distributed', 'h')");
		fails_with(
			$server,
			$ask,
			"Citus distributes $distributed",
			qr/a reader of "spread" could miss rows/,
			qr/DETAIL:  Citus keeps the rows of "$distributed" in other tables\./,
			qr/HINT:  Keep a table that is polled on one node, outside Citus\./);
		$server->safe_psql('postgres', 'DELETE FROM pg_dist_partition');
	}
}
done_testing();
