# Our files damaged systematically while the server is down, with page checksums and without: an error with a SQLSTATE
# and a hint, or correct ids in both databases. A reset leads out of the error; a damaged ceiling file is moved away
# before. Never a crash, never an id twice.
# The clock goes back before ids are drawn again, and then to the time of the ids before.
#
# Where each damage is tested (here: this script), and what happens:
#
#   damage             ceiling file                     page of the WAL ceiling        page of the Snowflake-SI layout
#   zeroed             104, here: error                 122, here: error               122: error
#   a bit flipped      104, here: error                 122, here: error, or correct   122: error
#                                                       where the bit says nothing
#   cut, or longer     104, here: error                 122, here: error               122: error
#   noise              104: error                       122: error                     122: error
#   another cluster's  104: error                       here: error, or correct by     -
#                                                       the file, as its LSN is
#   another database's one file for all                 here: correct, by the file     the same in all of them
#   older by a window  103, 120: correct                here: correct, by the file     it never changes
#   removed            103, 120: correct                as cut to nothing              as cut to nothing
#   both are older     117: nothing can detect it, and the clock alone knows of the ids in between
#
# "By the file": the page is a good one with too low a ceiling. Nothing can detect that, but the ceiling file has the
# ceilings of all databases. If that is lost as well, the clock decides, as in 117.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $ids;
my ($size, $entries, $foreign_page) = (36864, 4096);
my ($tuple, $special) = (8192 - 8 - 48, 8192 - 8);

sub flipped
{
	my ($content, $at, $bit) = @_;
	substr($content, $at, 1) ^= chr(1 << $bit);
	return $content;
}

sub put
{
	my ($content, $at, $bytes) = @_;
	substr($content, $at, length $bytes) = $bytes;
	return $content;
}

# All formats in both databases: ids are added, and what else is said is returned.
sub draw_in_all
{
	my ($server) = @_;
	my $said = '';
	for my $database (qw(postgres other))
	{
		my $session = Session->new($server, dbname => $database);
		$ids->{said} = [];
		$ids->add($session->ask("\\set VERBOSITY verbose\n" . Ids::query(10, 60)));
		$said .= join '', map { "$database: $_\n" } @{ $ids->{said} };
		$session->gone;
	}
	return $said;
}

# `damage` gets the path of the data directory and those of the pages of the WAL ceilings.
sub is_error_or_correct
{
	my ($server, $paths, $what, $damage, $expected) = @_;
	$clock->step(60);
	my $start = $clock->now;
	is(draw_in_all($server), '', "$what: draws before");
	$server->stop('fast');
	my %before = map { $_ => slurp($_) } @$paths;
	$damage->(@$paths);
	isnt(join('', map { slurp($_) } @$paths), join('', map { $before{$_} } @$paths), "$what: something is damaged");
	$clock->step(-3600);
	my $mark = log_mark($server);
	start_at($server, $clock);
	my $said = draw_in_all($server);
	my @errors = grep { /^ERROR/ } split /(?=(?:ERROR|WARNING):  )/, $said;
	is(@errors ? 'error' : 'correct', $expected, $what) or diag $said;

	if (@errors)
	{
		my @without = grep { !/\AERROR:  (?:XX001|55000): .*HINT:.*snowflake_ids.reset\(\)/s } @errors;
		is("@without", '', "$what: each error has a SQLSTATE and a hint");
		my $is_file = $said =~ /ceiling file/;
		if ($is_file)
		{
			my @elsewhere = grep { !/HINT:  Move the file away, and name a floor/ } @errors;
			is("@elsewhere", '', "$what: each hint says to move the file away");
			rename $paths->[0], "$paths->[0].damaged" or die;
		}
		for my $database (qw(postgres other))
		{
			my $session = Session->new($server, dbname => $database);

			# One floor holds for all databases. A damaged page is of one.
			next if $is_file ? $database ne 'postgres' : $session->ask('SELECT gen_sno(), gen_mastic()') !~ /ERROR/;
			my $latest = $ids->latest($session);
			my $answer =
			  $session->ask("SELECT snowflake_ids.reset(greatest('$latest', clock_timestamp() + interval '1 s'))");
			unlike($answer, qr/ERROR/, "$what: reset leads out in $database");
		}
	}
	is(draw_in_all($server), '', "$what: draws") if @errors;
	$clock->set_to($start);
	is(draw_in_all($server), '', "$what: draws at the time of the ids before");
	unlike(log_since($server, $mark), qr/terminated by signal/, "$what: nothing crashed");
	is($ids->twice, 0, "$what: no id twice");
	return;
}

# The second cluster gets a page of the first, once with an LSN of its own, and once with one from after the end of its
# WAL, which the server would refuse to flush.
for my $checksums (1, 0)
{
	$ids = Ids->new;
	my $with = $checksums ? 'with checksums' : 'without checksums';
	my $server = new_server(
		"damaged_$checksums", $clock,
		force_initdb => 1,
		extra => $checksums ? ['--data-checksums'] : [],
		conf => "snowflake_ids.machine_id = 3\n");
	my $is_on = value($server, 'SHOW data_checksums');
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	my ($page, $page_of_other) = map {
		my $session = Session->new($server, dbname => $_);
		$server->data_dir . '/' . $session->ask(q{SELECT pg_relation_filepath('snowflake_ids.wal_ceiling')})
	} qw(postgres other);
	my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
	note "$with: data_checksums is $is_on";

	# ---- the ceiling file
	if (!$checksums)
	{
		draw_in_all($server);
		my $used = slurp($ceiling);
		my @in_use = grep { substr($used, 512 * $_, 512) =~ /[^\0]/ } 8 .. $size / 512 - 1;
		cmp_ok(scalar @in_use, '>', 0, 'sectors with entries');
		my $change = sub {
			my ($how) = @_;
			return sub { my ($path) = @_; spew($path, $how->(slurp($path))) }
		};
		for (
			[ 'sector 0 zeroed', $change->(sub { put($_[0], 0, "\0" x 512) }), 'error' ],
			(   map {
					my $sector = $_;
					[   'a sector with entries zeroed',
						$change->(sub { put($_[0], 512 * $sector, "\0" x 512) }), 'error' ]
				} @in_use[ 0 .. ($#in_use < 3 ? $#in_use : 3) ]),
			[ 'all entries zeroed', $change->(sub { put($_[0], $entries, "\0" x ($size - $entries)) }), 'error' ],
			[ 'a bit of the version', $change->(sub { flipped($_[0], 8, 6) }), 'error' ],
			[ 'a bit of the promise', $change->(sub { flipped($_[0], 48, 6) }), 'error' ],
			[ 'a bit of the checksum', $change->(sub { flipped($_[0], 184, 6) }), 'error' ],
			[ 'a bit of the map of entries', $change->(sub { flipped($_[0], 64, 6) }), 'error' ],
			(   map {
					my $to = $_;
					[ "cut to $to bytes", sub { truncate $_[0], $to }, 'error' ]
				} 0,
				1,
				$entries - 1,
				$entries,
				$size - 1),
			[ 'a byte longer', sub { truncate $_[0], $size + 1 }, 'error' ])
		{
			is_error_or_correct($server, [$ceiling], "ceiling file, $_->[0]", @$_[ 1, 2 ]);
		}
	}

	# ---- the page of the WAL ceiling of one database
	$clock->step(60);
	draw_in_all($server);
	$server->stop('fast');
	my ($older, $older_of_other) = map { slurp($_) } $page, $page_of_other;
	start_at($server, $clock);
	my $first = sub {
		my ($how) = @_;
		return sub { my ($path) = @_; spew($path, $how->(slurp($path))) }
	};
	my $bit = sub {
		my ($at, $which) = @_;
		return $first->(sub { flipped($_[0], $at, $which) });
	};

	# Without checksums nothing can know of a bit that says nothing here: the checksum itself, the end of free space, the
	# oldest prunable transaction, and the life that wrote the ceiling.
	my $unchecked = $checksums ? 'error' : 'correct';
	for (
		[ 'zeroed', sub { spew($_[0], "\0" x 8192) }, 'error' ],
		[ 'no page', sub { truncate $_[0], 0 }, 'error' ],
		[ 'a bit of the checksum', $bit->(8, 4), $unchecked ],
		[ 'a bit of pd_flags', $bit->(11, 7), 'error' ],
		[ 'a bit of pd_lower', $bit->(12, 3), 'error' ],
		[ 'a bit of pd_upper', $bit->(14, 3), $unchecked ],
		[ 'a bit of pd_special', $bit->(16, 3), 'error' ],
		[ 'a bit of the page size', $bit->(19, 2), 'error' ],
		[ 'a bit of the prune xid', $bit->(20, 2), $unchecked ],
		[ 'a bit of the magic', $bit->($special, 2), 'error' ],
		[ 'a bit of the line pointer', $bit->(24, 4), 'error' ],
		[ 'a low bit of the ceiling', $bit->($tuple + 24, 2), 'error' ],
		[ 'a high bit of the ceiling', $bit->($tuple + 24 + 6, 1), 'error' ],
		[ 'a bit of the life', $bit->($tuple + 32, 1), $unchecked ],
		[ 'older, of both databases', sub { spew($_[0], $older); spew($_[1], $older_of_other) }, 'correct' ],
		[   'of the other database and back',
			sub {
				my @content = map { slurp($_) } @_;
				spew($_[0], $content[1]);
				spew($_[1], $content[0]);
			},
			'correct' ],
		$foreign_page
		? ( [ 'of another cluster', sub { spew($_[0], put($foreign_page, 0, substr slurp($_[0]), 0, 8)) }, 'correct' ],
			[ 'from after the end of WAL', sub { spew($_[0], put($foreign_page, 0, pack 'L2', 0x1000, 0)) }, 'error' ])
		: ())
	{
		is_error_or_correct($server, [ $page, $page_of_other ], "WAL ceiling $with, $_->[0]", @$_[ 1, 2 ]);
	}
	$server->stop('fast');
	$foreign_page = slurp($page);
	note $ids->drawn . " ids drawn $with";
}
done_testing();
