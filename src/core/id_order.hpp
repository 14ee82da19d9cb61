// What sorting and indexes need of each format besides compare(): a sort key, and the neighbours of an id. The formats
// have them in sno_order.hpp, gid_order.hpp and mastic.hpp.
//
// Sort key. Sorting compares 64-bit keys, and compares the ids only if two keys are equal. A key must never contradict
// the order (a < b gives key(a) <= key(b)), and two ids should seldom have the same. The first eight bytes would be a
// poor key, because ids generated in bulk differ only in later bytes. So a key leaves out bits that the ids of its
// format hardly use.
//
// Type, at the end of each of these files, describes the type to src/pg/types/id_type.hpp, which makes its SQL
// functions.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"

namespace snowflake_ids {

// The id before or after another one. `exists` is false if there is none, because the other one is the first or last of
// its type. Then `id` is meaningless.
template <class Id>
struct Neighbour {
    Id id{};
    bool exists = false;
};

// The bytes of an id after the first eight, as a number.
template <class Id>
constexpr std::uint64_t low_bytes(const Id& id) {
    return load_be<sizeof(Id) - 8>(id.bytes + 8);
}

}  // namespace snowflake_ids
