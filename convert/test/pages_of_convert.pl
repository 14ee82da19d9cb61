# Runs the commands of convert's pages, and compares the output.
use Servers;
use PostgreSQL::Test::Utils;
use Page;

my $server = plain_server('migration', conf => "timezone = 'Asia/Tokyo'");

# From top to bottom, in one session of psql.
my $page = Page->new('convert/migration.md');
{
	$server->safe_psql('postgres', 'CREATE DATABASE migration');
	my @blocks = grep { $_->{language} eq 'sql' && $_->{content} !~ /^-- on / } $page->commands;
	my ($rc, $out, $err) = $server->psql(
		'migration',
		join('', map { "$_->{content}\n\\echo -- end of $_->{name}\n" } @blocks),
		on_error_stop => 1);
	is($err =~ s/^psql:\S+ NOTICE:  installing required extension.*\n?//r, '', 'psql says nothing else');
	for (@blocks)
	{
		my ($said) = $out =~ s/^(.*?)-- end of \Q$_->{name}\E\n?//s ? $1 : ();
		ok(defined $said, "$_->{name} runs") or next;
		is($said, $_->{output}, "$_->{name} says what is shown") if defined $_->{output};
		$_->{run} = 1;
	}
}

# The page's script cleans up a dump taken during a conversion.
{
	my $chapter = 'A dump taken during a conversion';
	my ($db) = ($page->blocks($chapter, 'sh'))[0]{content} =~ /-d (\w+)/;
	my $convert = q{CALL snowflake_ids_convert('appointment', 'id', 'sno', 'at'};
	my $left = q{SELECT (SELECT count(*) FROM pg_attribute WHERE attname ~ '^snowflake_ids_new_\d+$' AND attnum > 0),
		(SELECT count(*) FROM pg_trigger WHERE tgname ~ '^zz_snowflake_ids'),
		(SELECT count(*) FROM pg_constraint WHERE conname ~ '^snowflake_ids_check_'),
		(SELECT count(*) FROM pg_class WHERE relname ~ '^snowflake_ids_(map|index)_\d')};
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake_ids_convert CASCADE');
	$server->safe_psql($db, <<"END");
CREATE TABLE appointment (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
INSERT INTO appointment DEFAULT VALUES;
$convert, finish => false);
DELETE FROM snowflake_ids_convert.my_conversion WHERE relation = 'appointment'::regclass;   -- as after a restore
END
	unlike($server->safe_psql($db, $left), qr/\b0\b/, 'a restored dump has columns, triggers, checks and the map');
	$page->run_sh($chapter, $ENV{SNOWFLAKE_IDS_SRC}, PGHOST => $server->host, PGPORT => $server->port);
	is($server->safe_psql($db, $left), '0|0|0|0', 'the script drops them');
	$server->safe_psql($db, "$convert, concurrently => false)");
	is($server->safe_psql($db, 'SELECT pg_typeof(id) FROM appointment'), 'sno', 'and the table can be converted again');
}

# After each block, the subscriber has caught up.
my %servers = map { $_ => PostgreSQL::Test::Cluster->new($_) } qw(shop copy);
my $machine_id = 0;
for (@servers{qw(shop copy)})
{
	$_->init(allows_streaming => 'logical');
	$_->append_conf('postgresql.conf', "snowflake_ids.machine_id = " . ++$machine_id);
	$_->start;
}
my ($publisher, $subscriber) = @servers{qw(shop copy)};
$_->safe_psql('postgres', 'CREATE DATABASE app') for values %servers;
$_->safe_psql('app', 'CREATE EXTENSION snowflake_ids_convert CASCADE; CREATE TABLE mark (n int PRIMARY KEY)')
  for values %servers;

sub subscribe
{
	my ($name, $tables) = @_;
	$publisher->safe_psql('app', "CREATE PUBLICATION $name FOR $tables");
	$subscriber->safe_psql('app',
		"CREATE SUBSCRIPTION $name CONNECTION '@{[ Page::connection($publisher) ]}' PUBLICATION $name");
	$subscriber->wait_for_subscription_sync($publisher, $name, 'app');
	return;
}
my $marks = 0;

sub arrives
{
	my ($what) = @_;
	$marks++;
	$publisher->safe_psql('app', "INSERT INTO mark VALUES ($marks)");
	ok($subscriber->poll_query_until('app', "SELECT count(*) = $marks FROM mark"), $what);
	return;
}

# A publication of all tables has the conversion's own tables, which the subscriber lacks.
$_->safe_psql('app', 'CREATE TABLE part (id bigint PRIMARY KEY, created timestamptz NOT NULL DEFAULT now())')
  for values %servers;
subscribe('every', 'ALL TABLES');
$publisher->safe_psql('app', 'INSERT INTO part VALUES (1)');
my $arguments = q{'part', 'id', 'sno', 'created', publications => true};
like(
	$publisher->safe_psql('app', "SELECT item FROM snowflake_ids_convert_plan($arguments)"),
	qr/^publication every would have the map of old and new keys too: make it a publication of named tables$/,
	'a publication of all tables is a problem');
arrives('the rows that the plan has tried are not replicated');
my (undef, undef, $err) = $publisher->psql('app', "CALL snowflake_ids_convert($arguments)");
like($err, qr/cannot convert column "id"/, 'the conversion is refused');
arrives('and replication continues');
$subscriber->safe_psql('app', 'DROP SUBSCRIPTION every');
$publisher->safe_psql('app', 'DROP PUBLICATION every');

# The page's recipe, while another table is replicated
$subscriber->safe_psql('app', 'TRUNCATE mark');
subscribe('named', 'TABLE mark');
my $not_synced = q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')};
for my $block ($page->take('Tables in logical replication', 'sql'))
{
	my ($name) = $block->{content} =~ /^-- on (\w+)/ or die "$block->{name} does not say where";
	Page::run_block($block, $block->{name}, $servers{$name}, 'app', Page::for_servers($block->{content}, \%servers));
	$subscriber->poll_query_until('app', $not_synced) or die 'the tables are not copied';
}
my $rows = 'SELECT count(*), min(id), max(id), min(name) FROM product';
my $converted = $publisher->safe_psql('app', $rows);
like($converted, qr/^100\|/, 'all rows were converted');
is($subscriber->safe_psql('app', $rows), $converted, 'the subscriber has copied the converted rows');
$publisher->safe_psql('app', q{INSERT INTO product (name) VALUES ('new')});
ok($subscriber->poll_query_until('app', q{SELECT count(*) = 101 AND bool_or(name = 'new') FROM product}),
	'and receives new rows');
arrives('another table was replicated all the time');
$page->all_run;
$_->stop for $subscriber, $publisher, $server;
done_testing();
