# pg_upgrade makes a new data directory. Our two files stay behind in the old one; what protects the ids is the
# ceiling in each database, which pg_upgrade takes along. The clock is hours behind when the new server starts.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use Faults;
use Test::More;

my $clock = clock();
my $old = new_server('old', $clock);
$old->safe_psql('postgres', <<'END');
CREATE TABLE item (id sno DEFAULT gen_sno() PRIMARY KEY, volume gid(volume) DEFAULT gen_gid('volume'), mastic bigint DEFAULT gen_mastic(), seen text);
CREATE INDEX item_mastic ON item (mastic_timestamp(mastic));
INSERT INTO item SELECT FROM generate_series(1, 1000);
CREATE DATABASE other;
END
$old->safe_psql('other', 'CREATE EXTENSION snowflake_ids');
my $rows = 'SELECT md5(string_agg(item::text, chr(10) ORDER BY id)) FROM item';
my $content = value($old, $rows);

my $ids = Ids->new;
my $start = $clock->now;
$ids->draw($old);
$ids->add($old->safe_psql('other', Ids::query(10, 50)));
$old->stop('fast');

my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
$new->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nmax_prepared_transactions = 10\n");
my $bindir = $old->config_data('--bindir');
my @upgrade = ('pg_upgrade', '--no-sync', '-b', $bindir, '-B', $bindir, '-d', $old->data_dir, '-D', $new->data_dir,
	'-p', $old->port, '-P', $new->port, '-s', $new->host);
chdir $new->basedir;
my $said = `@upgrade 2>&1`;
is($?, 0, 'pg_upgrade') or diag $said;

$clock->set(-7200);
start_at($new, $clock);
is(value($new, $rows), $content, 'the rows are there');
is($new->safe_psql('postgres', 'INSERT INTO item DEFAULT VALUES; SELECT count(*) = count(DISTINCT mastic) FROM item'), 't', 'with no repeat');
$ids->draw($new);
$ids->add($new->safe_psql('other', Ids::query(10, 50)));
$clock->set_to($start);
$ids->draw($new);
$ids->add($new->safe_psql('other', Ids::query(10, 50)));
$clock->set(0);
$ids->draw($new);
$ids->none_twice('pg_upgrade, files left behind');

my $plan = $new->safe_psql('postgres', "SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id >= timestamptz '2026-01-01 00:00:00+00'");
like($plan, qr/Index Scan|Bitmap Index Scan/, 'the planner support came along');
$new->stop('immediate');
done_testing();
