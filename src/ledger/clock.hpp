// The clocks that a claim reads. SystemClock, at the end, is the Clock of a claim (claim.hpp).
#pragma once

#include <ctime>

#include <cstdint>

#include "core/timeline.hpp"
#include "ledger/cycles.hpp"

namespace snowflake_ids::ledger {

// The time that a clock of the kernel showed, in whole microseconds. The nanoseconds are never negative.
template <class Time>
Time to_time(const timespec& t) {
    return Time{seconds{t.tv_sec} + std::chrono::duration_cast<microseconds>(nanoseconds{t.tv_nsec})};
}

// The time that this clock of the kernel shows now.
template <class Time>
Time read_clock(clockid_t id) {
    timespec t;
    clock_gettime(id, &t);
    return to_time<Time>(t);
}

// The time of day. It may go back.
inline UnixTime wall_clock() { return read_clock<UnixTime>(CLOCK_REALTIME); }

// The clock for waits, and for a generator that holds (claim.hpp). It never goes back. PostgreSQL's own timeouts follow
// the wall clock, which may have jumped.
inline MonotonicTime monotonic_clock() { return read_clock<MonotonicTime>(CLOCK_MONOTONIC); }

// The last tick that the clock showed, kept as a second and a part of that second. While the clock is inside that part,
// the tick is known without a division. While fewer than `counts` counts of the time counter (cycles.hpp) have passed
// since `from_count`, it is known without reading the clock. A memo belongs to one time line: clear it when the time
// line changes.
struct TickMemo {
    // Unsigned, so that a time before `from` gives a huge length, which is in no tick.
    using Length = std::chrono::duration<std::uint64_t, std::nano>;

    std::uint64_t tick = 0;
    std::uint64_t from_count = 0;
    std::uint64_t counts = 0;  // 0: read the clock
    seconds second{};
    nanoseconds from{};  // where the part begins in `second`
    Length length{};     // of the part; 0: nothing is known

    Length since_start(const timespec& t) const { return nanoseconds{t.tv_nsec} - from; }
};

// The tick at `t`, or 0 if `t` is outside the format. Stores what it found in `memo`.
[[gnu::noinline]] inline std::uint64_t find_tick(TickMemo& memo, const timespec& t, const Timeline& timeline) {
    memo.length = {};
    const Result<std::uint64_t> tick = timeline.floor_tick(to_time<UnixTime>(t));
    if (!tick) return 0;
    const seconds second{t.tv_sec};
    const microseconds from = timeline.start(tick.value) - UnixTime{second};
    // A tick that is not within one second is not stored, so it is looked up each time.
    if (from.count() >= 0 && from + timeline.tick_length <= seconds{1}) {
        memo.tick = tick.value;
        memo.second = second;
        memo.from = from;
        memo.length = TickMemo::Length{timeline.tick_length};
    }
    return tick.value;
}

// The tick at `t`, or 0 if `t` is outside the format. It comes from `memo` if `t` is still in the tick there.
inline std::uint64_t tick_at(TickMemo& memo, const timespec& t, const Timeline& timeline) {
    if (seconds{t.tv_sec} == memo.second && memo.since_start(t) < memo.length) [[likely]]
        return memo.tick;
    return find_tick(memo, t, timeline);
}

// Reads the clock and returns its tick, or 0 if the clock is outside the format. Stores in `memo` how many counts of
// the time counter (cycles.hpp) this tick surely still lasts.
[[gnu::noinline]] inline std::uint64_t read_tick(TickMemo& memo, const Timeline& timeline) {
    // The counter is read first, so its count is a little older than the clock's time. So the end of the tick is
    // expected too early, never too late.
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

// The clock's tick, or 0 if the clock is outside the format. If the clock is set, this function notices it within
// cycles::longest_ns.
inline std::uint64_t tick_now(TickMemo& memo, const Timeline& timeline) {
    if (memo.counts != 0 && cycles::now() - memo.from_count < memo.counts) return memo.tick;
    return read_tick(memo, timeline);
}

// The Clock of a claim (claim.hpp): the clocks of the kernel, in ticks of a format. `timeline` is a function, because
// where it returns a constant, the divisions become multiplications.
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
