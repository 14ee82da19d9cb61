// The loadable module: magic block and initialisation. Loading does the same with and
// without shared_preload_libraries: it defines the settings. The ledger is mapped by each
// backend at its first id.
#include "pg/pg.hpp"
#include "pg/server/not_accepted.hpp"
#include "pg/server/settings.hpp"

extern "C" {
SNOWFLAKE_IDS_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
}

void _PG_init(void) { snowflake_ids::not_accepted::define_settings(snowflake_ids::settings::define); }
