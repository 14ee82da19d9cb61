// Base58 with the Bitcoin alphabet, for the two widths of a gid: 7 bytes in 10 digits and 9 bytes in 13. Both leading
// bytes are large, so the number of digits never varies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/digits.hpp"
#include "core/error.hpp"

namespace snowflake_ids::base58 {

inline constexpr char alphabet[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

// 58^12, the smallest number of 13 digits: the first byte, and the other eight.
inline constexpr unsigned char random_min_high = 0x4e;
inline constexpr std::uint64_t random_min_low = 0x900abb53e6b71000;

inline constexpr Digits digits = digits_of(alphabet);
inline constexpr std::uint64_t pow58_5 = 58ULL * 58 * 58 * 58 * 58;

// Nine bytes, at least 58^12: a long division by 58^5 in 32-bit steps.
constexpr void print_random(unsigned char high, std::uint64_t low, char* out) {
    const std::uint64_t top = std::uint64_t{high} << 32 | low >> 32;
    const std::uint64_t rest = top % pow58_5 << 32 | (low & 0xffffffff);
    print_digits(alphabet, (top / pow58_5 << 32) + rest / pow58_5, out, 8);
    print_digits(alphabet, rest % pow58_5, out + 8, 5);
}

// Errors: bad_character, bad_magnitude (more than 7 bytes).
constexpr Error parse_time(const char* in, std::uint64_t& out) {
    unsigned bad = 0;
    out = parse_digits<58>(digits, in, 10, bad);
    if (bad & 0x80) return Error::bad_character;
    return out >> 56 ? Error::bad_magnitude : Error::none;
}

// Errors: bad_character, bad_magnitude (more than 9 bytes). The caller checks for less than 58^12.
constexpr Error parse_random(const char* in, unsigned char& high, std::uint64_t& low) {
    unsigned bad = 0;
    const std::uint64_t head = parse_digits<58>(digits, in, 8, bad), tail = parse_digits<58>(digits, in + 8, 5, bad);
    if (bad & 0x80) return Error::bad_character;
    // head * 58^5 + tail in 32-bit halves: no overflow, because 58^8 < 2^47 and 58^5 < 2^30.
    const std::uint64_t low_product = (head & 0xffffffff) * pow58_5 + tail;
    const std::uint64_t high_product = (head >> 32) * pow58_5 + (low_product >> 32);
    low = high_product << 32 | (low_product & 0xffffffff);
    high = static_cast<unsigned char>(high_product >> 32);
    return high_product >> 40 ? Error::bad_magnitude : Error::none;
}

}  // namespace snowflake_ids::base58
