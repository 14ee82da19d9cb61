// Snowflake-SI: 53 bits, so that every id is an exact JavaScript number. Source: the Snowflake-SI document
// (litert/uuid.js v1), and litert/uuid.js v2.1.0 for the counter.
//
//   bits 52-13  MAB: milliseconds since the base clock     40 bits (41 in v2 on request)
//   next        MID: machine id                            machine_bits, 0-12, default 5
//   low         UIN: per-millisecond number                the rest of 13, default 8
//
// Base clock and widths are not in the id. A program that decodes ids must know them, and they are "unchangeable after
// it's determined".
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/layout.hpp"

namespace snowflake_ids::snowflake_si {

inline constexpr unsigned id_bits = 53;
inline constexpr unsigned default_clock_bits = 40;
inline constexpr unsigned default_machine_bits = 5;
inline constexpr int max_machine_bits = 12;

// 2003-03-18T07:20:19.225Z: with an earlier one, 40 bits end before 2038-01-19T03:14:07Z.
inline constexpr std::int64_t min_base_clock_us = 1047972019225000;
// 2026-01-01T00:00:00Z.
inline constexpr std::int64_t default_base_clock_us = 1767225600000000;

// The layout for a base clock (Unix microseconds, whole milliseconds) and a machine id width. Errors:
//   - bad_width: machine_bits outside 0-12, or no bit left for the UIN; clock_bits other than 40 and 41;
//   - bad_base_clock: too early, or not a whole millisecond. With 41 bits any time since 1970 is allowed, as in v2.
constexpr Result<Layout> layout(std::int64_t base_clock_us, std::int64_t machine_bits,
                                unsigned clock_bits = default_clock_bits) {
    if (clock_bits != 40 && clock_bits != 41) return Error::bad_width;
    const std::int64_t rest = id_bits - clock_bits;
    if (machine_bits < 0 || machine_bits >= rest) return Error::bad_width;
    if (base_clock_us < (clock_bits == 40 ? min_base_clock_us : 0)) return Error::bad_base_clock;
    // Keeps start_us() far from overflow: no base clock beyond the year 9999.
    if (base_clock_us > 253402300799999000 || base_clock_us % 1000 != 0) return Error::bad_base_clock;
    return Layout{{base_clock_us, 1000, clock_bits},
                  static_cast<unsigned>(machine_bits),
                  static_cast<unsigned>(rest - machine_bits)};
}

inline constexpr Layout default_layout = layout(default_base_clock_us, default_machine_bits).value;
static_assert(default_layout.bits() == id_bits && default_layout.max_id() == 9007199254740991);

}  // namespace snowflake_ids::snowflake_si
