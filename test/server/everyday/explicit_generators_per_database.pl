# A database can use 64 explicit generators: partitions and layouts. One more is refused, the others go on, and another
# database has its own 64. The limit of the server: explicit_generators_per_server.pl.
use Servers;

my $node = plain_server('explicit', conf => "snowflake_ids.machine_id = 4095\n");
$node->safe_psql('postgres',
	"CREATE EXTENSION snowflake_ids; SELECT snowflake_layout_create('narrow', '2026-01-01 00:00:00+00', '1 ms', 40, 12, 1)"
);

# The layout is one of the 64, the server's own partition is none.
value($node, q{SELECT gen_snowflake('narrow'), gen_sno()});
is(value($node, 'SELECT count(DISTINCT sno_partition(gen_sno(0, n))) FROM generate_series(1, 63) AS n'),
	63, '63 explicit partitions');
fails_with(
	$node,
	"\\set VERBOSITY verbose\nSELECT gen_sno(0, 64)",
	'the next is one too many',
	qr/ERROR:  53400: too many explicit generators in this database\n.*HINT:/s);
is(value($node, 'SELECT sno_partition(gen_sno(0, 63)), sno_partition(gen_sno(0, 4095))'),
	'63|4095', "those that were used go on, and the node's own is none of them");
is(value($node, 'SELECT count(*) FROM snowflake_ids.stats WHERE owner = current_database()'),
	64, 'the statistics name their database');
$node->safe_psql('postgres', 'CREATE DATABASE other');
is( $node->safe_psql(
		'other', 'CREATE EXTENSION snowflake_ids; SELECT sno_partition(gen_sno(0, 65)), sno_partition(gen_sno(0, 1))'),
	'65|1',
	'another database has its own 64');

$node->stop;
done_testing();
