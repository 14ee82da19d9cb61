// The WAL ceiling: a ceiling for all ids of a database, which WAL carries to standbys and copies. Here: when it is
// read and raised, and what follows from it. PostgreSQL's part, the relation itself, is in pg/server/wal_ceiling.hpp.
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

    bool operator==(const WalCeiling&) const = default;
};

// First use of a database in this life. If another life raised its ceiling last (this server before a restart, or
// another one before a failover), ids below it may exist. Then raise_floor(until_us) comes first, the ceiling gets our
// life id second, and the first draw comes last. Returns until when ids may be issued.
template <class Wal, class RaiseFloor>
std::int64_t enter_database(Wal& wal, std::uint64_t life_id, std::int64_t target_us, RaiseFloor raise_floor) {
    WalCeiling c = wal.read();
    if (c.life_id != life_id) {
        if (c.until_us > 0) raise_floor(c.until_us);
        c = wal.raise({target_us, life_id});
    }
    return c.until_us;
}

// For an id of `wanted_us`, which is above the ceiling as this process last saw it. Returns until when ids may be
// issued.
template <class Wal>
std::int64_t raise_wal_above(Wal& wal, std::uint64_t life_id, std::int64_t wanted_us, std::int64_t target_us) {
    const std::int64_t until_us = wal.read().until_us;
    return wanted_us < until_us ? until_us : wal.raise({target_us, life_id}).until_us;
}

}  // namespace snowflake_ids::ledger
