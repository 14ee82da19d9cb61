# A new server takes over (blue/green), 10 s behind. Without the steps of doc/multi-node.md a reader loses the first new
# rows, whose ids lie below its position.
use Servers;
use Page;

my ($right, $behind) = (clock(), clock());
$behind->set(-10);
my %server;
for ([ old => 1, $right ], [ new => 2, $behind ])
{
	my ($name, $number, $clock) = @$_;
	$server{$name} =
	  new_server($name, $clock, allows_streaming => 'logical', conf => "snowflake_ids.machine_id = $number");
	$server{$name}->safe_psql('postgres', 'DROP EXTENSION snowflake_ids');
	$server{$name}->safe_psql('postgres', "CREATE DATABASE $_") for 'control', 'app';
}
my ($old, $new) = @server{ 'old', 'new' };
my $table = 'CREATE TABLE message (id sno DEFAULT gen_sno() PRIMARY KEY, body text)';
my $insert = q{INSERT INTO message (body) SELECT 'row' FROM generate_series(1, 100)};

package Reader
{
	sub new { my ($class, $db) = @_; return bless { db => $db, position => '2222222222222222', read => {} }, $class }

	sub read_all
	{
		my ($self, $server) = @_;
		my $rows = $server->safe_psql($self->{db}, "SELECT id FROM message WHERE id > '$self->{position}' ORDER BY id");
		for (split /\n/, $rows) { $self->{read}{ $self->{position} = $_ }++ }
		return;
	}

	sub lost
	{
		my ($self, $server) = @_;
		my @ids = split /\n/, $server->safe_psql($self->{db}, 'SELECT id FROM message');
		return
			scalar(@ids)
		  . ' rows, '
		  . (grep { !$self->{read}{$_} } @ids)
		  . ' lost, '
		  . (grep { $_ > 1 } values %{ $self->{read} })
		  . ' twice';
	}
}

sub take_over
{
	my ($db, $set_up, $switch) = @_;
	my $reader = Reader->new($db);
	$set_up->();
	$new->wait_for_subscription_sync($old, 'new_server', $db);
	$old->safe_psql($db, $insert);
	$reader->read_all($old);
	$old->safe_psql($db, $insert);
	$switch->($reader);
	$new->safe_psql($db, $insert);
	$reader->read_all($new);
	return $reader->lost($new);
}

is( take_over(
		'control',
		sub {
			$_->safe_psql('control', "CREATE EXTENSION snowflake_ids; $table") for $old, $new;
			my $from = $old->connstr('control') =~ s/'/''/gr;
			$old->safe_psql('control', 'CREATE PUBLICATION new_server FOR ALL TABLES');
			$new->safe_psql('control', "CREATE SUBSCRIPTION new_server CONNECTION '$from' PUBLICATION new_server");
		},
		sub {
			$_[0]->read_all($old);
			$old->wait_for_catchup('new_server');
			$new->safe_psql('control', 'DROP SUBSCRIPTION new_server');
		}),
	'300 rows, 100 lost, 0 twice',
	'control: without the steps of the page, the rows of the new server are lost to the reader');

my $page = Page->new('doc/multi-node.md');

is( take_over(
		'app',
		sub { $page->run_on(\%server, 'Set up the new server') },
		sub { $page->run_on(\%server, 'Switch') }),
	'300 rows, 0 lost, 0 twice',
	'as the page says: the reader gets each row once');
$page->all_run;

my $last = $new->safe_psql('app', 'SELECT max(id) FROM message');
restart_after($new, 'immediate', -10);
is($new->safe_psql('app', "SELECT gen_sno() > '$last'"), 't', 'after a crash, ids continue above');

$_->stop for $new, $old;
done_testing();
