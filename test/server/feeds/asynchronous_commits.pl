# What the page of feeds does not promise: with synchronous_commit = off, a reader sees a row that a crash takes back.
# Nobody is told. Its copy keeps the row until the key is written again. What commits later is not lost.
use Servers;
use Feed;

my $server = feed_server('server', conf => "wal_writer_delay = 10s\nbgwriter_delay = 10s\n");
insert($server);
my $reader;
my $there = 'SELECT count(*) FROM outbox WHERE id = 1';

# The WAL writer may flush in between.
my $taken_back = eventually(
	sub {
		$reader = Reader->of($server);
		value($server, 'SET synchronous_commit = off; INSERT INTO outbox (id) VALUES (1)');
		$reader->poll($server);
		kill_and_start($server);
		return 1 if value($server, $there) eq '0';
		$server->safe_psql('postgres', 'DELETE FROM outbox WHERE id = 1');
		return 0;
	});
ok($taken_back, 'a crash takes a row back');
ok(exists $reader->{copy}{1}, 'that a reader has seen');
insert($server);
is($reader->poll($server), 1, 'the next row comes');
is($reader->differs($server), 1, 'the copy keeps the row that is gone');
is_deeply($reader->{errors}, {}, 'and nobody is told');
$server->safe_psql('postgres', 'INSERT INTO outbox (id, body) VALUES (1, 2)');
$reader->poll($server);
$reader->same_as($server, 'once the key is written again');
$server->stop('immediate');
done_testing();
