// bytes: the plain and the wide path agree for every size and alignment, and touch nothing else.
#include "core/bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace snowflake_ids {
namespace {

template <std::size_t N, class B>
void compare_paths(std::mt19937_64& random) {
    constexpr std::size_t room = 24;
    for (std::size_t at = 0; at < 8; at++) {
        std::array<B, room> in{}, plain{}, wide{};
        for (B& b : in) b = static_cast<B>(random());
        const std::uint64_t v = detail::load_be_plain<N>(in.data() + at);
        EXPECT_EQ(v, detail::load_be_wide<N>(in.data() + at)) << N << " bytes at " << at;
        EXPECT_EQ(v, load_be<N>(in.data() + at));

        const std::uint64_t stored = random();
        std::fill(plain.begin(), plain.end(), static_cast<B>(0x5a));
        wide = plain;
        detail::store_be_plain<N>(plain.data() + at, stored);
        detail::store_be_wide<N>(wide.data() + at, stored);
        EXPECT_EQ(plain, wide) << N << " bytes at " << at;
    }
}

template <std::size_t... N>
void compare_sizes(std::index_sequence<N...>) {
    std::mt19937_64 random(4711);
    for (int i = 0; i < 1000; i++) {
        (compare_paths<N + 1, unsigned char>(random), ...);
        (compare_paths<N + 1, char>(random), ...);
    }
}

TEST(Bytes, PathsAgree) { compare_sizes(std::make_index_sequence<8>()); }

// The compiler takes the plain path, the program the wide one.
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
    std::array<unsigned char, 7> copy{};
    copy_bytes<7>(copy.data(), out.data());
    EXPECT_EQ(copy, out);
}

}  // namespace
}  // namespace snowflake_ids
