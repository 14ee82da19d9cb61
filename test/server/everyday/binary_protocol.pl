# Prepared statements with binary parameters and results, as drivers use them, by a small libpq program.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $program = PostgreSQL::Test::Utils::tempdir() . '/binary';
append_to_file("$program.c", <<'END');
#include <stdio.h>
#include <string.h>
#include <libpq-fe.h>
/* binary CONNINFO TYPE QUERY: puts the binary result of QUERY back as the binary parameter of `SELECT $1::TYPE`, asks
 * for it as text and as binary, and sends all its shortened and lengthened forms, which must be refused. */
static PGconn *conn;
static PGresult *ask(const char *name, const char *value, int length, int format) {
    const int binary = 1;
    return PQexecPrepared(conn, name, 1, &value, &length, &binary, format);
}
int main(int argc, char **argv) {
    char sql[256], bytes[64];
    if (argc != 4) return 2;
    conn = PQconnectdb(argv[1]);
    PGresult *drawn = PQexecParams(conn, argv[3], 0, NULL, NULL, NULL, NULL, 1);
    if (PQresultStatus(drawn) != PGRES_TUPLES_OK) { fputs(PQerrorMessage(conn), stderr); return 1; }
    const int length = PQgetlength(drawn, 0, 0);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, PQgetvalue(drawn, 0, 0), length);
    snprintf(sql, sizeof sql, "SELECT $1::%s", argv[2]);
    PQclear(PQprepare(conn, "back", sql, 0, NULL));
    PGresult *text = ask("back", bytes, length, 0), *binary = ask("back", bytes, length, 1);
    if (PQresultStatus(text) != PGRES_TUPLES_OK || PQresultStatus(binary) != PGRES_TUPLES_OK) { fputs(PQerrorMessage(conn), stderr); return 1; }
    printf("length %d same %d text %s\n", length, PQgetlength(binary, 0, 0) == length && memcmp(PQgetvalue(binary, 0, 0), bytes, length) == 0, PQgetvalue(text, 0, 0));
    int refused = 0;
    for (int n = 0; n < 40; n++) {
        if (n == length) continue;
        PGresult *bad = ask("back", bytes, n, 1);
        const char *state = PQresultErrorField(bad, PG_DIAG_SQLSTATE);
        refused += state != NULL && (strcmp(state, "22P03") == 0 || strcmp(state, "08P01") == 0);
        PQclear(bad);
    }
    printf("refused %d\n", refused);
    return 0;
}
END
my @compiler = split ' ', $ENV{CC} // 'cc';
chomp(my $include = `pg_config --includedir`);
chomp(my $lib = `pg_config --libdir`);
if (system(@compiler, '-o', $program, "$program.c", "-I$include", "-L$lib", '-lpq') != 0)
{
	die 'cannot compile a libpq program' if $ENV{CI};
	plan skip_all => 'no compiler, or no libpq to compile with';
}

my $node = PostgreSQL::Test::Cluster->new('protocol');
$node->init;
$node->start;
$node->safe_psql('postgres',
	"CREATE EXTENSION snowflake_ids; CREATE TABLE kept (id sno DEFAULT gen_sno() PRIMARY KEY, g gid(volume), m mastic, n int)"
);

for my $case (
	[ 'sno', 'gen_sno()', 10, 'snowflake_ids.sno_send' ],
	[ 'gid', "gen_gid('log')", 16, 'snowflake_ids.gid_send' ],
	[ 'gid(volume)', "gen_gid('volume')", 16, 'snowflake_ids.gid_send' ],
	[ 'mastic', 'gen_mastic()', 8, 'snowflake_ids.mastic_send' ],
	[ 'bigint', 'gen_mastic()::bigint', 8, 'int8send' ],
	[ 'bigint', 'gen_snowflake_si()', 8, 'int8send' ])
{
	my ($type, $call, $length) = @$case;
	my ($out, $err) = run_command([ $program, $node->connstr('postgres'), $type, "SELECT $call AS id" ]);
	like(
		$out,
		qr/^length $length same 1 text \S+\nrefused 39$/,
		"$call: $length bytes there and back, all else refused") or diag $err;
}
my ($out, $err) = run_command([ $program, $node->connstr('postgres'), 'gid(log)', "SELECT gen_gid('volume')" ]);
like($err, qr/wrong kind of id for type gid\(log\)/, 'a binary parameter of the wrong kind is refused');

# The same prepared statements again and again, by several clients.
append_to_file("$program.bench", <<'END');
SELECT gen_sno() AS id, gen_gid('volume') AS g, gen_mastic() AS m \gset
\set n random(1, 1000)
INSERT INTO kept VALUES (:id, :g, :m, :n);
SELECT n AS found FROM kept WHERE id = :id AND g = :g AND m = :m \gset
\if :found <> :n
SELECT 1 / 0;
\endif
INSERT INTO kept (n) VALUES (:n);
END
for my $protocol ('extended', 'prepared')
{
	command_ok(
		[   'pgbench', '-n', '-M', $protocol, '-c', 4, '-j', 2, '-t', 200, '-f', "$program.bench",
			$node->connstr('postgres') ],
		"pgbench -M $protocol");
}
is( $node->safe_psql(
		'postgres', 'SELECT count(*), count(DISTINCT id), count(g), count(DISTINCT g), count(DISTINCT m) FROM kept'),
	'3200|3200|1600|1600|1600',
	'all ids differ');

$node->stop;
done_testing();
