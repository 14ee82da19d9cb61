# The page that a newcomer reads after the README: the tutorial, with its program.
use Servers;
use IPC::Run ();
use Page;
use PostgreSQL::Test::Utils;

my $tmp = PostgreSQL::Test::Utils::tempdir();
my %node = map { $_ => PostgreSQL::Test::Cluster->new($_) } 'node1', 'node2';
for my $node (values %node)
{
	$node->init;
	$node->append_conf('postgresql.conf', 'snowflake_ids.machine_id = 2') if $node == $node{node2};
	$node->start;
	$node->safe_psql('postgres', 'CREATE DATABASE app');
}

# ---- doc/tutorial.md from top to bottom. Its program runs from the place where the reader starts it.
{
	my $page = Page->new('doc/tutorial.md');
	my ($program) = grep { $page->blocks($_, 'python') } $page->chapters;
	for my $chapter (grep { $page->blocks($_, 'sql') } $page->chapters)
	{
		if   ($chapter eq $program) { read_events($page, $chapter) }
		else                        { $page->run_on(\%node, $chapter) }
	}
	$page->all_run;
}

sub read_events
{
	my ($page, $chapter) = @_;
	my ($tables, $insert) = $page->take($chapter, 'sql');
	my $sql = sub { $node{node1}->safe_psql('app', $_[0] =~ s/^-- on node1\n//r) };
	$sql->($tables->{content});
	my ($python) = grep { found($_, 'import psycopg') } '/usr/bin/python3', 'python3';
  SKIP:
	{
		skip 'psycopg 3 is not installed', 7 unless $python;
		my ($block) = $page->blocks($chapter, 'python');
		my $file = "$tmp/reader.py";
		append_to_file($file, $block->{content});
		local %ENV = (%ENV, PGHOST => $node{node1}->host, PGPORT => $node{node1}->port);
		my ($out, $err) = ('', '');
		my @command = ([ $python, $file ], '>', \$out, '2>', \$err);
		my $reader = IPC::Run::start(@command);
		my $has_read = sub {
			my ($what, @events) = @_;
			my $read = join '\n.* ', @events;
			ok(eventually(sub { $reader->pump_nb if $reader->pumpable; return $out =~ /^\w{16} $read$/m }), $what)
			  or diag "$out$err";
			return;
		};
		$sql->($insert->{content});
		$has_read->('the reader prints the events', 'event 1', 'event 2', 'event 3');

		# The case of the picture
		my $slow = Session->new($node{node1}, dbname => 'app');
		$slow->ask(q{BEGIN; INSERT INTO order_outbox (event) VALUES ('slow')});
		$sql->(q{INSERT INTO order_outbox (event) VALUES ('fast')});
		$has_read->('an open transaction does not hold the reader back', 'fast');
		$slow->ask('COMMIT');
		$has_read->('and its row comes, too', 'slow');

		$sql->(q{UPDATE order_outbox SET event = 'changed' WHERE event = 'fast'});
		$has_read->('a row that is changed is read again', 'changed');

		# It continues after the last batch.
		ok( eventually(
				sub { $sql->('SELECT string_agg(step::text, $$ $$) FROM reader, order_outbox_feed(position)') eq '3' }),
			'it has stored its position');
		$reader->kill_kill;
		$sql->(q{INSERT INTO order_outbox (event) VALUES ('while it was stopped')});
		($out, $err) = ('', '');
		$reader = IPC::Run::start(@command);
		$has_read->('started again, it reads what is new', 'while it was stopped');
		is(scalar(() = $out =~ /\n/g), 1, 'and nothing else') or diag "$out$err";
		$reader->kill_kill;
	}
	return;
}

sub found
{
	my ($python, $code) = @_;
	my ($out, $err) = eval { run_command([ $python, '-c', $code ]) };
	return defined $err && $? == 0;
}

$_->stop for values %node;
done_testing();
