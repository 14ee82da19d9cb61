// Sort keys bit for bit; neighbours where a byte overflows; comparison of ids that differ in one byte.
#include <gtest/gtest.h>

#include "core/gid_order.hpp"
#include "core/mastic.hpp"
#include "core/sno_order.hpp"
#include "core/uuid7.hpp"

#include "support/id_operators.hpp"

namespace snowflake_ids {
namespace {

// The first id sorted has metabyte 7 and partition 300: the window is partitions 256 to 383.
std::uint64_t code(std::uint32_t metabyte, std::uint32_t partition, std::uint32_t sequence) {
    const sno::SortKey key(sno::compose({.units = 5, .metabyte = 7, .partition = 300}));
    const std::uint64_t k = key(sno::compose({1000, 1, metabyte, partition, sequence}));
    EXPECT_EQ(k >> 24, 1000u << 1 | 1) << "time and tick-tock as they are";
    return k & 0xffffff;
}

constexpr std::uint32_t window = 128 << 16, of_7 = 7 << 15;

TEST(CoreSortKey, SnoOfTheFirstMetabyte) {
    EXPECT_EQ(code(7, 256, 0), of_7 + 128u);
    EXPECT_EQ(code(7, 256, 65535), of_7 + 128u + 65535);
    EXPECT_EQ(code(7, 300, 9), of_7 + 128u + (44 << 16) + 9);
    EXPECT_EQ(code(7, 383, 65535), of_7 + 128u + (127 << 16) + 65535);
    EXPECT_EQ(code(7, 255, 5), of_7 + 127u) << "half of the partition";
    EXPECT_EQ(code(7, 2, 5), of_7 + 1u);
    EXPECT_EQ(code(7, 384, 5), of_7 + window + 192u);
    EXPECT_EQ(code(7, 65535, 5), of_7 + window + 32767u);
}

TEST(CoreSortKey, SnoOfAnotherMetabyte) {
    for (const std::uint32_t metabyte : {6, 8}) {
        const std::uint32_t base = (metabyte << 15) + (metabyte > 7 ? window : 0);
        EXPECT_EQ(code(metabyte, 300, 0), base + 0x2000u);
        EXPECT_EQ(code(metabyte, 300, 65535), base + 0x5fffu);
        EXPECT_EQ(code(metabyte, 300, 8), base + 0x2002u);
        EXPECT_EQ(code(metabyte, 299, 8), base + 0x1fffu);
        EXPECT_EQ(code(metabyte, 0, 8), base + 0x1fffu - 299);
        EXPECT_EQ(code(metabyte, 301, 8), base + 0x6000u);
        EXPECT_EQ(code(metabyte, 302, 8), base + 0x6001u);
        EXPECT_EQ(code(metabyte, 301 + 0x1ffe, 8), base + 0x7ffeu);
        EXPECT_EQ(code(metabyte, 301 + 0x1fff, 8), base + 0x7fffu);
        EXPECT_EQ(code(metabyte, 65535, 8), base + 0x7fffu);
    }
    const sno::SortKey of_odd(sno::compose({.metabyte = 7, .partition = 301}));
    EXPECT_EQ(of_odd(sno::compose({.metabyte = 7, .partition = 256})) & 0xffffff, of_7 + 128u);
    const sno::SortKey of_many(sno::compose({.partition = 40000}));
    EXPECT_EQ(of_many(sno::compose({.metabyte = 1, .partition = 40000 - 1 - 0x1ffe})) & 0x7fff, 1u);
    EXPECT_EQ(of_many(sno::compose({.metabyte = 1, .partition = 40000 - 1 - 0x1fff})) & 0x7fff, 0u);
    EXPECT_EQ(of_many(sno::compose({.metabyte = 1, .partition = 5})) & 0x7fff, 0u);
}

std::uint64_t gid_key(gid::Kind kind, std::uint64_t ms, unsigned char byte7, std::uint64_t random) {
    return gid::SortKey(gid::Id{})(gid::compose({kind, ms, byte7, random}));
}

TEST(CoreSortKey, Gid) {
    constexpr std::uint64_t random = 0xfedc'ba98'7654'3210, ms = 1767225600000;
    for (const gid::Kind kind : {gid::Kind::volume, gid::Kind::log, gid::Kind::segment}) {
        const auto prefix = static_cast<unsigned char>(gid::prefix(kind));
        const std::uint64_t of_kind = std::uint64_t{prefix} >> 5 << 62;
        EXPECT_EQ(gid_key(kind, ms, prefix, random), of_kind | ms << 18 | (0x10000 + (random >> 47)));
        EXPECT_EQ(gid_key(kind, ms, prefix - 1, random), of_kind | ms << 18 | std::uint64_t(prefix - 1) << 8 | 0xfe);
        EXPECT_EQ(gid_key(kind, ms, prefix + 1, random),
                  of_kind | ms << 18 | (0x30000 + (std::uint64_t(prefix + 1) << 8 | 0xfe)));
        constexpr std::uint64_t last = (std::uint64_t{1} << 43) - 1;
        EXPECT_EQ(gid_key(kind, last, prefix, random), of_kind | last << 18 | (0x10000 + (random >> 47)));
        EXPECT_EQ(gid_key(kind, last + 1, prefix, random),
                  of_kind | std::uint64_t{1} << 61 | (last + 1) << 13 | (0x10000 + (random >> 47)) >> 5);
    }
}

// ---- neighbours

TEST(CoreNeighbours, SnoAtTheEndOfASequence) {
    const sno::Id last = sno::compose({5, 0, 2, 3, 65535}), first = sno::compose({5, 0, 2, 4, 0});
    EXPECT_TRUE(sno::next(last).exists && sno::next(last).id == first);
    EXPECT_TRUE(sno::previous(first).exists && sno::previous(first).id == last);
    EXPECT_TRUE(sno::next(sno::compose({5, 0, 2, 3, 65534})).id == last);
    EXPECT_TRUE(sno::previous(last).id == sno::compose({5, 0, 2, 3, 65534}));
    EXPECT_TRUE(sno::lowest() == sno::compose({}));
    EXPECT_TRUE(sno::highest() == sno::compose({(std::uint64_t{1} << 39) - 1, 1, 255, 65535, 65535}));
    EXPECT_TRUE(sno::previous(sno::highest()).exists && sno::next(sno::lowest()).exists);
}

TEST(CoreNeighbours, GidAtTheEndOfTheRandomPart) {
    using gid::Kind;
    const gid::Id last = gid::compose({Kind::log, 5, 0x80, ~std::uint64_t{0}}),
                  first = gid::compose({Kind::log, 5, 0x81, 0});
    EXPECT_TRUE(gid::next(last).exists && gid::next(last).id == first);
    EXPECT_TRUE(gid::previous(first).exists && gid::previous(first).id == last);
    EXPECT_TRUE(gid::next(first).id == gid::compose({Kind::log, 5, 0x81, 1}));
    EXPECT_TRUE(gid::previous(last).id == gid::compose({Kind::log, 5, 0x80, ~std::uint64_t{0} - 1}));
    EXPECT_TRUE(gid::next(gid::highest(Kind::log, 5)).id == gid::lowest(Kind::log, 6));
    EXPECT_TRUE(gid::previous(gid::lowest(Kind::log, 6)).id == gid::highest(Kind::log, 5));
    constexpr std::uint64_t end = gid::timeline.max_tick();
    EXPECT_TRUE(gid::next(gid::highest(Kind::volume, end)).id == gid::lowest(Kind::log, 0));
    EXPECT_TRUE(gid::next(gid::highest(Kind::log, end)).id == gid::lowest(Kind::segment, 0));
    EXPECT_TRUE(gid::next(gid::highest(Kind::log, 5)).exists && gid::next(gid::highest(Kind::log, end)).exists);
    EXPECT_FALSE(gid::next(gid::highest(Kind::segment, end)).exists);
    EXPECT_TRUE(gid::previous(gid::lowest(Kind::segment, 0)).id == gid::highest(Kind::log, end));
    EXPECT_TRUE(gid::previous(gid::lowest(Kind::log, 0)).id == gid::highest(Kind::volume, end));
    EXPECT_FALSE(gid::previous(gid::lowest(Kind::volume, 0)).exists);
    EXPECT_TRUE(gid::highest(Kind::log, 5) == gid::compose({Kind::log, 5, 0xff, ~std::uint64_t{0}}));
}

// ---- comparison: each byte counts, and an id is not below itself

template <class Id>
void expect_order_of_bytes() {
    for (std::size_t i = 0; i < sizeof(Id); i++) {
        Id low{}, high{};
        for (std::size_t j = 0; j < sizeof(Id); j++) low.bytes[j] = high.bytes[j] = 0x7f;
        low.bytes[i] = 0x10, high.bytes[i] = 0x90;
        for (std::size_t j = i + 1; j < sizeof(Id); j++) low.bytes[j] = 0xff, high.bytes[j] = 0;
        EXPECT_LT(compare(low, high), 0) << i;
        EXPECT_GT(compare(high, low), 0) << i;
        EXPECT_EQ(compare(low, low), 0) << i;
        EXPECT_TRUE(low < high) << i;
        EXPECT_FALSE(high < low || low < low) << i;
        EXPECT_FALSE(low == high) << i;
        EXPECT_TRUE(low == low) << i;
    }
}

TEST(CoreCompare, ByteByByte) {
    expect_order_of_bytes<sno::Id>();
    expect_order_of_bytes<gid::Id>();
}

TEST(CoreCompare, Mastic) {
    const mastic::Id low{std::uint64_t{1} << 62}, high{std::uint64_t{1} << 63};
    EXPECT_LT(compare(low, high), 0);
    EXPECT_GT(compare(high, low), 0);
    EXPECT_EQ(compare(low, low), 0);
    EXPECT_TRUE(low < high && !(high < low) && !(low < low));
}

}  // namespace
}  // namespace snowflake_ids
