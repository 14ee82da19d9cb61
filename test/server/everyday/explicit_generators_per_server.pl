# Databases cannot use up the ledger's slots with explicit generators: the last ones are for generators that a setting
# makes.
use Servers;
use PostgreSQL::Test::Utils;

my $server = plain_server('slots');
$server->safe_psql('template1', 'CREATE EXTENSION snowflake_ids');

my $draw = 'SELECT count(gen_sno(0, %d + n)) FROM generate_series(1, %d) AS n';
for my $database (1 .. 15)
{
	$server->safe_psql('postgres', "CREATE DATABASE d$database");
	$server->safe_psql("d$database", sprintf $draw, $database * 100, 64);
}

sub fails
{
	my ($database, $query, $pattern, $name) = @_;
	my ($rc, $out, $err) = $server->psql($database, "\\set VERBOSITY verbose\n$query");
	like($err, $pattern, $name);
}
fails(
	'd1',
	'SELECT gen_sno(0, 9000)',
	qr/53400: too many explicit generators in this database\nDETAIL:.*64.*\nHINT:/,
	'a database has 64');
$server->safe_psql('postgres', 'CREATE DATABASE d16');
fails(
	'd16',
	'SELECT gen_sno(0, 9000)',
	qr/53400: too many explicit generators on this server\nDETAIL:.*960.*\nHINT:/,
	'all databases have 960');
is($server->safe_psql('d16', 'SELECT sno_partition(gen_sno(0, 101))'),
	101, 'what was used before goes on, from any database');
is($server->safe_psql('d16', 'SELECT sno_partition(gen_sno()) >= 32768, gen_mastic() > 0, gen_snowflake_si() > 0'),
	't|t|t', 'generators of the settings have slots left');
for my $machine (1 .. 3)
{
	$server->append_conf('postgresql.conf', "snowflake_ids.machine_id = $machine");
	$server->reload;
	$server->poll_query_until('d16', 'SELECT sno_partition(gen_sno())', $machine) or die;
}
is($server->safe_psql('d16', 'SELECT count(*) FROM snowflake_ids.stats'), 960 + 6, 'also with other machine ids');

$server->restart;
fails(
	'd16',
	"SELECT snowflake_ids.reset('2020-01-01')",
	qr/22023: floor is in the past, and the server does not know which ids were generated/,
	'the first call after a start is a reset to the past: refused');
is($server->safe_psql('d16', 'SELECT count(*) FROM snowflake_ids.stats'), 960 + 6, 'all generators are known again');
$server->stop;
done_testing();
