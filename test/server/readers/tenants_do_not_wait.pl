# Two tenants, each with a database: whatever the first does, readers of the second come to the newest rows. Open and
# prepared transactions hold back readers of their own database.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Test::More;

my @formats = qw(sno mastic snowflake_si);
my $clock = clock();
my $server = new_server('tenants', $clock, conf => 'max_prepared_transactions = 5');
for my $name (qw(one two))
{
	$server->safe_psql('postgres', "CREATE ROLE $name LOGIN; CREATE DATABASE $name OWNER $name");
	my $owner = Session->new($server, dbname => $name, user => $name);
	$owner->ask('CREATE EXTENSION snowflake_ids; CREATE TABLE stop (); CREATE TABLE plain (n int)');
	$owner->ask("CREATE TABLE event_$_ (id @{[ $_ eq 'snowflake_si' ? 'bigint' : $_ ]} PRIMARY KEY DEFAULT gen_$_())")
	  for @formats;
	$server->safe_psql($name,
		"GRANT EXECUTE ON FUNCTION snowflake_layout_create, gen_sno(integer, integer), gen_sno_at TO $name");
}

# as its owner, or the administrator
sub connected
{
	my ($name, $user) = @_;
	return Session->new($server, dbname => $name, $user ? () : (user => $name));
}

# Inserts rows; returns a condition that is true when they have settled.
sub new_rows
{
	my ($session) = @_;
	return join ' AND ', map {
		my $type = $_ eq 'snowflake_si' ? 'bigint' : $_;
		my $id = $session->ask("INSERT INTO event_$_ DEFAULT VALUES RETURNING id");
		"$type '$id' < ${_}_settled()";
	} @formats;
}

sub settle
{
	my ($session) = @_;
	my $settled = new_rows($session);
	return eventually(sub { $session->ask("SELECT $settled") eq 't' });
}

# How late a reader is, in ms; a second or more if anybody holds it back.
sub late
{
	my ($session) = @_;
	return best_of(
		15,
		sub {
			$session->ask('SELECT gen_mastic()');
			return $session->ask(
				'SELECT 1000 * extract(epoch FROM clock_timestamp() - mastic_timestamp(mastic_settled()))');
		});
}

# `own`: whether readers of the first tenant are held back: 1, 0, or not asked
sub others_go_on
{
	my ($what, $own) = @_;
	my ($first, $second) = map { connected($_) } qw(one two);
	my $of_first = $own ? new_rows($first) : '';
	ok(settle($second), "$what: rows of the other tenant settle");
	my $late = late($second);
	cmp_ok($late, '<', 500, 'its readers are not late');
	note "$what: the other tenant's readers are at best $late ms late";
	is($second->ask('SELECT count(*) FROM snowflake_ids.unsettled'), 0, 'and its view names nobody');
	return if !defined $own;

	if ($own)
	{
		is($first->ask("SELECT $of_first"), 'f', 'those of its own database are held back');
		cmp_ok($first->ask('SELECT count(*) FROM snowflake_ids.unsettled'), '>', 0, 'and their view says by whom');
	}
	else { ok(settle($first), 'nor are those of its own database held back') }
	return;
}

sub restart
{
	restart_after($server, 'fast');
	caught_up($server);
	return;
}

my $draw = join '; ', 'BEGIN', map { "INSERT INTO event_$_ DEFAULT VALUES" } @formats;
ok(settle(connected($_)), "$_: at first") for qw(one two);

# ---- open and prepared transactions
{
	my $open = connected('one');
	$open->ask($draw);
	others_go_on('an open transaction', 1);
	$open->ask("SAVEPOINT s; SELECT 1 / 0; ROLLBACK TO s");
	others_go_on('and an error in a savepoint', 1);
	$open->ask('ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT gen_sno(), gen_mastic()');
	others_go_on('an open READ ONLY transaction', 1);
	$open->ask("ROLLBACK; BEGIN; SELECT gen_sno_at(now() - interval '1 year'), gen_sno_at(now() + interval '1 year')");
	others_go_on('times of its own choice');
	$open->ask('ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM event_sno');
	others_go_on('an old snapshot', 0);
	$open->ask("ROLLBACK; $draw; PREPARE TRANSACTION 'drew'");
	others_go_on('a prepared transaction', 1);
	$open->ask("BEGIN; INSERT INTO plain VALUES (1); PREPARE TRANSACTION 'plain'");
	$open->gone;
	restart();
	others_go_on('a restart with prepared transactions', 1);
	my $committer = connected('one');
	$committer->ask("COMMIT PREPARED 'drew'");
	others_go_on('a restart with one that has generated nothing');
	$committer->ask("COMMIT PREPARED 'plain'");
	others_go_on('after both', 0);
}

# ---- what runs all the time, in four sessions
for (
	[ 'pass_now', "PERFORM snowflake_ids.pass_now(format) FROM unnest('{sno,mastic,snowflake_si}'::text[]) format" ],
	[ 'polls', 'PERFORM sno_settled(), mastic_settled(), snowflake_si_settled()' ],
	[   'all the ids there are',
		join ';', map { "PERFORM count(*) FROM gen_${_}_series(@{[ $_ eq 'snowflake_si' ? 4096 : 65536 ]})" } @formats ]
  )
{
	my ($what, $statement) = @$_;
	my @busy = map { connected('one') } 1 .. 4;
	$busy[0]->ask('DROP TABLE stop; CREATE TABLE stop ()');
	$_->send("DO \$\$ BEGIN LOOP EXIT WHEN EXISTS (SELECT FROM stop); $statement; COMMIT; END LOOP; END \$\$")
	  for @busy;
	others_go_on($what);
	connected('one')->ask('INSERT INTO stop DEFAULT VALUES');
	is(join('', map { $_->answer } @busy), '', 'nothing failed');
}

# ---- layouts, and generators at their ends
{
	my $session = connected('one');
	$session->ask("SELECT snowflake_layout_create('slow', '2020-01-01', '1 s', 32, 10, 12)");
	$session->ask("BEGIN; SELECT gen_snowflake('slow')");
	others_go_on('an open transaction with ids of a layout with a tick of a second');
	$session->ask('ROLLBACK');
	$session->ask("SELECT gen_snowflake('slow')") for 1 .. 3;
	others_go_on('ids of a layout with a tick of a second', 0);

	$session->ask(
		"SELECT snowflake_layout_create('short', date_trunc('second', now() - interval '960 s'), '1 s', 10, 10, 12)");
	like($session->ask("SELECT gen_snowflake('short') > 0"), qr/^t$/, 'a layout whose time ends soon');
	others_go_on('near the end of its time', 0);
	$clock->step(100);
	like($session->ask("SELECT gen_snowflake('short')"), qr/ERROR/, 'its time is over');
	others_go_on('at the end of its time', 0);

	is($session->ask('SELECT count(gen_sno(0, 9000 + n)) FROM generate_series(1, 62) n'),
		62, 'with two layouts: all generators that one database can have');
	like($session->ask('SELECT gen_sno(0, 9999)'), qr/ERROR:  too many/, 'and no more');
	others_go_on('no generators left', 0);
}

# ---- what needs a lock of its own database
{
	my $administrator = connected('one', 'administrator');
	$administrator->ask('BEGIN; CREATE INDEX ON snowflake_ids.wal_ceiling (until)');
	my $waits = connected('one');
	$waits->ask("SET snowflake_ids.max_wait = '5min'");
	$waits->send(
		"DO \$\$ BEGIN FOR n IN 1 .. 100 LOOP PERFORM gen_mastic(), pg_sleep(0.1); COMMIT; END LOOP; END \$\$");
	ok( eventually(
			sub {
				value($server,
					"SELECT count(*) FROM pg_stat_activity WHERE datname = 'one' AND wait_event_type IN ('Lock', 'Extension')"
				);
			}),
		'a session waits for the ceiling of its database');
	others_go_on('a locked ceiling');
	$administrator->ask('ROLLBACK');
	is($waits->answer, '', 'then it goes on');
}

# ---- the extension and the database go
{
	my $session = connected('one');
	$session->ask("$draw; DROP EXTENSION snowflake_ids CASCADE");
	ok(settle(connected('two')), 'an extension that is being dropped: the rows of the other tenant settle');
	$session->ask('COMMIT');
	$session->gone;
	$server->safe_psql('postgres', 'DROP DATABASE one');
	ok(settle(connected('two')), 'and when the database has gone');
	restart();
	ok(settle(connected('two')), 'also after a restart');
}
done_testing();
