# A page of doc/, whose commands are run as a reader would run them.
#
#   my $page = Page->new('doc/partitioning.md');
#   my $db = $page->run_chapter($server, 'Without pg_partman');     a database of its own, named after the chapter
#
# ```sql blocks are run; a block without a language after one is what it says, as psql -At prints it. A block is a
# session of its own, in the settings (SET) of the blocks before it in its chapter. ```sh blocks are run by run_sh().
# Others are for the reader, or for the script: blocks() lists them.
package Page;
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;

sub new
{
	my ($class, $path) = @_;
	my $self = bless { path => $path, text => slurp_file("$ENV{SNOWFLAKE_IDS_SRC}/$path"), chapters => [] }, $class;
	my ($title, $last) = ('', {});
	while ($self->{text} =~ /^(##+) ([^\n]*)\n|^```(\w*)\n(.*?)^```\n/msg)
	{
		if (defined $1)
		{
			push @{ $self->{headings} }, $2;
			next if $1 ne '##';
			push @{ $self->{chapters} }, $title = $2;
			$last = {};
		}
		elsif ($3 eq '' && $last->{language} && $last->{language} eq 'sql' && !defined $last->{output}) { $last->{output} = $4 }
		else { push @{ $self->{blocks}{$title} }, $last = { language => $3, content => $4 } }
	}
	return $self;
}

sub text { return $_[0]{text} }
sub chapters { return @{ $_[0]{chapters} } }    # titles of level 2
sub headings { return @{ $_[0]{headings} } }    # titles of all levels

# The blocks of a chapter in one language, as hashes of language, content, output and, once run, said.
sub blocks
{
	my ($self, $title, $language) = @_;
	die "$self->{path}: no chapter named $title" unless grep { $_ eq $title } '', @{ $self->{chapters} };
	return grep { $_->{language} eq $language } @{ $self->{blocks}{$title} // [] };
}

# Runs the SQL of a chapter. Returns the name of the database, which is made unless `dbname` names one that is there.
sub run_chapter
{
	my ($self, $server, $title, %options) = @_;
	my $name = $options{dbname};
	if (!$name)
	{
		$name = lc $title =~ s/\W+/_/gr;
		$server->safe_psql('postgres', qq{CREATE DATABASE "$name"});
		$server->safe_psql($name, 'CREATE EXTENSION snowflake_ids');
	}
	my ($n, $settings) = (0, '');
	for ($self->blocks($title, 'sql'))
	{
		$n++;
		my ($rc, $out, $err) = $server->psql($name, $settings . $_->{content}, on_error_stop => 1);
		$err =~ s/^psql:\S+ NOTICE:  .*\n?//mg;
		is($rc . $err, '0', "$title: block $n runs") or diag $_->{content};
		is("$out\n", $_->{output}, "$title: block $n says what is shown") if defined $_->{output};
		$settings .= join '', $_->{content} =~ /^SET .*;\n/mg;
		$_->{said} = $out;
	}
	return $name;
}

# Runs the shell commands of a chapter in directory `dir`, with what `env` says in the environment.
sub run_sh
{
	my ($self, $title, $dir, %env) = @_;
	my $n = 0;
	for ($self->blocks($title, 'sh'))
	{
		$n++;
		local %ENV = (%ENV, %env);
		my ($out, $err) = run_command([ 'sh', '-ec', "cd '$dir'\n$_->{content}" ]);
		is($?, 0, "$title: shell block $n runs") or diag "$_->{content}\n$out\n$err";
		$_->{said} = $out;
	}
	return;
}

# Every chapter that has commands is one of these; so that a new one is not left out.
sub all_run
{
	my ($self, @run) = @_;
	my %run = map { $_ => 1 } @run;
	my @left = grep { !$run{$_} && grep { $_->{language} =~ /^(sql|sh)$/ } @{ $self->{blocks}{$_} // [] } } @{ $self->{chapters} };
	is("@left", '', "$self->{path}: all its commands are run");
}

1;
