# Every place of SQL that takes an expression, as statements to run with each form of lib/TimeForms.pm.
#
#   for my $place (TimePlaces::all()) { $place->{name}, $place->{statements} }
#   TimePlaces::fill($statement, $form, table => 'heap', value => $v, source => 'constant', twin => 0)
#
# A place is one line: place 'name', options, statements. The last statement returns one value, which must be that of the twin.
# All is rolled back afterwards. In a statement stand
#   {p} {p a} {p a: EXPR} {p a | TIME}    the predicate: on id, on a.id, on an expression, with a time: an alias of moments, or an expression
#   {t} {heap} {m}                        table of rows (as the setting has it, or without an index), table of moments
#   {type} {time} {v} {id 5}              type of the id, type of the time, literals of the time and of the id of row 5
# Options: sources: how the time is written ("given": the place says it); values: how many of them; settings: which (see
# the script); kinds: which kinds of ids have this place.
package TimePlaces;
use strict;
use warnings;
use TimeForms;

my @places;

sub place
{
	my ($name, $options, @statements) = @_;
	push @places, { name => $name, %$options, statements => \@statements };
	return;
}
sub all { return @places }

# The rows of a query as one value.
sub listed { return "SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM ($_[0]) AS x" }

our $helpers = <<'END';
-- The rows (all, or one by one) that a table or view takes, and how the others are refused.
CREATE FUNCTION taken(rows text, insertion text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    k int;
    result text := '';
BEGIN
    FOR k IN EXECUTE format('SELECT n FROM %s ORDER BY n', rows) LOOP
        BEGIN
            EXECUTE format(insertion, k);
            result := result || k || ' ';
        EXCEPTION WHEN check_violation OR exclusion_violation OR insufficient_privilege OR with_check_option_violation OR unique_violation THEN
            result := result || k || ':' || SQLSTATE || ' ';
        END;
    END LOOP;
    RETURN result;
END $$;
-- Is an index with this name used?
CREATE FUNCTION plan_has(query text, name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF position(name IN line) > 0 THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END $$;
-- A cursor: forward, back, and to single rows.
CREATE FUNCTION scrolled(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    r record;
    result text := '';
BEGIN
    OPEN c SCROLL FOR EXECUTE query;
    LOOP FETCH c INTO r; EXIT WHEN NOT FOUND; result := result || r || ' '; END LOOP;
    LOOP FETCH BACKWARD FROM c INTO r; EXIT WHEN NOT FOUND; result := result || r || ' '; END LOOP;
    FETCH ABSOLUTE 3 FROM c INTO r; result := result || coalesce(r::text, '-');
    FETCH RELATIVE -1 FROM c INTO r; result := result || coalesce(r::text, '-');
    FETCH LAST FROM c INTO r; result := result || coalesce(r::text, '-');
    CLOSE c;
    RETURN result;
END $$;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO noted VALUES (CASE TG_LEVEL WHEN 'ROW' THEN CASE TG_OP WHEN 'DELETE' THEN OLD.n ELSE NEW.n END END, TG_NAME);
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
END

# ---- queries
my %query = (settings => 'all');
my %inner = (sources => 'given', values => 1, settings => 'all');
place 'WHERE',          { %query, settings => 'every', values => 2 }, listed 'SELECT n FROM {t} WHERE {p}';
place 'WHERE NOT',      {%query}, listed 'SELECT n FROM {t} WHERE NOT {p}';
place 'AND, OR',        {%query}, listed 'SELECT n FROM {t} WHERE ({p} OR n = 3) AND ({p} IS NOT FALSE OR n % 2 = 0)';
place 'two predicates', {%query}, listed 'SELECT a.n FROM {t} AS a WHERE {p a} AND {p a | steady({v})}';
place 'three-valued',   { %query, values => 5 }, listed
  'SELECT n, {p}, {p} IS TRUE, {p} IS FALSE, {p} IS NULL, {p} IS NOT TRUE, {p} IS NOT DISTINCT FROM false FROM {t}';
place 'inner JOIN', { %inner, settings => 'every' }, listed 'SELECT a.n, b.k FROM {t} AS a JOIN {m} AS b ON {p a | b}';
place 'inner JOIN of an index', { %inner, settings => 'every' },
  listed 'SELECT a.n, b.k FROM {m} AS b, {t} AS a WHERE {p a | b} AND b.k < 3';
place 'JOIN ON', {%query}, listed 'SELECT a.n, b.k FROM {t} AS a JOIN {m} AS b ON a.n % 7 = b.k AND {p a}';
place 'LEFT JOIN, ids inside', { %inner, settings => 'every' },
  listed 'SELECT a.n, b.k FROM {m} AS b LEFT JOIN {t} AS a ON {p a | b}';
place 'LEFT JOIN, ids outside', {%inner}, listed 'SELECT a.n, b.k FROM {t} AS a LEFT JOIN {m} AS b ON {p a | b}';
place 'LEFT JOIN … WHERE', {%query},
  listed 'SELECT a.n, b.k FROM {m} AS b LEFT JOIN {t} AS a ON a.n % 9 = b.k WHERE {p a}';
place 'LEFT JOIN … WHERE IS NULL', {%query},
  listed 'SELECT a.n, b.k FROM {m} AS b LEFT JOIN {t} AS a ON a.n = b.k * 3 WHERE {p a} IS NULL';
place 'LEFT JOIN, then WHERE on both', {%inner},
  listed 'SELECT a.n, b.k FROM {m} AS b LEFT JOIN {t} AS a ON a.n % 9 = b.k WHERE {p a | b} IS NOT TRUE';
place 'RIGHT JOIN', {%query}, listed 'SELECT a.n, b.k FROM {t} AS a RIGHT JOIN {m} AS b ON a.n % 9 = b.k AND {p a}';
place 'FULL JOIN',  {%query}, listed 'SELECT a.n, b.k FROM {t} AS a FULL JOIN {m} AS b ON a.n = b.k AND {p a}';
place 'FULL JOIN on both', {%inner},
  listed 'SELECT a.n, b.k FROM {t} AS a FULL JOIN {m} AS b ON a.n = b.k AND {p a | b}';
place 'FULL JOIN … WHERE', {%query},
  listed 'SELECT a.n, b.k FROM {t} AS a FULL JOIN {m} AS b ON a.n = b.k WHERE {p a} IS NOT FALSE';
place 'self join', {%query},
  listed 'SELECT a.n, b.n AS m FROM {t} AS a JOIN {t} AS b ON a.n = b.n AND {p a} WHERE {p b}';
place 'EXISTS', { %inner, settings => 'every' },
  listed 'SELECT k FROM {m} AS b WHERE EXISTS (SELECT FROM {t} AS a WHERE {p a | b})';
place 'NOT EXISTS', {%inner}, listed 'SELECT k FROM {m} AS b WHERE NOT EXISTS (SELECT FROM {t} AS a WHERE {p a | b})';
place 'ids that EXIST', {%inner},
  listed 'SELECT n FROM {t} AS a WHERE EXISTS (SELECT FROM {m} AS b WHERE {p a | b} AND b.k = a.n % 9)';
place 'IN',     {%query}, listed 'SELECT k FROM {m} AS b WHERE k IN (SELECT a.n FROM {t} AS a WHERE {p a})';
place 'NOT IN', {%query}, listed 'SELECT k FROM {m} AS b WHERE k NOT IN (SELECT a.n FROM {t} AS a WHERE {p a})';
place 'IN, of booleans', {%query}, listed 'SELECT n FROM {t} WHERE {p} IN (n % 2 = 0, n % 3 = 0)';
place 'LATERAL', {%inner}, listed
  'SELECT b.k, s.* FROM {m} AS b, LATERAL (SELECT count(*), min(a.n), max(a.n) FROM {t} AS a WHERE {p a | b}) AS s';
place 'LEFT JOIN LATERAL', {%inner}, listed
  'SELECT b.k, s.n FROM {m} AS b LEFT JOIN LATERAL (SELECT a.n FROM {t} AS a WHERE {p a | b} ORDER BY a.n LIMIT 3) AS s ON true';
place 'correlated sub-select', {%inner},
  listed 'SELECT b.k, (SELECT array_agg(a.n ORDER BY a.n) FROM {t} AS a WHERE {p a | b}) FROM {m} AS b';
place 'HAVING', {%query}, listed 'SELECT n FROM {t} GROUP BY n, id, t, r HAVING {p}';
place 'HAVING of an aggregate', { sources => 'constant stable select now' },
  listed 'SELECT n FROM {t} GROUP BY n HAVING {p : max(id)}';
place 'HAVING, ids that ROLLUP leaves out', { sources => 'constant stable now' },
  listed 'SELECT n FROM {t} GROUP BY ROLLUP (n, id) HAVING {p}';
place 'aggregate FILTER', {%query}, listed
  'SELECT count(*) FILTER (WHERE {p}), array_agg(n ORDER BY n) FILTER (WHERE NOT {p}), sum(n) FILTER (WHERE {p} IS NULL) FROM {t}';
place 'aggregate argument', {%query},
  listed 'SELECT bool_and({p}), bool_or({p}), count({p}), array_agg({p} ORDER BY n) FROM {t}';
place 'ORDER BY',         {%query}, 'SELECT array_agg(n ORDER BY {p} DESC NULLS LAST, n)::text FROM {t}';
place 'ORDER BY … LIMIT', {%query}, listed 'SELECT * FROM (SELECT n FROM {t} ORDER BY {p}, n LIMIT 12) AS s';
place 'ORDER BY id with a predicate', { sources => 'constant stable select now', kinds => 'plain ordered' },
  'SELECT array_agg(c)::text FROM (SELECT {created id} AS c FROM {t} WHERE {p} ORDER BY id LIMIT 9) AS s';
place 'min and max', { sources => 'constant stable select now', kinds => 'plain ordered' },
  listed 'SELECT {created min(id)}, {created max(id)} FROM {t} WHERE {p}';
place 'GROUP BY', {%query}, listed 'SELECT {p}, count(*), min(n) FROM {t} GROUP BY 1';
place 'GROUPING SETS', {%query},
  listed 'SELECT {p}, n % 2, count(*) FROM {t} GROUP BY GROUPING SETS ((1), (2), (1, 2), ())';
place 'DISTINCT ON', {%query}, listed 'SELECT * FROM (SELECT DISTINCT ON ({p}) n FROM {t} ORDER BY {p}, n) AS s';
place 'CASE', {%query}, listed
  q{SELECT n, CASE WHEN {p} THEN 'yes' WHEN NOT {p} THEN 'no' ELSE 'null' END, CASE {p} WHEN true THEN 1 WHEN false THEN 0 END FROM {t}};
place 'COALESCE, NULLIF, GREATEST', {%query},
  listed 'SELECT n, COALESCE({p}, n % 2 = 0), NULLIF({p}, true), GREATEST({p}, false) FROM {t}';
place 'arrays and rows', {%query},
  listed 'SELECT n, ARRAY[{p}], ROW({p}, 1), ROW({p}, n) = ROW(true, n), {p} = ANY (ARRAY[true]) FROM {t}';
place 'function argument', {%query},
  listed q{SELECT n, concat({p}, '-'), num_nulls({p}), jsonb_build_object('p', {p}) FROM {t}};
place 'row comparison', {}, listed 'SELECT n FROM {t} WHERE ({p}, n) >= (true, 10)';
place 'row of id and time', { kinds => 'rows', sources => 'constant stable' },
  listed 'SELECT n FROM {t} AS a WHERE {row a}';
place 'constants on both sides', { sources => 'constant stable select now' },
  'SELECT concat({p : {id 5}}, {p : {id 8}}, {p : {id 801}})';
place 'sub-select in the SELECT list', {%query},
  listed 'SELECT k, (SELECT count(*) FROM {t} AS a WHERE {p a} AND a.n > b.k) FROM {m} AS b';
place 'sub-select in FROM', {%query},
  listed 'SELECT n FROM (SELECT a.*, n + 1 AS m FROM {t} AS a OFFSET 0) AS a WHERE {p a}';
place 'sub-select that is pulled up', {%query},
  listed 'SELECT n FROM (SELECT a.n, a.id, a.t, a.r FROM {t} AS a WHERE n % 2 = 0) AS a WHERE {p a}';
place 'outer column that an outer join makes NULL', {%query},
  listed 'SELECT s.n, s.p FROM {m} AS b LEFT JOIN (SELECT a.n, {p a} AS p FROM {t} AS a) AS s ON s.n = b.k';
place 'CTE', {%query}, listed 'WITH c AS NOT MATERIALIZED (SELECT * FROM {t}) SELECT a.n FROM c AS a WHERE {p a}';
place 'CTE MATERIALIZED', {%query},
  listed 'WITH c AS MATERIALIZED (SELECT * FROM {t}) SELECT a.n FROM c AS a WHERE {p a}';
place 'CTE with the predicate', {%query},
  listed 'WITH c AS (SELECT n, {p} AS p FROM {t}) SELECT n, p FROM c UNION ALL SELECT -n, p FROM c WHERE p';
place 'recursive CTE', {}, listed
  'WITH RECURSIVE c AS (SELECT * FROM {t} WHERE n = 1 UNION ALL SELECT a.* FROM c JOIN {t} AS a ON a.n = c.n + 1 WHERE {p a} IS NOT NULL) SELECT n FROM c';
place 'UNION branches', {%query}, listed
  'SELECT n FROM {t} WHERE {p} UNION ALL SELECT -n FROM {t} WHERE NOT {p} UNION SELECT 0 FROM {t} WHERE {p} IS NULL';
place 'EXCEPT, INTERSECT', {%query},
  listed '(SELECT n FROM {t} EXCEPT SELECT n FROM {t} WHERE {p}) INTERSECT SELECT n FROM {t} WHERE {p} IS NOT NULL';
place 'above a UNION ALL', {%query},
  listed 'SELECT n FROM (SELECT * FROM {t} UNION ALL SELECT * FROM {heap} WHERE n % 2 = 0) AS a WHERE {p a}';
place 'above a UNION', {},
  listed 'SELECT n FROM (SELECT n, id, t, r FROM {t} UNION SELECT n, id, t, r FROM {heap}) AS a WHERE {p a}';
place 'above a UNION ALL with a constant', { sources => 'constant stable' },
  listed 'SELECT n FROM (SELECT n, id FROM {t} UNION ALL SELECT 5000, {id 5}) AS a WHERE {p a}';
place 'above a window', {}, listed
  'SELECT n FROM (SELECT a.*, row_number() OVER (PARTITION BY id, n) AS k FROM {t} AS a) AS a WHERE {p a} AND k = 1';
place 'above a GROUP BY', { sources => 'constant stable select now' },
  listed 'SELECT n FROM (SELECT id, n, count(*) FROM {t} GROUP BY n, id) AS a WHERE {p : id}';
place 'window frames', {%query}, listed
  'SELECT n, count(*) FILTER (WHERE {p}) OVER (ORDER BY n ROWS 2 PRECEDING), sum(n) OVER (PARTITION BY {p} ORDER BY n), lag({p}) OVER (ORDER BY n), min(n) OVER (ORDER BY {p} RANGE UNBOUNDED PRECEDING) FROM {t}';
place 'LIMIT, OFFSET', { sources => 'constant stable select' },
  'SELECT count(*) FROM (SELECT n FROM {t} ORDER BY n LIMIT (SELECT count(*) FROM {heap} WHERE {p}) OFFSET CASE WHEN {p : {id 5}} THEN 3 ELSE 0 END) AS s';
place 'VALUES', { sources => 'constant stable select now' },
  listed 'VALUES ({p : {id 5}}), ({p : {id 8}}), ({p : {id 801}})';
place 'set-returning function', {%query},
  listed 'SELECT n, generate_series(1, CASE WHEN {p} THEN 2 ELSE 1 END) FROM {t}';
place 'FOR UPDATE',  {}, listed 'SELECT * FROM (SELECT n FROM {t} WHERE {p} FOR UPDATE) AS s';
place 'TABLESAMPLE', { sources => 'constant' }, listed 'SELECT n FROM {heap} TABLESAMPLE bernoulli (100) WHERE {p}';

# ---- parameters, cursors, functions
for my $mode ('generic', 'custom')
{
	my $set = "SET LOCAL plan_cache_mode = force_${mode}_plan";
	place "prepared, $mode plan", { %inner, settings => 'every', values => 2 }, $set,
	  'PREPARE q ({time}) AS ' . listed('SELECT n FROM {t} AS a WHERE {p a | $1}'), 'EXECUTE q ({v})';
	place "prepared, $mode plan, value", {%inner}, $set,
	  'PREPARE q ({time}) AS ' . listed('SELECT n, {p a | $1} IS NULL, {p a | $1} FROM {t} AS a'), 'EXECUTE q ({v})';
	place "prepared with an id, $mode plan", { %inner, }, $set,
	  'PREPARE q ({type}) AS ' . listed('SELECT k FROM {m} AS b WHERE {p a: $1 | b}'), 'EXECUTE q ({id 5})';
	place "PL/pgSQL variable, $mode plan", {%inner}, $set,
		'CREATE FUNCTION f(arg {time}) RETURNS text LANGUAGE plpgsql AS $f$BEGIN RETURN ('
	  . listed('SELECT n FROM {t} AS a WHERE {p a | arg}')
	  . '); END$f$', q{SELECT concat(f({v}), '/', f(NULL), '/', f({v}))};
	place "PL/pgSQL expression, $mode plan", { sources => 'given', values => 2 }, $set,
	  'CREATE FUNCTION f(i {type}, arg {time}) RETURNS boolean LANGUAGE plpgsql AS $f$BEGIN RETURN {p a: i | arg}; END$f$',
	  listed 'SELECT n, f(id, {v}) FROM {t} AS a';
}
place 'prepared, many times', { sources => 'given', values => 1 },
  'PREPARE q ({time}) AS ' . listed('SELECT n FROM {t} AS a WHERE {p a | $1}'),
  (('EXECUTE q (NULL)', 'EXECUTE q ({v})') x 3), 'EXECUTE q ({v})';
place 'cursor',                  {%query}, 'SELECT scrolled($c$SELECT n FROM {t} WHERE {p} ORDER BY n$c$)';
place 'cursor of a SELECT list', {}, 'SELECT scrolled($c$SELECT n, {p} FROM {t} ORDER BY n$c$)';
place 'WHERE CURRENT OF',        { sources => 'constant stable', settings => 'none' }, 'CREATE TABLE c (LIKE {heap})',
  'INSERT INTO c SELECT * FROM {heap} ORDER BY n',
  'DECLARE k CURSOR FOR SELECT n FROM c WHERE {p} FOR UPDATE', 'MOVE 2 FROM k',
  'UPDATE c SET n = n + 5000 WHERE CURRENT OF k', listed 'SELECT n FROM c';
place 'inlined SQL function', {%inner},
  'CREATE FUNCTION f(i {type}, arg {time}) RETURNS boolean LANGUAGE sql STABLE AS $f$SELECT {p a: i | arg}$f$',
  listed 'SELECT n FROM {t} WHERE f(id, {v}) OR f(id, NULL)';
place 'inlined SQL function of a stable time', {%inner},
  'CREATE FUNCTION f(i {type}, arg {time}) RETURNS boolean LANGUAGE sql STABLE AS $f$SELECT {p a: i | arg}$f$',
  listed 'SELECT n FROM {t} WHERE f(id, steady({v}))';
place 'SQL function that is not inlined', { sources => 'given', values => 1 },
  'CREATE FUNCTION f(i {type}, arg {time}) RETURNS boolean LANGUAGE sql VOLATILE SET search_path = public AS $f$SELECT {p a: i | arg}$f$',
  listed 'SELECT n, f(id, {v}) FROM {t}';
place 'SQL function that returns a table', {%inner},
  'CREATE FUNCTION f(arg {time}) RETURNS SETOF int LANGUAGE sql STABLE AS $f$SELECT n FROM {t} AS a WHERE {p a | arg}$f$',
  listed 'SELECT * FROM f({v})';
place 'SQL function with BEGIN ATOMIC', { sources => 'given', values => 1 },
  'CREATE FUNCTION f(arg {time}) RETURNS SETOF int LANGUAGE sql STABLE BEGIN ATOMIC SELECT n FROM {t} AS a WHERE {p a | arg}; END',
  listed 'SELECT * FROM f({v})';
place 'SECURITY DEFINER function', { sources => 'given', values => 1 },
  'CREATE FUNCTION f(arg {time}) RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $f$SELECT n FROM {t} AS a WHERE {p a | arg}$f$',
  listed 'SELECT * FROM f({v})';
place 'default of a function argument', { sources => 'constant stable now', settings => 'none' },
  'CREATE FUNCTION f(b boolean DEFAULT {p : {id 5}}) RETURNS boolean LANGUAGE sql AS $f$SELECT b$f$', 'SELECT f()';

# ---- statements that change rows
my $copy = 'CREATE TABLE c (LIKE {heap})';
my @filled = ($copy, 'INSERT INTO c TABLE {heap}');
my %change = (settings => 'none');
place 'INSERT … SELECT … WHERE', {%change}, $copy, 'INSERT INTO c SELECT * FROM {heap} WHERE {p}',
  listed 'SELECT n FROM c';
place 'CREATE TABLE AS', {%change}, 'CREATE TABLE c AS SELECT n, {p} AS p FROM {heap} WHERE {p} OR n % 2 = 0',
  listed 'SELECT * FROM c';
place 'INSERT … RETURNING', {%change}, $copy,
  'WITH i AS (INSERT INTO c TABLE {heap} RETURNING n, {p}) ' . listed('SELECT * FROM i');
place 'UPDATE … WHERE', {%change}, @filled, 'UPDATE c SET n = n + 5000 WHERE {p}', listed 'SELECT n FROM c';
place 'UPDATE … SET', {%change}, @filled, 'ALTER TABLE c ADD p boolean', 'UPDATE c SET p = {p}',
  listed 'SELECT n, p FROM c';
place 'UPDATE … RETURNING', {%change}, @filled,
  'WITH u AS (UPDATE c SET id = {id 5} RETURNING n, {p}) ' . listed('SELECT * FROM u');
place 'UPDATE … FROM', { sources => 'given', values => 1, settings => 'none' }, @filled,
  'UPDATE c AS a SET n = n + 5000 FROM {m} AS b WHERE {p a | b} AND b.k = a.n % 7', listed 'SELECT n FROM c';
place 'UPDATE of a partitioned table', { %change, kinds => 'plain' }, 'UPDATE {t} SET n = n + 5000 WHERE {p}',
  listed 'SELECT n FROM {t}';
place 'DELETE … WHERE', {%change}, @filled, 'DELETE FROM c WHERE {p}', listed 'SELECT n FROM c';
place 'DELETE … USING', { sources => 'given', values => 1, settings => 'none' }, @filled,
  'DELETE FROM c AS a USING {m} AS b WHERE {p a | b} AND b.k = a.n % 7', listed 'SELECT n FROM c';
place 'DELETE … RETURNING', {%change}, @filled,
  'WITH d AS (DELETE FROM c RETURNING n, {p}) ' . listed('SELECT * FROM d');
place 'MERGE ON', {%change}, @filled,
  'MERGE INTO c AS a USING {m} AS b ON a.n = b.k AND {p a} WHEN MATCHED THEN UPDATE SET n = n + 5000 WHEN NOT MATCHED THEN INSERT (n) VALUES (-b.k)',
  listed 'SELECT n FROM c';
place 'MERGE ON, both', { sources => 'given', values => 1, settings => 'none' }, @filled,
  'MERGE INTO c AS a USING {m} AS b ON a.n = b.k AND {p a | b} WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (n) VALUES (-b.k)',
  listed 'SELECT n FROM c';
place 'MERGE WHEN MATCHED AND', {%change}, @filled,
  'MERGE INTO c AS a USING {heap} AS b ON a.n = b.n WHEN MATCHED AND {p a} THEN UPDATE SET n = a.n + 5000 WHEN MATCHED AND NOT {p b} THEN DELETE',
  listed 'SELECT n FROM c';
place 'MERGE WHEN NOT MATCHED AND', {%change}, $copy,
  'MERGE INTO c AS a USING {heap} AS b ON a.n = b.n WHEN NOT MATCHED AND {p b} THEN INSERT VALUES (b.n, b.id) WHEN NOT MATCHED AND {p b} IS NULL THEN INSERT (n) VALUES (-b.n)',
  listed 'SELECT n FROM c';
place 'ON CONFLICT DO UPDATE WHERE', {%change}, @filled, 'CREATE UNIQUE INDEX ON c (n)',
  'INSERT INTO c TABLE {heap} ON CONFLICT (n) DO UPDATE SET n = c.n + 5000 WHERE {p c} AND {p excluded}',
  listed 'SELECT n FROM c';
place 'ON CONFLICT DO UPDATE SET', {%change}, @filled, 'ALTER TABLE c ADD p boolean', 'CREATE UNIQUE INDEX ON c (n)',
  'INSERT INTO c SELECT n, {id 5}, t, r FROM {heap} ON CONFLICT (n) DO UPDATE SET p = {p c}, t = CASE WHEN {p excluded} THEN now() END',
  listed 'SELECT n, p, t IS NULL FROM c';
place 'ON CONFLICT (…) WHERE', { sources => 'constant row', values => 2, settings => 'none' }, $copy,
  'CREATE UNIQUE INDEX ON c ((1)) WHERE {p}',
  'INSERT INTO c SELECT * FROM {heap} ORDER BY n ON CONFLICT ((1)) WHERE {p} DO NOTHING', listed 'SELECT n FROM c';
place 'COPY … WHERE', { sources => 'constant stable now row volatile select', settings => 'none' }, $copy,
  q{COPY c FROM '{file}' WHERE {p}}, listed 'SELECT n FROM c';
place 'COPY of a query', {%change}, $copy, q{COPY (SELECT * FROM {heap} WHERE {p}) TO '{file}.out'},
  q{COPY c FROM '{file}.out'}, listed 'SELECT n FROM c';

# ---- objects
my %object = (sources => 'constant row setting select', settings => 'none', values => 1);
my @log = 'CREATE TABLE noted (n int, what text)';
my $noted = listed 'SELECT * FROM noted';
place 'CHECK', {%object}, $copy, 'ALTER TABLE c ADD CHECK ({p})',
  q{SELECT taken('{heap}', 'INSERT INTO c SELECT * FROM {heap} WHERE n = %s')};
place 'CHECK of rows that are there', { %object, values => 3 }, @filled,
  'DELETE FROM c WHERE id IS NOT NULL AND n > 3', 'ALTER TABLE c ADD CHECK ({p})', q{SELECT 'valid'};
place 'CHECK and constraint exclusion', {%object}, $copy,
  'INSERT INTO c SELECT * FROM {heap} WHERE NOT {p} OR {p} IS NULL', 'ALTER TABLE c ADD CHECK (NOT {p})',
  'SET LOCAL constraint_exclusion = on', listed 'SELECT n, {p} FROM c WHERE {p} IS NOT TRUE';
place 'domain CHECK', { %object, sources => 'constant stable' }, 'CREATE DOMAIN d AS {type} CHECK ({p : VALUE})',
  'CREATE TABLE c (n int, id d)', q{SELECT taken('{heap}', 'INSERT INTO c SELECT n, id FROM {heap} WHERE n = %s')};
place 'DEFAULT', { %object, sources => 'constant stable now', values => 2 },
  'CREATE TABLE c (n int, a boolean DEFAULT {p : {id 5}}, b boolean DEFAULT {p : {id 8}}, x boolean DEFAULT {p : {id 801}})',
  'INSERT INTO c VALUES (1)', 'SELECT c::text FROM c';
place 'ADD COLUMN … DEFAULT', { %object, sources => 'constant stable' }, @filled,
  'ALTER TABLE c ADD p boolean DEFAULT {p : {id 5}}', listed 'SELECT n, p FROM c';
place 'generated column', { %object, values => 2 }, $copy,
  'ALTER TABLE c ADD p boolean GENERATED ALWAYS AS ({p}) STORED', 'INSERT INTO c SELECT * FROM {heap}',
  'UPDATE c SET id = (SELECT id FROM {heap} WHERE n = 5) WHERE n % 5 = 0', listed 'SELECT n, p FROM c';
place 'ALTER COLUMN TYPE … USING', {%object}, @filled, 'ALTER TABLE c ADD p text',
  'ALTER TABLE c ALTER p TYPE boolean USING {p}', listed 'SELECT n, p FROM c';
place 'partial index', { %object, values => 2 }, @filled, 'CREATE INDEX partial ON c (n) WHERE {p}',
  'SET LOCAL enable_seqscan = off',
  q{SELECT plan_has($q$SELECT n FROM c WHERE {p}$q$, 'partial') || } . '(' . listed('SELECT n FROM c WHERE {p}') . ')';
place 'partial index, more wanted', { %object, values => 2 }, @filled, 'CREATE INDEX ON c (n) WHERE {p}',
  'SET LOCAL enable_seqscan = off', listed
  'SELECT n FROM c WHERE {p} AND n > 3 UNION ALL SELECT -n FROM c WHERE NOT {p} AND n > 0 UNION ALL SELECT n + 10000 FROM c WHERE {p} IS NULL';
place 'partial index, another time', { %object, sources => 'constant', values => 3 }, @filled,
  'CREATE INDEX ON c (n) WHERE {p}', 'SET LOCAL enable_seqscan = off',
  listed 'SELECT a.n, b.k FROM {m} AS b, LATERAL (SELECT n FROM c AS a WHERE {p a | b}) AS a';
place 'expression index', { %object, values => 2 }, @filled, 'CREATE INDEX expressed ON c ({p})',
  'SET LOCAL enable_seqscan = off', listed
  'SELECT n FROM c WHERE {p} UNION ALL SELECT -n FROM c WHERE NOT {p} UNION ALL SELECT n + 10000 FROM c WHERE {p} IS NULL';
place 'ORDER BY of an expression index', {%object}, @filled, 'CREATE INDEX ON c ({p}, n)',
  'SET LOCAL enable_seqscan = off', 'SET LOCAL enable_sort = off',
  'SELECT array_agg(n)::text FROM (SELECT n FROM c ORDER BY {p}, n) AS s';
place 'unique index on an expression', {%object}, $copy, 'CREATE UNIQUE INDEX ON c ({p})',
  q{SELECT taken('{heap}', 'INSERT INTO c SELECT * FROM {heap} WHERE n = %s')};
place 'exclusion WHERE', {%object}, $copy, 'ALTER TABLE c ADD EXCLUDE USING btree ((1) WITH =) WHERE ({p})',
  q{SELECT taken('{heap}', 'INSERT INTO c SELECT * FROM {heap} WHERE n = %s')};
place 'statistics', { %object, sources => 'constant row' }, @filled, 'CREATE STATISTICS s ON ({p}), n FROM c',
  'ANALYZE c', listed 'SELECT n FROM c WHERE {p}';
place 'statistics of an expression index', { %object, sources => 'constant row' }, @filled, 'CREATE INDEX ON c ({p})',
  'ANALYZE c', listed 'SELECT n, {p} FROM c WHERE {p} IS NOT FALSE';
place 'view', { %object, sources => 'constant stable row select' },
  'CREATE VIEW v AS SELECT *, {p} AS p FROM {heap} WHERE {p} OR n % 3 = 0',
  listed 'SELECT n, p FROM v WHERE p IS NOT FALSE';
place 'materialized view', { %object, sources => 'constant stable row select' },
  'CREATE MATERIALIZED VIEW v AS SELECT n, {p} AS p FROM {heap}', listed 'SELECT n, p FROM v';
place 'security barrier view', { %object, sources => 'constant stable row' },
  'CREATE VIEW v WITH (security_barrier) AS SELECT * FROM {t} WHERE n % 2 = 0', listed 'SELECT n FROM v WHERE {p}';

for my $scope ('LOCAL', 'CASCADED')
{
	place "view WITH $scope CHECK OPTION", { %object, sources => 'constant stable row select' }, $copy,
	  'CREATE VIEW u AS SELECT * FROM c WHERE {p}',
	  "CREATE VIEW v AS SELECT * FROM u WHERE n % 4 > 0 WITH $scope CHECK OPTION",
	  q{CREATE TABLE took AS SELECT taken('{heap}', 'INSERT INTO v SELECT * FROM {heap} WHERE n = %s')},
	  listed 'SELECT taken FROM took UNION ALL SELECT n::text FROM v';
}
place 'view WITH CHECK OPTION, UPDATE', { %object, sources => 'constant stable row' }, @filled,
  'CREATE VIEW v AS SELECT * FROM c WHERE {p} IS NOT FALSE WITH CHECK OPTION',
  q{SELECT taken('{heap}', 'UPDATE v SET id = (SELECT id FROM {heap} WHERE n = %s)')};
my @secured = ('ALTER TABLE c ENABLE ROW LEVEL SECURITY', 'GRANT ALL ON c TO net_reader');
place 'policy USING', { %object, values => 2 }, @filled, @secured, 'CREATE POLICY p ON c USING ({p})',
  'SET LOCAL ROLE net_reader', listed 'SELECT n FROM c';
place 'query on a table with a policy', { %object, sources => 'constant stable row', values => 2 }, @filled, @secured,
  'CREATE POLICY p ON c USING (n % 2 = 0)', 'CREATE INDEX ON c (id)', 'SET LOCAL ROLE net_reader',
  'SET LOCAL enable_seqscan = off', listed 'SELECT n FROM c WHERE {p}';
place 'policy USING, UPDATE and DELETE', {%object}, @filled, @secured,
  'CREATE POLICY p ON c USING ({p}) WITH CHECK (true)', 'CREATE POLICY q ON c FOR SELECT USING (true)',
  'SET LOCAL ROLE net_reader', 'UPDATE c SET n = n + 5000 WHERE n % 2 = 0', 'DELETE FROM c WHERE n % 3 = 0',
  listed 'SELECT n FROM c';
place 'policy WITH CHECK', {%object}, $copy, @secured, 'CREATE POLICY p ON c WITH CHECK ({p})',
  'GRANT INSERT, SELECT ON c TO net_reader', 'SET LOCAL ROLE net_reader',
  q{SELECT taken('{heap}', 'INSERT INTO c SELECT * FROM {heap} WHERE n = %s')};
place 'restrictive policy', {%object}, @filled, @secured, 'CREATE POLICY p ON c USING (true)',
  'CREATE POLICY q ON c AS RESTRICTIVE USING ({p} IS NOT TRUE)', 'SET LOCAL ROLE net_reader', listed 'SELECT n FROM c';
place 'rule ON INSERT', {%object}, $copy, @log,
  q{CREATE RULE r AS ON INSERT TO c WHERE {p NEW} DO INSTEAD INSERT INTO noted VALUES (NEW.n, 'instead')},
  'INSERT INTO c TABLE {heap}', listed 'SELECT n FROM c UNION ALL SELECT -n FROM noted';
place 'rule ON UPDATE', {%object}, @filled, @log,
  q{CREATE RULE r AS ON UPDATE TO c WHERE {p OLD} DO ALSO INSERT INTO noted VALUES (OLD.n, ({p NEW})::text)},
  'UPDATE c SET id = {id 5} WHERE n % 2 = 0', $noted;
place 'rule ON DELETE', {%object}, @filled, @log,
  q{CREATE RULE r AS ON DELETE TO c WHERE {p OLD} DO INSTEAD INSERT INTO noted VALUES (OLD.n, 'kept')},
  'DELETE FROM c WHERE n % 2 = 0', listed 'SELECT n FROM c UNION ALL SELECT -n FROM noted';

for my $when ('BEFORE', 'AFTER')
{
	place "trigger $when INSERT WHEN", { %object, values => 2 }, $copy, @log,
	  "CREATE TRIGGER g $when INSERT ON c FOR EACH ROW WHEN ({p NEW}) EXECUTE FUNCTION note()",
	  'INSERT INTO c TABLE {heap}', $noted;
	place "trigger $when UPDATE WHEN", {%object}, @filled, @log,
	  "CREATE TRIGGER g $when UPDATE ON c FOR EACH ROW WHEN ({p NEW} IS DISTINCT FROM {p OLD}) EXECUTE FUNCTION note()",
	  "CREATE TRIGGER h $when UPDATE ON c FOR EACH ROW WHEN (NOT {p OLD} OR {p NEW}) EXECUTE FUNCTION note()",
	  'UPDATE c SET id = (SELECT id FROM {heap} WHERE n = 5) WHERE n % 2 = 0', $noted;
	place "trigger $when DELETE WHEN", {%object}, @filled, @log,
	  "CREATE TRIGGER g $when DELETE ON c FOR EACH ROW WHEN ({p OLD}) EXECUTE FUNCTION note()",
	  'DELETE FROM c WHERE n > 3', $noted;
	place "trigger $when statement WHEN", { %object, sources => 'constant setting stable now' }, $copy, @log,
	  "CREATE TRIGGER g $when INSERT ON c FOR EACH STATEMENT WHEN ({p : {id 5}}) EXECUTE FUNCTION note()",
	  'INSERT INTO c TABLE {heap}', $noted;
}
place 'transition tables', { %object, sources => 'constant row stable select' }, @filled, @log,
  'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN INSERT INTO noted SELECT n, 1 FROM old_rows WHERE {p} UNION ALL SELECT n, 2 FROM new_rows WHERE {p}; RETURN NULL; END$f$',
  'CREATE TRIGGER g AFTER UPDATE ON c REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION f()',
  'UPDATE c SET id = (SELECT id FROM {heap} WHERE n = 5) WHERE n % 2 = 0', $noted;
place 'constraint trigger WHEN', {%object}, $copy, @log,
  'CREATE CONSTRAINT TRIGGER g AFTER INSERT ON c DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ({p NEW}) EXECUTE FUNCTION note()',
  'INSERT INTO c TABLE {heap}', 'SET CONSTRAINTS ALL IMMEDIATE', $noted;
place 'trigger WHEN of a partitioned table', { %object, kinds => 'plain' }, @log,
  'CREATE TRIGGER g AFTER UPDATE ON {t} FOR EACH ROW WHEN ({p NEW} OR {p OLD}) EXECUTE FUNCTION note()',
  'UPDATE {t} SET n = n + 5000', $noted;
place 'partition by the predicate', { %object, sources => 'constant row' },
  'CREATE TABLE c (LIKE {heap}) PARTITION BY LIST (({p}))', 'CREATE TABLE c_true PARTITION OF c FOR VALUES IN (true)',
  'CREATE TABLE c_other PARTITION OF c FOR VALUES IN (false, NULL)', 'INSERT INTO c TABLE {heap}', listed
  'SELECT n, tableoid::regclass FROM c WHERE {p} UNION ALL SELECT -n, tableoid::regclass FROM c WHERE NOT {p} UNION ALL SELECT n + 10000, tableoid::regclass FROM c WHERE {p} IS NULL';
place 'partitions, pruned at run time', { sources => 'given', values => 2, settings => 'none', kinds => 'plain' },
  'SET LOCAL plan_cache_mode = force_generic_plan',
  'PREPARE q ({time}) AS ' . listed('SELECT n, tableoid = 0 FROM {part} AS a WHERE {p a | $1}'), 'EXECUTE q ({v})';
place 'ATTACH PARTITION with a CHECK', { %object, sources => 'constant' },
  'CREATE TABLE c (LIKE {heap}) PARTITION BY LIST (n)', 'CREATE TABLE d (LIKE {heap}, CHECK ({p}))',
  'INSERT INTO d SELECT * FROM {heap} WHERE {p}', 'ALTER TABLE c ATTACH PARTITION d DEFAULT',
  listed 'SELECT n FROM c WHERE {p}';
place 'publication', { %object, sources => 'constant row' }, 'CREATE TABLE c (LIKE {heap})',
  'CREATE PUBLICATION b FOR TABLE c WHERE ({p})', q{SELECT 'accepted'};

# Has the form this place?
sub applies
{
	my ($place, $form) = @_;
	my ($kind, $of) = ($form->{kind}, $place->{kinds} // '');
	return 0 if $of =~ /plain/ && !$kind->{plain};
	return 0 if $of =~ /rows/ && $form->{name} ne "$kind->{name} lt";
	return 0 if $of =~ /ordered/ && $kind->{name} !~ /^(sno|gid_log|mastic|sno_domain|gid_domain|mastic_domain)$/;
	return 1;
}

sub fill
{
	my ($statement, $form, %option) = @_;
	my $kind = $form->{kind};
	my $twin = $option{twin};
	my $name = $kind->{name};
	my %with = (
		t => $name . '_' . ($twin ? 'twin' : $option{table}),
		heap => $name . '_' . ($twin ? 'twin' : 'heap'),
		part => $name . '_' . ($twin ? 'twin' : 'part'),
		m => "${name}_moments",
		type => $kind->{ $twin ? 'twin_type' : 'type' },
		time => $form->{type},
		file => "$option{dir}/${name}_" . ($twin ? 'twin' : 'heap'));
	my %literal = (v => $option{value}{literal}, %{ $kind->{ $twin ? 'twin' : 'heap' } });
	$statement =~ s/\{(t|heap|part|m|type|time|file)\}/$with{$1}/g;
	$statement =~
	  s/\{row a\}/'(' . sprintf($kind->{of}, 'a.id') . ', a.n) < (' . TimeForms::time_of($form, 'a', %option) . ', 10)'/ge;

	# Literals last: they may have braces.
	$statement =~ s/\{(?:id )?(v|\d+)\}/<<$1>>/g;
	$statement =~ s/\{created ([^}]+)\}/$twin ? $1 : sprintf $kind->{created}, $1/ge;
	$statement =~
	  s!\{p(?: (\w+))?(?: ?: ([^}|]+?))?(?: \| ([^}]+))?\}!TimeForms::predicate($form, $1 // '', %option, defined $2 ? (id => $2) : (), defined $3 ? (source => $3) : ())!ge;
	$statement =~ s/<<(v|\d+)>>/$literal{$1}/g;
	return $statement;
}

1;
