# demo/feed_without_c.sql, on a server without our extension. Each poll of a reader is compared with the table in the same
# snapshot, beside writers and through two crashes, and no version comes twice in a life. The programs of demo keep
# copies. The control has no lives: after a crash that gives out the ids of transactions again, it loses a row.
use Servers;
use Feed;
use Page;
use PostgreSQL::Test::Utils;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $source = slurp("$root/demo/feed_without_c.sql");
cmp_ok(scalar(() = $source =~ /\n/g), '<=', 90, 'it fits on a page');
my $without_lives = $source =~ s/CASE WHEN p\[1\] = snowflake_ids\.life_name\(\) THEN/CASE WHEN true THEN/r;
isnt($without_lives, $source, 'the control differs');

seeded();
my $server = plain_server('without_c', allows_streaming => 1, conf => <<'END');
restart_after_crash = on
wal_writer_delay = 10s
max_prepared_transactions = 40
END
$server->safe_psql('postgres', $source);
my $page = Page->new('doc/choosing.md');
$page->run_chapter($server, 'Hosts that load no C code', dbname => 'postgres');
$page->all_run;

$server->safe_psql('postgres', <<'END');
CREATE TABLE news (id bigint PRIMARY KEY, body int DEFAULT 1);
SELECT snowflake_ids.create_feed('news');
CREATE SEQUENCE row_ids START 1000;
END

# ---- a crash that gives out the ids of transactions again, and its control
$server->safe_psql('postgres', 'CREATE DATABASE without_lives');
$server->safe_psql('without_lives', $without_lives);
$server->safe_psql('without_lives',
	q{CREATE TABLE news (id bigint PRIMARY KEY, body int); SELECT snowflake_ids.create_feed('news')});
my $position = q{SELECT position FROM news_feed('') WHERE step = 3};
my $burn = join "\n", map { 'BEGIN; SELECT pg_current_xact_id(); ROLLBACK;' } 1 .. 20;
for my $crash ([ 'a crash of the server', sub { kill_postmaster($server); $server->start; comes_back($server) } ],
	[ 'a crash of one session', sub { kill_backend($server) } ])
{
	my ($what, $do) = @$crash;
	my ($missed, $lost) = (0, 0);

	# Until the ids were not in the WAL that was flushed.
	for (1 .. 20)
	{
		$server->safe_psql($_, 'TRUNCATE news; INSERT INTO news VALUES (1, 1)') for 'postgres', 'without_lives';
		$server->safe_psql('postgres', $burn);
		my %since = map { $_ => $server->safe_psql($_, $position) } 'postgres', 'without_lives';
		$do->();
		$server->safe_psql($_, 'INSERT INTO news VALUES (2, 1)') for 'postgres', 'without_lives';
		$server->safe_psql('postgres', $burn);    # a position above all transactions would be an error
		my %got =
		  map { $_ => $server->safe_psql($_, "SELECT count(*) FROM news_feed('$since{$_}') WHERE id = 2") } keys %since;
		$missed++ if $got{postgres} ne '1';
		last if $lost = $got{without_lives} eq '0';
	}
	is($missed, 0, "$what: the row after it comes");
	ok($lost, "control: $what: without lives, the row is lost");
}

# A poll, and the table in the same snapshot. Returns how many rows differ, and 0 if the poll has to be repeated.
my %session;

sub differs_after_poll
{
	my ($reader) = @_;
	my $session = $session{$reader} //= Session->new($server);
	$session->ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
	my $error = $reader->once($session);
	my $differs = $error eq '' ? $reader->differs($session) : 0;
	$session->ask('ROLLBACK') if !$session->{cut_short};
	delete $session{$reader} if $error eq '08006';
	die $reader->{said} if $error !~ /^(40001|08006)?$/;
	return $differs;
}

my ($python) = grep { system("$_ -c 'import psycopg2' 2>/dev/null") == 0 } '/usr/bin/python3', 'python3';
$ENV{NODE_PATH} = "$root/build/drivers/node/node_modules";
my $node = system(q{node -e 'require("pg")' 2>/dev/null}) == 0;
my %program = (
	$python ? (search => [ $python, '-B', "$root/demo/feed_reader.py" ]) : (),
	$node   ? (mail => [ 'node', "$root/demo/feed_reader.js" ])          : ());
my %pid;
my $dir = PostgreSQL::Test::Utils::tempdir();

sub start_program
{
	my ($name) = @_;
	$pid{$name} = fork // die "fork: $!";
	return if $pid{$name};
	local %ENV = (%ENV, PGHOST => $server->host, PGPORT => $server->port, PGDATABASE => 'postgres');
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', "$dir/said";
	open STDERR, '>&', \*STDOUT;
	exec @{ $program{$name} }, $name;
}

sub end_program
{
	my ($name, $signal) = @_;
	kill $signal, $pid{$name};
	waitpid delete $pid{$name}, 0;
	return $?;
}
END { local $?; kill 'KILL', values %pid }

# ---- beside writers, through two crashes
$server->safe_psql('postgres', slurp("$root/demo/feed_reader.sql") . 'ALTER TABLE bulletin ALTER body SET DEFAULT 1');
start_program($_) for sort keys %program;
{
	my @readers = map { Reader->new('news') } 1, 2;
	my $truncate =
	  "BEGIN; INSERT INTO news (id) VALUES (1); TRUNCATE news; INSERT INTO news (id) VALUES (2); COMMIT;\n";
	my @jobs = (map({ Job->new($server, writes('news') . $truncate), Job->new($server, writes('bulletin')) } 1 .. 3));
	my ($turn, $differ, $twice) = (0, 0, 0);
	go_on(
		10,
		sub {
			$differ += differs_after_poll($readers[0]);
			$differ += differs_after_poll($readers[1]) if ++$turn % 7 == 0;
			finish_prepared($server) if $turn % 50 == 0;
			if ($turn % 40 == 20)
			{
				my ($name) = (sort keys %program)[ $turn / 40 % 2 ];
				if ($name) { end_program($name, 'KILL'); start_program($name) }
			}
			if ($turn == 40 || $turn == 90)
			{
				kill_and_start($server);
				comes_back($server);
				%session = ();

				# What the first poll after a crash brings may come a second time.
				for (@readers)
				{
					$twice += $_->{twice};
					$_->poll($server);
					@$_{qw(seen twice)} = ({}, 0);
				}
			}
			return $turn > 130;
		});
	$_->stop for @jobs;
	finish_prepared($server);
	for (@readers)
	{
		$differ += differs_after_poll($_);
		$twice  += $_->{twice};
		$_->same_as($server, 'after it');
	}
	is($differ, 0, 'each poll makes the copy equal to the table in the same snapshot');
	is($twice, 0, 'no version comes twice in a life');
	cmp_ok($readers[0]{rows}, '>', 500, 'rows were read');
	cmp_ok($server->safe_psql('postgres', 'SELECT count(DISTINCT name) FROM snowflake_ids.life'),
		'>=', 3, 'in three lives');
	%session = ();
}
SKIP:
for my $name ('search', 'mail')
{
	skip "$name: its driver is not here", 2 if !$program{$name};
	my $differ =
	  "SELECT count(*) FROM bulletin b FULL JOIN (SELECT * FROM bulletin_copy WHERE reader = '$name') c USING (id) WHERE b.body IS DISTINCT FROM c.body";
	ok(eventually(sub { $server->safe_psql('postgres', $differ) eq '0' }), "$name: the copy equals the table");
}

# ---- what the programs do with errors
{
	my $any = Session->new($server);
	my $wrong = sub { $any->ask("UPDATE bulletin_reader SET position = snowflake_ids.feed_position('news')") };
	for my $name (sort keys %program) { end_program($name, 'TERM') }
	$wrong->();
	$any->ask(q{UPDATE bulletin_copy SET body = -1});
	start_program($_) for sort keys %program;
	ok(eventually(sub { $any->ask('SELECT count(*) FROM bulletin_copy WHERE body = -1') eq '0' }),
		'a program with a position of another table copies again');
	is(end_program($_, 'TERM'), 0, "$_: ends when it is asked to") for sort keys %program;
	unlike(slurp("$dir/said"), qr/Traceback|TypeError|ReferenceError|SyntaxError/, 'no program has failed');
	$any->gone;
}

# ---- keys of any type, and the transaction that polls
{
	my $any = Session->new($server);
	$any->ask(
		q{CREATE TABLE "Odd ""one" (since text, at timestamptz, row_ int, b bytea, PRIMARY KEY (b, since, at) INCLUDE (row_))}
	);
	$any->ask(q{SELECT snowflake_ids.create_feed('"Odd ""one"')});
	$any->ask(
		q{INSERT INTO "Odd ""one" VALUES ('a|''', now(), 1, '\x00ff'), ('b', now(), 2, '\x01'), ('c', now(), 3, '\x')});
	my $since = $any->ask(q{SELECT position FROM "Odd ""one_feed"('') WHERE step = 3});
	$any->ask(
		q{SET datestyle = 'german'; DELETE FROM "Odd ""one" WHERE row_ = 1; UPDATE "Odd ""one" SET since = 'd' WHERE row_ = 2; UPDATE "Odd ""one" SET row_ = 4 WHERE row_ = 3}
	);
	is( $any->ask(
			qq{SELECT step, b, since, (f."row").row_ FROM "Odd ""one_feed"('$since') f WHERE step < 3 ORDER BY 1, 2}),
		"1|\\x00ff|a|'|\n1|\\x01|b|\n2|\\x|c|4\n2|\\x01|d|2",
		'composite keys, and names that need quotes');
	$any->ask('BEGIN; INSERT INTO news VALUES (-10, 1)');
	$since = $any->ask($position);
	$any->ask('INSERT INTO news VALUES (-11, 1); COMMIT');
	like(
		$any->ask("SELECT string_agg(id::text, ' ') FROM news_feed('$since')"),
		qr/(?:^| )-11(?: |$)/,
		'own rows after a poll come') or diag("the position was '$since'");
	$any->ask('BEGIN READ ONLY');
	like($any->ask($position), qr/^sql:/, 'a read-only transaction can poll');
	$any->ask('COMMIT');

	# ---- errors
	my $state = sub {
		my ($sql) = @_;
		return $any->ask("\\set VERBOSITY verbose\n$sql") =~ /ERROR:  (\w+):/ ? $1 : 'none';
	};
	my $of_other = $any->ask(q{SELECT position FROM bulletin_feed('') WHERE step = 3});
	$since = $any->ask($position);
	is($state->("SELECT * FROM news_feed('$of_other')"), 'SF001', 'a position of another table');
	is($state->("SELECT * FROM news_feed('" . $server->safe_psql('without_lives', $position) . "')"),
		'SF001', 'of another database');
	is($state->("SELECT * FROM news_feed('" . $since =~ s/(:[\d.]+)-/${1}1-/r . "')"), 'SF001', 'of an unknown life');
	is($state->("SELECT * FROM news_feed('1:2:xyz')"), 'SF001', 'no position');
	is($state->("SELECT * FROM news_feed('$since')"), 'none', 'control: a good one');
	my $other = Session->new($server);
	$any->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$other->ask('INSERT INTO news VALUES (-12, 1)');
	is($state->("SELECT * FROM news_feed('" . $other->ask($position) . "')"),
		'40001', 'a snapshot that is older than the position');
	$any->ask('ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$other->ask('ALTER TABLE news ALTER body TYPE bigint');
	is($state->("SELECT * FROM news_feed('')"), '40001', 'and than a rewrite of the table');
	$any->ask('ROLLBACK');
	is( $other->ask('SELECT count(*) FROM news') + 2,
		$other->ask(q{SELECT count(*) FROM news_feed('')}),
		'then all rows come');
	$_->gone for $any, $other;
}

# ---- a standby refuses
$server->backup('base');
my $standby = standby_of($server, 'standby_without_c');
$server->wait_for_catchup($standby, 'replay', $server->lsn('insert'));
my (undef, undef, $err) = $standby->psql('postgres', $position);
like($err, qr/this feed is read on the primary only/, 'a standby says so');
$standby->stop;

# ---- restored on another server, whose transactions have smaller numbers
{
	$server->safe_psql('postgres', 'SELECT pg_current_xact_id()') for 1 .. 20;
	$server->safe_psql('postgres', 'TRUNCATE news; INSERT INTO news VALUES (1, 1)');
	my $since = $server->safe_psql('postgres', $position);
	my $dump = "$dir/dump";
	$server->command_ok([ 'pg_dump', '-f', $dump, 'postgres' ], 'dumped');
	my $other = plain_server('restored_without_c');
	$other->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, 'postgres' ], 'restored');
	my $session = Session->new($other);
	my ($hint) = $session->ask("SELECT * FROM news_feed('')") =~ /HINT:  (.*)/;
	like(
		$hint // '',
		qr/^UPDATE news SET stamp = 0 WHERE stamp >= \d+; DELETE FROM news_deleted/,
		'stamps of another server');
	$session->ask($hint);
	is($session->ask("SELECT step, id FROM news_feed('')"), "0|\n2|1\n3|", 'after what the hint says, all rows come');
	like($session->ask("SELECT * FROM news_feed('$since')"), qr/of another feed or server/, 'with a new position only');
	$session->gone;
	$other->stop;
}

$server->stop;
done_testing();
