# Grants on all objects of a schema, present or future, do not reach the extension's relations.
use Servers;
use IPC::Run ();

my $clock = clock();
my $server = new_server('grants', $clock);
$server->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE plain; CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');

sub works
{
	my ($dbname, $what) = @_;
	my $draw = 'SELECT sno_timestamp(gen_sno()) < clock_timestamp() + interval $$1 min$$, gen_snowflake_si() > 0';
	restart_after($server, 'fast');
	is($server->safe_psql($dbname, $draw, extra_params => [ '-U', 'app' ]), 't|t', "$what: new sessions draw");
	is($server->safe_psql('other', $draw), 't|t', 'those of another database too, of the present time');
}

my $granted = <<'SQL';
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_init_privs i ON i.classoid = d.classid AND i.objoid = d.objid WHERE rights ORDER BY 1
SQL
cmp_ok(
	scalar(
		split /\n/,
		$server->safe_psql('other', $granted =~ s/rights/NOT has_function_privilege('app', p.oid, 'EXECUTE')/r)),
	'>', 10,
	'there are functions that must be granted');

sub restored
{
	my ($dbname) = @_;
	my ($out, $err);
	IPC::Run::run([ 'pg_dump', '-d', $server->connstr($dbname) ], '>', \$out, '2>', \$err) or die $err;
	$server->safe_psql('postgres', "CREATE DATABASE ${dbname}_again");
	$server->safe_psql("${dbname}_again", $out);
	return "${dbname}_again";
}

# ---- granted afterwards
$server->safe_psql('plain', <<'SQL');
CREATE EXTENSION snowflake_ids;
GRANT ALL ON ALL TABLES IN SCHEMA public TO app;
SQL
my $granted_on_relations = <<'SQL';
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
WHERE relkind NOT IN ('S', 'c') AND has_table_privilege('app', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'
    || CASE WHEN current_setting('server_version_num')::int >= 170000 THEN ', MAINTAIN' ELSE '' END)
UNION ALL SELECT 'snowflake_ids' WHERE has_schema_privilege('app', 'snowflake_ids', 'CREATE')
SQL
is($server->safe_psql('plain', $granted_on_relations), '',
	'all tables of a schema: no right to those of the extension');
works('plain', 'all tables');

# ---- granted before, for one schema and for all
for my $where ('IN SCHEMA public', '')
{
	my $dbname = $where ? 'one_schema' : 'all_schemas';
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	my $to = $where ? 'SEQUENCES TABLES FUNCTIONS' : 'SEQUENCES TABLES FUNCTIONS SCHEMAS';
	$server->safe_psql($dbname, "ALTER DEFAULT PRIVILEGES $where GRANT ALL ON $_ TO app") for split / /, $to;
	$server->safe_psql($dbname, 'CREATE EXTENSION snowflake_ids');
	is($server->safe_psql($dbname, $granted_on_relations),
		'', "default privileges $where: no right to write into anything of the extension");
	my $app_may = $granted =~ s/rights/has_function_privilege('app', p.oid, 'EXECUTE')/r;
	is($server->safe_psql($dbname, $app_may), '', "default privileges $where: nor to call what must be granted");
	is($server->safe_psql(restored($dbname), $app_may), '', 'nor after a dump was restored');
	is( $server->safe_psql($dbname, 'SELECT count(*) > 0 FROM snowflake_ids.layouts', extra_params => [ '-U', 'app' ]),
		't',
		'reading is for all');
	works($dbname, "default privileges $where");
}

# ---- what is not for PUBLIC is for those only whom the administrator names
$server->safe_psql('postgres', 'CREATE DATABASE strict');
$server->safe_psql('strict', <<'SQL');
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO app WITH GRANT OPTION;
CREATE EXTENSION snowflake_ids;
CREATE ROLE other_app LOGIN;
SQL
my $may = q{SELECT has_function_privilege('%1$s', 'gen_mastic()', 'EXECUTE'),
	has_function_privilege('%1$s', 'snowflake_ids.reset(timestamptz, text, integer, boolean)', 'EXECUTE')};
is($server->safe_psql('strict', sprintf($may, 'app')), 't|f', 'named in default privileges: draws, does not reset');
is($server->safe_psql('strict', sprintf($may, 'other_app')), 'f|f', 'not named: neither');

$server->stop;
done_testing();
