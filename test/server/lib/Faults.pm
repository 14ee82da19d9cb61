# What the tests of the guarantees share: servers whose wall clock can be moved, long-lived
# sessions, and a collection of all ids that anybody drew.
#
#   my $clock  = clock();                     one for each server, or one for all
#   my $server = new_server('name', $clock);
#   my $ids    = Ids->new;
#   $ids->draw($server);                      a server or a Session
#   $clock->set(-3600);                       one hour behind, at once
#   $ids->none_twice('fault');
package Faults;
use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(sleep time);
use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT =
  qw(clock new_server start_at copy_of restart_after draw_at_all_times kill_postmaster kill_backend comes_back fails_with
  wait_for_log log_since log_mark shim slurp spew lose_power value more_are_drawn caught_up flushed_lsn reload eventually
  best_of
  only_connected module has_program small_filesystem segments_of own_installation sleep time);

my %shims;

# Tests wait for states, not for times: any process, or all of them, may get no processor for seconds. This is how long
# they wait for a state that never comes.
use constant longest_wait => 180;

# Looks until `look` returns what is true, and returns that; after a long time, what it returned last.
sub eventually
{
	my ($look) = @_;
	my $until = time + longest_wait;
	my $seen;
	sleep 0.02 until ($seen = $look->()) || time > $until;
	return $seen;
}

# The least of what `measure` returns, for durations: a machine that stands still now and then makes some of them
# longer, none shorter. Ends when one is below `enough`.
sub best_of
{
	my ($enough, $measure) = @_;
	my $best;
	for (1 .. 60)
	{
		my $this = $measure->();
		$best = $this if !defined $best || $this < $best;
		last if $best < $enough;
	}
	return $best;
}

# A server begins its ids ahead of the clock. Waits until that lead is over. `schema`: where the extension is.
sub caught_up
{
	my ($server, $database, $schema) = @_;
	$database //= 'postgres';
	$schema   //= 'public';
	$server->safe_psql($database, "SELECT $schema.gen_sno()");
	$server->poll_query_until($database, "SELECT max(clock_lead) = 0 FROM snowflake_ids.stats")
	  or die 'the clock does not catch up';
	return;
}

# Up to where a standby has to come. A record is flushed first. What the WAL writer flushes by itself can end at a page,
# inside a record that no standby can replay; and after its clock has stepped back it may leave the rest to the next
# checkpoint.
sub flushed_lsn
{
	my ($server) = @_;
	$server->safe_psql('postgres', q{SET synchronous_commit = local; SELECT pg_logical_emit_message(true, 'test', '')});
	return $server->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
}

# The configuration is read again: returns when new connections, and these sessions, have it.
sub reload
{
	my ($server, @sessions) = @_;
	my $loaded = sub { my ($who) = @_; return value($who, 'SELECT pg_conf_load_time()') };
	my @before = map { [ $_ => $loaded->($_) ] } $server, @sessions;
	$server->reload;
	for (@before)
	{
		my ($who, $then) = @$_;
		eventually(sub { $loaded->($who) ne $then }) or die 'not reloaded';
	}
	return;
}

# The path of test/support/NAME.c, compiled. Skips the script where that cannot be done; CI has a compiler, so there
# it is a failure.
sub shim
{
	my ($name) = @_;
	return $shims{$name} if $shims{$name};
	my $library = PostgreSQL::Test::Utils::tempdir_short() . "/$name.so";
	my @compiler = split ' ', $ENV{CC} // 'cc';
	my $ok =
	  system(@compiler, qw(-O2 -fPIC -shared -o), $library, "$ENV{SNOWFLAKE_IDS_SRC}/test/support/$name.c", '-ldl') == 0
	  && do { local $ENV{LD_PRELOAD} = $library; `echo loaded 2>&1` eq "loaded\n" };
	if (!$ok)
	{
		die "cannot compile or preload $name" if $ENV{CI};
		plan skip_all => "cannot compile or preload $name";
	}
	return $shims{$name} = $library;
}

sub clock { return Clock->new }

# A server under a clock, with the extension in database postgres. It does not sync: killing processes loses nothing
# that the kernel has, and crash recovery would sync every file first. What sync is for is tested with
# under_power_loss(). Options: conf (text), synced (remember what is synced), install_path (of another server's
# programs), the rest as init() takes it.
sub new_server
{
	my ($name, $clock, %options) = @_;
	my $conf = delete $options{conf} // '';
	my $synced = delete $options{synced};
	my $server = PostgreSQL::Test::Cluster->new($name, install_path => delete $options{install_path});
	$server->init(%options);
	under_power_loss($server) if $synced;
	$server->append_conf('postgresql.conf', <<"END");
fsync = @{[ $synced ? 'on' : 'off' ]}
restart_after_crash = on
max_prepared_transactions = 10
log_statement = none
autovacuum = off
$conf
END
	start_at($server, $clock);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
	return $server;
}

# Starts a server under a clock. A postmaster that was killed leaves backends for a moment, and while one of them
# has its shared memory a start fails.
sub start_at
{
	my ($server, $clock) = @_;
	local $ENV{LD_PRELOAD} = join ':', shim('clock_shim'), $server->{sfids_preload} // (), $ENV{LD_PRELOAD} // ();
	local $ENV{CLOCK_SHIM_OFFSET} = $clock->{file};
	local $ENV{SYNC_SHIM_DIR} = $server->{sfids_synced} // '';
	$server->{sfids_clock} = $clock;
	for my $attempt (1 .. 100)
	{
		return if $server->start(fail_ok => $attempt < 100);
		sleep 0.1;
		$server->stop('fast', fail_ok => 1);
	}
}

# Ends a server life in one of the ways there are, moves the clock, does what is to be done in between, and starts again.
sub restart_after
{
	my ($server, $how, $offset, $between) = @_;
	my $clock = $server->{sfids_clock};
	if   ($how eq 'kill -9') { kill_postmaster($server) }
	else                     { $server->stop($how) }
	$clock->set($offset) if defined $offset;
	$between->() if $between;
	start_at($server, $clock);
}

# After a fault: hours behind, at the time of the ids before, and now. Whoever has forgotten something repeats it.
sub draw_at_all_times
{
	my ($ids, $where, $clock, $start) = @_;
	$clock->set(-7200);
	$ids->draw($where);
	$clock->set_to($start);
	$ids->draw($where);
	$clock->set(0);
	$ids->draw($where);
}

# SIGKILL to the postmaster. Returns when the last of its children has noticed. The lock files go too: its process
# may stay a zombie for a while, in a container for good, which the next start would take for a postmaster.
sub kill_postmaster
{
	my ($server) = @_;
	my $dir = $server->data_dir;
	$server->kill9;
	eventually(
		sub {
			!grep { (readlink($_) // '') eq $dir } glob '/proc/[0-9]*/cwd';
		});
	unlink "$dir/postmaster.pid", $server->host . '/.s.PGSQL.' . $server->port . '.lock';
}

# SIGKILL to one session: the postmaster ends the others and starts again by itself. Not noticed yet, it lets us in.
sub kill_backend
{
	my ($server) = @_;
	my $victim = Session->new($server);
	my $mark = log_mark($server);
	kill 'KILL', $victim->ask('SELECT pg_backend_pid()');
	$victim->gone;
	wait_for_log($server, qr/reinitializing/, $mark) or die 'the server does not notice that a session was killed';
	comes_back($server);
}

# Waits until no session but those named is connected: one whose client has gone ends its statement first.
sub only_connected
{
	my ($server, @sessions) = @_;
	my $others =
	  sub { value($server, "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'") };
	eventually(sub { $others->() == @sessions }) or die 'sessions do not end';
	return;
}

# Waits until a server that starts again by itself lets us in. poll_query_until() would write to a psql that may have
# been refused already, which IPC::Run dies of.
sub comes_back
{
	my ($server) = @_;
	eventually(sub { value($server, 'SELECT 1') eq '1' }) or die 'the server did not come back';
	return;
}

# A new server from a copy of the data directory's files; `conf` for postgresql.conf.
sub copy_of
{
	my ($name, $dir, $conf) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name);
	rmdir $server->data_dir;
	system('cp', '-a', $dir, $server->data_dir) == 0 or note 'some files went away while they were copied';
	unlink $server->data_dir . '/postmaster.pid';
	chmod 0700, $server->data_dir;
	$server->append_conf('postgresql.conf', 'port = ' . $server->port . "\n" . ($conf // ''));
	return $server;
}

# The query must fail, and what is said must match all patterns.
sub fails_with
{
	my ($server, $query, $name, @patterns) = @_;
	my $said = Session::ask_once($server, $query);
	my @missing = grep { $said !~ $_ } qr/ERROR/, @patterns;
	ok(!@missing, $name) or diag "said: $said\nbut not: @missing";
}

sub value
{
	my ($server, $query) = @_;
	return Session::ask_once($server, $query);
}

# Waits until each format has issued more ids than so far, and tells whether it did: sessions do draw. `node` for the
# ids of one node.
sub more_are_drawn
{
	my ($where, $node) = @_;
	my $of = defined $node ? "WHERE node = $node" : '';
	my $issued = sub {
		map { split /\|/ } split /\n/,
		  value($where, "SELECT format, sum(issued) FROM snowflake_ids.stats $of GROUP BY format");
	};
	my %before = $issued->();
	return eventually(
		sub {
			my %now = $issued->();
			return %now && !grep { $now{$_} <= ($before{$_} // 0) } keys %now;
		});
}

sub log_mark { return -s $_[0]->logfile }

sub log_since
{
	my ($server, $mark) = @_;
	return substr(slurp($server->logfile), $mark);
}

sub wait_for_log
{
	my ($server, $pattern, $mark) = @_;
	return eventually(sub { log_since($server, $mark) =~ $pattern });
}

sub slurp
{
	my ($path) = @_;
	open my $f, '<:raw', $path or die "$path: $!";
	local $/;
	return scalar <$f>;
}

# In place: it stays the same file.
sub spew
{
	my ($path, $content) = @_;
	open my $f, (-e $path ? '+<:raw' : '>:raw'), $path or die "$path: $!";
	print $f $content;
	truncate $f, length $content;
	close $f or die "$path: $!";
}

# Before the first start: what the server syncs from now on is remembered.
sub under_power_loss
{
	my ($server) = @_;
	$server->{sfids_preload} = shim('sync_shim');
	$server->{sfids_synced} = $server->basedir . '/synced';
	mkdir $server->{sfids_synced};
}

# Kills the server, and takes from its WAL and from the ceiling file whatever was not synced. Data pages keep all that was
# written: they may, for WAL is synced before them.
sub lose_power
{
	my ($server) = @_;
	my ($dir, $synced) = ($server->data_dir, $server->{sfids_synced});
	kill_postmaster($server);
	my $cut = 0;
	for my $path (glob "$dir/snowflake_ids.* $dir/pg_wal/*")
	{
		my ($name) = $path =~ m{([^/]+)$};
		next unless -f $path && ($name =~ /^snowflake_ids/ || $name =~ /^[0-9A-F]{24}$/);
		my $now = slurp($path);
		my $then = -e "$synced/$name" ? slurp("$synced/$name") : "\0" x length $now;
		next if $now eq $then;
		$cut++;
		spew($path, $then);
	}
	return $cut;
}

# Is a program there that tools/setup installs? In CI it must be, unless tools/setup could not get it.
sub has_program
{
	my ($name) = @_;
	return 1 if system("command -v $name >/dev/null") == 0;
	die "$name is not installed" if $ENV{CI} && !-e "$ENV{SNOWFLAKE_IDS_SRC}/build/drivers/not-installed";
	return 0;
}

# The path of test/support/NAME.c, compiled as a module of the server.
sub module
{
	my ($name) = @_;
	my $library = PostgreSQL::Test::Utils::tempdir_short() . "/$name.so";
	chomp(my $headers = `$ENV{PG_CONFIG} --includedir-server`);
	my @compiler = split ' ', $ENV{CC} // 'cc';
	return $library
	  if system(@compiler, qw(-O2 -fPIC -shared -I),
		$headers, '-o', $library, "$ENV{SNOWFLAKE_IDS_SRC}/test/support/$name.c") == 0;
	die "cannot compile $name" if $ENV{CI};
	plan skip_all => "cannot compile $name";
	return;
}

# A directory for the front of PATH. Servers that are started with it have an empty file system of `size` in
# `directory`, which ends with their last process. Undefined where this user may make none. `then`: shell commands in it.
sub small_filesystem
{
	my ($directory, $size, $then) = @_;
	my @namespace = qw(unshare --user --map-current-user --keep-caps --mount sh -ec);
	my $mount = "mount -t tmpfs -o size=$size,mode=1777 small $directory";
	return if system("@namespace '$mount' >/dev/null 2>&1") != 0;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	spew("$dir/pg_ctl", <<"END");
#!/bin/sh
PATH=\${PATH#$dir:}
exec @namespace '$mount; @{[ $then // '' ]} exec pg_ctl "\$@"' sh "\$@"
END
	chmod 0755, "$dir/pg_ctl";
	return $dir;
}

# The files in which a process has segments of dynamic shared memory of this size.
sub segments_of
{
	my ($pid, $bytes) = @_;
	my %file;
	for (split /\n/, slurp("/proc/$pid/maps"))
	{
		my ($path) = m{ (/dev/shm/PostgreSQL\.\d+)$} or next;
		$file{$path} = 1 if !defined $bytes || (-s $path // 0) == $bytes;
	}
	return sort keys %file;
}

# An installation that a test may change: its directory above bin, its library directory, its extension directory.
sub own_installation
{
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my ($from, $to) = map { chomp; $_ } $ENV{PG_CONFIG}, `$ENV{SNOWFLAKE_IDS_SRC}/tools/private-install -n $dir`;
	my @places;
	for (qw(bindir pkglibdir sharedir))
	{
		chomp(my $place = `$to --$_`);
		chomp(my $theirs = `$from --$_`);
		push @places, $place;
		system("cp $theirs/snowflake_ids* $place/") == 0 or die if $_ eq 'pkglibdir';
		system("cp $theirs/extension/snowflake_ids* $place/extension/") == 0 or die if $_ eq 'sharedir';
	}
	return ($places[0] =~ s{/bin$}{}r, $places[1], "$places[2]/extension");
}

# ---- A wall clock: real time and an offset.
package Clock;
use strict;
use warnings;
use Time::HiRes;

my $clocks = 0;

sub new
{
	my ($class) = @_;
	Faults::shim('clock_shim');
	my $file = PostgreSQL::Test::Utils::tempdir_short() . '/clock' . ++$clocks;
	my $self = bless { file => $file, offset => 0, passed => 0 }, $class;
	open $self->{handle}, '>:raw', $file or die "$file: $!";
	$self->set(0);
	return $self;
}

# Seconds ahead of real time. One write of 8 bytes: no process sees half of it.
sub set
{
	my ($self, $offset) = @_;
	$self->{offset} = $offset;
	sysseek $self->{handle}, 0, 0;
	syswrite $self->{handle}, pack('q', sprintf '%.0f', $offset * 1e9);
}

# The monotonic clock: seconds go by at once. Timeouts go by it as well.
sub pass
{
	my ($self, $seconds) = @_;
	$self->{passed} += $seconds;
	sysseek $self->{handle}, 8, 0;
	syswrite $self->{handle}, pack('q', sprintf '%.0f', $self->{passed} * 1e9);
}

# Both at once, as time does.
sub go_by
{
	my ($self, $seconds) = @_;
	$self->{passed} += $seconds;
	$self->{offset} += $seconds;
	sysseek $self->{handle}, 0, 0;
	syswrite $self->{handle}, pack('qq', map { sprintf '%.0f', $_ * 1e9 } @$self{qw(offset passed)});
}

sub step   { my ($self, $by) = @_;   $self->set($self->{offset} + $by) }
sub now    { my ($self) = @_;        return Time::HiRes::time() + $self->{offset} }
sub set_to { my ($self, $time) = @_; $self->set($time - Time::HiRes::time()) }

# ---- A psql that stays connected. What it says goes to a file: into a pipe that nobody reads for a while it would say
# 64 kB, and then stand still. A pipe only tells that there is an answer.
package Session;
use strict;
use warnings;
use IPC::Open2;

my ($questions, $sessions, $said_in) = (0, 0);

# Options: dbname, user, options (as PGOPTIONS)
sub new
{
	my ($class, $server, %o) = @_;
	local $ENV{PGOPTIONS} = $o{options} // '';
	my $connection = $server->connstr($o{dbname} // 'postgres') . ($o{user} ? " user=$o{user}" : '');
	my $psql = $server->installed_command('psql') if $server->can('installed_command');
	$said_in //= PostgreSQL::Test::Utils::tempdir();
	my $path = "$said_in/" . ++$sessions;
	open my $said, '+>:raw', $path or die "$path: $!";
	my $pid = open2(
		my $answered, my $in, 'sh', '-c', 'said=$1; shift; exec "$@" 3>&1 >>"$said" 2>&1',
		'sh', $path, $psql // 'psql',
		'-XAtq', '-d', $connection);
	return bless { pid => $pid, in => $in, answered => $answered, said => $said, path => $path }, $class;
}

# Sends without waiting, if what is sent is one line, or short: psql begins with the first line before it reads on.
sub send
{
	my ($self, $query) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $mark = $self->{mark} = 'end of answer ' . ++$questions;
	$self->{busy} = 1;

	# The data of a COPY have ended their statement. psql from 15.19 on would take what follows another ';' for more data.
	# Older ones may keep data that a COPY has refused in their query buffer: \r empties it.
	my $end = $query =~ /^\\\.\n\z/m ? '\r' : ';';
	print { $self->{in} } "$query$end\n\\echo $mark\n\\o /proc/self/fd/3\n\\qecho\n\\o\n";
	$self->{in}->flush;
	return $self;
}

# The answer to what was sent: output and errors. `cut_short` is set when psql ended before it was complete.
sub answer
{
	my ($self) = @_;
	{
		local $SIG{ALRM} = sub { die 'no answer, so far: ' . $self->said };
		alarm Faults::longest_wait;
		$self->{cut_short} = !defined readline $self->{answered};
		alarm 0;
	}
	$self->{busy} = 0;
	my $said = $self->said;
	$said =~ s/\Q$self->{mark}\E\n\z// or $self->{cut_short} or die "an answer without its end: $said";
	chomp $said;
	return $said;
}

# What was said since the last time.
sub said
{
	my ($self) = @_;
	local $/;
	seek $self->{said}, 0, 1;    # it has seen the end of the file
	return readline($self->{said}) // '';
}

sub ask { my ($self, $query) = @_; return $self->send($query)->answer }

sub gone
{
	my ($self) = @_;

	# Whoever has not asked for the answer does not want the rest of it.
	kill 'TERM', $self->{pid} if $self->{busy};
	close $self->{in};
	close $self->{answered};
	close $self->{said};
	unlink $self->{path};
	waitpid $self->{pid}, 0;
	$self->{pid} = 0;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $!, $@);
	local $SIG{PIPE} = 'IGNORE';
	$self->gone if $self->{pid};
}

sub ask_once
{
	my ($where, $query) = @_;
	return $where->ask($query) if $where->isa('Session');
	return Session->new($where)->ask($query);
}

# ---- A file system in memory, of a size. A process in a namespace of its own has mounted it; it ends with this object,
# or with the script, and the file system with it. False where this user may mount none.
package OwnFilesystem;
use strict;
use warnings;
use IPC::Open2;

sub new
{
	my ($class, $size) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my @command = qw(unshare --user --map-current-user --keep-caps --mount sh -ec);
	my $mount = "mount -t tmpfs -o size=$size own '$dir' 2>&1 && echo mounted && exec cat";
	my ($out, $in);
	my $pid = eval { open2($out, $in, @command, $mount) } or return;
	return bless { pid => $pid, in => $in, out => $out, path => "/proc/$pid/root$dir" }, $class
	  if (readline($out) // '') eq "mounted\n";
	waitpid $pid, 0;
	return;
}
sub path { return $_[0]{path} }

# Not one byte is left; empty() makes room again.
sub fill
{
	my ($self) = @_;
	open my $f, '>>:raw', "$self->{path}/filler" or die "filler: $!";
	for my $bytes (1 << 20, 4096, 1)
	{
		1 while (syswrite($f, 'x' x $bytes) // 0) == $bytes;
	}
	return;
}
sub empty { my ($self) = @_; return unlink "$self->{path}/filler" }

sub DESTROY
{
	my ($self) = @_;
	local ($?, $!, $@);
	close $self->{in};
	waitpid $self->{pid}, 0;
	return;
}

# ---- All ids that anybody drew.
package Ids;
use strict;
use warnings;
use Test::More;

sub new { my ($class) = @_; return bless { seen => {}, drawn => 0, twice => 0 }, $class }

# Takes ids from an answer: lines that start with the letter of their format. Anything else is said.
sub add
{
	my ($self, $answer) = @_;
	my $n = 0;
	for (split /\n/, $answer)
	{
		next if $_ eq '';
		if (!/^[smi][0-9a-x]+$/) { push @{ $self->{said} }, $_; next }
		$n++;
		next unless $self->{seen}{$_}++;
		$self->{twice}++;
		push @{ $self->{examples} }, $_ if $self->{twice} <= 3;
	}
	$self->{drawn} += $n;
	return $n;
}

# What draws of all formats: `paced` times one of each with a pause of a millisecond, so that each tick of a stretch
# of time has an id, and then `bulk` of each. One line, so that many of them can be sent at once.
sub query
{
	my ($paced, $bulk) = @_;
	return <<"END" =~ s/\s+/ /gr;
	        SELECT concat_ws(E'\\n', 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si(), pg_sleep(0.0005))
	          FROM generate_series(1, $paced);
	        SELECT 's' || i FROM gen_sno_series($bulk) i;
	        SELECT 'm' || i FROM gen_mastic_series($bulk) i;
	        SELECT 'i' || i FROM gen_snowflake_si_series($bulk) i;
	        SELECT concat_ws(E'\\n', 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si())
	          FROM generate_series(1, $bulk)
END
}

# Draws; whatever is said beside ids is a failure.
sub draw
{
	my ($self, $where, $paced, $bulk) = @_;
	$self->{said} = [];
	my $n = $self->add(Session::ask_once($where, query($paced // 60, $bulk // 200)));
	die "drawing failed: @{ $self->{said} }" if @{ $self->{said} };
	return $n;
}

# All that the other one has drawn as well.
sub include
{
	my ($self, $other) = @_;
	my %seen = %{ $other->{seen} };
	$self->add(join "\n", map { ($_) x $seen{$_} } keys %seen);
}

# The time of the latest id, as the types tell it.
sub latest
{
	my ($self, $server) = @_;
	my %latest;
	for (keys %{ $self->{seen} })
	{
		my ($format, $id) = /(.)(.*)/;
		$latest{$format} = $id
		  if !defined $latest{$format} || ($format eq 's' ? $id gt $latest{s} : $id > $latest{$format});
	}
	return Session::ask_once($server,
		"SELECT greatest(sno_timestamp('$latest{s}'), mastic_timestamp($latest{m}), snowflake_si_timestamp($latest{i}))"
	);
}

sub drawn { return $_[0]{drawn} }
sub twice { return $_[0]{twice} }

# The verdict over a fault.
sub none_twice
{
	my ($self, $fault) = @_;
	is($self->{twice}, 0, "$fault: $self->{drawn} ids drawn, none twice") or diag "such as: @{ $self->{examples} }";
	diag sprintf '%-64s %7d ids %4d twice', $fault, $self->{drawn}, $self->{twice};
}

1;
