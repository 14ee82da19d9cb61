# `make dist`: the zip has every file, one directory, what META.json says, and can be built from, as a Debian source
# package too.
use strict;
use warnings;
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

sub have
{
	my ($program) = @_;
	return grep { -x "$_/$program" } split /:/, $ENV{PATH};
}
plan skip_all => 'git is not installed' unless have('git');
my ($unzip) = grep { have($_->[0]) }[ 'unzip', '-q' ], [ 'python3', '-m', 'zipfile', '-e' ];
plan skip_all => 'neither unzip nor python3 is installed' unless $unzip;

# Tests have no history, so they make a commit of the tree.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $tree = "$dir/tree";
local %ENV = (
	%ENV,
	HOME => $dir,
	GIT_CONFIG_NOSYSTEM => 1,
	GIT_CEILING_DIRECTORIES => $dir,
	map { ("GIT_$_\_NAME" => 'release', "GIT_$_\_EMAIL" => 'release@localhost') } 'AUTHOR', 'COMMITTER');

sub run_ok
{
	my ($name, @command) = @_;
	my ($out, $err) = run_command(\@command);
	is($?, 0, $name) or diag "$out\n$err";
	return $out;
}
sub slurp_json { return decode_json(slurp_file($_[0])) }
mkdir $tree or die "$tree: $!";
run_ok(
	'the tree is copied',
	'sh', '-ec', 'tar -C "$0" --exclude=./build --exclude=./.git -cf - . | tar -C "$1" -xf -',
	$ENV{SNOWFLAKE_IDS_SRC}, $tree);
run_ok('and committed', 'sh', '-ec', 'cd "$0" && git init -q && git add -A && git commit -q -m release', $tree);
my @files = sort split /\n/, run_ok('its files', 'git', '-C', $tree, 'ls-files');
cmp_ok(scalar(@files), '>', 100, 'are there: ' . @files);

# ---- the zip
my $made = run_ok('make dist', 'make', '-s', '-C', $tree, 'dist');
my $meta = slurp_json("$tree/META.json");
my $release = "$meta->{name}-$meta->{version}";
is($made, "build/$release.zip", 'says what it made');
{
	my $first = slurp_file("$tree/build/$release.zip");
	local $ENV{TZ} = 'Asia/Tokyo';
	unlink "$tree/build/$release.zip";
	run_ok('make dist again, elsewhere', 'make', '-s', '-C', $tree, 'dist');
	ok(slurp_file("$tree/build/$release.zip") eq $first, 'makes the same bytes');
}
run_ok('it is unpacked', @$unzip, "$tree/build/$release.zip", $unzip->[0] eq 'unzip' ? ('-d', $dir) : $dir);
is(join(' ', grep { !/^(tree|$release)$/ } map { s{.*/}{}r } grep { -d } glob "$dir/*"), '', 'into one directory');
my @unpacked = sort map { s{^\Q$dir/$release/\E}{}r } split /\n/,
  run_ok('its files', 'find', "$dir/$release", '!', '-type', 'd');
is(join(' ', @unpacked), join(' ', @files), 'are those of the commit');
is_deeply([ grep { slurp_file("$dir/$release/$_") ne slurp_file("$tree/$_") } @unpacked ], [], 'as they are');

# Python's zip does not keep modes.
SKIP:
{
	skip 'unzip is not installed', 1 if $unzip->[0] ne 'unzip';
	is_deeply([ grep { -x "$tree/$_" && !-x "$dir/$release/$_" } @unpacked ], [], 'programs are programs');
}

# ---- what it says of itself
for my $name (sort keys %{ $meta->{provides} })
{
	my $provided = $meta->{provides}{$name};
	ok(-s "$dir/$release/$provided->{$_}", "$name: $provided->{$_} is there")
	  for grep { $provided->{$_} } 'file', 'docfile';
}
my ($entry) = slurp_file("$tree/CHANGELOG.md") =~ /^## (\S+)/m;
is($entry, $meta->{version}, 'the newest entry of CHANGELOG.md is its version');
like(
	(slurp_file("$tree/CHANGELOG.md") =~ /^## \S+ (.*)/m)[0],
	qr/^\((not released yet|20\d\d-\d\d-\d\d)\)$/,
	'with its date, once it has one');
my ($package) = slurp_file("$tree/debian/changelog") =~ /^\S+ \(([^)-]*)/;
is($package, $meta->{version}, 'so is that of debian/changelog');
my @named = slurp_file("$tree/debian/rules") =~ /^\tdh_install\w+ --all (.*)/mg;
is_deeply(
	[   grep {
			!grep { -s }
			  glob "$dir/$release/$_"
		} map { split } @named ],
	[],
	"what debian/rules installs is there: @named");
SKIP:
{
	skip 'dpkg-dev is not installed', 3 unless have('dpkg-source');
	run_ok('a Debian source package is made', 'sh', '-ec', 'cd "$0" && dpkg-source -Zgzip -b "$1"', $dir, $release);
	my ($dsc) = map { slurp_file($_) } glob "$dir/*.dsc";
	like($dsc, qr/^Version: \Q$meta->{version}\E$/m, 'of this version');
	like($dsc, qr/^Binary: .*\bpostgresql-\d+-snowflake-ids\b/m, 'for a server');
}
SKIP:
{
	skip 'debhelper or postgresql-server-dev-all is not installed', 1
	  unless have('dh') && -e '/usr/share/perl5/Debian/Debhelper/Sequence/pgxs_loop.pm';
	run_ok(
		'debhelper knows what to do with it',
		'sh', '-ec', 'cd "$0" && dh binary --no-act --with pgxs_loop',
		"$dir/$release");
}

# ---- what is missing before a tag: addresses and the dates
{
	my $missing = sub {
		return grep { /^missing/ } split /\n/, (run_command([ "$tree/tools/release-check", @_ ]))[0];
	};
	my $of_a_publisher =
	  qr/^missing  (packaging\/addresses: |no file has an address that|CHANGELOG\.md gives \S+ a date)/;
	is_deeply([ grep { !/$of_a_publisher/ } $missing->() ], [], 'release-check misses only what a publisher adds');
	my $there = run_ok('git knows its commit', 'git', '-C', $tree, 'rev-parse', 'HEAD');
	run_ok(
		'addresses', "$tree/tools/addresses",
		'https://example.org/ids/snowflake_ids', 'ids@example.org',
		'registry.example.org/ids/snowflake-ids');
	my $write = sub {
		my ($name, $pattern, $date) = @_;
		my $text = slurp_file("$tree/$name") =~ s/$pattern/$1$date/r;
		open my $f, '>', "$tree/$name" or die;
		print $f $text;
		close $f;
	};
	$write->('CHANGELOG.md', qr/^(## \Q$meta->{version}\E)\b.*/m, ' (2027-01-31)');
	like(($missing->())[0], qr/CHANGELOG.* debian\/changelog/, 'the packages have another date');
	$write->('debian/changelog', qr/^( -- .*>  ).*/m, 'Sun, 31 Jan 2027 23:00:00 +0000');
	like(($missing->())[0], qr/CHANGELOG.* debian\/changelog/, 'one of them has another date');
	$write->('packaging/rpm/snowflake_ids.spec', qr/^(\* )\w+ \w+ \d+ \d+/m, 'Sun Jan 31 2027');
	is_deeply([ $missing->() ], ['missing  everything is committed'], 'with addresses and dates, only the commit is');

	# Under a later third number, too.
	for my $what ('scripts', '')
	{
		my (undef, $err) = run_command([ "$tree/tools/keep-version", $what || () ]);
		like($err, qr/^keep-version: .* was released/m, "tools/keep-version $what: not for a version that has a date");
	}
	run_ok('a commit', 'git', '-C', $tree, 'commit', '-q', '-a', '-m', 'published');
	is_deeply([ $missing->("v$meta->{version}") ], [], 'and then nothing');
	is_deeply([ map { s/ \S+$//r } $missing->('v0.9.0') ], ['missing  the tag is'], 'but another tag is wrong');
	run_ok('back', 'git', '-C', $tree, 'reset', '-q', '--hard', $there);
}
{
	my $file = "$tree/META.json";
	my $wrong = slurp_file($file) =~ s/"file": "snowflake_ids.control"/"file": "no_such.control"/r;
	open my $f, '>', $file or die;
	print $f $wrong;
	close $f;
	run_ok('META.json names a file that is not there', 'git', '-C', $tree, 'commit', '-q', '-a', '-m', 'wrong');
	unlink "$tree/build/$release.zip";
	my ($out, $err) = run_command([ 'make', '-s', '-C', $tree, 'dist' ]);
	isnt($?, 0, 'and there is no release of it');
	like("$out$err", qr/no_such\.control/, 'for that reason');
	ok(!-e "$tree/build/$release.zip", 'no zip is made');
}

# ---- built from: the script is the installed one; make knows the rest
my ($sharedir) = map { chomp; $_ } `pg_config --sharedir`;
my @make = ('make', '-s', '-C', "$dir/$release", "PG_CONFIG=$ENV{PG_CONFIG}");

# Another test makes versions up during this one.
my @scripts =
  grep { /^\w+--[\d.]+\.sql$/ } map { s{.*/}{}r } glob "$sharedir/extension/snowflake_ids{,_convert}--*.sql";
is(scalar(@scripts), 2, "scripts are installed here: @scripts");

# Only unzip sets modes.
chmod 0755, glob "$dir/$release/tools/*" if $unzip->[0] ne 'unzip';
run_ok('the scripts are made', @make, map { "build/$_" } @scripts);
is(slurp_file("$dir/$release/build/$_"), slurp_file("$sharedir/extension/$_"), "$_ is the one that is installed here")
  for @scripts;
for my $update (map { glob "$dir/$release/$_" } 'src/sql/updates/*.sql', 'convert/src/sql/updates/*.sql')
{
	my $name = $update =~ s{.*/}{}r;
	is(slurp_file($update), slurp_file("$sharedir/extension/$name"), "$name is the one that is installed here");
}
my $plan = run_ok('make knows how to build the rest', @make, '-n', 'install');
my @sources = grep { m{^src/(core|ledger|pg)/.*\.cpp$} } @unpacked;
cmp_ok(scalar(@sources), '>', 20, 'sources are there');
is( join(' ', grep { index($plan, $_) < 0 } @sources, 'snowflake_ids.control', 'convert/snowflake_ids_convert.control'),
	'',
	'and all are built and installed');

done_testing();
