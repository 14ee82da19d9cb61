# The page that travels with WAL, damaged while the server is down, with page checksums and without. Each damage is an
# error that names the way out, never a crash and never "no ceiling yet". An older page is a good one, and the ceiling
# file has what it lacks.
use Servers;
use Quick;

my $name = 'snowflake_ids.wal_ceiling';
my $clock = clock();
my $version = PostgreSQL::Test::Cluster->new('none')->pg_version;
my ($ids, $server, @paths);

sub draw_in_both
{
	$ids->draw(Session->new($server, dbname => $_)) for qw(postgres other);
}

sub begin
{
	my ($checksums) = @_;
	my $extra = $checksums ? ['--data-checksums'] : $version >= 18 ? ['--no-data-checksums'] : [];

	# The clock moves by hours, and a checkpoint after the repair would keep recovery from repeating it.
	$server = new_server(
		"checksums_$checksums", $clock,
		force_initdb => 1,
		allows_streaming => 1,
		extra => $extra,
		conf => "checkpoint_timeout = '1d'");
	is(value($server, 'SHOW data_checksums'), $checksums ? 'on' : 'off', 'checksums');
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	draw_in_both();
	return;
}

# A reset gives the relation another file.
sub stop_and_look
{
	@paths =
	  map { $server->data_dir . '/' . Session->new($server, dbname => $_)->ask("SELECT pg_relation_filepath('$name')") }
	  qw(postgres other);
	$server->stop('fast');
}

sub put
{
	my ($at, $bytes) = @_;
	open my $f, '+<:raw', $paths[0] or die "$paths[0]: $!";
	sysseek $f, $at, 0;
	syswrite $f, $bytes;
}

sub flip
{
	my ($at, $bit) = @_;
	put($at, chr(ord(substr slurp($paths[0]), $at, 1) ^ 1 << $bit));
	return;
}

sub noise
{
	srand 3;
	return join '', map { chr int rand 256 } 1 .. 8192;
}

# A page header of 24 bytes, one line pointer, the tuple at the end.
# A header of 24 bytes, three words, and the lives of feeds: a length and 60 times three words. Aligned.
my ($pointer, $tuple) = (24, 8192 - (24 + 24 + 4 + 60 * 24 + 4));
my $far_beyond = pack 'L', 0x7ff0 | 1 << 15 | 48 << 17;
my @damages = (
	[ 'no page', sub { truncate $paths[0], 0 }, qr/could not read blocks? 0/ ],
	[ 'page of noise', sub { put(0, noise()) }, qr/invalid page/ ],
	[ 'page of zeros', sub { put(0, "\0" x 8192) }, qr/Its page is empty/ ],
	[ 'a bit of the page size', sub { flip(19, 2) }, qr/not that of a table|invalid page/ ],
	[ 'a page as of an index', sub { put(16, pack 'S', 8192 - 8) }, qr/not that of a table/ ],
	[ 'from after the end of WAL', sub { put(0, pack 'L2', 0x1000, 0) }, qr/after the end of this server's WAL/ ],
	[ 'no line pointer', sub { put(12, pack 'S', 24) }, qr/does not contain its row/ ],
	[ 'line pointer of noise', sub { put($pointer, pack 'L', 0xfffffff0 | 1) }, qr/does not contain its row/ ],
	[ 'line pointer far beyond the page', sub { put($pointer, $far_beyond) }, qr/does not contain its row/ ],
	[ 'tuple of zeros', sub { put($tuple, "\0" x 48) }, qr/does not contain its row/ ],
	[ 'a bit of the ceiling', sub { flip($tuple + 24 + 5, 0) }, qr/check bits .* are wrong/ ]);

my $out_of_it = sub {

	my $said = value($server,
		q{SELECT snowflake_ids.reset(greatest(max(last_timestamp), clock_timestamp() + interval '1 s')) FROM snowflake_ids.stats}
	);
	like($said, qr/\A(?:(?:WARNING:.*page|HINT:).*\n?)*\z/, "$_[0]: reset leads out");
};

sub damaged
{
	my ($what, $damage, $detail, $before_reset) = @_;
	my $start = $clock->now;
	draw_in_both();
	stop_and_look();
	is(-s $paths[0], 8192, "$what: $name is one page");
	$damage->();
	$clock->set(-3600);
	start_at($server, $clock);
	my $mark = log_mark($server);
	my $is_ours = $detail !~ /invalid|block/;
	fails_with(
		$server, 'SELECT gen_sno()',
		$what, $detail,
		qr/HINT:.*snowflake_ids.reset\(\)/,
		$is_ours ? qr/"$name" of extension snowflake_ids/ : ());
	like(
		value($server, 'SELECT ceiling_file FROM snowflake_ids.status()'),
		qr/^damaged in this database$/m,
		"$what: status() shows it");
	fails_with($server, 'SELECT gen_sno()', "$what: status() has not changed it", $detail) if !$is_ours;
	fails_with($server, "REFRESH MATERIALIZED VIEW $name", "$what: REFRESH does not hide it", $detail);
	like(Session->new($server, dbname => 'other')->ask("SET zero_damaged_pages = on; SELECT 's' || gen_sno()"),
		qr/^s/, "$what: another database goes on");
	like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, "$what: gen_gid() goes on");
	$before_reset->() if $before_reset;
	fails_with(
		$server,
		"SELECT snowflake_ids.reset(clock_timestamp() - interval '1 day')",
		"$what: no floor in the past without force", qr/floor/);
	$out_of_it->($what);
	is(value($server, 'SELECT ceiling_file FROM snowflake_ids.status()'), 'ready', "$what: status() shows the repair");
	unlike(log_since($server, $mark), qr/terminated by signal/, "$what: nothing crashed");
	draw_at_all_times($ids, $server, $clock, $start);
	draw_in_both();
	return;
}

# With checksums the server refuses all damage but zeros.
$ids = Ids->new;
begin(1);
damaged(@{ $damages[2] });
damaged('a bit of the ceiling, with checksums', $damages[-1][1], qr/invalid page/);
$server->stop('immediate');

begin(0);
damaged(@$_) for part(@damages);

damaged(
	'page of noise, zero_damaged_pages',
	$damages[1][1],
	$damages[1][2],
	sub {
		fails_with(
			$server,
			'SET zero_damaged_pages = on; SELECT gen_sno()',
			'zero_damaged_pages does not make it a new one',
			qr/Its page is empty/,
			qr/HINT:.*snowflake_ids.reset\(\)/);
	});

# WAL has the repair, so recovery repeats it where the file was put back.
damaged(@{ $damages[2] });
my $repaired = value($server, "SELECT pg_relation_filepath('$name')");
kill_postmaster($server);
$paths[0] = $server->data_dir . "/$repaired";
put(0, "\0" x 8192);
start_at($server, $clock);
draw_in_both();
$ids->none_twice('damaged pages of the ceiling in WAL, and resets');

# ---- good pages with too low a ceiling, in both databases: the ceiling file knows
{
	$ids = Ids->new;
	my $start = $clock->now;
	draw_in_both();
	stop_and_look();
	my @older = map { slurp($_) } @paths;
	start_at($server, $clock);
	$clock->set(60);
	draw_in_both();
	$server->stop('fast');
	my @newer = map { slurp($_) } @paths;
	isnt($newer[$_], $older[$_], 'it is older') for 0, 1;
	spew($paths[$_], $older[$_]) for 0, 1;
	$clock->set(-3600);
	start_at($server, $clock);
	draw_in_both();

	for my $time (0, 60)
	{
		$clock->set_to($start + $time);
		draw_in_both();
	}
	$ids->none_twice('older pages of the ceiling in WAL');
}

# ---- the ceiling file is lost too: the floor that the operator names for one format holds for all
{
	$ids = Ids->new;
	$clock->set(120);
	my $start = $clock->now;
	$ids->draw($server);
	stop_and_look();
	unlink $server->data_dir . '/snowflake_ids.ceiling' or die;
	put(0, "\0" x 8192);
	$clock->set(-3600);
	start_at($server, $clock);
	$ids->add(Session->new($server, dbname => 'other')->ask("SELECT 'm' || gen_mastic()"));
	is(value($server, "SELECT snowflake_ids.reset(to_timestamp($start + 60), 'mastic')"),
		'', 'a reset of one format repairs the page');
	$ids->draw($server);
	$clock->set_to($start);
	$ids->draw($server);
	$ids->none_twice('the page and the ceiling file are lost');
}

# ---- emptied while a session draws: it ends at the ceiling that it knows. A reset by what the hint says leads out
{
	$ids = Ids->new;
	$clock->set(300);
	my $session = Session->new($server);
	$ids->draw($session);
	value($server, "REFRESH MATERIALIZED VIEW $name WITH NO DATA");
	fails_with(
		$session, 'SELECT gen_sno()',
		'WITH NO DATA',
		qr/could not read blocks? 0/,
		qr/HINT:.*snowflake_ids.reset\(\)/);
	fails_with(
		$server,
		"REFRESH MATERIALIZED VIEW $name",
		'it is not filled with a new ceiling',
		qr/could not read blocks? 0/);
	my $said = value($server, "SELECT snowflake_ids.reset(now() - interval '1 day')");
	my ($floor) = $said =~ /HINT:.*such as (.*)\./ or die $said;
	is(value($server, "SELECT snowflake_ids.reset($floor)"), '', "reset by its hint: $floor");
	is(value($server, "SELECT count(*) FROM $name"), 1, 'it is filled again');
	$ids->draw($session);
	$ids->draw($server);
	$ids->none_twice('WITH NO DATA');
}
$server->stop('immediate');
done_testing();
