# Two servers had one machine id, and doc/multi-node.md says how to find and change what both have generated: without
# replication, with one subscription or two, and with a warehouse that has refused a row of each pair or overwritten it.
# The oracle reads all rows of both servers and compares them here.
use Servers;
use Page;

my $page = Page->new('doc/multi-node.md');
my ($on_both, $third) = ('Ids that are on both', 'A third database that receives both');
my ($compare, $change) = map { $_->{content} } $page->take($on_both, 'sql');
my ($forget, $insert) = map { $_->{content} } $page->take($third, 'sql');
my ($times) = $page->text =~ /`(SELECT min\(sno_timestamp.*?)`/ or die 'no query for the time';
my ($since, $until) = $compare =~ /id >= timestamptz '(.*?)' AND id < timestamptz '(.*?)'/ or die 'no bounds of time';
my %node = map { $_ => node($_) } qw(node1 node3 warehouse);
my ($one, $three, $warehouse) = @node{qw(node1 node3 warehouse)};
my ($major) = `pg_config --version` =~ /(\d+)/;

sub node
{
	my ($name) = @_;
	my $node = plain_server($name, allows_streaming => 'logical', conf => <<'END');
wal_retrieve_retry_interval = 100ms
snowflake_ids.machine_id = 1
END
	$node->safe_psql('postgres', 'CREATE DATABASE app');
	$node->safe_psql('app', 'CREATE EXTENSION snowflake_ids');
	return $node;
}

# A statement of the page, where another server than node1 runs it, or asks another one than node3.
sub run
{
	my ($node, $sql, %o) = @_;
	$sql =~ s/'host=\w+ dbname=app'/'host=$o{from} dbname=app'/ or die if $o{from};
	$sql =~ s/^JOIN message/LEFT JOIN message/m && $sql =~ s/\Q$until\E/infinity/ or die if $o{missing};
	$node->safe_psql('app', 'DROP TABLE IF EXISTS twin') if $sql =~ /CREATE TABLE twin/;
	return $node->safe_psql('app', Page::for_servers($sql, \%node));
}

# ---- rows at the page's times and around them. `body` says of which server a row is, and which.
my %time = (
	before => "'$since'::timestamptz - interval '4 ms'",
	first => "'$since'::timestamptz",
	middle => "'$since'::timestamptz + interval '1 day'",
	last => "'$until'::timestamptz - interval '4 ms'",
	after => "'$until'::timestamptz");
my $rest = q{'2026-01-01 00:00:00.123456+00', '{0.1,NaN,-Infinity}', '\x00ff', '{"a": 1.50}'};

sub tables
{
	my (@nodes) = @_;
	for (@nodes)
	{
		$_->safe_psql('app', <<'END');
DROP TABLE IF EXISTS reply, message;
CREATE TABLE message (id sno DEFAULT gen_sno() PRIMARY KEY, body text, sent timestamptz, marks float8[], file bytea, j jsonb);
CREATE TABLE reply (message sno REFERENCES message ON UPDATE CASCADE, body text);
END
	}
}

sub generate
{
	my ($node, $name, @which) = @_;
	$node->safe_psql('app',
		"INSERT INTO message VALUES (make_sno($time{$_}, 0, 1, 1), '$name $_', $rest); INSERT INTO reply SELECT id, body FROM message WHERE body = '$name $_'"
	) for @which;
}

# One that only this server has, one that is a copy, and one that is a copy and was changed.
sub generate_others
{
	my ($node, $name, $sequence) = @_;
	$node->safe_psql('app', <<"END");
INSERT INTO message VALUES (make_sno($time{middle}, 0, 1, $sequence), '$name alone', $rest),
    (make_sno($time{middle}, 0, 1, 6), 'copied', $rest), (make_sno($time{middle}, 0, 1, 5), 'changed on $name', $rest);
END
}

sub rows
{
	my ($node) = @_;
	return map { split /\|/, $_, 2 } split /\n/,
	  $node->safe_psql('app', 'SELECT id, message::text FROM message ORDER BY id');
}

# The oracle: ids on both with different rows, of the page's time.
sub differ
{
	my ($here, $there) = @_;
	my $bounds = $one->safe_psql('app', "SELECT sno_lower_bound('$since'), sno_lower_bound('$until')");
	my ($from, $to) = split /\|/, $bounds;
	return join "\n",
	  sort grep { defined $here->{$_} && $here->{$_} ne $there->{$_} && $_ ge $from && $_ lt $to } keys %$there;
}
my $found = 'SELECT id FROM twin ORDER BY id';

# ---- two servers without replication
tables($one, $three);
for ([ $one, 'one', 7 ], [ $three, 'three', 8 ])
{
	my ($node, $name, $sequence) = @$_;
	generate($node, $name, sort keys %time);
	generate_others($node, $name, $sequence);
}
{
	my %here = rows($one);
	my %there = rows($three);
	my $differ = differ(\%here, \%there);
	is(scalar(split /\n/, $differ), 4, 'three twins and a changed copy');
	is( run($_, $times),
		$_->safe_psql('app', "SELECT sno_timestamp(make_sno($time{before}, 0, 1, 1))"),
		'when the machine id was used first') for $one, $three;
	run($one, $compare);
	is($one->safe_psql('app', $found), $differ, 'those are found, and no other');
	is( $one->safe_psql(
			'app',
			q{SELECT count(*) FROM twin WHERE here->>'body' !~ '^changed|^one' OR there->>'body' !~ '^changed|^three'}),
		0,
		'with the rows of both');
	like(
		$three->safe_psql('app', 'SET enable_seqscan = off; EXPLAIN ' . ($compare =~ /\$\$\s*(.*?)\$\$/s ? $1 : die)),
		qr/Index Cond: .*>= .* </,
		'by the index');
	$one->safe_psql('app', q{DELETE FROM twin WHERE here->>'body' ~ '^changed'});
	run($one, $change);
	is($three->safe_psql('app', 'SELECT count(*) FROM message'), scalar(keys %there), 'the other server has its rows');
	is( $one->safe_psql(
			'app', 'SELECT count(*) FROM message JOIN twin ON message.id = new_id WHERE body = here->>$$body$$'),
		3,
		'the rows of one server have new ids');
	is( $one->safe_psql(
			'app', 'SELECT count(*) FROM reply JOIN message ON message.id = message WHERE reply.body = message.body'),
		5,
		'and replies follow');
	run($one, $compare);
	is( $one->safe_psql('app', q{SELECT string_agg(here->>'body', ' ') FROM twin}),
		'changed on one',
		'over: none is found again');
}

# ---- subscriptions
sub publish
{
	tables(@_);
	$_->safe_psql('app', 'DROP PUBLICATION IF EXISTS all_rows; CREATE PUBLICATION all_rows FOR TABLE message') for @_;
}

sub subscribe
{
	my ($to, $from, %o) = @_;
	my $name = $to->name . '_from_' . $from;
	my $with = join ', ', 'copy_data = false', map { "$_ = $o{$_}" } sort keys %o;
	$to->safe_psql('app',
			"CREATE SUBSCRIPTION $name CONNECTION '"
		  . Page::connection($node{$from}, $from)
		  . "' PUBLICATION all_rows WITH ($with)");
	return $name;
}

sub drop
{
	my ($to) = @_;
	$to->safe_psql('app', "DROP SUBSCRIPTION $_")
	  for split /\n/, $to->safe_psql('app', 'SELECT subname FROM pg_subscription');
}

sub stops
{
	my ($node, $name, $what) = @_;
	my $mark = log_mark($node);
	ok(wait_for_log($node, qr/ERROR:  duplicate key value .*?"message_pkey"(?:(?!\n\d{4}-).)*?/s, $mark),
		"$what: $name stops");
}

sub has_all_of
{
	my ($from, $name, $what) = @_;
	my $lsn = $from->safe_psql('app', 'SELECT pg_current_wal_lsn()');
	ok( $from->poll_query_until(
			'app', "SELECT confirmed_flush_lsn >= '$lsn' FROM pg_replication_slots WHERE slot_name = '$name'"),
		"$what: $name has caught up");
}

sub rows_of_both
{
	my ($node, $what, @of) = @_;
	my %all = map { rows($_) } @of;
	my %has = rows($node);
	is_deeply(\%has, \%all, "$what: the rows of both");
}

# Node1 receives the rows of node3.
for my $changed ('sender', 'receiver')
{
	my $what = "changed on the $changed";
	publish($one, $three);
	generate($one, 'one', 'middle');
	my $name = subscribe($one, 'node3');
	generate($three, 'three', 'middle', 'first');
	stops($one, $name, $what);
	if ($changed eq 'sender')
	{
		run($three, $compare, from => 'node1');
		run($three, $change);
		stops($one, $name, "$what, again");
	}
	else
	{
		run($one, $compare);
		run($one, $change);
		has_all_of($three, $name, $what);
		is( $one->safe_psql('app', q{SELECT string_agg(body, ', ' ORDER BY body) FROM message}),
			'one middle, three first, three middle',
			"$what: it has all rows");
		run($one, $compare);
		is($one->safe_psql('app', $found), '', "$what: over");
	}
	drop($one);
}
SKIP:
{
	skip "origin = none came with PostgreSQL 16, this is $major", 1 if $major < 16;
	my $what = 'both receive';
	publish($one, $three);
	my %name = (
		node1 => subscribe($one, 'node3', origin => 'none'),
		node3 => subscribe($three, 'node1', origin => 'none'));
	$node{$_}->safe_psql('app', "ALTER SUBSCRIPTION $name{$_} DISABLE") for keys %name;
	generate($one, 'one', 'middle', 'first');
	generate($three, 'three', 'middle', 'last');
	$node{$_}->safe_psql('app', "ALTER SUBSCRIPTION $name{$_} ENABLE") for keys %name;
	stops($node{$_}, $name{$_}, $what) for sort keys %name;
	run($one, $compare);
	run($three, $compare, from => 'node1');
	run($_, $change) for $one, $three;
	has_all_of($three, $name{node1}, $what);
	has_all_of($one, $name{node3}, $what);
	is($_->safe_psql('app', 'SELECT count(*) FROM message'), 4, "$what: all rows") for $one, $three;
	rows_of_both($one, $what, $three);
	drop($_) for $one, $three;
}

# ---- a third database
for my $first ('one', 'three')
{
	my $what = "a warehouse that subscribes, first had the row of $first";
	publish($one, $three);
	tables($warehouse);
	my %from = (one => subscribe($warehouse, 'node1'), three => subscribe($warehouse, 'node3'));
	my ($early, $late) =
	  $first eq 'one' ? ([ $one, 'one' ], [ $three, 'three' ]) : ([ $three, 'three' ], [ $one, 'one' ]);
	generate(@$early, 'middle');
	has_all_of($early->[0], $from{ $early->[1] }, $what);
	generate(@$late, 'middle', 'first');
	stops($warehouse, $from{ $late->[1] }, $what);
	generate(@$early, 'last', 'first');
	repair($what, \%from);
}
for my $how ('DO NOTHING', 'DO UPDATE SET body = excluded.body')
{
	my $what = "a warehouse that is loaded with $how";
	publish($one, $three);
	tables($warehouse);
	generate($one, 'one', 'middle', 'first');
	generate($three, 'three', 'middle', 'last');
	my $load = sub {
		$warehouse->safe_psql(
			'app',
			Page::for_servers(
				"INSERT INTO message SELECT * FROM dblink('host=$_ dbname=app', 'SELECT * FROM message') AS other (id sno, body text, sent timestamptz, marks float8[], file bytea, j jsonb) ON CONFLICT (id) $how",
				\%node)) for @_;
	};
	$load->('node1', 'node3');
	repair($what);
}

sub forget { return run($warehouse, $forget) }

# Change the ids on node1, then mend the warehouse.
sub repair
{
	my ($what, $from) = @_;
	run($one, $compare);
	cmp_ok($one->safe_psql('app', 'SELECT count(*) FROM twin'), '>', 0, "$what: twins");
	run($one, $change);
	forget();
	if ($from)
	{
		my @left = ([ $one, $from->{one} ], [ $three, $from->{three} ]);
		$_->[2] = $_->[0]->safe_psql('app', 'SELECT pg_current_wal_lsn()') for @left;
		ok( eventually(
				sub {
					@left = grep {
						$_->[0]->safe_psql('app',
							"SELECT confirmed_flush_lsn < '$_->[2]' FROM pg_replication_slots WHERE slot_name = '$_->[1]'"
						) eq 't'
					} @left;
					return 1 if !@left;
					forget();
					sleep 0.3;
					return 0;
				}),
			"$what: subscriptions continue");
	}
	for my $of ('node1', 'node3')
	{
		run($warehouse, $compare, missing => 1, from => $of);
		run($warehouse, $insert);
	}
	rows_of_both($warehouse, $what, $one, $three);
	for my $of ('node1', 'node3')
	{
		run($warehouse, $compare, missing => 1, from => $of);
		is($warehouse->safe_psql('app', $found), '', "$what: over, for $of");
	}
	drop($warehouse) if $from;
}

$_->stop('immediate') for values %node;
$page->all_run;
done_testing();
