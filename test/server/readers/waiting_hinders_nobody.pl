# Readers that sleep hold nobody up, do not disturb each other, and are not woken by what is none of their business.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $server = new_server('waiting', clock(), conf => "snowflake_ids.machine_id = 1\n");
$server->safe_psql('postgres', <<'END');
CREATE TABLE news (id bigint GENERATED ALWAYS AS IDENTITY, stamp sno NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE other (id int);
INSERT INTO news DEFAULT VALUES;
END
caught_up($server);
my $writer = Session->new($server);

# What a reader remembers, the call by which it waits, and whether the answer is news.
sub seen { return $writer->ask("SELECT snowflake_ids_wait('news', 0)") }

sub call
{
	my ($seen, @timeout) = @_;
	return 'snowflake_ids_wait(' . join(', ', "'news'", $seen, map { "'$_'" } @timeout) . ')';
}
sub is_news { my ($answer, $seen) = @_; return $answer =~ /^\d+$/ && $answer != $seen }

$server->safe_psql('postgres', <<'END');
CREATE PROCEDURE wait_for_ever() LANGUAGE plpgsql AS $$
DECLARE
	seen bigint;
BEGIN
	LOOP
		seen := snowflake_ids_wait('news', seen);
		COMMIT;
	END LOOP;
END $$;
CREATE FUNCTION answers(calls int, OUT news int) LANGUAGE plpgsql AS $$
DECLARE
	seen bigint := snowflake_ids_wait('news', 0);
	now bigint;
BEGIN
	news := 0;
	FOR i IN 1 .. calls LOOP
		now := snowflake_ids_wait('news', seen, '10 ms');
		news := news + (now <> seen)::int;
		seen := now;
	END LOOP;
END $$;
END

# A client that calls again and again, until it is gone.
sub sleeper
{
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->send('CALL wait_for_ever()');
	eventually(sub { value($server, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' })
	  or die 'it does not sleep';
	return $session;
}

{
	my $session = Session->new($server);
	my ($one, $two) = (seen(), seen());
	$writer->ask('INSERT INTO news DEFAULT VALUES');
	for ($one, $two)
	{
		my $answer = $session->ask("SET statement_timeout = '60s'; SELECT " . call($_, '10 min'));
		ok(is_news($answer, $_), 'each of two readers in one session is told of a row') or diag $answer;
	}
}

{
	# Databases whose oids are the same modulo 8 share groups.
	my ($shares, $tries) = ('t', 0);
	while ($shares eq 't')
	{
		$server->safe_psql('postgres', $_) for 'DROP DATABASE IF EXISTS elsewhere', 'CREATE DATABASE elsewhere';
		$shares = value(
			$server,
			q{SELECT a.oid::bigint % 8 = b.oid::bigint % 8 FROM pg_database a, pg_database b WHERE a.datname = 'elsewhere'
			AND b.datname = 'postgres'});
		die 'no other group' if ++$tries > 8;
	}
	my $tables = join '', map {
			"CREATE TABLE t$_ (id int, stamp sno);\n"
		  . "CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON t$_ FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp'); ALTER TABLE t$_ ENABLE ALWAYS TRIGGER zz_stamp;\n"
	} 1 .. 20;
	$server->safe_psql('elsewhere', "CREATE EXTENSION snowflake_ids;\n$tables");
	my $elsewhere = Session->new($server, dbname => 'elsewhere');
	my $inserts = join '; ', map { "INSERT INTO t$_ VALUES (1)" } 1 .. 20;
	$elsewhere->send(join '; ', map { "BEGIN; $inserts; COMMIT" } 1 .. 200);
	my $news = $writer->ask('SELECT answers(50)');
	$elsewhere->answer;
	cmp_ok($news, '<=', 2, 'a transaction of many tables in another database wakes nobody');
}

{
	my @sleepers = map { sleeper() } 1 .. 3;
	is($writer->ask("SET lock_timeout = '60s'; CREATE INDEX CONCURRENTLY ON other (id)"),
		'', 'CREATE INDEX CONCURRENTLY does not wait long');
	is(value($server, 'SELECT count(*) FROM pg_index WHERE NOT indisvalid'), 0, 'and leaves no invalid index');
	is($writer->ask('RESET lock_timeout'), '', 'done');
}

{
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->send('SELECT ' . call(seen(), '10 min'));
	eventually(sub { value($server, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' })
	  or die 'it does not sleep';
	is($writer->ask("SET lock_timeout = '60s'; ALTER TABLE news ADD COLUMN body text"),
		'', 'ALTER TABLE does not wait for who sleeps');
	is($writer->ask('RESET lock_timeout'), '', 'done');
}

# A call that sleeps for long looks at the table each second.
{
	$server->safe_psql('postgres', <<'END');
CREATE TABLE parted (id int, stamp sno NOT NULL) PARTITION BY LIST (id);
SELECT format('CREATE TABLE part_%s PARTITION OF parted FOR VALUES IN (%1$s)', n) FROM generate_series(1, 200) n \gexec
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE parted ENABLE ALWAYS TRIGGER zz_stamp;
END
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->send("SELECT snowflake_ids_wait('parted', snowflake_ids_wait('parted', 0), '10 min')");
	my $used = sub {
		my $mark = log_mark($server);
		value($server, "SELECT pg_log_backend_memory_contexts($pid)");
		wait_for_log($server, qr/Grand total: .* \d+ used/, $mark) or die 'no memory';
		return log_since($server, $mark) =~ /Grand total: .* (\d+) used/ ? $1 : 0;
	};
	my @used;
	for (1 .. 5)
	{
		$writer->ask("ALTER TABLE part_$_ SET (fillfactor = 90)");
		sleep 1.5;
		push @used, $used->();
	}
	note "@used";
	cmp_ok($used[-1] - $used[1], '<', 100_000, 'a long call takes no memory for each look at the partitions');
	$session->gone;
}

{
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->send('SELECT ' . call(seen(), '10 min'));
	eventually(sub { value($server, "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $pid") eq 'Extension' })
	  or die 'it does not sleep';
	my $dropped = time;
	$writer->ask('DROP TABLE news');
	like($session->answer, qr/relation with OID \d+ does not exist/, 'DROP TABLE ends a sleep');
	cmp_ok(time - $dropped, '<', 300, 'soon');
}

$server->stop;
done_testing();
