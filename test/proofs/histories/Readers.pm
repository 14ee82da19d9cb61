# Readers of all kinds. Each keeps a copy of each table, and compares it with the table at the snapshot of a poll.
#
# A kind is a function: the steps of a script that polls the table of this name. Each poll is taken as it comes; what
# a transaction has polled that fails in the end is not taken back, but for `undo`.
package Readers;
use strict;
use warnings;
use Actor;
use Tables;

our ($again, $event) = (0, '');    # readers may have to copy again now
our $refused = 0;                  # after how many such events
our %figures = map { $_ => 0 } qw(polls rows compared again);
our %faults;    # reader / event => what was wrong first, and how often; its last polls are in the log

sub fault
{
	my ($reader, $table, $what) = @_;
	my $fault = $faults{"$reader->{name} / $event"} //= { first => "$table: $what", count => 0 };
	print STDERR join "\n", "$reader->{name}: $table: $what", @{ $reader->{of}{$table}{said} // [] }, ''
	  if !$fault->{count}++;
	return;
}

sub quoted { my ($position) = @_; return "'$position'" }

# ---- what was polled

sub fresh { return { position => '', copy => {}, seen => {}, behind => 0 } }

sub life_of { my ($position) = @_; return (split /\./, $position)[4] // '' }

# Of one life, no version comes twice, but those that the transaction itself has written.
sub see
{
	my ($reader, $table, $from, $to, @values) = @_;
	my $of = $reader->{of}{$table};
	$of->{seen} = {} if $from eq '' || $reader->{writes} || life_of($from) ne life_of($to);
	for (@values)
	{
		my ($v) = /^(\d+)/ or next;
		fault($reader, $table, "version $v comes twice") if $of->{seen}{$v}++;
	}
	return;
}

sub difference
{
	my ($copy, $table) = @_;
	my @all = map {
		my $key = $_;
		map { [ $key, $_->[0]{$key} // 'none', $_->[1]{$key} // 'none' ] }[ $copy, $table ]
	  }
	  keys %{ { %$copy, %$table } };
	return join ', ', map { "key $_->[0] is $_->[1], not $_->[2]" } grep { $_->[1] ne $_->[2] } @all;
}

sub compare
{
	my ($reader, $table, $rows) = @_;
	my %table = map { split /=/ } split / /, $rows;
	my $wrong = difference($reader->{of}{$table}{copy}, \%table);
	$figures{compared}++;
	fault($reader, $table, substr $wrong, 0, 300) if $wrong ne '';
	return;
}

# The lines of polls, and of truth. False: a poll is not complete. A snapshot that shows less than the reader has seen
# returns the same position, and is no truth.
sub take
{
	my ($reader, $table, $said, %o) = @_;
	my $of = $reader->{of}{$table};
	my ($complete, $behind) = (0, $of->{behind});
	my $values = $o{values} // [];
	push @{ $of->{said} }, $said;
	shift @{ $of->{said} } if @{ $of->{said} } > 4;
	for (split /\n/, $said)
	{
		my ($step, $key, $value, $position) = split /\|/, $_, 4;
		next if $step !~ /^\d$/;
		if    ($step == 0) { $of->{copy} = {} }
		elsif ($step == 1) { delete $of->{copy}{$key} }
		elsif ($step == 2) { $of->{copy}{$key} = $value; push @$values, $value }
		elsif ($step == 3)
		{
			($complete, $behind) = (1, $position eq $of->{position});
			$of->{behind} = $behind;
			see($reader, $table, $of->{position}, $position, @$values);
			$figures{polls}++;
			$figures{rows} += @$values;
			@$values = ();
			$of->{position} = $position;
		}
		elsif ($step == 9 && !$behind) { compare($reader, $table, $key) }
	}
	return $complete;
}

# SF001: copy again. 40001: poll again.
sub failed
{
	my ($reader, $code, $said) = @_;
	(delete $reader->{undo})->() if $reader->{undo};
	my $table = $reader->{table} // return;
	if ($code eq 'SF001')
	{
		$figures{again}++;
		fault($reader, $table, $said =~ s/\n.*?DETAIL/ DETAIL/sr) if !$again;
		$reader->{of}{$table} = fresh();
	}
	return;
}

# ---- kinds

sub position_of { my ($reader, $table) = @_; return $reader->{of}{$table}{position} }

# A poll, and the table in the same snapshot, at one place
sub whole { my ($table, $position) = @_; return poll_of($table, "'$position'") . ' UNION ALL ' . truth_of($table) }

sub plain
{
	my ($reader, $table, $place) = @_;
	return [ $place // 'primary', whole($table, position_of($reader, $table)), sub { take($reader, $table, $_[1]) } ];
}

# Prepared once in a session; half of the time in a transaction that also shows the table.
sub execute
{
	my ($table, $position) = @_;
	return sub {
		my ($session) = @_;
		my $prepare =
		  $session->{prepared}{$table}++ ? '' : "PREPARE poll_$table (text) AS " . poll_of($table, '$1') . '; ';
		return $prepare . "EXECUTE poll_$table ('$position')";
	};
}

sub prepared
{
	my ($reader, $table) = @_;
	my $execute = execute($table, position_of($reader, $table));
	my $both = any(2);
	return [
		'primary',
		sub {
			my $poll = $execute->(@_);
			return $both ? "BEGIN ISOLATION LEVEL REPEATABLE READ; $poll; @{[ truth_of($table) ]}; COMMIT" : $poll;
		},
		sub { take($reader, $table, $_[1]) } ];
}

# The snapshot is older than the poll, and than changes of the table.
sub repeatable
{
	my ($reader, $table) = @_;
	return (
		[ 'primary', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1' ],
		['pause'],
		[   'primary',
			poll_of($table, quoted(position_of($reader, $table))) . '; ' . truth_of($table),
			sub { take($reader, $table, $_[1]) } ],
		[   'primary',
			sub { return poll_of($table, quoted(position_of($reader, $table))) . '; COMMIT' },
			sub { take($reader, $table, $_[1]) } ]);
}

# In parts. A third ends before the position, and repeats.
sub cursor
{
	my ($reader, $table) = @_;
	my $fetch;
	my @values;
	$fetch = sub {
		my (undef, $said) = @_;
		my $complete = take($reader, $table, $said, values => \@values);
		return $reader->{actor}
		  ->ahead([ 'primary', truth_of($table) . '; COMMIT', sub { take($reader, $table, $_[1]) } ])
		  if $complete;
		return $reader->{actor}->ahead([ 'primary', 'ROLLBACK' ]) if !any(9);
		return $reader->{actor}->ahead(['pause'], [ 'primary', 'FETCH 20 FROM polled', $fetch ]);
	};
	my $poll = poll_of($table, quoted(position_of($reader, $table)));
	return [
		'primary', "BEGIN ISOLATION LEVEL REPEATABLE READ; DECLARE polled CURSOR FOR $poll; FETCH 3 FROM polled", $fetch
	];
}

sub sleeping
{
	my ($reader, $table) = @_;
	return plain($reader, $table) if position_of($reader, $table) eq '';
	return [
		'primary',
		"SELECT snowflake_ids.wait_feed('$table', '@{[ position_of($reader, $table) ]}', '200 ms')",
		sub {
			$reader->{of}{$table}{position} = $_[1];
			$reader->{actor}->ahead(plain($reader, $table));
		}
	];
}

sub standby    { return plain(@_, 'standby') }
sub to_and_fro { return plain(@_, one_of('primary', 'standby')) }
sub subscriber { my ($reader) = @_; return plain($reader, 'pair', 'subscriber') }

# As one that was restored from a copy of its own.
sub from_before
{
	my ($reader, $table) = @_;
	my $of = $reader->{of}{$table};
	my $number = any(12);
	delete $of->{before} if $of->{before} && $of->{before}{refused} != $refused;
	$of->{before} = { position => $of->{position}, copy => { %{ $of->{copy} } }, refused => $refused } if $number == 0;
	@$of{qw(position copy seen)} = ($of->{before}{position}, { %{ $of->{before}{copy} } }, {})
	  if $number == 1 && $of->{before};
	return plain($reader, $table, one_of('primary', 'primary', 'standby'));
}

# Sums and keys agree between the copies of two tables.
sub two_tables
{
	my ($reader) = @_;
	return [
		'primary',
		'BEGIN ISOLATION LEVEL REPEATABLE READ; '
		  . join('; SELECT $$next$$; ', map { poll_of($_, quoted(position_of($reader, $_))) } 'master', 'detail')
		  . '; COMMIT',
		sub {
			my ($master, $detail) = split /^next\n/m, $_[1];
			my @behind = map { position_of($reader, $_) } 'master', 'detail';
			take($reader, 'master', $master);
			take($reader, 'detail', $detail);
			agree($reader)
			  if $behind[0] ne position_of($reader, 'master') && $behind[1] ne position_of($reader, 'detail');
		}
	];
}

sub agree
{
	my ($reader) = @_;
	my %sum;
	for (values %{ $reader->{of}{detail}{copy} })
	{
		my (undef, $master, $amount) = split /:/;
		$sum{$master} += $amount;
	}
	my $masters = $reader->{of}{master}{copy};
	$figures{compared}++;
	for (keys %sum) { fault($reader, 'detail', "a detail of master $_, which is not there") if !$masters->{$_} }
	for (keys %$masters)
	{
		my (undef, $total) = split /:/, $masters->{$_};
		fault($reader, 'master', "total of $_ is $total, not " . ($sum{$_} // 0)) if $total != ($sum{$_} // 0);
	}
	return;
}

# The second and third plan may be older than the parts of the table.
sub several
{
	my ($reader, $table) = @_;
	my $poll = sub { return execute($table, position_of($reader, $table))->(@_) };
	my @poll = ([ 'primary', $poll, sub { take($reader, $table, $_[1]) } ], ['pause']);
	return ([ 'primary', 'BEGIN' ], @poll, @poll, @poll, [ 'primary', 'COMMIT' ]);
}

# What its transaction writes comes again.
sub writing
{
	my ($reader, $table) = @_;
	my $of = $reader->{of}{$table};
	my ($position, $copy) = ($of->{position}, { %{ $of->{copy} } });
	$reader->{undo} = sub { @$of{qw(position copy seen)} = ($position, $copy, {}) };
	return (
		[ 'primary', q{SET lock_timeout = '1s'; BEGIN; } . Tables::upsert($table) ],
		[ 'primary', whole($table, $position), sub { take($reader, $table, $_[1]) } ],
		['pause'],
		[ 'primary', Tables::upsert($table) ],
		[ 'primary', 'COMMIT', sub { delete $reader->{undo} } ]);
}

my %kinds = (
	'plain' => \&plain,
	'prepared statement' => \&prepared,
	'repeatable read' => \&repeatable,
	'cursor' => \&cursor,
	'wait_feed' => \&sleeping,
	'standby' => \&standby,
	'to and fro' => \&to_and_fro,
	'old position' => \&from_before,
	'two tables' => \&two_tables,
	'several polls in a transaction' => \&several,
	'writes around its poll' => \&writing,
	'subscriber' => \&subscriber);

# ---- two that must lose rows

our %lost = ('id > last' => 0, 'stamp >= xmax' => 0);
my (%seen, %versions);
my ($last, $xmax) = (0, 0);

sub by_id
{
	return [
		'primary',
		"SELECT id FROM log WHERE id > $last ORDER BY id",
		sub { $seen{$_} = $last = $_ for split /\n/, $_[1] } ];
}

sub by_xmax
{
	return [
		'primary',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_snapshot_xmax(pg_current_snapshot()); SELECT v FROM plain WHERE stamp >= $xmax; COMMIT",
		sub { ($xmax, my @v) = split /\n/, $_[1]; $versions{$_} = 1 for @v } ];
}

# What has come since counts in the next round.
sub count_lost
{
	my ($all, $v) = map { [ split /\n/, World::ask($_) ] } "SELECT id FROM log WHERE id <= $last",
	  "SELECT v FROM plain WHERE stamp < $xmax";
	$lost{'id > last'}     += grep { !$seen{$_}++ } @$all;
	$lost{'stamp >= xmax'} += grep { !$versions{$_}++ } @$v;
	return;
}

# ---- all of them

our @sound;

sub add
{
	my ($reader, $script) = @_;
	$reader->{actor} = Actor->new(
		name => $reader->{name},
		connect => \&World::session,
		may_fail => qr/^(?:40001|40P01|SF001|55P03|23\w+)$/,
		failed => sub { my ($self, $code, $said) = @_; failed($reader, $code, $said) },
		script => sub {
			my ($self) = @_;
			$self->{not_before} = Time::HiRes::time() + 0.01;
			return $script->($reader, $reader->{table} = one_of(tables()));
		});
	push @World::readers, $reader->{actor};
	return;
}

sub add_all
{
	@sound = map {
		{ name => $_, kind => $kinds{$_}, of => { map { $_ => fresh() } tables() } }
	} sort keys %kinds;
	$_->{writes} = $_->{kind} == \&writing for @sound;
	add($_, $_->{kind}) for @sound;
	add({ name => 'id > last' }, \&by_id);
	add({ name => 'stamp >= xmax' }, \&by_xmax);
	return;
}

# When nobody writes and the others have caught up, each copy must be the table.
sub finish
{
	my %sessions = map { $_ => World::session($_) } qw(primary standby subscriber);
	for my $reader (@sound)
	{
		for my $table (
			$reader->{name} eq 'subscriber' ? 'pair' : $reader->{name} eq 'two tables' ? qw(master detail) : tables())
		{
			my $place = $reader->{name} =~ /^(?:standby|subscriber)$/ ? $reader->{name} : 'primary';
			my $before = $figures{compared};
			for (1 .. 10)
			{
				my $said =
				  $sessions{$place}->ask('\set VERBOSITY verbose \\\\ ' . whole($table, position_of($reader, $table)));
				my ($code) = $said =~ /ERROR: +(\w{5})/;
				$reader->{table} = $table;
				if   ($code) { failed($reader, $code, $said) }
				else         { take($reader, $table, $said) }
				last if $figures{compared} > $before;
			}
			fault($reader, $table, 'cannot be compared at the end') if $figures{compared} == $before;
		}
	}
	return;
}

1;
