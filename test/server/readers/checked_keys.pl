# A trigger checks keys: a reader who continues after the last key misses no row, whatever ids transactions bring.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my $server = new_server('checked', clock(), conf => <<'END');
max_prepared_transactions = 5
snowflake_ids.machine_id = 1
END
$server->safe_psql('postgres', <<'END');
CREATE TABLE elsewhere (id bigint DEFAULT gen_mastic());
CREATE TABLE log (id bigint PRIMARY KEY DEFAULT gen_mastic(), body text);
CREATE TRIGGER check_id BEFORE INSERT OR UPDATE ON log FOR EACH ROW EXECUTE FUNCTION mastic_check('id');
-- A control: the same without a trigger, read up to the same bound.
CREATE TABLE unchecked (id bigint PRIMARY KEY DEFAULT gen_mastic(), body text);
END
caught_up($server);
my $reader = Session->new($server);

sub settled { return $reader->ask(q{SELECT mastic_settled('log')::bigint}) }

# Until readers of the table were told that the id is past.
sub passes
{
	my ($id) = @_;
	return eventually(sub { $reader->ask('INSERT INTO elsewhere DEFAULT VALUES'); return settled() > $id });
}

# ---- an id that readers have passed is refused; without the trigger it is lost
for my $way (
	[ 'INSERT', q{INSERT INTO TABLE VALUES (ID, 'late')} ],
	[ 'UPDATE of the key', q{INSERT INTO TABLE (body) VALUES ('late'); UPDATE TABLE SET id = ID WHERE body = 'late'} ],
	[ 'COPY', "COPY TABLE FROM stdin;\nID\tlate\n\\.\n" ],
	[ 'ON CONFLICT', q{INSERT INTO TABLE VALUES (ID, 'late') ON CONFLICT (id) DO NOTHING} ])
{
	my ($name, $does) = @$way;
	my $writer = Session->new($server);
	my $id = $writer->ask('BEGIN; SELECT gen_mastic()');
	ok(passes($id), "$name: readers of the table pass an id that another transaction has fetched");
	my $told = settled();
	like($writer->ask('SAVEPOINT s; ' . ($does =~ s/TABLE/log/gr =~ s/ID/$id/gr)), qr/is too old/, "$name: refused");
	$writer->ask('ROLLBACK TO s');
	unlike($writer->ask($does =~ s/TABLE/unchecked/gr =~ s/ID/$id/gr), qr/ERROR/, "$name: the control has it");
	$writer->ask('COMMIT');
	is($reader->ask("SELECT count(*) FROM unchecked WHERE body = 'late' AND id < $told"), 1, "$name: and loses it");
	$reader->ask('TRUNCATE unchecked');
	is($reader->ask(q{SELECT count(*) FROM log WHERE body = 'late'}), 0, "$name: no such row");
	$writer->gone;
}

# ---- other ids hold readers back
{
	my $writer = Session->new($server);
	my $id = $writer->ask(q{BEGIN; INSERT INTO log (body) VALUES ('first') RETURNING id});
	$reader->ask('INSERT INTO elsewhere SELECT FROM generate_series(1, 100)');
	my $fetched = $reader->ask('SELECT gen_mastic()::bigint');
	ok( eventually(
			sub {
				$reader->ask('INSERT INTO elsewhere DEFAULT VALUES');
				return $reader->ask(
					"SELECT mastic_lower_bound(clock_timestamp() - interval '20 ms')::bigint > $fetched") eq 't';
			}),
		'the clock passes both');
	cmp_ok(settled(), '<=', $id, 'a row holds readers back');
	unlike($writer->ask("INSERT INTO log VALUES ($fetched, 'fetched by another')"),
		qr/ERROR/, 'an id of another transaction that is later than the first of this one');
	my $later = $writer->ask(q{INSERT INTO log (body) VALUES ('second') RETURNING id});
	$writer->ask(q{PREPARE TRANSACTION 'p'});
	cmp_ok(settled(), '<=', $id, 'prepared: the same');
	$reader->ask(q{COMMIT PREPARED 'p'});
	ok(passes($later), 'then all settle');
	is( $reader->ask("SELECT string_agg(body, ', ' ORDER BY id) FROM log WHERE id >= $id AND id < " . settled()),
		'first, fetched by another, second',
		'and are read');
	$writer->gone;
}
done_testing();
