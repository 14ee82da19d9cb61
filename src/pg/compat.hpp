// What differs between PostgreSQL majors. Call sites use the newest spelling; this header
// back-fills it for older servers, each with its reason. PG_VERSION_NUM appears nowhere else.
// Included by pg.hpp only, after postgres.h.
#pragma once

// Before 16 PGDLLEXPORT is empty, and we build with -fvisibility=hidden.
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

// The macros for variable-length values (VARDATA_ANY …) moved out of postgres.h with 16.
#if PG_VERSION_NUM >= 160000
extern "C" {
#include "varatt.h"
}
#endif

// Soft errors (input functions that report without raising) came with 16: before, every
// context is a hard one.
#if PG_VERSION_NUM < 160000
#define SOFT_ERROR_OCCURRED(escontext) (false)
#define errsave(context, ...)        \
    do {                             \
        (void) (context);            \
        ereport(ERROR, __VA_ARGS__); \
    } while (0)
#define ereturn(context, dummy_value, ...) \
    do {                                   \
        errsave(context, __VA_ARGS__);     \
        return dummy_value;                \
    } while (0)
#endif

// A module's name and version, shown by pg_get_loaded_modules(), came with 18.
#ifdef PG_MODULE_MAGIC_EXT
#define SNOWFLAKE_IDS_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "snowflake_ids", .version = SNOWFLAKE_IDS_VERSION)
#else
#define SNOWFLAKE_IDS_MODULE_MAGIC PG_MODULE_MAGIC
#endif

// Settings' extra values are allocated by guc_malloc() since 16, by malloc() before.
#if PG_VERSION_NUM < 160000
#define guc_malloc(elevel, size) malloc(size)
#endif

// Wait events that carry our own name came with 17; before, pg_stat_activity says
// "Extension".
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

// Skip scans came with 18. Before, the support functions for them exist all the same, so that the catalogs are
// the same everywhere, but no operator class names them.
extern "C" {
#if PG_VERSION_NUM >= 180000
#include "utils/skipsupport.h"
#else
#include "utils/relcache.h"
struct SkipSupportData {
    Datum low_elem, high_elem;
    Datum (*decrement)(Relation rel, Datum existing, bool* overflow);
    Datum (*increment)(Relation rel, Datum existing, bool* overflow);
};
typedef SkipSupportData* SkipSupport;
#endif
}

// The shared variables of transactions got their name with 17.
#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

// Before 17 the setting trace_sort could be left out of a server.
#if PG_VERSION_NUM < 170000 && !defined(TRACE_SORT)
#define trace_sort false
#endif

// The schema of an extension: exported since 16.
#if PG_VERSION_NUM < 160000
extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_extension.h"
#include "utils/fmgroids.h"
}
inline Oid get_extension_schema(Oid extension) {
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
    Relation rel = table_open(ExtensionRelationId, AccessShareLock);
    SysScanDesc scan = systable_beginscan(rel, ExtensionOidIndexId, true, nullptr, 1, &key);
    const HeapTuple tuple = systable_getnext(scan);
    const Oid schema =
        HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extnamespace : InvalidOid;
    systable_endscan(scan);
    table_close(rel, AccessShareLock);
    return schema;
}
#endif
