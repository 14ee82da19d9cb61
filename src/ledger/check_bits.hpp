// The check bits of the ceiling file and the WAL ceiling.
#pragma once

#include <cstdint>

namespace snowflake_ids::ledger {

// Begin with a number that is not 0, and end with the word 0. A change of one word is always found.
constexpr std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    return sum ^ sum >> 29;
}

}  // namespace snowflake_ids::ledger
