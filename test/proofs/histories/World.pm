# A primary, its standby, and a database whose table `pair` is a subscriber's; and the actors that use them.
package World;
use strict;
use warnings;
use Servers;
use Actor;
use Tables;

our ($primary, $standby);
our (@writers, @readers);
my $standbys = 0;

sub begin
{
	$primary = new_server('primary', clock(), allows_streaming => 'logical', conf => <<'END');
max_connections = 120
max_prepared_transactions = 40
max_worker_processes = 16
deadlock_timeout = 100ms
wal_retrieve_retry_interval = 100ms
max_standby_streaming_delay = 1s
client_min_messages = error
END
	$primary->safe_psql('postgres', $Tables::set_up);
	ask('CREATE PUBLICATION pairs FOR TABLE pair; CREATE DATABASE subscriber');
	$primary->safe_psql('subscriber',
		"CREATE EXTENSION snowflake_ids; $Tables::set_up" . 'DROP TRIGGER a_version ON pair')
	  ;    # the versions are the publisher's
	subscribe();
	add_standby();
	return;
}

# On one server, CREATE SUBSCRIPTION would wait for itself, so the slot comes first.
sub subscribe
{
	my $publisher = sprintf 'host=%s port=%s dbname=postgres', $primary->host, $primary->port;
	ask(q{SELECT pg_create_logical_replication_slot('pairs', 'pgoutput')});
	$primary->safe_psql('subscriber',
		"CREATE SUBSCRIPTION pairs CONNECTION '$publisher' PUBLICATION pairs WITH (create_slot = off, copy_data = off)"
	);
	return;
}

# The slot was on the old primary.
sub subscribe_again
{
	$primary->safe_psql('subscriber', $_)
	  for (map { "ALTER SUBSCRIPTION pairs $_" } 'DISABLE', 'SET (slot_name = NONE)'), 'DROP SUBSCRIPTION pairs',
	  'TRUNCATE pair';
	subscribe();
	return;
}

sub add_standby
{
	my $name = 'standby' . ++$standbys;
	$primary->backup($name);
	$standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, $name, has_streaming => 1);
	start_at($standby, $primary->{sfids_clock});
	return;
}

sub session
{
	my ($place) = @_;
	return Session->new($place eq 'standby' ? $standby : $primary,
		dbname => $place eq 'subscriber' ? $place : 'postgres');
}

sub ask { my ($query) = @_; return $primary->safe_psql('postgres', $query) }

sub all_leave { $_->leave for @writers, @readers; return }

# Actors act until `look` says yes.
sub act_until
{
	my ($look, $what) = @_;
	my ($until, $asked) = (time + Servers::longest_wait, 0);
	for (;;)
	{
		Actor::turn(@writers, @readers);
		next if time < $asked + 0.02;
		return if $look->();
		die "this did not happen: $what\n" if time > $until;
		$asked = time;
	}
	return;
}

sub act_for
{
	my ($seconds) = @_;
	my $until = time + $seconds;
	act_until(sub { return time > $until }, 'time goes by');
	return;
}

# While actors act, as often as needed: locks of others may time out.
sub change
{
	my ($statements) = @_;
	for my $try (1 .. 50)
	{
		my $session = session('primary');
		$session->send("SET lock_timeout = '1s'; $statements" =~ s/\s+/ /gr);
		act_until(sub { my $r = ''; vec($r, fileno $session->{answered}, 1) = 1; return select $r, undef, undef, 0 },
			$statements);
		my $said = $session->answer;
		return if $said !~ /ERROR/;
		die "$statements: $said\n" if $said !~ /lock timeout|deadlock|would overlap|would be violated/;
	}
	die "does not succeed: $statements\n";
}

sub end_writers
{
	local ($Actor::stopped, $Actor::hurry) = (1, 1);
	act_until(
		sub {
			return !grep { !$_->rests } @writers;
		},
		'writers come to their end');
	return end_prepared();
}

# A new slot waits for them.
sub end_prepared
{
	ask((/^commit/ ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$_'")
	  for split /\n/, ask('SELECT gid FROM pg_prepared_xacts');
	return;
}

sub others_have_caught_up
{
	my $lsn = flushed_lsn($primary);
	$primary->wait_for_catchup($standby, 'replay', $lsn);
	eventually(
		sub {
			ask("SELECT count(*) FROM pg_stat_replication WHERE application_name = 'pairs' AND replay_lsn >= '$lsn'");
		}) or die "the apply worker does not catch up\n";
	return;
}

1;
