// What differs between PostgreSQL major versions: defines the names of the newest for older servers. Only pg.hpp
// includes this, after postgres.h.
#pragma once

// Before 16, PGDLLEXPORT is empty. We build with -fvisibility=hidden, so SQL would not find our functions.
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

// VARDATA_ANY and so on moved out of postgres.h with 16.
#if PG_VERSION_NUM >= 160000
extern "C" {
#include "varatt.h"
}
#endif

// Soft errors came with 16. Before, this macro raises them.
#if PG_VERSION_NUM < 160000
#define errsave(context, ...)        \
    do {                             \
        (void) (context);            \
        ereport(ERROR, __VA_ARGS__); \
    } while (0)
#endif

// Since 18, pg_get_loaded_modules() shows the name and version of a module.
#ifdef PG_MODULE_MAGIC_EXT
#define SNOWFLAKE_IDS_MODULE_MAGIC(module) PG_MODULE_MAGIC_EXT(.name = module, .version = SNOWFLAKE_IDS_VERSION)
#else
#define SNOWFLAKE_IDS_MODULE_MAGIC(module) PG_MODULE_MAGIC
#endif

// Before 17, pg_stat_activity shows "Extension". The name is registered at its first use in each process.
#if PG_VERSION_NUM >= 170000
#define SNOWFLAKE_IDS_WAIT_EVENT(name)                 \
    []() -> uint32 {                                   \
        static uint32 id = 0;                          \
        if (id == 0) id = WaitEventExtensionNew(name); \
        return id;                                     \
    }()
#else
#define SNOWFLAKE_IDS_WAIT_EVENT(name) PG_WAIT_EXTENSION
#endif

extern "C" {
#include "utils/guc.h"
#include "utils/guc_tables.h"
}

// Exported since 16. This replacement cannot create or report a missing setting.
#if PG_VERSION_NUM < 160000
inline config_generic* find_option(const char* name, bool, bool, int) {
    if (GetConfigOption(name, true, false) == nullptr) return nullptr;
    config_generic** all = get_guc_variables();
    for (int i = 0; i < GetNumConfigOptions(); i++)
        if (pg_strcasecmp(all[i]->name, name) == 0) return all[i];
    return nullptr;
}
#endif

// With this flag, a setting may be set in a parallel operation. Minor versions since late 2024 know it.
#ifndef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL 0
#endif

// Renamed with 17.
#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

extern "C" {
#include "access/transam.h"
}
// PostgreSQL's counter of ended transactions with a transaction id, and of failed subtransactions with one. It grows
// before any snapshot can show the end. No function returns it, and a later major may keep it elsewhere.
inline uint64 server_transactions_ended() {
    return __atomic_load_n(&TransamVariables->xactCompletionCount, __ATOMIC_ACQUIRE);
}

extern "C" {
#include "access/tableam.h"
}

// Since 19, it has options.
#if PG_VERSION_NUM < 190000
inline TM_Result table_tuple_delete(Relation table, ItemPointer row, CommandId command, uint32, Snapshot snapshot,
                                    Snapshot crosscheck, bool wait, TM_FailureData* failure) {
    return table_tuple_delete(table, row, command, snapshot, crosscheck, wait, failure, false);
}
#endif
