# A subscriber stamps rows as they arrive, and notes what its publishers delete, truncate and re-key: each copy of its
# tables is right. A publication of all tables brings the publisher's deletions, too, and does no harm.
use Servers;
use Feed;

my ($publisher, $subscriber) = map { feed_server($_, streaming => 'logical') } 'publisher', 'subscriber';
my @from = ('first', 'second');
my $tables = <<'END';
CREATE TABLE article (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1) PARTITION BY RANGE (id);
CREATE TABLE article_1 PARTITION OF article FOR VALUES FROM (0) TO (1000);
CREATE TABLE article_2 PARTITION OF article FOR VALUES FROM (1000) TO (2000);
CREATE TABLE plain (id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1);
END
$subscriber->safe_psql('postgres', $tables);
create_feed($subscriber, $_) for 'article', 'plain';

# A partition that is younger than the feed.
$subscriber->safe_psql('postgres', 'CREATE TABLE article_3 PARTITION OF article FOR VALUES FROM (2000) TO (3000)');
for (@from)
{
	$publisher->safe_psql('postgres', "CREATE DATABASE $_");
	$publisher->safe_psql($_, $tables);
	$publisher->safe_psql($_, 'CREATE TABLE article_3 PARTITION OF article FOR VALUES FROM (2000) TO (3000)');
	$publisher->safe_psql($_, 'CREATE PUBLICATION p FOR TABLE article, plain');
}
my $base = 0;
for (@from)
{
	my $rows = join ', ', map { '(' . ($base + $_) . ')' } 1 .. 9, 1001 .. 1009, 2001 .. 2009;
	$publisher->safe_psql($_, "INSERT INTO article VALUES $rows; INSERT INTO plain VALUES $rows");
	(my $connection = $publisher->connstr($_)) =~ s/'/''/g;
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION $_ CONNECTION '$connection' PUBLICATION p");
	$base += 100;
}
$subscriber->wait_for_subscription_sync($publisher, $_) for @from;
my $arrived = sub { $publisher->wait_for_catchup($_) for @from };
my $m = Session->new($subscriber);
my %reader = map { $_ => Reader->new($_) } 'article', 'plain';
$_->poll($m) for values %reader;
is($m->ask('SELECT count(*) FROM article'), 54, 'the rows of both publishers');
is($m->ask('SELECT bool_and(stamp < pg_snapshot_xmax(pg_current_snapshot())::text::bigint) FROM article'),
	't', 'with stamps of the subscriber');

sub are_right
{
	my ($name, %sqlstate) = @_;
	$arrived->();
	for my $t (sort keys %reader)
	{
		my $want = $sqlstate{$t} // '';
		is($reader{$t}->once($m), $want, "$name, $t: " . ($want || 'no error'));
		$reader{$t}->poll($m);
		$reader{$t}->same_as($m, "$name, $t");
	}
	return;
}
my $both = sub {
	my ($sql) = @_;
	$publisher->safe_psql($_, $sql =~ s/TABLE_/article/gr . ';' . $sql =~ s/TABLE_/plain/gr) for @from;
};
are_right('at first');
$both->(
	'DELETE FROM TABLE_ WHERE id % 10 = 1; UPDATE TABLE_ SET body = body + 1 WHERE id % 10 = 2; UPDATE TABLE_ SET id = id + 20 WHERE id % 10 = 3'
);
are_right('changed');
is($m->ask('SELECT count(*) FROM article_deleted WHERE id % 10 = 1'), 6, 'deletions are noted once each');
$both->('UPDATE TABLE_ SET id = 2300 + id WHERE id BETWEEN 1 AND 999');
are_right('moved to another partition');

# Without publish_via_partition_root, the subscriber truncates each leaf.
$publisher->safe_psql('first', 'TRUNCATE article, plain');
are_right('TRUNCATE at a publisher', article => 'SF001');
is($m->ask('SELECT count(*) FROM article'), 0, 'it has emptied the table of both');
$both->('INSERT INTO TABLE_ SELECT oid::bigint % 100 + 2100 FROM pg_database WHERE datname = current_database()');
are_right('rows after that');
$publisher->safe_psql('second', 'TRUNCATE article_3');
are_right('TRUNCATE of a younger partition', article => 'SF001');
$publisher->safe_psql($_, 'ALTER PUBLICATION p SET (publish_via_partition_root = true)') for @from;
$both->('INSERT INTO TABLE_ SELECT oid::bigint % 100 + 2200 FROM pg_database WHERE datname = current_database()');
are_right('rows by the root');
$publisher->safe_psql('first', 'TRUNCATE article');
are_right('TRUNCATE by the root');
is($m->ask("SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'"), 0, 'both subscriptions go on');

# ---- all tables: the publisher has a feed of its own, and its deletions arrive, too
my ($p, $reader, $own) = (Session->new($publisher), Reader->new('outbox'), Reader->new('outbox'));
$p->ask('INSERT INTO outbox SELECT generate_series(1, 30); DELETE FROM outbox WHERE id <= 3');
$p->ask(q{SELECT snowflake_ids.forget_deleted('outbox', '0'); DELETE FROM outbox WHERE id = 4});
$p->ask('CREATE PUBLICATION everything FOR ALL TABLES');
(my $connection = $publisher->connstr('postgres')) =~ s/'/''/g;
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION everything CONNECTION '$connection' PUBLICATION everything");
$subscriber->wait_for_subscription_sync($publisher, 'everything');
$_->poll($_ == $reader ? $m : $p) for $reader, $own;
$reader->same_as($m, 'all tables: after the first copy');

for my $round (1 .. 3)
{
	$p->ask(
		"DELETE FROM outbox WHERE id = 10 * $round; UPDATE outbox SET id = id + 100 WHERE id = 10 * $round + 1; UPDATE outbox SET body = body + 1"
	);
	$p->ask(q{SELECT snowflake_ids.forget_deleted('outbox', '0')}) if $round == 2;
	$p->ask('TRUNCATE outbox; INSERT INTO outbox VALUES (7)') if $round == 3;
	$publisher->wait_for_catchup('everything');
	is($reader->once($m), '', "all tables, round $round: the subscriber's reader goes on");
	$reader->same_as($m, "all tables, round $round, on the subscriber");
	$own->poll($p);
	$own->same_as($p, "all tables, round $round, on the publisher");
}
is($m->ask(q{SELECT rule FROM snowflake_ids.check_feed('outbox') WHERE NOT ok}), '', 'nothing is to do');
$subscriber->safe_psql('postgres', "DROP SUBSCRIPTION $_") for @from, 'everything';
done_testing();
