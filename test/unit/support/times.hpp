// Times to try bounds with, and the plain definition of a tick that the core must agree with.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "core/timeline.hpp"

namespace snowflake_ids::test {

using Wide = __int128;

// The plain definition, in 128 bits so that nothing can overflow.
struct PlainTimeline {
    Wide epoch, length, count;

    explicit PlainTimeline(const Timeline& t) : epoch(t.epoch_us), length(t.tick_us), count(Wide{1} << t.bits) {}

    Wide start(Wide tick) const { return epoch + tick * length; }

    // The tick that contains `us`, which may be outside the format.
    Wide containing(std::int64_t us) const {
        const Wide d = us - epoch;
        return d >= 0 ? d / length : -((-d + length - 1) / length);
    }

    std::optional<std::uint64_t> floor(std::int64_t us) const { return inside(containing(us)); }

    // Smallest tick that starts at or after `us`.
    std::optional<std::uint64_t> at_or_after(std::int64_t us) const {
        Wide tick = containing(us);
        if (start(tick) < us) tick++;
        return inside(tick < 0 ? 0 : tick);
    }

    // Largest tick that starts at or before `us`.
    std::optional<std::uint64_t> at_or_before(std::int64_t us) const {
        const Wide tick = containing(us);
        return inside(tick >= count ? count - 1 : tick);
    }

private:
    std::optional<std::uint64_t> inside(Wide tick) const {
        if (tick < 0 || tick >= count) return std::nullopt;
        return static_cast<std::uint64_t>(tick);
    }
};

// The extremes, the epoch, the end, and tick edges everywhere between, each one
// microsecond and one tick to either side.
inline std::vector<std::int64_t> interesting_times(const Timeline& t) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> times = {lowest, lowest + 1, highest - 1, highest, -1, 0, 1};
    const auto around = [&](std::int64_t us) {
        for (const std::int64_t d : {-t.tick_us - 1, -t.tick_us, -t.tick_us + 1, std::int64_t{-1}, std::int64_t{0},
                                     std::int64_t{1}, t.tick_us - 1, t.tick_us, t.tick_us + 1})
            times.push_back(us + d);
    };
    around(t.epoch_us);
    around(t.start_us(t.max_tick()));
    around(t.end_us());
    for (unsigned bit = 0; bit < t.bits; bit++) around(t.start_us(std::uint64_t{1} << bit));
    std::mt19937_64 random(20260101);
    for (int i = 0; i < 2000; i++) around(t.start_us(random() & t.max_tick()));
    for (int i = 0; i < 2000; i++) times.push_back(static_cast<std::int64_t>(random()));
    return times;
}

}  // namespace snowflake_ids::test
