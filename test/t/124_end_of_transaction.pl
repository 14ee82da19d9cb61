# The end of a transaction is no place to log: an error there undoes a commit, or makes an abort fail. The line about the
# end of an overflow has a layout's name in it, and a client may ask for all log lines, in an encoding that cannot spell
# the name. So it is written by the next draw, and to the server's log alone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('committed', $clock);
value($server, "CREATE DATABASE letters ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
my $own = Session->new($server, dbname => 'letters');
$own->ask('SET client_encoding = UTF8; CREATE EXTENSION snowflake_ids');
$own->ask(
	q{SELECT snowflake_layout_create(U&'\\6F22\\5B57', '2026-01-01 00:00:00+00', '1 ms', 41, 0, 1);
	CREATE TABLE t (id bigint DEFAULT gen_snowflake(U&'\\6F22\\5B57'), n int)});

# While ids are ahead of the clock, calls that wait are no overflow.
caught_up($server);
for my $end ('COMMIT', 'ROLLBACK')
{
	# A machine that stands still while ids are drawn ends the overflow.
	my $mark;
	ok( eventually(
			sub {
				$mark = log_mark($server);
				$own->ask("SELECT count(gen_snowflake(U&'\\6F22\\5B57')) FROM generate_series(1, 100)") == 100
				  or die 'no ids';
				my $since = log_since($server, $mark);
				return $since =~ /sequence overflow: calls wait/ && $since !~ /overflow is over/;
			}),
		'an overflow is logged');
	$clock->pass(3);

	my $client = Session->new($server, dbname => 'letters');
	my $before = $client->ask('SET client_encoding = LATIN1; SET client_min_messages = log; SELECT count(*) FROM t');
	$mark = log_mark($server);
	is($client->ask('BEGIN; INSERT INTO t (n) VALUES (1)'),
		'', "$end: a draw of another client, which cannot read the name");
	is($client->ask($end), '', "$end: is told nothing of it");
	ok(wait_for_log($server, qr/LOG:  .* sequence overflow is over: /, $mark), "$end: the log says that it is over");
	my $rows = $before + ($end eq 'COMMIT');
	is($client->ask('SELECT count(*) FROM t'), $rows, "$end: the transaction has ended as asked");
	unlike(log_since($server, $mark), qr/PANIC|ERROR|terminated by signal/, "$end: without an error");
}
$server->stop;
done_testing();
