// Beginning a life of the server, and floors: every slot is lifted above what earlier lives may have issued.
#include "ledger/life.hpp"

#include "ledger/clock.hpp"
#include "ledger/formats.hpp"

namespace snowflake_ids::ledger {

namespace {

void begin_at(Slot& slot, Floor floor) {
    const Format format = format_of(slot);
    if (has_time(format)) begin_slot(slot, tick_of(slot, floor), has_toggle(format));
}

}  // namespace

void apply_floor(const Ledger& ledger, Slot& slot) {
    apply_floor(*ledger.header, slot, [](Slot& s, Floor floor) {
        const Format format = format_of(s);
        if (has_time(format)) lift_unless_past(s, tick_of(s, floor), has_toggle(format), begin_slot<Slot>);
    });
}

void lift_floor(const Ledger& ledger, Floor floor) {
    lift_floor(*ledger.header, slot_count, slot_at(ledger), floor, begin_at);
}

CeilingResult begin_life(const CeilingPlace& place, const Ledger& ledger, std::uint64_t id, Floor at_least,
                         bool& began) {
    began = false;
    LockedCeilings file(place);
    CeilingResult r = file.open();
    if (r.error != CeilingError::none || has_begun(*ledger.header)) return r;
    const UnixTime now = wall_clock();
    ledger.header->life_began.store(now);
    ledger.header->lead.store(lead_of(at_least, now));
    const auto second = now > UnixTime{} ? static_cast<std::uint64_t>(number_of(std::chrono::floor<seconds>(now))) : 0;
    r = begin_locked_life(*ledger.header, slot_count, slot_at(ledger), begin_at, file, id, at_least, second);
    began = r.error == CeilingError::none;
    return r;
}

}  // namespace snowflake_ids::ledger
