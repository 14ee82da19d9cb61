# Predicates on the time of an id: each kind of id, each comparison, each way to write the time. Next to each
# predicate is its twin: the same predicate on a timestamptz column.
#
#   for my $form (TimeForms::all()) { $form->{name}, $form->{kind} }
#   TimeForms::predicate($form, 'a', source => 'constant', value => $v)             on ids:   a.id < timestamptz '…'
#   TimeForms::predicate($form, 'a', source => 'constant', value => $v, twin => 1)  on twins: the same, id is a timestamptz
#   TimeForms::setup($server)                                                       the tables, see there
#
# A new kind, comparison, value or source is one line here.
package TimeForms;
use strict;
use warnings;

# The moments that everything turns around: starts of ticks in every format.
my $t0 = '2026-03-01 12:00:00.04+00';
my $t1 = '2026-03-01 12:00:00.08+00';

# ---- kinds of ids
# type      of the column
# make      format() of an id: %1$s time, %2$s 0 for the lowest and 1 for the highest numbers of the tick, %3$s row number
# created   format() of the time of an id
# first     the first time of the format; last: of its last tick; far: the first time whose ids are negative as bigint
# in        format() of "id is in the range"; without: there are the operators
# stable    the predicate is not immutable
# strange   values of the column that are no ids
# base      the kind that it is like; wrap, twin_wrap: format() of a column's value; of: format() of the id in it
# few       with some of the comparisons only
my $log = q{make_gid('log', %1$s, decode(repeat(CASE %2$s WHEN 0 THEN '00' ELSE 'ff' END, 8), 'hex'))};
my $any =
  q{make_gid((ARRAY['volume', 'log', 'segment'])[1 + %3$s %% 3], %1$s, decode(repeat(CASE %2$s WHEN 0 THEN '00' ELSE 'ff' END, 8), 'hex'))};
my $uuid7 = q{CASE %2$s WHEN 0 THEN uuid7_lower_bound(%1$s) ELSE uuid7_upper_bound(%1$s) END};

# uuids of other versions and variants: the ends of the type, and between those of version 7 that have the first moment's time
my $strange_uuids = join ', ', map { "'$_'" } '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  map { "019ca945-0a28-$_-000000000000" } '4000-8000', '7fff-c000', '8000-8000';
my $bc = q{timestamptz '4000-01-01 00:00:00+00 BC'};
my @gid = (
	created => 'gid_timestamp(%s)',
	first => q{timestamptz '1970-01-01'},
	last => q{timestamptz '10889-08-02 05:31:50.655'});
my @full = q{timestamptz '2026-01-01 00:00:00+00', 3};

sub layout
{
	my ($name, $node, $sequence, $max, %more) = @_;
	return {
		name => $name,
		type => 'bigint',
		stable => 1,
		make => "make_snowflake('$name', %1\$s, $node * %2\$s, $sequence * %2\$s)",
		created => "snowflake_timestamp(%s, '$name')",
		in => "snowflake_created_in(%s, '$name', %s)",
		first => "snowflake_timestamp(0, '$name')",
		last => "snowflake_timestamp($max, '$name')",
		%more };
}

my @kinds = (
	{   name => 'sno',
		type => 'sno',
		make => 'make_sno(%1$s, 255 * %2$s, 65535 * %2$s, 65535 * %2$s, %2$s)',
		created => 'sno_timestamp(%s)',
		first => q{timestamptz '2010-01-01'},
		last => q{timestamptz '2079-09-07 15:47:35.548'} },
	{ name => 'gid_log', type => 'gid(log)', make => $log, @gid },
	{ name => 'gid', type => 'gid', make => $any, @gid },
	{   name => 'mastic',
		type => 'mastic',
		make => 'make_mastic(%1$s, 65535 * %2$s)',
		created => 'mastic_timestamp(%s)',
		first => 'mastic_timestamp(0)',
		last => q{mastic_timestamp('18446744073709551615')},
		far => q{mastic_timestamp('9223372036854775808')} },
	{   name => 'uuid7',
		type => 'uuid',
		make => $uuid7,
		created => 'uuid7_timestamp(%s)',
		in => 'uuid7_created_in(%s, %s)',
		strange => $strange_uuids,
		first => q{timestamptz '1970-01-01'},
		last => q{timestamptz '10889-08-02 05:31:50.655'} },
	{   name => 'si',
		type => 'bigint',
		make => 'make_snowflake_si(%1$s, 31 * %2$s, 255 * %2$s)',
		created => 'snowflake_si_timestamp(%s)',
		in => 'snowflake_si_created_in(%s, %s)',
		stable => 1,
		strange => '-1, 9007199254740992, 9223372036854775807, -9223372036854775808',
		first => 'snowflake_si_timestamp(0)',
		last => 'snowflake_si_timestamp(9007199254740991)' },
	{   name => 'si_full',
		type => 'bigint',
		make => "make_snowflake_si(%1\$s, 7 * %2\$s, 1023 * %2\$s, @full)",
		created => "snowflake_si_timestamp(%s, @full)",
		in => "snowflake_si_created_in(%s, %s, @full)",
		strange => '-1, 9007199254740992',
		first => "snowflake_si_timestamp(0, @full)",
		last => "snowflake_si_timestamp(9007199254740991, @full)" },
	layout('twitter', 1023, 4095, 9223372036854775807, strange => '-1, -9223372036854775808'),
	layout('discord', 1023, 4095, -1, far => q{snowflake_timestamp(-9223372036854775808, 'discord')}),
	layout('acme', 255, 16383, 4611686018427387903, strange => '-1, 4611686018427387904, -9223372036854775808'),
	{ name => 'sno_domain', base => 'sno', type => 'sno_domain', few => 1 },
	{ name => 'gid_domain', base => 'gid_log', type => 'gid_domain', few => 1 },
	{ name => 'mastic_domain', base => 'mastic', type => 'mastic_domain', few => 1 },
	{ name => 'bigint_domain', base => 'discord', type => 'bigint_domain', few => 1 },
	{ name => 'uuid_domain', base => 'uuid7', type => 'uuid_domain', few => 1 },

	# What decides about the ids is known only when the query runs.
	{ name => 'twitter_stable', base => 'twitter', in => q{snowflake_created_in(%s, steady('twitter'), %s)} },
	{   name => 'si_stable',
		base => 'si_full',
		stable => 1,
		in => q{snowflake_si_created_in(%s, %s, steady(timestamptz '2026-01-01 00:00:00+00'), 3)} },
	{   name => 'sno_array',
		base => 'sno',
		type => 'sno[]',
		wrap => 'ARRAY[%s]',
		twin_wrap => 'ARRAY[%s]',
		twin_type => 'timestamptz[]',
		of => '(%s)[1]',
		few => 1 },
	{   name => 'gid_composite',
		base => 'gid_log',
		type => 'gid_pair',
		wrap => 'ROW(%s, 1)::gid_pair',
		twin_type => 'time_pair',
		twin_wrap => 'ROW(%s, 1)::time_pair',
		of => '(%s).x',
		few => 1 });

my %kind;
for my $k (@kinds)
{
	%$k = (
		%{ $kind{ $k->{base} // '' } // {} },
		twin_type => 'timestamptz',
		wrap => '%s',
		twin_wrap => '%s',
		of => '%s',
		%$k);

	$k->{plain} = $k->{of} eq '%s';
	$kind{ $k->{name} } = $k;
}

# ---- comparisons: %1$s id, %2$s time or range
my @comparisons = (
	[ 'lt', '%1$s < %2$s' ],
	[ 'le', '%1$s <= %2$s' ],
	[ 'ge', '%1$s >= %2$s' ],
	[ 'gt', '%1$s > %2$s' ],
	[ 't lt', '%2$s < %1$s' ],
	[ 't le', '%2$s <= %1$s' ],
	[ 't ge', '%2$s >= %1$s' ],
	[ 't gt', '%2$s > %1$s' ],
	[ 'ge any', "%1\$s >= ANY (ARRAY[%2\$s, timestamptz '$t1', NULL])" ],
	[ 'lt all', "%1\$s < ALL (ARRAY[%2\$s, timestamptz '$t1'])" ],
	[ 'between', "%1\$s BETWEEN %2\$s AND timestamptz '$t1'" ],
	[ 'between symmetric', "%1\$s NOT BETWEEN SYMMETRIC timestamptz '$t1' AND %2\$s" ],
	[ 't gt any', '%2$s > ANY (ARRAY[%1$s, NULL])' ]);
my %few = map { $_ => 1 } 'lt', 't le', 'ge any', 'in';

# ---- what ids are compared with; {…}: an end of the format, the microsecond before its first tick or that after the start of its last
my @values = (
	$t0, '2026-03-01 12:00:00.040001+00',
	undef, '2026-03-01 12:00:00.039999+00',
	'infinity', '{first}', $t1, '{last}', '-infinity', '{before}', '{after}',
	'0044-03-15 00:00:00+00 BC',
	'20000-01-01 00:00:00+00', '{far}');
my @ranges = (
	"[$t0,$t1)", "($t0,$t1]", "[$t0,$t0]", undef, "[$t0,)", 'empty', "(,$t0]",
	'(2026-03-01 12:00:00.039999+00,2026-03-01 12:00:00.040001+00)',
	'(,)', "(,$t0)", "($t0,)", '[-infinity,infinity]', '[{first},{first}]', '[{last},)', '({last},)', '[infinity,)',
	'(,{before}]', '[{before},{after}]',
	'[{far},)', "[$t0,{far}]", '(,{far})', '(,-infinity]',
	'(2026-03-01 12:00:00.040001+00,2026-03-01 12:00:00.040999+00)');

# ---- how the time is written: %v literal, %m table of moments, %k the row of it, %a alias of the row with the id, %w t or r, %y type
my %sources = (
	constant => '%v',
	stable => 'steady(%v)',
	volatile => 'unsteady(%v)',
	setting => "current_setting('net.%w')::%y",
	timestamp => '(%v)::timestamp',
	select => '(SELECT %w FROM %m_moments WHERE k = %k)',
	row => '%a%w',
	correlated => '(SELECT m.%w FROM %m_moments AS m WHERE m.k = %an % 9)');
my @relative = (
	q{now() - interval '30 minutes'},
	q{CURRENT_TIMESTAMP + interval '3 hours'},
	q{LOCALTIMESTAMP - interval '2 hours'});
my @relative_ranges = ('tstzrange(%s, NULL)', 'tstzrange(NULL, %s)', q{tstzrange(%s, now() + interval '4 hours')});

sub all
{
	my @all;
	for my $k (@kinds)
	{
		my @these =
		  $k->{in} ? [ 'in', $k->{in} =~ s/%s(.*)%s/%1\$s$1%2\$s/r ] : (@comparisons, [ 'in', '%1$s <@ %2$s' ]);
		for my $c (grep { !$k->{few} || $few{ $_->[0] } } @these)
		{
			my $range = $c->[0] eq 'in';
			push @all,
			  { name => "$k->{name} $c->[0]",
				kind => $k,
				ours => $c->[1],
				range => $range,
				type => $range ? 'tstzrange' : 'timestamptz',
				twin => !$range ? $c->[1] : $k->{stable} ? 'in_range_stable(%1$s, %2$s)' : 'in_range(%1$s, %2$s)' };
		}
	}
	return @all;
}

# The values of a form, as literals, each with its row in the table of moments.
sub values_of
{
	my ($form) = @_;
	my $list = $form->{kind}{ $form->{range} ? 'ranges' : 'values' };
	return
	  map { { k => $_, literal => defined $list->[$_] ? "$form->{type} '$list->[$_]'" : "NULL::$form->{type}" } }
	  0 .. $#$list;
}

# source   a name from %sources or "now"; or b: b.t or b.r; or an expression ($1)
# value    one of values_of()
sub time_of
{
	my ($form, $alias, %option) = @_;
	my ($source, $value) = @option{ 'source', 'value' };
	my $w = $form->{range} ? 'r' : 't';
	return "b.$w" if $source eq 'b';
	if ($source eq 'now')
	{
		my $t = $relative[ $value->{k} % 3 ];
		return $form->{range} ? sprintf $relative_ranges[ $value->{k} % 3 ], $t : "($t)";
	}

	# A tsrange is no tstzrange.
	if ($source eq 'timestamp' && $form->{range})
	{
		$source = 'constant';
	}
	my $sql = $sources{$source} // return $source;
	my %with = (
		v => $value->{literal},
		k => $value->{k},
		m => $form->{kind}{name},
		a => $alias eq '' ? '' : "$alias.",
		w => $w,
		y => $form->{type});
	return $sql =~ s/%([vkmawy])/$with{$1}/gr;
}

# id   the expression of the column; by default id of the alias
sub predicate
{
	my ($form, $alias, %option) = @_;
	my $id = $option{id} // ($alias eq '' ? 'id' : "$alias.id");
	return '('
	  . sprintf(
		$form->{ $option{twin} ? 'twin' : 'ours' },
		sprintf($form->{kind}{of}, $id),
		time_of($form, $alias, %option)) . ')';
}

# ---- the tables, for each kind
#   K_moments (k, t, r)                                      the values
#   K_heap, K_btree, K_brin, K_part, K_twin (n, id, t, r)    the rows; t and r are times in the same row as the id
my $common = <<'END';
CREATE EXTENSION snowflake_ids;
SELECT snowflake_layout_create('acme', '2020-01-01 00:00:00+00', '10 ms', 40, 8, 14, true);
CREATE ROLE net_reader;
CREATE TYPE gid_pair AS (x gid(log), y int);
CREATE TYPE time_pair AS (x timestamptz, y int);
CREATE DOMAIN sno_domain AS sno;
CREATE DOMAIN gid_domain AS gid(log);
CREATE DOMAIN mastic_domain AS mastic;
CREATE DOMAIN bigint_domain AS bigint;
CREATE DOMAIN uuid_domain AS uuid;
DO $$
BEGIN
    -- Not every server has it.
    IF to_regprocedure('pg_catalog.max(uuid)') IS NULL THEN
        CREATE FUNCTION larger(uuid, uuid) RETURNS uuid IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS 'SELECT greatest($1, $2)';
        CREATE AGGREGATE max(uuid) (SFUNC = larger, STYPE = uuid, COMBINEFUNC = larger, SORTOP = >, PARALLEL = safe);
    END IF;
END $$;
CREATE FUNCTION steady(timestamptz) RETURNS timestamptz STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION steady(tstzrange) RETURNS tstzrange STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION steady(text) RETURNS text STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION unsteady(timestamptz) RETURNS timestamptz VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION unsteady(tstzrange) RETURNS tstzrange VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
-- What a predicate about a range means. Not the operator <@ itself: from 17 on the planner takes NULL <@ '(,)' for true.
-- A number that is no id is in no range; its twin is 4000 BC.
CREATE FUNCTION in_range(timestamptz, tstzrange) RETURNS boolean IMMUTABLE STRICT PARALLEL SAFE LANGUAGE plpgsql AS
    $$BEGIN RETURN $1 <@ $2 AND $1 <> '4000-01-01 00:00:00+00 BC'; END$$;
CREATE FUNCTION in_range_stable(timestamptz, tstzrange) RETURNS boolean STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql AS
    $$BEGIN RETURN $1 <@ $2 AND $1 <> '4000-01-01 00:00:00+00 BC'; END$$;
END

sub array
{
	my ($type, $list) = @_;
	return 'ARRAY[' . join(', ', map { defined $_ ? "'$_'" : 'NULL' } @$list) . "]::$type\[]";
}

# The script that makes the tables of a kind. %end: the times of {first} and so on.
sub tables
{
	my ($k, %end) = @_;
	my $name = $k->{name};
	for my $list ([ 'values', \@values ], [ 'ranges', \@ranges ])
	{
		my @possible = grep { !defined $_ || !/\{far\}/ || $end{far} ne '' } @{ $list->[1] };
		$k->{ $list->[0] } = [ map { defined $_ ? s/\{(\w+)\}/$end{$1}/gr : undef } @possible ];
	}

	# Ids at the ends of the format, one tick of 10 ms around the moments, and around now.
	my $times = array('timestamptz', [ @end{ 'first', 'last' }, $t0, $t1, $end{far} || () ]);
	my $ticks = <<"END";
SELECT u.t + d * interval '10 ms' AS t, low FROM unnest($times) AS u (t), generate_series(-1, 1) AS d, generate_series(0, 1) AS low
WHERE u.t + d * interval '10 ms' BETWEEN timestamptz '$end{first}' AND timestamptz '$end{last}' AND (d + low < 2 OR u.t = timestamptz '$t0')
UNION ALL SELECT date_trunc('minute', now()) + m * interval '1 minute', 0 FROM unnest(ARRAY[-60, 0, 150, 200]) AS m
END
	my $bare = $k->{base} ? $kind{ $k->{base} }{type} : $k->{type};
	my $strange =
	  $k->{strange}
	  ? "UNION ALL SELECT 900 + x::int, v FROM unnest(ARRAY[$k->{strange}]::$bare\[]) WITH ORDINALITY AS s (v, x)"
	  : '';
	my $created = sprintf $k->{created}, 'CASE WHEN n < 900 THEN id END';
	my $made = sprintf $k->{make}, 't', 'low', 'n';

	# Times in the same row: at and around that of the id, and others.
	my $own =
	  "(ARRAY[c, c + interval '1 us', c - interval '1 us', '$t0', NULL, 'infinity', c + interval '1 day', '-infinity'])[1 + n % 8] AS t,
    (ARRAY[tstzrange(c, c, '[]'), tstzrange(c, NULL, '()'), tstzrange(c - interval '1 us', c + interval '1 us', '()'), 'empty',
           tstzrange(NULL, c), NULL, '(,)'])[1 + n % 7] AS r";
	my ($ours, $twin) = (sprintf($k->{wrap}, 'id'), sprintf($k->{twin_wrap}, 'c'));
	my $sql = <<"END";
CREATE TABLE ${name}_moments AS SELECT (coalesce(a, b) - 1)::int AS k, t, r
    FROM unnest(@{[ array('timestamptz', $k->{values}) ]}) WITH ORDINALITY AS v (t, a) FULL JOIN unnest(@{[ array('tstzrange', $k->{ranges}) ]}) WITH ORDINALITY AS r (r, b) ON a = b;
CREATE TEMP TABLE rows AS SELECT n, id, coalesce($created, CASE WHEN id IS NOT NULL THEN $bc END) AS c
    FROM (SELECT n::int, ($made)::$bare AS id FROM (SELECT row_number() OVER (ORDER BY t, low) AS n, t, low FROM ($ticks) AS a) AS b
          UNION ALL SELECT 800 + x, NULL::$bare FROM generate_series(1, 3) AS x $strange) AS c;
CREATE TABLE ${name}_heap (n int, id $k->{type}, t timestamptz, r tstzrange);
INSERT INTO ${name}_heap SELECT n, $ours, $own FROM rows;
CREATE TABLE ${name}_twin AS SELECT n, $twin AS id, $own FROM rows;
CREATE TABLE ${name}_btree (LIKE ${name}_heap);
INSERT INTO ${name}_btree TABLE ${name}_heap;
CREATE INDEX ON ${name}_btree (id);
CREATE INDEX ON ${name}_btree (n, id);
DROP TABLE rows;
END
	return $sql if !$k->{plain};

	# The server looks for BRIN's operators of the domain itself, unless the class comes with the server.
	my $brin = $k->{type} =~ /^(sno|gid|mastic)_domain/ ? "id::$bare" : 'id';
	my ($b0, $b1) = map { sprintf $k->{make}, "timestamptz '$_'", 0, 1 } $t0, $t1;
	return $sql . <<"END";
CREATE TABLE ${name}_brin (LIKE ${name}_heap);
INSERT INTO ${name}_brin TABLE ${name}_heap ORDER BY id;
CREATE INDEX ON ${name}_brin USING brin (($brin)) WITH (pages_per_range = 1);
CREATE TABLE ${name}_part (LIKE ${name}_heap) PARTITION BY RANGE (id);
CREATE TABLE ${name}_p0 PARTITION OF ${name}_part FOR VALUES FROM (MINVALUE) TO ($b0);
CREATE TABLE ${name}_p1 PARTITION OF ${name}_part FOR VALUES FROM ($b0) TO ($b1);
CREATE TABLE ${name}_p2 PARTITION OF ${name}_part DEFAULT;
INSERT INTO ${name}_part TABLE ${name}_heap;
CREATE INDEX ON ${name}_part (id);
END
}

sub setup
{
	my ($server) = @_;
	my $ask = sub { $server->safe_psql('postgres', "SET timezone = 'UTC'; $_[0]") };
	$ask->($common);
	my $ends = join ' UNION ALL ', map {
		"SELECT '$_->{name}', a, b, c, a - interval '1 us', b + interval '1 us' FROM (SELECT $_->{first}, $_->{last}, @{[ $_->{far} // 'NULL::timestamptz' ]}) AS s (a, b, c)"
	} @kinds;
	my %ends = map { my ($name, @end) = split /\|/, $_, -1; $name => \@end } split /\n/, $ask->($ends);
	my $sql = "BEGIN;\n";
	for my $k (@kinds)
	{
		my %end;
		@end{ 'first', 'last', 'far', 'before', 'after' } = @{ $ends{ $k->{name} } };
		$sql .= tables($k, %end);
	}
	$ask->("$sql COMMIT; GRANT SELECT ON ALL TABLES IN SCHEMA public TO net_reader; VACUUM ANALYZE");

	# The ids of single rows, as literals.
	my @literals = map {
		my $k = $_;
		map {
			"SELECT '$k->{name}', '$_->[0]', n, coalesce(quote_literal(id::text), 'NULL') || '::$_->[1]' FROM $k->{name}_$_->[0]"
		}[ 'heap', $k->{type} ], [ 'twin', $k->{twin_type} ]
	} @kinds;
	for (split /\n/, $ask->(join ' UNION ALL ', @literals))
	{
		my ($name, $table, $n, $literal) = split /\|/, $_, 4;
		$kind{$name}{$table}{$n} = $literal;
	}
	return;
}

1;
