// Ids and times in one total order: a time t counts as lower_bound(t), and after the start of the last tick, as above
// all ids. So "id >= t" is exactly "the time of the id is t or later". Times that count as the same id are equal.
#pragma once

#include <cstdint>

#include "core/mastic.hpp"
#include "core/sno.hpp"

namespace snowflake_ids {

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

template <class Id>
inline constexpr Timeline timeline_of{};
template <>
inline constexpr Timeline timeline_of<sno::Id> = sno::timeline;
template <>
inline constexpr Timeline timeline_of<mastic::Id> = mastic::layout.timeline;

template <class Id>
struct TimeAmong {
    UnixTime time;

    constexpr std::uint64_t next_tick() const { return timeline_of<Id>.next_tick(time); }

    friend constexpr int compare(const TimeAmong& a, const TimeAmong& b) {
        const std::uint64_t x = a.next_tick(), y = b.next_tick();
        return x < y ? -1 : x > y;
    }
    // 0 if `a` is the first id of b.next_tick(). Called for each row, so it mostly avoids the division in next_tick().
    friend constexpr int compare(const Id& a, const TimeAmong& b) {
        if (time_of(a) < b.time) return -1;
        return begins_tick(a) && tick_of(a) == b.next_tick() ? 0 : 1;
    }
    friend constexpr int compare(const TimeAmong& a, const Id& b) { return -compare(b, a); }
};

}  // namespace snowflake_ids
