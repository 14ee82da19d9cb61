# A subscriber stamps rows on arrival: two publishers and local writers have one feed, while workers and servers are
# killed and a subscription is made again. Controls: the publisher's stamp, and a trigger that does not fire for
# subscriptions.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($published, $arrives, $read, $left_over) =
  map { $_->{content} }
  grep { $_->{heading} eq 'Rows of several servers' } $page->take('Rows of several servers', 'sql');
$read =~ s/;\n\z//;

$arrives =~ s/^-- on [^\n]*\n(.*)(CREATE SUBSCRIPTION .*)//s or die 'another page';
($arrives, my $subscribed) = ($1, $2);

my %node;
for my $n (1 .. 3)
{
	$node{"node$n"} = feed_server(
		"node$n", $n,
		streaming => 'logical',
		conf => "logical_decoding_work_mem = 64kB\nwal_retrieve_retry_interval = 100ms");
}
my @publishers = @node{qw(node1 node2)};
my $subscriber = $node{node3};
my @tables = qw(article stamped_there not_always);
my $stamp =
  q{CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');};
for (values %node)
{
	$_->safe_psql('postgres', $published =~ s/CREATE PUBLICATION.*//sr);
	$_->safe_psql('postgres', <<"END");
CREATE TABLE stamped_there (id bigint PRIMARY KEY, body int, stamp sno NOT NULL);
CREATE INDEX ON stamped_there (stamp);
@{[ sprintf $stamp, 'stamped_there' ]}
CREATE TABLE not_always (id bigint PRIMARY KEY, body int, stamp sno NOT NULL DEFAULT gen_sno());
CREATE INDEX ON not_always (stamp);
@{[ sprintf $stamp, 'not_always' ]}
END
}
for my $n (1, 2)
{
	$node{"node$n"}->safe_psql('postgres', $published =~ s/.*(?=CREATE PUBLICATION)//sr);
	$node{"node$n"}
	  ->safe_psql('postgres', 'CREATE PUBLICATION controls FOR TABLE stamped_there, not_always (id, body)');
}
$subscriber->safe_psql('postgres', $arrives);

sub subscribe
{
	my ($n) = @_;
	my $from = $node{"node$n"}->connstr('postgres') =~ s/'/''/gr;
	$subscriber->safe_psql('postgres',
		$subscribed =~ s/\barticles1\b(?= CONNECTION)/articles$n/r =~ s/CONNECTION '[^']*'/CONNECTION '$from'/r =~
		  s/PUBLICATION articles\b/PUBLICATION articles, controls/r);
	return;
}

# so there is an initial copy beside the writers
my @jobs = map { Job->new($node{"node$_"}, writes($_, @tables)) } 1, 1, 2, 2, 3;
eventually(
	sub {
		!grep { $_->safe_psql('postgres', 'SELECT count(*) FROM article') < 300 } values %node;
	}) or die 'nothing is written';
subscribe($_) for 1, 2;

my $of = sub { my ($table) = @_; return $read =~ s/article/$table/gr };
my $rule = Reader->new('stamped on arrival', $subscriber, $read);

fails_with(
	$subscriber,
	q{SELECT sno_settled('not_always')},
	'a trigger that is not ALWAYS',
	qr/Trigger "zz_stamp" of "not_always" is not enabled ALWAYS\./,
	qr/ENABLE ALWAYS TRIGGER zz_stamp/);

# Without a table, because these are refused.
my $settled = sub { my ($table) = @_; return $of->($table) =~ s/sno_settled\('\w+'\)/sno_settled()/r };
my %control = (
	stamped_there => Reader->new('control: the stamp of the publisher', $subscriber, $settled->('stamped_there')),
	not_always => Reader->new('control: the trigger is not ALWAYS', $subscriber, $settled->('not_always')));
my @readers = ($rule, values %control);

sub read_until
{
	my ($done, $what) = @_;
	eventually(sub { poll_all(@readers); return $done->() }) or die "$what: never";
	return;
}

sub read_for
{
	my ($seconds) = @_;
	return go_on($seconds, sub { poll_all(@readers); return 1 });
}

# A new row of a publisher comes to the reader.
sub rows_come
{
	my ($n, $what) = @_;
	my $publisher = $node{"node$n"};
	my $id = $publisher->safe_psql('postgres', "SELECT ${n}000000000 + nextval('row_ids')");
	my $sql = join ' ', map { "INSERT INTO $_ (id, body) VALUES ($id, 1);" } @tables;
	$publisher->safe_psql('postgres', "BEGIN; $sql COMMIT;");
	read_until(sub { exists $rule->{seen}{$id} }, $what);
	pass("rows of node$n come: $what");
	return;
}

sub back
{
	my ($node) = @_;
	comes_back($node);
	finish_prepared($node);
	return;
}

my @faults = (
	[   'initial copy',
		sub {
			eventually(
				sub {
					poll_all(@readers);
					$subscriber->safe_psql('postgres',
						q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'}) == 0;
				}) or die 'no initial copy';
		}
	],
	[   'the apply worker is killed',
		sub {
			my $worker = q{SELECT pid FROM pg_stat_subscription WHERE pid IS NOT NULL AND relid IS NULL LIMIT 1};
			my $pid = eventually(sub { $subscriber->safe_psql('postgres', $worker) }) or die 'no apply worker';
			my $mark = log_mark($subscriber);
			kill 'KILL', $pid;
			wait_for_log($subscriber, qr/reinitializing/, $mark) or die 'not noticed';
			back($subscriber);
		}
	],
	[   'a publisher is killed',
		sub {
			kill_postmaster($publishers[0]);
			$publishers[0]->start;
			back($publishers[0]);
		}
	],
	[   'the subscriber is killed',
		sub {
			kill_postmaster($subscriber);
			$subscriber->start;
			back($subscriber);
		}
	],
	[   'the subscription is made again',
		sub {
			$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION articles2 DISABLE');
			eventually(
				sub {
					$subscriber->safe_psql('postgres',
						q{SELECT count(pid) FROM pg_stat_subscription WHERE subname = 'articles2'}) == 0;
				}) or die 'it does not end';
			my $oid =
			  $subscriber->safe_psql('postgres', q{SELECT oid FROM pg_subscription WHERE subname = 'articles2'});
			$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION articles2');
			$subscriber->safe_psql('postgres', $left_over =~ s/pg_gid_16400/pg_gid_$oid/r);
			$subscriber->safe_psql('postgres', "DELETE FROM $_ WHERE id / 1000000000 = 2") for @tables;
			subscribe(2);
		}
	]);
for my $fault (@faults)
{
	my ($what, $do) = @$fault;
	$do->();
	rows_come($_, $what) for 1, 2;
	read_for(1);
}
ok( eventually(
		sub {
			poll_all(@readers);
			return $control{stamped_there}->has_lost($rule);
		}),
	'the control has lost rows');
my $said = join '', map { $_->stop } @jobs;
finish_prepared($_) for values %node;

my $missing_here = sub {
	my ($node, $n) = @_;
	my $sum = "SELECT count(*), sum(body) FROM article WHERE id / 1000000000 = $n";
	return $node->safe_psql('postgres', $sum) ne $subscriber->safe_psql('postgres', $sum);
};
eventually(
	sub {
		!grep { $missing_here->($node{"node$_"}, $_) } 1, 2;
	}) or die 'rows do not arrive';
my %newest = map { $_ => $subscriber->safe_psql('postgres', "SELECT max(stamp) FROM $_") } @tables;
read_until(
	sub {
		$rule->position ge $newest{article} && !grep { $control{$_}->position lt $newest{$_} } keys %control;
	},
	'the end');
my $rows = { map { %{ rows_of($_, 'article') } } @publishers };
$rows = { %$rows, %{ rows_of($subscriber, 'article') } };

my ($missing, $stale) = $rule->verdict($rows);
is("$missing, $stale", '0, 0', 'no row is missing or stale');
diag sprintf '%-46s %7d rows %5d missing %5d stale', 'stamped on arrival', scalar keys %$rows, $missing, $stale;
for (sort keys %control)
{
	my ($m, $s) = $control{$_}->verdict(rows_of($subscriber, $_));
	ok($m + $s > 0, $control{$_}->name . ': rows are missing or stale');
	diag sprintf '%-46s %7d rows %5d missing %5d stale', $control{$_}->name, scalar keys %$rows, $m, $s;
}

# ---- check_feed() where rows leave and where they arrive
my $faults = q{SELECT rule FROM snowflake_ids.check_feed('article') WHERE NOT ok};
is($_->safe_psql('postgres', $faults), '', $_->name . ': all rules of the feed are kept') for values %node;
$subscriber->safe_psql('postgres', 'ALTER TABLE article ENABLE TRIGGER zz_stamp');
is( $subscriber->safe_psql('postgres', $faults),
	"it is enabled ALWAYS\nits settled id can be asked for",
	'the subscriber: a trigger that rows of a subscription come past');

# ---- servers that write to each other
$subscriber->stop;
SKIP:
{
	skip 'origin = none is of PostgreSQL 16', 2 if $subscriber->pg_version < 16;
	my ($one, $two) = @publishers;
	$_->safe_psql('postgres', "TRUNCATE article; $arrives") for $one, $two;
	for my $pair ([ $one, $two ], [ $two, $one ])
	{
		my ($to, $from) = @$pair;
		my $connection = $from->connstr('postgres') =~ s/'/''/gr;
		my $options =
		  "copy_data = false, origin = none, streaming = parallel, two_phase = true, slot_name = 'to_@{[ $to->name ]}'";
		$to->safe_psql('postgres',
			"CREATE SUBSCRIPTION other_way CONNECTION '$connection' PUBLICATION articles WITH ($options)");
	}
	@readers = map { Reader->new('origin = none, ' . $_->name, $_, $read) } $one, $two;
	@jobs = map { Job->new($node{"node$_"}, writes($_, 'article')) } 1, 2, 1, 2;
	read_for(3);
	$_->stop for @jobs;
	finish_prepared($_) for $one, $two;
	my %all;
	for my $n (1, 2)
	{
		my $here = rows_of($node{"node$n"}, 'article');
		$all{$_} = $here->{$_} for grep { int($_ / 1e9) == $n } keys %$here;
	}
	for my $reader (@readers)
	{
		eventually(sub { poll_all($reader); return join(' ', $reader->verdict(\%all)) eq '0 0' });
		my ($m, $s) = $reader->verdict(\%all);
		is("$m, $s", '0, 0', $reader->name . ': no row is missing or stale');
		diag sprintf '%-46s %7d rows %5d missing %5d stale', $reader->name, scalar keys %all, $m, $s;
	}
}

$page->all_run;
$_->stop for @publishers;
done_testing();
