# Conversions and writers in sessions with odd settings. Each id must have the time of its row with any time zone, date
# style, quoting or plan. A setting that cannot work is refused by name.
use Servers;
use Quick;
use PostgreSQL::Test::Utils;

my $server = plain_server('convert_settings', conf => 'log_statement = none');
sub sql { return $server->safe_psql('postgres', $_[0]) }

sub try
{
	my ($script) = @_;
	my ($status, $out, $err) = $server->psql('postgres', "\\set ON_ERROR_STOP 1\n$script");
	return $status == 0 ? '' : $err =~ s/^(?!.*ERROR:).*\n//gmr || $err;
}

sql('CREATE SCHEMA ids; CREATE EXTENSION snowflake_ids SCHEMA ids; CREATE EXTENSION snowflake_ids_convert SCHEMA ids; ALTER DATABASE postgres SET search_path = "App", ids'
);
my %format = (
	sno => [ '4 ms', '2025-06-30 23:59:59.123' ],
	mastic => [ '1 ms', '2026-02-01 12:00:00.123' ],
	snowflake_si => [ '1 ms', '2026-02-01 12:00:00.123' ]);

# Names, a check and an index whose text needs care; times around a change to summer time.
sub make_tables
{
	my ($format, $key, $time) = @_;
	my $more =
	  $format eq 'sno'
	  ? ", ('2025-03-30 01:30:00.001'), ('2025-03-30 02:30:00'), ('2025-10-26 02:30:00.987'), ('2025-11-02 01:30')"
	  : '';
	sql(<<"END");
SET client_min_messages = error;
DROP SCHEMA IF EXISTS "App" CASCADE;
CREATE SCHEMA "App";
DELETE FROM snowflake_ids_convert.conversion;
CREATE TABLE "Key" (
    id $key PRIMARY KEY, "Up" $key CONSTRAINT "Up" REFERENCES "Key" DEFERRABLE INITIALLY DEFERRED,
    created $time NOT NULL DEFAULT now(), note serial, CONSTRAINT words CHECK (id::text ~ '^[\\w-]+\$'));
CREATE INDEX expression ON "Key" ((id::text || '\\d'));
CREATE TABLE "of Key" (key $key NOT NULL REFERENCES "Key" ON UPDATE CASCADE, note int);
INSERT INTO "Key" (id, created) SELECT @{[ $key eq 'uuid' ? "md5(t)::uuid" : "row_number() OVER ()" ]}, t::$time
FROM (VALUES ('$format{$format}[1]'), ('2026-02-01 00:00:00'), ('2026-02-01 00:00:00'), ('2026-02-02 12:34:56.789')$more) AS v (t) GROUP BY t;
UPDATE "Key" k SET "Up" = u.id FROM "Key" u WHERE u.note = k.note - 1;
INSERT INTO "of Key" SELECT id, note FROM "Key";
END
}

# A conversion in two parts, with writers in between. Returns what is wrong.
sub convert
{
	my ($settings, $zone, $format, $key, $time, $settings_of_writers) = @_;
	make_tables($format, $key, $time);
	my ($set, $set_of_writers) = map {
		"SET client_min_messages = error;\nSET timezone = '$zone';\n" . join '',
		  map { "SET $_;\n" }
		  @$_
	} $settings, $settings_of_writers // $settings;
	my $call =
	  qq[CALL ids.snowflake_ids_convert('"App"."Key"', 'id', '$format', 'created', batch_size => 2, finish => FINISH, concurrently => false);\n];
	my $new_key = $key eq 'uuid' ? 'gen_random_uuid()' : '(SELECT 100 + count(*) FROM "App"."Key")';
	my $error = try($set . $call =~ s/FINISH/false/r);
	return $error if $error;
	$error = try(<<"END");
$set_of_writers
INSERT INTO "App"."Key" (id) VALUES ($new_key);
INSERT INTO "App"."of Key" SELECT id, note FROM "App"."Key" ORDER BY note DESC LIMIT 1;
UPDATE "App"."Key" SET "Up" = id WHERE note = 2;
UPDATE "App"."Key" SET id = $new_key WHERE note = (SELECT max(note) FROM "App"."Key" WHERE created < now() - interval '2 days');
BEGIN;
DELETE FROM "App"."of Key" WHERE note = 1;
UPDATE "App"."of Key" SET key = k.id FROM "App"."Key" k WHERE "of Key".note = 3 AND k.note = 2;
UPDATE "App"."of Key" SET key = k.id FROM "App"."Key" k WHERE "of Key".note = 3 AND k.note = 3;
INSERT INTO "App"."of Key" SELECT id, note FROM "App"."Key" WHERE note = 1;
COMMIT;
END
	return "a writer: $error" if $error;
	$error = try($set . $call =~ s/FINISH/true/r);
	return $error if $error;
	my ($tick) = @{ $format{$format} };
	my $wrong = sql(<<"END");
SET timezone = '$zone';
SELECT 'time of ' || note || ': ' || ${format}_timestamp(id) || ', not ' || created FROM "Key"
WHERE ${format}_timestamp(id) <> date_bin('$tick', created::timestamptz, timestamptz '2020-01-01 00:00:00+00') AND created < now() - interval '2 days';
SELECT 'drawn ' || ${format}_timestamp(id) FROM "Key" WHERE created > now() - interval '2 days' AND ${format}_timestamp(id) < now() - interval '1 hour';
SELECT 'order of ' || note FROM (SELECT *, lag(created) OVER (ORDER BY id) > created AS wrong FROM "Key") AS k WHERE wrong;
SELECT 'reference of ' || o.note FROM "of Key" o JOIN "Key" k ON k.id = o.key WHERE k.note <> o.note;
SELECT 'up of ' || k.note FROM "Key" k LEFT JOIN "Key" u ON u.id = k."Up" WHERE u.note IS DISTINCT FROM CASE k.note WHEN 2 THEN 2 ELSE nullif(k.note - 1, 0) END
    AND k.created < now() - interval '2 days';
SELECT conname || ' is not valid' FROM pg_constraint WHERE conrelid IN ('"Key"'::regclass, '"of Key"'::regclass) AND NOT convalidated;
SELECT 'left over: ' || relname FROM pg_class WHERE relname ~ '^snowflake_ids' AND relname !~ '_map_' AND relnamespace = '"App"'::regnamespace;
SELECT 'map of ' || k.note FROM snowflake_ids_map_@{[ sql(q{SELECT '"App"."Key"'::regclass::oid}) ]} m RIGHT JOIN "Key" k ON k.id = m.new WHERE m.old IS NULL;
SELECT 'left over: ' || proname FROM pg_proc WHERE proname ~ '^snowflake_ids' AND pronamespace = '"App"'::regnamespace;
SELECT 'constraints: ' || count(*) FROM pg_constraint WHERE conrelid IN ('"Key"'::regclass, '"of Key"'::regclass) AND contype <> 'n' HAVING count(*) <> 4;
SELECT 'rows: ' || count(*) FROM "of Key" HAVING count(*) <> (SELECT count(*) FROM "Key");
END
	return $wrong if $wrong;
	my ($status, $out, $again) = $server->psql('postgres', $set . $call =~ s/FINISH/true/r);
	return $again =~ /has been converted|cannot convert a key of type (ids\.)?(sno|mastic)/
	  ? ''
	  : "was converted again: $again";
}

# Name and what convert() gets of each conversion that must work.
my @cases;

# ---- zones and date styles: the text of a time may be read as another time
my @styles = ('SQL, DMY', 'Postgres, MDY', 'German');
for my $zone (
	[ 'Asia/Shanghai', 'uuid', 'timestamptz' ],
	[ 'Asia/Kolkata', 'uuid', 'timestamptz' ],
	[ 'America/St_Johns', 'int', 'timestamp' ])
{
	for my $n (0 .. 2)
	{
		my $format = (sort keys %format)[$n];
		push @cases,
		  [ "$zone->[0], $styles[0]: $format of $zone->[2]",
			["datestyle = '$styles[0]'"],
			$zone->[0], $format, $zone->[1], $zone->[2] ];
		push @styles, shift @styles;
	}
	push @styles, shift @styles;
}

# A zone with summer time whose name is also an abbreviation without it; and a zone without a name
push @cases, [ 'CET', [], 'CET', 'sno', 'int', 'timestamp' ]
  if sql("SELECT count(*) FROM pg_timezone_names WHERE name = 'CET'");
push @cases, [ '+05:30', [], '<+0530>-05:30', 'sno', 'int', 'date' ];

# ---- what is known to change how text is read or written, alone
push @cases, [ $_, [$_], 'Europe/Berlin', 'snowflake_si', 'int', 'timestamptz' ]
  for 'standard_conforming_strings = off', 'quote_all_identifiers = on';

my @quoted = ('quote_all_identifiers = on');
push @cases, [ "@quoted, of writers only", [], 'UTC', 'mastic', 'int', 'timestamptz', \@quoted ];
push @cases, [ "@quoted, not of writers", \@quoted, 'UTC', 'mastic', 'int', 'timestamptz', [] ];

# ---- everything else, several at once
my $parallel = $server->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
my @odd = (
	[   'standard_conforming_strings = off',
		'quote_all_identifiers = on',
		'backslash_quote = off',
		'escape_string_warning = off',
		"datestyle = 'SQL'",
		'intervalstyle = iso_8601',
		"timezone_abbreviations = 'India'",
		'plpgsql.variable_conflict = use_column' ],
	[   'intervalstyle = sql_standard',
		'bytea_output = escape',
		'extra_float_digits = -15',
		'xmloption = document',
		'xmlbinary = hex',
		'array_nulls = off',
		'transform_null_equals = on',
		'row_security = off',
		'session_replication_role = local',
		'plpgsql.variable_conflict = use_variable' ],
	[   'session_replication_role = replica',
		'check_function_bodies = off',
		'plan_cache_mode = force_generic_plan',
		'search_path = pg_temp',
		'enable_seqscan = off',
		'exit_on_error = on' ],
	[   'plan_cache_mode = force_custom_plan',
		"search_path = ''",
		"plpgsql.extra_errors = 'all'",
		'enable_indexscan = off',
		'enable_nestloop = off',
		'client_min_messages = debug5',
		"$parallel = on",
		'default_transaction_deferrable = on' ],
	[   "work_mem = '64kB'",
		'constraint_exclusion = on',
		'from_collapse_limit = 1',
		'join_collapse_limit = 1',
		'geqo_threshold = 2',
		'synchronous_commit = off',
		'default_statistics_target = 1',
		'lo_compat_privileges = on',
		'default_tablespace = pg_default',
		'vacuum_cost_delay = 1',
		"lc_messages = 'C'",
		"client_encoding = 'LATIN1'",
		$server->safe_psql('postgres', "SELECT 1 FROM pg_settings WHERE name = 'restrict_nonsystem_relation_kind'")
		? "restrict_nonsystem_relation_kind = 'foreign-table'"
		: () ]);
for my $n (0 .. $#odd)
{
	my $format = (sort keys %format)[ $n % 3 ];
	my ($key, $time) = $n % 2 ? ('int', 'date') : ('uuid', 'timestamptz');
	push @cases, [ "$format: " . join(', ', @{ $odd[$n] }), $odd[$n], 'Asia/Kolkata', $format, $key, $time ];
}
for my $case (part(@cases))
{
	my ($name, @how) = @$case;
	is(convert(@how), '', $name);
}

# ---- refused, and nothing has changed
for my $refused (
	[ 'default_transaction_read_only = on', qr/cannot convert in a read-only transaction/ ],
	[ 'default_transaction_isolation = serializable', qr/cannot convert in isolation level serializable/ ],
	[ "default_transaction_isolation = 'repeatable read'", qr/cannot convert in isolation level repeatable read/ ])
{
	my ($setting, $error) = @$refused;
	like(convert([$setting], 'UTC', 'sno', 'int', 'timestamptz'), $error, $setting);
	is(sql(q[SELECT count(*) FROM pg_attribute WHERE attrelid = '"Key"'::regclass AND attnum > 0]),
		4, 'and nothing has changed');
}
make_tables('sno', 'int', 'timestamptz');
$server->append_conf('postgresql.conf', 'snowflake_ids.machine_id = 70000');
$server->reload;
$server->poll_query_until('postgres', q{SELECT current_setting('snowflake_ids.machine_id', true) = '70000'}) or die;
like(
	try(q{CALL snowflake_ids_convert('"App"."Key"', 'id', 'sno', 'created')}),
	qr/ERROR:  a setting of snowflake_ids was not accepted/,
	'a machine id that the server did not accept');
$server->stop;
done_testing();
