# The files of version 1 in a data directory: snowflake_ids.ledger, which was mapped memory, and a ceiling file without the
# names of its generators. The ceiling file is taken over: nothing below its highest ceiling is issued again. The other one
# is not used, and not removed; the server's log says so.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('version_1', $clock);
my ($ledger, $ceiling) = map { $server->data_dir . "/snowflake_ids.$_" } qw(ledger ceiling);
my $old_ledger = join '', map { chr($_ % 251) } 1 .. 266240;
my @times =
  ('sno_timestamp(gen_sno())', 'mastic_timestamp(gen_mastic())', 'snowflake_si_timestamp(gen_snowflake_si())');
my $not_used = qr/LOG:  snowflake_ids: file "snowflake_ids.ledger" is of an older version and not used\n.*HINT:  /;

sub start_with
{
	my ($content) = @_;
	spew($ledger, $old_ledger);
	unlink $ceiling;
	spew($ceiling, $content);
	my $mark = log_mark($server);
	start_at($server, $clock);
	return $mark;
}

# ---- one generator was an hour ahead: all begin there
my $ids = Ids->new;
$ids->draw($server);
my $start = $clock->now;
$server->stop('fast');
my ($now, $hour) = map { int(1000 * ($clock->now + $_)) } 2.5, 3600;
my $mark = start_with(version_1_ceilings(0 => $now, 511 => $hour, 1023 => $now - 5000));
for (@times) { is(value($server, "SELECT $_ >= to_timestamp($hour / 1000.0)"), 't', "$_: above the highest ceiling") }
is(value($server, 'SELECT max(clock_lead) BETWEEN 3e6 AND 3.6e6 FROM snowflake_ids_stats'), 't', 'and not further');
is(-s $ceiling, 36864, 'the ceiling file is of this version');
is(value($server, 'SELECT ledger_state FROM snowflake_ids_status()'), 'ready', 'the status has nothing to say of it');
my @lines = log_since($server, $mark) =~ /($not_used)/g;
is(scalar @lines, 1, 'the log has a line about the other file');
$ids->draw($server);

# The next lives know it from the new file, an operator's reset too, and the old ledger stays.
for my $how ('fast', 'kill -9')
{
	$mark = log_mark($server);
	restart_after($server, $how, -600);
	for (@times) { is(value($server, "SELECT $_ >= to_timestamp($hour / 1000.0)"), 't', "$how: $_ is above it, too") }
	@lines = log_since($server, $mark) =~ /($not_used)/g;
	is(scalar @lines, 1, "$how: a line for each life");
	$ids->draw($server);
}
is(slurp($ledger), $old_ledger, 'the ledger of version 1 is as it was');
$clock->set(0);
$ids->draw($server);
$clock->set(3600);
$ids->draw($server);
is(value($server, q{SELECT snowflake_ids_reset(clock_timestamp(), force => true)}), '', 'a forced reset leads back');
$clock->set(7200);
$ids->none_twice('files of version 1: one generator an hour ahead');

# ---- the same ids as before the update, which only the old ceilings know of: the extension was made again, and the clock
# is behind
{
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	$server->safe_psql('postgres', 'DROP EXTENSION snowflake_ids; CREATE EXTENSION snowflake_ids');
	$server->stop('fast');
	$clock->set(3600);
	start_with(version_1_ceilings(300 => int(1000 * ($start + 60))));
	draw_at_all_times($ids, $server, $clock, $start);
	$ids->none_twice('files of version 1: nothing else knows of the ids');
}

# ---- without ceilings, and damaged
{
	my $ids = Ids->new;
	$clock->set(10800);
	my $start = $clock->now;
	$ids->draw($server);
	$server->stop('fast');
	start_with(version_1_ceilings());
	draw_at_all_times($ids, $server, $clock, $start);
	$clock->set(14400);
	$start = $clock->now;
	$ids->draw($server);
	$server->stop('fast');
	my $content = version_1_ceilings(7 => int(1000 * $clock->now), 8 => int(1000 * $clock->now));
	substr($content, 7 * 8 + 4, 1) ^= "\x10";
	$clock->set(-3600);
	start_with($content);
	is(value($server, 'SELECT ledger_state FROM snowflake_ids_status()'), 'damaged', 'one bit: the status says so');
	fails_with(
		$server,
		'SELECT gen_sno()',
		'one bit of a ceiling',
		qr/ceiling file "snowflake_ids.ceiling" is damaged/,
		qr/HINT:.*snowflake_ids_reset\(\)/);
	is(value($server, "SELECT snowflake_ids_reset('@{[ $ids->latest($server) ]}')"), '', 'reset leads out');
	is(-s $ceiling, 36864, 'to a file of this version');
	draw_at_all_times($ids, $server, $clock, $start);
	is(slurp($ledger), $old_ledger, 'the ledger of version 1 is as it was');

	# While a life runs: memory has all that counts, and writes it again.
	$clock->set(18000);
	my $session = Session->new($server);
	$ids->draw($session);
	spew($ceiling, version_1_ceilings(9 => int(1000 * ($clock->now + 3600))));
	$clock->step(60);
	$ids->draw($_) for $session, $server;
	is(-s $ceiling, 36864, 'put in place while a life runs: written again');
	is(value($server, 'SELECT max(clock_lead) < 60000 FROM snowflake_ids_stats'), 't', 'and not taken over');
	$ids->none_twice('files of version 1: without ceilings, and damaged');
}

# ---- without a ledger of version 1 the log has nothing to say
unlink $ledger or die;
$mark = log_mark($server);
restart_after($server, 'fast');
value($server, 'SELECT gen_sno()');
like(log_since($server, $mark), qr/LOG:  snowflake_ids: life \d+ of this server begins/, 'a life without that file');
unlike(log_since($server, $mark), qr/older version/, 'has no such line');
$server->stop;
done_testing();
