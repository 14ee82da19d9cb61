# The page that travels with WAL, damaged: lost writes, truncation, noise, a number that somebody wrote by hand. Each is
# an error that names the way out, never a crash and never "no ceiling yet", and the way out works. The clock goes back
# before ids are drawn again, and comes past the time of the ids before.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $server = new_server('pages', $clock, allows_streaming => 1);
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
my $ids = Ids->new;
$ids->draw($server);

# It moves with ALTER SEQUENCE only.
my $name = 'snowflake_ids.wal_ceiling';
my $path = $server->data_dir . '/' . value($server, "SELECT pg_relation_filepath('$name')");

sub put
{
	my ($path, $at, $bytes) = @_;
	open my $f, '+<:raw', $path or die "$path: $!";
	sysseek $f, $at, 0;
	syswrite $f, $bytes;
}
sub word { my ($path, $at) = @_; return unpack 'Q', substr(slurp($path), $at, 8) }

# Where the server puts them: a page header of 24 bytes, one line pointer, the tuple at the end, 8 bytes for the magic.
my ($pointer, $tuple, $special) = (24, 8192 - 8 - 48, 8192 - 8);
my @damages = (
	[ 'page of zeros', sub { put($_[0], 0, "\0" x 8192) }, qr/Its page is empty/ ],
	[ 'no page', sub { truncate $_[0], 0 }, qr/could not read block 0/ ],
	[ 'other special space', sub { put($_[0], $special, "\0" x 8) }, qr/not that of a sequence/ ],
	[ 'no line pointer', sub { put($_[0], 12, pack 'S', 24) }, qr/does not hold the tuple/ ],
	[ 'line pointer of noise', sub { put($_[0], $pointer, pack 'L', 0xfffffff0 | 1) }, qr/does not hold the tuple/ ],
	[   'line pointer that points far beyond the page',
		sub { put($_[0], $pointer, pack 'L', 0x7ff0 | 1 << 15 | 48 << 17) },
		qr/does not hold the tuple/ ],
	[ 'tuple of zeros', sub { put($_[0], $tuple, "\0" x 48) }, qr/does not hold the tuple/ ],
	[ 'values of zeros', sub { put($_[0], $tuple + 24, "\0" x 17) }, qr/check bits .* are wrong/ ],
	[   'one bit',
		sub { put($_[0], $tuple + 24, pack 'Q', word($_[0], $tuple + 24) ^ 1 << 40) },
		qr/check bits .* are wrong/ ],
	[   'page of noise',
		sub {
			srand 3;
			put($_[0], 0, join '', map { chr int rand 256 } 1 .. 8192);
		},
		qr/invalid page/ ]);

my $out_of_it = sub {

	# The latest that may have been issued: the ledger knows.
	my $said = value($server,
		q{SELECT snowflake_ids.reset(greatest(max(last_timestamp), clock_timestamp() + interval '1 s')) FROM snowflake_ids.stats}
	);
	like($said, qr/\A(?:WARNING:.*invalid page.*\n?)?\z/, "$_[0]: reset leads out");
};

for (@damages)
{
	my ($what, $damage, $detail) = @$_;
	my $start = $clock->now;
	$ids->draw($server);
	$server->stop('fast');
	my $good = slurp($path);
	is(-s $path, 8192, "$name is one page") if $what eq 'page of zeros';
	$damage->($path);
	$clock->set(-3600);
	start_at($server, $clock);
	my $mark = log_mark($server);

	# A server with page checksums says of most that the page is invalid.
	fails_with(
		$server,
		'SELECT gen_sno()',
		$what,
		qr/XX001|is damaged|invalid page|could not read block/,
		qr/$detail|invalid page/,
		qr/HINT:.*snowflake_ids.reset\(\)/,
		$detail =~ /check|page is|tuple/ ? qr/"$name" of extension snowflake_ids/ : qr//);
	like(Session->new($server, dbname => 'other')->ask("SET zero_damaged_pages = on; SELECT 's' || gen_sno()"),
		qr/^s/, 'another database goes on');
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, 'gen_gid() goes on');
	fails_with(
		$server,
		'SET zero_damaged_pages = on; SELECT gen_sno()',
		'zero_damaged_pages does not make it a new one',
		qr/is damaged/, qr/HINT:.*snowflake_ids.reset\(\)/);
	fails_with(
		$server,
		"SELECT snowflake_ids.reset(clock_timestamp() - interval '1 day')",
		'no floor in the past without force', qr/floor/);
	$out_of_it->($what);
	unlike(log_since($server, $mark), qr/terminated by signal/, 'nothing crashed');
	draw_at_all_times($ids, $server, $clock, $start);

	if ($what eq 'page of zeros')
	{
		# What the repair has written to WAL makes the page again, where the file was put back.
		kill_postmaster($server);
		put($path, 0, "\0" x 8192);
		start_at($server, $clock);
		$ids->draw($server);
	}
}
$ids->none_twice('damaged pages of the ceiling in WAL, and resets');

# ---- written by hand while sessions draw: they end at the ceiling that they know, and go on after the reset
{
	$ids = Ids->new;
	$clock->set(300);
	my $session = Session->new($server);
	$ids->draw($session);
	value($server, "SELECT setval('snowflake_ids.wal_ceiling', 12345, false)");
	my $said = '';
	for (1 .. 30) { $clock->step(0.5); $ids->add($said = $session->ask(Ids::query(5, 5))); last if $said =~ /ERROR/ }
	like(
		$said,
		qr/ERROR:  sequence "snowflake_ids.wal_ceiling" of extension snowflake_ids is damaged.*check bits.*HINT:.*snowflake_ids.reset/s,
		'a number that somebody wrote');
	$out_of_it->('it');
	$ids->draw($session);

	$ids->none_twice('a ceiling in WAL that somebody wrote');
}
$server->stop('immediate');
done_testing();
