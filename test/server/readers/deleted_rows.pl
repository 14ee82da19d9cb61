# Deletions in a feed, by the view of doc/feed.md: readers must end with the rows of the table, during deletions, new
# rows with old keys, changed keys, and rollbacks. Controls are a view without a part of it, and another
# position.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use POSIX 'WNOHANG';
use Test::More;

my $page = Page->new('doc/feed.md');
my ($stamped) = map { $_->{content} =~ /(.*?)^INSERT/ms } $page->blocks('A feed with stamps', 'sql');
my ($deletions) = map { $_->{content} } $page->take('Deleted rows', 'sql');
my ($set_up, $read) = $deletions =~ /^(.*?)^DELETE FROM headline [^;]*;\n.*?^(SELECT .*;\n)\z/ms or die 'another page';
$set_up =~ /(CREATE VIEW headline_changes AS.*;)/s or die 'no view';
my $view = $1;
my $unchecked = $view =~ s/headline_changes/unchecked/r =~ s/\s+WHERE NOT EXISTS \([^)]*\)//r;
my $server = new_server('deleted', clock(), conf => "max_prepared_transactions = 20\nsnowflake_ids.machine_id = 1");
$server->safe_psql('postgres', "$stamped $set_up $unchecked; CREATE SEQUENCE row_ids");
caught_up($server);

# The body of a deleted row, and of a key that never was there, is 0.
sub reader
{
	my ($name, $of) = @_;
	my $query = $read =~ s/;\n\z//r =~ s/headline_changes/$of/r;
	$query =~ s/ stamp, id, body, deleted / id, CASE WHEN deleted THEN '0' ELSE body END, stamp /
	  or die 'another query';
	my $reader = Reader->new($name, $server, $query);
	$reader->{position} = '0';
	return $reader;
}

sub state_of
{
	my ($last_key) = @_;
	return {
		map { split /\|/ } split /\n/,
		$server->safe_psql(
			'postgres',
			"SELECT k, coalesce(body, '0') FROM generate_series(1, $last_key) AS k LEFT JOIN headline ON id = k") };
}

sub reads_all
{
	my ($reader, $keys) = @_;
	return eventually(
		sub {
			poll_all($reader);
			my $rows = state_of($keys);
			return !grep { ($reader->{seen}{$_} // 0) != $rows->{$_} } keys %$rows;
		});
}

# ---- a key is inserted again with a smaller stamp than its deletion, which waits between its first row and its trigger
my ($rule, $control) = (reader('the rule', 'headline_changes'), reader('no look at the table', 'unchecked'));
my ($deletes, $inserts, $holder) = map { Session->new($server) } 1 .. 3;
$holder->ask(q{INSERT INTO headline VALUES (1, '1'), (2, '1')});
ok(reads_all($_, 2), $_->name . ': two rows') for $rule, $control;
$holder->ask('SELECT pg_advisory_lock(1)');
$deletes->send(
	q{DELETE FROM headline WHERE CASE WHEN id = 1 THEN true ELSE pg_advisory_lock_shared(1) IS NOT NULL END});
my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'};
ok(eventually(sub { value($server, $waiting) eq '1' }), 'the deletion waits');
$inserts->send(q{INSERT INTO headline VALUES (1, '2')});
ok(eventually(sub { value($server, $waiting) eq '2' }), 'the same key waits for it');
$holder->ask('SELECT pg_advisory_unlock(1)');
unlike($_->answer, qr/ERROR/, 'done') for $deletes, $inserts;
is(value($server, 'SELECT h.stamp < d.stamp FROM headline h JOIN headline_deleted d USING (id)'),
	't', 'the new row has a smaller stamp than the deletion');
ok(reads_all($rule, 2), 'the reader has the new row');
ok( eventually(
		sub {
			poll_all($control);
			return $control->position gt value($server, 'SELECT max(stamp) FROM headline_deleted')
			  && $control->{seen}{1} == 0;
		}),
	'control: a reader that does not look at the table has lost it');
$_->gone for $deletes, $inserts, $holder;

$server->safe_psql('postgres', 'UPDATE headline SET id = 3 WHERE id = 1');
ok(reads_all($rule, 3), 'a changed key is a deletion of the old one');

# A subscription writes in a session of this role.
$server->safe_psql('postgres', <<'END');
ALTER TABLE headline ENABLE ALWAYS TRIGGER note_deleted;
ALTER TABLE headline_deleted ENABLE ALWAYS TRIGGER zz_stamp;
SET session_replication_role = replica;
DELETE FROM headline WHERE id = 3;
END
ok(reads_all($rule, 3), 'triggers that are enabled ALWAYS note what a subscription deletes');

# ---- many
my $keys = 40;

sub changes
{
	my $script = "SET lock_timeout = '2s';\n";
	for (1 .. 60)
	{
		my ($a, $b) = map { 1 + int rand $keys } 1, 2;
		my $upsert = sub {
			"INSERT INTO headline VALUES ($_[0], nextval('row_ids')) ON CONFLICT (id) DO UPDATE SET body = excluded.body;\n";
		};
		my $delete = sub { "DELETE FROM headline WHERE id = $_[0];\n" };
		my $wait = sprintf "SELECT FROM pg_sleep(%.4f);\n", rand 0.02;
		my @kinds = (
			$upsert->($a) . $delete->($b),
			"BEGIN;\n" . $delete->($a) . $wait . "COMMIT;\n" . $upsert->($a),
			"BEGIN;\n" . $delete->($a) . $wait . $upsert->($a) . $wait . "COMMIT;\n",
			"BEGIN;\n" . $upsert->($a) . $wait . $delete->($a) . "COMMIT;\n",
			"BEGIN;\n" . $delete->($a) . $wait . "ROLLBACK;\n",
			"BEGIN;\nSAVEPOINT s;\n" . $delete->($a) . "ROLLBACK TO s;\n" . $upsert->($b) . $wait . "COMMIT;\n",
			"INSERT INTO headline VALUES ($a, nextval('row_ids')) ON CONFLICT DO NOTHING;\n",
			"UPDATE headline SET id = $b WHERE id = $a;\n",
			"BEGIN;\n" . $delete->($a) . "PREPARE TRANSACTION 'p$a.' ;\n${wait}COMMIT PREPARED 'p$a.';\n");
		$script .= $kinds[ rand @kinds ];
	}
	return $script;
}
my $newest = reader('the largest stamp as the position', 'headline_changes');
$newest->{query} =~ s/greatest\(.*?\) AS position/stamp/ or die 'another query';

# The control is asked while nobody writes: what it has passed, it has lost.
my $lost = 0;
ok( eventually(
		sub {
			my @jobs = map { Job->new($server, changes(), 0.01) } 1 .. 4;
			go_on(1, sub { poll_all($rule, $newest); return 1 });
			unlink map { $_->{flag} } @jobs;
			for my $job (@jobs)
			{
				poll_all($newest) until waitpid $job->{pid}, WNOHANG;
				$job->{pid} = 0;
			}
			finish_prepared($server);
			poll_all($newest) for 1 .. 3;
			my $rows = state_of($keys);
			return $lost = grep { ($newest->{seen}{$_} // 0) != $rows->{$_} } keys %$rows;
		}),
	'control: a reader with the largest stamp as its position is wrong about keys');
diag "the largest stamp: wrong about $lost keys";
ok(reads_all($rule, $keys), 'the rule: has the rows of the table');
diag sprintf '%-46s %7d changes read', $rule->name, $rule->rows;
is(value($server, 'SELECT count(*) > 0 FROM headline_deleted'), 't', 'rows were deleted');

$page->all_run;
$server->stop;
done_testing();
