# Random predicates on ids and times, over indexes, partitions and plans of many kinds: the rows are those of the
# predicate over numbers without an index (lib/TimePredicates.pm).
#
#   make test PROVE_TESTS='test/server/queries/times_in_order.pl :: 5000 7'     so many predicates of each type, with
# this seed
use Servers;
use PostgreSQL::Test::Utils;
use TimePredicates;

my $count = $ARGV[0] // 120;
my $seed = $ARGV[1] // 1;
sub one { return $_[ int rand @_ ] }

my $server = plain_server('times', conf => <<'END');
timezone = 'UTC'
synchronous_commit = off
client_min_messages = error
END
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids; CREATE EXTENSION amcheck');
my $debug_parallel = $server->safe_psql('postgres',
	q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});

# ---- plans
my %off = map { $_ => "SET enable_$_ = off; " } qw(seqscan indexscan indexonlyscan bitmapscan sort);
my $cheap_workers = join '',
  map { "SET $_ = 0; " }
  qw(parallel_setup_cost parallel_tuple_cost min_parallel_table_scan_size min_parallel_index_scan_size);
my %plans = (
	'as it comes' => '',
	'no sequential scan' => $off{seqscan},
	'index scans' => $off{seqscan} . $off{bitmapscan},
	'bitmap scans' => $off{seqscan} . $off{indexscan} . $off{indexonlyscan},
	'index scans, no sort' => $off{seqscan} . $off{bitmapscan} . $off{indexonlyscan} . $off{sort},
	'parallel index scans' => $off{seqscan} . $off{bitmapscan} . $cheap_workers,
	'parallel' => "SET $debug_parallel = on; $cheap_workers",
	'constraint exclusion' => 'SET constraint_exclusion = on; SET enable_partitionwise_aggregate = on; ',
	'generic' => "SET plan_cache_mode = force_generic_plan; $off{seqscan}",
	'generic, index scans' => "SET plan_cache_mode = force_generic_plan; $off{seqscan}$off{bitmapscan}");
my @plans = sort keys %plans;


# ---- queries: COLUMN is the id, or the number
my @queries = (
	q{SELECT concat_ws(' ', count(*), sum(n), MIN, MAX) FROM TABLE WHERE PREDICATE},
	q{SELECT concat_ws(' ', count(*), sum(n)) FROM TABLE WHERE PREDICATE},
	q{SELECT string_agg(n::text, ' ') FROM (SELECT n FROM TABLE WHERE PREDICATE ORDER BY COLUMN DESC, n LIMIT SOME) AS s},
	q{SELECT string_agg(n::text, ' ') FROM (SELECT n FROM TABLE WHERE PREDICATE ORDER BY COLUMN NULLS FIRST, n, m LIMIT SOME) AS s},
	q{SELECT concat_ws(' ', count(*), count(*) FILTER (WHERE PREDICATE), count(*) FILTER (WHERE (PREDICATE) IS NULL)) FROM TABLE},
	q{SELECT concat_ws(' ', count(*), sum(n)) FROM TABLE WHERE (PREDICATE) IS NOT TRUE},
	q{SELECT concat(MAX) FROM TABLE WHERE PREDICATE},
	q{SELECT string_agg(concat_ws(' ', m, c, x), ', ' ORDER BY m) FROM (SELECT m, count(*) AS c, MIN AS x FROM TABLE WHERE PREDICATE GROUP BY m) AS s},
	q{SELECT concat_ws(' ', count(*), sum(n), sum(extract(epoch FROM moment))) FROM moments JOIN TABLE ON COLUMN >= MOMENT WHERE PREDICATE}
);

sub query
{
	my ($test, $c, $table, $predicate) = @_;
	my %with = (
		TABLE => $table,
		PREDICATE => $predicate,
		COLUMN => $c,
		MIN => $c eq 'id' ? 'place(min(id))' : 'min(place)',
		MAX => $c eq 'id' ? 'place(max(id))' : 'max(place)',
		MOMENT => $c eq 'id' ? 'moment' : 'place(moment)',
		SOME => $test->{limit});
	return $test->{query} =~ s/\b([A-Z]{3,})\b/$with{$1} \/\/ $1/ger;
}

sub statement
{
	my ($number, $type, $test, $c, $table, $plan) = @_;
	my ($predicate, @values) = ($test->{predicate}{$c});
	($predicate, @values) = TimePredicates::with_parameters($type, $predicate) if $plan =~ /generic/;
	my $text = TimePredicates::text($predicate);
	my $query = sprintf q{SELECT '%d|' || coalesce((%s), '-')}, $number, query($test, $c, $table, $text);

	# PostgreSQL (15.18 at least) sends a sub-SELECT's result to a worker only if a condition of the plan needs it. If that
	# condition follows from the index conditions, the plan only prunes by it, and a worker that begins before the leader
	# is done crashes.
	my $pruning = $plan =~ /parallel/ && $text =~ /\(SELECT / ? 'SET enable_partition_pruning = off; ' : '';
	my $execute = @values ? 'EXECUTE q (' . join(', ', @values) . ')' : 'EXECUTE q';

	# Made in one time zone, a plan is run in another.
	my $zone = "SET timezone = '$test->{zone}';";
	return "RESET ALL; SET search_path = ${type}_$c, public; $plans{$plan}$pruning"
	  . (
		$plan =~ /generic/
		? "PREPARE q AS $query; EXPLAIN $execute; $zone $execute; DEALLOCATE q;\n"
		: "$zone $query;\n");
}

sub answers
{
	my ($rc, $out, $err) =
	  $server->psql('postgres', "SET statement_timeout = '120s';\n" . join('', @_), on_error_stop => 0);
	my %answer = map { /^(\d+)\|(.*)$/ ? ($1 => $2) : () } split /\n/, $out;
	return (\%answer, $err);
}

# ---- the product
srand $seed;
for my $type ('sno', 'mastic')
{
	$server->safe_psql('postgres', TimePredicates::setup($type, $_)) for 'id', 'place';
	my ($compared, $refused, $different, $same_with_numbers, %distinct) = (0, '', 0, 0);
	my (@first, %expected);    # some of the statements over numbers, and what they say
	for (my $done = 0; $done < $count; $done += 100)
	{
		# Test, column, table, plan, and the case that says what is right.
		my @cases;
		for (1 .. ($count - $done > 100 ? 100 : $count - $done))
		{
			my $test = {
				predicate => TimePredicates::random($type),
				query => one(@queries),
				limit => one(1, 3, 10, 1000),
				zone => one(@TimePredicates::zones) };
			push @cases, [ $test, 'place', 'plain', 'as it comes' ];
			my $right = $#cases;
			push @cases, map { [ $test, 'id', one(@TimePredicates::tables), one(@plans), $right ] } 1 .. 8;
		}
		my @checked = grep { defined $cases[$_][4] } 0 .. $#cases;
		my @sql = map { statement($_, $type, @{ $cases[$_] }) } 0 .. $#cases;
		my ($answer, $error) = answers(@sql);
		$refused ||= $error;
		$compared += @checked;
		$distinct{$_}++ for values %$answer;
		if ($done == 0)
		{
			@first = map { $sql[$_] } grep { !defined $cases[$_][4] } 0 .. $#cases;
			%expected = %$answer;
		}

		# Some minors of the server answer wrong for some partitions: it is the server's fault if numbers give the same answer
		# under one of the plans.
		my @different = grep { ($answer->{$_} // 'none') ne $answer->{ $cases[$_][4] } } @checked;
		for my $case (@different)
		{
			my ($test, $c, $table, $plan, $right) = @{ $cases[$case] };
			my ($of_numbers) = answers(map { statement($_, $type, $test, 'place', $table, $plans[$_]) } 0 .. $#plans);
			my $found = $answer->{$case} // 'none';
			if (grep { $_ eq $found } values %$of_numbers)
			{
				$same_with_numbers++;
				next;
			}
			diag sprintf "%s, %s: %s\n  found    %s\n  expected %s", $table, $plan,
			  query($test, $c, $table, TimePredicates::text($test->{predicate}{id})), $found, $answer->{$right}
			  if $different++ < 5;
		}
	}
	is($refused, '', "$type: nothing is refused");
	is($different, 0, "$type: the answers are those over numbers");
	note sprintf '%s: %d predicates, seed %d, %d queries, %d distinct answers, %d wrong also with numbers', $type,
	  $count,
	  $seed, $compared, scalar keys %distinct, $same_with_numbers;
	cmp_ok($same_with_numbers, '<', $compared / 50, "$type: the server itself is seldom wrong");
	cmp_ok(scalar keys %distinct, '>', $count / 3, "$type: the answers differ from each other");

	# Times one id higher would be seen.
	$server->safe_psql('postgres', <<"END");
SET search_path = ${type}_place, public;
ALTER FUNCTION place(timestamptz) RENAME TO right_place;
CREATE FUNCTION place(timestamptz) RETURNS numeric IMMUTABLE STRICT RETURN ${type}_place.right_place(\$1) + 1;
END
	my ($wrong) = answers(@first);
	cmp_ok(
		scalar(grep { $wrong->{$_} ne $expected{$_} } keys %$wrong),
		'>=',
		@first / 20,
		"$type: one id makes a difference");

	is($server->safe_psql('postgres', <<"END"), 't', "$type: the indexes are in order");
SELECT count(bt_index_parent_check(i.oid, true)) > 0 FROM pg_class AS i JOIN pg_am AS a ON a.oid = i.relam
WHERE a.amname = 'btree' AND i.relkind = 'i' AND i.relnamespace = '${type}_id'::regnamespace
END
}
$server->stop;
done_testing();
