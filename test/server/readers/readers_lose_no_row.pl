# Readers of doc/feed.md: of a feed, and where rows of another server arrive. Each has a control that loses rows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Page;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($table, $plain) =
  map { $_->{content} =~ /^(CREATE TABLE news .*?;)\n.*^(SELECT .*?;)$/ms } $page->blocks('Without stamps', 'sql');
my $smallest = '2222222222222222';

# Returns the position and the rows.
sub ask
{
	my ($session, $query, $position) = @_;
	my $said = $session->ask("\\set position $position\n$query");
	return ($said =~ /^(\w+)/ ? "$1" : $position, $said =~ s/^\w+\|//mgr);
}

sub settles
{
	my ($session, $id) = @_;
	return eventually(sub { $session->ask("SELECT sno '$id' < sno_settled()") eq 't' });
}

# ---- a feed
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init;
$primary->append_conf('postgresql.conf', "fsync = off\nautovacuum = off");
$primary->start;
$primary->safe_psql('postgres', "CREATE EXTENSION snowflake_ids; $table");
{
	my ($view, $read) =
	  map { $_->{content} =~ /^(CREATE VIEW news_settled .*?;)\n(SELECT .*?);$/ms }
	  $page->blocks('In the order of stamps, for tools', 'sql');
	$primary->safe_psql('postgres', $view);
	my $of_table = $read =~ s/news_settled/news/r;
	my ($first, $second, $reader) = map { Session->new($primary) } 1 .. 3;
	my $got = sub {
		my ($query, $last) = @_;
		return $reader->ask($query =~ s/$smallest/$last/r) =~ s/\n/ /gr;
	};
	my $insert = sub {
		my ($session, $body) = @_;
		return $session->ask(qq{INSERT INTO news (body) VALUES ('"$body"') RETURNING id});
	};

	$first->ask('BEGIN');
	my $a = $insert->($first, 'a');
	my $b = $insert->($second, 'b');
	is($got->($of_table, $smallest), qq($b|"b"), 'control: a reader of the table gets the later row only');
	is($got->($read, $smallest), '', 'a reader of the view gets nothing yet');
	my ($position, $rows) = ask($reader, $plain, $smallest);
	is($rows, qq($b|"b"), 'one that reads from a position gets the later row');
	my ($who) = map { $_->{content} =~ /^(SELECT pid, prepared.*);$/m } $page->blocks('Open transactions', 'sql');
	my ($pid) = split /\|/, $reader->ask($who);
	is($pid, $first->ask('SELECT pg_backend_pid()'), 'the page shows who holds the view back');
	$first->ask('COMMIT');
	ok(eventually(sub { $got->($read, $smallest) eq qq($a|"a" $b|"b") }), 'then the view has both, in order');
	is($got->($of_table, $b), '', 'control: the reader of the table has lost one');
	is((ask($reader, $plain, $position))[1], qq($a|"a"\n$b|"b"), 'the one with a position gets it');
	like(
		$reader->ask("SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) $read"),
		qr/Index Scan using news_pkey on news\n +Index Cond: \(\(id <=? .*\) AND \(id > '$smallest'::sno\)\)/,
		'one range of the primary key');

	$first->ask(q{SET idle_in_transaction_session_timeout = '1ms'});
	$first->send(q{BEGIN; INSERT INTO news (body) VALUES ('"idle"')});
	my $c = $insert->($second, 'c');
	ok(eventually(sub { $got->($read, $b) eq qq($c|"c") }), 'idle in a transaction: ended, and the others have come');
}

$primary->stop;

# ---- rows of another server: an id below the settled one arrives late
my %node;
for my $n (1, 2)
{
	my $node = $node{"node$n"} = PostgreSQL::Test::Cluster->new("node$n");
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nsnowflake_ids.machine_id = $n");
	$node->start;
	$node->safe_psql('postgres', "CREATE EXTENSION snowflake_ids; $table");
}
my ($one, $two) = @node{qw(node1 node2)};
$two->safe_psql('postgres', 'CREATE PUBLICATION news FOR TABLE news');
my $publisher = $two->connstr('postgres') =~ s/'/''/gr;
$one->safe_psql('postgres',
	"CREATE SUBSCRIPTION news CONNECTION '$publisher' PUBLICATION news WITH (copy_data = false)");
$one->safe_psql('postgres', 'ALTER SUBSCRIPTION news DISABLE');

my ($here) = map { $_->{content} } $page->take('By the key', 'sql');
my %session = map { $_ => Session->new($node{$_}) } keys %node;
my $theirs = $session{node2}->ask(q{INSERT INTO news (body) VALUES ('"node2"') RETURNING id});
ok(eventually(sub { $session{node1}->ask("SELECT gen_sno() > '$theirs'") eq 't' }), 'node1 is later');
my $ours = $session{node1}->ask(q{INSERT INTO news (body) VALUES ('"node1"') RETURNING id});
ok(settles($session{"node$_"}, $theirs), "a row of node2 has settled by the clock of node$_") for 1, 2;
ok(settles($session{node1}, $ours), 'so has one of node1');

my ($position, $rows) = ask($session{node1}, $plain, $smallest);
is($rows, qq($ours|"node1"), 'a reader of all rows of node1 gets its own');
my %got = map { $_ => (ask($session{$_}, $here, $smallest))[1] } keys %session;
$one->safe_psql('postgres', 'ALTER SUBSCRIPTION news ENABLE');
ok(eventually(sub { $session{node1}->ask('SELECT count(*) FROM news') eq '2' }), 'the row of node2 has come to node1');
unlike((ask($session{node1}, $plain, $position))[1], qr/node2/, 'control: that reader passes over the row of node2');
is_deeply(
	\%got,
	{ node1 => qq($ours|"node1"), node2 => qq($theirs|"node2") },
	'a reader on each server, for its own rows, gets them all');
is((ask($session{node1}, $here, $smallest))[1], $got{node1}, 'and none of another server');

# ---- change data capture
$two->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('look', 'test_decoding')});
my $streamed = $session{node2}->ask(q{INSERT INTO news (body) VALUES ('"streamed"') RETURNING id});
like(
	$two->safe_psql('postgres', q{SELECT data FROM pg_logical_slot_get_changes('look', NULL, NULL)}),
	qr/INSERT: id\[sno\]:'$streamed' /,
	'logical decoding shows an id as text');
$two->safe_psql('postgres', q{SELECT pg_drop_replication_slot('look')});
my (undef, undef, $refused) =
  $two->psql('postgres', "CREATE PUBLICATION recent FOR TABLE news WHERE (id >= '$streamed')");
like($refused, qr/ERROR:  invalid publication WHERE expression/, 'a row filter with an id is refused');
$one->safe_psql('postgres', 'ALTER SUBSCRIPTION news SET (binary = true)');
$streamed = $session{node2}->ask(q{INSERT INTO news (body) VALUES ('"binary"') RETURNING id});
ok(eventually(sub { $session{node1}->ask("SELECT count(*) FROM news WHERE id = '$streamed'") eq '1' }),
	'a subscription takes ids in binary');

# ---- rows of a subscription that get their ids here. Its workers write although their transactions are READ ONLY.
$_->safe_psql('postgres', 'CREATE TABLE arrival (n int PRIMARY KEY)') for $one, $two;
$one->safe_psql('postgres', <<'END');
ALTER TABLE arrival ADD id sno DEFAULT gen_sno();
CREATE FUNCTION wait_for_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(7);
    RETURN NEW;
END $$;
CREATE TRIGGER wait_for_lock BEFORE INSERT ON arrival FOR EACH ROW WHEN (NEW.n > 0) EXECUTE FUNCTION wait_for_lock();
ALTER TABLE arrival ENABLE ALWAYS TRIGGER wait_for_lock;
CREATE ROLE brings SUPERUSER LOGIN;
ALTER ROLE brings SET default_transaction_read_only = on;
END
my $bring = sub { my ($n) = @_; return $two->safe_psql('postgres', "INSERT INTO arrival VALUES ($n)") };
$bring->(1);
$two->safe_psql('postgres', 'CREATE PUBLICATION arrivals FOR TABLE arrival');
$one->safe_psql('postgres',
	"CREATE SUBSCRIPTION arrivals CONNECTION '$publisher' PUBLICATION arrivals WITH (enabled = false)");
$one->safe_psql('postgres', 'ALTER SUBSCRIPTION arrivals OWNER TO brings');
my ($last, @arrived) = ($smallest);
my $read_arrivals = sub {
	my @rows = split /\n/,
	  $session{node1}->ask("SELECT id, n FROM arrival WHERE id > '$last' AND id < (SELECT sno_settled()) ORDER BY id");
	for (@rows)
	{
		($last, my $n) = split /\|/;
		push @arrived, $n;
	}
};

for ([ 1, 'table synchronization', sub { $one->safe_psql('postgres', 'ALTER SUBSCRIPTION arrivals ENABLE') } ],
	[ 2, 'apply worker', sub { $bring->(2) } ])
{
	my ($n, $what, $begin) = @$_;
	my $holder = Session->new($one);
	$holder->ask('SELECT pg_advisory_lock(7)');
	$begin->();
	ok( eventually(
			sub { $holder->ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") eq '1' }),
		"$what: has an id, and waits");
	my $id = $session{node1}->ask("INSERT INTO arrival (n) VALUES (-$n) RETURNING id");
	ok( eventually(
			sub {
				$session{node1}->ask("SELECT sno '$id' < sno_settled() OR EXISTS (SELECT FROM snowflake_ids.unsettled)")
				  eq 't';
			}),
		'the row after it has settled, or somebody holds it back');
	$read_arrivals->();
	$holder->gone;
	ok( eventually(
			sub {
				$read_arrivals->();
				$session{node1}->ask("SELECT '$last' >= max(id) FROM arrival WHERE n = -$n") eq 't';
			}),
		'the reader goes on');
	is("@arrived", join(' ', map { "$_ -$_" } 1 .. $n), "$what: the reader gets all rows, in order");
}
$one->safe_psql('postgres', 'ALTER SUBSCRIPTION arrivals DISABLE');
$_->gone for values %session;
$_->stop for $one, $two;

$page->all_run;
done_testing();
