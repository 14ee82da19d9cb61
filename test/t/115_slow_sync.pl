# A disk that takes its time: ceilings are raised ahead of need by one session, and the others go on issuing while its
# sync is under way. Whoever has a pause in its ids while somebody syncs must be the one that does.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use List::Util qw(max min sum0);
use Test::More;

# A ceiling is raised when a quarter of the window is left. A WAL flush may have to wait for the one before it, so the
# longest wait is for two of them: that must fit.
my ($window, $slow, $seconds, $sessions) = (3.2, 0.35, 7, 4);
# Less than a session would lose that waits for half a sync, more than a busy machine takes. Shorter ones are noted.
my ($too_long, $noted) = (0.14, 0.01);
my $clock = clock();
my $server = new_server('slow', $clock, synced => 1, extra => ['--wal-segsize=1'], 
	conf => "wal_writer_delay = 10s\nsnowflake_ids.durable_window = '${window}s'");
my $synced = $server->{sfids_synced};

# Draws for some seconds. Prints its process, its pauses, and how many ids it had in each tenth of a second.
my $load = <<"END";
DO \$\$
DECLARE
	a float8 := extract(epoch FROM clock_timestamp());
	b float8;
	stop float8 := a + $seconds;
	first int8 := floor(a * 10);
	slice int;
	n int[] := '{}';
BEGIN
	WHILE a < stop LOOP
		PERFORM gen_sno(), gen_mastic(), gen_snowflake_si();
		b := extract(epoch FROM clock_timestamp());
		IF b - a > $noted THEN RAISE NOTICE 'pause % %', a, b; END IF;
		slice := floor(b * 10) - first + 1;
		n[slice] := coalesce(n[slice], 0) + 3;
		a := b;
		PERFORM pg_sleep(0.0005);
	END LOOP;
	RAISE NOTICE 'drew % % %', pg_backend_pid(), first, array_to_string(n, ',', '0');
END \$\$
END

sub overlap { my ($x, $y) = @_; return $x->{from} < $y->{to} && $x->{to} > $y->{from} }

# One run under load: the syncs, and what each session had meanwhile.
sub run
{
	my ($file) = @_;
	unlink "$synced/slow.log";
	my @sessions = map { Session->new($server) } 1 .. $sessions;
	$_->ask('SELECT gen_sno(), gen_mastic(), gen_snowflake_si()') for @sessions;
	spew("$synced/slow.$file", int 1000 * $slow);
	$_->send($load) for @sessions;
	my @said = map { $_->answer } @sessions;
	unlink "$synced/slow.$file";

	my @syncs = map { my ($pid, $from, $to) = split; { pid => $pid, from => $from, to => $to } }
	  split /\n/, -e "$synced/slow.log" ? slurp("$synced/slow.log") : '';
	my %r = (syncs => [], waited => [], others => 0, own => 0, watched => 0, least => 1e9);
	my @drew;
	for (@said)
	{
		my ($pid, $first, $counts) = /drew (\d+) (\d+) (\S+)/ or die "no load: $_";
		push @drew, { pid => $pid, first => $first, n => [ split /,/, $counts ] };
		while (/pause (\S+) (\S+)/g)
		{
			my $pause = { from => $1, to => $2 };
			my @then = grep { overlap($pause, $_) } @syncs or next;
			my $long = $2 - $1;
			if (grep { $_->{pid} == $pid } @then) { $r{own} = max $r{own}, $long; next }
			$r{others} = max $r{others}, $long;
			push @{ $r{waited} }, sprintf 'process %d had no id for %.0f ms while process %d synced', $pid, 1000 * $long, $then[0]{pid}
			  if $long > $too_long;
		}
	}
	# What the others had in those tenths of a second that lie in a sync of a session that draws.
	for my $sync (@syncs)
	{
		next unless grep { $_->{pid} == $sync->{pid} } @drew;
		push @{ $r{syncs} }, $sync;
		for my $d (grep { $_->{pid} != $sync->{pid} } @drew)
		{
			my ($from, $to) = (int($sync->{from} * 10) + 1 - $d->{first}, int($sync->{to} * 10) - 1 - $d->{first});
			next if $from < 0 || $to > $#{ $d->{n} };
			$r{watched}++;
			$r{least} = min $r{least}, sum0 @{ $d->{n} }[$from .. $to];
		}
	}
	return \%r;
}

caught_up($server);
for my $case ([ 'ceiling file', 'ceiling' ], [ 'WAL', 'wal' ])
{
	my ($what, $file) = @$case;
	my $r;
	# Another process of the machine may have had the processor for as long. It will not each time.
	for (1 .. 3) { $r = run($file); last unless @{ $r->{waited} } }
	my $syncs = @{ $r->{syncs} };
	cmp_ok($syncs, '>=', 2, "$what: sessions that draw have synced");
	is(join("\n", @{ $r->{waited} }), '', "$what: no other session waits for them");
	cmp_ok($r->{own}, '>', 0.9 * $slow, "$what: who syncs does");
	cmp_ok($r->{watched}, '>=', $sessions - 1, "$what: the others drew at the same time");
	cmp_ok($r->{least}, '>', 0, "$what: each of them got ids during each sync");
	diag sprintf '%-13s %d syncs of %.0f ms: longest pause of who syncs %.0f ms, of others %.0f ms; each other one got %d ids or more meanwhile',
	  $what, $syncs, 1000 * $slow, 1000 * $r->{own}, 1000 * $r->{others}, $r->{least};
}
$server->stop('immediate');
done_testing();
