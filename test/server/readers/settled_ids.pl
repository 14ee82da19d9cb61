# Readers of all tables, through what only servers do: a poller continues after its last id and gets each row once, through
# prepared transactions, restarts, a clock that steps back, promotion, a forced reset, and parallel workers.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my @formats = qw(sno mastic snowflake_si);
my %smallest = (sno => "'2222222222222222'", mastic => "'0'", snowflake_si => "'0'");
my $conf = <<'END';
max_prepared_transactions = 5
hot_standby = on
snowflake_ids.machine_id = 3
snowflake_ids.max_wait = '60s'
END

# A procedure, which keeps its place in a table
my $set_up = <<'END';
CREATE TABLE place (format text PRIMARY KEY, events bigint DEFAULT 0, sum bigint DEFAULT 0, twice bigint DEFAULT 0);
CREATE PROCEDURE settle() LANGUAGE plpgsql AS $$
DECLARE
    last timestamptz := clock_timestamp() + interval '3 minutes';
BEGIN
    WHILE snowflake_ids_settled() < coalesce((SELECT min(first_id_time) - interval '10 ms' FROM snowflake_ids.unsettled),
            (SELECT max(last_timestamp) FROM snowflake_ids.stats WHERE format <> 'sno_at')) LOOP
        COMMIT;
        ASSERT clock_timestamp() < last, 'settled stays at ' || snowflake_ids_settled();
        PERFORM pg_sleep(0.002);
    END LOOP;
END $$;
END
for my $format (@formats)
{
	my $type = $format eq 'snowflake_si' ? 'bigint' : $format;
	$set_up .= <<"END";
CREATE TABLE event_$format (id $type PRIMARY KEY DEFAULT gen_$format(), n serial);
CREATE TABLE last_$format AS SELECT $type $smallest{$format} AS id;
INSERT INTO place VALUES ('$format');
CREATE PROCEDURE poll_$format() LANGUAGE plpgsql AS \$\$
DECLARE
    got bigint;
BEGIN
    WITH fresh AS (
        SELECT id, n FROM event_$format
        WHERE id > (SELECT id FROM last_$format) AND id < (SELECT ${format}_settled())),
    counted AS (
        UPDATE place SET events = events + c, sum = sum + s
        FROM (SELECT count(*) AS c, coalesce(sum(n), 0) AS s FROM fresh) x WHERE format = '$format' RETURNING 1)
    UPDATE last_$format l SET id = m.id FROM (SELECT max(id) AS id FROM fresh) m WHERE m.id IS NOT NULL;
    COMMIT;
END \$\$;
END
}

sub poll { my ($server) = @_; $server->safe_psql('postgres', "CALL poll_$_()") for @formats; return }

sub insert
{
	return join '; ', map { "INSERT INTO event_$_ DEFAULT VALUES" } @formats;
}

# Rows that a poller has lost or got twice, when all have settled
sub complete
{
	my ($server, $what) = @_;
	$server->safe_psql('postgres', 'CALL settle()');

	ok( eventually(
			sub {
				poll($server);
				return value(
					$server,
					'SELECT ' . join ' AND ',
					map { "(SELECT count(*) FROM event_$_) <= (SELECT events FROM place WHERE format = '$_')" }
					  @formats) eq 't';
			}),
		"$what: every row has arrived");
	for my $format (@formats)
	{
		is( value(
				$server,
				"SELECT events - (SELECT count(*) FROM event_$format), sum - (SELECT sum(n) FROM event_$format) FROM place WHERE format = '$format'"
			),
			'0|0',
			"$what: $format: each row once");
	}
	return;
}

my $clock = clock();
my $server = new_server('settled', $clock, allows_streaming => 1, conf => $conf);
is(value($server, 'SELECT snowflake_ids_settled()'), '-infinity', 'nothing has settled before the first id');
$server->safe_psql('postgres', $set_up);
$server->safe_psql('postgres', insert());
complete($server, 'at first');

# ---- prepared transactions
$server->safe_psql('postgres', "BEGIN; @{[insert()]}; PREPARE TRANSACTION 'one'");
$server->safe_psql('postgres', insert());
$server->safe_psql('postgres', 'CALL settle()');
poll($server);
is( value(
		$server,
		'SELECT pid IS NULL, prepared, first_id_time > since - interval $$1 hour$$ FROM snowflake_ids.unsettled'),
	't|one|t',
	'the view names the prepared transaction');
is(value($server, 'SELECT sum((SELECT count(*) FROM event_sno) - events) FROM place WHERE format = $$sno$$'),
	1, 'it holds back what comes after it');

# by a session that has not loaded the library
$server->safe_psql('postgres', "COMMIT PREPARED 'one'");
complete($server, 'after COMMIT PREPARED');
$server->safe_psql('postgres', "BEGIN; @{[insert()]}; PREPARE TRANSACTION 'two'");
$server->safe_psql('postgres', insert());
$server->safe_psql('postgres', "ROLLBACK PREPARED 'two'");
complete($server, 'after ROLLBACK PREPARED');

# more than the table has room for
for my $n (1 .. 30)
{
	$server->safe_psql('postgres', "BEGIN; @{[insert()]}; PREPARE TRANSACTION 'many $n'");
	poll($server) if $n % 3 == 0;
	$server->safe_psql('postgres', "COMMIT PREPARED 'many $n'");
}
complete($server, 'after many prepared transactions');

my $manager = Session->new($server);
$manager->ask("BEGIN; @{[insert()]}; PREPARE TRANSACTION 'own $_'; COMMIT PREPARED 'own $_'") for 1 .. 40;
complete($server, 'after many of one session');

# ---- a restart with one prepared: the new memory does not know its ids
$server->safe_psql('postgres', "BEGIN; @{[insert()]}; PREPARE TRANSACTION 'over'");
$server->safe_psql('postgres', insert());
$server->stop('fast');
start_at($server, $clock);
is(value($server, 'SELECT prepared, first_id_time FROM snowflake_ids.unsettled'),
	'over|-infinity', 'prepared before a restart: the view has it before the first id');
$server->safe_psql('postgres', insert());
is(value($server, 'SELECT snowflake_ids_settled()'),
	'-infinity', 'prepared before a restart: nothing is known to have settled');
is(value($server, 'SELECT prepared, first_id_time FROM snowflake_ids.unsettled'),
	'over|-infinity', 'and the view says why');
$server->safe_psql('postgres', "COMMIT PREPARED 'over'");
complete($server, 'after the restart');

# ---- another database is not held back
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
my $elsewhere = Session->new($server, dbname => 'other');
$elsewhere->ask('BEGIN; SELECT gen_sno()');
$server->safe_psql('postgres', insert());
complete($server, 'with an open transaction in another database');
$elsewhere->ask('COMMIT');

# ---- the clock steps back: ids continue at the promise
my $promised = value($server, 'SELECT snowflake_ids_settled()');
$clock->step(-20);
$server->safe_psql('postgres', insert()) for 1 .. 5;
is( value(
		$server,
		"SELECT bool_and(sno_timestamp(id) >= '$promised') FROM (SELECT id FROM event_sno ORDER BY n DESC LIMIT 5) x"),
	't',
	'a step back: no sno below what had settled');
is(value($server, "SELECT regressions FROM snowflake_ids.stats WHERE format = 'sno'"),
	0, 'the tick-tock bit was not used');
$clock->step(25);
complete($server, 'after the clock was corrected');

# ---- a crash, with the clock an hour behind: unused generators are above the promise too
$server->safe_psql('postgres', "SELECT snowflake_layout_create('late', '2020-01-01', '1 ms', 41, 10, 12)");
$server->safe_psql('postgres', "CREATE TABLE event_late (id bigint PRIMARY KEY DEFAULT gen_snowflake('late'))");
$server->safe_psql('postgres', insert());
complete($server, 'before the crash');
$promised = value($server, 'SELECT snowflake_ids_settled()');
$server->stop('immediate');
$clock->step(-3600);
start_at($server, $clock);
$server->safe_psql('postgres', 'INSERT INTO event_late DEFAULT VALUES');
is(value($server, "SELECT snowflake_timestamp(id, 'late') >= '$promised' FROM event_late"),
	't', 'a crash and a clock an hour behind: a new generator begins above what had settled');
$server->safe_psql('postgres', insert());
$clock->step(3610);
complete($server, 'after crash and step');

# ---- a function that is wrongly PARALLEL SAFE: nothing is lost
$server->safe_psql('postgres', <<'END');
CREATE TABLE big AS SELECT n FROM generate_series(1, 20000) n;
ALTER TABLE big SET (parallel_workers = 2);
CREATE FUNCTION drawn(n int) RETURNS mastic LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN RETURN gen_mastic(); END $$;
ANALYZE big;
END
{
	my $leader = Session->new($server);
	$leader->ask('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
		  . 'SET parallel_leader_participation = off');
	like($leader->ask('EXPLAIN SELECT min(drawn(n)) FROM big'), qr/Parallel Seq Scan/, 'the plan is parallel');
	my $issued = "SELECT sum(issued) FROM snowflake_ids.stats WHERE format <> 'sno_at'";
	my $before = value($server, $issued);
	$leader->ask('BEGIN');
	like(
		$leader->ask('CREATE TEMP TABLE mine AS SELECT min(drawn(n)) AS id FROM big'),
		qr/ERROR:  cannot generate Mastic ids in a parallel worker/,
		'the query fails');
	$leader->ask("PREPARE TRANSACTION 'parallel'");
	is(value($server, 'SELECT count(*) FROM pg_prepared_xacts'), 0, 'and its transaction');
	is(value($server, $issued), $before, 'no id was drawn');
	$server->safe_psql('postgres', insert());
	complete($server, 'after it');
}

# ---- many transactions of one process, after the snapshot
{
	my $reader = Session->new($server);
	my $manager = Session->new($server);
	$server->safe_psql('postgres', insert());
	$server->safe_psql('postgres', 'CALL settle()');
	$reader->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event_sno');
	$manager->ask("BEGIN; @{[insert()]}; PREPARE TRANSACTION 'p$_'")                        for 1 .. 5;
	$manager->ask("COMMIT PREPARED 'p$_'; BEGIN; @{[insert()]}; PREPARE TRANSACTION 'p$_'") for (1 .. 5) x 8;
	is(value($server, 'SELECT count(*) FROM snowflake_ids.unsettled WHERE prepared IS NOT NULL'),
		5, 'the view names those that are prepared');
	my $drew = value($server, 'SELECT min(first_id_time) FROM snowflake_ids.unsettled');
	ok( eventually(
			sub { value($server, "SELECT snowflake_ids_settled() >= timestamptz '$drew' - interval '10 ms'") eq 't' }),
		'all others of that process have settled');
	$manager->ask("COMMIT PREPARED 'p$_'") for 1 .. 5;

	is($reader->ask('SELECT count(*) FROM event_sno WHERE id >= (SELECT sno_settled())'),
		0, 'also for an older snapshot');
	$reader->ask('COMMIT');
	complete($server, 'after many prepared transactions of one session');
}

# Rows in a temporary table have a transaction id and a time. All this while a poll is between its snapshot and its
# answer.
{
	$server->safe_psql('postgres', insert());
	$server->safe_psql('postgres', 'CALL settle()');
	my $poll = Session->new($server);
	$poll->ask(
		'BEGIN; DECLARE c CURSOR FOR SELECT count(*), count(*) FILTER (WHERE id < sno_settled()) FROM event_sno');
	my $loop = Session->new($server);
	$loop->ask('CREATE TEMP TABLE own (id sno DEFAULT gen_sno())');
	$loop->ask('DO $$ BEGIN FOR n IN 1 .. 3000 LOOP INSERT INTO own DEFAULT VALUES; COMMIT; END LOOP; END $$');
	like($poll->ask('FETCH c'), qr/^(\d+)\|\1$/, 'a loop of short transactions does not hold a poll back');
	$poll->ask('COMMIT');
}

# ---- READ ONLY transactions write into temporary tables
{
	my $own = Session->new($server);
	my $new = sub { return $own->ask("SELECT count(*) FROM own WHERE id > '$_[0]'") };
	$own->ask('CREATE TEMP TABLE own (id sno DEFAULT gen_sno())');

	# from here a step back has a free tick-tock bit
	$clock->step(60);
	$own->ask('BEGIN READ ONLY; INSERT INTO own DEFAULT VALUES');
	is(value($server, 'SELECT count(*) FROM snowflake_ids.unsettled'), 1, 'a READ ONLY transaction is in the view');
	$own->ask('COMMIT');
	ok(eventually(sub { $own->ask('SELECT max(id) < sno_settled() FROM own') eq 't' }), 'its row has settled');
	my $last = $own->ask('SELECT max(id) FROM own');
	$clock->step(-20);
	$own->ask('BEGIN READ ONLY; INSERT INTO own SELECT gen_sno() FROM generate_series(1, 50); COMMIT');
	is($new->($last), 50, 'a step back: a reader that continues after its last id gets all rows of the next one');
	$clock->step(20);
	complete($server, 'after READ ONLY transactions');
}

# ---- a layout with a tick of a second makes no other reader late, in any database, nor when it is gone
{
	$server->safe_psql('other', <<'END');
SELECT snowflake_layout_create('slow', '2020-01-01', '1 s', 32, 10, 12);
CREATE TABLE event_slow (id bigint PRIMARY KEY DEFAULT gen_snowflake('slow'), n int);
CREATE TABLE event_mastic (id mastic PRIMARY KEY DEFAULT gen_mastic());
END
	my ($writer, $reader) = map { Session->new($server, dbname => 'other') } 1 .. 2;
	my $is_late = sub {
		my ($name, $session) = @_;
		my $late = best_of(
			15,
			sub {
				# at once, because this script may stand still between two questions
				my $behind = 'SELECT 1000 * extract(epoch FROM clock_timestamp() - mastic_timestamp(mastic_settled()))';
				return (split /\n/, $session->ask("SELECT gen_mastic(); $behind"))[1];
			});
		cmp_ok($late, '<', 15, "$name: at most 15 ms late");
	};

	# Nothing is thrown away: ids are of the clock's tick, although readers have been further.
	for my $n (1 .. 20)
	{
		$reader->ask('SELECT mastic_settled()');
		$writer->ask("INSERT INTO event_slow (n) VALUES ($n)");
	}
	is($writer->ask("SELECT count(*) FROM event_slow WHERE snowflake_timestamp(id, 'slow') > clock_timestamp()"),
		0, 'ids of the slow layout are not ahead of the clock');
	$is_late->('a reader next to a slow layout', $reader);
	$is_late->('a reader in another database', Session->new($server));

	# Open transactions hold back up to their own ids.
	$writer->ask('BEGIN');
	my $open = $writer->ask('INSERT INTO event_slow (n) VALUES (0) RETURNING id');
	my $tick_ends = "snowflake_timestamp($open, 'slow') + interval '1 s'";
	ok( eventually(
			sub {
				$reader->ask('INSERT INTO event_mastic DEFAULT VALUES');
				return $reader->ask("SELECT mastic_settled() = mastic_lower_bound($tick_ends - interval '1 ms')") eq
				  't';
			}),
		'an open transaction with a slow id: other readers come to the end of its tick');
	is($reader->ask("SELECT snowflake_settled('slow') = snowflake_lower_bound('slow', $tick_ends - interval '1 s')"),
		't', 'and readers of slow ids to its start');
	$writer->ask('COMMIT');
	ok( eventually(
			sub {
				$reader->ask('INSERT INTO event_mastic DEFAULT VALUES');
				return $reader->ask("SELECT snowflake_settled('slow') > $open") eq 't';
			}),
		'then its row settles');

	$_->gone for $writer, $reader, $elsewhere;
	$server->safe_psql('postgres', 'DROP DATABASE other');
	restart_after($server, 'fast');
	caught_up($server);
	$is_late->('after DROP DATABASE and a restart', Session->new($server));
}

# ---- promotion
$server->backup('base');
my $behind = clock();
$behind->set($clock->{offset} - 3600);
my $standby = standby_of($server, 'standby', $behind);
fails_with(
	$standby, 'SELECT sno_settled()',
	'a standby',
	qr/a standby does not know which ids are settled/,
	qr/On the primary, write the settled id into a table now and then\./);
$server->safe_psql('postgres', "BEGIN; @{[insert()]}; PREPARE TRANSACTION 'promoted'");
$server->safe_psql('postgres', insert());
$server->safe_psql('postgres', 'CALL settle()');
poll($server);
$server->wait_for_catchup($standby, 'replay', flushed_lsn($server));
my $before = Session->new($standby);
$before->ask('BEGIN; DECLARE c CURSOR FOR SELECT sno_settled()');
$server->stop('immediate');
$standby->promote;
like(
	$before->ask('FETCH ALL c'),
	qr/a standby does not know which ids are settled/,
	'a snapshot from before the promotion');
$before->ask('ROLLBACK');
$standby->safe_psql('postgres', insert());
is(value($standby, 'SELECT snowflake_ids_settled()'),
	'-infinity', 'promoted: a transaction that the primary had prepared');
$standby->safe_psql('postgres', "COMMIT PREPARED 'promoted'");
$behind->set($clock->{offset} + 10);
complete($standby, 'after the promotion');

# ---- a forced reset, after a clock that was far ahead
$behind->step(86400);
$standby->safe_psql('postgres', insert());
complete($standby, 'with the clock a day ahead');
$behind->step(-86400);
$standby->safe_psql('postgres', insert());
is(value($standby, "SELECT snowflake_ids_settled() > now() + interval '12 hours'"), 't', 'the promise stays');
$standby->safe_psql('postgres', 'SELECT snowflake_ids.reset(now(), force => true)');
is(value($standby, "SELECT sno_timestamp(gen_sno()) < now() + interval '1 hour'"), 't', 'until a forced reset');
is(value($standby, "SELECT snowflake_ids_settled() < now()"), 't', 'which puts it back');
$standby->stop('immediate');

done_testing();
