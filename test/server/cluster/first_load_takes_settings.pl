# Every way to load the library first, and every place of a setting: what is configured is drawn with, or nothing is
# drawn. %b of the log, or the process, tells that it was the way meant.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Servers;
use IPC::Run;
use Part;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Each above those before it. Place N sets machine id N, sequence numbers from N * 1000, and a max_wait of N s.
my @server_places = ([ 'postgresql.conf', 11 ], [ 'an included file', 12 ], [ 'ALTER SYSTEM', 13 ]);
my @command_line = ('the command line', 14);

my %own = (max_wait => '21000ms', machine_id => 5);

# Places of a session, with their `database` and `role` also for workers without a client. `refused`: how the server
# refuses a setting for the whole server once the library is loaded.
my @session_places = map {
	my $name = $_;
	my $set = "snowflake_ids.$name = '$own{$name}'";
	(   { place => 'ALTER DATABASE', name => $name, database => "by_$name", refused => 'WARNING' },
		{ place => 'ALTER ROLE', name => $name, role => "role_$name", refused => 'WARNING' },
		{ place => 'ALTER ROLE IN DATABASE', name => $name, role => "there_$name", refused => 'WARNING' },
		{ place => 'PGOPTIONS', name => $name, options => "-c snowflake_ids.$name=$own{$name}", refused => 'FATAL' },
		{ place => 'SET', name => $name, first => "SET $set;", refused => 'ERROR' });
} sort keys %own;

# Statements of a client, and the process that draws. `loads_first`: before the session says anything.
my @ways = (
	{ way => 'SELECT', by => 'client backend', sql => 'SELECT told(gen_sno())' },
	{ way => 'LOAD', by => 'client backend', sql => q{LOAD 'snowflake_ids'; SELECT told(gen_sno())} },
	{   way => 'session_preload_libraries',
		by => 'client backend',
		options => '-c session_preload_libraries=snowflake_ids',
		loads_first => 1,
		sql => 'SELECT told(gen_sno())' },
	{ way => 'ANALYZE', by => 'client backend', sql => 'ANALYZE analyzed' },

	{ way => 'VACUUM FULL', by => 'client backend', sql => 'VACUUM FULL analyzed' },
	{ way => 'trigger', by => 'client backend', sql => 'INSERT INTO triggered VALUES (1)' },
	{ way => 'WHEN of a trigger', by => 'client backend', sql => 'INSERT INTO triggered_when VALUES (1)' },
	{   way => 'COPY with a DEFAULT',
		by => 'client backend',
		sql => "COPY copied (n) FROM STDIN;\n1\n2\n\\.\n\nSELECT told(id) FROM copied; TRUNCATE copied" });

my $server = PostgreSQL::Test::Cluster->new('first_load');
$server->init(allows_streaming => 'logical');
my $data_dir = $server->data_dir;
$server->append_conf('postgresql.conf', <<'END_CONF');
fsync = off
max_worker_processes = 40
max_replication_slots = 10
max_logical_replication_workers = 10
max_sync_workers_per_subscription = 0
wal_retrieve_retry_interval = 20ms
autovacuum = off
autovacuum_naptime = 1s
autovacuum_analyze_threshold = 0
autovacuum_analyze_scale_factor = 0
autovacuum_vacuum_threshold = 1000000
log_line_prefix = '[%p] %b: '
END_CONF
my $base = slurp("$data_dir/postgresql.conf");
$server->start;

sub all_of
{
	my ($n) = @_;
	return (
		machine_id => $n,
		sno_sequence_min => $n * 1000,
		sno_sequence_max => $n * 1000 + 999,
		max_wait => $n * 1000 . 'ms');
}

sub lines_of
{
	my %value = @_;
	return join '', map { "snowflake_ids.$_ = '$value{$_}'\n" } sort keys %value;
}

$server->safe_psql('postgres', 'CREATE DATABASE plain');
$server->safe_psql('plain', <<'SQL');
CREATE EXTENSION snowflake_ids;
CREATE FUNCTION told(id sno) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE kind text := (SELECT backend_type FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()));
BEGIN
	RAISE WARNING 'drawn by %: % % %', kind, public.sno_partition(id), public.sno_sequence(id) / 1000,
		current_setting('snowflake_ids.max_wait');
	RETURN kind;
END $$;
CREATE FUNCTION drawn(n int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE id public.sno := public.gen_sno();
BEGIN
	PERFORM public.told(id);
	RETURN id;
END $$;
CREATE TABLE analyzed (n int);
CREATE INDEX ON analyzed (drawn(n));
INSERT INTO analyzed SELECT generate_series(1, 5);
CREATE TABLE autoanalyzed (n int) WITH (autovacuum_enabled = false);
CREATE INDEX ON autoanalyzed (drawn(n));
INSERT INTO autoanalyzed SELECT generate_series(1, 20);
CREATE FUNCTION draws() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.drawn(NEW.n); RETURN NULL; END $$;
CREATE FUNCTION does_nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TABLE triggered (n int);
CREATE TRIGGER draws BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION draws();
CREATE TABLE triggered_when (n int);
CREATE TRIGGER draws BEFORE INSERT ON triggered_when FOR EACH ROW WHEN (drawn(NEW.n) <> '')
	EXECUTE FUNCTION does_nothing();
CREATE TABLE copied (n int, id sno DEFAULT gen_sno());
ALTER TABLE analyzed SET (autovacuum_enabled = false);
SQL

# One in each database, and one for each role, with its own table.
my %owner_of = (plain => '');
for my $name (sort keys %own) { $owner_of{"by_$name"} = ''; $owner_of{$_} = " user=$_" for "role_$name", "there_$name" }
my @subscriptions = sort keys %owner_of;
$server->safe_psql('plain', join ';',
	map { "CREATE TABLE rows_of_$_ (n int, id text DEFAULT drawn(1))" } @subscriptions);
$server->safe_psql(
	'postgres',
	join ';',
	map({ ("CREATE DATABASE by_$_ TEMPLATE plain", map { "CREATE ROLE $_ SUPERUSER LOGIN" } "role_$_", "there_$_") }
		sort keys %own),
	'CREATE DATABASE source');
$server->safe_psql(
	'source',
	join ';',
	map {
		(   "CREATE TABLE rows_of_$_ (n int)",
			"CREATE PUBLICATION $_ FOR TABLE rows_of_$_",
			"SELECT pg_create_logical_replication_slot('$_', 'pgoutput')")
	} @subscriptions);

$server->safe_psql(
	'postgres',
	join ';',
	map {
		my $set = "SET snowflake_ids.$_ = '$own{$_}'";
		("ALTER DATABASE by_$_ $set", "ALTER ROLE role_$_ $set", "ALTER ROLE there_$_ IN DATABASE plain $set")
	} sort keys %own);

sub database_of { my ($subscription) = @_; return $subscription =~ /^by_/ ? $subscription : 'plain' }
for (@subscriptions)
{
	my $from = $server->connstr('source');
	run_as(database_of($_), $owner_of{$_}, '', <<"SQL");
CREATE SUBSCRIPTION $_ CONNECTION \$\$$from\$\$ PUBLICATION $_
    WITH (create_slot = false, slot_name = '$_', copy_data = false, enabled = false);
SQL
}

# psql may be refused before it reads its input from a pipe.
sub run_as
{
	my ($database, $user, $options, $sql) = @_;
	my $script = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
	unlink $script;
	spew($script, "$sql;\n");
	local $ENV{PGOPTIONS} = $options;
	my $connection = $server->connstr($database) . $user;
	return scalar `psql -XAtq -d "$connection" -f $script 2>&1 </dev/null`;
}

# Who drew, and what with. Two different draws are two outcomes.
my $refused = qr/ERROR:  value of parameter "snowflake_ids.machine_id" was not accepted: "5"/;

my %older_name =
  ('logical replication apply worker' => 'logical replication worker', 'standalone backend' => 'not initialized');

sub outcome
{
	my ($said) = @_;
	my (%by, %with);

	# Its predecessor or the walsender has not gone yet.
	$said =~ s/ERROR:.* (?:origin with ID \d+ is already active|replication slot "\w+" is active) .*//g;
	while ($said =~ /WARNING:  drawn by ([^:]+): (.*)/g) { $by{ $older_name{$1} // $1 } = 1; $with{$2} = 1 }
	my @outcomes = map { "$_ by " . join ', ', sort keys %by } sort keys %with;
	push @outcomes, 'refused' if $said =~ $refused;
	push @outcomes, "unexpected: $1" if $said =~ s/$refused//gr =~ /((?:ERROR|FATAL|PANIC):.*)/;
	return join '; ', @outcomes;
}

my ($cells, $draws, $refusals) = (0, 0, 0);

sub is_outcome
{
	my ($said, $expected, $cell) = @_;
	my $outcome = outcome($said);
	is($outcome, $expected, $cell) or diag $said;
	$cells++;
	$outcome eq 'refused' ? $refusals++ : $draws++;
	return;
}

sub of_server { my ($n, $max_wait) = @_; return "$n $n " . ($max_wait // $n) . 's' }

sub of_session { my ($n, $name) = @_; return $name eq 'machine_id' ? 'refused' : of_server($n, 21) }

sub try_way
{
	my ($way, $place) = @_;
	return run_as(
		$place->{database} // 'plain',
		$place->{role} ? " user=$place->{role}" : '',
		join(' ', grep { defined } $place->{options}, $way->{options}),
		($place->{first} // '') . $way->{sql});
}

sub by
{
	my ($with, $by) = @_;
	return $with eq 'refused' ? $with : "$with by $by";
}

my %sent;

sub applied
{
	my ($subscription) = @_;
	my $database = database_of($subscription);
	my $mark = log_mark($server);
	$server->safe_psql('source', "INSERT INTO rows_of_$subscription VALUES (1)");
	$server->safe_psql($database, "ALTER SUBSCRIPTION $subscription ENABLE");
	my $said;
	eventually(
		sub {
			$said = join "\n", log_since($server, $mark) =~ /^.* logical replication (?:apply )?worker: .*$/mg;
			return outcome($said) ne '';
		}) or die "no row of $subscription comes";
	$server->safe_psql($database, "ALTER SUBSCRIPTION $subscription DISABLE");
	eventually(
		sub {
			value($server,
				"SELECT count(*) FROM pg_stat_subscription WHERE subname = '$subscription' AND pid IS NOT NULL") == 0;
		}) or die "the worker of $subscription does not end";
	return $said;
}

# A deleted row draws nothing, and makes autovacuum analyze the rest.
sub autoanalyzed
{
	my ($database) = @_;
	my $mark = log_mark($server);
	$server->safe_psql($database, <<'SQL');
DELETE FROM autoanalyzed WHERE n = (SELECT max(n) FROM autoanalyzed);
ALTER TABLE autoanalyzed SET (autovacuum_enabled = true);
SQL
	my $said;
	eventually(
		sub {
			$said = join "\n", log_since($server, $mark) =~ /^.* autovacuum worker: .*$/mg;
			return outcome($said) ne '';
		}) or die "autovacuum does not come to $database";
	$server->safe_psql($database, 'ALTER TABLE autoanalyzed SET (autovacuum_enabled = false)');
	eventually(
		sub { value($server, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'") == 0 })
	  or die 'autovacuum does not end';
	return $said;
}

sub configure
{
	my ($n) = @_;
	$server->append_conf('postgresql.conf', lines_of(all_of($n))) if $n == 11;
	if ($n == 12)
	{
		$server->append_conf('included.conf', lines_of(all_of($n)));
		$server->append_conf('postgresql.conf', "include 'included.conf'\n");
	}
	my %value = all_of($n);
	$server->safe_psql('postgres', "ALTER SYSTEM SET snowflake_ids.$_ = '$value{$_}'")
	  for $n == 13 ? sort keys %value : ();
	return;
}

# ---- not preloaded
for (@server_places)
{
	my ($place, $n) = @$_;
	configure($n);
	$server->append_conf('postgresql.conf', "autovacuum = on\n") if $n == 11;
	reload($server);
	is_outcome(try_way($_, {}), by(of_server($n), $_->{by}), "$place, $_->{way}") for @ways;
	is_outcome(applied('plain'), by(of_server($n), 'logical replication worker'), "$place, apply worker");
	is_outcome(autoanalyzed('plain'), by(of_server($n), 'autovacuum worker'), "$place, autovacuum");
}
my $n = 13;
for my $place (@session_places)
{
	my $cell = "$place->{place} of $place->{name}";
	for my $way (part(@ways))
	{
		my $too_late = $place->{first} && $place->{name} eq 'machine_id' && $way->{loads_first};
		my $said = try_way($way, $place);
		if ($too_late)
		{
			like($said, qr/ERROR:  parameter "snowflake_ids.machine_id" cannot be changed now/, "$cell is refused");
			$said =~ s/ERROR:.*cannot be changed now//;
		}
		is_outcome(
			$said,
			by($too_late ? of_server($n) : of_session($n, $place->{name}), $way->{by}),
			"$cell, $way->{way}");
	}

	# They have no client: neither PGOPTIONS nor SET. Autovacuum has no role.
	my $subscription = $place->{database} // $place->{role} // next;
	is_outcome(
		applied($subscription),
		by(of_session($n, $place->{name}), 'logical replication worker'),
		"$cell, apply worker");
	next if $place->{role};
	is_outcome(
		autoanalyzed($subscription),
		by(of_session($n, $place->{name}), 'autovacuum worker'),
		"$cell, autovacuum");
}

# ---- from the server's command line
sub start_with
{
	my (@options) = @_;
	my $options = join ' ', '--cluster-name=first_load', @options;
	$server->stop('fast');
	system('pg_ctl', '-w', '-D', $data_dir, '-l', $server->logfile, '-o', $options, 'start') == 0 or die 'not started';
	$server->_update_pid(1);
	return;
}
my ($place, $highest) = @command_line;
my %of_command_line = all_of($highest);
my @with_options = map { "-c snowflake_ids.$_=$of_command_line{$_}" } sort keys %of_command_line;
start_with(@with_options);
is_outcome(try_way($_, {}), by(of_server($highest), $_->{by}), "$place, $_->{way}") for @ways;
is_outcome(applied('plain'), by(of_server($highest), 'logical replication worker'), "$place, apply worker");
is_outcome(autoanalyzed('plain'), by(of_server($highest), 'autovacuum worker'), "$place, autovacuum");

for my $name (sort keys %own)
{
	my $cell = "$place, and ALTER DATABASE of $name";
	is_outcome(try_way($_, { database => "by_$name" }), by(of_session($highest, $name), $_->{by}), "$cell, $_->{way}")
	  for @ways;
}

# ---- preloaded: what a database or role may not set is ignored with a warning; what the client may not set ends its
# connection or statement
$server->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'\n");
start_with(@with_options);
my @preloaded = map {
	{ %$_, way => "$_->{way}, preloaded" }
} @ways[ 0, 3 .. $#ways ];
is_outcome(try_way($_, {}), by(of_server($highest), $_->{by}), "$place, $_->{way}") for @preloaded;
start_with();
for my $place (@session_places)
{
	my $name = $place->{name};
	my $cell = "$place->{place} of $name";
	my $ignored = $name eq 'machine_id';
	for my $way (part(@preloaded))
	{
		my $said = try_way($way, $place);
		if ($ignored)
		{
			like(
				$said,
				qr/$place->{refused}:  parameter "snowflake_ids.machine_id" cannot be changed now/,
				"$cell, $way->{way}: says so");
			$said =~ s/(?:FATAL|ERROR):.*cannot be changed now//;
		}
		my $ended = $ignored && $place->{refused} eq 'FATAL';
		my $with = $ended ? '' : by($ignored ? of_server($n) : of_session($n, $name), $way->{by});
		is_outcome($said, $with, "$cell, $way->{way}");
	}
	my $subscription = $place->{database} // $place->{role} // next;
	my $with = $ignored ? of_server($n) : of_session($n, $name);
	is_outcome(applied($subscription), by($with, 'logical replication worker'), "$cell, apply worker, preloaded");
	next if $place->{role};
	is_outcome(autoanalyzed($subscription), by($with, 'autovacuum worker'), "$cell, autovacuum, preloaded");
}
$server->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$server->stop('fast');

# ---- single-user mode: only the server's own settings reach it
sub alone
{
	my ($database, $sql, @options) = @_;
	my ($out, $err) = ('', '');
	my @command = ('postgres', '--single', '-F', '-D', $data_dir, @options, $database);
	IPC::Run::run(\@command, '<', \"$sql\n", '>', \$out, '2>', \$err) or die $err;
	return $err;
}
my $draw = 'SELECT told(gen_sno())';
my $standalone = 'not initialized';
is_outcome(
	alone('plain', $draw, map { split / / } @with_options),
	by(of_server($highest), $standalone),
	"$place, single-user mode");
for my $place (@session_places)
{
	next if $place->{role};
	local $ENV{PGOPTIONS} = $place->{options} // '';
	my $reaches = defined $place->{first};
	my $said = alone($place->{database} // 'plain', join "\n", $place->{first} // (), $draw);
	is_outcome(
		$said,
		by($reaches ? of_session($n, $place->{name}) : of_server($n), $standalone),
		"$place->{place} of $place->{name}, single-user mode");
}
for ([ 'ALTER SYSTEM', 'postgresql.auto.conf' ], [ 'an included file', 'included.conf' ], ['postgresql.conf'])
{
	my ($place, $file) = @$_;
	my ($value) = map { $_->[1] } grep { $_->[0] eq $place } @server_places;
	is_outcome(alone('plain', $draw), by(of_server($value), $standalone), "$place, single-user mode");
	spew("$data_dir/$file", '') if defined $file;
}
diag "$cells cells: $draws draw with what is configured, $refusals refuse";
done_testing();
