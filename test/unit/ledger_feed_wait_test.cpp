// Waiting: each step alone. Every interleaving is in ledger_feed_wait_model_test.
#include "ledger/feed_wait.hpp"

#include <gtest/gtest.h>

#include <set>

namespace snowflake_ids::ledger {
namespace {

constexpr std::uint64_t database = 5;

TEST(LedgerFeedWait, GroupsOfTables) {
    EXPECT_NE(group_of(database, 7), group_of(database + 1, 7));
    std::set<std::uint32_t> used;
    for (std::uint64_t table = 16384; table < 16384 + groups_of_database; table++) {
        const std::uint32_t group = group_of(database, table);
        used.insert(group);
        EXPECT_GE(group, first_group(database));
        EXPECT_LT(group, first_group(database) + groups_of_database);
        EXPECT_LT(group_of(~std::uint64_t{0}, table), group_count);
    }
    EXPECT_GT(used.size(), groups_of_database / 2) << "neighbours have different groups";
}

TEST(LedgerFeedWait, CountsDiffer) {
    std::set<std::uint64_t> counts;
    for (std::uint32_t i = 0; i < group_count; i++)
        for (std::uint64_t n = 0; n < 100; n++) counts.insert(first_count(42, i) + n);
    EXPECT_EQ(counts.size(), group_count * 100) << "no group has the count of another one soon";
}

TEST(LedgerFeedWait, CountsThenWakes) {
    Group group{};
    group.count.store(41);
    std::uint64_t when_woken = 0;
    count_and_wake(group, [&when_woken](const Group& g) { when_woken = g.count.load(); });
    EXPECT_EQ(when_woken, 42);
    EXPECT_EQ(group.count.load(), 42);
}

}  // namespace
}  // namespace snowflake_ids::ledger
