# Runs the commands of a page in doc/ as it shows them.
#
#   my $doc = Doc->new('multi-node');
#   $doc->run('Title of a chapter', { node1 => $server1, ... });
#
# The first line of an SQL block says where it runs: "-- on node1" or "-- on node1, node2", in database app. With "and
# likewise on the others", the same is done on each of the servers after it in turn, with the names turned too.
# The page's hosts are the servers' names: connection strings and options of foreign servers are made to fit.
# Output that follows a block at once is what each of its servers must say.
package Doc;
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;

sub new
{
	my ($class, $page) = @_;
	my $text = slurp_file("$ENV{SNOWFLAKE_IDS_SRC}/doc/$page.md");
	my (%chapter, $title);
	while ($text =~ /^##+ ([^\n]*)\n|^```(\w*)\n(.*?)^```\n(?:```\n(.*?)^```\n)?/msg)
	{
		if (defined $1) { $title = $1 }
		elsif ($2) { push @{ $chapter{$title} }, { language => $2, text => $3, output => $4 } }
	}
	return bless { chapter => \%chapter }, $class;
}

# The blocks of a chapter that are in a language.
sub blocks
{
	my ($self, $title, $language) = @_;
	my @blocks = grep { $_->{language} eq $language } @{ $self->{chapter}{$title} };
	die "no $language in a chapter named $title" unless @blocks;
	return @blocks;
}

# Plans look different from version to version: what is shown is not compared.
sub ignore_output
{
	my ($self, $title) = @_;
	delete $_->{output} for @{ $self->{chapter}{$title} };
}

sub run
{
	my ($self, $title, $servers) = @_;
	my $n = 0;
	for my $block ($self->blocks($title, 'sql'))
	{
		$n++;
		my ($where, $others) = $block->{text} =~ /^-- on ([\w, ]+?)(, and likewise on the others)?(?::[^\n]*)?\n/
		  or die "$title: block $n does not say where";
		my @where = split /, /, $where;
		my @ring = $others ? sort keys %$servers : ();
		for my $turn (0 .. ($others ? $#ring : 0))
		{
			my %turned = map { $ring[$_] => $ring[ ($_ + $turn) % @ring ] } 0 .. $#ring;
			my $sql = $block->{text};
			if (my $names = join '|', keys %turned) { $sql =~ s/($names)/$turned{$1}/g }
			for my $name (map { $turned{$_} // $_ } @where)
			{
				my $server = $servers->{$name} or die "$title: no server named $name";
				run_block("$title: block $n on $name", $server, for_servers($sql, $servers), $block);
			}
		}
	}
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
	my ($what, $server, $sql, $block) = @_;
	my ($rc, $out, $err) = $server->psql('app', $sql, on_error_stop => 1);
	ok($rc == 0, "$what runs") or diag "$sql\n$err";
	is("$out\n", $block->{output}, "$what says what is shown") if defined $block->{output};
	$block->{said} = $out;
	$block->{warned} = $err;
}

1;
