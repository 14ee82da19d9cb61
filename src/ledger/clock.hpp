// The clocks. SystemClock is the Clock of claim.hpp.
#pragma once

#include <ctime>

#include <cstdint>

#include "core/timeline.hpp"

namespace snowflake_ids::ledger {

template <class Time>
Time read_clock(clockid_t id) {
    timespec t;
    clock_gettime(id, &t);
    // The nanoseconds are never negative.
    return Time{seconds{t.tv_sec} + std::chrono::duration_cast<microseconds>(nanoseconds{t.tv_nsec})};
}

inline UnixTime wall_clock() { return read_clock<UnixTime>(CLOCK_REALTIME); }

// For waits (PostgreSQL's own timeouts follow the wall clock, which may jump), and for a generator that holds
// (claim.hpp).
inline MonotonicTime monotonic_clock() { return read_clock<MonotonicTime>(CLOCK_MONOTONIC); }

// The tick that the clock shows; 0 for a time outside the format.
inline std::uint64_t tick_now(const Timeline& timeline) {
    const Result<std::uint64_t> tick = timeline.floor_tick(wall_clock());
    return tick ? tick.value : 0;
}

// `timeline` is a function: if it returns a constant, divisions become multiplications.
template <class TimelineOf>
struct SystemClock {
    TimelineOf timeline;

    Result<std::uint64_t> tick() const { return timeline().floor_tick(wall_clock()); }
    MonotonicTime monotonic() const { return monotonic_clock(); }
    microseconds until(std::uint64_t tick) const { return timeline().start(tick) - wall_clock(); }
    microseconds tick_length() const { return timeline().tick_length; }
};

template <class TimelineOf>
SystemClock(TimelineOf) -> SystemClock<TimelineOf>;

}  // namespace snowflake_ids::ledger
