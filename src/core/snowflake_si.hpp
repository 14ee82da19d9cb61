// Snowflake-SI: 53 bits, so every id is an exact JavaScript number. Source: the Snowflake-SI document (litert/uuid.js
// v1), and litert/uuid.js v2.1.0 for the counter.
//
//   bits 52-13  MAB: milliseconds since the base clock, 2026-01-01T00:00:00Z     40 bits
//   bits 12-8   MID: machine id                                                   5 bits
//   bits 7-0    UIN: per-millisecond number                                       8 bits
//
// Base clock and widths are "unchangeable after it's determined" (document).
#pragma once

#include "core/layout.hpp"

namespace snowflake_ids::snowflake_si {

inline constexpr Layout layout{{std::chrono::sys_days{std::chrono::January / 1 / 2026}, milliseconds{1}, 40}, 5, 8};
static_assert(layout.bits() == 53 && layout.max_id() == 9007199254740991);

}  // namespace snowflake_ids::snowflake_si
