// The core has the formats, and the step from one state of a generator to the next. Its functions are pure: they turn
// numbers, texts and bytes into ids, fields and states. They use no clock, no memory and nothing of PostgreSQL, and
// errors are values. Read next: sno.hpp (a format), step.hpp (the step).
//
// This file shows how a format counts time, which is in ticks of a fixed length since an epoch.
//
// A tick is a number here, because its length is data. So this is where ticks and times are converted. All times fit a
// UnixTime: Mastic ends in the year 10945, and check_layout() refuses a layout whose times do not fit. Ticks are
// floored, never rounded. Nothing goes through floating point, because milliseconds as a double are wrong by several
// microseconds for far dates.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/time.hpp"

namespace snowflake_ids {

struct Timeline {
    UnixTime epoch;  // start of tick 0
    microseconds tick_length;
    unsigned bits;  // width of the tick field

    constexpr bool operator==(const Timeline&) const = default;

    constexpr std::uint64_t max_tick() const { return (std::uint64_t{1} << bits) - 1; }

    // First microsecond of a tick. `tick` must be at most max_tick().
    constexpr UnixTime start(std::uint64_t tick) const { return epoch + static_cast<std::int64_t>(tick) * tick_length; }

    // Last microsecond of a tick. `tick` must be at most max_tick().
    constexpr UnixTime last(std::uint64_t tick) const { return start(tick) + tick_length - microseconds{1}; }

    // Last microsecond that the format can express (it belongs to the last tick).
    constexpr UnixTime end() const { return last(max_tick()); }

    // The tick that contains `t`. Errors: time_before_epoch, time_after_end.
    constexpr Result<std::uint64_t> floor_tick(UnixTime t) const {
        if (t < epoch) return Error::time_before_epoch;
        const std::uint64_t tick = distance(t) / length();
        if (tick > max_tick()) return Error::time_after_end;
        return tick;
    }

    // The first tick that starts at or after `t`. It is 0 for a time before the epoch, and max_tick() + 1 when every
    // tick starts earlier.
    constexpr std::uint64_t next_tick(UnixTime t) const {
        if (t <= epoch) return 0;
        const std::uint64_t tick = (distance(t) - 1) / length() + 1;
        return tick <= max_tick() ? tick : max_tick() + 1;
    }

    // The first tick that starts at or after `t`. Error: time_after_end when every tick starts earlier.
    constexpr Result<std::uint64_t> ceil_tick(UnixTime t) const {
        const std::uint64_t tick = next_tick(t);
        if (tick > max_tick()) return Error::time_after_end;
        return tick;
    }

    // The last tick that starts at or before `t`. It is the last tick of all for a time after the end. Error:
    // time_before_epoch when every tick starts later.
    constexpr Result<std::uint64_t> last_tick_at(UnixTime t) const {
        const Result<std::uint64_t> tick = floor_tick(t);
        return tick.error == Error::time_after_end ? Result<std::uint64_t>(max_tick()) : tick;
    }

private:
    constexpr std::uint64_t length() const { return static_cast<std::uint64_t>(tick_length.count()); }
    // The microseconds from the epoch to `t`, which is not before it. They are unsigned, because then the difference of
    // any two int64 fits.
    constexpr std::uint64_t distance(UnixTime t) const {
        return static_cast<std::uint64_t>(number_of(t)) - static_cast<std::uint64_t>(number_of(epoch));
    }
};

}  // namespace snowflake_ids
