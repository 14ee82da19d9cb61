# Each program of test/drivers prints its row of doc/drivers.md. A missing driver is skipped.
use strict;
use warnings;
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $page = Page->new('doc/drivers.md');
my $tmp = PostgreSQL::Test::Utils::tempdir();

my $server = PostgreSQL::Test::Cluster->new('drivers');
$server->init;

$server->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
$server->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
$server->start;

local %ENV = (
	%ENV,
	PGHOST => '127.0.0.1',
	PGPORT => $server->port,
	PGUSER => scalar getpwuid($<),
	PGDATABASE => 'postgres',
	NODE_PATH => "$root/build/drivers/node/node_modules",
	PRISMA_HOME => "$root/build/drivers/prisma",
	NODE_OPTIONS => '--no-deprecation',
	GO111MODULE => 'off',
	GOPATH => '/usr/share/gocode',
	GOCACHE => "$tmp/go",
	GOFLAGS => '-buildvcs=false');

sub found
{
	my (@command) = @_;
	my ($out, $err) = eval { run_command(\@command) };
	return defined $err && $? == 0;
}
my ($python) = grep { found($_, '-c', 'import psycopg2') } '/usr/bin/python3', 'python3';
$python //= 'python3';

my $node = sub {
	[ [ 'node', '-e', join ';', map { "require('$_')" } @_ ], ['node'] ]
};
my $py = sub { [ [ $python, '-c', "import @_" ], [ $python, '-B', '-W', 'error' ] ] };
my $go = sub {
	[   [ 'sh', '-c', "command -v go && test -d /usr/share/gocode/src/github.com/@_" ],
		[ 'go', 'run', "$root/test/drivers/go/person.go" ] ]
};
my $jar = '/usr/share/java/postgresql.jar';

my %programs = (
	'node/pg.js' => [ 'node-postgres', $node->('pg') ],
	'node/postgres.js' => [ 'postgres.js', $node->('postgres') ],
	'node/knex.js' => [ 'Knex', $node->('pg', 'knex') ],
	'node/kysely.js' => [ 'Kysely', $node->('pg', 'kysely') ],
	'node/sequelize.js' => [ 'Sequelize', $node->('pg', 'sequelize') ],
	'node/typeorm.js' => [ 'TypeORM', $node->('pg', 'typeorm') ],
	'node/drizzle.js' => [ 'Drizzle', $node->('pg', 'drizzle-orm', 'drizzle-kit/api') ],
	'node/mikroorm.js' => [ 'MikroORM', $node->('@mikro-orm/postgresql') ],
	'prisma/client.js' =>
	  [ 'Prisma', [ [ 'node', '-e', 'require(`${process.env.PRISMA_HOME}/node_modules/pg`)' ], ['node'] ] ],
	'python/psycopg2_ids.py' => [ 'psycopg 2', $py->('psycopg2') ],
	'python/psycopg3_ids.py' => [ 'psycopg 3', $py->('psycopg') ],
	'python/asyncpg_ids.py' => [ 'asyncpg', $py->('asyncpg') ],
	'python/sqlalchemy_ids.py' => [ 'SQLAlchemy', $py->('sqlalchemy, alembic, psycopg2') ],

	# Django 3.2 imports what Python 3.11 warns of.
	'python/django_ids.py' =>
	  [ 'Django', [ [ $python, '-W', 'ignore', '-c', 'import django, psycopg2' ], [ $python, '-B' ] ] ],
	'java/Ids.java' => [ 'JDBC', [ [ 'sh', '-c', "command -v javac && test -r $jar" ], [ 'java', '-cp', $jar ] ] ],
	'go/pq.go' => [ 'lib/pq', $go->('lib/pq') ],
	'go/pgx4.go' => [ 'pgx', $go->('jackc/pgx/v4') ],
	'ruby/activerecord.rb' =>
	  [ 'Active Record', [ [ 'ruby', '-e', 'require "active_record"; require "pg"' ], ['ruby'] ] ],
	'php/pdo.php' => [ 'PDO', [ [ 'php', '-r', 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);' ], ['php'] ] ]);

my $not_installed = eval { slurp_file("$root/build/drivers/not-installed") } // '';
chomp $not_installed;

my ($text, %row, @run) = ('');
for (split /\n/, $page->text =~ /^## What was run\n(.*?)^## /ms ? $1 : die 'no table')
{
	my ($name, @cells) = /^\| (.*) \|$/ ? split / \| ?/, $1, -1 : next;
	$row{ $name =~ s/\[(.*)\].*/$1/r } = join ' | ', @cells;
}

# The page's row names casts only; the program prints what it writes.
sub as_row
{
	my ($ids, $number, $write, $id, $list, $time, $diff) = split / \| ?/, $_[0], -1;
	my @casts = (
		$write eq $id ? ([ ids => $id ]) : ([ inserts => $write ], [ ids => $id ]),
		[ lists => $list ],
		[ times => $time ]);
	return join ' | ', "$ids, $number", join(', ', map { "@$_" } grep { $_->[1] ne 'as is' } @casts) || 'none', $diff;
}
for my $file (sort keys %programs)
{
	my ($name, $how) = @{ $programs{$file} };
	my ($needs, $run) = @$how;
	my @rows = grep { /^\Q$name\E/ } keys %row;
	is(scalar(@rows), 1, "$name has a row");
	$text .= slurp_file("$root/test/drivers/$file");
  SKIP:
	{
		skip "$file: its driver is not here" . ($not_installed && " ($not_installed)"), 1 if !found(@$needs);
		my $db = lc($file) =~ s/\W+/_/gr;
		$server->safe_psql('postgres', "CREATE DATABASE $db");
		$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids');
		$page->run_chapter($server, 'What was run', dbname => $db);
		local $ENV{PGDATABASE} = $db;
		my ($out, $err) = run_command([ @$run, "$root/test/drivers/$file" ]);
		is(as_row($out), $row{ $rows[0] }, "$file prints the row of the page") or diag $err;
		push @run, $file;
	}
}

diag 'programs that were run: ', join ', ', @run if $ENV{CI};

SKIP:
{
	my ($needs, $run) = @{ $py->('sqlalchemy, psycopg2') };
	skip 'python/outbox.py: its driver is not here', 2 if !found(@$needs);
	$server->safe_psql('postgres', 'CREATE DATABASE outbox');
	$server->safe_psql('outbox', 'CREATE EXTENSION snowflake_ids');
	$server->safe_psql('outbox', <<'END');
CREATE TABLE outgoing (id bigint DEFAULT gen_mastic() PRIMARY KEY, body text NOT NULL);
CREATE ROLE shop;
GRANT SELECT, INSERT (body) ON outgoing TO shop;
END
	my $rows = $server->safe_psql('outbox', 'SELECT count(*) FROM outgoing');
	local $ENV{PGDATABASE} = 'outbox';
	my ($out, $err) = run_command([ @$run, "$root/test/drivers/python/outbox.py" ]);
	my $denied = '42501 permission denied for table outgoing';
	is($out, <<"END" =~ s/\n\z//r, 'an ORM that sends ids is refused, and inserts without them') or diag $err;
id of the server: inserted
id of the program: $denied
id of the class: $denied
id that the class asks for first: $denied
END
	is($server->safe_psql('outbox', 'SELECT count(*) FROM outgoing'), $rows + 1, 'one row was inserted');
}

SKIP:
{
	my @autoload = map { "require '$_/autoload.php';" } 'Doctrine/ORM', 'Doctrine/DBAL', 'Symfony/Component/Cache';
	skip 'php/doctrine.php: Doctrine is not here', 1
	  if !found('php', '-r', "@autoload exit(extension_loaded('pdo_pgsql') ? 0 : 1);");
	$server->safe_psql('postgres', 'CREATE DATABASE doctrine');
	$server->safe_psql('doctrine', 'CREATE EXTENSION snowflake_ids');
	local $ENV{PGDATABASE} = 'doctrine';
	my ($out, $err) = run_command([ 'php', "$root/test/drivers/php/doctrine.php" ]);
	is( $out,
		"lastInsertId: of another table\nRETURNING and the generator: bob eve",
		'Doctrine: lastInsertId() is of another table, RETURNING and a generator are right') or diag $err;
}
$text .= slurp_file("$root/test/drivers/php/doctrine.php");

# Readers of a table with a feed.
for (
	[   'ruby/feed.rb',
		$programs{'ruby/activerecord.rb'}[1],
		'a slow transaction',
		'many changes, and a deletion',
		'a table that was emptied',
		'fixtures without stamps: refused',
		'fixtures with stamps: 1' ],
	[   'python/feed_sqlalchemy.py',
		$programs{'python/sqlalchemy_ids.py'}[1],
		'a slow transaction',
		'many changes, and a deletion',
		'a table that was emptied' ])
{
	my ($file, $how, @says) = @$_;
	my ($needs, $run) = @$how;
	$text .= slurp_file("$root/test/drivers/$file");
  SKIP:
	{
		skip "$file: its driver is not here", 1 if !found(@$needs);
		my $db = $file =~ s/\W+/_/gr;
		$server->safe_psql('postgres', "CREATE DATABASE $db");
		$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids');
		local $ENV{PGDATABASE} = $db;
		my ($out, $err) = run_command([ @$run, "$root/test/drivers/$file" ]);
		is($out, join("\n", @says), "$file reads the feed") or diag $err;
	}
}

# In CI some must be there, unless tools/setup could not get them.
SKIP:
{
	skip "eight drivers at least ($not_installed)", 1 if @run < 8 && $not_installed;
	ok(@run >= 8 || !$ENV{CI}, 'CI has eight drivers at least: ' . join ', ', @run);
}

my $flat = sub { $_[0] =~ s/^[ \t]+|[ \t]+$//mgr };
my @shown = grep { (Page::script_of($page->{path}, $_->{heading}) // 'driver_programs') eq 'driver_programs' } map {
	my $l = $_;
	map { $page->blocks($_, $l) } $page->chapters
} qw(js python java go ruby php);
is(scalar(@shown), 9, 'the page shows parts of programs');
for (@shown)
{
	ok(index($flat->($text), $flat->($_->{content})) >= 0, "$_->{name} is part of a program");
}

$page->run_chapter($server, 'JSON and JavaScript');
$page->all_run;

$server->stop;
done_testing();
