# A reader does not wait for a synchronous standby that is away. It goes on reading committed rows, and none that the
# promoted standby could generate again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $clock = clock();
my $primary = new_server('primary', $clock, allows_streaming => 1, conf => "max_prepared_transactions = 5\n");
$primary->safe_psql('postgres', 'CREATE TABLE log (id mastic PRIMARY KEY DEFAULT gen_mastic(), what text)');
$primary->backup('base');
my $rows = q{SELECT string_agg(what, ',' ORDER BY id) FROM log WHERE id < (SELECT mastic_settled())};

sub synchronous
{
	my ($names) = @_;
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = '$names'\n");
	reload($primary);
	return;
}

# as a reader that must not wait, in a statement or in COMMIT
sub reads
{
	my ($what, %o) = @_;
	my $said = value($primary,
			"SET statement_timeout = '60s'; "
		  . ($o{level} ? "SET synchronous_commit = $o{level}; " : '')
		  . "BEGIN READ ONLY; $rows; COMMIT");
	return $said;
}

sub sees
{
	my ($expected, $name) = @_;
	my $said;
	eventually(sub { ($said = reads()) eq $expected });
	is($said, $expected, $name);
	return;
}

# Inserts a row in a session of its own; tells when COMMIT waits.
sub insert_waits
{
	my ($what) = @_;
	my $session = Session->new($primary);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->send("INSERT INTO log (what) VALUES ('$what')");
	eventually(
		sub {
			value($primary, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid = $pid") eq '1';
		}) or die "$what does not wait";
	return ($session, $pid);
}

sub insert { $primary->safe_psql('postgres', "INSERT INTO log (what) VALUES ('$_[0]')"); return }

# ---- standbys are named before one has connected: readers keep what they had
insert('a');
sees('a', 'asynchronous');
synchronous('one');
eventually(sub { value($primary, "SHOW synchronous_standby_names") eq 'one' });
is(reads(), 'a', 'standbys are named, and none has connected: a reader has what it had, and does not wait');
my ($never) = insert_waits('b');
is(reads(), 'a', 'and sees nothing that waits');
my $one = standby_of($primary, 'one', $clock);
is($never->answer, '', 'the standby comes');
sees('a,b', 'and the reader sees what was committed');

# ---- away, idle
insert('c');
sees('a,b,c', 'with the standby');
insert('d');
$one->stop('fast');
sees('a,b,c,d', 'the standby goes: committed rows are still to be read');
$clock->step(100);
is(reads(), 'a,b,c,d', 'also when the ceiling of the standby has passed');

# ---- away, under load
my ($cancelled, $pid) = insert_waits('cancelled');
$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
like($cancelled->answer, qr/WARNING:  canceling wait/, 'a COMMIT that stops to wait');
like(reads('local', level => 'local'), qr/cancelled/, 'a reader with synchronous_commit = local asks for no standby');
my @waiting = map { insert_waits("w$_") } 1 .. 3;
my $began = time;
is(reads(), 'a,b,c,d', 'the reader sees nothing that the standby may lack') for 1 .. 20;
cmp_ok(time - $began, '<', 60, 'and never waits');

# ---- the primary starts again meanwhile
undef @waiting;
restart_after($primary, 'immediate');
is(reads(), 'a,b,c,d', 'after a restart of the primary too') for 1 .. 3;
restart_after($primary, 'fast');
is(reads(), 'a,b,c,d', 'and after another one');

# ---- a table of another database, not polled yet
$primary->safe_psql('postgres', q{SET synchronous_commit = local; CREATE DATABASE other});
$primary->safe_psql('other',
	q{SET synchronous_commit = local; CREATE EXTENSION snowflake_ids; CREATE TABLE log (id mastic DEFAULT gen_mastic()); INSERT INTO log DEFAULT VALUES}
);
is($primary->safe_psql('other', 'SELECT count(*) FROM log WHERE id < (SELECT mastic_settled())'),
	'0', 'what the standby has of one database says nothing of another');

# ---- it comes back
start_at($one, $clock);
sees('a,b,c,d,cancelled,w1,w2,w3', 'back again: all rows');
ok( eventually(
		sub { $primary->safe_psql('other', 'SELECT count(*) FROM log WHERE id < (SELECT mastic_settled())') eq '1' }),
	'of both databases');

# ---- one of two is enough
my $two = standby_of($primary, 'two', $clock);
synchronous('ANY 1 (one, two)');
insert('e');
$two->stop('fast');
insert('f');
sees('a,b,c,d,cancelled,w1,w2,w3,e,f', 'ANY 1 (one, two)');

# ---- failover: no id comes again, or late
$one->stop('fast');
$clock->step(100);
my ($last) = insert_waits('late');
my $settled = value($primary, 'SELECT mastic_settled()');
my $local = value($primary, 'SET synchronous_commit = local; SELECT mastic_settled()');
kill_postmaster($primary);
my $behind = clock();
$behind->set(-3600);
start_at($one, $behind);
$one->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
$one->promote;
$one->reload;
my $first = eventually(sub { value($one, 'SET synchronous_commit = local; SELECT gen_mastic()') =~ /^(\d+)$/ && $1 });
cmp_ok($first, '>=', $settled, 'a standby that is promoted generates no id below what readers were promised');
cmp_ok($first, '<', $local, 'a reader with synchronous_commit = local was promised more');
$one->stop('immediate');
done_testing();
