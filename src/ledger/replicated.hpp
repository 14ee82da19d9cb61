// What readers of settled ids need of synchronous replication. A reader generates nothing, so it waits for no standby. But
// a standby that is promoted generates ids above the WAL ceiling that it has (wal_ceiling.hpp). So while COMMIT waits
// for standbys, a reader of a database is told no later time than R: the highest WAL ceiling of this database that the
// standbys have flushed, or what readers had been promised before. All rows that were committed lie below R, because
// their COMMIT waited until the standbys had a ceiling above them.
//
// R only grows, and only a forced reset lowers it. It is in a slot of its own, so that it also outlasts a restart while
// the standbys are away: Slot::passed is R, and Slot::ceiling is what the ceiling file has of it. It lags behind only
// while nobody reads.
#pragma once

#include <algorithm>

#include "ledger/memory.hpp"

namespace snowflake_ids::ledger {

// The slot for this database. If there is none yet, a free slot becomes it, with `promised` as R. Returns null if all
// slots are in use.
inline Slot* replicated_slot(const Ledger& ledger, std::uint32_t database, UnixTime promised) {
    const Key key{Format::replicated};
    if (Slot* found = find_slot(ledger, key, false, database)) return found;
    Slot* made = find_slot(ledger, key, true, database);
    if (made != nullptr) lift_to(made->passed, promised);
    return made;
}

// R of this slot.
template <class S>
UnixTime replicated_until(const S& slot) {
    return std::max<UnixTime>(slot.passed.load(), slot.ceiling.load());
}

}  // namespace snowflake_ids::ledger
