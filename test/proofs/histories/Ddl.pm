# Changes of the polled tables while writers and readers work. Each stages an open transaction, and a later row that is
# committed before it.
package Ddl;
use strict;
use warnings;
use Actor;
use Faults;
use Oracle;
use Readers;
use World;

my $insert_divided = q{INSERT INTO %s (body, list) VALUES (%s, %d)};

sub is_answered
{
	my ($session) = @_;
	my $ready = '';
	vec($ready, fileno $session->{answered}, 1) = 1;
	return select($ready, undef, undef, 0) > 0;
}

# It waits for writers. Readers that never end their transaction come again after it.
sub begin
{
	my ($statement) = @_;
	my $session = Session->new($World::primary);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->send($statement);
	my $waits = "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid AND wait_event_type = 'Lock'";
	eventually(sub { is_answered($session) || World::ask($waits) }) or die "it does not begin: $statement";
	for my $reader (@World::readers)
	{
		$reader->leave if grep { $_->[2] eq 'BEGIN' } @{ $reader->{once} };
	}
	return $session;
}

sub end
{
	my ($session, $what) = @_;
	local $Actor::hurry = 1;    # of the transactions that it waits for
	World::act_till(sub { is_answered($session) }, $what);
	my $said = $session->answer;
	die "$what: $said" if $said =~ /ERROR/;
	return $said;
}

sub change { my ($statement) = @_; return end(begin($statement), $statement) }

# Until readers have passed the id, and this one has polled after that.
sub pass
{
	my ($id, $name, $other) = @_;
	my ($reader) = grep { $_->{name} eq $name } @Readers::readers;
	World::act_till(sub { World::ask("SELECT mastic_settled('$other') > '$id'") eq 't' }, "$other settles");
	my $polls = $reader->{polls};
	World::act_till(sub { $reader->{polls} > $polls + 1 }, "'$name' polls");
	return;
}

# The row of `inserts` is uncommitted while that of `later` is committed, and readers of another table pass both.
sub hold_open
{
	my ($inserts, $later, $name, $other, $column) = @_;
	my $held = Session->new($World::primary);
	my $said = $held->ask("BEGIN; $inserts");
	die "$inserts: $said" if $said =~ /ERROR/;
	pass(World::ask("$later RETURNING " . ($column // 'id')), $name, $other);
	$held->ask('COMMIT');
	return;
}

# Its readers continue on the partition. Rows that belong there are refused until an empty table takes its place.
sub detach
{
	my ($writer, $holder) = map { Session->new($World::primary) } 1 .. 2;
	$holder->ask('SELECT pg_advisory_lock(1)');
	$writer->send(sprintf $insert_divided, 'divided', 'waits($${"by": "detach"}$$)', 1);
	eventually(sub { World::ask(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) })
	  or die 'the statement does not wait for its other column';
	my $ddl = begin('ALTER TABLE divided DETACH PARTITION divided_1 CONCURRENTLY');
	World::act_till(sub { World::ask('SELECT count(*) FROM pg_inherits WHERE inhdetachpending') },
		'a partition is being detached');
	my $later = sprintf $insert_divided, 'divided_1', q{'{"by": "detach"}'}, 1;
	pass(World::ask("$later RETURNING id"), 'one partition', 'headline');
	$holder->ask('SELECT pg_advisory_unlock(1)');
	my $said = $writer->answer;
	die "a row by the root: $said" if $said;
	end($ddl, 'the partition is detached');
	World::act_on();
	change(<<'END' =~ s/\s+/ /gr);
BEGIN; LOCK TABLE divided; CREATE TABLE divided_1_next (LIKE divided INCLUDING DEFAULTS);
	CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON divided_1 FOR EACH ROW EXECUTE FUNCTION mastic_stamp('id');
	ALTER TABLE divided_1 ENABLE ALWAYS TRIGGER zz_stamp;
	ALTER TABLE divided ATTACH PARTITION divided_1_next FOR VALUES IN (1); COMMIT
END
	return;
}

sub detached { return Oracle::are_gone('divided', World::ask('SELECT id FROM divided_1')) }

sub attach_again
{
	World::ask('DROP TABLE divided_1_next; TRUNCATE divided_1; DROP TRIGGER zz_stamp ON divided_1');
	World::ask('ALTER TABLE divided ATTACH PARTITION divided_1 FOR VALUES IN (1)');
	return;
}

sub add_children
{
	change(<<'END' =~ s/\s+/ /gr);
BEGIN; LOCK TABLE headline; CREATE TABLE headline_child () INHERITS (headline);
	CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON headline_child FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
	ALTER TABLE headline_child ENABLE ALWAYS TRIGGER zz_stamp;
	CREATE TRIGGER note_version AFTER INSERT OR UPDATE ON headline_child FOR EACH ROW EXECUTE FUNCTION note_version();
	ALTER TABLE headline_child ENABLE ALWAYS TRIGGER zz_stamp; ALTER TABLE headline_child ENABLE ALWAYS TRIGGER note_version;
	COMMIT
END
	my $insert = q{INSERT INTO %s (id, body) VALUES (nextval('headline_id'), '{"by": "a child"}')};
	hold_open(sprintf($insert, 'headline_child'), sprintf($insert, 'headline'), 'one table', 'divided', 'stamp');
	change('CREATE TABLE divided_2 PARTITION OF divided FOR VALUES IN (2)');
	my @of = map { sprintf $insert_divided, 'divided', q{'{"by": "a new partition"}'}, $_ } 2, 0;
	hold_open(@of, 'partitions of one table', 'headline');
	return;
}

sub drop_children { return World::ask('DROP TABLE headline_child, divided_2') }

sub rewrite_and_truncate
{
	change('CLUSTER headline USING headline_pkey');
	World::act_on();
	my $ids = change('BEGIN; LOCK TABLE headline; SELECT stamp FROM headline; TRUNCATE headline; COMMIT');
	die 'nothing was truncated' if $ids eq '';
	Oracle::are_gone('headline', $ids);
	World::act_on();
	return;
}

1;
