# A primary and its standby, each under a clock of its own, and the actors that use them.
package World;
use strict;
use warnings;
use Faults;
use Actor;

our ($primary, $standby, $clock, $standby_clock);
our (@writers, @readers);
my $standbys = 0;
my $fed = 0;    # there is a subscription

# The WAL writer is slow, so that commits that nobody waits for stay unwritten. gen_mastic() warns of subscriptions.
sub begin
{
	my ($set_up) = @_;
	$clock = clock();
	$primary = new_server('primary', $clock, allows_streaming => 'logical', conf => <<'END');
max_connections = 120
max_prepared_transactions = 60
max_worker_processes = 16
wal_writer_delay = 2s
client_min_messages = error
wal_retrieve_retry_interval = 100ms
snowflake_ids.machine_id = 3
snowflake_ids.max_wait = '60s'
END
	$primary->safe_psql('postgres', $set_up);
	$primary->safe_psql('postgres', 'CREATE DATABASE other');
	$primary->safe_psql('other', 'CREATE EXTENSION snowflake_ids; CREATE TABLE news (id sno DEFAULT gen_sno())');
	$primary->safe_psql('postgres', 'CREATE DATABASE feed');
	$primary->safe_psql('feed', q{CREATE TABLE news (body jsonb); CREATE PUBLICATION feed FOR TABLE news});
	add_standby();
	return;
}

# Rows of the database `feed` have no id; an apply worker inserts them into `postgres`. On one server, CREATE
# SUBSCRIPTION would wait for itself, so the slot comes first.
sub feed
{
	return if $fed++;
	my $feed = sprintf 'host=%s port=%s dbname=feed', $primary->host, $primary->port;
	$primary->safe_psql('feed', q{SELECT pg_create_logical_replication_slot('feed', 'pgoutput')});
	ask("CREATE SUBSCRIPTION feed CONNECTION '$feed' PUBLICATION feed WITH (create_slot = off, copy_data = off)");
	return;
}

sub feed_is_over
{
	return if !$fed;
	my $lsn = flushed_lsn($primary);
	my $applied = "SELECT count(*) FROM pg_stat_replication WHERE application_name = 'feed' AND replay_lsn >= '$lsn'";
	act_till(sub { ask($applied) }, 'the apply worker has caught up');
	die 'the apply worker has inserted nothing'
	  if !ask(q{SELECT count(*) FROM news WHERE body->>'by' = 'apply worker'});
	return;
}

# The slot was on the old primary.
sub end_feed
{
	return if !$fed;
	ask("ALTER SUBSCRIPTION feed $_") for 'DISABLE', 'SET (slot_name = NONE)';
	ask('DROP SUBSCRIPTION feed');
	$fed = 0;
	return;
}

sub add_standby
{
	my $name = 'standby' . ++$standbys;
	$primary->backup($name);
	$standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, $name, has_streaming => 1);
	$standby_clock = clock();
	$standby_clock->set($clock->{offset});
	start_at($standby, $standby_clock);
	return;
}

sub server { my ($which) = @_; return $which eq 'standby' ? $standby : $primary }
sub ask    { my ($query) = @_; return $primary->safe_psql('postgres', $query) }

sub all_leave { $_->leave for @writers, @readers; return }

# Actors act until `look` says yes; `seconds`: how long nothing may happen.
sub act_until
{
	my ($look, $seconds, @actors) = @_;
	my ($since, $asked, $seen, $yes) = (time, 0, -1, undef);
	@actors = (@writers, @readers) unless @actors;
	until ($yes)
	{
		Actor::turn(@actors);
		next if time < $asked + 0.02;
		($yes, my $progress) = $look->();
		$asked = time;
		($since, $seen) = ($asked, $progress) if defined $progress && $progress ne $seen;
		return if !$yes && time > $since + $seconds;
	}
	return 1;
}

sub act_till
{
	my ($look, $what) = @_;
	return if act_until($look, 120);
	die "this did not happen: $what. " . join '; ', map { $_->doing } grep { !$_->rests } @writers, @readers;
}

# Each reader asks again, some times.
sub act_on
{
	my ($also) = @_;
	my $polls = $Actor::answers + 5 * @readers;
	my $until = time + 1;
	act_until(sub { $also->() if $also; return $Actor::answers > $polls || time > $until }, 2);
	return;
}

sub restart
{
	my ($how) = @_;
	restart_after($primary, $how);
	all_leave();
	return;
}

sub set
{
	my ($name, $value) = @_;
	$primary->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	reload($primary);
	return;
}

sub writer_at_work
{
	my @at_work = grep { $_->{pid} && $_->{lines} && $_->{sessions}{primary} } @writers;
	return @at_work ? $at_work[ rand @at_work ]{pid} : undef;
}

# Its standby has all that any reader has seen.
sub fail_over
{
	$primary->wait_for_catchup($standby, 'replay', flushed_lsn($primary));
	$primary->stop('immediate');
	all_leave();
	$standby->promote;
	$primary->clean_node;
	($primary, $clock) = ($standby, $standby_clock);
	end_feed();
	add_standby();
	return;
}

1;
