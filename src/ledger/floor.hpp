// Floors: at or before them, nothing is issued any more.
#pragma once

#include <cstdint>

#include "ledger/claim.hpp"
#include "ledger/packed_state.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// Uses up `tick` and all earlier ones, in either toggle. Never moves the slot back. Returns its tick.
template <class S>
std::uint64_t lift_slot(S& slot, std::uint64_t tick, bool has_toggle) {
    if (tick > max_tick(has_toggle)) tick = max_tick(has_toggle);
    for (;;) {
        std::uint64_t word = slot.word.load();
        const State state = unpack(word, slot.safe.load(), has_toggle);
        // Without a toggle, a slot that is past the tick never returns to it. With one the word must change. Otherwise
        // a running claim that has read the old `safe` could still swap the word, and toggle to a tick below the floor.
        if (!has_toggle && state.tick > tick) return state.tick;
        State up = use_up_to(state, tick);
        // The tick is used up already, by a claim of number 65535 or by another floor. The word must change all the
        // same.
        if (up.tick == state.tick && up.next <= state.next) {
            up.next = state.next + 1;
            if (up.next > next_mask) up = use_up_to(state, state.tick + 1);
        }
        lift_to(slot.safe, up.safe);
        if (slot.word.compare_exchange_strong(word, pack(up, has_toggle))) return up.tick;
    }
}

// Calls lift_slot(), and sets `begun` if the slot moves forward.
template <class S>
void begin_slot(S& slot, std::uint64_t tick, bool has_toggle) {
    const std::uint64_t was = unpack(slot.word.load(), 0, has_toggle).tick;
    const std::uint64_t up = lift_slot(slot, tick, has_toggle);
    // Begun at time 0, so a generator that is ahead of the clock may take the next tick at once (claim.hpp, "Hold").
    if (up > was) slot.begun.store(detail::pack_begun(0, up));
}

template <class S, class Lift>
void lift_unless_past(S& slot, std::uint64_t tick, bool has_toggle, Lift lift) {
    if (unpack(slot.word.load(), 0, has_toggle).tick <= tick) lift(slot, tick, has_toggle);
}

// Writes the floor before it reads the keys of the slots. A creator writes the key (find_slot()) before it reads the
// floor (apply_floor()). So at least one sees what the other wrote. `lift(slot, floor)` ignores a free slot.
template <class H, class SlotAt, class Lift>
void lift_floor(H& header, std::uint32_t count, SlotAt slot, Floor floor, Lift lift) {
    lift_to(header.floor, floor);
    for (std::uint32_t i = 0; i < count; i++) lift(slot(i), floor);
}

template <class H, class S, class Lift>
void apply_floor(const H& header, S& slot, Lift lift) {
    if (const Floor floor = header.floor.load(); floor != Floor{}) lift(slot, floor);
}

// `formats` is SlotFormats (formats.hpp), or that of a test. These ignore a slot whose format has no time.
template <class Formats, class S>
void lift_to_floor(const Formats& formats, S& slot, Floor floor) {
    if (formats.has_time(slot)) formats.begin(slot, formats.tick_of(slot, floor), formats.has_toggle(slot));
}

template <class Formats, class S>
void lift_to_floor_if_behind(const Formats& formats, S& slot, Floor floor) {
    if (!formats.has_time(slot)) return;
    lift_unless_past(slot, formats.tick_of(slot, floor), formats.has_toggle(slot),
                     [&](S& s, std::uint64_t tick, bool has_toggle) { formats.begin(s, tick, has_toggle); });
}

}  // namespace snowflake_ids::ledger
