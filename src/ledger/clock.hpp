// The clocks. SystemClock is the Clock of claim.hpp.
#pragma once

#include <ctime>

#include <cstdint>

#include "core/timeline.hpp"
#include "ledger/cycles.hpp"

namespace snowflake_ids::ledger {

// The nanoseconds are never negative.
template <class Time>
Time to_time(const timespec& t) {
    return Time{seconds{t.tv_sec} + std::chrono::duration_cast<microseconds>(nanoseconds{t.tv_nsec})};
}

template <class Time>
Time read_clock(clockid_t id) {
    timespec t;
    clock_gettime(id, &t);
    return to_time<Time>(t);
}

inline UnixTime wall_clock() { return read_clock<UnixTime>(CLOCK_REALTIME); }

// For waits (PostgreSQL's own timeouts follow the wall clock, which may jump), and for a generator that holds
// (claim.hpp).
inline MonotonicTime monotonic_clock() { return read_clock<MonotonicTime>(CLOCK_MONOTONIC); }

// The last tick that the clock showed, as a part of a second, so that no division is needed. For `counts` counts of the
// time counter (cycles.hpp) after `from_count`, no clock is read. Clear it when the time line changes.
struct TickMemo {
    // Unsigned: a time before `from` is huge.
    using Length = std::chrono::duration<std::uint64_t, std::nano>;

    std::uint64_t tick = 0;
    std::uint64_t from_count = 0;
    std::uint64_t counts = 0;  // 0: read the clock
    seconds second{};
    nanoseconds from{};  // in `second`
    Length length{};     // 0: unknown

    Length since_start(const timespec& t) const { return nanoseconds{t.tv_nsec} - from; }
};

// These return 0 for a time outside the format.

[[gnu::noinline]] inline std::uint64_t find_tick(TickMemo& memo, const timespec& t, const Timeline& timeline) {
    memo.length = {};
    const Result<std::uint64_t> tick = timeline.floor_tick(to_time<UnixTime>(t));
    if (!tick) return 0;
    const seconds second{t.tv_sec};
    const microseconds from = timeline.start(tick.value) - UnixTime{second};
    // A tick across two seconds is looked up each time.
    if (from.count() >= 0 && from + timeline.tick_length <= seconds{1}) {
        memo.tick = tick.value;
        memo.second = second;
        memo.from = from;
        memo.length = TickMemo::Length{timeline.tick_length};
    }
    return tick.value;
}

inline std::uint64_t tick_at(TickMemo& memo, const timespec& t, const Timeline& timeline) {
    if (seconds{t.tv_sec} == memo.second && memo.since_start(t) < memo.length) [[likely]]
        return memo.tick;
    return find_tick(memo, t, timeline);
}

[[gnu::noinline]] inline std::uint64_t read_tick(TickMemo& memo, const Timeline& timeline) {
    // Before the time, so the end of the tick is expected too early, never too late.
    const std::uint64_t count = cycles::now();
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const std::uint64_t tick = tick_at(memo, t, timeline);
    memo.from_count = count;
    memo.counts = 0;
    if (cycles::available && memo.length.count() != 0)
        memo.counts = cycles::surely_within((memo.length - memo.since_start(t)).count(), count);
    return tick;
}

inline std::uint64_t tick_now(TickMemo& memo, const Timeline& timeline) {
    if (memo.counts != 0 && cycles::now() - memo.from_count < memo.counts) return memo.tick;
    return read_tick(memo, timeline);
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
