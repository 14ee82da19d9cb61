// Sort key of snos (id_order.hpp).
//
//   bits 63-24   time, tick-tock
//   bits 23-0    a code for metabyte, partition and sequence
//
// The code depends on the first id that is sorted, with metabyte M and partition P. The window is the 128 partitions
// that differ from P only in the lowest 7 bits. With M, it gets half of all codes, one for each id, because machine ids
// are small, or close together. Outside it, two partitions with M share a code. With another metabyte, four ids of P
// share one, and other partitions have one each, but for those far from P. Simpler codes made sorts of many servers or
// metabytes 1.2 to 2.6 times as slow.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/id_order.hpp"
#include "core/sno.hpp"

namespace snowflake_ids::sno {

class SortKey {
public:
    explicit constexpr SortKey(const Id& first)
        : metabyte_(first.bytes[5]),
          partition_(static_cast<std::uint32_t>(load_be<2>(first.bytes + 6))),
          window_start_(partition_ & ~(window - 1)) {}

    constexpr std::uint64_t operator()(const Id& id) const {
        const std::uint64_t head = load_be<8>(id.bytes);
        const auto metabyte = static_cast<std::uint32_t>(head >> 16 & 0xff);
        const auto partition = static_cast<std::uint32_t>(head & 0xffff);
        const auto sequence = static_cast<std::uint32_t>(low_bytes(id));
        const std::uint32_t code =
            metabyte == metabyte_
                ? (metabyte << 15) + code_for_same_metabyte(partition, sequence)
                : (metabyte < metabyte_ ? 0 : half) + (metabyte << 15 | code_for_another_metabyte(partition, sequence));
        return (head & ~std::uint64_t{0xffffff}) | code;
    }

private:
    static constexpr std::uint32_t window = 128, half = window << 16;

    // Less than half + 2^15, so the whole code fits 24 bits.
    constexpr std::uint32_t code_for_same_metabyte(std::uint32_t partition, std::uint32_t sequence) const {
        if (partition < window_start_) return partition >> 1;
        const std::uint32_t place = partition - window_start_;
        return place < window ? (window_start_ >> 1) + (place << 16 | sequence) : half + (partition >> 1);
    }

    static constexpr std::uint32_t below_p = 0x0000, at_p = 0x2000, above_p = 0x6000, codes_beside_p = 0x2000;

    constexpr std::uint32_t code_for_another_metabyte(std::uint32_t partition, std::uint32_t sequence) const {
        if (partition == partition_) return at_p + (sequence >> 2);
        if (partition < partition_) return below_p + codes_beside_p - 1 - capped(partition_ - 1 - partition);
        return above_p + capped(partition - partition_ - 1);
    }

    static constexpr std::uint32_t capped(std::uint32_t distance) {
        return distance < codes_beside_p - 1 ? distance : codes_beside_p - 1;
    }

    std::uint32_t metabyte_, partition_, window_start_;
};

struct Type {
    using Id = sno::Id;
    using SortKey = sno::SortKey;
    static constexpr const char* name = "sno";
    static constexpr std::size_t binary_size = sno::binary_size, text_size = sno::text_size;
    static constexpr auto& parse = sno::parse;
    static constexpr auto& print = sno::print;
    static constexpr auto& from_bytes = sno::from_bytes;
};

}  // namespace snowflake_ids::sno
