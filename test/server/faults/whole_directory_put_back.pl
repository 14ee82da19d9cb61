# A cold copy of the whole data directory is put back. Only the clock knows of later ids; with the clock set back too,
# ids up to the copy are safe, later ones repeat: a limit. doc/backups.md, "An old volume or snapshot", shows which of
# these it is by an id that somebody has kept, and what it says to type ends it.
use Servers;
use Page;

my $clock = clock();
my $server = new_server('put_back', $clock, extra => ['--wal-segsize=1']);
my ($dir, $copy) = ($server->data_dir, $server->data_dir . '.copy');

my $page = Page->new('doc/backups.md');
my ($reset, $compare, $renew) =
  map { $_->{content} } grep { $_->{heading} eq 'An old volume or snapshot' } $page->blocks('What to do', 'sql');
my $kept;    # the last id before the copy is put back
sub of_kept  { my ($sql) = @_; return value($server, $sql =~ s/'[2-9a-x]{16}'/'$kept'/gr) }
sub compared { return of_kept($compare) }

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
	$kept = value($server, 'SELECT gen_sno()');
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
	is(compared(), 't|t', 'an id that was kept tells that none has come again');
	is(value($server, $reset), '', 'the reset');
	is(compared(), 't|t', 'and nor will it');
	$ids->draw($server);
	$ids->none_twice('whole data directory put back, the clock is right');

	# What others have kept is ahead of the clock.
	$kept = value($server, "SELECT make_sno(now() + interval '30 seconds', 0, 7, 0)");
	is(compared(), 'f|f', 'an id that was ahead of the clock can come again');
	value($server, "SELECT snowflake_ids.reset(sno_timestamp('$kept') + interval '3 seconds')");
	is(compared(), 't|f', 'not after a reset to its time');
	$clock->step(60);
}

# ---- the clock is that of the copy
{
	my ($before, $after, $again) = map { Ids->new } 1 .. 3;
	value($server,
		'CREATE TABLE shop_order (id sno DEFAULT gen_sno() PRIMARY KEY); INSERT INTO shop_order DEFAULT VALUES');
	my ($start, $at, @dense) = copy_and_draw($before, $after, 1);
	put_back();
	$clock->set_to($at);
	start_at($server, $clock);
	my $old = value($server, 'SELECT id FROM shop_order');
	value($server, 'INSERT INTO shop_order SELECT FROM generate_series(1, 500)');
	$again->draw($server) for 1 .. 2;
	is(compared(), 'f|f', 'the id that was kept tells that ids can come again');

	# Once the lead of the start is over, the clock tells the times.
	for (@dense) { $clock->set_to($_); draw_densely($again) }
	draw_at_all_times($again, $server, $clock, $start);
	$_->include($again) for $before, $after;
	$before->none_twice('whole data directory put back, clock too: ids up to the copy');
	cmp_ok($after->twice, '>', 0, 'ids after the copy come again: that is a limit');
	note $after->twice . ' of them';

	my $repeated = $after->twice;
	$clock->set_to($dense[-1] + 60);
	is(value($server, $reset), '', 'the clock is set right, and the reset is called');
	is(compared(), 't|f', 'what follows is new, but not what came since the start');
	my $below = "SELECT count(*), min(id) FROM shop_order WHERE id <= '$kept'";
	is(value($server, $below), "501|$old", 'rows since the start have ids that can be equal to lost ones');
	of_kept($renew);
	is(value($server, $below), "1|$old", 'they get new ones, and older rows keep theirs');
	is(value($server, 'SELECT count(*) FROM shop_order'), 501, 'all rows are there');
	$after->draw($server);
	is($after->twice, $repeated, 'no more ids come again');
}
$server->stop('immediate');
done_testing();
