# A page whose commands are run as a reader would run them.
#
#   my $page = Page->new('doc/partitioning.md');
#   my $db = $page->run_chapter($server, 'Add partitions');         a database of its own, named after the chapter
#   $page->run_on({ node1 => $server1, ... }, 'Read replicas');     blocks that say where they run
#   $page->left_out('pg_partman 5.2 or later', 'this is pg_partman 4');
#   $page->all_run;                                                 at the end
#
# ```sql blocks are run. A block without a language after one is its output (psql -At), ```text its output as a table,
# with example ids. run_sh() runs ```sh blocks, or the script take()s them. Others are for the reader.
#
# "-- on node1, node2" in the first line says where a block runs, in database app; "and likewise on the others" repeats
# it with the names turned. Hosts on the page are the servers' names.
package Page;
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

# Which script runs a page, or what is below each of its headings. all_run() and pages_match_sources fail for a heading
# with commands that is missing.
our %run_by = (
	'README.md' => 'commands_of_pages',
	'AGENTS.md' => 'commands_of_pages',
	'doc/tutorial.md' => 'tutorial',
	'doc/queries.md' => 'commands_of_pages',
	'doc/choosing.md' => {
		'What an id tells' => 'commands_of_pages',
		'Hosts that load no C code' => 'hosts_without_c' },
	'doc/operating.md' => 'commands_of_pages',
	'doc/backups.md' => 'commands_of_pages',
	'doc/errors.md' => 'commands_of_pages',    # and the commands that find an orphan: two_servers_on_one_directory
	'doc/layouts.md' => 'commands_of_pages',
	'doc/installing.md' => {
		'' => 'installing',
		'A table and what depends on it' => 'leaving',
		'All tables of a database' => 'leaving',
		'The extension' => 'leaving',
		'If you create it again' => 'leaving' },
	'doc/drivers.md' => {
		'What was run' => 'driver_programs',
		'JSON and JavaScript' => 'driver_programs',
		'MikroORM' => 'schema_tools',
		'Prisma' => 'schema_tools',
		'Alembic' => 'schema_tools',
		'Schema tools and feeds' => 'schema_tools',
		'The function `number`' => 'decoding' },
	'convert/migration.md' => 'pages_of_convert',
	'doc/partitioning.md' => {
		'Add partitions' => 'partitioning',
		'Remove an old month without reading its rows' => 'partitioning',
		'Pruning' => 'partitioning',
		'Partition an existing table' => 'partitioning',
		'Drop old months each night' => 'retention',
		'With psql and cron' => 'retention',
		'With pg_cron' => 'retention',
		'pg_partman 5.2 or later' => 'partitioning' },
	'doc/feed.md' => {
		'Two calls' => 'commands_of_pages',
		'Deleted rows' => 'commands_of_pages',
		'Several readers' => 'commands_of_pages',
		'Empty a position' => 'feeds_operated',
		'A log whose rows are removed' => 'commands_of_pages',
		'Several tables at one moment' => 'commands_of_pages',
		'Many tables' => 'feed_page' },
	'doc/multi-node.md' => {
		'Choosing machine ids' => 'same_machine_id',
		'Kubernetes and Patroni' => 'same_machine_id',
		'Two servers with the same machine id' => 'same_machine_id',
		'Ids that are on both' => 'ids_on_both',
		'A third database that receives both' => 'ids_on_both',
		'Two primaries that have accepted writes' => 'two_primaries',
		'Active-active with logical replication' => 'active_active_agrees',
		'Set up the new server' => 'new_server_by_logical_replication',
		'Switch' => 'new_server_by_logical_replication',
		'Shards with postgres_fdw' => 'shards_by_postgres_fdw' });

sub new
{
	my ($class, $path) = @_;
	my $self = bless {
		path => $path,
		text => slurp_file("$ENV{SNOWFLAKE_IDS_SRC}/$path"),
		chapters => [],
		headings => [],
		blocks => [] }, $class;
	my ($chapter, $heading, $last, %n) = ('', '', {});
	while ($self->{text} =~ /^(##+) ([^\n]*)\n|^```(\w*)\n(.*?)^```\n/msg)
	{
		if (defined $1)
		{
			push @{ $self->{headings} }, $heading = $2;
			push @{ $self->{chapters} }, $chapter = $2 if $1 eq '##';
			($last, %n) = ({});
		}
		elsif ($3 eq '' && $last->{language} && $last->{language} eq 'sql' && !defined $last->{output})
		{
			$last->{output} = $4;
		}
		elsif ($3 eq 'text' && $last->{language} && $last->{language} eq 'sql' && !defined $last->{table})
		{
			$last->{table} = $4;
		}
		else
		{
			$last = { chapter => $chapter, heading => $heading, language => $3, content => $4 };
			$last->{name} = "$heading: " . ($3 eq 'sh' ? 'shell block ' : 'block ') . ++$n{$3};
			push @{ $self->{blocks} }, $last;
		}
	}
	return $self;
}

sub text     { return $_[0]{text} }
sub chapters { return @{ $_[0]{chapters} } }    # titles of level 2
sub headings { return @{ $_[0]{headings} } }    # titles of all levels

# Hashes of language, content, output and, once run, said (what psql wrote). '': before the first chapter.
sub blocks
{
	my ($self, $title, $language) = @_;
	die "$self->{path}: no heading $title" unless grep { $_ eq $title } '', @{ $self->{headings} };
	my $level = grep({ $_ eq $title } '', @{ $self->{chapters} }) ? 'chapter' : 'heading';
	return grep { $_->{$level} eq $title && $_->{language} eq $language } @{ $self->{blocks} };
}

# For a script that runs them itself.
sub take
{
	my ($self, $title, $language) = @_;
	my @blocks = $self->blocks($title, $language);
	$_->{run} = 1 for @blocks;
	return @blocks;
}

sub left_out
{
	my ($self, $title, $why) = @_;
	my @blocks = grep { $_->{heading} eq $title } $self->commands;
	die "$self->{path}: nothing to leave out below $title" unless @blocks;
	$_->{left_out} = $why for @blocks;
	return;
}

# A block is a session with the settings of the blocks before it. Returns the database, which is made unless `dbname`
# names one. `tables`: psql prints tables.
sub run_chapter
{
	my ($self, $server, $title, %options) = @_;
	my $name = $options{dbname};
	if (!$name)
	{
		$name = lc $title =~ s/\W+/_/gr;
		$server->safe_psql('postgres', qq{CREATE DATABASE "$name"});
		$server->safe_psql($name,
			'CREATE EXTENSION ' . ($self->{path} =~ /^convert/ ? 'snowflake_ids_convert CASCADE' : 'snowflake_ids'));
	}
	my $settings = '';
	for ($self->blocks($title, 'sql'))
	{
		my $err = run_block($_, $_->{name}, $server, $name, $settings . $_->{content}, $options{tables});
		is($err =~ s/^psql:\S+ NOTICE:  .*\n?//mgr, '', "$_->{name} says nothing else");
		$settings .= join '', $_->{content} =~ /^SET .*;\n/mg;
	}
	return $name;
}

sub run_on
{
	my ($self, $servers, $title) = @_;
	my @blocks = grep { $_->{heading} eq $title } $self->blocks($title, 'sql');
	die "$self->{path}: no SQL right below $title" unless @blocks;
	for my $block (@blocks)
	{
		my ($where, $others) = $block->{content} =~ /^-- on ([\w, ]+?)(, and likewise on the others)?(?::[^\n]*)?\n/
		  or die "$block->{name} does not say where";
		my @where = split /, /, $where;
		my @ring = $others ? sort keys %$servers : ();
		for my $turn (0 .. ($others ? $#ring : 0))
		{
			my %turned = map { $ring[$_] => $ring[ ($_ + $turn) % @ring ] } 0 .. $#ring;
			my $sql = $block->{content};
			if (my $names = join '|', keys %turned) { $sql =~ s/($names)/$turned{$1}/g }
			for my $name (map { $turned{$_} // $_ } @where)
			{
				my $server = $servers->{$name} or die "$title: no server named $name";
				$block->{warned} =
				  run_block($block, "$block->{name} on $name", $server, 'app', for_servers($sql, $servers));
			}
		}
	}
	return;
}

sub for_servers
{
	my ($sql, $servers) = @_;
	$sql =~ s/'host=(\w+) dbname=app'/my $c = connection($servers->{$1}, $1); "'$c'"/ge;
	$sql =~ s/\bhost '(\w+)'/my $s = server($servers->{$1}, $1); "host '" . $s->host . "', port '" . $s->port . "'"/ge;
	return $sql;
}
sub server { my ($server, $name) = @_; return $server // die "no server named $name" }

sub connection
{
	my $server = server(@_);
	return sprintf 'host=%s port=%d dbname=app', $server->host, $server->port;
}

sub run_block
{
	my ($block, $what, $server, $dbname, $sql, $tables) = @_;
	$tables //= defined $block->{table};
	my @as_table = map { ('-P', $_) } 'format=aligned', 'tuples_only=off', 'footer=off';
	my ($rc, $out, $err) =
	  $server->psql($dbname, $sql, on_error_stop => 1, extra_params => $tables ? \@as_table : []);
	ok($rc == 0, "$what runs") or diag "$sql\n$err";
	is("$out\n", $block->{output}, "$what says what is shown") if defined $block->{output};
	is(example($out), example($block->{table}), "$what shows such a table") if defined $block->{table};
	@$block{ 'run', 'said' } = (1, $out);
	return $err;
}

sub example
{
	my ($table) = @_;
	return $table =~ s/\b[2-9a-x]{16}\b/ID/gr =~ s/\d{4}-\d\d-\d\d [\d:.]+\+\d\d/TIME/gr =~ s/ +/ /gr =~
	  s/\b1\.[0-9a-f]+\.\S*/POSITION/gr =~ s/,\d+\)/,STAMP)/gr =~ s/-{2,}/-/gr =~ s/ ?\n/\n/gr =~ s/ ?\s*\z//r;
}

sub run_sh
{
	my ($self, $title, $dir, %env) = @_;
	for ($self->blocks($title, 'sh'))
	{
		local %ENV = (%ENV, %env);
		my ($out, $err) = run_command([ 'sh', '-ec', "cd '$dir'\n$_->{content}" ]);
		is($?, 0, "$_->{name} runs") or diag "$_->{content}\n$out\n$err";
		@$_{ 'run', 'said' } = (1, $out);
	}
	return;
}

# Every command was run here or in another script, or left out: a skipped test, whose reason tools/test shows.
sub all_run
{
	my ($self) = @_;
	my $script = $FindBin::Script =~ s/\.pl$//r;
	my %why;
	my @left;
	for ($self->commands)
	{
		next if $_->{run};
		my $by = script_of($self->{path}, $_->{heading}) // '';
		if    ($by eq $script && $_->{left_out}) { push @{ $why{"$_->{heading}: $_->{left_out}"} }, $_ }
		elsif ($by eq $script || $by eq '')      { push @left, $_->{name} }
	}
	for (sort keys %why)
	{
	  SKIP: { skip "$self->{path}, $_", 1 }
	}
	is(join("\n", @left), '', "$self->{path}: all its commands are run");
	return;
}

sub commands
{
	return grep { $_->{language} =~ /^(sql|sh)$/ } @{ $_[0]{blocks} };
}

sub script_of
{
	my ($path, $heading) = @_;
	my $by = $run_by{$path};
	return ref $by ? $by->{$heading} : $by;
}

1;
