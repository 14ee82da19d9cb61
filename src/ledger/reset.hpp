// An operator resets generators after the ceiling file was lost, or after a jump of the clock, and names the floor,
// because the lost file was its only source.
#pragma once

#include <cstdint>

#include "ledger/ceiling_file.hpp"
#include "ledger/formats.hpp"
#include "ledger/packed_state.hpp"
#include "ledger/shared_memory.hpp"

namespace snowflake_ids::ledger {

struct Reset {
    Floor floor{};
    Ceiling ceiling{};                   // of each generator that a forced reset moves: above the clock and the floor
    SqlFormat format = SqlFormat::none;  // none: all generators
    int node = -1;                       // -1: all nodes
    bool force = false;                  // may move a generator back
};

// Moves the slot back or forward. It then issues nothing at or below `tick`, in either toggle. `safe` is stored before
// the swap. Stored later, it could undo the lift of `safe` by a regression in between.
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

// Call it once `file` is locked. `change(c)` changes words of the header and of `c`, the content of the file.
// `move(slot, entry)` moves a chosen slot and sets its entry in `c`. If it moves it back, it must lower the entry's
// ceiling too, or the next life would lift the slot to it. Errors: those of read_for_life() and write().
//
// First the published ceilings go down, then the revision goes up, then the file is written. So no session relies on a
// ceiling above the one on disk, even if a step fails.
template <class H, class SlotAt, class File, class Change, class Move>
CeilingResult run_locked_reset(H& header, std::uint32_t count, SlotAt slot, const File& file, Change change,
                               Move move) {
    typename File::Content c;
    CeilingResult r = read_for_life(header, count, slot, file, c);
    if (r.error != CeilingError::none) return r;
    change(c);
    for (std::uint32_t i = 0; i < count; i++) {
        auto& s = slot(i);
        move(s, c.entries[i]);
        if (s.ceiling.load() > c.entries[i].ceiling) s.ceiling.store(c.entries[i].ceiling);
    }
    header.revision.fetch_add(1);
    r = file.write(c);
    for (std::uint32_t i = 0; i < count && r.error == CeilingError::none; i++)
        lift_to(slot(i).ceiling, c.entries[i].ceiling);
    return r;
}

// The latest time of the chosen generators, or 0. The floor of a reset without force must not be below it.
Floor highest_issued(const Ledger& ledger, const Reset& reset);

// Every backend then sets its generators up again (Header::revision), also after a reset that failed half-way. Errors:
// those of open(), which changes nothing, and run_locked_reset().
CeilingResult apply_reset(const CeilingPlace& place, const Ledger& ledger, const Reset& reset);

}  // namespace snowflake_ids::ledger
