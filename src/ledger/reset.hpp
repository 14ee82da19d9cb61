// Reset: what an operator does about a damaged ledger, a frozen Snowflake-SI layout, or a generator that a clock jump
// has put far ahead. The operator must name the floor. It cannot be computed, because the files in doubt are the only
// source.
#pragma once

#include <cstdint>

#include "ledger/ceiling.hpp"
#include "ledger/file.hpp"
#include "ledger/formats.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

struct Reset {
    std::uint64_t floor_ms = 0;    // nothing at or before this time is issued again
    std::uint64_t ceiling_ms = 0;  // new ceiling of what is lowered: above the clock and the floor
    Kind kind = Kind::none;        // none: all generators
    int node = -1;                 // -1: all nodes
    bool force = false;            // may put a generator back below ids it has issued
    bool unfreeze = false;         // forget the Snowflake-SI layout
    bool sync = true;
};

// Moves a slot to `tick`, back or forward. That tick is used up, and nothing below it is issued, in either toggle.
// `safe` is stored before the swap: stored after it, it could undo a raise by a regression in between.
template <class S>
void put_slot(S& slot, std::uint64_t tick, bool toggled_format) {
    if (tick > max_tick(toggled_format)) tick = max_tick(toggled_format);
    slot.safe.store(tick);
    std::uint64_t word = slot.word.load();
    State state;
    do {
        state = unpack(word, 0, toggled_format);
        state.tick = tick;
        state.next = used_up;
    } while (!slot.word.compare_exchange_weak(word, pack(state, toggled_format)));
}

// The steps of a forced reset, once `file` is locked. `put_back(slot, ms)` moves a chosen slot back and sets `ms`, its
// new ceiling in the file. The ceiling must go down too, or the next life would raise the slot to it.
//
// First the published ceilings go down, then the epoch goes up, then the file is written. After the epoch no draw
// starts with an old limit. So no session ever relies on a ceiling above the one on disk, even if a step fails.
template <class H, class File, class SlotAt, class PutBack>
CeilingResult force_locked(H& header, std::uint32_t count, SlotAt slot, PutBack put_back, const File& file, bool sync) {
    typename File::Ceilings ms;
    CeilingResult r = file.read(ms);
    if (r.error != CeilingError::none) return r;
    for (std::uint32_t i = 0; i < count; i++) {
        auto& s = slot(i);
        put_back(s, ms[i]);
        if (s.ceiling.load() > ms[i]) s.ceiling.store(ms[i]);
    }
    header.epoch.fetch_add(1);
    r = file.write_all(ms, sync);
    for (std::uint32_t i = 0; i < count && r.error == CeilingError::none; i++) raise_to(slot(i).ceiling, ms[i]);
    return r;
}

// The latest time in Unix ms of which a chosen generator may have issued ids. A floor must not be below it unless
// forced.
std::uint64_t highest_issued_ms(const Ledger& ledger, const Reset& reset);

// The highest ceiling of all slots: no generator has issued an id of that time or later, nor may it now.
std::uint64_t highest_ceiling_ms(const Ledger& ledger);

// Applies the reset under the ceiling file's lock. Afterwards every backend sets its generators up again
// (Header::epoch), also if the reset failed half-way.
CeilingResult apply(const char* dir, unsigned mode, const Ledger& ledger, const Reset& reset);

// Makes a damaged ledger file usable again, in place, because other processes may have it mapped:
//   - slots with a possible key are kept and raised to the floor, the others are freed;
//   - the constants are written again;
//   - damaged entries of the ceiling file become the floor.
// `sync`: as the server's fsync setting.
Attached repair(const char* dir, const char* name, unsigned mode, std::uint64_t system_identifier,
                std::uint64_t floor_ms, bool sync);

// Repairs the ceiling file alone, when check_ceilings() says that it is damaged.
CeilingResult check_ceilings(const char* dir, unsigned mode, const Ledger& ledger, bool sync);
CeilingResult repair_ceilings(const char* dir, unsigned mode, const Ledger& ledger, std::uint64_t floor_ms, bool sync);

}  // namespace snowflake_ids::ledger
