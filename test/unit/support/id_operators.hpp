// Operators for ids, which src does without: it calls compare().
#pragma once

#include "core/gid.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/uuid7.hpp"

namespace snowflake_ids {

namespace gid {
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace gid

namespace mastic {
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace mastic

namespace sno {
constexpr bool operator==(const Id& a, const Id& b) { return compare(a, b) == 0; }
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace sno

namespace uuid7 {
constexpr bool operator==(const Id& a, const Id& b) { return compare(a, b) == 0; }
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace uuid7

}  // namespace snowflake_ids
