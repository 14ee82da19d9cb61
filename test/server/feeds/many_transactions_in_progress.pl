# Beside 1,000 transactions in progress, positions are short and polls right, also after a crash. A control, a position
# without the list of them, loses their rows.
use Servers;
use Feed;

my $server = feed_server('server', streaming => 1, conf => 'max_prepared_transactions = 1100');
my $ids = 0;

# Others that are over lie between them.
sub prepare
{
	my (@gids) = @_;
	my $sql = join '', map {
		"BEGIN; INSERT INTO outbox (id) VALUES ($_); PREPARE TRANSACTION '$_';\n"
		  . ($_ % 3 ? '' : "SELECT pg_current_xact_id();\n")
	} @gids;
	$server->safe_psql('postgres', $sql);
	return;
}

sub commit
{
	return $server->safe_psql('postgres', join '', map { "COMMIT PREPARED '$_';\n" } @_);
}

my $reader = Reader->of($server);
prepare(1 .. 1000);
insert($server);
is($reader->poll($server), 1, 'they hide nothing');
cmp_ok(length $reader->{position}, '<=', 2200, 'the position is short');
note length $reader->{position}, ' characters';
my $without =
  bless { %$reader, position => $reader->{position} =~ s/^((?:\w+\.){13}).*/$1/r, copy => { %{ $reader->{copy} } } },
  'Reader';

commit(grep { $_ % 10 == 0 } 1 .. 1000);
is($reader->poll($server), 100, 'those that end come');
is($reader->poll($server), 0, 'once');
prepare(2001 .. 2100);
commit(grep { $_ % 10 == 5 } 1 .. 1000);
insert($server);
is($reader->poll($server), 101, 'beside more that begin');

# Through a crash, after which they are in progress still.
$server->restart('immediate');
my $later = Reader->of($server);
commit(grep { $_ % 10 == 7 } 1 .. 1000);
is($_->poll($server), 100, 'after a crash') for $reader, $later;
commit((grep { !/[057]$/ } 1 .. 1000), 2001 .. 2100);
is($_->poll($server), 800, 'and all others') for $reader, $later;
$_->same_as($server, 'beside 1,000 transactions') for $reader, $later;
is($reader->{twice}, 0, 'no version came twice');
$without->poll($server);
cmp_ok($without->differs($server), '>=', 900, 'the control has lost rows');

# Far apart, and older than a million.
$server->safe_psql('postgres', "BEGIN; INSERT INTO outbox (id) VALUES (0); PREPARE TRANSACTION 'old'");
$server->safe_psql('postgres',
	'DO $$ BEGIN FOR i IN 1 .. 20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
prepare(1001 .. 1100);
$reader->poll($server);
note length $reader->{position}, ' characters';
commit('old');
is($reader->poll($server), 1, 'an old one ends');
commit(1001 .. 1100);
is($reader->poll($server), 100, 'and those that began long after it');
$reader->same_as($server, 'far apart');
$server->stop('immediate');
done_testing();
