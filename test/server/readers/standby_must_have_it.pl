# Readers of a stamped table while COMMIT waits for a synchronous standby: nobody gets a row whose COMMIT waits for the
# standby, who sleeps wakes when it has come, and who reads from the settled id loses nothing when it is promoted.
# Controls go on after rows that the standby lacks, and lose rows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Test::More;

my $clock = clock();
my $primary = new_server('primary', $clock, allows_streaming => 1, conf => "max_prepared_transactions = 5\n");
$primary->safe_psql('postgres', <<'END');
CREATE SEQUENCE row_ids;
CREATE TABLE news (id bigint PRIMARY KEY DEFAULT nextval('row_ids'), body int DEFAULT 1, stamp sno NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
INSERT INTO news DEFAULT VALUES;
END
$primary->backup('base');
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'one'\n");
reload($primary);
my $standby = standby_of($primary, 'one', $clock);

my $polls = q{SELECT greatest(:'position', (SELECT sno_settled('news'))), id, body, stamp FROM news
	WHERE stamp >= :'position' ORDER BY stamp};
my $newest_stamp = q{SELECT stamp, id, body, stamp FROM news WHERE stamp > :'position' ORDER BY stamp};
my $rule = Reader->new('from the settled id', $primary, $polls);
my @controls = (
	Reader->new('control: from the newest stamp', $primary, $newest_stamp),
	Reader->new('control: synchronous_commit = local', $primary, "SET synchronous_commit = local; $polls"));
my $insert = 'INSERT INTO news DEFAULT VALUES';

# The newest row that `reader` has got, after a poll.
sub newest { my ($reader) = @_; poll_all($reader); return (sort values %{ $reader->{at} })[-1] // '' }

sub reads_up_to
{
	my ($stamp, $what) = @_;
	ok(eventually(sub { newest($rule) ge $stamp }), $what);
	return;
}

# A session that sleeps, and what it has seen.
sub sleeper
{
	my $session = Session->new($primary);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	my $seen = $session->ask("SELECT snowflake_ids_wait('news', 0)");
	$session->send("SELECT snowflake_ids_wait('news', $seen, '10 min')");
	waits_for($pid, 'Extension') or die 'it does not sleep';
	return ($session, $seen);
}

sub waits_for
{
	my ($pid, $what) = @_;
	my $is = "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid AND '$what' IN (wait_event_type, wait_event)";
	return eventually(sub { value($primary, $is) eq '1' });
}

# A transaction with a stamp.
sub begin
{
	my ($level, $begin) = @_;
	my $session = Session->new($primary);
	return ($session, $session->ask("SET synchronous_commit = $level; $begin"));
}

# The standby goes, and then the transaction is committed.
sub commit_waits
{
	my ($session, $commit) = @_;
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$standby->stop('fast', fail_ok => 1);
	$session->send($commit);
	waits_for($pid, 'SyncRep') or die "$commit does not wait";
	return $pid;
}

# Readers have read up to `seen`, and one of them sleeps.
sub are_told_nothing
{
	my ($what, $seen, $reader) = @_;
	is(newest($rule), $seen, "$what: a reader gets no row");
	is($reader->said, '', "$what: one that sleeps is told nothing");
	return;
}

my $begin = "BEGIN; $insert RETURNING stamp";
for my $way ([ 'on', $begin, 'COMMIT' ], [ 'remote_write', $begin, 'COMMIT' ], [ 'remote_apply', $begin, 'COMMIT' ])
{
	my ($level, undef, $commit) = @$way;
	my $what = "$commit, $level";
	reads_up_to($primary->safe_psql('postgres', 'SELECT max(stamp) FROM news'), "$what: all rows before it");
	my ($reader, $number) = sleeper();
	my ($writer, $stamp) = begin(@$way);
	my $seen = newest($rule);
	commit_waits($writer, $commit);
	are_told_nothing($what, $seen, $reader);
	cmp_ok(value($primary, q{SELECT sno_settled('news')}), 'le', $stamp, "$what: the settled id stays below the row");
	start_at($standby, $clock);
	is($writer->answer, '', "$what: committed when the standby is back");
	isnt($reader->answer, $number, "$what: then the reader wakes");
	reads_up_to($stamp, "$what: and gets the row");
}

# ---- prepared before
{
	my ($writer, $stamp) = begin('on', "$begin; PREPARE TRANSACTION 'p'");
	my ($reader, $number) = sleeper();
	my $seen = newest($rule);
	commit_waits($writer, q{COMMIT PREPARED 'p'});
	are_told_nothing('COMMIT PREPARED', $seen, $reader);
	start_at($standby, $clock);
	isnt($reader->answer, $number, 'COMMIT PREPARED: when the standby is back, the reader wakes');
	reads_up_to($stamp, 'COMMIT PREPARED: and gets the row');
}

# ---- rows that are committed although the standby lacks them, and above its ceiling
sub without_the_standby
{
	my $stamp = value($primary, "SET synchronous_commit = local; $insert RETURNING stamp");
	is(value($primary, 'SELECT max(stamp) FROM news'), $stamp, 'a row that the standby lacks is there for all');
	return $stamp;
}
{
	$standby->stop('fast');
	$clock->step(100);
	my ($writer) = begin('on', $begin);
	my $pid = commit_waits($writer, 'COMMIT');
	value($primary, "SELECT pg_cancel_backend($pid)");
	like($writer->answer, qr/canceling wait for synchronous replication/, 'a commit whose wait is cancelled');
	my $stamp = without_the_standby();
	is(newest($rule), $stamp, 'a reader gets the rows');
	cmp_ok($rule->position, 'le', $stamp, 'and will read them again');
	start_at($standby, $clock);
	fails_with(
		$standby,
		q{SELECT snowflake_ids_wait('news', 0)},
		'nobody waits on a standby',
		qr/cannot wait for rows on a standby/, qr/HINT/);
	ok(eventually(sub { poll_all($rule); return $rule->position gt $stamp }), 'no longer when the standby is back');
}

# ---- such rows are lost, and the clock of the promoted standby is slow
poll_all($rule, @controls);
$standby->stop('fast');
$clock->step(100);
without_the_standby() for 1 .. 3;
poll_all($rule, @controls);
cmp_ok($_->position, 'gt', $rule->position, $_->name . ' goes on after them') for @controls;
kill_postmaster($primary);
my $slow = clock();
$slow->set(-3600);
$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
start_at($standby, $slow);
$standby->promote;
eventually(sub { value($standby, 'SELECT pg_is_in_recovery()') eq 'f' }) or die 'not promoted';
$_->moves_to($standby) for $rule, @controls;
$standby->safe_psql('postgres', $insert) for 1 .. 50;
my $rows = rows_of($standby, 'news');
$slow->set($clock->{offset});    # readers wait for the clock
eventually(sub { poll_all($rule, @controls); return join(' ', $rule->verdict($rows)) eq '0 0' });

for my $reader ($rule, @controls)
{
	my ($missing, $stale) = $reader->verdict($rows);
	diag sprintf '%-46s %7d rows %5d missing %5d stale', $reader->name, scalar keys %$rows, $missing, $stale;
	if   ($reader == $rule) { is("$missing, $stale", '0, 0', 'after the promotion, a reader misses nothing') }
	else                    { cmp_ok($missing, '>', 0, $reader->name . ' misses rows') }
}
$standby->stop('immediate');
done_testing();
