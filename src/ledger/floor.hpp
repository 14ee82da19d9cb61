// Floors: a slot, or all of them, is lifted so far that nothing at or before a time is issued any more.
#pragma once

#include <cstdint>

#include "ledger/claim.hpp"
#include "ledger/memory.hpp"
#include "ledger/slot.hpp"
#include "ledger/word.hpp"

namespace snowflake_ids::ledger {

// Lifts a slot, so that it issues nothing at or before `tick` any more, in either toggle. The slot never moves back.
// Returns the tick where it now is.
template <class S>
std::uint64_t lift_slot(S& slot, std::uint64_t tick, bool has_toggle) {
    // The word has no room for a later tick. A generator that gets to the last one has ended.
    if (tick > max_tick(has_toggle)) tick = max_tick(has_toggle);
    for (;;) {
        std::uint64_t word = slot.word.load();
        const State state = unpack(word, slot.safe.load(), has_toggle);
        // Without a toggle, a slot that is past the tick never comes back to it. With a toggle the word must change
        // even then: a claim may be running that has read the old `safe`.
        if (!has_toggle && state.tick > tick) return state.tick;
        State up = lift(state, tick);
        // The slot may be used up at this tick already, by a claim of number 65535 or by another floor. The word must
        // change all the same. So `next` gets one more, or the slot takes the next tick if `next` has no room.
        if (up.tick == state.tick && up.next <= state.next) {
            up.next = state.next + 1;
            if (up.next > next_mask) up = lift(state, state.tick + 1);
        }
        lift_to(slot.safe, up.safe);
        if (slot.word.compare_exchange_strong(word, pack(up, has_toggle))) return up.tick;
    }
}

// Like lift_slot(), for a slot that no claim has brought to `tick`. There are four such cases: a new life begins; this
// life uses a database for the first time, and the slot must be above the ceiling of the database; the slot is new; an
// operator repairs a ceiling in WAL.
template <class S>
void begin_slot(S& slot, std::uint64_t tick, bool has_toggle) {
    const std::uint64_t was = unpack(slot.word.load(), 0, has_toggle).tick;
    const std::uint64_t up = lift_slot(slot, tick, has_toggle);
    // Time 0 is noted as the beginning of this tick, because no claim has begun it. So a generator that is ahead of the
    // clock may take the next tick at once (claim.hpp, "Hold"), instead of after the length of a tick.
    if (up > was) slot.begun.store(detail::begun(0, up));
}

// Lifts the slot unless it is past the tick already. `lift` is begin_slot() or lift_slot().
template <class S, class Lift>
void lift_unless_past(S& slot, std::uint64_t tick, bool has_toggle, Lift lift) {
    if (unpack(slot.word.load(), 0, has_toggle).tick <= tick) lift(slot, tick, has_toggle);
}

// The steps of lift_floor() and apply_floor() below. `lift(slot, floor)` lifts a slot above the floor, if it has a
// generator. lift_floor() writes the floor before it reads the keys of the slots. A process that creates a slot writes
// the key (find_slot()) before it reads the floor (apply_floor()). So at least one of the two sees what the other
// wrote.
template <class H, class SlotAt, class Lift>
void lift_floor(H& header, std::uint32_t count, SlotAt slot, Floor floor, Lift lift) {
    lift_to(header.floor, floor);
    for (std::uint32_t i = 0; i < count; i++) lift(slot(i), floor);
}

template <class H, class S, class Lift>
void apply_floor(const H& header, S& slot, Lift lift) {
    if (const Floor floor = header.floor.load(); floor != Floor{}) lift(slot, floor);
}

// Lifts all slots, so that none issues anything at or before the floor any more. A slot that is created at the same
// time is lifted by its creator, which calls apply_floor(). Leases below the floor end only when the caller adds one to
// Header::revision.
void lift_floor(const Ledger& ledger, Floor floor);

// Lifts a slot above Header::floor, unless its tick is past the floor already. Each process calls it for a slot that it
// has created or found, before it uses the slot. A slot whose format has no time stays as it is.
void apply_floor(const Ledger& ledger, Slot& slot);

// Lifts a slot above the floor, as begin_slot() does. A slot whose format has no time stays as it is.
void lift_and_begin(Slot& slot, Floor floor);

}  // namespace snowflake_ids::ledger
