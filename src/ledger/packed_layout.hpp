// A packed layout is what decides the ids of a 64-bit layout, in one word: all but its name and the width of its
// timestamp. Layouts that are equal when packed share a slot, in all databases, so none repeats an id of another.
//
//   bits 63-21  epoch, Unix milliseconds
//   bits 20-14  tick: a number from 1 to 127 ...
//   bits 13-11  ... times this power of ten, in microseconds
//   bits 10-6   node bits
//   bits 5-1    sequence bits
//   bit 0       the node is last
//
// One word, because a slot must get it at once (Slot::packed_layout).
#pragma once

#include <cstdint>

#include "core/layout.hpp"

namespace snowflake_ids::ledger {

// After a restart, ids may be a tick or two ahead of the clock, and a database's WAL ceiling then lifts all generators.
// So one layout with long ticks would take all of them far ahead.
inline constexpr microseconds max_packed_tick = seconds{1};

// Never 0. Errors: bad_tick (longer than max_packed_tick, or more than three digits), bad_epoch (before 1970, beyond
// the year 2248, or no whole millisecond).
constexpr Result<std::uint64_t> pack_layout(const Layout& l) {
    std::int64_t tick = l.timeline.tick_length.count();
    if (tick < 1 || l.timeline.tick_length > max_packed_tick) return Error::bad_tick;
    unsigned power = 0;
    for (; tick % 10 == 0; tick /= 10) power++;
    if (tick > 127) return Error::bad_tick;
    // First, because the comparison multiplies, and the earliest epoch would overflow.
    if (l.timeline.epoch < UnixTime{}) return Error::bad_epoch;
    const auto epoch = std::chrono::floor<milliseconds>(l.timeline.epoch);
    if (epoch != l.timeline.epoch || number_of(epoch) >> 43 != 0) return Error::bad_epoch;
    // Without bits, the order does not matter.
    const bool node_last = l.node_last && l.node_bits > 0 && l.sequence_bits > 0;
    return static_cast<std::uint64_t>(number_of(epoch)) << 21 | static_cast<std::uint64_t>(tick) << 14 | power << 11 |
           l.node_bits << 6 | l.sequence_bits << 1 | node_last;
}

// The layout, with the widest timestamp that a slot's word and int64 allow. A damaged word gives some layout too, with
// a positive tick.
constexpr Layout unpack_layout(std::uint64_t v) {
    std::int64_t tick = static_cast<std::int64_t>(v >> 14 & 0x7f);
    if (tick == 0) tick = 1;
    for (unsigned power = v >> 11 & 7; power > 0; power--) tick *= 10;
    unsigned bits = 47;
    while ((std::int64_t{1} << (61 - bits)) < tick) bits--;
    return {{Ceiling{milliseconds{v >> 21}}, microseconds{tick}, bits},
            static_cast<unsigned>(v >> 6 & 31),
            static_cast<unsigned>(v >> 1 & 31),
            (v & 1) != 0};
}

}  // namespace snowflake_ids::ledger
