// Begins a life of the server.
#include "ledger/life.hpp"

#include "ledger/clock.hpp"
#include "ledger/formats.hpp"
#include "ledger/settling.hpp"

namespace snowflake_ids::ledger {

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
    r = begin_locked_life(*ledger.header, slot_count, slot_at(ledger), lift_and_begin, file, id, at_least, second);
    began = r.error == CeilingError::none;
    if (began) begin_promise_clock(ledger);
    return r;
}

void begin_promise_clock(const Ledger& ledger) {
    const UnixTime now = wall_clock();
    const UnixTime most = now + ledger.header->lead.load();
    UnixTime from = now;
    const auto follow = [&](UnixTime t) {
        if (t <= most) from = std::max(from, t);
    };
    follow(ledger.header->floor.load());
    for (std::uint32_t i = 0; i < slot_count; i++) {
        const Slot& slot = ledger.slots[i];
        if (!has_time(format_of(slot))) continue;
        follow(timeline_of(slot).last(unpack(slot.word.load(), 0, has_toggle(format_of(slot))).tick));
    }
    lift_to(ledger.header->promise_base, promise_base_at(from + longest_tick, monotonic_clock()));
}

}  // namespace snowflake_ids::ledger
