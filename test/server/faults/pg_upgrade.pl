# pg_upgrade leaves our files behind; the ceiling in each database protects the ids under a clock hours behind. From
# this major, and from PRIVATE_OLD_PG_CONFIG, which tools/test sets.
use Servers;
use ClausesWithoutSchema;

my $rows = 'SELECT md5(string_agg(item::text, chr(10) ORDER BY id)) FROM item';
my $other = Ids::query(10, 50);

upgrade_from('the same major', undef);
if (my $old = $ENV{PRIVATE_OLD_PG_CONFIG})
{
	chomp(my $bindir = `$old --bindir`);
	my ($major) = `$bindir/postgres --version` =~ / (\d+)/;

	upgrade_from($major, $bindir =~ s{/bin$}{}r);
}
else
{
	note 'no server of an older major was given';
}
done_testing();

sub upgrade_from
{
	my ($from, $install_path) = @_;
	my $name = $install_path ? "old$from" : 'old';
	my $clock = clock();
	my $old = new_server($name, $clock, install_path => $install_path);
	my ($old_major) = $old->safe_psql('postgres', 'SHOW server_version') =~ /^(\d+)/;
	is($old_major, $from, "$from: the old server's major") if $install_path;
	$old->safe_psql('postgres', <<'END');
CREATE TABLE item (id sno DEFAULT gen_sno() PRIMARY KEY, volume gid(volume) DEFAULT gen_gid('volume'), mastic mastic DEFAULT gen_mastic(), seen text);
CREATE INDEX item_mastic ON item (mastic_timestamp(mastic));
CREATE INDEX item_volume ON item USING hash (volume);
INSERT INTO item SELECT FROM generate_series(1, 1000);
SELECT snowflake_layout_create('ours', '2020-01-01 00:00:00+00', '1 ms', 41, 10, 12);
CREATE TABLE order_line (id bigint DEFAULT gen_snowflake('ours') PRIMARY KEY);
INSERT INTO order_line SELECT FROM generate_series(1, 100);
CREATE DATABASE other;
END
	$old->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	$old->safe_psql('other', ClausesWithoutSchema::objects('public', 1));
	my $clauses = $old->safe_psql('other', ClausesWithoutSchema::contents());
	$old->safe_psql('postgres', "LOAD 'snowflake_ids'; ALTER SYSTEM SET snowflake_ids.machine_id = 7");
	reload($old);
	my $machine_id = 'SELECT machine_id, machine_id_source FROM snowflake_ids.status()';
	is(value($old, $machine_id), '7|configuration file', "$from: the old server has a machine id");
	my $content = value($old, $rows);

	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($old);
	$ids->add($old->safe_psql('other', $other));
	my $last = value($old, 'SELECT max(id) FROM order_line');
	$old->stop('fast');

	my $new = PostgreSQL::Test::Cluster->new($install_path ? "new_from$from" : 'new');

	# 18 switches checksums on; both clusters must agree.
	my ($new_major) = `pg_config --version` =~ / (\d+)/;
	$new->init(extra => [ $new_major >= 18 && $old_major < 18 ? '--no-data-checksums' : () ]);
	$new->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
	my @upgrade = (
		'pg_upgrade', '--no-sync', '-b', $old->config_data('--bindir'),
		'-B', $new->config_data('--bindir'),
		'-d', $old->data_dir, '-D', $new->data_dir, '-p', $old->port, '-P', $new->port, '-s', $new->host);
	chdir $new->basedir;
	my $said = `@upgrade 2>&1`;
	my $upgraded = $? == 0;
	my @logs = map { slurp($_) } glob $new->data_dir . '/pg_upgrade_output.d/*/log/*.log';

	# The last minor releases keep a column option that older releases of a newer major refuse.
  SKIP:
	{
		skip "$from: this server does not take tables of the older one, which was released later", 1
		  if !$upgraded && grep { /unrecognized parameter "pg_attver"/ } @logs;
		ok($upgraded, "$from: pg_upgrade") or diag join "\n", $said, map { /^(pg_restore: .*)/mg } @logs;
	}
	return if !$upgraded;

	$clock->set(-7200);
	start_at($new, $clock);
	is(value($new, $rows), $content, "$from: the rows are there");
	is($new->safe_psql('other', ClausesWithoutSchema::contents()),
		$clauses, "$from: so is what prints operators without a schema");
	like(value($new, $machine_id), qr/\|automatic$/, "$from: the settings were not copied, as doc/backups.md says");
	$new->append_conf('postgresql.conf', "snowflake_ids.machine_id = 7\n");
	reload($new);
	is(value($new, $machine_id), '7|configuration file', "$from: copied, they are there");
	is( $new->safe_psql(
			'postgres', 'INSERT INTO item DEFAULT VALUES; SELECT count(*) = count(DISTINCT mastic) FROM item'),
		't',
		"$from: with no repeat");
	is(value($new, "INSERT INTO order_line DEFAULT VALUES RETURNING id > $last"),
		't', "$from: a created layout goes on above its last id");
	$ids->draw($new);
	$ids->add($new->safe_psql('other', $other));
	$clock->set_to($start);
	$ids->draw($new);
	$ids->add($new->safe_psql('other', $other));
	$clock->set(0);
	$ids->draw($new);
	$ids->none_twice(
		'pg_upgrade from ' . ($install_path ? 'an older major' : 'the same major') . ', files left behind');

	my $plan = $new->safe_psql('postgres',
		"SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id >= timestamptz '2026-01-01 00:00:00+00'"
	);
	like($plan, qr/Index Scan|Bitmap Index Scan/, "$from: the planner support came along");
	is( $new->safe_psql(
			'postgres',
			'SET enable_seqscan = off; SELECT count(*) FROM item AS i WHERE EXISTS (SELECT FROM item WHERE volume = i.volume)'
		),
		$new->safe_psql('postgres', 'SELECT count(*) FROM item'),
		"$from: the hash index finds every row");
	$new->stop('immediate');
}
