# Several readers share a feed, and what all have read is deleted or dropped, while they are killed and the server
# crashes. The programs and statements are those of demo and doc/feed.md. Controls store the position in another
# transaction, or delete too much.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use PostgreSQL::Test::Utils;
use Test::More;

my ($python) = grep { system("$_ -c 'import psycopg2' 2>/dev/null") == 0 } '/usr/bin/python3', 'python3';
plan skip_all => 'no psycopg2' if !$python;

my $page = Page->new('doc/feed.md');
my ($by_hand, $delete) = map { $_->{content} } $page->take('Several readers', 'sql');
my ($stamped, $poll) = map { $_->{content} } $page->blocks('A feed with stamps', 'sql');
$by_hand =~ s/^-- poll.*\n/$poll =~ s{.set.*\n}{}r/me or die 'another way';
$delete =~ s/headline/bulletin/ && $delete =~ s/reader/bulletin_reader/ or die 'another deletion';
my $tables = slurp("$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.sql");
my ($partitioned, $drop) =
  slurp("$ENV{SNOWFLAKE_IDS_SRC}/demo/drop_read_partitions.sql") =~ /^(CREATE .*^END \$\$;\n).*^(SELECT .*)/ms;

$ENV{NODE_PATH} = "$ENV{SNOWFLAKE_IDS_SRC}/build/drivers/node/node_modules";
my $node = system(q{node -e 'require("pg")' 2>/dev/null}) == 0;

my $server = feed_server('house', 1, conf => 'autovacuum = on');
$server->safe_psql('postgres', <<"END");
$tables
$partitioned
INSERT INTO bulletin_reader VALUES ('position first');
@{[ $node ? q{INSERT INTO bulletin_reader VALUES ('in JavaScript');} : '' ]}
INSERT INTO dispatch_reader VALUES ('often'), ('seldom');
CREATE TABLE dispatch_rest PARTITION OF dispatch DEFAULT;
DO \$\$
BEGIN
    FOR n IN 1 .. 2 LOOP
        FOR i IN 2 .. 41 LOOP
            EXECUTE format('CREATE TABLE dispatch_%s_%s PARTITION OF dispatch FOR VALUES FROM (%s) TO (%s)',
                n, i, n * 1000000000 + i * 500, n * 1000000000 + (i + 1) * 500);
        END LOOP;
    END LOOP;
END \$\$;
-- The oracle: the last version of each row, whatever was deleted.
CREATE TABLE written (feed text, id bigint, body int, stamp sno, PRIMARY KEY (feed, id));
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
    INSERT INTO written VALUES (TG_ARGV[0], NEW.id, NEW.body, NEW.stamp)
    ON CONFLICT (feed, id) DO UPDATE SET body = excluded.body, stamp = excluded.stamp;
    RETURN NULL;
END \$\$;
CREATE TRIGGER note AFTER INSERT OR UPDATE ON bulletin FOR EACH ROW EXECUTE FUNCTION note('bulletin');
-- What the copies have ever had, for what all have read is deleted from them, too.
CREATE TABLE had (LIKE bulletin_copy INCLUDING ALL);
CREATE FUNCTION note_copy() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
    INSERT INTO had AS h VALUES (NEW.*) ON CONFLICT (reader, id) DO UPDATE SET body = excluded.body, times = h.times + 1;
    RETURN NULL;
END \$\$;
CREATE TRIGGER note AFTER INSERT OR UPDATE ON bulletin_copy FOR EACH ROW EXECUTE FUNCTION note_copy();
CREATE TRIGGER note AFTER INSERT OR UPDATE ON dispatch FOR EACH ROW EXECUTE FUNCTION note('dispatch');
END

# ---- by hand
is($server->safe_psql('postgres', "$stamped $by_hand") =~ s/^\d+\|//mgr =~ s/\|\d+$//mgr,
	"2|second\n1|changed", 'a reader by hand has all rows');

# ---- the program of the demo, and one that stores the position in an earlier transaction
my $dir = PostgreSQL::Test::Utils::tempdir();
my $source = slurp("$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.py") =~ s/whole = /whole = True or /r;
my ($effects, $position) =
  $source =~ /^( +handle\(self\.cursor, self\.name, rows\)\n)( +if whole:\n +self\.cursor\.execute\("UPDATE .*\n.*\n)/m
  or die 'another program';
my $commit = $effects =~ s/handle.*/self.cursor.execute("COMMIT"); time.sleep(0.05); self.cursor.execute("BEGIN")/r;
spew("$dir/position_first.py", $source =~ s/\Q$effects$position\E/$position$commit$effects/r);
my %program = (
	'search' => "$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.py",
	'mail' => "$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.py",
	'position first' => "$dir/position_first.py");

$program{'in JavaScript'} = "$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.js" if $node;
my %pid;

sub start_reader
{
	my ($name) = @_;
	$pid{$name} = fork // die "fork: $!";
	return if $pid{$name};
	local %ENV = (%ENV, PGHOST => $server->host, PGPORT => $server->port, PGDATABASE => 'postgres');
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', "$dir/said";
	open STDERR, '>&', \*STDOUT;
	exec $program{$name} =~ /js$/ ? 'node' : ($python, '-B'), $program{$name}, $name;
}

sub end_reader
{
	my ($name, $signal) = @_;
	kill $signal, $pid{$name};
	waitpid delete $pid{$name}, 0;
	return $?;
}
END { local $?; kill 'KILL', values %pid }

my %of_dispatch = map {
	$_ => Reader->new(
		"dispatch, $_",
		$server,
		q{SELECT greatest(:'position', (SELECT sno_settled('dispatch'))) AS position, id, body, stamp FROM dispatch WHERE stamp >= :'position' ORDER BY stamp}
	)
} qw(often seldom);

# Perl's readers have their effects in memory.
sub read_dispatch
{
	my ($name) = @_;
	my $reader = $of_dispatch{$name};
	poll_all($reader);
	value($server, "UPDATE dispatch_reader SET position = '@{[ $reader->position ]}' WHERE name = '$name'");
	return;
}

start_reader($_) for sort keys %program;
my @jobs = map { Job->new($server, writes($_, 'bulletin', 'dispatch')) } 1, 2;
my @keepers = map { Job->new($server, $_, 0.1) } $delete, $drop;

# Counts what a reader of bulletin has lost; rows that change are left out.
my $once = 'w.id % 1000000000 > @{[ Feed::hot_rows ]}' =~ s/\@\{\[ (.*) \]\}/Feed::hot_rows/er;
my $lost =
  "SELECT count(*) FROM written w JOIN bulletin_reader r ON w.stamp < r.position LEFT JOIN had c ON c.reader = r.name AND c.id = w.id WHERE w.feed = 'bulletin' AND $once AND c.id IS NULL AND r.name = ";

# A reader is killed only after it has moved: on a slow machine it would never get further.
my %began;
my $has_moved = sub {
	my ($name) = @_;
	my $at = value($server, "SELECT position FROM bulletin_reader WHERE name = '$name'");
	return $at =~ /^\w{16}$/ && $at ne ($began{$name} // Feed::smallest) ? $at : undef;
};

# A row below a position that the control has left behind is lost; above it, it may only not have come yet.
my ($seen, $behind) = (Feed::smallest) x 2;
my $has_lost = sub {
	my $at = value($server, "SELECT position FROM bulletin_reader WHERE name = 'position first'");
	($seen, $behind) = ($at, $seen) if $at ne $seen;
	return value($server, "${lost}'position first' AND w.stamp < '$behind'") > 0;
};

my $turn = 0;
ok( go_on(
		8,
		sub {
			my ($over) = @_;
			my $name = (sort keys %program)[ $turn++ % keys %program ];
			if (my $moved = $has_moved->($name))
			{
				end_reader($name, 'KILL');
				$began{$name} = $moved;
				start_reader($name);
			}
			if ($turn == 8) { $server->restart }
			if ($turn % 40 == 16)
			{
				kill_postmaster($server);
				$server->start;
				comes_back($server);
			}
			for (1 .. 4)
			{
				read_dispatch('often');
				sleep 0.05;
			}
			read_dispatch('seldom') if $turn % 5 == 0;
			finish_prepared($server) if $turn % 8 == 0;
			return $has_lost->() && $turn > 20 && $over;
		}),
	'the control has lost a row');
$_->stop for @jobs;
finish_prepared($server);

my %end = map { $_ => value($server, "SELECT max(stamp) FROM written WHERE feed = '$_'") } qw(bulletin dispatch);
ok( eventually(
		sub {
			read_dispatch($_) for sort keys %of_dispatch;
			return value($server, "SELECT min(position) > '$end{bulletin}' FROM bulletin_reader") eq 't'
			  && value($server, "SELECT min(position) > '$end{dispatch}' FROM dispatch_reader") eq 't';
		}),
	'all readers reach the end');
ok(eventually(sub { value($server, 'SELECT count(*) FROM bulletin') eq '0' }), 'all rows are deleted');
ok( eventually(
		sub {
			value($server,
				q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'dispatch'::regclass AND inhrelid <> 'dispatch_rest'::regclass AND EXISTS (SELECT FROM dispatch WHERE tableoid = inhrelid)}
			) eq '0';
		}),
	'all partitions with rows are dropped');
$_->stop for @keepers;
my $rows = value($server, q{SELECT count(*) FROM written WHERE feed = 'bulletin'});
cmp_ok($rows, '>', 500, 'rows were written');

for my $name (sort keys %program)
{
	my $verdict = value($server, <<"END");
SELECT count(*) FILTER (WHERE c.id IS NULL), count(*) FILTER (WHERE c.body <> w.body), coalesce(max(times) FILTER (WHERE $once), 0)
FROM written w LEFT JOIN had c ON c.id = w.id AND c.reader = '$name' WHERE w.feed = 'bulletin'
END
	my ($missing, $stale, $times) = split /\|/, $verdict;
	if   ($name eq 'position first') { ok($missing > 0, "control: $name: rows are missing") }
	else                             { is("$missing|$stale", '0|0', "$name: no row is missing or stale") }
	diag sprintf '%-46s %7d rows %5d missing %5d stale, at most %d times',
	  $name eq 'position first' ? "control: $name" : $name, $rows, $missing, $stale, $times;
	is(end_reader($name, 'TERM'), 0, "$name: ends when it is asked to");
}
my $written = {
	map { split /\|/ } split /\n/,
	$server->safe_psql('postgres', q{SELECT id, body FROM written WHERE feed = 'dispatch'}) };
my $dropped = 80 - value($server, q{SELECT count(*) - 1 FROM pg_inherits WHERE inhparent = 'dispatch'::regclass});
cmp_ok($dropped, '>', 1, 'partitions were dropped');
for my $name (sort keys %of_dispatch)
{
	my ($missing, $stale) = $of_dispatch{$name}->verdict($written);
	is("$missing, $stale", '0, 0', "dispatch, $name: no row is missing or stale");
	diag sprintf '%-46s %7d rows %5d missing %5d stale', "dispatch, $name ($dropped partitions dropped)",
	  scalar keys %$written, $missing, $stale;
}
SKIP: { skip 'in JavaScript: node-postgres is not here', 1 if !$node; pass('in JavaScript, too'); }
unlike(slurp("$dir/said"), qr/Traceback|TypeError|ReferenceError/, 'no program has failed');
like(slurp("$dir/said"), qr/^[a-z ]+: /m, 'they have told that the connection was lost');

# ---- deletions, changed keys and TRUNCATE reach the copies, also beside a transaction that stays open
my ($session, $other) = map { Session->new($server) } 1, 2;
my $deaf = 'no TRUNCATE';
spew("$dir/deaf.py", slurp($program{search}) =~ s/None in deleted/False/r);
$program{$deaf} = "$dir/deaf.py";
$session->ask("INSERT INTO bulletin_reader VALUES ('$deaf')");
my @copiers = grep { !/^$deaf$|^position first$/ } sort keys %program;
start_reader($_) for @copiers, $deaf;

sub copies_follow
{
	my ($what, $sql) = @_;
	end_reader($copiers[0], 'KILL');
	$session->ask($sql);
	start_reader($copiers[0]);
	for my $name (@copiers)
	{
		my $differ =
		  "SELECT count(*) FROM bulletin b FULL JOIN (SELECT * FROM bulletin_copy WHERE reader = '$name') c USING (id) WHERE b.body IS DISTINCT FROM c.body";
		ok(eventually(sub { $session->ask($differ) eq '0' }), "$name: $what");
	}
	return;
}
copies_follow('rows', 'INSERT INTO bulletin SELECT n, n FROM generate_series(1, 200) n');
my ($open, $longer) = map { Session->new($server) } 1, 2;
$open->ask('BEGIN; INSERT INTO bulletin VALUES (1000, 1)');
copies_follow('deletions', 'DELETE FROM bulletin WHERE id % 3 = 0');
$longer->ask('BEGIN; UPDATE bulletin SET id = -5 WHERE id = 5; DELETE FROM bulletin WHERE id = 8');
copies_follow('changed keys', 'UPDATE bulletin SET id = -id, body = body + 1 WHERE id % 3 = 1');
copies_follow('deletions and new rows', <<'END');
BEGIN; DELETE FROM bulletin WHERE id BETWEEN -10 AND -1; INSERT INTO bulletin VALUES (-1, 7), (-4, 8); COMMIT
END
$longer->ask('COMMIT');
copies_follow('those of a transaction that was open for longer', 'UPDATE bulletin SET body = 9 WHERE id = -4');
$open->ask('COMMIT');
copies_follow('rows before and after TRUNCATE', <<'END');
BEGIN; INSERT INTO bulletin VALUES (900, 1); TRUNCATE bulletin; INSERT INTO bulletin VALUES (2, 3); COMMIT
END
copies_follow('TRUNCATE', 'TRUNCATE bulletin');
copies_follow('rows again', 'INSERT INTO bulletin VALUES (5, 6)');
ok(eventually(sub { $session->ask("SELECT count(*) FROM bulletin_copy WHERE reader = '$deaf' AND id = 5") eq '1' }),
	"$deaf has read all");
cmp_ok($session->ask("SELECT count(*) FROM bulletin_copy WHERE reader = '$deaf'"),
	'>', 1, 'control: a reader that ignores deletions without a key keeps rows');
is(end_reader($_, 'TERM'), 0, "$_: ends when it is asked to, again") for @copiers, $deaf;
$_->gone for $open, $longer;

# ---- deletions that look elsewhere: one reader has read all, the other nothing
$session->ask("DELETE FROM bulletin_reader; INSERT INTO bulletin_reader VALUES ('search'), ('mail')");
my $fresh = sub {
	$session->ask(q{DELETE FROM bulletin; INSERT INTO bulletin VALUES (1, 1), (2, 1)});
	eventually(sub { $session->ask(q{SELECT max(stamp) < (SELECT sno_settled('bulletin')) FROM bulletin}) eq 't' })
	  or die 'nothing settles';
	$session->ask(q{UPDATE bulletin_reader SET position = sno_settled('bulletin') WHERE name = 'search'});
};
my $left =
  sub { my ($sql) = @_; $fresh->(); $session->ask($sql); return $session->ask('SELECT count(*) FROM bulletin') };
is($left->($delete), '2', 'what one reader has not read stays');
is($left->($delete =~ s/min/max/r), '0', 'control: the newest position: rows are lost');
is($left->(q{DELETE FROM bulletin WHERE stamp < (SELECT sno_settled('bulletin'))}),
	'0', 'control: what has settled: rows are lost');

# an update commits while DELETE waits
$fresh->();
$session->ask(q{UPDATE bulletin_reader SET position = sno_settled('bulletin')});
$other->ask('BEGIN; UPDATE bulletin SET body = 2 WHERE id = 1');
$session->send($delete);
my $waits = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'};
ok(eventually(sub { $other->ask($waits) eq '1' }), 'the deletion waits for an update');
$other->ask('COMMIT');
$session->answer;
is($session->ask('SELECT id, body FROM bulletin'), '1|2', 'and leaves the new version');

# a row comes late into a partition that all have read
my $part = sub {
	my ($name, $from) = @_;
	$session->ask(
		"CREATE TABLE $name PARTITION OF dispatch FOR VALUES FROM ($from) TO ($from + 10); INSERT INTO dispatch VALUES ($from, 1)"
	);
	eventually(sub { $session->ask(q{SELECT max(stamp) < sno_settled('dispatch') FROM dispatch}) eq 't' })
	  or die 'nothing settles';
	$session->ask(q{UPDATE dispatch_reader SET position = sno_settled('dispatch')});
};
$part->('late_1', 100);
$other->ask('BEGIN; INSERT INTO dispatch VALUES (101, 1)');
$session->send(q{SELECT drop_read_partition('late_1')});
ok(eventually(sub { $other->ask($waits) eq '1' }), 'the drop waits for a writer');
$other->ask('COMMIT');
is($session->answer, 'f', 'and is not done');
is($session->ask('SELECT count(*) FROM late_1'), '2', 'its row stays');
$part->('late_2', 200);
is($session->ask('SELECT max(stamp) < (SELECT min(position) FROM dispatch_reader) FROM late_2'), 't', 'all is read');
$other->ask('INSERT INTO dispatch VALUES (201, 1)');
$session->ask('DROP TABLE late_2');
is($session->ask('SELECT count(*) FROM dispatch WHERE id = 201'),
	'0', 'control: a look without the lock: a row is lost');

# ---- a server that was restored
$session->ask(q{UPDATE bulletin_reader SET position = sno_lower_bound(now() + interval '1 day') WHERE name = 'search'});
unlike(slurp("$dir/said"), qr/is above all ids of this server/, 'no reader was beyond the ids of the server');
start_reader('search');
ok(eventually(sub { slurp("$dir/said") =~ /^search: .*is above all ids of this server/m }), 'a reader that is says so');
is(end_reader('search', 'TERM'), 0, 'and ends when it is asked to');

$_->gone for $session, $other;
$page->all_run;
$server->stop;
done_testing();
