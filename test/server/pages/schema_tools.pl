# doc/schema-tools.md: its SQL is run, and its Python by test/drivers/python/schema_tools.py, each with a control that shows
# what happens without it. What it says of postgres_fdw is looked up in plans.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Page;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = Page->new('doc/schema-tools.md');
my $server = new_server('tools', clock());
my $db = 'rails';
$server->safe_psql('postgres', "CREATE DATABASE $db");
my ($rails) = $page->take('Rails', 'sql');
my ($done, undef, $said) = $server->psql($db, $rails->{content}, on_error_stop => 1);
is($done, 0, 'the schema first, and then the extension');
like($said, qr/INFO:  .*schema/, 'which says that it has dropped the schema');
SKIP:
{
	skip 'no btree_gist here', 3
	  if !$server->safe_psql($db, q{SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'});
	$page->run_chapter($server, 'Exclusion constraints and WITHOUT OVERLAPS', dbname => $db);
	my ($rc, $out, $err) = $server->psql($db,
		q{INSERT INTO room_booking VALUES (10339378790400001, '[2026-11-24 10:30+00, 2026-11-24 12:00+00)')});
	like($err, qr/ERROR:  conflicting key value violates exclusion constraint/, 'a booking that overlaps is refused');
	for my $type (qw(sno gid mastic))
	{
		($rc, $out, $err) =
		  $server->psql($db,
			"CREATE TABLE of_$type (id $type, during tstzrange, EXCLUDE USING gist (id WITH =, during WITH &&))");
		like(
			$err,
			qr/ERROR:  data type $type has no default operator class for access method "gist"/,
			"$type has no class");
	}
}

# ---- Python
$_->{run} = 1 for $page->blocks('Alembic', 'python'), $page->blocks('Arrays in SQLAlchemy', 'python');
SKIP:
{
	skip 'no SQLAlchemy, Alembic and psycopg2 here', 1
	  if system("python3 -c 'import alembic, sqlalchemy, psycopg2' 2>/dev/null") != 0;
	$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids_convert');
	$server->safe_psql($db,
		"CREATE TABLE listed AS SELECT ARRAY['9q99v4p624ppi223', '9q99v4p624ppi224']::sno[] AS ids");
	local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($server->host, $server->port, $db);
	my $root = $ENV{SNOWFLAKE_IDS_SRC};
	my ($out, $err) =
	  run_command([ 'python3', "$root/test/drivers/python/schema_tools.py", "$root/doc/schema-tools.md" ]);
	my ($without, $with, $before, $after) =
	  $out =~ /^without:\n(.*?)^with:\n(.*?)^array before: (\d+) elements\narray after: (.*)\z/ms;
	like(
		$without // '',
		qr/^remove_table snowflake_ids\.\w+$/m,
		'without the function, Alembic proposes to drop our tables') or diag $err;
	like($without  // '', qr/^remove_table snowflake_ids_convert\.\w+$/m, 'and those of a conversion');
	unlike($with   // 'snowflake_ids', qr/snowflake_ids/, 'with it, not');
	cmp_ok($before // 0, '>', 2, 'an array that is not registered is a list of characters');
	is($after, '9q99v4p624ppi223 9q99v4p624ppi224', 'and of ids when it is');
}

# ---- postgres_fdw: which conditions are sent
my $host = $server->host;
my $port = $server->port;
$server->safe_psql($db, <<"END");
CREATE EXTENSION postgres_fdw;
CREATE TABLE far (id sno DEFAULT gen_sno());
CREATE SERVER known FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$db', extensions 'snowflake_ids');
CREATE SERVER unknown FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$db');
CREATE USER MAPPING FOR CURRENT_USER SERVER known; CREATE USER MAPPING FOR CURRENT_USER SERVER unknown;
CREATE FOREIGN TABLE near (id sno) SERVER known OPTIONS (table_name 'far');
CREATE FOREIGN TABLE near_unknown (id sno) SERVER unknown OPTIONS (table_name 'far');
END
my $sent = sub {
	my ($table, $condition) = @_;
	my $plan = $server->safe_psql($db, "EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM $table WHERE $condition");
	return $plan =~ /Remote SQL: .* WHERE/ ? 'sent' : 'not sent';
};
my ($constant) = $page->text =~ /`(id >= timestamptz '[^']*')`/;
my ($now) = $page->text =~ /`(id >= now\(\) - interval '1 hour')`/;
is($sent->('near', $now), 'not sent', 'a condition with now() is not sent');
is($sent->('near', $constant), 'sent', 'one with a constant is');
is($sent->('near', q{id = '9q99v4p624ppi223'}), 'sent', 'and one with an id');
is($sent->('near_unknown', q{id = '9q99v4p624ppi223'}), 'not sent', 'without the option, none is');
is($sent->('near', q{id IN ('9q99v4p624ppi223', '9q99v4p624ppi224')}), 'not sent', 'a list is not sent');
is($sent->('near', q{id = '9q99v4p624ppi223' OR id = '9q99v4p624ppi224'}), 'sent', 'the same by OR is');
$page->all_run;
$server->stop;
done_testing();
