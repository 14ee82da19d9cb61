// How a format counts time: ticks of a fixed length since an epoch.
//
// All times are Unix time in microseconds (int64), because a PostgreSQL timestamp has microseconds. The widest format
// ends in the year 10945, which int64 holds easily. Ticks are floored, never rounded. Nothing goes through floating
// point: milliseconds as a double are wrong by several microseconds for far dates.
#pragma once

#include <cstdint>

#include "core/error.hpp"

namespace snowflake_ids {

struct Timeline {
    std::int64_t epoch_us;  // start of tick 0
    std::int64_t tick_us;   // length of a tick
    unsigned bits;          // width of the tick field

    constexpr bool operator==(const Timeline&) const = default;

    constexpr std::uint64_t max_tick() const { return (std::uint64_t{1} << bits) - 1; }

    // First microsecond of a tick. `tick` must be at most max_tick().
    constexpr std::int64_t start_us(std::uint64_t tick) const {
        return epoch_us + static_cast<std::int64_t>(tick) * tick_us;
    }

    // Last microsecond of a tick.
    constexpr std::int64_t last_us(std::uint64_t tick) const { return start_us(tick) + tick_us - 1; }

    // Last microsecond that the format can express (it belongs to the last tick).
    constexpr std::int64_t end_us() const { return last_us(max_tick()); }

    // The tick that contains `us`. Errors: time_before_epoch, time_after_end.
    constexpr Result<std::uint64_t> floor_tick(std::int64_t us) const {
        if (us < epoch_us) return Error::time_before_epoch;
        // The difference of two int64 with us >= epoch always fits uint64.
        const std::uint64_t tick = distance(us) / static_cast<std::uint64_t>(tick_us);
        if (tick > max_tick()) return Error::time_after_end;
        return tick;
    }

    // The first tick that starts at or after `us`: 0 for a time before the epoch, and max_tick() + 1 when every tick
    // starts earlier.
    constexpr std::uint64_t next_tick(std::int64_t us) const {
        if (us <= epoch_us) return 0;
        const std::uint64_t tick = (distance(us) - 1) / static_cast<std::uint64_t>(tick_us) + 1;
        return tick <= max_tick() ? tick : max_tick() + 1;
    }

    // The same. Error: time_after_end when every tick starts earlier.
    constexpr Result<std::uint64_t> ceil_tick(std::int64_t us) const {
        const std::uint64_t tick = next_tick(us);
        if (tick > max_tick()) return Error::time_after_end;
        return tick;
    }

    // The last tick that starts at or before `us`: the last tick for a time after the end.
    // Error: time_before_epoch when every tick starts later.
    constexpr Result<std::uint64_t> last_tick_at(std::int64_t us) const {
        const Result<std::uint64_t> tick = floor_tick(us);
        return tick.error == Error::time_after_end ? Result<std::uint64_t>(max_tick()) : tick;
    }

private:
    constexpr std::uint64_t distance(std::int64_t us) const {
        return static_cast<std::uint64_t>(us) - static_cast<std::uint64_t>(epoch_us);
    }
};

}  // namespace snowflake_ids
