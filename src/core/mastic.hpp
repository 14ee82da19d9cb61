// Mastic snowflake: an unsigned 64-bit number, also in order and text. Source: the Mastic document.
//
//   bits 63-16  milliseconds since 2026-01-01T00:00:00Z   48 bits, to the year 10945; bit 63 is set from 6485 on
//   bits 15-0   per-millisecond sequence                  0-65535
#pragma once

#include <cstddef>
#include <cstdint>

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
constexpr Result<std::uint64_t> parse(const char* text, std::size_t length) {
    std::size_t i = length > 0 && text[0] == '+' ? 1 : 0;
    if (i == length) return length == 0 ? Error::bad_length : Error::bad_character;
    std::uint64_t v = 0;
    bool overflow = false;
    for (; i < length; i++) {
        const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
        if (digit > 9) return Error::bad_character;
        overflow |= __builtin_mul_overflow(v, std::uint64_t{10}, &v);
        overflow |= __builtin_add_overflow(v, std::uint64_t{digit}, &v);
    }
    if (overflow) return Error::id_range;
    return v;
}

// A number is its own sort key.
struct Type {
    using Id = mastic::Id;
    static constexpr const char* name = "mastic";
};

}  // namespace snowflake_ids::mastic
