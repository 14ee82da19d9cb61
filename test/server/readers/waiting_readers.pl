# Readers that sleep in sno_wait(): what wakes them, what ends them, and that they find every row. A missed wake-up
# would last until the timeout.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $server = new_server('waiting', clock(), conf => <<'END');
max_prepared_transactions = 5
restart_after_crash = on
snowflake_ids.machine_id = 1
snowflake_ids.max_wait = '60s'
END
$server->safe_psql('postgres', <<'END');
CREATE TABLE news (id int PRIMARY KEY, body text, stamp sno NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
CREATE TABLE elsewhere (id int PRIMARY KEY, stamp sno NOT NULL);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON elsewhere FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
CREATE TABLE root (id int, stamp sno NOT NULL) PARTITION BY RANGE (id);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON root FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
CREATE TABLE root_0 PARTITION OF root FOR VALUES FROM (0) TO (10);
END
caught_up($server);
my $writer = Session->new($server);
my $id = 0;
my $first = '2222222222222222';

# the last id of a table; a session that sleeps after it
sub last_of { return $writer->ask("SELECT coalesce(max(stamp), '$first') FROM $_[0]") }

sub asleep
{
	my ($pid) = @_;
	return eventually(
		sub { value($server, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' });
}

sub sleeper
{
	my ($table, $last, $session) = @_;
	$last    //= last_of($table);
	$session //= Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');

	my $tries = 0;
	while ($session->ask("SELECT sno_wait('$table', '$last', '10 ms')") eq 't') { die 'it spins' if ++$tries > 100 }
	$session->send("SELECT sno_wait('$table', '$last', '10 min')");
	asleep($pid) or die 'it does not sleep';
	return ($session, $pid);
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
	'a transaction that was prepared' =>
	  q{BEGIN; INSERT INTO news VALUES (ID); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'});
for (1 .. 19)
{
	$writer->ask("CREATE TABLE many_$_ (id int, stamp sno)");
	$writer->ask(
		"CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON many_$_ FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp')");
}
$writer->ask('INSERT INTO news VALUES (1)');
for my $what (sort keys %wakes)
{
	my $last = last_of('news');
	my ($reader) = sleeper('news', $last);
	my $does = $wakes{$what};
	$id += 10;
	$does =~ s/ID/$id/g;
	unlike($writer->ask($does), qr/ERROR/, "$what: done");
	is($reader->answer, 't', "$what: wakes a reader");
	isnt($reader->ask("SELECT count(*) FROM news WHERE stamp > '$last' AND stamp < (SELECT sno_settled('news'))"),
		0, "$what: the reader finds a row");
}

{
	my ($reader) = sleeper('root');
	$writer->ask('INSERT INTO root VALUES (1)');
	is($reader->answer, 't', 'a row of a partition wakes a reader of the table');
	($reader) = sleeper('root');
	$writer->ask('CREATE TABLE root_1 PARTITION OF root FOR VALUES FROM (10) TO (20); INSERT INTO root VALUES (11)');
	is($reader->answer, 't', 'a row of a partition that was attached later wakes a reader');
}

# A transaction with an old id notes the table after a reader was told more. If it rolls back, the reader must wake.
{
	my ($old, $reader) = (Session->new($server), Session->new($server));
	my $last = last_of('news');
	$old->ask('BEGIN; SELECT gen_sno()');
	$id += 10;
	$writer->ask("INSERT INTO news VALUES ($id)");
	is($reader->ask("SELECT sno_wait('news', '$last', '10 min')"), 't', 'a row is there');
	$old->ask('UPDATE news SET body = body WHERE id = 1');
	my $read = "SELECT count(*) FROM news WHERE stamp > '$last' AND stamp < (SELECT sno_settled('news'))";
	is($reader->ask($read), 0, 'it is held back again');
	my $pid = $reader->ask('SELECT pg_backend_pid()');
	$reader->send("SELECT sno_wait('news', '$last', '10 min')");
	asleep($pid) or die 'it does not sleep';
	$old->ask('ROLLBACK');
	is($reader->answer, 't', 'a rollback wakes a reader whom it has held back');
	isnt($reader->ask($read), 0, 'and it finds the row');
}

# ---- what does not

# calls that return true meanwhile, and in half a second after that
sub calls
{
	my (@for_nothing) = @_;
	my $last = last_of('news');
	my $reader = Session->new($server);
	$reader->send(<<"END");
DO \$\$
DECLARE
	calls int := 0;
BEGIN
	LOOP
		IF sno_wait('news', '$last', '50 ms') THEN
			calls := calls + 1;
		ELSIF EXISTS (SELECT FROM over) THEN
			RAISE 'calls: %', calls;
		END IF;
	END LOOP;
END \$\$
END
	$writer->ask($_) for @for_nothing;
	$writer->ask('SELECT pg_sleep(0.5); INSERT INTO over VALUES (1)');
	my ($calls) = $reader->answer =~ /calls: (\d+)/;
	$writer->ask('TRUNCATE over');
	return $calls;
}
my $rounds = 30;
my @rolled_back = ('BEGIN; INSERT INTO news VALUES (100000); ROLLBACK') x $rounds;
my @in_savepoint =
  ('BEGIN; SAVEPOINT s; INSERT INTO news VALUES (100000); ROLLBACK TO s; INSERT INTO plain VALUES (1); COMMIT') x
  $rounds;
my @conflict = ('INSERT INTO news VALUES (1) ON CONFLICT DO NOTHING') x $rounds;
my @elsewhere = map { "INSERT INTO elsewhere VALUES ($_)" } 200001 .. 200000 + $rounds;
$writer->ask('CREATE TABLE plain (id int); CREATE TABLE over (id int)');
for (
	[ 'a rollback', @rolled_back ],
	[ 'a savepoint that is rolled back', @in_savepoint ],
	[ 'ON CONFLICT DO NOTHING', @conflict ],
	[ 'a row of another table', @elsewhere ],
	['nothing'])
{
	my ($what, @does) = @$_;
	my $calls = calls(@does);
	cmp_ok($calls, '<=', 2 + @does, "$what wakes a caller at most once");
}

# ---- what ends a sleep

{
	my ($reader, $pid) = sleeper('news');
	$writer->ask("SELECT pg_cancel_backend($pid)");
	like($reader->answer, qr/canceling statement due to user request/, 'a cancel');
	my $last = last_of('news');
	($reader, $pid) = sleeper('news', $last, $reader);
	$id += 10;
	$writer->ask("INSERT INTO news VALUES ($id)");
	is($reader->answer, 't', 'after it, the session waits again');
	like(
		$reader->ask("SET statement_timeout = '200ms'; SELECT sno_wait('news', 'xxxxxxxxxxxxxxxx', '10 min')"),
		qr/canceling statement due to statement timeout/,
		'a timeout of the statement');

	($reader, $pid) = sleeper('news');
	$writer->ask("SELECT pg_terminate_backend($pid)");
	like($reader->answer, qr/terminating connection/, 'the end of the session');

	$reader = Session->new($server, options => '-c client_connection_check_interval=100ms');
	($reader, $pid) = sleeper('news', undef, $reader);
	kill 'KILL', $reader->{pid};
	ok(eventually(sub { value($server, "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid") eq '0' }),
		'a client that is gone');

	# more readers than words in the ledger
	my $last_now = last_of('news');
	my @readers = map { (sleeper('news', $last_now))[0] } 1 .. 70;
	$id += 10;
	$writer->ask("INSERT INTO news VALUES ($id)");
	is(scalar(grep { $_->answer eq 't' } @readers), 70, 'seventy readers wake');
}

# ---- every row

# until a row says 'stop'
$server->safe_psql('postgres', <<'END');
CREATE TABLE seen (reader int, id int, stamp sno);
CREATE TABLE readers (reader int, timeouts int, calls int, empty int);
CREATE PROCEDURE read_news(of_reader int, page int) LANGUAGE plpgsql AS $$
DECLARE
	last sno := '2222222222222222';
	timeouts int := 0;
	calls int := 0;
	empty int := 0;
	got news[];
BEGIN
	LOOP
		calls := calls + 1;
		IF NOT sno_wait('news', last, '2 min') THEN
			timeouts := timeouts + 1;
		END IF;
		got := ARRAY(SELECT n FROM news n WHERE stamp > last AND stamp < (SELECT sno_settled('news'))
			ORDER BY stamp LIMIT page);
		INSERT INTO seen SELECT of_reader, g.id, g.stamp FROM unnest(got) g;
		COMMIT;
		IF cardinality(got) = 0 THEN
			empty := empty + 1;
			CONTINUE;
		END IF;
		last := got[cardinality(got)].stamp;
		EXIT WHEN 'stop' = ANY (SELECT g.body FROM unnest(got) g) OR timeouts > 0;
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
	my ($what, @pages) = @_;
	$server->safe_psql('postgres', 'TRUNCATE news, elsewhere, seen, readers; INSERT INTO news VALUES (1)');
	my @readers = map { Session->new($server) } @pages;
	$readers[$_]->send("CALL read_news($_, $pages[$_])") for 0 .. $#pages;
	my @writers = map { Session->new($server) } 1 .. 4;
	$writers[$_]->send('CALL write_news(' . ($_ + 1) . ', 150)') for 0 .. 3;
	is($_->answer, '', "$what: a writer is done") for @writers;
	$writer->ask(q{INSERT INTO news VALUES (2, 'stop')});
	is($_->answer, '', "$what: a reader is done") for @readers;
	my $all = @pages;
	is( value(
			$server,
			"SELECT count(*) FROM generate_series(0, $#pages) r, news n WHERE NOT EXISTS (SELECT FROM seen s WHERE (s.reader, s.id, s.stamp) = (r, n.id, n.stamp))"
		),
		0,
		"$what: no reader has missed a row");
	is(value($server, 'SELECT count(*), sum(timeouts) FROM readers'), "$all|0", "$what: no call timed out");
	cmp_ok(
		value($server, 'SELECT max(empty) FROM readers'),
		'<=',
		4 * 150 + 10,
		"$what: each transaction wakes for nothing at most once");
	note $server->safe_psql('postgres', 'SELECT max(calls), max(empty), (SELECT count(*) FROM news) FROM readers');
	return;
}
every_row('eight readers', (1000) x 6, 1, 7);

# ---- a crash

{
	my ($reader, $pid) = sleeper('news');
	my $mark = log_mark($server);
	kill 'KILL', $pid;
	wait_for_log($server, qr/reinitializing/, $mark) or die 'nothing happened';
	comes_back($server);
	$writer = Session->new($server);
	every_row('after a crash', 1000, 1000);
}

$server->stop;
done_testing();
