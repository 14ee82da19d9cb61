# The messages that the sources can raise, to compare them with the pages.
#
#   for my $m (Messages::all()) { $m->{file}, $m->{convert}, $m->{level}, $m->{message}, $m->{hint}, $m->{sqlstate} }
#
# A value in a message is "…".
package Messages;
use strict;
use warnings;
use PostgreSQL::Test::Utils;

sub _literal
{
	my ($code) = @_;
	my $text = '';
	while ($code =~ /\G\s*(?:"((?:[^"\\]|\\.)*)"|([A-Z0-9_]+_FORMAT))/gc) { $text .= $1 // '%d' }
	return if $text eq '';
	$text =~ s/%[-0-9.]*(?:ll|l|z)?[a-zA-Z]/…/g;
	$text =~ s/…(?:…)+/…/g;
	$text =~ s/\\"/"/g;
	return $text;
}

sub _parenthesis
{
	my ($code, $at) = @_;
	pos($code) = $at;
	return $code =~ /\G(\((?:[^()"]++|"(?:[^"\\]|\\.)*+"|(?1))*+\))/
	  ? $1
	  : die 'a parenthesis that does not close: ' . substr $code, $at, 80;
}

sub all
{
	my (@all, %states);
	chomp(my $include = `pg_config --includedir-server`);
	my $errcodes = slurp_file("$include/utils/errcodes.h");
	$states{$1} = join '', split /\W+/, $2 while $errcodes =~ /^#define (\w+) MAKE_SQLSTATE\('(.*?)'\)/mg;
	my $src = "$ENV{SNOWFLAKE_IDS_SRC}/src";
	for my $file (sort glob "$src/pg/*.[ch]pp $src/pg/*/*.[ch]pp $src/../convert/src/*.[ch]pp")
	{
		my $code = slurp_file($file) =~ s{^\s*//.*$}{}mgr =~ s/^#define.*?[^\\]$//msgr;
		while ($code =~ /\bereport\s*(?=\()/g)
		{
			my $report = _parenthesis($code, pos $code);
			my ($level) = $report =~ /^\(\s*(LOG(?=_SERVER_ONLY)|\w+)/;
			my ($message) = map { _literal($_) } $report =~ /\berrmsg\((.*)/s;
			next unless defined $message;
			my ($code_name) = $report =~ /\berrcode\((\w+)\)/;
			push @all,
			  { file => $file =~ s{.*/}{}r,
				convert => scalar($file =~ m{/convert/}),
				level => $level,
				message => $message,
				hint => scalar($report =~ /\berrhint\(/),
				sqlstate => $code_name && $states{$code_name} };
		}
	}
	for my $file (sort glob "$src/sql/*.sql $ENV{SNOWFLAKE_IDS_SRC}/convert/src/sql/*.sql")
	{
		my $code = slurp_file($file);
		while ($code =~ /\bRAISE\s+(?:(EXCEPTION|WARNING|NOTICE|LOG|INFO|DEBUG)\s+)?'((?:[^']|'')*)'([^;]*);/g)
		{
			my ($level, $message, $rest) = ($1 // 'EXCEPTION', $2, $3);
			$message =~ s/''/'/g;
			$message =~ s/%+/…/g;
			push @all,
			  { file => $file =~ s{.*/}{}r,
				convert => scalar($file =~ m{/convert/}),
				level => $level eq 'EXCEPTION' ? 'ERROR' : $level,
				message => $message,
				hint => scalar($rest =~ /\bHINT\s*=/i) };
		}
		while ($code =~ /\.fail\(\s*'(\w{5})',\s*(?:format\()?'((?:[^']|'')*)'([^;]*);/g)
		{
			my ($sqlstate, $message, $rest) = ($1, $2, $3);
			push @all,
			  { file => $file =~ s{.*/}{}r,
				convert => scalar($file =~ m{/convert/}),
				level => 'ERROR',
				message => $message =~ s/''/'/gr =~ s/%[sI]/…/gr,
				hint => scalar($rest =~ /\bhint =>/),
				sqlstate => $sqlstate };
		}
	}
	return @all;
}

1;
