# Roles write all values they can think of into each relation of the extensions that they may write. Then others call
# all functions, also with what was forged and among a hostile schema's traps. The server survives, and nothing of
# others has changed.
use Servers;
use FindBin;
use JSON::PP;
use Quick;
use PostgreSQL::Test::Utils;

my $node = plain_server('forged', conf => "snowflake_ids.machine_id = 5\nrestart_after_crash = on\n");
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', <<'END');
CREATE ROLE landlord LOGIN;
CREATE ROLE stranger LOGIN;
CREATE ROLE victim LOGIN;
CREATE DATABASE estate OWNER landlord;
END
$node->safe_psql(
	'estate',
	'CREATE EXTENSION snowflake_ids; CREATE EXTENSION snowflake_ids_convert',
	extra_params => [ '-U', 'landlord' ]);
$node->safe_psql('estate', slurp_file("$FindBin::RealBin/../lib/hostile_calls.sql"));
$node->safe_psql('estate', <<'END');
CREATE SCHEMA victim AUTHORIZATION victim;
GRANT EXECUTE ON FUNCTION snowflake_layout_create TO victim, landlord;
SET ROLE victim;
CREATE TABLE victim.item (
    id sno DEFAULT gen_sno() PRIMARY KEY, number bigint DEFAULT gen_mastic(), tweet bigint DEFAULT gen_snowflake('twitter'), volume gid DEFAULT gen_gid('volume'));
INSERT INTO victim.item SELECT FROM generate_series(1, 20);
SELECT snowflake_layout_create('of the victim', '2020-01-01', '10 ms', 40, 8, 14);
RESET ROLE;

-- What this role may write into, with an ordinary row and a value for each column.
CREATE VIEW hostile.writable AS
SELECT c.oid::regclass AS relation FROM pg_class c JOIN hostile.member m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'S') AND has_schema_privilege(c.relnamespace, 'USAGE')
    AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, 'USAGE, UPDATE')
        ELSE has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') OR has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES') END;
CREATE FUNCTION hostile.forge(relation regclass) RETURNS TABLE (what text, state text) LANGUAGE plpgsql AS $$
DECLARE
    plain jsonb;
    a record;
    value jsonb;
    v text;
BEGIN
    EXECUTE format('SELECT to_jsonb(r) FROM %s AS r LIMIT 1', relation) INTO plain;
    FOR a IN
        SELECT attname, format_type(atttypid, atttypmod) AS type, e FROM pg_attribute,
             LATERAL (SELECT expression FROM hostile.value WHERE type = atttypid UNION ALL SELECT 'NULL'
                      UNION ALL SELECT quote_literal(n) || '::text' FROM snowflake_ids.known_layouts() AS k (n) WHERE atttypid = 'text'::regtype) AS e (e)
        WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped ORDER BY attnum
    LOOP
        BEGIN
            EXECUTE format('SELECT to_jsonb((%s)::%s)', a.e, a.type) INTO value;
        EXCEPTION WHEN OTHERS THEN CONTINUE;
        END;
        value := coalesce(plain, '{}') || CASE WHEN plain ? 'name' THEN jsonb_build_object('name', 'forged ' || md5(concat(a.attname, a.e))) ELSE '{}' END
                 || jsonb_build_object(a.attname, value);
        FOREACH v IN ARRAY ARRAY[format('INSERT INTO %s SELECT * FROM jsonb_populate_record(NULL::%1$s, %L)', relation, value),
            format('UPDATE %s SET %I = %s', relation, a.attname, a.e)] LOOP
            what := left(v, 300);
            state := 'done';
            BEGIN
                EXECUTE v;
            EXCEPTION WHEN OTHERS THEN state := SQLSTATE || ' ' || SQLERRM;
            END;
            RETURN NEXT;
        END LOOP;
    END LOOP;
    FOREACH v IN ARRAY '{"DELETE FROM %s", "TRUNCATE %s", "CREATE TRIGGER forged BEFORE INSERT ON %s EXECUTE FUNCTION suppress_redundant_updates_trigger()"}'::text[] LOOP
        what := format(v, relation);
        state := 'done';
        BEGIN
            EXECUTE what;
        EXCEPTION WHEN OTHERS THEN state := SQLSTATE || ' ' || SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
GRANT SELECT ON hostile.writable TO PUBLIC;
END

# Operators and functions that fit better than built-in ones. Its domains would catch the calls' own literals.
my $traps =
  slurp_file("$ENV{SNOWFLAKE_IDS_SRC}/sql/include/traps.psql") =~
  s/^(CREATE VIEW caught|SELECT make_traps|CREATE DOMAIN)\b.*\n//mgr =~ s/\bhostile\b/trap/gr;
$node->safe_psql('estate', "$traps\nSELECT make_traps('trap')");

my $born = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

sub session
{
	my ($role, $script) = @_;
	local $ENV{PGOPTIONS} = '-c client_min_messages=error -c statement_timeout=60s';
	my ($out, $err) = ('', '');
	my $rc = $node->psql(
		'estate', "$script\n\\echo the end\n",
		stdout => \$out,
		stderr => \$err,
		on_error_stop => 0,
		extra_params => [ '-q', '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	ok($rc == 0 && $out =~ s/the end\n?\z//, "$role: the session lived on") or diag substr($err, -2000);
	return ($out, $err);
}

sub state_of_others
{
	my ($out, $err) = session($superuser, <<'END');
SELECT i::text FROM victim.item AS i ORDER BY id;
SELECT c.oid::regclass, relowner::regrole, relacl, relfilenode, relkind, relnatts, relhastriggers FROM pg_class c
WHERE relowner <> 'landlord'::regrole AND c.oid >= 16384 AND relpersistence = 'p' ORDER BY 1::text;
SELECT p.oid::regprocedure, proowner::regrole, proacl, md5(prosrc) FROM pg_proc p WHERE p.oid >= 16384 ORDER BY 1::text;
SELECT oid::regtype FROM pg_type WHERE oid >= 16384 ORDER BY 1::text;
SELECT tgname, tgrelid::regclass, tgenabled FROM pg_trigger ORDER BY 1, 2::text;
SELECT rolname, rolsuper, rolcanlogin, rolconfig FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1;
SELECT extname, extowner::regrole, extversion FROM pg_extension ORDER BY 1;
SELECT adrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attrdef ORDER BY adrelid::regclass::text, adnum;
SELECT nspname, nspowner::regrole, nspacl FROM pg_namespace WHERE nspname !~ '^pg_(temp|toast)' ORDER BY 1;
SELECT name, setting, source FROM pg_settings WHERE name ~ '^snowflake' ORDER BY 1;
SELECT k.name, snowflake_decode(1163015279152190, k.name), snowflake_lower_bound(k.name, '2026-07-01 00:00:00+00')
FROM snowflake_ids.known_layouts() AS k UNION ALL
SELECT n, snowflake_decode(1163015279152190, n), snowflake_lower_bound(n, '2026-07-01 00:00:00+00') FROM (VALUES ('of the victim')) AS v (n) ORDER BY 1;
SELECT name, epoch, tick, timestamp_bits FROM snowflake_ids.layouts WHERE name !~ '^forged' AND (NOT created OR name = 'of the victim') ORDER BY 1;
END
	is($err, '', 'a look at what others have');
	return $out;
}

sub changed
{
	my ($then, $now) = @_;
	my %count;
	$count{$_}++ for split /\n/, $now;
	$count{$_}-- for split /\n/, $then;
	return join "\n", map { ($count{$_} > 0 ? 'now ' : 'before ') . $_ } grep { $count{$_} } sort keys %count;
}

my $internal = qr/^(XX|2F|20000|P0004)/;

my $turn = whole() ? 'true' : 'hashtext(signature::text) % 4 = 0';

sub calls
{
	my ($role) = @_;
	my ($out, $err) = session($role, <<"END");
SELECT format('SELECT to_jsonb(o) FROM hostile.try(ARRAY(SELECT hostile.calls(%s, 1, ''constants'')), true) AS o', oid)
FROM hostile.function WHERE has_function_privilege('victim', oid, 'EXECUTE') AND $turn \\gexec
END
	is($err, '', "$role: every batch of calls came to its end");
	my ($calls, $done, @internal) = (0, 0);
	for (split /\n/, $out)
	{
		my $r = decode_json($_);
		$calls += $r->{calls};
		$done  += $r->{calls} if $r->{state} eq 'done';
		push @internal, "$r->{example}: $r->{state} $r->{message}"
		  if $r->{state} =~ $internal || ($r->{message} // '') =~ /cache lookup failed/;
	}
	is(join("\n", @internal), '', "$role: no internal error");
	cmp_ok($done, '>', $calls / 10, "$role: $done of $calls calls have a result");
	return;
}

sub calls_among_traps
{
	my ($role) = @_;
	my ($out, $err) = session($role, <<"END");
SET search_path = trap, pg_catalog, public;
SELECT 1 FROM pg_catalog.pg_class WHERE relname = pg_catalog.text 'x';
RESET search_path;
SELECT 'SET search_path = trap, pg_catalog, public', 'BEGIN', c, 'ROLLBACK', 'RESET search_path'
FROM hostile.function AS f, hostile.calls(f.oid, 0, 'constants') AS c WHERE has_function_privilege('victim', f.oid, 'EXECUTE') AND $turn \\gexec
SELECT snowflake_ids.pass_now('sno') IS NOT NULL, count(*) > 0 FROM snowflake_ids.layouts;
END
	my @said = $err =~ /ERROR:  (.*)/g;
	is( join("\n", grep { /trap/ } @said),
		'P0001: trap operator name, text',
		"$role: the traps work, and catch nothing of ours");
	is(join("\n", grep { /$internal/ } @said), '', "$role: no internal error among them");
	return;
}

my %written;
my $before = state_of_others();
for my $role ('stranger', 'landlord')
{
	my ($out, $err) = session($role, <<'END');
SELECT format('SELECT %L, w.what, w.state FROM hostile.forge(%1$L) AS w', relation) FROM hostile.writable \gexec
END
	is($err, '', "$role: tried it");
	my @tried = map { [ split /\|/, $_, 3 ] } split /\n/, $out;
	$written{$role}{ $_->[0] } += ($_->[2] =~ /done$/ ? 1 : 0) for @tried;
	note "$role: " . join ', ', map { "$_: $written{$role}{$_} written" } sort keys %{ $written{$role} };
	is(join("\n", map { "@$_" } grep { $_->[2] =~ /\bXX\d\d\d |cache lookup/ } @tried), '', "$role: no internal error");
	is(changed($before, state_of_others()), '', "$role: nothing of others has changed by writing alone");
}

$node->safe_psql(
	'estate', q{
	INSERT INTO hostile.value (type, expression)
	SELECT 'text', quote_literal(name) || '::text' FROM snowflake_ids.created_layout WHERE name ~ '^forged' ORDER BY name LIMIT 20}
);
calls('victim');
calls($superuser);
calls_among_traps($superuser);
is(changed($before, state_of_others()), '', 'nothing of others has changed by calls of others');
is($node->safe_psql('estate', 'SELECT max(id) < gen_sno() FROM victim.item', extra_params => [ '-U', 'victim' ]),
	't', 'and the victim draws');
cmp_ok($written{landlord}{'snowflake_ids.created_layout'} // 0, '>', 0, 'rows were forged');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $born, 'the server is the same');
unlike(slurp_file($node->logfile), qr/was terminated by signal|reinitializing/, 'and no process of it ended');
$node->stop;
done_testing();
