// Finds the slot of a generator in the ledger.
#pragma once

#include "ledger/memory.hpp"
#include "pg/pg.hpp"

namespace snowflake_ids::generator {

// The slot of the generator `key`. If it has none yet, a free one becomes its slot. `numbering` is the word of a 64-bit
// layout (ledger/numbering.hpp), and 0 for all other formats. Raises an error if all slots are in use. It also raises
// an error if the generator has no slot yet and explicit calls have created too many. Such calls name a sno partition
// or a created layout, so the key has an owner.
ledger::Slot& find_or_create_slot(const ledger::Ledger& shared, const ledger::Key& key, uint64 numbering);

}  // namespace snowflake_ids::generator
