// Settled ids and synchronous replication. A promoted standby generates ids above the WAL ceiling that it has. So while
// COMMIT waits for standbys, readers are told no later time than R: the highest WAL ceiling of their database that the
// standbys have flushed, or what was promised before. Committed rows lie below R, because their COMMIT waited for a
// ceiling above them. Readers themselves wait for no standby.
//
// R only grows, except by a forced reset. It is in a slot of its own, to outlast a restart while standbys are away:
// Slot::passed is R, Slot::ceiling what the ceiling file has of it, which lags only while nobody reads.
#pragma once

#include <algorithm>

#include "ledger/memory.hpp"

namespace snowflake_ids::ledger {

// A new slot gets `promised` as R. Null if all slots are in use.
inline Slot* replicated_slot(const Ledger& ledger, std::uint32_t database, UnixTime promised) {
    const Key key{Format::replicated};
    if (Slot* found = find_slot(ledger, key, false, database)) return found;
    Slot* made = find_slot(ledger, key, true, database);
    if (made != nullptr) lift_to(made->passed, promised);
    return made;
}

template <class S>
UnixTime replicated_until(const S& slot) {
    return std::max<UnixTime>(slot.passed.load(), slot.ceiling.load());
}

}  // namespace snowflake_ids::ledger
