# Copies of a data directory with the same machine id: what was drawn before the copy was taken, or is in the WAL that it
# replays, is not drawn again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Servers;
use Test::More;

my $clock = clock();
my $server = new_server('original', $clock, allows_streaming => 1);

# ---- copies of the running server, while sessions draw
for (
	{ how => 'pg_basebackup', name => 'base_backup', draws => 10 },
	{ how => 'cp -r', name => 'hot_copy', draws => 500, file_by_file => 1 })
{
	my ($how, $name) = @$_{qw(how name)};
	my $file_by_file = $_->{file_by_file};
	my $ids = Ids->new;
	my $start = $clock->now;
	$ids->draw($server);
	my $busy = Session->new($server)->send(join ';', (Ids::query(20, 50)) x $_->{draws});
	my $copy;
	if ($file_by_file)
	{
		# Not a consistent copy, but with full_page_writes and all WAL since the checkpoint it mostly starts. The ceiling file
		# may be torn.
		$copy = copy_of($name, $server->data_dir);
		ok(more_are_drawn($server), "$how: and they still do");
	}
	else
	{
		$server->backup('backup');
		$copy = PostgreSQL::Test::Cluster->new($name);
		$copy->init_from_backup($server, 'backup');
	}

	$ids->add($busy->answer) unless $file_by_file;
	undef $busy;

	my $its_clock = clock();
	$its_clock->set(-7200);
	start_at($copy, $its_clock);
	is(value($copy, 'SELECT ledger_state FROM snowflake_ids.status()'), 'ready', "$how: the ceiling file was copied");
	draw_at_all_times($ids, $copy, $its_clock, $start);
	$ids->none_twice("$how of the running server");
	$copy->stop('immediate');
}
$server->stop;
done_testing();
