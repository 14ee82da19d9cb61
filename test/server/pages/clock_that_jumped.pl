# doc/backups.md, "A clock that jumped": what it says to type after the clock was a year ahead, at once, and after a
# restart that should not have been. No id comes twice, and new ones are between the right old ones and the clock. As a
# control, one database is forgotten. Also the causes of a lead in doc/operating.md.
use Servers;
use Page;
use Quick;

my $page = Page->new('doc/backups.md');
my ($table) = map { $_->{content} } $page->blocks('The example table', 'sql');
my ($ahead, $reset, $renumber) =
  map { $_->{content} } grep { $_->{heading} eq 'A clock that jumped' } $page->blocks('What to do', 'sql');
my $year = 365 * 86400;
my $now = 0;    # of the right clock, ahead of real time
my @databases = qw(postgres other idle);
my $clock = clock();
my ($server, $ids, %session);

sub said { my ($sql, $db) = @_; return ($session{ $db // 'postgres' } //= connected($db // 'postgres'))->ask($sql) }
sub connected { my ($db) = @_; return Session->new($server, dbname => $db) }

# Ids of all kinds in all databases but those left out. Returns how far they are ahead of the clock, in seconds.
sub draw
{
	my (%left_out) = map { $_ => 1 } @_;
	my @lead;
	for my $db (grep { !$left_out{$_} } @databases)
	{
		said('SELECT 1', $db);
		$ids->draw($session{$db}, 20, 50);
		push @lead, split /\|/, said(<<'END', $db);
SELECT extract(epoch FROM sno_timestamp(gen_sno()) - clock_timestamp()),
    extract(epoch FROM mastic_timestamp(gen_mastic()) - clock_timestamp()),
    extract(epoch FROM snowflake_si_timestamp(gen_snowflake_si()) - clock_timestamp()),
    extract(epoch FROM snowflake_timestamp(gen_snowflake('twitter'), 'twitter') - clock_timestamp()),
    extract(epoch FROM snowflake_timestamp(gen_snowflake('own'), 'own') - clock_timestamp()),
    extract(epoch FROM sno_timestamp(gen_sno(0, 9)) - clock_timestamp())
END
	}
	return sort { $a <=> $b } @lead;
}

sub jumped
{
	my ($name) = @_;
	%session = ();
	$ids = Ids->new;
	$server = new_server($name, $clock, conf => "snowflake_ids.machine_id = 7\n");
	said("CREATE DATABASE $_ TEMPLATE template0") for qw(other idle);
	said('CREATE EXTENSION snowflake_ids', $_) for qw(other idle);
	said(
		q{SELECT snowflake_layout_create('own', epoch => '2020-01-01', tick => '1 ms', timestamp_bits => 41, node_bits => 10, sequence_bits => 12)},
		$_) for @databases;
	said($_) for split /(?<=;)\n/, <<"END";
$table
CREATE TABLE line (shop_order sno REFERENCES shop_order ON UPDATE CASCADE, n int);
CREATE TABLE event (id sno DEFAULT gen_sno() PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE event_now PARTITION OF event FOR VALUES FROM (MINVALUE) TO (sno_lower_bound(now() + interval '1 day'));
CREATE TABLE event_later PARTITION OF event FOR VALUES FROM (sno_lower_bound(now() + interval '1 day')) TO (MAXVALUE);
END
	insert();
	draw();
	$clock->set($now += 10);    # the lead of the start is over
	$clock->step($year);
	insert();
	draw('idle');
	$clock->pass(300);
	$clock->set($now);
	insert();
	my @lead = draw('idle');
	cmp_ok($lead[0], '<', 10, "$name: snos have the right time");
	cmp_ok($lead[-1], '>', $year - 600, 'other ids are a year ahead');
	$ids->none_twice('a jump of a year');
	return;
}

sub insert
{
	said(   'INSERT INTO shop_order DEFAULT VALUES; INSERT INTO event DEFAULT VALUES;'
		  . 'INSERT INTO line SELECT max(id), count(*) FROM shop_order');
	return;
}

sub restarted
{
	my ($how) = @_;
	%session = ();
	restart_after($server, $how);
	return;
}

sub generators
{
	my %kind = map { $_ => 1 } map { (split /\|/)[0] } split /\n/, said($ahead);
	return join ' ', sort keys %kind;
}

for my $name (part('at_once', 'restarted_first'))
{
	jumped($name);
	is(generators(), 'layout mastic sno snowflake_si', 'step 2 shows all generators, snos too');
	if ($name eq 'restarted_first')
	{
		restarted('fast');
		insert();
		my @lead = draw();
		cmp_ok($lead[0], '>', $year - 600, 'after a restart, all ids are a year ahead, in each database');
	}
	my $right = said("SELECT max(id) FROM shop_order WHERE id < now() + interval '1 minute'");

	# Sessions go on between the resets.
	for my $db (@databases)
	{
		is(said($reset, $db), '', "reset in $db");
		draw(grep { $_ ne $db } @databases);
	}
	my @lead = draw();
	cmp_ok($lead[-1], '<', 5, "$name: then all ids are at the clock, in each database");
	is(said("SELECT gen_sno() > '$right'"), 't', 'and above the right ones from before');
	is(generators(), '', 'step 2 shows none');

	# Rows of the future.
	my $rows =
	  'SELECT (SELECT count(*) FROM shop_order), (SELECT count(*) FROM line JOIN shop_order o ON shop_order = o.id)';
	my $future = <<'END';
SELECT (SELECT count(*) FROM shop_order WHERE id > now() + interval '1 minute'),
    (SELECT count(*) FROM shop_order WHERE invoice > snowflake_si_lower_bound(now() + interval '1 minute')),
    (SELECT count(*) FROM event_later)
END
	my $before = said($rows);
	unlike(said($future), qr/\b0\b/, 'rows of the future');
	is(said($renumber . ($renumber =~ s/shop_order SET id/event SET id/r =~ s/;.*//sr)), '', 'they get new ids');
	is(said($future), '0|0|0', 'all of them, also in a partitioned table');
	is(said($rows), $before, 'and rows that refer to them follow');

	for my $how ('fast', 'kill -9')
	{
		restarted($how);
		@lead = draw();
		cmp_ok($lead[-1], '<', 6, "$name, $how: ids are at the clock, in each database");
		is(generators(), '', 'step 2 shows none');
	}
	$ids->none_twice($name);
	is(said("SELECT count(*) = count(DISTINCT id) AND count(*) = count(DISTINCT invoice) FROM shop_order"),
		't', 'no row has the id of another one');
	%session = ();
	$server->stop('immediate');
}

# ---- one database is forgotten: the next restart leads all generators there again
jumped('forgotten');
said($reset);
is(generators(), '', 'reset in one database: step 2 shows none');
restarted('fast');
cmp_ok((draw('other', 'idle'))[-1], '<', 6, 'and after a restart its ids are right');
said('SELECT gen_sno()', 'other');
cmp_ok((draw())[0], '>', $year - 600, 'until somebody uses the other one');
unlike(generators(), qr/^$/, 'which step 2 shows');

# ---- calls that wait for the clock
for my $policy (part('wait', 'error'))
{
	jumped($policy);
	$server->append_conf('postgresql.conf', "snowflake_ids.clock_regression = $policy\n");
	my $waits = connected('postgres');
	reload($server, $waits);
	$waits->send('SELECT mastic_timestamp(gen_mastic()) < now() + interval $$1 minute$$');
	sleep 0.5;
	said($reset, $_) for @databases;
	my $answer = $waits->answer;
	is($answer, 't', 'a call that waited continues') if $policy eq 'wait';
	like($answer, qr/ERROR:  cannot generate/, 'a call that may not wait') if $policy eq 'error';
	$clock->set($now += 10);
	cmp_ok((draw())[-1], '<', 5, "$policy: and then others too");
	%session = ();
	undef $waits;
	$server->stop('immediate');
}

# ---- doc/operating.md, "The lead after a start": the log line of each cause of a lead of 40 s, and what is ahead
{
	my ($rows) = Page->new('doc/operating.md')->text =~ /^\| log line \| cause \|\n\|[-|]+\n((?:\|.*\n)+)/m;
	my ($none, $was_reset, $behind) = map { /^\| (?:only )?`?(.*?)`? \|/; $1 } split /\n/, $rows;
	my $all = 'mastic sno snowflake_si';
	%session = ();
	$server = new_server('leads', $clock, conf => "snowflake_ids.machine_id = 7\n", allows_streaming => 1);
	my $draw = 'SELECT count(gen_sno()), count(gen_mastic()), count(gen_snowflake_si()) FROM generate_series(1, 200)';
	my $leads = sub {
		my ($what, $line, $formats, $do) = @_;
		$clock->go_by(300);
		value($server, $draw);
		$clock->go_by(300) if $line ne $behind;
		my ($before, $mark) = ($server, log_mark($server));
		$do->();
		$mark = 0 if $server != $before;
		value($server, $draw) for 1, 2;
		my $ahead =
		  'SELECT format FROM snowflake_ids.stats WHERE clock_lead BETWEEN 30000 AND 45000 ORDER BY format COLLATE "C"';
		is(value($server, $ahead) =~ s/\n/ /gr, $formats, "$what: what is ahead");
		my $lines = join ', ', grep { log_since($server, $mark) =~ /LOG:  .*\Q$_\E/ } $was_reset, $behind;
		is($lines =~ s/^\Q$was_reset\E, .*/$was_reset/r || 'none', $line, "$what: what the log has");
		$clock->go_by(10);
		value($server, $draw);
		my $late = value($server, 'SELECT max(clock_lead) < 35000 FROM snowflake_ids.stats');
		is($late, 't', 'after 10 s the lead is smaller') if $line ne $none;
	};
	$leads->('reset', $was_reset, $all, sub { value($server, "SELECT snowflake_ids.reset(now() + interval '40 s')") });
	$leads->(
		'observe', $behind, 'mastic',
		sub { value($server, "SELECT mastic_observe(make_mastic(now() + interval '40 s', 0))") });
	$leads->('a step back', $behind, 'mastic snowflake_si', sub { $clock->step(-40) });
	$server->append_conf('postgresql.conf', "snowflake_ids.durable_window = '32s'\n");
	$leads->('a long window', $none, $all, sub { restart_after($server, 'fast') });
	$server->append_conf('postgresql.conf', "snowflake_ids.durable_window = '2s'\n");
	restart_after($server, 'fast');
	$clock->go_by(300);
	$server->backup('base');
	my $slow = clock();
	$slow->set($clock->{offset} + 300 - 40);
	my ($primary, $standby) = ($server, standby_of($server, 'slow', $slow));
	$leads->(
		'a promotion',
		$behind, $all,
		sub {
			$standby->poll_query_until('postgres',
				"SELECT pg_last_wal_replay_lsn() >= '" . flushed_lsn($primary) . "'");
			$primary->stop('immediate');
			$standby->promote;
			($server, $clock) = ($standby, $slow);
		});
	$server->stop('immediate');
}
done_testing();
