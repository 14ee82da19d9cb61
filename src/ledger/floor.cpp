// Lifts slots to a floor, each in ticks of its own format.
#include "ledger/floor.hpp"

#include "ledger/formats.hpp"

namespace snowflake_ids::ledger {

void lift_and_begin(Slot& slot, Floor floor) {
    const Format format = format_of(slot);
    if (has_time(format)) begin_slot(slot, tick_of(slot, floor), has_toggle(format));
}

void apply_floor(const Ledger& ledger, Slot& slot) {
    apply_floor(*ledger.header, slot, [](Slot& s, Floor floor) {
        const Format format = format_of(s);
        if (has_time(format)) lift_unless_past(s, tick_of(s, floor), has_toggle(format), begin_slot<Slot>);
    });
}

void lift_floor(const Ledger& ledger, Floor floor) {
    lift_floor(*ledger.header, slot_count, slot_at(ledger), floor, lift_and_begin);
}

}  // namespace snowflake_ids::ledger
