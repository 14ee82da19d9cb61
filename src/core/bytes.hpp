// Big-endian loads and stores. Written byte by byte: compilers turn them into one
// load and a byte swap, and they stay constexpr and alignment free.
#pragma once

#include <cstddef>
#include <cstdint>

namespace snowflake_ids {

// The `N` bytes at `p` as an unsigned number, most significant byte first.
template <std::size_t N>
constexpr std::uint64_t load_be(const unsigned char* p) {
    static_assert(N >= 1 && N <= 8);
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < N; i++) v = v << 8 | p[i];
    return v;
}

// The low `N` bytes of `v` to `p`, most significant byte first.
template <std::size_t N>
constexpr void store_be(unsigned char* p, std::uint64_t v) {
    static_assert(N >= 1 && N <= 8);
    for (std::size_t i = 0; i < N; i++) p[i] = static_cast<unsigned char>(v >> (8 * (N - 1 - i)));
}

}  // namespace snowflake_ids
