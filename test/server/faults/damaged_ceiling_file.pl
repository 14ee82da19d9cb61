# The ceiling file damaged, foreign, unreadable or no file, and a read-only data directory; in a life and before one.
# Each error names the way out: move the file away and name a floor. It works, also without the floor; gen_gid()
# continues.
#
# Which bytes are damage: test/unit/ledger_ceiling_bytes_test.cpp.
use Servers;

my $clock = clock();
my $server = new_server('damaged', $clock);
my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
my $ids = Ids->new;
$ids->draw($server);
my ($size, $entries) = (36864, 4096);
is(-s $ceiling, $size, 'the size of the ceiling file');
sub state { return value($server, 'SELECT ceiling_file FROM snowflake_ids.status()') }

sub overwrite
{
	my ($at, $bytes) = @_;
	my $content = slurp($ceiling);
	substr($content, $at, length $bytes) = $bytes;
	spew($ceiling, $content);
}

my $other = new_server('other', $clock);
value($other, 'SELECT gen_sno()');
my $foreign = slurp($other->data_dir . '/snowflake_ids.ceiling');
$other->stop('immediate');

my $writable = qr/HINT:.*server's user write/;
my @faults = (
	[   'a byte longer',
		sub { truncate $ceiling, $size + 1 },
		'damaged',
		qr/XX001: ceiling file "snowflake_ids.ceiling" is damaged/,
		qr/DETAIL:  The size or the header of the file is wrong/ ],
	[   'a sector of ones among the entries',
		sub { overwrite($entries + 512, "\xff" x 512) },
		'damaged',
		qr/XX001: ceiling file "snowflake_ids.ceiling" is damaged/,
		qr/DETAIL:  Entry 16 of the file is wrong/ ],
	[   'of another version',
		sub { overwrite(8, pack 'L', 2) },
		'other version',
		qr/55000: ceiling file .* has another format than this library uses/,
		qr/DETAIL:  Another version of snowflake_ids wrote it/ ],
	[   'of another cluster',
		sub { spew($ceiling, $foreign) },
		'foreign',
		qr/55000: ceiling file .* belongs to another database cluster/,
		qr/DETAIL:  The file contains the system identifier of another cluster/ ]);
my $way_out = qr/HINT:  Move the file away, and call snowflake_ids.reset\(\) with a time above every id\./;

my ($minute, $moved) = (0, 0);
for my $running (1, 0)
{
	for (@faults)
	{
		my ($fault, $damage, $state, @patterns) = @$_;
		my $what = $running ? "$fault, while a life runs" : "$fault, before a life begins";

		$clock->set(60 * ++$minute);
		my $start = $clock->now;
		my $these = Ids->new;
		my $session = $running ? Session->new($server) : undef;
		$these->draw($session // $server);
		if ($running)
		{
			$damage->();
			$clock->step(50);    # beyond the ceiling
		}
		else
		{
			$server->stop('immediate');
			$damage->();
			$clock->set(-3600);
			start_at($server, $clock);
		}
		my $content = slurp($ceiling);

		my $reset =
		  "SELECT snowflake_ids.reset(greatest('@{[ $these->latest($server) ]}', clock_timestamp() + interval '1 s'))";
		for my $where ($session // (), $server)
		{
			for my $query ('SELECT gen_sno()', $reset, $reset =~ s/\)\z/, force => true)/r)
			{
				fails_with($where, "\\set VERBOSITY verbose\n$query", $what, @patterns, $way_out);
			}
		}
		is(state(), $state, "$what: snowflake_ids.status() says so");
		like(value($server, "SELECT gen_gid('log')"), qr/^\w+-\w+$/, "$what: gen_gid() goes on");
		ok(slurp($ceiling) eq $content, "$what: the file stays as it is");

		rename $ceiling, "$ceiling.damaged" or die;
		is(state(), 'ready', "$what: the file is moved away");
		if (!$running)
		{
			fails_with(
				$server,
				"SELECT snowflake_ids.reset(clock_timestamp() - interval '1 day')",
				"$what: no floor in the past without force", qr/floor/);
		}
		is(value($server, $reset), '', "$what: and a floor is named") if ++$moved % 2 == $running;
		$clock->set(-7200);
		$these->draw($session) if $session;
		undef $session;
		$these->draw($server);
		$clock->set_to($start);
		$these->draw($server);
		is(-s $ceiling, $size, "$what: there is a file again");
		$ids->include($these);
		is($ids->twice, 0, "$what: no id came twice");
	}
}

$ids->none_twice('damaged ceiling files, moved away, with a floor and without');

# ---- lost while one generator is far ahead of the clock: the ceiling of the database covers all. A forced reset takes
# it back.
{
	$ids = Ids->new;
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	my $lost_ahead = sub {
		value($server, "SELECT sno_observe(make_sno(clock_timestamp() + interval '1 year', 0, 77, 0), true)");
		$server->stop('fast');
		unlink $ceiling or die;
		start_at($server, $clock);
		value($server, 'SELECT gen_mastic()');
		is(value($server, q{SELECT clock_lead > 3e10 FROM snowflake_ids.stats WHERE format = 'mastic'}),
			't', 'a lost ceiling file leads all to where one generator was');
		is(Session->new($server, dbname => $_)->ask('SELECT snowflake_ids.reset(clock_timestamp(), force => true)'),
			'', "a forced reset in $_")
		  for qw(postgres other);
	};
	$clock->set(0);
	is(value($server, 'SELECT count(gen_sno(0, 77))'), 1, 'a generator');
	$lost_ahead->();
	for (1 .. 16) { $ids->add(value($server, q{SELECT 's' || gen_sno(0, 77)})); $clock->step(0.1) }
	$server->stop('immediate');
	$clock->set(-1);
	start_at($server, $clock);

	$ids->add(Session->new($server, dbname => 'other')
		  ->ask(q{SELECT 's' || gen_sno(0, 77), pg_sleep(0.001) FROM generate_series(1, 3000)}) =~ s/\|//gr);
	cmp_ok($ids->drawn, '==', 3016, 'drawn before and after');
	$ids->none_twice('ceiling file lost with a generator far ahead, forced resets');

	$lost_ahead->();
	is(value($server, 'SELECT count(gen_mastic())'), 1, 'ids after the forced reset');
	restart_after($server, 'fast');
	value($server, 'SELECT gen_mastic()');
	is(value($server, q{SELECT clock_lead < 60000 FROM snowflake_ids.stats WHERE format = 'mastic'}),
		't', 'a restart does not lead back to the far time');
	$server->safe_psql('postgres', 'DROP DATABASE other');
}

# ---- something else than a file. Mode 0 stops only users other than root.
$ids = Ids->new;
for (
	[ 'a directory', qr/Is a directory/, sub { mkdir $ceiling or die } ],
	[ 'a symbolic link', qr/Too many levels of symbolic links/, sub { symlink "$ceiling.aside", $ceiling or die } ],
	[ 'a FIFO', qr/Illegal seek/, sub { system('mkfifo', $ceiling) == 0 or die } ],
	$> == 0
	? ()
	: [ 'a file that cannot be read',
		qr/Permission denied/,
		sub { spew($ceiling, slurp("$ceiling.aside")); chmod 0, $ceiling } ])
{
	my ($what, $why, $put) = @$_;
	for my $running (1, 0)
	{
		$clock->set(60 * ++$minute);
		my $start = $clock->now;
		$ids->draw($server);
		$server->stop('immediate') if !$running;
		rename $ceiling, "$ceiling.aside" or die;
		$put->();
		$running ? $clock->step(50) : start_at($server, $clock);
		my $when = $running ? 'while a life runs' : 'before a life begins';
		fails_with(
			$server, 'SELECT gen_sno()',
			"$what, $when",
			qr/could not write ceiling file "snowflake_ids.ceiling": $why/,
			qr/HINT:.*server's user write to the file/);
		like(state(), qr/^unreadable: $why$/, "$what, $when: the status says so");
		fails_with(
			$server,
			"SELECT snowflake_ids.reset(clock_timestamp() + interval '1 s')",
			"$what, $when: no reset", $why);
		(-d $ceiling && !-l $ceiling ? rmdir $ceiling : unlink $ceiling) or die;
		rename "$ceiling.aside", $ceiling or die;
		is(state(), 'ready', "$what, $when: moved away");
		draw_at_all_times($ids, $server, $clock, $start);
	}
}
$ids->none_twice('something else in place of the ceiling file');

SKIP:
{
	skip 'runs as root, who may write all', 1 if $> == 0;
	$clock->set(60 * ++$minute);
	my $start = $clock->now;
	$ids = Ids->new;
	$ids->draw($server);
	chmod 0400, $ceiling;
	$clock->step(50);
	fails_with(
		$server,
		'SELECT gen_sno()',
		'ceiling file that cannot be written',
		qr/could not write ceiling file/,
		qr/DETAIL:.*No id is generated until/, $writable);
	chmod 0600, $ceiling;
	draw_at_all_times($ids, $server, $clock, $start);

	$server->stop('fast');
	unlink $ceiling or die;
	$clock->set(-3600);
	start_at($server, $clock);
	chmod 0500, $server->data_dir;
	fails_with(
		$server,
		'SELECT gen_sno()',
		'read-only data directory',
		qr/could not write ceiling file .* Permission denied/, $writable);
	chmod 0700, $server->data_dir;
	draw_at_all_times($ids, $server, $clock, $start);
	$clock->set(60 * ++$minute);
	my $session = Session->new($server);
	$ids->draw($session);
	chmod 0400, $ceiling;
	chmod 0500, $server->data_dir;
	my $said = '';
	for (1 .. 120) { $clock->step(1); $ids->add($said = $session->ask(Ids::query(5, 5))); last if $said =~ /ERROR/ }
	like(
		$said,
		qr/ERROR.*could not write ceiling file.*$writable/s,
		'data directory that becomes read-only: ids end at the ceiling');
	chmod 0700, $server->data_dir;
	chmod 0600, $ceiling;
	draw_at_all_times($ids, $session, $clock, $start);
	$ids->none_twice('file and directory without permission');
}
$server->stop;
done_testing();
