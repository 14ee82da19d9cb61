# The oracle: each committed row was seen by each reader, in order: exactly once, or again and again from a position.
package Oracle;
use strict;
use warnings;
use Time::HiRes qw(time);
use Readers;
use World;

# Not waited for: after a crash they may be gone, although somebody has read them.
my %may_vanish;

# They have left a table, and may have been read there.
my %gone;
my %tables = map { $_->{truth} => 1 } @Readers::readers;

# Tables whose rows change: the column that is read, and all versions.
my %column = (headline => 'stamp', outbox => 'stamp');
my %versions = (headline => 'SELECT stamp FROM version');

sub forget
{
	@$_{qw(seen passes polls disorder)} = ({}, [], 0, 0) for @Readers::readers;
	%gone = ();
	return;
}

sub are_gone
{
	my ($table, $ids) = @_;
	$gone{$table}{$_} = 1 for split /\n/, $ids;
	return;
}

sub is_after
{
	my ($reader, $id, $last) = @_;
	return $reader->{numeric} ? $id > $last : $id gt $last;
}

sub has_read
{
	my ($reader, $actor, $rows) = @_;
	$reader->{polls}++;
	$actor->{not_before} = time + (@$rows ? 0.003 : 0.02);
	return if $reader->{uses};
	my @ids;
	for (@$rows)
	{
		my ($id, $body) = split /\|/, $_, 2;
		push @ids, $id;
		$may_vanish{$id} = 1 if $body =~ /synchronous_commit off/;
	}
	if ($reader->{backward}) { push @{ $reader->{passes} }, \@ids if @ids; return }
	@ids = sort { is_after($reader, $a, $b) ? 1 : -1 } @ids if $reader->{any_order};
	@ids = grep { is_after($reader, $actor->{vars}{position}, $_) } @ids if $reader->{each_once};
	my $again = $reader->{positional} && !$reader->{each_once};
	$actor->{vars}{last} = '' if $again;
	for my $id (@ids)
	{
		$reader->{disorder}++ unless $actor->{vars}{last} eq '' || is_after($reader, $id, $actor->{vars}{last});
		$actor->{vars}{last} = $id;
		$reader->{seen}{$id}++;
	}
	return;
}

# These keep their place in the database.
sub look_at_used
{
	my %of = map { $_->{name} => $_ } grep { $_->{uses} } @Readers::readers;
	my %last;
	for (split /\n/, World::ask('SELECT reader, id FROM used ORDER BY n'))
	{
		my ($name, $id) = split /\|/;
		my $reader = $of{$name};
		$reader->{seen}{$id}++;
		$reader->{disorder}++
		  if !$reader->{any_order} && !$reader->{positional} && !is_after($reader, $id, $last{$name} // '');
		$last{$name} = $id;
	}
	return;
}

# ids of committed rows, by table
sub truth
{
	return {
		map {
			my $id = $column{$_} // 'id';
			$_ => [ split /\n/, World::ask("SELECT $id FROM $_ ORDER BY $id") ]
		} keys %tables };
}

# Returns whether readers have seen all, and how many are left.
sub still_missing
{
	my ($truth, @readers) = @_;
	my @positional = grep { !$_->{uses} && !$_->{backward} } @readers;
	my %missing = map { $_->{name} => $truth->{ $_->{truth} } } @positional;
	return sub {
		my $n = 0;
		for my $reader (@positional)
		{
			my @left = grep { !$reader->{seen}{$_} } @{ $missing{ $reader->{name} } };
			$missing{ $reader->{name} } = \@left;
			$n += @left;
		}
		for (grep { $_->{uses} } @readers)
		{
			my ($table, $id) = ($_->{truth}, $column{ $_->{truth} } // 'id');
			$n += World::ask(
				"SELECT count(*) FROM $table AS t WHERE NOT EXISTS (
				SELECT FROM used AS u WHERE reader = '$_->{name}' AND u.id = t.$id\::text)");
		}
		return ($n == 0, $n);
	};
}

# Shown backward: each pass has all rows between its first and last.
sub judge_passes
{
	my ($reader, $ids) = @_;
	my %place = map { $ids->[$_] => $_ } 0 .. $#$ids;
	for my $pass (@{ $reader->{passes} })
	{
		$reader->{seen}{$_} = 1 for @$pass;
		my @shown = map { $place{$_} // () } @$pass or next;
		my $disorder = grep { $shown[$_] >= $shown[ $_ - 1 ] } 1 .. $#shown;
		$reader->{disorder} += $disorder;
		$reader->{lost}     += $shown[0] - $shown[-1] + 1 - @shown unless $disorder;
	}
	return;
}

# in words; sets the reader's `lost`
sub verdict
{
	my ($reader, $truth, $event) = @_;
	my $ids = $truth->{ $reader->{truth} };
	my %there = map { $_ => 1 } @$ids;
	my $versions = $versions{ $reader->{truth} };
	@there{ split /\n/, World::ask($versions) } = () if $versions;
	my $gone = $gone{ $reader->{truth} } // {};
	my @lost;
	$reader->{lost} = 0;
	if ($reader->{backward}) { judge_passes($reader, $ids) }
	else
	{
		@lost = grep { !$reader->{seen}{$_} } @$ids;
		$reader->{lost} = @lost;
	}
	my %wrong = (
		lost => $reader->{lost},
		'seen twice' => $reader->{positional} && !$reader->{each_once}
		? 0
		: scalar(grep { $_ > 1 } values %{ $reader->{seen} }),
		'out of order' => $reader->{disorder},
		'never committed' => scalar(
			grep { !exists $there{$_} && !$gone->{$_} && !($event->{loses_async} && $may_vanish{$_}) }
			  keys %{ $reader->{seen} }));
	my $words = join ', ', map { $wrong{$_} ? "$wrong{$_} $_" : () } sort keys %wrong;
	return $words . (@lost ? ", such as $lost[0]" : '') if $words;
	return $reader->{polls} ? '' : 'never had an answer';
}

1;
