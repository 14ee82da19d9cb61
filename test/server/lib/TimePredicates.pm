# Random predicates on ids and times, written twice: as a user does, and over the number `place`, which says where an id
# or a time stands, and knows nothing of our operators.
#
#   my $p = TimePredicates::random('sno');    # deterministic after srand()
#   $p->{id}, $p->{place}                     "id >= timestamptz '…'", "place >= place(timestamptz '…')"
#   TimePredicates::text($p->{id})            without the marks of possible parameters
#   TimePredicates::with_parameters('sno', $p->{id})    ("id >= $1::timestamptz", "timestamptz '…'")
#   TimePredicates::setup('sno', 'id')        makes the tables in the schema sno_id
#   TimePredicates::setup('sno', 'place')     the same with indexes and partitions of the number
package TimePredicates;
use strict;
use warnings;

# ---- the types
# epoch, tick (microseconds), rest (bits after the time), last (tick)
# place   of an id
# make    an id: %1$s time, %2$s a number that gives the rest
# ends    of the type
my %types = (
	sno => {
		epoch => '2010-01-01 00:00:00+00',
		tick => 4000,
		rest => 41,
		last => 2**39 - 1,
		place => q{(extract(epoch FROM sno_timestamp($1)) - 1262304000) * 250 * 2199023255552
        + sno_ticktock($1)::numeric * 1099511627776 + sno_metabyte($1)::numeric * 4294967296
        + sno_partition($1)::numeric * 65536 + sno_sequence($1)},
		make => 'make_sno(%1$s, (%2$s / 7) %% 2, %2$s %% 256, %2$s)',
		ends => [ '2222222222222222', 'xxxxxxxxxxxxxxxx' ],
		last_tick => '2079-09-07 15:47:35.548+00' },
	mastic => {
		epoch => '2026-01-01 00:00:00+00',
		tick => 1000,
		rest => 16,
		last => 2**48 - 1,
		place => '$1::numeric',
		make => 'make_mastic(%1$s, %2$s)',
		ends => [ '0', '18446744073709551615', '9223372036854775807', '9223372036854775808' ],
		last_tick => '10945-08-03 05:31:50.655+00' });
my ($name, $type);    # the one that is asked for

sub one { return $_[ int rand @_ ] }

# A timestamp without a zone is of the session's: these are the sessions', and those that timestamps are written in.
our @zones = ('UTC', 'America/New_York', 'Asia/Kathmandu');

# ---- the two sides of a comparison: what stands next to the id, and its place

sub near { return sprintf "timestamptz '2026-03-01 12:00:00.%06d+00'", $_[0] }

sub marked { return "\x01$_[0]\x02" }
sub text   { return $_[0] =~ tr/\x01\x02//dr }

sub with_parameters
{
	my ($of, $text) = @_;
	my @values;
	$text =~
	  s/\x01([^\x02]*)\x02/push @values, $1; "\$" . @values . ($1 =~ m{^timestamptz} ? '::timestamptz' : "::$of")/ge;
	return ($text, @values);
}

sub written
{
	my ($value) = @_;
	my $form = one('%s', '%s', 'steady(%s)', '(SELECT %s)');
	return (sprintf($form, $value),
		$form =~ /SELECT/ ? "(SELECT place($value))" : 'place(' . sprintf($form, $value) . ')');
}

sub time_value
{
	return near(one(0 .. 41) * $type->{tick} + one(0, 0, 0, 1, 2, $type->{tick} / 2, $type->{tick} - 1))
	  if rand() < .72;
	my $t = one(
		'infinity', '-infinity', $type->{epoch}, $type->{last_tick},
		'1969-12-31 23:59:59.999999+00',
		'4713-01-01 00:00:00+00 BC',
		'294276-12-30 00:00:00+00',    # in any zone a time
		'2200-01-01 00:00:00+00');
	return "timestamptz '$t'" . one('', '', " + interval '1 us'", " - interval '1 us'");
}

sub time_side
{
	my $value = marked(time_value());
	my $r = rand;
	return ('t', 'place(t)') if $r < .1;
	if ($r < .2)
	{
		my $local = one("($value)::timestamp", "(($value) AT TIME ZONE '" . one(@zones) . "')");
		return ($local, "place($local)");
	}
	return written($value);
}

sub id_side
{
	my ($i, $r) = (int rand(42) * $type->{tick}, rand);
	return written(
		marked(
			  $r < .3 ? "${name}_lower_bound(" . near($i) . ')'
			: $r < .5 ? "${name}_upper_bound(" . near($i) . ')'
			: $r < .9 ? sprintf $type->{make},
			near($i),
			int rand 430
			: "$name '" . one(@{ $type->{ends} }) . "'"));
}

sub sides
{
	my ($side, $count) = @_;
	my @sides = map { [ $side->() ] } 1 .. $count;
	splice @sides, int rand(@sides + 1), 0, [ 'NULL', 'NULL' ] if rand() < .4;
	return map {
		my $i = $_;
		join ', ', map { $_->[$i] } @sides
	} 0, 1;
}

# ---- predicates
my %commuted = ('<' => '>', '<=' => '>=', '>' => '<', '>=' => '<=');
sub operator { return one('<', '<=', '>', '>=') }

sub with_time
{
	my ($op, $time, $place) = (operator(), time_side());
	return rand() < .3 ? ("$time $op id", "$place $op place") : ("id $op $time", "place $op $place");
}

sub with_id
{
	my ($op, $id, $place) = (rand() < .9 ? operator() : '=', id_side());
	return ("id $op $id", "place $op $place");
}

sub between
{
	my ($how, $a, $place_a, $b, $place_b) =
	  (one('', '', 'NOT ') . 'BETWEEN' . one('', '', ' SYMMETRIC'), time_side(), time_side());
	return ("id $how $a AND $b", "place $how $place_a AND $place_b");
}

sub of_times
{
	my ($op, $times, $places) = (operator() . one(' ANY', ' ANY', ' ALL'), sides(\&time_side, int rand 4));
	return ("id $op (ARRAY[$times]::timestamptz[])", "place $op (ARRAY[$places]::numeric[])");
}

sub of_ids
{
	my ($ids, $places) = sides(\&id_side, 1 + int rand 4);
	return ("id = ANY (ARRAY[$ids]::$name\[])", "place = ANY (ARRAY[$places]::numeric[])");
}

sub of_rows
{
	my ($op, $m, $time, $place) = (operator(), one(0 .. 6, 'NULL'), time_side());
	return ("(id, m) $op ($time, $m)", "(place, m) $op ($place, $m)") if rand() < .5;
	return ("(m, id) $op ($m, $time)", "(m, place) $op ($m, $place)");
}

sub of_both
{
	my ($op, $id, $place, $time, $place_of_time) = (operator(), id_side(), time_side());
	return ("(id, id) $op ($id, $time)", "(place, place) $op ($place, $place_of_time)");
}

sub of_others
{
	my $same = one('m = ' . int rand 7, 'm IN (1, 4, 5)', 'm IS NULL');
	my $null = one('IS NULL', 'IS NOT NULL');
	return rand() < .7 ? ($same, $same) : ("id $null", "place $null");
}

my @kinds = (
	(\&with_time) x 28,
	(\&with_id) x 8,
	(\&between) x 15,
	(\&of_times) x 12,
	(\&of_ids) x 4,
	(\&of_rows) x 11,
	(\&of_both) x 3,
	(\&of_others) x 9);

sub predicate
{
	my ($depth) = @_;
	return one(@kinds)->() if $depth == 0 || rand() < .35;
	my @a = predicate($depth - 1);
	my $how = one('AND', 'AND', 'AND', 'OR', 'OR', 'NOT');
	return map { "(NOT ($_))" } @a if $how eq 'NOT';
	my @b = predicate($depth - 1);
	return map { "($a[$_] $how $b[$_])" } 0, 1;
}

sub random
{
	choose($_[0]);
	my ($id, $place) = predicate(3);
	return { id => $id, place => $place };
}

sub choose
{
	($name) = @_;
	$type = $types{$name};
	return;
}

# ---- the tables: the same rows under indexes and partitions of many kinds, and in `plain` without any
our @tables = qw(by_id by_id_desc by_m_id by_id_m by_two partial brin range range_id_m range_m_id list nested_list
  nested_range checked);

sub indexes
{
	my ($table, @indexes) = @_;
	return map { "CREATE INDEX ON $table $_;\n" } @indexes;
}

sub partitions
{
	my ($table, @bounds) = @_;
	return
	  map { "CREATE TABLE ${table}_$_ PARTITION OF $table " . ($bounds[$_] =~ s/^(?!DEFAULT)/FOR VALUES /r) . ";\n" }
	  0 .. $#bounds;
}

# place() is computed from an id's fields, and from the time.
sub plain
{
	my $first = "timestamptz '2026-03-01 12:00:00+00'";
	my $tick = "interval '$type->{tick} us'";
	my $made = sprintf $type->{make}, "$first + i % 40 * $tick", 'i';
	my $ends = join ', ', map { "(0, $_, '$type->{ends}[$_]'::$name)" } 0 .. $#{ $type->{ends} };
	return <<"END";
CREATE FUNCTION place(timestamptz) RETURNS numeric IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT CASE WHEN tick > $type->{last} THEN 'Infinity' ELSE greatest(tick, 0) * @{[ 2**$type->{rest} ]}::numeric END
    FROM (SELECT ceil((extract(epoch FROM \$1) - extract(epoch FROM timestamptz '$type->{epoch}')) * 1000000 / $type->{tick}) AS tick) AS s);
CREATE FUNCTION place(timestamp) RETURNS numeric STABLE STRICT PARALLEL SAFE RETURN place(\$1::timestamptz);
CREATE FUNCTION place($name) RETURNS numeric IMMUTABLE STRICT PARALLEL SAFE RETURN ($type->{place})::numeric;
CREATE FUNCTION steady(timestamptz) RETURNS timestamptz STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN \$1; END';
CREATE FUNCTION steady($name) RETURNS $name STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN \$1; END';
CREATE TABLE moments AS SELECT $first + i * $tick + interval '1 us' * (i % 3 - 1) AS moment FROM generate_series(0, 40, 8) AS i;
CREATE TABLE plain (n int, m int, id $name, t timestamptz, place numeric);
INSERT INTO plain (n, m, id) SELECT i, nullif(i % 7, 6), $made FROM generate_series(1, 400) AS i;
INSERT INTO plain (n, m, id) SELECT i, nullif(i % 7, 6), ${name}_lower_bound($first + i % 40 * $tick) FROM generate_series(401, 430) AS i;
INSERT INTO plain (n, m, id) VALUES $ends, (0, 1, NULL), (0, NULL, NULL);
UPDATE plain SET place = place(id), t = CASE n % 5
    WHEN 0 THEN NULL WHEN 1 THEN $first + n % 40 * $tick WHEN 2 THEN $first + n % 39 * $tick + interval '1 us'
    WHEN 3 THEN $first + n % 40 * $tick - interval '1 us' ELSE '-infinity' END;
END
}

sub setup
{
	(my $of, my $c) = @_;
	choose($of);
	my $there = sub { $c eq 'id' ? $_[0] : "place($_[0])" };
	my $low = sub { $there->("${name}_lower_bound(" . near($_[0] * $type->{tick}) . ')') };
	my $mid = sub { $there->(sprintf $type->{make}, near($_[0] * $type->{tick}), $_[1]) };
	my $at = sub { $there->(near($_[0] * $type->{tick} + ($_[1] // 0))) };
	my @copied = qw(by_id by_id_desc by_m_id by_id_m by_two partial);
	my $by = sub { "CREATE TABLE $_[0] (LIKE plain) PARTITION BY $_[1];\n" };
	return join '', "CREATE SCHEMA ${name}_$c;\nSET search_path = ${name}_$c, public;\n", plain(),
	  map({ "CREATE TABLE $_ (LIKE plain);\nINSERT INTO $_ TABLE plain;\n" } @copied),
	  indexes('by_id', "($c)"),
	  indexes('by_id_desc', "($c DESC NULLS LAST)"),
	  indexes('by_m_id', "(m, $c DESC)"),
	  indexes('by_id_m', "($c NULLS FIRST, m DESC)"),
	  indexes('by_two', "(m DESC NULLS LAST, $c, n)", "($c) INCLUDE (n, m)"),
	  indexes(
		'partial',
		"($c) WHERE $c >= @{[ $at->(20) ]}",
		"($c) WHERE $c < @{[ $at->(20) ]}",
		"(n) WHERE $c >= @{[ $low->(10) ]}",
		"(m) WHERE $c > @{[ $at->(10, 1) ]} AND $c <= @{[ $mid->(30, 107) ]}",
		"(m, n) WHERE @{[ $at->(25) ]} > $c",
		"(n, m) WHERE NOT $c >= @{[ $at->(30) ]}",
		"(n) WHERE $c BETWEEN @{[ $at->(5) ]} AND @{[ $at->(15) ]}",
		"($c) WHERE $c < ANY (ARRAY[@{[ $at->(5) ]}, @{[ $at->(7) ]}])",
		"(m) WHERE $c IS NOT NULL"),
	  "CREATE TABLE brin (LIKE plain) WITH (fillfactor = 10);\nINSERT INTO brin SELECT * FROM plain ORDER BY place;\n",
	  "CREATE INDEX ON brin USING brin ($c) WITH (pages_per_range = 1);\n",

	  $by->('range', "RANGE ($c)"),
	  partitions(
		'range',
		"FROM (MINVALUE) TO (@{[ $low->(10) ]})",
		"FROM (@{[ $low->(10) ]}) TO (@{[ $mid->(20, 107) ]})",
		"FROM (@{[ $mid->(20, 107) ]}) TO (@{[ $mid->(20, 207) ]})",
		"FROM (@{[ $mid->(20, 207) ]}) TO (@{[ $low->(21) ]})",
		'DEFAULT'),
	  indexes('range', "($c)"), $by->('range_id_m', "RANGE ($c, m)"),
	  partitions(
		'range_id_m',
		"FROM (MINVALUE, MINVALUE) TO (@{[ $low->(10) ]}, 3)",
		"FROM (@{[ $low->(10) ]}, 3) TO (@{[ $low->(10) ]}, 5)",
		"FROM (@{[ $low->(10) ]}, 5) TO (@{[ $mid->(20, 107) ]}, MAXVALUE)",
		"FROM (@{[ $low->(30) ]}, MINVALUE) TO (MAXVALUE, MAXVALUE)",
		'DEFAULT'),
	  $by->('range_m_id', "RANGE (m, $c)"),
	  partitions(
		'range_m_id',
		"FROM (MINVALUE, MINVALUE) TO (1, @{[ $low->(10) ]})",
		"FROM (1, @{[ $low->(10) ]}) TO (1, @{[ $low->(20) ]})",
		"FROM (1, @{[ $low->(20) ]}) TO (4, @{[ $low->(20) ]})",
		"FROM (4, @{[ $low->(20) ]}) TO (4, MAXVALUE)",
		'DEFAULT'),
	  $by->('list', "LIST ($c)"),
	  partitions('list', 'IN (NULL)', 'DEFAULT'),
	  <<"END",
DO \$\$ BEGIN
    FOR i IN 0 .. 9 LOOP
        EXECUTE format('CREATE TABLE list_of_%s PARTITION OF list FOR VALUES IN (%s)', i,
            (SELECT string_agg(DISTINCT quote_literal($c), ', ') FROM plain WHERE id IS NOT NULL AND n % 12 = i AND n > 0));
    END LOOP;
END \$\$;
END
	  $by->('nested_list', 'LIST (m)'),
	  partitions('nested_list', "IN (0, 1, NULL) PARTITION BY RANGE ($c)", "DEFAULT PARTITION BY LIST ($c)"),
	  partitions('nested_list_0', "FROM (MINVALUE) TO (@{[ $low->(15) ]})", 'DEFAULT'),
	  partitions('nested_list_1', 'DEFAULT'), $by->('nested_range', "RANGE ($c)"),
	  partitions(
		'nested_range',
		"FROM (@{[ $low->(5) ]}) TO (@{[ $low->(25) ]}) PARTITION BY RANGE ($c)",
		"DEFAULT PARTITION BY HASH ($c)"),
	  partitions('nested_range_0', "FROM (@{[ $low->(5) ]}) TO (@{[ $low->(15) ]})", 'DEFAULT'),
	  partitions('nested_range_1', map { "WITH (MODULUS 2, REMAINDER $_)" } 0, 1),
	  indexes('nested_range', "($c DESC)"),
	  map({ "INSERT INTO $_ TABLE plain;\n" } qw(range range_id_m range_m_id list nested_list nested_range)),

	  "CREATE TABLE checked (LIKE plain, CHECK (false) NO INHERIT);\n",
	  map(
		{       "CREATE TABLE checked_$_->[0] (CHECK ($_->[1])) INHERITS (checked);\n"
			  . "INSERT INTO checked_$_->[0] SELECT * FROM plain WHERE $_->[1]"
			  . ($_->[0] == 0 ? " OR id IS NULL;\n" : ";\n") }[ 0, "$c < @{[ $at->(10) ]}" ],
		[ 1, "$c >= @{[ $at->(10) ]} AND $c < @{[ $mid->(20, 107) ]}" ],
		[ 2, "$c >= @{[ $mid->(20, 107) ]}" ]),
	  "VACUUM ANALYZE;\n";
}

1;
