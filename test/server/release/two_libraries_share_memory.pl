# Another 1.x is installed, and put back, while sessions are connected: nothing stops, and both libraries share the
# memory. The other one has a word more in each struct, in unused bytes, as a later 1.x adds one.
use Servers;
use PostgreSQL::Test::Utils;

my $source = $ENV{SNOWFLAKE_IDS_SRC};
my ($version) = slurp("$source/snowflake_ids.control") =~ /^default_version = '(.*)'/m;
my $other = '1.99';
my ($prefix, $libdir, $extension) = own_installation();

# ---- the other library
my $tree = PostgreSQL::Test::Utils::tempdir();
{
	system("cp -r $source/src $source/tools $source/Makefile $source/*.control $tree/") == 0 or die;
	my $memory = slurp("$tree/src/ledger/slot.hpp");
	my @added = (
		[ Header => qr/^struct Header \{.*?\n\};/ms, qr/\n\};\z/, "\n    Word added;\n};" ],
		[ Slot => qr/^struct BasicSlot \{.*?\n\};/ms, qr/\n\};\z/, "\n    Word added;\n};" ]);
	for (@added)
	{
		my ($what, $struct, $place, $word) = @$_;
		my $found = $memory =~ s/($struct)/my $s = $1; $s =~ s{$place}{$word} ? $s : "$s "/e && $memory =~ /\Q$word\E/;
		ok($found, "$what has room for a word more");
	}
	spew("$tree/src/ledger/slot.hpp", $memory);
	my @make = ('make', '-s', '-j2', '-C', $tree, "PG_CONFIG=$ENV{PG_CONFIG}", "EXTVERSION=$other");
	my ($said, $failed) = run_command([ @make, 'snowflake_ids.so' ]);
	ok(-s "$tree/snowflake_ids.so", "a library of version $other is built") or die "$said\n$failed";
}
my %library = ($version => slurp("$libdir/snowflake_ids.so"), $other => slurp("$tree/snowflake_ids.so"));

# As a package does: sessions keep the old file open.
sub install
{
	my ($which) = @_;
	spew("$libdir/new.so", $library{$which});
	rename "$libdir/new.so", "$libdir/snowflake_ids.so" or die;
	return;
}

my $clock = clock();
my $what = 'SELECT library_version, memory, life FROM snowflake_ids.status()';

# $installed makes the memory; $then is installed under it.
sub side_by_side
{
	my ($name, $preload, $installed, $then) = @_;
	my $ids = Ids->new;
	install($installed);
	my $server = new_server($name, $clock, install_path => $prefix, conf => "shared_preload_libraries = '$preload'");
	my $memory = $preload ? 'preloaded' : 'dynamic';

	my $newer = $preload ? $installed : $then;
	my @old = map { Session->new($server) } 1 .. 2;
	$ids->draw($_) for @old;
	my ($life) = $old[0]->ask($what) =~ /^\Q$installed|$memory|\E(\d+)$/;
	ok($life, "$name: sessions of $installed");
	install($then);
	my @new = map { Session->new($server) } 1 .. 2;
	$_->send(Ids::query(20, 2000)) for @old, @new;
	$ids->{said} = [];
	$ids->add($_->answer) for @old, @new;
	is("@{ $ids->{said} }", '', "$name: all draw at the same time");
	is($_->ask($what), "$installed|$memory|$life", "$name: a session of $installed stays one")              for @old;
	is($_->ask($what), "$newer|$memory|$life", "$name: a new session has $newer, the same memory and life") for @new;

	# Ids grow by one word only.
	$clock->step(-3600);
	my ($last, $bad) = (0, '');
	for my $session ((@old, @new) x 3)
	{
		my $id = $session->ask('SELECT gen_mastic()');
		$bad .= "$id after $last\n" if $id !~ /^\d+$/ || $id <= $last;
		$last = $id if $id =~ /^\d+$/;
	}
	is($bad, '', "$name: the ids of all sessions grow, as from one word");
	$clock->step(3600);

	kill_backend($server);
	$ids->draw($server);
	like(value($server, $what), qr/^\Q$newer|$memory|\E/, "$name: after a crash it is $newer");
	$ids->none_twice("$name: sessions of two libraries");
	$server->stop('immediate');
	return;
}
side_by_side('newer', '', $version, $other);
side_by_side('older', '', $other, $version);
side_by_side('newer_preloaded', 'snowflake_ids', $version, $other);
side_by_side('older_preloaded', 'snowflake_ids', $other, $version);
done_testing();
