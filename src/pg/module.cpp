// The loadable module: its magic block, and what happens when a process loads the library.
#include "pg/ceilings/ceiling_in_wal.hpp"
#include "pg/generate/generator.hpp"
#include "pg/pg.hpp"
#include "pg/server/refused_settings.hpp"
#include "pg/server/settings.hpp"
#include "pg/server/shared_ledger.hpp"

extern "C" {
SNOWFLAKE_IDS_MODULE_MAGIC("snowflake_ids");

PGDLLEXPORT void _PG_init(void);
}

void _PG_init(void) {
    snowflake_ids::refused_settings::define_settings(snowflake_ids::settings::define);
    snowflake_ids::generator::watch_transactions();
    snowflake_ids::ceiling_in_wal::watch();
    if (process_shared_preload_libraries_in_progress) snowflake_ids::reserve_shared_ledger();
}
