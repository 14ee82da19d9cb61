// Big-endian loads and stores at any alignment: plain ones for constant evaluation, and wide ones with words that
// overlap, which compilers do not make of the plain ones at -O2. core_bytes_test compares them.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace snowflake_ids {

template <class T>
concept Byte = std::same_as<T, unsigned char> || std::same_as<T, char>;

namespace detail {

template <std::size_t N, Byte B>
constexpr std::uint64_t load_be_plain(const B* p) {
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < N; i++) v = v << 8 | static_cast<unsigned char>(p[i]);
    return v;
}

template <std::size_t N, Byte B>
constexpr void store_be_plain(B* p, std::uint64_t v) {
    for (std::size_t i = 0; i < N; i++) p[i] = static_cast<B>(v >> (8 * (N - 1 - i)));
}

// All compilers for PostgreSQL's headers have these.
inline std::uint64_t big_endian(std::uint64_t v) {
    return std::endian::native == std::endian::big ? v : __builtin_bswap64(v);
}
inline std::uint32_t big_endian(std::uint32_t v) {
    return std::endian::native == std::endian::big ? v : __builtin_bswap32(v);
}
inline std::uint16_t big_endian(std::uint16_t v) {
    return std::endian::native == std::endian::big ? v : __builtin_bswap16(v);
}

template <class Word, Byte B>
std::uint64_t load_word(const B* p) {
    Word w;
    std::memcpy(&w, p, sizeof w);
    return big_endian(w);
}

template <class Word, Byte B>
void store_word(B* p, std::uint64_t v) {
    const Word w = big_endian(static_cast<Word>(v));
    std::memcpy(p, &w, sizeof w);
}

template <std::size_t N, Byte B>
std::uint64_t load_be_wide(const B* p) {
    if constexpr (N == 8) return load_word<std::uint64_t>(p);
    // Two words cover the N bytes; where they overlap, they agree.
    if constexpr (N >= 4 && N < 8)
        return load_word<std::uint32_t>(p) << (8 * (N - 4)) | load_word<std::uint32_t>(p + N - 4);
    if constexpr (N == 2 || N == 3)
        return load_word<std::uint16_t>(p) << (8 * (N - 2)) | load_word<std::uint16_t>(p + N - 2);
    if constexpr (N == 1) return static_cast<unsigned char>(*p);
}

template <std::size_t N, Byte B>
void store_be_wide(B* p, std::uint64_t v) {
    if constexpr (N == 8) store_word<std::uint64_t>(p, v);
    if constexpr (N >= 4 && N < 8) {
        store_word<std::uint32_t>(p, v >> (8 * (N - 4)));
        if constexpr (N > 4) store_word<std::uint32_t>(p + N - 4, v);
    }
    if constexpr (N == 2 || N == 3) {
        store_word<std::uint16_t>(p, v >> (8 * (N - 2)));
        if constexpr (N > 2) store_word<std::uint16_t>(p + N - 2, v);
    }
    if constexpr (N == 1) *p = static_cast<B>(v);
}

}  // namespace detail

template <std::size_t N, Byte B>
constexpr std::uint64_t load_be(const B* p) {
    static_assert(N >= 1 && N <= 8);
    return std::is_constant_evaluated() ? detail::load_be_plain<N>(p) : detail::load_be_wide<N>(p);
}

// Writes the low `N` bytes of `v`.
template <std::size_t N, Byte B>
constexpr void store_be(B* p, std::uint64_t v) {
    static_assert(N >= 1 && N <= 8);
    std::is_constant_evaluated() ? detail::store_be_plain<N>(p, v) : detail::store_be_wide<N>(p, v);
}

template <std::size_t N>
constexpr void copy_bytes(unsigned char* to, const unsigned char* from) {
    if (!std::is_constant_evaluated()) {
        std::memcpy(to, from, N);
        return;
    }
    for (std::size_t i = 0; i < N; i++) to[i] = from[i];
}

}  // namespace snowflake_ids
