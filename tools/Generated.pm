# Generated: pages of which a program writes a part.
package Generated;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(slurp spew put_between replaced grouped);

sub slurp
{
	my ($path) = @_;
	open my $in, '<', $path or die "$path: $!\n";
	local $/;
	return scalar <$in>;
}

sub spew
{
	my ($path, $content) = @_;
	open my $out, '>', $path or die "$path: $!\n";
	print $out $content;
	close $out or die "$path: $!\n";
	return;
}

# Replaces what is between the lines <!-- NAME --> and <!-- /NAME -->.
sub put_between
{
	my ($page, $name, $content) = @_;
	my $text = slurp($page);
	$text =~ s/^<!-- $name -->\n\K.*?(?=^<!-- \/$name -->\n)/$content/ms or die "$page has no place for $name\n";
	spew($page, $text);
	return;
}

# The files below a directory that a list changes, and what they become: file, what stands there once, what it becomes.
sub replaced
{
	my ($directory, @changes) = @_;
	my %text;
	while (my ($file, $from, $to) = splice @changes, 0, 3)
	{
		my $text = $text{$file} // slurp("$directory/$file");
		my $places = () = $text =~ /\Q$from\E/g;
		die "$file has $places places with: $from\n" unless $places == 1;
		$text{$file} = $text =~ s/\Q$from\E/$to/r;
	}
	return %text;
}

# 1234567 is 1,234,567.
sub grouped { return scalar reverse join ',', unpack '(A3)*', reverse $_[0] }

1;
