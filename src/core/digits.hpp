// Which digit a character stands for in an alphabet.
#pragma once

#include <array>
#include <cstddef>

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

}  // namespace snowflake_ids
