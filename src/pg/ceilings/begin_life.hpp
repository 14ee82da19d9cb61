// Begins the life of this server (ledger/life.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/server/patience.hpp"

namespace snowflake_ids {

// Returns the ledger, and begins the life of the server if no process has. Before, the slots know nothing of ids from
// before the start. Raises an error if there is no shared memory, or no life can begin before the patience ends.
const ledger::Ledger& ledger_in_life(const Patience& patience = {});

}  // namespace snowflake_ids
