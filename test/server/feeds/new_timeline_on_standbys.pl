# A standby is promoted, and nobody uses it yet. Of the two standbys that follow it, one has replayed its timeline. A
# reader that goes from this one to the other polls again (40001), and need not copy again.
use Servers;
use Feed;

my $primary = feed_server('primary', streaming => 1);
$primary->backup('base');
my $promoted = standby_of($primary, 'promoted');
$promoted->backup('base');
my ($ahead, $behind) = map { standby_of($promoted, $_) } 'ahead', 'behind';
insert($primary);
has_all($primary, $promoted, $ahead, $behind);
my ($reader, $only_behind) = map { Reader->of($behind) } 1, 2;

$behind->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$behind->poll_query_until('postgres', "SELECT pg_get_wal_replay_pause_state() = 'paused'") or die;
$primary->stop('immediate');
$promoted->promote;
has_all($promoted, $ahead);
is($reader->poll($ahead), 0, 'a position of the new timeline');
is($reader->once($behind), '40001', 'a standby that has not replayed it: poll again');
is($only_behind->poll($behind), 0, 'its own readers continue');
$behind->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
has_all($promoted, $behind);
is($reader->poll($behind), 0, 'once it has, the reader continues');
insert($promoted);
has_all($promoted, $ahead, $behind);
is($_->poll($behind), 1, 'with what is new') for $reader, $only_behind;
$_->same_as($behind, 'on the new timeline')  for $reader, $only_behind;
is($reader->errors('SF001'), 0, 'nobody copies again');
$_->stop('immediate') for $ahead, $behind, $promoted;
done_testing();
