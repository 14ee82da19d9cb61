# Readers on standbys keep the mark of doc/feed.md as their position; then the standby is promoted, and its own standby
# follows. Controls get the position in another way, in the same history, and lose rows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($tables, $mark, $read) = map { $_->{content} } $page->take('On a standby', 'sql');
$read =~ s/;\n\z//;

my $primary = feed_server('primary', 1, streaming => 1, conf => "synchronous_commit = off\nhot_standby_feedback = on");
$primary->safe_psql('postgres', <<"END");
$tables
-- For controls.
CREATE TABLE other (LIKE bulletin INCLUDING ALL);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON other FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE other ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE mark_of_other (LIKE mark);
CREATE TABLE mark_of_newest (LIKE mark);
INSERT INTO mark_of_other SELECT * FROM mark;
INSERT INTO mark_of_newest SELECT * FROM mark;
END
$primary->backup('base');
my ($hub, $leaf) = map { PostgreSQL::Test::Cluster->new($_) } qw(hub leaf);
for ([ $hub, $primary ], [ $leaf, $hub ])
{
	my ($standby, $of) = @$_;
	$standby->init_from_backup($primary, 'base');
	$standby->enable_streaming($of);
	$standby->start;
}

my $controls = <<'END';
UPDATE mark_of_other SET settled = sno_settled('other');
UPDATE mark_of_newest SET settled = coalesce((SELECT max(stamp) FROM bulletin), settled);
END
my @jobs = map { Job->new($primary, writes($_, 'bulletin') =~ s/\(1, 400\)/(1, 40)/r) } 1 .. 4;
my @markers = map { Job->new($primary, $mark . $_, 0.02) } $controls, '';

my %reader = map { $_ => Reader->new($_, $_ eq 'standby' ? $hub : $leaf, $read) } 'standby', 'cascaded standby';
my $bound = $read =~ s/\(SELECT settled FROM mark\)/BOUND/r;
my $largest = $read =~ s/\(SELECT settled FROM mark\)/(SELECT max(stamp) FROM bulletin)/r;
$bound ne $read && $largest ne $read or die 'another query';
my $mark_first = 'the mark first, then the rows';
$reader{$mark_first} = Reader->new($mark_first, $leaf, $bound)->bound_first('SELECT settled FROM mark');
my @controls = (
	Reader->new('the largest stamp', $hub, $largest),
	Reader->new('the rows first, then the mark', $hub, $largest)
	  ->bound_second('DO $$BEGIN PERFORM pg_sleep(0.02); END$$; SELECT settled FROM mark'),
	Reader->new('the settled id sent another way', $hub, $bound)
	  ->bound_first(q{SELECT sno_settled('bulletin')}, $primary),
	Reader->new('the mark of another table', $hub, $read    =~ s/mark/mark_of_other/r),
	Reader->new('a mark that is the newest id', $hub, $read =~ s/mark/mark_of_newest/r));

my @readers = values %reader;
my ($next_look, %lost) = (0);
ok( go_on(
		4,
		sub {
			my ($over) = @_;
			poll_all(@readers, @controls);
			return if !$over || $reader{standby}->rows < 1000 || time < $next_look;
			$lost{ $_->name } ||= $_->has_lost($reader{standby}) for @controls;
			$next_look = time + 1;
			return !grep { !$lost{ $_->name } } @controls;
		}),
	'each control has lost rows');
ok($lost{$_} > 0, "control: $_ loses rows") for map { $_->name } @controls;
my ($rc, $out, $err) = $hub->psql('postgres', q{SELECT sno_settled('bulletin')});
like($err, qr/ERROR:.* standby/, 'a standby has no settled id of its own');
my $faults = q{SELECT rule FROM snowflake_ids.check_feed('bulletin') WHERE NOT ok};
is($_->safe_psql('postgres', $faults), '', $_->name . ': check_feed() finds all rules of the feed kept')
  for $hub, $leaf;

# ---- the primary dies; the standby takes over
$primary->stop('immediate');
$_->stop for @jobs, @markers;
$hub->promote;
finish_prepared($hub);
$reader{late} = Reader->new('a reader that begins now', $hub, $read);
@readers = @reader{ sort keys %reader };
@jobs = map { Job->new($hub, writes($_, 'bulletin') =~ s/\(1, 400\)/(1, 40)/r) } 1 .. 4;
@markers = map { Job->new($hub, $mark, 0.02) } 1 .. 2;
my $rows_before = $hub->safe_psql('postgres', 'SELECT max(id) FROM bulletin');
go_on(
	4,
	sub {
		my ($over) = @_;
		poll_all(@readers);
		return $over && $hub->safe_psql('postgres', 'SELECT max(id) FROM bulletin') > $rows_before;
	}) or die 'nothing is written';
$_->stop for @jobs;
finish_prepared($hub);
my $newest = $hub->safe_psql('postgres', 'SELECT max(stamp) FROM bulletin');
for my $reader (@readers)
{
	eventually(sub { poll_all($reader); $reader->position ge $newest })
	  or diag $reader->name, ' does not reach the end';
}
$_->stop for @markers;

my $rows = rows_of($hub, 'bulletin');
for my $reader (@readers)
{
	my ($missing, $stale) = $reader->verdict($rows);
	is("$missing, $stale", '0, 0', $reader->name . ': no row is missing or stale');
	diag sprintf '%-46s %7d rows %5d missing %5d stale', $reader->name, scalar keys %$rows, $missing, $stale;
}
diag sprintf '%-46s %7d rows %5d lost', $_->name, $reader{standby}->rows, $lost{ $_->name } for @controls;

$hub->safe_psql('postgres', 'ALTER TABLE bulletin DISABLE TRIGGER zz_stamp; DROP INDEX bulletin_stamp_idx');
$hub->wait_for_catchup($leaf, 'replay', $hub->lsn('insert'));
is( $leaf->safe_psql('postgres', $faults),
	"it is enabled ALWAYS\nan index begins with the stamp",
	'check_feed() on a standby shows what has been broken since');

$page->all_run;
$_->stop for $leaf, $hub;
done_testing();
