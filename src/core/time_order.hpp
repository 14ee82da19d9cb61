// Ids and times in one order.
//
// Compared with an id, a time t counts as the smallest id whose tick begins at or after t: lower_bound(t). A time after
// the start of the last tick is above all ids. So ids and times have one total order, and "id >= t" is exactly "the
// time of the id is t or later". Times that count as the same id are equal here.
#pragma once

#include <cstdint>

#include "core/mastic.hpp"
#include "core/sno.hpp"

namespace snowflake_ids {

// tick_of() returns the tick of an id. begins_tick() is true if the id is the smallest one of its tick.
namespace sno {
constexpr std::uint64_t tick_of(const Id& id) { return load_be<5>(id.bytes) >> 1; }
constexpr bool begins_tick(const Id& id) {
    return ((load_be<8>(id.bytes) & 0x1ffffff) | load_be<2>(id.bytes + 8)) == 0;
}
}  // namespace sno

namespace mastic {
constexpr std::uint64_t tick_of(const Id& id) { return id.number >> layout.sequence_bits; }
constexpr bool begins_tick(const Id& id) { return (id.number & layout.max_sequence()) == 0; }
}  // namespace mastic

// The time line of a type of ids.
template <class Id>
inline constexpr Timeline timeline_of{};
template <>
inline constexpr Timeline timeline_of<sno::Id> = sno::timeline;
template <>
inline constexpr Timeline timeline_of<mastic::Id> = mastic::layout.timeline;

// A time that is compared with ids of the type Id, or with other such times.
template <class Id>
struct TimeAmong {
    UnixTime time;

    // The tick whose first id the time counts as. If the time is above all ids, it is one more than the last tick.
    constexpr std::uint64_t tick() const { return timeline_of<Id>.next_tick(time); }

    // Negative, zero, positive, as for two ids.
    friend constexpr int compare(const TimeAmong& a, const TimeAmong& b) {
        const std::uint64_t x = a.tick(), y = b.tick();
        return x < y ? -1 : x > y;
    }
    // This is called for each row of a table, so it mostly avoids the division that tick() needs.
    friend constexpr int compare(const Id& a, const TimeAmong& b) {
        if (time_of(a) < b.time) return -1;
        return begins_tick(a) && tick_of(a) == b.tick() ? 0 : 1;
    }
    friend constexpr int compare(const TimeAmong& a, const Id& b) { return -compare(b, a); }
};

}  // namespace snowflake_ids
