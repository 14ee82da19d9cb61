# Sessions that work through scripts, again and again. One loop serves all actors, so one that waits stops nobody else.
#
# A script is a list of steps: [PLACE, SQL, what to do with the answer], or ['pause']. What to do may put further steps
# in front. PLACE is primary, standby, subscriber or beside (a second session on the primary).
package Actor;
use strict;
use warnings;
use Time::HiRes qw(time);
use Servers;

our $answers = 0;             # of all actors: how much has happened
our $hurry = 0;               # pauses end at once
our $stopped = 0;             # who has no script gets none
our (%codes, %unexpected);    # SQLSTATE, and errors that no actor expects => how often

my $server_has_gone =
  qr/terminating connection|server closed|connection to server|the database system is|recovery mode/;

# name, connect (session of a place), script (returns steps), may_fail (a pattern of SQLSTATEs), failed (is told)
sub new
{
	my ($class, %own) = @_;
	return bless { sessions => {}, steps => [], not_before => 0, failed => sub { }, %own }, $class;
}

sub leave
{
	my ($self) = @_;
	$self->{failed}->($self, 'gone') if $self->{busy} || @{ $self->{steps} };
	@$self{ 'busy', 'steps', 'sessions', 'not_before', 'paused' } = (undef, [], {}, time + 0.05, undef);
	return;
}

sub session
{
	my ($self, $place) = @_;
	return $self->{sessions}{$place} //= do
	{
		my $session = $self->{connect}->($place);
		my $said = $session->ask('\set VERBOSITY verbose \\\\ SELECT pg_backend_pid()');
		return if $said !~ /^(\d+)$/m;
		$self->{pid} = $1 if $place eq 'primary';
		$session->{prepared} = {};
		$session;
	};
}

sub ahead { my ($self, @steps) = @_; unshift @{ $self->{steps} }, @steps; return }

sub go_on
{
	my ($self) = @_;
	return if $self->{busy} || time < $self->{not_before};
	if (!@{ $self->{steps} })
	{
		return if $stopped && !$self->{goes_on};
		$self->{steps} = [ $self->{script}->($self) ];
	}
	my ($place, $sql, $then) = @{ $self->{steps}[0] // return };
	if ($place eq 'pause')
	{
		$self->{paused} //= $answers + 5 + int rand 100;
		return if $answers < $self->{paused} && !$hurry;
		delete $self->{paused};
		shift @{ $self->{steps} };
		return;
	}
	my $session = $self->session($place) or return $self->leave;
	shift @{ $self->{steps} };
	$sql = $sql->($session) if ref $sql;
	@$self{ 'busy', 'then' } = ($session->send($sql), $then);
	return;
}

sub answered
{
	my ($self) = @_;
	my $session = delete $self->{busy};
	my $said = $session->answer;
	$answers++;
	my ($code, $message) = $said =~ /(?:ERROR|FATAL): +(?:(\w{5}): )?(.*)/;
	if ($session->{cut_short} || defined $message)
	{
		$code //= '57P01';
		$codes{$code}++;
		return $self->leave if $session->{cut_short} || $said   =~ $server_has_gone;
		$unexpected{"$self->{name}: $code $message"}++ if $code !~ $self->{may_fail};
		$self->{failed}->($self, $code, $said);
		$self->{steps} = [];
		$session->send('ROLLBACK');
		@$self{ 'busy', 'then' } = ($session, undef);
		return;
	}
	$self->{then}->($self, $said) if $self->{then};
	return;
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

sub rests { my ($self) = @_; return !$self->{busy} && !@{ $self->{steps} } }

1;
