# Times at the end of a slot's word and of the ceilings: a generator that has ended says so at once, and does not begin
# again.
use Servers;

my $server = new_server('future', clock());
my $ids = Ids->new;
my $ended = qr/cannot generate .* ids: the clock is past the last time that they can contain/;

sub stopped
{
	my ($call, $name) = @_;
	my $began = time;
	fails_with($server, "SET statement_timeout = '60s'; SET snowflake_ids.max_wait = '5min'; SELECT $call",
		$name, $ended, qr/HINT:.*snowflake_ids.reset\(\)/);
	cmp_ok(time - $began, '<', 50, "$name: at once");
}

# ---- Mastic: 47 bits of milliseconds since 2026 end in 6485, its ids have 48
my $mastic = sub { $ids->add(value($server, "SELECT 'm' || gen_mastic() FROM generate_series(1, 100000)")) };
is($mastic->(), 100000, 'Mastic ids');
is(value($server, "SELECT snowflake_ids.reset('6485-10-17 16:00+00', 'mastic')"),
	'', 'a floor after the last tick of a slot');
stopped('gen_mastic()', 'Mastic ids');
restart_after($server, 'fast');
stopped('gen_mastic()', 'Mastic ids after a restart');
is(value($server, "SELECT snowflake_ids.reset(clock_timestamp() + interval '10 seconds', force => true)"),
	'', 'an operator resets it to the present');
is($mastic->(), 100000, 'Mastic ids');
$ids->none_twice('Mastic, to the end of its time, and reset to the present');

# ---- a layout whose time continues after the last ceiling, in 10889
value($server, "SELECT snowflake_layout_create('slow', '2026-01-01 00:00:00+00', '1 s', 40, 0, 8)");
like(value($server, "SELECT gen_snowflake('slow')"), qr/^\d+$/, 'an id of a layout with ticks of a second');
value($server, "SELECT snowflake_observe('slow', make_snowflake('slow', '12000-01-01', 0, 0), force => true)");
stopped("gen_snowflake('slow')", 'a layout beyond the last ceiling');
restart_after($server, 'immediate');
stopped("gen_snowflake('slow')", 'a layout beyond the last ceiling, after a crash');
$server->stop;
done_testing();
