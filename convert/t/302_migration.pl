# convert/migration.md does what it says: its commands are run, and the output that it shows is what comes.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib "$FindBin::RealBin/../../test/t/lib";
use Page;

my $page = Page->new('convert/migration.md');
my $server = PostgreSQL::Test::Cluster->new('migration');
$server->init;
$server->append_conf('postgresql.conf', "fsync = off\ntimezone = 'Asia/Tokyo'");
$server->start;
my $db = $page->run_chapter($server, 'A conversion');
$page->run_chapter($server, 'Old keys elsewhere', dbname => $db);
$page->run_chapter($server, $_) for 'Installing', 'In two parts', 'Tables without a column of times', 'Interrupted, or given up', 'Columns that hold ids already';
$page->all_run;
$server->stop;
done_testing();
