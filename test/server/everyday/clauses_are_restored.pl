# PostgreSQL prints some clauses (ClausesWithoutSchema.pm) without the schema of their operators: nothing is lost by a
# dump or postgres_fdw, which have an empty search_path. pg_upgrade: faults/pg_upgrade.pl.
use Servers;
use ClausesWithoutSchema;
use Quick;
use PostgreSQL::Test::Utils;

my $node = plain_server('clauses');
my $dir = PostgreSQL::Test::Utils::tempdir();

for my $ids (part('ids', 'public'))
{
	my ($from, $to) = ("from_$ids", "to_$ids");
	$node->safe_psql('postgres', "CREATE DATABASE $from; CREATE DATABASE $to");
	$node->safe_psql($from, "CREATE SCHEMA IF NOT EXISTS $ids; CREATE EXTENSION snowflake_ids SCHEMA $ids");
	$node->safe_psql($from, ClausesWithoutSchema::objects($ids));
	command_ok([ 'pg_dump', '-f', "$dir/$from", $node->connstr($from) ], "$ids: pg_dump");
	my ($stdout, $stderr) = ('', '');
	IPC::Run::run([ 'psql', '-Xq', '-f', "$dir/$from", $node->connstr($to) ], '>', \$stdout, '2>', \$stderr);
	my @errors = $stderr =~ /ERROR: .*/g;
	is(scalar @errors, 0, "$ids: all objects are restored")
	  or diag join "\n", @errors[ 0 .. ($#errors < 9 ? $#errors : 9) ];
	command_ok([ 'pg_dump', '-f', "$dir/$to", $node->connstr($to) ], "$ids: pg_dump of what was restored");
	my ($before, $after) = map { slurp_file($_) =~ s/^\\(un)?restrict .*//mgr } "$dir/$from", "$dir/$to";
	ok($before eq $after, "$ids: both dumps are the same");
	is(scalar $node->psql($to, ClausesWithoutSchema::contents()), 0, "$ids: all tables are there") or next;
	is( $node->safe_psql($to, ClausesWithoutSchema::contents()),
		$node->safe_psql($from, ClausesWithoutSchema::contents()),
		"$ids: the rows are there");
}

SKIP:
{
	skip 'no postgres_fdw', 1 if $node->psql('postgres', 'CREATE EXTENSION postgres_fdw') != 0;
	my $port = $node->port;
	my $host = $node->host;
	$node->safe_psql('postgres', <<"END");
CREATE EXTENSION snowflake_ids;
CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'from_ids', extensions 'snowflake_ids');
CREATE USER MAPPING FOR CURRENT_USER SERVER far;
CREATE FOREIGN TABLE far_sno (a sno, b sno, t timestamptz, n integer) SERVER far OPTIONS (schema_name 'app', table_name 'of_sno');
END
	my $far = $node->safe_psql('postgres', <<'END');
SELECT count(*) FROM far_sno WHERE a IS DISTINCT FROM b;
SELECT count(*) FROM far_sno AS x JOIN far_sno AS y USING (a);
SELECT count(*) FROM far_sno WHERE a < b AND NULLIF(a, b) = a AND CASE a WHEN b THEN 1 ELSE 2 END = 2;
END
	is($far, "5\n5\n5", 'postgres_fdw sends the comparisons');
	like(
		$node->safe_psql('postgres', 'EXPLAIN (VERBOSE, COSTS OFF) SELECT n FROM far_sno WHERE a IS DISTINCT FROM b'),
		qr/Remote SQL: .* IS DISTINCT FROM /,
		'and the far server evaluates them');
}

$node->safe_psql('postgres',
	'CREATE ROLE regress_clauses_owner LOGIN; CREATE DATABASE owned OWNER regress_clauses_owner');
my @as_owner = (extra_params => [ '-U', 'regress_clauses_owner' ]);
my $operators =
  "SELECT (SELECT count(*) FROM pg_operator WHERE oid >= 16384), (SELECT count(*) FROM pg_opfamily WHERE oid >= 16384), (SELECT count(*) FROM pg_opclass WHERE oid >= 16384)";
$node->safe_psql('owned', 'CREATE EXTENSION snowflake_ids', @as_owner);
unlike($node->safe_psql('owned', $operators), qr/\b0\b/, 'the owner of a database creates the extension');
my ($rc, undef, $error) = $node->psql('owned',
	'CREATE OPERATOR pg_catalog.<<< (LEFTARG = sno, RIGHTARG = sno, FUNCTION = snowflake_ids.sno_lt)', @as_owner);
like($error, qr/permission denied for schema pg_catalog/, 'but no operator of his own in pg_catalog');
$node->safe_psql('owned', 'DROP EXTENSION snowflake_ids', @as_owner);
is($node->safe_psql('owned', $operators), '0|0|0', 'and drops it with all its operators');

# With the extension, each pair of the server's types has the operator that it has without.
my %without = map { $_ => 1 } split /\n/, $node->safe_psql('template1', resolution());
my @other = grep { !$without{$_} } split /\n/, $node->safe_psql('postgres', resolution());
is("@other", '', 'comparisons of other types mean what they mean without the extension');
cmp_ok((grep { / with / } keys %without), '>', 60, 'among them many that are no error');

$node->stop;
done_testing();

sub resolution
{
	my $operators = join ', ', map { "'$_'" } part('<', '<=', '>', '>=', '=', '<>');
	return <<'END' =~ s/OPERATORS/$operators/r;
CREATE FUNCTION pg_temp.resolve() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    q text;
    types text[] := (SELECT array_agg(oid::regtype::text ORDER BY oid) FROM pg_type
                     WHERE oid < 16384 AND typtype IN ('b', 'r', 'p') AND typname !~ '^_' AND typname !~ '^(pg_|reg|any|gtsvector|cstring|internal|trigger|event_trigger|void|record|language_handler|fdw_handler|index_am_handler|tsm_handler|table_am_handler|unknown)'
                       AND typcategory <> 'R');
    l text; r text; op text;
BEGIN
    FOREACH op IN ARRAY ARRAY[OPERATORS] LOOP
        FOREACH l IN ARRAY types || 'unknown'::text LOOP
            FOREACH r IN ARRAY types || 'unknown'::text LOOP
                BEGIN
                    q := format('CREATE VIEW pg_temp.v AS SELECT %s %s %s AS c FROM (SELECT NULL::%s AS l, NULL::%s AS r OFFSET 0) AS x',
                                CASE l WHEN 'unknown' THEN 'NULL' ELSE 'l' END, op, CASE r WHEN 'unknown' THEN 'NULL' ELSE 'r' END,
                                coalesce(nullif(l, 'unknown'), 'text'), coalesce(nullif(r, 'unknown'), 'text'));
                    EXECUTE q;
                    -- A bigint next to a time is an error when it is planned.
                    EXECUTE 'EXPLAIN SELECT FROM pg_temp.v WHERE c';
                    RETURN NEXT l || ' ' || op || ' ' || r || ' with ' ||
                        (SELECT coalesce(string_agg(d.refobjid::regoperator::text, ','), 'a built-in') FROM pg_depend d JOIN pg_rewrite w ON w.oid = d.objid
                         WHERE w.ev_class = 'pg_temp.v'::regclass AND d.refclassid = 'pg_operator'::regclass);
                    EXECUTE 'DROP VIEW pg_temp.v';
                EXCEPTION WHEN others THEN
                    RETURN NEXT l || ' ' || op || ' ' || r || ': an error';
                END;
            END LOOP;
        END LOOP;
    END LOOP;
END $$;
SELECT * FROM pg_temp.resolve();
END
}
