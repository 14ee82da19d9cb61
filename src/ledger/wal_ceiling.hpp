// The WAL ceiling is a ceiling for all ids of a database, which WAL carries to standbys and copies
// (pg/ceilings/ceiling_in_wal.hpp). A promotion, to a server whose clock shows 2000:
//   primary, life 7   lifts the ceiling to 9000, issues an id of the time 8500, and its row follows in WAL
//   standby           replays the ceiling and the row, and is promoted
//   A, life 8         finds the ceiling of life 7, lifts all generators above 9000, then writes the ceiling as life 8's
//   B, life 8         finds its own life, and issues ids
// If A wrote first, B would not wait for the generators: it could issue the id of 8500 again.
//
// A `Wal` has two functions, whose results have been flushed to disk:
//   WalCeiling read()
//   WalCeiling lift(const WalCeiling& c)   to c.until at least, with c.life_id; returns what is there now
#pragma once

#include <cstdint>

#include "core/time.hpp"
#include "ledger/check_bits.hpp"

namespace snowflake_ids::ledger {

struct WalCeiling {
    Ceiling until{};            // no id of that time or later has been issued
    std::uint64_t life_id = 0;  // its writer

    bool operator==(const WalCeiling&) const = default;
};

// The check bits that are next to `c` on a page. A page of zeros has wrong ones.
constexpr std::uint64_t check_bits(const WalCeiling& c) {
    return mix(mix(mix(1, static_cast<std::uint64_t>(number_of(c.until))), c.life_id), 0);
}

// Call it before a process's first id in a database. `lift_floor(until)` lifts all generators. Returns until when ids
// may be issued.
template <class Wal, class LiftFloor>
Ceiling enter_database(Wal& wal, std::uint64_t life_id, Ceiling target, LiftFloor lift_floor) {
    WalCeiling c = wal.read();
    if (c.life_id != life_id) {
        if (c.until > Ceiling{}) lift_floor(c.until);
        c = wal.lift({target, life_id});
    }
    return c.until;
}

// Lifts the ceiling to `target`, unless it is above `wanted` already. Returns until when ids may be issued.
template <class Wal>
Ceiling lift_wal_above(Wal& wal, std::uint64_t life_id, UnixTime wanted, Ceiling target) {
    const Ceiling until = wal.read().until;
    return wanted < until ? until : wal.lift({target, life_id}).until;
}

}  // namespace snowflake_ids::ledger
