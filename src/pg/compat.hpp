// What differs between PostgreSQL major versions. Code uses the newest spelling; this header defines it for older
// servers, each with its reason. PG_VERSION_NUM appears nowhere else. Included by pg.hpp only, after postgres.h.
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
#define SNOWFLAKE_IDS_MODULE_MAGIC(module) PG_MODULE_MAGIC_EXT(.name = module, .version = SNOWFLAKE_IDS_VERSION)
#else
#define SNOWFLAKE_IDS_MODULE_MAGIC(module) PG_MODULE_MAGIC
#endif

// Settings' extra values are allocated by guc_malloc() since 16, by malloc() before.
#if PG_VERSION_NUM < 160000
#define guc_malloc(elevel, size) malloc(size)
#endif

// Wait events that carry our own name came with 17. Before, pg_stat_activity shows "Extension".
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

// Skip scans came with 18. Before, their support functions exist too, so that the catalogs are the same everywhere,
// but no operator class names them.
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

extern "C" {
#include "utils/guc.h"
#include "utils/guc_tables.h"
}

// A setting by its name, null if there is none: exported since 16.
#if PG_VERSION_NUM < 160000
inline config_generic* find_option(const char* name, bool, bool, int) {
    // The server's own search is faster, and most often there is none.
    if (GetConfigOption(name, true, false) == nullptr) return nullptr;
    config_generic** all = get_guc_variables();
    for (int i = 0; i < GetNumConfigOptions(); i++)
        if (pg_strcasecmp(all[i]->name, name) == 0) return all[i];
    return nullptr;
}
#endif

// Settings that may be set in a parallel operation came with 17 and with minor versions of late 2024. The running
// server may be older than the headers, and then ignores the flag. SNOWFLAKE_IDS_OLD_MINOR is for tests: as with such
// a server.
#if !defined(GUC_ALLOW_IN_PARALLEL) || defined(SNOWFLAKE_IDS_OLD_MINOR)
#undef GUC_ALLOW_IN_PARALLEL
#define GUC_ALLOW_IN_PARALLEL 0
inline bool settings_allowed_in_parallel() { return false; }
#else
inline bool settings_allowed_in_parallel() {
    const int running = atoi(GetConfigOption("server_version_num", false, false));
    const int first[] = {150010, 160006, 170002};
    for (const int f : first)
        if (running / 10000 == f / 10000) return running >= f;
    return running >= 180000;
}
#endif

// The shared variables of transactions got their name with 17.
#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

extern "C" {
#include "access/transam.h"
}
// How many transactions have ended since the server started, with subtransactions. PostgreSQL counts them before any
// snapshot can show their end. No function of PostgreSQL returns the count, so its variable is read; a later major
// version may keep it elsewhere.
inline uint64 server_transactions_ended() {
    return __atomic_load_n(&TransamVariables->xactCompletionCount, __ATOMIC_ACQUIRE);
}

// A word of an active snapshot that we may write. It is 0 at first, and lasts as long as the snapshot. PostgreSQL uses
// it only in its own static snapshots, to know whether they are still up to date. An active snapshot is always a copy,
// in which PostgreSQL sets the word to 0 and does not look at it. So with this word we recognise a snapshot that we
// have met before. Its address does not show that, because addresses are used again; nor does its content, because the
// next snapshot may have the same.
extern "C" {
#include "utils/snapshot.h"
}
inline uint64& word_of_snapshot(Snapshot copy) {
    Assert(copy->copied);
    return copy->snapXactCompletionCount;
}

// Before 17 the setting trace_sort could be left out of PostgreSQL.
#if PG_VERSION_NUM < 170000 && !defined(TRACE_SORT)
#define trace_sort false
#endif

// A new page at the end of a relation, pinned: extending took two steps before 16.
extern "C" {
#include "storage/bufmgr.h"
#if PG_VERSION_NUM < 160000
#include "storage/lmgr.h"
#endif
}
inline Buffer extend_relation(Relation rel) {
#if PG_VERSION_NUM >= 160000
    BufferManagerRelation manager{};
    manager.rel = rel;
    return ExtendBufferedRel(manager, MAIN_FORKNUM, nullptr, 0);
#else
    LockRelationForExtension(rel, ExclusiveLock);
    const Buffer buffer = ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_NORMAL, nullptr);
    UnlockRelationForExtension(rel, ExclusiveLock);
    return buffer;
#endif
}

// index_beginscan() got an argument for instrumentation with 18. The function's own type shows which arguments it has,
// and would also show if there was one more.
extern "C" {
#include "access/genam.h"
}
template <class Function = decltype(&index_beginscan)>
IndexScanDesc begin_index_scan(Relation table, Relation index, Snapshot snapshot, int keys,
                               Function begin = &index_beginscan) {
    if constexpr (requires { begin(table, index, snapshot, keys, 0); })
        return begin(table, index, snapshot, keys, 0);
    else if constexpr (requires { begin(table, index, snapshot, nullptr, keys, 0); })
        return begin(table, index, snapshot, nullptr, keys, 0);
    else
        return begin(table, index, snapshot, nullptr, keys, 0, 0);
}

// The locks of one process, which no function of PostgreSQL returns. The fast path has one group of 16 slots before 18,
// then several.
extern "C" {
#include "storage/lock.h"
#include "storage/proc.h"
}
#if PG_VERSION_NUM >= 180000
inline int fast_path_groups() { return FastPathLockGroupsPerBackend; }
inline uint64 fast_path_group(const PGPROC& process, int group) { return process.fpLockBits[group]; }
#else
inline int fast_path_groups() { return 1; }
inline uint64 fast_path_group(const PGPROC& process, int) { return process.fpLockBits; }
#endif
// Calls of(relation) for each RowExclusiveLock on the fast path of a process. A lock there has three bits, one for each
// mode, and RowExclusiveLock is the strongest. The caller holds process.fpInfoLock.
template <class Of>
void each_fast_path_write(const PGPROC& process, Of of) {
    for (int group = 0; group < fast_path_groups(); group++) {
        for (uint64 bits = fast_path_group(process, group) & 0'4444'4444'4444'4444; bits != 0; bits &= bits - 1)
            of(process.fpRelId[group * 16 + __builtin_ctzll(bits) / 3]);
    }
}
// The head of the circular list of the locks (PROCLOCK::procLink) of a process in a partition of the main lock table.
// `next` of an empty list is the head itself.
inline auto* lock_list(PGPROC& process, int partition) {
#if PG_VERSION_NUM >= 160000
    return &process.myProcLocks[partition].head;
#else
    return &process.myProcLocks[partition];
#endif
}
// Calls of(tag, modes) for each lock of a process in this partition of the lock manager's main table. The caller holds
// the LWLock of that partition.
template <class Of>
void each_lock(PGPROC& process, int partition, Of of) {
    auto* const end = lock_list(process, partition);
    for (auto* at = end->next; at != end; at = at->next) {
        const auto* held = reinterpret_cast<PROCLOCK*>(reinterpret_cast<char*>(at) - offsetof(PROCLOCK, procLink));
        of(held->tag.myLock->tag, held->holdMask);
    }
}

// True if the prepared transaction with this place was prepared before the server started, or on another server. Then
// it has no backend. The field has another name since 17.
inline bool prepared_before_start(const PGPROC& place) {
#if PG_VERSION_NUM >= 170000
    return place.vxid.procNumber == INVALID_PROC_NUMBER;
#else
    return place.backendId == InvalidBackendId;
#endif
}
