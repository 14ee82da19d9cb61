// An operator's reset: which generators it moves, and the steps.
#include "ledger/reset.hpp"

#include <algorithm>

#include "ledger/floor.hpp"
#include "ledger/formats.hpp"
#include "ledger/packed_state.hpp"

namespace snowflake_ids::ledger {

namespace {

bool is_chosen(const Reset& reset, const Slot& slot) {
    const Key key = Key::unpack(slot.key.load());
    return has_time(key.format) && (reset.format == SqlFormat::none || reset.format == sql_format_of(slot)) &&
           (reset.node < 0 || reset.node == key.node);
}

// If false, the floor of future slots is lifted too, because the operator may mean a generator without a slot.
bool names_one_generator(const Reset& reset) {
    return reset.format == SqlFormat::mastic ||
           (reset.node >= 0 && (reset.format == SqlFormat::sno || reset.format == SqlFormat::snowflake_si));
}

}  // namespace

Floor highest_issued(const Ledger& ledger, const Reset& reset) {
    Floor highest{};
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const Slot& slot = ledger.slots[i];
        if (!is_chosen(reset, slot)) continue;
        const bool toggled_format = has_toggle(format_of(slot));
        const State state = unpack(slot.word.load(), slot.safe.load(), toggled_format);
        const std::uint64_t tick = std::max(state.tick, state.safe);
        if (tick == 0) continue;
        // The start is enough, because a floor in the first millisecond of a tick uses up the whole tick. Rounding down
        // repeats no id, because without force the slot does not move back.
        highest = std::max(highest, std::chrono::floor<milliseconds>(timeline_of(slot).start(tick)));
    }
    return highest;
}

namespace {

CeilingResult apply_locked_reset(const Ledger& ledger, const Reset& reset, const LockedCeilings& file) {
    Header& header = *ledger.header;
    const auto at = slot_at(ledger);
    const bool all = reset.format == SqlFormat::none && reset.node < 0;
    bool found = false;
    for (std::uint32_t i = 0; i < slot_count; i++) found = found || is_chosen(reset, at(i));
    const bool lifts_floor = !(reset.force && all) && (!found || !names_one_generator(reset));

    const auto change = [&](Ceilings& c) {
        if (lifts_floor) {
            lift_to(header.reset_floor, reset.floor);
            lift_to(header.floor, reset.floor);
        } else if (reset.force && all) {
            // Before the slots, because one that is created during the reset must not begin above the old floor.
            header.reset_floor.store(reset.floor);
            header.floor.store(reset.floor);
        }
        c.floor = header.reset_floor.load();
    };
    const auto move = [&](Slot& slot, CeilingEntry& entry) {
        if (!is_chosen(reset, slot)) return;
        const bool toggled_format = has_toggle(format_of(slot));
        const std::uint64_t tick = SlotFormats::tick_of(slot, reset.floor);
        if (reset.force) {
            put_slot(slot, tick, toggled_format);
            slot.passed.store({});
            set_entry(entry, slot, reset.ceiling);
        } else {
            lift_slot(slot, tick, toggled_format);
            // The next life begins at the ceiling, so it may not be below the floor.
            if (entry.ceiling < reset.floor) set_entry(entry, slot, reset.floor);
        }
    };
    return run_locked_reset(header, slot_count, at, file, change, move);
}

}  // namespace

CeilingResult apply_reset(const CeilingPlace& place, const Ledger& ledger, const Reset& reset) {
    return with_ceilings(place, [&](const LockedCeilings& file) {
        const CeilingResult r = apply_locked_reset(ledger, reset, file);
        ledger.header->revision.fetch_add(1);
        return r;
    });
}

}  // namespace snowflake_ids::ledger
