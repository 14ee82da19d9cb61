// The room that knows the server: its shared memory, data directory, WAL, settings and clock. Read next: settings.hpp,
// machine_id.hpp.
//
// This file finds or makes the ledger in the server's shared memory:
//   - a segment of dynamic shared memory, which the first session that needs it creates; or
//   - with shared_preload_libraries, a part of the main shared memory; or
//   - in single-user mode, memory of that one process.
//
// A few bytes of the main shared memory say where it is: the server reserves more than it uses, so they need no
// preloading. After a stop or a crash of a process, the shared memory is new, and a new life begins (ledger/life.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// The first call in a process finds the ledger or makes it. If that fails it raises an error, and the next call tries
// again.
const ledger::Ledger& shared_ledger();

// Null if no call has found or made it in this process yet.
const ledger::Ledger* ledger_if_attached();

// Instead of raising an error, returns null and stores its message, palloc'd, in `why`. Not in parallel mode, because
// it may begin a subtransaction.
const ledger::Ledger* try_shared_ledger(const char** why);

// For snowflake_ids.status(): "dynamic", "preloaded", "single-user", or "none" if this process has no ledger.
const char* ledger_memory_kind();

// The full id that the next transaction gets.
uint64 next_xid();

// Makes the server reserve the memory at its start. Called from _PG_init while shared_preload_libraries are loaded.
void reserve_shared_ledger();

}  // namespace snowflake_ids
