# The readers of demo, beside a session that stays open and a prepared transaction that was forgotten: rows of others
# come at once, each a few times at most, and those of the open ones soon after their COMMIT. The controls are a reader
# that begins each poll at the position, and one that stops at the settled id.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use PostgreSQL::Test::Utils;
use Test::More;

my ($python) = grep { system("$_ -c 'import psycopg2' 2>/dev/null") == 0 } '/usr/bin/python3', 'python3';
plan skip_all => 'no psycopg2' if !$python;
$ENV{NODE_PATH} = "$ENV{SNOWFLAKE_IDS_SRC}/build/drivers/node/node_modules";
my $node = system(q{node -e 'require("pg")' 2>/dev/null}) == 0;

# FEED_SECONDS=30 FEED_ROWS=2000 FEED_LATE=50 for the figures, on a machine that does nothing else
my $seconds = $ENV{FEED_SECONDS} // 6;
my $rate = $ENV{FEED_ROWS} // 300;
my $most_late = $ENV{FEED_LATE} // 300;

my $tables = slurp("$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.sql");
my $server = feed_server('beside', 1);
my %program = (
	'search' => "$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.py",
	'mail' => "$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_reader.js",
	'always' => PostgreSQL::Test::Utils::tempdir() . '/always.py',
	'bound' => PostgreSQL::Test::Utils::tempdir() . '/bound.py');
my $source = slurp($program{search});
my $always = $source =~ s/whole = /whole = True or /r;
my $bound = $always =~ s/(?<=WHERE f\.stamp >= %s)/ AND f.stamp < (SELECT sno_settled('bulletin'))/r;
$always ne $source && $bound ne $always or die 'another program';
spew($program{always}, $always);
spew($program{bound}, $bound);
delete $program{mail} unless $node;
diag 'node-postgres is not here' unless $node;
$server->safe_psql('postgres', <<"END");
$tables
ALTER TABLE bulletin ADD sent timestamptz DEFAULT clock_timestamp(), ADD by text DEFAULT 'others';
ALTER TABLE bulletin_copy ADD came timestamptz DEFAULT clock_timestamp();
DELETE FROM bulletin_reader;
INSERT INTO bulletin_reader VALUES @{[ join ', ', map { "('$_')" } sort keys %program ]};
END
caught_up($server);

local %ENV = (%ENV, PGHOST => $server->host, PGPORT => $server->port, PGDATABASE => 'postgres');
my $dir = PostgreSQL::Test::Utils::tempdir();
my @pids;

sub start
{
	my (@command) = @_;
	push @pids, fork // die "fork: $!";
	return $pids[-1] if $pids[-1];
	open STDIN, '<', '/dev/null';
	open STDOUT, '>>', "$dir/said";
	open STDERR, '>&', \*STDOUT;
	exec @command;
}
END { local $?; kill 'TERM', @pids; waitpid $_, 0 for @pids }

my ($open, $any) = map { Session->new($server) } 1, 2;
my @readers = map { start($program{$_} =~ /js$/ ? 'node' : ($python, '-B'), $program{$_}, $_) } sort keys %program;
my $insert = q{INSERT INTO bulletin (id, body, by) VALUES (nextval('row_ids'), 1, 'open')};
$any->ask(q{INSERT INTO bulletin (id, body) VALUES (nextval('row_ids'), 1)});
my $readers = keys %program;
ok(eventually(sub { $any->ask('SELECT count(*) FROM bulletin_copy') eq $readers }), 'all readers have begun');

# Copies of the rows of `whose`, by reader: count, how often 99 of 100 came at most, mean; the least of the medians of half
# a second each, in ms, because a busy machine makes them longer.
sub copies
{
	my ($whose) = @_;
	my $table = $any->ask(<<"END");
WITH c AS (SELECT reader, times, extract(epoch FROM came - sent) AS late, date_bin('0.5 s', sent, 'epoch') AS bin
    FROM bulletin JOIN bulletin_copy USING (id) WHERE by LIKE '$whose'),
bins AS (SELECT reader, percentile_cont(0.5) WITHIN GROUP (ORDER BY late) AS median FROM c GROUP BY reader, bin)
SELECT reader, count(*), percentile_disc(0.99) WITHIN GROUP (ORDER BY times), round(avg(times), 2),
    (SELECT round(1000 * min(median)::numeric) FROM bins WHERE bins.reader = c.reader)
FROM c GROUP BY reader
END
	return { map { my ($name, @of) = split /\|/; $name => \@of } split /\n/, $table };
}

spew("$dir/insert.sql", q{INSERT INTO bulletin (id, body) VALUES (nextval('row_ids'), 1);} . "\n");
for my $kind ([ 'a session', '', 'COMMIT' ],
	[ 'a prepared transaction', q{PREPARE TRANSACTION 'forgotten'}, q{COMMIT PREPARED 'forgotten'} ])
{
	my ($what, $leave, $commit) = @$kind;
	$any->ask('TRUNCATE bulletin');
	my $emptied = q{SELECT min(position) > (SELECT max(stamp) FROM bulletin_deleted) FROM bulletin_reader};
	ok(eventually(sub { $any->ask($emptied) eq 't' }), 'all copies are empty');
	$open->ask("BEGIN; $insert; $leave");
	my $load =
	  start($server->installed_command('pgbench'), '-n', '-c', 4, '-R', $rate, '-T', $seconds, '-f', "$dir/insert.sql");
	waitpid $load, 0;
	is($?, 0, "$what stays open while others write");
	pop @pids;
	my $others =
	  q{SELECT count(*) FROM (SELECT FROM bulletin_copy WHERE reader IN ('search', 'mail') GROUP BY reader HAVING count(*) = (SELECT count(*) FROM bulletin)) r};
	ok(eventually(sub { $any->ask($others) eq $readers - 2 }), 'the readers have the rows of others');

	# On a slow machine, the control has polled only a few times.
	my $wake = 'UPDATE bulletin SET body = body WHERE id = (SELECT min(id) FROM bulletin)';
	eventually(sub { $any->ask($wake); my $always = copies('others')->{always}; return $always && $always->[2] > 5 });
	my %before = %{ copies('others') };
	$open->ask("$insert") if $leave eq '';
	my $ended = $any->ask('SELECT extract(epoch FROM clock_timestamp())');
	$open->ask($commit);
	my $rows = $any->ask('SELECT count(*) FROM bulletin');
	my $all =
	  sub { $any->ask("SELECT count(*) FROM (SELECT FROM bulletin_copy GROUP BY reader HAVING count(*) = $rows) r") };

	# Nobody wakes the one that stops at the settled id when the last rows settle.
	ok(eventually(sub { $any->ask($wake); $all->() eq $readers }), 'then each reader has all rows');
	my $late = $any->ask(
		"SELECT max(extract(epoch FROM came) - $ended) FROM bulletin_copy JOIN bulletin USING (id) WHERE by = 'open' AND reader IN ('search', 'mail')"
	);
	my %after = %{ copies('%') };

	for my $name (sort keys %program)
	{
		my ($n, $most, $mean, $median) = @{ $after{$name} };
		diag sprintf '%-24s %-8s %6d rows, %5.2f times (99 of 100 at most %d), after %d ms', $what, $name, $n, $mean,
		  $most,
		  $median;
		if ($name eq 'always')
		{
			cmp_ok($mean, '>', 5, 'control: a reader that always begins at the position gets each row again and again');
		}
		elsif ($name eq 'bound')
		{
			ok(!$before{bound}, 'control: a reader that stops at the settled id gets no row before the end');
		}
		else
		{
			# The readers read once more after 200 seconds.
			my $times = 5 + int((time - $^T) / 200);
			cmp_ok($most, '<=', $times, "$name: 99 of 100 rows come at most $times times");
			cmp_ok($median, '<', $most_late, "$name: rows of others come at their COMMIT, not with the next second");
		}
	}

	# The poll that brings them reads all rows of this time.
	cmp_ok($late, '<', 15 + $rows / 10000, "the rows of $what come soon after $commit");
}
is(slurp("$dir/said") =~ s/^(?!.*(?:Traceback|Error)).*\n//mgr, '', 'no program has failed');
$_->gone for $open, $any;
kill 'TERM', @pids;
for (@pids) { waitpid $_, 0; is($?, 0, 'a reader ends when it is asked to') }
@pids = ();
$server->stop;
done_testing();
