# After a crash, PostgreSQL hands out the ids of transactions again that left no WAL. Readers with positions from before
# get every row; a control that remembers pg_current_snapshot() loses those whose stamps it takes for over.
use Servers;
use Feed;

# The ids of transactions that are rolled back stay in memory.
my $server = feed_server('server', conf => "wal_writer_delay = 10s\nbgwriter_delay = 10s\n");
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
create_feed($server, 'outbox', dbname => 'other');

my %crash = ('kill -9 of the postmaster' => \&kill_and_start, 'kill -9 of a backend' => \&kill_backend);

# Returns the last of some ids that the crash gives back. When a page of WAL is full, the WAL writer writes what is on
# it, so their records begin on a new one.
sub draw
{
	my $draws = join ' ', 'SELECT pg_switch_wal();', ('BEGIN; SELECT pg_current_xact_id(); ROLLBACK;') x 5;
	return value($server, $draws) =~ /(\d+)\s*\z/ ? $1 : die;
}

sub readers
{
	return map { Reader->new('outbox', plain => $_) } 0, 1;
}

for my $what (sort keys %crash)
{
	my ($reader, $plain) = readers();
	insert($server);
	my $started = value($server, 'SELECT pg_postmaster_start_time()');
	my $drawn = draw();
	$_->poll($server) for $reader, $plain;
	$crash{$what}->($server);
	is( value($server, 'SELECT pg_postmaster_start_time()') eq $started,
		$what =~ /backend/,
		"$what: the time of the start says nothing");
	cmp_ok(insert($server), '<=', $drawn, "$what: an id is handed out again");
	$_->poll($server) for $reader, $plain;
	$reader->same_as($server, $what);
	is($plain->differs($server), 1, "$what: the control has lost the row");
	is_deeply($reader->{errors}, {}, "$what: without an error");
}

# ---- lives in which nobody writes, and a reader that was away for three of them
{
	my ($reader, $plain) = readers();
	my ($away, $away_plain) = readers();
	my $drawn = draw();
	$_->poll($server) for $away, $away_plain;
	for my $life (1 .. 3)
	{
		kill_and_start($server);
		$reader->poll($server);
		draw();
		$_->poll($server) for $reader, $plain;
	}
	kill_and_start($server);
	cmp_ok(insert($server), '<=', $drawn, 'after four lives without a row, an id is handed out again');
	$_->poll($server) for $reader, $plain, $away, $away_plain;
	$reader->same_as($server, 'lives that only poll');
	$away->same_as($server, 'a position of four lives ago');
	cmp_ok($_->differs($server), '>', 0, 'the control has lost the row') for $plain, $away_plain;
}

# ---- the same ids are handed out in another database first, where other lives are noted
{
	my ($reader, $plain) = map { Reader->new('outbox', dbname => 'other', plain => $_) } 0, 1;
	insert($server, dbname => 'other');
	my $drawn = draw();
	$_->poll($server) for $reader, $plain;
	kill_and_start($server);
	cmp_ok(insert($server), '<', $drawn, 'a row in one database');
	kill_and_start($server);
	cmp_ok(insert($server, dbname => 'other'), '<=', $drawn, 'and one in the other, in another life');
	$_->poll($server) for $reader, $plain;
	$reader->same_as($server, 'two databases');
	is($plain->differs($server), 1, 'the control has lost the row');

	# The same position does not serve the other database.
	my $astray = Reader->new('outbox', position => $reader->{position});
	is($astray->once($server), 'SF001', 'a position of another database');
}

# ---- prepared in one life, and committed two lives later. This works without lives, too.
{
	my ($reader) = readers();
	$server->safe_psql('postgres', "BEGIN; INSERT INTO outbox (id) VALUES (0); PREPARE TRANSACTION 'old'");
	insert($server);
	draw();
	my ($new) = readers();
	$reader->poll($server);
	kill_and_start($server);
	insert($server);
	$_->poll($server) for $reader, $new;
	kill_and_start($server);
	$server->safe_psql('postgres', "COMMIT PREPARED 'old'");
	$_->poll($server) for $reader, $new;
	ok(exists $reader->{copy}{0}, 'the row of an old prepared transaction comes');
	$_->same_as($server, 'a prepared transaction of an old life') for $reader, $new;
}

# ---- what came twice or not at all, beside writers of all kinds
{
	my ($reader, $twice) = (Reader->new('outbox'), 0);
	my @jobs = map { Job->new($server, writes('outbox', savepoints => $_)) } 5, 80;
	for my $round (1 .. 6)
	{
		go_on(0.7, sub { $reader->poll($server); return 1 });
		$crash{ (sort keys %crash)[ $round % 2 ] }->($server);
	}
	$_->stop for @jobs;
	finish_prepared($server);
	$reader->poll($server);
	$reader->same_as($server, 'six crashes beside writers');
	is($reader->errors('SF001'), 0, 'the reader need not copy again');
	note "$reader->{rows} rows, $reader->{twice} versions again";
}

# ---- sixty lives are kept
{
	my ($known, $unknown) = (Reader->new('outbox'), Reader->new('outbox'));
	$_->poll($server) for $known, $unknown;
	for my $life (1 .. 60)
	{
		$server->stop('immediate');
		$server->start;
		my $said = $life == 59 ? $known->once($server) : insert($server);
		is($said, '', 'the 60th life continues') if $life == 59;
	}
	is($unknown->once($server), 'SF001', 'the 61st does not know the position');
	$unknown->poll($server);
	$unknown->same_as($server, 'after a new copy');
}
$server->stop('immediate');
done_testing();
