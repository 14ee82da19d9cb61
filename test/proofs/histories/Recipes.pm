# The SQL of the pages, which histories run as it stands there. A statement in no row, or a row on no page, is a
# failure.
package Recipes;
use strict;
use warnings;
use Page;

# name, page, how the statement begins, and why no history runs it
my @recipes = (
	[ 'one table', 'doc/feed.md', qr/^CREATE TABLE headline / ],
	[ 'feed of it', 'doc/feed.md', qr/^SELECT to_do FROM snowflake_ids\.create_feed\('headline'\)/ ],
	[ 'rows of it', 'doc/feed.md', qr/^INSERT INTO headline /, 'writers insert instead' ],
	[ 'a change', 'doc/feed.md', qr/^UPDATE headline SET body /, 'writers change rows instead' ],
	[ 'read one table', 'doc/feed.md', qr/^SELECT greatest\(.* FROM headline AS h / ],
	[ 'restamp', 'doc/feed.md', qr/^UPDATE headline SET stamp /, 'tables_change' ],
	[ 'wait', 'doc/feed.md', qr/^SELECT snowflake_ids_wait\(/ ],
	[ 'table', 'doc/feed.md', qr/^CREATE TABLE news / ],
	[ 'rows', 'doc/feed.md', qr/^INSERT INTO news /, 'writers insert instead' ],
	[ 'read all tables', 'doc/feed.md', qr/^SELECT greatest\(.* FROM news WHERE id >= :'position' ORDER BY id/ ],
	[ 'view of one table', 'doc/feed.md', qr/^CREATE VIEW headline_settled / ],
	[ 'view of all tables', 'doc/feed.md', qr/^CREATE VIEW news_settled / ],
	[ 'read the view', 'doc/feed.md', qr/^SELECT id, body FROM news_settled / ],
	[   'newest page', 'doc/feed.md',
		qr/^SELECT id, body FROM news WHERE id < \(SELECT sno_settled\(\)\) ORDER BY id DESC/ ],
	[ 'page after', 'doc/feed.md', qr/^SELECT id, body FROM news WHERE id < '[2-9a-x]{16}' ORDER BY id DESC/ ],
	[ 'take some', 'doc/feed.md', qr/^DELETE FROM news .* SKIP LOCKED/ ],
	[ 'reader table', 'doc/feed.md', qr/^CREATE TABLE reader / ],
	[ 'reader rows', 'doc/feed.md', qr/^INSERT INTO reader / ],
	[ 'lock the reader', 'doc/feed.md', qr/^SELECT position FROM reader / ],
	[ 'move the reader', 'doc/feed.md', qr/^UPDATE reader / ],
	[ 'bulletin', 'doc/feed.md', qr/^CREATE TABLE bulletin /, 'marks_on_standbys' ],
	[ 'feed of bulletin', 'doc/feed.md', qr/^SELECT to_do .*'bulletin'/, 'marks_on_standbys' ],
	[ 'what all have read', 'doc/feed.md', qr/^DELETE FROM headline /, 'feeds_keep_house' ],
	[ 'what all know', 'doc/feed.md', qr/^SELECT snowflake_ids\.forget_deleted\(/, 'copies_of_a_feed' ],
	[ 'do not wait', 'doc/feed.md', qr/^SET synchronous_commit = off/, 'its sessions have another level' ],
	[ 'mark', 'doc/feed.md', qr/^CREATE TABLE mark / ],
	[ 'first mark', 'doc/feed.md', qr/^INSERT INTO mark / ],
	[ 'set the mark', 'doc/feed.md', qr/^UPDATE mark / ],
	[ 'read there', 'doc/feed.md', qr/^SELECT greatest\(.* FROM bulletin / ],
	[ 'own rows', 'doc/feed.md', qr/^SELECT greatest\(.* FROM news .* sno_partition\(id\)/ ],
	[ 'who holds', 'doc/feed.md', qr/^SELECT pid, prepared, first_id_time/ ],
	[ 'who holds one table', 'doc/feed.md', qr/^SELECT pid, transaction, first_id_time FROM /, 'no reader' ],
	[ 'begin a life', 'doc/feed.md', qr/^SELECT gen_mastic\(\)/, 'after_a_failover' ],
	[ 'go back', 'doc/feed.md', qr/^SELECT least\(.*life_began/, 'after_a_failover' ],
	[ 'is it there', 'doc/feed.md', qr/^SELECT snowflake_ids_has_settled\(/, 'no reader' ],
	[ 'outbox table', 'README.md', qr/^CREATE TABLE outbox / ],
	[ 'outbox feed', 'README.md', qr/^SELECT to_do FROM snowflake_ids\.create_feed\('outbox'/ ],
	[ 'outbox rows', 'README.md', qr/^INSERT INTO outbox /, 'writers insert instead' ],
	[ 'outbox change', 'README.md', qr/^UPDATE outbox /, 'writers change rows of headline instead' ],
	[ 'outbox deletion', 'README.md', qr/^DELETE FROM outbox /, 'feed_with_deletions' ],
	[ 'outbox wait', 'README.md', qr/^SELECT snowflake_ids_wait\('outbox'/, 'another reader waits' ],
	[ 'read the outbox', 'README.md', qr/^SELECT greatest\(.* FROM outbox_feed / ]);

# headings with tests of their own
my %elsewhere = map { $_ => 1 } 'Deleted rows', 'Rows of several servers';

# without comments and psql's commands, each on one line; each of them once
sub statements_of
{
	my ($path) = @_;
	my @statements;
	for my $block (grep { $_->{language} eq 'sql' && !$elsewhere{ $_->{heading} } } Page->new($path)->commands)
	{
		my $text =
		  $block->{content} =~ s/(?:^|\s)--[^\n]*//mgr =~ s/^\\set .*//mgr =~ s/ \\g(?:set|exec)$/;/mgr =~ s/\s+/ /gr;
		push @statements, map { s/^ +| +$//gr } grep { /\S/ } split /;/, $text;
	}
	my %seen;
	return grep { !/^(BEGIN|COMMIT)$/ && !$seen{$_}++ } @statements;
}

my (%text, %used);

# Returns what is wrong.
sub read_pages
{
	my @wrong;
	my %on = map { $_ => [ statements_of($_) ] } 'doc/feed.md', 'README.md';
	$on{'README.md'} = [ grep { /\boutbox/ } @{ $on{'README.md'} } ];
	my %known;
	for (@recipes)
	{
		my ($name, $page, $begins, $why_not) = @$_;
		my @found = grep { /$begins/ } @{ $on{$page} };
		push @wrong, "$page has " . @found . " statements that are '$name'" if @found != 1;
		next unless @found;
		$known{ $found[0] } = 1;
		$text{$name} = $found[0];
		$text{$name} =~ s/'2222222222222222'|(?<=headline', )0/:'last'/
		  unless $found[0] =~ /^(?:CREATE|INSERT)/;
		$used{$name} = ["none: $why_not"] if $why_not;
	}
	for my $page (sort keys %on)
	{
		push @wrong, map { "$page: no history runs: $_" } grep { !$known{$_} } @{ $on{$page} };
	}
	$text{'page after'} =~ s/'[2-9a-x]{16}'/:'shown'/ if $text{'page after'};
	return @wrong;
}

# {name} is the recipe, {name; this=that; …} with other words in it, {query} that of the view, on its table.
sub filled
{
	my ($history, $line) = @_;
	return $line =~ s/\{([^{}]*)\}/expanded($history, $1)/ger;
}

sub expanded
{
	my ($history, $said) = @_;
	my ($name, @changes) = split /; /, $said;
	my $of = $name eq 'query' ? 'read the view' : $name;
	my $text = $text{$of} // die "$history: no recipe '$name'";
	push @{ $used{$of} }, $history;
	if ($name eq 'query')
	{
		my ($table, $bound) = $text{'view of all tables'} =~ / FROM (\w+) WHERE (.*)/;
		$text =~ s/ FROM \w+ (WHERE .*?) ORDER/ FROM $table $1 AND $bound ORDER/ or die 'another view';
	}
	for (@changes)
	{
		my ($from, $to) = /^(.*?)=(.*)$/s or die "$history: $_";
		$text =~ s/\Q$from\E/$to/g or die "$history: no '$from' in: $text";
	}
	return $text;
}

# page, recipe, histories that run it
sub table
{
	my @rows;
	for (@recipes)
	{
		my ($name, $page) = @$_;
		my %seen;
		my @by = grep { !$seen{$_}++ } @{ $used{$name} // [] };
		push @rows, [ $page, $name, join ', ', @by ];
	}
	return @rows;
}

1;
