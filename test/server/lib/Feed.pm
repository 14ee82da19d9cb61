# Writers, readers that continue after their last id, and an oracle.
#
#   my $job = Job->new($server, $sql);          runs SQL again and again, also after faults; $job->stop
#   my $job = Job->new($server, writes($origin, 'news', ...));
#   my $reader = Reader->new('the rule', $server, $query);      $query has :'position' and, after bound_first(), BOUND
#   poll_all(@readers);
#   my ($missing, $stale) = $reader->verdict(rows_of($server));
#
# Tables have id bigint, body int (the row's version) and a column of stamps.
package Feed;
use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep time);
use Faults;

our @EXPORT = qw(feed_server writes poll_all rows_of finish_prepared smallest go_on);

use constant smallest => '2222222222222222';
use constant hot_rows => 50;

# `streaming`: logical or physical; `conf`: more lines
sub feed_server
{
	my ($name, $machine_id, %o) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name);
	$server->init(allows_streaming => $o{streaming});
	$server->append_conf('postgresql.conf', <<"END");
fsync = off
log_statement = none
autovacuum = off
restart_after_crash = on
max_connections = 60
max_prepared_transactions = 20
snowflake_ids.machine_id = $machine_id
@{[ $o{conf} // '' ]}
END
	$server->start;
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids; CREATE SEQUENCE row_ids START 1000');
	return $server;
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

# A row's key tells its origin.
sub writes
{
	my ($origin, @tables) = @_;
	my $base = $origin * 1_000_000_000;
	my $all = sub {
		my ($sql) = @_;
		return join '', map { $sql =~ s/TABLE/$_/gr . ";\n" } @tables;
	};
	my $insert = $all->('INSERT INTO TABLE (id, body) VALUES (:id, 1), (:id + 1, 1)');
	my $next = "SELECT $base + nextval('row_ids') AS id, 'p$origin.' || nextval('row_ids') AS gid \\gset\n";
	my $script = "SET lock_timeout = '2s';\n";
	for (1 .. 40)
	{
		my $hot = $base + 1 + int rand hot_rows;
		my $update = $all->("UPDATE TABLE SET body = body + 1 WHERE id = $hot");
		my $wait = sprintf "SELECT FROM pg_sleep(%.4f);\n", rand() < 0.05 ? 0.3 : rand 0.02;
		my @kinds = (
			"BEGIN;\n$insert${wait}COMMIT;\n",
			"BEGIN;\n$insert${wait}COMMIT;\n",
			"BEGIN;\n$wait$update$insert${wait}COMMIT;\n",
			"BEGIN;\n$update${wait}COMMIT;\n",
			"BEGIN;\n" . $insert . "ROLLBACK;\n",
			"BEGIN;\n${insert}SAVEPOINT s;\n$update${wait}ROLLBACK TO s;\n${update}COMMIT;\n",
			"BEGIN;\n${insert}PREPARE TRANSACTION :'gid';\n${wait}COMMIT PREPARED :'gid';\n",
			$all->(
				"INSERT INTO TABLE AS t (id, body) VALUES ($hot, 1) ON CONFLICT (id) DO UPDATE SET body = t.body + 1"));
		$script .= $next . $kinds[ rand @kinds ];
	}

	$script .=
		"BEGIN;\n"
	  . $all->("INSERT INTO TABLE (id, body) SELECT $base + nextval('row_ids'), 1 FROM generate_series(1, 400)")
	  . "SELECT FROM pg_sleep(0.02);\nCOMMIT;\n";
	return $script;
}

sub poll_all
{
	my (@readers) = @_;
	$_->ask    for @readers;
	$_->listen for @readers;
	return;
}

sub rows_of
{
	my ($server, $table) = @_;
	return { map { split /\|/ } split /\n/, $server->safe_psql('postgres', "SELECT id, body FROM $table") };
}

# What a fault has left prepared holds back readers.
sub finish_prepared
{
	my ($server) = @_;
	$server->psql(
		'postgres',
		q{SELECT format('COMMIT PREPARED %L', gid) FROM pg_prepared_xacts WHERE gid ~ '^p\d+\.' \gexec},
		on_error_stop => 0);
	return;
}

package Job;
use strict;
use warnings;
use PostgreSQL::Test::Utils;

sub new
{
	my ($class, $server, $sql, $pause) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $self = bless { flag => "$dir/go_on", script => "$dir/script.sql", log => "$dir/log" }, $class;
	Faults::spew($self->{flag}, '');
	Faults::spew($self->{script}, $sql);
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
	return Faults::slurp($self->{log});
}

sub DESTROY { my ($self) = @_; local ($?, $!, $@); $self->stop; return }

package Reader;
use strict;
use warnings;
use Faults;

# The query returns position, id, body and stamp.
sub new
{
	my ($class, $name, $server, $query) = @_;
	return bless {
		name => $name,
		server => $server,
		query => $query,
		position => Feed::smallest,
		seen => {},
		rows => 0,
		polls => 0 }, $class;
}

sub name     { return $_[0]{name} }
sub position { return $_[0]{position} }
sub rows     { return $_[0]{rows} }

# The position, in a statement of its own, before or after the rows. `where`: on another server.
sub bound_first  { my ($self, $query, $where) = @_; $self->{bound_first} = [ $query, $where ];  return $self }
sub bound_second { my ($self, $query, $where) = @_; $self->{bound_second} = [ $query, $where ]; return $self }

sub moves_to { my ($self, $server) = @_; $self->{server} = $server; delete @$self{qw(session other)}; return $self }

sub bound
{
	my ($self, $of) = @_;
	my ($query, $where) = @$of;
	my $session = $where ? ($self->{other} //= Session->new($where)) : $self->{session};
	my $said = $session->ask($query);
	return $said =~ /^\w{16}$/ ? $said : Feed::smallest;
}

sub ask
{
	my ($self) = @_;
	$self->{session} //= Session->new($self->{server});
	$self->{bound} = $self->bound($self->{bound_first}) if $self->{bound_first};
	my $bound = $self->{bound} // '';
	$self->{session}->send($self->{query} =~ s/:'position'/'$self->{position}'/gr =~ s/BOUND/'$bound'/gr);
	return;
}

# No error: an answer without rows.
sub listen
{
	my ($self) = @_;
	my $said = $self->{session}->answer;
	my $cut_short = $self->{session}{cut_short};
	my $bound = $self->{bound_second} && !$cut_short ? $self->bound($self->{bound_second}) : undef;
	delete $self->{session} if $cut_short;
	$self->{polls}++;
	return if $said =~ /ERROR|FATAL|server closed|connection to server/ || $cut_short;
	for (split /\n/, $said)
	{
		my ($position, $id, $body, $at) = /^(\w+)\|(\d+)\|(\d+)\|(\w+)$/ or die "$self->{name}: $_";
		$self->{seen}{$id} = $body;
		$self->{at}{$id} = $at;
		$self->{position} = $bound // $position;
		$self->{rows}++;
	}
	return;
}

# Rows that another reader got and this one never will. Changed rows do not count.
sub has_lost
{
	my ($self, $rule) = @_;
	my ($lost, $position) = (0, $self->{position});
	while (my ($id, $at) = each %{ $rule->{at} })
	{
		$lost++ if $at lt $position && !exists $self->{seen}{$id} && $id % 1_000_000_000 > Feed::hot_rows;
	}
	return $lost;
}

# Rows never seen, and rows whose last version was not.
sub verdict
{
	my ($self, $rows) = @_;
	my ($missing, $stale) = (0, 0);
	while (my ($id, $body) = each %$rows)
	{
		if    (!exists $self->{seen}{$id})  { $missing++ }
		elsif ($self->{seen}{$id} != $body) { $stale++ }
	}
	return ($missing, $stale);
}

1;
