# What a trigger alone does: an id that was generated too early is replaced, and an update is seen like an insert.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $server = new_server('stamped', clock(), conf => <<'END');
max_prepared_transactions = 5
snowflake_ids.machine_id = 1
snowflake_ids.max_wait = '60s'
END
$server->safe_psql('postgres', <<'END');
CREATE TABLE elsewhere (id mastic DEFAULT gen_mastic());
CREATE TABLE unrelated (id int, stamp mastic);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON unrelated FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE unrelated ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE news (id int PRIMARY KEY, body text, stamp mastic NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
-- A control: the same column with a DEFAULT only.
CREATE TABLE plain (id int PRIMARY KEY, body text, stamp mastic NOT NULL DEFAULT gen_mastic());
INSERT INTO news SELECT generate_series(1, 30), 'old';
INSERT INTO plain SELECT generate_series(1, 30), 'old';
END
caught_up($server);
my $reader = Session->new($server);
my $row = 0;

# An unrelated table has the same settled id while nobody stamps.
sub settled
{
	my ($table) = @_;
	return $reader->ask(sprintf "SELECT mastic_settled('%s')::bigint", $table eq 'plain' ? 'unrelated' : $table);
}

# A writer with an id that readers of both tables have passed, and their promise.
sub late_writer
{
	my $writer = Session->new($server);
	my $id = $writer->ask('BEGIN; INSERT INTO elsewhere DEFAULT VALUES RETURNING id');
	my $told;
	eventually(
		sub {
			$told->{$_} = settled($_) for qw(news plain);
			return $told->{news} > $id && $told->{plain} > $id;
		}) or die 'nothing settles';
	return ($writer, $id, $told);
}

# The writer does something with the row ROW of TABLE, and the id LATE. Returns whether a reader of the promise then
# finds the row, and whether readers were held back before the commit.
sub reader_finds
{
	my ($does, $table, $commit) = @_;
	my ($writer, $late, $told) = late_writer();
	$row++;
	my %of = (ROW => $row, TABLE => $table, LATE => "'$late'::mastic");
	my $said = $writer->ask($does =~ s/(ROW|TABLE|LATE)/$of{$1}/gr);
	unlike($said, qr/ERROR/, "$table: $does");
	my $id = $writer->ask("SELECT stamp FROM $table WHERE body = 'new $row'");
	eventually(sub { settled('unrelated') > $id }) or die 'nothing settles';
	my $held_back = settled($table) <= $id;
	is($writer->ask($commit // 'COMMIT'), '', "$table: committed: $does");
	eventually(sub { settled($table) > $id }) or die 'the row does not settle';
	my $settled = settled($table);
	my $found = $reader->ask(
		"SELECT count(*) FROM $table WHERE stamp > '$told->{$table}'::bigint - 1 AND stamp < '$settled'::bigint::mastic AND body = 'new $row'"
	);
	return $found == 0 ? 'lost' : $held_back ? 'held back, found' : 'found';
}

my @writers = (
	q{INSERT INTO TABLE VALUES (100 + ROW, 'new ROW', LATE)},
	q{UPDATE TABLE SET body = 'new ROW', stamp = LATE WHERE id = ROW},
	q{PREPARE p(mastic) AS INSERT INTO TABLE VALUES (100 + ROW, 'new ROW', $1); EXECUTE p(LATE)},
	q{INSERT INTO TABLE VALUES (ROW, 'new ROW', LATE) ON CONFLICT (id) DO UPDATE SET body = excluded.body, stamp = excluded.stamp},
	q{MERGE INTO TABLE t USING (VALUES (ROW)) v (id) ON t.id = v.id WHEN MATCHED THEN UPDATE SET body = 'new ROW', stamp = LATE},
	q{SAVEPOINT s; UPDATE TABLE SET body = 'gone' WHERE id = ROW; ROLLBACK TO s; UPDATE TABLE SET body = 'new ROW', stamp = LATE WHERE id = ROW},
);
is(reader_finds($_, 'news'), 'held back, found', 'a stamped row is found') for @writers;
is(reader_finds($_, 'plain'), 'lost', 'a control: the row is lost')        for @writers;
is(reader_finds(q{UPDATE TABLE SET body = 'new ROW' WHERE id = ROW}, 'news'), 'held back, found', 'an update is found');
is(reader_finds(q{UPDATE TABLE SET body = 'new ROW' WHERE id = ROW}, 'plain'),
	'lost', 'a control: an update is no new id');
is( reader_finds(
		q{UPDATE TABLE SET body = 'new ROW' WHERE id = ROW},
		'news', q{PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'}),
	'held back, found',
	'an update in a prepared transaction is found');

# ---- if the server prepares no transactions, PostgreSQL says so
$server->append_conf('postgresql.conf', 'max_prepared_transactions = 0');
$reader->gone;
$server->restart;
like(
	value($server, q{BEGIN; INSERT INTO news VALUES (1000); PREPARE TRANSACTION 'p'}),
	qr/ERROR:  prepared transactions are disabled\nHINT:  Set max_prepared_transactions to a nonzero value\./,
	'prepared transactions are disabled');

$server->stop;
done_testing();
