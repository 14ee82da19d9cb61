# A cluster is copied, dumped and restored, and upgraded. Positions of one do not serve another (SF001), but those of an
# upgraded one do. Rows with stamps of another cluster are told (SF002) until what create_feed() returns has run. As a
# control, a position with the life of the other server loses a row.
use Servers;
use Feed;

my $original = feed_server('original', streaming => 1);
insert($original) for 1 .. 3;

# ---- a clone
{
	my $open = Session->new($original);
	$open->ask('BEGIN');
	insert($open);
	insert($original);
	my $before = Reader->of($original);
	$original->backup('base');
	my $clone = PostgreSQL::Test::Cluster->new('clone');
	$clone->init_from_backup($original, 'base', standby => 0);
	$clone->start;
	my $of_clone = Reader->of($clone);
	$open->ask('COMMIT');
	my $after = Reader->of($original);
	is($of_clone->once($original), 'SF001', 'a position of the clone, on the original');
	is($after->once($clone), 'SF001', 'one of the original, on the clone');
	is($before->once($clone), '', 'one that is older than the clone serves it');
	$before->same_as($clone, 'an older position');

	my $forged = bless { %$of_clone, copy => { %{ $of_clone->{copy} } } }, 'Reader';
	my ($theirs, $ours) = map { [ split /\./, $_, -1 ] } $of_clone->{position}, $after->{position};
	$theirs->[4] = $ours->[4];
	$forged->{position} = join '.', @$theirs;
	is($forged->once($original), '', 'with the life of the original it is taken');
	is($forged->differs($original), 1, 'and loses a row');
	$of_clone->poll($original);
	$of_clone->same_as($original, 'a new copy');
	$clone->stop('immediate');
}

# ---- dumped, and restored into another database and into another cluster
{
	# Ids of transactions that the other cluster has not given.
	$original->safe_psql('postgres',
		'DO $$ BEGIN FOR i IN 1 .. 5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
	insert($original) for 1 .. 3;
	$original->safe_psql('postgres', 'DELETE FROM outbox WHERE id = (SELECT max(id) FROM outbox)');
	my $reader = Reader->of($original);
	my $dump = $original->basedir . '/dump';
	system('pg_dump', '-Fc', '-f', $dump, '-d', $original->connstr('postgres')) == 0 or die;
	my $other = plain_server('other');

	for my $place ([ 'another database', $original ], [ 'another cluster', $other ])
	{
		my ($what, $node) = @$place;
		$node->safe_psql('postgres', 'CREATE DATABASE restored');
		is(system('pg_restore', '-e', '-d', $node->connstr('restored'), $dump), 0, "$what: restored");
		my $astray = bless { %$reader, dbname => 'restored' }, 'Reader';
		is($astray->once($node), 'SF001', "$what: a position of the original");
		my $new = Reader->new('outbox', dbname => 'restored');
		if ($node == $other)
		{
			is($new->once($node), 'SF002', "$what: a new copy has stamps that this server has not given");
			like($new->{said}, qr/create_feed/, 'and says what to type');
			create_feed($node, 'outbox', dbname => 'restored');
		}
		is($new->once($node), '', "$what: a new copy") or diag $new->{said};
		insert($node, dbname => 'restored');
		$node->safe_psql('restored', 'DELETE FROM outbox WHERE id = (SELECT max(id) FROM outbox)');
		is($new->poll($node), 2, "$what: what is new, and nothing else");
		$new->same_as($node, $what);
		is($new->poll($node), 0, "$what: then nothing");
	}
	$other->stop('immediate');
}
$original->stop('immediate');

# ---- pg_upgrade
upgrade_from('the same major', undef);
upgrade_from('an older major', $ENV{PRIVATE_OLD_PG_CONFIG}) if $ENV{PRIVATE_OLD_PG_CONFIG};
done_testing();

sub upgrade_from
{
	my ($from, $config) = @_;
	my $name = $config ? 'older' : 'same';
	my ($path) = $config ? `$config --bindir` =~ m{(.*)/bin$} : ();
	my $old = feed_server("old_$name", install_path => $path);
	create_feed($old, 'part', columns => 'id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1) PARTITION BY RANGE (id');
	$old->safe_psql('postgres', "CREATE TABLE part_$_ PARTITION OF part FOR VALUES FROM (${_}0) TO (${_}9)") for 1 .. 3;
	my @writes = map {
		my $t = $_;
		map { "INSERT INTO $t VALUES ($_)" } 11, 12, 21, 31
	} qw(outbox part);
	$old->safe_psql('postgres', join ';', @writes);
	my @readers = map { my $reader = Reader->new($_); $reader->poll($old); $reader } qw(outbox part);
	my $change =
	  'UPDATE TABLE SET body = 2 WHERE id = 12; DELETE FROM TABLE WHERE id = 21; INSERT INTO TABLE VALUES (22)';
	$old->safe_psql('postgres', join ';', map { $change =~ s/TABLE/$_/gr } qw(outbox part));
	$old->stop('fast');

	my $new = PostgreSQL::Test::Cluster->new("new_$name");
	my ($major) = `pg_config --version` =~ / (\d+)/;
	$new->init(extra => [ $major >= 18 && $config ? '--no-data-checksums' : () ]);
	$new->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
	chdir $new->basedir;
	my $said = join ' ', map { "'$_'" } 'pg_upgrade', '--no-sync', '-b', $old->config_data('--bindir'),
	  '-B', $new->config_data('--bindir'),
	  '-d', $old->data_dir, '-D', $new->data_dir, '-p', $old->port, '-P', $new->port, '-s', $new->host;
	$said = `$said 2>&1`;
	is($?, 0, "$from: pg_upgrade") or diag $said;
	$new->start;

	for my $reader (@readers)
	{
		is($reader->once($new), '', "$from: the position of $reader->{table} continues") or diag $reader->{said};
		is(@{ $reader->{last} }, 4, "$from: with what was new");
		$reader->same_as($new, $from);
		$new->safe_psql('postgres',
			"INSERT INTO $reader->{table} VALUES (35); DELETE FROM $reader->{table} WHERE id = 11");
		is($reader->poll($new), 2, "$from: and then");
		$reader->same_as($new, $from);
		is($reader->{twice}, 0, "$from: nothing twice");
	}
	is_deeply([ map { $_->{errors} } @readers ], [ {}, {} ], "$from: no error");
	$new->stop('immediate');
	return;
}
