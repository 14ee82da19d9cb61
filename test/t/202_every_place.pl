# Time predicates in every place of SQL that takes an expression: the rows must be those of a twin, a table with a
# timestamptz in place of the id. The forms are in lib/TimeForms.pm, the places in lib/TimePlaces.pm; this script makes
# the product.
#
# Every form meets every place. The times and the ways to write them take turns, always in the same order.
#   NET_FULL=1                              all ways to write a time for each form and place: twice as long
#   NET_PLACES='regex' NET_FORMS='regex'    some places, some forms
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TimeForms;
use TimePlaces;

# What is refused for ids and not for their twins.
my @refused = (
	{   place => qr/^publication$/,
		form => qr/./,
		state => '0A000',
		why => 'only types, operators and functions of the server are allowed there' },
	{   place => qr/^row of id and time$/,
		form => qr/./,
		state => '0A000',
		why => 'needs operators of one btree operator family' });

# What makes the server plan otherwise, and the table that it then reads.
my %off =
  map { $_ => "SET LOCAL enable_$_ = off" } qw(seqscan indexscan indexonlyscan bitmapscan hashjoin mergejoin material);
my @settings = (
	{ name => 'partitions, as they come', table => 'part', plan => qr/sno_p0(?!.*sno_p2)/s, set => [] },
	{   name => 'index scans',
		table => 'btree',
		plan => qr/Index (Only )?Scan.*Index Cond/s,
		set => [ @off{qw(seqscan bitmapscan hashjoin mergejoin material)} ] },
	{   name => 'bitmap scans',
		table => 'btree',
		plan => qr/Bitmap Index Scan on \w+btree.*Index Cond/s,
		set => [ @off{qw(seqscan indexscan indexonlyscan)} ] },
	{   name => 'BRIN',
		table => 'brin',
		plan => qr/Bitmap Index Scan on \w+brin.*Index Cond/s,
		set => [ @off{qw(seqscan indexscan indexonlyscan)} ] },
	{   name => 'sequential scans',
		table => 'heap',
		plan => qr/Seq Scan/s,
		set => [ @off{qw(indexscan indexonlyscan bitmapscan)} ] },
	{   name => 'partitions',
		table => 'part',
		set => [
			$off{seqscan}, 'SET LOCAL enable_partitionwise_join = on', 'SET LOCAL enable_partitionwise_aggregate = on' ]
	});
my @slow = (
	{   name => 'parallel',
		table => 'btree',
		plan => qr/Workers Planned/s,
		set => [
			map { "SET LOCAL $_" } 'parallel_setup_cost = 0',
			'parallel_tuple_cost = 0',
			'min_parallel_table_scan_size = 0',
			'min_parallel_index_scan_size = 0',
			'max_parallel_workers_per_gather = 1',
			'DEBUG_PARALLEL = on' ] },
	{   name => 'JIT',
		table => 'heap',
		set => [
			map { "SET LOCAL $_" } 'jit = on',
			'jit_above_cost = 0',
			'jit_inline_above_cost = -1',
			'jit_optimize_above_cost = -1' ] });
my $as_it_comes = { name => 'as it comes', table => 'heap', set => [] };
my @sources = qw(constant stable select now row correlated volatile timestamp);

my $server = PostgreSQL::Test::Cluster->new('every_place');
$server->init;
$server->append_conf('postgresql.conf', <<'END');
timezone = 'Asia/Kolkata'
fsync = off
synchronous_commit = off
wal_level = logical
jit = off
autovacuum = off
END
$server->start;
my $dir = $server->data_dir;
TimeForms::setup($server);
$server->safe_psql('postgres', $TimePlaces::helpers . <<'END');
CREATE TABLE seen (place text, form text, setting text, expected text, found text, statements text);
-- What the last of some statements says, or how they are refused. Nothing of them remains.
CREATE FUNCTION outcome(statements text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    list text[] := string_to_array(statements, E'\n;;\n');
    result text;
BEGIN
    FOR i IN 1 .. cardinality(list) - 1 LOOP EXECUTE list[i]; END LOOP;
    EXECUTE list[cardinality(list)] INTO result;
    RAISE EXCEPTION SQLSTATE 'NET00';
EXCEPTION
    WHEN SQLSTATE 'NET00' THEN RETURN coalesce(result, 'nothing');
    WHEN OTHERS THEN RETURN 'refused: ' || SQLSTATE || CASE SQLSTATE WHEN 'XX000' THEN ' ' || SQLERRM ELSE '' END;
END $$;
CREATE FUNCTION compare(place text, form text, twin text, settings text[], ours text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    expected text := outcome(twin);
    found text;
BEGIN
    DEALLOCATE ALL;
    FOR i IN 1 .. cardinality(ours) LOOP
        found := outcome(ours[i]);
        DEALLOCATE ALL;
        INSERT INTO seen VALUES (place, form, settings[i], expected, found, CASE WHEN found <> expected THEN ours[i] END);
    END LOOP;
END $$;
END
my %copied;

for my $name (grep { !$copied{$_}++ } map { $_->{kind}{name} } TimeForms::all())
{
	$server->safe_psql('postgres', "COPY ${name}_$_ TO '$dir/${name}_$_'") for 'heap', 'twin';
}
my $debug_parallel = $server->safe_psql('postgres',
	q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});

# Do the settings do what they are for?
for my $setting (grep { $_->{plan} } @settings, @slow)
{
	my $set = join '; ', map { s/LOCAL //r =~ s/DEBUG_PARALLEL/$debug_parallel/r } @{ $setting->{set} };
	my $query = "SELECT n FROM sno_$setting->{table} WHERE id < timestamptz '2026-03-01 12:00:00.04+00'";
	like($server->safe_psql('postgres', "$set; EXPLAIN (COSTS OFF) $query"),
		$setting->{plan}, "settings: $setting->{name}");
}

# ---- the product
# The statements of a place with a form, as one string; the twin's with twin => 1.
sub script
{
	my ($place, $form, $setting, %option) = @_;
	my @statements =
	  map { TimePlaces::fill($_, $form, table => $setting->{table}, dir => $dir, %option) } @{ $place->{statements} };
	unshift @statements, map { s/DEBUG_PARALLEL/$debug_parallel/r } @{ $setting->{set} } if !$option{twin};
	my $name = $form->{range} ? 'r' : 't';
	unshift @statements, "SELECT set_config('net.$name', ($option{value}{literal})::text, true)"
	  if $option{source} eq 'setting';
	return join "\n;;\n", @statements;
}

sub quoted { return "\$net\$$_[0]\$net\$" }

sub comparison
{
	my ($place, $form, $name, $settings, %option) = @_;
	return sprintf "SELECT compare(%s, %s, %s, ARRAY[%s], ARRAY[%s]);\n", quoted($name),
	  quoted("$form->{name}, $option{source}, $option{value}{literal}"),
	  quoted(script($place, $form, $settings->[0], %option, twin => 1)),
	  join(', ', map { quoted($_->{name}) } @$settings),
	  join(', ', map { quoted(script($place, $form, $_, %option)) } @$settings);
}

my ($places, $cases) = (0, 0);

# The settings for the next case.
sub settings
{
	my ($place, $form) = @_;
	my $which = $place->{settings} // 'one';
	return $as_it_comes if $which eq 'none';
	my @these = $which eq 'every' ? @settings : $settings[ $cases % @settings ];
	push @these, $settings[ ($cases / 4 + 1) % @settings ] if $which eq 'all' && $cases % 4 == 0;
	push @these, $slow[ $cases / 50 % 2 ] if $which ne 'one' && $cases % 50 == 0;
	return map { $form->{kind}{plain} || $_->{table} !~ /part|brin/ ? $_ : $settings[1] } @these;
}

# The ways to write the time, for a form in a place.
sub sources
{
	my ($place, $form, $turn) = @_;
	my @all = $place->{sources} ? split / /, $place->{sources} : @sources;
	return @all if $form->{range} || $ENV{NET_FULL} || @all < 3;
	return $all[ $turn % @all ] if ($place->{settings} // '') eq 'none';
	return ($all[ $turn % 2 ], $all[ 2 + $turn / 2 % (@all - 2) ]);
}

my ($some_forms, $some_places) = map { $_ // '.' } @ENV{ 'NET_FORMS', 'NET_PLACES' };
my @forms = grep { $_->{name} =~ /$some_forms/ } TimeForms::all();
my ($canary) = grep { $_->{name} eq 'sno lt' } TimeForms::all();
for my $place (grep { $_->{name} =~ /$some_places/ } TimePlaces::all())
{
	my ($name, $sql, $turn) = ($place->{name}, '', $places++);
	for my $form (grep { TimePlaces::applies($place, $_) } @forms)
	{
		my @values = TimeForms::values_of($form);
		$turn++;
		for my $source (sources($place, $form, $turn))
		{
			my $count = $source =~ /^(row|correlated)$/ ? 1 : $source eq 'now'
			  && ($place->{values} // 1) > 3 ? 3 : $place->{values} // 1;
			for my $value (map { $values[ ($turn * 3 + $_ * 4 + $cases) % @values ] } 0 .. $count - 1)
			{
				next if $source eq 'setting' && $value->{literal} =~ /^NULL/;
				$cases++;
				$sql .=
				  comparison($place, $form, $name, [ settings($place, $form) ], source => $source, value => $value);
			}
		}
	}

	# Wrong predicates must be seen in this place.
	my ($source) = $place->{sources} ? split / /, $place->{sources} : 'constant';
	for my $wrong ('NOT (%1$s < %2$s)', '(%1$s < %2$s) IS NOT FALSE')
	{
		$sql .= comparison(
			$place, { %$canary, twin => $wrong }, "!$name", [$as_it_comes],
			source => $source,
			value => (TimeForms::values_of($canary))[$_]) for 0, 1, 2, 6;
	}

	my $start = time;
	my ($rc, $out, $err) = $server->psql(
		'postgres',
		"SET statement_timeout = '60s'; SET client_min_messages = error;\n$sql",
		on_error_stop => 1);
	is($err, '', "$name: runs");
	my $these = "FROM seen WHERE place = \$place\$$name\$place\$";
	my $wrong = 'found <> expected OR found ~ \'XX000\'';
	for (grep { $name =~ $_->{place} } @refused)
	{
		my $count = $server->safe_psql('postgres',
			"WITH gone AS (DELETE $these AND found = 'refused: $_->{state}' RETURNING 1) SELECT count(*) FROM gone");
		ok($count > 0, "$name: refused: $_->{why}");
	}
	my ($found, $refused, $answers, $different) = split /\|/,
	  $server->safe_psql('postgres',
		"SELECT count(*), count(*) FILTER (WHERE found ~ '^refused'), count(DISTINCT expected), count(*) FILTER (WHERE $wrong) $these"
	  );
	note sprintf '%-45s %5d cases, %5d refused in both, %4d answers, %4d different, %d s', $name, $found, $refused,
	  $answers, $different, time - $start;
	is($different, 0, "$name: as the twin")
	  or diag $server->safe_psql('postgres',
		"SELECT form, setting, statements, E'\\nexpected: ' || expected, E'\\nfound: ' || found $these AND ($wrong) LIMIT 3"
	  );
	isnt(
		$server->safe_psql(
			'postgres',
			"SELECT count(*) FILTER (WHERE found <> expected) FROM seen WHERE place = \$place\$!$name\$place\$"),
		0,
		"$name: a wrong predicate is seen");

	# What was rolled back is still in the catalogs.
	$server->safe_psql('postgres',
		'VACUUM pg_class, pg_attribute, pg_depend, pg_type, pg_index, pg_constraint, pg_trigger, pg_rewrite, pg_attrdef, pg_statistic, pg_shdepend, pg_proc'
	);
}
my @times = split / /, slurp_file('/proc/' . $server->{_pid} . '/stat') =~ s/.*\) //r;
note sprintf '%d forms, %d places, %s comparisons, %d s of processor time in the server', scalar(@forms), $places,
  $server->safe_psql('postgres', 'SELECT count(*) FROM seen'),
  ($times[11] + $times[12] + $times[13] + $times[14]) / 100;
$server->stop;
done_testing();
