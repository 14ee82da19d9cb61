// The WAL ceiling is a ceiling for all ids of a database, which WAL carries to standbys and copies. This file says when
// it is read and lifted, and what follows from it. The relation that contains it is in pg/ceilings/database_ceiling.hpp.
//
// The functions below take a `Wal` with two functions. The ceilings that both return have been flushed to disk.
//   WalCeiling read()                      the present ceiling
//   WalCeiling lift(const WalCeiling& c)   lifts it to c.until at least, writes c.life_id next to it, and returns what
//                                          is there now
#pragma once

#include <cstdint>

#include "core/time.hpp"

namespace snowflake_ids::ledger {

struct WalCeiling {
    Ceiling until{};            // no id of that time or later has been issued
    std::uint64_t life_id = 0;  // the ledger's life that wrote it

    bool operator==(const WalCeiling&) const = default;
};

// A process calls this before its first id in a database. If another life lifted the ceiling of the database last (this
// server before a restart, or another one before a failover), ids below it may exist. Then the steps have this order:
// lift_floor(until) lifts all generators above these ids, the ceiling is lifted to `target` and gets the id of this
// life, and the process generates its first id. Returns until when ids may be issued.
template <class Wal, class LiftFloor>
Ceiling enter_database(Wal& wal, std::uint64_t life_id, Ceiling target, LiftFloor lift_floor) {
    WalCeiling c = wal.read();
    if (c.life_id != life_id) {
        if (c.until > Ceiling{}) lift_floor(c.until);
        c = wal.lift({target, life_id});
    }
    return c.until;
}

// Lifts the ceiling to `target` for an id of the time `wanted`, which is not below the ceiling as this process last saw
// it. Does nothing if another process has lifted it above `wanted` already. Returns until when ids may be issued.
template <class Wal>
Ceiling lift_wal_above(Wal& wal, std::uint64_t life_id, UnixTime wanted, Ceiling target) {
    const Ceiling until = wal.read().until;
    return wanted < until ? until : wal.lift({target, life_id}).until;
}

// The last two WAL ceilings that a process has seen of its database, for synchronous replication. A standby that is
// promoted must not issue an id again that a client has. It does not issue the id if it has the WAL with a ceiling
// above it. So a transaction that has generated ids, and is about to commit, asks for the position of that WAL. If the
// standbys have it, the commit waits for nothing; otherwise it waits for them.
//
// There are two ceilings, because a ceiling is lifted when a quarter of the window is left. Until that is used up, ids
// are below the ceiling before, which the standbys have had for long.
class SeenCeilings {
public:
    // The newest ceiling; 0 if none was noted.
    Ceiling until() const { return now_.until; }

    // Notes a ceiling that was read or lifted. It is in WAL before `position`. Does nothing if it is the newest one.
    void note(Ceiling until, std::uint64_t position) {
        if (until == now_.until) return;
        before_ = now_;
        now_ = {until, position};
    }
    // The highest ceiling whose WAL `is_there(position)`; 0 if it is none of the two.
    template <class IsThere>
    Ceiling highest(IsThere is_there) const {
        return is_there(now_.position) ? now_.until : is_there(before_.position) ? before_.until : Ceiling{};
    }
    // The position of the WAL that protects all ids up to `latest`. 0: not known, so the commit must wait.
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
