// The slot of a generator in the ledger.
#pragma once

#include "ledger/memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// The slot of the generator. If it has none yet, a free one becomes its slot. Raises an error if all slots are in use,
// or if explicit calls have created too many.
ledger::Slot& find_or_create_slot(const ledger::Ledger& shared, const ledger::Key& key, uint64 numbering);

}  // namespace snowflake_ids::generator
