// Steps of the wall clock, counted for monitoring only, by snowflake_ids.status(), and by a claim if the clock is
// behind, or if it waits or lifts a ceiling. A step that is corrected in between may be missed.
//
// Header::clock_offset is how far the wall clock is ahead of the time since boot. Slewing and suspending change both,
// so it changes only when the wall clock is set.
#pragma once

#include "ledger/clock.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

// Smaller ones count when they add up to this.
inline constexpr microseconds least_clock_step = milliseconds{10};

struct BootClock {
    static UnixTime wall() { return wall_clock(); }
    // 0: in each attempt the process lost the processor between the clocks.
    static microseconds offset() {
#ifdef CLOCK_BOOTTIME
        constexpr clockid_t since_boot = CLOCK_BOOTTIME;
#else
        constexpr clockid_t since_boot = CLOCK_MONOTONIC;
#endif
        for (int attempt = 0; attempt < 3; attempt++) {
            const auto before = read_clock<MonotonicTime>(since_boot);
            const UnixTime wall = wall_clock();
            if (read_clock<MonotonicTime>(since_boot) - before < least_clock_step / 10)
                return wall.time_since_epoch() - before.time_since_epoch();
        }
        return {};
    }
};

// The first offset is no step. The header is loaded first: otherwise a step that another process counts in between
// would look like one in the other direction.
template <class Clock = BootClock, class H>
void note_clock_step(H& header, const Clock& clock = {}) {
    constexpr microseconds unknown{};
    microseconds seen = header.clock_offset.load();
    const microseconds offset = clock.offset(), step = offset - seen;
    const bool first = seen == unknown;
    if (offset == unknown || (!first && step > -least_clock_step && step < least_clock_step)) return;
    if (!header.clock_offset.compare_exchange_strong(seen, offset) || first) return;
    header.clock_step.store(step);
    header.clock_stepped.store(clock.wall());
    header.clock_steps.fetch_add(1);
}

}  // namespace snowflake_ids::ledger
