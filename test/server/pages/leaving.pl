# "Leaving" in doc/installing.md, where the collation sorts ids wrongly, and doc/uninstall.sql. Then the extension is
# dropped, and comes back.
use Servers;
use Page;
use PostgreSQL::Test::Utils;

my $root = $ENV{SNOWFLAKE_IDS_SRC};
my $page = Page->new('doc/installing.md');
my $node = plain_server('leaving', conf => "timezone = 'Asia/Tokyo'");

# ---- a table. Each error of the page comes after the drops above it. The sequence gets far ahead of the clock.
my $said = sub { $node->safe_psql('delivered', $_[0]) };
my $icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'da-x-icu'});
$node->safe_psql('postgres',
	"CREATE DATABASE delivered TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
	  . ($icu && " LOCALE_PROVIDER icu ICU_LOCALE 'da-DK'"));
$said->('CREATE EXTENSION snowflake_ids');

my $chapter = 'A table and what depends on it';
my ($create, $change) = $page->blocks($chapter, 'sql');
$said->($create->{content});
my ($text) = $page->text =~ /^### \Q$chapter\E\n(.*?)^### /ms;
my @errors = $text =~ /^- `([^`]+)`/mg;
my @drops = $change->{content} =~ /^((?:DROP|ALTER TABLE \w+ DROP CONSTRAINT) .*;\n)/mg;
is(scalar(@errors), scalar(@drops), 'an error for each object that is dropped first');
my ($alter) = $change->{content} =~ /^(ALTER TABLE .* TYPE text.*;\n)/m;

for my $n (0 .. $#errors)
{
	my ($rc, $out, $err) = $node->psql('delivered', join '', "BEGIN;\n", @drops[ 0 .. $n - 1 ], $alter);
	like($err, qr/ERROR:  \Q$errors[$n]\E\n/, "until it is dropped: $errors[$n]");
}
SKIP:
{
	skip 'no ICU', 1 unless $icu;
	is($said->('SELECT array_agg(id::text ORDER BY id::text) = array_agg(id::text ORDER BY number) FROM delivery'),
		'f', 'with the collation of the database, the texts are out of order');
}

my (undef, undef, $stopped) = $node->psql(
	'delivered',
	"CREATE VIEW delivery_light AS SELECT id FROM delivery;\n$change->{content}",
	on_error_stop => 0);
is(join(', ', $stopped =~ /ERROR:  (.*)/g), $errors[0], 'one error is not followed by others');
is($said->('SELECT count(*) FROM delivery_heavy'), 500, 'and no object is lost');
$said->('DROP TABLE delivery, delivery_stop CASCADE');
$page->run_chapter($node, $chapter, dbname => 'delivered');
is($said->('SELECT count(*), count(DISTINCT city), max(weight) FROM delivery JOIN delivery_stop ON delivery = id'),
	'1000|1|19', 'all rows are there');
$page->run_chapter($node, 'The extension', dbname => 'delivered');
$said->(<<'END');
SELECT setval('delivery_number', (extract(epoch FROM now() + interval '30 s' - timestamptz '2026-01-01 00:00+00') * 1000)::bigint << 16);
INSERT INTO delivery (weight) VALUES (4);
END
$said->(q{INSERT INTO delivery_stop SELECT id, 'Bergen' FROM delivery WHERE id LIKE 'z%'});
$page->run_chapter($node, 'If you create it again', dbname => 'delivered');
my ($back) = $page->text =~ /`(ALTER id TYPE sno [^`]*)`/ or die;
is( $said->(
		qq{ALTER TABLE delivery_stop DROP CONSTRAINT delivery_stop_delivery_fkey; DROP VIEW delivery_heavy;
		ALTER TABLE delivery ALTER id DROP DEFAULT, $back;
		ALTER TABLE delivery_stop @{[ $back =~ s/\bid\b/delivery/gr ]};
		SELECT count(*), count(*) FILTER (WHERE sno_timestamp(id) = created), count(*) FILTER (WHERE city = 'Bergen')
		FROM delivery LEFT JOIN delivery_stop ON delivery = id}),
	'1004|1000|3',
	'and the old texts can be snos again, also in rows that refer to them');

# ---- all tables, with all that people have. Each row is what it was, and who could write still can.
my $all = 'All tables of a database';
my ($command) = $page->blocks($all, 'sh');
my ($db) = $command->{content} =~ /-d (\w+)/ or die;
my %at = (PGHOST => $node->host, PGPORT => $node->port);
$node->safe_psql('postgres', "CREATE ROLE shop; CREATE ROLE app; CREATE DATABASE $db");
$said = sub { $node->safe_psql($db, $_[0]) };
$said->(
	'CREATE EXTENSION snowflake_ids; GRANT CREATE, USAGE ON SCHEMA public TO shop; CREATE SCHEMA "Shop" AUTHORIZATION shop'
);
$said->("SET ROLE shop; $_->{content}")
  for grep { $_->{content} =~ /^CREATE FUNCTION/ } Page->new('doc/partitioning.md')->blocks('Add partitions', 'sql');
$said->(<<'END');
SET ROLE shop;
CREATE FUNCTION "Shop".counted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TABLE reading (id sno DEFAULT gen_sno() PRIMARY KEY, body text, refs sno[], n int DEFAULT 7 CHECK (n > 0)) PARTITION BY RANGE (id);
CREATE TABLE gauge (id sno DEFAULT gen_sno() PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE gauge_old PARTITION OF gauge FOR VALUES FROM (MINVALUE) TO (sno_lower_bound('2036-06-01 00:00+00'));
INSERT INTO gauge (body) VALUES ('kept');
GRANT INSERT, SELECT ON gauge TO app;
CREATE INDEX reading_body ON reading (body);
CREATE TRIGGER counted AFTER INSERT ON reading FOR EACH ROW EXECUTE FUNCTION "Shop".counted();
CREATE TABLE "Shop".post (id mastic DEFAULT gen_mastic() PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE "Shop".number (id bigint DEFAULT gen_snowflake_si() PRIMARY KEY, body text) PARTITION BY RANGE (id);
SELECT add_partitions('reading', 'sno_lower_bound(%L)', (now() AT TIME ZONE 'UTC')::date, 3),
    add_partitions('"Shop".post', 'mastic_lower_bound(%L)', (now() AT TIME ZONE 'UTC')::date, 3),
    add_partitions('"Shop".number', 'snowflake_si_lower_bound(%L)', (now() AT TIME ZONE 'UTC')::date, 3);
CREATE TABLE "Shop"."Line" (id bigint DEFAULT gen_mastic() PRIMARY KEY, "Of" sno NOT NULL REFERENCES reading, body text,
    disk gid DEFAULT gen_gid('volume'), log gid(log), u uuid DEFAULT gen_uuid7(), m mastic DEFAULT gen_mastic() UNIQUE, ms mastic[]);
CREATE TABLE "Shop".constant (id bigint PRIMARY KEY, first sno DEFAULT sno_lower_bound('2026-01-01 00:00+00'), word text DEFAULT 'brpk4q72xwf2m63l'::sno::text,
    number mastic DEFAULT '5', body text);
INSERT INTO "Shop".constant (id) VALUES (1);
GRANT INSERT, SELECT ON reading TO app;
GRANT INSERT, SELECT ON ALL TABLES IN SCHEMA "Shop" TO app;
GRANT USAGE ON SCHEMA "Shop" TO app;
INSERT INTO reading (body) SELECT 'row ' || n FROM generate_series(1, 100) AS n;
UPDATE reading SET refs = ARRAY[id];
INSERT INTO "Shop"."Line" ("Of", log, ms) SELECT id, gen_gid('log'), ARRAY[gen_mastic()] FROM reading;
INSERT INTO "Shop".post (body) SELECT 'row ' || n FROM generate_series(1, 100) AS n;
INSERT INTO "Shop".number (body) SELECT 'row ' || n FROM generate_series(1, 100) AS n;
END
$said->('CREATE PUBLICATION columns_only FOR TABLE "Shop".constant (id, first) WHERE (id > 0)');
my @tables = ('reading', 'gauge', '"Shop".post', '"Shop".number', '"Shop"."Line"', '"Shop".constant');
my $rows = join ' UNION ALL ',
  map { "SELECT concat_ws(' ', tableoid::regclass, t) FROM $_ AS t WHERE body IS NULL OR body <> 'new'" } @tables;
my $objects =
  q{SELECT concat_ws(' ', conrelid::regclass, conname, contype) FROM pg_constraint WHERE connamespace IN ('public'::regnamespace, '"Shop"'::regnamespace)
	AND conparentid = 0 AND contype <> 'n' AND conrelid::regclass::text !~ '_z$' UNION ALL SELECT concat_ws(' ', tgrelid::regclass, tgname) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid::regclass::text !~ '_z$|^snowflake_ids'
	UNION ALL SELECT concat_ws(' ', oid::regclass, relowner::regrole) FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, '"Shop"'::regnamespace) AND relname !~ '_z$'};
my $files = q{SELECT pg_relation_filenode(inhrelid) FROM pg_inherits WHERE inhparent = '"Shop".post'::regclass};
my @before = map { $said->("$_ ORDER BY 1") } $rows, $objects, $files;
my $run = "cd '$root' && $command->{content}";

# Feeds, and what is left of one whose table was dropped.
$said->(<<'END');
SET ROLE shop;
SELECT snowflake_ids.create_feed('reading'), snowflake_ids.create_feed('"Shop".constant');
CREATE TABLE lost (id int PRIMARY KEY);
SELECT snowflake_ids.create_feed('lost');
SET client_min_messages = warning;
DROP TABLE lost CASCADE;
ALTER TABLE lost_deleted RENAME TO lost_z;
END
$said->('CREATE VIEW light AS SELECT id FROM reading');
{
	local %ENV = (%ENV, %at);
	my (undef, $err) = run_command([ 'sh', '-c', $run ]);
	like($err, qr/ERROR:  cannot drop table reading because other objects depend on it\n/, 'a view: an error');
	is(scalar(() = $err =~ /ERROR/g), 1, 'which is not followed by others');
}
$said->('DROP VIEW light');
$page->run_sh($all, $root, %at);
is($command->{said}, '', 'the script prints no results of what it calls');
my ($rc, undef, $err) = $node->psql($db, 'DROP EXTENSION snowflake_ids');
is("$rc $err", '0 ', 'then nothing needs the extension');
my @after = map { $said->("$_ ORDER BY 1") } $rows, $objects, $files;
is($after[0], $before[0], 'each row is what it was, where it was');
isnt($after[2], $before[2], 'a mastic becomes a bigint: partitions are rewritten, because the cast checks');
is($after[1], $before[1], 'constraints, triggers and owners are those that there were');

is($said->("SELECT string_agg(DISTINCT relowner::regrole::text, ' ') FROM pg_class WHERE relname ~ '^reading'"),
	'shop', 'the new partition and sequence belong to the owner too');
is( $said->("SELECT string_agg(concat_ws(' ', tableoid::regclass, body, length(id)), ', ' ORDER BY id) FROM gauge"),
	'gauge_old kept 16',
	'a partition from MINVALUE');
is( $said->(
		q{INSERT INTO "Shop".constant (id) VALUES (2); SELECT count(DISTINCT (first, word, number)), max(word) FROM "Shop".constant}
	),
	'1|brpk4q72xwf2m63l',
	'a default that is a constant stays');
is( $said->(q{SELECT attnames, rowfilter FROM pg_publication_tables}),
	'{id,first}|(id > 0)',
	'and a publication of columns');

for my $table (grep { !/notice|constant/ } @tables)
{
	my ($columns, $values) = $table =~ /Line/ ? ('"Of", body', "max(id), 'new' FROM reading") : ('body', "'new'");
	($rc, undef, $err) = $node->psql($db, "SET ROLE app; INSERT INTO $table ($columns) SELECT $values");
	is("$rc $err", '0 ', "who could insert into $table still can");
	is($said->("SELECT bool_and(body = 'new') FROM (SELECT body FROM $table ORDER BY id DESC LIMIT 1) AS newest"),
		't', "$table: the new id sorts last");
}

# ---- a table whose feed was dropped with the extension: what its INSERT says, is on the page of errors, with the answer
$said->('CREATE EXTENSION snowflake_ids; CREATE TABLE outbox (id int PRIMARY KEY)');
$said->(
	q{SELECT snowflake_ids.create_feed('outbox'); SET client_min_messages = warning; DROP EXTENSION snowflake_ids CASCADE}
);
($rc, undef, $err) = $node->psql($db, 'INSERT INTO outbox VALUES (1)');
my $null = 'null value in column "stamp" of relation "%s" violates not-null constraint';
like($err, qr/\Q${\ sprintf $null, 'outbox'}/, 'DROP EXTENSION CASCADE: each INSERT is an error');
my ($answer) = Page->new('doc/errors.md')->text =~ /\Q${\ sprintf $null, '…'}\E.*?(ALTER TABLE outbox [^`]*)/s;
is($said->("$answer; INSERT INTO outbox VALUES (1) RETURNING outbox"), '(1)', 'after what the page says, it works');

$page->all_run;
$node->stop;
done_testing();
