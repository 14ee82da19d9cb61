# Grants on all objects of a schema, present or future, do not reach the extension's relations, and a session with all
# rights on its sequence gets no number out of it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use IPC::Run ();
use Test::More;

my $clock = clock();
my $server = new_server('grants', $clock);
$server->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE plain; CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');

# From nextval(), without check bits, and of 2036 with check bits.
sub sealed
{
	my ($ms) = @_;
	my $crc = 0;
	for my $i (reverse 0 .. 63)
	{
		my $out = ($crc >> 14 ^ (1 << 56 | $ms) >> $i) & 1;
		$crc = $crc << 1 & 0x7fff;
		$crc ^= 0x4599 if $out;
	}
	return $ms << 15 | $crc;
}
is(sealed(0), 22320, 'the check bits are those of the extension');
my $of_2036 = sealed(2082758400000);

sub sequences
{
	my ($dbname) = @_;
	return split /\n/, $server->safe_psql($dbname, <<'SQL');
SELECT c.oid::regclass FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
WHERE relkind = 'S' ORDER BY 1
SQL
}

sub attack
{
	my ($dbname) = @_;
	my @said;
	for my $sequence (sequences($dbname))
	{
		for my $call (
			"nextval('$sequence')", "nextval('$sequence')",
			"setval('$sequence', 1)", "setval('$sequence', $of_2036)")
		{
			my ($rc, $out, $err) =
			  $server->psql($dbname, "\\set VERBOSITY sqlstate\nSELECT $call", extra_params => [ '-U', 'app' ]);
			push @said, $err =~ /ERROR:  (\w+)/ ? $1 : "$call: $out";
		}
	}
	return join ' ', sort keys %{ { map { $_ => 1 } @said } };
}

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
GRANT USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA public TO app;
GRANT ALL ON ALL TABLES IN SCHEMA public TO app;
SQL
is(attack('plain'), '42501', 'all sequences of a schema: no right to those of the extension');
works('plain', 'all sequences');

# ---- granted before, for one schema and for all
for my $where ('IN SCHEMA public', '')
{
	my $dbname = $where ? 'one_schema' : 'all_schemas';
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	my $to = $where ? 'SEQUENCES TABLES FUNCTIONS' : 'SEQUENCES TABLES FUNCTIONS SCHEMAS';
	$server->safe_psql($dbname, "ALTER DEFAULT PRIVILEGES $where GRANT ALL ON $_ TO app") for split / /, $to;
	$server->safe_psql($dbname, 'CREATE EXTENSION snowflake_ids');
	is(attack($dbname), '42501', "default privileges $where: no right to the sequences");
	is($server->safe_psql($dbname, <<'SQL'), '', 'nor to write into anything of the extension');
SELECT c.oid::regclass::text FROM pg_class c JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
WHERE relkind <> 'S' AND has_table_privilege('app', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
UNION ALL SELECT 'snowflake_ids' WHERE has_schema_privilege('app', 'snowflake_ids', 'CREATE')
SQL
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

# ---- the query of check_postgres --action=sequence 2.25
is($server->safe_psql('plain', <<'SQL'), 'wal_ceiling|2|1|50', 'a monitor sees a sequence that is half used');
SELECT sequencename, slots, used, round(used / slots * 100) FROM (
    SELECT sequencename, ceil((max_value - min_value::numeric + 1) / increment_by::numeric) AS slots,
           ceil((coalesce(last_value, min_value) - min_value::numeric + 1) / increment_by::numeric) AS used
    FROM pg_sequences) AS s
SQL
SKIP:
{
	skip 'check_postgres is not installed', 1 unless has_program('check_postgres');
	my $user = getpwuid $<;
	my $where = '--host=' . $server->host . ' --port=' . $server->port . " --db=plain --dbuser=$user";
	like(`check_postgres --action=sequence $where 2>&1`, qr/^POSTGRES_SEQUENCE OK:/, 'so does check_postgres');
}

# ---- by name: nextval() is still an error and changes nothing
$server->safe_psql('plain', 'GRANT USAGE ON ALL SEQUENCES IN SCHEMA snowflake_ids TO app');
my @before = map { $server->safe_psql('plain', "SELECT last_value, log_cnt FROM $_") } sequences('plain');
for my $sequence (sequences('plain'))
{
	my ($rc, $out, $err) = $server->psql('plain', "SELECT nextval('$sequence')", extra_params => [ '-U', 'app' ]);
	like($err, qr/reached maximum value of sequence/, "nextval of $sequence, if it is granted");
}
my @after = map { $server->safe_psql('plain', "SELECT last_value, log_cnt FROM $_") } sequences('plain');
is("@after", "@before", 'it changes nothing');
works('plain', 'after nextval()');
$server->stop;
done_testing();
