# What only the server's reports show: index pages are in order, and skip scans skip.
use Servers;

my $server = plain_server('sorting');
$server->safe_psql('postgres', <<'END');
CREATE EXTENSION snowflake_ids;
CREATE TABLE sno_many AS SELECT make_sno('2026-01-01', 0, 7, n * 7919 % 65536) AS id FROM generate_series(1, 200000) AS n;
CREATE TABLE sno_few AS SELECT make_sno('2026-01-01', 0, CASE n WHEN 1 THEN 7 ELSE 50000 END, n * 7919 % 65536) AS id FROM generate_series(1, 200000) AS n;
CREATE TABLE gid_many AS SELECT make_gid('log', '2026-01-01', substr(sha256(n::text::bytea), 1, 8)) AS id FROM generate_series(1, 200000) AS n;
CREATE TABLE mastic_many AS SELECT make_mastic('6485-10-17 02:45:55.328+00'::timestamptz + (n * 7919 % 200000 - 100000) * interval '1 ms', n % 7) AS id FROM generate_series(1, 200000) AS n;
CREATE TABLE gid_few AS SELECT make_gid('log', '2026-01-01', decode(lpad(to_hex(n * 7919 % 65536), 16, '0'), 'hex')) AS id FROM generate_series(1, 200000) AS n;
END

for my $type ('sno', 'gid')
{
	for my $name ('many', 'few')
	{
		for my $memory ('64MB', '1MB')
		{
			my $out = $server->safe_psql('postgres', <<"END");
SET work_mem = '$memory'; SET max_parallel_workers_per_gather = 0;
SELECT count(*) FILTER (WHERE id::bytea < previous) FROM (SELECT id, lag(id::bytea) OVER () AS previous FROM (SELECT id FROM ${type}_$name ORDER BY id OFFSET 0) AS t) AS u;
END
			is($out, '0', "$type, $name, $memory: in order");
		}
	}
}

# Every way to build a btree, checked page by page.
SKIP:
{
	skip 'no amcheck here', 5
	  if $server->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'}) eq '0';
	$server->safe_psql('postgres', 'CREATE EXTENSION amcheck');
	for my $table ('sno_many', 'sno_few', 'gid_many', 'gid_few', 'mastic_many')
	{
		is($server->safe_psql('postgres', <<"END"), '2', "$table: indexes are in order, deduplicated and complete");
SET min_parallel_table_scan_size = 0;
CREATE INDEX ${table}_built ON $table (id);
CREATE INDEX ${table}_descending ON $table (id DESC);
INSERT INTO $table SELECT id FROM $table LIMIT 20000;
SELECT count(bt_index_parent_check(c.oid, true)::text) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE i.indrelid = '$table'::regclass;
END
	}
}

SKIP:
{
	skip 'skip scans came with 18', 3 if $server->safe_psql('postgres', 'SHOW server_version_num') < 180000;
	for my $id (
		"make_sno('2026-01-01', 0, 7, n % 10)",
		"make_gid('log', '2026-01-01', decode('00000000000000' || lpad((n % 10)::text, 2, '0'), 'hex'))",
		"make_mastic('6485-10-17 02:45:55.327+00'::timestamptz + n % 10 / 5 * interval '1 ms', n % 5)")
	{
		my $plan = $server->safe_psql('postgres', <<"END");
SET client_min_messages = warning;
DROP TABLE IF EXISTS skipped;
CREATE TABLE skipped AS SELECT $id AS id, n FROM generate_series(1, 100000) AS n;
CREATE INDEX ON skipped (id, n);
VACUUM ANALYZE skipped;
SET enable_seqscan = off; SET enable_bitmapscan = off;
EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) SELECT n FROM skipped WHERE n = 4711;
END
		my ($searches) = $plan =~ /Index Searches: (\d+)/;
		ok(defined $searches && $searches > 1 && $searches <= 24, 'skip scan of ten ids') or diag $plan;
	}
}

$server->stop;
done_testing();
