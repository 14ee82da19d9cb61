# Objects with each clause for which PostgreSQL prints an operator without its schema: they are restored only if an
# empty search_path finds the operators.
package ClausesWithoutSchema;
use strict;
use warnings;

# `ids`: the extension's schema. `for_upgrade`: no SQL body compares rows or reads a table, because pg_upgrade restores
# functions before operator classes.
sub objects
{
	my ($ids, $for_upgrade) = @_;
	my $sql = <<'END';
CREATE SCHEMA app;
CREATE FUNCTION app.same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
END
	$sql .= "SET search_path = app, $ids, public;\n";
	my %value = (
		sno => "gen_sno(n), gen_sno(n)",
		gid => "gen_gid('log'), gen_gid('volume')",
		mastic => "gen_mastic(), gen_mastic()");
	for my $type (sort keys %value)
	{
		my @pairs = $type eq 'gid' ? () : ([ 'a', 't' ], [ 't', 'b' ]);

		my @of_row = (
			'a IS DISTINCT FROM b',
			'a IS NOT DISTINCT FROM b',
			'NULLIF(a, b) IS NULL',
			'CASE a WHEN b THEN n = 1 ELSE n = 2 END',
			'a IN (b, a)',
			'a = ANY (ARRAY[a, b])',
			'a < ALL (ARRAY[a, b])',
			'a BETWEEN b AND a',
			'GREATEST(a, b) = a',
			'ARRAY[a, b] < ARRAY[b, a]',
			'(a, n) IS DISTINCT FROM (b, n)',
			'(a, n) IN ((b, 1), (a, n))');
		for my $op ('<', '<=', '=', '<>', '>=', '>')
		{
			push @of_row, "(a, n) $op (b, n)", "(t, a) $op (t, b)", "(n, a, t, b) $op (n, b, t, a)";
			push @of_row, "(k, t) $op (a, t)", "k $op a" if $type eq 'mastic';
			next if $op eq '=' || $op eq '<>';
			push @of_row, map { ("(n, $_->[0]) $op (n, $_->[1])", "$_->[0] $op $_->[1]") } @pairs;
		}
		push @of_row, 'a IS DISTINCT FROM k', 'NULLIF(k, a) IS NULL', 'CASE a WHEN k THEN n = 1 ELSE n = 2 END',
		  'k IN (a, b)', 'a = ANY (ARRAY[k])'
		  if $type eq 'mastic';
		push @of_row, map { "$_->[0] NOT BETWEEN $_->[1] AND $_->[1]" } @pairs;

		my @queries = (
			'SELECT a, count(*) FROM TABLE JOIN TABLE AS u USING (a) GROUP BY a ORDER BY a DESC',
			'SELECT * FROM TABLE NATURAL JOIN TABLE AS u',
			'SELECT a FROM TABLE FULL JOIN TABLE AS u USING (a, t)',
			'SELECT a FROM TABLE UNION SELECT b FROM TABLE',
			'SELECT a FROM TABLE EXCEPT SELECT b FROM TABLE',
			'SELECT DISTINCT ON (a) a, b FROM TABLE ORDER BY a USING <, b USING >',
			'SELECT rank() OVER (PARTITION BY a ORDER BY b) FROM TABLE',
			'SELECT n FROM TABLE WHERE a IN (SELECT b FROM TABLE) OR a NOT IN (SELECT b FROM TABLE)',
			'SELECT n FROM TABLE WHERE (a, t) IN (SELECT b, t FROM TABLE)',
			'SELECT n FROM TABLE WHERE (t, a) <= ALL (SELECT t, b FROM TABLE)',
			'SELECT n FROM TABLE WHERE (t, a) >= (SELECT t, b FROM TABLE LIMIT 1)',
			'WITH RECURSIVE w AS (SELECT a FROM TABLE UNION SELECT b FROM TABLE NATURAL JOIN w) SELECT * FROM w',
			'SELECT ' . join(', ', map { "$of_row[$_] AS c$_" } 0 .. $#of_row) . ' FROM TABLE');
		push @queries, 'SELECT a FROM TABLE JOIN (SELECT k AS a FROM TABLE) u USING (a)',
		  'SELECT a FROM TABLE NATURAL JOIN (SELECT k AS a FROM TABLE) u',
		  'SELECT a FROM TABLE UNION SELECT k FROM TABLE', 'SELECT n FROM TABLE WHERE k IN (SELECT a FROM TABLE)'
		  if $type eq 'mastic';
		push @queries, map { "SELECT n FROM TABLE WHERE (n, $_->[0]) > ANY (SELECT n, $_->[1] FROM TABLE)" } @pairs;

		my $table = "of_$type";
		my $n = 0;
		$sql .= "CREATE TABLE $table (a $type, b $type, t timestamptz, n integer, k bigint DEFAULT 5";
		$sql .= join '', map { $n++; ",\n    CONSTRAINT c$n CHECK (($_) IS NOT NULL)" } @of_row;
		$sql .= ",\n    EXCLUDE USING btree (a WITH =)";
		$n = 0;
		$sql .= join '', map { $n++; ",\n    g$n boolean GENERATED ALWAYS AS ($_) STORED" } @of_row;
		$sql .= ");\n";
		$sql .= "INSERT INTO $table (a, b, t, n) SELECT $value{$type}, now(), n FROM generate_series(1, 5) AS n;\n";
		$n = 0;

		for my $e (@of_row)
		{
			$n++;
			my $new = $e =~ s/\b([abtnk])\b/NEW.$1/gr;
			my $old = $e =~ s/\b([abtnk])\b/OLD.$1/gr;
			$sql .= "CREATE INDEX ON $table (($e));\nCREATE INDEX ON $table (n) WHERE $e;\n" if $n <= 12;
			$sql .= "CREATE TRIGGER t$n BEFORE UPDATE ON $table FOR EACH ROW WHEN ($new) EXECUTE FUNCTION same();\n";
			$sql .= "CREATE TRIGGER o$n BEFORE UPDATE ON $table FOR EACH ROW WHEN ($old) EXECUTE FUNCTION same();\n";
			$sql .= "CREATE RULE r$n AS ON DELETE TO $table WHERE $old DO ALSO NOTHING;\n" if $e !~ /\bGREATEST\b/;
			$sql .= "CREATE POLICY p$n ON $table USING ($e);\n";
			next if $for_upgrade && $e =~ /^\(/;
			$sql .=
			  "CREATE FUNCTION f$n(a $type, b $type, t timestamptz, n integer, k bigint) RETURNS boolean LANGUAGE sql BEGIN ATOMIC SELECT $e; END;\n";
		}
		$n = 0;
		for (@queries)
		{
			$n++;
			my $query = s/\bTABLE\b/$table/gr;
			$sql .= "CREATE VIEW ${table}_v$n AS $query;\n";
			$sql .= "CREATE MATERIALIZED VIEW ${table}_m$n AS SELECT count(*) FROM ($query) AS q;\n";
			next if $for_upgrade;
			$sql .=
			  "CREATE FUNCTION ${table}_q$n() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM ($query) AS q; END;\n";
		}
	}
	return $sql;
}

sub contents
{
	return join ' UNION ALL ',
	  map { "SELECT md5(string_agg(r::text, ' ' ORDER BY n)) FROM app.of_$_ AS r" } qw(gid mastic sno);
}

1;
