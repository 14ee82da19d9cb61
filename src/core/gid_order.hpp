// Sort key of gids (id_order.hpp).
//
// The sort key has one of two forms:
//
//          before the year 2248 (ms < 2^43)    later
//   kind   bits 63-62                          bits 63-62
//   form   bit 61: 0                           bit 61: 1
//   ms     bits 60-18                          bits 60-13
//   code   bits 17-0                           bits 12-0: without the 5 lowest bits of the code
//
// The code stands for the last nine bytes:
//   00000-0ffff  byte 7 is below the prefix: byte 7 and the next 8 bits
//   10000-2ffff  byte 7 is the prefix, as this project writes it: the next 17 bits
//   30000-3ffff  byte 7 is above the prefix: byte 7 and the next 8 bits
#pragma once

#include <cstdint>

#include "core/base58.hpp"
#include "core/bytes.hpp"
#include "core/gid.hpp"
#include "core/id_order.hpp"

namespace snowflake_ids::gid {

class SortKey {
public:
    explicit constexpr SortKey(const Id&) {}

    constexpr std::uint64_t operator()(const Id& id) const {
        const std::uint64_t head = load_be<8>(id.bytes);
        const std::uint64_t kind = (head >> 61 & 3) << 62, ms = head >> 8 & 0xffffffffffff,
                            code = code_of_random(head, low_bytes(id));
        if (ms >> 43 == 0) return kind | ms << 18 | code;
        return kind | std::uint64_t{1} << 61 | ms << 13 | code >> 5;
    }

private:
    static constexpr std::uint64_t below_prefix = 0, at_prefix = 0x10000, above_prefix = 0x30000;

    // `head`: the first eight bytes; `random`: the last eight.
    static constexpr std::uint64_t code_of_random(std::uint64_t head, std::uint64_t random) {
        const std::uint64_t prefix = head >> 56, byte7 = head & 0xff;
        if (byte7 == prefix) return at_prefix + (random >> 47);
        return (byte7 < prefix ? below_prefix : above_prefix) + (byte7 << 8 | random >> 56);
    }
};

struct Type {
    using Id = gid::Id;
    using SortKey = gid::SortKey;
    static constexpr const char* name = "gid";
    static constexpr std::size_t binary_size = gid::binary_size, text_size = gid::text_size;
    static constexpr auto& parse = gid::parse;
    static constexpr auto& print = gid::print;
    static constexpr auto& from_bytes = gid::from_bytes;
};

}  // namespace snowflake_ids::gid
