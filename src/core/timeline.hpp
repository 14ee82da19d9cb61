// The core: formats, and the step from one state of a generator to the next.
//
// A format counts time in ticks of a fixed length since an epoch, floored, never rounded. All times fit a UnixTime:
// Mastic ends in the year 10945, and check_layout() refuses others. No floating point, because milliseconds as a double
// are wrong by several microseconds for far dates.
//
// In all formats, compose() needs fields in range, and print() writes no terminator. lower_bound(t) is the smallest id
// at or after t (error: time_after_end), upper_bound(t) the largest at or before t (error: time_before_epoch).
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/time.hpp"

namespace snowflake_ids {

struct Timeline {
    UnixTime epoch;  // start of tick 0
    microseconds tick_length;
    unsigned bits;

    constexpr bool operator==(const Timeline&) const = default;

    constexpr std::uint64_t max_tick() const { return (std::uint64_t{1} << bits) - 1; }

    // `tick` is at most max_tick().
    constexpr UnixTime start(std::uint64_t tick) const { return epoch + static_cast<std::int64_t>(tick) * tick_length; }
    constexpr UnixTime last(std::uint64_t tick) const { return start(tick) + tick_length - microseconds{1}; }

    constexpr UnixTime end() const { return last(max_tick()); }

    // Errors: time_before_epoch, time_after_end.
    constexpr Result<std::uint64_t> floor_tick(UnixTime t) const {
        if (t < epoch) return Error::time_before_epoch;
        const std::uint64_t tick = distance(t) / length();
        if (tick > max_tick()) return Error::time_after_end;
        return tick;
    }

    // The first tick that starts at or after `t`; max_tick() + 1 if every tick starts earlier.
    constexpr std::uint64_t next_tick(UnixTime t) const {
        if (t <= epoch) return 0;
        const std::uint64_t tick = (distance(t) - 1) / length() + 1;
        return tick <= max_tick() ? tick : max_tick() + 1;
    }

    // The same, but if every tick starts earlier, the error time_after_end.
    constexpr Result<std::uint64_t> ceil_tick(UnixTime t) const {
        const std::uint64_t tick = next_tick(t);
        if (tick > max_tick()) return Error::time_after_end;
        return tick;
    }

    // The last tick that starts at or before `t`. Error: time_before_epoch.
    constexpr Result<std::uint64_t> last_tick_at(UnixTime t) const {
        const Result<std::uint64_t> tick = floor_tick(t);
        return tick.error == Error::time_after_end ? Result<std::uint64_t>(max_tick()) : tick;
    }

private:
    constexpr std::uint64_t length() const { return static_cast<std::uint64_t>(tick_length.count()); }
    // `t` is not before the epoch. Unsigned, so that any difference fits.
    constexpr std::uint64_t distance(UnixTime t) const {
        return static_cast<std::uint64_t>(number_of(t)) - static_cast<std::uint64_t>(number_of(epoch));
    }
};

}  // namespace snowflake_ids
