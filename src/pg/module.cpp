// The loadable module: magic block and initialisation. With and without shared_preload_libraries, loading only defines
// the settings. Each backend maps the ledger at its first id.
#include "pg/pg.hpp"
#include "pg/server/not_accepted.hpp"
#include "pg/server/settings.hpp"

extern "C" {
SNOWFLAKE_IDS_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
}

void _PG_init(void) { snowflake_ids::not_accepted::define_settings(snowflake_ids::settings::define); }
