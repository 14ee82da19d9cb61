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
CREATE TABLE parent (id bigint, stamp mastic);
CREATE TABLE child () INHERITS (parent);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE parent ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE child ENABLE ALWAYS TRIGGER zz_stamp;
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
	  asks_while('parent', 'ALTER TABLE unrelated SET (fillfactor = 80)',
		'ALTER TABLE parent DISABLE TRIGGER zz_stamp');
	is("$state: $said", 'answers: t', 'a trigger is disabled after the reader has looked at it');
	like($reader->ask(q{SELECT mastic_settled('parent')}), qr/could miss rows/, 'the next call looks again');
	$monitor->ask('ALTER TABLE parent ENABLE ALWAYS TRIGGER zz_stamp');
	is($reader->ask(q{SELECT mastic_settled('parent') > 0}), 't', 'and it is enabled again');
	$reader->gone;
}

# ---- in a transaction, the second call of a statement locks nothing, by which it would hear of changes
{
	my $reader = Session->new($server);
	$reader->ask('BEGIN');
	is($reader->ask(q{SELECT mastic_settled('parent') > 0}), 't', 'a transaction gets the settled id') for 1 .. 2;
	$monitor->ask('ALTER TABLE parent DISABLE TRIGGER zz_stamp');
	like($reader->ask(q{SELECT mastic_settled('parent') > 0}), qr/could miss rows/, 'and hears of a disabled trigger');
	$monitor->ask('ALTER TABLE parent ENABLE ALWAYS TRIGGER zz_stamp');
	$reader->gone;
}

# ---- ALTER TABLE rewrites a table. To a snapshot from before that, PostgreSQL shows it as empty
$server->safe_psql('postgres', <<'END');
CREATE TABLE one (id bigint, stamp mastic);
CREATE TABLE two (id bigint, stamp mastic);
CREATE TABLE parts (id bigint, stamp mastic) PARTITION BY LIST (id);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON one FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE one ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON two FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE two ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON parts FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE parts ENABLE ALWAYS TRIGGER zz_stamp;
CREATE VIEW of_two AS
	WITH bound AS (SELECT least(mastic_settled('one'), mastic_settled('two')) AS settled)
	SELECT * FROM one WHERE stamp < (SELECT settled FROM bound)
	UNION ALL
	SELECT * FROM two WHERE stamp < (SELECT settled FROM bound);
CREATE VIEW of_parts AS SELECT * FROM parts WHERE stamp < (SELECT mastic_settled('parts'));
CREATE FUNCTION poll(name text, last mastic) RETURNS TABLE (id bigint, stamp mastic) STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE stamp > $1 ORDER BY stamp', name) USING last;
END $$;
END

# A reader polls twice. Its first poll waits for a lock of the session that alters.
sub reads_all
{
	my ($name, $isolation, $query, $insert, $alter) = @_;
	my $reader = Session->new($server, options => "-c default_transaction_isolation=$isolation -c search_path=public");
	my $ddl = Session->new($server);
	my ($reader_pid, $ddl_pid) = (pid($reader), pid($ddl));
	my $last = 0;
	my $poll = sub { return $query =~ s/LAST/'$last'::mastic/r };
	my $got = sub {
		my @rows = map { [ split /\|/ ] } split /\n/, $_[0];
		$last = $rows[-1][1] if @rows;
		return map { $_->[0] } @rows;
	};
	$monitor->ask($insert);
	my $table = $insert =~ /INTO parts/ ? 'parts' : 'two';
	eventually(sub { $monitor->ask("SELECT mastic_settled('$table') > max(stamp) FROM $table") eq 't' })
	  or die 'nothing settles';
	$ddl->ask("BEGIN; $alter");
	$reader->send($poll->());
	is(waits_for($reader_pid, $ddl_pid), 'waits', "$name: the poll waits for the lock");
	$ddl->ask('COMMIT');
	my @read = $got->($reader->answer);
	push @read, $got->($reader->ask($poll->()));
	is("@read", '1 2', "$name: each row is read once");
	$_->gone for $reader, $ddl;
	$monitor->ask('TRUNCATE one, two, parts');
	return;
}
my @two = (
	'INSERT INTO one VALUES (1); INSERT INTO two VALUES (2)',
	'ALTER TABLE one DROP IF EXISTS x, ADD x float DEFAULT random()');
my @parts = ('INSERT INTO parts VALUES (1); INSERT INTO parts VALUES (2)', 'ALTER TABLE part_1 SET UNLOGGED');
my %polls = (
	view => [ 'SELECT id, stamp FROM of_two WHERE stamp > LAST ORDER BY stamp', @two ],
	partitions => [ 'SELECT id, stamp FROM of_parts WHERE stamp > LAST ORDER BY stamp', @parts ],
	function => [ q{SELECT * FROM poll('of_two', LAST)}, @two ],
	cursor => [
		q{BEGIN; DECLARE c CURSOR FOR SELECT id, stamp FROM of_two WHERE stamp > LAST ORDER BY stamp; }
		  . q{FETCH ALL FROM c; COMMIT},
		@two ]);
for my $isolation ('read\\ committed', 'repeatable\\ read', 'serializable')
{
	for (sort keys %polls)
	{
		reads_all("$_, $isolation", $isolation, @{ $polls{$_} });
		$monitor->ask('ALTER TABLE part_1 SET LOGGED');
	}
}

# ---- a partition is attached, and gets a row, while PostgreSQL plans a poll. The plan does not read the partition, and
# the snapshot is taken after that. A reader of all tables, the control, passes over the row
$server->safe_psql('postgres', <<'END');
CREATE TABLE planned (id bigint, stamp mastic) PARTITION BY LIST (id);
CREATE TABLE planned_1 PARTITION OF planned FOR VALUES IN (1);
CREATE TABLE planned_2 (id bigint, stamp mastic);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON planned FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE planned ENABLE ALWAYS TRIGGER zz_stamp;
CREATE FUNCTION when_unlocked(n bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM pg_advisory_lock_shared(1);
	PERFORM pg_advisory_unlock_shared(1);
	RETURN n;
END $$;
END

sub misses
{
	my ($settled, $known) = @_;
	$monitor->ask('INSERT INTO planned VALUES (1)');
	my $reader = Session->new($server);
	my $reader_pid = pid($reader);
	$reader->ask(q{SELECT mastic_settled('planned')}) if $known;

	# Without a row it says the position, too.
	my $poll = sub {
		return "SELECT greatest('$_[0]'::mastic, (SELECT $settled)), string_agg(id::text, ' ') "
		  . "FROM planned WHERE stamp >= '$_[0]' AND id >= when_unlocked(0)";
	};
	eventually(sub { $monitor->ask("SELECT mastic_settled() > max(stamp) FROM planned") eq 't' }) or die;
	$monitor->ask('SELECT pg_advisory_lock(1)');
	$reader->send($poll->(0));
	ok( eventually(
			sub {
				$monitor->ask("SELECT count(*) FROM pg_locks WHERE pid = $reader_pid AND locktype = 'advisory' "
					  . 'AND NOT granted') == 1;
			}),
		"$settled: PostgreSQL plans the poll");
	$monitor->ask('ALTER TABLE planned ATTACH PARTITION planned_2 FOR VALUES IN (2); INSERT INTO planned VALUES (2)');
	eventually(sub { $monitor->ask("SELECT mastic_settled() > max(stamp) FROM planned") eq 't' }) or die;
	$monitor->ask('SELECT pg_advisory_unlock(1)');
	my ($position, $read) = split /\|/, $reader->answer;
	is($read, '1', "$settled: the plan does not read the new partition");
	(undef, $read) = split /\|/, $reader->ask($poll->($position));
	$monitor->ask('ALTER TABLE planned DETACH PARTITION planned_2; TRUNCATE planned, planned_2');
	$reader->gone;
	return ($read // '') !~ /2/;
}
ok(misses('mastic_settled()'), 'ATTACH while a poll of all tables is planned: the row is lost');
ok(!misses(q{mastic_settled('planned')}), 'ATTACH while a poll of the table is planned: the row is read');
ok(!misses(q{mastic_settled('planned')}, 'known'), 'and by a reader who knows the partitions from before');

# ---- INHERIT over a table whose child has an open writer. It is lost, unless all are locked, and stamped again
for my $locks (0, 1)
{
	$monitor->ask(<<'END');
CREATE TABLE top (id bigint, stamp mastic);
CREATE TABLE middle (id bigint, stamp mastic);
CREATE TABLE bottom () INHERITS (middle);
END
	$monitor->ask(
		"CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON $_ FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp'); ALTER TABLE $_ ENABLE ALWAYS TRIGGER zz_stamp"
	) for qw(top middle bottom);
	my ($writer, $ddl) = map { Session->new($server) } 1, 2;
	my @pids = map { pid($_) } $ddl, $writer;
	my $id = $writer->ask('BEGIN; INSERT INTO bottom VALUES (1) RETURNING stamp');
	my $position;
	ok( eventually(
			sub {
				$monitor->ask('INSERT INTO unrelated VALUES (1)');
				$position = $monitor->ask(q{SELECT mastic_settled('top')});
				return $position > $id;
			}),
		'a reader of the table does not wait for the writer');
	if ($locks)
	{
		$ddl->send('BEGIN; LOCK TABLE middle; ALTER TABLE middle INHERIT top; UPDATE middle SET stamp = stamp; COMMIT');
		is(waits_for(@pids), 'waits', 'LOCK TABLE waits for the writer of a child');
		$writer->ask('COMMIT');
		$ddl->answer;
	}
	else
	{
		$ddl->ask('ALTER TABLE middle INHERIT top');
		$writer->ask('COMMIT');
	}
	is($monitor->ask("SELECT count(*) FROM top WHERE stamp >= '$position'"),
		$locks, $locks ? 'LOCK, INHERIT, and a restamp: the row is read' : 'INHERIT alone: it is lost');
	$_->gone for $writer, $ddl;
	$monitor->ask('DROP TABLE top CASCADE; DROP TABLE IF EXISTS bottom, middle');
}
done_testing();
