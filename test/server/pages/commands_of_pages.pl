# Runs the commands of README and of pages, which no other script runs.
use Servers;
use utf8;
use Page;
use PostgreSQL::Test::Utils;

my $server = plain_server('docs', allows_streaming => 1);

# ---- README.md, in one database, with psql's tables as shown
{
	my $page = Page->new('README.md');
	my $db = 'readme';
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$page->run_chapter($server, $_, dbname => $db, tables => 1)
	  for grep { $page->blocks($_, 'sql') } '', $page->chapters;
	$page->all_run;

	my @queries =
	  map { s/\s+/ /gr } map { $_->{content} =~ /^(SELECT [^;]*\sWHERE id >= [^;]*);/mg } $page->blocks('', 'sql');
	is(scalar(@queries), 1, 'README: a query by time');
	like(
		$server->safe_psql($db, "EXPLAIN (COSTS OFF) $_"),
		qr/Scan.* using account_pkey on account\n +Index Cond: /,
		"README: an index range scan: $_") for @queries;
}

# ---- doc/queries.md, whose conditions on times are also left out
{
	my $page = Page->new('doc/queries.md');
	how_to($server, $page);
	my $said = sub { $server->safe_psql('doc_queries_md', $_[0]) };
	my ($query, $old) = $page->text =~ /^(SELECT count.* FROM shopper WHERE n < .*;)  -- the old rows: (\d+)$/m;
	is($said->($query), $old, 'old rows, told from those with Mastic ids');
	cmp_ok($said->('SELECT count(*) FROM shopper WHERE n < mastic_lower_bound(now())::bigint'),
		'>=', $old, 'old rows are below every bound');
	cmp_ok($said->(q{SELECT count(*) FROM invoice WHERE id >= uuid7_lower_bound(now() - interval '1 day')}),
		'>', 9000, 'a bound alone returns nearly all of the old random ids');

	# The back-fill runs against time: two rows of each millisecond, so eight have one tick.
	my (undef, $fill) = map { $_->{content} }
	  grep { $_->{heading} eq 'Add an id to an existing table' } $page->blocks('Add an id to an existing table', 'sql');
	my $in_order = "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id <= previous), count(*) FILTER
				(WHERE sno_timestamp(id) <> date_bin('4 ms', created_at, '2010-01-01 00:00+00'))
				FROM (SELECT *, lag(id) OVER (ORDER BY created_at, n) AS previous FROM visitor) AS s";
	my $filled = sub {
		my ($db, $rows) = @_;
		$server->safe_psql('postgres', "CREATE DATABASE $db");
		$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids');
		my ($rc, undef, $err) = $server->psql($db, $rows, on_error_stop => 1);
		is("$rc $err", '0 ', "$db: filled as the page says");
		return $server->safe_psql($db, $in_order);
	};
	my $downwards = $fill;
	$downwards =~ s/now\(\) - n \* interval '1 hour'/now() - n * interval '0.5 ms'/ or die;
	is($filled->('downwards', $downwards),
		'1000|1000|0|0', 'ids of one tick are in the order of their times, not of their numbers');

	my $at_once = $fill;
	$at_once =~ s/now\(\) - n \* (interval '1 hour')/now() - $1/ && $at_once =~ s/\b1000\b/200000/g or die;
	is($filled->('at_once', $at_once),
		'200000|200000|0|0', '200,000 rows of one time have as many ids, in their order and with their time');
	my ($newest) = $page->text =~ /^(SELECT name FROM invoice\n.*?;)$/ms;
	like(
		$said->("ANALYZE invoice; EXPLAIN (COSTS OFF) $newest"),
		qr/^Index Scan Backward using invoice_pkey .*\n +Index Cond: .* >= .* < /,
		'two bounds are a range of the index');
}

# ---- doc/choosing.md, and the years of its table
{
	my $page = Page->new('doc/choosing.md');
	how_to($server, $page);
	my $years =
	  "SELECT string_agg(date_part('year', first AT TIME ZONE 'UTC') || ', ' || date_part('year', last AT TIME ZONE 'UTC'), ' | ')
		FROM (VALUES (sno_timestamp('2222222222222222'), sno_timestamp('xxxxxxxxxxxxxxxx')),
			(mastic_timestamp('0'), mastic_timestamp('18446744073709551615')),
			(snowflake_si_timestamp(0), snowflake_si_timestamp(9007199254740991))) AS format (first, last)";
	my $db = $page->{path} =~ s/\W/_/gr;
	my ($row) = $page->text =~ /^\| first and last year \| (\d+, \d+ \| \d+, \d+ \| \d+, \d+) \|/m;
	is($server->safe_psql($db, $years), $row, 'the first and last years of sno, mastic and Snowflake-SI');
}

# ---- how-to pages, a database each
how_to($server, $_) for Page->new('AGENTS.md'), Page->new('doc/layouts.md'), Page->new('doc/feed.md');

# ---- doc/errors.md: a setting before the library is loaded
{
	my $page = Page->new('doc/errors.md');
	my ($message) = $page->text =~ /^- `(unrecognized .*?)` \(42704\)/m;
	my ($load) = $page->text =~ /Run\s+`(LOAD .*?)` first/;
	my ($rc, $out, $err) = $server->psql('postgres', 'SHOW snowflake_ids.machine_id');
	like($err, qr/ERROR:  \Q$message\E$/, 'the message is that of the page');
	is($server->safe_psql('postgres', "$load; SHOW snowflake_ids.machine_id"), -1, 'what it says helps');
}

# ---- doc/backups.md: its table is restored from a dump on another server, with an automatic and a set machine id. The
# old ids are ahead of the clock, so new ones are above them only after the observe functions. Snos with another machine
# id need none.
{
	my $page = Page->new('doc/backups.md');
	my ($table) = $page->blocks('The example table', 'sql');
	my @steps = grep { $_->{heading} eq 'A restored dump' } $page->blocks('What to do', 'sql');
	my @grant = grep { $_->{content} =~ /GRANT/ } @steps;
	my ($observe, $check) = grep { $_->{content} !~ /GRANT/ } @steps;
	my %node = map { $_ => PostgreSQL::Test::Cluster->new("dump_$_") } qw(old new);
	for my $node (values %node)
	{
		$node->init;
		$node->start;
		$node->safe_psql('postgres', 'CREATE ROLE shop_owner LOGIN');
	}
	for my $case ([ 'automatic', 'automatic|0', 20 ], [ 'set', '7|7', 50 ])
	{
		my ($name, $machine_id, $ahead) = @$case;
		for my $node (values %node)
		{
			$node->append_conf('postgresql.conf', 'snowflake_ids.machine_id = 7') if $name eq 'set';
			$node->restart;
			$node->safe_psql('postgres', "CREATE DATABASE $name OWNER shop_owner");
		}
		my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
		$node{old}->safe_psql($name, "SET ROLE shop_owner; CREATE EXTENSION snowflake_ids; $table->{content}");
		$node{old}->safe_psql($name, <<"END");
SELECT mastic_observe(make_mastic(now() + interval '$ahead s', 0)),
    snowflake_si_observe(make_snowflake_si(now() + interval '$ahead s', narrow_machine_id, 0)),
    snowflake_observe('twitter', make_snowflake('twitter', now() + interval '$ahead s', narrow_machine_id, 0)),
    CASE machine_id WHEN 7 THEN sno_observe(make_sno(now() + interval '$ahead s', 0, 7, 0)) END
FROM snowflake_ids.status();
INSERT INTO shop_order SELECT FROM generate_series(1, 100);
END
		$node{old}->command_ok([ 'pg_dump', '-f', $dump, $name ], "$name: dumped");
		$node{new}->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-U', 'shop_owner', '-f', $dump, $name ],
			"$name: restored by the owner of the database");
		is( $node{new}->safe_psql(
				$name,
				q{SELECT CASE WHEN machine_id = 7 THEN '7' WHEN machine_id >= 32768 AND machine_id <> sno_partition(id) THEN 'automatic'
					ELSE format('%s, old %s', machine_id, sno_partition(id)) END, narrow_machine_id
				FROM snowflake_ids.status(), (SELECT max(id) FROM shop_order) AS old (id)}
			),
			$machine_id,
			"$name: the machine id");
		$node{new}->safe_psql($name, $_->{content}) for @grant;
		is( ($node{new}->psql($name, $observe->{content}, on_error_stop => 1, extra_params => [ '-U', 'shop_owner' ]))
			[2],
			'',
			"$name: the owner calls the observe functions");
		is($node{new}->safe_psql($name, $check->{content}) . "\n",
			$check->{output}, "$name: new ids are above the old ones");
		$node{new}->safe_psql($name, 'INSERT INTO shop_order SELECT FROM generate_series(1, 100)');
	}

	my $dump = PostgreSQL::Test::Utils::tempdir() . '/one_table';
	$node{old}->command_ok([ 'pg_dump', '-t', 'shop_order', '-f', $dump, 'set' ], 'one table is dumped');
	$node{new}->safe_psql('postgres', "CREATE DATABASE $_") for qw(no_extension extension);
	my @restore = ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump);
	$node{new}->command_fails_like(
		[ @restore, 'no_extension' ],
		qr/type "public\.sno" does not exist/,
		'not without the extension');
	$node{new}->safe_psql('extension', 'CREATE EXTENSION snowflake_ids');
	$node{new}->command_ok([ @restore, 'extension' ], 'with the extension it is restored');
	$_->stop for values %node;
}

# ---- the pages for operators, in one database
{
	my $operating = Page->new('doc/operating.md');
	my $backups = Page->new('doc/backups.md');
	my $errors = Page->new('doc/errors.md');
	my $db = 'operated';
	my $said = sub { $server->safe_psql($db, $_[0]) };
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$operating->run_chapter($server, 'Creating the extension', dbname => $db);
	$server->safe_psql('postgres', 'CREATE ROLE shop_owner LOGIN');
	$server->safe_psql('postgres', 'CREATE DATABASE shop OWNER shop_owner');
	is( $server->safe_psql(
			'shop',
			'CREATE EXTENSION snowflake_ids; SELECT gen_sno() IS NOT NULL',
			extra_params => [ '-U', 'shop_owner' ]),
		't',
		'an ordinary user who may create creates it');

	$operating->run_chapter($server, 'Privileges', dbname => $db);
	my ($conf) = $operating->blocks('Settings', 'conf');
	$server->append_conf('postgresql.conf', $conf->{content});
	$server->reload;
	$server->poll_query_until($db, 'SELECT machine_id = 7 FROM snowflake_ids.status()');
	$operating->run_chapter($server, 'Settings', dbname => $db);

	my $alerts = sub {
		$operating->run_chapter($server, 'Two queries', dbname => $db);
		return join "\n", map { $_->{said} || () } $operating->blocks('Two queries', 'sql');
	};
	$said->('SELECT gen_sno(), gen_mastic(), gen_snowflake_si()');
	is($alerts->(), '', 'no alert');
	$said->("SELECT mastic_observe(make_mastic(now() + interval '1 hour', 0), force => true); SELECT gen_mastic()");
	like(
		$alerts->(),
		qr/^critical\|mastic\|0\|ids are 3\d{6} ms ahead of the clock$/,
		'ids ahead of the clock: an alert');
	$said->("SELECT snowflake_ids.reset(now(), 'mastic', force => true)");
	is($alerts->(), '', 'and none after it is mended');
	$server->restart;
	cmp_ok($said->('SELECT extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp())'),
		'<', 10, 'the other generators were not led there');

	$operating->run_chapter($server, $_, dbname => $db) for 'What to plot', 'Wait events';
	{
		# Slow storage: the longer window needs no restart.
		ok(eventually(sub { $said->("LOAD 'snowflake_ids'; SHOW snowflake_ids.durable_window") eq '10s' }),
			'the window is longer');
		$said->('SELECT gen_mastic()');
		cmp_ok(
			$said->(
				q{SELECT extract(epoch FROM durable_until - clock_timestamp()) FROM snowflake_ids.stats WHERE format = 'mastic'}
			),
			'>', 7.5,
			'and a ceiling is raised so far, without a restart');
		$said->("LOAD 'snowflake_ids'; ALTER SYSTEM RESET snowflake_ids.durable_window; SELECT pg_reload_conf()");
	}
	$operating->take('Feeds', 'sql');    # feeds_operated runs them
	$said->(<<'END');
CREATE TABLE reader (name text, position text);
INSERT INTO reader VALUES ('search', '');
CREATE TABLE headline (id bigserial PRIMARY KEY, body text);
SELECT count(*) FROM snowflake_ids.create_feed('headline');
END
	$backups->run_chapter($server, $_, dbname => $db) for 'The example table', 'What to do';
	my ($unset) = $operating->blocks('Two queries', 'sql');

	# Calls wait for the clock only if somebody has set that.
	{
		my ($hold) =
		  map { $_->{content} } grep { $_->{content} =~ /clock_regression/ } $errors->blocks('Errors', 'sql');
		my $title = 'An id takes too long, or the clock went back';
		my $waits = sub { return ($server->psql($db, 'SET snowflake_ids.max_wait = 0; SELECT gen_mastic() > 0'))[2] };
		my $becomes = sub {
			my ($value) = @_;
			return eventually(sub { $said->("LOAD 'snowflake_ids'; SHOW snowflake_ids.clock_regression") eq $value });
		};
		$said->("SELECT mastic_observe(make_mastic(now() + interval '50 s', 0)), gen_mastic()");
		is($waits->(), '', "$title: by default, no call waits for the clock");
		$said->($hold =~ s/'hold'/'wait'/r);
		$becomes->('wait');
		like($waits->(), qr/gave up waiting.*\nDETAIL:  The clock is behind/,
			'with "wait", the detail names the clock');
		$said->($hold);
		$becomes->('hold');
		is($waits->(), '', 'after what the page says to type, none waits');
		$said->("SELECT snowflake_ids.reset(now(), 'mastic', force => true)");
	}
	$errors->run_chapter($server, 'Errors', dbname => $db);

	$errors->take('The lock on the ceiling file', 'sh');

	$server->adjust_conf('postgresql.conf', 'snowflake_ids.machine_id', undef);
	$server->restart;
	is($said->($unset->{content}), 'warning|machine id is not set', 'machine id not set: an alert');
	$server->append_conf('postgresql.conf', 'snowflake_ids.machine_id = 7');
	$server->restart;

	# The copy has its own machine id, also if the original's is from ALTER SYSTEM.
	$said->("LOAD 'snowflake_ids'; ALTER SYSTEM SET snowflake_ids.machine_id = 7");
	my $dir = PostgreSQL::Test::Utils::tempdir();
	$backups->run_sh('What to do', $dir, PGHOST => $server->host, PGPORT => $server->port);
	my $copy = PostgreSQL::Test::Cluster->new('copy');
	rmdir $copy->data_dir;
	rename "$dir/copy", $copy->data_dir or die $!;
	$copy->append_conf('postgresql.conf', 'port = ' . $copy->port);
	$copy->start;
	is($copy->safe_psql($db, 'SELECT sno_partition(gen_sno())'), 8, 'the copy has its machine id');
	$copy->stop;

	$_->all_run for $operating, $backups, $errors;
}

# ---- doc/errors.md: the extension is in a schema that a session does not search
{
	my $db = 'elsewhere';
	my $page = Page->new('doc/errors.md');
	my $message = 'function gen_sno() does not exist';
	my ($set) = $page->text =~ /Add it after your schemas:\s+`(SET search_path = .*?)`/;
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db,
		'CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids; CREATE TABLE parted AS SELECT ids.gen_sno() AS id'
	);
	my ($grant) = $page->text =~ /may\s+use\s+the\s+schema:\s+`(GRANT .*?)`/;
	my $query = 'SELECT count(*) FROM parted WHERE id > gen_sno()';
	my $as_app = 'SET SESSION AUTHORIZATION app';
	$server->safe_psql($db, 'CREATE ROLE app')
	  unless $server->safe_psql($db, q{SELECT count(*) FROM pg_roles WHERE rolname = 'app'});
	$server->safe_psql($db, 'GRANT SELECT ON parted TO app');
	my $refused = sub { my ($rc, $out, $err) = $server->psql($db, $_[0]); return $err };
	like($refused->($query), qr/ERROR:  \Q$message\E\n/, 'the message is that of the page');
	is($server->safe_psql($db, "$set; $query"), '0', 'what it says helps');
	like($refused->("$as_app; $set; $query"), qr/ERROR:  \Q$message\E\n/, 'not a role that may not use the schema');
	is($server->safe_psql($db, "$as_app; $set; SELECT 'ids' = ANY (current_schemas(true))"), 'f',
		'the server skips it');
	is($server->safe_psql($db, "$grant; $as_app; $set; $query"), '0', 'but after the grant');
}

sub how_to
{
	my ($on, $page, %options) = @_;
	my $db = lc $page->{path} =~ s/\W/_/gr;
	$on->safe_psql('postgres', "CREATE DATABASE $db");
	$on->safe_psql($db, 'CREATE EXTENSION snowflake_ids');
	$page->run_chapter($on, $_, dbname => $db, %options)
	  for grep { $page->blocks($_, 'sql') && (Page::script_of($page->{path}, $_) // '') eq 'commands_of_pages' } '',
	  $page->chapters;
	$page->all_run;
	return;
}

$server->stop;
done_testing();
