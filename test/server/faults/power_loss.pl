# The power goes: unsynced sectors of the ceiling file are old or new, WAL is cut where it was flushed, or only one of
# the two is set back.
use Servers;

my $clock = clock();
my $server = new_server(
	'power', $clock,
	synced => 1,
	extra => ['--wal-segsize=1'],
	conf => "synchronous_commit = off\nwal_writer_delay = 10s\nsnowflake_ids.durable_window = '500ms'");
$server->safe_psql('postgres', 'CREATE TABLE kept(id text)');
my ($ceiling, $synced) = map { "$_/snowflake_ids.ceiling" } $server->data_dir, $server->{sfids_synced};
my $broken = "$server->{sfids_synced}/broken";
my $torn = Ids->new;
srand 4;

# An operator's reset whose sync fails: other entries and another floor than the synced file.
sub write_without_sync
{
	spew($broken, 'fdatasync');
	fails_with($server, "SELECT snowflake_ids.reset(clock_timestamp() + interval '10 s')",
		'a sync fails', qr/could not write ceiling file .*Input\/output error/);
	unlink $broken;
}

sub torn
{
	my ($old, $new) = @_;
	return join '', map { substr rand() < 0.5 ? $old : $new, 512 * $_, 512 } 0 .. length($old) / 512 - 1;
}

# Draws, loses power, and draws at the same times again; returns how many rows were lost. `file`: the ceiling file
# becomes `lost` or `torn`, or is kept. With `paced` ids at last, one to a tick, ceilings are lifted early.
sub lose
{
	my ($ids, %fault) = @_;
	my ($what, $file) = @fault{qw(what file)};
	my $start = $clock->now;

	# What comes after the last raise is not flushed for its sake.
	my $had = value($server, 'SELECT count(*) FROM kept');
	for my $paced ((60) x 4, $fault{paced} // 60)
	{
		$clock->step(0.4);
		my $session = Session->new($server);
		$ids->draw($session, $paced);
		value($session, 'INSERT INTO kept SELECT gen_sno()::text FROM generate_series(1, 50)');
	}
	my $latest = $ids->latest($server);
	write_without_sync() if $file;
	kill_postmaster($server);
	my %newest = map { $_ => slurp($_) } $ceiling, glob $server->data_dir . '/pg_wal/' . '?' x 24;
	lose_power($server);
	if ($file)
	{
		isnt($newest{$ceiling}, slurp($ceiling), "$what: the file lost what was not synced");
		spew($ceiling, torn(slurp($synced), $newest{$ceiling})) if $file eq 'torn';
	}
	else
	{
		spew($ceiling, $newest{$ceiling});
	}
	if (!$fault{wal_lost})
	{
		spew($_, $newest{$_}) for grep { $_ ne $ceiling } keys %newest;
	}

	spew($synced, slurp($ceiling));
	$clock->set_to($start);
	start_at($server, $clock);
	is(value($server, 'SELECT ceiling_file FROM snowflake_ids.status()'), 'ready', "$what: the file is not damaged");
	is(value($server, "SELECT until > '$latest' FROM snowflake_ids.wal_ceiling"),
		't', "$what: the ceiling in WAL is above all ids")
	  if $fault{wal_lost};
	my $lost = $had + 5 * 50 - value($server, 'SELECT count(*) FROM kept');
	$ids->draw($server);
	$clock->set(-7200);
	$ids->draw($server);

	$clock->set_to($start + 60);
	$ids->draw($server);
	$clock->step(60);
	return $lost;
}

for (
	{ what => 'ceiling file and WAL not synced', file => 'lost', wal_lost => 1 },
	{ what => 'WAL not synced', wal_lost => 1, paced => 1000 },
	{ what => 'ceiling file not synced', file => 'lost' })
{
	my %fault = %$_;
	my ($ids, $lost) = (Ids->new, 0);

	# Repeated, because the WAL writer may flush all just then.
	for (1 .. 10) { $lost = lose($ids, %fault); last if $lost || !$fault{wal_lost} }
	cmp_ok($lost, '>', 0, "$fault{what}: $lost rows were lost") if $fault{wal_lost};
	$ids->none_twice("power loss: $fault{what}");
}
lose($torn, what => 'ceiling file torn', file => 'torn') for 1 .. 4;
$torn->none_twice('power loss: ceiling file torn');

my $ids = Ids->new;
cmp_ok($ids->add(value($server, "SELECT 's' || id FROM kept")), '>', 500, 'rows that survived');
$ids->add(value($server, "SELECT 's' || gen_sno() FROM generate_series(1, 1000)"));
$ids->none_twice('power loss: rows that survived, and new ids');
$server->stop;

# ---- a floor is kept through a power loss, before any id above it is drawn
{
	my $clock = clock();
	my $server = new_server('floor', $clock, synced => 1, extra => ['--wal-segsize=1']);
	my $ids = Ids->new;
	$ids->draw($server);
	my $floor = int($clock->now + 1800);
	is(value($server, "SELECT snowflake_ids.reset(to_timestamp($floor))"), '', 'a floor half an hour ahead');
	lose_power($server);
	$server->{sfids_clock}->set(-600);
	start_at($server, $clock);

	for my $draw ('sno_timestamp(gen_sno())', 'mastic_timestamp(gen_mastic())',
		'snowflake_si_timestamp(gen_snowflake_si())')
	{
		is(value($server, "SELECT $draw > to_timestamp($floor)"), 't', "after a power loss $draw is above it");
	}
	$server->stop('immediate');
}

# ---- a generator's entry and the ceiling in WAL are synced before its first id. Where a disk forgets a sync, the clock is
# right.
{
	my $clock = clock();
	my $server = new_server('slot', $clock, synced => 1, extra => ['--wal-segsize=1']);
	$server->safe_psql('postgres', 'CREATE DATABASE other');
	$server->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
	my $ceiling = $server->data_dir . '/snowflake_ids.ceiling';
	value($server, 'SELECT gen_sno()');
	for ([ 'm', 'gen_mastic()', 0 ], [ 'i', 'gen_snowflake_si()', 1 ])
	{
		my ($letter, $draw, $older) = @$_;
		my $paced = "SELECT '$letter' || $draw FROM generate_series(1, %d) WHERE pg_sleep(0.0005) IS NOT NULL";
		my $ids = Ids->new;

		$clock->step(60);
		my $before = slurp($ceiling);
		my $start = $clock->now;
		is($ids->add(value($server, sprintf $paced, 300)), 300, "the first ids of $draw");
		lose_power($server);
		isnt(slurp($ceiling), $before, 'their ceiling was synced');
		spew($ceiling, $before) if $older;
		start_at($server, $clock);
		is(value($server, "SELECT until > to_timestamp($start) FROM snowflake_ids.wal_ceiling"),
			't', 'so was that in WAL');
		my $session = Session->new($server, dbname => 'other');
		is($ids->add($session->ask(sprintf $paced, 1)), 1, 'another database begins the next life') if $older;
		$clock->set_to($start - 0.1);
		is($ids->add($session->ask(sprintf $paced, 900)), 900, 'another database draws at their times');
		$ids->none_twice(
			'power loss' . ($older ? ', and a disk that forgot the first ceiling' : ' after the first ids'));
	}
	$server->stop('immediate');
}
done_testing();
