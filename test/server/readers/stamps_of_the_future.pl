# Stamps that were generated while the clock was a day ahead, and what doc/feed.md does about them: a reset, then an
# UPDATE of these rows, and readers that are set back. The oracle is the table. Controls leave out one step each.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Faults;
use Feed;
use Test::More;

my $clock = clock();
my $server = new_server('future', $clock, conf => "snowflake_ids.machine_id = 1\nsnowflake_ids.max_wait = '60s'");

sub reader
{
	my ($type, $name) = @_;
	my $reader = Reader->new($name, $server,
		"SELECT stamp, id, body, stamp FROM of_$type WHERE stamp > :'position' AND stamp < (SELECT ${type}_settled('of_$type')) ORDER BY stamp LIMIT 7"
	);
	$reader->{position} = '0' if $type eq 'mastic';
	return $reader;
}

# After one more row: the readers that are wrong about rows of the table.
my $later = 0;

sub add_row
{
	my ($type) = @_;
	return $server->safe_psql('postgres', "INSERT INTO of_$type VALUES (@{[ 1000 + ++$later ]}, 1)");
}

sub wrong
{
	my ($type, @readers) = @_;
	poll_all(@readers);
	my $rows = rows_of($server, "of_$type");
	return join ', ', map { $_->name } grep { my @wrong = $_->verdict($rows); $wrong[0] + $wrong[1] } @readers;
}

sub have_all
{
	my ($type, @readers) = @_;
	add_row($type);
	return eventually(sub { wrong($type, @readers) eq '' });
}

# What they lack, they do not get later.
sub stay_wrong
{
	my ($type, @readers) = @_;
	add_row($type);
	my %wrong;
	for (1 .. 50)
	{
		$wrong{ wrong($type, @readers) } = 1;
		sleep 0.01;
	}
	return join ' or ', sort keys %wrong;
}

for my $type (qw(mastic sno))
{
	my $ask = sub { return $server->safe_psql('postgres', $_[0]) };
	my $ahead = "FROM of_$type WHERE ${type}_timestamp(stamp) > now() + interval '1 hour'";
	my $restamp = "UPDATE of_$type SET stamp = stamp WHERE ${type}_timestamp(stamp) > now() + interval '1 hour'";
	$ask->(<<"END");
CREATE TABLE of_$type (id int PRIMARY KEY, body int, stamp $type NOT NULL);
CREATE INDEX ON of_$type (stamp);
CREATE TRIGGER zz_stamp BEFORE INSERT OR UPDATE ON of_$type FOR EACH ROW EXECUTE FUNCTION ${type}_stamp('stamp');
ALTER TABLE of_$type ENABLE ALWAYS TRIGGER zz_stamp;
INSERT INTO of_$type SELECT generate_series(1, 20), 1;
END
	caught_up($server);
	my @readers = map { reader($type, $_) } 'the page', 'not set back';
	ok(have_all($type, @readers), "$type: before the jump, readers have all rows");

	$clock->step(86400);
	$ask->("INSERT INTO of_$type SELECT generate_series(21, 40), 1; UPDATE of_$type SET body = 2 WHERE id <= 5");
	ok(have_all($type, @readers), "$type: and while the clock is a day ahead");
	$clock->step(-86400);
	$ask->("INSERT INTO of_$type SELECT generate_series(41, 60), 1; UPDATE of_$type SET body = 3 WHERE id = 1");
	is(stay_wrong($type, @readers), 'the page, not set back', "$type: when it is right again, feeds stand still");
	is($ask->("SELECT count(*) >= 45 $ahead"), 't', "$type: old and new stamps are a day ahead");

	$ask->($restamp);
	is($ask->("SELECT count(*) >= 45 $ahead"), 't', "$type: control: an update before the reset changes nothing");
	$ask->('SELECT snowflake_ids.reset(now(), force => true)');
	my $bound = $ask->("SELECT ${type}_lower_bound(now() - interval '1 minute')");
	$_->{position} = $bound for $readers[0], my $unstamped = reader($type, 'no update');
	is( stay_wrong($type, @readers, $unstamped),
		'the page, not set back, no update',
		"$type: control: after the reset alone, rows are missing");

	$ask->($restamp);
	is($ask->("SELECT count(*) $ahead"), '0', "$type: an update after it gives the rows new stamps");
	ok(have_all($type, $readers[0]), "$type: a reader that was set back has all rows");
	is(wrong($type, @readers), 'not set back', "$type: control: the other one has not");
	is($ask->("SELECT count(*) - count(DISTINCT stamp) FROM of_$type"), '0', "$type: no two rows have one stamp");
	$ask->("UPDATE of_$type SET body = body + 1 WHERE id = 2");
	ok(have_all($type, $readers[0]), "$type: and it goes on");
}
$server->stop;
done_testing();
