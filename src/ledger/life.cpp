// Beginning a life of the server, and floors: every slot is raised above what earlier lives may have issued.
#include "ledger/life.hpp"

#include <algorithm>

#include "ledger/clock.hpp"
#include "ledger/formats.hpp"

namespace snowflake_ids::ledger {

namespace {

// The slot's time line, and the clock on it. `most_us`: for begin_slot().
struct Begin {
    Timeline timeline;
    std::int64_t most_us = longest_lead_us;

    std::uint64_t tick(std::uint64_t ms) const { return clamped_tick(timeline, static_cast<std::int64_t>(ms) * 1000); }
    void operator()(Slot& slot, std::uint64_t tick, bool toggle) const {
        const auto most = static_cast<std::uint64_t>(most_us / timeline.tick_us);
        begin_slot(slot, tick, toggle, clamped_tick(timeline, wall_us()), most);
    }
};

}  // namespace

void apply_floor(const Ledger& ledger, Slot& slot) {
    apply_floor(*ledger.header, slot, [](Slot& s, std::uint64_t ms) {
        const Format format = format_of(s);
        if (!has_time(format)) return;
        const Begin begin{timeline_of(s)};
        apply_floor(s, begin.tick(ms), has_toggle(format), begin);
    });
}

void raise_floor(const Ledger& ledger, std::uint64_t ms) {
    raise_floor(*ledger.header, slot_count, slot_at(ledger), ms, [](Slot& s, std::uint64_t floor_ms) {
        const Format format = format_of(s);
        if (!has_time(format)) return;
        const Begin begin{timeline_of(s)};
        begin(s, begin.tick(floor_ms), has_toggle(format));
    });
}

CeilingResult begin_life(const CeilingPlace& place, const Ledger& ledger, std::uint64_t id, std::uint64_t at_least_ms,
                         bool& began) {
    began = false;
    LockedCeilings file(place);
    CeilingResult r = file.open();
    if (r.error != CeilingError::none || has_begun(*ledger.header)) return r;
    Ceilings before;
    r = file.read(before);
    if (r.error != CeilingError::none) return r;
    const std::int64_t now_us = wall_us();
    const auto resume = [&](Slot& slot, std::uint64_t ms) {
        const Format format = format_of(slot);
        if (!has_time(format)) return;
        const std::int64_t lead_us =
            begin_lead_us(static_cast<std::int64_t>(ms), static_cast<std::int64_t>(at_least_ms),
                          static_cast<std::int64_t>(std::min(before.clock_ms, max_ceiling_ms)), now_us);
        const Begin begin{timeline_of(slot), lead_us};
        begin(slot, begin.tick(ms), has_toggle(format));
    };
    const auto at = slot_at(ledger);
    ledger.header->life_began.store(static_cast<std::uint64_t>(now_us));
    const auto now_s = static_cast<std::uint64_t>(now_us > 0 ? now_us / 1000000 : 0);
    r = begin_locked_life(*ledger.header, slot_count, at, resume, file, id, at_least_ms, now_s);
    began = r.error == CeilingError::none;
    return r;
}

}  // namespace snowflake_ids::ledger
