# Compares what pages say of the catalog, settings, messages, make and tools/ with the server and the sources. Each page
# with commands has a script that runs them.
use Servers;
use utf8;
use CPAN::Meta::YAML;
use JSON::PP ();
use Messages;
use Page;
use PostgreSQL::Test::Utils;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $server = plain_server('docs');
my $operating = Page->new('doc/operating.md');
my $errors = Page->new('doc/errors.md');
my $said = sub { $server->safe_psql('operated', $_[0]) };
$server->safe_psql('postgres', 'CREATE DATABASE operated');
$said->(<<'END');
CREATE EXTENSION snowflake_ids;
SELECT gen_sno();
CREATE TABLE reader (name text, position text);
INSERT INTO reader VALUES ('search', '');
CREATE TABLE headline (id bigserial PRIMARY KEY, body text);
SELECT count(*) FROM snowflake_ids.create_feed('headline');
END

# ---- doc/operating.md: privileges
is( $said->(
		"SELECT string_agg(DISTINCT schema || proname, ' ' ORDER BY schema || proname) FROM pg_proc JOIN pg_depend ON objid = pg_proc.oid AND classid = 'pg_proc'::regclass
		CROSS JOIN LATERAL (SELECT CASE WHEN pronamespace = 'snowflake_ids'::regnamespace THEN 'snowflake_ids.' ELSE '' END AS schema) AS s
		WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowflake_ids') AND prorettype <> 'trigger'::regtype AND NOT has_function_privilege('public', pg_proc.oid, 'EXECUTE')"
	),
	join(' ',
		sort map { /([\w.]+)/g } map { /^- ((?:`[^`]*`(?:,\s+)?)+)/ ? $1 =~ s/\([^)]*\)//gr : () } split /\n/,
		chapter_text($operating, 'Privileges')),
	'the functions that are not for PUBLIC are those of the page');

# ---- doc/monitoring: queries, alerts and panels
{
	# Each query has the metrics' columns, and each alert uses a metric that exists.
	my $exporter = CPAN::Meta::YAML->read("$root/doc/monitoring/postgres_exporter.yaml")->[0];
	my %metric;
	for my $name (sort keys %$exporter)
	{
		my @columns = map { keys %$_ } @{ $exporter->{$name}{metrics} };
		my $row = $said->(
			"SELECT json_object_agg(key, value) FROM (SELECT to_jsonb(q) AS row FROM ($exporter->{$name}{query}) AS q LIMIT 1) AS one, jsonb_each(row)"
		);
		is( join(' ', sort keys %{ JSON::PP::decode_json($row) }),
			join(' ', sort @columns),
			"postgres_exporter: the query of $name has the columns of its metrics");
		$metric{"${name}_$_"} = 1 for @columns;
	}
	my $alerts_file = CPAN::Meta::YAML->read("$root/doc/monitoring/prometheus_alerts.yaml")->[0];
	my @rules = map { @{ $_->{rules} } } @{ $alerts_file->{groups} };
	my @named = map { $_->{expr} =~ /\b(pg_\w+)/g } @rules;
	cmp_ok(scalar(@named), '>=', scalar(@rules), 'every alert is about a metric');
	my $panels = JSON::PP::decode_json(text_of('doc/monitoring/grafana_feeds.json'))->{panels};
	my @plotted = map { $_->{expr} =~ /\b(pg_\w+)/g } map { @{ $_->{targets} } } @$panels;
	is(scalar(@plotted), scalar(@$panels), 'every panel of Grafana plots a metric');
	is(join(' ', grep { !$metric{$_} } @named, @plotted), '', 'and these metrics are those of the exporter');
}

# ---- doc/errors.md and doc/operating.md: messages of the sources
{
	# Every error that an operator may meet is in doc/errors.md, unless its hint says all.
	my $convert = Page->new('convert/migration.md');
	my %converts = map { $_ => 1 } $convert->headings;
	my $sections = chapter_text($convert, 'Errors of a conversion');
	my %state = messages_of($errors);
	my %hint_says_all = map { utf8::encode($_); $_ => 1 } split /\n/, <<'END';
… cannot have a feed
… exists already
… has no feed
… has no primary key
… ids have no machine id, and this server …
a layout never changes
another server has taken over the ids of this data directory
another version of snowflake_ids has created the shared memory of this server
a feed cannot be read by an index of the method …
argument must not be null: …
cannot create a BRIN index on domain …
cannot generate … ids
cannot generate … ids during recovery
cannot generate … ids in a parallel worker
cannot generate … ids: the clock is …
cannot stamp the rows of "…" for its feed
cannot wait for rows in a transaction that does not see what others commit
column … of … exists already
function "…" is for triggers that create_feed() makes
the feed of "…" has no deletions
the feed of … keeps its deletions
the primary key of … has a column with a name that its feed needs
… is a partition
could not generate random values
could not write ceiling file "…": …
gave up waiting for relation "snowflake_ids.…" of extension snowflake_ids after … ms
permission denied to restore layouts
this server has no room for another generator
too many explicit generators in this database
too many explicit generators on this server
extension snowflake_ids cannot be installed in schema snowflake_ids
floor is below ids that have been generated
floor is in the past, and the server does not know which ids were generated
ids of format mastic have no machine id
layout "…" already exists
layout "…" does not exist
layout "…" is in use
layouts have generators of their own
machine id … does not fit a … id
permission denied to use force => true
relation with OID … does not exist
sno sequence bounds are too close
snowflake_ids.machine_id is not set, and this server …
unknown format "…"
must be owner of table …
END
	my $lines = chapter_text($operating, 'Log lines');
	my (%known, @undocumented, @wrong_state, @no_way_out);

	for my $m (Messages::all())
	{
		my $title = "`$m->{message}`";
		$known{ $m->{message} } = 1;
		if ($m->{level} eq 'LOG')
		{
			push @undocumented, "$m->{file}: $m->{message}" if index($lines, "- $title: ") < 0;
			next;
		}
		my $operational =
		  $m->{file} =~
		  /^(generator|claim_numbers|set_up|layout_generate|writer|issue_limit|advance_generators|reset_generators)\.cpp$
			|^(shared_ledger|ceiling_in_file|ceiling_in_wal|extension_relation|machine_id|refused_settings|entropy)\.cpp$/x
		  && $m->{level} eq 'ERROR';
		push @no_way_out, "$m->{file}: $m->{message}" if $operational && !$m->{hint};
		next unless $m->{hint} || $operational;
		push @undocumented, "$m->{file}: $m->{message}"
		  unless exists $state{ $m->{message} } || $hint_says_all{ $m->{message} } || $m->{convert};
		next unless $m->{sqlstate} && $m->{level} eq 'ERROR';
		push @wrong_state, "$m->{message}: $m->{sqlstate}"
		  if exists $state{ $m->{message} } && $state{ $m->{message} } ne $m->{sqlstate}
		  || $converts{$title} && $sections !~ /^### \Q$title\E\n\n\($m->{sqlstate}\)/m;
	}
	cmp_ok(scalar(keys %known), '>', 30, 'messages were found in the sources');
	is( join("\n", @undocumented),
		'',
		'every error with a hint or of the ledger is in doc/errors.md, or its hint says all; every log line is in the list'
	);
	is(join("\n", @wrong_state), '', 'with its SQLSTATE');
	is(join("\n", @no_way_out), '', 'every error of the generators and their files has a hint');
	is( join("\n",
			(grep { !$known{$_} } sort keys %hint_says_all),
			(grep { $hint_says_all{$_} } sort keys %state),
			(grep { /^`(.*)`$/ && !$known{$1} } $convert->headings),
			(grep { !$known{$_} && !servers_own($_) } sort keys %state)),
		'',
		'no message is gone, or in both lists');
}

# ---- doc/errors.md: messages of PostgreSQL itself
{
	$server->safe_psql('postgres', 'CREATE DATABASE never_created');
	$server->safe_psql('operated', 'CREATE TABLE event (id sno DEFAULT gen_sno()) PARTITION BY RANGE (id)');
	my $page = Page->new('doc/errors.md');
	my %state = messages_of($page);
	$server->safe_psql('operated', 'CREATE ROLE event_reader');
	my $id = q{'9q99v4p624ppi223'::text};
	for (
		[   'A bigint, gid, uuid or equality with a time',
			'operated',
			'SELECT 5::bigint >= now()',
			q{SELECT gen_gid('log') >= now()},
			'SELECT gen_uuid7() >= now()',
			'SELECT gen_sno() = now()' ],
		[   'A time read as an id', 'operated', q{SELECT gen_sno() >= '2026-01-01'},
			q{SELECT 5::bigint >= '2026-01-01'} ],
		[   'A text or a number in place of an id',
			'operated',
			"SELECT FROM event WHERE id = $id",
			"SELECT FROM event WHERE id = $id\::varchar",
			"INSERT INTO event (id) VALUES ($id)",
			"INSERT INTO event (id) VALUES ($id\::varchar)",
			'SELECT FROM event WHERE id = 5',
			'INSERT INTO event (id) VALUES (5)' ],
		[   'Calculating with an id, or searching in its text',
			'operated',
			'SELECT gen_mastic() + 1',
			q{SELECT FROM event WHERE id LIKE '9q%'} ],
		[ 'The extension is not in the database', 'never_created', 'CREATE TABLE event (id sno)' ],
		[   'Other messages of PostgreSQL',
			'operated',
			'INSERT INTO event DEFAULT VALUES',
			q{CREATE TABLE of_today PARTITION OF event FOR VALUES FROM (timestamptz '2026-11-01') TO (MAXVALUE)},
			'SET ROLE event_reader; SELECT gen_sno_at(now(), 0)',
			'BEGIN; CREATE TABLE read_later (id int PRIMARY KEY);'
			  . q{SELECT snowflake_ids.create_feed('read_later'); GRANT SELECT ON read_later TO event_reader;}
			  . q{SET LOCAL ROLE event_reader; SELECT FROM read_later_feed('')},
			'BEGIN; CREATE TABLE stampless (id int PRIMARY KEY);'
			  . q{SELECT snowflake_ids.create_feed('stampless'); ALTER TABLE stampless DISABLE TRIGGER USER;}
			  . 'INSERT INTO stampless VALUES (1)',
			'DROP EXTENSION snowflake_ids',
			'CREATE TEMP TABLE numbered (id integer); ALTER TABLE numbered ALTER id TYPE sno',
			'CREATE TEMP TABLE numbered (id integer); ALTER TABLE numbered ALTER id TYPE sno USING id::sno' ])
	{
		my ($title, $db, @statements) = @$_;
		my ($text) = $page->text =~ /^### \Q$title\E\n(.*?)(?=^##|\z)/ms;
		my %expected = map { $_ => 1 } grep { index($text, $_) >= 0 && !/^unrecognized/ } keys %state;    # came above
		my %came;
		for (@statements)
		{
			my ($rc, $out, $err) = $server->psql($db, "\\set VERBOSITY verbose\n$_");
			my ($sqlstate, $said) = $err =~ /ERROR:  (\w{5}): (.*)\n/;
			my ($message) = grep {
				my $is = join '.*', map { quotemeta } split /\xe2\x80\xa6/, $_, -1;
				$said =~ /^$is$/
			} keys %expected;
			ok(defined $message, "$title: $_ has a message of this section") or diag $err;
			is($sqlstate, $state{ $message // '' }, "$title: and its SQLSTATE");
			$came{ $message // '' } = 1;
		}
		is(join(', ', grep { !$came{$_} } sort keys %expected), '', "$title: the messages of the section come");
	}
	is( $server->safe_psql(
			'operated', "SELECT count(*) FROM event WHERE id = $id\::sno OR id = ANY (ARRAY[$id]::sno[])"),
		'0',
		'the casts help');
}

# ---- doc/pictures/formats.svg and layouts.svg: each built-in layout, with an example id
{
	my $picture = text_of('doc/pictures/formats.svg');
	my ($moment) = $picture =~ />(20[\d-]+ [\d:.]+), tick-tock/;
	my %drawn = text_of('doc/pictures/layouts.svg') =~ m{class="t-ink">([^<]+)</text>\n<text [^>]*>(\d+)</text>}g;
	my ($mastic) = $picture =~ m{>Mastic<.*?class="m b t-ink">(\d+)<}s;
	my ($si) = $picture =~ m{>Snowflake-SI<.*?class="m b t-ink">(\d+)<}s;
	my ($sno) = $picture =~ m{class="m b t-ink">(\w{16})<};
	my ($gid) = $picture =~ m{class="m b t-ink">(\w{10}-\w{13})<};
	%drawn = (%drawn, mastic => $mastic, snowflake_si => $si);
	my $ids = join ', ', map { sprintf q{('%s', %s)}, s/'/''/gr, $drawn{$_} } sort keys %drawn;
	my $other = $server->safe_psql('operated', <<"END");
SELECT name FROM snowflake_ids.layouts LEFT JOIN (VALUES $ids) AS drawn (name, id) USING (name)
WHERE NOT created
    AND (snowflake_timestamp(id, name) <= '$moment UTC' AND snowflake_timestamp(id, name) + tick > '$moment UTC') IS NOT TRUE
END
	is($other, '', 'formats.svg and layouts.svg have each built-in layout, with an id of this time');
	my $types = "sno_timestamp('$sno') = '$moment UTC', gid_timestamp('$gid') = '$moment UTC'";
	is($server->safe_psql('operated', "SELECT $types"), 't|t', 'and a sno and a gid of this time');
}

# ---- README.md and all pages
{
	my $db = 'catalog';
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids_convert CASCADE; SELECT gen_sno()');
	my $readme = text_of("README.md");
	my %pages =
	  map { s{^\Q$root\E/}{}r => text_of(s{^\Q$root\E/}{}r) } glob "$root/doc/*.md $root/doc/*/*.md $root/convert/*.md";
	$pages{'README.md'} = $readme;
	$pages{'AGENTS.md'} = text_of('AGENTS.md');

	my %exists = map { $_ => 1 } grep { $_ ne '' } split /\n/, $server->safe_psql($db, <<'END');
SELECT FROM snowflake_ids.status();
SELECT proname FROM pg_proc UNION SELECT relname FROM pg_class UNION SELECT typname FROM pg_type
UNION SELECT extname FROM pg_extension UNION SELECT opcname FROM pg_opclass UNION SELECT replace(name, 'snowflake_ids.', '') FROM pg_settings
UNION SELECT unnest(proargnames) FROM pg_proc UNION SELECT 'snowflake_ids.' || proname FROM pg_proc WHERE pronamespace = 'snowflake_ids'::regnamespace
UNION SELECT 'snowflake_ids.' || relname FROM pg_class WHERE relnamespace = 'snowflake_ids'::regnamespace UNION SELECT name FROM pg_settings UNION SELECT attname FROM pg_attribute WHERE attrelid = 'snowflake_ids.stats'::regclass
END
	for my $path (sort keys %pages)
	{
		my $prose = $pages{$path} =~ s/^```.*?^```$//msgr;
		my @named =
		  map {
			/\b((?:(?:gen|sno|gid|uuid7|mastic|make|snowflake_si|snowflake_ids)_|snowflake_ids\.)[a-z_]*[a-z])\b(?!\.[chst])/g
		  } $prose =~ /`([^`\n]+)`/g;
		my %missing =
		  map { $_ => 1 }
		  grep {
			!$exists{$_} && !/^(sno_decoder|sno_as|snowflake_ids\.(ceiling|ledger|control|so|spec|sql|machin_id))$/
		  } @named;
		is(join(' ', sort keys %missing), '', "$path names what exists (" . @named . ' names)');
	}

	# What a feed costs its writers: doc/feed.md rounds what was measured.
	{
		my @trials =
		  $pages{'doc/feed-ways.md'} =~
		  /^\| `create_feed\(\)`, woken by `wait_feed\(\)` \| \**([\d.]+)(?:–([\d.]+))?\** \|/mg;
		my ($least, $most) = @trials[ -2, -1 ];
		my $middle = ($least + ($most // $least)) / 2;
		like(
			$pages{'doc/feed.md'},
			qr/to about three quarters of their transactions per second/,
			'feed.md: a feed costs writers');
		cmp_ok(abs($middle - 0.75), '<', 0.07, "which were $middle of those without it");
	}

	# What doc/formats.md names as the proof of a rule is there.
	{
		my @rules = grep { !/^\| the document / } $pages{'doc/formats.md'} =~ /^(\| .*) \|$/mg;
		my $unit = join '', map { slurp_file($_) } glob "$root/test/unit/*.cpp";
		my @nowhere;
		for my $rule (@rules)
		{
			my @proofs = $rule =~ /.* \| (.*)$/ ? $1 =~ /`([^`]+)`/g : ();
			push @nowhere, "no proof: $rule" unless @proofs;
			push @nowhere, grep {
					/^(\w+)\.(tsv|sql)$/ ? !-e ($2 eq 'tsv' ? "$root/test/vectors/$_" : "$root/sql/$_")
				  : /^(\w+)\.(\w+)$/     ? $unit !~ /^TEST\($1, $2\)/m
				  : 1
			} @proofs;
		}
		cmp_ok(scalar(@rules), '>', 30, 'rules of the formats were found');
		is(join("\n", @nowhere), '', 'doc/formats.md: each rule has a proof, and it is there');
	}

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

	$server->safe_psql('postgres', 'CREATE DATABASE reference');
	my $bindir = $server->config_data('--bindir');
	{
		local %ENV = (%ENV, $server->_get_env, PGDATABASE => 'reference', PATH => "$bindir:$ENV{PATH}");
		my ($made, $err) = run_command(["$root/tools/reference"]);
		utf8::decode($made);
		is(join(' ', $made =~ /(\S+\(""[^)]*\))/g), '', 'arguments without a name are shown by their type alone');
		is("$made\n", $pages{'doc/reference.md'}, 'the reference is current (make reference writes it)') or diag $err;
	}

	# The Debian package checks its copies with the same program.
	{
		my ($said) = run_command([ "$root/tools/lint", "links", map { "$root/$_" } sort keys %pages ]);
		is($said, '', 'no link is dead');
		is($?, 0, 'and links were found');
	}

	my %mapped = map { $_ => 1 } $readme =~ /\]\(([\w.\/-]+\.md)[#)]/g;
	is(join(' ', grep { !$mapped{$_} && $_ ne 'README.md' } sort keys %pages), '', 'every page is in README.md');

	for my $path (sort keys %pages)
	{
		my $page = Page->new($path);
		my %by = map { (Page::script_of($path, $_->{heading}) // "nobody: $_->{name}") => 1 } $page->commands;
		my @not = grep {
			my $by = $_;
			my ($file) = map { s{^\Q$root/\E}{}r } grep { -e } glob "$root/{test/server/*,convert/test}/$by.pl";
			my $text = $file ? text_of($file) : '';
			$text !~ /Page->new\('\Q$path\E'\)/ || $text !~ /->all_run;/
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
				grep { $_ ne '' && !$there{$path}{$_} } keys %{ $Page::run_by{$path} }
			} grep { ref $Page::run_by{$_} } keys %Page::run_by),
		'',
		'no script is named for a heading that is gone');

	$pages{$_} = text_of($_) for 'CONTRIBUTING.md', 'src/README.md';
	my %target = map { $_ => 1 } make_targets();
	ok($target{demo} && $target{install} && !$target{nonsense}, 'targets of the Makefile were found: ' . keys %target);
	my ($commands, @wrong) = (0);
	for my $path (sort keys %pages)
	{
		# No blocks of programs and settings, nor what is between backquotes.
		my $text = $pages{$path};
		my @said;
		while ($text =~ /^```(\w*)\n(.*?)^```$/msg) { push @said, $2 if $1 eq '' || $1 eq 'sh' }
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
				push @wrong, "$path: $file" unless -e "$root/$file";
				push @wrong, "$path: $file is no program" if $file =~ m{^(tools|\.ci)/[\w-]+$} && !-x "$root/$file";
			}
		}
	}
	cmp_ok($commands, '>', 40, 'commands and files were found');
	is(join("\n", @wrong), '', 'what the pages ask of make is there, so are programs and files that they name');

	# Files and functions of src/README.md exist. A file without a directory is in that of the file before it.
	my ($functions, @lost) = (0);
	for my $answer (grep { /^(?:-|\d+\.) / } split /^(?=- |\d+\. |#)/m, $pages{'src/README.md'})
	{
		my ($dir, $sources, @called) = ('', '');
		for my $named ($answer =~ /`([^`]+)`/g)
		{
			push @called, $1 if $named =~ /^(\w+)\(\)$/;
			next unless $named =~ m{^[\w*-]*[/.][\w./*-]*$};
			my $path = $named =~ m{/} ? $named : "$dir$named";
			my @there = grep { -e } glob "$root/$path";
			push @lost, $path unless @there;
			$dir = -d "$root/$path" ? "$path/" : $path =~ s{[^/]*$}{}r;
			$sources .= slurp_file($_) for grep { -f } @there;
		}
		$functions += @called;
		push @lost, map { "$_()" } grep { $sources !~ /\b$_\(/ } @called;
	}
	cmp_ok($functions, '>', 10, 'functions in src/README.md were found');
	is(join("\n", @lost), '', 'the files and functions of its answers are there');
}

sub text_of { my $text = slurp_file("$root/$_[0]"); utf8::decode($text); return $text }

# By its own word: it is asked for what does not exist, so that nothing runs.
sub make_targets
{
	my ($out) = run_command([ 'make', '-C', $root, '-pRrn', '--no-print-directory', 'no-such-target' ]);
	$out =~ s/^# Not a target:\n.*\n//mg;
	return $out =~ /^([a-z][\w-]*)::?(?!=)/mg;
}

# With their SQLSTATEs, if they do not depend on the system's error.
sub messages_of
{
	my ($page) = @_;
	my %state;
	for my $block (grep { $_->{language} eq '' } @{ $page->{blocks} })
	{
		/^(?:([0-9A-Z]{5})  )?(.+)$/ and $state{$2} = $1 // '' for split /\n/, $block->{content};
	}
	my ($own) = $page->text =~ /^### Other messages of PostgreSQL\n(.*?)^##/ms;
	$state{$1} = $2 while $own =~ /`([^`]+)` \((\w{5})\)/g;
	return %state;
}

sub servers_own
{
	my ($message) = @_;
	return $message =~ /^(?:
		invalid\ input\ syntax|operator\ does\ not\ exist|column\ "id"|function\ gen_sno|type\ "sno"|cannot\ cast\ type
		|no\ partition|specified\ value|cannot\ drop\ extension|unrecognized\ config|permission\ denied\ for\ (function|table)|null\ value|could\ not\ (resize|open)\ shared
		|too\ many\ dynamic|not\ enough\ shared|invalid\ page|could\ not\ read\ block|schema\ "snowflake_ids")/x;
}

sub chapter_text
{
	my ($page, $title) = @_;
	return $page->text =~ /^## \Q$title\E\n(.*?)(?=^## |\z)/ms ? $1 : die "no chapter named $title";
}

$server->stop;
done_testing();
