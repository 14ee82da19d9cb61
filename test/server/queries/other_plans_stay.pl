# The operator families of sno and mastic have members for timestamptz, but plans and costs of queries without our types
# stay, with the extension and after DROP EXTENSION.
use Servers;
use PostgreSQL::Test::Utils;

my $server = plain_server('plans', conf => "timezone = 'UTC'\n");
$server->safe_psql('postgres', <<'END');
CREATE TABLE a (t timestamptz, d date, s timestamp, n bigint, u uuid, x text);
INSERT INTO a SELECT t, t, t, extract(epoch FROM t), md5(t::text)::uuid, t::text
    FROM generate_series(timestamptz '2026-01-01', '2026-03-01', '1 hour') AS t;
CREATE TABLE b (LIKE a);
INSERT INTO b SELECT * FROM a WHERE n % 3 = 0;
CREATE INDEX ON a (t);
CREATE INDEX ON a (d, t);
CREATE INDEX ON a (n, t DESC);
CREATE INDEX ON b (s);
CREATE INDEX ON b (t) INCLUDE (n);
CREATE INDEX ON b USING brin (t);
CREATE INDEX ON b (n) WHERE t >= '2026-02-01';
CREATE TABLE p (LIKE a) PARTITION BY RANGE (t);
CREATE TABLE p_0 PARTITION OF p FOR VALUES FROM (MINVALUE) TO ('2026-02-01');
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM ('2026-02-01') TO ('2026-02-15');
CREATE TABLE p_2 PARTITION OF p DEFAULT;
CREATE INDEX ON p (t);
INSERT INTO p SELECT * FROM a;
CREATE FUNCTION steady(timestamptz) RETURNS timestamptz STABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
VACUUM ANALYZE;
END

my @times = (
	"timestamptz '2026-02-03'",
	"date '2026-02-03'",
	"timestamp '2026-02-03 12:00'",
	"'2026-02-03'",
	"steady('2026-02-03')",
	"(SELECT max(t) FROM b)");
my @conditions;

for my $column ('t', 'd', 's')
{
	push @conditions, map {
		my $time = $_;
		map { "$column $_ $time" } '<', '>=', '=', '<>'
	} @times;
	push @conditions, "$times[0] > $column AND $times[1] <= $column", "$column BETWEEN $times[0] AND $times[2]",
	  "$column = ANY (ARRAY[$times[0], '2026-02-04'])", "$column > ANY (ARRAY[$times[0], NULL])",
	  "NOT $column < $times[4] OR n = 5";
}
push @conditions, map { "(t, n) $_ ('2026-02-03', 5)" } '<', '>=', '=';
push @conditions, 'n >= 1769900000 AND n < 1770000000', 'n = 5', "u > '5c8a8e4e-0000-0000-0000-000000000000'",
  "x < '2026-02'",
  't > d', 's <= t', 'd = s';
my @queries = map {
	my $condition = $_;
	map { "SELECT * FROM $_ WHERE $condition" } 'a', 'p'
} @conditions;
push @queries, map {
	my $table = $_;
	map { "SELECT * FROM $table ORDER BY $_" } 't', 't DESC', 'd, t', 's', 'n, t DESC', 'u', 'x'
} 'a', 'b', 'p';
push @queries, map {
	my ($l, $r) = split / /;
	map { "SELECT count(*) FROM $_ AS l JOIN b AS r ON l.$l = r.$r" } 'a', 'p'
} 't t', 't d', 't s', 'd s', 'd d', 's s', 'n n', 'u u';
push @queries, map { "SELECT l.n FROM a AS l JOIN b AS r ON l.t $_ r.t AND l.n = r.n ORDER BY l.t, r.d" } '=', '<',
  '>=';
push @queries, map {
	my $table = $_;
	map { "SELECT min($_), max($_) FROM $table" } 't', 'd', 's'
} 'a', 'p';
push @queries, map { "SELECT $_, count(*) FROM p GROUP BY $_" } 't', 'd', 'date_trunc(\'day\', t)';
push @queries, 'SELECT DISTINCT t FROM a UNION SELECT d FROM b',
  'SELECT rank() OVER (PARTITION BY d ORDER BY t) FROM a',
  'SELECT FROM a WHERE t IN (SELECT t FROM b)', 'SELECT FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.t = a.d)',
  'SELECT * FROM a ORDER BY t USING >', "SELECT FROM b WHERE n = 5 AND t >= '2026-02-02'";

sub plans
{
	my @plans;
	for my $set (
		'',
		'SET enable_hashjoin = off;',
		'SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_seqscan = off;')
	{
		push @plans, split /^;;\n/m,
		  $server->safe_psql('postgres', $set . join '', map { "EXPLAIN (VERBOSE) $_;\n\\echo ;;\n" } @queries);
	}
	return @plans;
}

my @before = plans();
cmp_ok(scalar @queries, '>=', 200, scalar(@queries) . ' queries');
is(scalar @before, 3 * @queries, 'each has its plans');
my $with_merge = grep { /Merge Join/ } @before;
cmp_ok($with_merge, '>', 10, "$with_merge plans with merge joins");

sub same
{
	my ($when) = @_;
	my @now = plans();
	my @different = grep { $now[$_] ne $before[$_] } 0 .. $#before;
	is(scalar @different, 0, "the plans are the same $when")
	  or diag map { "$queries[$_ % @queries]\n$before[$_]\n$now[$_]\n" }
	  @different[ 0 .. ($#different > 2 ? 2 : $#different) ];
	return;
}
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
same('with the extension');
$server->safe_psql('postgres', 'SELECT gen_sno() > now()');
$server->safe_psql('postgres', 'DROP EXTENSION snowflake_ids');
same('after it');

# Why we have operators of our own, none called "=": with the server's, plans change.
$server->safe_psql('postgres', <<'END');
CREATE EXTENSION snowflake_ids;
ALTER OPERATOR FAMILY sno_ops USING btree ADD OPERATOR 3 = (timestamptz, timestamptz);
END
my @other = plans();
cmp_ok(scalar(grep { $other[$_] ne $before[$_] } 0 .. $#before), '>', 0,
	'with "=" of times in the family they are not');
$server->stop;
done_testing();
