// Sort key of snos (src/pg/types/id_type.hpp).
//
//   bits 63-24   time, tick-tock
//   bits 23-0    a code for metabyte, partition and sequence
//
// The code depends on the first id that is sorted. Ids of its metabyte, whose partitions differ from its own only in
// the lowest 7 bits, have one code each, because machine ids are small, or close together. Of others, those of two
// partitions share one.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/sno.hpp"

namespace snowflake_ids::sno {

class SortKey {
public:
    explicit constexpr SortKey(const Id& first) : window_(node_of(first) >> window_bits) {}

    constexpr std::uint64_t operator()(const Id& id) const {
        const std::uint64_t node = node_of(id), window = node >> window_bits;
        const std::uint64_t code =
            window == window_ ? (window << (window_bits - 1)) + ((node << 16 & codes) | load_be<2>(id.bytes + 8))
                              : (node >> 1) + (window < window_ ? 0 : codes);
        return load_be<5>(id.bytes) << 24 | code;
    }

private:
    static constexpr unsigned window_bits = 7;
    static constexpr std::uint64_t codes = (1 << (window_bits + 16)) - 1;  // the largest one of the window

    // Metabyte and partition.
    static constexpr std::uint64_t node_of(const Id& id) { return load_be<3>(id.bytes + 5); }

    std::uint64_t window_;
};

struct Type {
    using Id = sno::Id;
    using SortKey = sno::SortKey;
    static constexpr const char* name = "sno";
    static constexpr auto& parse = sno::parse;
    static constexpr auto& from_bytes = sno::from_bytes;
};

}  // namespace snowflake_ids::sno
