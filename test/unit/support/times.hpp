// Times to try bounds with, and the plain definition of a tick that the core must agree with.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "core/timeline.hpp"

namespace snowflake_ids::test {

using namespace std::chrono_literals;

using Wide = __int128;

constexpr UnixTime unix_us(std::int64_t us) { return UnixTime{microseconds{us}}; }
constexpr Ceiling unix_ms(std::int64_t ms) { return Ceiling{milliseconds{ms}}; }

constexpr Timeline timeline_us(std::int64_t epoch, std::int64_t tick_length, unsigned bits) {
    return {unix_us(epoch), microseconds{tick_length}, bits};
}

// In 128 bits, so that nothing overflows.
struct PlainTimeline {
    Wide epoch, length, count;

    explicit PlainTimeline(const Timeline& t)
        : epoch(number_of(t.epoch)), length(t.tick_length.count()), count(Wide{1} << t.bits) {}

    Wide start(Wide tick) const { return epoch + tick * length; }

    Wide containing(UnixTime t) const {
        const Wide d = number_of(t) - epoch;
        return d >= 0 ? d / length : -((-d + length - 1) / length);
    }

    std::optional<std::uint64_t> floor(UnixTime t) const { return inside(containing(t)); }

    std::optional<std::uint64_t> at_or_after(UnixTime t) const {
        Wide tick = containing(t);
        if (start(tick) < number_of(t)) tick++;
        return inside(tick < 0 ? 0 : tick);
    }

    std::optional<std::uint64_t> at_or_before(UnixTime t) const {
        const Wide tick = containing(t);
        return inside(tick >= count ? count - 1 : tick);
    }

private:
    std::optional<std::uint64_t> inside(Wide tick) const {
        if (tick < 0 || tick >= count) return std::nullopt;
        return static_cast<std::uint64_t>(tick);
    }
};

inline std::vector<UnixTime> interesting_times(const Timeline& t) {
    constexpr UnixTime lowest = UnixTime::min(), highest = UnixTime::max();
    std::vector<UnixTime> times = {lowest,         lowest + 1us, highest - 1us, highest,
                                   UnixTime{-1us}, UnixTime{},   UnixTime{1us}};
    const auto around = [&](UnixTime at) {
        for (const microseconds d : {-1us, 0us, 1us}) {
            for (const microseconds ticks : {-t.tick_length, 0us, t.tick_length}) times.push_back(at + ticks + d);
        }
    };
    around(t.epoch);
    around(t.start(t.max_tick()));
    around(t.end());
    for (unsigned bit = 0; bit < t.bits; bit++) around(t.start(std::uint64_t{1} << bit));
    std::mt19937_64 random(20260101);
    for (int i = 0; i < 2000; i++) around(t.start(random() & t.max_tick()));
    for (int i = 0; i < 2000; i++) times.push_back(unix_us(static_cast<std::int64_t>(random())));
    return times;
}

}  // namespace snowflake_ids::test
