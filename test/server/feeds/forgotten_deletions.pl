# Deletions are forgotten by what a noted position has seen: a deletion that was prepared on Monday and committed after
# the purge reaches each reader. Readers from before the forgotten position copy again (SF001); others hear of nothing.
use Servers;
use Feed;

my $server = feed_server('forgets');
my $m = Session->new($server);
my $last = 0;

sub rows
{
	my $from = $last + 1;
	$last += 10;
	return $m->ask("INSERT INTO outbox (id) SELECT generate_series($from, $last)");
}

sub delete_some
{
	my ($where) = @_;
	return ($where // $m)->ask('DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT 2)');
}
sub reader    { my $reader = Reader->new('outbox'); $reader->poll($m); return $reader }
sub deletions { return $m->ask('SELECT count(*) FROM outbox_deleted WHERE id IS NOT NULL') }
sub forget    { return $m->ask("SELECT snowflake_ids.forget_deleted('outbox', '$_[0]')") }

# As forget_deleted() did it that many days ago, if nothing has changed since then.
sub noted_days_ago
{
	$m->ask(
		"INSERT INTO outbox_deleted (stamp, again) SELECT -1000000 * extract(epoch FROM now() - interval '$_[0] days')::bigint, "
		  . "snowflake_ids.feed_position('outbox')");
	return;
}

# ---- readers before, between and after
rows();
my $before = reader();
delete_some();
my $between = reader();
delete_some();
is(forget('7 days'), 0, 'nothing is old enough');
noted_days_ago(8);
my $after = reader();
rows();
is(forget('7 days'), 4, 'what the newest old position has seen is forgotten');
is(deletions(), 0, 'nothing else was deleted');
is($before->once($m), 'SF001', 'a reader from before copies again');
is($between->once($m), 'SF001', 'and one that has not seen all of it');
is($after->once($m), '', 'one that has, does not');
$_->poll($m) for $before, $between;
$_->same_as($m, 'before, between, after') for $before, $between, $after;
delete_some();
forget('7 days');
is($_->once($m), '', 'later calls ask nothing of them') for $before, $between, $after;
$_->same_as($m, 'later') for $before, $between, $after;

# ---- a deletion that was prepared before, and one of an open transaction
my ($prepares, $open) = map { Session->new($server) } 1, 2;
my $early = reader();
$prepares->ask("BEGIN; DELETE FROM outbox WHERE id = $last; PREPARE TRANSACTION 'monday'");
$open->ask("BEGIN; DELETE FROM outbox WHERE id = $last - 1");
rows();
delete_some();
my $reader = reader();
noted_days_ago(8);
cmp_ok(forget('7 days'), '>', 0, 'a purge beside both');
is($reader->once($m), '', 'the reader goes on');
$m->ask("COMMIT PREPARED 'monday'");
$open->ask('COMMIT');
forget('7 days');
is(deletions(), 2, 'both deletions are there after the purge');
is($reader->once($m), '', 'the reader goes on');
$reader->same_as($m, 'prepared before the purge, committed after it');
is($early->once($m), 'SF001', 'an earlier reader copies again');
noted_days_ago(8);
is(forget('7 days'), 2, 'they are forgotten later');
$reader->poll($m);
$reader->same_as($m, 'after that');

# ---- one purge beside another, and beside deletions and polls
rows() for 1 .. 20;
my @jobs = map { Job->new($server, $_, 0.01) } (
	("SELECT snowflake_ids.forget_deleted('outbox', '0')") x 2,
	'DELETE FROM outbox WHERE id = (SELECT min(id) FROM outbox); INSERT INTO outbox (id) SELECT max(id) + 1 FROM outbox'
);
my @readers = map { reader() } 1 .. 3;
my $polls = 0;
go_on(
	3,
	sub {
		my ($is_over) = @_;
		$_->poll($m) for @readers;
		return $is_over && ++$polls > 20;
	});
my @said = map { $_->stop } @jobs;
is(join('', grep { /ERROR/ } map { split /\n/ } @said), '', 'no call fails beside others');
for (@readers) { $_->poll($m); $_->same_as($m, 'beside purges') }
forget('0');
is($m->ask('SELECT count(*) FROM outbox_deleted'), 1, 'one row stays');
$_->poll($m) for @readers;
$_->same_as($m, 'in the end') for @readers;

# ---- it is rolled back
delete_some();
my $deletions = deletions();
$m->ask('BEGIN');
forget('0');
$m->ask('ROLLBACK');
is(deletions(), $deletions, 'a purge that is rolled back forgets nothing');
is($_->once($m), '', 'and no reader hears of it') for @readers;
$_->same_as($m, 'rolled back') for @readers;

# ---- somebody deletes by hand beside it
$open->ask('BEGIN; DELETE FROM outbox_deleted');
my $purge = Session->new($server)->send("SELECT snowflake_ids.forget_deleted('outbox', '0')");
ok($server->poll_query_until('postgres', 'SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)'), 'a purge waits');
$open->ask('COMMIT');
is($purge->answer, 0, 'it leaves out what is gone');
done_testing();
