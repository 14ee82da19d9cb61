// Sort keys never contradict the order of the ids and seldom tie.
#include "core/gid_sort_key.hpp"
#include "core/sno_sort_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support/id_operators.hpp"

namespace snowflake_ids {
namespace {

using gid::Kind;

constexpr std::uint64_t ms_2026 = 1767225600000;

// Each field is one of a few values, often an extreme one.

std::uint64_t one_of(std::mt19937_64& random, std::initializer_list<std::uint64_t> values) {
    return values.begin()[random() % values.size()];
}

sno::Id alike_sno(std::mt19937_64& random) {
    const auto number = [&](std::initializer_list<std::uint64_t> values) {
        return static_cast<std::uint32_t>(one_of(random, values));
    };
    return sno::compose({one_of(random, {0, 1, 126230400000, 126230400001, sno::timeline.max_tick()}), number({0, 1}),
                         number({0, 1, 127, 255}),
                         number({0,    1,    2,    6,    63,    64,    65,    127,   128,   129,  999,
                                 8190, 8191, 8192, 8193, 40000, 65406, 65407, 65408, 65534, 65535}),
                         number({0, 1, 2, 3, 32767, 32768, 65534, 65535})});
}

gid::Id alike_gid(std::mt19937_64& random) {
    const auto kind = static_cast<Kind>(random() % 3);
    const auto byte7 = static_cast<unsigned char>(
        one_of(random, {0x4f, 0x7f, 0x80, 0x81, 0x9f, 0xa0, 0xa1, 0xbf, 0xc0, 0xc1, 0xfe, 0xff}));
    const std::uint64_t near =
        one_of(random, {0, 1, std::uint64_t{1} << 46, std::uint64_t{1} << 47, ~std::uint64_t{0}, random()});
    return gid::compose({kind,
                         one_of(random, {0, 1, ms_2026, ms_2026 + 1, (std::uint64_t{1} << 42) - 1,
                                         std::uint64_t{1} << 42, gid::timeline.max_tick()}),
                         byte7, near});
}

// The order is transitive, so neighbours cover all pairs.
template <class Id>
std::size_t ties(std::vector<Id> ids, const Id& first) {
    const auto key = [&](const Id& id) { return sort_key(id, first); };
    std::sort(ids.begin(), ids.end());
    std::size_t tied = 0;
    for (std::size_t i = 1; i < ids.size(); i++) {
        EXPECT_LE(key(ids[i - 1]), key(ids[i])) << i;
        if (compare(ids[i - 1], ids[i]) != 0 && key(ids[i - 1]) == key(ids[i])) tied++;
    }
    return tied;
}

TEST(CoreOrder, SnoKeyAgreesWithTheOrderWhateverTheFirstId) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; round++) {
        std::vector<sno::Id> ids(2000);
        for (sno::Id& id : ids) id = alike_sno(random);
        ties(ids, ids[0]);
        for (sno::Id& id : ids)
            for (unsigned char& byte : id.bytes) byte = static_cast<unsigned char>(random());
        ties(ids, ids[0]);
    }
}

TEST(CoreOrder, GidKeyAgreesWithTheOrder) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 200; round++) {
        std::vector<gid::Id> ids(2000);
        for (gid::Id& id : ids) id = alike_gid(random);
        ties(ids, ids[0]);
    }
}

TEST(CoreOrder, IdsDrawnInBulkSeldomTie) {
    // In the partition of the first id and in one near it: no ties.
    std::vector<sno::Id> tick, others;
    for (std::uint32_t n = 0; n < 65536; n++) {
        tick.push_back(sno::compose({126230400000, 0, 7, 300 + n % 2, n}));
        tick.push_back(sno::compose({126230400000, 0, 7, 363, n}));
        others.push_back(sno::compose({126230400000, 0, 8, 300, n}));
    }
    EXPECT_EQ(ties(tick, tick[0]), 0u);
    std::vector<sno::Id> small;
    for (std::uint32_t n = 0; n < 128 * 512; n++) small.push_back(sno::compose({126230400000, 0, 7, n % 128, n / 128}));
    for (const std::size_t first : {0, 20, 99, 127}) EXPECT_EQ(ties(small, small[first]), 0u);
    // Outside the window those of one partition and tick tie, and those of two partitions.
    EXPECT_EQ(ties(others, tick[0]), 65535u);
    std::vector<sno::Id> nodes, types;
    for (std::uint32_t n = 0; n < 8192; n++) {
        nodes.push_back(sno::compose({126230400000, 0, 0, n, 5}));
        types.push_back(sno::compose({126230400000, 0, n % 256, n / 256, 5}));
    }
    for (const std::size_t first : {0, 100, 8191}) {
        EXPECT_LT(ties(nodes, nodes[first]), 4096u);
        EXPECT_LT(ties(types, types[first]), 4096u);
    }
    // Of 1,000 in a millisecond, one in eight shares 12 random bits with the next.
    std::mt19937_64 random(3);
    std::vector<gid::Id> ours, grafts;
    for (std::uint64_t ms = ms_2026; ms < ms_2026 + 100; ms++)
        for (int n = 0; n < 1000; n++) {
            ours.push_back(gid::make(Kind::log, ms, random()));
            grafts.push_back(gid::compose({Kind::log, ms, static_cast<unsigned char>(0x80 | random()), random()}));
        }
    EXPECT_LT(ties(ours, ours[0]), 13000u);
    EXPECT_LT(ties(grafts, ours[0]), 1000u);
}

// The compiler refuses undefined behaviour. The test compares, so that a wrong order does not stop the build.
TEST(CoreOrder, Constants) {
    constexpr sno::Id first{}, last = sno::compose({sno::timeline.max_tick(), 1, 255, 65535, sno::max_sequence});
    constexpr std::uint64_t sno_key = sort_key(last, first);
    EXPECT_EQ(sno_key, ~std::uint64_t{1});
    constexpr gid::Id log = gid::compose({.kind = Kind::log}), segment = gid::compose({.kind = Kind::segment});
    constexpr std::uint64_t log_key = sort_key(log, log), segment_key = sort_key(segment, log);
    EXPECT_LT(log_key, segment_key);
}

}  // namespace
}  // namespace snowflake_ids
