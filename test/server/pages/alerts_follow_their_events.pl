# Each alert of doc/operating.md and doc/monitoring/prometheus_alerts.yaml is raised by the event that it names, in
# time, and by no other. Real servers give the figures; promtool evaluates the alerts over them.
use Servers;
use CPAN::Meta::YAML;
use IPC::Run ();
use JSON::PP ();
use Page;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $page = Page->new('doc/operating.md');
my @alert_queries = map { $_->{content} } $page->blocks('Two queries', 'sql');
my $exporter = CPAN::Meta::YAML->read("$root/doc/monitoring/postgres_exporter.yaml")->[0];
my $rules_file = "$root/doc/monitoring/prometheus_alerts.yaml";
my $has_promtool = has_program('promtool');

my @said = (
	[ 'not ready' => qr/^critical\|ceiling file is \S/ ],
	[ 'not accepted' => qr/^critical\|setting not accepted: \S/ ],
	[ 'no machine id' => qr/^warning\|machine id is not set$/ ],
	[ 'SI machine id' => qr/^warning\|machine id \d+ is too large for Snowflake-SI ids$/ ],
	[ 'waiting' => qr/^warning\|\w+\|\d+\|\d+ sessions wait for an id$/ ],
	[ 'ahead' => qr/^warning\|\w+\|\d+\|ids are \d+ ms ahead of the clock$/ ],
	[ 'far ahead' => qr/^critical\|\w+\|\d+\|ids are \d+ ms ahead of the clock$/ ],
	[ 'SI ends' => qr/^warning\|snowflake_si\|\d+\|the last Snowflake-SI id is less than two years away$/ ]);
my %raised;    # by the page or by Prometheus

# Without warnings, as a monitoring system sees it.
sub monitor
{
	my ($server) = @_;
	return Session->new($server, options => '-c client_min_messages=error');
}

# ---- postgres_exporter: a series with its labels => its value
sub figures
{
	my ($name, $server, $began) = @_;
	my $session = monitor($server);
	my %value;
	for my $query (sort keys %$exporter)
	{
		my %usage = map { my ($column) = keys %$_; $column => $_->{$column}{usage} } @{ $exporter->{$query}{metrics} };
		my $rows = $session->ask("SELECT coalesce(json_agg(to_jsonb(q)), '[]') FROM ($exporter->{$query}{query}) AS q");
		for my $row (@{ JSON::PP::decode_json($rows) })
		{
			my $labels = join ',', map { qq($_="$row->{$_}") } grep { $usage{$_} eq 'LABEL' } sort keys %$row;
			for (grep { $usage{$_} ne 'LABEL' } keys %$row)
			{
				# A test of promtool begins in 1970.
				my $value = $row->{$_} // 'NaN';
				$value -= $began if /_time$/ && $value ne 'NaN';
				$value{qq(${query}_$_\{instance="$name",$labels\})} = $value;
			}
		}
	}
	return \%value;
}

# ---- minutes of some servers; a look at the end of each
package Watch;
use Test::More;

sub new
{
	my ($class, $what, $clock, %servers) = @_;
	my $self = bless { what => $what, clock => $clock, servers => \%servers, began => $clock->now, looks => [] },
	  $class;
	return $self->minute->minute;
}

sub said
{
	my ($self) = @_;
	my ($first) = sort keys %{ $self->{servers} };
	my $session = main::monitor($self->{servers}{$first});
	my %kinds;
	for my $line (map { split /\n/, $session->ask($_) } @alert_queries)
	{
		my ($kind) = map { $_->[0] } grep { $line =~ $_->[1] } @said;
		$kinds{ $kind // $line } = 1;
	}
	return join ', ', sort keys %kinds;
}

# Something is done in a minute or more; then a look. `page`: what its queries say; `alerts`: those of Prometheus that
# fire. undef: anything.
sub minute
{
	my ($self, %o) = @_;
	my $passes = $o{passes} // 60;
	$self->{clock}->go_by($passes);
	$o{do}->() if $o{do};
	push @{ $self->{looks} }, {} for 2 .. $passes / 60;
	my $minute = @{ $self->{looks} };
	my $expected = exists $o{page} ? $o{page} : '';
	if (defined $expected)
	{
		is($self->said, $expected, "$self->{what}, minute $minute: " . ($expected || 'none'));
		$raised{$_} = 1 for split /, /, $expected;
	}
	my %all =
	  map { %{ main::figures($_, $self->{servers}{$_}, $self->{began}) } } sort keys %{ $self->{servers} };
	push @{ $self->{looks} }, { figures => \%all, alerts => exists $o{alerts} ? $o{alerts} : '' };
	return $self;
}

sub done
{
	my ($self) = @_;
	my @looks = @{ $self->{looks} };
	my %series = map {
		map { $_ => [] }
		  keys %{ $_->{figures} }
	} @looks;
	for my $name (keys %series)
	{
		my $was = 0;
		for my $figures (map { $_->{figures} } @looks)
		{
			my $value = $figures && $figures->{$name};
			push @{ $series{$name} }, $value // ($figures && $was ? 'stale' : '_');
			$was = defined $value if $figures;
		}
	}
	my @tests;
	for my $minute (grep { defined $looks[$_]{alerts} } 0 .. $#looks)
	{
		my @fire = split /, /, $looks[$minute]{alerts};
		$raised{"SnowflakeIds$_"} = 1 for @fire;
		push @tests,
		  { expr => 'group by (alertname) (ALERTS{alertstate="firing"})',
			eval_time => "${minute}m",
			exp_samples => [ map { { labels => qq({alertname="SnowflakeIds$_"}), value => 1 } } @fire ] };
	}
	my @input = map { { series => $_, values => join ' ', @{ $series{$_} } } } sort keys %series;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/test.yaml';
	my $tests = [ { interval => '1m', input_series => \@input, promql_expr_test => \@tests } ];
	Servers::spew($file,
		JSON::PP::encode_json({ rule_files => [$rules_file], evaluation_interval => '1m', tests => $tests }));
  SKIP:
	{
		skip 'promtool is not installed', 1 unless $has_promtool;
		my $ok = IPC::Run::run([ 'promtool', 'test', 'rules', $file ], '>', \my $said, '2>&1');
		ok($ok, "$self->{what}: Prometheus, minute by minute") or diag $said;
	}
	return;
}

package main;

sub watched_server
{
	my $server = new_server(@_);
	$server->safe_psql('postgres', 'CREATE TABLE reader (name text, position text)');
	return $server;
}
my $clock = clock();
my $server = watched_server('watched', $clock, conf => "snowflake_ids.machine_id = 7\nsnowflake_ids.max_wait = '1min'");

sub draw { return value($server, 'SELECT gen_sno() IS NULL, gen_mastic() IS NULL, gen_snowflake_si() IS NULL') }

sub watch
{
	my ($what, %more) = @_;
	draw();
	caught_up($server);
	return Watch->new($what, $clock, a => $server, %more);
}

# ---- no event
{
	my $watch = watch('a restart and a crash');
	for my $how ('fast', 'kill -9')
	{
		$watch->minute(do => sub { restart_after($server, $how); draw() });
		$watch->minute;
	}
	$watch->done;
}

# ---- a clock that goes back, for less than the alerts wait. Ids of all formats were generated before, and one of a
# format after it; sno has its tick-tock bit, so its own ids are not ahead.
for my $format (qw(mastic sno snowflake_si))
{
	my $watch = watch("the clock goes back by 30 s, $format");
	$watch->minute(
		do => sub { draw(); $clock->step(-30); value($server, "SELECT gen_$format()") },
		page => 'ahead',
		alerts => 'AheadOfClock');
	$watch->minute for 1 .. 8;
	$watch->minute(page => undef, alerts => undef);
	$watch->minute(page => undef, alerts => undef);
	$watch->minute->done;
}

# ---- far ahead; also while the server is down, where the ids tell
{
	my $watch = watch('the clock goes back by an hour');
	$watch->minute(
		do => sub { draw(); $clock->step(-3600); draw() },
		page => 'far ahead',
		alerts => 'AheadOfClock, FarAheadOfClock');
	$watch->done;
	$clock->go_by(5000);

	for ([ 3600, 'far ahead', 'AheadOfClock, FarAheadOfClock' ], [ 30, 'ahead', 'AheadOfClock' ])
	{
		my ($seconds, $page, $alerts) = @$_;
		$watch = watch("the clock goes back by $seconds s while the server is down");
		$watch->minute(
			do => sub { draw(); restart_after($server, 'fast', $clock->{offset} - $seconds); draw() },
			page => $page,
			alerts => $alerts);
		$clock->go_by(3600);
		$watch->minute->done;
	}
}

# ---- too many ids for the ticks: the alert waits five minutes
{
	my $watch = watch('more ids are asked for than a tick has');
	$server->safe_psql('postgres', 'CREATE TABLE stop ()');
	my $draw = 'SELECT count(gen_snowflake_si()) FROM generate_series(1, 20000) WHERE NOT EXISTS (SELECT FROM stop);';
	my $session = Session->new($server)->send($draw x 5000);
	my $issued = "SELECT issued FROM snowflake_ids.stats WHERE format = 'snowflake_si'";

	my $minute = sub {
		for (1 .. 12)
		{
			$clock->go_by(5);
			my $before = value($server, $issued);
			eventually(sub { value($server, $issued) > $before }) or die 'nothing is drawn';
		}
	};
	$watch->minute(passes => 0, do => $minute) for 1 .. 5;
	$watch->minute(passes => 0, do => $minute, alerts => undef);
	$watch->minute(passes => 0, do => $minute, alerts => 'Waiting');
	value($server, 'INSERT INTO stop DEFAULT VALUES');
	$session->answer;
	$watch->minute(alerts => undef) for 1 .. 5;
	$watch->minute->done;
}

# ---- waiting sessions, and the query that finds them
{
	my ($waits) = map { $_->{content} } $page->blocks('Wait events', 'sql');
	my $watch = watch('sessions that wait');
	is(value($server, $waits), '', 'no session waits');
	$server->append_conf('postgresql.conf', "snowflake_ids.clock_regression = 'wait'\n");
	my @sessions = map { Session->new($server) } 1 .. 12;
	reload($server, @sessions);
	draw();
	$clock->step(-40);
	$_->send('SELECT gen_mastic() > 0') for @sessions;
	my @waiting;
	ok(eventually(sub { (@waiting = split /\n/, value($server, $waits)) == 12 }), 'the query of the page finds them');
	is(scalar(grep { /^\d+\|\w+\|active\|SELECT gen_mastic\(\) > 0;?$/ } @waiting), 12, 'and what they wait with');
	$watch->minute(passes => 0, page => 'ahead, waiting', alerts => 'AheadOfClock');
	$clock->go_by(50);
	is(join(' ', map { $_->answer } @sessions), join(' ', ('t') x 12), 'all are served');
	is(value($server, $waits), '', 'none waits then');
	$watch->minute->done;
	$server->adjust_conf('postgresql.conf', 'snowflake_ids.clock_regression', undef);
	reload($server);
	$clock->go_by(900);
}

# ---- machine ids: none, twice the same, out of range
{
	my $other = watched_server('another', $clock);
	my $watch = watch('machine ids');
	$watch->{servers}{'0 another'} = $other;
	$watch->minute(page => 'no machine id', alerts => 'MachineIdNotSet');
	my $set =
	  sub { my ($s, $id) = @_; $s->append_conf('postgresql.conf', "snowflake_ids.machine_id = $id\n"); reload($s) };
	$watch->minute(do => sub { $set->($other, 7) }, alerts => 'SameMachineId');
	$watch->minute(do => sub { $set->($other, 8) });
	$watch->minute(do => sub { $set->($other, 70000) }, page => 'not accepted', alerts => 'SettingNotAccepted');
	$watch->minute(do => sub { $set->($other, 40) });
	my $narrow = 'CREATE TABLE narrow (id bigint DEFAULT gen_snowflake_si())';
	$watch->minute(
		do => sub { $other->safe_psql('postgres', $narrow) },
		page => 'SI machine id',
		alerts => 'MachineIdTooLarge');
	$watch->minute(do => sub { $set->($other, 9) })->done;
	$other->stop;
}

# ---- a damaged file
{
	my $watch = watch('the ceiling file is damaged');
	my $file = $server->data_dir . '/snowflake_ids.ceiling';
	my $content = slurp($file);
	$watch->minute(do => sub { spew($file, 'damaged') }, page => 'not ready', alerts => 'NotReady');
	$watch->minute(do => sub { spew($file, $content) })->done;
}

# ---- feeds: a broken rule, many deletions, a reader that has stopped
{
	$server->safe_psql('postgres', 'CREATE TABLE story (id bigint PRIMARY KEY)');
	$server->safe_psql('postgres', "SELECT count(*) FROM snowflake_ids.create_feed('story')");
	$server->safe_psql('postgres', 'ALTER TABLE story_deleted SET (fillfactor = 10)');
	my $reads = "DELETE FROM reader; INSERT INTO reader SELECT 'search', snowflake_ids.feed_position('story')";
	my $does = sub {
		my ($sql) = @_;
		sub { $server->safe_psql('postgres', $sql) }
	};
	my $watch = watch('feeds');
	$watch->minute(do => $does->($reads));
	$watch->minute(do => $does->('DROP INDEX story_stamp_idx'), alerts => 'FeedRule');
	$watch->minute(do => $does->('CREATE INDEX story_stamp_idx ON story (stamp)'));
	$watch->minute(
		do => $does->('INSERT INTO story_deleted (id) SELECT generate_series(1, 300000)'),
		alerts => 'FeedDeletions');
	$watch->minute(do => $does->('TRUNCATE story_deleted'));
	$watch->minute(passes => 3660, alerts => 'FeedReader');
	$watch->minute(do => $does->($reads));
	$watch->minute(do => $does->("UPDATE reader SET position = ''"), alerts => 'FeedReader');
	$watch->minute(do => $does->($reads))->done;
}

# ---- many generators: 64 explicit partitions of a database
{
	my $watch = watch('generators');
	$server->safe_psql('postgres', 'CREATE DATABASE partitions TEMPLATE postgres');
	my $use = sub {
		my ($databases, $count) = @_;
		for my $n (@$databases)
		{
			$server->safe_psql('postgres', "CREATE DATABASE many_$n TEMPLATE partitions");
			$server->safe_psql("many_$n",
				"SELECT count(gen_sno(0, 1000 + 64 * $n + i)) FROM generate_series(1, $count) AS i");
		}
	};
	my $rest = sub { 900 - value($server, 'SELECT count(*) FROM snowflake_ids.stats') };
	$watch->minute(do => sub { $use->([ 1 .. 14 ], 64); $use->([15], $rest->()) });
	is($rest->(), 0, '900 generators');
	$watch->minute(do => sub { $use->([16], 1) }, alerts => 'Generators')->done;
}

# ---- the last years of Snowflake-SI
{
	my $from = "SELECT extract(epoch FROM snowflake_si_timestamp(9007199254740991) - interval '730 days')";
	$clock->set_to(value($server, $from) - 600);
	$server->stop;
	my $late = watched_server('late', $clock, conf => 'snowflake_ids.machine_id = 7');
	value($late, 'SELECT gen_snowflake_si()');
	caught_up($late);
	my $watch = Watch->new('the end of Snowflake-SI', $clock, a => $late);
	$watch->minute(
		passes => 1200,
		do => sub { value($late, 'SELECT gen_snowflake_si()') },
		page => 'SI ends',
		alerts => 'SiEnds')->done;
	$late->stop;
}

# ---- the alerts of the page
{
	my ($list) = $page->text =~ /alerts of Prometheus:\n\n(.*?)\n\n/ms;
	my @columns = $list =~ /`([a-z]\w+)`/g;
	cmp_ok(scalar(@columns), '>', 2, 'the alerts have columns');
	my $shown = join ' ', map { $_->{content} } $page->blocks('What to plot', 'sql');
	is(join(' ', grep { $shown !~ /\b$_\b/ } @columns), '', 'the queries show each of them');
	my %is_alert = map { $_ => 1 } map { /^  +- alert: SnowflakeIds(\w+)/ } split /\n/, slurp($rules_file);
	my @named = $list =~ /`([A-Z]\w+)`/g;
	cmp_ok(scalar(@named), '>', 3, 'the page names alerts');
	is(join(' ', grep { !$is_alert{$_} } @named), '', 'and they exist');
}

my @alerts = map { $_->{alert} } map { @{ $_->{rules} } } @{ CPAN::Meta::YAML->read($rules_file)->[0]{groups} };
is(join(' ', grep { !$raised{$_} } @alerts, map { $_->[0] } @said), '', 'every alert was raised by its event');
done_testing();
