// Mastic snowflake: an unsigned 64-bit number. Order and text are those of the number. Source: the Mastic document.
//
//   bits 63-16  milliseconds since 2026-01-01T00:00:00Z   48 bits, to the year 10945; bit 63 is set from 6485 on
//   bits 15-0   per-millisecond sequence                  0-65535
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "core/error.hpp"
#include "core/layout.hpp"

namespace snowflake_ids::mastic {

inline constexpr Layout layout{{std::chrono::sys_days{std::chrono::January / 1 / 2026}, milliseconds{1}, 48}, 0, 16};

struct Id {
    std::uint64_t number;

    friend constexpr int compare(const Id& a, const Id& b) { return a.number < b.number ? -1 : a.number > b.number; }
};

constexpr UnixTime time_of(const Id& id) { return layout.time_of(id.number); }

inline constexpr std::size_t max_text_size = 20;

// As the reference (Rust's u64): digits, leading zeros, a leading plus. Errors: bad_length (empty), bad_character (also
// a plus without digits), id_range.
inline Result<std::uint64_t> parse(const char* text, std::size_t length) {
    if (length == 0) return Error::bad_length;
    const char *const first = text[0] == '+' ? text + 1 : text, *const last = text + length;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(first, last, number);
    if (end != last || error == std::errc::invalid_argument) return Error::bad_character;
    if (error != std::errc{}) return Error::id_range;
    return number;
}

}  // namespace snowflake_ids::mastic
