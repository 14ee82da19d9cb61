# Servers with a clock that can be moved, sessions, and a collection of all ids.
#
#   use Servers;                              also strict, warnings and Test::More
#   my $clock  = clock();                     one for each server, or one for all
#   my $server = new_server('name', $clock);
#   my $ids    = Ids->new;
#   $ids->draw($server);                      a server or a Session
#   $clock->set(-3600);                       one hour behind, at once
#   $ids->none_twice('fault');
package Servers;
use strict;
use warnings;
use Exporter;
use Time::HiRes qw(sleep time);
use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @ISA = 'Exporter';
our @EXPORT =
  qw(clock new_server plain_server start_at standby_of rewind copy_of restart_after draw_at_all_times kill_postmaster kill_backend comes_back fails_with
  wait_for_log log_since log_mark shim slurp spew lose_power value more_are_drawn caught_up flushed_lsn reload eventually
  best_of seeded
  only_connected module has_program small_filesystem segments_of own_installation sleep time);

sub import
{
	my ($class, @names) = @_;
	$_->import for 'strict', 'warnings';
	$_->export_to_level(1, $_, $_ eq $class ? @names : ()) for 'Test::More', $class;
	return;
}

my %shims;

# How long tests wait for a state that never comes. Mutants do not wait that long, and the script ends there.
use constant longest_wait => $ENV{LONGEST_WAIT} // 180;

# Returns the first true result of `look`; after a long time, its last.
sub eventually
{
	my ($look) = @_;
	my $until = time + longest_wait;
	my ($seen, $pause) = (undef, 0.02);
	until (($seen = $look->()) || time > $until)
	{
		sleep $pause;
		$pause *= 1.2 if $pause < 0.2;
	}
	die "a state that never comes\n" if !$seen && $ENV{LONGEST_WAIT};
	return $seen;
}

# The least of what `measure` returns: a busy machine makes durations longer, not shorter. Ends below `enough`.
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

# Writes the seed of rand() into the log, once. SEED=N makes the same choices again.
my $seed;

sub seeded
{
	return if defined $seed;
	$seed = $ENV{SEED} // int rand 2**31;
	srand $seed;
	note "SEED=$seed";
	return;
}

# Waits until the lead of a start is over. `schema`: the extension's.
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

# Flushes a record first, because what the WAL writer flushes may end inside one, and may wait for a checkpoint after a
# step back.
sub flushed_lsn
{
	my ($server) = @_;
	$server->safe_psql('postgres', q{SET synchronous_commit = local; SELECT pg_logical_emit_message(true, 'test', '')});
	return $server->safe_psql('postgres', 'SELECT pg_current_wal_flush_lsn()');
}

# Returns when new connections, and these sessions, have the new configuration.
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

# Compiles test/support/NAME.c. Without a compiler the script is skipped, in CI it fails.
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

# A server under a clock, with the extension in database postgres. It does not sync: killing loses nothing that the
# kernel has (see under_power_loss()). Options: conf (text), synced (remember what is synced), install_path, those of
# init().
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
$conf
END
	start_at($server, $clock);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');
	return $server;
}

# A server with the real clock, and without the extension. `conf`; others as those of init().
sub plain_server
{
	my ($name, %options) = @_;
	my $conf = delete $options{conf};
	my $server = PostgreSQL::Test::Cluster->new($name);
	$server->init(%options);
	$server->append_conf('postgresql.conf', $conf) if defined $conf;
	$server->start;
	return $server;
}

# A killed postmaster's backends keep its memory for a moment, so a start may fail.
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

# Returns when the last child has noticed, and removes the lock files: a zombie would pass for a postmaster.
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

# The server restarts by itself.
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

# A session whose client is gone ends its statement first.
sub only_connected
{
	my ($server, @sessions) = @_;
	my $others =
	  sub { value($server, "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'") };
	eventually(sub { $others->() == @sessions }) or die 'sessions do not end';
	return;
}

# Without poll_query_until(), because IPC::Run dies of a psql that was refused.
sub comes_back
{
	my ($server) = @_;
	eventually(sub { value($server, 'SELECT 1') eq '1' }) or die 'the server did not come back';
	return;
}

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

# What is said must match all patterns.
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

# True if each format did.
sub more_are_drawn
{
	my ($where) = @_;
	my $issued = sub {
		map { split /\|/ } split /\n/,
		  value($where, "SELECT format, sum(issued) FROM snowflake_ids.stats GROUP BY format");
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

sub spew
{
	my ($path, $content) = @_;
	open my $f, (-e $path ? '+<:raw' : '>:raw'), $path or die "$path: $!";
	print $f $content;
	truncate $f, length $content;
	close $f or die "$path: $!";
}

# A standby from the primary's backup "base"; `clock`, `conf` if it has any
sub standby_of
{
	my ($primary, $name, $clock, $conf) = @_;
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	$standby->append_conf('postgresql.conf', $conf) if $conf;
	if   ($clock) { start_at($standby, $clock) }
	else          { $standby->start }
	return $standby;
}

# A stopped primary becomes a standby of the promoted one; the caller starts it. pg_rewind also takes the other one's
# postgresql.conf, so its own is put back. Returns whether it could.
sub rewind
{
	my ($old, $new) = @_;
	my $conf = slurp($old->data_dir . '/postgresql.conf');
	my $rewound =
	  system('pg_rewind', '--target-pgdata', $old->data_dir, '--source-server', $new->connstr('postgres'), '--no-sync')
	  == 0;
	spew($old->data_dir . '/postgresql.conf', $conf);
	$old->append_conf('postgresql.conf', "primary_conninfo = '" . $new->connstr . "'\n");
	$old->set_standby_mode;
	return $rewound;
}

# From the first start on, what is synced is remembered.
sub under_power_loss
{
	my ($server) = @_;
	$server->{sfids_preload} = shim('sync_shim');
	$server->{sfids_synced} = $server->basedir . '/synced';
	mkdir $server->{sfids_synced};
}

# Takes what was not synced from WAL and the ceiling file. Data pages stay, since WAL is synced before them.
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

# In CI it must be there, unless tools/setup could not get it.
sub has_program
{
	my ($name) = @_;
	return 1 if system("command -v $name >/dev/null") == 0;
	die "$name is not installed" if $ENV{CI} && !-e "$ENV{SNOWFLAKE_IDS_SRC}/build/drivers/not-installed";
	return 0;
}

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

# A directory for the front of PATH: servers started with it have an empty file system of `size` in `directory`.
# Undefined where this user may make none. `then`: shell commands in it.
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

# ---- real time and an offset
package Clock;
use strict;
use warnings;
use Time::HiRes;

my $clocks = 0;

sub new
{
	my ($class) = @_;
	Servers::shim('clock_shim');
	my $file = PostgreSQL::Test::Utils::tempdir_short() . '/clock' . ++$clocks;
	my $self = bless { file => $file, offset => 0, passed => 0 }, $class;
	open $self->{handle}, '>:raw', $file or die "$file: $!";
	$self->set(0);
	return $self;
}

# Seconds ahead of real time, in one write of 8 bytes: no process sees half of it.
sub set
{
	my ($self, $offset) = @_;
	$self->{offset} = $offset;
	sysseek $self->{handle}, 0, 0;
	syswrite $self->{handle}, pack('q', sprintf '%.0f', $offset * 1e9);
}

# Moves the monotonic clock, by which timeouts go.
sub pass
{
	my ($self, $seconds) = @_;
	$self->{passed} += $seconds;
	sysseek $self->{handle}, 8, 0;
	syswrite $self->{handle}, pack('q', sprintf '%.0f', $self->{passed} * 1e9);
}

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

# ---- a psql that stays connected. Its output goes to a file, because an unread pipe stops it at 64 kB.
package Session;
use strict;
use warnings;
use IPC::Open2;

my ($questions, $sessions, $said_in) = (0, 0);

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

# One line, or little: psql begins before it reads on.
sub send
{
	my ($self, $query) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $mark = $self->{mark} = 'end of answer ' . ++$questions;
	$self->{busy} = 1;

	# After the data of a COPY: psql from 15.19 on takes what follows another ';' for data; older ones keep refused data in
	# their buffer, which \r empties.
	my $end = $query =~ /^\\\.\n\z/m ? '\r' : ';';
	print { $self->{in} } "$query$end\n\\echo $mark\n\\o /proc/self/fd/3\n\\qecho\n\\o\n";
	$self->{in}->flush;
	return $self;
}

# `cut_short`: psql ended before it was complete.
sub answer
{
	my ($self) = @_;
	{
		local $SIG{ALRM} = sub { die 'no answer, so far: ' . $self->said };
		alarm Servers::longest_wait;
		$self->{cut_short} = !defined readline $self->{answered};
		alarm 0;
	}
	$self->{busy} = 0;
	my $said = $self->said;
	$said =~ s/\Q$self->{mark}\E\n\z// or $self->{cut_short} or die "an answer without its end: $said";
	chomp $said;
	return $said;
}

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

package Ids;
use strict;
use warnings;
use Test::More;

sub new { my ($class) = @_; return bless { seen => {}, drawn => 0, twice => 0 }, $class }

# Lines that start with the letter of their format. Anything else is returned.
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

# `paced`: one of each format with a pause of a millisecond, so that each tick has an id. In one line, for
# Session::send.
sub query
{
	my ($paced, $bulk) = @_;
	return <<"END" =~ s/\s+/ /gr;
	        SELECT concat_ws(E'\\n', 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si(), pg_sleep(0.0005))
	          FROM generate_series(1, $paced);
	        SELECT 's' || gen_sno() FROM generate_series(1, $bulk);
	        SELECT 'm' || gen_mastic() FROM generate_series(1, $bulk);
	        SELECT 'i' || gen_snowflake_si() FROM generate_series(1, $bulk);
	        SELECT concat_ws(E'\\n', 's' || gen_sno(), 'm' || gen_mastic(), 'i' || gen_snowflake_si())
	          FROM generate_series(1, $bulk)
END
}

sub draw
{
	my ($self, $where, $paced, $bulk) = @_;
	$self->{said} = [];
	my $n = $self->add(Session::ask_once($where, query($paced // 60, $bulk // 200)));
	die "drawing failed: @{ $self->{said} }" if @{ $self->{said} };
	return $n;
}

sub include
{
	my ($self, $other) = @_;
	my %seen = %{ $other->{seen} };
	$self->add(join "\n", map { ($_) x $seen{$_} } keys %seen);
}

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

sub none_twice
{
	my ($self, $fault) = @_;
	is($self->{twice}, 0, "$fault: $self->{drawn} ids drawn, none twice") or diag "such as: @{ $self->{examples} }";
	diag sprintf '%-64s %7d ids %4d twice', $fault, $self->{drawn}, $self->{twice};
}

1;
