# doc/feed.md: a subscriber's feed has the rows of a publisher that has a feed too; one query finds which of many tables
# have changed; and the loop in Python keeps its copy equal to the table, through a crash and a feed that is created
# again.
use Servers;
use IPC::Run ();
use Page;
use PostgreSQL::Test::Utils;

my $page = Page->new('doc/feed.md');
my %node = map { $_ => PostgreSQL::Test::Cluster->new($_) } 'node1', 'node2';
for my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE app');
	$node->safe_psql('app', 'CREATE EXTENSION snowflake_ids');
}

# ---- a subscriber, whose publisher has a feed too
for my $node (@node{ 'node1', 'node2' })
{
	$node->safe_psql('app',
		q{CREATE TABLE article (id bigint PRIMARY KEY, body text); SELECT snowflake_ids.create_feed('article')});
}
$node{node1}->safe_psql('app',
	'SET client_min_messages = error; SELECT gen_sno(); CREATE PUBLICATION articles FOR TABLE article');
my $publisher = Page::connection($node{node1}, 'node1');
$node{node2}->safe_psql('app', "CREATE SUBSCRIPTION articles CONNECTION '$publisher' PUBLICATION articles");
my $poll = sub {
	return $node{node2}->safe_psql(
		'app', q{SELECT string_agg(concat_ws(':', step, id, (f.row).body), ' ' ORDER BY step, id)
		FROM article_feed('} . ($_[0] // '') . q{') AS f});
};
$node{node1}->safe_psql('app', q{INSERT INTO article (id, body) VALUES (1, 'first'), (2, 'second')});
ok(eventually(sub { $poll->() eq '0 2:1:first 2:2:second 3' }), 'the feed of the subscriber has the rows')
  or diag $poll->();
my $position = $node{node2}->safe_psql('app', q{SELECT position FROM article_feed('') WHERE step = 3});
is($poll->($position), '3', 'and then nothing');
$node{node1}->safe_psql('app', q{UPDATE article SET body = 'changed' WHERE id = 1; DELETE FROM article WHERE id = 2});
ok(eventually(sub { $poll->($position) eq '1:2 2:1:changed 3' }), 'until a row is changed and one is deleted')
  or diag $poll->($position);

# ---- many tables, one of them with so many rows that its index is left to do
my $sql = sub { $node{node1}->safe_psql('app', $_[0]) };
my $sorted = sub { join "\n", sort split /\n/, $sql->($_[0]) };
my ($create, $changed) = map { $_->{content} } $page->take('Many tables', 'sql');
$sql->("CREATE TABLE $_ (id bigserial PRIMARY KEY, body text)") for 'headline', 'line_item';
$sql->('INSERT INTO line_item (body) SELECT repeat($$x$$, 100) FROM generate_series(1, 100000)');
$sql->($create);
is($sql->('SELECT count(*) FROM followed, snowflake_ids.check_feed(of_table) WHERE NOT ok'), '0', 'two feeds');
is($sorted->($changed), "headline|\nline_item|", 'at first, both tables are to be polled');
my $poll_changed = sub {
	my @tables;
	for (split /\n/, $sql->($changed))
	{
		my ($table, $next) = split /\|/, $_, 2;
		$sql->( "UPDATE followed SET position = p.position FROM ${table}_feed('$next') AS p "
			  . "WHERE step = 3 AND of_table = '$table'::regclass");
		push @tables, $table;
	}
	return join ' ', sort @tables;
};
$poll_changed->() for 1, 2;
is($poll_changed->(), '', 'later none, while nobody writes');
$sql->(q{INSERT INTO headline VALUES (1, 'first'), (2, 'second'); DELETE FROM line_item WHERE id = 1});
is($poll_changed->(), 'headline line_item', 'those to which somebody has written');
$sql->(q{INSERT INTO headline VALUES (3, 'third'); DELETE FROM headline WHERE id = 3});
is($poll_changed->() . $poll_changed->(), 'headline', 'each once');
is($sorted->($changed =~ s/'1 minute'/'0 s'/r) =~ s/\|.*//gr, "headline\nline_item", 'and all after a minute');
$page->all_run;

# ---- the loop
my ($python) = grep {
	eval { run_command([ $_, '-c', 'import psycopg' ]); $? == 0 }
} '/usr/bin/python3', 'python3';
SKIP:
{
	skip 'psycopg 3 is not installed', 5 unless $python;
	my $server = $node{node1};
	my ($block) = $page->blocks('The loop', 'python');
	my $file = PostgreSQL::Test::Utils::tempdir() . '/loop.py';
	append_to_file($file, $block->{content});
	local %ENV = (%ENV, PGHOST => $server->host, PGPORT => $server->port);
	my ($out, $err) = ('', '');
	my $reader = IPC::Run::start([ $python, $file ], '>', \$out, '2>', \$err);
	my $has = sub {
		my ($copy, $what) = @_;
		my $seen = eventually(sub { $reader->pump_nb if $reader->pumpable; return $out =~ /\Q$copy\E\n\z/ });
		ok($seen, $what) or diag "$out$err";
		return;
	};
	$has->(q({1: 'first', 2: 'second'}), 'the loop copies the table');
	$sql->(q{UPDATE headline SET body = 'changed' WHERE id = 1; DELETE FROM headline WHERE id = 2});
	$has->(q({1: 'changed'}), 'and follows it');
	$server->stop('immediate');
	$server->start;
	$sql->(q{INSERT INTO headline VALUES (3, 'third')});
	$has->(q({1: 'changed', 3: 'third'}), 'through a crash');
	$sql->(
		q{SELECT snowflake_ids.drop_feed('headline'); DELETE FROM headline WHERE id = 1; SELECT snowflake_ids.create_feed('headline')}
	);
	$has->(q({3: 'third'}), 'a feed that is created again is copied again');
	like($out, qr/HINT:  Poll with the position ''/, 'as the error says');
	$reader->kill_kill;
}

$_->stop for values %node;
done_testing();
