// What differs between PostgreSQL majors. Call sites use the newest spelling; this header
// back-fills it for older servers, each with its reason. PG_VERSION_NUM appears nowhere else.
// Included by pg.hpp only, after postgres.h.
#pragma once

// Before 16 PGDLLEXPORT is empty, and we build with -fvisibility=hidden.
#if PG_VERSION_NUM < 160000
#undef PGDLLEXPORT
#define PGDLLEXPORT __attribute__((visibility("default")))
#endif

// Soft errors (input functions that report without raising) came with 16: before, every
// context is a hard one.
#if PG_VERSION_NUM < 160000
#define SOFT_ERROR_OCCURRED(escontext) (false)
#define errsave(context, ...)       \
    do {                            \
        (void) (context);           \
        ereport(ERROR, __VA_ARGS__); \
    } while (0)
#define ereturn(context, dummy_value, ...)   \
    do {                                     \
        errsave(context, __VA_ARGS__);       \
        return dummy_value;                  \
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
#define SNOWFLAKE_IDS_WAIT_EVENT(name)                        \
    []() -> uint32 {                                          \
        static uint32 event = 0;                              \
        if (event == 0) event = WaitEventExtensionNew(name);  \
        return event;                                         \
    }()
#else
#define SNOWFLAKE_IDS_WAIT_EVENT(name) PG_WAIT_EXTENSION
#endif
