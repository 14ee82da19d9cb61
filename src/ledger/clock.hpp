// The clocks that a claim reads. SystemClock, at the end, is the Clock of a claim (claim.hpp).
#pragma once

#include <ctime>

#include <cstdint>

#include "core/timeline.hpp"
#include "ledger/cycles.hpp"

namespace snowflake_ids::ledger {

inline std::int64_t clock_us(clockid_t id) {
    timespec t;
    clock_gettime(id, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1000000 + t.tv_nsec / 1000;
}

// Unix microseconds.
inline std::int64_t wall_us() { return clock_us(CLOCK_REALTIME); }

// For waits and for hold. PostgreSQL's own timeouts follow the wall clock, and the wall clock may have jumped.
inline std::uint64_t monotonic_us() { return static_cast<std::uint64_t>(clock_us(CLOCK_MONOTONIC)); }

// The last tick that the clock showed, kept as a second and a part of that second. While the clock is inside that
// part, the tick is known without a division. While fewer than `counts` counts of the time counter have passed, it is
// known without reading the clock. A memo is for one time line only: clear it when the time line changes.
struct TickMemo {
    std::uint64_t tick = 0;
    std::uint64_t from_count = 0;
    std::uint64_t counts = 0;  // see cycles.hpp; 0: read the clock
    std::int64_t second = 0;
    std::int64_t from_ns = 0;
    std::uint64_t length_ns = 0;  // 0: nothing is known
};

// As tick_at(), and stores what it found in `memo`.
[[gnu::noinline]] inline std::uint64_t find_tick(TickMemo& memo, const timespec& t, const Timeline& timeline) {
    memo.length_ns = 0;
    const Result<std::uint64_t> tick =
        timeline.floor_tick(static_cast<std::int64_t>(t.tv_sec) * 1000000 + t.tv_nsec / 1000);
    if (!tick) return 0;
    const std::int64_t start_us = timeline.start_us(tick.value) - static_cast<std::int64_t>(t.tv_sec) * 1000000;
    // A tick that is not within one second is not stored: it is looked up each time.
    if (start_us >= 0 && start_us + timeline.tick_us <= 1000000) {
        memo.tick = tick.value;
        memo.second = t.tv_sec;
        memo.from_ns = start_us * 1000;
        memo.length_ns = static_cast<std::uint64_t>(timeline.tick_us) * 1000;
    }
    return tick.value;
}

// The tick at `t`, 0 if it is outside the format.
inline std::uint64_t tick_at(TickMemo& memo, const timespec& t, const Timeline& timeline) {
    if (t.tv_sec == memo.second && static_cast<std::uint64_t>(t.tv_nsec - memo.from_ns) < memo.length_ns) [[likely]]
        return memo.tick;
    return find_tick(memo, t, timeline);
}

// Reads the clock and returns its tick, or 0 if the clock is outside the format. Stores in `memo` for how many counts
// of the time counter (cycles.hpp) this tick surely lasts.
[[gnu::noinline]] inline std::uint64_t ask_clock(TickMemo& memo, const Timeline& timeline) {
    // The count first: it is a little older than the clock's time, so the tick's end is taken to come early, never
    // late.
    const std::uint64_t count = cycles::now();
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const std::uint64_t tick = tick_at(memo, t, timeline);
    memo.from_count = count;
    memo.counts = 0;
    if (cycles::available && memo.length_ns != 0) {
        const auto gone_ns = static_cast<std::uint64_t>(t.tv_nsec - memo.from_ns);
        memo.counts = cycles::surely_within(memo.length_ns - gone_ns, count);
    }
    return tick;
}

// The clock's tick, 0 if it is outside the format. A step of the clock is noticed within cycles::longest_ns.
inline std::uint64_t tick_now(TickMemo& memo, const Timeline& timeline) {
    if (memo.counts != 0 && cycles::now() - memo.from_count < memo.counts) return memo.tick;
    return ask_clock(memo, timeline);
}

// `timeline` is a function: where it returns a constant, the divisions below become multiplications.
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
