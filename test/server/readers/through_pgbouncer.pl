# snowflake_ids_wait() and a stamped feed through PgBouncer: each transaction may get another session of the server.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Test::More;

plan skip_all => 'pgbouncer is not installed' if !has_program('pgbouncer');

use constant pool_size => 16;
my $server = feed_server('pooled', 1, conf => 'client_connection_check_interval = 100ms');
$server->safe_psql('postgres', <<'END');
CREATE TABLE news (id bigint PRIMARY KEY, body int, stamp sno NOT NULL);
CREATE INDEX ON news (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION sno_stamp('stamp');
ALTER TABLE news ENABLE ALWAYS TRIGGER zz_stamp;
END
my $read = q{SELECT stamp, id, body, stamp FROM news WHERE stamp > :'position' ORDER BY stamp LIMIT 1000};
my $polls = q{SELECT greatest(:'position', (SELECT sno_settled('news'))), id, body, stamp FROM news
	WHERE stamp >= :'position' ORDER BY stamp};
my $sleeping = <<"END" =~ s/\n\z//r;
\\if :{?seen}
\\else
\\set seen 0
\\endif
SELECT snowflake_ids_wait('news', :seen, '2 min') AS now \\gset
SELECT :now = :seen AS missed \\gset
\\if :missed
\\echo a wake-up was missed
\\endif
\\set seen :now
$polls
END
my $insert = "INSERT INTO news (id, body) VALUES (nextval('row_ids'), 1) RETURNING stamp";

sub count_of { my ($where) = @_; return value($server, "SELECT count(*) FROM pg_stat_activity WHERE $where") }
sub asleep   { return q{query ~ '^SELECT snowflake_ids_wait' AND wait_event_type = 'Extension'} }

# A session that sleeps, and what it has seen.
sub sleeper
{
	my ($pool) = @_;
	my $seen = value($server, "SELECT snowflake_ids_wait('news', 0)");
	my $session = Session->new($pool);
	$session->send("SELECT snowflake_ids_wait('news', $seen, '10 min')");
	eventually(sub { count_of(asleep()) == 1 }) or die 'it does not sleep';
	return ($session, $seen);
}

sub every_row
{
	my ($pool) = @_;
	my $mode = $pool->{mode};
	$server->safe_psql('postgres', 'TRUNCATE news');

	# A transaction block is an error in statement mode.
	my @jobs = map { Job->new($mode eq 'statement' ? $server : $pool, writes($_, 'news')) } 1 .. 4;
	my @readers =
	  ((map { Reader->new("$mode: reader $_", $pool, $sleeping) } 1 .. 3), Reader->new('polls', $pool, $polls));
	my $control = Reader->new("$mode: control without a settled id", $pool, $read);
	ok( go_on(
			2,
			sub {
				my ($over) = @_;
				poll_all(@readers, $control);
				return $over && $control->has_lost($readers[0]);
			}),
		"$mode: the control has lost rows");
	$_->stop for @jobs;
	finish_prepared($server);

	# More rows wake those who have read all of these.
	my $newest = value($server, 'SELECT max(stamp) FROM news');
	my $more = Job->new($server, $insert, 0.02);
	eventually(
		sub {
			poll_all(@readers);
			return !grep { $_->position lt $newest } @readers;
		}) or die 'the end is not read';
	$more->stop;
	my $rows = rows_of($server, "news WHERE stamp <= '$newest'");
	for my $reader (@readers)
	{
		my ($missing, $stale) = $reader->verdict($rows);
		is("$missing, $stale", '0, 0', $reader->name . ': no row is missing or stale');
		diag sprintf '%-46s %7d rows %5d missing %5d stale', $reader->name, scalar keys %$rows, $missing, $stale;
	}
	return;
}

for my $mode (qw(transaction session statement))
{
	my $pool = Pool->new($server, $mode, pool_size);
	every_row($pool);

	# ids of a client, from one session of the server after another
	my $client = Session->new($pool);
	my @beside = map { Job->new($pool, "$insert; " x 20, 0.01) } 1 .. 2;
	my @stamps = map { $client->ask("$insert, pg_backend_pid()") } 1 .. 100;
	$_->stop for @beside;
	ok(!(grep { $stamps[$_] le $stamps[ $_ - 1 ] } 1 .. $#stamps), "$mode: the ids of a client grow");
	my %pids = map { s/.*\|//r => 1 } @stamps;
	cmp_ok(scalar keys %pids, $mode eq 'session' ? '==' : '>', 1, "$mode: sessions of the server");
	$client->gone;

	my ($reader, $seen) = sleeper($pool);
	value($pool, $insert);
	isnt($reader->answer, $seen, "$mode: a row that came through the pool wakes a reader");

	$seen = value($server, "SELECT snowflake_ids_wait('news', 0)");
	my $took = best_of(
		1,
		sub {
			my ($same, $ms) = split /\|/, $reader->ask(
				"SELECT snowflake_ids_wait('news', $seen, '200 ms') = $seen, 1000 * extract(epoch FROM
				clock_timestamp() - statement_timestamp())");
			return $same eq 't' && $ms >= 200 ? $ms / 1000 : Faults::longest_wait;
		});
	cmp_ok($took, '<', 1, "$mode: a wait ends at its timeout");
	$reader->gone;

	# psql sends the cancel to the pool, and ends.
	($reader) = sleeper($pool);
	my $pid = value($server, 'SELECT pid FROM pg_stat_activity WHERE ' . asleep());
	kill 'INT', $reader->{pid};
	like($reader->answer, qr/canceling statement due to user request/, "$mode: a cancel ends a wait");
	ok(eventually(sub { count_of("pid = $pid AND state = 'idle'") == 1 }), "$mode: and not the session of the server");
	$reader->gone;

	($reader) = sleeper($pool);
	kill 'KILL', $reader->{pid};
	ok(eventually(sub { count_of(asleep()) == 0 }), "$mode: a client that is gone frees the session of the server");
	$pool->stop;

	# One session of the server, in which a reader sleeps.
	$pool = Pool->new($server, $mode, 1, query_wait_timeout => 1);
	($reader, $seen) = sleeper($pool);
	like(value($pool, 'SELECT 1'), qr/query_wait_timeout/, "$mode: who finds no free session is told");
	ok(eventually(sub { count_of(asleep()) == 1 }), "$mode: meanwhile the reader sleeps");
	value($server, $insert);
	isnt($reader->answer, $seen, "$mode: and then it wakes");
	$pool->stop;
}

$server->stop;
done_testing();

# ---- PgBouncer in front of a server
package Pool;
use strict;
use warnings;
use PostgreSQL::Test::Utils;

sub new
{
	my ($class, $server, $mode, $size, %settings) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	my $self = bless { mode => $mode, dir => $dir }, $class;
	my ($host, $port) = ($server->host, $server->port);
	my $more = join '', map { "$_ = $settings{$_}\n" } sort keys %settings;

	# With server_round_robin, a client gets another session as often as it can.
	Faults::spew("$dir/ini", <<"END");
[databases]
postgres = host=$host port=$port dbname=postgres user=@{[ scalar getpwuid $< ]}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $dir
auth_type = any
pool_mode = $mode
default_pool_size = $size
server_round_robin = 1
logfile = $dir/log
$more
END
	$self->{pid} = fork // die "fork: $!";
	if (!$self->{pid})
	{
		open STDIN, '<', '/dev/null';
		open $_, '>', '/dev/null' for \*STDOUT, \*STDERR;
		exec 'pgbouncer', "$dir/ini";
	}
	Faults::eventually(sub { Faults::value($self, 'SELECT 1') eq '1' }) or die "it does not start: $self->{dir}/log";
	return $self;
}

sub connstr { my ($self, $database) = @_; return "host=$self->{dir} port=6432 dbname=$database" }

sub stop
{
	my ($self) = @_;
	return if !$self->{pid};
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	$self->{pid} = 0;
	return;
}

sub DESTROY { my ($self) = @_; local ($?, $!, $@); $self->stop; return }
