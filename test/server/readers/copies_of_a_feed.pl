# Who keeps a copy of a feed with deletions as doc/feed.md says: which privileges it needs, that UNIQUE columns of the
# copy fail in no batch, that deletions which all readers have read are forgotten and no others, and that the poll reads
# no more than it returns, also with a generic plan and over partitions. Controls do otherwise.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($poll) = join('', map { $_->{content} } $page->blocks('Deleted rows', 'sql')) =~ /^(SELECT greatest\(.*?);/ms;
my ($forget) = join('', map { $_->{content} } $page->blocks('Several readers', 'sql')) =~ /^(SELECT \S+forget_.*?);/ms;
$poll && $forget or die 'the page has other statements';

my $server = feed_server('copies', 1);
my $session = Session->new($server);

sub of { my ($sql, $table) = @_; return $sql =~ s/\bheadline/$table/gr }

# ---- privileges
$session->ask(<<'END');
CREATE ROLE early; CREATE ROLE late;
CREATE TABLE headline (id bigint PRIMARY KEY, email text UNIQUE DEFERRABLE);
GRANT SELECT ON headline TO early;
SELECT to_do FROM snowflake_ids.create_feed('headline', deletes => true);
INSERT INTO headline VALUES (1, 'a'), (2, 'b');
DELETE FROM headline WHERE id = 2;
END
my $read = $poll =~ s/:'position'/'0'/gr;
my $as = sub {
	my ($role) = @_;
	return $session->ask("SET ROLE $role; $read; SELECT snowflake_ids.feed_position('headline', '0'); RESET ROLE") =~
	  s/^\d{3,}/position/mgr;
};
my $rows = "position|t||||\nposition|f|1|1|a|STAMP\nposition|t|2|||\n0";
is($as->('early') =~ s/\d{10,}/STAMP/r, $rows, 'who may read the table may read its feed');
$session->ask('GRANT SELECT ON headline TO late');
like($as->('late'), qr/permission denied for view headline_feed/, 'but not who may since then');
$session->ask(q{SELECT to_do FROM snowflake_ids.create_feed('headline')});
is($as->('late') =~ s/\d{10,}/STAMP/r, $rows, 'until a second call');
for my $of ('headline', 'headline_feed', 'headline_deleted')
{
	$session->ask("REVOKE SELECT ON $of FROM late");
	like($as->('late'), qr/permission denied for (table|view) $of/, "$of is needed");
	$session->ask("GRANT SELECT ON $of TO late");
}

# ---- statements that name no columns
my $file = PostgreSQL::Test::Utils::tempdir() . '/rows';
$session->ask("COPY (SELECT 9, 'z') TO '$file'");
like($session->ask("COPY headline FROM '$file'"), qr/missing data for column "stamp"/, 'COPY expects a stamp');
is($session->ask("COPY headline (id, email) FROM '$file'"), '', 'not with a list of columns');
is($session->ask('SELECT stamp > 0 FROM headline WHERE id = 9'), 't', 'and its row has a stamp');
is($session->ask('DELETE FROM headline WHERE id = 9'), '', 'and goes again');

# ---- copies with a UNIQUE column; what a batch has is applied row by row
my $apply = sub {
	my ($copy, $query) = @_;
	return <<"END";
CREATE TABLE $copy (id bigint PRIMARY KEY, email text UNIQUE @{[ $copy eq 'strict' ? '' : 'DEFERRABLE INITIALLY DEFERRED' ]});
INSERT INTO copy VALUES ('$copy', '0');
CREATE FUNCTION apply_$copy() RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
    since text := (SELECT position FROM copy WHERE name = '$copy');
    r record;
BEGIN
    FOR r IN $query LOOP
        IF r.deleted THEN
            DELETE FROM $copy WHERE id = r.id OR r.id IS NULL;
        ELSIF r.there IS NOT NULL THEN
            INSERT INTO $copy VALUES (r.id, r.email) ON CONFLICT (id) DO UPDATE SET email = excluded.email;
        END IF;
        UPDATE copy SET position = r.position WHERE name = '$copy';
    END LOOP;
END \$\$;
END
};
my $in_function = $poll =~ s/:'position'/since::bigint/gr =~ s/h\.\*/h.email, h.id AS there/r;
my $without =
  q{SELECT greatest(since::bigint, (SELECT mastic_settled('headline'))) AS position, false AS deleted, h.*, h.id AS there FROM headline AS h WHERE stamp >= since::bigint ORDER BY stamp};
$session->ask('CREATE TABLE copy (name text, position text)');
$session->ask($apply->('strict', $in_function));
$session->ask($apply->('deferred', $in_function));
$session->ask($apply->('undeleted', $without));
my $differ =
  q{SELECT count(*) FROM (SELECT id, email FROM headline) h FULL JOIN %1$s c ON h = c WHERE h IS NULL OR c IS NULL};
my $differs = sub { my ($copy) = @_; return $session->ask($differ =~ s/%1\$s/$copy/r) };
$session->ask("INSERT INTO headline VALUES (2, 'b'), (3, 'c')");

for my $copy ('strict', 'deferred', 'undeleted')
{
	is($session->ask("SELECT apply_$copy()"), '', "$copy: a first batch");
}
$session->ask(<<'END');
BEGIN; SET CONSTRAINTS ALL DEFERRED; UPDATE headline SET email = 'b' WHERE id = 1; UPDATE headline SET email = 'a' WHERE id = 2; COMMIT;
END
like($session->ask('SELECT apply_strict()'), qr/duplicate key/, 'control: two rows that swap a value');
is($session->ask("SELECT apply_$_()"), '', "$_: two rows that swap a value") for 'deferred', 'undeleted';
$session->ask("DELETE FROM headline WHERE id = 3; INSERT INTO headline VALUES (4, 'c')");
like($session->ask('SELECT apply_undeleted()'), qr/duplicate key/, 'control: a value whose row was deleted');
is($session->ask('SELECT apply_deferred()'), '', 'deferred: a value whose row was deleted');

my $script = "SET lock_timeout = '2s';\n";
for (1 .. 60)
{
	my ($a, $b) = map { 1 + int rand 8 } 1, 2;
	my $wait = sprintf 'SELECT FROM pg_sleep(%.4f);', rand 0.02;
	my @kinds = (
		"SET CONSTRAINTS ALL DEFERRED; UPDATE headline SET email = CASE id WHEN $a THEN (SELECT email FROM headline WHERE id = $b) ELSE (SELECT email FROM headline WHERE id = $a) END WHERE id IN ($a, $b); $wait",
		"DELETE FROM headline WHERE id = $a; $wait INSERT INTO headline SELECT $b, 'v$a' WHERE NOT EXISTS (SELECT FROM headline WHERE id = $b)",
		"UPDATE headline SET email = 'v$b' WHERE id = $a; $wait",
		"DELETE FROM headline WHERE email = 'v$a'; INSERT INTO headline SELECT $a, 'v$a' WHERE NOT EXISTS (SELECT FROM headline WHERE id = $a)"
	);
	$script .= 'BEGIN; ' . $kinds[ rand @kinds ] . "; COMMIT;\n";
}
my @jobs = map { Job->new($server, $script, 0.01) } 1 .. 3;
my (@errors, $batches);
go_on(
	4,
	sub {
		my $said = $session->ask('SELECT apply_deferred()');
		$batches++;
		push @errors, $said
		  if $said ne '';
		return 1;
	});
$_->stop for @jobs;
is(join('', @errors), '', "$batches batches beside writers");
$session->ask('SELECT apply_deferred()');
is($differs->('deferred'), '0', 'and the copy is the table');

# ---- forgetting: a deletion that a reader has not read stays, in each time zone
$session->ask(<<'END');
CREATE TABLE reader (name text PRIMARY KEY, position mastic NOT NULL DEFAULT '0');
DELETE FROM headline;
END
is($session->ask($forget), '', 'without readers nothing is forgotten');
$session->ask(q{INSERT INTO reader VALUES ('search'), ('mail')});
is($session->ask($forget), '0', 'nothing is forgotten before all have read');
my $count = 'SELECT count(*) FROM headline_deleted WHERE NOT forgotten';
my $all = $session->ask($count);
ok( eventually(
		sub {
			$session->ask(q{UPDATE reader SET position = snowflake_ids.feed_position('headline')::mastic});
			$session->ask($forget);
			return $session->ask($count) eq '0';
		}),
	"all $all are forgotten when all have read them");
my $position = sub { my ($name) = @_; return $session->ask("SELECT position FROM reader WHERE name = '$name'") };
my $after = sub {
	my ($name) = @_;
	return $session->ask("SELECT snowflake_ids.feed_position('headline', '@{[ $position->($name) ]}')");
};
is($after->($_), $position->($_), "$_: its position is still right") for 'search', 'mail';

# In one of the zones the clock is now ahead of the time of the deletion.
$session->ask('TRUNCATE headline_deleted');
for my $zone ('Europe/Berlin', 'Australia/Sydney', 'UTC')
{
	for my $days (120, 180, 240)
	{
		my $stamp = "mastic_lower_bound(now() - interval '$days days')::bigint + 1";
		my $forgotten = $session->ask(<<"END");
SET timezone = '$zone';
INSERT INTO headline_deleted (id, stamp) VALUES (1, $stamp - 50), (2, $stamp);
UPDATE reader SET position = (SELECT max(stamp) FROM headline_deleted)::mastic WHERE name = 'search';
$forget;
SELECT id FROM headline_deleted WHERE NOT forgotten;
TRUNCATE headline_deleted;
END
		is($forgotten, "0\n2", "$zone, $days days: a deletion that is not read is not forgotten");
	}
}

# ---- plans
my @tables = ('plain', 'parted');
my $parts = join '',
  map { "CREATE TABLE parted_$_ PARTITION OF parted FOR VALUES WITH (MODULUS 20, REMAINDER $_);\n" } 0 .. 19;
$session->ask(<<"END");
CREATE TABLE plain (id bigint PRIMARY KEY, body text);
CREATE TABLE parted (id bigint PRIMARY KEY, body text) PARTITION BY HASH (id);
$parts
END
for my $table (@tables)
{
	$session->ask(<<"END");
INSERT INTO $table SELECT n, 'body' FROM generate_series(1, 20000) AS n;
SELECT to_do FROM snowflake_ids.create_feed('$table', deletes => true);
UPDATE $table SET body = 'new';
DELETE FROM $table WHERE id <= 10000;
END
	$session->ask("VACUUM ANALYZE $table");
	$session->ask("VACUUM ANALYZE ${table}_deleted");
	my $far = $session->ask("SELECT stamp FROM ${table}_deleted ORDER BY stamp OFFSET 9990 LIMIT 1");
	my $hash =
	  "SELECT greatest(:'position', f.position), f.deleted, f.id, h.* FROM headline_feed AS f LEFT JOIN headline AS h USING (id) WHERE f.stamp >= :'position' ORDER BY f.stamp";
	for my $mode ('custom', 'generic')
	{
		my $rows = sub {
			my ($sql) = @_;
			my $query = of($sql, $table) =~ s/:'position'/\$1/gr;
			my $plan = $session->ask(<<"END");
DEALLOCATE ALL; SET plan_cache_mode = force_${mode}_plan; PREPARE poll(bigint) AS $query;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE poll($far);
END
			die $plan if $plan !~ /rows=/;
			my $most = 0;
			while ($plan =~ /rows=(\d+)(?:\.\d+)? loops=(\d+)/g) { $most = $1 * $2 if $1 * $2 > $most }
			return $most;
		};
		cmp_ok($rows->($poll), '<', 100, "$table, $mode plan: ten rows, and no node reads many more");
		cmp_ok($rows->($hash), '>', 1000, "$table, $mode plan: control: USING does") if $mode eq 'generic';
	}
}
$session->gone;
$server->stop;
done_testing();
