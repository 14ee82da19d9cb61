# Readers on a primary, its standby, that one's standby, and going to and fro between them, beside writers with
# savepoints, prepared and long transactions. Copies are right and no version comes twice; a control that remembers
# pg_current_snapshot() loses rows on a standby. Then the replay pauses, and the standby is promoted.
use Servers;
use Feed;

my $primary = feed_server('primary', streaming => 1);
$primary->backup('base');
my $standby = standby_of($primary, 'standby');
$standby->backup('base');
my $cascaded = standby_of($standby, 'cascaded');
my @nodes = ($primary, $standby, $cascaded);

# ---- beside writers
my @readers = map { Reader->new('outbox') } @nodes;
my @wanderers = map { Reader->new('outbox') } 1, 2;
my $plain = Reader->new('outbox', plain => 1);
my @jobs = map { Job->new($primary, writes('outbox', savepoints => $_)) } 5, 80, 5;
my $long = Session->new($primary);
my @long = (
	'BEGIN; SAVEPOINT a; INSERT INTO outbox (id) VALUES (0) ON CONFLICT (id) DO UPDATE SET body = outbox.body + 1',
	'COMMIT');
my $steps = 0;
go_on(
	8,
	sub {
		my ($over) = @_;
		$readers[$_]->once($nodes[$_]) for 0 .. 2;
		$wanderers[0]->once($nodes[ rand 3 ]);
		$wanderers[1]->once($nodes[ $steps % 2 ? 0 : 2 ]);
		$long->ask($long[ $steps / 10 % 2 ]) if $steps % 10 == 0;
		$steps++;
		return $over;
	});
$long->ask('COMMIT');
$_->stop for @jobs;
finish_prepared($primary);
has_all($primary, $standby, $cascaded);
my @names = ('on the primary', 'on the standby', 'on the cascaded standby');
for (0 .. 2)
{
	$readers[$_]->poll($nodes[$_]);
	$readers[$_]->same_as($nodes[$_], $names[$_]);
}
for (@wanderers)
{
	$_->poll($standby);
	$_->same_as($standby, 'going to and fro');
}
is($_->{twice}, 0, 'no version came twice') for @readers, @wanderers;
is_deeply([ map { $_->errors('SF001') } @readers, @wanderers ], [ (0) x 5 ], 'nobody copies again');
note join ' ', map { "$_->{rows}/" . $_->errors('40001') } @readers, @wanderers;
$long->ask('BEGIN');
insert($long);
insert($primary);
has_all($primary, $standby);
$_->poll($standby) for $readers[1], $plain;
$long->ask('COMMIT');
has_all($primary, $standby);
$_->poll($standby) for $readers[1], $plain;
$readers[1]->same_as($standby, 'a transaction that was open');
is($plain->differs($standby), 1, 'the control has lost its row');
$_->poll($standby) for @wanderers;

# ---- the standby lags, and does not know the next life of the primary
my ($own, $wanderer) = ($readers[1], $wanderers[0]);
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'") or die;
insert($primary);
is($wanderer->poll($primary), 1, 'a reader has a row that the standby lacks');
my $position = $wanderer->{position};
is($wanderer->poll($standby), 0, 'on the standby there is nothing new');
is($wanderer->{position}, $position, 'and the position stays');
is($own->poll($standby), 0, 'nor for its own reader');
$primary->restart;
insert($primary);
$wanderer->poll($primary);
is($wanderer->once($standby), '40001', 'a life that was not replayed: poll again');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
has_all($primary, $standby, $cascaded);
is($wanderer->poll($standby), 0, 'it has seen all');
is($own->poll($standby), 2, 'its own reader has not');
$_->same_as($standby, 'after the pause') for $wanderer, $own;

# ---- beside more than 64 subtransactions, a reader that comes from the primary waits for their end
my $many = Session->new($primary);
$many->ask('BEGIN');
for (1 .. 80) { $many->ask("SAVEPOINT s$_"); insert($many) }
insert($primary);
is($wanderer->poll($primary), 1, 'not on the primary');
has_all($primary, $standby);
is($own->poll($standby), 1, 'nor does the reader of the standby');
insert($primary);
has_all($primary, $standby);
is($wanderer->poll($standby), 0, 'the standby cannot tell what this one has seen');
is($own->poll($standby), 1, 'but what its own reader has');
$many->ask('COMMIT');
has_all($primary, $standby);
is($wanderer->poll($standby), 81, 'then all comes');
$own->poll($standby);
$_->same_as($standby, 'beside 80 savepoints') for $wanderer, $own;

# ---- a wait on the standby
my $waiting = Session->new($standby);
$position = $waiting->ask("SELECT snowflake_ids.wait_feed('outbox', '$own->{position}', '0')");
$waiting->send("SELECT snowflake_ids.wait_feed('outbox', '$position', '1 h')");
insert($primary);
$own->{position} = $waiting->answer;
ok(eventually(sub { $own->poll($standby) == 1 }), 'a wait on the standby ends');

# ---- promotion, with a transaction that keeps its snapshot
my $open = Session->new($primary);
$open->ask('BEGIN');
for my $gid ('a', 'b')
{
	my $session = Session->new($primary);
	$session->ask('BEGIN');
	insert($session);
	$session->ask("PREPARE TRANSACTION '$gid'");
}
insert($primary);
has_all($primary, $standby, $cascaded);
my $old = Session->new($standby);
my ($kept, $kept_plain) = map { Reader->new('outbox', plain => $_) } 0, 1;
$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ');
$_->poll($old)     for $kept, $kept_plain;
$_->poll($standby) for $own, $wanderer;
$readers[2]->poll($cascaded);
$primary->stop('immediate');
$standby->promote;
$standby->safe_psql('postgres', "COMMIT PREPARED 'a'");
insert($standby);
is($kept->poll($old), 0, 'the old snapshot has nothing new');
$kept_plain->poll($old);
$standby->safe_psql('postgres', "COMMIT PREPARED 'b'");
$old->ask('COMMIT');
$_->poll($standby) for $own, $wanderer, $kept, $kept_plain;
$_->same_as($standby, 'after the promotion') for $own, $wanderer, $kept;
cmp_ok($kept_plain->differs($standby), '>=', 2, 'the control has lost the prepared rows');
has_all($standby, $cascaded);
$readers[2]->poll($cascaded);
$readers[2]->same_as($cascaded, 'on the standby that follows');
is_deeply([ map { $_->errors('SF001') } @readers, @wanderers, $kept ], [ (0) x 6 ], 'nobody copies again');
$_->stop('immediate') for $cascaded, $standby;
done_testing();
