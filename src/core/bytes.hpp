// Big-endian loads and stores at any alignment. Without loops, so that compilers make wide accesses of them at -O2.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace snowflake_ids {

template <class T>
concept Byte = std::same_as<T, unsigned char> || std::same_as<T, char>;

template <std::size_t N, Byte B>
constexpr std::uint64_t load_be(const B* p) {
    static_assert(N >= 1 && N <= 8);
    constexpr std::size_t word = std::bit_floor(N);
    if constexpr (N != word) {
        return load_be<word>(p) << (8 * (N - word)) | load_be<N - word>(p + word);
    } else {
        return [p]<std::size_t... i>(std::index_sequence<i...>) {
            return (... | (std::uint64_t{static_cast<unsigned char>(p[i])} << (8 * (N - 1 - i))));
        }
        (std::make_index_sequence<N>{});
    }
}

// Writes the low `N` bytes of `v`.
template <std::size_t N, Byte B>
constexpr void store_be(B* p, std::uint64_t v) {
    static_assert(N >= 1 && N <= 8);
    const std::uint64_t first = v << (8 * (8 - N));
    const auto bytes =
        std::bit_cast<std::array<B, 8>>(std::endian::native == std::endian::big ? first : __builtin_bswap64(first));
    std::copy_n(bytes.data(), N, p);
}

}  // namespace snowflake_ids
