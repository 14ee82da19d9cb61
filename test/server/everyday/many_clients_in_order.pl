# 32 clients draw from all coordinated formats, and keep ids in the order in which they got them: none comes twice, and
# none after a newer one.
use strict;
use warnings;
use Servers ();
use Quick;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 32;
my $share = whole() ? 1 : 0.2;    # of five million ids

my $node = Servers::plain_server('never_twice', conf => <<'END');
max_connections = 100
shared_buffers = 256MB
max_wal_size = 4GB
synchronous_commit = off
work_mem = 256MB
max_parallel_workers_per_gather = 0
snowflake_ids.machine_id = 3
snowflake_ids.max_wait = '2min'
END

# `seq` is the client's count; bulk rows share one.
my $tables = <<'END';
CREATE EXTENSION snowflake_ids;
CREATE UNLOGGED TABLE sno_drawn (client int, seq int, place int DEFAULT 0, id sno DEFAULT gen_sno());
CREATE UNLOGGED TABLE mastic_drawn (client int, seq int, place int DEFAULT 0, id mastic DEFAULT gen_mastic());
CREATE UNLOGGED TABLE si_drawn (client int, seq int, place int DEFAULT 0, id bigint DEFAULT gen_snowflake_si());
END
$node->safe_psql('postgres', $tables);
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', $tables);

Servers::caught_up($node);

my %scripts = (
	single => [ 60, <<'END' ],
SELECT gen_sno() AS sno, gen_mastic() AS mastic, gen_snowflake_si() AS si \gset
\set seq :seq + 1
INSERT INTO sno_drawn (client, seq, id) VALUES (:client_id, :seq, :sno);
INSERT INTO mastic_drawn (client, seq, id) VALUES (:client_id, :seq, :mastic);
INSERT INTO si_drawn (client, seq, id) VALUES (:client_id, :seq, :si);
\set seq :seq + 1
INSERT INTO sno_drawn (client, seq, id) VALUES (:client_id, :seq, gen_sno(:client_id % 3 + 1)), (:client_id, :seq, gen_sno(7, 500)), (:client_id, :seq, gen_sno(0, 3));
END
	default => [ 60, <<'END' ],
\set seq :seq + 1
INSERT INTO sno_drawn (client, seq) VALUES (:client_id, :seq);
INSERT INTO mastic_drawn (client, seq) VALUES (:client_id, :seq);
INSERT INTO si_drawn (client, seq) VALUES (:client_id, :seq);
\set seq :seq + 1
BEGIN;
INSERT INTO sno_drawn (client, seq) VALUES (:client_id, :seq);
INSERT INTO mastic_drawn (client, seq) VALUES (:client_id, :seq);
ROLLBACK;
\set seq :seq + 1
INSERT INTO sno_drawn (client, seq, place) SELECT :client_id, :seq, n FROM generate_series(1, 20) AS n;
INSERT INTO mastic_drawn (client, seq, place) SELECT :client_id, :seq, n FROM generate_series(1, 20) AS n;
END
	bulk => [ 5, <<'END' ],
\set seq :seq + 1
INSERT INTO sno_drawn (client, seq, place, id) SELECT :client_id, :seq, n, gen_sno(:client_id % 4) FROM generate_series(1, 10000) AS n;
INSERT INTO mastic_drawn (client, seq, place, id) SELECT :client_id, :seq, n, gen_mastic() FROM generate_series(1, 10000) AS n;
INSERT INTO si_drawn (client, seq, place, id) SELECT :client_id, :seq, n, gen_snowflake_si() FROM generate_series(1, 2000) AS n;
END
	fetch => [ 10, <<'END' ],
\set seq :seq + 1
BEGIN;
DECLARE c CURSOR FOR SELECT gen_sno() AS sno FROM generate_series(1, 1000);
FETCH 1 FROM c \gset
INSERT INTO sno_drawn (client, seq, id) VALUES (:client_id, :seq, :sno);
\set seq :seq + 1
INSERT INTO sno_drawn (client, seq, id) VALUES (:client_id, :seq, gen_sno());
\set seq :seq + 1
FETCH 1 FROM c \gset
INSERT INTO sno_drawn (client, seq, id) VALUES (:client_id, :seq, :sno);
COMMIT;
END
);

my $dir = PostgreSQL::Test::Utils::tempdir();
my @files;
for my $name (sort keys %scripts)
{
	append_to_file("$dir/$name", $scripts{$name}[1]);
	push @files, '-f', "$dir/$name\@$scripts{$name}[0]";
}

# Counted transactions, so that the machine's speed does not decide. Eight clients use another database.
sub pgbench
{
	my ($database, $clients, $transactions) = @_;
	return [
		'pgbench', '-n', '-M', 'prepared', '-D', 'seq=0', '-c', $clients, '-j', 4, '-t', $transactions,
		'--random-seed=4711', @files, $node->connstr($database) ];
}
my ($out, $other_out) = ('', '');
my $started = time;
my $run = IPC::Run::start(pgbench('postgres', $clients, 190 * $share), '>', \$out, '2>&1');
my $other = IPC::Run::start(pgbench('other', 8, 100 * $share), '>', \$other_out, '2>&1');
ok($run->finish, 'clients of one database end well') or diag $out;
ok($other->finish, 'clients of another end well') or diag $other_out;
my $seconds = time - $started || 1;

for my $table (qw(sno_drawn mastic_drawn si_drawn))
{
	my $file = "$dir/$table.copy";
	$node->safe_psql('other', "\\copy (SELECT client + 1000, seq, place, id FROM $table) TO '$file' (FORMAT binary)");
	$node->safe_psql('postgres', "\\copy $table FROM '$file' (FORMAT binary)");
}

# Also ids not above the client's last one (`within`: and generator).
sub check
{
	my ($table, $what, $id, $within) = @_;
	my ($drawn, $who, $twice, $inversions) = split /\|/, $node->safe_psql('postgres', <<"END");
SELECT count(*), count(DISTINCT client),
       count(*) - (SELECT count(*) FROM (SELECT $id FROM $table GROUP BY 1) AS d),
       count(*) FILTER (WHERE id <= before)
FROM (SELECT client, id, lag(id) OVER (PARTITION BY $within ORDER BY seq, place) AS before FROM $table) AS t
END
	note "$what: $drawn ids by $who clients, $twice twice, $inversions inversions";
	is($who, $clients + 8, "$what: all clients drew");
	is($twice, 0, "$what: no id twice");
	is($inversions, 0, "$what: no client saw an older id after a newer one");
	return $drawn;
}

# Metabytes of a partition share a sequence. Rows of one INSERT have no order but by generator.
my $drawn = check(
	'sno_drawn', 'sno',
	'make_sno(sno_timestamp(id), 0, sno_partition(id), sno_sequence(id), sno_ticktock(id))',
	'client, sno_metabyte(id), sno_partition(id)');
$drawn += check('mastic_drawn', 'Mastic', 'id', 'client');
$drawn += check('si_drawn', 'Snowflake-SI', 'id', 'client');
cmp_ok($drawn, '>=', 5_000_000 * $share, "$drawn ids in all");
diag sprintf '%d ids in %d s by %d clients, singly and in bulk', $drawn, $seconds, $clients + 8;

is($node->safe_psql('postgres', "SELECT string_agg(DISTINCT sno_partition(id)::text, ' ') FROM sno_drawn"),
	'3 500', 'both partitions were drawn from');
is( $node->safe_psql(
		'postgres',
		"SELECT string_agg(format, ' ' ORDER BY format) FROM snowflake_ids.stats WHERE overflow_waits > 0 AND format = 'snowflake_si'"
	),
	'snowflake_si',
	'Snowflake-SI was used up and waited for');
is($node->safe_psql('postgres', 'SELECT sum(waiting) FROM snowflake_ids.stats'), 0, 'nobody waits any more');

$node->safe_psql('postgres',
	'INSERT INTO si_drawn SELECT client, seq, place - 1, id FROM si_drawn WHERE client = 1 ORDER BY id LIMIT 1');
is($node->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT id) FROM si_drawn'), 1,
	'a repeated id would be seen');

$node->stop;
done_testing();
