// Begins the life of this server (ledger/life.hpp), in the first process that needs the ledger.
#pragma once

#include "ledger/memory.hpp"
#include "pg/server/patience.hpp"

namespace snowflake_ids {

// Returns the ledger, and begins the life of the server first if no process has done that. Before this, the slots are
// empty and know nothing of ids from before the last start. Raises an error if the shared memory cannot be made, or if
// no life can begin before the patience ends.
const ledger::Ledger& ledger_in_life(const Patience& patience = {});

}  // namespace snowflake_ids
