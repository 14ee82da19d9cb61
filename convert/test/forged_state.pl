# Owners can write the state of their conversion. Every column of it is forged in every phase, then others call for that
# table: a superuser, another member of the owning role, the owner. No call changes anything of another role. Strangers,
# and roles that are only members of the owner, can forge nothing.
use Servers;
use Quick;

my $server = plain_server('forged', conf => 'log_statement = none');
sub sql { return $server->safe_psql('postgres', $_[0]) }

# ---- a role of two members, another role with a conversion, and a stranger
sql(<<'END');
CREATE EXTENSION snowflake_ids_convert CASCADE;
CREATE ROLE team; CREATE ROLE forger IN ROLE team; CREATE ROLE mate IN ROLE team; CREATE ROLE victim; CREATE ROLE stranger;
CREATE SCHEMA team AUTHORIZATION team; CREATE SCHEMA mate AUTHORIZATION mate; CREATE SCHEMA victim AUTHORIZATION victim;
GRANT USAGE ON SCHEMA team, mate, victim TO PUBLIC;
CREATE TABLE of_superuser (n int);
SET ROLE mate;
CREATE TABLE mate.private (n int);
SET ROLE victim;
CREATE TABLE victim.private (n int);
CREATE TABLE victim.key (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01', CHECK (id > 0));
CREATE TABLE victim.of_key (key int CONSTRAINT of_key REFERENCES victim.key);
INSERT INTO victim.key VALUES (1), (2);
INSERT INTO victim.of_key VALUES (1), (2);
CREATE TABLE victim.lone (LIKE victim.key INCLUDING ALL);
SET client_min_messages = error;
CALL snowflake_ids_convert('victim.key', 'id', 'mastic', 'created', finish => false);
CALL snowflake_ids_convert('victim.lone', 'id', 'mastic', 'created', finish => false);
ALTER TABLE victim.of_key ADD CONSTRAINT not_valid CHECK (key > 0) NOT VALID;
END

# ---- a conversion in each phase
my @phases = qw(prepare number fill settle follow check index ready swap validate done);
my $holder = Session->new($server);
for my $phase (@phases)
{
	sql(<<"END");
SET ROLE team;
CREATE TABLE team.in_$phase (id int PRIMARY KEY, created timestamptz NOT NULL DEFAULT '2026-02-01', CHECK (id > 0));
CREATE TABLE team.of_$phase (key int REFERENCES team.in_$phase, n int);
INSERT INTO team.in_$phase SELECT generate_series(1, 5);
INSERT INTO team.of_$phase SELECT generate_series(1, 5);
END

	# The first call gets no further.
	$holder->ask("BEGIN; LOCK TABLE team.in_$phase IN ROW EXCLUSIVE MODE");
	my $keep = $phase eq 'ready' ? 'true' : 'false';
	my (undef, undef, $err) = $server->psql('postgres',
		"SET ROLE team; SET lock_timeout = '1ms'; CALL snowflake_ids_convert('team.in_$phase', 'id', 'mastic', 'created', batch_size => 2, concurrently => false, keep_position => $keep)"
	);
	$holder->ask('ROLLBACK');
	my $reached = "SELECT phase FROM snowflake_ids_convert_progress WHERE relation = 'team.in_$phase'::regclass";
	for (1 .. 40)
	{
		last if sql($reached) eq $phase;
		sql("SET ROLE team; SELECT snowflake_ids_convert.step('team.in_$phase', true)");
	}
	is(sql($reached), $phase, "a conversion in phase $phase") or diag $err;
}

# ---- forgeries: for each writable column of the view, values of its type; fields of a composite type count as columns
sql(<<'END');
CREATE TABLE forgery AS
WITH col (name, type, relation) AS (
    SELECT attname::text, atttypid, attrelid FROM pg_attribute
    WHERE attrelid = 'snowflake_ids_convert.my_conversion'::regclass AND attnum > 0
), field (name, type) AS (
    SELECT name, type FROM col WHERE name <> 'relation'
    UNION ALL
    SELECT col.name || '.' || a.attname, a.atttypid
    FROM col JOIN pg_type y ON y.oid = col.type AND y.typtype = 'c' JOIN pg_attribute a ON a.attrelid = y.typrelid AND attnum > 0
), value (type, value) AS (
    SELECT 'regclass', format('%s::regclass', c.oid)
    FROM pg_class c WHERE c.oid IN ('victim.private'::regclass, 'victim.lone'::regclass, 'mate.private'::regclass, 'team.of_fill'::regclass)
    UNION ALL VALUES ('regclass', '0::regclass'), ('regclass', '4000000000::oid::regclass'),
        ('smallint', '-1'), ('smallint', '0'), ('smallint', '2'), ('smallint', '32767'),
        ('integer', '-2147483648'), ('integer', '0'), ('integer', '2147483647'),
        ('bigint', '-9223372036854775808'), ('bigint', '0'), ('bigint', '9223372036854775807'),
        ('boolean', 'true'), ('boolean', 'false'), ('name', '$$created$$'), ('name', '$$n$$'),
        ('text', '$$"; DROP TABLE victim.private; --$$'), ('text', $$'''; DROP TABLE victim.private; --'$$), ('text', '$$%s%n%1$s$$'),
        ('timestamp with time zone', '$$infinity$$'), ('timestamp with time zone', '$$-infinity$$'), ('timestamp with time zone', '$$2099-01-01$$')
    UNION ALL SELECT 'text', quote_literal(phase) FROM unnest('{prepare,number,fill,settle,follow,check,index,ready,swap,validate,done}'::text[]) AS phase
    UNION ALL SELECT 'text', quote_literal(format) FROM unnest('{sno,mastic,snowflake_si}'::text[]) AS format
    UNION ALL SELECT 'jsonb', quote_literal(v::text) FROM unnest(ARRAY['5', '[]', '{}', '[[]]', '[null]', '[{"rel": null}]',
        jsonb_build_array('victim.private'::regclass::oid),
        jsonb_build_array(jsonb_build_array('victim.lone'::regclass::oid, 1), jsonb_build_array('victim.of_key'::regclass::oid, 1)),
        jsonb_build_array(jsonb_build_object('rel', 'victim.of_key'::regclass::oid, 'constraint', 'not_valid'))]::jsonb[]) AS v
    UNION ALL SELECT 'oid[]', quote_literal(v::text) FROM unnest(ARRAY['{}', '{0,4000000000}', '{NULL}', '{{1,2},{3,4}}',
        (SELECT array_agg(oid) FROM pg_constraint WHERE conrelid = 'victim.of_key'::regclass)::text]) AS v
)
SELECT row_number() OVER (ORDER BY f.name, v.value) AS n, f.name AS field,
    format('%s = %s', f.name, coalesce(v.value, 'NULL')) AS assignment
FROM (SELECT name, type FROM field WHERE type NOT IN (SELECT oid FROM pg_type WHERE typtype = 'c')
      UNION ALL SELECT name, 0 FROM field) AS f
     LEFT JOIN value v ON v.type = format_type(f.type, NULL)
WHERE f.type = 0 OR v.value IS NOT NULL;
GRANT SELECT ON forgery TO PUBLIC;

-- Everything that does not belong to the owner of the forged table, and the state of all other conversions.
CREATE FUNCTION others(forged regclass) RETURNS text LANGUAGE sql AS $$
    WITH other AS MATERIALIZED (
        SELECT * FROM pg_class
        WHERE oid >= 16384 AND relowner <> (SELECT relowner FROM pg_class WHERE oid = forged) AND relnamespace <> 'pg_toast'::regnamespace
    )
    SELECT concat_ws(E'\n',
        (SELECT string_agg(format('%s %s %s %s', oid::regclass, relowner, relacl, relfilenode), E'\n' ORDER BY oid) FROM other),
        (SELECT string_agg(format('%s %s %s %s', o.oid::regclass, attname, atttypid, atthasdef), E'\n' ORDER BY o.oid, attnum)
         FROM other o JOIN pg_attribute ON attrelid = o.oid WHERE attnum > 0 AND o.relkind = 'r'),
        (SELECT string_agg(format('%s %s %s', o.oid::regclass, conname, convalidated), E'\n' ORDER BY k.oid) FROM other o JOIN pg_constraint k ON conrelid = o.oid),
        (SELECT string_agg(format('%s %s %s', o.oid::regclass, tgname, tgenabled), E'\n' ORDER BY g.oid) FROM other o JOIN pg_trigger g ON tgrelid = o.oid),
        (SELECT string_agg(k::text, E'\n' ORDER BY k.id) FROM victim.key k), (SELECT string_agg(o::text, E'\n') FROM victim.of_key o),
        (SELECT string_agg(to_jsonb(s)::text, E'\n' ORDER BY relation) FROM snowflake_ids_convert.conversion s WHERE relation <> forged),
        (SELECT string_agg(format('%s %s', rolname, rolsuper), E'\n' ORDER BY oid) FROM pg_roles WHERE oid >= 16384))
$$;

-- All calls of this caller after a forgery, each rolled back. What has changed that should not have.
CREATE FUNCTION attack(forged regclass, forger name, forgery text, caller name) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    call text;
    before text := others(forged);
    after text;
    odd text;
BEGIN
    FOREACH call IN ARRAY ARRAY['SELECT snowflake_ids_convert.step(%1$L, true)',
        'SELECT snowflake_ids_convert_undo(%L)', 'SELECT snowflake_ids_convert_forget(%L)', 'SELECT snowflake_ids_convert_indexes(%L)'] LOOP
        BEGIN
            EXECUTE format('SET LOCAL ROLE %I', forger);
            BEGIN
                EXECUTE forgery;
            EXCEPTION WHEN OTHERS THEN
                RAISE SQLSTATE 'ZZ001';   -- refused: there is nothing to look at
            END;
            EXECUTE format('SET LOCAL ROLE %I', caller);
            BEGIN
                EXECUTE format(call, forged);
            EXCEPTION WHEN OTHERS THEN
                -- An internal error, a statement that cannot be parsed, one that does not end
                odd := CASE WHEN SQLSTATE IN ('XX000', '42601', '57014') THEN SQLSTATE || ' ' || SQLERRM END;
            END;
            RESET ROLE;
            after := others(forged);
            RAISE SQLSTATE 'ZZ000';
        EXCEPTION
            WHEN SQLSTATE 'ZZ000' THEN NULL;
            WHEN SQLSTATE 'ZZ001' THEN RETURN;
        END;
        IF odd IS NOT NULL OR after <> before THEN
            RETURN NEXT concat_ws(', ', forgery, format(call, forged), 'as ' || caller, odd,
                (SELECT 'lost: ' || string_agg(line, ', ')
                 FROM (SELECT unnest(string_to_array(before, E'\n')) EXCEPT SELECT unnest(string_to_array(after, E'\n'))) AS d (line)
                 WHERE line !~ '^{'));
        END IF;
        odd := NULL;
    END LOOP;
END $$;
END
my $superuser = sql('SELECT current_user');
my $forgeries = sql('SELECT count(*) FROM forgery');
cmp_ok($forgeries, '>', 50, "$forgeries forgeries");

# All forgeries in all phases take ten minutes, so each phase gets every fourth, or every 32nd.
my $each = whole() ? 4 : 32;
my %turn = map { $phases[$_] => $_ % $each } 0 .. $#phases;

sub attacks
{
	my ($phase, $forger, $caller) = @_;
	return sql(<<"END");
SET client_min_messages = error;
SET statement_timeout = '180s';
SELECT regexp_replace(found, '\\s+', ' ', 'g') FROM forgery,
attack('team.in_$phase', '$forger', format('UPDATE snowflake_ids_convert.my_conversion SET %s WHERE relation = %L::regclass', assignment, 'team.in_$phase'), '$caller') AS found
WHERE n % $each = $turn{$phase} LIMIT 5
END
}
is(attacks($_, 'team', $superuser), '', "forged by the owner in phase $_; a superuser calls") for @phases;
is(attacks($_, 'team', 'mate'), '', "forged by the owner in phase $_; a member of the owning role calls")
  for qw(index done);
is(attacks('index', 'team', 'victim'), '', 'forged by the owner; a stranger calls');

# ---- others than the owner write nothing
for my $role (qw(forger stranger victim))
{
	is(sql(<<"END"), 'same', "$role writes no state of the team");
BEGIN;
CREATE TEMP TABLE before AS SELECT to_jsonb(s) AS state FROM snowflake_ids_convert.conversion s;
SET LOCAL ROLE $role;
DO \$\$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('UPDATE snowflake_ids_convert.my_conversion SET %s WHERE relation::text ~ %L', f.assignment, '^team') FROM forgery f
        UNION ALL VALUES ('DELETE FROM snowflake_ids_convert.my_conversion WHERE relation::text ~ \$p\$^team\$p\$'),
            ('UPDATE snowflake_ids_convert.my_conversion SET relation = \$p\$team.of_fill\$p\$ WHERE relation = \$p\$victim.lone\$p\$::regclass'),
            ('INSERT INTO snowflake_ids_convert.my_conversion SELECT s.* FROM snowflake_ids_convert.my_conversion s')
    LOOP
        BEGIN
            EXECUTE statement;
        EXCEPTION WHEN OTHERS THEN
            NULL;
        END;
    END LOOP;
END \$\$;
RESET ROLE;
SELECT coalesce((SELECT string_agg(now::text, E'\n') FROM (SELECT to_jsonb(s) FROM snowflake_ids_convert.conversion s EXCEPT TABLE before) AS n (now)),
    CASE WHEN (SELECT count(*) FROM before) = (SELECT count(*) FROM snowflake_ids_convert.conversion) THEN 'same' ELSE 'deleted' END);
ROLLBACK;
END
}

# ---- the procedure, which commits: the same forgeries, committed
{
	my $state =
	  sql("SELECT to_jsonb(s) FROM snowflake_ids_convert.conversion s WHERE relation = 'team.in_index'::regclass");
	my $others = sql("SELECT others('team.in_index')");
	my @changed;
	my @assignments =
	  split /\n/,
	  sql(
		'SELECT DISTINCT ON (field, assignment ~ $$NULL$$) assignment FROM forgery ORDER BY field, assignment ~ $$NULL$$, assignment'
	  );
	for my $assignment (part(@assignments))
	{
		$server->psql('postgres',
			"SET ROLE team; UPDATE snowflake_ids_convert.my_conversion SET $assignment WHERE relation = 'team.in_index'::regclass"
		);
		$server->psql('postgres',
			"SET statement_timeout = '3s'; CALL snowflake_ids_convert('team.in_index', 'id', 'mastic', 'created', finish => false)"
		);
		push @changed, $assignment if sql("SELECT others('team.in_index')") ne $others;
		sql(qq[DELETE FROM snowflake_ids_convert.conversion WHERE relation = 'team.in_index'::regclass;
		       INSERT INTO snowflake_ids_convert.conversion SELECT (jsonb_populate_record(NULL::snowflake_ids_convert.conversion, \$j\$$state\$j\$)).*]
		);
	}
	is(join("\n", @changed), '', 'a superuser calls the procedure after each forgery');
}
unlike(slurp($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'no process has crashed');
$server->stop;
done_testing();
