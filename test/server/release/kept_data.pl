# What a released version made (test/kept, by tools/keep-version): its install script, a dump, and a data directory that
# was killed while ids were drawn. Rows keep their fields, no id repeats with the clock at the old time, and the
# extension updates. The dump names the superuser of the kept data, so the server gets such a role.
use Servers;
use Catalogs    ();
use Time::Local qw(timegm);

my ($rows) = slurp("$ENV{SNOWFLAKE_IDS_SRC}/tools/keep-version") =~ /^query .*rows\.tsv.*\n((?s:.*?))^SQL$/m;
ok($rows, 'tools/keep-version says how it read the rows');
chomp(my $sharedir = `pg_config --sharedir`);
my $directory = "$sharedir/extension";
chomp(my $platform = `uname -sm`);

for my $kept (sort glob "$ENV{SNOWFLAKE_IDS_SRC}/test/kept/*")
{
	my ($version) = $kept =~ m{/([^/]+)$};
	scripts($kept);
	restored("$version: a dump", $kept);
	for my $archive (glob "$kept/data-*.tar.xz") { started("$version: a data directory", $kept, $archive) }
}
done_testing();

# ---- the install scripts
sub scripts
{
	my ($kept) = @_;
	my @scripts = glob "$kept/*--*.sql.gz";
	is(scalar @scripts, 2, "$kept: two scripts");
	for my $script (@scripts)
	{
		my ($name, $extension, $version) = $script =~ m{/((\w+)--(.*)\.sql)\.gz$};
		my $kept_script = `gunzip -c $script`;
		if (-e "$directory/$name")
		{
			ok(slurp("$directory/$name") eq $kept_script, "$name is the one that was kept")
			  or diag
			  "Not released yet: tools/keep-version scripts. Released: put it back, and write an update script.";
			next;
		}
		updated($extension, $version, $kept_script, "$directory/$name");
	}
}

# Update scripts lead to what a fresh installation is.
sub updated
{
	my ($extension, $version, $script, $as) = @_;
	my $server = new_server("${extension}_$version", clock());
	spew($as, $script);
	$server->safe_psql('postgres', "CREATE DATABASE $_") for 'old', 'fresh';
	$server->safe_psql('fresh', "CREATE EXTENSION $extension CASCADE");
	$server->safe_psql('old',
		"CREATE EXTENSION $extension VERSION '$version' CASCADE; ALTER EXTENSION $extension UPDATE");
	unlink $as;
	my @differences = Catalogs::differences(map { Catalogs::contents($server, $_, $extension) } 'old', 'fresh');
	is("@differences", '', "$extension $version is updated to what a fresh one is");
	$server->stop('immediate');
}

# ---- a dump, in any server
sub restored
{
	my ($name, $kept) = @_;
	my $server = new_server("dump_$kept" =~ s/.*\///r, clock());
	$server->safe_psql('postgres', 'CREATE DATABASE kept');
	for my $owner (owners($kept))
	{
		my $is_there = $server->safe_psql('postgres', "SELECT count(*) FROM pg_roles WHERE rolname = '$owner'");
		$server->safe_psql('postgres', "CREATE ROLE $owner") if !$is_there;
	}
	my $said = `psql -XqAt -v ON_ERROR_STOP=1 -o /dev/null -d "@{[ $server->connstr('kept') ]}" -f $kept/dump.sql 2>&1`;
	is($said, '', "$name is restored");
	has_rows($name, $server, $kept);
	$server->stop('immediate');
}

# ---- a data directory, in a server of its major and platform
sub started
{
	my ($name, $kept, $archive) = @_;
	my ($major) = $archive =~ /data-(\d+)\./;
	chomp(my $here = `postgres --version`);
  SKIP:
	{
		skip "$name of PostgreSQL $major on Linux x86_64", 1
		  if $here !~ / $major\b/ || $platform ne 'Linux x86_64' || system('command -v xz >/dev/null') != 0;

		(local $ENV{PGUSER}, my @others) = owners($kept);
		is("@others", '', "$name: is of one role, $ENV{PGUSER}");
		my $ids = Ids->new;
		my $clock = clock();
		my @latest = (0, 0, 0);
		for (map { [ split /\t/ ] } split /\n/, slurp("$kept/rows.tsv"))
		{
			$ids->add("s$_->[1]\nm$_->[3]\nm$_->[4]\ni$_->[5]");
			for my $i (0 .. 2)
			{
				my $id = $_->[ 4 + $i ];
				$latest[$i] = $id if $id > $latest[$i];
			}
		}
		my $drawn = $ids->{drawn};

		my @said = (split /\t/, (split /\n/, slurp("$kept/rows.tsv"))[-1])[8] =~ /^(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)/;
		my $when = timegm(@said[ 5, 4, 3, 2 ], $said[1] - 1, $said[0]);

		my $dir = PostgreSQL::Test::Utils::tempdir();
		system('tar', '-C', $dir, '-xJf', $archive) == 0 or die "$archive cannot be unpacked";
		my $of = $kept =~ s/.*\///r =~ tr/./_/r;
		my $server = copy_of("data_of_$of", $dir, <<"END");
unix_socket_directories = '@{[ PostgreSQL::Test::Cluster->new("place_$of")->host ]}'
fsync = off
restart_after_crash = on
END
		$clock->set_to($when);
		start_at($server, $clock);
		like(slurp($server->logfile), qr/redo starts at/, "$name: its WAL is replayed");
		$server->safe_psql('kept',
			'ALTER EXTENSION snowflake_ids UPDATE; ALTER EXTENSION snowflake_ids_convert UPDATE');
		is($server->safe_psql('kept', 'SELECT count(*) FROM item'), 200, "$name: the rows are there");
		my $draw = sub { $ids->add($server->safe_psql('kept', Ids::query(60, 200))) };
		$draw->();
		is( $server->safe_psql(
				'kept',
				"INSERT INTO item (n) VALUES (201) RETURNING number > $latest[0], si > $latest[1], shop > $latest[2]"),
			't|t|t',
			"$name: new ids are above the old ones");
		$server->safe_psql('kept', 'DELETE FROM item WHERE n = 201');
		has_rows($name, $server, $kept);
		restart_after($server, 'immediate', $clock->{offset} - 5);
		$draw->();
		$clock->set_to($when);
		$draw->();
		is($ids->{drawn} > $drawn ? $ids->{twice} : 'none drawn', 0, "$name: no id comes again");
		$server->stop('immediate');
	}
}

sub owners
{
	my ($kept) = @_;
	my %owners = map { $_ => 1 } slurp("$kept/dump.sql") =~ /^ALTER .* OWNER TO (\w+);$/mg;
	return sort keys %owners;
}

sub has_rows
{
	my ($name, $server, $kept) = @_;
	my @got = split /\n/, $server->safe_psql('kept', "SET timezone = 'UTC'; $rows");
	my @expected = split /\n/, slurp("$kept/rows.tsv");
	is_deeply(\@got, \@expected, "$name: ids and their fields are as they were");
	my $through_indexes = $server->safe_psql('kept', <<'END');
SET enable_seqscan = off; SET enable_sort = off;
SELECT (SELECT count(*) FROM (SELECT sno >= lag(sno) OVER () AS ok FROM (SELECT sno FROM item ORDER BY sno) AS s) AS s WHERE ok IS NOT FALSE),
       (SELECT count(*) FROM item AS i WHERE EXISTS (SELECT FROM item WHERE volume = i.volume)),
       (SELECT count(*) FROM item WHERE mastic >= (SELECT min(mastic_timestamp(mastic)) FROM item));
END
	is($through_indexes, '200|200|200', "$name: indexes find each row");
}
