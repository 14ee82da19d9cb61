# What administrators grant in one go: on all sequences and tables of a schema, on everything that will be created. None
# of it reaches the extension's relations, and a session that may do all that with a sequence of the extension cannot
# get a number out of it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('grants', $clock);
$server->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE plain; CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');

# The attacks: a value from nextval(), one without check bits, one of 2036 with them.
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

# Wherever they are.
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
	is( $server->safe_psql($dbname, 'SELECT count(*) > 0 FROM snowflake_ids.layouts', extra_params => [ '-U', 'app' ]),
		't',
		'reading is for all');
	works($dbname, "default privileges $where");
}

# ---- by name: then nextval() is still an error, and changes nothing
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
