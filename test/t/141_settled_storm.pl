# Settled under load: many writers in every way that a transaction can go, pollers that continue after their last id, and
# faults. In the end every committed row was read by each poller exactly once. A short run; for a long one:
#
#   make test SUITES=tap PROVE_TESTS=test/t/141_settled_storm.pl SETTLED_SECONDS=1200
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;
use IPC::Run;
use Time::HiRes qw(sleep time);

my $seconds = $ENV{SETTLED_SECONDS} // 20;
my $bulk = $seconds > 60 ? 5000 : 300;    # most rows of one insert
my $clock = clock();
my $server = new_server('storm', $clock, allows_streaming => 1, conf => <<'END');
max_connections = 60
max_prepared_transactions = 40
autovacuum_naptime = 5s
hot_standby = on
snowflake_ids.machine_id = 3
snowflake_ids.max_wait = '60s'
END

my %type = (sno => 'sno', mastic => 'mastic', snowflake_si => 'bigint');
my %smallest = (sno => '2222222222222222', mastic => '0', snowflake_si => '0');
my @formats = sort keys %type;
my $backups = 0;

# Two pollers of snos, one of each other format: each has its own place.
my @pollers = ([ 'sno', 1 ], [ 'sno', 2 ], [ 'mastic', 1 ], [ 'snowflake_si', 1 ]);

my $set_up = <<'END';
CREATE TABLE lag (format text, poller int, ms float8);
END
for my $format (@formats)
{
	$set_up .= <<"END";
CREATE TABLE event_$format (id $type{$format} PRIMARY KEY DEFAULT gen_$format(), n bigint NOT NULL);
CREATE TABLE place_$format (poller int PRIMARY KEY, last $type{$format}, rows bigint, sum numeric, polls bigint, empty bigint);
CREATE PROCEDURE poll_$format(which int, seconds float8, measure boolean) LANGUAGE plpgsql AS \$\$
DECLARE
    until timestamptz := clock_timestamp() + seconds * interval '1 s';
    c bigint;
BEGIN
    LOOP
        -- One statement, and one snapshot.
        WITH fresh AS MATERIALIZED (
            SELECT e.id, e.n FROM event_$format e
            WHERE e.id > (SELECT last FROM place_$format WHERE poller = which) AND e.id < (SELECT ${format}_settled())
            ORDER BY e.id LIMIT 20000),
        measured AS (
            INSERT INTO lag SELECT '$format', which, extract(epoch FROM clock_timestamp() - ${format}_timestamp(id)) * 1000
            FROM fresh WHERE measure)
        UPDATE place_$format p
        SET last = coalesce((SELECT max(id) FROM fresh), last), rows = rows + x.c, sum = p.sum + x.s, polls = polls + 1,
            empty = empty + (x.c = 0)::int
        FROM (SELECT count(*) AS c, coalesce(sum(n), 0) AS s FROM fresh) x WHERE poller = which
        RETURNING x.c INTO c;
        COMMIT;
        EXIT WHEN c = 0 AND seconds = 0 OR seconds > 0 AND clock_timestamp() > until;
        IF c < 20000 THEN PERFORM pg_sleep(0.002); END IF;
    END LOOP;
END \$\$;
END
	$set_up .= "INSERT INTO place_$format VALUES ($_->[1], '$smallest{$format}', 0, 0, 0, 0);\n"
	  for grep { $_->[0] eq $format } @pollers;
}
$server->safe_psql('postgres', $set_up);

# ---- writers: pgbench scripts with their weights
my $dir = PostgreSQL::Test::Utils::tempdir();
my %weight;

sub script
{
	my ($name, $weight, $text) = @_;
	spew("$dir/$name", "\\set n random(1, 1000000)\n\\set u random(1, 1000000000)\n\\set ms random(1, 300)\n$text");
	$weight{"$dir/$name"} = $weight;
	return;
}
for my $f (@formats)
{
	my $insert = "INSERT INTO event_$f (n) VALUES (:n);";
	script("single_$f", 20, "$insert\n");
	script("pair_$f", 5, "BEGIN;\n$insert\n$insert\nCOMMIT;\n");
	script("long_$f", 1, "BEGIN;\n$insert\n\\sleep :ms ms\n$insert\nCOMMIT;\n");
	script("abort_$f", 2, "BEGIN;\n$insert\nROLLBACK;\n");
	script("savepoint_$f", 2,
		"BEGIN;\nSAVEPOINT a;\n$insert\nROLLBACK TO a;\n$insert\nSAVEPOINT b;\n$insert\nRELEASE b;\nCOMMIT;\n");
	script("bulk_$f", 8, "INSERT INTO event_$f (n) SELECT g FROM generate_series(1, 1 + :n % $bulk) g;\n");
	script("bulk_abort_$f", 1,
		"BEGIN;\nINSERT INTO event_$f (n) SELECT g FROM generate_series(1, 100) g;\nROLLBACK;\n");
	script("prepare_$f", 1,
		"BEGIN;\n$insert\nPREPARE TRANSACTION 'p:client_id.:u';\n\\sleep :ms ms\nCOMMIT PREPARED 'p:client_id.:u';\n");
	script("unprepare_$f", 1,
		"BEGIN;\n$insert\nPREPARE TRANSACTION 'q:client_id.:u';\nROLLBACK PREPARED 'q:client_id.:u';\n");
}
my @scripts = map { ('-f', "$_\@$weight{$_}") } sort keys %weight;

sub start_writers
{
	my ($for, @which) = @_;
	my ($out, $err) = ('', '');
	my @command =
	  ('pgbench', '-n', '-c', 16, '-j', 2, '-T', $for, '-h', $server->host, '-p', $server->port, @which, 'postgres');
	return { run => IPC::Run::start(\@command, '<', \undef, '>', \$out, '2>', \$err), err => \$err };
}

sub start_pollers
{
	my ($for, $measure) = @_;
	return map {
		my ($out, $err) = ('', '');
		{   run => IPC::Run::start(
				[   'psql', '-XAtq', '-h', $server->host, '-p', $server->port, '-c',
					"CALL poll_$_->[0]($_->[1], $for, $measure)", 'postgres' ],
				'<',
				\undef,
				'>',
				\$out,
				'2>',
				\$err),
			err => \$err };
	} @pollers;
}

sub finish
{
	my @runs = @_;
	for (@runs)
	{
		eval { $_->{run}->finish }
	}
	return;
}

# psql and pgbench speak the port's server, also after it was started again.
# The faults, each in a round of its own.
my @rounds = (
	[ 'no fault', sub { } ],
	[ 'the clock 10 s back', sub { $clock->step(-10) } ],
	[ 'the clock 10 s ahead', sub { $clock->step(10) } ],
	[   'a writer killed',
		sub {
			my $pid = value($server,
				"SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' AND state <> 'idle' LIMIT 1");
			kill 'KILL', $pid if $pid;
		}
	],
	[ 'the clock back and ahead', sub { $clock->step(-10); sleep 0.5; $clock->step(10) } ],
	[   'a standby promoted',
		sub {
			$backups++;
			$server->backup("base$backups");
			my $standby = PostgreSQL::Test::Cluster->new("storm$backups");
			$standby->init_from_backup($server, "base$backups", has_streaming => 1);
			start_at($standby, $clock);
			$server->wait_for_catchup($standby, 'replay', flushed_lsn($server));
			$server->stop('immediate');

			# All that the standby has got.
			$standby->promote;
			$server = $standby;
		}
	]);


my @failed;    # what went wrong for another reason than the fault
my $length = $seconds / @rounds;
my $began = time;
for (my $i = 0; $i < @rounds || time - $began < $seconds; $i++)
{
	my ($what, $fault) = @{ $rounds[ $i % @rounds ] };
	my $each = $length > 20 ? 20 : $length;
	my @runs = (start_writers($each < 2 ? 2 : int($each), @scripts), start_pollers($each + 1, 'false'));
	sleep $each / 2;
	$fault->();
	finish(@runs);
	comes_back($server);
	push @failed, grep { !/terminat|shut|crash|server closed|connection|FATAL|recovery/ }
	  map { ${ $_->{err} } =~ /ERROR:  (.*)/g } @runs;
	note sprintf '%.0f s: %s', time - $began, $what;
}

is("@failed", '', 'no statement failed for another reason');

# What is prepared is decided, and everything settles: the clock goes beyond all that it has shown.
$server->safe_psql('postgres', "COMMIT PREPARED '$_'")
  for split /\n/, value($server, "SELECT gid FROM pg_prepared_xacts WHERE gid LIKE 'p%'");
$server->safe_psql('postgres', "ROLLBACK PREPARED '$_'")
  for split /\n/, value($server, 'SELECT gid FROM pg_prepared_xacts');
is(value($server, 'SELECT count(*) FROM snowflake_ids.unsettled'), 0, 'nothing holds the end back');
$clock->step(60);
$server->safe_psql('postgres', "INSERT INTO event_$_ (n) VALUES (1)") for @formats;
for my $poller (@pollers)
{
	my ($format, $which) = @$poller;
	ok( eventually(
			sub {
				$server->safe_psql('postgres', "CALL poll_$format($which, 0, false)");
				return value($server,
					"SELECT last = (SELECT max(id) FROM event_$format) FROM place_$format WHERE poller = $which") eq
				  't';
			}),
		"$format: poller $which has come to the last row");
}
my $all = 0;
for my $poller (@pollers)
{
	my ($format, $which) = @$poller;
	my ($rows, $skipped, $differs, $polls, $empty) = split /\|/, value($server, <<"END");
SELECT c, c - rows, s - sum, polls, empty FROM place_$format, (SELECT count(*) AS c, sum(n) AS s FROM event_$format) x WHERE poller = $which
END
	diag "$format, poller $which: $rows rows in $polls polls, $empty of them empty";
	is($skipped, 0, "$format, poller $which: no row skipped, none twice");
	is($differs, 0, "$format, poller $which: those that it should have got");
	$all += $rows;
}
cmp_ok($all, '>', 1000, 'there was something to poll');
diag "$all rows read by " . scalar(@pollers) . ' pollers';

# ---- how late rows arrive, without long transactions
my @runs = (start_writers(3, map { ('-f', "$dir/single_$_") } @formats), start_pollers(4, 'true'));
finish(@runs);
diag 'lag in ms: ' . value(
	$server,
	q{SELECT string_agg(format('%s %s (of %s rows, 90 %%: %s)', format, round(m), c, round(p)), ', ' ORDER BY format)
	FROM (SELECT format, count(*) AS c, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS m, percentile_cont(0.9) WITHIN GROUP (ORDER BY ms) AS p
	      FROM lag GROUP BY format) x});
is(value($server, 'SELECT count(DISTINCT format) FROM lag'), 3, 'rows of all formats came in that time');
$server->stop('immediate');

done_testing();
