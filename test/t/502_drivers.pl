# The programs of the pages on drivers are those of test/drivers, and they say what their page shows. Each needs its
# driver: what is not there is skipped.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $page = Page->new('doc/drivers.md');
my $python_page = Page->new('doc/drivers-python.md');
my $go_page = Page->new('doc/drivers-go.md');
my $drivers = "$ENV{SNOWFLAKE_IDS_SRC}/test/drivers";
my $tmp = PostgreSQL::Test::Utils::tempdir();

my $server = PostgreSQL::Test::Cluster->new('drivers');
$server->init;

# Not every driver speaks over a unix socket.
$server->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\nfsync = off");
$server->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
$server->start;

sub found
{
	my (@command) = @_;
	my ($out, $err) = eval { run_command(\@command) };
	return defined $err && $? == 0;
}
my ($python) = grep { found($_, '-c', 'import psycopg2') } '/usr/bin/python3', 'python3';
$python //= 'python3';

# page, chapter, file, what must be there, how it is run
my @programs = (
	[ Page->new('doc/drivers-javascript.md'), 'Program', 'node/ids.js', [ 'node', '-e', 'require("pg")' ], ['node'] ],
	[ $python_page, 'psycopg 2', 'python/ids_psycopg2.py', [ $python, '-c', 'import psycopg2' ], [ $python, '-B' ] ],
	[ $python_page, 'psycopg 3', 'python/ids_psycopg3.py', [ $python, '-c', 'import psycopg' ], [ $python, '-B' ] ],
	[   $python_page, 'SQLAlchemy',
		'python/ids_sqlalchemy.py', [ $python, '-c', 'import sqlalchemy, psycopg2' ],
		[ $python, '-B', '-W', 'error' ] ],
	[   Page->new('doc/drivers-java.md'),
		'Program', 'java/Ids.java',
		[ 'sh', '-c', 'command -v javac && test -r /usr/share/java/postgresql.jar' ],
		[ 'java', '-cp', '/usr/share/java/postgresql.jar' ] ],
	[   $go_page, 'lib/pq', 'go/ids.go',
		[ 'sh', '-c', 'command -v go && test -d /usr/share/gocode/src/github.com/lib/pq' ],
		[ 'go', 'run' ] ],
	[   $go_page, 'pgx', 'go/ids_pgx.go',
		[ 'sh', '-c', 'command -v go && test -d /usr/share/gocode/src/github.com/jackc/pgx/v4' ],
		[ 'go', 'run' ] ],
	[ Page->new('doc/json.md'), 'In JavaScript', 'node/time.js', [ 'node', '-e', '0' ], ['node'] ]);
my (@run, %seen);

# What tools/setup says when it could not install them
my $not_installed = eval { slurp_file("$ENV{SNOWFLAKE_IDS_SRC}/build/drivers/not-installed") } // '';
chomp $not_installed;
my %languages = (js => 'js', py => 'python', java => 'java', go => 'go');

local %ENV = (
	%ENV,
	PGHOST => '127.0.0.1',
	PGPORT => $server->port,
	PGUSER => scalar getpwuid($<),
	PGDATABASE => 'postgres',
	NODE_PATH => "$ENV{SNOWFLAKE_IDS_SRC}/build/drivers/node/node_modules",
	GO111MODULE => 'off',
	GOPATH => '/usr/share/gocode',
	GOCACHE => "$tmp/go",
	GOFLAGS => '-buildvcs=false');

for (@programs)
{
	my ($on, $title, $file, $needs, $run) = @$_;
	my $name = lc($file) =~ s/\W+/_/gr;
	my ($suffix) = $file =~ /\.(\w+)$/;
	my ($shown) = $on->blocks($title, $languages{$suffix});
	my ($output) = $on->blocks($title, 'text');
	$seen{ $on->{path} }{ $shown->{content} } = 1;
	is($shown->{content}, slurp_file("$drivers/$file"), "$on->{path} shows test/drivers/$file");
  SKIP:
	{
		skip "$file: its driver is not here" . ($not_installed && " ($not_installed)"), 1 if !found(@$needs);
		$server->safe_psql('postgres', "CREATE DATABASE $name");
		$server->safe_psql($name, 'CREATE EXTENSION snowflake_ids');
		$page->run_chapter($server, 'The table', dbname => $name);
		local $ENV{PGDATABASE} = $name;
		my ($out, $err) = run_command([ @$run, "$drivers/$file" ]);
		is($out . "\n", $output->{content}, "$file says what the page shows") or diag $err;
		push @run, $file;
	}
}

# tools/setup brings some; where it always does, in CI, some must be there unless it could not.
SKIP:
{
	skip "two drivers at least ($not_installed)", 1 if @run < 2 && $not_installed;
	ok(@run >= 2 || !$ENV{CI}, 'CI has two drivers at least: ' . join ', ', @run);
}
is( join(
		"\n",
		map { "$_->{path}: $_->{name}" } map {
			my $on = $_;
			map    { { path => $on->{path}, name => $_->{name} } }
			  grep { !$seen{ $on->{path} }{ $_->{content} } }
			  grep { $_->{language} =~ /^(python|js|java|go)$/ }
			  @{ $on->{blocks} }
		} map { Page->new(s{^\Q$ENV{SNOWFLAKE_IDS_SRC}\E/}{}r) } glob "$ENV{SNOWFLAKE_IDS_SRC}/doc/*.md"),
	'',
	'no program is left out');

# What the page says of the wire is said in SQL. The table also without a driver.
$page->run_chapter($server, $_) for 'The table', 'How ids travel';
$page->all_run;

$server->stop;
done_testing();
