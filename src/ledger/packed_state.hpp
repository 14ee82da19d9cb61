// Tick, toggle and next number of a generator in one 64-bit word, changed only by compare-and-swap.
//
//   bits 63-17  block: the tick; sno keeps its tick-tock toggle in the lowest bit
//   bits 16-0   next sequence number, 0-65536; above the upper bound: all used up
//
// Mastic's 48 + 16 bits leave no room for "used up", so ticks from 2^47 on (the year 6485) are refused.
#pragma once

#include <cstdint>

#include "core/step.hpp"

namespace snowflake_ids::ledger {

inline constexpr unsigned next_bits = 17;
inline constexpr std::uint32_t next_mask = (std::uint32_t{1} << next_bits) - 1;
inline constexpr std::uint64_t max_block = ~std::uint64_t{0} >> next_bits;

constexpr std::uint64_t max_tick(bool has_toggle) { return has_toggle ? max_block >> 1 : max_block; }

constexpr std::uint64_t pack(const State& s, bool has_toggle) {
    const std::uint64_t block = has_toggle ? s.tick << 1 | s.toggle() : s.tick;
    return block << next_bits | s.next;
}

// `safe` has a word of its own. Of State::drifts the word has only the toggle.
constexpr State unpack(std::uint64_t word, std::uint64_t safe, bool has_toggle) {
    State s{.safe = safe, .next = static_cast<std::uint32_t>(word) & next_mask};
    const std::uint64_t block = word >> next_bits;
    s.tick = has_toggle ? block >> 1 : block;
    s.drifts = has_toggle ? static_cast<std::uint32_t>(block & 1) : 0;
    return s;
}

}  // namespace snowflake_ids::ledger
