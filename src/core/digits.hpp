// Numbers as text: the digits of an alphabet, the highest first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace snowflake_ids {

inline constexpr unsigned char no_digit = 0xff;
using Digits = std::array<unsigned char, 256>;

template <std::size_t N>
constexpr Digits digits_of(const char (&alphabet)[N]) {
    Digits digits{};
    digits.fill(no_digit);
    for (std::size_t i = 0; i + 1 < N; i++) digits[static_cast<unsigned char>(alphabet[i])] = i & 0xff;
    return digits;
}

template <std::size_t N>
constexpr void print_digits(const char (&alphabet)[N], std::uint64_t v, char* out, std::size_t count) {
    for (; count > 0; v /= N - 1) out[--count] = alphabet[v % (N - 1)];
}

// A bad character sets the bit 0x80 of `bad`, which is never cleared, so one check after several calls is enough.
template <unsigned base>
constexpr std::uint64_t parse_digits(const Digits& digits, const char* in, std::size_t count, unsigned& bad) {
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < count; i++) {
        const unsigned char digit = digits[static_cast<unsigned char>(in[i])];
        bad |= digit;
        v = v * base + digit;
    }
    return v;
}

}  // namespace snowflake_ids
