# doc/drivers.md: the expressions and functions for times give the server's times in each language. A language that is
# not here is skipped.
use Servers;
use IPC::Run ();
use Page;
use PostgreSQL::Test::Utils;

my $page = Page->new('doc/drivers.md');
my ($server) = new_server('decoding', clock());

my %name = (sno => 'sno', gid => 'gid', Mastic => 'mastic', 'Snowflake-SI' => 'si', 'UUID version 7' => 'uuid7');
my ($js, $python) = (0, 1);
my %of;    # the expressions of a format
for (($page->text =~ /^## Times without the server\n(.*)/ms)[0] =~ /^\| (.*) \|$/mg)
{
	my ($format, @cells) = split / \| /;
	next unless $name{ $format =~ tr/`//dr };
	$of{ $name{ $format =~ tr/`//dr } } = [ map { /^`(.*)`$/ ? $1 : die "no expression: $_" } @cells ];
}
is(join(' ', sort keys %of), join(' ', sort values %name), 'the table has each format');

$server->safe_psql('postgres', 'CREATE TABLE of_reference (format text, id text)');
for ([ 'sno', 'sno.tsv' ], [ 'gid', 'gid.tsv' ], [ 'mastic', 'mastic.tsv' ])
{
	my ($format, $file) = @$_;
	my ($head, @rows) = map { [ split /\t/ ] } grep { !/^#/ } split /\n/, slurp_file("$ENV{TEST_VECTORS}/$file");
	my ($column) = grep { $head->[$_] eq ($format eq 'mastic' ? 'id' : 'text') } 0 .. $#$head;
	my $values = join ', ', map { "('$format', '$_->[$column]')" } @rows;
	$server->safe_psql('postgres', "INSERT INTO of_reference VALUES $values");
}
my $lines = $server->safe_psql('postgres', <<'END');
WITH ids AS (
    SELECT 'sno' AS format, id::text, sno_timestamp(id) AS t FROM (SELECT gen_sno() AS id FROM generate_series(1, 100)) AS s
    UNION ALL SELECT format, id, sno_timestamp(id::sno) FROM of_reference WHERE format = 'sno'
    UNION ALL SELECT 'gid', id::text, gid_timestamp(id)
        FROM (SELECT gen_gid(kind) AS id FROM unnest(ARRAY['volume', 'log', 'segment']) AS kind, generate_series(1, 50)) AS s
    UNION ALL SELECT format, id, gid_timestamp(id::gid) FROM of_reference WHERE format = 'gid'
    UNION ALL SELECT 'mastic', id::text, mastic_timestamp(id) FROM (SELECT gen_mastic() AS id FROM generate_series(1, 100)) AS s
    UNION ALL SELECT format, id, mastic_timestamp(id::mastic) FROM of_reference WHERE format = 'mastic'
    UNION ALL SELECT 'si', id::text, snowflake_si_timestamp(id)
        FROM (SELECT gen_snowflake_si() FROM generate_series(1, 100) UNION ALL VALUES (0::bigint), (9007199254740991)) AS si (id)
    UNION ALL SELECT 'uuid7', id::text, uuid7_timestamp(id)
        FROM (SELECT gen_uuid7() FROM generate_series(1, 100) UNION ALL SELECT uuid7_lower_bound('1970-01-01 00:00+00')
            UNION ALL SELECT uuid7_upper_bound('10889-08-02 05:31:50+00')) AS seven (id))
SELECT concat_ws(E'\t', format, id, (extract(epoch FROM t) * 1000)::numeric(20, 0)) FROM ids
END
cmp_ok(scalar(() = $lines =~ /\n/g), '>', 600, 'ids of each format');
my %wanted = map { /^(.*)\t(\d+)$/ ? ($1 => $2) : () } split /\n/, $lines;
my $asked = join '', map { "$_\n" } sort keys %wanted;
my $answer = join '', map { "$_\t$wanted{$_}\n" } sort keys %wanted;

my $dir = PostgreSQL::Test::Utils::tempdir();

sub says
{
	my ($language, $file, $program, @run) = @_;
  SKIP:
	{
		skip "no $run[0]", 1 if system("command -v $run[0] >/dev/null") != 0 && !$ENV{CI};
		append_to_file("$dir/$file", $program);
		IPC::Run::run([ @run, "$dir/$file" ], '<', \$asked, '>', \my $out, '2>', \my $err);
		is($err . $out, $answer, "$language gives the times of the server") or diag $program;
	}
	return;
}
my ($functions) = $page->take('The function `number`', 'js');
says(
	'JavaScript',
	'decode.js',
	$functions->{content}
	  . 'const times = {'
	  . join(',', map { "$_: (id) => $of{$_}[$js]" } sort keys %of) . "};\n"
	  . <<'END', 'node');
for (const line of require('fs').readFileSync(0, 'utf8').trimEnd().split('\n')) {
    const [format, id] = line.split('\t');
    console.log(`${line}\t${times[format](format === 'si' ? Number(id) : id)}`);
}
END
($functions) = $page->take('The function `number`', 'python');
says(
	'Python',
	'decode.py',
	$functions->{content}
	  . "\ntimes = {"
	  . join(', ', map { "'$_': lambda id: $of{$_}[$python]" } sort keys %of) . "}\n"
	  . <<'END', 'python3');
import sys
for line in sys.stdin:
    format, id = line.split()
    print(format, id, times[format](int(id) if format in ("mastic", "si") else id), sep="\t")
END
$page->all_run;
my ($twitter) = $page->text =~ /For `twitter`.*?`(1288834974657 \+ [^`]*)`/s or die;
is( $server->safe_psql('postgres', 'SELECT ' . $twitter =~ s/id/1844228452057088001::bigint/r),
	$server->safe_psql(
		'postgres', "SELECT (extract(epoch FROM snowflake_timestamp(1844228452057088001, 'twitter')) * 1000)::bigint"),
	'and so does the expression for twitter');

$server->stop;
done_testing();
