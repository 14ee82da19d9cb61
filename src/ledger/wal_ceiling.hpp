// The WAL ceiling: a ceiling for all ids of a database, which WAL carries to standbys and copies. Here: when it is
// read and lifted, and what follows from it. PostgreSQL's part, the relation itself, is in pg/server/wal_ceiling.hpp.
//
// A Wal has
//   WalCeiling read()                     flushed
//   WalCeiling lift(const WalCeiling&)   to at least that time, and to that life; flushed
#pragma once

#include <cstdint>

#include "core/time.hpp"

namespace snowflake_ids::ledger {

struct WalCeiling {
    Ceiling until{};            // no id of that time or later has been issued
    std::uint64_t life_id = 0;  // the ledger's life that wrote it

    bool operator==(const WalCeiling&) const = default;
};

// First use of a database in this life. If another life lifted its ceiling last (this server before a restart, or
// another one before a failover), ids below it may exist. Then lift_floor(until) comes first, the ceiling gets our
// life id second, and the first draw comes last. Returns until when ids may be issued.
template <class Wal, class RaiseFloor>
Ceiling enter_database(Wal& wal, std::uint64_t life_id, Ceiling target, RaiseFloor lift_floor) {
    WalCeiling c = wal.read();
    if (c.life_id != life_id) {
        if (c.until > Ceiling{}) lift_floor(c.until);
        c = wal.lift({target, life_id});
    }
    return c.until;
}

// For an id of `wanted`, which is above the ceiling as this process last saw it. Returns until when ids may be
// issued.
template <class Wal>
Ceiling lift_wal_above(Wal& wal, std::uint64_t life_id, UnixTime wanted, Ceiling target) {
    const Ceiling until = wal.read().until;
    return wanted < until ? until : wal.lift({target, life_id}).until;
}

// Synchronous replication: an id that a client has must not be issued again by a standby that is promoted. It is not,
// if the standby has the WAL with a ceiling above the id. So a transaction that has drawn ids, and is about to commit,
// asks for the position of that WAL. If the standbys have it, nobody waits; otherwise the commit waits for them.
//
// The last two ceilings that a process has seen of its database. A ceiling is lifted when a quarter of the window is
// left. Until that is used up, ids are below the one before, which the standbys have had for long.
class SeenCeilings {
public:
    Ceiling until() const { return now_.until; }

    // `position`: the ceiling is in WAL before this.
    void saw(Ceiling until, std::uint64_t position) {
        if (until == now_.until) return;
        before_ = now_;
        now_ = {until, position};
    }
    // The WAL that protects all ids before and at `latest`. 0: not known.
    std::uint64_t position_for(UnixTime latest) const {
        return latest < before_.until ? before_.position : now_.position;
    }

private:
    struct Seen {
        Ceiling until{};  // 0: not seen yet
        std::uint64_t position = 0;
    };
    Seen now_, before_;
};

}  // namespace snowflake_ids::ledger
