// Sort keys bit for bit.
#include <gtest/gtest.h>

#include "core/gid_sort_key.hpp"
#include "core/sno_sort_key.hpp"

namespace snowflake_ids {
namespace {

// The first id sorted has metabyte 7 and partition 300: the window is partitions 256 to 383.
std::uint64_t code(std::uint32_t metabyte, std::uint32_t partition, std::uint32_t sequence) {
    const std::uint64_t k = sort_key(sno::compose({1000, 1, metabyte, partition, sequence}),
                                     sno::compose({.units = 5, .metabyte = 7, .partition = 300}));
    EXPECT_EQ(k >> 24, 1000u << 1 | 1) << "time and tick-tock as they are";
    return k & 0xffffff;
}

// The code of metabyte 7 and partition 256, and what the window has more codes than ids of other partitions.
constexpr std::uint32_t window = (7 << 16 | 256) >> 1, more = 0x7fffff;

TEST(CoreSortKey, SnoInTheWindow) {
    EXPECT_EQ(code(7, 256, 0), window);
    EXPECT_EQ(code(7, 256, 65535), window + 65535);
    EXPECT_EQ(code(7, 300, 9), window + (44 << 16) + 9);
    EXPECT_EQ(code(7, 383, 65535), window + more);
    const std::uint64_t of_last = sort_key(sno::compose({.metabyte = 255, .partition = 65535, .sequence = 65535}),
                                           sno::compose({.metabyte = 255, .partition = 65535}));
    EXPECT_EQ(of_last & 0xffffff, 0xffffbfu);
}

TEST(CoreSortKey, SnoOutsideTheWindow) {
    EXPECT_EQ(code(0, 0, 65535), 0u);
    EXPECT_EQ(code(0, 2, 5), 1u);
    EXPECT_EQ(code(7, 254, 5), window - 1);
    EXPECT_EQ(code(7, 255, 5), window - 1) << "half of the partition";
    EXPECT_EQ(code(7, 384, 5), window + 64 + more);
    EXPECT_EQ(code(8, 300, 5), (8 << 15) + 150u + more);
    EXPECT_EQ(code(255, 65535, 5), 0xfffffeu);
}

std::uint64_t gid_key(gid::Kind kind, std::uint64_t ms, unsigned char byte7, std::uint64_t random) {
    return sort_key(gid::compose({kind, ms, byte7, random}), gid::Id{});
}

TEST(CoreSortKey, Gid) {
    constexpr std::uint64_t random = 0xfedc'ba98'7654'3210, ms = 1767225600000, last = (std::uint64_t{1} << 42) - 1;
    for (const gid::Kind kind : {gid::Kind::volume, gid::Kind::log, gid::Kind::segment}) {
        const std::uint64_t of_kind = std::uint64_t{static_cast<unsigned char>(gid::prefix(kind))} >> 5 << 62;
        EXPECT_EQ(gid_key(kind, ms, 0x81, random), of_kind | ms << 20 | 0x81fed);
        EXPECT_EQ(gid_key(kind, last, 0xff, random), of_kind | last << 20 | 0xfffed);
        EXPECT_EQ(gid_key(kind, last + 1, 0, 0), of_kind | ~std::uint64_t{0} >> 2);
        EXPECT_EQ(gid_key(kind, gid::timeline.max_tick(), 0xff, random), of_kind | ~std::uint64_t{0} >> 2);
    }
}

}  // namespace
}  // namespace snowflake_ids
