// The life of this server (ledger/life.hpp): begun by the first process that needs the ledger.
#pragma once

#include "ledger/memory.hpp"
#include "pg/server/wait.hpp"

namespace snowflake_ids {

// The ledger, in a life that has begun. Only then do its slots know of earlier lives. Raises an error if no life can
// begin before the patience ends.
const ledger::Ledger& ledger_in_life(const Patience& patience = {});

}  // namespace snowflake_ids
