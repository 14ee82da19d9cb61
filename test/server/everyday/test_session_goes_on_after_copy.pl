# Session (Servers.pm): after the data of a COPY, done or refused, the next statement is answered.
use Servers;

my $server = new_server('psql', clock());
$server->safe_psql('postgres', 'CREATE TABLE item (id sno DEFAULT gen_sno() PRIMARY KEY, body text NOT NULL)');
my $session = Session->new($server);
my $rows = sub { return $session->ask("SELECT string_agg(body, ' ' ORDER BY id) FROM item") };

is($session->ask("COPY item (body) FROM stdin;\none\ntwo\n\\.\n"), '', 'rows by COPY');
is($rows->(), 'one two', 'they are there, and the session answers');
is($session->ask("COPY item (body) FROM stdin;\nthree\n\\.\n"), '', 'one more');
like($session->ask("COPY item (body) FROM stdin;\nfour\n\\N\n\\.\n"), qr/null value/, 'a row that is refused');
is($rows->(), 'one two three', 'refuses its COPY only');
like(
	$session->ask("COPY no_such_item FROM stdin;\nfive\n\\.\n"),
	qr/"no_such_item" does not exist/,
	'a COPY that is refused');
is($rows->(), 'one two three', 'the next statement is not taken for its data, nor they for SQL');
$server->stop;
done_testing();
