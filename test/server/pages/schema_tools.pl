# The schema tools of doc/drivers.md: SQL, Python, and the lines for MikroORM and Prisma, each with a control without. A
# feed survives each tool that has the page's lines. What doc/multi-node.md says of postgres_fdw is looked up in plans.
use Servers;
use Page;
use PostgreSQL::Test::Utils;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $page = Page->new('doc/drivers.md');
my @run;
my $server = new_server('tools', clock());
my $db = 'rails';
$server->safe_psql('postgres', "CREATE DATABASE $db");
my ($done, undef, $said) =
  $server->psql($db, 'CREATE SCHEMA snowflake_ids; CREATE EXTENSION snowflake_ids', on_error_stop => 1);
is($done, 0, 'the schema first, as in schema.rb of Rails, and then the extension');
like($said, qr/INFO:  .*schema/, 'which says that it has dropped the schema');

for my $type (qw(sno gid mastic))
{
	like(
		($server->psql($db, "CREATE TABLE of_$type (id $type, EXCLUDE USING gist (id WITH =))"))[2],
		qr/ERROR:  data type $type has no default operator class for access method "gist"/,
		"$type has no class for exclusion constraints, as doc/choosing.md says");
}

# ---- Python
SKIP:
{
	skip 'no SQLAlchemy, Alembic and psycopg2 here', 1
	  if system("python3 -c 'import alembic, sqlalchemy, psycopg2' 2>/dev/null") != 0;
	push @run, 'Alembic', 'SQLAlchemy';
	$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids_convert');
	$server->safe_psql($db,
		"CREATE TABLE listed AS SELECT ARRAY['9q99v4p624ppi223', '9q99v4p624ppi224']::sno[] AS ids");
	local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($server->host, $server->port, $db);
	my ($out, $err) =
	  run_command([ 'python3', "$root/test/drivers/python/schema_tools.py", "$root/doc/drivers.md" ]);
	my ($without, $with, $before, $after) =
	  $out =~ /^without:\n(.*?)^with:\n(.*?)^array as it is: (\d+) elements\narray, cast: (.*)\z/ms;
	like(
		$without // '',
		qr/^remove_table snowflake_ids\.\w+$/m,
		'without the function, Alembic proposes to drop our tables') or diag $err;
	like($without  // '', qr/^remove_table snowflake_ids_convert\.\w+$/m, 'and those of a conversion');
	unlike($with   // 'snowflake_ids', qr/snowflake_ids/, 'with it, not');
	cmp_ok($before // 0, '>', 2, 'an array that is not cast is a list of characters');
	is($after, '9q99v4p624ppi223 9q99v4p624ppi224', 'and of ids when it is');
}

# ---- MikroORM and Prisma
$page->take('Prisma', 'sql');
my $run_node = sub {
	my ($file, $dbname) = @_;
	local %ENV = (
		%ENV,
		PGHOST => $server->host,
		PGPORT => $server->port,
		PGUSER => scalar getpwuid($<),
		PGDATABASE => $dbname,
		NODE_PATH => "$root/build/drivers/node/node_modules",
		PRISMA_HOME => "$root/build/drivers/prisma");
	my ($out, $err) = run_command([ 'node', "$root/test/drivers/$file", "$root/doc/drivers.md" ]);
	diag $err if $err ne '';
	return $out;
};
my $is_there = sub { -e "$root/build/drivers/$_[0]/node_modules/.made-from" && system('node -e 0 2>/dev/null') == 0 };
SKIP:
{
	skip 'no MikroORM here', 1 if !$is_there->('node');
	push @run, 'MikroORM';
	$server->safe_psql('postgres', 'CREATE DATABASE mikroorm');
	$server->safe_psql('mikroorm', 'CREATE EXTENSION snowflake_ids_convert CASCADE');
	$page->run_chapter($server, 'What was run', dbname => 'mikroorm');
	my $out = $run_node->('node/mikroorm_schema.js', 'mikroorm');
	my ($without, $refused, $created, $with) =
	  $out =~ /^without: (.*)^update without: (.*?)^migration without: (.*?)^(with.*)/ms;
	like(
		$without // '',
		qr/^drop table if exists "snowflake_ids"."created_layout" cascade;$/m,
		'without the line, MikroORM proposes to drop our tables');
	like(
		$without // '',
		qr/^drop table if exists "snowflake_ids_convert"."conversion" cascade;$/m,
		'and those of a conversion');
	is($refused, "2BP01\n", 'which the server refuses');
	like($created // '', qr/^TypeError: /, 'and it cannot create a migration');
	is($with, "with: \nupdate with: done\nmigration with: ", 'with the line, nothing is to do');
}
SKIP:
{
	skip 'no Prisma here', 1 if !$is_there->('prisma');
	push @run, 'Prisma';
	$server->safe_psql('postgres', 'CREATE DATABASE prisma');
	my $ours = 'id sno, disk gid, post mastic, number bigint, name text';
	my $said = $run_node->('prisma/schema.js', 'prisma');
	like($said, qr/^Unsupported: \S/m, 'an Unsupported is no @id');
	like($said, qr/^writes: "id" TEXT NOT NULL DEFAULT gen_sno\(\),$/m, 'Prisma writes TEXT');
	like(
		$said,
		qr/^first migration, as written: ERROR: function gen_sno\(\) does not exist$/m,
		'and not CREATE EXTENSION');
	like(
		$said,
		qr/^first migration, with the line and the types: done\ntypes: $ours$/m,
		'with the line and the types it runs');
	my ($dev) = $said =~ /^migrate dev: (.*?)^without these lines: /ms;
	like($dev // '', qr/^ALTER COLUMN "$_" SET DATA TYPE TEXT,$/m, "a later migration would make $_ a text")
	  for 'id', 'disk', 'post';
	unlike($dev // 'number', qr/number/, 'and would leave the bigint');
	like($said, qr/^without these lines: done\ntypes: $ours$/m, 'without these lines, it changes nothing');
	my ($push) = $said =~ /^push: 1\n(.*?)^types: $ours$/ms;
	like(
		$push // '',
		qr/column `$_->[0]` .* will be cast from `$_->[1]` to `Text`/,
		"db push would make $_->[1] a text") for [ 'id', 'sno' ], [ 'disk', 'gid' ], [ 'post', 'mastic' ];
	unlike($push // 'number', qr/number/, 'and would leave the bigint');
	like(
		$said,
		qr/^push --accept-data-loss: 0\ntypes: id text, disk text, post text, number bigint, name text\nids: kept$/m,
		'and does so if it may lose data');
	my ($rc) = $server->psql('prisma', 'SELECT FROM person WHERE id >= now()');
	isnt($rc, 0, 'then a query by time fails');
}

# ---- a table with a feed: each tool, on the page's model and on one that does not know the feed
my $feed_db = sub {
	my ($dbname, $is_moved) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->safe_psql($dbname, <<'END');
CREATE EXTENSION snowflake_ids;
CREATE TABLE story (id bigint DEFAULT gen_mastic() PRIMARY KEY, title text);
INSERT INTO story (title) VALUES ('old');
SELECT count(*) FROM snowflake_ids.create_feed('story');
END
	$page->run_chapter($server, 'Schema tools and feeds', dbname => $dbname) if $is_moved;
	return;
};
my $broken = sub {
	my ($dbname) = @_;
	return $server->safe_psql($dbname, q{SELECT rule FROM snowflake_ids.check_feed('story') WHERE NOT ok});
};
my $index = 'an index begins with the stamp';
my $gone = "the table has the column stamp\n$index\na table has the deletions\nthere is a function to read";
my $python = [ 'python3', '-B', "$root/test/drivers/python/feed_alembic.py" ];
my $feed_tools = "$root/test/drivers/node/feed_tools.js";
my %run_feed = (
	(map { $_ => [ 'node', $feed_tools, $_ ] } qw(drizzle mikroorm sequelize typeorm)),
	prisma => [ 'node', "$root/test/drivers/prisma/feed.js" ],
	alembic => $python);
my $run_with = sub {
	my ($tool, $dbname, $model) = @_;
	local %ENV = (
		%ENV,
		PGHOST => $server->host,
		PGPORT => $server->port,
		PGUSER => scalar getpwuid($<),
		PGDATABASE => $dbname,
		NODE_PATH => "$root/build/drivers/node/node_modules",
		PRISMA_HOME => "$root/build/drivers/prisma");
	my ($out, $err) = run_command([ @{ $run_feed{$tool} }, $model ]);
	diag $err if $err ne '';
	return $out;
};

# The tool, what it says with the page's model; without, on a table of deletions that was moved, and which rules are
# broken then; and the same on one that was not.
my $nothing = "wants: \napplied: done\nwrites: done";
for (
	[ 'alembic', "wants:\nwrites: done", qr/^wants: DropIndexOp DropColumnOp$/, '', qr/ DropTableOp /, '' ],
	[ 'drizzle', $nothing, qr/DROP INDEX .*^applied: 2BP01$/ms, $index, qr/^applied: done$/m, $gone ],
	[ 'mikroorm', $nothing, qr/drop index .*^applied: 2BP01$/ms, '', qr/^applied: done$/m, $gone ],
	[   'prisma',
		"applied: already in sync\nwrites: done",
		qr/^applied: ERROR: cannot drop column stamp/,
		$index, qr/^applied: RuntimeError: unreachable$/, '' ],
	[ 'sequelize', $nothing, (qr/^applied: 2BP01$/m, '') x 2 ],
	[ 'typeorm', $nothing, (qr/DROP INDEX .*^applied: 2BP01$/ms, '') x 2 ])
{
	my ($tool, $with, $without, $breaks, $unmoved, $breaks_unmoved) = @$_;
  SKIP:
	{
		my $is_here =
		  $tool eq 'alembic'
		  ? system("python3 -c 'import alembic, sqlalchemy, psycopg2' 2>/dev/null") == 0
		  : $is_there->($tool eq 'prisma' ? $tool : 'node');
		skip "no $tool here", 1 if !$is_here;
		my $db = "feed_$tool";
		$feed_db->($db, 1);
		my $position = $server->safe_psql($db, q{SELECT position FROM story_feed('') WHERE step = 3});
		is($run_with->($tool, $db, 'with'), $with,
			"$tool, with the lines of the page: nothing is to do, and it writes");
		my $poll = "SELECT step, (f.row).title FROM story_feed('$position') AS f ORDER BY step";
		is($server->safe_psql($db, $poll), "1|\n2|changed\n3|", "$tool: the feed continues from the old position");
		is($broken->($db), '', "$tool: no rule is broken");
		like($run_with->($tool, $db, 'without'), $without, "$tool: without the lines, it would drop index and column");
		is($broken->($db), $breaks, "$tool: rules that it breaks then: " . ($breaks || 'none'));
		$feed_db->("${db}_unmoved", 0);
		like($run_with->($tool, "${db}_unmoved", 'without'), $unmoved, "$tool: beside the table of deletions");
		is($broken->("${db}_unmoved"), $breaks_unmoved, "$tool: and the rules that it breaks there");
	}
}
my $programs = join '',
  map { slurp_file("$root/test/drivers/$_") =~ s/^[ \t]+//mgr }
  qw(node/feed_tools.js prisma/feed.js python/feed_alembic.py);
for (map { $page->blocks('Schema tools and feeds', $_) } qw(js prisma python))
{
	ok(index($programs, $_->{content} =~ s/^[ \t]+//mgr) >= 0, "$_->{name}, $_->{language}: part of a program");
}

diag 'tools that were run: ', join ', ', @run if $ENV{CI};

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
my ($now) = slurp_file("$ENV{SNOWFLAKE_IDS_SRC}/doc/multi-node.md") =~ /`(id >= now\(\) - interval '1 hour')`/;
is($sent->('near', $now), 'not sent', 'a condition with now() is not sent');
is($sent->('near', q{id >= timestamptz '2026-11-24 10:00+00'}), 'sent', 'one with a constant is');
is($sent->('near', q{id = '9q99v4p624ppi223'}), 'sent', 'and one with an id');
is($sent->('near_unknown', q{id = '9q99v4p624ppi223'}), 'not sent', 'without the option, none is');

# From 17 on, array types are members of an extension.
my $list = $server->safe_psql($db, 'SHOW server_version_num') >= 170000 ? 'sent' : 'not sent';
is($sent->('near', q{id IN ('9q99v4p624ppi223', '9q99v4p624ppi224')}), $list, "a list is $list");
is($sent->('near', q{id = '9q99v4p624ppi223' OR id = '9q99v4p624ppi224'}), 'sent', 'the same by OR is');
$page->all_run;
$server->stop;
done_testing();
