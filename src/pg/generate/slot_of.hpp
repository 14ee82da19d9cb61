// The slot of a generator in the ledger.
#pragma once

#include "ledger/memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

ledger::Slot& find_or_create_slot(const ledger::Ledger& shared, const ledger::Key& key, uint64 numbering);

}  // namespace snowflake_ids::generator
