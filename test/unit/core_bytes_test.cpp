// bytes: right for every size and alignment, and nothing else is touched.
#include "core/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace snowflake_ids {
namespace {

template <std::size_t N, class B>
void check_size(std::mt19937_64& random) {
    constexpr std::size_t room = 24;
    for (std::size_t at = 0; at < 8; at++) {
        std::array<B, room> in{}, out{};
        for (B& b : in) b = static_cast<B>(random());
        std::uint64_t v = 0;
        for (std::size_t i = 0; i < N; i++) v = v << 8 | static_cast<unsigned char>(in[at + i]);
        EXPECT_EQ(load_be<N>(in.data() + at), v) << N << " bytes at " << at;

        out = in;
        std::fill_n(out.begin() + at, N, static_cast<B>(0x5a));
        const std::uint64_t above = N == 8 ? 0 : random() << (8 * N % 64);
        store_be<N>(out.data() + at, above | v);
        EXPECT_EQ(out, in) << N << " bytes at " << at;
    }
}

template <std::size_t... N>
void check_sizes(std::index_sequence<N...>) {
    std::mt19937_64 random(4711);
    for (int i = 0; i < 1000; i++) {
        (check_size<N + 1, unsigned char>(random), ...);
        (check_size<N + 1, char>(random), ...);
    }
}

TEST(Bytes, EverySize) { check_sizes(std::make_index_sequence<8>()); }

// By the compiler.
constexpr std::array<unsigned char, 7> stored_by_compiler = [] {
    std::array<unsigned char, 7> out{};
    store_be<7>(out.data(), 0x01020304050607);
    return out;
}();

TEST(Bytes, Order) {
    static_assert(stored_by_compiler[0] == 1 && stored_by_compiler[6] == 7);
    static_assert(load_be<7>(stored_by_compiler.data()) == 0x01020304050607);
    std::array<unsigned char, 7> out{};
    store_be<7>(out.data(), 0x01020304050607);
    EXPECT_EQ(out, stored_by_compiler);
}

}  // namespace
}  // namespace snowflake_ids
