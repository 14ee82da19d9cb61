# The feed in plain SQL of doc/choosing.md, on a server without our extension: its reader has all rows, the readers that
# break one of its rules do not. Sessions are held open, so that they never do.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Page;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $heading = 'Hosts that load no C code';
my $page = Page->new('doc/choosing.md');
my $server = PostgreSQL::Test::Cluster->new('without_c');
$server->init(allows_streaming => 1);
$server->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nmax_prepared_transactions = 5");
$server->start;
$server->safe_psql('postgres', 'CREATE DATABASE elsewhere');
$page->run_chapter($server, $heading, dbname => 'postgres');
my (undef, $poll) = map { $_->{content} } $page->blocks($heading, 'sql');
$poll =~ s/^\\set position 0\n// or die 'the query of the page has changed';
my ($restamp) = $page->text =~ /`(UPDATE notice SET stamp = stamp)`/ or die 'what to do after a restore is gone';

my ($any, $writer, $second) = map { Session->new($server) } 1 .. 3;
my $elsewhere = Session->new($server, dbname => 'elsewhere');

# A reader: a copy of the table, and its position. Returns the ids of a poll.
sub reader
{
	my ($query, %o) = @_;
	return { query => $query // $poll, position => 0, copy => {}, session => Session->new($o{server} // $server), %o };
}

sub poll
{
	my ($reader) = @_;
	my $said = $reader->{session}->ask("\\set position $reader->{position}\n$reader->{query}");
	die $said if $said =~ /ERROR/;
	my @rows = map { [ split /\|/ ] } split /\n/, $said;
	for (@rows)
	{
		my ($position, $id, $body, $stamp) = @$_;
		$reader->{copy}{$id} = $body unless $reader->{refuses} && ($reader->{stamp}{$id} // 0) > $stamp;
		$reader->{stamp}{$id} = $stamp;
		$reader->{position} = $reader->{largest} ? $stamp : $position;
	}
	return join ' ', map { $_->[1] } @rows;
}

sub has
{
	my ($reader) = @_;
	return join ' ', map { "$_=$reader->{copy}{$_}" } sort { $a <=> $b } keys %{ $reader->{copy} };
}

sub table { return $any->ask(q{SELECT string_agg(id || '=' || body, ' ' ORDER BY id) FROM notice}) }

# ---- a history of steps, after each of which all readers poll
{
	my %control = (
		'>' => reader($poll =~ s/>=/>/r),
		'the largest stamp as the position' => reader(undef, largest => 1),
		'LIMIT' => reader($poll =~ s/;/ LIMIT 2;/r),
		'an upper bound of its own position' => reader($poll =~ s/ORDER BY/AND stamp < :'position' ORDER BY/r),
		'refuses smaller stamps' => reader(undef, refuses => 1));
	my $reader = reader();
	my $insert = sub {
		sprintf 'INSERT INTO notice (id, body) VALUES ' . join ', ', map { "($_, 'new')" } @_;
	};
	my @steps = (
		[ $any, $insert->(1, 2) ],
		[ $writer, 'BEGIN; ' . $insert->(3) ],
		[ $any, $insert->(4) ],
		[ $second, 'BEGIN; SAVEPOINT a; ' . $insert->(5) . '; ROLLBACK TO a; ' . $insert->(6) ],
		[ $any, q{UPDATE notice SET body = 'changed' WHERE id = 1} ],
		[ $second, 'COMMIT' ],
		[ $any, $insert->(7, 8, 9) ],
		[ $writer, q{UPDATE notice SET body = 'last' WHERE id = 1} ],    # after it was changed, with a smaller stamp
		[ $writer, 'COMMIT' ],
		[ $any, 'BEGIN; ' . $insert->(10) . "; PREPARE TRANSACTION 'held'" ],
		[ $any, $insert->(11) ],
		[ $any, 'BEGIN; ' . $insert->(12) . '; ROLLBACK' ],
		[ $any, "COMMIT PREPARED 'held'" ],
		[ $any, $insert->(13) ]);
	for (@steps)
	{
		my ($session, $sql) = @$_;
		unlike($session->ask($sql), qr/ERROR/, $sql);
		poll($_) for $reader, values %control;
	}
	is(has($reader), table(), 'the reader of the page has all rows as they are');
	isnt(has($control{$_}), table(), "control: $_") for sort keys %control;
	$_->{session}->gone for $reader, values %control;
}

# ---- the position after the rows
{
	my ($first, $after) = (reader(), reader($poll =~ s/pg_snapshot_xmin\S+ AS position/0 AS position/r));
	my $position = q{SELECT pg_snapshot_xmin(pg_current_snapshot())};
	poll($_) for $first, $after;
	$writer->ask(q{BEGIN; INSERT INTO notice (id, body) VALUES (20, 'new')});
	my $before = $any->ask($position);
	poll($_) for $first, $after;
	$writer->ask('COMMIT');
	$after->{position} = $any->ask($position);
	is($before, $first->{position}, 'the position in a statement before is that of the statement');
	poll($_) for $first, $after;
	is(has($first), table(), 'position and rows in one statement: all rows');
	isnt(has($after), table(), 'control: the position after the rows');
	$_->{session}->gone for $first, $after;
}

# ---- a writer of another database: polls are long, until it ends
{
	my $reader = reader();
	$elsewhere->ask('CREATE TABLE t (n int); BEGIN; INSERT INTO t VALUES (1)');
	$any->ask("INSERT INTO notice (id, body) SELECT n, 'new' FROM generate_series(101, 200) AS n");
	poll($reader) for 1 .. 2;
	is(scalar(split / /, poll($reader)), 100, 'each poll reads all rows since a transaction of another database began');
	$elsewhere->ask('COMMIT');
	poll($reader);
	is(poll($reader), '', 'and none after its end');
	$reader->{session}->gone;
}

# ---- on a standby
{
	$server->backup('base');
	my $standby = standby_of($server, 'standby_without_c');
	my $reader = reader(undef, server => $standby);
	my $control = reader($poll =~ s/>=/>/r, server => $standby);
	my $polls =
	  sub { $server->wait_for_catchup($standby, 'replay', $server->lsn('insert')); poll($_) for $reader, $control };
	$polls->();
	$writer->ask(q{BEGIN; INSERT INTO notice (id, body) VALUES (300, 'new')});
	$any->ask(q{INSERT INTO notice (id, body) VALUES (301, 'new')});
	$polls->();
	is($reader->{copy}{301}, 'new', 'a standby does not wait for an open transaction of the primary');
	$writer->ask('COMMIT');
	$polls->();
	is(has($reader), table(), 'on a standby, the reader has all rows');
	isnt(has($control), table(), 'control on a standby: >');
	$_->{session}->gone for $reader, $control;
	$standby->stop;
}

# ---- restored on another server, whose transactions have smaller numbers
{
	$any->ask('DO $$BEGIN FOR n IN 1 .. 2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END$$');
	$any->ask(q{UPDATE notice SET body = 'late' WHERE id = 13});
	my $reader = reader();
	poll($reader);
	my $dump = PostgreSQL::Test::Utils::tempdir() . '/notice';
	$server->command_ok([ 'pg_dump', '-f', $dump, 'postgres' ], 'dumped');
	my $other = PostgreSQL::Test::Cluster->new('restored_without_c');
	$other->init;
	$other->append_conf('postgresql.conf', 'fsync = off');
	$other->start;
	$other->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, 'postgres' ], 'restored');
	$any->gone;
	$reader->{session}->gone;
	($any, $reader->{session}) = map { Session->new($other) } 1 .. 2;
	$any->ask(q{INSERT INTO notice (id, body) VALUES (400, 'new')});
	is(poll($reader), '', 'control: the old position: a new row is lost');
	$any->ask($restamp);
	$reader->{position} = 0;
	poll($reader);
	is(has($reader), table(), 'stamped again, and read from 0: all rows');
	$any->ask(q{INSERT INTO notice (id, body) VALUES (401, 'new')});
	poll($reader);
	is(has($reader), table(), 'and those that come later');
	$reader->{session}->gone;
	$other->stop;
}

$_->gone for $any, $writer, $second, $elsewhere;
$server->stop;
$page->all_run;
done_testing();
