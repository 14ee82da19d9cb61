# doc/partitioning.md and doc/pg_partman.md do what they say: their commands are run, a database for each chapter, and the output that it
# shows is what comes. Chapters about pg_partman need a version of it.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;

my $page = Page->new('doc/partitioning.md');

my $server = PostgreSQL::Test::Cluster->new('partitioning');
$server->init;
$server->append_conf('postgresql.conf', "fsync = off\ntimezone = 'Asia/Tokyo'");
$server->start;
my $partman =
  $server->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'});
my ($major, $minor) = $partman =~ /^(\d+)\.(\d+)/ ? ($1, $2) : (0, 0);
note "pg_partman: " . ($partman || 'none');

# How the rows of a table lie in its partitions
sub rows_of { return $server->safe_psql($_[0], "SELECT tableoid::regclass, count(*) FROM $_[1] GROUP BY 1 ORDER BY 1") }

sub partitions_of
{
	return $server->safe_psql($_[0], "SELECT count(*) FROM pg_inherits WHERE inhparent = '$_[1]'::regclass");
}

# ---- without
my $db = $page->run_chapter($server, 'Without pg_partman');
my $month = $server->safe_psql($db, q{SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')});
for my $table ('log_entry', 'blog_post')
{
	is(rows_of($db, $table), "${table}_$month|1", "$table: a new row is in the partition of its month");
}
my ($run_time) = grep { $_->{content} =~ /PREPARE/ } $page->blocks('Without pg_partman', 'sql');
like($run_time->{said}, qr/Subplans Removed: 2/, 'with a parameter, partitions are removed when the query starts');
unlike($run_time->{said}, qr/reading_2026_0[13]_pkey/, 'and only the one is left');
is($server->safe_psql($db, q{SELECT add_monthly_partitions('reading', 'sno_lower_bound(%L)', '2026-01-20', 4)}),
	'reading_2026_04', 'what is missing is added');

# A month that was detached is missing, whatever its old table is called.
$server->safe_psql($db, "ALTER TABLE log_entry DETACH PARTITION log_entry_$month");
my $this_month =
  q{SELECT add_monthly_partitions('log_entry', 'sno_lower_bound(%L)', (now() AT TIME ZONE 'UTC')::date, 1)};
my (undef, undef, $taken) = $server->psql($db, $this_month);
like($taken, qr/relation "log_entry_$month" already exists/, 'a detached table has the name of its month');
$server->safe_psql($db,
	"ALTER TABLE log_entry_$month RENAME TO kept; ALTER INDEX log_entry_${month}_pkey RENAME TO kept_pkey");
is($server->safe_psql($db, $this_month), "log_entry_$month", 'renamed: the month gets a partition again');
$server->safe_psql($db, q{INSERT INTO log_entry (body) VALUES ('after')});
is(rows_of($db, 'log_entry'), "log_entry_$month|1", 'and takes rows');

for my $bound (
	[ gid => 'gid(log)', q{gid_lower_bound('log', %L)}, q{make_gid('log', t, '\x0102030405060708')} ],
	[ si => 'bigint', 'snowflake_si_lower_bound(%L)', 'make_snowflake_si(t, 1, 1)' ],
	[ sno => 'sno', 'sno_lower_bound(%L)', 'make_sno(t, 255, 65535, 65535, 1)' ],
	[ mastic => 'mastic', 'mastic_lower_bound(%L)', 'make_mastic(t, 65535)' ])
{
	my ($name, $type, $expression, $make) = @$bound;
	is($server->safe_psql($db, <<"END"), '1,1|2,2|3,3', "$name: first and last ids of a month");
CREATE TABLE by_month_$name (id $type, month int) PARTITION BY RANGE (id);
SELECT add_monthly_partitions('by_month_$name', '@{[ $expression =~ s/'/''/gr ]}', '2026-01-01', 3) \\g /dev/null
INSERT INTO by_month_$name
SELECT $make, extract(month FROM t AT TIME ZONE 'UTC')
FROM unnest(ARRAY['2026-01-01 00:00:00+00', '2026-01-31 23:59:59.999+00', '2026-02-01 00:00:00+00',
                  '2026-02-28 23:59:59.999+00', '2026-03-01 00:00:00+00', '2026-03-31 23:59:59.999+00']::timestamptz[]) AS t;
SELECT string_agg(DISTINCT right(tableoid::regclass::text, 1) || ',' || month, '|') FROM by_month_$name;
END
}
{
	# DEBUG1 says so when a constraint makes reading the table needless.
	my ($attach) =
	  map { $_->{content} =~ /^(ALTER TABLE visit ATTACH.*?;\n)/ms } $page->blocks('Without pg_partman', 'sql');
	my ($rc, $out, $err) = $server->psql($db,
		"ALTER TABLE visit DETACH PARTITION visit_before_2027;\n" . "SET client_min_messages = debug1;\n$attach");
	like(
		$err,
		qr/partition constraint for table "visit_before_2027" is implied by existing constraints/,
		'an old table is attached without being read');
	is(rows_of($db, 'visit'), 'visit_before_2027|100', 'and its rows are there');
}

# ---- with pg_partman
$page->all_run;
$page = Page->new('doc/pg_partman.md');

sub check_mastic
{
	my ($title) = @_;
	my $db = $page->run_chapter($server, $title);
	like(rows_of($db, 'weekly_post'), qr/^weekly_post_p\d+\|1$/, "$title: a new row is in the partition of its week");
	is(partitions_of($db, 'weekly_post'), 6, "$title: this week, four more and the default");
	is($server->safe_psql($db, <<'END'), 't|t', "$title: its bounds are midnights, a week apart");
SELECT bool_and(mastic_timestamp(low) = date_trunc('day', mastic_timestamp(low), 'UTC')),
       bool_and(mastic_timestamp(high) - mastic_timestamp(low) = '7 days')
FROM (SELECT bound[1]::bigint AS low, bound[2]::bigint AS high
      FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid,
           regexp_match(pg_get_expr(relpartbound, c.oid), '\(''(\d+)''\) TO \(''(\d+)''\)') AS bound
      WHERE inhparent = 'weekly_post'::regclass AND bound IS NOT NULL) AS b;
END

	# Weeks later, and then so late that the first week is over its retention.
	for my $weeks (4, 16)
	{
		$server->safe_psql($db,
				"INSERT INTO weekly_post (id) VALUES (make_mastic(now() + interval '$weeks weeks', 1));"
			  . q{SELECT partman.run_maintenance('public.weekly_post')})
		  if $weeks == 4;
		next if $weeks == 4;
		$server->safe_psql($db, "SELECT partman.run_maintenance('public.weekly_post')") for 1 .. 3;
		for my $later (8, 12, 16)
		{
			$server->safe_psql($db,
					"INSERT INTO weekly_post (id) VALUES (make_mastic(now() + interval '$later weeks', 1));"
				  . q{SELECT partman.run_maintenance('public.weekly_post')});
		}
	}
	is($server->safe_psql($db, 'SELECT count(*) FROM weekly_post_default'), 0, "$title: maintenance was in time");
	is($server->safe_psql($db, 'SELECT count(*), min(mastic_timestamp(id)) > now() FROM weekly_post'),
		'4|t', "$title: the oldest week was dropped");
	is( $server->safe_psql(
			$db,
			"SELECT count(*) FROM weekly_post WHERE id >= mastic_lower_bound(now() + '7 weeks')::bigint AND id < mastic_lower_bound(now() + '13 weeks')::bigint"
		),
		2,
		"$title: by time");
}

# What is not here is said, and is no failure.
sub runs
{
	my ($title, $there, $version) = @_;
	$page->left_out($title, "no pg_partman $version here, but " . ($partman || 'none')) unless $there;
	return $there;
}

if (runs('Mastic, pg_partman 4', $major == 4, 4))
{
	check_mastic('Mastic, pg_partman 4');
	my ($rc, $out, $err) = $server->psql('mastic_pg_partman_4', <<'END');
CREATE TABLE monthly_account (id sno PRIMARY KEY) PARTITION BY RANGE (id);
SELECT partman.create_parent('public.monthly_account', 'id', 'native', 'monthly');
END
	like($err, qr/only supports .* integer or date.timestamp.*sno/, 'pg_partman 4 refuses sno, as the page says');
}

if (runs('Mastic, pg_partman 5', $major >= 5, 5))
{
	check_mastic('Mastic, pg_partman 5');
}

my $title = 'sno, pg_partman 5.2 or later';
if (runs($title, $major > 5 || $major == 5 && $minor >= 2, 5.2))
{
	my $db = $page->run_chapter($server, $title);
	for my $table ('monthly_account', 'printed')
	{
		like(rows_of($db, $table),
			qr/^${table}_p\d+\|2$/, "$title: new rows are in the partition of their month ($table)");

		# With infinite_time_partitions some versions of pg_partman make one more.
		like(partitions_of($db, $table), qr/^[56]$/, "$title: this month, three more and the default ($table)");
		my ($plan) = grep { $_->{content} =~ /EXPLAIN.* FROM $table / } $page->blocks($title, 'sql');
		unlike($plan->{said}, qr/Seq Scan/, "$title: queries use the index ($table)");

		# A year and more later: partitions go on, and the oldest go.
		$server->safe_psql($db,
				"INSERT INTO $table (id) VALUES (make_sno(now() + interval '2 months', 0, 0, 1)"
			  . ($table eq 'printed' ? '::text' : '') . ');'
			  . "SELECT partman.run_maintenance('public.$table')");
		is(partitions_of($db, $table), 7, "$title: maintenance counts from the last row ($table)");
		is($server->safe_psql($db, "SELECT count(*) FROM ${table}_default"),
			0, "$title: nothing in the default ($table)");
	}

	# What is older than its retention: a partition of two years ago, as if made then.
	is($server->safe_psql($db, <<'END'), '0', "$title: retention drops old partitions");
CREATE TABLE monthly_account_p20240101 PARTITION OF monthly_account FOR VALUES FROM (sno_lower_bound('2024-01-01')) TO (sno_lower_bound('2024-02-01'));
SELECT partman.run_maintenance('public.monthly_account') \g /dev/null
SELECT count(*) FROM pg_class WHERE relname = 'monthly_account_p20240101';
END
	my $plan = $server->safe_psql($db,
		"EXPLAIN (COSTS OFF) SELECT * FROM monthly_account WHERE id >= date_trunc('month', now()) AND id < date_trunc('month', now()) + interval '1 day'"
	);
	like($plan, qr/Subplans Removed: \d/, "$title: pruned by now()");
	my ($rc, $out, $err) = $server->psql($db, <<'END');
CREATE TABLE bare (id sno PRIMARY KEY) PARTITION BY RANGE (id);
SELECT partman.create_parent('public.bare', 'id', '1 month', p_time_encoder => 'public.sno_lower_bound', p_time_decoder => 'public.sno_decoder');
END
	like($err, qr/Supplied column is of type sno/, 'sno itself is refused, as the page says');
	($rc, $out, $err) = $server->psql($db, <<'END');
CREATE TABLE number (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
SELECT partman.create_parent('public.number', 'id', '1 month', p_time_encoder => 'public.mastic_lower_bound', p_time_decoder => 'public.sno_decoder');
END
	like($err, qr/can only be used with text.uuid/, 'an encoder on bigint is refused, as the page says');
}

$page->all_run;
$server->stop;
done_testing();
