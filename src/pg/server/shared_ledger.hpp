// The room that knows the server: its shared memory, its data directory, its WAL, its settings, its clock. Enters:
// calls of the rooms above. Leaves: the ledger's words, and errors with SQLSTATE and hint. Read next: ceiling_file.hpp,
// wal_ceiling.hpp, settings.hpp.
//
// This file: the ledger in the server's shared memory.
//
// A few bytes of the server's main shared memory say where it is (Place in shared_ledger.cpp). They come from what the
// server has left over there, so no preloading is needed. The ledger itself is
//   - a segment of dynamic shared memory, which the first session that needs it creates; or
//   - with shared_preload_libraries, a part of the main shared memory; or
//   - in single-user mode, memory of that one process.
// It lasts until the server stops, or until a process of the server crashes: the server then makes its shared memory
// again, and a new life begins (ledger/life.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Finds the ledger on first use, or makes it. Raises an error if that fails; the next call tries again.
const ledger::Ledger& shared_ledger();

// The ledger, or null if this session has not used it yet.
const ledger::Ledger* ledger_if_attached();

// As shared_ledger(), but instead of raising an error it returns null, and the error's message, palloc'd, in `why`. It
// must not be called in parallel mode.
const ledger::Ledger* try_shared_ledger(const char** why);

// For snowflake_ids.status(): "dynamic", "preloaded" or "single-user".
const char* ledger_memory_kind();

// For _PG_init while shared_preload_libraries are loaded: asks the server for the memory.
void reserve_shared_ledger();

}  // namespace snowflake_ids
