# A session polls inside a transaction that also writes, at both isolation levels, with savepoints around its polls.
# What it writes before and after a poll comes. A control that remembers pg_current_snapshot() loses the latter.
use Servers;
use Feed 'feed_server';

my $server = feed_server('server', streaming => 1);
$server->safe_psql('postgres', 'CREATE TABLE other ()');
my $id = 0;
sub insert { my ($where) = @_; $id++; return value($where, "INSERT INTO outbox (id) VALUES ($id)") }

sub readers
{
	return map { Reader->new('outbox', plain => $_) } 0, 1;
}

for my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	my ($reader, $plain) = readers();
	$_->poll($server) for $reader, $plain;
	my ($session, $other) = map { Session->new($server) } 1, 2;

	# The lock needs a transaction id and takes no snapshot, so the id is below the snapshot's xmax.
	$session->ask("BEGIN ISOLATION LEVEL $level; LOCK TABLE other");
	insert($other);
	insert($session);
	is($reader->poll($session), 2, "$level: its own row comes at once");
	$plain->poll($session);
	$reader->same_as($session, "$level: inside the transaction");
	insert($session);
	$session->ask("UPDATE outbox SET body = 2 WHERE id = $id - 1");
	$session->ask('COMMIT');
	$_->poll($server) for $reader, $plain;
	$reader->same_as($server, "$level: what it wrote after the poll");
	cmp_ok($plain->differs($server), '>=', 1, "$level: the control has lost it");

	# It is rolled back: a program that keeps the position outside gets the state of the others.
	$session->ask("BEGIN ISOLATION LEVEL $level");
	insert($session);
	$reader->poll($session);
	$session->ask('ROLLBACK');
	$reader->poll($server);
	is(grep({ !/^\d+$/ } keys %{ $reader->{copy} }), 0, "$level: rolled back");
	delete $reader->{copy}{$id};    # its transaction was rolled back with it
	$reader->same_as($server, "$level: after ROLLBACK");

	# The transaction gets its id after the poll.
	$session->ask("BEGIN ISOLATION LEVEL $level");
	$reader->poll($session);
	insert($other);
	insert($session);
	$reader->poll($session);
	$session->ask('COMMIT');
	$reader->poll($server);
	$reader->same_as($server, "$level: an id after the poll");
}

# ---- a position that is newer than the snapshot: no rows, and the same position
for my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	my ($reader) = readers();
	my $session = Session->new($server);
	$session->ask("BEGIN ISOLATION LEVEL $level; SELECT FROM outbox");
	insert($server);
	$reader->poll($server);
	insert($server);
	my $position = $reader->{position};
	is($reader->poll($session), 0, "$level: an older snapshot gives no rows");
	is($reader->{position}, $position, 'and the same position');
	$session->ask('COMMIT');
	is($reader->poll($server), 1, 'then the next row, and nothing twice');
	$reader->same_as($server, $level);
	is($reader->{twice}, 0, 'no version came twice');
}

# ---- subtransactions around polls, fewer and more than a process keeps in shared memory (64)
for my $savepoints (5, 63, 200)
{
	my ($reader, $plain) = readers();
	my ($session, $other) = map { Session->new($server) } 1, 2;
	my $within = Reader->new('outbox');
	$reader->poll($server);
	$session->ask('BEGIN');
	for my $n (1 .. $savepoints)
	{
		$session->ask("SAVEPOINT s$n");
		insert($session);
		next if $n % 20;
		insert($other);
		$_->poll($other) for $reader, $plain;
		$within->poll($session);
		$session->ask("ROLLBACK TO s$n") if $n % 40 == 0;
	}
	insert($other);
	is($reader->poll($other), 1, "$savepoints savepoints hide no row of others");
	$within->poll($session);
	$session->ask('COMMIT');
	$_->poll($server) for $reader, $within, $plain;
	$reader->same_as($server, "$savepoints savepoints");
	is($reader->{twice}, 0, "$savepoints savepoints: no version twice");
	delete @{ $within->{copy} }{ grep { !exists $reader->{copy}{$_} } keys %{ $within->{copy} } };
	$within->same_as($server, "$savepoints savepoints, polled inside");
}

# ---- another transaction with savepoints stays open while one with too many ends
for my $first (0, 1)
{
	my ($reader) = readers();
	my @sessions = map { Session->new($server) } 1, 2;
	my ($few, $many) = $first ? @sessions : reverse @sessions;
	$reader->poll($server);
	$few->ask('BEGIN');
	for (1 .. 3) { $few->ask("SAVEPOINT s$_"); insert($few) }
	$many->ask('BEGIN');
	for (1 .. 80) { $many->ask("SAVEPOINT s$_"); insert($many) }
	insert($server);
	$reader->poll($server);
	$many->ask('COMMIT');
	is($reader->poll($server), 80, 'the rows of the one that ends come at once');
	insert($server);
	is($reader->poll($server), 1, 'and so do others');
	$few->ask('COMMIT');
	is($reader->poll($server), 3, 'then those of the one that was open');
	$reader->same_as($server, 'beside open savepoints');
}
$server->stop;
done_testing();
