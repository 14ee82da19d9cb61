# The commands of the README and of the pages about choosing and operating are run. What the pages say of the catalog, of
# settings, of error messages, of make and of tools/ is compared with the server and the sources, and no page has
# commands that no test runs.
use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Messages;
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $server = PostgreSQL::Test::Cluster->new('docs');
$server->init(allows_streaming => 1);
$server->append_conf('postgresql.conf', 'fsync = off');
$server->start;

# ---- README.md, in one database, as somebody who tries it would
{
	my $page = Page->new('README.md');
	my $db = 'readme';
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$page->run_chapter($server, $_, dbname => $db) for grep { $page->blocks($_, 'sql') } $page->chapters;
	$page->all_run;

	# What the comments beside the commands say.
	my ($quick) = $page->blocks('Quick start', 'sql');
	my ($first) = $quick->{said} =~ /^(\w{16})\|\d{4}-/;
	is($server->safe_psql($db, "SELECT count(*), count(*) FILTER (WHERE id >= '$first') FROM account"),
		'1000002|1000002', 'README: the rows are there, in the order of their ids');
	for my $query (map { /^(SELECT \* FROM account WHERE .*?);/mg }
		map { $_->{content} } $page->blocks('Quick start', 'sql'),
		$page->blocks('Comparing with time', 'sql'))
	{
		like(
			$server->safe_psql($db, "SET enable_seqscan = off; EXPLAIN (COSTS OFF) $query"),
			qr/Scan.* (using account_pkey on account|on account_pkey)\n +Index Cond: /,
			"README: an index range scan: $query");
	}
	my ($snowflake) = $page->blocks('Any snowflake', 'sql');
	like($snowflake->{said}, qr/^2016-04-30 \d\d:\d\d:25.796.*\|32\|7$/m, 'README: the Discord id is decoded');
}

# ---- doc/choosing.md
{
	my $page = Page->new('doc/choosing.md');
	my @chapters = grep { $page->blocks($_, 'sql') } $page->chapters;
	$page->run_chapter($server, $_) for @chapters;
	$page->all_run;
}

# ---- doc/operating.md, in one database, as an operator would
{
	my $page = Page->new('doc/operating.md');
	my $db = 'operated';
	my $said = sub { $server->safe_psql($db, $_[0]) };
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$page->run_chapter($server, 'Installing', dbname => $db);
	is( $server->safe_psql(
			'shop',
			'CREATE EXTENSION snowflake_ids; SELECT gen_sno() IS NOT NULL',
			extra_params => [ '-U', 'shop_owner' ]),
		't',
		'an ordinary user who may create creates it');

	$page->run_chapter($server, 'Privileges', dbname => $db);
	is( $said->(
			"SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
			WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids') AND prorettype <> 'trigger'::regtype AND NOT has_function_privilege('public', pg_proc.oid, 'EXECUTE')"
		),
		join(' ',
			sort map { /(\w+)/g } map { /^\| (`.*?) \|/ ? $1 =~ s/\([^)]*\)//gr : () } split /\n/,
			chapter_text($page, 'Privileges')),
		'the functions that are not for PUBLIC are those of the page');

	my ($conf) = $page->blocks('Settings', 'conf');
	$server->append_conf('postgresql.conf', $conf->{content});
	$server->reload;
	$server->poll_query_until($db, 'SELECT machine_id = 7 FROM snowflake_ids_status()');
	$page->run_chapter($server, 'Settings', dbname => $db);

	# The alerts: silent now, loud when something is wrong.
	my $alerts = sub {
		$page->run_chapter($server, 'Monitoring', dbname => $db);
		return join "\n", map { $_->{said} || () } $page->blocks('Monitoring', 'sql');
	};
	$said->('SELECT gen_sno(), gen_mastic(), gen_snowflake_si()');
	is($alerts->(), '', 'no alert');
	$said->("SELECT mastic_observe(make_mastic(now() + interval '1 hour', 0), force => true); SELECT gen_mastic()");
	like(
		$alerts->(),
		qr/^critical\|mastic\|0\|ids are 3\d{6} ms ahead of the clock$/,
		'ids ahead of the clock: an alert');
	$said->("SELECT snowflake_ids_reset(now(), 'mastic', force => true)");
	is($alerts->(), '', 'and none after it is mended');
	$server->restart;
	cmp_ok($said->('SELECT extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp())'),
		'<', 10, 'the other generators were not led there');

	$page->run_chapter($server, $_, dbname => $db) for 'Wait events', 'Memory, file and backups', 'Afterwards';
	my ($unset) = $page->blocks('Monitoring', 'sql');
	$page->run_chapter($server, 'Runbook', dbname => $db);

	$server->adjust_conf('postgresql.conf', 'snowflake_ids.machine_id', undef);
	$server->restart;
	is($said->($unset->{content}), 'warning|machine id is not set', 'machine id not set: an alert');
	$server->append_conf('postgresql.conf', 'snowflake_ids.machine_id = 7');
	$server->restart;

	# The shell commands: a copy that has a machine id of its own.
	my $dir = PostgreSQL::Test::Utils::tempdir();
	$page->run_sh('Afterwards', $dir, PGHOST => $server->host, PGPORT => $server->port);
	my $copy = PostgreSQL::Test::Cluster->new('copy');
	rmdir $copy->data_dir;
	rename "$dir/copy", $copy->data_dir or die $!;
	$copy->append_conf('postgresql.conf', 'port = ' . $copy->port);
	$copy->start;
	is($copy->safe_psql($db, 'SELECT sno_partition(gen_sno())'), 8, 'the copy has its machine id');
	$copy->stop;

	$page->all_run;

	# Every error that an operator may meet is in the runbook, and every line in the list of log lines.
	my $convert = Page->new('convert/problems.md');
	my %about = map { $_ => 1 } $page->headings, $convert->headings;
	my $sections = chapter_text($page, 'Runbook') . chapter_text($convert, 'Errors');
	my $lines = chapter_text($page, 'Log lines');
	my (%known, @undocumented, @wrong_state, @no_way_out);
	for my $m (Messages::all())
	{
		my $title = "`$m->{message}`";
		$known{$title} = 1;
		if ($m->{level} eq 'LOG')
		{
			push @undocumented, "$m->{file}: $m->{message}" if index($lines, "| $title | LOG |") < 0;
			next;
		}
		my $operational =
		  $m->{file} =~
		  /^(generator|claim|set_up|durability|shared_ledger|ceiling_file|wal_ceiling|wal_sequence|operate|entropy)\.cpp$/
		  && $m->{level} eq 'ERROR';
		push @no_way_out, "$m->{file}: $m->{message}" if $operational && !$m->{hint};
		next unless $m->{hint} || $operational;
		push @undocumented, "$m->{file}: $m->{message}" unless $about{$title};
		push @wrong_state, "$m->{message}: $m->{sqlstate}"
		  if $about{$title}
		  && $m->{sqlstate}
		  && $m->{level} eq 'ERROR'
		  && $sections !~ /^### \Q$title\E\n\n\($m->{sqlstate}\)/m;
	}
	cmp_ok(scalar(keys %known), '>', 30, 'messages were found in the sources');
	is(join("\n", @undocumented),
		'', 'every error with a hint or of the ledger has a section in the runbook, every log line is in the list');
	is(join("\n", @wrong_state), '', 'with its SQLSTATE');
	is(join("\n", @no_way_out), '', 'every error of the generators and their files has a hint');
	is(join("\n", grep { /^`/ && !$known{$_} } $page->headings, $convert->headings),
		'', 'the runbook has no section about a message that is gone');
}

# ---- README.md and all pages
{
	my $db = 'catalog';
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids_convert CASCADE; SELECT gen_sno()');
	my $readme = slurp("README.md");
	my %pages = map { s{^\Q$root\E/}{}r => slurp(s{^\Q$root\E/}{}r) } glob "$root/doc/*.md $root/convert/*.md";
	$pages{'README.md'} = $readme;

	# What is named exists.
	my %exists = map { $_ => 1 } grep { $_ ne '' } split /\n/, $server->safe_psql($db, <<'END');
SELECT FROM snowflake_ids_status();
SELECT proname FROM pg_proc UNION SELECT relname FROM pg_class UNION SELECT typname FROM pg_type
UNION SELECT extname FROM pg_extension UNION SELECT opcname FROM pg_opclass UNION SELECT replace(name, 'snowflake_ids.', '') FROM pg_settings
UNION SELECT unnest(proargnames) FROM pg_proc UNION SELECT attname FROM pg_attribute WHERE attrelid = 'snowflake_ids_stats'::regclass
END
	for my $path (sort keys %pages)
	{
		my $prose = $pages{$path} =~ s/^```.*?^```$//msgr;
		my @named = map { /\b((?:gen|sno|gid|uuid7|mastic|make|snowflake_si|snowflake_ids)_[a-z_]*[a-z])\b/g }
		  $prose =~ /`([^`\n]+)`/g;
		my %missing = map { $_ => 1 } grep { !$exists{$_} && !/^(sno_decoder|sno_as)$/ } @named;
		is(join(' ', sort keys %missing), '', "$path names what exists (" . @named . ' names)');
	}

	# What exists and is meant to be called is named.
	my @callable = split /\n/, $server->safe_psql($db, <<'END');
SELECT DISTINCT proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('snowflake_ids', 'snowflake_ids_convert'))
    AND NOT p.oid IN (SELECT unnest(ARRAY[oprcode, oprrest, oprjoin]) FROM pg_operator UNION SELECT amproc FROM pg_amproc
        UNION SELECT castfunc FROM pg_cast UNION SELECT unnest(ARRAY[typinput, typoutput, typreceive, typsend, typmodin, typmodout]) FROM pg_type
        UNION SELECT unnest(ARRAY[aggtransfn, aggcombinefn, aggfinalfn]) FROM pg_aggregate UNION SELECT prosupport FROM pg_proc)
    AND prokind <> 'a' AND obj_description(p.oid, 'pg_proc') !~ '^internal: ' AND NOT 'internal'::regtype = ANY (proargtypes) ORDER BY 1
END
	cmp_ok(scalar(@callable), '>', 50, 'functions to be called were found');
	is(join(' ', grep { $pages{'doc/reference.md'} !~ /\b$_\b/ } @callable), '', 'every function is in the reference');

	# The reference is what tools/reference makes of this server's catalogs.
	$server->safe_psql('postgres', 'CREATE DATABASE reference');
	my $bindir = $server->config_data('--bindir');
	{
		local %ENV = (%ENV, $server->_get_env, PGDATABASE => 'reference', PATH => "$bindir:$ENV{PATH}");
		my ($made, $err) = run_command(["$root/tools/reference"]);
		utf8::decode($made);
		is("$made\n", $pages{'doc/reference.md'}, 'the reference is current (make reference writes it)') or diag $err;
	}

	# The table of settings.
	my @settings = map { [ split /\|/ ] } grep { $_ ne '' } split /\n/, $server->safe_psql($db, <<'END');
SELECT FROM snowflake_ids_status();
SELECT replace(name, 'snowflake_ids.', ''), CASE context WHEN 'sighup' THEN 'postgresql.conf' WHEN 'user' THEN 'any user' ELSE context END,
    CASE WHEN unit = 'ms' AND boot_val <> '-1' THEN CASE WHEN boot_val ~ '000$' THEN boot_val::int / 1000 || ' s' END ELSE boot_val END
FROM pg_settings WHERE name LIKE 'snowflake\_ids.%' ORDER BY name
END
	cmp_ok(scalar(@settings), '>', 9, 'settings were found');
	for (@settings)
	{
		my ($name, $who, $default) = @$_;
		my ($row) = $readme =~ /^(\| `snowflake_ids\.\Q$name\E`.*)$/m;
		($row) = $readme =~ /^(\| `snowflake_ids\.sno_sequence_min`, `…_max`.*)$/m
		  if !$row && $name eq 'sno_sequence_max';
		my $shown = $default =~ s/^-1$/\N{MINUS SIGN}1/r;
		ok( $row && $row =~ /\| \Q$who\E \|/ && index($row, $shown) >= 0,
			"README: $name is for $who, by default $default") or diag $row // 'no row';
	}

	# Links lead somewhere.
	my @dead;
	for my $path (sort keys %pages)
	{
		my $dir = $path =~ m{^(.*/)} ? $1 : '';
		while ($pages{$path} =~ /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)
		{
			my ($file, $anchor) = ($1 eq '' ? $path : "$dir$1", $2);
			if (!-e "$root/$file") { push @dead, "$path: $file"; next }
			next unless defined $anchor;
			my %anchors = map { anchor($_) => 1 } slurp($file) =~ s/^```.*?^```$//msgr =~ /^#+ (.*)$/mg;
			push @dead, "$path: $file#$anchor" unless $anchors{$anchor};
		}
	}
	is(join("\n", @dead), '', 'no link is dead');

	# Every page that has commands is run by a script, which looks for what it has left out.
	for my $path (sort keys %pages)
	{
		my $page = Page->new($path);
		my %by = map { (Page::script_of($path, $_->{heading}) // "nobody: $_->{name}") => 1 } $page->commands;
		my @not = grep {
			my $by = $_;
			my ($file) = grep { -e "$root/$_" } map { "$_/t/$by.pl" } 'test', 'convert';
			my $text = $file ? slurp($file) : '';
			$text !~ /Page->new\('\Q$path\E'\)/ || $text !~ /\$page->all_run;/
		} sort keys %by;
		is("@not", '', "$path: its commands are run by " . (join(', ', sort keys %by) || 'nobody, for it has none'));
	}
	my %there = map {
		$_ => { map { $_ => 1 } Page->new($_)->headings }
	} keys %pages;
	is( join(
			"\n",
			map {
				my $path = $_;
				grep { !$there{$path}{$_} } keys %{ $Page::run_by{$path} }
			} grep { ref $Page::run_by{$_} } keys %Page::run_by),
		'',
		'no script is named for a heading that is gone');

	# What make is asked for, and which programs and files are named.
	$pages{$_} = slurp($_) for 'CONTRIBUTING.md';
	my %target = map { $_ => 1 } make_targets();
	ok($target{demo} && $target{install} && !$target{nonsense}, 'targets of the Makefile were found: ' . keys %target);
	my ($commands, @wrong) = (0);
	for my $path (sort keys %pages)
	{
		# Blocks, but those of programs and settings, and what is between backquotes.
		my $text = $pages{$path};
		my @said = $text =~ /^```(?:sh)?\n(.*?)^```$/msg;
		push @said, $text =~ s/^```.*?^```$//msgr =~ /`([^`\n]+)`/g;
		for my $line (map { split /\n/ } @said)
		{
			$line =~ s/(^|\s)#.*//;
			for my $arguments ($line =~ /(?:^|[;&|]|\bsudo)\s*make(?![\w-])([^;&|]*)/g)
			{
				$commands++;
				$arguments =~ s/\w+=(?:"[^"]*"|'[^']*'|\S*)//g;
				push @wrong, "$path: make $_" for grep { !$target{$_} } grep { !/^-/ } split ' ', $arguments;
			}
			for my $file (
				$line =~ m{(?<![\w./-])((?:tools|test|src|doc|convert|demo|sql|expected|debian|\.ci)/[\w./-]*\w)}g)
			{
				$commands++;

				# make bench writes this one.
				next if $file eq 'doc/calls.md';
				push @wrong, "$path: $file" unless -e "$root/$file";
				push @wrong, "$path: $file is no program" if $file =~ m{^(tools|\.ci)/[\w-]+$} && !-x "$root/$file";
			}
		}
	}
	cmp_ok($commands, '>', 40, 'commands and files were found');
	is(join("\n", @wrong), '', 'what the pages ask of make is there, so are programs and files that they name');

	# Plain words.
	is(join(' ', grep { $pages{$_} =~ /—/ } sort keys %pages), '', 'no long dashes');
}

sub slurp { my $text = slurp_file("$root/$_[0]"); utf8::decode($text); return $text }

# What make could make, by its own word. It is asked for something that is not there, so that nothing runs.
sub make_targets
{
	my ($out) = run_command([ 'make', '-C', $root, '-pRrn', '--no-print-directory', 'no-such-target' ]);
	$out =~ s/^# Not a target:\n.*\n//mg;
	return $out =~ /^([a-z][\w-]*)::?(?!=)/mg;
}

# The text of a chapter
sub chapter_text
{
	my ($page, $title) = @_;
	return $page->text =~ /^## \Q$title\E\n(.*?)(?=^## |\z)/ms ? $1 : die "no chapter named $title";
}

# As GitHub makes anchors of headings
sub anchor
{
	my ($heading) = @_;
	return lc($heading) =~ s/[^\w\- ]//gr =~ s/ /-/gr;
}

$server->stop;
done_testing();
