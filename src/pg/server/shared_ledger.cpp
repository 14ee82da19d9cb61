// Where the ledger's memory is, and how it is made.
#include "pg/server/shared_ledger.hpp"

extern "C" {
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
}

#include "ledger/clock.hpp"
#include "ledger/feed_wait.hpp"
#include "pg/server/catch_error.hpp"
#include "pg/server/feed_waiters.hpp"

namespace snowflake_ids {

namespace {

constexpr const char* location_name = "snowflake_ids";
constexpr const char* preloaded_name = "snowflake_ids ledger";

// AddinShmemInitLock guards it. Its size never changes, because sessions with any version of the library look here
// first.
struct Location {
    dsm_handle segment;  // DSM_HANDLE_INVALID: there is none
    uint32 preloaded;    // 1: in the main shared memory, as `preloaded_name`
    uint64 reserved[7];
};

// With shared_preload_libraries, a process inherits both from the postmaster.
ledger::Ledger own_ledger;
const char* own_memory = "none";  // for snowflake_ids.status()

shmem_request_hook_type next_request_hook = nullptr;
shmem_startup_hook_type next_startup_hook = nullptr;

constexpr Size bytes = ledger::memory_bytes;

void begin_groups(const ledger::Ledger& l) {
    auto random = static_cast<uint64>(number_of(ledger::wall_clock()));
    (void) pg_strong_random(&random, sizeof random);
    for (uint32 i = 0; i < ledger::group_count; i++) {
        ConditionVariableInit(&waiters(l.groups[i]));
        l.groups[i].count.store(ledger::first_count(random, i));
    }
}

ledger::Ledger make_in(void* memory) {
    memset(memory, 0, bytes);
    const ledger::Ledger l = ledger::make_ledger(memory, ledger::wall_clock());
    begin_groups(l);
    return l;
}

// Raises an error if the main shared memory has no room. Call it and the next three with AddinShmemInitLock held.
Location& find_or_make_location() {
    bool exists;
    auto* location = static_cast<Location*>(ShmemInitStruct(location_name, sizeof(Location), &exists));
    if (!exists) *location = {};
    return *location;
}

// This and the next are empty if another version of the library made the ledger.
ledger::Ledger find_preloaded() {
    bool exists;
    void* memory = ShmemInitStruct(preloaded_name, bytes, &exists);
    return exists ? ledger::find_ledger(memory, bytes) : make_in(memory);
}

ledger::Ledger find_segment(const Location& location) {
    dsm_segment* segment = dsm_attach(location.segment);
    if (segment == nullptr) elog(ERROR, "could not attach to the shared memory of snowflake_ids");
    const ledger::Ledger l = ledger::find_ledger(dsm_segment_address(segment), dsm_segment_map_length(segment));
    l ? dsm_pin_mapping(segment) : dsm_detach(segment);
    return l;
}

// After dsm_create(), nothing can raise an error before the handle is stored. So no segment remains that nobody can
// find.
ledger::Ledger make_segment(Location& location) {
    dsm_segment* segment = dsm_create(bytes, 0);
    dsm_pin_segment(segment);
    dsm_pin_mapping(segment);
    const ledger::Ledger l = make_in(dsm_segment_address(segment));
    location.segment = dsm_segment_handle(segment);
    return l;
}

// Adds a hint to PostgreSQL's errors. `making` points to a bool: false if memory that exists is being attached.
void add_hint(void* making) {
    if (geterrcode() == 0) return;
    if (*static_cast<const bool*>(making)) {
        errhint(
            "Ids need %zu bytes of the server's shared memory. Make room there, or add snowflake_ids to shared_preload_libraries and restart the server. The server then reserves this memory when it starts.",
            bytes);
    } else if (geterrcode() == ERRCODE_UNDEFINED_FILE || geterrcode() == ERRCODE_INTERNAL_ERROR) {
        errhint(
            "The server created this memory after its start, and something has removed it since then. Sessions that have it open continue. Restart the server, and see RemoveIPC in the documentation of PostgreSQL.");
    }
}

// `making` is set before an error can be raised.
void find_or_make(Location& location, bool& making) {
    making = location.preloaded == 0 && location.segment == DSM_HANDLE_INVALID;
    own_ledger = location.preloaded != 0 ? find_preloaded() : making ? make_segment(location) : find_segment(location);
    if (own_ledger) own_memory = location.preloaded != 0 ? "preloaded" : "dynamic";
}

void attach() {
    bool making = true;  // find_or_make_location() may make the location
    ErrorContextCallback callback{error_context_stack, add_hint, &making};
    error_context_stack = &callback;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    find_or_make(find_or_make_location(), making);
    LWLockRelease(AddinShmemInitLock);
    error_context_stack = callback.previous;
    if (!own_ledger) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("another version of snowflake_ids has created the shared memory of this server"),
                        errdetail("This session has loaded version %s.", SNOWFLAKE_IDS_VERSION),
                        errhint("Restart the server.")));
    }
}

void at_shmem_request() {
    if (next_request_hook != nullptr) next_request_hook();
    RequestAddinShmemSpace(CACHELINEALIGN(sizeof(Location)) + CACHELINEALIGN(bytes));
}

// Runs when the server starts, and again after a crash of a process.
void at_shmem_startup() {
    if (next_startup_hook != nullptr) next_startup_hook();
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    find_or_make_location().preloaded = 1;
    own_ledger = find_preloaded();
    own_memory = "preloaded";
    LWLockRelease(AddinShmemInitLock);
}

}  // namespace

const ledger::Ledger& shared_ledger() {
    if (unlikely(!own_ledger)) attach();
    return own_ledger;
}

const ledger::Ledger* try_shared_ledger(const char** why) {
    const ErrorData* error = own_ledger ? nullptr : catch_error(attach);
    if (error != nullptr) *why = error->message;
    return own_ledger ? &own_ledger : nullptr;
}

const char* ledger_memory_kind() { return own_memory; }

void reserve_shared_ledger() {
    next_request_hook = shmem_request_hook;
    shmem_request_hook = at_shmem_request;
    next_startup_hook = shmem_startup_hook;
    shmem_startup_hook = at_shmem_startup;
}

}  // namespace snowflake_ids
