// A server for the explorer: the slot and the header of its ledger, the ceiling file and the ceiling in WAL. There are
// two memories, for two lives at once: that of a postmaster that is gone, or of two postmasters on one data directory.
// A time is a tick in all units.
#pragma once

#include <algorithm>

#include "explorers/explorer.hpp"
#include "ledger/begin_life.hpp"
#include "ledger/ceiling_file.hpp"
#include "ledger/wal_ceiling.hpp"

namespace snowflake_ids::test {

// The other memory begins at `memory_cells`.
enum : unsigned {
    floor_cell = cell_count,
    life_id_cell,
    life_number_cell,
    revision_cell,
    memory_cells,
    server_cell = 2 * memory_cells,  // which memory is that of the server that runs now
    ids_cell,                        // how many random ids were made
    life_cell,                       // the ceiling file as processes see it, in two parts, which two sectors have: the
    entry_cell,                      //   life that wrote it, number << 8 | id; and the entry of the slot
    durable_life_cell,               // the same as it is on disk
    durable_entry_cell,
    dirty_cell,    // written since the last sync, or since the kernel gave up on it
    wal_cell,      // the database's ceiling: time << 8 | life
    flushed_cell,  // as it was last flushed
    view_cell,     // how many transactions have committed << 32 | the largest of their ids, as order()
    last_cell,
};
static_assert(unsigned{last_cell} <= unsigned{lock_cell});

inline Cell as_cell(unsigned c) { return static_cast<Cell>(c); }
inline Cell of_memory(Value memory, unsigned c) { return static_cast<Cell>(memory * memory_cells + c); }

inline Ceiling ceiling_at(Value tick) { return Ceiling{milliseconds{tick}}; }
inline Value tick_at(Ceiling c) { return static_cast<Value>(number_of(c)); }

struct WatchedHeader {
    WatchedWord<> life_id, life_number, revision;
    WatchedWord<Floor> floor;
    // Not watched: nothing here changes or asks them.
    WatchedWord<Floor> reset_floor;
    WatchedWord<UnixTime> life_began;
    WatchedWord<microseconds> lead;

    // Nobody sets up again if the revision is not watched.
    WatchedHeader(Watcher& w, Value memory, bool with_revision) {
        floor.watch(w, of_memory(memory, floor_cell));
        life_id.watch(w, of_memory(memory, life_id_cell));
        life_number.watch(w, of_memory(memory, life_number_cell));
        if (with_revision) revision.watch(w, of_memory(memory, revision_cell));
    }
};

struct WatchedFile {
    struct Content {
        ledger::Life life;
        Floor floor{};
        ledger::CeilingEntry entries[1];
    };
    World* world;

    ledger::CeilingResult read(Content& c) const {
        const Value life = world->load(as_cell(life_cell)), ceiling = world->load(as_cell(entry_cell));
        c = {};
        c.life = {life >> 8, life & 0xff};
        if (ceiling != 0) c.entries[0] = {1, 0, std::bit_cast<Ceiling>(ceiling)};
        return {};
    }
    // Its writer may be killed, or the power fail, between any two sectors.
    ledger::CeilingResult write_only(const Content& c) const {
        world->store(as_cell(life_cell), c.life.number << 8 | c.life.id);
        world->store(as_cell(entry_cell), tick_at(c.entries[0].ceiling));
        return {};
    }
    ledger::CeilingResult write(const Content& c) const {
        write_only(c);
        if (world->sync(as_cell(entry_cell))) return {};
        return {ledger::CeilingError::io, 5, -1};
    }
};

struct WatchedWal {
    World* world;

    static ledger::WalCeiling unpack(Value v) { return {ceiling_at(v >> 8), v & 0xff}; }

    ledger::WalCeiling read() const {
        const ledger::WalCeiling c = read_only();
        world->sync(as_cell(wal_cell));
        return c;
    }
    ledger::WalCeiling lift(const ledger::WalCeiling& wanted) const {
        const ledger::WalCeiling c = write_only(wanted);
        world->sync(as_cell(wal_cell));
        return c;
    }

    ledger::WalCeiling read_only() const { return unpack(world->load(as_cell(wal_cell))); }
    ledger::WalCeiling write_only(const ledger::WalCeiling& wanted) const {
        Value seen = world->load(as_cell(wal_cell)), next;
        do {
            next = std::max(seen >> 8, tick_at(wanted.until)) << 8 | wanted.life_id;
        } while (!world->swap(as_cell(wal_cell), seen, next));
        return unpack(next);
    }
};

}  // namespace snowflake_ids::test
