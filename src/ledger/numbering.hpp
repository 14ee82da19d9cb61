// What makes two 64-bit ids of one node the same: epoch, tick, and where the fields are. Layouts that agree in these
// draw from one slot, whatever their names are, in whichever database, and however many bits their timestamps have.
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
#include "core/mastic.hpp"
#include "core/snowflake_si.hpp"

namespace snowflake_ids::ledger {

// The longest tick of a shared generator. After a restart ids may be ahead of the clock by a tick or two, and the
// ceiling of a database moves all generators of the server.
inline constexpr std::int64_t max_numbering_tick_us = 1000000;

// Whose numbers they are. Mastic and Snowflake-SI have slots of their own, and no other slot may have theirs. That
// depends on the layout alone, so no two processes can disagree about it. A Snowflake-SI base clock can be any, so
// all layouts of its shape are its.
enum class Numbers : unsigned char { own, mastic, snowflake_si };

constexpr Numbers numbers_of(const Layout& l) {
    if (l.timeline.tick_us != 1000) return Numbers::own;
    constexpr const Layout& m = mastic::layout;
    if (l.timeline.epoch_us == m.timeline.epoch_us && l.node_bits == 0 && l.sequence_bits == m.sequence_bits)
        return Numbers::mastic;
    const bool si = l.node_bits + l.sequence_bits == snowflake_si::id_bits - snowflake_si::default_clock_bits &&
                    l.sequence_bits > 0 && !(l.node_last && l.node_bits > 0);
    return si ? Numbers::snowflake_si : Numbers::own;
}

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
