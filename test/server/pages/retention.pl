# "Drop old months each night" in doc/partitioning.md meets transactions that use the table. A time-out leaves a
# partition half detached, and the next run drops it.
use Servers;
use Page;

my $page = Page->new('doc/partitioning.md');
my $server = new_server('retention', clock());
my $db = 'retention';
$server->safe_psql('postgres', "CREATE DATABASE $db");
$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids');
$page->run_chapter($server, 'Drop old months each night', dbname => $db);
$page->all_run;

sub parts
{
	return $server->safe_psql(
		$db,
		"SELECT string_agg(inhrelid::regclass || CASE WHEN inhdetachpending THEN ' pending' ELSE '' END, ',' ORDER BY inhrelid::regclass::text)
		FROM pg_inherits WHERE inhparent = 'audit_entry'::regclass");
}
my ($made) =
  map { $_->{content} =~ /^(CREATE TABLE audit_entry_2024 .*?;\n)/ms }
  $page->blocks('Drop old months each night', 'sql');
my ($script) = map { $_->{content} } $page->blocks('With psql and cron', 'sql');
$script =~ s/lock_timeout = '10s'/lock_timeout = '100ms'/ or die;
my $row = q{INSERT INTO audit_entry (id) VALUES (make_sno('2024-05-01 00:00+00', 0, 0, 0))};

$server->safe_psql($db, "$made $row");
my $reader = Session->new($server, dbname => $db);
$reader->ask('BEGIN; SELECT count(*) FROM audit_entry');
my ($rc, $out, $err) = $server->psql($db, $script, on_error_stop => 1);
like($err, qr/ERROR:  canceling statement due to lock timeout/, 'the script does not wait for ever');
is($rc, 3, 'and says so to cron');
is(parts(), 'audit_entry_2024 pending,audit_entry_from_2026', 'the partition is half detached');
is($server->safe_psql($db, 'SELECT count(*) FROM audit_entry_2024'), 1, 'and still has its rows');
is($reader->ask('COMMIT; SELECT 1'), 1, 'the reader goes on');
is($server->safe_psql($db, "$script"), 'audit_entry_from_2026', 'the next run completes it');
is($server->safe_psql($db, q{SELECT to_regclass('audit_entry_2024') IS NULL}), 't', 'and drops the table');

$server->safe_psql($db, "$made $row; ALTER FUNCTION drop_old_partitions SET lock_timeout = '100ms'");
$reader->ask('BEGIN; SELECT count(*) FROM audit_entry');
my $call = q{SELECT drop_old_partitions('audit_entry', 'sno_timestamp(%L)', '2025-06-01')};
($rc, $out, $err) = $server->psql($db, $call);
like($err, qr/ERROR:  canceling statement due to lock timeout/, 'the function does not wait for ever');
is(parts(), 'audit_entry_2024,audit_entry_from_2026', 'and drops nothing');
$reader->ask('COMMIT');
is($server->safe_psql($db, $call), 'audit_entry_2024', 'later it does');

$server->safe_psql($db, "$made CREATE TABLE audit_entry_rest PARTITION OF audit_entry DEFAULT");
($rc, $out, $err) = $server->psql($db, $script, on_error_stop => 1);
like($err, qr/ERROR:  cannot detach partitions concurrently when a default partition exists/, 'a default partition');
is($server->safe_psql($db, $call), 'audit_entry_2024', 'is no hindrance for the function, and stays');
is(parts(), 'audit_entry_from_2026,audit_entry_rest', 'with the newest one');

for (
	[ gid => 'gid(log)', q{gid_lower_bound('log', %L)} ],
	[ mastic => 'mastic', 'mastic_lower_bound(%L)' ],
	[ snowflake_si => 'bigint', 'snowflake_si_lower_bound(%L)' ],
	[ uuid7 => 'uuid', 'uuid7_lower_bound(%L)' ])
{
	my ($name, $type, $bound) = @$_;
	my $at = sub { $bound =~ s/%L/'$_[0]-01-01 00:00+00'/r };
	is($server->safe_psql($db, <<"END"), "of_${name}_2026", "partitions by $name");
CREATE TABLE of_$name (id $type) PARTITION BY RANGE (id);
CREATE TABLE of_${name}_2026 PARTITION OF of_$name FOR VALUES FROM (@{[ $at->(2026) ]}) TO (@{[ $at->(2027) ]});
CREATE TABLE of_${name}_2027 PARTITION OF of_$name FOR VALUES FROM (@{[ $at->(2027) ]}) TO (@{[ $at->(2028) ]});
SELECT part FROM old_partitions('of_$name', '${name}_timestamp(%L)', '2027-06-01');
END
}
$server->stop;
done_testing();
