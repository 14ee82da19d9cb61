# Damaged, truncated, foreign and unreadable files of ours, and a data directory that cannot be written. Each is a
# clear error that names the way out, and the way out works. gen_gid() needs none of it and goes on.
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
	[ 'ledger: first word damaged',  sub { overwrite($ledger, 0, "\0" x 8) },   'damaged', qr/ledger file "snowflake_ids.ledger" is damaged/, $reset ],
	[ 'ledger: constants damaged',   sub { overwrite($ledger, 32, "\xff" x 8) },  'damaged', qr/ledger file .* is damaged/, qr/checksum/, $reset ],
	[ 'ledger: truncated',           sub { truncate $ledger, 5000 },             'damaged', qr/ledger file .* is damaged/, qr/size/, $reset ],
	[ 'ledger: empty',               sub { truncate $ledger, 0 },                'damaged', qr/ledger file .* is damaged/, $reset ],
	[ 'ledger: of another version',  sub { overwrite($ledger, 8, pack 'L', 99) }, 'other version', qr/has another format/, qr/HINT:.*Restart sessions/, $reset ],
	[ 'ledger: overwritten with noise', sub { srand 1; spew($ledger, join '', map { chr int rand 256 } 1 .. -s $ledger) }, 'damaged', qr/is damaged/, $reset ],
	[ 'ceiling file: damaged',       \&flip_ceilings,                            undef, qr/ceiling file "snowflake_ids.ceiling" is damaged/, $reset ],
	[ 'ceiling file: truncated',     sub { truncate $ceiling, 100 },             undef, qr/ceiling file .* is damaged/, $reset ],
	[ 'ceiling file: noise',         sub { srand 2; spew($ceiling, join '', map { chr int rand 256 } 1 .. 8192) }, undef, qr/ceiling file .* is damaged/, $reset ]);

my $floor = time;
for (@faults)
{
	my ($fault, $damage, $state, @patterns) = @$_;
	$server->stop('fast');
	$damage->();
	start_at($server, $clock);
	fails_with($server, 'SELECT gen_sno()', $fault, @patterns);
	is(value($server, 'SELECT ledger_state FROM snowflake_ids_status()'), $state, "$fault: snowflake_ids_status() says so") if $state;
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, "$fault: gen_gid() goes on");
	$clock->step(-3600) if $fault =~ /truncated/;
	fails_with($server, "SELECT snowflake_ids_reset(clock_timestamp() - interval '1 day')", "$fault: no floor in the past without force", qr/floor/)
	  if $state;
	# Above all that can have been drawn: later than the clock ever was, and than the floor before.
	is(value($server, "SELECT snowflake_ids_reset(to_timestamp(@{[ $floor += 60 ]}))"), '', "$fault: reset leads out");
	$ids->draw($server);
	$clock->set(0);
	$ids->draw($server);
}
$ids->none_twice('damaged files, and resets with a floor above all ids');

# ---- of another cluster
{
	$ids = Ids->new;
	$ids->draw($server);
	my $other = new_server('other', $clock);
	value($other, 'SELECT gen_sno()');
	my $foreign = slurp($other->data_dir . '/snowflake_ids.ledger');
	$other->stop('immediate');
	$server->stop('fast');
	my $own = slurp($ledger);
	spew($ledger, $foreign);
	start_at($server, $clock);
	fails_with($server, 'SELECT gen_mastic()', 'ledger of another cluster', qr/belongs to another database cluster/, $reset);
	unlink $ledger;
	$ids->draw($server);
	$ids->none_twice('ledger of another cluster, removed as the hint says');
}

# ---- unreadable, linked, or something else than a file
SKIP:
{
	skip 'runs as root, who may read all', 1 if $> == 0;
	$clock->set(7200);    # past the floors
	$ids = Ids->new;
	$ids->draw($server);
	chmod 0, $ledger;
	fails_with($server, 'SELECT gen_sno()', 'ledger that cannot be read', qr/could not open ledger file/, qr/ermission denied/, qr/HINT:.*server's user/);
	chmod 0600, $ledger;
	$ids->draw($server);
	chmod 0400, $ceiling;
	$clock->step(60);    # past the ceiling
	fails_with($server, 'SELECT gen_sno()', 'ceiling file that cannot be written', qr/could not write ceiling file/, qr/DETAIL:.*No id is issued before/, $writable);
	chmod 0600, $ceiling;
	$ids->draw($server);

	link $ledger, "$ledger.copy";
	fails_with($server, 'SELECT gen_sno()', 'ledger with a second name', qr/second hard link/, qr/HINT:.*Remove the other link/);
	unlink "$ledger.copy";
	$ids->draw($server);

	$server->stop('fast');
	rename $ledger, "$ledger.aside";
	symlink "$ledger.aside", $ledger;
	start_at($server, $clock);
	fails_with($server, 'SELECT gen_sno()', 'a symbolic link in place of the ledger', qr/could not open ledger file/, qr/HINT:.*not a link.*move the file away/);
	# The way out of the hint: a new one.
	$server->stop('fast');
	unlink $ledger;
	start_at($server, $clock);
	$ids->draw($server);

	# A read-only data directory: nothing can be made in it, and what is there cannot be written.
	$server->stop('fast');
	my $kept = slurp($ledger);
	unlink $ledger, $ceiling;
	start_at($server, $clock);
	chmod 0500, $server->data_dir;
	fails_with($server, 'SELECT gen_sno()', 'read-only data directory', qr/could not create ledger file/, qr/HINT:.*must be writable/);
	chmod 0700, $server->data_dir;
	$ids->draw($server);
	my $session = Session->new($server);
	$ids->draw($session);
	chmod 0400, $ledger, $ceiling;
	chmod 0500, $server->data_dir;
	my $said = '';
	for (1 .. 20) { $clock->step(1); $ids->add($said = $session->ask(Ids::query(5, 5))); last if $said =~ /ERROR/ }
	like($said, qr/ERROR.*could not write ceiling file.*$writable/s, 'data directory that becomes read-only: ids end at the ceiling');
	chmod 0700, $server->data_dir;
	chmod 0600, $ledger, $ceiling;
	$ids->draw($session);
	$ids->none_twice('files and directory without permission');
}

# ---- full: no byte more can be written by this session
SKIP:
{
	skip 'prlimit is not installed', 1 if system('prlimit --version >/dev/null 2>&1') != 0;
	$ids = Ids->new;
	$ids->draw($server);
	my $session = Session->new($server);
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$ids->draw($session);
	system('prlimit', '--pid', $pid, '--fsize=1:unlimited') == 0 or die 'prlimit failed';
	$clock->step(60);
	my $said = $session->ask('SELECT gen_sno()');
	like($said, qr/ERROR.*could not write ceiling file "snowflake_ids.ceiling": File too large.*No id is issued.*HINT:.*Make room/s, 'no space for the ceiling');
	system('prlimit', '--pid', $pid, '--fsize=unlimited:unlimited') == 0 or die 'prlimit failed';
	$ids->draw($session);
	unlink $ledger;
	$session = Session->new($server);
	$pid = $session->ask('SELECT pg_backend_pid()');
	system('prlimit', '--pid', $pid, '--fsize=1000:unlimited') == 0 or die 'prlimit failed';
	$said = $session->ask('SELECT gen_sno()');
	like($said, qr/ERROR.*could not create ledger file.*HINT:.*free space/s, 'no space for the ledger');
	ok(!grep({ /tmp$/ } glob "$ledger*"), 'nothing is left of it');
	system('prlimit', '--pid', $pid, '--fsize=unlimited:unlimited') == 0 or die 'prlimit failed';
	$ids->draw($session);
	$ids->none_twice('no space');
}
$server->stop;

# ---- a floor is kept through a power loss, before any id above it is drawn
{
	my $clock = clock();
	my $server = new_server('floor', $clock, synced => 1, extra => ['--wal-segsize=1']);
	$ids = Ids->new;
	$ids->draw($server);
	my $floor = int($clock->now + 1800);
	is(value($server, "SELECT snowflake_ids_reset(to_timestamp($floor))"), '', 'a floor half an hour ahead');
	lose_power($server);
	$server->{sfids_clock}->set(-600);
	start_at($server, $clock);
	for my $draw ('sno_timestamp(gen_sno())', 'mastic_timestamp(gen_mastic())', 'snowflake_si_timestamp(gen_snowflake_si())')
	{
		is(value($server, "SELECT $draw > to_timestamp($floor)"), 't', "after a power loss $draw is above it");
	}
	$server->stop('immediate');
}
done_testing();
