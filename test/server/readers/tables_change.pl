# The tables of a feed are altered while readers ask for the settled id.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $server = new_server('altered', clock());
$server->safe_psql('postgres', <<'END');
CREATE TABLE unrelated (n int);
CREATE TABLE parent (id bigint, changed mastic);
CREATE TABLE child () INHERITS (parent);
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION mastic_stamp('changed');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION mastic_stamp('changed');
END
caught_up($server);
my $monitor = Session->new($server);

# ---- a reader looks at the triggers of a table, and of its child. Another session alters a table during this
sub pid { my ($session) = @_; return $session->ask('SELECT pg_backend_pid()') }

# Until `session` has got the settled id, or waits for one of the others.
sub waits_for
{
	my ($session, @others) = @_;
	my $of = join ', ', @others;
	return eventually(
		sub {
			$monitor->ask("SELECT CASE WHEN pg_blocking_pids(pid) && ARRAY[$of] THEN 'waits' WHEN state = 'idle' "
				  . "AND query ~ 'settled' THEN 'answers' END FROM pg_stat_activity WHERE pid = $session");
		});
}
my $no_triggers = 'BEGIN; LOCK TABLE pg_trigger IN ACCESS EXCLUSIVE MODE';

# $alter[n] is committed before the reader looks at the table n. The next session waits for the lock by then.
sub asks_while
{
	my ($table, @alter) = @_;
	my $reader = Session->new($server);
	my $reader_pid = pid($reader);
	my @lockers = map { Session->new($server) } @alter, 'end';
	my @pids = map { pid($_) } @lockers;
	$lockers[0]->ask($no_triggers);
	$reader->send("SELECT mastic_settled('$table') > 0");
	for my $n (0 .. $#alter)
	{
		is(waits_for($reader_pid, $pids[$n]), 'waits', "$table: the reader waits for the triggers of table $n");
		$lockers[ $n + 1 ]->send($no_triggers);
		is(waits_for($pids[ $n + 1 ], $pids[$n]), 'waits', 'and another session waits to alter a table');
		$lockers[$n]->ask($alter[$n]);
		$lockers[$n]->ask('COMMIT');
		$lockers[ $n + 1 ]->answer;
	}
	my $state = waits_for($reader_pid, $pids[-1]);
	$_->gone for @lockers;
	return ($state, $reader->answer, $reader);
}
{
	my ($state, $said, $reader) = asks_while('child', 'ALTER TABLE unrelated SET (fillfactor = 90)');
	is($state, 'answers', 'a reader does not look again because an unrelated table has changed');
	is($said, 't', 'it gets the settled id');
	$reader->gone;

	# its trigger after the reader has looked at it
	($state, $said, $reader) =
	  asks_while('parent', 'ALTER TABLE unrelated SET (fillfactor = 80)', 'ALTER TABLE parent DISABLE TRIGGER stamp');
	is("$state: $said", 'answers: t', 'a trigger is disabled after the reader has looked at it');
	like($reader->ask(q{SELECT mastic_settled('parent')}), qr/could miss rows/, 'the next call looks again');
	$monitor->ask('ALTER TABLE parent ENABLE TRIGGER stamp');
	is($reader->ask(q{SELECT mastic_settled('parent') > 0}), 't', 'and it is enabled again');
	$reader->gone;
}
done_testing();
