# demo/feed_is_covered.sql: a set-up breaks each rule. The query shows this rule, and what it says mends it. Where rows
# would be lost, one is.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Page;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($covered, $fresh) = split /;\n/, slurp("$ENV{SNOWFLAKE_IDS_SRC}/demo/feed_is_covered.sql") =~ s/^--.*\n//mgr;
my ($tables, $mark) = map { $_->{content} =~ s/^-- on .*\n//r } $page->blocks('On a standby', 'sql');
my ($always) =
  map { $_->{content} =~ /(ALTER TABLE .*;)/ } ($page->blocks('Rows of several servers', 'sql'))[1];

my $server = feed_server('covered', 1, streaming => 'logical');
my $session = Session->new($server);
is($session->ask($tables), '', 'the tables');

# A subscription that is not enabled needs no slot.
$server->safe_psql('postgres', 'CREATE DATABASE source');
$server->safe_psql('source',
	'CREATE TABLE bulletin (id bigint PRIMARY KEY, body int); CREATE PUBLICATION p FOR TABLE bulletin');
my $source = $server->connstr('source') =~ s/'/''/gr;
my $subscribe =
  "CREATE SUBSCRIPTION s CONNECTION '$source' PUBLICATION p WITH (create_slot = false, enabled = false, slot_name = NONE)";

sub faults
{
	my ($first) = @_;
	my $said = $session->ask($first ? $covered =~ s/'bulletin'/'$first'/r : $covered);
	my %fault = map { my ($on, $rule, $do) = split /\|/, $_, 3; ("$on: $rule" => $do) }
	  grep { !/\|ok$/ } split /\n/, $said;
	return \%fault;
}
is_deeply(faults(), {}, 'the set-up of the page is covered');

my $later = <<'END';
CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.stamp := coalesce(OLD.stamp, NEW.stamp); RETURN NEW; END$$;
CREATE TRIGGER zz_tidy BEFORE UPDATE ON bulletin FOR EACH ROW EXECUTE FUNCTION back();
END
my $again = 'DROP TRIGGER zz_stamp ON bulletin; CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE';
my $stamp = q{FOR EACH ROW %s EXECUTE FUNCTION sno_stamp('stamp');};
my $update = 'UPDATE bulletin SET body = body + 1 WHERE id = 1';
my $as_replica = "SET LOCAL session_replication_role = replica; $update";

# what breaks a rule, the rule, a statement whose row is lost then
my @cases = (
	[ 'ALTER TABLE bulletin DISABLE TRIGGER zz_stamp', 'it is enabled', $update ],
	[ 'ALTER TABLE bulletin ENABLE REPLICA TRIGGER zz_stamp', 'it is enabled', $update ],
	[ 'DROP TRIGGER zz_stamp ON bulletin', 'a trigger stamps INSERT and UPDATE', $update ],
	[   "DROP TRIGGER zz_stamp ON bulletin; CREATE TRIGGER zz_stamp BEFORE INSERT ON bulletin " . sprintf($stamp, ''),
		'a trigger stamps INSERT and UPDATE', $update ],
	[   "ALTER TABLE bulletin ADD COLUMN seen sno; DROP TRIGGER zz_stamp ON bulletin; CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON bulletin FOR EACH ROW EXECUTE FUNCTION sno_stamp('seen')",
		'a trigger stamps INSERT and UPDATE',
		$update ],
	[ "$again ON bulletin " . sprintf($stamp, 'WHEN (NEW.body > 100)'), 'it has neither WHEN nor OF', $update ],
	[ "$again OF id ON bulletin " . sprintf($stamp, ''), 'it has neither WHEN nor OF', $update ],
	[ $later, 'it is the last BEFORE trigger by name', $update ],
	[ "$subscribe", 'it is ENABLE ALWAYS beside a subscription', $as_replica ],
	[   'ALTER ROLE CURRENT_USER SET session_replication_role = replica',
		'no role is session_replication_role = replica',
		$as_replica ],
	[ 'ALTER TABLE bulletin ALTER stamp DROP NOT NULL', 'it is NOT NULL' ],
	[ 'DROP INDEX bulletin_stamp_idx', 'it is the first column of an index' ],
	[ 'DROP INDEX bulletin_stamp_idx; CREATE INDEX ON bulletin (id, stamp)', 'it is the first column of an index' ],
	[   'DROP INDEX bulletin_stamp_idx; CREATE INDEX ON bulletin (stamp) WHERE body > 1',
		'it is the first column of an index' ],
	[ 'ALTER TABLE bulletin SET UNLOGGED', 'rows are in the WAL, for standbys' ],
	[ 'DROP TABLE mark', 'standbys: a table has the mark' ],
	[ 'ALTER TABLE mark SET UNLOGGED', 'standbys: a table has the mark' ]);

my %refused = map { $_ => 1 } 'it is enabled', 'a trigger stamps INSERT and UPDATE', 'it has neither WHEN nor OF',
  'it is the last BEFORE trigger by name', 'it is ENABLE ALWAYS beside a subscription';
my %shown;
for my $case (@cases)
{
	my ($break, $rule, $loses) = @$case;
	$session->ask('BEGIN; INSERT INTO bulletin VALUES (1, 1)');
	unlike($session->ask($break), qr/ERROR/, $break);
	my $faults = faults();
	is(join(', ', keys %$faults), "bulletin: $rule", "the query shows: $rule");
	$shown{$rule}++;
	my $settled = $session->ask(q{SAVEPOINT s; SELECT sno_settled('bulletin'); ROLLBACK TO s});
	if   ($refused{$rule} && $break !~ /'seen'/) { like($settled, qr/ERROR/, 'sno_settled() refuses the table') }
	else                                         { like($settled, qr/^\w{16}$/, 'sno_settled() does not look at this') }

	if ($loses)
	{
		my $stamp = $session->ask('SELECT stamp FROM bulletin WHERE id = 1');
		unlike($session->ask($loses), qr/ERROR/, $loses);
		is($session->ask("SELECT stamp FROM bulletin WHERE id = 1"),
			$stamp, 'a reader that has read the row misses this version');
		$session->ask('SET LOCAL session_replication_role = DEFAULT');
	}
	my ($remedy) = values %$faults;
	$session->ask('DROP TRIGGER zz_stamp ON bulletin')
	  if $rule eq 'a trigger stamps INSERT and UPDATE' && $break =~ /CREATE/;
	if ($remedy =~ /^(ALTER|CREATE)/)
	{
		$remedy = 'DROP TABLE mark; ' . $remedy if $break =~ /mark SET UNLOGGED/;
		unlike($session->ask($remedy), qr/ERROR/, $remedy);
		is_deeply(faults(), {}, 'and all rules are kept');
		if ($loses)
		{
			my $stamp = $session->ask('SELECT stamp FROM bulletin WHERE id = 1');
			$session->ask($loses);
			is($session->ask("SELECT stamp > '$stamp' FROM bulletin WHERE id = 1"),
				't', 'a reader gets the next version');
		}
	}
	$session->ask('ROLLBACK');
}

$session->ask('BEGIN; CREATE TABLE child () INHERITS (bulletin)');
is_deeply(
	[ sort keys %{ faults() } ],
	[ 'child: a trigger stamps INSERT and UPDATE', 'child: it is the first column of an index' ],
	'a child inherits neither the trigger nor the index');
$session->ask('ROLLBACK; BEGIN');
$session->ask(
	$tables =~ s/bulletin/parted/gr =~ s/CREATE TABLE mark.*//sr =~ s/NOT NULL\)/NOT NULL) PARTITION BY RANGE (id)/r);
$session->ask('CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (1) TO (10)');
is_deeply(faults('parted'), {}, 'a partition has all that its parent has');
$session->ask('ALTER TABLE parted_1 DISABLE TRIGGER zz_stamp');
is_deeply([ keys %{ faults('parted') } ], ['parted_1: it is enabled'], 'a partition whose trigger is disabled');

$session->ask('ROLLBACK; BEGIN; CREATE EXTENSION postgres_fdw; CREATE SERVER f FOREIGN DATA WRAPPER postgres_fdw');
$session->ask('CREATE FOREIGN TABLE far () INHERITS (bulletin) SERVER f');
ok(exists faults()->{'far: it is no foreign table'}, 'a foreign child');
$shown{'it is no foreign table'}++;
$session->ask('ROLLBACK; BEGIN; ALTER TABLE bulletin DROP COLUMN stamp');
ok(exists faults()->{'bulletin: the table has the column of the stamp'}, 'no column');
$shown{'the table has the column of the stamp'}++;
$session->ask('ROLLBACK');

$session->ask("BEGIN; $subscribe");
$session->ask($always =~ s/article/bulletin/r);
is_deeply(faults(), {}, 'a subscription, and the statement of the page');
$session->ask('ROLLBACK');

my %rules = map { (split /\|/)[1] => 1 } split /\n/, $session->ask($covered);
is(join(', ', grep { !$shown{$_} } sort keys %rules), '', 'each rule was broken: ' . keys %rules);

is($session->ask($fresh), 'f', 'a mark that nobody has set is not fresh');
eventually(sub { $session->ask($mark) eq '' && $session->ask($fresh) eq 't' });
is($session->ask($fresh), 't', 'one that was set is');
$session->ask("UPDATE mark SET beat = sno_lower_bound(now() - interval '1 minute')");
is($session->ask($fresh), 'f', 'one that was set a minute ago is not');
$session->ask('DELETE FROM mark');
is($session->ask($fresh), 'f', 'nor one without a row, which no UPDATE will set') or diag $session->ask($fresh);
diag scalar(keys %rules), ' rules, ', scalar(@cases) + 5, ' set-ups that break them';

$session->gone;
$server->stop;
done_testing();
