// A server's shared memory and files for the explorer: one slot of its ledger, the shared words
// of the header, the ceiling file and the ceiling in WAL.
//
// A time is a tick here, in all units: ceilings and floors too.
#pragma once

#include <algorithm>

#include "ledger/ceiling.hpp"
#include "ledger/life.hpp"
#include "ledger/wal.hpp"
#include "support/ledger_model.hpp"

namespace snowflake_ids::test {

enum : unsigned {
    floor_cell = first_other_cell,
    started_cell,  // the life's key: its first word, and the two others
    rest_cell,
    life_id_cell,
    lives_cell,
    epoch_cell,
    lease_cell,       // of a session, for those that keep it here, which is wrong
    postmaster_cell,  // number of the life that really is: what a process knows from the kernel
    file_cell,        // the ceiling file as processes see it
    durable_cell,     // as it is on disk
    dirty_cell,       // written since the last sync, or since the kernel gave up on it
    wal_cell,         // the database's ceiling: time << 8 | life
    flushed_cell,     // as it was last flushed
    view_cell,        // how many transactions have committed << 32 | the largest of their ids, as order()
    recovery_cell,    // 1: a standby
    last_cell,
};
static_assert(last_cell <= model_cells);

inline Cell as_cell(unsigned c) { return static_cast<Cell>(c); }

struct WatchedHeader {
    WatchedWord floor_ms, lives, life_id, life_key[3], epoch;

    explicit WatchedHeader(Watcher& w) {
        floor_ms.watch(w, as_cell(floor_cell));
        lives.watch(w, as_cell(lives_cell));
        life_id.watch(w, as_cell(life_id_cell));
        life_key[0].watch(w, as_cell(started_cell));
        for (int i = 1; i < 3; i++) life_key[i].watch(w, as_cell(rest_cell));
        epoch.watch(w, as_cell(epoch_cell));
    }
};

struct WatchedFile {
    using Ceilings = std::uint64_t[1];
    World* world;

    ledger::CeilingResult read(Ceilings& ms) const {
        ms[0] = world->load(as_cell(file_cell));
        return {};
    }
    ledger::CeilingResult write(std::uint32_t, std::uint64_t ms, bool sync) const {
        world->store(as_cell(file_cell), ms);
        return sync ? flush() : ledger::CeilingResult{};
    }
    ledger::CeilingResult write_all(const Ceilings& ms, bool sync) const { return write(0, ms[0], sync); }
    ledger::CeilingResult flush() const {
        if (world->sync(as_cell(file_cell))) return {};
        return {ledger::CeilingError::io, 5, 0};
    }
};

struct WatchedWal {
    World* world;

    static ledger::WalCeiling unpack(Value v) { return {static_cast<std::int64_t>(v >> 8), v & 0xff}; }

    ledger::WalCeiling read() const {
        const ledger::WalCeiling c = read_only();
        world->sync(as_cell(wal_cell));
        return c;
    }
    ledger::WalCeiling raise(const ledger::WalCeiling& wanted) const {
        const ledger::WalCeiling c = write_only(wanted);
        world->sync(as_cell(wal_cell));
        return c;
    }

    // Without the flush.
    ledger::WalCeiling read_only() const { return unpack(world->load(as_cell(wal_cell))); }
    // Under the buffer's lock: as good as a swap.
    ledger::WalCeiling write_only(const ledger::WalCeiling& wanted) const {
        Value seen = world->load(as_cell(wal_cell)), next;
        do {
            next = std::max(seen >> 8, static_cast<Value>(wanted.until_us)) << 8 | wanted.life_id;
        } while (!world->swap(as_cell(wal_cell), seen, next));
        return unpack(next);
    }
};

}  // namespace snowflake_ids::test
