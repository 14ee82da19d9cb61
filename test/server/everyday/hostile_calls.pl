# Every function, operator, cast and type, called as an ordinary role with all that it can think of
# (lib/hostile_calls.sql). The server survives, nothing is written, and no error is internal.
use Servers;
use FindBin;
use JSON::PP;
use Quick;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time);

# In ms, on a busy machine, perhaps under a checker.
my $slow = 30000;

my $node = plain_server('hostile', allows_streaming => 1, conf => <<'END');
snowflake_ids.machine_id = 5
max_parallel_workers = 8
restart_after_crash = on
log_error_verbosity = verbose
END
$node->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
$node->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids_convert');
$node->safe_psql('postgres', slurp_file("$FindBin::RealBin/../lib/hostile_calls.sql"));
$node->safe_psql('postgres', <<'END');
CREATE ROLE stranger LOGIN;
CREATE ROLE granted LOGIN;
CREATE SCHEMA own AUTHORIZATION stranger;
SELECT format('GRANT EXECUTE ON ROUTINE %s TO granted', signature) FROM hostile.function \gexec
END
my $standby = PostgreSQL::Test::Cluster->new('standby');
$node->backup('base');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

# The functions, operators, casts and types whose turn it is.
sub turn
{
	my ($name) = @_;
	return whole() ? 'true' : "hashtext($name\::text) % 16 = 0";
}

my $born = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my %total;

sub session
{
	my ($what, $script, %o) = @_;
	my $server = $o{server} // $node;
	local $ENV{PGOPTIONS} = '-c client_min_messages=error -c statement_timeout=60s ' . ($o{options} // '');
	my ($out, $err) = ('', '');
	my $rc = $server->psql(
		'postgres', "$script\n\\echo the end\n",
		stdout => \$out,
		stderr => \$err,
		on_error_stop => 0,
		extra_params => [ '-q', '-U', $o{role} // 'stranger', '-v', 'VERBOSITY=verbose' ]);
	ok($rc == 0 && $out =~ s/the end\n?\z//, "$what: the session lived on") or diag substr($err, -2000);
	return wantarray ? ($out, $err) : $out;
}

sub sweep
{
	my ($what, %o) = @_;
	my ($depth, $forms, $undo, $which) =
	  ($o{depth}, $o{forms} // 'both', $o{undo} ? 'true' : 'false', $o{which} // turn('signature'));
	my $turn = turn('object');
	my $try = "SELECT to_jsonb(o) || jsonb_build_object(''object'', %L::text) FROM hostile.try(ARRAY(%s), $undo) AS o";
	my $script =
	  "SELECT format('$try', signature::text, format('SELECT hostile.calls(%s, $depth, %L)', oid, '$forms')) FROM hostile.function WHERE $which ORDER BY proname ~ '^gen_' DESC, oid \\gexec\n";
	$script .=
	  "SELECT format('$try', object, format('SELECT sql FROM hostile.expression WHERE object = %L', object)) FROM hostile.expression WHERE $turn GROUP BY object ORDER BY 1 \\gexec\n"
	  if $o{expressions};
	my $start = time;
	my ($out, $err) = session($what, $script, %o);
	is($err, '', "$what: every batch of calls came to its end");
	my (%objects, %states, @internal, @slow, @wrote);
	my $calls = 0;

	for (split /\n/, $out)
	{
		my $r = decode_json($_);
		$objects{ $r->{object} }++;
		$calls += $r->{calls};
		$states{ $r->{state} } += $r->{calls};
		my $said = "$r->{object}: $r->{example}: $r->{state} " . ($r->{message} // '');
		push @internal, $said
		  if $r->{state} =~ /^(XX|2F|20000|P0004)/
		  or ($r->{message} // '') =~ /cache lookup failed/;
		push @slow, "$said, $r->{slowest_ms} ms" if $r->{slowest_ms} > $slow;
		push @wrote, $said if $r->{state} eq 'wrote';
	}
	is(join("\n", @internal), '', "$what: no internal error");
	is(join("\n", @slow), '', "$what: no call is slow");
	is(join("\n", @wrote), '', "$what: nothing is written") unless $o{undo};
	cmp_ok($states{done} // 0, '>', $calls / 10, "$what: many calls have a result");
	note sprintf '%-40s %5d objects %6d calls %6d with a result %5.1f s', $what, scalar keys %objects, $calls,
	  $states{done} // 0, time - $start;
	$total{objects}{$_}++ for keys %objects;
	$total{calls} += $calls;
}

my $state = q{
	SELECT format('SELECT %L, count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text)) FROM %s AS t', oid::regclass, oid::regclass) FROM pg_class
	WHERE relkind = 'r' AND (oid IN (SELECT objid FROM hostile.member) OR oid = 'hostile.others'::regclass) ORDER BY oid \gexec
	SELECT format('SELECT %L, count(*) FROM %s', oid::regclass, oid::regclass) FROM pg_class
	WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r' AND relname !~ '^pg_(statistic|subscription|authid|largeobject|user_mapping)' ORDER BY oid \gexec
	SELECT name, setting, source FROM pg_settings WHERE name ~ '^snowflake' ORDER BY 1;
	SELECT name FROM pg_ls_dir('.') AS name ORDER BY 1;
};
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
sub state_of { return scalar session('a look at all', $state, role => $superuser) }

sub changed
{
	my ($before, $after) = @_;
	my %count;
	$count{$_}++ for split /\n/, $after;
	$count{$_}-- for split /\n/, $before;
	return map { ($count{$_} > 0 ? 'now ' : 'before ') . $_ } grep { $count{$_} } sort keys %count;
}
sub ceilings { return $node->safe_psql('postgres', "SELECT md5(pg_read_binary_file('snowflake_ids.ceiling'))") }

# Drawing raises ceilings, which every role may. So does asking for a time that they are past.
my $draws = "proname ~ '^gen_|^pass_now\$'";
$node->safe_psql('postgres', 'SELECT gen_mastic()');    # makes the files
my $before = state_of();
sweep('a stranger, generators', depth => 2, which => $draws);
my $ceilings = ceilings();
sweep('a stranger, the rest', depth => 2, which => "NOT ($draws) AND " . turn('signature'), expressions => 1);
is(ceilings(), $ceilings, 'the ceilings are where they were');
sweep('a stranger, read only', depth => 1, forms => 'constants', options => '-c default_transaction_read_only=on');

$node->wait_for_catchup($standby);
my $standby_born = $standby->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
sweep('a stranger, on a standby', depth => 1, forms => 'constants', server => $standby);
sweep('with all privileges, on a standby', depth => 0, server => $standby, role => 'granted', undo => 1);
like(
	($standby->psql('postgres', "SELECT snowflake_layout_create('acme', '2020-01-01', '10 ms', 40, 8, 14)"))[2],
	qr/cannot execute snowflake_layout_create\(\) during recovery/,
	'no layouts are made on a standby');
is($standby->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
	$standby_born, 'the standby is the same server');

# In parallel workers, those that may run there.
my $parallel = join ' ',
  map { "-c $_" } $node->pg_version >= 16 ? 'debug_parallel_query=on' : 'force_parallel_mode=on',
  qw(min_parallel_table_scan_size=0 parallel_setup_cost=0);
like(
	scalar session(
		'plan of a parallel call',
		"EXPLAIN (COSTS off) SELECT sno_timestamp(CASE n WHEN 1 THEN 'brpk4q72xwf2m63l'::sno END) FROM hostile.row LIMIT 3;",
		options => $parallel),
	qr/Gather/,
	'calls run in workers');
sweep(
	'a stranger, in parallel workers',
	depth => 0,
	forms => 'executor',
	which => "proparallel = 's' AND prokind = 'f' AND " . turn('signature'),
	options => $parallel);

# Statements of their own. Each error is one of the client's.
sub statements
{
	my ($what, $script, %o) = @_;
	my $start = time;
	my ($out, $err) = session($what, $script, role => $o{role} // 'stranger');
	my @internal = grep { /ERROR:  (XX|2F|20000|P0004)/ } split /\n/, $err;
	is(join("\n", @internal), '', "$what: no internal error");
	unlike($err, qr/ERROR:  57014/, "$what: none is slow") unless $o{cancelled};
	note sprintf '%-40s %27s %6d errors %11.1f s', $what, '', scalar(() = $err =~ /ERROR:/g), time - $start;
	return ($out, $err);
}
my $turn = turn('signature');
statements('top level', "SELECT c FROM hostile.function f, LATERAL hostile.calls(f.oid, 0) AS c WHERE $turn \\gexec");
statements(
	'prepared statements', qq{
	SELECT 'PREPARE p AS ' || c, 'EXECUTE p', 'EXECUTE p', 'DEALLOCATE ALL' FROM hostile.function f, LATERAL hostile.calls(f.oid, 0) AS c WHERE prokind <> 'p' AND cardinality(types) < 3 AND $turn \\gexec
});

my $sets =
  q{(SELECT *, (SELECT format('%s(%s)', name, array_to_string(a, ', ')) FROM hostile.arguments(types, proargnames, 0) AS a LIMIT 1) AS call,
	(SELECT format('%s(%s)', name, replace(array_to_string(a, ', '), '''2''::bigint', '9223372036854775807')) FROM hostile.arguments(types, proargnames, 0) AS a LIMIT 1) AS endless
	FROM hostile.function WHERE proretset) AS f};
statements(
	'sets', qq{
	SELECT format(place, call, call) FROM $sets, unnest(ARRAY[
	'SELECT %s LIMIT 1', 'SELECT %s, %s', 'SELECT * FROM %s AS s', 'SELECT s FROM generate_series(1, 3), LATERAL %s AS s', 'SELECT s FROM %s AS s LIMIT 0',
	'SELECT (SELECT %s LIMIT 1) FROM generate_series(1, 3)', 'SELECT * FROM ROWS FROM (%s, %s) WITH ORDINALITY', 'SELECT CASE WHEN n = 1 THEN %s END FROM hostile.row',
	'SELECT count(*) FROM (SELECT %s OFFSET 1) AS s', 'SELECT 1 WHERE EXISTS (SELECT %s)', 'SELECT g FROM generate_series(1, 2) AS g WHERE g IN (SELECT 1 FROM %s AS s)', 'VALUES (%s)',
	'SELECT %s FROM generate_series(1, 2) ORDER BY 1', 'SELECT coalesce(%s, NULL)', 'SELECT count(%s)', 'SELECT DISTINCT %s', 'SELECT %s UNION ALL SELECT %s',
	'SELECT n FROM hostile.row WHERE %s IS NULL', 'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r, LATERAL (SELECT %s LIMIT 1) AS s WHERE n < 4) TABLE r',
	'SELECT * FROM hostile.row LEFT JOIN LATERAL (SELECT %s) AS s ON n < 0', 'SELECT l, s FROM generate_series(1, 3) AS l LEFT JOIN %s AS s ON l > 1', 'EXPLAIN (ANALYZE, VERBOSE) SELECT %s',
	'EXPLAIN SELECT * FROM %s AS s', 'SELECT array(SELECT %s)', 'SELECT %s LIMIT (SELECT 1)', 'SELECT FROM (SELECT %s) AS s LIMIT 1', 'SELECT (%s).*']) AS place \\gexec
	SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
	SELECT format('SELECT count(*) FROM generate_series(1, 3) AS a JOIN %s AS s ON a > 1 JOIN generate_series(1, 3) AS b ON b >= a', call) FROM $sets \\gexec
});
statements(
	'sets without an end', qq{
	SELECT format(place, endless) FROM $sets, unnest(ARRAY['SELECT count(*) FROM (SELECT %s LIMIT 1000) AS s', 'EXPLAIN SELECT * FROM %s AS s', 'EXPLAIN SELECT %s',
	'BEGIN; DECLARE c CURSOR FOR SELECT %s; FETCH 3 FROM c; MOVE 10 IN c; FETCH 1 FROM c; CLOSE c; COMMIT', 'BEGIN; DECLARE c CURSOR FOR SELECT %s; FETCH 3 FROM c; COMMIT',
	'BEGIN; SAVEPOINT s; DECLARE c CURSOR FOR SELECT %s; FETCH 3 FROM c; ROLLBACK TO s; COMMIT']) AS place WHERE endless ~ '9223372036854775807' \\gexec
	SET statement_timeout = '200ms';
	SELECT format('SELECT count(*) FROM (SELECT %s OFFSET 0) AS s', endless) FROM $sets WHERE endless ~ '9223372036854775807' \\gexec
}, cancelled => 1);

my $dir = PostgreSQL::Test::Utils::tempdir();
my @types = split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT concat_ws(' ', coalesce(nullif(t.typelem, 0), r.rngsubtype, 0), format_type(t.oid, m)) FROM pg_type t LEFT JOIN pg_range r ON r.rngtypid = t.oid, unnest(CASE WHEN t.typmodin = 0 THEN '{-1}' ELSE '{-1,0,2}' END::int[]) AS m
	WHERE (t.oid IN (SELECT oid FROM hostile.type) OR t.typnamespace = 'hostile'::regnamespace AND t.typtype IN ('d', 'r')) AND t.typreceive <> 0
	AND 'c' NOT IN (t.typtype, coalesce((SELECT e.typtype FROM pg_type e WHERE e.oid = t.typelem), 'b')) -- rows, which are members on newer servers
	ORDER BY t.oid, m});
srand 1;
my ($copies, $copy) = (0, '');
for (@types)
{
	my ($element, $type) = split / /, $_, 2;
	my @fields = map {
		my $length = $_;
		join '', map { chr int rand 256 } 1 .. $length
	} 0 .. 40, 1000;

	push @fields, map {
		my $byte = $_;
		map { $byte x $_ } 8, 10, 16
	} "\0", "\xff", "\x80";
	my @ids = map { "$_" . "\0" x 6 . "\x80" x 9 } "\x80", "\xa0", "\xc0";
	push @fields, @ids;
	push @fields, map { pack('N*', @$_) . "\0" x 12 }[ 1, 0, 20 ], [ 0, 0, 0 ], [ 7, 0, 0 ], [ 0xffffffff, 1, 1 ], [0];
	push @fields, map { pack('N*', 1, 0, $element, 1, 1, length $_) . $_ } @ids, "\0" x 8, "\0" x 10, "\0" x 11;
	push @fields, map { pack('C N', $_, 10) . "\xff" x 10 . pack('N', 0xffffffff) } 0 .. 8, 255;
	push @fields, pack('C N', 2, 11) . "\0" x 40, pack('N C', 1, 1), pack('N', 0), pack('C', 1);
	$copy .= "CREATE TABLE own.binary (v $type);\n";

	for my $field (@fields)
	{
		open my $file, '>:raw', "$dir/" . ++$copies or die;
		print $file "PGCOPY\n\xff\r\n\0", pack('N N n N', 0, 0, 1, length $field), $field, pack('n', 0xffff);
		close $file;
		$copy .= "\\copy own.binary FROM '$dir/$copies' (FORMAT binary)\n";
	}
	$copy .= "SELECT 'taken', count(*), max(v::text) FROM own.binary;\nDROP TABLE own.binary;\n";
}
my ($out) = statements('binary copy', $copy);
is( scalar(() = $out =~ /^taken\|[1-9]/mg),
	scalar @types,
	"binary copy: each of " . @types . " types takes some of $copies values") or diag $out;

statements(
	'soft errors', q{
	SELECT format('SELECT pg_input_is_valid((%s)::text, %L), (SELECT count(*) FROM pg_input_error_info((%1$s)::text, %2$L))', a.expression, t.name || modifier)
	FROM hostile.type t, hostile.value a, unnest('{"","(volume)","[]"}'::text[]) AS modifier WHERE t.typelem = 0 \gexec
}) if $node->pg_version >= 16;

statements(
	"triggers of $_", q{
	CREATE TABLE own.t (n int PRIMARY KEY, v int, s sno, x text); CREATE VIEW own.v AS TABLE own.t;
	SELECT format('CREATE TRIGGER g %s ON own.%s FOR EACH %s EXECUTE FUNCTION %s(%s)', at, whose, each, name, arguments), format('INSERT INTO own.%s VALUES (1), (2)', whose), format('UPDATE own.%s SET v = 1', whose),
		format('DELETE FROM own.%s', whose), format('TRUNCATE own.%s', whose), format('DROP TRIGGER IF EXISTS g ON own.%s', whose), 'DELETE FROM own.t'
	FROM hostile.function, (VALUES ('BEFORE INSERT', 't', 'ROW'), ('BEFORE INSERT', 't', 'STATEMENT'), ('AFTER INSERT OR UPDATE OR DELETE', 't', 'ROW'), ('BEFORE UPDATE', 't', 'ROW'), ('BEFORE DELETE', 't', 'ROW'),
		('BEFORE DELETE', 't', 'STATEMENT'), ('AFTER TRUNCATE', 't', 'STATEMENT'), ('BEFORE TRUNCATE', 't', 'STATEMENT'), ('INSTEAD OF INSERT OR UPDATE OR DELETE', 'v', 'ROW')) AS p (at, whose, each),
		unnest(ARRAY['', '''v''', '''twitter'', ''v''', '''s''', '''x''', '''ctid''']) AS arguments
	WHERE result = 'trigger'::regtype \gexec
	DROP TABLE own.t CASCADE;
}, role => $_) for 'stranger', $superuser;

statements(
	'operators of one\'s own', q{
	CREATE TABLE own.s AS SELECT i, make_sno(timestamptz '2026-01-01' + i * interval '1 min', 0, 0, i) AS s, gid_lower_bound('log', timestamptz '2026-01-01' + i * interval '1 min') AS g, i::text AS t FROM generate_series(1, 500) AS i;
	ANALYZE own.s;
	CREATE FUNCTION own.yes(sno) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'; CREATE FUNCTION own.yes(anyelement, anyelement) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true';
	SELECT format('CREATE OPERATOR own.<< (LEFTARG = %s, RIGHTARG = %1$s, FUNCTION = %s, RESTRICT = %s, JOIN = %s)', type, body, r.name, j.name),
		format('EXPLAIN SELECT FROM own.s WHERE %s OPERATOR(own.<<) %s', c, v), format('EXPLAIN SELECT FROM own.s WHERE %s OPERATOR(own.<<) (SELECT max(%1$s) FROM own.s)', c),
		format('EXPLAIN SELECT FROM own.s WHERE %s OPERATOR(own.<<) %s AND %1$s OPERATOR(own.<<) %2$s', c, v), format('EXPLAIN SELECT FROM own.s WHERE %s OPERATOR(own.<<) %s', v, c),
		format('EXPLAIN SELECT FROM own.s a JOIN own.s b ON a.%s OPERATOR(own.<<) b.%1$s', c), format('EXPLAIN SELECT FROM own.s WHERE %s OPERATOR(own.<<) NULL OR NOT %1$s OPERATOR(own.<<) ANY (ARRAY[%s, %2$s])', c, v),
		format('DROP OPERATOR own.<< (%s, %1$s)', type)
	FROM hostile.function r, hostile.function j, (VALUES ('int', 'int4lt', 'i', '7'), ('sno', 'snowflake_ids.sno_lt', 's', '''brpk4q72xwf2m63l''::sno'), ('gid', 'snowflake_ids.gid_lt', 'g', '''5rMJNeFjYs-2eDkDiPiLuBbS''::gid'), ('text', 'text_lt', 't', '''x'''),
		('anyelement', 'own.yes', 'i', '7'), ('anyelement', 'own.yes', 's', '''brpk4q72xwf2m63l''::sno')) AS o (type, body, c, v)
	WHERE r.types = '{internal,oid,internal,integer}' AND j.types = '{internal,oid,internal,smallint,internal}' \gexec
	SELECT format('CREATE OPERATOR own.!! (RIGHTARG = sno, FUNCTION = own.yes, RESTRICT = %s)', name), 'EXPLAIN SELECT FROM own.s WHERE OPERATOR(own.!!) s', 'DROP OPERATOR own.!! (NONE, sno)'
	FROM hostile.function WHERE types = '{internal,oid,internal,integer}' \gexec
	SELECT format('CREATE AGGREGATE own.a (%s) (SFUNC = %s, STYPE = %s%s)', types[2], name, result, parallel),
		format('SELECT own.a(v) FROM (SELECT %s AS v FROM generate_series(1, 5)) AS s', (SELECT expression FROM hostile.value WHERE type = types[2] LIMIT 1)),
		format('SELECT own.a(v) OVER (ORDER BY n) FROM hostile.row, LATERAL (SELECT NULL::%s AS v) AS s', types[2]), format('DROP AGGREGATE own.a (%s)', types[2])
	FROM hostile.function, unnest(ARRAY['', ', COMBINEFUNC = ' || name]) AS parallel WHERE cardinality(types) = 2 AND types[1] = result AND types[2] <> 'internal'::regtype AND types[2] <> 'anyrange'::regtype \gexec
	SELECT format('CREATE TYPE own.r AS RANGE (SUBTYPE = %s, SUBTYPE_DIFF = %s)', types[1], name),
		format('CREATE TABLE own.g AS SELECT own.r(%s) AS r FROM own.s', CASE types[1] WHEN 'sno'::regtype THEN 's, s, ''[]''' ELSE 'g, g, ''[]''' END),
		'INSERT INTO own.g VALUES (''empty''), (''(,)'')', 'CREATE INDEX ON own.g USING gist (r)', 'SELECT count(*) FROM own.g WHERE r && own.r(NULL, NULL)', 'DROP TABLE own.g', 'DROP TYPE own.r CASCADE'
	FROM hostile.function WHERE result = 'float8'::regtype AND cardinality(types) = 2 \gexec
});

$node->safe_psql('postgres', 'DROP OWNED BY stranger; CREATE SCHEMA own AUTHORIZATION stranger');
is(join("\n", grep { !/^pg_(shdepend|init_privs)/ } changed($before, state_of())),
	'', 'rows, catalogs, settings and files are as they were');

# Who may call all functions: calls are rolled back, and generators led back.
sweep('with all privileges', depth => 2, forms => 'constants', role => 'granted', undo => 1);
sweep('a superuser', depth => 0, forms => 'constants', role => $superuser, undo => 1);

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $born, 'the server is the same');
for my $server ($node, $standby)
{
	my @bad = grep { /terminated by signal|PANIC|XX000: |Sanitizer|runtime error/ } split /\n/,
	  slurp_file($server->logfile);
	is(join("\n", splice @bad, 0, 20), '', $server->name . ': nothing bad in the log');
}
$node->safe_psql('postgres', 'SELECT snowflake_ids.reset(now(), force => true)');
$node->stop;
$node->start;
is( $node->safe_psql(
		'postgres',
		"SELECT gen_sno() IS NOT NULL, gen_mastic() > 0, gen_snowflake_si() > 0, gen_gid('log') IS NOT NULL, gen_snowflake('twitter') > 0"
	),
	't|t|t|t|t',
	'ids are drawn after a restart');
note sprintf '%d objects, %d calls, and %d values through binary input', scalar keys %{ $total{objects} },
  $total{calls}, $copies;
$_->stop for $standby, $node;
done_testing();
