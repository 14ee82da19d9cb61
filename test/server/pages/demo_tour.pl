# The tour of `make demo` ends well, leaves nothing behind and repeats no id; an error fails it.
use Servers;
use PostgreSQL::Test::Utils;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $tour = slurp_file("$root/demo/tour.sql");

# ---- on a server of one's own
my $server = plain_server('tour');
{
	my ($rc, $out, $err) = tour($server, "$root/demo/tour.sql");
	is($rc, 0, 'the tour ends well');

	is($err, '', 'without a complaint');
	like($out, qr/^ *1000000 \| +1000000\n/m, 'a million ids, none twice');
	like($out, qr/^ gen_random_uuid\(\) +\| +\d+ \| +[\d.]+ \| #+$/m, 'and the time that they take next to others');
	is(scalar(() = $out =~ /Index Cond: /g), 1, 'the plan that it shows uses the primary key');
	is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'tour'}),
		0, 'its schema is gone');

	my $short = PostgreSQL::Test::Utils::tempdir() . '/tour.sql';
	spew($short, $tour =~ s/1000000/1000/gr =~ s/120000/1200/r);
	($rc, $out, $err) = tour($server, $short, '-v', 'keep=1');
	is($rc . $server->safe_psql('postgres', q{SELECT count(*) > 1000 FROM tour.message}),
		'0t', 'with "keep" its schema stays')
	  or diag $err;
}
$server->stop;

sub tour
{
	my ($where, $file, @options) = @_;
	local %ENV = (%ENV, PGHOST => $where->host, PGPORT => $where->port, PGDATABASE => 'postgres');
	my ($out, $err) = run_command([ 'psql', '-X', @options, '-f', $file ]);
	return ($? >> 8, $out, $err);
}

# ---- tools/demo itself, where there is nothing to install and to build
SKIP:
{
	skip 'only tools/test has a private installation for it', 1 unless $ENV{PRIVATE_PG_CONFIG};
	my $dir = PostgreSQL::Test::Utils::tempdir();
	mkdir "$dir/$_" or die "$dir/$_: $!" for 'tools', 'demo', 'test', 'test/support';
	system('cp', '-p', (map { "$root/tools/$_" } 'demo', 'with-server', 'lib.sh'), "$dir/tools/") == 0 or die;
	system('cp', '-p', "$root/demo/crash", "$dir/demo/") == 0
	  && system('cp', "$root/test/support/clock_shim.c", "$dir/test/support/") == 0
	  or die;
	spew("$dir/tools/setup", "#!/bin/sh\n");
	chmod 0755, "$dir/tools/setup";
	spew("$dir/Makefile", "all:\n");

	my $demo = sub {
		spew("$dir/demo/tour.sql", $_[0]);
		local %ENV = (%ENV, SESSIONS => 2, IDS => 2000);
		my ($out, $err) = run_command(["$dir/tools/demo"]);
		return ($? >> 8, $out, $err);
	};
	my ($rc, $out, $err) =
	  $demo->("CREATE EXTENSION snowflake_ids;\nSELECT 'nothing is ' || 'wrong', gen_sno() IS NOT NULL;\n");
	is($rc, 0, 'make demo ends well') or diag $err;
	like($out, qr/nothing is wrong \| t/, 'having run the tour');
	my %says = $out =~ /^  (\S.*?)  +(\S.*)$/mg;
	cmp_ok($says{'ids received before the kill'} =~ s/,//gr, '>=', 4000, 'the sessions had ids before the kill');
	is($says{'ids received after the restart'}, '4,000', 'and after it');
	is($says{'ids received twice'}, 0, 'none twice');
	cmp_ok(
		$says{q{the server's clock after the restart}},
		'lt',
		$says{'time of the kill'},
		'although the clock was set back');
	my ($last, $first) = map {
		my $what = $_;
		map { $says{$_} } grep { /^$what/ } keys %says
	} 'time of the last id', 'time of the first id';
	cmp_ok($last, 'lt', $first, 'and later ids have later times');

	($rc, $out, $err) = $demo->("SELECT no_such_function();\nSELECT 'never ' || 'reached';\n");
	isnt($rc, 0, 'an error in the tour is a failure of make demo');
	like($err, qr/function no_such_function\(\) does not exist/, 'which says what it was');
	unlike($out, qr/never reached/, 'and is the end of it');
}

done_testing();
