# Mutants of a C++ file, found by its tokens: mutants_of() lists them, switched() writes the file with all of them. What
# a mutant is stands in tools/mutants.
package Mutants;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(mutants_of switched can_switch slurp);

sub slurp
{
	my ($name) = @_;
	open(my $f, '<', $name) or die "$name: $!\n";
	local $/;
	return scalar <$f>;
}

# ---- tokens

my $punctuator =
  qr/<=>|<<=|>>=|->\*|\.\.\.|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|\*=|\/=|%=|&=|\|=|\^=|->|::|[-+*\/%<>=!&|^~?:;,.(){}\[\]#]/;

# Each with its text, offset, whether blanks are around it, and the place of the bracket that belongs to it.
sub tokens
{
	my ($text) = @_;
	my @tokens;
	while ($text !~ /\G\s*\z/gc)
	{
		$text         =~ /\G\s+/gc;
		next if $text =~ m{\G//[^\n]*}gc || $text =~ m{\G/\*.*?\*/}gcs;
		next if $text =~ m{\G\#(?:[^\n\\]|\\.)*}gcs;
		my $at = pos($text);
		my $kind =
			$text =~ /\G(?:u8|L)?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/gc ? 'string'
		  : $text =~ /\G\d(?:'?[\w.])*/gc                                   ? 'number'
		  : $text =~ /\G[A-Za-z_]\w*/gc                                     ? 'name'
		  : $text =~ /\G$punctuator/gc                                      ? 'op'
		  :                                                                   die "no token: " . substr($text, $at, 20);
		my $end = pos($text);
		push @tokens,
		  { kind => $kind,
			text => substr($text, $at, $end - $at),
			at => $at,
			end => $end,
			spaced => substr($text, $at - 1, 1) =~ /\s/ && substr($text, $end, 1) =~ /\s/ ? 1 : 0 };
	}
	my @open;
	for my $i (0 .. $#tokens)
	{
		$tokens[$i]{in} = @open ? $open[-1] : -1;
		push @open, $i if $tokens[$i]{text} =~ /^[({\[]$/;
		next unless $tokens[$i]{text} =~ /^[)}\]]$/;
		my $partner = pop @open;
		$tokens[$i]{in} = @open ? $open[-1] : -1;
		@{ $tokens[$i] }{qw(partner)} = ($partner);
		$tokens[$partner]{partner} = $i;
	}
	return \@tokens;
}

# ---- mutants of a file
#
# A mutant has an edit: at, end, new. One that can be switched has also what is written for that: `put` are replacements
# [at, end, text], `span` what is put around a range [at, end, before, after].

my %other = (
	'<' => '<=',
	'<=' => '<',
	'>' => '>=',
	'>=' => '>',
	'==' => '!=',
	'!=' => '==',
	'+' => '-',
	'-' => '+',
	'+=' => '-=',
	'-=' => '+=',
	'<<' => '>>',
	'>>' => '<<',
	'&' => '|',
	'|' => '&',
	'&&' => '||',
	'||' => '&&');
my $not_statement =
  qr/^(?:return|if|else|for|while|do|switch|case|default|using|namespace|template|struct|class|enum|union|friend|typedef|extern|goto|public|private|protected|inline|static|constexpr|const|auto|typename|unsigned|static_assert|try|throw|alignas|break|continue|operator|explicit|virtual|mutable|volatile|~)\b/;

sub mutants_of
{
	my ($file) = @_;
	my $text = slurp($file);
	my $t = tokens($text);
	my @found;
	my @line_at = (0);
	push @line_at, pos($text) while $text =~ /\n/g;
	my $add = sub {
		my ($rule, $at, $end, $new, %switch) = @_;
		my $m = { file => $file, rule => $rule, at => $at, end => $end, new => $new, %switch };
		push @found, $m;
		return $m;
	};
	my $string = sub { my ($from, $to) = @_; return substr($text, $t->[$from]{at}, $t->[$to]{end} - $t->[$from]{at}) };

	# The operand on the left of token i, or on its right: up to one of these tokens, outside of inner brackets.
	my $left_of = sub {
		my ($i, $stop) = @_;
		my $j = $i - 1;
		while ($j >= 0)
		{
			if ($t->[$j]{text} =~ /^[)\]}]$/) { $j = $t->[$j]{partner} - 1; next }
			last if $t->[$j]{text} =~ /^(?:[({\[;,?:=]|return|[-+*\/%|&^]=)$/ || $t->[$j]{text} =~ $stop;
			$j--;
		}
		return $j + 1;
	};
	my $right_of = sub {
		my ($i, $stop) = @_;
		my $j = $i + 1;
		while ($j < @$t)
		{
			last if $t->[$j]{text} =~ /^(?:[)}\];,?:])$/ || $t->[$j]{text} =~ $stop;
			$j = defined $t->[$j]{partner} ? $t->[$j]{partner} + 1 : $j + 1;
		}
		return $j - 1;
	};
	my $condition = sub {
		my ($from, $to, @values) = @_;
		my ($at, $end) = ($t->[$from]{at}, $t->[$to]{end});
		my @m = map { $add->("condition → $_", $at, $end, $_) } @values;
		$m[0]{span} = [ $at, $end, sub { 'mutants::on(' . $m[0]{n} . ') || (' }, ')' ] if $values[0] eq 'true';
		$m[-1]{span} = [ $at, $end, sub { '!mutants::on(' . $m[-1]{n} . ') && (' }, ')' ];
	};

	my @skip;    # places inside static_assert, attributes and templates' heads
	for my $i (0 .. $#$t)
	{
		push @skip, [ $i, $t->[ $i + 1 ]{partner} ] if $t->[$i]{text} eq 'static_assert';
		push @skip, [ $i, $t->[$i]{partner} ] if $t->[$i]{text} eq '[' && $t->[ $i + 1 ]{text} eq '[';
	}
	my $skipped = sub {
		my ($i) = @_;
		return grep { $_->[0] <= $i && $i <= $_->[1] } @skip;
	};
	my $after_head = sub {    # does a statement begin here that is the only one of an if, else or loop?
		my ($i) = @_;
		return 1 if $t->[ $i - 1 ]{text} eq 'else' || $t->[ $i - 1 ]{text} eq 'do';
		return 0 unless $t->[ $i - 1 ]{text} eq ')' || $t->[ $i - 1 ]{text} eq ']';
		my $j = $i - 1;
		$j = $t->[$j]{partner} - 1 while $t->[$j]{text} eq ']';
		return 0 unless $t->[$j]{text} eq ')';
		return $t->[ $t->[$j]{partner} - 1 ]{text} =~ /^(?:if|for|while|switch|constexpr)$/;
	};

	# The last token of the expression statement that begins at i.
	my $statement = sub {
		my ($i) = @_;
		my $in = $t->[$i]{in};
		return if $in < 0 || $t->[$in]{text} ne '{';
		return unless $t->[ $i - 1 ]{text} =~ /^[;{}:]$/ || $after_head->($i);
		return if $t->[$i]{kind} ne 'name' && $t->[$i]{text} !~ /^(?:\+\+|--|\*)$/;
		return if $t->[$i]{text} eq '*' && $t->[ $i - 1 ]{text} eq '}';    # Type{1} * 2
		if ($t->[ $i - 1 ]{text} eq ':')                                   # of a case, or of ?:
		{
			my $j = $i - 2;
			$j-- while $t->[$j]{text} !~ /^(?:[;{}?]|case|default)$/;
			return unless $t->[$j]{text} =~ /^(?:case|default)$/;
		}
		my $j = $i;
		while ($j < @$t && $t->[$j]{text} ne ';')
		{
			return if $t->[$j]{text} =~ /^[)}\]]$/;
			return if $t->[$j]{text} eq ':' && $t->[ $j - 1 ]{text} ne '?' && $j == $i + 1;
			$j = defined $t->[$j]{partner} ? $t->[$j]{partner} + 1 : $j + 1;
		}
		my $s = $string->($i, $j);
		return if $s !~ /[=)]|\+\+|--/ && $s ne 'return;';
		return if $s =~ $not_statement && $s ne 'return;';
		return if $s =~ /^[A-Z]\w*(?:::\w+)*(?:<[^;=]*?>)?[&*]*\s+\w/ || $s =~ /^[\w:]+(?:<[^;=()]*>)?[&*]*\s+[&*]*\w/;
		return if $s =~ /=\s*(?:delete|default)\s*;$/ || $s =~ /^[A-Z]\w*\(/ || $s =~ /^[\w:]+;$/ && $s ne 'return;';
		return $j;
	};

	my %statement_end;
	for my $i (0 .. $#$t)
	{
		my $k = $t->[$i];
		next if $skipped->($i);
		my ($x, $before, $next) = ($k->{text}, $i > 0 ? $t->[ $i - 1 ] : { text => '', kind => '' }, $t->[ $i + 1 ]);
		if ($k->{kind} eq 'op' && $other{$x} && $k->{spaced} && $before->{text} ne 'operator')
		{
			my $new = $other{$x};
			my $m = $add->("$x → $new", $k->{at}, $k->{end}, $new);
			if ($x eq '&&' || $x eq '||')
			{
				my $from = $left_of->($i, $x eq '&&' ? qr/^(?:\|\|)$/ : qr/^$/);
				my $to = $right_of->($i, $x eq '&&' ? qr/^(?:&&|\|\|)$/ : qr/^\|\|$/);
				my $not = $x eq '||' ? '!' : '';
				my $is = $x eq '||' ? '==' : '!=';
				$m->{span} =
				  [ $t->[$from]{at}, $t->[$to]{end}, '((static_cast<bool>(',
					sub { ") : ${not}mutants::on($m->{n}))" } ];
				$m->{put} = [ $k->{at}, $k->{end}, sub { ") $is mutants::on($m->{n})) ? static_cast<bool>(" } ];
			}
			else
			{
				$m->{put} = [ $k->{at}, $k->{end}, sub { "$x mutants::Op{$m->{n}} $x" } ];
			}
		}
		elsif ($x eq '++' || $x eq '--')
		{
			$add->("$x → " . ($x eq '++' ? '--' : '++'), $k->{at}, $k->{end}, $x eq '++' ? '--' : '++');
		}
		elsif ($x eq '!' && $before->{text} ne 'operator')
		{
			my $m = $add->('! left out', $k->{at}, $k->{end}, ' ');
			$m->{put} = [ $k->{at}, $k->{end}, sub { "mutants::Not{$m->{n}}->*" } ];
		}
		elsif ($k->{kind} eq 'number' && $x !~ /\./)
		{
			my $value = $x =~ s/'//gr;
			$value = $value =~ /^0x?0*$/i ? 0 : $value =~ /^0*1$|^0x0*1$/i ? 1 : 2;
			my @m;
			push @m, $add->("$x → $x + 1", $k->{at}, $k->{end}, "($x + 1)");
			push @m, $value > 0 ? $add->("$x → $x - 1", $k->{at}, $k->{end}, "($x - 1)") : undef;
			push @m, $value > 1 ? $add->("$x → 0", $k->{at}, $k->{end}, '0')             : undef;
			$m[0]{put} = [
				$k->{at},
				$k->{end},
				sub {
					"mutants::number($x, " . join(', ', map { $_ ? $_->{n} : 0 } @m) . ')';
				}
			];
			for (@m[ 1, 2 ]) { $_->{with} = $m[0] if $_ }
		}
		elsif ($x eq 'true' || $x eq 'false')
		{
			my $new = $x eq 'true' ? 'false' : 'true';
			my $m = $add->("$x → $new", $k->{at}, $k->{end}, $new);
			$m->{put} = [ $k->{at}, $k->{end}, sub { "($x != mutants::on($m->{n}))" } ];
		}
		elsif (($x eq 'min' || $x eq 'max')
			&& $before->{text} eq '::'
			&& $next->{text} eq '('
			&& $t->[ $i - 2 ]{text} eq 'std')
		{
			my $new = $x eq 'min' ? 'max' : 'min';
			my $m = $add->("$x → $new", $k->{at}, $k->{end}, $new);
			$m->{put} = [ $t->[ $i - 2 ]{at}, $k->{end}, sub { "mutants::$x<$m->{n}>" } ];
		}
		elsif ($x =~ /^compare_exchange_(?:weak|strong)$/)
		{
			my $from = $i;
			while ($from > 0)
			{
				my $p = $t->[ $from - 1 ];
				my $after_dot = $t->[$from]{text} =~ /^(?:\.|->|::|\[|\()$/ || $from == $i;
				if    ($p->{text} =~ /^[)\]]$/ && $after_dot)                                { $from = $p->{partner} }
				elsif ($p->{text} =~ /^(?:\.|->|::)$/ || $p->{kind} eq 'name' && $after_dot) { $from-- }
				else                                                                         { last }
			}
			my $to = $next->{partner};
			my $m = $add->('result of a swap', $t->[$from]{at}, $t->[$to]{end}, '(!' . $string->($from, $to) . ')');
			$m->{span} = [ $t->[$from]{at}, $t->[$to]{end}, sub { "(mutants::on($m->{n}) != " }, ')' ];
		}
		elsif ($x eq 'continue' || $x eq 'break')
		{
			my $new = $x eq 'break' ? 'continue' : 'break';
			my $m = $add->("$x → $new", $k->{at}, $k->{end}, $new);
			$m->{put} = [ $k->{at}, $k->{end}, sub { "if (mutants::on($m->{n})) $new; else $x" } ];
			delete $m->{put} if $x eq 'break';    # maybe of a switch
		}
		elsif ($x eq '?')
		{
			$condition->($left_of->($i, qr/^$/), $i - 1, 'true', 'false');
		}
		elsif (($x eq 'if' || $x eq 'while') && $next->{text} eq '(')
		{
			my ($from, $to) = ($i + 2, $next->{partner} - 1);
			for (my $j = $from; $j <= $to; $j = defined $t->[$j]{partner} ? $t->[$j]{partner} + 1 : $j + 1)
			{
				$from = $j + 1 if $t->[$j]{text} eq ';';
			}
			my $declares;
			for (my $j = $from; $j <= $to; $j = defined $t->[$j]{partner} ? $t->[$j]{partner} + 1 : $j + 1)
			{
				$declares = 1 if $t->[$j]{text} eq '=';
			}
			$condition->($from, $to, $x eq 'if' ? ('true', 'false') : 'false') unless $declares;
		}
		my $to = $statement->($i);
		if ($to)
		{
			$statement_end{$i} = $to;
			my $m = $add->('left out', $k->{at}, $t->[$to]{end}, ';');
			$m->{guard} = [ $k->{at}, sub { "if (mutants::on($m->{n})) {} else " } ];
		}
	}
	for my $i (sort { $a <=> $b } keys %statement_end)
	{
		my $j = $statement_end{$i} + 1;
		next if !$statement_end{$j} || $after_head->($i) || $t->[$i]{text} eq 'return' || $t->[$j]{text} eq 'return';
		my ($first, $second) = ($string->($i, $j - 1), $string->($j, $statement_end{$j}));

		# Two assignments of which neither names what the other one sets.
		next
		  if join('', $first, $second) !~ /\(/
		  && $first =~ /^([\w.\[\]>-]+)\s*[-+|&]?=/
		  && index($second, $1) < 0
		  && $second =~ /^([\w.\[\]>-]+)\s*[-+|&]?=/
		  && index($first, $1) < 0;
		my $m = $add->('exchanged with the next', $t->[$i]{at}, $t->[ $statement_end{$j} ]{end}, "$second $first");
		s{//[^\n]*}{}g, s/\s+/ /g for $second;
		$m->{copy} = [ $t->[$i]{at}, sub { "if (mutants::on($m->{n})) { $second } " } ];
		$m->{guard} = [ $t->[$j]{at}, sub { "if (mutants::on($m->{n})) {} else " } ];
	}
	@found = sort { $a->{at} <=> $b->{at} || $a->{end} <=> $b->{end} || $a->{rule} cmp $b->{rule} } @found;
	my %seen;
	for my $m (@found)
	{
		my $line = 0;
		$line++ while $line < @line_at && $line_at[$line] <= $m->{at};
		$m->{line} = $line;
		($m->{line_text}) = substr($text, $line_at[ $line - 1 ]) =~ /^\s*([^\n]*)/;
		my $nth = ++$seen{"$line $m->{rule}"};
		$m->{rule} .= " #$nth" if $nth > 1;
	}
	return @found;
}

# The file with all its mutants that can be switched. Lines keep their numbers.
sub switched
{
	my ($file, @mutants) = @_;
	my $text = slurp($file);
	my (@edits, $order);
	my $value = sub { return ref $_[0] ? $_[0]->() : $_[0] };
	for my $m (grep { !$_->{plain} } @mutants)
	{
		if (my $p = $m->{put}) { push @edits, [ $p->[0], 5, 0, $p->[1], $value->($p->[2]) ]; }
		if (my $s = $m->{span})
		{
			# Of two that begin here the longer one is opened first; of two that end here the shorter one is closed first.
			# Of two with the same range a condition is the outer one, for && has something in its middle.
			my $outer = (($m->{rule} =~ /^condition/ ? 10000 : 0) + $m->{n}) / 1e6;
			push @edits, [ $s->[0], 4, -$s->[1] - $outer, $s->[0], $value->($s->[2]) ];
			push @edits, [ $s->[1], 1, -$s->[0] + $outer, $s->[1], $value->($s->[3]) ];
		}
		push @edits, [ $m->{copy}[0], 2, 0, $m->{copy}[0], $m->{copy}[1]->() ] if $m->{copy};
		push @edits, [ $m->{guard}[0], 3, 0, $m->{guard}[0], $m->{guard}[1]->() ] if $m->{guard};
	}

	# From the back.
	for my $e (sort { $b->[0] <=> $a->[0] || $b->[1] <=> $a->[1] || $b->[2] <=> $a->[2] } @edits)
	{
		substr($text, $e->[0], $e->[3] - $e->[0]) = $e->[4];
	}
	return $text;
}

sub can_switch
{
	my ($m) = @_;
	return !$m->{plain} && ($m->{put} || $m->{span} || $m->{guard} || ($m->{with} && !$m->{with}{plain}));
}

1;
