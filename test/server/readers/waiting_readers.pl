# Readers that sleep in snowflake_ids_wait(): what wakes them, what ends them, and that they find every row. A missed
# wake-up would last until the timeout.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('waiting', $clock, conf => <<'END');
max_prepared_transactions = 5
restart_after_crash = on
snowflake_ids.machine_id = 1
END
$server->safe_psql('postgres', <<'END');
CREATE FUNCTION stamp(of_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %1$I FOR EACH ROW EXECUTE FUNCTION sno_stamp(%2$L); ALTER TABLE %1$I ENABLE ALWAYS TRIGGER zz_stamp',
		of_table, 'stamp');
END $$;
CREATE TABLE news (id int PRIMARY KEY, body text, stamp sno NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TABLE elsewhere (id int PRIMARY KEY, stamp sno NOT NULL);
CREATE TABLE root (id int, stamp sno NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE root_0 PARTITION OF root FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
CREATE TABLE root_0_0 PARTITION OF root_0 FOR VALUES FROM (0) TO (5);
SELECT stamp(t) FROM unnest('{news,elsewhere,root}'::text[]) t;
SELECT format('CREATE TABLE %s (id int, stamp sno); SELECT stamp(%1$L)', 'many_' || n) FROM generate_series(1, 19) n \gexec
END
caught_up($server);
my $writer = Session->new($server);
my $id = 0;

sub ask_seen { my ($table, $seen) = @_; return "SELECT snowflake_ids_wait('$table', $seen, '10 min')" }
sub seen     { my ($table) = @_;        return value($server, ask_seen($table // 'news', 0)) }

sub asleep
{
	my ($pid) = @_;
	return eventually(
		sub { value($server, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' });
}

# A session that sleeps, its process, and what it has seen.
sub sleeper
{
	my ($table, $session) = @_;
	$session //= Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	my $seen = seen($table);
	$session->send(ask_seen($table, $seen));
	asleep($pid) or die 'it does not sleep';
	return ($session, $pid, $seen);
}

sub wakes
{
	my ($what, $table, $does) = @_;
	my ($reader, undef, $seen) = sleeper($table);
	$does->();
	my $answer = $reader->answer;
	ok($answer =~ /^\d+$/ && $answer != $seen, "$what wakes a reader") or diag $answer;
	return;
}

# ---- what wakes a reader

my %wakes = (
	'an INSERT' => 'INSERT INTO news VALUES (ID)',
	'an UPDATE' => 'INSERT INTO news VALUES (ID); UPDATE news SET body = body',
	'an upsert' => 'INSERT INTO news VALUES (1) ON CONFLICT (id) DO UPDATE SET body = excluded.body',
	'COPY' => "COPY news (id) FROM STDIN;\nID\n\\.\n",
	'a transaction of many tables' =>
	  join('; ', 'BEGIN', (map { "INSERT INTO many_$_ VALUES (1)" } 1 .. 19), 'INSERT INTO news VALUES (ID)', 'COMMIT'),
	'a row in a savepoint, after a row of another table' =>
	  'BEGIN; INSERT INTO elsewhere VALUES (ID); SAVEPOINT s; INSERT INTO news VALUES (ID); RELEASE s; COMMIT',
	'PREPARE TRANSACTION' => q{BEGIN; INSERT INTO news VALUES (ID); PREPARE TRANSACTION 'p'});
for my $what (sort keys %wakes)
{
	$id += 10;
	wakes($what, 'news', sub { unlike($writer->ask($wakes{$what} =~ s/ID/$id/gr), qr/ERROR/, "$what: done") });
}
$writer->ask(q{COMMIT PREPARED 'p'});

wakes('a row of a partition, for a reader of the table,', 'root', sub { $writer->ask('INSERT INTO root VALUES (1)') });
wakes('a row of a partition, for a reader of a part,',
	'root_0', sub { $writer->ask('INSERT INTO root_0_0 VALUES (1)') });
{
	my ($reader, undef, $seen) = sleeper('root');
	$writer->ask('CREATE TABLE root_1 PARTITION OF root FOR VALUES FROM (10) TO (20); INSERT INTO root VALUES (11)');
	isnt($reader->answer, $seen, 'a row of a partition that was attached later wakes a reader');
}

# One that an earlier transaction has held back for who reads only settled rows.
{
	my $old = Session->new($server);
	$old->ask('BEGIN; SELECT gen_sno()');
	$id += 10;
	wakes('a row beside an older open transaction', 'news', sub { $writer->ask("INSERT INTO news VALUES ($id)") });
	$old->ask('UPDATE news SET body = body WHERE id = 1');
	wakes('the end of that transaction', 'news', sub { $old->ask('COMMIT') });
}

# ---- prepared transactions, committed where the library is not loaded

sub prepare
{
	my ($how) = @_;
	my $session = Session->new($server);
	$id += 10;
	my $many = $how eq 'many' ? join '', map { "INSERT INTO many_$_ VALUES (1);" } 1 .. 19 : '';
	is($session->ask("BEGIN; $many INSERT INTO news VALUES ($id); PREPARE TRANSACTION 'p'"), '', 'it is prepared');
	return;
}
for my $how ('one table', 'many')
{
	prepare($how);
	wakes("COMMIT PREPARED, $how,", 'news', sub { value($server, q{COMMIT PREPARED 'p'}) });
	prepare($how);
	my $before = seen();
	value($server, q{COMMIT PREPARED 'p'});
	isnt(value($server, ask_seen('news', $before)), $before, "COMMIT PREPARED between two calls, $how");
}
{
	# Without this, the reader would look again after 3 s.
	my $took = best_of(
		1,
		sub {
			prepare('one table');
			my ($reader) = sleeper('news');
			my $session = Session->new($server);
			$session->ask('SELECT 1');
			$session->ask(q{COMMIT PREPARED 'p'});
			my $began = time;
			$reader->answer;
			return time - $began;
		});
	cmp_ok($took, '<', 1, 'COMMIT PREPARED wakes soon');

	my ($reader, undef, $seen) = sleeper('elsewhere');
	prepare('one table');
	value($server, q{ROLLBACK PREPARED 'p'});
	$id += 10;
	$writer->ask("INSERT INTO elsewhere VALUES ($id)");
	isnt($reader->answer, $seen, 'the number of another table is another one');
}

# ---- what does not wake

$writer->ask('CREATE TABLE plain (id int)');
for (
	[ 'a rollback' => 'BEGIN; INSERT INTO news VALUES (100000); ROLLBACK' ],
	[ 'ON CONFLICT DO NOTHING' => 'INSERT INTO news VALUES (10) ON CONFLICT DO NOTHING' ],
	[ 'a row of a table without stamps' => 'INSERT INTO plain VALUES (1)' ],
	[ 'a DELETE' => 'DELETE FROM news WHERE id = 20' ])
{
	my ($what, $does) = @$_;
	my $seen = seen();
	unlike($writer->ask($does), qr/ERROR/, "$what: done");
	is(seen(), $seen, "$what wakes nobody");
}

# A group has several tables.
{
	my $seen = seen();
	my $woken = 0;
	for (1 .. 19)
	{
		$writer->ask("INSERT INTO many_$_ VALUES (1)");
		my $now = seen();
		$woken++ if $now != $seen;
		$seen = $now;
	}
	cmp_ok($woken, '<=', 4, 'rows of most other tables wake nobody');
}

# ---- what ends a sleep

{
	my ($reader, $pid) = sleeper('news');
	$writer->ask("SELECT pg_cancel_backend($pid)");
	like($reader->answer, qr/canceling statement due to user request/, 'a cancel');
	my $seen;
	($reader, $pid, $seen) = sleeper('news', $reader);
	$id += 10;
	$writer->ask("INSERT INTO news VALUES ($id)");
	isnt($reader->answer, $seen, 'after it, the session waits again');
	like(
		$reader->ask("SET statement_timeout = '200ms'; " . ask_seen('news', seen())),
		qr/canceling statement due to statement timeout/,
		'a timeout of the statement');

	($reader, $pid) = sleeper('news');
	$writer->ask("SELECT pg_terminate_backend($pid)");
	like($reader->answer, qr/terminating connection/, 'the end of the session');

	$reader = Session->new($server, options => '-c client_connection_check_interval=100ms');
	($reader, $pid) = sleeper('news', $reader);
	kill 'KILL', $reader->{pid};
	ok(eventually(sub { value($server, "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid") eq '0' }),
		'a client that is gone');
	wakes('after all that, a row', 'news', sub { $writer->ask('UPDATE news SET body = body WHERE id = 10') });

	my @readers = map { [ sleeper('news') ] } 1 .. 70;
	$writer->ask('UPDATE news SET body = body WHERE id = 10');
	is(scalar(grep { $_->[0]->answer != $_->[2] } @readers), 70, 'seventy readers wake');
}

# ---- an hour later

{
	my $seen = seen();
	my $session = Session->new($server);
	$session->ask(ask_seen('news', 0));
	$clock->go_by(3600);
	is($session->ask("SELECT snowflake_ids_wait('news', $seen, '10 ms')"), $seen, 'the number holds after an hour');
	$writer->ask('UPDATE news SET body = body WHERE id = 10');
	isnt($session->ask(ask_seen('news', $seen)), $seen, 'and no longer after a row');
}

# ---- every row

# until a row says 'stop'
$server->safe_psql('postgres', <<'END');
CREATE TABLE seen (reader int, id int, stamp sno, PRIMARY KEY (reader, id, stamp));
CREATE TABLE readers (reader int, timeouts int, calls int, empty int);
CREATE PROCEDURE read_news(of_reader int) LANGUAGE plpgsql AS $$
DECLARE
	position sno := '2222222222222222';
	next sno;
	number bigint := 0;
	now bigint;
	timeouts int := 0;
	calls int := 0;
	empty int := 0;
	got int;
BEGIN
	LOOP
		calls := calls + 1;
		now := snowflake_ids_wait('news', number, '2 min');
		COMMIT;
		IF now = number THEN
			timeouts := timeouts + 1;
		END IF;
		number := now;
		next := greatest(position, sno_settled('news'));
		INSERT INTO seen SELECT of_reader, id, stamp FROM news WHERE stamp >= position ON CONFLICT DO NOTHING;
		GET DIAGNOSTICS got = ROW_COUNT;
		COMMIT;
		position := next;
		IF got = 0 THEN
			empty := empty + 1;
		END IF;
		EXIT WHEN timeouts > 0 OR EXISTS (SELECT FROM seen WHERE reader = of_reader AND id = 2);
	END LOOP;
	INSERT INTO readers VALUES (of_reader, timeouts, calls, empty);
END $$;
CREATE PROCEDURE write_news(writer int, rounds int) LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	FOR round IN 1 .. rounds LOOP
		n := writer * 1000000 + round * 10;
		CASE (random() * 7)::int
			WHEN 0 THEN
				INSERT INTO news VALUES (n);
				ROLLBACK;
			WHEN 1 THEN
				INSERT INTO elsewhere VALUES (n);
				INSERT INTO news VALUES (n);
			WHEN 2 THEN
				INSERT INTO news VALUES (n);
				INSERT INTO elsewhere VALUES (n);
			WHEN 3 THEN
				UPDATE news SET body = round WHERE id IN (SELECT id FROM news WHERE id > writer * 1000000 AND
					id < (writer + 1) * 1000000 ORDER BY random() LIMIT 3);
			WHEN 4 THEN
				INSERT INTO news VALUES (1) ON CONFLICT DO NOTHING;
			WHEN 5 THEN
				INSERT INTO news SELECT generate_series(n, n + 4) ON CONFLICT DO NOTHING;
				PERFORM pg_sleep(random() * 0.02);
			ELSE
				INSERT INTO news VALUES (n) ON CONFLICT DO NOTHING;
		END CASE;
		COMMIT;
		PERFORM pg_sleep(random() * 0.01);
	END LOOP;
END $$;
END

sub every_row
{
	my ($what, $count) = @_;
	$server->safe_psql('postgres', 'TRUNCATE news, elsewhere, seen, readers; INSERT INTO news VALUES (1)');
	my @readers = map { Session->new($server) } 1 .. $count;
	$readers[$_]->send("CALL read_news($_)") for 0 .. $#readers;
	my @writers = map { Session->new($server) } 1 .. 4;
	$writers[$_]->send('CALL write_news(' . ($_ + 1) . ', 150)') for 0 .. 3;
	my @prepares = map { "BEGIN; INSERT INTO news VALUES ($_); PREPARE TRANSACTION 'w'; COMMIT PREPARED 'w'" } 11 .. 40;
	is($writer->ask(join '; ', @prepares), '', "$what: prepared transactions are committed");
	is($_->answer, '', "$what: a writer is done") for @writers;
	$writer->ask(q{INSERT INTO news VALUES (2, 'stop')});
	is($_->answer, '', "$what: a reader is done") for @readers;
	is( value(
			$server,
			"SELECT count(*) FROM generate_series(0, $#readers) r, news n WHERE NOT EXISTS (SELECT FROM seen s WHERE (s.reader, s.id, s.stamp) = (r, n.id, n.stamp))"
		),
		0,
		"$what: no reader has missed a row");
	is(value($server, 'SELECT count(*), sum(timeouts) FROM readers'), "$count|0", "$what: no call timed out");
	cmp_ok(
		value($server, 'SELECT max(empty) FROM readers'),
		'<=',
		4 * 150 + 2 * @prepares + 10,
		"$what: each transaction wakes for nothing at most once");
	note $server->safe_psql('postgres', 'SELECT max(calls), max(empty), (SELECT count(*) FROM news) FROM readers');
	return;
}
every_row('eight readers', 8);

# ---- a crash, then a start with a prepared transaction, then the memory of a preloaded library

sub killed_while_asleep
{
	my ($what) = @_;
	my (undef, $pid, $seen) = sleeper('news');
	my $mark = log_mark($server);
	kill 'KILL', $pid;
	wait_for_log($server, qr/reinitializing/, $mark) or die 'nothing happened';
	comes_back($server);
	$writer = Session->new($server);
	isnt(value($server, ask_seen('news', $seen)), $seen, "$what: the number of the life before does not hold");
	every_row($what, 2);
	return;
}
killed_while_asleep('after a crash');

prepare('one table');
my $before = seen();
restart_after($server, 'fast');
$writer = Session->new($server);
isnt(value($server, ask_seen('news', $before)), $before, 'after a start, the number of the life before does not hold');
wakes('COMMIT PREPARED after a start', 'news', sub { value($server, q{COMMIT PREPARED 'p'}) });
prepare('one table');
restart_after($server, 'fast');
$writer = Session->new($server);
$before = seen();
value($server, q{COMMIT PREPARED 'p'});
isnt(value($server, ask_seen('news', $before)), $before, 'and between two calls');

$server->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'\n");
restart_after($server, 'fast');
$writer = Session->new($server);
is(value($server, 'SELECT memory FROM snowflake_ids.status()'), 'preloaded', 'the library is preloaded');
killed_while_asleep('preloaded');

$server->stop;
done_testing();
