# The rules of a reader that begins its next poll at the settled id of the last one. Each has a control, a reader that
# breaks it, which loses a row or uses one twice. Sessions are held open, so that the control always does.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Page;
use Test::More;

my $page = Page->new('doc/feed.md');
my ($stamped, $poll) = map { $_->{content} } $page->blocks('A feed with stamps', 'sql');
$stamped =~ s/^INSERT .*//ms;
$poll    =~ s/.*?^(?=SELECT)//ms;

my $server = new_server('position', clock(), conf => "autovacuum = off\nsnowflake_ids.machine_id = 1");
$server->safe_psql('postgres', $stamped . <<'END');
CREATE TABLE other (LIKE headline INCLUDING ALL);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON other FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE other ENABLE ALWAYS TRIGGER zz_stamp;
CREATE FUNCTION asks_again() RETURNS mastic LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN mastic_settled($$headline$$); END';
CREATE FUNCTION asks() RETURNS mastic LANGUAGE plpgsql STABLE AS 'BEGIN RETURN mastic_settled($$headline$$); END';
-- What a reader does with the rows.
CREATE TABLE copy (id bigint PRIMARY KEY, body text, stamp mastic);
CREATE TABLE reader (name text PRIMARY KEY, position mastic NOT NULL);
END
caught_up($server);
my ($reader, $second, $writer, $keeper, $any) = map { Session->new($server) } 1 .. 5;

# Returns the position and the ids. Without rows, the position stays.
sub poll
{
	my ($position, $sql, $session) = @_;
	my $said = ($session // $reader)->ask("\\set position $position\n" . ($sql // $poll));
	die $said if $said =~ /ERROR/;
	my @rows = map { [ split /\|/ ] } split /\n/, $said;
	return ($rows[0][0], join ' ', map { $_->[1] } @rows) if @rows;
	return ($position, '');
}

sub settled { return $any->ask(q{SELECT mastic_settled('headline')}) }

# Rows of ended transactions are below the settled id.
sub settles
{
	my ($table) = (@_, 'headline');
	eventually(sub { $any->ask("SELECT coalesce(max(stamp) < mastic_settled('$table'), true) FROM $table") eq 't' })
	  or die 'nothing settles';
	return settled();
}

sub insert
{
	my ($session, @ids) = @_;
	return $session->ask('INSERT INTO headline VALUES ' . join ', ', map { "($_, 'row $_')" } @ids);
}

# Row 1 is read and settled, row 2 is of an open transaction, row 3 is committed after it. Returns a position before 2.
sub row_2_is_open
{
	$any->ask('TRUNCATE headline, other, copy, reader');
	insert($any, 1);
	my $position = settles();
	$writer->ask('BEGIN');
	insert($writer, 2);
	insert($any, 3);
	return $position;
}

# ---- >=, because the position is often the first stamp of an open transaction
{
	my $at = row_2_is_open();
	(my $position, my $got) = poll($at);
	is($got, 3, 'a poll does not wait for an open transaction');
	$writer->ask('COMMIT');
	settles();
	is( $position,
		$any->ask('SELECT stamp FROM headline WHERE id = 2'),
		'the position is the first stamp of that transaction');
	is((poll($position))[1], '2 3', '>=: then its row comes, and the other one again');
	is((poll($position, $poll =~ s/stamp >= /stamp > /r))[1], 3, 'control: >: the row is lost');
}

# ---- greatest, because the settled id of a table can become smaller; the first position
{
	$any->ask('TRUNCATE headline');
	$writer->ask('BEGIN; SELECT gen_mastic()');
	insert($any, 1 .. 9);
	settles();
	my ($position, $got) = poll(0);
	is($got, '1 2 3 4 5 6 7 8 9', 'the smallest id: everything is read');
	insert($writer, 10);
	cmp_ok(settled(), '<', $position, 'a transaction that writes to the table late makes the settled id smaller');
	insert($any, 11);
	my ($greatest) = poll($position);
	my ($smaller) = poll($position, $poll =~ s/greatest\(:'position', (.*?\)\))\)/$1/r);
	$writer->ask('COMMIT');
	is((poll($greatest))[1], '10 11', 'the greatest: its row and a later one come');
	is((poll($smaller))[1], '1 2 3 4 5 6 7 8 9 10 11', 'control: as it is: all rows come again');
	is((poll(0, $poll =~ s/:'position'/NULL/gr))[1], '', 'control: NULL as the first position: no row ever comes');
}

# ---- position and rows in one statement, or the position first
{
	my $rows = $poll =~ s/greatest.*? AS position/0 AS position/sr;
	my $end = sub { $writer->ask('COMMIT'); settles(); return settled() };

	my $at = row_2_is_open();
	my $before = settled();
	is((poll($at, $rows))[1], 3, 'rows');
	my $after = $end->();
	is((poll($before))[1], '2 3', 'the position asked first: the row comes');
	is((poll($after))[1], '', 'control: the rows first: it is lost');

	# The statement stands still at its first row, while the transaction ends.
	for my $way ([ 'asks', '2 3', 'a STABLE function' ], [ 'asks_again', '', 'control: a VOLATILE function' ])
	{
		my ($function, $gets, $what) = @$way;
		$at = row_2_is_open();
		$keeper->ask('SELECT pg_advisory_lock(1)');
		$reader->send(
			"SELECT $function(), id FROM (SELECT id, pg_advisory_lock_shared(1) FROM headline WHERE stamp >= '$at' OFFSET 0) h"
		);
		waits(1);
		$end->();
		$keeper->ask('SELECT pg_advisory_unlock(1)');
		my ($position, $got) = split /\|/, $reader->answer;
		is($got, 3, "$what: the statement has an earlier snapshot");
		is((poll($position))[1], $gets, "$what: " . ($gets ? 'the row comes' : 'it is lost'));
		$reader->ask('SELECT pg_advisory_unlock_all()');
	}
}

sub waits
{
	my ($n) = @_;
	my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'};
	return eventually(sub { $any->ask($waiting) eq $n }) || die 'nobody waits';
}

# ---- no LIMIT with that position; a cursor
{
	$any->ask('TRUNCATE headline');
	insert($any, 1 .. 9);
	settles();
	my ($position, $got) = poll(0, $poll =~ s/;\n\z/ LIMIT 5;/r);
	is("$got, then " . (poll($position))[1], '1 2 3 4 5, then ', 'control: LIMIT: the rows behind it are lost');

	my $at = row_2_is_open();
	insert($any, 4 .. 9);
	my $cursor = "BEGIN; DECLARE c CURSOR FOR $poll";
	$reader->ask("\\set position $at\n$cursor");
	my @first = map { [ split /\|/ ] } split /\n/, $reader->ask('FETCH 3 FROM c');
	$writer->ask('COMMIT');
	settles();
	my @rest = map { [ split /\|/ ] } split /\n/, $reader->ask('FETCH ALL FROM c; COMMIT');
	is("@{[ map { $_->[1] } @first, @rest ]}", '3 4 5 6 7 8 9', 'a cursor keeps its snapshot');
	my ($kept, $last) = ($rest[-1][0], $first[-1][3]);
	is((poll($kept))[1], '2 3 4 5 6 7 8 9', 'with its position, the row comes');
	my $settled = settled();
	is((poll($settled))[1], '', 'control: a position asked after DECLARE: it is lost');
	is( (poll($kept < $last ? $kept : $last))[1],
		'2 3 4 5 6 7 8 9',
		'in the middle, the smaller one of the position and the last stamp may be kept');
	insert($any, 10 .. 19);
	my $full = settles();
	is((poll($full < $last ? $full : $last))[1], join(' ', 5 .. 19), 'it is the last stamp, if more has settled');
}

# ---- a batch is applied whole: an effect may have a smaller stamp than its cause
{
	$any->ask(<<'END');
CREATE TABLE child (id bigint PRIMARY KEY, parent bigint, stamp mastic NOT NULL);
CREATE INDEX ON child (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE child ENABLE ALWAYS TRIGGER zz_stamp;
CREATE TABLE child_copy (id bigint PRIMARY KEY, parent bigint REFERENCES child_copy DEFERRABLE);
END
	$writer->ask('BEGIN; INSERT INTO child VALUES (2, 1)');
	$any->ask('INSERT INTO child VALUES (1)');
	$writer->ask('COMMIT');
	my $query = 'SELECT id, parent FROM child ORDER BY stamp';
	my @inserts = map {
		my ($id, $parent) = split /\|/;
		"INSERT INTO child_copy VALUES ($id, " . ($parent || 'NULL') . ')'
	} split /\n/, $any->ask($query);
	is(scalar(@inserts), 2, 'a child committed after its parent has a smaller stamp');
	like($any->ask($inserts[0]), qr/violates foreign key/, 'control: each row in a transaction of its own is refused');
	unlike($any->ask(join ';', 'BEGIN; SET CONSTRAINTS ALL DEFERRED', @inserts, 'COMMIT'),
		qr/ERROR/, 'the batch whole is not');
}

# ---- no row is refused because its stamp is smaller: a key is inserted while its deletion waits
{
	$any->ask(<<'END');
CREATE TABLE gone (id bigint PRIMARY KEY, stamp mastic NOT NULL);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON gone FOR EACH ROW EXECUTE FUNCTION mastic_stamp('stamp');
ALTER TABLE gone ENABLE ALWAYS TRIGGER zz_stamp;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO gone VALUES (OLD.id); RETURN NULL; END$$;
CREATE TRIGGER note AFTER DELETE ON headline FOR EACH ROW EXECUTE FUNCTION note();
TRUNCATE headline
END
	insert($any, 1, 2);
	my $both = sub {
		my ($unless) = @_;
		return <<"END";
SELECT greatest(:'position', (SELECT least(mastic_settled('headline'), mastic_settled('gone')))) AS position, f.* FROM (
    SELECT id, body, stamp FROM headline WHERE stamp >= :'position'
    UNION ALL SELECT id, NULL, stamp FROM gone AS g WHERE stamp >= :'position' $unless) AS f ORDER BY stamp;
END
	};
	my $unless_there = $both->('AND NOT EXISTS (SELECT FROM headline WHERE id = g.id)');
	my ($at) = poll(settles());
	$keeper->ask('SELECT pg_advisory_lock(1)');
	$writer->send(
		'DELETE FROM headline WHERE CASE WHEN id = 1 THEN true ELSE pg_advisory_lock_shared(1) IS NOT NULL END');
	waits(1);
	$second->ask('BEGIN');
	$second->send(q{INSERT INTO headline VALUES (1, 'again')});
	waits(2);
	$keeper->ask('SELECT pg_advisory_unlock(1)');
	unlike($_->answer, qr/ERROR/, 'done') for $writer, $second;
	$writer->ask('SELECT pg_advisory_unlock_all()');

	# The deletion comes in a first batch, the row with the smaller stamp in a second one.
	my ($position, $deleted) = poll($at, $unless_there);
	is($deleted, '1 2', 'both deletions come');
	$second->ask('COMMIT');
	is($any->ask('SELECT h.stamp < g.stamp FROM headline h JOIN gone g USING (id)'), 't',
		'the row has a smaller stamp');
	is((poll($position, $unless_there))[1], '1 2', 'in the order of arrival: the row comes after its deletion');
	my $refuses = $unless_there =~ s/;\n\z//r;
	my $newer = "SELECT * FROM ($refuses) AS n WHERE id = 1 AND stamp > (SELECT stamp FROM gone WHERE id = 1)";
	is((poll($position, $newer))[1], '', 'control: a reader that wants a larger stamp than that of the key refuses it');

	# From before both, in one batch.
	my $last = sub {
		my ($sql) = @_;
		my @of_1 = grep { /^\d+\|1\|/ } split /\n/, $reader->ask("\\set position $at\n$sql");
		return (split /\|/, $of_1[-1])[2];
	};
	is($last->($unless_there), 'again', 'deletions of keys that are there are left out');
	is($last->($both->('')), '', 'control: with them, the reader ends without the row');
	$any->ask('DROP TRIGGER note ON headline');
}

# ---- the reader's row is locked first, and the position stored with the effects
{
	my $lock = q{SELECT position FROM reader WHERE name = 'search' FOR UPDATE};
	my $apply = sub {
		my ($session, $at) = @_;
		return $session->ask(<<"END");
WITH batch AS (SELECT greatest('$at', (SELECT mastic_settled('headline'))) AS position, h.* FROM headline h WHERE stamp >= '$at'),
     moved AS (UPDATE reader SET position = greatest(reader.position, batch.position) FROM batch)
SELECT id || ', ' || quote_literal(body) || ', ' || quote_literal(stamp) FROM batch ORDER BY stamp
END
	};
	my $keep = sub {
		my ($session, $rows) = @_;
		$session->ask("INSERT INTO copy VALUES ($_) ON CONFLICT (id) DO UPDATE SET body = excluded.body")
		  for split /\n/, $rows;
	};
	my $in_the_end = sub {
		settles();
		my $at = $second->ask(q{SELECT position FROM reader});
		$keep->($second, $apply->($second, $at));
		return $any->ask('SELECT h.body = c.body FROM headline h JOIN copy c USING (id) WHERE id = 1');
	};
	my $begin = sub {
		$any->ask('TRUNCATE headline, copy, reader');
		insert($any, 1);
		my $at = settles();
		$any->ask("INSERT INTO reader VALUES ('search', '$at')");
		$any->ask(q{UPDATE headline SET body = 'version 1' WHERE id = 1});
		return $at;
	};

	# The first one has read version 1; the second one reads version 2, and ends before the first one.
	my $at = $begin->();
	$reader->ask('BEGIN');
	my $rows = $reader->ask(
		"SELECT id || ', ' || quote_literal(body) || ', ' || quote_literal(stamp) FROM headline WHERE stamp >= '$at'");
	$any->ask(q{UPDATE headline SET body = 'version 2' WHERE id = 1});
	settles();
	$keep->($second, $apply->($second, $at));
	$keep->($reader, $rows);
	$reader->ask('COMMIT');
	is($in_the_end->(), 'f', 'control: two readers of one name without a lock: an old version stays for ever');

	$begin->();
	$reader->ask('BEGIN');
	$at = $reader->ask($lock);
	$rows = $apply->($reader, $at);
	$any->ask(q{UPDATE headline SET body = 'version 2' WHERE id = 1});
	$second->send("BEGIN; $lock");
	waits(1);
	$keep->($reader, $rows);
	$reader->ask('COMMIT');
	my ($now) = $second->answer =~ /(\d+)/;
	$keep->($second, $apply->($second, $now));
	$second->ask('COMMIT');
	is($in_the_end->(), 't', 'with the lock, the second one waits, and the last version stays');

	# A reader that ends between the position and the effects, and one that ends after both or neither.
	for my $way ([ 'in two transactions', 'COMMIT; BEGIN', 'f' ], [ 'in one transaction', '', 't' ])
	{
		my ($what, $between, $has_it) = @$way;
		$begin->();
		settles();
		$reader->ask('BEGIN');
		$rows = $apply->($reader, $reader->ask($lock));
		$reader->ask($between);
		$keep->($reader, $rows);
		$reader->ask('ROLLBACK');
		$keep->($second, $apply->($second, $second->ask('SELECT position FROM reader')));
		is($any->ask('SELECT count(*) = 1 FROM copy'), $has_it,
			"position and effects $what, and the reader dies between them: "
			  . ($has_it eq 't' ? 'the row comes again' : 'control: it is lost'));
	}

	# What all have read is deleted.
	for my $way ([ '<', '2 3' ], [ '<=', '3' ])
	{
		my ($operator, $left) = @$way;
		(my $position) = poll(row_2_is_open());
		$writer->ask('COMMIT');
		$any->ask(
			"INSERT INTO reader VALUES ('search', '$position'); DELETE FROM headline WHERE stamp $operator (SELECT min(position) FROM reader)"
		);
		is((poll($position))[1],
			$left,
			"DELETE with $operator: " . ($operator eq '<' ? 'what is not read stays' : 'control: a row is lost'));
	}
}

# ---- who must not use a row twice
{
	my %used = map { $_ => {} } 'below the position', 'stamps remembered', 'all rows';
	my ($at, %remembered) = (row_2_is_open());
	for my $poll_number (1 .. 6)
	{
		$writer->ask('COMMIT') if $poll_number == 3;
		insert($any, 10 + $poll_number);
		settles() if $poll_number == 6;
		my @rows = map { [ split /\|/ ] } split /\n/, $reader->ask("\\set position $at\n$poll");
		my $position = @rows ? $rows[0][0] : $at;
		for (@rows)
		{
			my ($id, $stamp) = @$_[ 1, 3 ];
			$used{'all rows'}{$id}++;
			$used{'below the position'}{$id}++ if $stamp < $position;
			$used{'stamps remembered'}{$id}++ unless $remembered{$stamp}++;
		}
		$at = $position;
		delete @remembered{ grep { $_ < $at } keys %remembered };
	}
	my $ids = $any->ask(q{SELECT string_agg(id::text, ' ' ORDER BY id) FROM headline WHERE id > 1});
	for my $who (sort keys %used)
	{
		my $n = $used{$who};
		is("@{[ sort { $a <=> $b } keys %$n ]}", $ids, "$who: all rows");
		my $twice = grep { $_ > 1 } values %$n;
		if   ($who eq 'all rows') { cmp_ok($twice, '>', 0, "control: $who: some twice") }
		else                      { is($twice, 0, "$who: none twice") }
	}
}

# ---- several tables: the least position, in one statement
{
	my $two = <<'END';
SELECT greatest(:'position', (SELECT least(mastic_settled('headline'), mastic_settled('other')))) AS position, t.* FROM (
    SELECT * FROM headline WHERE stamp >= :'position' UNION ALL SELECT * FROM other WHERE stamp >= :'position') AS t ORDER BY stamp;
END
	my $open = sub {
		my $at = row_2_is_open();
		$any->ask(q{INSERT INTO other VALUES (4, 'other')});
		settles('other');
		return $at;
	};
	my $at = $open->();
	my ($position, $got) = poll($at, $two);
	is($got, '3 4', 'rows of both');
	my ($of_other) = poll($at, $two =~ s/least\(.*?\)\)/mastic_settled('other')/r);
	$writer->ask('COMMIT');
	is((poll($position, $two))[1], '2 3 4', 'the least: the row comes');
	is((poll($of_other, $two))[1], '', 'control: the position of the other table: it is lost');

	$at = $open->();
	my ($first, $then) = map { $two =~ s/$_//r } qr/UNION ALL .*?(?=\) AS t)/,
	  qr/SELECT \* FROM headline .* UNION ALL /;
	is((poll($at, $first))[1], 3, 'two statements: the first');
	$writer->ask('COMMIT');
	settles();
	($position, $got) = poll($at, $then);
	is($got, 4, 'and the second');
	is((poll($position, $two))[1], '', 'control: with the position of the second one, a row is lost');
}

# ---- a row that has not settled may be taken back by a crash, if its COMMIT did not wait for the disk
{
	my $position = settles();
	my ($wal_writer) = $any->ask(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'});
	insert($any, 100);
	kill 'STOP', $wal_writer;
	$any->ask(q{SET synchronous_commit = off});
	insert($any, 101);
	($position, my $got) = poll($position);
	is($got, '100 101', 'both rows are read');
	my $mark = log_mark($server);
	kill 'KILL', $wal_writer;
	wait_for_log($server, qr/reinitializing/, $mark) or die 'nobody notices';
	$_->gone for $reader, $second, $writer, $keeper, $any;
	comes_back($server);
	$_ = Session->new($server) for $reader, $any;
	is($any->ask('SELECT string_agg(id::text, $$ $$) FROM headline WHERE id >= 100'),
		100, 'after a crash, the row with synchronous_commit = off is gone, the other one is not');
	insert($any, 102);
	settles();
	like((poll($position))[1], qr/\b102$/, 'a new row is not below the position');
}

$_->gone for $reader, $any;
$server->stop;
done_testing();
