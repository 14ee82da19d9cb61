// The numbering of a 64-bit layout: what two ids of one node must differ in, or be the same. Layouts with the same
// epoch, tick and fields share one slot, whatever their names and databases are, and however wide their timestamps are.
// Mastic and Snowflake-SI are layouts like any other.
//
//   bits 63-21  epoch, Unix milliseconds
//   bits 20-14  tick: a number from 1 to 127 ...
//   bits 13-11  ... times this power of ten, in microseconds
//   bits 10-6   node bits
//   bits 5-1    sequence bits
//   bit 0       the node is last
//
// One word, for a slot must say all of it at once: see Slot::numbering.
#pragma once

#include <cstdint>

#include "core/layout.hpp"

namespace snowflake_ids::ledger {

// The longest tick of a shared generator. After a restart ids may be ahead of the clock by a tick or two, and the
// ceiling of a database moves all generators of the server.
inline constexpr std::int64_t max_numbering_tick_us = 1000000;

// Never 0. Errors: bad_tick (longer than max_numbering_tick_us, or more than three digits), bad_epoch (before 1970,
// beyond the year 2248, or no whole millisecond).
constexpr Result<std::uint64_t> pack_numbering(const Layout& l) {
    std::int64_t tick = l.timeline.tick_us;
    if (tick < 1 || tick > max_numbering_tick_us) return Error::bad_tick;
    unsigned power = 0;
    for (; tick % 10 == 0; tick /= 10) power++;
    if (tick > 127) return Error::bad_tick;
    const std::int64_t epoch_us = l.timeline.epoch_us;
    if (epoch_us < 0 || epoch_us % 1000 != 0 || epoch_us / 1000 >> 43 != 0) return Error::bad_epoch;
    // Of one field alone it makes no difference which is last.
    const bool node_last = l.node_last && l.node_bits > 0 && l.sequence_bits > 0;
    return static_cast<std::uint64_t>(epoch_us / 1000) << 21 | static_cast<std::uint64_t>(tick) << 14 | power << 11 |
           l.node_bits << 6 | l.sequence_bits << 1 | node_last;
}

// The layout as far as the word has it. The timestamp is as wide as a slot's word and int64 allow. A word of noise
// gives some layout as well.
constexpr Layout unpack_numbering(std::uint64_t v) {
    std::int64_t tick = static_cast<std::int64_t>(v >> 14 & 0x7f);
    if (tick == 0) tick = 1;
    for (unsigned power = v >> 11 & 7; power > 0; power--) tick *= 10;
    unsigned bits = 47;
    while ((std::int64_t{1} << (61 - bits)) < tick) bits--;
    return {{static_cast<std::int64_t>(v >> 21) * 1000, tick, bits},
            static_cast<unsigned>(v >> 6 & 31),
            static_cast<unsigned>(v >> 1 & 31),
            (v & 1) != 0};
}

constexpr bool possible_numbering(std::uint64_t v) {
    const Result<std::uint64_t> again = pack_numbering(unpack_numbering(v));
    return v >> 14 << 57 != 0 && again && again.value == v;
}

}  // namespace snowflake_ids::ledger
