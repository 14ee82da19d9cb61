// Snowflake-SI's base clock and machine-id width are not in the id and are "unchangeable
// after it's determined" (document): the ledger remembers those of the first use.
//
//   bit 63      set
//   bits 62-56  machine bits
//   bits 55-0   base clock, Unix milliseconds
#pragma once

#include <cstdint>

#include "core/layout.hpp"
#include "ledger/slot.hpp"

namespace snowflake_ids::ledger {

constexpr std::uint64_t pack_layout(std::uint64_t base_clock_ms, unsigned machine_bits) {
    return std::uint64_t{1} << 63 | std::uint64_t{machine_bits & 0x7f} << 56 | (base_clock_ms & 0x00ffffffffffffff);
}
constexpr std::uint64_t pack_layout(const Layout& l) {
    return pack_layout(static_cast<std::uint64_t>(l.timeline.epoch_us / 1000), l.node_bits);
}

// A damaged word gives some time as well, none that overflows: at most the end of the year 9999, the last that can be
// set.
constexpr std::int64_t frozen_base_clock_us(std::uint64_t v) {
    constexpr std::uint64_t last_ms = 253402300799999;
    const std::uint64_t ms = v & 0x00ffffffffffffff;
    return static_cast<std::int64_t>(ms < last_ms ? ms : last_ms) * 1000;
}
constexpr unsigned frozen_machine_bits(std::uint64_t v) { return static_cast<unsigned>(v >> 56 & 0x7f); }

// True if the layout is the frozen one, freezing it if none is. `frozen` is what is in force.
inline bool freeze_layout(Word& word, const Layout& layout, std::uint64_t& frozen) {
    const std::uint64_t mine = pack_layout(layout);
    frozen = word.load();
    if (frozen == 0 && word.compare_exchange_strong(frozen, mine)) frozen = mine;
    return frozen == mine;
}

}  // namespace snowflake_ids::ledger
