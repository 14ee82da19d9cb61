// The room that knows the server: its shared memory, its data directory, its WAL, its settings and its clock. The rooms
// above call it. It gives them the words of the ledger, or raises errors with SQLSTATE and hint. Read next:
// ceiling_file.hpp, wal_ceiling.hpp, settings.hpp.
//
// This file finds or makes the ledger in the server's shared memory.
//
// A few bytes of the server's main shared memory say where the ledger is (Location in shared_ledger.cpp). The server
// reserves more there than it uses, so these bytes need no preloading. The ledger itself is
//   - a segment of dynamic shared memory, which the first session that needs it creates; or
//   - with shared_preload_libraries, a part of the main shared memory; or
//   - in single-user mode, memory of that one process.
// It lasts until the server stops, or until a process of the server crashes: the server then makes its shared memory
// again, and a new life begins (ledger/life.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Returns the ledger. The first call in a process finds it or makes it, and raises an error if that fails. The next
// call then tries again.
const ledger::Ledger& shared_ledger();

// The ledger, or null if no call has found or made it in this process yet.
const ledger::Ledger* ledger_if_attached();

// As shared_ledger(), but instead of raising an error it returns null and stores the error's message, palloc'd, in
// `why`. It must not be called in parallel mode, because it may begin a subtransaction.
const ledger::Ledger* try_shared_ledger(const char** why);

// For snowflake_ids.status(), the kind of memory that the ledger is in: "dynamic", "preloaded" or "single-user". "none"
// if this process has no ledger.
const char* ledger_memory_kind();

// The full id that PostgreSQL will give to the next transaction that needs one.
uint64 next_xid();

// Makes the server reserve the memory when it starts. _PG_init calls this while shared_preload_libraries are loaded.
void reserve_shared_ledger();

}  // namespace snowflake_ids
