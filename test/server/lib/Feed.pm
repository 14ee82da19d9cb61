# Servers with a feed, writers, and readers that keep a copy.
#
#   my $server = feed_server('name');               table outbox(id, body) with a feed
#   my $reader = Reader->new('outbox');             its copy is a hash
#   $reader->poll($server);                         a server or a Session: until a poll passes. Returns how many rows
#   $reader->once($server);                         one poll. Returns '' or the SQLSTATE
#   $reader->same_as($server, 'name of the test');  after the last poll, while nobody writes
#   my $plain = Reader->new('outbox', plain => 1);  a control: remembers pg_current_snapshot()
#   my $job = Job->new($server, writes('outbox'));  runs SQL again and again, also after faults. $job->stop
package Feed;
use strict;
use warnings;
use Exporter 'import';
use Servers;

our @EXPORT_OK = qw(pair goes_on);
our @EXPORT = qw(feed_server create_feed insert has_all kill_and_start writes finish_prepared go_on);

use constant hot_rows => 50;

# `streaming`: as allows_streaming; `conf`: more lines; others as those of init().
sub feed_server
{
	my ($name, %o) = @_;
	seeded();
	my ($conf, $streaming) = map { delete $o{$_} } qw(conf streaming);
	my $server = PostgreSQL::Test::Cluster->new($name, install_path => delete $o{install_path});
	$server->init(allows_streaming => $streaming, %o);
	$server->append_conf('postgresql.conf', <<"END");
log_statement = none
restart_after_crash = on
max_connections = 60
max_prepared_transactions = 20
@{[ $conf // '' ]}
END
	$server->start;
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids; CREATE SEQUENCE row_ids START 1000');
	create_feed($server, 'outbox');
	return $server;
}

# `columns`: the first is the key. `options`: of create_feed()
sub create_feed
{
	my ($server, $table, %o) = @_;
	my $columns = $o{columns} // 'id bigint PRIMARY KEY, body int NOT NULL DEFAULT 1';
	my $options = $o{options} ? ", $o{options}" : '';
	my $database = $o{dbname} // 'postgres';
	$server->safe_psql($database, "CREATE TABLE IF NOT EXISTS $table ($columns)");
	my $to_do = $server->safe_psql($database, "SELECT to_do FROM snowflake_ids.create_feed('$table'$options)");
	$server->safe_psql($database, $to_do) if $to_do ne '';
	return;
}

# A row with a key that no writer uses. Returns its stamp. `$where`: a server or a Session
my $last_id = 0;

sub insert
{
	my ($where, %o) = @_;
	$last_id--;
	my $session = $where->isa('Session') ? $where : Session->new($where, dbname => $o{dbname});
	my $stamp = $session->ask("INSERT INTO outbox (id) VALUES ($last_id) RETURNING stamp");
	die "insert: $stamp" if $stamp !~ /^\d+$/;
	return $stamp;
}

sub kill_and_start
{
	my ($node) = @_;
	kill_postmaster($node);
	$node->start;
	return;
}

# A primary and its standby. pg_rewind needs the hints.
my $pairs = 0;

sub pair
{
	my ($conf) = @_;
	my $primary = feed_server(
		'primary' . ++$pairs,
		streaming => 1,
		conf => "wal_log_hints = on\nwal_keep_size = 64MB\n" . ($conf // ''));
	$primary->backup('base');
	return ($primary, standby_of($primary, "standby$pairs"));
}

# The reader need not copy again, and its copy is right.
sub goes_on
{
	my ($reader, $node, $what) = @_;
	Test::More::is($reader->once($node), '', "$what: nobody is told") or Test::More::diag($reader->{said});
	return $reader->same_as($node, $what);
}

# Returns when the standbys have replayed what is there now.
sub has_all
{
	my ($primary, @standbys) = @_;
	my $lsn = flushed_lsn($primary);
	for my $standby (@standbys)
	{
		$standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'")
		  or die 'the standby is behind';
	}
	return;
}

# Some seconds (longer in tools/prove feeds), then until `step` is true. `step` is told whether the time is over.
sub go_on
{
	my ($seconds, $step) = @_;
	my $until = time + $seconds * ($ENV{FEED_TIMES} // 1);
	while (time < $until)
	{
		$step->(0);
		sleep 0.02;
	}
	return eventually(sub { $step->(1) });
}

# A script of transactions of all kinds. `savepoints`: in each third; `origin`: of writers with keys of their own
sub writes
{
	my ($table, %o) = @_;
	my $base = ($o{origin} // 0) * 1_000_000_000;
	my $savepoints = $o{savepoints} // 5;
	my $script = "SET lock_timeout = '2s';\n";
	for my $n (1 .. 40)
	{
		my ($hot, $cold) = map { $base + 1 + int rand hot_rows } 1, 2;
		my $insert = "INSERT INTO $table (id) VALUES (:id);\n";
		my $update = "UPDATE $table SET body = body + 1 WHERE id = $hot;\n";
		my $upsert = "INSERT INTO $table AS t (id) VALUES ($hot) ON CONFLICT (id) DO UPDATE SET body = t.body + 1;\n";
		my $wait = sprintf "SELECT FROM pg_sleep(%.4f);\n", rand() < 0.05 ? 0.3 : rand 0.02;
		my $sub = join '',
		  map { "SAVEPOINT s$_;\n" . ($_ % 2 ? $upsert : "INSERT INTO $table (id) VALUES (:id + $_);\n") }
		  1 .. $savepoints;
		my @kinds = (
			"BEGIN;\n$insert${wait}COMMIT;\n",
			"BEGIN;\n$wait$update$insert${wait}COMMIT;\n",
			"BEGIN;\n${insert}ROLLBACK;\n",
			"BEGIN;\n${insert}SAVEPOINT s;\n$update${wait}ROLLBACK TO s;\n${update}COMMIT;\n",
			"BEGIN;\n$sub${wait}COMMIT;\n",
			"BEGIN;\n$sub${wait}ROLLBACK TO s1;\nCOMMIT;\n",
			"BEGIN;\n${insert}PREPARE TRANSACTION :'gid';\n${wait}COMMIT PREPARED :'gid';\n",
			"DELETE FROM $table WHERE id = $cold;\n",
			"DELETE FROM $table WHERE id = (SELECT max(id) FROM $table);\n",
			"UPDATE $table SET id = :id WHERE id = $cold;\n",
			$upsert,
			$upsert);
		$script .= "SELECT $base + 1000 * nextval('row_ids') AS id, 'p$base.' || nextval('row_ids') AS gid \\gset\n";
		$script .= $kinds[ rand @kinds ];
		$script .= "BEGIN;\nTRUNCATE $table;\n$insert${wait}COMMIT;\n" if $n == 20 && rand() < 0.1;
	}
	return $script;
}

# Those that a fault has left.
sub finish_prepared
{
	my ($server) = @_;
	$server->psql(
		'postgres',
		q{SELECT format('COMMIT PREPARED %L', gid) FROM pg_prepared_xacts WHERE gid ~ '^p\d+\.' \gexec},
		on_error_stop => 0);
	return;
}

# ---- a reader, and its copy
package Reader;
use strict;
use warnings;
use Test::More;

#   my $reader = Reader->of($server);               one that has polled
#
# {copy}: the text of each row by its key. {position}. {twice}: how often a version came again, since the whole table
# was read last. {errors}: how many of each SQLSTATE, 08006 if the connection was lost. {said}: the last error. {polls},
# {rows}: how many.
# Options: `dbname`; `key`: its columns; `feed`: the name of the function; `plain`: a control that knows no deletions
sub new
{
	my ($class, $table, %o) = @_;
	return bless {
		table => $table,
		feed => $table . '_feed',
		key => 'id',
		position => '',
		copy => {},
		seen => {},
		twice => 0,
		errors => {},
		said => '',
		polls => 0,
		rows => 0,
		%o }, $class;
}

# Of the outbox.
sub of
{
	my ($class, $where, %o) = @_;
	my $self = $class->new('outbox', %o);
	$self->poll($where);
	return $self;
}

sub ask
{
	my ($self, $where, $query) = @_;
	my $session = $where->isa('Session') ? $where : Session->new($where, dbname => $self->{dbname});
	return $session->ask("\\set VERBOSITY verbose\n$query;\n\\set VERBOSITY default\n");
}

sub query
{
	my ($self) = @_;
	my ($key, $table, $since) = @$self{qw(key table position)};
	return qq{SELECT step, position, concat_ws(',', $key), "row"::text FROM $self->{feed}('$since')}
	  unless $self->{plain};
	my $new = $since eq '' ? '' : "WHERE NOT pg_visible_in_snapshot(h.stamp::text::xid8, '$since')";
	return qq{SELECT 2, '', concat_ws(',', $key), h::text FROM $table h $new UNION ALL
	          SELECT 3, pg_current_snapshot()::text, '', ''};
}

# Applies all of a poll, or nothing.
sub once
{
	my ($self, $where) = @_;
	my $said = $self->ask($where, $self->query);
	my $lost = qr/^(psql: error|server closed the connection|no connection)/m;
	if ($said =~ /^(?:psql:.*)?(?:ERROR|FATAL): +(\w{5}):/m || $said =~ $lost)
	{
		my $error = $said =~ $lost ? '08006' : $1;
		$self->{said} = $said;
		$self->{errors}{$error}++;
		return $error;
	}
	my @lines = map { [ split /\|/, $_, 4 ] } split /\n(?=\d\|)/, $said;
	die "a poll without its end: $said" if !@lines || $lines[-1][0] ne '3' || grep { @$_ != 4 } @lines;
	my @steps = map { $_->[0] } @lines;
	die "steps in another order: @steps" if "@steps" ne join ' ', sort @steps;
	die "more than one position: $said" if 1 != grep { $_ eq '3' } @steps;
	$self->apply(@$_) for @lines;
	$self->{polls}++;
	$self->{rows} += @lines - 1;
	$self->{last} = \@lines;
	return '';
}

sub apply
{
	my ($self, $step, $position, $key, $row) = @_;
	$self->{seen} = {} if $step < 3 && $self->{position} eq '' && !%{ $self->{copy} };
	if    ($step == 0) { $self->{copy} = {} }
	elsif ($step == 1) { delete $self->{copy}{$key} }
	elsif ($step == 2) { $self->{copy}{$key} = $row; $self->{twice}++ if $self->{seen}{"$key|$row"}++ }
	else               { $self->{position} = $position }
	return;
}

# Does what a reader does at each error. Returns how many rows came, but for the position.
sub poll
{
	my ($self, $where) = @_;
	my $passed = Servers::eventually(
		sub {
			my $error = $self->once($where);
			$self->start_again if $error eq 'SF001';
			die "poll: $self->{said}" if $error !~ /^(40001|SF001|57P0\d|08006)?$/;
			return $error eq '';
		});
	die "no poll passes: $self->{said}" if !$passed;
	return @{ $self->{last} } - 1;
}

sub start_again
{
	my ($self) = @_;
	$self->{position} = '';
	$self->{copy} = {} if $self->{plain};
	$self->{seen} = {};
	return;
}

sub errors
{
	my ($self, $sqlstate) = @_;
	return $self->{errors}{$sqlstate} // 0;
}

# How many rows its copy has not, or in another version; and how many too many.
sub differs
{
	my ($self, $where) = @_;
	my $said = $self->ask($where, "SELECT concat_ws(',', $self->{key}), t::text FROM $self->{table} t");
	die $said if $said =~ /ERROR/;
	my %rows = map { split /\|/, $_, 2 } split /\n/, $said;
	my $copy = $self->{copy};
	my @lost = grep { ($copy->{$_} // '') ne $rows{$_} } sort keys %rows;
	my @more = $self->{plain} ? () : grep { !exists $rows{$_} } sort keys %$copy;
	$self->{difference} = join '', map { "\n  $_: " . ($copy->{$_} // '-') . ' for ' . ($rows{$_} // '-') }
	  grep { defined } (@lost, @more)[ 0 .. 4 ];
	return @lost + @more;
}

sub same_as
{
	my ($self, $where, $name) = @_;
	return ok($self->differs($where) == 0, "$name: the copy of $self->{rows} rows in $self->{polls} polls is right")
	  || diag "the copy has $self->{difference}\nafter: $self->{said}";
}

# ---- SQL that runs again and again, in a process of its own
package Job;
use strict;
use warnings;
use PostgreSQL::Test::Utils;

sub new
{
	my ($class, $server, $sql, $pause) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { flag => "$dir/go_on", script => "$dir/script.sql", log => "$dir/log" }, $class;
	Servers::spew($self->{flag}, '');
	Servers::spew($self->{script}, $sql);
	$self->{pid} = fork // die "fork: $!";
	return $self if $self->{pid};
	open STDIN, '<', '/dev/null';
	open STDOUT, '>', $self->{log};
	open STDERR, '>&', \*STDOUT;
	exec 'sh', '-c', 'while [ -e "$1" ]; do psql -XAtq -d "$2" -f "$3"; sleep "$4"; done', 'sh',
	  $self->{flag}, $server->connstr('postgres'), $self->{script}, $pause // 0.05;
}

# Returns what it has said, errors included.
sub stop
{
	my ($self) = @_;
	return '' unless $self->{pid};
	unlink $self->{flag};
	waitpid $self->{pid}, 0;
	$self->{pid} = 0;
	return Servers::slurp($self->{log});
}

sub DESTROY { my ($self) = @_; local ($?, $!, $@); $self->stop; return }

1;
