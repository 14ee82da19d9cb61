// An operator resets generators after the ceiling file was lost, or after a jump of the clock has put a generator far
// ahead. The operator must name the floor. It cannot be computed, because the lost file was the only source.
#pragma once

#include <cstdint>

#include "ledger/ceiling_file.hpp"
#include "ledger/formats.hpp"
#include "ledger/memory.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

struct Reset {
    Floor floor{};           // nothing at or before this time is issued again
    Ceiling ceiling{};       // new ceiling of what is lowered: above the clock and the floor
    Kind kind = Kind::none;  // none: all generators
    int node = -1;           // -1: all nodes
    bool force = false;      // may put a generator back below ids it has issued
};

// A forced reset moves a slot to `tick`, back or forward. That tick is used up, and nothing below it is issued, in either toggle.
// `safe` is stored before the swap: stored after it, it could undo a lift by a regression in between.
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

// The steps of a forced reset, once `file` is locked. `change(c)` changes what the file will say otherwise;
// `move(slot, entry)` moves a slot back, if it is chosen, and sets its entry. Its ceiling must go down too, or the
// next life would lift the slot to it.
//
// First the published ceilings go down, then the revision goes up, then the file is written. After the revision no
// claim starts with an old limit. So no session ever relies on a ceiling above the one on disk, even if a step fails.
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

// The latest time of which the generators that the reset names may have issued ids. A floor must not be below it,
// unless the reset is forced.
Floor highest_issued(const Ledger& ledger, const Reset& reset);

// Applies the reset under the ceiling file's lock. Afterwards every backend sets its generators up again
// (Header::revision), also if the reset failed half-way.
CeilingResult apply_reset(const CeilingPlace& place, const Ledger& ledger, const Reset& reset);

}  // namespace snowflake_ids::ledger
