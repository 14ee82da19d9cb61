// Finds or makes the ledger in the server's shared memory:
//   - a segment of dynamic shared memory, which the first session that needs it creates; or
//   - with shared_preload_libraries, a part of the main shared memory.
//
// A few bytes of the main shared memory say where it is: the server reserves more than it uses, so they need no
// preloading.
#pragma once

#include "ledger/shared_memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids {

// Raises an error if the ledger can be neither found nor made. The next call tries again.
const ledger::Ledger& shared_ledger();

// Instead of raising an error, returns null and stores its message, palloc'd, in `why`. Not in parallel mode, because
// it may begin a subtransaction.
const ledger::Ledger* try_shared_ledger(const char** why);

// For snowflake_ids.status(): "dynamic", "preloaded", or "none" if this process has no ledger.
const char* ledger_memory_kind();

void reserve_shared_ledger();

}  // namespace snowflake_ids
