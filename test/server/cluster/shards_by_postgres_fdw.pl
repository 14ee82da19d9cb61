# Two shards behind postgres_fdw: where a DEFAULT is evaluated, what is sent, and no id twice. The commands are those
# of doc/multi-node.md.
use Servers;
use Page;

my $page = Page->new('doc/multi-node.md');
my %server;
my %machine_id = (coordinator => 10, shard1 => 11, shard2 => 12);
for my $name (sort keys %machine_id)
{
	my $s = $server{$name} = PostgreSQL::Test::Cluster->new($name);
	$s->init;
	$s->append_conf('postgresql.conf', "snowflake_ids.machine_id = $machine_id{$name}\n");
	$s->start;
	$s->safe_psql('postgres', 'CREATE DATABASE app');
}
if ($server{coordinator}->safe_psql('app', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'})
	eq '0')
{
	plan skip_all => 'postgres_fdw is not installed';
}
my $c = $server{coordinator};
sub q1 { my ($sql) = @_; return $c->safe_psql('app', $sql) }

# ---- ids made on the coordinator
$page->run_on(\%server, 'Shards with postgres_fdw');
q1(q{COPY signal (body) FROM PROGRAM 'seq 1 3000'});
is(q1('SELECT count(*), count(DISTINCT id), count(DISTINCT sno_partition(id)), min(sno_partition(id)) FROM signal'),
	'6000|6000|1|10', 'INSERT and COPY: the coordinator\'s DEFAULT, none twice');
for my $n (1 .. 2)
{
	my $rows = $server{"shard$n"}->safe_psql('app', 'SELECT count(*) FROM signal');
	cmp_ok($rows, '>', 2700, "shard $n has half of the rows, $rows");
	is( $server{"shard$n"}->safe_psql(
			'app',
			qq{SELECT count(*) FROM signal WHERE NOT satisfies_hash_partition('parent'::regclass, 2, @{[ $n - 1 ]}, id)}
		),
		0,
		'and each belongs there by its own reckoning'
	) if $server{"shard$n"}->safe_psql('app', 'CREATE TABLE parent (id sno) PARTITION BY HASH (id)') eq '';
}
is(q1(q{INSERT INTO signal (body) VALUES ('one') RETURNING sno_partition(id)}), 10, 'a single row, too');
my $id = q1('SELECT id FROM signal LIMIT 1 OFFSET 777');
my $plan = q1("EXPLAIN (VERBOSE, COSTS OFF) SELECT body FROM signal WHERE id = '$id'");
is(scalar(() = $plan =~ /Remote SQL/g), 1, 'an id is looked for on one shard');
like($plan, qr/Remote SQL: .*WHERE \(\(id = '$id'\)\)/, 'by sending it');

my $middle = q1(q{SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY sno_timestamp(id)) FROM signal});
my $expected = q1("SELECT count(*) FROM signal WHERE sno_timestamp(id) >= '$middle'");
cmp_ok($expected, '>', 0, "rows since a moment: $expected");
my $by_constant = "SELECT count(*) FROM signal WHERE id >= timestamptz '$middle'";
my $by_range = "SELECT count(*) FROM signal WHERE id >= timestamptz '$middle' AND timestamptz 'infinity' > id";
my $by_subselect = "SELECT count(*) FROM signal WHERE id >= (SELECT now() - (now() - timestamptz '$middle'))";
my $by_now = "SELECT count(*) FROM signal WHERE id >= now() - (now() - timestamptz '$middle')";
is(q1($_), $expected, "right: $_") for $by_constant, $by_range, $by_subselect, $by_now;
like(q1("EXPLAIN (VERBOSE, COSTS OFF) $_"), qr/Remote SQL: .*WHERE/, "sent: $_")
  for $by_constant, $by_range, $by_subselect;
unlike(q1("EXPLAIN (VERBOSE, COSTS OFF) $by_now"), qr/Remote SQL: .*WHERE/, "not sent: $by_now");
is( q1( "SET plan_cache_mode = force_generic_plan; PREPARE since (timestamptz) AS SELECT count(*) FROM signal WHERE id >= \$1; EXECUTE since ('$middle')"
	),
	$expected,
	'right: a parameter');
like(
	q1( "SET plan_cache_mode = force_generic_plan; PREPARE since (timestamptz) AS SELECT count(*) FROM signal WHERE id >= \$1; EXPLAIN (VERBOSE, COSTS OFF) EXECUTE since ('$middle')"
	),
	qr/Remote SQL: .*WHERE .*\$1/,
	'sent: a parameter');

like(
	$server{shard1}->safe_psql(
		'app',
		"SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) SELECT id FROM signal WHERE id OPERATOR(pg_catalog.>=) '$middle'::timestamp with time zone"
	),
	qr/Index Cond: \(id >= /,
	'which is an index scan there');

q1("ALTER SERVER shard$_ OPTIONS (DROP extensions)")  for 1 .. 2;
is(q1($_), $expected, "right without the option: $_") for $by_constant, $by_range, $by_subselect, $by_now;
unlike(q1("EXPLAIN (VERBOSE, COSTS OFF) $by_constant"), qr/Remote SQL: .*WHERE/, 'but compared on the coordinator');
q1("ALTER SERVER shard$_ OPTIONS (ADD extensions 'snowflake_ids')") for 1 .. 2;

$server{shard1}->safe_psql('app', q{CREATE TABLE plain (id sno DEFAULT gen_sno(), body text)});
q1( q{CREATE FOREIGN TABLE plain (id sno, body text) SERVER shard1; CREATE FOREIGN TABLE plain_body (body text) SERVER shard1 OPTIONS (table_name 'plain')}
);
q1(q{INSERT INTO plain (body) VALUES ('through the coordinator')});
q1(q{INSERT INTO plain_body (body) VALUES ('a foreign table that has no such column')});
$server{shard1}->safe_psql('app', q{INSERT INTO plain (body) VALUES ('there')});
is( q1(q{SELECT string_agg(concat_ws(': ', body, sno_partition(id)), ', ' ORDER BY body) FROM plain}),
	'a foreign table that has no such column: 11, there: 11, through the coordinator',
	'the shard\'s DEFAULT counts where the column is not sent, and a null is sent for one that was left out');

# ---- ids made on the shards
$server{"shard$_"}->safe_psql('app', <<'END') for 1 .. 2;
CREATE TABLE booking (id sno PRIMARY KEY, customer integer, body text);
CREATE FUNCTION booking_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.id := coalesce(NEW.id, public.gen_sno());
    RETURN NEW;
END $$;
CREATE TRIGGER booking_id BEFORE INSERT ON booking FOR EACH ROW EXECUTE FUNCTION booking_id();
END
q1('CREATE TABLE booking (id sno, customer integer, body text) PARTITION BY HASH (customer)');
q1( "CREATE FOREIGN TABLE booking_$_ PARTITION OF booking FOR VALUES WITH (MODULUS 2, REMAINDER @{[ $_ - 1 ]}) SERVER shard$_ OPTIONS (table_name 'booking')"
) for 1 .. 2;
q1(q{INSERT INTO booking (customer, body) SELECT n, 'by the shard' FROM generate_series(1, 3000) AS n});
is( q1('SELECT count(*), count(DISTINCT id), string_agg(DISTINCT sno_partition(id)::text, $$ $$) FROM booking'),
	'3000|3000|11 12',
	'ids are made on the shards, none twice');
is(q1('SELECT count(*) FROM booking WHERE tableoid::regclass::text <> $$booking_$$ || sno_partition(id) - 10'),
	0, 'each has the number of its shard');
like(q1(q{INSERT INTO booking (customer) VALUES (1) RETURNING sno_partition(id)}), qr/^1[12]$/, 'RETURNING shows it');
q1('ALTER SERVER shard1 OPTIONS (SET batch_size $$1$$)');
q1(q{INSERT INTO booking (customer, body) SELECT n, 'again' FROM generate_series(1, 300) AS n});
$server{"shard$_"}
  ->safe_psql('app', q{INSERT INTO booking (customer, body) SELECT 0, 'on the shard' FROM generate_series(1, 1000)})
  for 1 .. 2;
is(q1('SELECT count(*) - count(DISTINCT id) FROM (SELECT id FROM booking UNION ALL SELECT id FROM signal) i'),
	0, 'shards and coordinator: none twice');

# The customer is not in it, so every shard is asked.
my $booked = q1('SELECT id FROM booking LIMIT 1');
is( scalar(
		() = q1("EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM booking WHERE id = '$booked'") =~ /Remote SQL: .*WHERE/g),
	2,
	'an id without its customer is looked for on all shards');

diag sprintf '%-60s %s', 'coordinator and two shards',
  q1(
	'SELECT count(*) || $$ ids, none twice, by server: $$ || (SELECT string_agg(p || $$ x$$ || n, $$, $$ ORDER BY p) FROM (SELECT sno_partition(id) p, count(*) n FROM (SELECT id FROM booking UNION ALL SELECT id FROM signal) j GROUP BY 1) g) FROM (SELECT id FROM booking UNION ALL SELECT id FROM signal) i'
  );
$_->stop('immediate') for values %server;
$page->all_run;
done_testing();
