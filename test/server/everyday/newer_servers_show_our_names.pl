# Our names in what newer servers show: the wait event in pg_wait_events (17), and the module with its version in
# pg_get_loaded_modules() (18).
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $server = PostgreSQL::Test::Cluster->new('newer');
plan skip_all => 'names of wait events came with 17' if $server->pg_version < 17;
$server->init;
$server->start;
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake_ids');

# Known from the first wait on: a tick of Snowflake-SI has 256 ids.
is($server->safe_psql('postgres', <<'END'), 'Extension', 'pg_wait_events has our event');
DO 'BEGIN PERFORM gen_snowflake_si() FROM generate_series(1, 10000); END';
SELECT type FROM pg_wait_events WHERE name = 'SnowflakeIdsNextTick';
END

SKIP:
{
	skip 'names of modules came with 18', 1 if $server->pg_version < 18;
	is($server->safe_psql('postgres', <<'END'), 'snowflake_ids|t', 'pg_get_loaded_modules() has our name and version');
SELECT count(gen_mastic()) > 0 AS loaded \gset
SELECT module_name, version = (SELECT extversion FROM pg_extension WHERE extname = 'snowflake_ids')
FROM pg_get_loaded_modules() WHERE file_name LIKE 'snowflake_ids%';
END
}
$server->stop;
done_testing();
