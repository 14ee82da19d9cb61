# A standby without the primary's last WAL is promoted, and its clock is an hour behind. Readers had read what it lacks,
# so its new stamps lie below their positions. Who goes back as doc/feed.md says loses none of its rows, before and
# after the first of them. Controls lose them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($block) = $page->take('After a failover', 'sql');
my ($first, $go_back) = $block->{content} =~ /^(SELECT \S+);.*\n(SELECT .*) \\gset\n\z/ or die 'another block';

my $clock = clock();
my $primary = new_server('primary', $clock, allows_streaming => 1, conf => 'max_connections = 40');
my %table = (mastic => 'headline', sno => 'bulletin');
my @formats = sort keys %table;
$primary->safe_psql('postgres', 'CREATE SEQUENCE row_ids');
for my $format (@formats)
{
	my $table = $table{$format};
	$primary->safe_psql('postgres', <<"END_SQL");
CREATE TABLE $table (id bigint PRIMARY KEY DEFAULT nextval('row_ids'), body int DEFAULT 1);
SELECT to_do FROM snowflake_ids.create_feed('$table', format => '$format') \\gexec
END_SQL
}
$primary->backup('base');
my $slow = clock();
$slow->set(-3600);
my $standby = standby_of($primary, 'standby', $slow);

# A session each. Returns the keys.
sub write_rows
{
	my ($server, $format, $n) = @_;
	return map { $server->safe_psql('postgres', "INSERT INTO $table{$format} DEFAULT VALUES RETURNING id") } 1 .. $n;
}

my (%reader, %rows);
my @ways = (
	'by the rule, before all writers',
	'by the rule',
	'after a restart, from a time before the promotion',
	'control: keeps its position',
	'control: from the largest stamp',
	'control: after a restart, from its life');
for my $format (@formats)
{
	for my $way (@ways)
	{
		my $reader = Reader->new($way, $primary, <<"END_SQL" =~ s/;?\n\z//r);
SELECT greatest(:'position', (SELECT ${format}_settled('$table{$format}'))), id, body, stamp FROM $table{$format}
WHERE stamp >= :'position' ORDER BY stamp;
END_SQL
		$reader->{position} = '0' if $format eq 'mastic';
		$reader{$format}{$way} = $reader;
	}
}
my @readers = map { values %{ $reader{$_} } } @formats;

# ---- the standby loses its connection; what comes later is lost
write_rows($primary, $_, 3) for @formats;
$primary->wait_for_catchup($standby, 'replay', flushed_lsn($primary));
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
reload($standby);
eventually(sub { value($standby, 'SELECT count(*) FROM pg_stat_wal_receiver') eq '0' }) or die 'still connected';
$clock->step(100);    # above the ceiling that the standby knows
for my $format (@formats)
{
	write_rows($primary, $format, 3);
	my $newest = value($primary, "SELECT max(stamp) FROM $table{$format}");
	my $above = sub { my ($position) = @_; return $format eq 'mastic' ? $position > $newest : $position gt $newest };
	for my $reader (values %{ $reader{$format} })
	{
		eventually(sub { poll_all($reader); return $above->($reader->position) }) or die 'does not go on';
		is($reader->rows >= 6 && keys %{ $reader->{seen} }, 6, "$format, $reader->{name}: all rows of the primary");
	}
}
kill_postmaster($primary);
my $before = value($standby, 'SELECT clock_timestamp()');
$standby->promote;
eventually(sub { value($standby, 'SELECT pg_is_in_recovery()') eq 'f' }) or die 'not promoted';
$_->moves_to($standby) for @readers;

sub goes_back
{
	my ($format, $way, $query) = @_;
	my $reader = $reader{$format}{$way};
	$query =~ s/:'position'/'$reader->{position}'/;
	$query =~ s/mastic_/${format}_/;
	my $position = value($standby, $query);
	$position =~ /^\w+$/ or die "$way: $position";
	$reader->{position} = $position;
	return;
}

sub by_the_rule
{
	my ($format, $way) = @_;
	value($standby, $first =~ s/mastic/$format/r);
	return goes_back($format, $way, $go_back);
}

# ---- before writers, and with writers
is(value($standby, 'SELECT life_began IS NULL FROM snowflake_ids.status()'), 't', 'nobody has used the new primary');
by_the_rule($_, 'by the rule, before all writers') for @formats;
push @{ $rows{$_} }, write_rows($standby, $_, 5)   for @formats;
for my $format (@formats)
{
	my $position = $reader{$format}{'control: keeps its position'}->position;
	fails_with(
		$standby,
		"SELECT snowflake_ids.feed_position('$table{$format}', '$position')",
		"$format: a position from the old primary is refused",
		qr/position $position is above all ids of this server/, qr/HINT/);
	by_the_rule($format, 'by the rule');
	goes_back(
		$format,
		'control: from the largest stamp',
		"SELECT least(:'position', (SELECT max(stamp) FROM $table{$format}))");
}
my %five = map { $_ => [ @{ $rows{$_} } ] } @formats;
my @later = grep { $_->name =~ /restart/ } @readers;
my @now = grep { $_->name !~ /restart/ } @readers;
poll_all(@now);

# ---- the clock is right again, but has not reached the positions; then the new primary is restarted
$slow->set(60);
push @{ $rows{$_} }, write_rows($standby, $_, 5) for @formats;
poll_all(@now);
restart_after($standby, 'fast', 80);
$_->moves_to($standby) for @readers;
for my $format (@formats)
{
	by_the_rule($format, 'control: after a restart, from its life');
	goes_back($format, 'after a restart, from a time before the promotion', $go_back =~ s/life_began/'$before'/r);
}

# ---- the clock has passed all positions: what a reader has not got now, it never gets
$slow->set(300);
for my $format (@formats)
{
	my ($last) = write_rows($standby, $format, 1);
	my @of = values %{ $reader{$format} };
	for my $reader (@of)
	{
		ok(eventually(sub { poll_all($reader); return exists $reader->{seen}{$last} }),
			"$format, $reader->{name}: goes on");
		my $missing = sub {
			scalar grep { !exists $reader->{seen}{$_} } @_;
		};
		my ($of_five, $of_all) = ($missing->(@{ $five{$format} }), $missing->(@{ $rows{$format} }));
		diag sprintf '%-6s %-50s %d of 5, %d of %d missing', $format, $reader->{name}, $of_five, $of_all,
		  scalar @{ $rows{$format} };
		if   ($reader->{name} =~ /^control/) { cmp_ok($of_all, '>', 0, "$format, $reader->{name}: loses rows") }
		else                                 { is($of_all, 0, "$format, $reader->{name}: loses nothing") }
		is($of_five, 5, "$format, $reader->{name}: all five, for ever") if $reader->{name} =~ /keeps/;
	}
	my %there = map { $_ => 1 } split /\n/, value($standby, "SELECT id FROM $table{$format}");
	my $copy = $reader{$format}{'by the rule'}{seen};
	is(scalar(grep { !$there{$_} } keys %$copy), 3, "$format: what only the old primary had stays in a copy");
}
$page->all_run;
$standby->stop;
done_testing();
