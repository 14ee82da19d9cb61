// Sort key of snos (src/pg/types/id_type.hpp).
//
//   bits 63-24   time, tick-tock
//   bits 23-0    a code for metabyte, partition and sequence
//
// The code depends on the first id that is sorted. Ids with its metabyte, and with a partition that differs only in the
// lowest 7 bits, get a code each, because machine ids are usually small or close together. Elsewhere, all ids of two
// neighbouring partitions share one code.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/sno.hpp"

namespace snowflake_ids::sno {

constexpr std::uint64_t sort_key(const Id& id, const Id& first) {
    constexpr unsigned window_bits = 7;
    constexpr std::uint64_t codes = (1 << (window_bits + 16)) - 1;  // the largest one of the window
    const std::uint64_t node = load_be<3>(id.bytes + 5);            // metabyte and partition
    const std::uint64_t window = node >> window_bits, of_first = load_be<3>(first.bytes + 5) >> window_bits;
    const std::uint64_t code = window == of_first
                                   ? (window << (window_bits - 1)) + ((node << 16 & codes) | load_be<2>(id.bytes + 8))
                                   : (node >> 1) + (window < of_first ? 0 : codes);
    return load_be<5>(id.bytes) << 24 | code;
}

}  // namespace snowflake_ids::sno
