# A cold copy of the whole data directory is put back. Only the clock knows of later ids; with the clock set back too,
# ids up to the copy are safe, later ones repeat: a limit.
use Servers;

my $clock = clock();
my $server = new_server('put_back', $clock, extra => ['--wal-segsize=1']);
my ($dir, $copy) = ($server->data_dir, $server->data_dir . '.copy');

sub run { system(@_) == 0 or die "@_ failed" }

# Draws for longer than ids are ahead after the start. Returns when it began, copied, and drew densely.
sub copy_and_draw
{
	my ($before, $after, $same_clock) = @_;
	my $start = $clock->now;
	$before->draw($server);
	$server->stop('fast');
	my $at = $clock->now;
	run('rm', '-rf', $copy);
	run('cp', '-a', $dir, $copy);
	$clock->set_to($at) if $same_clock;
	start_at($server, $clock);
	for (1 .. 5) { $after->draw($server); $clock->step(0.6) }
	my @dense = map { $clock->step(1); draw_densely($after) } 1 .. 4;
	$server->stop('fast');
	return ($start, $at, @dense);
}

sub draw_densely
{
	my ($ids) = @_;
	my $start = $clock->now;
	$ids->add(
		value($server, "SELECT 'm' || gen_mastic() FROM generate_series(1, 500) WHERE pg_sleep(0.001) IS NOT NULL"));
	return $start;
}

sub put_back
{
	run('rm', '-rf', $dir);
	run('cp', '-a', $copy, $dir);
}

# ---- the clock is right
{
	my $ids = Ids->new;
	copy_and_draw($ids, $ids);
	put_back();
	start_at($server, $clock);
	for (1 .. 3) { $ids->draw($server); $clock->step(0.5) }
	$ids->none_twice('whole data directory put back, the clock is right');
}

# ---- the clock is that of the copy
{
	my ($before, $after, $again) = map { Ids->new } 1 .. 3;
	my ($start, $at, @dense) = copy_and_draw($before, $after, 1);
	put_back();
	$clock->set_to($at);
	start_at($server, $clock);
	$again->draw($server) for 1 .. 2;

	# Once the lead of the start is over, the clock tells the times.
	for (@dense) { $clock->set_to($_); draw_densely($again) }
	draw_at_all_times($again, $server, $clock, $start);
	$_->include($again) for $before, $after;
	$before->none_twice('whole data directory put back, clock too: ids up to the copy');
	cmp_ok($after->twice, '>', 0, 'ids after the copy come again: that is a limit');
	note $after->twice . ' of them';
}
$server->stop('immediate');
done_testing();
