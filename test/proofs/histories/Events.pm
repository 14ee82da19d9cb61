# Each event has a round of its own.
#   begin   before the writers begin
#   middle  while they are at work
#   last    every reader must get every row now
#   after   when all have left
#   rest    readers rest in the middle
#   may_fail, loses_async   errors that writers may get; a crash loses commits that did not wait
package Events;
use strict;
use warnings;
use Ddl;
use Faults;
use World;

my ($elsewhere, $loop);
my $held = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'};

sub hold_commits
{
	World::set('synchronous_standby_names', 'nobody');
	World::act_till(sub { value($World::primary, $held) > 0 }, 'a transaction waits between commit record and its end');
	World::act_on();
	return;
}

our @events = (
	{ name => 'nothing' },
	{   name => 'held at commit',
		middle => sub { hold_commits(); World::set('synchronous_standby_names', '') }
	},
	{   name => 'held at commit, then kill -9',
		loses_async => 1,
		middle => sub {
			hold_commits();
			World::restart('kill -9');
			World::set('synchronous_standby_names', '');
		}
	},
	{   name => 'SIGSTOP of writers',
		middle => sub {
			for (1 .. 12)
			{
				my $pid = World::writer_at_work() or next;
				kill 'STOP', $pid;
				World::act_on();
				kill 'CONT', $pid;
			}
		}
	},
	{   name => 'kill -9 of a writer',
		loses_async => 1,
		middle => sub { kill_backend($World::primary); World::all_leave() }
	},
	{   name => 'kill -9 of the server',
		loses_async => 1,
		middle => sub { World::restart('kill -9') }
	},
	{   name => 'restart',
		middle => sub { World::restart('fast') }
	},
	{   name => 'clock stands still, then 10 s back',
		middle => sub {
			my $then = $World::clock->now;
			World::act_on(sub { $World::clock->set_to($then) });
			$World::clock->step(-10);
			World::act_on();
		}
	},
	{   name => 'clock 10 s ahead, and back',
		middle => sub { $World::clock->step(10); World::act_on(); $World::clock->step(-10) }
	},
	{   name => '40 prepared elsewhere',
		begin => sub {
			my $manager = Session->new($World::primary, dbname => 'other');
			$manager->ask("BEGIN; INSERT INTO news DEFAULT VALUES; PREPARE TRANSACTION 'elsewhere $_'") for 1 .. 40;
			$manager->ask('SELECT count(*) FROM pg_prepared_xacts') eq '40' or die 'not prepared';
			$elsewhere = $manager;
		},
		last => sub { $elsewhere->ask("COMMIT PREPARED 'elsewhere $_'") for 1 .. 40; undef $elsewhere }
	},
	{   name => 'temporary rows in a loop',
		begin => sub {
			$loop = Session->new($World::primary);
			my $pid = $loop->{backend} = $loop->ask('SELECT pg_backend_pid()');
			$loop->send('CALL commit_temporary_rows(1000000000)');
		},
		last => sub { World::ask("SELECT pg_terminate_backend($loop->{backend})"); undef $loop }
	},
	{   name => 'DETACH CONCURRENTLY, then ATTACH',

		may_fail => qr/no partition of relation "divided" found for row|a reader of "divided_1" could miss rows/,
		middle => \&Ddl::detach,
		last => \&Ddl::detached,
		after => \&Ddl::attach_again },
	{   name => 'new children',
		middle => \&Ddl::add_children,
		after => \&Ddl::drop_children },
	{   name => 'CLUSTER, then TRUNCATE',
		middle => \&Ddl::rewrite_and_truncate },
	{   name => 'promotion',
		rest => 1,
		middle => sub { $World::standby_clock->step(-5); World::fail_over() }
	});

1;
