// Sort key of gids (src/pg/types/id_type.hpp).
//
//   bits 63-62  kind
//   bits 61-20  ms, to the year 2109; later gids of a kind share the highest key
//   bits 19-0   the next 20 bits: byte 7, and 12 random bits
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/gid.hpp"

namespace snowflake_ids::gid {

constexpr std::uint64_t sort_key(const Id& id, const Id&) {
    constexpr std::uint64_t highest = ~std::uint64_t{0} >> 2;
    const std::uint64_t kind = std::uint64_t{id.bytes[0]} >> 5 << 62, ms = load_be<6>(id.bytes + 1);
    return kind | (ms >> 42 ? highest : ms << 20 | load_be<3>(id.bytes + 7) >> 4);
}

}  // namespace snowflake_ids::gid
