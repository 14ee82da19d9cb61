# Every way to load the library first, and every place of a setting: what is configured is drawn with, or nothing is
# drawn. %b of the log tells that it was the process meant.
use Servers;
use IPC::Run;

# Place N of the whole server sets machine id N, sequence numbers from N * 1000, and a max_wait of N s.
my ($file, $command_line) = (11, 14);
my %own = (max_wait => '21000ms', machine_id => 5);

# Places of a session. `refused`: how the server refuses a setting for the whole server once the library is loaded.
my @session_places = map {
	my $name = $_;
	(   { place => 'ALTER DATABASE', name => $name, database => "by_$name", refused => 'WARNING' },
		{ place => 'ALTER ROLE', name => $name, role => "role_$name", refused => 'WARNING' },
		{ place => 'ALTER ROLE IN DATABASE', name => $name, role => "there_$name", refused => 'WARNING' },
		{ place => 'PGOPTIONS', name => $name, options => "-c snowflake_ids.$name=$own{$name}", refused => 'FATAL' },
		{ place => 'SET', name => $name, first => "SET snowflake_ids.$name = '$own{$name}';", refused => 'ERROR' });
} sort keys %own;

my $draw = 'SELECT told(gen_sno())';
my @ways = (
	{ way => 'SELECT', sql => $draw },
	{ way => 'LOAD', sql => "LOAD 'snowflake_ids'; $draw" },
	{ way => 'session_preload_libraries', options => '-c session_preload_libraries=snowflake_ids', sql => $draw },
	{ way => 'ANALYZE', sql => 'ANALYZE analyzed' },
	{ way => 'VACUUM FULL', sql => 'VACUUM FULL analyzed' },
	{ way => 'trigger', sql => 'INSERT INTO triggered VALUES (1)' },
	{ way => 'WHEN of a trigger', sql => 'INSERT INTO triggered_when VALUES (1)' },
	{   way => 'COPY with a DEFAULT',
		sql => "COPY copied (n) FROM STDIN;\n1\n2\n\\.\n\nSELECT told(id) FROM copied; TRUNCATE copied" });

my $server = PostgreSQL::Test::Cluster->new('first_load');
$server->init(allows_streaming => 'logical');
my $data_dir = $server->data_dir;

sub lines_of
{
	my ($n) = @_;
	my %value =
	  (machine_id => $n, sno_sequence_min => "${n}000", sno_sequence_max => "${n}999", max_wait => "${n}000ms");
	return map { "snowflake_ids.$_=$value{$_}" } sort keys %value;
}
$server->append_conf('postgresql.conf', join "\n", lines_of($file), <<'END');
wal_retrieve_retry_interval = 20ms
autovacuum = on
autovacuum_naptime = 1s
autovacuum_analyze_threshold = 0
autovacuum_analyze_scale_factor = 0
autovacuum_vacuum_threshold = 1000000
log_line_prefix = '[%p] %b: '
END
$server->start;

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
CREATE TABLE analyzed (n int) WITH (autovacuum_enabled = false);
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
CREATE TABLE replicated (n int, id text DEFAULT drawn(1));
SQL
for my $name (sort keys %own)
{
	my $set = "SET snowflake_ids.$name = '$own{$name}'";
	$server->safe_psql('postgres', <<"SQL");
CREATE DATABASE by_$name TEMPLATE plain;
CREATE ROLE role_$name SUPERUSER LOGIN;
CREATE ROLE there_$name SUPERUSER LOGIN;
ALTER DATABASE by_$name $set;
ALTER ROLE role_$name $set;
ALTER ROLE there_$name IN DATABASE plain $set;
SQL
}
$server->safe_psql('postgres', 'CREATE DATABASE source');
$server->safe_psql('source', 'CREATE TABLE replicated (n int); CREATE PUBLICATION p FOR TABLE replicated');
my @databases = ('plain', map { "by_$_" } sort keys %own);
for my $database (@databases)
{
	$server->safe_psql('source', "SELECT pg_create_logical_replication_slot('$database', 'pgoutput')");
	$server->safe_psql($database, <<"SQL");
CREATE SUBSCRIPTION $database CONNECTION \$\$@{[ $server->connstr('source') ]}\$\$ PUBLICATION p
    WITH (create_slot = false, slot_name = '$database', copy_data = false, enabled = false);
SQL
}

# psql may be refused before it reads its input from a pipe.
sub try_way
{
	my ($way, $place) = @_;
	my $script = PostgreSQL::Test::Utils::tempdir() . '/script.sql';
	spew($script, ($place->{first} // '') . "$way->{sql};\n");
	local $ENV{PGOPTIONS} = join ' ', grep { defined } $place->{options}, $way->{options};
	my $connection = $server->connstr($place->{database} // 'plain') . ($place->{role} ? " user=$place->{role}" : '');
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

sub is_outcome
{
	my ($said, $with, $by, $cell) = @_;
	my $expected = $with eq 'refused' || $with eq '' ? $with : "$with by $by";
	is(outcome($said), $expected, $cell) or diag $said;
	return;
}
sub of_server  { my ($n, $max_wait) = @_; return "$n $n " . ($max_wait // $n) . 's' }
sub of_session { my ($name) = @_;         return $name eq 'machine_id' ? 'refused' : of_server($file, 21) }

# What a process without a client says of its draw, once something is to do and until it has ended.
sub said_by
{
	my ($who, $database, $begin, $end, $count) = @_;
	my $mark = log_mark($server);
	my $said;
	$server->safe_psql($database, $begin);
	eventually(
		sub {
			$said = join "\n", log_since($server, $mark) =~ /^.* $who: .*$/mg;
			return outcome($said) ne '';
		}) or die "no $who in $database";
	$server->safe_psql($database, $end);
	eventually(sub { value($server, $count) == 0 }) or die "the $who of $database does not end";
	return $said;
}

sub applied
{
	my ($database) = @_;
	$server->safe_psql('source', 'INSERT INTO replicated VALUES (1)');
	return said_by(
		'logical replication (?:apply )?worker',
		$database,
		"ALTER SUBSCRIPTION $database ENABLE",
		"ALTER SUBSCRIPTION $database DISABLE",
		"SELECT count(*) FROM pg_stat_subscription WHERE subname = '$database' AND pid IS NOT NULL");
}

# A deleted row draws nothing, and makes autovacuum analyze the rest.
sub autoanalyzed
{
	my ($database) = @_;
	return said_by(
		'autovacuum worker', $database,
		'DELETE FROM autoanalyzed WHERE n = (SELECT max(n) FROM autoanalyzed);
		ALTER TABLE autoanalyzed SET (autovacuum_enabled = true)',
		'ALTER TABLE autoanalyzed SET (autovacuum_enabled = false)',
		"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'");
}

sub each_way
{
	my ($n, $place) = @_;
	is_outcome(try_way($_, {}), of_server($n), 'client backend', "$place, $_->{way}") for @ways;
	is_outcome(applied('plain'), of_server($n), 'logical replication worker', "$place, apply worker");
	is_outcome(autoanalyzed('plain'), of_server($n), 'autovacuum worker', "$place, autovacuum");
	return;
}

# ---- not preloaded
each_way($file, 'postgresql.conf');
for my $place (@session_places)
{
	my ($cell, $with) = ("$place->{place} of $place->{name}", of_session($place->{name}));
	is_outcome(try_way($ways[0], $place), $with, 'client backend', $cell);
	my $database = $place->{database} // next;
	is_outcome(applied($database), $with, 'logical replication worker', "$cell, apply worker");
	is_outcome(autoanalyzed($database), $with, 'autovacuum worker', "$cell, autovacuum");
}

# ---- preloaded: what a database or role may not set is ignored with a warning; what the client may not set ends its
# connection or statement
my @options = map { "-c $_" } lines_of($command_line);

sub start_with
{
	my $options = join ' ', '--cluster-name=first_load', @_;
	$server->stop('fast');
	system('pg_ctl', '-w', '-D', $data_dir, '-l', $server->logfile, '-o', $options, 'start') == 0 or die 'not started';
	$server->_update_pid(1);
	return;
}
start_with(@options);
each_way($command_line, 'the command line');
$server->append_conf('postgresql.conf', "shared_preload_libraries = 'snowflake_ids'\n");
start_with();
for my $place (@session_places)
{
	my $name = $place->{name};
	my $cell = "$place->{place} of $name, preloaded";
	my $ignored = $name eq 'machine_id';
	my $said = try_way($ways[0], $place);
	if ($ignored)
	{
		like(
			$said,
			qr/$place->{refused}:  parameter "snowflake_ids.machine_id" cannot be changed now/,
			"$cell: says so");
		$said =~ s/(?:FATAL|ERROR):.*cannot be changed now//;
	}
	my $with = $ignored ? of_server($file) : of_session($name);
	is_outcome($said, $ignored && $place->{refused} eq 'FATAL' ? '' : $with, 'client backend', $cell);
	my $database = $place->{database} // next;
	is_outcome(applied($database), $with, 'logical replication worker', "$cell, apply worker");
	is_outcome(autoanalyzed($database), $with, 'autovacuum worker', "$cell, autovacuum");
}
$server->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$server->stop('fast');

# ---- single-user mode: of a session's places, only its own SET reaches it
for (
	[ 'postgresql.conf', of_server($file) ],
	[ 'the command line', of_server($command_line), '', @options ],
	[ 'SET of machine_id', 'refused', $session_places[4]{first} ])
{
	my ($place, $with, $first, @with) = @$_;
	my @command = ('postgres', '--single', '-F', '-D', $data_dir, (map { split / / } @with), 'by_machine_id');
	my ($in, $out, $err) = (($first // '') . "\n$draw\n", '', '');
	IPC::Run::run(\@command, '<', \$in, '>', \$out, '2>', \$err) or die $err;
	is_outcome($err, $with, 'not initialized', "$place, single-user mode");
}
done_testing();
