// Base58 with the Bitcoin alphabet, for the two widths of a gid: 7 bytes in 10 digits and 9 bytes in 13. Both leading
// bytes are large, so the number of digits never varies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/error.hpp"

namespace snowflake_ids::base58 {

inline constexpr char alphabet[] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

// 58^12, the smallest number of 13 digits: the first byte, and the other eight.
inline constexpr unsigned char random_min_high = 0x4e;
inline constexpr std::uint64_t random_min_low = 0x900abb53e6b71000;

namespace detail {

inline constexpr unsigned char invalid = 0xff;

inline constexpr std::array<unsigned char, 256> values = [] {
    std::array<unsigned char, 256> t{};
    for (auto& v : t) v = invalid;
    for (unsigned char i = 0; i < 58; i++) t[static_cast<unsigned char>(alphabet[i])] = i;
    return t;
}();

// Pairs halve the number of divisions.
inline constexpr std::array<std::array<char, 2>, 58 * 58> pairs = [] {
    std::array<std::array<char, 2>, 58 * 58> t{};
    for (unsigned i = 0; i < 58 * 58; i++) t[i] = {alphabet[i / 58], alphabet[i % 58]};
    return t;
}();

inline constexpr std::uint64_t pow58_5 = 58ULL * 58 * 58 * 58 * 58;

// A number below 58^5.
constexpr void print5(std::uint32_t v, char* out) {
    const std::uint32_t high = v / (58 * 58), low = v % (58 * 58);
    out[3] = pairs[low][0];
    out[4] = pairs[low][1];
    const std::uint32_t top = high / (58 * 58), middle = high % (58 * 58);
    out[1] = pairs[middle][0];
    out[2] = pairs[middle][1];
    out[0] = alphabet[top];
}

constexpr std::uint64_t pow58(std::size_t n) { return n == 0 ? 1 : 58 * pow58(n - 1); }

// A bad character sets the top bit of `bad`. In halves, because one by one each multiplication would wait for the one
// before. 58^10 < 2^59.
template <std::size_t N>
constexpr std::uint64_t parse_digits(const char* in, unsigned& bad) {
    static_assert(N >= 1 && N <= 10);
    if constexpr (N == 1) {
        const unsigned char digit = values[static_cast<unsigned char>(*in)];
        bad |= digit;
        return digit;
    } else {
        constexpr std::size_t half = N / 2;
        return parse_digits<half>(in, bad) * pow58(N - half) + parse_digits<N - half>(in + half, bad);
    }
}

}  // namespace detail

// Prints the low 7 bytes of `v`, which begin with at least 0x80.
constexpr void print_time(std::uint64_t v, char* out) {
    detail::print5(static_cast<std::uint32_t>(v / detail::pow58_5), out);
    detail::print5(static_cast<std::uint32_t>(v % detail::pow58_5), out + 5);
}

// The same for 9 bytes, at least 58^12: a long division by 58^5 in 32-bit steps.
constexpr void print_random(unsigned char high, std::uint64_t low, char* out) {
    const std::uint64_t top = std::uint64_t{high} << 32 | low >> 32;
    const std::uint64_t rest = top % detail::pow58_5 << 32 | (low & 0xffffffff);
    const std::uint64_t q = (top / detail::pow58_5 << 32) + rest / detail::pow58_5;
    detail::print5(static_cast<std::uint32_t>(rest % detail::pow58_5), out + 8);
    detail::print5(static_cast<std::uint32_t>(q % detail::pow58_5), out + 3);
    const std::uint32_t first = static_cast<std::uint32_t>(q / detail::pow58_5);
    out[0] = alphabet[first / (58 * 58)];
    out[1] = detail::pairs[first % (58 * 58)][0];
    out[2] = detail::pairs[first % (58 * 58)][1];
}

// Errors: bad_character, bad_magnitude (more than 7 bytes).
constexpr Error parse_time(const char* in, std::uint64_t& out) {
    unsigned bad = 0;
    out = detail::parse_digits<10>(in, bad);
    if (bad & 0x80) return Error::bad_character;
    return out >> 56 ? Error::bad_magnitude : Error::none;
}

// Errors: bad_character, bad_magnitude (more than 9 bytes). The caller checks for less than 58^12.
constexpr Error parse_random(const char* in, unsigned char& high, std::uint64_t& low) {
    unsigned bad = 0;
    const std::uint64_t head = detail::parse_digits<8>(in, bad), tail = detail::parse_digits<5>(in + 8, bad);
    if (bad & 0x80) return Error::bad_character;
    // head * 58^5 + tail in 32-bit halves: no overflow, because 58^8 < 2^47 and 58^5 < 2^30.
    const std::uint64_t low_product = (head & 0xffffffff) * detail::pow58_5 + tail;
    const std::uint64_t high_product = (head >> 32) * detail::pow58_5 + (low_product >> 32);
    low = high_product << 32 | (low_product & 0xffffffff);
    high = static_cast<unsigned char>(high_product >> 32);
    return high_product >> 40 ? Error::bad_magnitude : Error::none;
}

}  // namespace snowflake_ids::base58
