# doc/installing.md: SQL is run, what make install would write is compared, and from 18 on the extension is used outside
# of the server's directories.
use Servers;
use Page;
use PostgreSQL::Test::Utils;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $page = Page->new('doc/installing.md');
my $server = plain_server('installing');

# ---- SQL
$server->safe_psql('postgres', 'CREATE DATABASE installed');
$page->run_chapter($server, $_, dbname => 'installed') for '';
my ($first) = $page->blocks('', 'sql');
like($first->{said}, qr/^[2-9a-x]{16}$/, 'which ends in an id');
$page->all_run;

# ---- make test with a server that one has built
{
	my $dir = PostgreSQL::Test::Utils::tempdir();
	mkdir "$dir/$_" for qw(pgxs pgxs/src pgxs/src/makefiles);
	append_to_file("$dir/pgxs/src/makefiles/pgxs.mk", '');
	append_to_file("$dir/pg_config",
		qq{#!/bin/sh\ncase \$1 in \$WITHOUT) echo $dir\${WITHOUT_PATH-} ;; *) exec $ENV{PG_CONFIG} "\$@" ;; esac\n});
	chmod 0755, "$dir/pg_config";
	for ([ '--sharedir', '', qr/contrib is not installed \(amcheck\)/ ],
		[ '--pgxs', '/pgxs/src/makefiles/pgxs.mk', qr/the modules of TAP tests are not installed/ ])
	{
		my ($without, $path, $said) = @$_;
		local %ENV = (%ENV, PG_CONFIG => "$dir/pg_config", WITHOUT => $without, WITHOUT_PATH => $path);
		my ($out, $err) = run_command(["$root/tools/setup"]);
		ok($? != 0, "tools/setup fails for a server without $without");
		like($err, qr{^setup: $dir/pg_config: $said}m, 'and says what is missing');
	}

	for my $program ([ 'prove', 'settings', 'search path' ], [qw(prove histories 1)])
	{
		my ($name, @arguments) = @$program;
		local %ENV =
		  (%ENV, PG_CONFIG => "$dir/pg_config", WITHOUT => '--pgxs', WITHOUT_PATH => '/pgxs/src/makefiles/pgxs.mk');
		my ($out, $err) = run_command([ "$root/tools/$name", @arguments ]);
		like($err, qr{^setup: $dir/pg_config: the modules}m, "so does tools/@$program");
	}
}

# ---- what make install would write, and where to
sub files
{
	my (@arguments) = @_;
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL)};
	my ($out, $err) =
	  run_command(
		[ 'make', '-C', $root, '-n', '--no-print-directory', "PG_CONFIG=$ENV{PG_CONFIG}", 'install', @arguments ]);
	is($?, 0, "make -n install @arguments") or diag $err;
	my @to;
	for (map { /^\S*install\S* (?:-c )?-m \d+ +(.*)/ ? $1 : () } split /\n/, $out)
	{
		s/'//g;
		my @words = split;
		my $to = pop @words;
		push @to, map { $to =~ m{/$} ? $to . s{.*/}{}r : $to } @words[ 0 .. $#words ];
	}
	return join "\n", sort @to;
}
my %kinds = (
	share => [qw(snowflake_ids.control snowflake_ids_convert.control)],
	lib => [qw(snowflake_ids.so snowflake_ids_convert.so)]);

sub where
{
	my ($share, $lib) = @_;
	my @scripts = map { "$_--1.0.sql" } 'snowflake_ids', 'snowflake_ids_convert';
	return join "\n",
	  sort((map { "$share/extension/$_" } @{ $kinds{share} }, @scripts), map { "$lib/$_" } @{ $kinds{lib} });
}
my ($own_share, $own_lib) = map { my ($dir) = run_command([ $ENV{PG_CONFIG}, $_ ]); $dir } '--sharedir', '--pkglibdir';
is(files(), where($own_share, $own_lib), "into the server's directories");
is(files('DESTDIR=/image'), where("/image$own_share", "/image$own_lib"), 'DESTDIR in front of them');

my ($prefix) = $page->text =~ /^sudo make install (prefix=\S+)$/m;
my %conf = map { $_->{content} =~ /^(\w+) = '([^':]+):\$\w+'$/mg } $page->blocks('A directory of its own', 'conf');
is( files($prefix),
	where(@conf{qw(extension_control_path dynamic_library_path)}),
	"$prefix: where the page's settings look");
is(files('prefix=/opt/pgsql'), where('/opt/pgsql/share', '/opt/pgsql/lib'), 'prefix=/opt/pgsql: no further directory');
is(files('datadir=/a/b', 'pkglibdir=/c'), where('/a/b', '/c'), 'datadir and pkglibdir');

# ---- the Dockerfile
my $docker = slurp_file("$root/Dockerfile");
for ($page->text =~ /^(docker build .*)$/mg)
{
	my ($target) = /--target (\w+)/;
	ok(!$target || $docker =~ /^FROM \S+ AS \Q$target\E$/m, "the Dockerfile has what this wants: $_");
	ok($docker =~ /^ARG \Q$1\E=/m, "and its argument $1") for /--build-arg (\w+)=/g;
}

# ---- outside of the server's directories
SKIP:
{
	skip 'extension_control_path came with PostgreSQL 18', 2 if $server->pg_version < 18;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	mkdir "$dir/$_" or die "$dir/$_: $!" for 'share', 'share/extension', 'lib';
	system('cp', (glob "$own_share/extension/snowflake_ids*"), "$dir/share/extension/") == 0 or die;
	system('cp', (glob "$own_lib/snowflake_ids*.so"), "$dir/lib/") == 0 or die;
	$server->safe_psql('postgres', 'CREATE DATABASE outside');
	$server->append_conf('postgresql.conf',
		"extension_control_path = '$dir/share:\$system'\ndynamic_library_path = '$dir/lib:\$libdir'");
	$server->reload;
	ok($server->poll_query_until('outside', "SELECT current_setting('dynamic_library_path') LIKE '$dir/lib:%'"),
		'a reload is enough');
	my $loaded = $server->safe_psql('outside', <<'END');
CREATE EXTENSION snowflake_ids_convert CASCADE;
SELECT FROM gen_sno();
CREATE TABLE maps (line text);
DO $$ BEGIN EXECUTE format('COPY maps FROM %L', '/proc/' || pg_backend_pid() || '/maps'); END $$;
SELECT DISTINCT substring(line FROM '/\S*/snowflake_ids\.so') FROM maps WHERE line LIKE '%/snowflake_ids.so%';
END
	is($loaded, "$dir/lib/snowflake_ids.so", 'the library outside is the one that is loaded');
}

$server->stop;
done_testing();
