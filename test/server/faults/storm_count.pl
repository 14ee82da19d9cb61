# The counter of the storm (test/proofs/storm/count.cpp) finds what is planted in logs, and nothing in a clean one.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

my $program = PostgreSQL::Test::Utils::tempdir() . '/count';
my @compiler = split ' ', $ENV{CXX} // 'c++';
if (system(@compiler, qw(-std=c++20 -O1 -o), $program, "$FindBin::RealBin/../../proofs/storm/count.cpp") != 0)
{
	die 'cannot compile the counter' if $ENV{CI};
	plan skip_all => 'cannot compile the counter';
}
my ($out, $err) = run_command([ $program, '--self-test' ]);
is($?, 0, 'the counter passes its own test') or diag $err;
my ($planned) = $out =~ /^1\.\.(\d+)$/m;
cmp_ok($planned // 0, '>', 25, 'of ' . ($planned // 0) . ' logs');
for (split /\n/, $out) { ok(!$1, $2) if /^(not )?ok \d+ - (.*)/; diag $_ if /^#/ }
is(() = $out =~ /^ok /mg, $planned, 'each was judged right');
done_testing();
