// The ceiling that travels with WAL, as far as it is not PostgreSQL's business: when it is
// read, raised, and what follows from it. The relation itself is in pg/server/wal_ceiling.hpp.
//
// A Wal has
//   WalCeiling read()                     flushed
//   WalCeiling raise(const WalCeiling&)   to at least that time, and to that life; flushed
#pragma once

#include <cstdint>

namespace snowflake_ids::ledger {

struct WalCeiling {
    std::int64_t until_us = 0;  // no id of that time or later has been issued
    std::uint64_t life_id = 0;  // the ledger's life that wrote it
};

// First use of a database in a life. If its ceiling was last raised by another life, of this
// server before a restart or of another one before a failover, nothing below it is issued
// here: `raise_floor(until_us)`, before any draw and before the ceiling says that it is ours.
// Returns until when ids may be issued.
template <class Wal, class RaiseFloor>
std::int64_t enter_database(Wal& wal, std::uint64_t life_id, std::int64_t target_us, RaiseFloor raise_floor) {
    WalCeiling c = wal.read();
    if (c.life_id != life_id) {
        if (c.until_us > 0) raise_floor(c.until_us);
        c = wal.raise({target_us, life_id});
    }
    return c.until_us;
}

// An id of `wanted_us` is beyond what this process knows of the ceiling.
template <class Wal>
std::int64_t raise_wal_above(Wal& wal, std::uint64_t life_id, std::int64_t wanted_us, std::int64_t target_us) {
    const std::int64_t until_us = wal.read().until_us;
    return wanted_us < until_us ? until_us : wal.raise({target_us, life_id}).until_us;
}

}  // namespace snowflake_ids::ledger
