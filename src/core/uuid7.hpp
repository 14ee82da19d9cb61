// UUID version 7: 16 bytes. Source: RFC 9562, section 5.7, and method 3 of its section 6.2 for the fraction.
//
//   byte  0-5           unix_ts_ms, milliseconds since 1970, 48 bits, big endian
//   byte  6, bits 7-4   version: 0111
//   byte  6-7, 12 bits  rand_a: how much of the millisecond has passed, in 4096ths, as in PostgreSQL 18's uuidv7().
//                       Other programs put other bits there, so no reader takes it for a time
//   byte  8, bits 7-6   variant: 10
//   byte  8-15, 62 bits rand_b: random
//
// Order: that of the bytes. A uuid of another version or variant has no time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bytes.hpp"
#include "core/error.hpp"
#include "core/timeline.hpp"

namespace snowflake_ids::uuid7 {

inline constexpr std::size_t binary_size = 16;
inline constexpr unsigned fraction_bits = 12;
inline constexpr std::uint64_t max_fraction = (std::uint64_t{1} << fraction_bits) - 1;
inline constexpr std::uint64_t max_random = (std::uint64_t{1} << 62) - 1;

// 1970-01-01T00:00:00Z to 10889-08-02T05:31:50.655999Z.
inline constexpr Timeline timeline{UnixTime{}, milliseconds{1}, 48};

struct Id {
    unsigned char bytes[binary_size];
};

constexpr bool is_valid(const Id& id) { return id.bytes[6] >> 4 == 7 && id.bytes[8] >> 6 == 2; }

// A time in 4096ths of a millisecond (244 ns): the milliseconds and the fraction.
using Moment = std::uint64_t;
inline constexpr Moment max_moment = timeline.max_tick() << fraction_bits | max_fraction;

constexpr Id make(Moment moment, std::uint64_t random) {
    Id id{};
    store_be<8>(id.bytes, moment >> fraction_bits << 16 | std::uint64_t{7} << fraction_bits | (moment & max_fraction));
    store_be<8>(id.bytes + 8, std::uint64_t{2} << 62 | (random & max_random));
    return id;
}

// The id must be valid.
constexpr UnixTime time_of(const Id& id) { return timeline.start(load_be<6>(id.bytes)); }

constexpr Result<Id> lower_bound(UnixTime t) {
    const Result<std::uint64_t> tick = timeline.ceil_tick(t);
    if (!tick) return tick.error;
    return make(tick.value << fraction_bits, 0);
}

constexpr Result<Id> upper_bound(UnixTime t) {
    const Result<std::uint64_t> tick = timeline.last_tick_at(t);
    if (!tick) return tick.error;
    return make(tick.value << fraction_bits | max_fraction, max_random);
}

// ---- generating

// Above max_moment if the time is after the end. `rest` is less than a second.
constexpr Moment moment(seconds whole, nanoseconds rest) {
    constexpr std::uint64_t ns_in_ms = 1'000'000;
    const auto s = static_cast<std::uint64_t>(whole.count()), ns = static_cast<std::uint64_t>(rest.count());
    return (s * 1000 + ns / ns_in_ms) << fraction_bits | (ns % ns_in_ms << fraction_bits) / ns_in_ms;
}

// No moment is used twice, so ids grow even if the clock stands still or goes back.
constexpr Moment next(Moment last, Moment clock) { return clock > last ? clock : last + 1; }

}  // namespace snowflake_ids::uuid7
