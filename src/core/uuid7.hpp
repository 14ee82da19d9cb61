// UUID version 7: 16 bytes. The source is RFC 9562, section 5.7, and method 3 of its section 6.2 for the fraction.
//
//   byte  0-5           unix_ts_ms, milliseconds since 1970, 48 bits, big endian
//   byte  6, bits 7-4   version: 0111
//   byte  6-7, 12 bits  rand_a: how much of the millisecond has passed, in 4096ths, as in PostgreSQL 18's uuidv7().
//                       Other programs put random bits or a counter there, so no reader takes it for a time
//   byte  8, bits 7-6   variant: 10
//   byte  8-15, 62 bits rand_b: random
//
// The order is that of the 16 bytes, as for the type uuid: time, then the rest. But a value of that type can be any 16
// bytes. A uuid of another version or variant has no time, wherever it is in that order.
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

// Any 16 bytes, as in the type uuid.
struct Id {
    unsigned char bytes[binary_size];

    friend constexpr bool operator==(const Id& a, const Id& b) { return compare(a, b) == 0; }
    friend constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }

    // Negative, zero, positive, as memcmp on the bytes.
    friend constexpr int compare(const Id& a, const Id& b) {
        const std::uint64_t ah = load_be<8>(a.bytes), bh = load_be<8>(b.bytes);
        if (ah != bh) return ah < bh ? -1 : 1;
        const std::uint64_t al = load_be<8>(a.bytes + 8), bl = load_be<8>(b.bytes + 8);
        return al < bl ? -1 : al > bl;
    }
};

// True for a UUID of version 7 and the variant of RFC 9562.
constexpr bool is_valid(const Id& id) { return id.bytes[6] >> 4 == 7 && id.bytes[8] >> 6 == 2; }

struct Fields {
    std::uint64_t ms = 0;        // at most timeline.max_tick()
    std::uint64_t fraction = 0;  // at most max_fraction
    std::uint64_t random = 0;    // at most max_random
};

// The id with these fields, which must be in range.
constexpr Id compose(const Fields& f) {
    Id id{};
    store_be<8>(id.bytes, f.ms << 16 | std::uint64_t{7} << fraction_bits | f.fraction);
    store_be<8>(id.bytes + 8, std::uint64_t{2} << 62 | f.random);
    return id;
}

// The fields of an id, which must be valid.
constexpr Fields split(const Id& id) {
    return {load_be<6>(id.bytes), load_be<2>(id.bytes + 6) & max_fraction, load_be<8>(id.bytes + 8) & max_random};
}

// The time of an id, in whole milliseconds. The id must be valid.
constexpr UnixTime time_of(const Id& id) { return timeline.start(load_be<6>(id.bytes)); }

// Smallest id whose time is at or after `t`. Error: time_after_end (there is none).
constexpr Result<Id> lower_bound(UnixTime t) {
    const Result<std::uint64_t> tick = timeline.ceil_tick(t);
    if (!tick) return tick.error;
    return compose({tick.value, 0, 0});
}

// Largest id whose time is at or before `t`. Error: time_before_epoch (there is none).
constexpr Result<Id> upper_bound(UnixTime t) {
    const Result<std::uint64_t> tick = timeline.last_tick_at(t);
    if (!tick) return tick.error;
    return compose({tick.value, max_fraction, max_random});
}

// ---- generating

// Time and fraction as one number, in 4096ths of a millisecond: 244 ns.
using Moment = std::uint64_t;
inline constexpr Moment max_moment = timeline.max_tick() << fraction_bits | max_fraction;

// The moment of a time that is not before 1970: `whole` seconds and the `rest` of the time, as the clock has them, but
// unsigned. The result is above max_moment if the time is after the end.
template <class Period>
using Unsigned = std::chrono::duration<std::uint64_t, Period>;
constexpr Moment moment(Unsigned<std::ratio<1>> whole, Unsigned<std::nano> rest) {
    const auto ms = std::chrono::duration_cast<Unsigned<std::milli>>(rest);
    return (whole + ms).count() << fraction_bits |
           ((rest - ms).count() << fraction_bits) / Unsigned<std::nano>{milliseconds{1}}.count();
}

// The moment of the next id, from the moments of the last id and of the clock. No moment is used twice, so ids grow
// even if the clock stands still or goes back, or if ids are generated faster than it counts.
constexpr Moment next(Moment last, Moment clock) { return clock > last ? clock : last + 1; }

// The microsecond in which a moment lies.
constexpr UnixTime time_of(Moment moment) {
    const std::uint64_t part = (moment & max_fraction) * std::uint64_t{timeline.tick_length.count()} >> fraction_bits;
    return timeline.start(moment >> fraction_bits) + microseconds{part};
}

// The moment shifted by whole microseconds, so that it lies at the time `to`, give or take one unit. The shift is
// converted to units by itself (512/125 in a microsecond) and then added. So moments that are shifted by the same time
// stay different and in order. Errors: time_before_epoch, time_after_end.
constexpr Result<Moment> shifted(Moment moment, UnixTime to) {
    const Result<std::uint64_t> tick = timeline.floor_tick(to);
    if (!tick) return tick.error;
    const std::int64_t us = (to - time_of(moment)).count();
    return static_cast<Moment>(static_cast<std::int64_t>(moment) + us / 125 * 512 + us % 125 * 512 / 125);
}

// The id with this moment and 62 of these random bits.
constexpr Id make(Moment moment, std::uint64_t random) {
    return compose({moment >> fraction_bits, moment & max_fraction, random & max_random});
}

}  // namespace snowflake_ids::uuid7
