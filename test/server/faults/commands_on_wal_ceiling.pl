# Whatever command is run on the relation with the ceiling in WAL, ids continue, and none repeats: in a new session, in
# a running one, after a crash, and on a standby that is promoted with a clock an hour behind. The standby has no
# ceiling file.
use Servers;
use File::Path qw(rmtree);
use Quick;

my $name = 'snowflake_ids.wal_ceiling';
my $clock = clock();
my $primary = new_server('primary', $clock, allows_streaming => 1, conf => <<'END');
max_wal_size = 64MB
min_wal_size = 32MB
allow_in_place_tablespaces = on
END
$primary->safe_psql('postgres', "CREATE TABLESPACE other LOCATION ''");

# An extension whose script refreshes the relation.
my $extension = $primary->config_data('--sharedir') . "/extension/refreshes_$$";
spew("$extension.control", "default_version = '1'\n");
spew("$extension--1.sql", "REFRESH MATERIALIZED VIEW $name;\n");
END { unlink glob "$extension*" if defined $extension }

my @cases = (
	[ 'nothing', 'SELECT 1' ],

	# as the sequence that it is not
	[ 'setval()', "SELECT setval('$name', 22320)" ],

	# as a table
	[ 'INSERT', "INSERT INTO $name SELECT * FROM $name" ],
	[ 'UPDATE', "UPDATE $name SET until = '2000-01-01'" ],
	[ 'DELETE', "DELETE FROM $name" ],
	[ 'TRUNCATE', "TRUNCATE $name" ],
	[ 'COPY', "COPY $name FROM PROGRAM 'echo 1'" ],
	[ 'SET UNLOGGED of a table', "ALTER TABLE $name SET UNLOGGED" ],

	# as a materialized view
	[ 'REFRESH', "REFRESH MATERIALIZED VIEW $name" ],
	[ 'REFRESH in the script of another extension', "CREATE EXTENSION refreshes_$$; DROP EXTENSION refreshes_$$" ],
	[ 'REFRESH, rolled back', "BEGIN; REFRESH MATERIALIZED VIEW $name; SELECT gen_sno(); ROLLBACK" ],
	[ 'VACUUM FULL, and VACUUM FREEZE', "VACUUM FULL $name; VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) $name" ],
	[ 'VACUUM FREEZE, ANALYZE and SELECT', "VACUUM (FREEZE, ANALYZE) $name; SELECT * FROM $name" ],
	[   'CLUSTER',
		"CREATE INDEX ceiling_index ON $name (until); CLUSTER $name USING ceiling_index; DROP INDEX snowflake_ids.ceiling_index"
	],
	[   'SET TABLESPACE',
		"ALTER MATERIALIZED VIEW $name SET TABLESPACE other; ALTER MATERIALIZED VIEW $name SET TABLESPACE pg_default" ]
);

sub rows { return Ids::query(20, 60) }

# What went wrong, or nothing.
sub drawn
{
	my ($ids, $where) = @_;
	$ids->{said} = [];
	$ids->add(value($where, rows()));
	my ($error) = "@{ $ids->{said} }" =~ /(ERROR.*?)(?:DETAIL|HINT|$)/s;
	return $error // ();
}

my $n = 0;
for my $case (part(@cases))
{
	my ($what, $sql) = @$case;
	my $act = sub { value($primary, $sql) };
	$primary->safe_psql('postgres', 'DROP EXTENSION snowflake_ids; CREATE EXTENSION snowflake_ids');
	my $ids = Ids->new;
	my $start = $clock->now;
	my $running = Session->new($primary);
	my @wrong = map { "before: $_" } drawn($ids, $running);
	$act->();
	push @wrong, map { "a new session: $_" } drawn($ids, $primary);
	$clock->step(5);    # beyond the ceiling that the session knows
	push @wrong, map { "a running session: $_" } drawn($ids, $running);

	$primary->safe_psql('postgres', 'CHECKPOINT');
	$act->();
	$running->gone;
	kill_postmaster($primary);
	my $of_standby = Ids->new;
	$of_standby->include($ids);
	my $standby = copy_of('standby' . ++$n, $primary->data_dir);
	unlink $standby->data_dir . '/snowflake_ids.ceiling' or die;
	$standby->set_standby_mode;
	my $clock_of_standby = clock();

	for ([ 'promoted', $standby, $of_standby, $clock_of_standby ], [ 'after a crash', $primary, $ids, $clock ])
	{
		my ($when, $server, $all, $its_clock) = @$_;
		my $offset = $clock->{offset};
		$its_clock->set(-3600);
		start_at($server, $its_clock);
		$server->promote if $server == $standby;
		for my $time ($its_clock->now, $start, $start + 5)
		{
			$its_clock->set_to($time);
			push @wrong, map { "$when: $_" } drawn($all, $server);
		}
		push @wrong, "$when: $all->{twice} ids twice" if $all->{twice};
		$its_clock->set($offset + 20);
	}
	$standby->stop('immediate');
	rmtree($standby->data_dir);
	my $all = $ids->drawn + $of_standby->drawn;
	ok(!@wrong, "$what: $all ids") or diag join "\n", @wrong;
}

# For PostgreSQL's own tools it is a table like others.
is($primary->safe_psql('postgres', "CREATE EXTENSION amcheck; SELECT * FROM verify_heapam('$name')"),
	'', 'amcheck finds no fault');
$primary->stop('immediate');
done_testing();
