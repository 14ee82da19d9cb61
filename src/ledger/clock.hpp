// The clocks that a claim reads. A ledger clock for a time line: see claim.hpp.
#pragma once

#include <ctime>

#include <cstdint>

#include "core/timeline.hpp"

namespace snowflake_ids::ledger {

inline std::int64_t clock_us(clockid_t id) {
    timespec t;
    clock_gettime(id, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1000000 + t.tv_nsec / 1000;
}

// Unix microseconds.
inline std::int64_t wall_us() { return clock_us(CLOCK_REALTIME); }

// For waits and for hold: PostgreSQL's own timeouts follow the wall clock, and the wall
// clock is just what may have jumped.
inline std::uint64_t monotonic_us() { return static_cast<std::uint64_t>(clock_us(CLOCK_MONOTONIC)); }

// `timeline()` as a function: where it is a constant the divisions below are
// multiplications.
template <class TimelineOf>
struct SystemClock {
    TimelineOf timeline;

    Result<std::uint64_t> tick() const { return timeline().floor_tick(wall_us()); }
    std::uint64_t monotonic_us() const { return ledger::monotonic_us(); }
    std::int64_t us_until(std::uint64_t t) const { return timeline().start_us(t) - wall_us(); }
    std::int64_t tick_us() const { return timeline().tick_us; }
};

template <class TimelineOf>
SystemClock(TimelineOf) -> SystemClock<TimelineOf>;

}  // namespace snowflake_ids::ledger
