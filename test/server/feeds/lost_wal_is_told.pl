# A server is put in the place of one whose WAL it lacks: promoted, rewound or restored. Readers who have seen that WAL
# are told (SF001), others not. There is a limit, at the end. A control, a position with an older place in the WAL, is
# not told, and its copy keeps a row that no server has.
use Servers;
use Feed qw(:DEFAULT pair goes_on);
use Page;

my ($empty) = map { $_->{content} }
  grep { $_->{heading} eq 'Empty a position' } Page->new('doc/feed.md')->blocks('Several readers', 'sql');

# The position's seventh field is the place in the WAL, the sixth the timeline.
sub forged
{
	my ($reader) = @_;
	my @fields = split /\./, $reader->{position}, -1;
	@fields[ 6, 7 ] = (1, 0);
	return bless { %$reader, position => join('.', @fields), copy => { %{ $reader->{copy} } } }, 'Reader';
}

# ---- a promoted standby that lacks WAL, used at once and restarted first; then the old primary is rewound
for my $how ('used at once', 'restarted first', 'crashed first')
{
	my ($primary, $standby) = pair();
	insert($primary);
	my $knows = Reader->of($primary);
	has_all($primary, $standby);
	$standby->stop;
	insert($primary);
	my $lost = Reader->of($primary);
	my $forged = forged($lost);
	$primary->stop('immediate');
	$standby->start;
	$standby->promote;
	$standby->restart if $how eq 'restarted first';
	kill_backend($standby) if $how eq 'crashed first';
	is($lost->once($standby), 'SF001', "$how: who has seen lost WAL is told");
	insert($standby);
	goes_on($knows, $standby, "$how: who has not");
	$forged->poll($standby);
	is($forged->differs($standby), 1, "$how: the control has a row that is gone");
	is($lost->once($standby), 'SF001', "$how: is told again");

	if ($how eq 'used at once')
	{
		$primary->start;
		my $seen = Reader->of($primary);
		$primary->stop;
		$standby->safe_psql('postgres', 'CHECKPOINT');
		rewind($primary, $standby) or die 'pg_rewind';
		$primary->start;
		has_all($standby, $primary);
		is($_->once($primary), 'SF001', 'rewound: who has seen lost WAL is told') for $seen, $lost;
		goes_on($knows, $primary, 'rewound');
		$primary->stop('immediate');
	}
	$standby->stop('immediate');
}

# ---- recovery to an earlier time
{
	my $primary = feed_server('archived', streaming => 1, has_archiving => 1);
	$primary->backup('base');
	insert($primary);
	my $before = Reader->of($primary);
	my $target = $primary->safe_psql('postgres', "SELECT pg_create_restore_point('target')");
	insert($primary);
	my $after = Reader->of($primary);
	$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
	$primary->poll_query_until('postgres',
		"SELECT last_archived_wal >= pg_walfile_name('$target') FROM pg_stat_archiver")
	  or die;
	my $restored = PostgreSQL::Test::Cluster->new('restored');
	$restored->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$restored->append_conf('postgresql.conf',
		"recovery_target_name = 'target'\nrecovery_target_action = 'promote'\narchive_mode = off\n");
	$restored->start;
	$restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die;
	is($after->once($restored), 'SF001', 'restored: who has seen later WAL is told');
	goes_on($before, $restored, 'restored');
	$_->stop('immediate') for $restored, $primary;
}

# ---- a base backup without the later WAL, on the same timeline. A life that is noted after another start does not know
# where the WAL ended that was put back.
for my $how ('used at once', 'more WAL first', 'restarted, and more WAL')
{
	my $primary = feed_server('original_' . $how =~ s/\W+/_/gr, streaming => 1);
	insert($primary);
	my $before = Reader->of($primary);
	$primary->backup('base');
	insert($primary);
	my $after = Reader->of($primary);
	$primary->stop('immediate');
	my $restored = PostgreSQL::Test::Cluster->new('base_' . $how =~ s/\W+/_/gr);
	$restored->init_from_backup($primary, 'base', standby => 0);
	$restored->start;
	$restored->safe_psql('postgres', 'CREATE TABLE more AS SELECT FROM generate_series(1, 100000)')
	  if $how =~ /more WAL/;

	if ($how =~ /restarted/)
	{
		$restored->restart;
		is($after->once($restored), '', "base backup, $how: nobody is told, which is a limit");
		is($after->differs($restored), 1, "base backup, $how: the copy has a row that is gone");
		$restored->safe_psql('postgres',
			"CREATE TABLE reader AS SELECT 'search' AS name, '$after->{position}' AS position; $empty");
		$after->{position} = $restored->safe_psql('postgres', 'SELECT position FROM reader');
		goes_on($after, $restored, "base backup, $how, what doc/feed.md says to type");
	}
	else
	{
		is($after->once($restored), 'SF001', "base backup, $how: who has seen later WAL is told");
	}
	insert($restored);
	goes_on($before, $restored, "base backup, $how");
	$restored->stop('immediate');
}

done_testing();
