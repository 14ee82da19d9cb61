# A standby is promoted while its primary runs on, both are written to, and the old one comes back once more. What
# doc/multi-node.md says finds the rows of the old primary and copies them, and readers that polled it are told.
use Servers;
use Feed;
use Page;

my $page = Page->new('doc/multi-node.md');
my ($compare) =
  map { $_->{content} } grep { $_->{content} =~ /CREATE TABLE twin/ } $page->blocks('Ids that are on both', 'sql');
my ($insert) = map { $_->{content} } $page->take('Two primaries that have accepted writes', 'sql');

my $old = feed_server('old', streaming => 1, conf => <<'END');
wal_log_hints = on
wal_keep_size = 64MB
snowflake_ids.machine_id = 4
END
$old->safe_psql('postgres', 'CREATE DATABASE app');
$old->safe_psql('app', <<'END');
CREATE EXTENSION snowflake_ids;
CREATE TABLE message (id sno DEFAULT gen_sno() PRIMARY KEY, body text);
END
create_feed($old, 'message', dbname => 'app');
$old->safe_psql('app', q{INSERT INTO message (body) SELECT 'before ' || n FROM generate_series(1, 100) AS n});
$old->backup('base');
my $new = standby_of($old, 'new');
my $standby = standby_of($old, 'standby');
my $polled = sub { my $r = Reader->new('message', dbname => 'app'); $r->poll($_[0]); return $r };

my $knows = $polled->($old);
has_all($old, $new, $standby);
$standby->stop;
my $promoted = $old->safe_psql('postgres', 'SELECT now()');
$new->promote;
my $idle = $polled->($old);

# ---- both are written to: their ids are the same again and again
my $twice = sub {
	my %both = map {
		$_ => [ map { split /\|/, $_, 2 } split /\n/, $_->safe_psql('app', 'SELECT id, body FROM message') ]
	} $old, $new;
	my ($here, $there) = map { +{ @{ $both{$_} } } } $new, $old;
	return ($here, $there, grep { defined $here->{$_} && $here->{$_} ne $there->{$_} } sort keys %$there);
};
caught_up($new, 'app');
my @writers = map { Session->new($_, dbname => 'app') } $new, $old;
$_->send(
	q{INSERT INTO message (body) SELECT current_setting('cluster_name') || n FROM generate_series(1, 300) AS n, pg_sleep(0.002 + 0 * n)}
) for @writers;
is($_->answer, '', 'both are written to') for @writers;
my ($here, $there, @twins) = $twice->();
cmp_ok(scalar(@twins), '>', 10, 'and generate equal ids');
my $of_old = $polled->($old);
my ($changed) = split /\n/,
  $new->safe_psql('app', q{UPDATE message SET body = 'changed' WHERE body = 'before 1' RETURNING id});
$old->restart;
my $of_next_life = $polled->($old);
$old->safe_psql('app', q{INSERT INTO message (body) VALUES ('restarted')});
my $of_its_rows = $polled->($old);
($here, $there, @twins) = $twice->();
my @only_old = grep { !defined $here->{$_} } sort keys %$there;
note @twins . ' twins, ' . @only_old . ' rows of the old primary alone';

# ---- readers. The standby follows the new primary
$standby->append_conf('postgresql.conf', "primary_conninfo = '" . $new->connstr . "'\n");
$standby->start;
has_all($new, $standby);
for my $where ($new, $standby)
{
	my $name = $where->name;
	my $once =
	  sub { my ($reader) = @_; return bless({ %$reader, copy => { %{ $reader->{copy} } } }, 'Reader')->once($where) };
	is($once->($of_old), 'SF001', "$name: who has polled rows of the old primary is told");
	is($once->($of_its_rows), 'SF001', "$name: so is who has polled them after a restart");
	is($once->($of_next_life), 'SF001', "$name: or only after the restart, with no row since");
	is($once->($_), '', "$name: others continue") for $knows, $idle;
}

# ---- the page
my $run = sub {
	my ($sql) = @_;
	$sql =~ s/id >= timestamptz '.*?' AND id < timestamptz '.*?'/id >= timestamptz '$promoted' - interval '1 hour'/;
	$sql =~ s/^JOIN message/LEFT JOIN message/m;
	$new->safe_psql('app', Page::for_servers($sql, { node3 => $old }));
};
$run->($compare);
my $found = sub { return join ' ', split /\n/, $new->safe_psql('app', "SELECT id FROM twin WHERE $_[0] ORDER BY id") };
is($found->('here IS NULL'), "@only_old", 'the rows that only the old primary has');
is($found->('here IS NOT NULL'), join(' ', sort @twins), 'and those with equal ids, or changed');
is( $new->safe_psql(
		'app',
		"SELECT count(*) FROM twin WHERE id = '$changed' AND here->>'body' = 'changed' AND there->>'body' = 'before 1'"
	),
	1,
	'one was changed');
$new->safe_psql('app', "DELETE FROM twin WHERE id = '$changed'");
my %new_id = map { split /\|/ } split /\n/,
  $new->safe_psql('app', 'SELECT new_id, id FROM twin WHERE here IS NOT NULL');
$run->($insert);
my %all = (map({ $_ => $here->{$_} } keys %$here), map { $_ => $there->{$_} } @only_old);
is(join(' ', sort values %new_id), join(' ', grep { $_ ne $changed } sort @twins), 'each twin has a new id');
$all{$_} = $there->{ $new_id{$_} } for keys %new_id;
is_deeply({ map { split /\|/, $_, 2 } split /\n/, $new->safe_psql('app', 'SELECT id, body FROM message') },
	\%all, 'the rows of both are on the new primary');
is($new->safe_psql('app', 'SELECT gen_sno() > max(id) FROM message'), 't',
	'new ids are above those of the old primary');
is($knows->once($new), '', 'a reader gets them');
$knows->same_as($new, 'with the rows of the old primary');

# ---- the old primary becomes a standby
$old->stop;
$new->safe_psql('postgres', 'CHECKPOINT');
rewind($old, $new) or die 'pg_rewind';
$old->start;
has_all($new, $old);
is($_->once($old), 'SF001', 'rewound: who has polled the old primary is told') for $of_old, $of_next_life, $of_its_rows;
is($knows->once($old), '', 'rewound: others continue');
$of_old->poll($old);
$of_old->same_as($new, 'copied again');
$_->stop('immediate') for $old, $standby, $new;
$page->all_run;
done_testing();
