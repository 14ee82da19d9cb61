// Beginning a life of the server, and floors: every slot is raised above what earlier lives may have issued.
#include "ledger/life.hpp"

#include "ledger/clock.hpp"
#include "ledger/formats.hpp"

namespace snowflake_ids::ledger {

namespace {

void begin_at(Slot& slot, std::uint64_t ms) {
    const Format format = format_of(slot);
    if (has_time(format)) begin_slot(slot, tick_of(slot, ms), has_toggle(format));
}

}  // namespace

void apply_floor(const Ledger& ledger, Slot& slot) {
    apply_floor(*ledger.header, slot, [](Slot& s, std::uint64_t ms) {
        const Format format = format_of(s);
        if (has_time(format)) raise_unless_past(s, tick_of(s, ms), has_toggle(format), begin_slot<Slot>);
    });
}

void raise_floor(const Ledger& ledger, std::uint64_t ms) {
    raise_floor(*ledger.header, slot_count, slot_at(ledger), ms, begin_at);
}

CeilingResult begin_life(const CeilingPlace& place, const Ledger& ledger, std::uint64_t id, std::uint64_t at_least_ms,
                         bool& began) {
    began = false;
    LockedCeilings file(place);
    CeilingResult r = file.open();
    if (r.error != CeilingError::none || has_begun(*ledger.header)) return r;
    const std::int64_t now_us = wall_us();
    ledger.header->life_began.store(static_cast<std::uint64_t>(now_us));
    ledger.header->lead_us.store(static_cast<std::uint64_t>(lead_us(static_cast<std::int64_t>(at_least_ms), now_us)));
    const auto now_s = static_cast<std::uint64_t>(now_us > 0 ? now_us / 1000000 : 0);
    r = begin_locked_life(*ledger.header, slot_count, slot_at(ledger), begin_at, file, id, at_least_ms, now_s);
    began = r.error == CeilingError::none;
    return r;
}

}  // namespace snowflake_ids::ledger
