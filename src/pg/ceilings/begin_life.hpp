// Begins the life of this server (ledger/life.hpp).
#pragma once

#include "ledger/memory.hpp"
#include "pg/server/deadline.hpp"

namespace snowflake_ids {

// Returns the ledger, in a life: before one has begun, the slots know nothing of earlier ids. Raises an error if there
// is no shared memory, or no life can begin before the deadline.
const ledger::Ledger& ledger_in_life(const Deadline& deadline = {});

}  // namespace snowflake_ids
