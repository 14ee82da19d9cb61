// Positions of readers: their text, and what they cover.
#include "core/feed_position.hpp"

#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace snowflake_ids {
namespace {

using Xids = std::vector<std::uint64_t>;

std::string text_of(const FeedPosition& p, const Xids& open) {
    std::string text;
    write_feed_position(p, open.begin(), open.end(), [&](std::string_view part) { text += part; });
    return text;
}

// Empty if the text is no position. The transactions come from the newest.
bool reads(const std::string& text, FeedPosition& p, Xids& open) {
    open.clear();
    return read_feed_position(text, p, [&](std::uint64_t xid) { open.push_back(xid); });
}

constexpr FeedPosition some{0x4000, 3, 5, ~std::uint64_t{0}, 0, 1, 0x16a97e0, 1796000000000000, 42, 0, 0, 1000};

TEST(FeedPosition, Text) {
    EXPECT_EQ(text_of(some, {}), "1.4000.3.5.ffffffffffffffff.0.1.16a97e0.66173d6044000.2a.0.0.3e8.");
    EXPECT_EQ(text_of(some, {968, 969, 999}),
              "1.4000.3.5.ffffffffffffffff.0.1.16a97e0.66173d6044000.2a.0.0.3e8.1.1e.1.");
    EXPECT_EQ(text_of(some, {967}), "1.4000.3.5.ffffffffffffffff.0.1.16a97e0.66173d6044000.2a.0.0.3e8.21.");
}

TEST(FeedPosition, RoundTrip) {
    std::mt19937_64 random(20261129);
    for (int round = 0; round < 2000; round++) {
        FeedPosition p{};
        for (const auto field : feed_position_fields) p.*field = random() >> random() % 64;
        p.xmax = (random() >> (1 + random() % 62)) % no_stamp;
        std::set<std::uint64_t> chosen;
        for (std::uint64_t n = random() % 50; n > 0 && p.xmax > 100; n--)
            chosen.insert(p.xmax - 1 - random() % (round % 2 == 0 ? 50 : p.xmax - 2));
        const Xids open(chosen.begin(), chosen.end());
        FeedPosition again{};
        Xids seen;
        ASSERT_TRUE(reads(text_of(p, open), again, seen)) << text_of(p, open);
        for (const auto field : feed_position_fields) EXPECT_EQ(again.*field, p.*field);
        EXPECT_EQ(seen, Xids(open.rbegin(), open.rend()));
    }
}

TEST(FeedPosition, ThousandOpenTransactionsAreShort) {
    Xids open;
    for (std::uint64_t i = 0; i < 1000; i++) open.push_back(5'000'000'000 + 2 * i);
    FeedPosition p = some;
    p.xmax = 5'000'002'000;
    EXPECT_LT(text_of(p, open).size(), 2200);
}

TEST(FeedPosition, WhatIsNoPosition) {
    const std::string good = text_of(some, {968, 999});
    FeedPosition p{};
    Xids open;
    ASSERT_TRUE(reads(good, p, open));
    const std::string fields = text_of(some, {});
    for (std::size_t length = 0; length < fields.size(); length++)
        EXPECT_FALSE(reads(fields.substr(0, length), p, open));
    for (const std::string& text : std::initializer_list<std::string>{
             "2" + good.substr(1),                               // another version
             "x" + good,                                         // something before it
             fields + "g.",                                      // no digit
             fields + "1",                                       // no dot after it
             fields + "0.",                                      // xmax itself
             fields + "-1.",                                     // after it
             fields + ".1.",                                     // an empty number
             fields + "10000000000000001.",                      // too large
             fields + "20.3c8.",                                 // below 0
             "1.4000.3.5.10000000000000000.0.1.0.0.0.0.0.3e8.",  // more than 64 bits
             "1.4000.3.5.f.0.1.0.0.0.0.0.7fffffffffffffff.",     // no transaction is that late
             "1.4000.3..f.0.1.0.0.0.0.0.3e8.",
         })
        EXPECT_FALSE(reads(text, p, open)) << text;
}

// Against the definition: each transaction up to 12, seen or not.
TEST(FeedPosition, Covers) {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; round++) {
        const auto any = [&](Xids& open) {
            const std::uint64_t from = 1 + random() % 10;
            for (std::uint64_t xid = 1; xid < from; xid++)
                if (random() % 3 == 0) open.push_back(xid);
            return Unseen{from, open.data(), open.size()};
        };
        Xids one, other;
        const Unseen mine = any(one), theirs = any(other);
        bool covered = true;
        for (std::uint64_t xid = 1; xid <= 12; xid++) covered = covered && (!mine.has(xid) || theirs.has(xid));
        EXPECT_EQ(is_subset(mine, theirs), covered);
    }
}

}  // namespace
}  // namespace snowflake_ids
