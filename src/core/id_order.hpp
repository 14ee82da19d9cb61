// What sorting needs of a format; sno_order.hpp, gid_order.hpp and mastic.hpp have it.
//
// Sorting compares 64-bit SortKeys, and the ids only if two are equal. A key must never contradict the order (a < b
// gives key(a) <= key(b)), and should seldom be shared. Ids generated in bulk differ only after the first eight bytes,
// so a key leaves out bits that ids hardly use.
//
// From a Type, src/pg/types/id_type.hpp makes SQL functions.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"

namespace snowflake_ids {

template <class Id>
constexpr std::uint64_t low_bytes(const Id& id) {
    return load_be<sizeof(Id) - 8>(id.bytes + 8);
}

}  // namespace snowflake_ids
