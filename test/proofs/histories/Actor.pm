# Sessions that do what the lines of a script say, again and again. One loop serves all actors, so one that stands still
# stops nobody else. A line is [beside|standby] VERB SQL; more SQL follows on indented lines.
#
#   run    execute it (the default)
#   take   its rows are events: an id, then the rest; :'shown' is the id of the last one
#   more   the same, repeated until it returns nothing
#   use    its rows are events, and are written to the table `used` in the same transaction
#          (rows of actors that are `positional` begin with :'position', which counts from the end of the script on)
#   let    its columns become variables: :'name' in a later line
#   wait   repeat it until it says t
#   pause  stay here while others do something
#   once   execute it after each connect
#
# beside: in a second session on the same server. standby: in a session on the standby.
package Actor;
use strict;
use warnings;
use Time::HiRes qw(time);
use Faults;

our $answers = 0;    # of all actors: how much has happened
our $hurry = 0;      # pauses end at once
our $may_fail;       # what the present event makes the server say, a pattern
our %errors;         # what was said that no actor expects: 'actor: message' => how often
my $numbers = 0;

my $server_has_gone =
  qr/terminating connection|server closed|connection to server|the database system is|in recovery mode|synchronous rep/;

# name, server (of 'primary' or 'standby'), next_script (lines, or nothing: rest), finished (gets the events of a
# script), once (lines), may_fail (a pattern), positional
sub new
{
	my ($class, %own) = @_;
	return bless {
		once => [],
		vars => {},
		sessions => {},
		events => [],
		not_before => 0,
		at => 0,
		%own }, $class;
}

# as [place, verb, sql]
sub lines_of
{
	my ($text) = @_;
	my @lines;
	for (split /\n(?!\s)/, $text =~ s/^#.*\n//mgr =~ s/\s+\z//r)
	{
		my ($place, $verb, $sql) = /^(?:(standby|beside) )?(?:(run|take|more|use|let|wait|pause|once)\b ?)?(.*)/s;
		push @lines, [ $place // 'primary', $verb // 'run', $sql =~ s/\s*\n\s*/ /gr ] if /\S/;
	}
	return @lines;
}

# :n is a number of the script's own, \n a new line
sub filled
{
	my ($self, $sql) = @_;
	my $vars = $self->{vars};
	return $sql =~ s/:'(\w+)'/exists $vars->{$1} ? "'$vars->{$1}'" : die "$self->{name}: no variable $1"/ger =~
	  s/(?<!:):n\b/$vars->{n}/gr =~ s/\\n/\n/gr;
}

# False: the server does not let us in now.
sub session
{
	my ($self, $place) = @_;
	return $self->{sessions}{$place} if $self->{sessions}{$place};
	my $server = $self->{server}->($place eq 'standby' ? 'standby' : 'primary');
	my $session = Session->new($server, options => $self->{options});
	for my $sql ('SELECT pg_backend_pid()', map { $_->[2] } grep { $_->[0] eq $place } @{ $self->{once} })
	{
		my $said = $session->ask($self->filled($sql));
		$self->{pid} = $said if $place eq 'primary' && $said =~ /^\d+$/;
		next if !$session->{cut_short} && $said !~ /(ERROR|FATAL): /;
		$self->complain($said);
		return;
	}
	return $self->{sessions}{$place} = $session;
}

# What a script had got so far counts for nothing, as for a program that dies.
sub leave
{
	my ($self) = @_;
	@$self{ 'busy', 'lines', 'at', 'not_before' } = (undef, undef, 0, time + 0.02);
	delete $self->{next_position};
	$self->{sessions} = {};
	$self->{events} = [];
	return;
}

sub complain
{
	my ($self, $said) = @_;
	return if $said =~ $server_has_gone || $said !~ /(?:ERROR|FATAL): +(.*)/;
	return if grep { defined && $said =~ $_ } $self->{may_fail}, $may_fail;
	$errors{"$self->{name}: $1"}++;
	return;
}

# as many lines as it can without an answer
sub go_on
{
	my ($self) = @_;
	return if $self->{busy} || time < $self->{not_before};
	if (!$self->{lines})
	{
		$self->{lines} = $self->{next_script}->($self) or return;
		@$self{ 'at', 'events' } = (0, []);
		$self->{vars}{n} = ++$numbers;
	}
	my ($place, $verb, $sql) = @{ $self->{lines}[ $self->{at} ] };
	if ($verb eq 'pause')
	{
		$self->{paused_until} //= $answers + 5 + int rand 200;
		return if $answers < $self->{paused_until} && !$hurry;
		delete $self->{paused_until};
		return $self->line_is_done;
	}
	my $session = $self->session($place) or return $self->leave;
	$self->{busy} = $session->send($self->filled($sql));
	return;
}

sub line_is_done
{
	my ($self) = @_;
	return if ++$self->{at} < @{ $self->{lines} };
	$self->{lines} = undef;
	my $events = $self->{events};
	$self->{events} = [];
	$self->{vars}{position} = delete $self->{next_position} if defined $self->{next_position};
	$self->{finished}->($self, $events);
	return;
}

sub answered
{
	my ($self) = @_;
	my $session = delete $self->{busy};
	my $said = $session->answer;
	$answers++;
	if ($session->{cut_short} || $said =~ /(ERROR|FATAL): /)
	{
		$self->complain($said);
		return $self->leave;
	}
	return $self->line_is_done if delete $self->{using};
	my ($place, $verb, $sql) = @{ $self->{lines}[ $self->{at} ] };
	my @rows = grep { $_ ne '' } split /\n/, $said;
	if ($self->{positional} && @rows && $verb =~ /^(?:take|more|use)$/)
	{
		($self->{next_position}) = $rows[0] =~ /^(\w+)/;
		s/^\w+\|// for @rows;
		$self->{vars}{position} = $self->{next_position} if $verb eq 'use';
	}
	if ($verb eq 'take' || $verb eq 'more')
	{
		push @{ $self->{events} }, @rows;
		$self->{vars}{shown} = (split /\|/, $rows[-1])[0] if @rows;
		return if $verb eq 'more' && @rows;
	}
	elsif ($verb eq 'use' && @rows)
	{
		my $ids = join ',', map { (split /\|/)[0] } @rows;
		$self->{using} = 1;
		$self->{busy} =
		  $session->send("INSERT INTO used (reader, id) SELECT '$self->{name}', unnest('{$ids}'::text[])");
		return;
	}
	elsif ($verb eq 'let')
	{
		my @names = $sql =~ /\bAS (\w+)/g;
		@names = $sql =~ /^SELECT (\w+) FROM/ unless @names;
		@{ $self->{vars} }{@names} = split /\|/, $said;
	}
	elsif ($verb eq 'wait' && $said ne 't')
	{
		$self->{not_before} = time + 0.003;
		return;
	}
	return $self->line_is_done;
}

sub turn
{
	my @actors = @_;
	$_->go_on for @actors;
	my $busy = '';

	$answers++ unless grep { $_->{busy} } @actors;
	vec($busy, fileno $_->{busy}{answered}, 1) = 1 for grep { $_->{busy} } @actors;
	select $busy, undef, undef, 0.004;
	for (@actors)
	{
		$_->answered if $_->{busy} && vec $busy, fileno $_->{busy}{answered}, 1;
	}
	return;
}

sub doing
{
	my ($self) = @_;
	my $line = $self->{lines} ? join ' ', @{ $self->{lines}[ $self->{at} ] } : 'nothing';
	return "$self->{name}: " . ($self->{busy} ? 'waits for the answer to ' : '') . $line;
}

sub pauses { my ($self) = @_; return $self->{lines} && $self->{lines}[ $self->{at} ][1] eq 'pause' }

sub rests { return !$_[0]{busy} && !$_[0]{lines} }

1;
