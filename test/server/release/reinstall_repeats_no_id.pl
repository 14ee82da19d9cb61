# DROP EXTENSION and CREATE EXTENSION: ids stay above earlier ones, in connected sessions, other databases and over a
# restart. The new ceiling in WAL knows nothing of the old one, but the ledger does.
use Servers;
use Time::HiRes qw(sleep);

my $clock = clock();
my $server = new_server('reinstall', $clock, conf => 'deadlock_timeout = 100ms');
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
my $again = 'DROP EXTENSION snowflake_ids; CREATE EXTENSION snowflake_ids';
my $ids = Ids->new;

# In the order of the ids.
my $draw = "SELECT gen_sno(), lpad(gen_mastic()::text, 20, '0'), lpad(gen_snowflake_si()::text, 20, '0')";
my @last = ('') x 3;

sub goes_up
{
	my ($what, $where) = @_;
	my $answer = value($where, $draw);
	my @drawn = split /\|/, $answer;
	ok(@drawn == 3 && !grep({ $drawn[$_] le $last[$_] } 0 .. 2), "ids go up: $what") or diag "after @last: $answer";
	@last = @drawn if @drawn == 3;
}
my $ceiling = 'SELECT until > clock_timestamp() FROM snowflake_ids.wal_ceiling';

my $stays = Session->new($server);
my $elsewhere = Session->new($server, dbname => 'other');
goes_up('a session', $stays);
goes_up('a session of another database', $elsewhere);

# ---- made again by somebody else
$server->safe_psql('postgres', $again);
is(value($server, 'SELECT extract(epoch FROM until) FROM snowflake_ids.wal_ceiling'),
	'0.000000', 'the new relation holds no ceiling');
goes_up('a session that stayed connected', $stays);
is(value($server, $ceiling), 't', 'that session wrote the ceiling into the new relation before it drew');
$server->safe_psql('postgres', $again);
goes_up('the other database', $elsewhere);
goes_up('a new session', $server);
is(value($server, $ceiling), 't', 'a new session writes it too');

# ---- by the session itself
$stays->ask("SET client_min_messages = warning; $again");
goes_up('the session that did it', $stays);
is(value($server, $ceiling), 't', 'the ceiling is in the new relation');
$stays->ask("BEGIN; $again");
goes_up('in the transaction that did it', $stays);
$stays->ask('ROLLBACK');
goes_up('after it was rolled back', $stays);
is(value($server, $ceiling), 't', 'the old relation is in force again');
$stays->ask("BEGIN; SAVEPOINT s; $again");
goes_up('in the subtransaction that did it', $stays);
$stays->ask('ROLLBACK TO s');
goes_up('after that was rolled back', $stays);
$stays->ask('COMMIT');

# ---- whichever generator raises the new ceiling first: it is above all slots
my $ahead = 'SELECT mastic_observe(mastic_lower_bound(clock_timestamp() + interval $$50 s$$)); SELECT gen_mastic()';
my $above_all =
  'SELECT until >= (SELECT max(durable_until) FROM snowflake_ids.stats WHERE format = $$mastic$$) FROM snowflake_ids.wal_ceiling';
cmp_ok($elsewhere->ask($ahead), '>', 0, 'a slot is far ahead');
my $other = Session->new($server);
$other->ask('SELECT pg_advisory_lock(1)');
$stays->send(
	'SELECT count(DISTINCT gen_sno()) FROM (SELECT CASE n WHEN 5 THEN pg_advisory_lock(1)::text ELSE pg_sleep(0.01)::text END FROM generate_series(1, 35) AS n) AS s'
);
ok( $server->poll_query_until(
		'postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
	'a statement has begun to draw');
$server->safe_psql('postgres', $again);
$clock->step(5);    # beyond its ceiling
$other->gone;
is($stays->answer, 35, 'a statement that draws while that happens');
is(value($server, $above_all), 't', 'raised the new ceiling above all slots');
$server->safe_psql('postgres', "$again; SELECT snowflake_ids.reset(clock_timestamp() + interval '10 s', 'sno')");
is(value($server, $above_all), 't', 'so does a reset before the first id');
$server->safe_psql('postgres', 'SELECT gen_sno()');

# ---- dropped, and gone
$server->safe_psql('postgres', 'DROP EXTENSION snowflake_ids');
like($stays->ask('SELECT gen_sno()'), qr/function gen_sno\(\) does not exist/, 'nothing draws without the extension');
ok(-f $server->data_dir . '/snowflake_ids.ceiling', 'the ceiling file stays');
goes_up('another database while it is gone here', $elsewhere);
$server->safe_psql('postgres', 'CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids');
$stays->ask('SET search_path = ids, public');
goes_up('made again in another schema', $stays);
is($stays->ask($ceiling), 't', 'with its ceiling');
$server->safe_psql('postgres', 'DROP EXTENSION snowflake_ids; DROP SCHEMA ids; CREATE EXTENSION snowflake_ids');
$stays->ask('RESET search_path');

# ---- and a restart with the clock back: only the ceiling file remembers
$server->safe_psql('postgres', 'DROP EXTENSION snowflake_ids');
restart_after($server, 'kill -9', -3600);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
goes_up('dropped, killed, the clock an hour back, made again', $server);
$clock->set(0);
$ids->draw($server);

# ---- while others draw, until each has met all new extensions
my @clients = map { Session->new($server, dbname => $_) } ('postgres') x 2, 'other';
my $loop = <<'END';
DO $$
BEGIN
    FOR i IN 1 .. 400 LOOP
        BEGIN
            INSERT INTO drawn SELECT 's' || gen_sno() UNION ALL SELECT 'm' || gen_mastic() UNION ALL SELECT 'i' || gen_snowflake_si()
                UNION ALL SELECT 's' || gen_sno() FROM generate_series(1, 20) UNION ALL SELECT 'm' || gen_mastic() FROM generate_series(1, 20);
        EXCEPTION WHEN undefined_function OR undefined_object OR object_not_in_prerequisite_state OR internal_error THEN
            INSERT INTO missed VALUES (SQLSTATE, SQLERRM);
        END;
        COMMIT;
        PERFORM pg_sleep(0.005);
    END LOOP;
END $$
END
$server->safe_psql($_, 'CREATE TABLE drawn (id text); CREATE TABLE missed (state text, message text)')
  for 'postgres', 'other';
$_->send($loop) for @clients;
my $made = 0;
for (1 .. 6)
{
	for my $database ('postgres', 'other')
	{
		$made++ if eval { $server->safe_psql($database, "BEGIN; $again; COMMIT"); 1 };
		sleep 0.05;
	}
}
is($_->answer, '', 'a client ends without an error that it did not expect') for @clients;
cmp_ok($made, '>', 3, "the extension was made again $made times meanwhile");
for my $database ('postgres', 'other')
{
	my $n = $ids->add($server->safe_psql($database, 'SELECT id FROM drawn'));
	cmp_ok($n, '>', 1000, "$database: its sessions drew $n ids");
	my $missed =
	  $server->safe_psql($database, 'SELECT state, count(*), min(message) FROM missed GROUP BY 1 ORDER BY 1');
	note "$database: $missed";
	is( $server->safe_psql(
			$database,
			q{SELECT count(*) FROM missed WHERE state = 'XX000' AND message !~ 'cache lookup failed|could not open relation'}
		),
		0,
		"$database: no internal error but those of a catalog that changes");
}
$ids->draw($server);
$ids->none_twice('DROP and CREATE EXTENSION while others draw');
$server->stop('immediate');
done_testing();
