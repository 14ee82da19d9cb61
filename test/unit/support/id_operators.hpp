// Operators for ids, which src does without, and the sign of what compare() and memcmp() return.
#pragma once

#include <cstring>

#include "core/gid.hpp"
#include "core/mastic.hpp"
#include "core/sno.hpp"
#include "core/uuid7.hpp"

namespace snowflake_ids {

namespace gid {
constexpr bool operator==(const Id& a, const Id& b) { return compare(a, b) == 0; }
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace gid

namespace mastic {
constexpr bool operator==(const Id& a, const Id& b) { return a.number == b.number; }
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace mastic

namespace sno {
constexpr bool operator==(const Id& a, const Id& b) { return compare(a, b) == 0; }
constexpr bool operator<(const Id& a, const Id& b) { return compare(a, b) < 0; }
}  // namespace sno

namespace uuid7 {
inline bool operator==(const Id& a, const Id& b) { return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0; }
inline bool operator<(const Id& a, const Id& b) { return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) < 0; }
}  // namespace uuid7

namespace test {
constexpr int sign(int c) { return (c > 0) - (c < 0); }
}  // namespace test

}  // namespace snowflake_ids
