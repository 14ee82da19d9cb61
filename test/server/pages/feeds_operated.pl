# The chapter "Feeds" of doc/operating.md: its queries show a broken rule, an old position and the size of deletions.
# After each of its answers, a reader has a right copy; so it has after pg_restore of one table (doc/backups.md), and
# after its position was emptied (doc/feed.md). pages_match_sources compares the metrics, and alerts_follow_their_events
# raises the alerts.
use Servers;
use Feed;
use Page;
use PostgreSQL::Test::Utils;

my $page = Page->new('doc/operating.md');
my ($broken, $others) = map { $_->{content} } grep { $_->{heading} eq 'Feeds' } $page->blocks('Feeds', 'sql');
my %answer;
push @{ $answer{ $_->{heading} } }, $_->{content} for $page->take('Feeds', 'sql');
my $types = sub { my ($title, $n) = @_; return $answer{$title}[ $n // 0 ] // die "nothing to type: $title" };

my $server = feed_server('operated');
my $said = sub { my ($sql, $where) = @_; return ($where // $server)->safe_psql('postgres', $sql) };
create_feed($server, 'headline', columns => 'id bigserial PRIMARY KEY, body text');
$said->("INSERT INTO headline (body) SELECT 'first' FROM generate_series(1, 1000)");
my $reader = Reader->new('headline');
$reader->poll($server);
my $right = sub {
	my ($what, $where) = @_;
	$reader->poll($where // $server);
	return $reader->same_as($where // $server, $what);
};

# ---- the queries, as a role that may only read
$said->('CREATE ROLE monitor; GRANT pg_read_all_data TO monitor');
my $as_monitor = sub { return $said->("SET ROLE monitor; $_[0]") };
is($as_monitor->($broken), '', 'no rule is broken');
$said->('CREATE TABLE part (id bigint PRIMARY KEY) PARTITION BY RANGE (id)');
$said->('CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (9)');
create_feed($server, 'part');
is($as_monitor->($broken), '', 'nor of a partitioned table');

for ([ 'DROP INDEX headline_stamp_idx', 'index begins' ], [ 'DROP TRIGGER zz_stamp ON headline', 'a trigger stamps' ])
{
	my ($breaks, $rule) = @$_;
	$said->($breaks);
	my $line = $as_monitor->($broken);
	like($line, qr/^headline\|.*$rule/, "$breaks: the query shows it");
	$said->(join '', map { "$_;" } map { (split /\|/)[2] } grep { /\|.*\|/ } split /\n/, $line);
	is($as_monitor->($broken), '', 'and what it says to type mends it');
}
$right->('after that');
$said->(q{CREATE TABLE reader (name text PRIMARY KEY, position text NOT NULL DEFAULT '')});
$said->("INSERT INTO reader VALUES ('search', '$reader->{position}'), ('new', '')");
like($as_monitor->($others), qr/^new\n\w+\|/, 'a reader without a position');
like($as_monitor->($others =~ s/'1 hour'/'0 s'/r), qr/^search\nnew\n/, 'and one whose position is old');
like($as_monitor->($others), qr/^headline\|\d+ kB$/m, 'sizes of deletions');

# ---- deletions that fill the disk
{
	my $size = sub { $said->(q{SELECT pg_total_relation_size('headline_deleted')}) };
	my $wal_of = sub {
		my ($sql) = @_;
		my $before = $said->('SELECT pg_current_wal_insert_lsn()');
		$said->($sql);
		return $said->("SELECT pg_current_wal_insert_lsn() - '$before'::pg_lsn");
	};
	my $fill = "INSERT INTO headline (body) SELECT 'short' FROM generate_series(1, 20000);"
	  . "DELETE FROM headline WHERE body = 'short'";
	my $truncate = $types->('The deletions fill the disk');
	my ($first, $second, $vacuum) = map { "$_;" } split /;/, $types->('The deletions fill the disk', 1);
	my $forget = $first =~ s/'1 minute'/'0 s'/r;
	$said->($fill);
	my $old = Session->new($server);
	$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM reader');
	is($said->($forget =~ s/'0 s'/'7 days'/r), '0', 'the first call of a job removes nothing');
	is($reader->once($server), '', 'and no reader notices');
	$said->('INSERT INTO headline (body) VALUES (1); DELETE FROM headline WHERE body = $$1$$');
	my $full = $size->();
	my $wal_to_forget = $wal_of->($forget);
	is($reader->once($server), 'SF001', 'a reader that has not read what is removed: copy again');
	$right->('and its copy is right');
	my $before = $size->();
	is($said->('SELECT count(*) < 100 FROM headline_deleted'), 't', "'0 s' removes also what no earlier call has seen");
	$said->('VACUUM headline_deleted');
	cmp_ok($size->(), '>=', $before, 'forget_deleted and VACUUM give no disk back');
	$said->($vacuum);
	is($reader->once($old), '40001', 'a poll with an older snapshot fails');
	$old->ask('ROLLBACK');
	$said->($vacuum);
	cmp_ok($size->(), '<', $before / 10, 'after VACUUM FULL, the file is small');
	$right->('and the reader continues');

	# The two calls of the page, a second apart
	$said->($fill);
	s/'1 minute'/'1 s'/ or die for $first, $second;
	is($said->($first), '0', 'the first of two calls removes nothing');
	$right->('a reader polls after it');
	$said->($fill);
	ok(eventually(sub { $said->($second) >= 20000 }), 'the second removes what the first has seen');
	is($reader->once($server), '', 'and no reader copies again');
	$right->('though more was deleted between the two');
	$said->($fill);
	$right->('after more deletions');
	my $wal_to_truncate = $wal_of->($truncate);
	cmp_ok($size->(), '<=', 65536, 'TRUNCATE: the file is small at once');
	cmp_ok(
		$wal_to_truncate, '<',
		$wal_to_forget / 10,
		"with $wal_to_truncate bytes of WAL, instead of $wal_to_forget for $full bytes of deletions");
	is($reader->once($server), 'SF001', 'copy again');
	$right->('and the copy is right');
}

# ---- a bulk load, also with TRIGGER ALL, which turns off a foreign key
{
	my ($off, $load, $on, $mend) = split /\n/, $types->('A bulk load with triggers off');
	$said->('CREATE TABLE author (id bigint PRIMARY KEY); ALTER TABLE headline ADD author bigint REFERENCES author');
	my ($all_off, $all_on) = map { s/USER/ALL/r } $off, $on;
	my $load_orphan = $load =~ s/stamp\)/stamp, author)/r =~ s/, 0 /, 0, 5 /r;
	like(($server->psql('postgres', "$off $load_orphan"))[2], qr/violates foreign key/, 'USER leaves foreign keys on');
	$said->($on);
	$said->($mend);
	$right->('mended, although nothing was loaded');

	for ([ $off, $load, $on ], [ $all_off, $load_orphan, $all_on ])
	{
		my ($turn_off, $load_rows, $turn_on) = @$_;
		$said->($turn_off);
		$said->($load_rows);
		is($reader->once($server), 'SF002', "$turn_off: an error");
		$said->($turn_on);
		is($reader->once($server), 'SF002', "also after $turn_on");
		$said->($mend);
		is($reader->once($server), 'SF001', 'after what check_feed says to type: copy again');
		$right->('the rows of the load are there');
		is($as_monitor->($broken), '', 'and check_feed returns nothing more');
	}
	cmp_ok($said->('SELECT count(*) FROM headline WHERE author = 5'), '>', 0, 'ALL: rows without their author stay');
	$said->("$off $load");
	$said->("ALTER TABLE headline ENABLE ALWAYS TRIGGER $_") for qw(zz_stamp zz_note_deleted zz_note_truncated);
	is($said->("SELECT count(*) FROM snowflake_ids.check_feed('headline') WHERE NOT ok"),
		'0', 'triggers that were turned on by hand: check_feed returns nothing');
	is($reader->once($server), '', 'and no reader notices');
	$said->($types->('A bulk load with triggers off', 1));
	is($reader->once($server), 'SF001', 'until the readers are told');
	$right->('and the rows are there');
	$said->('ALTER TABLE headline DROP CONSTRAINT headline_author_fkey');
}

# ---- one table of a dump, with and without --disable-triggers (doc/backups.md)
{
	my $backups = Page->new('doc/backups.md');
	my ($restore) = $backups->text =~ /run\s+`(pg_restore -a -t shop_order)`/;
	my ($check) = $backups->text =~ /`(SELECT to_do FROM snowflake_ids\.check_feed\('shop_order'\) WHERE NOT ok)`/;
	s/shop_order/headline/ for $restore, $check;
	my $dump = PostgreSQL::Test::Utils::tempdir() . '/table';
	$server->command_ok([ 'pg_dump', '-Fc', '-f', $dump, 'postgres' ], 'dumped');
	my @restores = (split(/ /, $restore), '-e', '-d', $server->connstr('postgres'));
	for my $empty ('TRUNCATE headline', 'DELETE FROM headline')
	{
		$said->("INSERT INTO headline (body) VALUES ('newer')");
		$right->('with a row that the dump has not');
		$server->command_fails_like(
			[ @restores, $dump ],
			qr/duplicate key/,
			"before $empty: nothing is restored, because the rows are there");
		$right->('so nothing has changed');
		$said->($empty);
		$server->command_ok([ @restores, $dump ], "$empty, $restore");
		is($said->($check), '', 'check_feed returns nothing');
		is($reader->once($server), '', 'readers get the rows as usual');
		$right->('and have lost the newer row');
	}
	$said->("INSERT INTO headline (body) VALUES ('newer'); TRUNCATE headline");
	$server->command_ok([ @restores, '--disable-triggers', $dump ], 'with --disable-triggers');
	is($reader->once($server), 'SF002', 'an error');
	isnt($said->($check), '', 'check_feed returns what to type');
	$said->("$check \\gexec");
	is($reader->once($server), 'SF001', 'after that: copy again');
	$right->('and the copy is right');
	is($reader->once($server), '', 'once');
}

# ---- an emptied position: the reader copies the table again, and the query shows when it has done so
{
	my $feed = Page->new('doc/feed.md');
	my ($empty) = map { $_->{content} } $feed->take('Empty a position', 'sql');
	my $position = sub { $said->(q{SELECT position FROM reader WHERE name = 'search'}) };
	my $keep = sub { $said->("UPDATE reader SET position = '$reader->{position}' WHERE name = 'search'") };
	my $shown = sub { $as_monitor->($others) =~ /^search$/m ? 1 : 0 };
	$said->(q{SELECT snowflake_ids.note_missed('headline', 'test')});
	is($reader->once($server), 'SF001', 'a program that does not handle it');
	is($reader->once($server), 'SF001', 'gets it again and again');
	$said->($empty);
	is($position->(), '', 'its position is emptied');
	is($shown->(), 1, 'so the query shows it');
	$reader->{position} = $position->();
	is($reader->once($server), '', 'and its next poll is no error');
	is($reader->{last}[0][0], 0, 'and begins with step 0');
	$keep->();
	is($shown->(), 0, 'the query shows it no more');
	$right->('and the copy is right');
	$feed->all_run;
}

# ---- CREATE INDEX CONCURRENTLY beside a sleeper
{
	my $sleeper = Session->new($server);
	my $since = $sleeper->ask("SELECT snowflake_ids.wait_feed('headline', '$reader->{position}', '0')");
	$sleeper->send("SELECT snowflake_ids.wait_feed('headline', '$since', '1 h')");
	my $wakes = $types->('CREATE INDEX CONCURRENTLY takes long');
	my $sleeps =
	  "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND query ~ '^SELECT snowflake_ids.wait_feed'";
	ok(eventually(sub { $said->($sleeps) eq '1' }), 'a reader sleeps');
	my $builds = Session->new($server);
	$builds->send('CREATE INDEX CONCURRENTLY ON headline (body)');
	my $waits =
	  "SELECT count(*) FROM pg_stat_activity WHERE query ~ '^CREATE INDEX CONC' AND wait_event = 'virtualxid'";
	ok(eventually(sub { $said->($waits) eq '1' }), 'CREATE INDEX CONCURRENTLY waits for it');
	is($said->($wakes), 't', 'it is woken');
	like($sleeper->answer, qr/canceling statement/, 'with an error');
	is($builds->answer, '', 'and the index is made');
	is($said->(q{SELECT bool_and(indisvalid) FROM pg_index WHERE indrelid = 'headline'::regclass}), 't', 'valid');
}

# ---- a dump, in the same cluster and in a new one, whose transactions have smaller ids
{
	my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
	$said->('DO $$ BEGIN FOR i IN 1 .. 2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
	$said->("INSERT INTO headline (body) VALUES ('before the dump')");
	$server->command_ok([ 'pg_dump', '-f', $dump, 'postgres' ], 'dumped');
	$said->("INSERT INTO headline (body) VALUES ('after the dump')");
	$right->('before it is restored');
	my $other = plain_server('restored');
	$other->command_ok([ 'psql', '-Xq', '-f', $dump, 'postgres' ], 'restored in a new cluster');
	my $position = $reader->{position};
	like($reader->once($other), qr/^SF00[12]$/, 'an old position is an error');
	$reader->{position} = '';
	is($reader->once($other), 'SF002', 'the stamps are of another server');
	$other->safe_psql('postgres', $types->('A dump was restored'));
	is($other->safe_psql('postgres', $broken), '', 'no rule is broken after what the page says to type');
	$reader->{position} = $position;
	is($reader->once($other), 'SF001', 'an old position: copy again');
	$right->('and the copy is right', $other);
	$other->stop;
}
$server->stop;
done_testing();
