# What a sweep does in `make test`, and in `make test-all`.
#
#   for (part(@cases)) ...        every fourth case in `make test`, all in `make test-all` and in a chosen script
#   rows => whole() ? 5e6 : 1e6
package Quick;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(part whole);

sub whole { return !$ENV{QUICK} }

sub part
{
	my (@cases) = @_;
	return @cases if whole();
	return @cases[ grep { $_ % 4 == 0 } 0 .. $#cases ];
}

1;
