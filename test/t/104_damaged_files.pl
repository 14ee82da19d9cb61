# Damaged, truncated, foreign and unreadable files of ours, and a data directory that cannot be written. Each is a
# clear error that names the way out, and the way out works. gen_gid() needs none of it and goes on. In every case the
# clock goes back before ids are drawn again, and comes past the time of the ids before.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('damaged', $clock);
my ($ledger, $ceiling) = map { $server->data_dir . "/snowflake_ids.$_" } qw(ledger ceiling);
my $ids = Ids->new;
$ids->draw($server);

sub overwrite
{
	my ($path, $at, $bytes) = @_;
	my $content = slurp($path);
	substr($content, $at, length $bytes) = $bytes;
	spew($path, $content);
}

# Every ceiling word that is set, so that the generators that are used meet the damage.
sub flip_ceilings
{
	my @words = unpack 'Q*', slurp($ceiling);
	spew($ceiling, pack 'Q*', map { $_ ? $_ ^ 1 << 40 : 0 } @words);
}

my $reset = qr/HINT:.*snowflake_ids_reset\(\)/;
my $writable = qr/HINT:.*server's user write/;
my @faults = (
	[   'ledger: first word damaged',
		sub { overwrite($ledger, 0, "\0" x 8) },
		'damaged', qr/ledger file "snowflake_ids.ledger" is damaged/, $reset ],
	[   'ledger: constants damaged', sub { overwrite($ledger, 32, "\xff" x 8) },
		'damaged', qr/ledger file .* is damaged/,
		qr/checksum/, $reset ],
	[ 'ledger: truncated', sub { truncate $ledger, 5000 }, 'damaged', qr/ledger file .* is damaged/, qr/size/, $reset ],
	[ 'ledger: empty', sub { truncate $ledger, 0 }, 'damaged', qr/ledger file .* is damaged/, $reset ],
	[   'ledger: of another version',
		sub { overwrite($ledger, 8, pack 'L', 99) },
		'other version',
		qr/has another format/,
		qr/HINT:.*Restart sessions/, $reset ],
	[   'ledger: overwritten with noise',
		sub {
			srand 1;
			spew($ledger, join '', map { chr int rand 256 } 1 .. -s $ledger);
		},
		'damaged',
		qr/is damaged/,
		$reset ],
	[ 'ceiling file: damaged', \&flip_ceilings, undef, qr/ceiling file "snowflake_ids.ceiling" is damaged/, $reset ],
	[ 'ceiling file: truncated', sub { truncate $ceiling, 100 }, undef, qr/ceiling file .* is damaged/, $reset ],
	[   'ceiling file: noise',
		sub {
			srand 2;
			spew($ceiling, join '', map { chr int rand 256 } 1 .. 8192);
		},
		undef,
		qr/ceiling file .* is damaged/,
		$reset ]);

for (@faults)
{
	my ($fault, $damage, $state, @patterns) = @$_;
	my $start = $clock->now;
	$ids->draw($server);
	$server->stop('fast');
	$damage->();
	$clock->set(-3600);
	start_at($server, $clock);
	fails_with($server, 'SELECT gen_sno()', $fault, @patterns);
	is(value($server, 'SELECT ledger_state FROM snowflake_ids_status()'),
		$state, "$fault: snowflake_ids_status() says so")
	  if $state;
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, "$fault: gen_gid() goes on");
	fails_with(
		$server,
		"SELECT snowflake_ids_reset(clock_timestamp() - interval '1 day')",
		"$fault: no floor in the past without force", qr/floor/) if $state;

	# The lowest floor that will do: the time of the latest id.
	is(value($server, "SELECT snowflake_ids_reset('@{[ $ids->latest($server) ]}')"), '', "$fault: reset leads out");
	draw_at_all_times($ids, $server, $clock, $start);
	is($ids->twice, 0, "$fault: no id came twice");
}
$ids->none_twice('damaged files, and resets to the time of the latest id');

# ---- of another cluster
{
	$ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	my $other = new_server('other', $clock);
	value($other, 'SELECT gen_sno()');
	my $foreign = slurp($other->data_dir . '/snowflake_ids.ledger');
	$other->stop('immediate');
	$server->stop('fast');
	my $own = slurp($ledger);
	spew($ledger, $foreign);
	$clock->set(-3600);
	start_at($server, $clock);
	fails_with(
		$server,
		'SELECT gen_mastic()',
		'ledger of another cluster',
		qr/belongs to another database cluster/, $reset);
	unlink $ledger;
	draw_at_all_times($ids, $server, $clock, $start);
	$ids->none_twice('ledger of another cluster, removed as the hint says');
}

# ---- a ledger that is lost with a generator far ahead of the clock: its ceiling speaks of a slot that is gone. A forced
# reset takes it back too, in the file and for whoever takes the slot.
{
	$ids = Ids->new;
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	my $lost_ahead = sub {
		value($server,
			"SELECT sno_observe(sno_set_partition(sno_lower_bound(clock_timestamp() + interval '1 year'), 77), true)");
		$server->stop('fast');
		unlink $ledger;
		start_at($server, $clock);
		value($server, 'SELECT gen_mastic()');
		is(value($server, q{SELECT clock_lead > 3e10 FROM snowflake_ids_stats WHERE format = 'mastic'}),
			't', 'a lost ledger leads all to where one generator was');
		is(Session->new($server, dbname => $_)->ask('SELECT snowflake_ids_reset(clock_timestamp(), force => true)'),
			'', "a forced reset in $_")
		  for qw(postgres other);
	};
	$clock->set(0);
	is(value($server, 'SELECT count(gen_sno(0, 77))'), 1, 'a generator');
	$lost_ahead->();
	for (1 .. 16) { $ids->add(value($server, q{SELECT 's' || gen_sno(0, 77)})); $clock->step(0.4) }
	$server->stop('immediate');
	unlink $ledger;
	$clock->set(-5);
	start_at($server, $clock);

	# Each tick of the seconds in which the ids before were drawn.
	$ids->add(Session->new($server, dbname => 'other')
		  ->ask(q{SELECT 's' || gen_sno(0, 77), pg_sleep(0.001) FROM generate_series(1, 7000)}) =~ s/\|//gr);
	cmp_ok($ids->drawn, '==', 7016, 'drawn before and after');
	$ids->none_twice('ledger lost with a generator far ahead, forced resets');

	$lost_ahead->();
	is(value($server, 'SELECT count(gen_mastic())'), 1, 'ids after the forced reset');
	restart_after($server, 'fast');
	value($server, 'SELECT gen_mastic()');
	is(value($server, q{SELECT clock_lead < 60000 FROM snowflake_ids_stats WHERE format = 'mastic'}),
		't', 'a restart does not lead back to the far time');
	$server->safe_psql('postgres', 'DROP DATABASE other');
}

# ---- unreadable, linked, or something else than a file
SKIP:
{
	skip 'runs as root, who may read all', 1 if $> == 0;
	my $start = $clock->now;
	$ids = Ids->new;
	$ids->draw($server);
	chmod 0, $ledger;
	$clock->set(-3600);
	fails_with(
		$server,
		'SELECT gen_sno()',
		'ledger that cannot be read',
		qr/could not open ledger file/,
		qr/ermission denied/,
		qr/HINT:.*server's user/);
	chmod 0600, $ledger;
	draw_at_all_times($ids, $server, $clock, $start);

	chmod 0400, $ceiling;
	$clock->step(60);    # past the ceiling
	fails_with(
		$server,
		'SELECT gen_sno()',
		'ceiling file that cannot be written',
		qr/could not write ceiling file/,
		qr/DETAIL:.*No id is issued before/, $writable);
	chmod 0600, $ceiling;
	draw_at_all_times($ids, $server, $clock, $start);

	$clock->set(-3600);
	link $ledger, "$ledger.copy";
	fails_with(
		$server,
		'SELECT gen_sno()',
		'ledger with a second name',
		qr/second hard link/,
		qr/HINT:.*Remove the other link/);
	unlink "$ledger.copy";
	draw_at_all_times($ids, $server, $clock, $start);

	$server->stop('fast');
	$clock->set(-3600);
	rename $ledger, "$ledger.aside";
	symlink "$ledger.aside", $ledger;
	start_at($server, $clock);
	fails_with(
		$server,
		'SELECT gen_sno()',
		'a symbolic link in place of the ledger',
		qr/could not open ledger file/,
		qr/HINT:.*not a link.*move the file away/);

	# The way out of the hint: a new one.
	$server->stop('fast');
	unlink $ledger;
	start_at($server, $clock);
	draw_at_all_times($ids, $server, $clock, $start);

	# A read-only data directory: nothing can be made in it, and what is there cannot be written.
	$server->stop('fast');
	unlink $ledger, $ceiling;
	$clock->set(-3600);
	start_at($server, $clock);
	chmod 0500, $server->data_dir;
	fails_with(
		$server,
		'SELECT gen_sno()',
		'read-only data directory',
		qr/could not create ledger file/,
		qr/HINT:.*must be writable/);
	chmod 0700, $server->data_dir;
	draw_at_all_times($ids, $server, $clock, $start);
	my $session = Session->new($server);
	$ids->draw($session);
	chmod 0400, $ledger, $ceiling;
	chmod 0500, $server->data_dir;
	my $said = '';

	# The restarts before have put the ids many windows ahead of the clock; they end at the ceiling above them.
	for (1 .. 120) { $clock->step(1); $ids->add($said = $session->ask(Ids::query(5, 5))); last if $said =~ /ERROR/ }
	like(
		$said,
		qr/ERROR.*could not write ceiling file.*$writable/s,
		'data directory that becomes read-only: ids end at the ceiling');
	chmod 0700, $server->data_dir;
	chmod 0600, $ledger, $ceiling;
	draw_at_all_times($ids, $session, $clock, $start);
	$ids->none_twice('files and directory without permission');
}

$server->stop;
done_testing();
