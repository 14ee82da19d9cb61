# check_feed(): a set-up breaks each rule of a feed. It shows this rule, what it says mends it, and where rows or
# deletions would be lost until then, reading the feed is an error or the row comes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Test::More;

my $server = feed_server('rules', 1, streaming => 'logical');
my $session = Session->new($server);
$session->ask(
	q{CREATE ROLE other; CREATE TABLE bulletin (id bigint PRIMARY KEY, body int);
	SELECT * FROM snowflake_ids.create_feed('bulletin', deletes => true)});

# A subscription that is not enabled needs no slot.
$server->safe_psql('postgres', 'CREATE DATABASE source');
$server->safe_psql('source',
	'CREATE TABLE bulletin (id bigint PRIMARY KEY, body int); CREATE PUBLICATION p FOR TABLE bulletin');
my $source = $server->connstr('source') =~ s/'/''/gr;
my $subscribe =
  "CREATE SUBSCRIPTION s CONNECTION '$source' PUBLICATION p WITH (create_slot = false, enabled = false, slot_name = NONE)";

my %known;

sub faults
{
	my ($table) = @_;
	my %fault;
	for (
		split /\n/,
		$session->ask(
			q{SELECT relation, rule, ok, replace(to_do, E'\n', ' ') FROM snowflake_ids.check_feed('}
			  . ($table // 'bulletin') . q{')}))
	{
		my ($on, $rule, $ok, $do) = split /\|/, $_, 4;
		$known{$rule}++;
		$fault{"$on: $rule"} = $do if $ok ne 't';
	}
	return \%fault;
}
is_deeply(faults(), {}, 'a new feed keeps all rules');

my $later = <<'END';
CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.stamp := coalesce(OLD.stamp, NEW.stamp); RETURN NEW; END$$;
CREATE TRIGGER zzz_tidy BEFORE UPDATE ON bulletin FOR EACH ROW EXECUTE FUNCTION back();
END
my $again = 'DROP TRIGGER zz_stamp ON bulletin; CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE';
my $stamp =
  q{FOR EACH ROW %s EXECUTE FUNCTION mastic_stamp('stamp'); ALTER TABLE bulletin ENABLE ALWAYS TRIGGER zz_stamp};
my $settled = 'its settled id can be asked for';
my ($stamps, $always, $last) = ('a trigger stamps each INSERT and UPDATE', 'it is enabled ALWAYS', 'it fires last');

# what breaks rules, and which
my @cases = (
	[ 'ALTER TABLE bulletin DISABLE TRIGGER zz_stamp', $always, $settled ],
	[ 'ALTER TABLE bulletin ENABLE REPLICA TRIGGER zz_stamp', $always, $settled ],
	[ 'ALTER TABLE bulletin ENABLE TRIGGER zz_stamp', $always, $settled ],
	[ "ALTER TABLE bulletin ENABLE TRIGGER zz_stamp; $subscribe", $always, $settled ],
	[   'ALTER TABLE bulletin ENABLE TRIGGER zz_stamp; ALTER ROLE CURRENT_USER SET session_replication_role = replica',
		$always,
		$settled ],
	[ 'DROP TRIGGER zz_stamp ON bulletin', $stamps ],
	[   "DROP TRIGGER zz_stamp ON bulletin; CREATE TRIGGER zz_stamp BEFORE INSERT ON bulletin " . sprintf($stamp, ''),
		$stamps, $settled ],
	[ "$again ON bulletin " . sprintf($stamp, 'WHEN (NEW.body > 100)'), $stamps, $settled ],
	[ "$again OF id ON bulletin " . sprintf($stamp, ''), $stamps, $settled ],
	[ $later, $last, $settled ],
	[ 'ALTER TABLE bulletin ALTER stamp DROP NOT NULL', 'stamp is NOT NULL' ],
	[ 'DROP INDEX bulletin_stamp_idx', 'an index begins with the stamp' ],
	[ 'DROP INDEX bulletin_stamp_idx; CREATE INDEX ON bulletin (id, stamp)', 'an index begins with the stamp' ],
	[   'DROP INDEX bulletin_stamp_idx; CREATE INDEX ON bulletin (stamp) WHERE body > 1',
		'an index begins with the stamp' ],
	[ 'ALTER TABLE bulletin SET UNLOGGED', 'its rows are in the WAL' ],
	[ 'DROP TRIGGER zz_note_deleted ON bulletin', 'a trigger notes each DELETE' ],
	[ 'DROP TRIGGER zz_note_key ON bulletin', 'a trigger notes each UPDATE' ],
	[ 'DROP TRIGGER zz_note_truncated ON bulletin', 'a trigger notes each TRUNCATE' ],
	[ 'ALTER TABLE bulletin DISABLE TRIGGER zz_note_deleted', 'a trigger notes each DELETE', $settled ],
	[ 'ALTER TABLE bulletin ENABLE TRIGGER zz_note_key', 'a trigger notes each UPDATE', $settled ],
	[ 'ALTER TABLE bulletin ENABLE REPLICA TRIGGER zz_note_truncated', 'a trigger notes each TRUNCATE', $settled ],
	[ 'ALTER TABLE bulletin_deleted RENAME TO removed', map { "a trigger notes each $_" } qw(DELETE TRUNCATE UPDATE) ],
	[ 'DROP VIEW bulletin_feed', 'there is a view to read' ],
	[ 'ALTER TABLE bulletin RENAME id TO number', 'its columns are those of the key' ],
	[ 'GRANT SELECT ON bulletin TO other', 'other may read it, as the table' ],
	[   "GRANT SELECT ON bulletin TO other; SELECT snowflake_ids.create_feed('bulletin');"
		  . 'REVOKE SELECT ON bulletin FROM other',
		'other may not read it, as the table' ]);

for my $case (@cases)
{
	my ($break, @rules) = @$case;
	$session->ask('BEGIN; INSERT INTO bulletin VALUES (1, 1)');
	unlike($session->ask($break), qr/ERROR/, $break);
	my %fault = %{ faults() };
	my %broken = map { s/^\w+: //r => 1 } keys %fault;
	is_deeply([ sort keys %broken ], [ sort @rules ], 'check_feed() shows it');
	my $asked = $session->ask(q{SAVEPOINT s; SELECT mastic_settled('bulletin'); ROLLBACK TO s});
	is( $asked =~ /ERROR/                                          ? 1 : 0,
		(grep { $_ eq $settled } @rules) || $break eq $cases[5][0] ? 1 : 0,
		'the settled id says so, if it can');

	for my $do (map { $fault{$_} } grep { !/\Q$settled\E/ } sort keys %fault)
	{
		unlike($session->ask($do), qr/ERROR/, $do);
	}
	is_deeply(faults(), {}, 'and all rules are kept');
	my ($was) = $session->ask('SELECT stamp FROM bulletin');
	$session->ask(
		'UPDATE bulletin SET body = body + 1; SET LOCAL session_replication_role = replica; UPDATE bulletin SET body = body + 1'
	);
	is($session->ask("SELECT stamp > $was, body FROM bulletin"), 't|3', 'a reader gets the next version');
	my $feed = $break =~ /removed/ ? 'removed' : 'bulletin_deleted';
	is($session->ask("DELETE FROM bulletin; SELECT count(*) - 1 FROM $feed WHERE NOT forgotten"), 1,
		'and the deletion');
	$session->ask('ROLLBACK');
}

# Triggers that were off for a while, as pg_restore --disable-triggers leaves them: the rows are to be stamped.
$session->ask('BEGIN; INSERT INTO bulletin VALUES (1, 1); ALTER TABLE bulletin DISABLE TRIGGER USER');
$session->ask('UPDATE bulletin SET body = 2; ALTER TABLE bulletin ENABLE TRIGGER USER; SAVEPOINT s');
my ($was) = $session->ask('SELECT stamp FROM bulletin');
my $refused = $session->ask(q{SELECT mastic_settled('bulletin'); ROLLBACK TO s});
my ($enable, $restamp) = $refused =~ /HINT: +(ALTER TABLE [^;]*;) (UPDATE [^;]*;) -- This stamps/;
ok($restamp, 'triggers that were off are refused');
unlike($session->ask("$enable $restamp"), qr/ERROR/, 'the hint can be typed');
is($session->ask("SELECT stamp > $was FROM bulletin"), 't', 'and stamps the rows that came past');
like(
	$session->ask(q{SELECT mastic_settled('bulletin'); ROLLBACK}),
	qr/zz_note_\w+" of "bulletin" is not/,
	'deletions are refused, too');

# A second call of create_feed() mends what is quick, and lists the rest.
for my $break (map { $_->[0] } grep { $_->[0] !~ /UNLOGGED|NOT NULL|REVOKE|(DISABLE|REPLICA) TRIGGER zz_stamp/ } @cases)
{
	$session->ask("BEGIN; $break");
	is($session->ask(q{SELECT to_do FROM snowflake_ids.create_feed('bulletin')}), '', "create_feed() mends: $break");
	is_deeply(faults(), {}, 'all of it');
	$session->ask('ROLLBACK');
}

$session->ask('BEGIN; CREATE TABLE child (PRIMARY KEY (id)) INHERITS (bulletin)');
my %child = map { $_ => 1 } keys %{ faults() };
is_deeply(
	[ sort keys %child ],
	[   sort "bulletin: $settled",
		map { "child: $_" } $stamps,
		'an index begins with the stamp',
		'a trigger notes each DELETE',
		'a trigger notes each UPDATE' ],
	'a child inherits neither triggers nor indexes');
my $rest = $session->ask(q{SELECT to_do FROM snowflake_ids.create_feed('bulletin')});
is($rest, '', 'create_feed() creates what is quick');
is_deeply(faults(), {}, 'and all rules are kept');
$session->ask('INSERT INTO child VALUES (5, 5); DELETE FROM bulletin');
is($session->ask('SELECT id FROM bulletin_deleted WHERE id IS NOT NULL'), 5, 'a deletion from a child is noted');

$session->ask('ROLLBACK; BEGIN; CREATE TABLE parted (id bigint PRIMARY KEY, body int) PARTITION BY RANGE (id)');
$session->ask('CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (10)');
is($session->ask(q{SELECT to_do FROM snowflake_ids.create_feed('parted', true)}), '', 'a partitioned table');
$session->ask('CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20)');
is_deeply(faults('parted'), {}, 'a new partition has all that its parent has');
$session->ask('ALTER TABLE parted_1 DISABLE TRIGGER zz_stamp; ALTER TABLE parted_2 DISABLE TRIGGER zz_note_deleted');
my %parted = %{ faults('parted') };
is_deeply(
	[ sort keys %parted ],
	[   sort "parted_1: $always",
		'parted_2: trigger zz_note_deleted of the partition notes deletions',
		"parted: $settled" ],
	'partitions whose triggers are disabled');
unlike($session->ask($_), qr/ERROR/, $_) for map { $parted{$_} } grep { !/\Q$settled\E/ } sort keys %parted;
is_deeply(faults('parted'), {}, 'and all rules are kept');
$session->ask('SAVEPOINT s; ALTER TABLE parted_1 OWNER TO other');
is( faults('parted')->{'parted_1: it belongs to the owner of the feed'} =~ /^ALTER TABLE public.parted_1 OWNER TO/
	? 1
	: 0,
	1,
	'a partition of another owner');
$session->ask('INSERT INTO parted VALUES (1, 1)');
like($session->ask('DELETE FROM parted'), qr/ERROR:  cannot note .*belongs to/s, 'whose deletions are errors');

$session->ask('ROLLBACK; BEGIN; CREATE EXTENSION postgres_fdw; CREATE SERVER f FOREIGN DATA WRAPPER postgres_fdw');
$session->ask('CREATE FOREIGN TABLE far () INHERITS (bulletin) SERVER f');
ok(exists faults()->{'far: it is no foreign table'}, 'a foreign child');
$session->ask('ROLLBACK; BEGIN; ALTER TABLE bulletin DROP COLUMN stamp CASCADE');
ok(exists faults()->{'bulletin: the table has the column stamp'}, 'no column');
$session->ask('ROLLBACK; BEGIN; ALTER TABLE bulletin DROP CONSTRAINT bulletin_pkey');
ok(exists faults()->{'bulletin: the table has a primary key'}, 'no key');
$session->ask('ROLLBACK; BEGIN; DROP TABLE bulletin_deleted CASCADE');
ok(exists faults()->{'bulletin: a table has the deletions'}, 'no table of deletions');
is($session->ask(q{SELECT to_do FROM snowflake_ids.create_feed('bulletin')}), '', 'create_feed() creates it');
like(
	$session->ask('SELECT deleted FROM bulletin_feed WHERE stamp >= 0'),
	qr/does not know all deletions/,
	'and tells readers to copy the table again');
$session->ask('ROLLBACK');

$session->gone;
$server->stop;
done_testing();
