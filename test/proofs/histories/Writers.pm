# All ways to write that a feed must tell. A statement is one of those of Tables.pm.
package Writers;
use strict;
use warnings;
use Actor;
use Tables;

my $transactions = 0;

sub statement
{
	my ($of) = @_;
	$of //= one_of(tables());
	my $number = rand;
	return
		$number < 0.30 ? Tables::insert_into($of)
	  : $number < 0.55 ? Tables::upsert($of)
	  : $number < 0.75 ? Tables::update($of)
	  : $number < 0.90 ? Tables::remove($of)
	  :                  Tables::change_key($of);
}

sub steps
{
	return map { $_ eq 'pause' ? ['pause'] : [ 'primary', $_ ] } @_;
}

sub prepared
{
	my ($end, @place) = @_;
	my $name = "$end " . ++$transactions;
	return (steps('BEGIN', statement(), statement(), "PREPARE TRANSACTION '$name'", 'pause', 'pause'),
		[ $place[0] // 'primary', uc($end) . " PREPARED '$name'" ]);
}

# name => how often, its steps
our %writers = (
	'autocommit' => [ 12, sub { return steps(statement()) } ],
	'several' => [ 4, sub { return steps('BEGIN', statement(), 'pause', statement(), 'COMMIT') } ],
	'one table several times' => [
		3,
		sub {
			my $t = one_of(tables());
			return steps('BEGIN', (map { statement($t) } 1 .. 5), 'COMMIT');
		}
	],
	'long' => [
		2,
		sub {
			return steps('BEGIN', map({ (statement(), 'pause', 'pause', 'pause') } 1 .. 3), 'COMMIT');
		}
	],
	'repeatable read' =>
	  [ 1, sub { return steps('BEGIN ISOLATION LEVEL REPEATABLE READ', statement(), 'pause', statement(), 'COMMIT') } ],
	'rolled back' => [ 2, sub { return steps('BEGIN', statement(), statement(), 'pause', 'ROLLBACK') } ],
	'nothing' =>
	  [ 2, sub { return steps('BEGIN; SELECT pg_current_xact_id()', 'pause', one_of('COMMIT', 'ROLLBACK')) } ],
	'savepoints' => [
		3,
		sub {
			return steps(
				'BEGIN', 'SAVEPOINT a', statement(), 'ROLLBACK TO a', statement(), 'pause',
				'SAVEPOINT b', statement(), 'RELEASE b', 'COMMIT');
		}
	],
	'100 savepoints' => [
		1,
		sub {
			my $each = Tables::insert_into('log') . '; ' . Tables::update(one_of(tables()));
			return steps(
				'BEGIN',
				statement(),
				"DO \$\$ BEGIN FOR i IN 1 .. 100 LOOP BEGIN $each; EXCEPTION WHEN unique_violation THEN END; END LOOP; END \$\$",
				'pause',
				statement(),
				'pause',
				'COMMIT');
		}
	],
	'prepared' => [ 2, sub { return prepared('commit') } ],
	'prepared, rolled back' => [ 1, sub { return prepared('rollback') } ],
	'prepared, ended by another session' => [ 1, sub { return prepared('commit', 'beside') } ],
	'bulk' => [
		1,
		sub {
			return steps('INSERT INTO plain (id) SELECT generate_series(1001, 1300) ON CONFLICT DO NOTHING',
				'pause', 'DELETE FROM plain WHERE id > 1000');
		}
	],
	'COPY' => [ 2, sub { return steps("COPY log (note) FROM stdin;\na\nb\nc\n\\.\n") } ],
	'TRUNCATE' => [
		0.7,
		sub {
			return steps('BEGIN', statement('log'),
				'TRUNCATE ' . one_of('plain', 'pair', 'parted', 'master, detail', 'log'),
				statement('plain'), statement('pair'), 'COMMIT');
		}
	],
	'xids without WAL' => [
		1,
		sub {
			return steps('DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM pg_current_xact_id(); ROLLBACK; END LOOP; END $$');
		}
	]);

my @deck = map { my $name = $_; ($name) x (10 * $writers{$name}[0]) } sort keys %writers;

# Locks, keys and partitions are in the way of each other.
sub actor
{
	my ($number) = @_;
	return Actor->new(
		name => "writer $number",
		connect => \&World::session,
		may_fail => qr/^(?:23505|23503|23502|23514|40001|40P01|55P03|42P01|42704|25P02)$/,
		script => sub {
			my ($self) = @_;
			$self->{not_before} = Time::HiRes::time() + 0.005;
			return ([ 'primary', q{SET lock_timeout = '1s'} ], $writers{ one_of(@deck) }[1]->());
		});
}

1;
