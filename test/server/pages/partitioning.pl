# doc/partitioning.md: its commands run, a database for each chapter, and give the output that it shows.
use strict;
use warnings;
use Test::More;
use Servers ();
use Page;

my $page = Page->new('doc/partitioning.md');

my $server = Servers::plain_server('partitioning', conf => "timezone = 'Asia/Tokyo'");
my $partman =
  $server->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'});
my ($major, $minor) = $partman =~ /^(\d+)\.(\d+)/ ? ($1, $2) : (0, 0);
note "pg_partman: " . ($partman || 'none');

sub rows_of { return $server->safe_psql($_[0], "SELECT tableoid::regclass, count(*) FROM $_[1] GROUP BY 1 ORDER BY 1") }

sub partitions_of
{
	return $server->safe_psql($_[0], "SELECT count(*) FROM pg_inherits WHERE inhparent = '$_[1]'::regclass");
}

# ---- by a function
my $chapter = 'Add partitions';
my $db = $page->run_chapter($server, $chapter);
my $month = $server->safe_psql($db, q{SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')});
is(rows_of($db, 'log_entry'), "log_entry_$month|1", 'a new row is in the partition of its month');
my $run_time =
  $server->safe_psql($db, "EXPLAIN (COSTS OFF) SELECT * FROM log_entry WHERE id >= now() - interval '1 day'");
like($run_time, qr/Subplans Removed: 2/, 'with now(), partitions are removed when the query starts');
unlike($run_time, qr/log_entry_2026_0[23]/, 'those that cannot match');
my $later = $server->safe_psql($db,
	q{SELECT 'log_entry' || to_char((now() AT TIME ZONE 'UTC')::date + interval '2 months', '_YYYY_MM')});
like($run_time, qr/$later/, 'without an upper bound, partitions of later times are read');
my $bounded = q{FROM log_entry WHERE id >= now() - interval '1 day' AND id < now() + interval '1 minute'};
unlike($server->safe_psql($db, "EXPLAIN (COSTS OFF) SELECT * $bounded"),
	qr/$later/, 'with that of the page they are not');
is($server->safe_psql($db, "SELECT count(*) $bounded"), 1, 'and the newest row is found');
is($server->safe_psql($db, q{SELECT add_partitions('log_entry', 'sno_lower_bound(%L)', '2026-02-20', 3)}),
	'log_entry_2026_04', 'what is missing is added');

# It stops nobody, and waits at most a second.
{
	my $busy = Session->new($server, dbname => $db);
	$busy->ask('BEGIN; SELECT count(*) FROM log_entry; INSERT INTO log_entry DEFAULT VALUES');
	my $add =
	  q{SET statement_timeout = '60s'; SELECT add_partitions('log_entry', 'sno_lower_bound(%L)', '2026-05-01', 1)};
	is($server->safe_psql($db, $add), 'log_entry_2026_05', 'next to an open transaction that reads and writes');
	$busy->ask('ROLLBACK; BEGIN; LOCK TABLE log_entry');
	my ($rc, undef, $err) = $server->psql($db, $add =~ s/05-01/06-01/r);
	like($err, qr/canceling statement due to lock timeout/, 'a lock that is not free: it gives up');
	$busy->ask('ROLLBACK');
}

my (undef, $numbered, $numbered_err) = $server->psql($db, <<'END');
CREATE TABLE numbered (id sno DEFAULT gen_sno() PRIMARY KEY, n integer GENERATED ALWAYS AS IDENTITY) PARTITION BY RANGE (id);
SELECT add_partitions('numbered', 'sno_lower_bound(%L)', (now() AT TIME ZONE 'UTC')::date, 1) \gset
INSERT INTO numbered DEFAULT VALUES RETURNING n;
END
is("$numbered$numbered_err", 1, 'a table with an identity column');

# For days, as the page says
{
	my ($day) = $page->text =~ /, write `14, ('\w+')` instead of `3`/;
	my $days = "SELECT add_partitions('by_day', 'sno_lower_bound(%L)', '2026-02-28', 2, $day)";
	is( $server->safe_psql($db, "CREATE TABLE by_day (id sno) PARTITION BY RANGE (id); $days"),
		"by_day_2026_02_28\nby_day_2026_03_01",
		'daily partitions');
	$server->safe_psql(
		$db, q{INSERT INTO by_day SELECT make_sno(t, 0, 0, 0)
		FROM unnest('{2026-02-28 00:00+00, 2026-02-28 23:59:59.999+00, 2026-03-01 00:00+00}'::timestamptz[]) AS t});
	is(rows_of($db, 'by_day'), "by_day_2026_02_28|2\nby_day_2026_03_01|1", 'with the rows of their days');
}

my $not_dropped = qr/cannot drop table log_entry_2026_02 because other objects depend on it/;
$server->safe_psql($db, <<'END');
CREATE TABLE attachment (log_entry_id sno REFERENCES log_entry);
INSERT INTO log_entry (id) VALUES (make_sno('2026-02-10 00:00:00+00', 0, 0, 0));
INSERT INTO attachment VALUES (make_sno('2026-02-10 00:00:00+00', 0, 0, 0));
END
my $detach = 'ALTER TABLE log_entry DETACH PARTITION log_entry_2026_02';
like(refused('DROP TABLE log_entry_2026_02'), $not_dropped, 'a foreign key: a month is not dropped');
like(refused($detach), qr/violates foreign key constraint/, 'nor detached');
$server->safe_psql($db, 'DELETE FROM attachment');
like(refused('DROP TABLE log_entry_2026_02'), $not_dropped, 'nothing refers to it: it is not dropped');
is($server->safe_psql($db, "$detach; DROP TABLE log_entry_2026_02; SELECT to_regclass('log_entry_2026_02') IS NULL"),
	't', 'but detached, and then dropped');
sub refused { return ($server->psql($db, $_[0]))[2] }

$server->safe_psql($db, "DROP TABLE attachment; ALTER TABLE log_entry DETACH PARTITION log_entry_$month");
my $this_month = q{SELECT add_partitions('log_entry', 'sno_lower_bound(%L)', (now() AT TIME ZONE 'UTC')::date, 1)};
like(refused($this_month), qr/relation "log_entry_$month" already exists/,
	'a detached table has the name of its month');
$server->safe_psql($db,
	"ALTER TABLE log_entry_$month RENAME TO kept; ALTER INDEX log_entry_${month}_pkey RENAME TO kept_pkey");
is($server->safe_psql($db, $this_month), "log_entry_$month", 'renamed: the month gets a partition again');
$server->safe_psql($db, q{INSERT INTO log_entry (body) VALUES ('after')});
is(rows_of($db, 'log_entry'), "log_entry_$month|1", 'and takes rows');

my ($in_the_way) = $page->text =~ /`(updated partition constraint .*?)`/;
my $two_months = q{SELECT add_partitions('log_entry', 'sno_lower_bound(%L)', '2035-01-01', 2)};
$server->safe_psql($db, <<'END');
CREATE TABLE log_entry_rest PARTITION OF log_entry DEFAULT;
INSERT INTO log_entry (id)
SELECT make_sno(t, 0, 0, 0) FROM unnest(ARRAY['2035-01-31 12:00+00', '2035-02-01 12:00+00']::timestamptz[]) AS t;
END
like(
	refused($two_months),
	qr/ERROR:  @{[ join 'log_entry_rest', map { quotemeta } split '…', $in_the_way ]}\n/,
	'a default partition with rows of the month: the message of the page');
is($server->safe_psql($db, <<"END"), "log_entry_2035_01\nlog_entry_2035_02", 'what the page says makes the months');
BEGIN;
ALTER TABLE log_entry DETACH PARTITION log_entry_rest;
$two_months;
INSERT INTO log_entry SELECT * FROM log_entry_rest;
DROP TABLE log_entry_rest;
COMMIT;
END
is(rows_of($db, 'log_entry'), "log_entry_$month|1\nlog_entry_2035_01|1\nlog_entry_2035_02|1", 'with their rows');

for my $bound (
	[ gid => 'gid(log)', q{gid_lower_bound('log', %L)}, q{make_gid('log', t, '\x0102030405060708')} ],
	[ si => 'bigint', 'snowflake_si_lower_bound(%L)', 'make_snowflake_si(t, 1, 1)' ],
	[ sno => 'sno', 'sno_lower_bound(%L)', 'make_sno(t, 255, 65535, 65535, 1)' ],
	[ mastic => 'mastic', 'mastic_lower_bound(%L)', 'make_mastic(t, 65535)' ],
	[ uuid => 'uuid', 'uuid7_lower_bound(%L)', 'uuid7_upper_bound(t)' ])
{
	my ($name, $type, $expression, $make) = @$bound;
	is($server->safe_psql($db, <<"END"), '1,1|2,2|3,3', "$name: first and last ids of a month");
CREATE TABLE by_month_$name (id $type, month int) PARTITION BY RANGE (id);
SELECT add_partitions('by_month_$name', '@{[ $expression =~ s/'/''/gr ]}', '2026-01-01', 3) \\g /dev/null
INSERT INTO by_month_$name
SELECT $make, extract(month FROM t AT TIME ZONE 'UTC')
FROM unnest(ARRAY['2026-01-01 00:00:00+00', '2026-01-31 23:59:59.999+00', '2026-02-01 00:00:00+00',
                  '2026-02-28 23:59:59.999+00', '2026-03-01 00:00:00+00', '2026-03-31 23:59:59.999+00']::timestamptz[]) AS t;
SELECT string_agg(DISTINCT right(tableoid::regclass::text, 1) || ',' || month, '|') FROM by_month_$name;
END
}
{
	# DEBUG1 says that a constraint makes reading the table needless.
	my ($attach) = map { $_->{content} =~ /^(ALTER TABLE visit ATTACH.*?;\n)/ms } $page->blocks($chapter, 'sql');
	my ($rc, $out, $err) = $server->psql($db,
		"ALTER TABLE visit DETACH PARTITION visit_before_2027;\n" . "SET client_min_messages = debug1;\n$attach");
	like(
		$err,
		qr/partition constraint for table "visit_before_2027" is implied by existing constraints/,
		'an old table is attached without being read');
	is(rows_of($db, 'visit'), 'visit_before_2027|1', 'and its rows are there');
	is(partitions_of($db, 'visit'), 4, 'next to three new partitions');
}

# ---- without the extension
is($server->safe_psql($db, <<'END'), 'by_month_si by_month_uuid', 'CASCADE drops the tables that our types partition');
BEGIN;
SET LOCAL client_min_messages = error;
DROP EXTENSION snowflake_ids CASCADE;
SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relname ~ '^by_month_[a-z]+$';
ROLLBACK;
END

my $title = 'pg_partman 5.2 or later';
if ($major < 5 || $major == 5 && $minor < 2)
{
	$page->left_out($title, 'pg_partman here: ' . ($partman || 'none'));
}
else
{
	my $db = $page->run_chapter($server, $title);
	$server->safe_psql($db, q{INSERT INTO subscriber (name) VALUES ('ada'), ('grace')});
	like(rows_of($db, 'subscriber'), qr/^subscriber_p\d+\|2$/, "$title: new rows are in the partition of their month");

	like(partitions_of($db, 'subscriber'), qr/^[56]$/, "$title: this month, three more and the default");
	unlike(
		$server->safe_psql($db, "EXPLAIN (COSTS OFF) SELECT * FROM subscriber WHERE id >= now() - interval '1 hour'"),
		qr/Seq Scan/, "$title: queries use the index");

	$server->safe_psql($db, <<'END');
INSERT INTO subscriber (id) VALUES (make_sno(now() + interval '2 months', 0, 0, 1));
CREATE TABLE subscriber_p20240101 PARTITION OF subscriber
    FOR VALUES FROM (sno_lower_bound('2024-01-01')) TO (sno_lower_bound('2024-02-01'));
SELECT partman.run_maintenance('public.subscriber');
END
	is(partitions_of($db, 'subscriber'),
		7, "$title: maintenance counts from the last row, retention drops old partitions");
	is($server->safe_psql($db, 'SELECT count(*) FROM subscriber_default'), 0, "$title: nothing in the default");
	like(
		$server->safe_psql(
			$db, "EXPLAIN (COSTS OFF) SELECT * FROM subscriber WHERE id >= now() AND id < now() + interval '1 hour'"),
		qr/Subplans Removed: \d/,
		"$title: pruned by now()");

	my $late = q{INSERT INTO subscriber (id) VALUES (make_sno(now() - interval '2 months', 0, 0, 1));};
	my (undef, undef, $err) = $server->psql($db, "$late SELECT partman.partition_data_time('public.subscriber')");
	is( $server->safe_psql($db, 'SELECT count(*) FROM subscriber_default')
		  . ($err =~ /Cannot run on partition set/ ? ' refused' : ''),
		$major == 5 && $minor < 3 ? '1 refused' : '0',
		"$title: partition_data_time");

	if ($minor >= 5)
	{
		is($server->safe_psql($db, <<'END'), '', "$title: detach_before_drop");
CREATE TABLE login (account_id sno REFERENCES subscriber);
CREATE TABLE subscriber_p20240201 PARTITION OF subscriber
    FOR VALUES FROM (sno_lower_bound('2024-02-01')) TO (sno_lower_bound('2024-03-01'));
UPDATE partman.part_config SET detach_before_drop = true WHERE parent_table = 'public.subscriber';
SELECT partman.run_maintenance('public.subscriber') \g /dev/null
SELECT to_regclass('subscriber_p20240201');
END
	}

	for my $row (
		[ mastic => 'mastic', 'mastic_lower_bound', 'mastic_timestamp(id::mastic)' ],
		[ number => 'bigint', 'mastic_lower_bound', 'mastic_timestamp(id::mastic)' ],
		[ si => 'bigint', 'snowflake_si_lower_bound', 'snowflake_si_timestamp(id::bigint)' ],
		[ gid => 'gid', 'log_lower_bound', 'gid_timestamp(id::gid)' ],
		[ uuid => undef, 'uuid7_lower_bound', 'uuid7_timestamp(id::uuid)' ])
	{
		my ($name, $type, $encoder, $decoder) = @$row;
		my $column = $type ? "${name}_as.text" : 'uuid';
		$server->safe_psql($db, ($type ? "CREATE SCHEMA ${name}_as; CREATE DOMAIN $column AS $type;" : '') . <<"END");
CREATE OR REPLACE FUNCTION log_lower_bound(t timestamptz) RETURNS gid STABLE STRICT RETURN gid_lower_bound('log', t);
CREATE FUNCTION ${name}_decoder(id text) RETURNS timestamptz IMMUTABLE STRICT RETURN $decoder;
CREATE TABLE of_$name (id $column PRIMARY KEY) PARTITION BY RANGE (id);
SELECT partman.create_parent('public.of_$name', 'id', '1 month', p_premake => 2, p_start_partition => '2026-01-01',
    p_time_encoder => 'public.$encoder', p_time_decoder => 'public.${name}_decoder');
INSERT INTO of_$name SELECT $encoder(t) FROM unnest(ARRAY['2026-01-01', '2026-01-31 23:59:59.99', '2026-02-01']::timestamptz[]) AS t;
SELECT partman.run_maintenance('public.of_$name');
END
		is( rows_of($db, "of_$name"),
			"of_${name}_p20260101|2\nof_${name}_p20260201|1",
			"$title: $name is partitioned by months");
	}

	(undef, undef, $err) = $server->psql($db, <<'END');
CREATE TABLE bare (id sno PRIMARY KEY) PARTITION BY RANGE (id);
SELECT partman.create_parent('public.bare', 'id', '1 month', p_time_encoder => 'public.sno_lower_bound', p_time_decoder => 'public.sno_decoder');
END
	like($err, qr/Supplied column is of type sno/, 'sno itself is refused, as the page says');
}

$page->all_run;
$server->stop;
done_testing();
